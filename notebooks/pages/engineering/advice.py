"""What the documents recommend on precision, experts and pools, beside what follows of it.

Each function shows the advice of one chapter; which card is for which use stands in ``uses``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import calc
import catalogue
from calc.closed_form.evaluate import evaluate
from calc.evidence import proportions
from calc.evidence.validation import measured_system
from calc.sensitivity.plans import Plan, plan_of
from catalogue.deployments.precision_support import peak_of
from catalogue.reading.units import HOUR
from notebooks.pages.deciding.goals import named
from notebooks.pages.derivations.choices.documents import advised
from notebooks.pages.engineering.layouts import CHUNK, LIMIT, PACE, at, most_users, plan
from notebooks.pages.engineering.precision import CARDS, POINTS, SCORES, SHARES
from notebooks.pages.engineering.separation import STATED
from notebooks.show.display import number
from notebooks.show.numbers import (
    fmt_bytes,
    fmt_fixed,
    fmt_int,
    fmt_percent,
    fmt_quantity,
    fmt_sig,
)

Text = tuple[str, str]
AWQ, W4A8, FP8 = "w4a16-awq", "w4a8-int8", "fp8-block"
NARROW = {"ascend-910b2": "int8-latent48", "nvidia-h20": "fp8-latent128",
          "nvidia-h200-sxm": "fp8-latent128"}  # of the cache, that an engine has for a card
ROOMS = (("ascend-910b2", "w8a8-int8", 2), ("ascend-910b2", W4A8, 1), ("nvidia-h20", FP8, 2),
         ("nvidia-h200-sxm", FP8, 1))
MEASURED, HYBRID = "s2-910b1-awq", "s3-hybrid-910b4"
USERS = 32
FEW = (1, 8, USERS)
MANY = 16  # requests of the hybrid system
HIDDEN = (0.0, 1.0)  # of the shorter of card and host work
CHUNKS = (2048, 4096, CHUNK)
HALF = 0.5  # of each prompt in the prefix cache
EXAMPLE = ("ascend-910b2", W4A8, 1)  # a server of S0's pools, in weights that fit
DAY = 24 * HOUR


def found_of(made: Plan, **moves: float) -> dict[str, Any]:
    """All quantities of a deployment, some inputs moved."""
    return evaluate({**made.inputs, **moves}, made.scenario.model.attention)


def cached(case: tuple[str, str, int]) -> tuple[int, int]:
    """Users within the promise with a cache of 16 bits, and with the narrower one of a card."""
    made = plan(*case)
    width = float(catalogue.load_format(NARROW[case[0]]).bytes_per_element)
    narrow = replace(made, inputs={**made.inputs, "kv_cache_element_bytes": width})
    return most_users(made), most_users(narrow)


def precision() -> None:
    """On the cache, on eight-bit activations, and on INT4 by channel."""
    advised({"s0/quantised-cache": _cache(), "s2/wide-activations": _activations(),
             "s3/int4-by-channel": _channels()})


def _cache() -> Text:
    made = plan(*ROOMS[0])
    sizes = {name: fmt_bytes(found_of(made, kv_cache_element_bytes=float(
        catalogue.load_format(name).bytes_per_element))["kv_bytes_per_token"], "kB", 1)
        for name in ("bf16", *dict.fromkeys(NARROW.values()))}
    told = [f"{size} in `{name}`" for name, size in sizes.items()]
    own = [f"`{name}` {size}" for name, size in sizes.items()]
    able = [named(card) for card in CARDS if peak_of(catalogue.load_device(card), "fp8")]
    rooms = {case: cached(case) for case in ROOMS}
    for key, case in zip(("int8", "w4a8", "h20", "h200"), ROOMS, strict=True):
        wide, narrow = rooms[case]
        number(f"ad-cache-{key}", narrow / wide - 1, fmt_percent, digits=0)
    users = [tuple(f"{named(case[0])[lang]} `{case[1]}` {fmt_int(wide)} → {fmt_int(narrow)}"
                   for lang in range(2)) for case, (wide, narrow) in rooms.items()]
    return (f"All heads share one latent vector, so there are no heads to scale by. Per token: "
            f"{told[0]}, {told[1]} (on 910B in a decode pool only), {told[2]}. Only "
            f"{' and '.join(name[0] for name in able)} multiply it in FP8. Users within "
            f"{fmt_quantity(LIMIT, 's')}: "
            f"{'; '.join(text[0] for text in users)}.",
            f"所有头共用一个潜向量，没有可按头缩放的缓存。每 token {own[0]}，"
            f"{own[1]}（910B 上只能用于解码池），{own[2]}。只有 "
            f"{'、'.join(name[1] for name in able)} 能以 FP8 相乘。{fmt_quantity(LIMIT, 's')}"
            f"以内的用户数：{'；'.join(text[1] for text in users)}。")


def _activations() -> Text:
    scores = catalogue.load("accuracies", SCORES)
    shown = 0
    for key, benchmark in scores.benchmarks.items():
        ours, other = (scores.score(system, key) for system in ("w4a16", "w4a8"))
        assert ours is not None
        assert other is not None
        gap = (ours.solved.value - other.solved.value) / 100
        shown += gap >= proportions.told(ours.solved.value / 100, int(benchmark.problems.value))
    count = len(scores.benchmarks)
    paces = [at(plan("ascend-910b1", name, 1, USERS), USERS, PACE) for name in (AWQ, W4A8)]
    published = catalogue.load_precision(FP8).multiply.routed_expert
    assert published == "fp8"
    return (f"The published model also has eight-bit activations (`{published}`), and its scores "
            "include them. The two models also differ in the tool and in the weights. Gaps wide "
            f"enough for their number of problems: {fmt_int(shown)} of {fmt_int(count)}. All sets "
            "are mathematics or code. Time per token on eight "
            f"910B1, {USERS} users: {fmt_quantity(paces[0], 's')} in `{AWQ}`, "
            f"{fmt_quantity(paces[1], 's')} in `{W4A8}`.",
            f"官方模型的激活也是 8 比特（`{published}`），其分数即由此得出。两个模型的量化工具"
            f"与权重也不同。{fmt_int(count)} 项差距中，达到题数所能分辨的有 {fmt_int(shown)} 项；"
            f"{fmt_int(count)} 个评测集全是数学或代码。八张 910B1、{USERS} 个用户时每 "
            f"token：`{AWQ}` {fmt_quantity(paces[0], 's')}，`{W4A8}` "
            f"{fmt_quantity(paces[1], 's')}。")


def test_time() -> float:
    """How long S3's system takes for the problems that tell a point [s], with its own answers."""
    system = measured_system(HYBRID)
    problems = proportions.needed(SHARES[0], POINTS[0])
    return float(problems * system.inputs["output_tokens"]
                 / system.rows["output_throughput"].max())


