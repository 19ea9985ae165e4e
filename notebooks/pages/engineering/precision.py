"""Precision and quantisation: which weights on which card, for how many users, and on what proof.

Servers are whole, their cards cut by tensor parallelism, a pipeline stage or a replica per server,
one draft: what differs between two columns is the precision alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from matplotlib.figure import Figure

import catalogue
from calc.answer.estimate import predicted
from calc.physics.step import token_parts
from calc.sensitivity.break_even import breakeven
from calc.sensitivity.paths import path_of
from calc.sensitivity.plans import Plan
from calc.serving.evaluate import evaluate
from catalogue.deployments.physics_inputs import nearest
from catalogue.messages import LANGUAGES, Pair, join, messages
from notebooks.pages import proportions
from notebooks.pages.catalogue.runs import formats_table, qualities_table
from notebooks.pages.deciding.goals import device_label
from notebooks.pages.engineering import layouts
from notebooks.pages.engineering.layouts import (
    LIMIT,
    MOST,
    PACE,
    RATE,
    at,
    holds,
    most_users,
    plan,
)
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/engineering/precision")

CARDS = ("ascend-910b2", "ascend-910b1", "nvidia-h20", "nvidia-h200-sxm")
DRAWN = ("ascend-910b2", "nvidia-h20", "nvidia-h200-sxm")
WIDE = ("fp8-block", "w8a8-int8", "bf16")  # eight bits and more, the published ones first
WEIGHTS = (*WIDE, "w4a16-awq", "w4a8-int8", "w4afp8")
EQUAL = 0.02  # of two times per token, relative: no reason to choose by
USERS = (8, 32, 128)
MAIN = 32  # users of the picture
FEWEST, SERVERS = 1, 4
AWQ, INT8, W4A8, FP8 = "w4a16-awq", "w8a8-int8", "w4a8-int8", "fp8-block"
TRAFFIC = "dequantisation_traffic"
TRAFFICS = "0.01 B,8 B"  # L2 bytes per widened weight that are tried
SHARES = (0.9, 0.7)  # scores about those of R1 on contests in mathematics and in code
POINTS = (0.01, 0.02, 0.05)
SCORES = "s2-r1-0528"
MILLI = 1e3


@dataclass(frozen=True)
class PrecisionPlan:
    """The servers that a precision takes on a card for so many users.

    Attributes:
        plan: the deployment.
        pace: median time per token [s].
        within_limit: whether that is within the limit.
    """

    plan: Plan
    pace: float
    within_limit: bool


@cache
def multiplied(device: str) -> frozenset[str]:
    """Precisions that a card has the units for, and a release of an engine the kernels."""
    of = catalogue.load_model(layouts.goal().model)
    return frozenset(entry.id for entry in nearest(catalogue.load_device(device), model=of))


def kernels() -> None:
    """What runs on each card, by which engine's release and kernel, and what each format costs."""
    qualities_table(layouts.goal().model, catalogue.names("precisions"))
    for device in CARDS:
        name = device_label(device)
        formats_table(catalogue.load_device(device), folded=say("what-runs-on-by-which", name=name))


def _holding(device: str, precision: str, servers: int, users: int) -> list[Plan]:
    """Of so many servers what is tried and holds so many users, that of most stages first."""
    return [made for stages in range(servers, 0, -1) if servers % stages == 0
            if holds(made := plan(device, precision, servers, MAIN, pipeline=stages), users)
            ] if precision in multiplied(device) else []


@cache
def fewest_servers(device: str, precision: str, users: int) -> PrecisionPlan | None:
    """The fewest servers that keep the limit, else the fastest of those that hold it; None if none.

    Of as many servers the fastest is taken.

    Args:
        device, precision: entries of the catalogue.
        users: at once.
    """
    tried: list[PrecisionPlan] = []
    for servers in range(FEWEST, SERVERS + 1):
        tried += [PrecisionPlan(made, pace, pace <= LIMIT)
                  for made in _holding(device, precision, servers, users)
                  for pace in [made.median(users, PACE)]]
        if any(each.within_limit for each in tried):
            break
    return min(tried, key=lambda each: each.pace, default=None)


def fewest_servers_by_memory(device: str, precision: str, users: int = MAIN) -> Plan | None:
    """The fewest servers whose memory holds so many users; None if none of those tried."""
    return next((made for servers in range(FEWEST, SERVERS + 1)
                 for made in _holding(device, precision, servers, users)), None)


