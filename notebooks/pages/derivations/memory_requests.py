"""What requests take: their cache, the room that weights leave, what a step of them reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib.figure import Figure

import catalogue
from catalogue.messages import Pair, join, messages
from catalogue.reading.values import Value
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.catalogue.tables.formats import entry_label
from notebooks.pages.derivations import memory_weights as weights
from notebooks.pages.derivations.memory_weights import ATTENTION, BF16, FP8, MODEL, W8A8, deployed
from notebooks.show import figures
from notebooks.show.columns import Column, crossed
from notebooks.show.display import folded, markdown, number, numbers, short_table, source, table
from notebooks.show.drawing import Text
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_in, fmt_int, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/derivations/memory-requests")

Values = weights.Values
Waste = Callable[[int, int], float]  # mean share of empty places, of mean context and block [1]
RANKS = 8  # among which a cache is divided
SPARSE, WINDOWED, COMPRESSED = "deepseek-v3.2", "gpt-oss-120b", "deepseek-v4-flash"
CARD, FLOOR_CARD = "ascend-910b2", "nvidia-h20"
WORKLOAD = {"concurrency": 64, "context_tokens": 4096, "input_tokens": 4095, "output_tokens": 1,
            "max_num_batched_tokens": 8192, "block_size": 16, "memory_utilization": 0.85}
PLACED: dict[str, tuple[str, dict[str, int]]] = {
    "TP8×DP2, BF16": (BF16, {"tensor_parallel": 8, "data_parallel": 2}),
    "TP16, W8A8": (W8A8, {"tensor_parallel": 16}),
    "TP4×DP4, EP16, W8A8": (W8A8, {"tensor_parallel": 4, "data_parallel": 4,
                                   "expert_parallel": 16})}
BUDGET = ("usable_memory", "weights_per_device", "absorbed_copies_per_device", "working_memory",
          "kv_per_device", "headroom_per_device", "max_concurrency", "runtime_reserve",
          "activations_per_device", "exchange_buffers", "free_for_kv_per_device", "concurrency")
COUNTED = ("max_concurrency", "concurrency")
HYBRID, KT = "s3-hybrid-910b4", "kt-4090d-v02"
S3_HOST, S3_CARDS, S3_TOKENS, S3_EXPERTS = 200e9, 100e9, 190_000, 161  # of its sections 2.2, 2.3
BLOCKS, CONTEXTS = (16, 32, 64, 128), (256, 1024, 4096, 32768)
READ_CONTEXTS = (2048, 8192, 32768, LONG := 131072)
STREAMING = ("expert_streaming_efficiency", "sliced_streaming_efficiency")
FLOOR_RANKS, PARTS = 8, ("dense", "expert", "kv")  # of what a step reads


@dataclass(frozen=True)
class Cache:
    """Bytes of cache that a token takes.

    Attributes:
        label: model and formats.
        layer, token: of one layer, and of all.
        rank: on each of eight ranks, all layers.
    """

    label: Pair
    layer: int
    token: int
    rank: int


def index_in_fp8() -> dict[str, float]:
    """The input that keeps the keys of an indexer in FP8, with their scales."""
    return {"kv_index_element_bytes": catalogue.load_format("fp8-index128").bytes_per_element}


def caches(derivation: Derivation) -> list[Cache]:
    """The caches of DeepSeek-V3: latent, in FP8, of all heads; then those of other models."""
    sparse, windowed, llama, stated = map(catalogue.load_model, (
        SPARSE, WINDOWED, "llama-3.1-70b", "s0-deepseek-r1"))
    v3 = catalogue.load_model(MODEL)
    latent = catalogue.load_format("fp8-latent128").bytes_per_element
    sizes = catalogue.model_inputs(v3)
    # Keys have d_n + d_r elements per head and values d_v: the same bytes as two of their mean.
    mean_head = (sizes["qk_nope_head_dim"] + sizes["qk_rope_head_dim"] + sizes["v_head_dim"]) // 2

    def cache(label: Pair, model: Any, attention: str, **changed: float) -> Cache:
        inputs = deployed(BF16, model, tensor_parallel=RANKS, **changed)
        values = derivation.quantities(inputs, attention)
        rank = values["kv_layer_bytes_per_token_per_device"] * inputs["num_hidden_layers"]
        return Cache(label, int(values["kv_layer_bytes_per_token"]),
                     int(values["kv_bytes_per_token"]), int(rank))

    return [
        cache(say("deepseek-v3-mla-bf16"), v3, "mla"),
        cache(say("deepseek-v3-mla-fp8-latent"), v3, "mla", kv_cache_element_bytes=latent),
        cache(say("deepseek-v3-if-all-heads"), v3, "gqa", head_dim=mean_head,
              v_head_dim=mean_head),
        cache(say("deepseek-v32-mla-bf16"), sparse, "mla", **index_in_fp8()),
        cache(say("gpt-oss-gqa-bf16-every"), windowed, "gqa"),
        cache(say("llama-gqa-bf16"), llama, "gqa"),
        cache(say("model-of-document-s0-bf16"), stated, stated.attention)]


def cached(rows: Sequence[Cache]) -> None:
    """The caches, and the numbers of the section."""
    first = [row for at, row in enumerate(rows) if at in (0, 1, 2, 5)]
    short_table((*first, *(row for row in rows if row not in first)), [
        Column("label", common("cache")), Column("layer", say("b-per-token-layer")),
        Column("token", say("b-per-token")), Column("rank", say("on-each-of-ranks", ranks=RANKS))],
                rest=say("other-models"))
    latent, compact, expanded, indexed, _, _, imagined = rows
    numbers({"kv-index-layer": indexed.layer - latent.layer, "kv-token": latent.token,
             "kv-layer": latent.layer, "kv-fp8-layer": compact.layer, "kv-stated": imagined.token})
    number("kv-index-share", indexed.layer / latent.layer - 1, fmt_percent, digits=0)
    numbers({"kv-expanded-ratio": expanded.token / latent.token,
             "kv-stated-ratio": imagined.token / latent.token}, fmt_fixed, digits=0)
    number("kv-expanded-rank-ratio", expanded.rank / latent.rank, fmt_fixed, digits=1)


def compressed(derivation: Derivation) -> None:
    """Numbers of V4-Flash's cache as published: of a token, of a request, where both are even."""
    model = catalogue.load_model(COMPRESSED)
    assert model.weights
    values = derivation.quantities(deployed(model.weights.precision, model), model.attention)
    token, state = values["kv_bytes_per_token"], values["state_bytes_per_request"]
    numbers({"csa-token": token, "csa-even": state / token}, fmt_fixed, digits=0)
    number("csa-state", state / 2**20, fmt_fixed, digits=1)


