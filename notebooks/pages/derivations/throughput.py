"""What deployments deliver: ceilings of a batch, pipelines, goodput and replicas.

Times are in seconds, rates in tokens per second. Quantities are asked of the derivation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import sympy
from matplotlib.figure import Figure

import catalogue
from catalogue.entries.formulas import Number, neutral
from catalogue.entries.hardware import Device
from catalogue.messages import Pair, messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.derive.formulas.symbols import sym
from notebooks.pages.catalogue.tables.formats import entry_label
from notebooks.pages.derivations.memory_weights import ROOM_FOR_ALL
from notebooks.show import figures
from notebooks.show.columns import Column, crossed
from notebooks.show.display import figure, markdown, number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/derivations/throughput")

Inputs = dict[str, int | float]
Values = Mapping[str, Number]
PLAN, OTHER_PLAN = "s1-plan-c", "s0-scenario-1"
PROMPT, ANSWER = 2048, 512
FP8 = ("precision=fp8-block", "workload.max_num_batched_tokens=8192 token")
FREE = {"second_round_alpha": 0, **{name: neutral()[name] for name in (
    "collective_alpha", "network_alpha", "exchange_alpha", "exchange_network_alpha",
    "pipelined_alpha", "collective_efficiency", "network_efficiency", "exchange_efficiency",
    "exchange_network_efficiency", "core_tile_rows")}}
CLASSES = ("attention", "core", "index", "dense_mlp", "shared_expert", "routed_expert", "router",
           "head")
BATCHES = tuple(2 ** power for power in range(11))
WAVE = 32  # requests that fit every layout
LINES: dict[str, Pair] = {"memory": common("bandwidth"), "compute": say("compute"),
                          "links": say("links")}
REPLICAS = (1, 2, 4, 8, 12, 16)


class Replica(NamedTuple):
    """Inputs of a deployment of one replica, and its device."""

    inputs: Inputs
    card: Device


class Point(NamedTuple):
    """Rates of a batch that each resource allows, and the estimate [token/s].

    Attributes:
        batch: requests.
        experts: distinct experts of a layer that the batch reads.
        expert_share: theirs of the bytes that are read [1].
        step: estimated time of a step [s].
    """

    batch: int
    experts: float
    expert_share: float
    memory: float
    compute: float
    links: float
    estimate: float
    step: float


class Served(NamedTuple):
    """Quantities of a deployment with one request, with as many as a limit allows, and full."""

    name: Pair
    most: int
    alone: Values
    best: Values
    full: Values


def quantities(derivation: Derivation, inputs: Values, **changed: float) -> Values:
    """Inputs, some of them changed, and every quantity derived from them (SI), as it is read."""
    return derivation.quantities({**inputs, **changed}, "mla")


def deployment(scenario: str, *overrides: str, device: str | None = None) -> Replica:
    """A deployment of the catalogue with changes and the page's requests."""
    lengths = {"input": PROMPT, "output": ANSWER, "context": PROMPT + ANSWER}
    workload = (f"workload.{name}_tokens={count} token" for name, count in lengths.items())
    # a scenario that states no answer counts as a decode pool, so they are set in it
    chosen = catalogue.load_scenario(scenario, device=device, overrides=(*overrides, *workload))
    return Replica(chosen.inputs(), chosen.device)


def layout(tensor: int, pipeline: int = 1) -> tuple[str, ...]:
    """Overrides that set the parallelism of one replica."""
    sizes = {"tensor": tensor, "pipeline": pipeline, "data": 1, "expert": 1}
    return tuple(f"parallelism.{name}_parallel={size}" for name, size in sizes.items())


LAYOUTS = {"TP16": layout(16), "TP8 × PP2": layout(8, pipeline=2),
           "TP4 × PP4": layout(4, pipeline=4)}
STAGES = "TP8 × PP2"


def h20() -> Replica:
    """DeepSeek-V3 in FP8 on eight H20."""
    return deployment(PLAN, *FP8, *layout(8), "cluster.nodes=1", device="nvidia-h20-141gb")