def _channels() -> Text:
    found = calc.parameters(catalogue.load_model(plan_of(HYBRID).scenario.model.id))
    share = found["routed"] / found["total"]
    problems, time = proportions.needed(SHARES[0], POINTS[0]), test_time()
    return (f"{fmt_percent(share, 0)} of the parameters are INT4, so they decide the accuracy, "
            "but no score is printed. To show a difference of one point at "
            f"{fmt_percent(SHARES[0], 0)} takes {fmt_int(problems)} problems: at its largest "
            f"throughput and its own length of answers, {fmt_sig(time / DAY, 2)} days.",
            f"{fmt_percent(share, 0)} 的参数是 INT4，精度由它决定，而文档没有给出任何分数。在 "
            f"{fmt_percent(SHARES[0], 0)} 处分辨一个百分点要 {fmt_int(problems)} 题；按其测试的回答"
            f"长度与最大吞吐，要跑 {fmt_sig(time / DAY, 2)} 天。")


@cache
def grouped(users: int, expert: int) -> dict[str, Any]:
    """S2's server with so many requests, experts cut or whole."""
    return found_of(plan_of(MEASURED, [f"workload.concurrency={users} request",
                                       f"parallelism.expert_parallel={expert}"]))


def experts() -> None:
    """On TP8 that is balanced, on its tail, and on experts whose results are deferred."""
    cards = int(plan_of(MEASURED).cards)
    paces = {users: [grouped(users, expert)[PACE] for expert in (1, cards)] for users in FEW}
    uneven = [grouped(users, cards)["decode_rank_imbalance"] for users in (FEW[0], FEW[-1])]
    sent = [grouped(USERS, expert)["decode_communication_time"] for expert in (1, cards)]
    held = grouped(USERS, 1)
    told = [tuple(("{}: {}, {}", "{}：{}，{}")[lang].format(
        users, *(fmt_quantity(each, "s") for each in pair)) for lang in range(2))
        for users, pair in paces.items()]
    number("ad-requests", USERS)
    number("ad-balanced", paces[USERS][1] / paces[USERS][0] - 1, fmt_percent, digits=0)
    gap = _gap()
    advised({
        "s2/tensor-is-balanced": (
            f"Time per token with TP{cards}, and with EP{cards} under the same attention, by "
            f"requests: {'; '.join(text[0] for text in told)}. The fullest rank of EP{cards} is "
            f"{fmt_percent(uneven[0], 0)} to {fmt_percent(uneven[1], 0)} over the mean. "
            f"Communication is about equal, {fmt_quantity(sent[0], 's')} and "
            f"{fmt_quantity(sent[1], 's')} per step.",
            f"TP{cards} 与注意力切分相同的 EP{cards}，每 token，按请求数："
            f"{'；'.join(t[1] for t in told)}。"
            f"EP{cards} 最满的 rank 超出平均 {fmt_percent(uneven[0], 0)} 至 "
            f"{fmt_percent(uneven[1], 0)}。通信相近，每步 {fmt_quantity(sent[0], 's')} 与 "
            f"{fmt_quantity(sent[1], 's')}。"),
        "s2/no-long-tail": (
            f"The tail comes from prompts, not from ranks: a prompt of {fmt_int(STATED[0])} tokens "
            f"stalls all decoding requests for {fmt_quantity(gap, 's')}, where a step takes "
            f"{fmt_quantity(held['decode_step_time'], 's')}. The document prints only means.",
            f"长尾来自提示，而不是 rank：一条 {fmt_int(STATED[0])} token 的提示让所有解码中的请求"
            f"停顿 {fmt_quantity(gap, 's')}，而一步只要 "
            f"{fmt_quantity(held['decode_step_time'], 's')}。"
            "文档只给出平均值。"),
        "s3/deferred-experts": _deferred()})