def layout_budgets(derivation: Derivation) -> None:
    """DeepSeek-V3 under one workload, cut in three ways: the budget of a card, and a verdict."""
    card, priors = catalogue.load_device(CARD), catalogue.load("mechanisms", "ascend-910b")
    given = catalogue.device_inputs(card) | WORKLOAD | {
        "absorbed_copies": priors.absorbed_copies.value,
        "exchange_buffer_tokens": priors.all_to_all.low_latency.buffer_tokens.value}
    results = {}
    for title, (precision, layout) in PLACED.items():
        inputs = deployed(precision, **given | layout)
        results[title] = derivation.quantities(inputs, ATTENTION)
    symbols = catalogue.symbols()

    def held(title: str) -> Column:
        return Column(lambda name: (fmt_int if name in COUNTED else fmt_bytes)(
            results[title][name]), title)

    short_table(BUDGET, [
        Column(lambda name: (symbols[name].en, symbols[name].zh), common("quantity")),
        Column(lambda name: f"${symbols[name].latex}$", common("letter")),
        *map(held, results)], first=7)
    number("budget-share", WORKLOAD["memory_utilization"], fmt_fixed, digits=2)
    bullets = (_verdict(title, values) for title, values in results.items())
    markdown(*join(("\n", "\n"), ((f"- {en}", f"- {zh}") for en, zh in bullets)))


