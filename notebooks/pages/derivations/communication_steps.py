"""What a step sends, and how long it takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from matplotlib.figure import Figure

import catalogue
from catalogue.messages import Pair, messages
from catalogue.reading.values import Value
from notebooks.derive.formulas.derivation import Derivation
from notebooks.derive.formulas.exported import evaluate_all
from notebooks.pages.derivations import communication_groups as groups
from notebooks.pages.derivations.communication_groups import A2, CARDS, CHUNK, FEW, Inputs
from notebooks.show import figures
from notebooks.show.columns import Column, crossed
from notebooks.show.display import markdown, number, numbers, source, table
from notebooks.show.numbers import (
    fmt_bytes,
    fmt_fixed,
    fmt_in,
    fmt_int,
    fmt_percent,
    fmt_sig,
    fmt_time,
)

common = messages("common")
say = messages("pages/derivations/communication-steps")

Seconds = Callable[..., dict[str, float]]  # of card, phase, tokens and a deployment
Nodes = Callable[[int], float]  # on how many of so many nodes a token is wanted
Line = tuple[float, float]  # latency, and time per token [s]
Lines = Callable[[str, int, str], Line]  # of card, ranks and mode
MODES = {"low_latency": 0, "normal": 1}
NO_BYTES = 1e30  # bandwidth at which only latencies are left [B/s]
LONGER = 1e-3  # of a latency: too little to turn to another method
TENSOR, RANKS = (8, 16), (8, 16, 32, 64)  # of tensor, and of expert parallelism
NODES, PROMPT = (1, 2, 4, 8, 16, 32), 4096
DRAWN = (("nvidia-h800", 16), ("nvidia-h800", 64), (A2, 16))
DASHES: dict[str, Any] = {"low_latency": "-", "normal": (0, (4, 2))}
TICKS = (1, 8, 64, 512, 4096)
WAYS: dict[str, Pair] = {
    "low-latency": common("low-latency"), "normal": common("normal-plain"), "ring": common("ring")}
# bytes of an element, with the scales that are sent along
SCALED: dict[str, float] = {"bf16": 2, "fp8": 1 + 4 / 128, "int8": 1 + 4 / 7168}


def exchange_values(device: str, mode: str) -> dict[str, Value]:
    """Latencies [s] and shares of links of an all-to-all in a mode."""
    mechanisms = catalogue.load("mechanisms", catalogue.load_device(device).mechanisms)
    levels = getattr(mechanisms.all_to_all, mode)
    server = catalogue.load_node(groups.SERVERS.get(device) or groups.servers()[device])
    return {
        "exchange_network_alpha": getattr(
            catalogue.load_link(server.network_link).exchange_alpha, mode),
        "exchange_alpha": levels.node.alpha, "exchange_efficiency": levels.node.efficiency,
        "exchange_network_efficiency": levels.network.efficiency,
        **{f"exchange_{key}": value for key in ("expert_time", "token_time")
           if (value := getattr(levels.node, key))}}


def exchange_inputs(device: str, mode: str, across: bool) -> Inputs:
    """The same as inputs; in a node the network adds no latency."""
    within = {} if across else {"exchange_network_alpha": 0}
    return {"exchange_expert_time": 0, "exchange_token_time": 0,
            **groups.plain(exchange_values(device, mode)), **within}


def deployed(name: str, tensor: int = 8, expert: int = 1, stages: int = 1,
             mode: str = "low_latency", **changed: float) -> Inputs:
    """Inputs (SI) of DeepSeek-V3 in BF16, dispatch in eight bits, on cards of one kind."""
    card = groups.card_inputs(name)
    exchange = exchange_inputs(name, mode, expert > card["devices_per_node"])
    return {**model_inputs(), **card, **exchange, "exchange_normal": MODES[mode],
            "exchange_gathered": 0, "shared_expert_ranks": 0, "moe_layers": moe_layers(),
            "index_replicated": 0, "prompt_rows_gathered": 0,
            "tensor_parallel": tensor, "prompt_ranks": 1, "expert_slices": max(1, tensor // expert),
            "expert_parallel": expert, "pipeline_parallel": stages, "micro_batches": 1,
            "activation_element_bytes": groups.B_ACT, "draft_tokens": 0,
            "drafter_parameters": 0, "drafter_vocab_size": 0,
            "dispatch_element_bytes": SCALED[dispatched(name)], **changed}


def dispatched(card: str) -> str:
    """The eight bits in which tokens are dispatched: FP8, or INT8 where a card lacks it."""
    return "fp8" if catalogue.load_device(card).matrix_peak.fp8 else "int8"


def model_inputs() -> Inputs:
    """Inputs of DeepSeek-V3 (SI)."""
    return catalogue.model_inputs(catalogue.load_model(groups.MODEL))


def moe_layers() -> int:
    """Layers of DeepSeek-V3 that have experts."""
    return int(model_inputs()["num_hidden_layers"] - model_inputs()["first_k_dense_replace"])


def seconds(derivation: Derivation, name: str, phase: str = "decode", tokens: float = 1,
            **deployment: Any) -> dict[str, float]:
    """Times of communication of a step of so many tokens [s], by name without the phase."""
    step = {f"{phase}_tokens": tokens, f"{phase}_rank_imbalance": 0, f"{phase}_node_imbalance": 0}
    inputs = deployed(name, **deployment) | {"new_tokens": tokens, **step}
    laws = {key: law for key, law in derivation.formulas.items()
            if key.startswith((phase, "wanted")) and "@" not in key}
    return {key.removeprefix(f"{phase}_"): time for key, time in
            evaluate_all(laws, inputs).items() if key.startswith(phase)}


def whole_and_latency(times: Seconds, phase: str, tokens: int) -> tuple[float, float]:
    """All-reduces of a step on eight 910B2, and what of them grows with the latency [s]."""
    card = groups.card_inputs(A2)
    later = {name: card[name] * (1 + LONGER)
             for name in ("collective_alpha", "second_round_alpha", "gather_alpha")}
    whole, longer = (times(A2, phase, tokens, **changed)["all_reduce_time"]
                     for changed in ({}, later))
    return whole, (longer - whole) / LONGER


def sums(times: Seconds, count: int) -> None:
    """All-reduces of a step by tensor-parallel size and tokens; so many are in a step."""
    headings = {(tensor, tokens): say("tp-of-tokens-ms", tensor=tensor, tokens=fmt_int(tokens))
                for tensor in TENSOR for tokens in groups.TOKENS}
    table(*crossed(common("card"), {groups.card_name(name): {
        (tensor, tokens): times(name, "prefill" if tokens == CHUNK else "decode", tokens,
                                tensor=tensor)["all_reduce_time"]
        for tensor, tokens in headings} for name in CARDS}, headings,
                   partial(fmt_in, unit="ms", digits=1)), wide=True)
    opening, latency = whole_and_latency(times, "decode", FEW)
    payload = FEW * groups.token_bytes()
    numbers({"open-count": count, "open-exchanges": 2 * moe_layers(), "open-tokens": FEW})
    numbers({"open-time": opening, "open-latency": latency,
             "open-empty": times(A2, "decode", FEW, pair_bandwidth=NO_BYTES)["all_reduce_time"],
             "open-naive": count * payload / groups.quoted_rate()}, fmt_time)
    chunk, of_chunk = whole_and_latency(times, "prefill", CHUNK)
    number("tensor-chunk", chunk, fmt_time)
    numbers({"tensor-share": latency / opening, "tensor-chunk-share": of_chunk / chunk},
            fmt_percent, digits=0)


def draw_sums(times: Seconds, lang: str) -> Figure:
    """All-reduces of a step over its tokens, on eight and on sixteen cards."""
    figure, axes = figures.axes(height=3.8)
    tokens = [2**x for x in range(14)]
    dashes: list[Any] = ["-", (0, (4, 2))]
    for name, colour in figures.card_colours(CARDS).items():
        for tensor, dash in zip(TENSOR, dashes, strict=True):
            axes.plot(tokens, [times(name, tokens=count, tensor=tensor)["all_reduce_time"] * 1e3
                               for count in tokens], ls=dash, color=colour,
                      label=groups.card_name(name)[lang == "zh"] if dash == "-" else None)
    figures.doubling(axes, TICKS)
    axes.set(yscale="log", xlabel=say("tokens-of-step")[lang == "zh"],
             ylabel=say("all-reduces-of-step-ms")[lang == "zh"])
    figures.legend(axes, {say("number-of-cards", cards=tensor)[lang == "zh"]: {"ls": dash}
                          for tensor, dash in zip(TENSOR, dashes, strict=True)}, loc="upper left")
    return figure


def expected_nodes(independent: Nodes, different: Nodes, formula: Nodes, grouped: Nodes) -> None:
    """On how many nodes a token is wanted, by how its experts are chosen."""
    model = catalogue.load_model(groups.MODEL)
    chosen = model.num_experts_per_tok.value
    table(NODES, [
        Column(int, "$n_a$"), Column(independent, say("without-groups"), fmt_fixed),
        Column(different, say("different-experts"), fmt_fixed),
        Column(formula, say("from-four-groups"), fmt_fixed),
        Column(grouped, say("from-four-groups-different-experts"), fmt_fixed),
        Column(lambda nodes: chosen * (nodes - 1) / nodes, say("over-network-low-latency"),
               fmt_fixed),
        Column(lambda nodes: formula(nodes) * (nodes - 1) / nodes, say("over-network-normal"),
               fmt_fixed)])
    markdown(*say("groups-as-in-configuration", origin=source(model.n_group)))
    numbers({f"nodes-{key}": chosen / formula(nodes)
             for key, nodes in (("two", 2), ("eight", 8), ("many", 32))}, fmt_fixed, digits=1)
    numbers({"nodes-alone": independent(8), "nodes-formula": formula(8)}, fmt_fixed)


def line(times: Seconds, name: str, ranks: int, mode: str) -> Line:
    """Dispatch and combine of one layer: latency, and time per token [s]."""
    first, second = (times(name, tokens=tokens, tensor=1, expert=ranks, mode=mode)["exchange_time"]
                     / moe_layers() for tokens in (1, 2))
    return 2 * first - second, second - first


def modes(lines: Lines) -> None:
    """Both modes of an exchange on each card, and from how many tokens normal mode is faster."""
    rows, crossings, never = [], [], False
    for name in CARDS:
        for ranks in RANKS:
            (low, per_low), (normal, per_normal) = (lines(name, ranks, mode) for mode in MODES)
            faster = per_low > per_normal  # with tokens enough
            never |= not faster
            at = math.ceil(max(1, (normal - low) / (per_low - per_normal))) if faster else 0
            if faster and ranks > groups.card_inputs(name)["devices_per_node"]:
                crossings.append(at)
            rows.append({
                "card": groups.card_name(name), "e": ranks, "a1": groups.microseconds(low, 0),
                "a2": groups.microseconds(normal, 0), "s1": fmt_fixed(per_low * 1e6, 2),
                "s2": fmt_fixed(per_normal * 1e6, 2), "at": fmt_int(at) if faster else "–"})
    numbers({"crossing-least": min(crossings), "crossing-most": max(crossings)})
    table(rows, {"card": common("card"), "e": "$e$", "a1": say("latency-low"),
                 "a2": say("latency-normal"), "s1": say("per-token-low-us"),
                 "s2": say("per-token-normal-us"), "at": say("normal-faster-from-tokens")})
    markdown(*say("dispatch-in-fp8-and-combine", never=never))


def draw_modes(lines: Lines, lang: str) -> Figure:
    """Dispatch and combine of one layer over the tokens of a rank, in both modes."""
    figure, axes = figures.axes(height=3.8)
    tokens = [2 ** (x / 2) for x in range(25)]
    # of one card only its fewest ranks have the card's colour
    colours = figures.card_colours(f"{name} {ranks}" for name, ranks in DRAWN)
    for (name, ranks), colour in zip(DRAWN, colours.values(), strict=True):
        for mode, dash in DASHES.items():
            latency, each = lines(name, ranks, mode)
            label = say("card-and-ranks", card=groups.card_name(name), ranks=ranks)[lang == "zh"]
            axes.plot(tokens, [(latency + each * count) * 1e6 for count in tokens], ls=dash,
                      color=colour, label=label if dash == "-" else None)
    figures.doubling(axes, TICKS)
    axes.set(yscale="log", xlabel=say("tokens-of-rank")[lang == "zh"],
             ylabel=say("dispatch-and-combine-one-layer")[lang == "zh"])
    figures.legend(axes, {WAYS[mode.replace("_", "-")][lang == "zh"]: {"ls": dash}
                          for mode, dash in DASHES.items()}, loc="upper left")
    return figure


def pipelines(times: Seconds) -> None:
    """Sums over sixteen cards beside two pipeline stages of eight, with their hand-over."""
    names = {"wide": ("TP16 all-reduces", "TP16 all-reduce"),
             "sum": ("TP8×PP2 all-reduces", "TP8×PP2 all-reduce"), "deep": say("hand-over")}
    phases = {"decode": FEW, "prefill": CHUNK}

    def parts(name: str, phase: str) -> dict[str, float]:
        wide = times(name, phase, phases[phase], tensor=16)["all_reduce_time"]
        deep = times(name, phase, phases[phase], tensor=8, stages=2)
        return {"wide": wide, "sum": deep["all_reduce_time"], "deep": deep["pipeline_time"]}

    table(*crossed(common("card"), {groups.card_name(name): {
        (phase, key): time for phase in phases for key, time in parts(name, phase).items()}
        for name in CARDS}, {
            (phase, key): say("part-of-tokens-ms", tokens=fmt_int(tokens), part=part)
            for phase, tokens in phases.items() for key, part in names.items()},
                   lambda time: fmt_sig(time * 1e3)), wide=True)
    own = parts(A2, "decode")
    numbers({"pipeline-wide": own["wide"], "pipeline-deep": own["deep"] + own["sum"]}, fmt_time)
    number("pipeline-own", own["deep"], groups.microseconds)


def transfers(derivation: Derivation) -> None:
    """Time to move the cache of a prompt: by ports and stages, latent and of all heads."""
    v3 = model_inputs()
    latent = groups.B_ACT * (v3["kv_lora_rank"] + v3["qk_rope_head_dim"])
    expanded = v3["num_attention_heads"] * groups.B_ACT * (
        v3["qk_nope_head_dim"] + v3["qk_rope_head_dim"] + v3["v_head_dim"])
    formula = {"kv_port_time": derivation.formulas["kv_port_time"]}

    def transfer(name: str, ports: int, layer_bytes: float = latent, stages: int = 1) -> float:
        inputs = deployed(name, ports, stages=stages, input_tokens=PROMPT,
                          state_bytes_per_device=0, decode_context_parallel=1,
                          kv_layer_bytes_per_token_per_device=layer_bytes)
        return float(evaluate_all(formula, inputs)["kv_port_time"])

    table(CARDS, [
        Column(groups.card_name, common("card")),
        Column(lambda name: fmt_sig(transfer(name, 1) * 1e3), say("one-stage-ms")),
        Column(lambda name: fmt_sig(transfer(name, 1, stages=2) * 1e3), say("two-stages-ms")),
        Column(lambda name: fmt_sig(transfer(name, 8, expanded / 8) * 1e3),
               say("eight-ports-if-all-heads"))])
    number("transfer-prompt", PROMPT)
    number("transfer-bytes", PROMPT * v3["num_hidden_layers"] * latent, fmt_bytes, unit="MB",
           digits=0)
    number("transfer-one", transfer(A2, 1), fmt_time)
