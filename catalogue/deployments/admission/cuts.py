"""Whether a cut divides a model, and whether the cache of a request can be dealt so."""

from __future__ import annotations

from collections.abc import Iterator

from catalogue.deployments.admission.subject import Cut, Problem, Subject, told
from catalogue.deployments.layout import SHARED_CACHE, SHARED_RANKS, SLICES

DIVISION, DEALT = "division", "dealt"
EXPERTS = "expert_parallel"


def cut_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why a model cannot be cut so, whatever number of cards there is; None if it can."""
    return next(_problems(subject, cut), None)


def _undivided(subject: Subject, key: str, parts: int, name: str) -> Iterator[Problem]:
    whole = int(subject.numbers[name])
    if whole % parts:
        of = subject.model.id
        yield told(DIVISION, key, f"{key} of {parts} does not divide {name} {whole} of '{of}'",
                   f"{key} 为 {parts}，不能整除 '{of}' 的 {name} {whole}", parts=parts, whole=whole)


def _problems(subject: Subject, cut: Cut) -> Iterator[Problem]:
    numbers, of = subject.numbers, subject.model.id
    tp, pp = cut.tensor, cut.pipeline
    yield from _undivided(subject, "tensor_parallel", tp, "num_attention_heads")
    yield from _undivided(subject, "tensor_parallel", tp, "intermediate_size")
    heads, layers = int(numbers["num_key_value_heads"]), int(numbers["num_hidden_layers"])
    if subject.model.attention == "gqa" and heads % tp and tp % heads:
        yield told(DIVISION, "tensor_parallel",
                   f"tensor_parallel of {tp} neither divides nor is a multiple of "
                   f"num_key_value_heads {heads} of '{of}'",
                   f"tensor_parallel 为 {tp}，既不能整除 '{of}' 的 num_key_value_heads {heads}，"
                   "也不是它的整数倍", parts=tp, whole=heads)
    if pp > layers:
        yield told(DIVISION, "pipeline_parallel",
                   f"pipeline_parallel of {pp} exceeds the {layers} layers of '{of}'",
                   f"pipeline_parallel 为 {pp}，超过 '{of}' 的 {layers} 层", parts=pp, whole=layers)
    if numbers["n_routed_experts"]:
        yield from _expert_problems(subject, cut)
        return
    en, zh = f"'{of}' has no experts, expected ", f"'{of}' 没有专家，应为 "
    if cut.expert > 1:
        yield told(DIVISION, EXPERTS, f"{en}1", f"{zh}1")
    for key, value in (("redundant_experts", cut.spares), (SHARED_RANKS, cut.shared_ranks)):
        if value:
            yield told(DIVISION, key, f"{en}0", f"{zh}0")
    if cut.slices:
        yield told(DIVISION, SLICES, f"{en}none", f"'{of}' 没有专家，不应给出")


def _expert_problems(subject: Subject, cut: Cut) -> Iterator[Problem]:
    tp, _, dp, ep = cut.degrees
    if cut.slices:
        yield from _slice_problems(subject, cut)
    elif (tp * dp) % ep or (ep % tp and tp % ep):
        yield told(DIVISION, EXPERTS,
                   f"expert_parallel of {ep} does not fit tensor x data parallel = {tp} x {dp}, "
                   f"expected a divisor of {tp * dp} that divides {tp} or is a multiple of it",
                   f"expert_parallel 为 {ep}，与张量×数据并行 {tp}×{dp} 不符，应为 "
                   f"{tp * dp} 的约数，且是 {tp} 的约数或倍数", expert=ep, ranks=tp * dp)
    if cut.shared_ranks:
        yield from _shared_problems(subject, cut)
    routed, copies = int(subject.numbers["n_routed_experts"]), cut.spares
    ranks, of = ep - cut.shared_ranks, subject.model.id
    if ranks > 0 and (routed + copies) % ranks:
        whole, whole_zh = f"n_routed_experts {routed} of '{of}'", f"'{of}' 的 {routed} 个路由专家"
        if copies:
            whole = f"{routed} routed and {copies} redundant experts of '{of}'"
            whole_zh += f"与 {copies} 个冗余专家"
        less = f" less {SHARED_RANKS} of {cut.shared_ranks}" if cut.shared_ranks else ""
        less_zh = f"减去 {SHARED_RANKS} {cut.shared_ranks}" if cut.shared_ranks else ""
        fewest = _copies(routed, copies, ranks)
        yield told(DIVISION, EXPERTS,
                   f"expert_parallel of {ep}{less} does not divide {whole}, redundant_experts of "
                   f"{fewest} would",
                   f"expert_parallel {ep}{less_zh} 不能整除{whole_zh}，redundant_experts "
                   f"取 {fewest} 即可", expert=ep, routed=routed, copies=copies, fewest=fewest)
    yield from _undivided(subject, SLICES if cut.slices else "tensor_parallel", cut.each,
                          "moe_intermediate_size")


def _slice_problems(subject: Subject, cut: Cut) -> Iterator[Problem]:
    """Why experts cannot be cut into the slices that are asked for."""
    tp, _, dp, ep = cut.degrees
    group, said = ep * cut.slices, f"{SLICES} of {cut.slices}"
    if (tp * dp) % group or group % tp:
        yield told(DIVISION, SLICES,
                   f"{said} times expert_parallel of {ep} does not fit tensor x data parallel = "
                   f"{tp} x {dp}, expected a product that divides {tp * dp} and is a multiple of "
                   f"{tp}",
                   f"{SLICES} {cut.slices} 乘以 expert_parallel {ep} 与张量×数据并行 {tp}×{dp} "
                   f"不符，乘积应整除 {tp * dp}，且是 {tp} 的倍数", slices=cut.slices, expert=ep)
    if cut.slices > 1 and cut.shared_ranks:
        yield told(DIVISION, SLICES, f"{said} with {SHARED_RANKS} is not derived, expected 1",
                   f"{SLICES} {cut.slices} 与 {SHARED_RANKS} 并用尚未推导，应为 1")
    if cut.slices > 1 and group > tp and subject.numbers.get("exchange_normal", 0):
        yield told(DIVISION, SLICES,
                   f"{said} over data-parallel ranks has all tokens gathered, expected 1 with "
                   "exchange_normal",
                   f"{SLICES} {cut.slices} 跨数据并行 rank 时要汇集全部 token，配合 "
                   "exchange_normal 时应为 1")


def _shared_problems(subject: Subject, cut: Cut) -> Iterator[Problem]:
    """Why shared experts cannot have so many ranks of their own."""
    said, of = f"{SHARED_RANKS} of {cut.shared_ranks}", subject.model.id
    zh = f"{SHARED_RANKS} 为 {cut.shared_ranks}"
    if not subject.numbers["n_shared_experts"]:
        yield told(DIVISION, SHARED_RANKS, f"'{of}' has no shared experts, expected 0",
                   f"'{of}' 没有共享专家，应为 0")
    if cut.shared_ranks >= cut.expert:
        yield told(DIVISION, SHARED_RANKS,
                   f"{said} leaves no rank of expert_parallel {cut.expert} to the routed experts, "
                   f"expected fewer than {cut.expert}",
                   f"{zh}，expert_parallel {cut.expert} 中没有 rank 留给路由专家，应小于 "
                   f"{cut.expert}")
    if cut.tensor > 1:
        yield told(DIVISION, SHARED_RANKS,
                   f"{said} with tensor_parallel of {cut.tensor} is not derived, expected 0",
                   f"{zh} 与 tensor_parallel {cut.tensor} 并用尚未推导，应为 0")
    for mode in ("exchange_normal", "exchange_gathered"):
        if subject.numbers.get(mode, 0):
            yield told(DIVISION, SHARED_RANKS,
                       f"{said} is reached by the low-latency exchange, expected 0 with {mode}",
                       f"{zh} 须用低时延收发，配合 {mode} 时应为 0")


def _copies(routed: int, copies: int, ranks: int) -> int:
    """Fewest redundant experts, no fewer than are asked for, that can be dealt out evenly."""
    return -(-(routed + copies) // ranks) * ranks - routed


def context_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why the cache of a request cannot be dealt over so many ranks; None if it can."""
    tensor, shared, of = cut.tensor, cut.context, subject.model.id
    if shared == 1:
        return None
    key, zh = f"{SHARED_CACHE} of {shared}", f"{SHARED_CACHE} 为 {shared}"
    if shared > tensor or tensor % shared:
        beyond = shared > tensor
        return told(DEALT, SHARED_CACHE,
                    f"{key} {'exceeds' if beyond else 'does not divide'} tensor_parallel {tensor}",
                    f"{zh}，{'超过' if beyond else '不能整除'} tensor_parallel {tensor}")
    heads = int(subject.numbers["num_key_value_heads"])
    copies = tensor if subject.model.attention == "mla" else max(1, tensor // heads)
    if copies % shared:
        return told(DEALT, SHARED_CACHE,
                    f"{key} needs as many copies of the cache, but of {heads} num_key_value_heads "
                    f"of '{of}' {tensor} tensor-parallel ranks keep {copies}",
                    f"{zh} 需要同样多份缓存，但 '{of}' 的 {heads} 个 KV 头在 {tensor} 个张量并行 "
                    f"rank 上只有 {copies} 份")
    if subject.numbers["index_topk"]:
        return told(DEALT, SHARED_CACHE,
                    f"{key} of a model with an indexer is not derived, expected 1 for '{of}'",
                    f"带索引器的模型尚未推导 {SHARED_CACHE}，'{of}' 应为 1")
    return None