def _gap() -> float:
    """How long a prompt holds up those who decode on S2's server [s]."""
    return float(found_of(plan_of(MEASURED),
                          input_tokens=float(STATED[0]))["prefill_step_time"])


@cache
def deferred(users: int) -> tuple[float, float]:
    """S3's time per token if deferral hides nothing, and if it hides all that it can [s]."""
    made = plan_of(HYBRID, [f"workload.concurrency={users} request"])
    none, most = (float(found_of(made, host_overlap=share)["tpot"]) for share in HIDDEN)
    return none, most


def _deferred() -> Text:
    one, many = deferred(1), deferred(MANY)
    pairs = [[fmt_quantity(each, "s") for each in pair] for pair in (one, many)]
    return (f"Time per token of one request: {pairs[0][0]} if nothing is hidden, {pairs[0][1]} if "
            f"everything is; of {MANY} requests {pairs[1][0]} and {pairs[1][1]}. A deferred result "
            "enters a later layer, which changes what the model computes; no score is printed with "
            "or without it.",
            f"单请求每 token：完全不掩盖 {pairs[0][0]}，全部掩盖 {pairs[0][1]}；{MANY} 个请求时为 "
            f"{pairs[1][0]} 与 {pairs[1][1]}。延迟使用的结果要到后面的层才加入，模型算出的值因此"
            "改变；文档没有给出启用前后的分数。")


def separation() -> None:
    """On the way of the cache through a store, and on chunks and prefixes of either pool."""
    advised({"s0/cache-through-redis": _store(), "s0/chunks-of-prefill-pool": _prefill_chunks(),
             "s0/prefix-of-decode-pool": _decode_prefix()})


