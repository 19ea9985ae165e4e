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
from notebooks.pages.catalogue.runs import formats_table, qualities_table
from notebooks.pages.deciding.goals import named
from notebooks.pages.engineering import layouts
from notebooks.pages.engineering.layouts import LIMIT, MOST, PACE, RATE, at, holds, most_users, plan
from notebooks.show import figures
from notebooks.show.display import figure, number, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity, fmt_sig

Text = tuple[str, str]
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
class Taken:
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
        name = named(device)
        formats_table(catalogue.load_device(device), folded=(
            f"What runs on {name[0]}, by which engine and kernel",
            f"{name[1]} 上能运行的精度、引擎与算子"))


@cache
def taken(device: str, precision: str, users: int) -> Taken | None:
    """The fewest servers that keep the limit, else the fastest of those that hold it; None if none.

    Args:
        device, precision: entries of the catalogue.
        users: at once.
    """
    if precision not in multiplied(device):
        return None
    tried = [Taken(made, pace, pace <= LIMIT) for servers in range(FEWEST, SERVERS + 1)
             if holds(made := plan(device, precision, servers, MAIN), users)
             for pace in [at(made, users, PACE)]]
    return next((each for each in tried if each.kept),
                min(tried, key=lambda each: each.pace, default=None))


def held(device: str, precision: str, users: int = MAIN) -> Plan | None:
    """The fewest servers whose memory holds so many users; None if none of those tried."""
    if precision not in multiplied(device):
        return None
    return next((made for servers in range(FEWEST, SERVERS + 1)
                 if holds(made := plan(device, precision, servers, MAIN), users)), None)


def best(device: str, users: int, weights: tuple[str, ...]) -> Taken | None:
    """The precision on the fewest cards that keeps the limit; of equals the first.

    Args:
        device: of the catalogue.
        users: at once.
        weights: precisions, those first that are to be taken where two are as good.
    """
    tried = [each for precision in weights if (each := taken(device, precision, users))]
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
        made = held(device, precision)
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
    made = held(device, precision)
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
            axes.plot(users, MILLI * paces, color=colour, lw=1.7, label=(
                "{} · {} cards", "{} · {} 卡")[place].format(precision, fmt_int(count)))
            axes.plot(users[-1], MILLI * paces[-1], "o", ms=4, color=colour)
        axes.axhline(MILLI * LIMIT, color=figures.INK, lw=1, ls="--")
        axes.set(xscale="log", yscale="log", ylim=(4, 300), xlim=(1, MOST))
        axes.set_title(named(device)[place], fontsize=10)
        axes.set_xlabel(("users at once", "同时在线用户")[place])
        figures.log_ticks(axes.xaxis, 1, MOST)
        figures.log_ticks(axes.yaxis, 1, 10)
        axes.set_xticks([1, 8, 32, 128], ["1", "8", "32", "128"])
        axes.legend(loc="upper left", fontsize=7, handlelength=1.2, borderaxespad=0.1)
    panels[0].set_ylabel(("time per token (ms)", "每 token 时间（ms）")[place])
    return drawing


def decision() -> None:
    """What to take for a card and so many users, with eight bits and more, and with four."""
    rows = []
    for device in CARDS:
        for name, weights in ((("8 bits and more", "8 比特及以上"), WIDE),
                              (("4 bits allowed", "也可用 4 比特"), WEIGHTS)):
            rows.append({"device": named(device), "allowed": name, **{
                f"users{users}": _told(best(device, users, weights)) for users in USERS}})
    table(rows, {"device": ("card", "卡"), "allowed": ("weights", "权重"), **{
        f"users{users}": (f"{users} users", f"{users} 个用户") for users in USERS}})


def _told(each: Taken | None) -> str | Text:
    if each is None:
        return "–"
    mark = "" if each.kept else "*"
    pace = fmt_quantity(each.pace, "s")
    return (f"`{each.plan.label}`<br>{each.plan.cards} cards, {pace}{mark}",
            f"`{each.plan.label}`<br>{each.plan.cards} 卡，{pace}{mark}")


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
            made = held(device, precision)
            if made is not None:
                count = most_users(made)
                rows.append({
                    "device": named(device), "precision": f"`{precision}`", "cards": made.cards,
                    "weights": fmt_quantity(float(evaluate(
                        made.inputs, made.scenario.model.attention)["weights_per_device"]), "B"),
                    "most": fmt_int(count) if count else "–",
                    "rate": fmt_fixed(at(made, count, RATE) / made.cards, 0) if count else "–"})
    table(rows, {
        "device": ("card", "卡"), "precision": ("precision", "精度"),
        "cards": ("cards", "卡数"), "weights": ("weights of a card", "单卡权重"),
        "most": (f"users within {fmt_quantity(LIMIT, 's')}",
                 f"{fmt_quantity(LIMIT, 's')} 以内的用户数"),
        "rate": ("token/s of a card then", "此时单卡 token/s")}, sortable=True,
        folded=("Every card and precision: how many users within the limit",
                "各卡各精度：限值以内的用户数"))


PARTS: dict[str, tuple[Text, tuple[str, ...]]] = {
    "experts": (("experts: read and multiply", "专家：读取与相乘"),
                ("routed_expert", "shared_expert")),
    "widened": (("dequantisation through L2", "经 L2 反量化"), ("dequantisation",)),
    "attention": (("attention", "注意力"), ("attention", "core")),
    "links": (("links", "通信"), ("all_reduce", "exchange", "pipeline")),
}


def parts() -> None:
    """What a token takes on 910B2 and H20, by the weights."""
    cases = [made for device in ("ascend-910b2", "nvidia-h20")
             for precision in (AWQ, W4A8, INT8, FP8) if (made := held(device, precision))]
    rows: list[dict[str, Any]] = [{"what": name} for name, _ in PARTS.values()]
    rows.append({"what": ("all else: kernel gaps, host, draft, others' prompts",
                          "其余：算子间隔、主机、草稿与他人提示")})
    rows.append({"what": ("time per token", "每 token 时间")})
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
    columns: dict[str, Text] = {"what": ("ms of a token", "每 token 毫秒")}
    for index, made in enumerate(cases):
        en, zh = (f"{name}<br>`{made.label}`" for name in named(made.scenario.device.id))
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
        "share": ("score of the better one", "较好者的分数"),
        "gap": ("points apart", "相差（百分点）"),
        "unpaired": ("different problems", "题目不同"), "paired": (
            "same problems, independent failures", "题目相同，错题互不相关"),
        "least": ("same problems, one only loses", "题目相同，一方只错得更多")})
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
        gap = proportions.told(share, count)
        other = scores.score("w4a8", key)
        assert other is not None
        rows.append({"name": (benchmark.name["en"], benchmark.name["zh"]), "problems": count,
                     "share": score.solved.written, "printed": fmt_fixed(
                         score.solved.value - other.solved.value, 1),
                     "tells": fmt_fixed(100 * gap, 1)})
        number(f"pr-tells-{key}", 100 * gap, fmt_fixed, digits=1)
        number(f"pr-count-{key}", count)
    table(rows, {"name": ("benchmark of S2", "S2 的评测集"), "problems": ("problems", "题数"),
                 "share": ("score of w4a16, %", "w4a16 分数，%"),
                 "printed": ("over w4a8, points", "高出 w4a8，百分点"),
                 "tells": ("smallest gap it can show, points", "能分辨的最小差距，百分点")})