def h800(name: str) -> Replica:
    """DeepSeek-V3 in FP8 on sixteen H800, in a layout by its name."""
    return deployment(PLAN, *FP8, "cluster.node=hgx-h800", "cluster.nodes=2", *LAYOUTS[name],
                      device="nvidia-h800")


def ascend(name: str) -> Replica:
    """DeepSeek-V3 in W8A8 on sixteen 910B2, in a layout by its name."""
    return deployment(OTHER_PLAN, "precision=w8a8-int8", *LAYOUTS[name])


def requests_that_fit(derivation: Derivation, replica: Replica) -> int:
    """Requests whose cache the memory of a replica holds."""
    return int(quantities(derivation, replica.inputs, concurrency=1)["max_concurrency"])


def ceilings(derivation: Derivation, replica: Replica) -> list[Point]:
    """Rates that bandwidth, compute and links allow, and the estimate, by batch."""
    def point(batch: int) -> Point:
        all_served = replica.inputs | {"memory_capacity": ROOM_FOR_ALL}
        ideal = quantities(derivation, all_served, concurrency=batch, **FREE)
        step = quantities(derivation, all_served, concurrency=batch)["decode_step_time"]
        moved = sum(ideal[f"decode_{name}_bytes"] for name in (*CLASSES, "vector"))
        worked = sum(ideal[f"decode_{name}_flops"] / ideal[f"{name}_peak"] for name in CLASSES)
        return Point(batch, ideal["decode_distinct_experts"],
                     ideal["decode_routed_expert_bytes"] / moved,
                     memory=batch / (moved / ideal["memory_bandwidth"]), compute=batch / worked,
                     links=batch / ideal["decode_communication_time"], estimate=batch / step,
                     step=step)

    return [point(batch) for batch in BATCHES]


def ceiling_table(points: Sequence[Point], replica: Replica, most: int) -> None:
    """Ceiling and estimate by batch, each with its gain over half the batch.

    Args:
        points: what ``ceilings`` gives.
        replica: that they are of.
        most: requests that fit.
    """
    half = {2 * point.batch: point for point in points}

    def gain(name: str) -> Column:
        return Column(lambda point: fmt_fixed(
            getattr(point, name) / getattr(half[point.batch], name))
            if point.batch in half else "", say("gain"))

    table(points, [Column("batch", "$B$"), Column("experts", "$E$", fmt_fixed, digits=1),
                   Column("memory", say("bandwidth-ceiling-token-s"), round), gain("memory"),
                   Column("step", say("step-estimate"), fmt_time),
                   Column("estimate", say("estimate-token-s"), round), gain("estimate")])
    markdown(*say("how-ceilings-are-read", name=entry_label(replica.card),
              size=int(replica.inputs["tensor_parallel"]), compute=f"{points[0].compute:,.0f}",
              links=f"{points[0].links:,.0f}", most=f"{most:,}"))