def best(device: str, users: int, weights: tuple[str, ...]) -> PrecisionPlan | None:
    """The precision on the fewest cards that keeps the limit; of equals the first.

    Args:
        device: of the catalogue.
        users: at once.
        weights: precisions, those first that are to be taken where two are as good.
    """
    tried = [each for precision in weights if (each := fewest_servers(device, precision, users))]
    kept = [each for each in tried if each.within_limit]
    fewest = [each for each in kept if each.plan.cards == min(one.plan.cards for one in kept)]
    least = min((each.pace for each in fewest or tried), default=0.0)
    return next((each for each in fewest or tried if each.pace <= least * (1 + EQUAL)), None)


def answer() -> None:
    """The numbers of the first paragraph, and of the text."""
    demand = layouts.goal().demand
    numbers({"pr-input": demand.input_tokens, "pr-output": demand.output_tokens, "pr-users": MAIN})
    numbers({"pr-limit": LIMIT}, fmt_time)
    for key, device, precision in (
            ("h20-fp8", "nvidia-h20", FP8), ("h200-fp8", "nvidia-h200-sxm", FP8),
            ("b2-int8", "ascend-910b2", INT8), ("b2-w4a8", "ascend-910b2", W4A8),
            ("b2-awq", "ascend-910b2", AWQ)):
        made = fewest_servers_by_memory(device, precision)
        assert made
        quantity = predicted(made.scenario, [PACE])[PACE]
        number(f"pr-{key}-cards", made.cards)
        number(f"pr-{key}-pace", quantity.value, fmt_time)
        numbers({f"pr-{key}-low": MILLI * quantity.low, f"pr-{key}-high": MILLI * quantity.high},
                fmt_fixed, digits=0)


def picture(lang: str) -> Figure:
    """Time per token against users, a line per precision, a panel per card."""
    place = LANGUAGES.index(lang)
    drawing, panels = figures.panels(3.5, 1, len(DRAWN), sharey=True)
    for axes, device in zip(panels, DRAWN, strict=True):
        for colour, precision in zip(figures.PALETTE, WEIGHTS, strict=False):
            if (made := fewest_servers_by_memory(device, precision)) is None:
                continue
            users = np.arange(1.0, MOST + 1)
            users = users[made.fits({"concurrency": users})]
            paces = made.medians(users, PACE)
            label = say("precision-cards", precision=precision, cards=fmt_int(made.cards))[place]
            axes.plot(users, MILLI * paces, color=colour, lw=1.7, label=label)
            axes.plot(users[-1], MILLI * paces[-1], "o", ms=4, color=colour)
        axes.axhline(MILLI * LIMIT, color=figures.INK, lw=1, ls="--")
        axes.set(xscale="log", yscale="log", ylim=(4, 300), xlim=(1, MOST))
        axes.set_title(device_label(device)[place], fontsize=10)
        axes.set_xlabel(common("users-at-once")[place])
        figures.log_ticks(axes.yaxis, 1, 10)
        figures.ticks(axes.xaxis, [1, 8, 32, 128])
        axes.legend(loc="upper left", fontsize=7, handlelength=1.2, borderaxespad=0.1)
    panels[0].set_ylabel(common("time-per-token-ms")[place])
    return drawing


def decision() -> None:
    """What to take for a card and so many users, with eight bits and more, and with four."""
    def told(users: int) -> Column:
        return Column(lambda row: _told(best(row[0], users, row[2])), layouts.counted(users))

    allowed = (say("eight-bits-and-more"), WIDE), (say("four-bits-allowed"), WEIGHTS)
    table([(device, *each) for device in CARDS for each in allowed], [
        Column(lambda row: device_label(row[0]), common("card")), Column(1, common("weights")),
        *map(told, USERS)])


def _told(each: PrecisionPlan | None) -> Pair | None:
    return say("plan-cards-pace", plan=each.plan.label, cards=each.plan.cards,
               pace=fmt_time(each.pace), mark="" if each.within_limit else "*") if each else None