def _verdict(title: str, values: Values) -> Pair:
    """Whether a deployment fits, and by how much."""
    room, requests = values["headroom_per_device"], fmt_int(values["max_concurrency"])
    size = fmt_bytes(abs(room))
    if values["free_for_kv_per_device"] < 0:
        return say("weights-do-not-fit", title=title, size=size)
    if room < 0:
        return say("workload-does-not-fit", title=title, size=size, requests=requests)
    return say("workload-fits", title=title, size=size, requests=requests)


def blocks(expected: Waste, cache: Cache) -> None:
    """Mean share of empty places by block and context; the bytes are those of a cache."""
    def empty(block: int) -> float:
        return (block - 1) / 2 * cache.token

    table([{"block": block, "empty": fmt_fixed((block - 1) / 2, 1),
            "bytes": fmt_bytes(empty(block), "MB", 1)}
           | {str(context): fmt_percent(expected(context, block)) for context in CONTEXTS}
           for block in BLOCKS],
          {"block": "$g$", "empty": say("empty-per-request"), "bytes": say("cache-of-deepseek-v3"),
           **{str(context): f"$\\bar{{S}} = {context}$" for context in CONTEXTS}})
    small, large, context = BLOCKS[0], BLOCKS[-1], CONTEXTS[1]
    on_ascend = catalogue.load_scenario(HYBRID).file.workload.block_size
    assert on_ascend is not None  # the deployment states its block
    assert on_ascend.value == large
    markdown(*say("mean-share-of-empty-slots", block=large, origin=source(on_ascend)))
    numbers({"blocks-small": expected(context, small), "blocks-large": expected(context, large)},
            fmt_percent)
    number("blocks-context", context)