def gains(points: Sequence[Point]) -> tuple[list[float], int, int]:
    """What each doubling of the batch gains of the bandwidth ceiling [1]: all, worst, best place.

    The worst is that of the first half of the doublings, the best one comes after it.
    """
    ratios = [after.memory / before.memory for before, after in pairwise(points)]
    worst = min(range(len(ratios) // 2), key=ratios.__getitem__)
    return ratios, worst, max(range(worst, len(ratios)), key=ratios.__getitem__)


def crossing(points: Sequence[Point]) -> int:
    """The first batch for which compute allows less than bandwidth."""
    return next(point.batch for point in points if point.compute < point.memory)


def ceiling_numbers(points: Sequence[Point], most: int) -> None:
    """Worst and best doubling, and where compute would take over, beside the requests that fit."""
    ratios, worst, best = gains(points)
    numbers({"ceiling-prompt": PROMPT, "ceiling-output": ANSWER,
             "gain-worst-from": points[worst].batch, "gain-worst-to": points[worst + 1].batch,
             "gain-best-from": points[best].batch, "gain-best-to": points[best + 1].batch,
             "ceiling-before": crossing(points) // 2, "ceiling-crossing": crossing(points),
             "ceiling-room": most})
    numbers({"gain-worst": ratios[worst],
             "gain-worst-estimate": points[worst + 1].estimate / points[worst].estimate,
             "gain-best": ratios[best]}, fmt_fixed)
    number("gain-worst-share", points[worst + 1].expert_share, fmt_percent, digits=0)
    fits = max((point for point in points if point.batch <= most), key=lambda point: point.batch)
    number("ceiling-estimate-batch", fits.batch)
    number("ceiling-estimate-share", fits.estimate / fits.memory, fmt_percent, digits=0)


def ceiling_picture(points: Sequence[Point], most: int) -> None:
    """Ceilings and estimate over the batch, and where the memory is full."""
    batches, colours = [point.batch for point in points], figures.PALETTE

    def draw(lang: str) -> Figure:
        drawing, axes = figures.axes(height=3.9)
        for (name, label), colour in zip(LINES.items(), colours[1:], strict=False):
            axes.plot(batches, [getattr(point, name) for point in points], ls=(0, (4, 3)), lw=1.4,
                      color=colour)
            axes.annotate(label[lang == "zh"], (1, getattr(points[0], name)),
                          xytext=(2, 16 if name == "memory" else 5), textcoords="offset points",
                          color=colour)
        axes.plot(batches, [point.estimate for point in points], "o-", ms=4, color=colours[0])
        axes.annotate(say("estimate")[lang == "zh"], (batches[5], points[5].estimate),
                      xytext=(6, -14), textcoords="offset points", color=colours[0])
        axes.axvline(most, color=figures.INK, lw=1, ls=(0, (1, 3)))
        axes.annotate(say("memory-is-full")[lang == "zh"], (most, points[0].estimate),
                      xytext=(4, 0), textcoords="offset points")
        figures.doubling(axes, batches)
        axes.set(yscale="log", xlabel=common("requests-in-batch")[lang == "zh"],
                 ylabel=say("token-s-of-replica")[lang == "zh"])
        return drawing

    figure("throughput-ceilings", draw)


def bubbles(bubble: sympy.Expr) -> None:
    """The share of a pipeline that idles, by chunks and stages."""
    stages = {p: f"$p = {p}$" for p in (2, 4, 8)}
    table(*crossed(say("chunks"), {m: {p: _bubble(bubble, p, m) for p in stages}
                                   for m in (1, 2, 4, 8, 16, 32)}, stages,
                   partial(fmt_percent, digits=0)))


def _bubble(bubble: sympy.Expr, stages: int, chunks: int) -> float:
    return float(bubble.subs({sym.pipeline_parallel: stages, sym.prompt_chunks: chunks}))


def layouts(derivation: Derivation) -> dict[Pair, dict[str, Values]]:
    """Quantities of a wave on sixteen cards, by card and layout."""
    return {entry_label(on(STAGES).card): {
        name: quantities(derivation, on(name).inputs, concurrency=WAVE) for name in LAYOUTS}
        for on in (h800, ascend)}


def layout_table(laid_out: Mapping[Pair, Mapping[str, Values]]) -> None:
    """What a layout holds and how fast it is, a row per card and layout."""
    table([{"card": card, "layout": name, **values}
           for card, by_layout in laid_out.items() for name, values in by_layout.items()], [
        Column("card", say("sixteen-cards")), Column("layout", say("layout")),
        Column("max_concurrency", common("requests-that-fit"), fmt_int),
        Column("decode_communication_time", say("communication-step"), fmt_time),
        Column("decode_step_time", common("decode-step"), fmt_time),
        Column("ttft", say("first-token-of-burst"), fmt_time),
        Column("output_throughput", "$X$ (token/s)", round)])
    markdown(*say("how-layouts-are-compared", wave=WAVE, prompt=f"{PROMPT:,}", answer=ANSWER))


def layout_numbers(laid_out: Mapping[Pair, Mapping[str, Values]]) -> None:
    """What two stages gain over one on either card, and what two more lose again."""
    (whole, two, four), (whole_2, two_2, four_2) = (of.values() for of in laid_out.values())
    number("stages-again", 1 - _ratio(four, two), fmt_percent, digits=0)
    number("stages-again-910b2", 1 - _ratio(four_2, two_2), fmt_percent, digits=0)
    number("stages-room-flat", int(whole_2["max_concurrency"]))
    number("stages-room", int(two_2["max_concurrency"]))
    number("stages-rate", _ratio(two, whole) - 1, fmt_percent, digits=0)
    number("stages-rate-910b2", _ratio(two_2, whole_2) - 1, fmt_percent, digits=0)


def _ratio(values: Values, than: Values) -> float:
    return float(values["output_throughput"] / than["output_throughput"])


def largest(derivation: Derivation, inputs: Inputs, quantity: str, limit: float) -> int:
    """Largest concurrency of a replica at which a quantity is within a limit; 0 if none is."""
    low, high = 0, int(quantities(derivation, inputs, concurrency=1)["max_concurrency"])
    while low < high:
        middle = (low + high + 1) // 2
        within = quantities(derivation, inputs, concurrency=middle)[quantity] <= limit
        low, high = (middle, high) if within else (low, middle - 1)
    return low


def goodput(derivation: Derivation, limit: float) -> list[Served]:
    """Each deployment with one request, with as many as keep to a limit on TPOT [s], and full."""
    def served(name: Pair, replica: Replica) -> Served:
        of = partial(quantities, derivation, replica.inputs)
        most, alone = largest(derivation, replica.inputs, "tpot", limit), of(concurrency=1)
        return Served(name, most, alone, of(concurrency=most),
                      full=of(concurrency=int(alone["max_concurrency"])))

    return [served(say("h20-fp8"), h20()), served(say("h800-fp8"), h800(STAGES)),
            served(say("ascend-w8a8"), ascend(STAGES))]


def goodput_table(rows: Sequence[Served], first_limit: float) -> None:
    """What deployments deliver within the limit on TPOT, and full; with that on TTFT [s]."""
    table(rows, [
        Column("name", common("deployment")),
        Column(lambda row: row.alone["ttft"], say("first-token-of-one-request"), fmt_time),
        Column("most", say("most-within-limit")),
        Column(lambda row: row.best["output_throughput"], say("output-there"), round),
        Column(lambda row: row.best["ttft"], say("first-token-there"), fmt_time),
        Column(lambda row: row.alone["max_concurrency"], say("most-in-memory"), fmt_int),
        Column(lambda row: row.full["output_throughput"], say("output-in-full-memory"), round),
        Column(lambda row: row.full["tpot"], "$\\tau$", fmt_time)], wide=True)
    number("goodput-first", first_limit, fmt_time)
    number("goodput-share", _ratio(rows[0].best, rows[0].full), fmt_percent, digits=0)


def replicas(derivation: Derivation, users: int) -> dict[int, Values]:
    """Quantities of so many users over replicas of eight H20, by the number of replicas."""
    spread = {count: quantities(derivation, h20().inputs, concurrency=users, data_parallel=count)
              for count in REPLICAS}
    table([{"D": count, **values} for count, values in spread.items()], [
        Column("D", "$D$"), Column("requests_per_rank", say("requests-on-fullest"), fmt_int),
        Column(lambda row: users / (row["D"] * row["requests_per_rank"]), say("used"),
               fmt_percent, digits=0),
        Column("ttft", "$\\tau_1$", fmt_time), Column("tpot", "$\\tau$", fmt_time),
        Column("output_throughput", "$X$ (token/s)", round),
        Column(lambda row: _ratio(row, spread[1]) / row["D"], say("share-of-ideal"),
               fmt_percent, digits=0)])
    markdown(*say("requests-over-replicas-of-eight", users=users, prompt=fmt_int(PROMPT),
              answer=ANSWER))
    number("replicas-four", _ratio(spread[4], spread[1]), fmt_fixed, digits=1)
    return spread


def exercise_of_a_pipeline(bubble: sympy.Expr, need: sympy.Expr) -> None:
    """The numbers of the second exercise: what idles, and the chunks that it takes for a tenth."""
    chunk, stages, prompt = 8192, 4, 16384
    chunks = int(need.subs(sym.pipeline_parallel, stages))
    numbers({"exercise-prompt": prompt, "exercise-chunk": chunk, "exercise-stages": stages,
             "exercise-chunks": chunks, "exercise-tokens": chunks * chunk})
    number("exercise-bubble", _bubble(bubble, stages, prompt // chunk), fmt_percent, digits=0)