@cache
def prefilled(chunk: int = CHUNK, hit: float = 0.0) -> tuple[float, float, float]:
    """A server of S0's prefill pool: prompts per second, a prompt's time alone [s], its cache [B].

    Args:
        chunk: tokens of a step.
        hit: share of each prompt in the prefix cache [1].
    """
    made = plan(*EXAMPLE, users=int(USERS), prompt=STATED[0], answer=STATED[1])
    found = found_of(made, separate_pools=1.0, max_num_batched_tokens=float(chunk),
                     prefix_hit_share=hit)
    rate = found["prefill_throughput"] / (STATED[0] * (1 - hit))
    return float(rate), float(found["prefill_time"]), float(
        found["kv_bytes_per_token"] * STATED[0])


def _store() -> Text:
    rate, time, size = prefilled()
    made = plan(*EXAMPLE, prompt=STATED[0], answer=STATED[1])
    port = found_of(made, separate_pools=1.0)["kv_port_time"]
    stated = catalogue.load_scenario("s0-scenario-3-prefill").documented
    assert stated
    printed = next(claim.value.value for claim in stated.claims
                   if claim.quantity == "request_throughput")
    return (f"The cache of {fmt_int(STATED[0])} tokens is {fmt_bytes(size, 'MB', 0)}, written to "
            f"the store and read back. Below {fmt_bytes(2 * size / time, 'GB', 1)}/s per request, "
            f"computing the prompt again ({fmt_quantity(time, 's')}) is faster; from card to card "
            f"it takes {fmt_quantity(port, 's')}. For the {fmt_int(printed)} prompts/s that are "
            f"printed, one store carries {fmt_bytes(2 * size * printed, 'GB', 0)}/s; for the "
            f"{fmt_fixed(rate, 1)} of one server, {fmt_bytes(2 * size * rate, 'GB', 1)}/s.",
            f"{fmt_int(STATED[0])} token 的缓存有 {fmt_bytes(size, 'MB', 0)}，存、取各一次。"
            f"每请求低于 {fmt_bytes(2 * size / time, 'GB', 1)}/s 时，重算提示"
            f"（{fmt_quantity(time, 's')}）更快；卡到卡直传只要 {fmt_quantity(port, 's')}。"
            f"按文档的每秒 {fmt_int(printed)} 条，一个存储要承担 "
            f"{fmt_bytes(2 * size * printed, 'GB', 0)}/s；按一台服务器实际的 {fmt_fixed(rate, 1)}"
            f" 条，{fmt_bytes(2 * size * rate, 'GB', 1)}/s。")


def _prefill_chunks() -> Text:
    rates = {chunk: prefilled(chunk)[0] for chunk in CHUNKS}
    told = [f"{fmt_int(chunk)} → {fmt_fixed(rate, 1)}" for chunk, rate in rates.items()]
    return (f"Prompts per second of one server, prompts of {fmt_int(STATED[0])}, by tokens per "
            f"chunk: {'; '.join(told)}. Nobody decodes there, so memory is the only reason for "
            "small chunks.",
            f"提示 {fmt_int(STATED[0])} token 时一台服务器每秒的条数，按每块 token 数："
            f"{'；'.join(told)}。预填充池里没有人在解码，除显存外没有理由用小块。")


def _decode_prefix() -> Text:
    whole, half = prefilled()[0], prefilled(hit=HALF)[0]
    users = int(catalogue.load_scenario("s0-config-4.3-decode").inputs()["concurrency"])
    return ("The decode pool computes no prompts, so a hit saves only the transfer. In the prefill "
            f"pool, hits on half of each prompt give {fmt_sig(half / whole, 2)} times the prompts. "
            f"A decode step has as many tokens as requests, {fmt_int(users)}, so the limit is "
            "never reached.",
            f"解码池不计算提示，命中只省传输。放在预填充池，每条命中一半，每秒条数为 "
            f"{fmt_sig(half / whole, 2)} 倍。解码每步的 token 数就是请求数，{fmt_int(users)} 个，"
            "永远到不了这个上限。")
