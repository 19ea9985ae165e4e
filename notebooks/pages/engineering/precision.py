"""Precision and quantisation: which weights on which card, for how many users, and on what proof.

Servers are whole, their cards cut by tensor parallelism, a pipeline stage per server, one draft:
what differs between two columns is the precision alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import calc
import catalogue
from calc.closed_form.evaluate import evaluate
from calc.evidence import proportions
from calc.physics.breakdown import token_parts
from calc.sensitivity.breakeven import SECOND, breakeven
from calc.sensitivity.paths import path_of
from calc.sensitivity.plans import Plan
from catalogue.deployments.precision_support import nearest
from catalogue.messages import Pair, messages
from notebooks.pages.catalogue.runs import formats_table, qualities_table
from notebooks.pages.deciding.goals import device_label
from notebooks.pages.engineering import layouts
from notebooks.pages.engineering.layouts import LIMIT, MOST, PACE, RATE, at, holds, most_users, plan
from notebooks.show import figures
from notebooks.show.display import figure, number, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity, fmt_sig

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
MEASURED = "s2-910b1-awq"  # a whole system on a 910B
MILLI = 1e3


@dataclass(frozen=True)
class PrecisionPlan:
    """The servers that a precision takes on a card for so many users.

    Attributes:
        plan: the deployment.
        pace: time per token [s].
        kept: whether that is within the limit.
    """

    plan: Plan
    pace: float
    kept: bool


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


@cache
def fewest_servers(device: str, precision: str, users: int) -> PrecisionPlan | None:
    """The fewest servers that keep the limit, else the fastest of those that hold it; None if none.

    Args:
        device, precision: entries of the catalogue.
        users: at once.
    """
    if precision not in multiplied(device):
        return None
    tried = [PrecisionPlan(made, pace, pace <= LIMIT) for servers in range(FEWEST, SERVERS + 1)
             if holds(made := plan(device, precision, servers, MAIN), users)
             for pace in [at(made, users, PACE)]]
    return next((each for each in tried if each.kept),
                min(tried, key=lambda each: each.pace, default=None))


def fewest_servers_by_memory(device: str, precision: str, users: int = MAIN) -> Plan | None:
    """The fewest servers whose memory holds so many users; None if none of those tried."""
    if precision not in multiplied(device):
        return None
    return next((made for servers in range(FEWEST, SERVERS + 1)
                 if holds(made := plan(device, precision, servers, MAIN), users)), None)


def best(device: str, users: int, weights: tuple[str, ...]) -> PrecisionPlan | None:
    """The precision on the fewest cards that keeps the limit; of equals the first.

    Args:
        device: of the catalogue.
        users: at once.
        weights: precisions, those first that are to be taken where two are as good.
    """
    tried = [each for precision in weights if (each := fewest_servers(device, precision, users))]
    kept = [each for each in tried if each.kept]
    fewest = [each for each in kept if each.plan.cards == min(one.plan.cards for one in kept)]
    least = min((each.pace for each in fewest or tried), default=0.0)
    return next((each for each in fewest or tried if each.pace <= least * (1 + EQUAL)), None)


def answer() -> None:
    """The numbers of the first paragraph, and of the text."""
    demand = layouts.goal().demand
    number("pr-input", demand.input_tokens)
    number("pr-output", demand.output_tokens)
    number("pr-users", MAIN)
    number("pr-limit", LIMIT, fmt_quantity, unit="s")
    number("pr-equal", EQUAL, fmt_percent, digits=0)
    for key, device, precision in (
            ("h20-fp8", "nvidia-h20", FP8), ("h200-fp8", "nvidia-h200-sxm", FP8),
            ("h20-awq", "nvidia-h20", AWQ), ("b2-int8", "ascend-910b2", INT8),
            ("b2-w4a8", "ascend-910b2", W4A8), ("b2-awq", "ascend-910b2", AWQ)):
        made = fewest_servers_by_memory(device, precision)
        assert made
        quantity = calc.estimate(made.scenario).quantities[PACE]
        number(f"pr-{key}-cards", made.cards)
        number(f"pr-{key}-pace", quantity.value, fmt_quantity, unit="s")
        number(f"pr-{key}-low", MILLI * quantity.low, fmt_fixed, digits=0)
        number(f"pr-{key}-high", MILLI * quantity.high, fmt_fixed, digits=0)
        number(f"pr-{key}-most", most_users(made))
    stated = catalogue.load_scenario(MEASURED).documented
    assert stated
    number("pr-measured", stated.inputs["token_time"].value, fmt_quantity, unit="s")
    number("pr-measured-users", stated.inputs["concurrency"].value)


@cache
def _curve(device: str, precision: str) -> tuple[np.ndarray, np.ndarray, int] | None:
    """Users that memory holds, time per token [s] with so many, and cards; None without any."""
    made = fewest_servers_by_memory(device, precision)
    if made is None:
        return None
    users = np.arange(1.0, MOST + 1)
    moves = {"concurrency": users}
    kept = made.fits(moves)
    return users[kept], made.at(moves, PACE)[kept], made.cards


def picture() -> None:
    """Time per token against users, a line per precision, a panel per card."""
    figure("precision_users", _drawn)


def _drawn(lang: str) -> Figure:
    place = int(lang == "zh")
    figures.style()
    drawing = Figure(figsize=(figures.WIDTH, 3.5))
    panels = drawing.subplots(1, len(DRAWN), sharey=True)
    for axes, device in zip(panels, DRAWN, strict=True):
        for colour, precision in zip(figures.PALETTE, WEIGHTS, strict=False):
            curve = _curve(device, precision)
            if curve is None:
                continue
            users, paces, count = curve
            label = say("precision-cards", precision=precision, cards=fmt_int(count))[place]
            axes.plot(users, MILLI * paces, color=colour, lw=1.7, label=label)
            axes.plot(users[-1], MILLI * paces[-1], "o", ms=4, color=colour)
        axes.axhline(MILLI * LIMIT, color=figures.INK, lw=1, ls="--")
        axes.set(xscale="log", yscale="log", ylim=(4, 300), xlim=(1, MOST))
        axes.set_title(device_label(device)[place], fontsize=10)
        axes.set_xlabel(common("users-at-once")[place])
        figures.log_ticks(axes.xaxis, 1, MOST)
        figures.log_ticks(axes.yaxis, 1, 10)
        axes.set_xticks([1, 8, 32, 128], ["1", "8", "32", "128"])
        axes.legend(loc="upper left", fontsize=7, handlelength=1.2, borderaxespad=0.1)
    panels[0].set_ylabel(common("time-per-token-ms")[place])
    return drawing


def decision() -> None:
    """What to take for a card and so many users, with eight bits and more, and with four."""
    rows = []
    for device in CARDS:
        for name, weights in ((say("eight-bits-and-more"), WIDE),
                              (say("four-bits-allowed"), WEIGHTS)):
            rows.append({"device": device_label(device), "allowed": name, **{
                f"users{users}": _told(best(device, users, weights)) for users in USERS}})
    table(rows, {"device": common("card"), "allowed": common("weights"), **{
        f"users{users}": layouts.counted(users) for users in USERS}})


def _told(each: PrecisionPlan | None) -> str | Pair:
    if each is None:
        return "–"
    mark = "" if each.kept else "*"
    pace = fmt_quantity(each.pace, "s")
    return say("plan-cards-pace", plan=each.plan.label, cards=each.plan.cards, pace=pace, mark=mark)


def turns() -> None:
    """Where one precision stops being the better one."""
    wide, narrow = (plan("ascend-910b2", name, 2, MAIN) for name in (INT8, AWQ))
    never = breakeven(narrow, wide, path_of(narrow, "concurrency", f"1,{MOST}"), PACE)
    assert never.always == SECOND
    traffic = breakeven(narrow, wide, path_of(narrow, TRAFFIC, TRAFFICS), PACE)
    prior = catalogue.load("mechanisms", "ascend-910b").dequantisation_traffic
    number("pr-traffic", traffic.turns[0].at, fmt_fixed, digits=1)
    number("pr-traffic-prior", prior.value, fmt_sig, digits=2)
    number("pr-traffic-low", prior.low, fmt_sig, digits=2)
    number("pr-traffic-high", prior.high, fmt_sig, digits=2)
    number("pr-tried", MOST)
    rows = []
    for device in CARDS:
        for precision in WEIGHTS:
            made = fewest_servers_by_memory(device, precision)
            if made is not None:
                count = most_users(made)
                rows.append({
                    "device": device_label(device), "precision": f"`{precision}`",
                    "cards": made.cards, "weights": fmt_quantity(float(evaluate(
                        made.inputs, made.scenario.model.attention)["weights_per_device"]), "B"),
                    "most": fmt_int(count) if count else "–",
                    "rate": fmt_fixed(at(made, count, RATE) / made.cards, 0) if count else "–"})
    table(rows, {
        "device": common("card"), "precision": common("precision"),
        "cards": common("number-of-cards"), "weights": common("weights-of-card"),
        "most": say("users-within", limit=fmt_quantity(LIMIT, "s")),
        "rate": say("token-s-of-card-then")}, sortable=True,
        folded=say("every-card-and-precision-how"))


PARTS: dict[str, tuple[Pair, tuple[str, ...]]] = {
    "experts": (say("experts-read-and-multiply"), ("routed_expert", "shared_expert")),
    "widened": (say("dequantisation-through-l2"), ("dequantisation",)),
    "attention": (common("attention"), ("attention", "core")),
    "links": (say("links"), ("all_reduce", "exchange", "pipeline")),
}


def parts() -> None:
    """What a token takes on 910B2 and H20, by the weights."""
    cases = [made for device in ("ascend-910b2", "nvidia-h20")
             for precision in (AWQ, W4A8, INT8, FP8)
             if (made := fewest_servers_by_memory(device, precision))]
    rows: list[dict[str, Any]] = [{"what": name} for name, _ in PARTS.values()]
    rows += [{"what": say("all-else-kernel-gaps-host")}, {"what": say("time-per-token")}]
    for index, made in enumerate(cases):
        quantities = evaluate(made.inputs, made.scenario.model.attention)
        pieces = token_parts(made.inputs, quantities)
        pace, told = at(made, MAIN, PACE), 0.0
        for row, (_, names) in zip(rows, PARTS.values(), strict=False):
            part = sum(float(pieces[name]) for name in names)
            told += part
            row[f"case{index}"] = _milli(part)
        rows[-2][f"case{index}"] = _milli(pace - told)
        rows[-1][f"case{index}"] = _milli(pace)
        if made.scenario.device.id == "ascend-910b2" and made.label == AWQ:
            number("pr-widening", float(pieces["dequantisation"]) / pace, fmt_percent, digits=0)
    columns: dict[str, Pair] = {"what": say("ms-of-token")}
    for index, made in enumerate(cases):
        en, zh = (f"{name}<br>`{made.label}`" for name in device_label(made.scenario.device.id))
        columns[f"case{index}"] = en, zh
    table(rows, columns)


def _milli(seconds: float) -> str:
    return fmt_fixed(MILLI * seconds, 1) if seconds > 0 else "–"


def problems() -> None:
    """How many problems tell so many points, and what the benchmarks of a table can tell."""
    rows = []
    for share in SHARES:
        for gap in POINTS:
            apart = proportions.independent(share, gap)
            rows.append({
                "share": fmt_percent(share, 0), "gap": fmt_fixed(100 * gap, 0),
                "unpaired": fmt_int(proportions.needed(share, gap)),
                "paired": fmt_int(proportions.needed_paired(gap, apart)),
                "least": fmt_int(proportions.needed_paired(gap, gap))})
    table(rows, {
        "share": say("score-of-better-one"),
        "gap": say("points-apart"),
        "unpaired": say("different-problems"),
        "paired": say("same-problems-independent-failures"),
        "least": say("same-problems-one-only-loses")})
    number("pr-power", proportions.POWER, fmt_percent, digits=0)
    number("pr-level", proportions.LEVEL, fmt_percent, digits=0)
    benchmarks()


def benchmarks() -> None:
    """What the benchmarks of a document's table can tell, by their number of problems."""
    scores = catalogue.load("accuracies", SCORES)
    rows = []
    for key, benchmark in scores.benchmarks.items():
        score = scores.score("w4a16", key)
        assert score is not None
        share, count = score.solved.value / 100, int(benchmark.problems.value)
        gap = proportions.detectable_gap(share, count)
        other = scores.score("w4a8", key)
        assert other is not None
        rows.append({"name": (benchmark.name["en"], benchmark.name["zh"]), "problems": count,
                     "share": score.solved.written, "printed": fmt_fixed(
                         score.solved.value - other.solved.value, 1),
                     "tells": fmt_fixed(100 * gap, 1)})
        number(f"pr-tells-{key}", 100 * gap, fmt_fixed, digits=1)
        number(f"pr-count-{key}", count)
    table(rows, {"name": say("benchmark-of-s2"), "problems": common("problems"),
                 "share": say("score-of-w4a16"),
                 "printed": say("over-w4a8-points"),
                 "tells": say("smallest-gap-it-can-show")})

