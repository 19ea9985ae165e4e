"""Steps in the chapter on compute: what they are made of, operator by operator, and their limits.

Expressions are handed in; quantities of a step come from the formulas derived so far (SI).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import sympy
from matplotlib.figure import Figure

import catalogue
from catalogue.entries.formulas import evaluate, neutral
from catalogue.entries.hardware import Device
from catalogue.messages import Pair, messages
from catalogue.reading.values import Value
from notebooks.derive.formulas.derivation import Derivation
from notebooks.derive.formulas.symbols import latex
from notebooks.derive.formulas.trees import to_tree
from notebooks.derive.steps.operators import VECTOR, Operator
from notebooks.derive.steps.phases import CLASSES, PHASES, Composition
from notebooks.show import figures
from notebooks.show.columns import crossed
from notebooks.show.display import (
    LANGUAGES,
    figure,
    markdown,
    number,
    numbers,
    source,
    sourced,
    table,
)
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/derivations/compute")

Values = Mapping[str, Any]  # inputs and quantities of a step by name
Distinct = Callable[[float, float], float]  # experts of a layer, of tokens and the skew
GIGA, MEGA = 1e9, 1e6
DASHED, DOTTED = (0, (4, 3)), (0, (1, 2))
USUAL = {**neutral(), "multiply_add_flops": 2, "even_routing": 1, "core_tile_rows": 16,
         "sparse_tile_rows": 16}
PARTS: dict[str, Pair] = {
    "tokens": ("tokens", "token"), "rows": say("rows-of-logits"),
    "attended": say("positions-attended-to"), "in_window": say("attended-to-in-window"),
    "scored": say("scored-by-indexer"), "read": say("cached-positions-read"),
    "read_in_window": say("read-in-window"), "scored_keys": say("index-keys-read"),
    "expanded": say("expanded-again")}
LENGTHS = (2**17, 2**20)  # of a context [token]
CACHED = (0, 32, 256, 131072)  # tokens
TOKENS = (1, 8, 32, 128, 512)  # that share the experts
TOKENS_OF_A_RANK = 128
EXPERTS, CHOSEN = 256, 8  # of a layer, as simulated
DRAWS = 200
FEW_EXPERTS = 144, 320  # ranks, each with one or two
REQUESTS = [2**n for n in range(15)]  # of a replica
OPERATORS: dict[str, Pair] = {
    "embedding": common("embedding"), "embedding_all_reduce": say("all-reduce-of-embedding"),
    "input_norm": say("norm-before-attention"),
    "q_a": say("query-down"), "q_a_norm": say("norm-of-query-latent"), "q_b": say("query-up"),
    "kv_a": say("key-value-down"), "kv_norm": say("norm-of-latent"),
    "expand_kv": say("key-value-up-expanded"), "absorb_k": say("key-up-absorbed"),
    "core": say("scores-and-values"),
    "absorb_v": say("value-up-absorbed"), "o": say("output-projection"),
    "attention_all_reduce": say("all-reduce-after-attention"),
    "post_norm": say("norm-before-network"),
    "gate_up": say("dense-gate-and-up"), "gate": say("dense-gate"), "down": say("dense-down"),
    "router": common("router"), "permute": say("rows-gathered-and-returned"),
    "routed_gate_up": say("routed-experts-gate-and-up"),
    "routed_gate": say("routed-experts-gate"), "routed_down": say("routed-experts-down"),
    "shared_gate_up": say("shared-expert-gate-and-up"),
    "shared_gate": say("shared-expert-gate"), "shared_down": say("shared-expert-down"),
    "mlp_all_reduce": say("all-reduce-after-network"),
    "final_norm": say("final-norm"), "head": common("output-head"),
    "logits_all_gather": say("all-gather-of-logits")}
MOVED = ("weight_bytes", "activation_bytes", "kv_bytes")
OPERATOR_COLUMNS: dict[str, str | Pair] = {
    "name": common("operator"), "count": say("times-per-step"), "flops": "GFLOP",
    "weight_bytes": say("weights-gb"), "activation_bytes": say("activations-gb"),
    "kv_bytes": say("cache-gb"), "intensity": "FLOP/B", "payload": say("payload-of-each-mb")}
CURVES: dict[tuple[str, int], Pair] = {  # by class and tensor-parallel size
    ("dense_mlp", 8): common("dense-networks"),
    ("attention", 8): common("attention-projections"),
    ("routed_expert", 8): common("routed-experts"),
    ("core", 8): say("core-of-heads", heads=16),
    ("core", 1): say("core-of-heads", heads=128)}


class Steps:
    """Every quantity of one replica: a decode step, and a chunk of a prompt after some tokens."""

    def __init__(self, derivation: Derivation, model: Any) -> None:
        """From what the chapter has derived when a step is asked for."""
        self._derivation, self._model = derivation, model

    def __call__(self, precision: str = "bf16", tensor: int = 8, requests: int = 32,
                 context: int = 4096, prompt: int = 4096, **changed: float) -> Values:
        """Inputs and quantities by name, without expert and data parallelism."""
        weights = catalogue.precision_inputs(catalogue.load_precision(precision))
        inputs = {
            **catalogue.model_inputs(self._model), **weights, **USUAL, "tensor_parallel": tensor,
            "pipeline_parallel": 1, "data_parallel": 1, "expert_parallel": 1,
            "concurrency": requests, "served_requests": requests, "served_per_rank": requests,
            "input_tokens": context - 1, "output_tokens": 1,
            "cached_tokens": 0, "new_tokens": prompt, "prefill_tokens": prompt,
            "max_num_batched_tokens": prompt,
            "biased_cached_tokens": 0, "biased_new_tokens": prompt, "prefill_cached": 0,
            "prefill_context_tokens": (prompt + 1) / 2, "prefill_attended": (prompt + 1) / 2,
            "prefill_in_window": (prompt + 1) / 2, "expert_slices": tensor, "prompt_ranks": 1,
            **changed}
        inputs["dispatch_element_bytes"] = inputs["activation_element_bytes"]
        return self._derivation.quantities(inputs, self._model.attention)


def of_long_contexts(derivation: Derivation) -> None:
    """What a token of V4-Flash, as published, takes at two lengths of its context."""
    model = catalogue.load_model("deepseek-v4-flash")
    assert model.weights
    step = Steps(derivation, model)
    short, long = (step(model.weights.precision, 1, 1, length) for length in LENGTHS)

    def operations(values: Values) -> float:
        return float(sum(values[f"decode_{kind}_flops"] for kind in CLASSES))

    numbers({"csa-short": f"{LENGTHS[0] // 2**10}k", "csa-long": f"{LENGTHS[1] // 2**20}M"}, str)
    numbers({"csa-core-growth": long["decode_core_flops"] / short["decode_core_flops"],
             "csa-index-growth": long["decode_index_flops"] / short["decode_index_flops"],
             "csa-growth": operations(long) / operations(short)}, fmt_fixed, digits=1)
    number("csa-index-share", long["decode_index_flops"] / operations(long), fmt_percent, digits=0)


def amount(expr: Any, values: Values) -> float:
    """The value of an expression in the symbols of the book."""
    return float(evaluate(to_tree(sympy.sympify(expr)), values))


def operations(values: Values, phase: str, without: str = "") -> Any:
    """Operations of the matmuls of a step, of all classes but one [FLOP]."""
    return sum(values[f"{phase}_{kind}_flops"] for kind in CLASSES if kind != without)


def moved(values: Values, phase: str) -> Any:
    """Bytes that a step moves [B]."""
    return sum(values[f"{phase}_{kind}_bytes"] for kind in (*CLASSES, VECTOR))


def cases(rows: Iterable[tuple[str | Pair, sympy.Expr]]) -> None:
    """What something comes out as, case by case, in the letters of the book."""
    table([{"case": case, "value": f"${latex(expr)}$"} for case, expr in rows],
          {"case": common("case"), "value": common("result")})


def ends_of_the_intensity(few: sympy.Expr, many: sympy.Expr) -> None:
    """Intensity of a matmul over its rows with few of them, and with many."""
    cases([("$\\lim_{m \\to 0} I(m) / m$", few), ("$\\lim_{m \\to \\infty} I(m)$", many)])


def parts_of_a_step(compositions: Mapping[str, Composition]) -> None:
    """What a micro-batch is made of, by phase."""
    table([{"part": name}
           | {phase: f"${latex(getattr(compositions[phase], part))}$" for phase in PHASES}
           for part, name in PARTS.items()],
          {"part": say("per-micro-batch"), "decode": common("decode-step"),
           "prefill": say("chunk-of-one-prompt"), "burst": say("chunk-of-burst")}, wide=True)
    markdown(*say("step-split-into-micro-batches"))


def rows_of_tiles(tiles: Mapping[str, float], heads: int) -> None:
    """Rows of a tile by class of cards, and what they do to a rank with so many heads."""
    hopper, ascend = tiles["nvidia-hopper"], tiles["ascend-910b"]
    assert hopper == tiles["nvidia-blackwell"]
    assert hopper % heads == 0
    numbers({"tile-hopper": hopper, "tile-ascend": ascend, "tile-padding": hopper // heads,
             "tile-drafts": hopper // heads - 1})


def positions_of_prompts(half: sympy.Expr, surplus: sympy.Expr, expanded: sympy.Expr) -> None:
    """Positions attended to by a prompt, those that chunks add, and those expanded again."""
    cases([(say("positions-without-prefix"), half), (say("positions-that-chunks-add"), surplus),
           (say("positions-expanded-again"), expanded)])


def absorb_or_expand(ratio: Callable[[float, float], float], limit: float) -> None:
    """Operations of absorbing over those of expanding.

    Args:
        ratio: of tokens of a request in the step, and of its cached tokens.
        limit: tokens from which expanding is always less work.
    """
    def picture(lang: str) -> Figure:
        at = LANGUAGES.index(lang)
        fig, ax = figures.axes(height=3.6)
        lengths = [2 ** (n / 8) for n in range(97)]
        for before, colour in zip(CACHED, figures.PALETTE, strict=False):
            ax.plot(lengths, [ratio(n, before) for n in lengths], color=colour,
                    label=say("tokens-cached", tokens=f"{before:,}")[at])
        ax.axhline(1, color=figures.INK, lw=1, ls=DASHED)
        ax.axvline(limit, color=figures.INK, lw=1, ls=DOTTED)
        ax.annotate(f"$T^*$ = {limit:.0f}", (limit, 0.02), xytext=(5, 0),
                    textcoords="offset points")
        ax.set(yscale="log", xlabel=say("tokens-of-request-in-step")[at],
               ylabel=say("absorbed-expanded")[at])
        figures.doubling(ax, [1, 4, 16, 64, 256, 1024, 4096])
        ax.set_yticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
        ax.legend(loc="lower right")
        return fig

    figure("absorb-or-expand", picture)


def distinct_by_skew(distinct: Distinct, experts: int, chosen: int, skews: Sequence[float],
                     counted: Value) -> None:
    """Distinct experts by tokens and skew, with the skew that was counted.

    Args:
        distinct: experts of a layer that so many tokens hit, with a skew.
        experts, chosen: of a layer, in all and per token.
        skews: of the routing [1].
        counted: the skew that was counted.
    """
    table(*crossed("$B_e$", {tokens: {psi: distinct(tokens, psi) for psi in skews}
                             for tokens in TOKENS},
                   {psi: f"$\\psi = {psi:g}$" for psi in skews}, partial(fmt_fixed, digits=1)))
    markdown(*say("distinct-experts-of-in-layer", experts=experts, chosen=chosen))
    numbers({"experts-uniform": distinct(32, 0), "experts-counted": distinct(32, counted.value)},
            fmt_fixed, digits=0)
    number("skew-counted", counted.value, fmt_fixed, digits=2)
    sourced([(say("skew-of-routing"), counted)], folded=say("where-skew-comes-from"))


def skewed_experts(distinct: Distinct, experts: int, chosen: int, skews: Sequence[float]) -> None:
    """Distinct experts over the tokens that share them, a curve for each skew."""
    batches = [2 ** (n / 8) for n in range(81)]
    curves = {psi: [distinct(n, psi) for n in batches] for psi in skews}

    def picture(lang: str) -> Figure:
        at = LANGUAGES.index(lang)
        fig, ax = figures.axes(height=3.6)
        for (psi, curve), colour in zip(curves.items(), figures.PALETTE, strict=False):
            ax.plot(batches, curve, color=colour, label=say("curve-of-skew", skew=f"{psi:g}")[at])
        ax.plot(batches, [min(chosen * n, experts) for n in batches], color=figures.INK, lw=1,
                ls=DASHED, label=common("upper-bound")[at])
        figures.doubling(ax, [1, 4, 16, 64, 256, 1024])
        ax.set(xlabel=common("tokens-that-share-experts")[at],
               ylabel=common("distinct-experts-per-layer")[at])
        ax.legend(loc="lower right")
        return fig

    figure("skewed-experts", picture)


def fullest_ranks(imbalance: Callable[..., float], skew: Value) -> None:
    """The excess of the fullest rank by the law and as simulated, and where the skew is from.

    Args:
        imbalance: of so many ranks, tokens, skew, spares and whether experts are placed by load.
        skew: of the popularity of experts, as the catalogue has it.
    """
    rows, left = [], {}
    for ranks, spares in ((2, 0), (8, 0), (32, 0), (32, 32), (72, 32), (144, 32), (320, 64)):
        row: dict[str, Any] = {"ranks": ranks, "spares": spares}
        for by_load in (1,) if spares else (0, 1):  # a spare copies only by load
            for name, each in (("law", imbalance), ("drawn", _drawn_excess)):
                row[f"{name}-{by_load}"] = each(ranks, TOKENS_OF_A_RANK * ranks, skew.value, spares,
                                                by_load)
        left[f"fullest-{ranks}"] = row["law-1"]
        rows.append(row | {key: fmt_percent(row[key], 0) for key in row if "-" in key})
    table(rows, {"ranks": common("ranks"), "spares": common("redundant-experts"),
                 "law-0": say("index-order"), "drawn-0": say("simulated"),
                 "law-1": common("by-load"), "drawn-1": say("simulated")})
    numbers({f"fullest-{ranks}": left[f"fullest-{ranks}"] for ranks in FEW_EXPERTS},
            fmt_percent, digits=0)
    markdown(*say("excess-of-fullest-rank", experts=EXPERTS, chosen=CHOSEN, tokens=TOKENS_OF_A_RANK,
              skew=f"{skew.value:g}", origin=source(skew)))


def _accounting(rows: Iterable[Operator], values: Values) -> Iterator[dict[str, Any]]:
    """Amounts of all layers on one rank, operator by operator."""
    for row in rows:
        times = amount(row.count, values)
        if row.name not in OPERATORS or not times:
            continue
        flops = times * amount(row.flops, values)
        through = {name: times * amount(getattr(row, name), values) for name in MOVED}
        by_matrix = through["activation_bytes"] + through["kv_bytes"]
        yield {"name": OPERATORS[row.name], "count": fmt_int(times),
               "flops": fmt_sig(flops / GIGA) if flops else "",
               **{name: fmt_sig(value / GIGA) if value else "" for name, value in through.items()},
               "intensity": fmt_sig(flops / sum(through.values())) if flops and by_matrix else "",
               "payload": fmt_sig(amount(row.payload, values) / MEGA) if row.collective else ""}


def operators(rows: Mapping[str, Iterable[Operator]], values: Values) -> None:
    """The operators of a decode step and of a chunk of prefill, and the sums of both.

    Args:
        rows: of the operator table, by phase.
        values: of the step.
    """
    def in_all(phase: str) -> dict[str, str | Pair]:
        flops, through = operations(values, phase), moved(values, phase)
        return {"name": say("matmuls-all-bytes", bytes=fmt_sig(through / GIGA)),
                "flops": f"**{fmt_sig(flops / GIGA)}**",
                "intensity": f"**{fmt_sig(flops / through)}**"}

    decode, prefill = ([*_accounting(rows[phase], values), in_all(phase)]
                       for phase in ("decode", "prefill"))
    table(decode, OPERATOR_COLUMNS, wide=True)
    markdown(*say("operators-of-decode-step", requests=fmt_int(values["concurrency"]),
              context=fmt_int(values["input_tokens"] + 1)))
    table(prefill, OPERATOR_COLUMNS, wide=True,
          folded=say("operators-of-chunk", prompt=fmt_int(values["prefill_tokens"])))


def numbers_of_operators(rows: Mapping[str, Iterable[Operator]], values: Values,
                         drafted: Values) -> None:
    """What a draft adds to a step, and what the experts of a chunk get.

    Args:
        rows: of the operator table, by phase.
        values: of the step.
        drafted: those of a step with a draft.
    """
    of_draft = sum(amount(row.count * row.bytes, drafted) for row in rows["decode"]
                   if row.name.startswith("mtp_"))
    number("draft-share", of_draft / moved(drafted, "decode"), fmt_percent)
    number("table-rows", values["prefill_tokens"] * values["num_experts_per_tok"]
           // values["n_routed_experts"])
    experts = [row for row in rows["prefill"] if row.cls == "routed_expert"]
    number("table-moved", sum(amount(row.activation_bytes, values) for row in experts)
           / sum(amount(row.weight_bytes, values) for row in experts), fmt_percent, digits=0)


def intensity_of_classes(step: Steps, cards: Sequence[tuple[Device, str]],
                         ridge: Callable[[Device, str], float]) -> None:
    """Operations per byte of the classes over the batch, beside the ridge points of cards.

    Args:
        step: of a replica.
        cards: each with the side of its line on which its name does not stand.
        ridge: ridge point by card and dtype [FLOP/B].
    """
    steps = {tensor: [step(tensor=tensor, requests=n) for n in REQUESTS] for tensor in (1, 8)}

    def picture(lang: str) -> Figure:
        at = LANGUAGES.index(lang)
        fig, ax = figures.axes(height=4.0)
        for ((kind, tensor), label), colour in zip(CURVES.items(), figures.PALETTE, strict=False):
            ax.plot(REQUESTS, [values[f"decode_{kind}_flops"] / values[f"decode_{kind}_bytes"]
                               for values in steps[tensor]], color=colour, label=label[at])
        for card, side in cards:
            point = ridge(card, "bf16")
            ax.axhline(point, color=figures.INK, lw=1, ls=DASHED)
            ax.annotate(f"{card.name[lang]}  {point:.0f}", (1, point), va=side, fontsize=9,
                        xycoords=ax.get_yaxis_transform(), xytext=(6, 0),
                        textcoords="offset points")
        ax.set(yscale="log", xlabel=say("requests-of-replica-one-token")[at],
               ylabel=say("flop-per-byte")[at])
        figures.doubling(ax, [1, 4, 16, 64, 256, 1024, 4096, 16384])
        ax.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
        ax.legend(loc="lower right", fontsize=8.5)
        return fig

    figure("intensity", picture)


def _drawn_excess(ranks: int, tokens: int, skew: float, spares: int, by_load: int) -> float:
    """Mean excess of the fullest rank over draws, a share of the mean load [1]; 256 experts, 8 a
    token, greedy placement, without a residual.

    Args:
        ranks: that hold the experts, equally many each.
        tokens: of all ranks.
        skew: of the popularity of experts, which is gamma-distributed [1].
        spares: second places of the most loaded experts.
        by_load: whether experts are placed by load, or as numbered.
    """
    draw, found = np.random.default_rng(1), []
    for _ in range(DRAWS):
        share = draw.dirichlet(np.full(EXPERTS, 1 / skew))
        copies = np.ones(EXPERTS, int)
        for _ in range(spares):
            copies[np.argmax(share / copies)] += 1
        loads = np.repeat(share / copies, copies)
        each = len(loads) // ranks
        if by_load:  # to the emptiest of the ranks with room
            load, emptiest = np.zeros(ranks), [(0.0, rank, each) for rank in range(ranks)]
            for one in sorted(loads.tolist(), reverse=True):
                held, at, room = heapq.heappop(emptiest)
                load[at] = held + one
                if room > 1:
                    heapq.heappush(emptiest, (held + one, at, room - 1))
        else:  # to one rank after the other
            load = draw.permutation(loads).reshape(ranks, each).cumsum(axis=1)[:, -1]
        counted = draw.poisson(load * tokens * CHOSEN)
        found.append(counted.max() / (tokens * CHOSEN / ranks) - 1)
    return float(np.mean(found))