def turns() -> None:
    """Where one precision stops being the better one."""
    wide, narrow = (plan("ascend-910b2", name, 2, MAIN) for name in (INT8, AWQ))
    traffic = breakeven(narrow, wide, path_of(narrow, TRAFFIC, TRAFFICS), PACE)
    prior = catalogue.load("mechanisms", "ascend-910b").dequantisation_traffic
    number("pr-traffic", traffic.turns[0].at, fmt_fixed, digits=1)
    numbers({"pr-traffic-prior": prior.value, "pr-traffic-low": prior.low,
             "pr-traffic-high": prior.high}, fmt_sig, digits=2)
    rows = [(device, made, most_users(made)) for device in CARDS for precision in WEIGHTS
            if (made := fewest_servers_by_memory(device, precision))]
    table(rows, [
        Column(lambda row: device_label(row[0]), common("card")),
        Column(lambda row: f"`{row[1].label}`", common("precision")),
        Column(lambda row: row[1].cards, common("number-of-cards")),
        Column(lambda row: evaluate(row[1].inputs, row[1].scenario.model.attention)[
            "weights_per_device"], common("weights-of-card"), fmt_quantity, unit="B"),
        Column(lambda row: row[2] or None, say("users-within", limit=fmt_time(LIMIT)), fmt_int),
        Column(lambda row: row[1].median(row[2], RATE) / row[1].cards if row[2] else None,
               say("token-s-of-card-then"), fmt_fixed, digits=0)],
        sortable=True, folded=say("every-card-and-precision-how"))


PARTS: dict[str, tuple[Pair, tuple[str, ...]]] = {
    "experts": (say("experts-read-and-multiply"), ("routed_expert", "shared_expert")),
    "widened": (say("dequantisation-through-l2"), ("dequantisation",)),
    "attention": (common("attention"), ("attention", "core")),
    "links": (say("links"), ("all_reduce", "exchange", "pipeline")),
}


def parts() -> None:
    """What a token takes on 910B2 and H20, by the weights."""
    def of(made: Plan) -> Column:
        quantities = evaluate(made.inputs, made.scenario.model.attention)
        pieces, pace = token_parts(made.inputs, quantities), at(made, MAIN, PACE)
        told = [sum(float(pieces[name]) for name in names) for _, names in PARTS.values()]
        if made.scenario.device.id == "ascend-910b2" and made.label == AWQ:
            number("pr-widening", float(pieces["dequantisation"]) / pace, fmt_percent, digits=0)
        told += [pace - sum(told), pace]
        heading = join(("<br>", "<br>"), (device_label(made.scenario.device.id),
                                          (f"`{made.label}`",) * 2))
        return Column(lambda row: MILLI * told[row[0]] if told[row[0]] > 0 else None, heading,
                      fmt_fixed, digits=1)

    names = [*(name for name, _ in PARTS.values()), say("all-else-kernel-gaps-host"),
             say("time-per-token")]
    table(enumerate(names), [Column(1, say("ms-of-token")), *(
        of(made) for device in ("ascend-910b2", "nvidia-h20")
        for precision in (AWQ, W4A8, INT8, FP8)
        if (made := fewest_servers_by_memory(device, precision)))])


def problems() -> None:
    """How many problems tell so many points, and what the benchmarks of a table can tell."""
    table(product(SHARES, POINTS), [
        Column(0, say("score-of-better-one"), fmt_percent, digits=0),
        Column(lambda row: 100 * row[1], say("points-apart"), fmt_fixed, digits=0),
        Column(lambda row: proportions.needed(*row), say("different-problems"), fmt_int),
        Column(lambda row: proportions.needed_paired(row[1], proportions.independent(*row)),
               say("same-problems-independent-failures"), fmt_int),
        Column(lambda row: proportions.needed_paired(row[1], row[1]),
               say("same-problems-one-only-loses"), fmt_int)])
    numbers({"pr-power": proportions.POWER, "pr-level": proportions.LEVEL}, fmt_percent, digits=0)
    benchmarks()


def benchmarks() -> None:
    """What the benchmarks of a document's table can tell, by their number of problems."""
    scores = catalogue.load("accuracies", SCORES)
    rows = []
    for key, benchmark in scores.benchmarks.items():
        score, other = (scores.score(system, key) for system in ("w4a16", "w4a8"))
        assert score is not None
        assert other is not None
        count = int(benchmark.problems.value)
        gap = 100 * proportions.detectable_gap(score.solved.value / 100, count)
        rows.append((benchmark.name, count, score.solved.written,
                     score.solved.value - other.solved.value, gap))
        number(f"pr-tells-{key}", gap, fmt_fixed, digits=1)
        number(f"pr-count-{key}", count)
    table(rows, [Column(0, say("benchmark-of-s2")), Column(1, common("problems")),
                 Column(2, say("score-of-w4a16")),
                 Column(3, say("over-w4a8-points"), fmt_fixed, digits=1),
                 Column(4, say("smallest-gap-it-can-show"), fmt_fixed, digits=1)])