def draw_blocks(expected: Waste, lang: str) -> Figure:
    """Empty places over the context for two blocks: of one request, and on average."""
    first, last = 64, 1024
    figure, axes = figures.axes(height=3.4)
    contexts = range(first, last + 1)
    for colour, block in ((figures.PALETTE[1], BLOCKS[0]), (figures.PALETTE[0], BLOCKS[-1])):
        name = say("blocks-of", block=block)[lang == "zh"]
        axes.plot(contexts, [100 * (1 - length / (-(-length // block) * block))
                             for length in contexts], color=colour, lw=0.8, label=name)
        axes.plot(contexts, [100 * expected(length, block) for length in contexts], color=colour,
                  lw=2.2)
    axes.set(xlim=(first, last), ylim=(0, 60), xticks=range(128, last + 1, 128),
             xlabel=say("context-tokens")[lang == "zh"], ylabel=say("empty-slots")[lang == "zh"])
    axes.legend(loc="upper right")
    return figure


def on_host(derivation: Derivation, scenario: str, **changed: float) -> Mapping[str, Any]:
    """Quantities and inputs (SI) of a deployment with experts on the host."""
    inputs = {**catalogue.load_scenario(scenario).inputs(), **changed}
    return derivation.quantities(inputs, ATTENTION)


def host_memory(scenario: str) -> float:
    """Memory of the host of a deployment [B]."""
    memory = catalogue.load_scenario(scenario).node.host_memory
    assert memory  # every server that is named here states it
    return float(memory.value)


def hosts(derivation: Derivation) -> None:
    """Two deployments with experts on the host: what cards and hosts hold, and what S3 prints."""
    values = {name: on_host(derivation, name) for name in (HYBRID, KT)}
    offload = catalogue.load_scenario(KT).file.offload
    assert offload  # it keeps the experts twice
    on_hosts = {HYBRID: values[HYBRID]["host_expert_weights"],
                KT: values[KT]["host_expert_weights"] * offload.hosts.value}

    held: dict[Pair, Callable[[str], float]] = {
        say("usable-memory-of-card"): lambda name: values[name]["usable_memory"],
        common("weights-of-card"): lambda name: values[name]["weights_per_device"],
        say("runtime-and-activations"): lambda name: values[name]["working_memory"],
        say("left-for-cache-of-card"): lambda name: values[name]["free_for_kv_per_device"],
        common("host-memory"): host_memory, say("experts-on-host"): on_hosts.__getitem__}
    table(*crossed(common("quantity"), {label: {name: of(name) for name in values}
                                        for label, of in held.items()},
                   {name: _cards_and_host(name) for name in values}, partial(fmt_bytes, digits=1)))
    hybrid, experts = values[HYBRID], values[HYBRID]["n_routed_experts"]
    numbers({"host-memory": host_memory(HYBRID), "host-s3": S3_HOST, "host-s3-cards": S3_CARDS,
             "host-part-bytes": hybrid["host_expert_weights"] * S3_EXPERTS / experts,
             "host-none": on_host(derivation, HYBRID, offloaded_share=0)["weights_per_device"]},
            fmt_bytes, digits=0)
    numbers({"host-part": S3_EXPERTS, "host-part-of": experts, "host-tokens": S3_TOKENS})
    number("host-card", hybrid["weights_per_device"], fmt_bytes)
    numbers({"host-experts": hybrid["host_expert_weights"],
             "host-cards": 2 * hybrid["weights_per_device"],
             "host-tokens-bytes": S3_TOKENS * hybrid["kv_bytes_per_token"]}, fmt_bytes, digits=1)


def _cards_and_host(name: str) -> Pair:
    """Cards and host of a deployment."""
    server = catalogue.load_scenario(name)
    (en, zh), (host_en, host_zh) = entry_label(server.device), entry_label(server.host)
    return f"{server.devices} × {en}, {host_en}", f"{server.devices} × {zh}，{host_zh}"


def read_of_cache(derivation: Derivation, model: Any, context: int, **changed: float) -> float:
    """Bytes of cache that one request of a context reads in a step, all layers, on one rank."""
    inputs = deployed(BF16, model, **index_in_fp8(), concurrency=1, served_per_rank=1,
                      input_tokens=context - 1, output_tokens=1, **changed)
    return float(derivation.quantities(inputs, model.attention)["decode_kv_bytes"])


def reads(derivation: Derivation) -> None:
    """What a step reads of the cache by context: in full, with an indexer, with windows."""
    v3, sparse, windowed = map(catalogue.load_model, (MODEL, SPARSE, WINDOWED))
    read = partial(read_of_cache, derivation)
    no_window = {"full_attention_layers": windowed.num_hidden_layers.value}
    curves: dict[Text, dict[int, float]] = {
        label: {n: read(model, n, **changed) for n in READ_CONTEXTS}
        for label, model, changed in (
            ("DeepSeek-V3", v3, {}), (say("deepseek-v32-index-key-in-fp8"), sparse, {}),
            (say("gpt-oss-if-no-layer"), windowed, no_window), ("gpt-oss-120b", windowed, {}))}
    table(*crossed(common("model"), curves,
                   {n: say("tokens-mb", tokens=fmt_int(n)) for n in READ_CONTEXTS},
                   partial(fmt_in, unit="MB", digits=0)))
    full, chosen, whole, window = (list(curve.values()) for curve in curves.values())
    limit = sparse.index_topk.value
    assert limit == READ_CONTEXTS[0]
    numbers({"reads-topk": limit, "reads-growth": read(sparse, limit + 1) - read(sparse, limit),
             "reads-dense-growth": read(v3, limit + 1) - read(v3, limit),
             "reads-long": READ_CONTEXTS[-1], "reads-window": windowed.sliding_window.value})
    numbers({"reads-short": chosen[0] / full[0] - 1,
             "reads-window-share": window[-1] / whole[-1]}, fmt_percent, digits=0)
    number("reads-ratio", full[-1] / chosen[-1], fmt_fixed, digits=1)


@dataclass(frozen=True)
class Floor:
    """The floor of a decode step of so many requests per replica.

    Attributes:
        requests, experts: of the replica, and those distinct that they choose.
        read: bytes by part.
        low, time, high: with the fewest experts, with these, and with all [s].
    """

    requests: int
    experts: float
    read: Mapping[str, float]
    low: float
    time: float
    high: float


def _reached() -> dict[str, Value]:
    """Share of the bandwidth that each part is read at on the card of the floor."""
    device = catalogue.load_device(FLOOR_CARD)
    mechanisms = catalogue.load("mechanisms", device.mechanisms)
    return {"dense": device.hbm_efficiency, "expert": mechanisms.sliced_streaming_efficiency,
            "kv": mechanisms.mla_efficiency}


def floor(derivation: Derivation, experts: weights.Experts, requests: int) -> Floor:
    """The floor for DeepSeek-V3 in FP8 on eight H20: even routing, no drafts, 2,048 tokens."""
    reached = _reached()
    inputs = deployed(
        FP8, **catalogue.device_inputs(catalogue.load_device(FLOOR_CARD)),
        tensor_parallel=FLOOR_RANKS, input_tokens=2047, output_tokens=1, tokens_per_step=1,
        **dict.fromkeys(STREAMING, reached["expert"].value), mla_efficiency=reached["kv"].value,
        concurrency=requests, served_requests=requests, served_per_rank=requests,
        decode_distinct_experts=experts(requests), decode_host_expert_time=0, host_overlap=0)
    values = derivation.quantities(inputs, ATTENTION)
    dense, expert, kv = (values[f"decode_{part}_time"] for part in PARTS)
    each = expert / values["distinct_experts"]
    low, high = (dense + kv + each * inputs[name]
                 for name in ("num_experts_per_tok", "n_routed_experts"))
    return Floor(requests, values["distinct_experts"],
                 {part: values[f"decode_{part}_bytes"] for part in PARTS},
                 low, values["tpot_floor"], high)


def floors(rows: Mapping[int, Floor]) -> None:
    """The floor by requests, between its bounds, and where the rates come from."""
    milliseconds: dict[str, Any] = {"fmt": fmt_in, "unit": "ms", "digits": 1}
    table(rows.values(), [
        Column("requests", "$B$"), Column("experts", "$E$", fmt_fixed, digits=1),
        Column(lambda row: row.read["dense"], "$Q_w$ (GB)", fmt_in, unit="GB"),
        Column(lambda row: row.read["expert"], "$Q_e$ (GB)", fmt_in, unit="GB"),
        Column(lambda row: row.read["kv"], "$Q_{\\mathrm{kv}}$ (GB)", fmt_in, unit="GB"),
        Column("low", say("chosen-experts-ms"), **milliseconds),
        Column("time", "$\\tau_{\\min}$ (ms)", **milliseconds),
        Column("high", say("all-experts-ms"), **milliseconds),
        Column(lambda row: row.requests / row.time, say("token-s-of-replica"), fmt_fixed,
               digits=0)])
    device, shares = catalogue.load_device(FLOOR_CARD), _reached()
    bandwidth = device.memory_bandwidth
    dense, expert, kv = (fmt_percent(shares[part].value, 0) for part in PARTS)
    from_dense, from_expert, from_kv = (source(shares[part]) for part in PARTS)
    with folded(*say("where-rates-come-from")):
        markdown(*say("where-each-rate-comes-from", ranks=FLOOR_RANKS, bandwidth=bandwidth.written,
                  from_bandwidth=source(bandwidth), dense=dense, from_dense=from_dense,
                  expert=expert, from_expert=from_expert, kv=kv, from_kv=from_kv,
                  device=entry_label(device)))
    numbers({"floor-one": rows[1].time, "floor-64": rows[64].time}, fmt_time)
    number("floor-64-ratio", rows[64].time / rows[1].time, fmt_fixed, digits=1)


def exercises(latent: Cache, expanded: Cache) -> None:
    """Numbers of the exercise on the cache."""
    number("exercise-length", LONG)
    numbers({"exercise-latent": LONG * latent.token, "exercise-expanded": LONG * expanded.token,
             "exercise-expanded-rank": LONG * expanded.rank}, fmt_bytes)
