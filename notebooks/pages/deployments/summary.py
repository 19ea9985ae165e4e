"""All deployments of the documents on one page: a row and a line of the picture for each.

A speed that a document prints is compared as a factor: how many times faster than derived. It is
the printed rate over the derived one, or the derived time over the printed one, so that more than 1
promises too much whatever the quantity. What was measured is compared in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import catalogue
from calc.layouts.feasible import MEMORY, reasons
from calc.uncertainty import Amount
from catalogue.deployments.admission import KERNEL
from catalogue.deployments.loading import Family
from catalogue.deployments.scenario import Scenario
from catalogue.entries.deployments import Claim
from catalogue.messages import LANGUAGES, Pair, messages
from catalogue.reading.units import human
from notebooks.pages.catalogue.tables.deployments import RESOURCES
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.families import cut, one_replica, stored
from notebooks.pages.deployments.verdicts import result
from notebooks.pages.deployments.views import OF, RATE, printed
from notebooks.show import figures
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_sig

common = messages("common")
say = messages("pages/deployments/summary")

PACE, FIRST = "tpot", "ttft"
SHAPES = {RATE: "o", PACE: "^", FIRST: "s"}
NAMES: dict[str, Pair] = {RATE: common("output-throughput"), PACE: ("TPOT", "TPOT"),
                          FIRST: say("ttft-of-prompt-pools")}
SMALL, NARROW = 9.0, 5.8  # of letters [pt], and a figure for narrow screens [in]
FITS, SHORT = figures.PALETTE[2], figures.PALETTE[3]
WORDS: dict[str, Pair] = {
    "short": say("does-not-fit"), KERNEL: say("not-in-this-precision"),
    "fits": say("fits"), "holds": say("fits-speed-holds"), "slow": say("fits-too-slow"),
    "fast": say("fits-faster"), "predicted": say("fits-in-interval"),
    "missed": say("fits-outside")}


@dataclass(frozen=True)
class Speed:
    """A printed or measured speed beside ours.

    Attributes:
        name: its quantity.
        text: as it is printed, or as it was measured.
        ours: what is derived.
        factor, low, high: how many times faster than derived, with the 80% interval [1].
        outside: whether it lies outside of the interval; of a goal, on the side that misses it.
        measured: whether somebody measured it.
        goal: whether it is only aimed at.
    """

    name: str
    text: Pair
    ours: Amount
    factor: float
    low: float
    high: float
    outside: bool
    measured: bool = False
    goal: bool = False


def families() -> tuple[list[Family], list[Family]]:
    """The files of the documents' deployments in the order of document and section; the others."""
    every = [catalogue.load_family(name) for name in catalogue.names("scenarios")]
    documented = [item for item in every if item.deployments[0].file.document]
    return sorted(documented, key=_place), [item for item in every if item not in documented]


def _place(family: Family) -> tuple[str, list[int], str]:
    """Document, and section by its numbers; a section without numbers is the last."""
    numbers = re.findall(r"\d+", family.section or "")
    return str(family.deployments[0].file.document), [*map(int, numbers)] or [99], family.id


def short(title: Mapping[str, str]) -> Pair:
    """A title in both languages without the document's name, and without that it was measured."""
    en, zh = (re.sub(r"^S\d[:：]?\s*", "", title[lang]).removesuffix(end)
              for lang, end in zip(LANGUAGES, common("that-it-was-measured"), strict=True))
    return en[0].upper() + en[1:], zh


def label(scenario: Scenario) -> Pair:
    """Title without the document's name; of a variant, after the first words of its family's.

    What follows a colon is left out where it only repeats how the cards are cut.
    """
    if scenario.family is not None:
        en, zh = short(scenario.family)
        return (f"{en.partition(':')[0]}: {scenario.title['en']}",
                f"{zh.partition('：')[0]}：{scenario.title['zh']}")
    en, zh = short(scenario.title)
    if ":" in en and en.endswith(one_replica(scenario)):
        return en.partition(":")[0], zh.partition("：")[0]
    return en, zh


def speed(deployed: Deployed, name: str) -> Speed | None:
    """A speed that was measured at the deployment's own workload, or else what is printed of it.

    None where neither is known, or where it is no answer of this deployment.
    """
    ours = deployed.answers.get(name)
    if ours is None:
        return None
    if measured := deployed.measured(name):
        ours = deployed.as_measured.get(name, ours)
        ends = dict.fromkeys(plain(end, ours.unit) for end in measured)
        return Speed(name, ("–".join(ends),) * 2, ours,
                     *_factors(ours, float(np.sqrt(measured[0] * measured[1]))),
                     outside=not (ours.low <= measured[1] and measured[0] <= ours.high),
                     measured=True)
    gap = result(deployed, name)
    if gap is None or gap.claim.value.kind == "measured":
        return None
    return Speed(name, _written(gap.claim), ours, *_factors(ours, gap.ratio * ours.value),
                 outside=gap.outside, goal=gap.claim.bound is not None)


def plain(value: float, unit: str) -> str:
    """A rate in tokens per second, or a time in ms, without its unit, which a heading has."""
    return (fmt_sig(1e3 * value, 3) if unit == "s" else human(value, unit).partition(" ")[0])


def _written(claim: Claim) -> Pair:
    text = re.sub(r"^[≤≥] | (token/s|ms)$", "", printed(claim))
    en, zh = OF[claim.of]
    return say("printed-goal", text=text, of=(en.replace(",", ""), zh),
               goal=claim.bound is not None)


def _factors(ours: Amount, given: float) -> tuple[float, float, float]:
    """How many times faster than derived, with the ends of the interval."""
    ends = [given / end for end in (ours.value, ours.high, ours.low)]
    if ours.unit == "s":
        ends = [1 / end for end in ends]
        ends[1:] = ends[:0:-1]
    return ends[0], ends[1], ends[2]


def speeds(deployed: Deployed) -> list[Speed]:
    """Its throughput and time per token; of a pool that only prefills, the first token."""
    names = (RATE, PACE) if PACE in deployed.questions else (FIRST,)
    return [item for name in names if (item := speed(deployed, name))]


def verdict(deployed: Deployed) -> str:
    """A key of ``WORDS``: whether it fits, and if so whether the speeds hold."""
    why = {reason.kind for reason in reasons(deployed.scenario, deployed.quantities)}
    if MEMORY in why:
        return "short"
    if KERNEL in why:
        return KERNEL
    compared = speeds(deployed)
    missed = [item for item in compared if item.outside]
    if not compared or any(item.measured for item in compared):
        return "missed" if missed else "predicted" if compared else "fits"
    return "holds" if not missed else "slow" if any(item.factor > 1 for item in missed) else "fast"


def rows(deployments: Iterable[Deployed]) -> list[dict[str, Any]]:
    """One row of the table per deployment; rates in tokens per second, times in ms."""
    lines, makers = [], say("makers")
    for deployed in deployments:
        scenario, compared = deployed.scenario, {item.name: item for item in speeds(deployed)}
        title, word = label(scenario), WORDS[verdict(deployed)]
        binding = RESOURCES[deployed.steps[0].binding]
        row: dict[str, Any] = {
            "page": tuple(f"[{text}](#{scenario.id})" for text in title),
            "cards": tuple(comma.join((
                f"{fmt_int(scenario.devices)}×"
                f"{re.sub(f'^({makers[at]}) ', '', scenario.device.name[lang])}",
                cut(scenario)[at], stored(scenario)[at]))
                for at, (lang, comma) in enumerate((("en", ", "), ("zh", "，")))),
            "fits": tuple(f"{text}<br>{fmt_bytes(deployed.headroom, digits=1)}".replace(
                " GB", "\u00a0GB") for text in word),
            "bound": (binding[0].partition(":")[0], binding[1].partition("（")[0])}
        for key, names in (("rate", (RATE,)), ("pace", (PACE, FIRST))):
            name = next((item for item in names if item in deployed.answers), None)
            if name is None:
                continue
            mark = " TTFT" * (name == FIRST)
            row[key] = derived(compared[name].ours if name in compared else deployed.answers[name],
                               mark)
            if name in compared:
                factor = f"{mark}<br>×{times(compared[name].factor)}"
                row[f"{key}_given"] = tuple(f"{text}{factor}" for text in compared[name].text)
        lines.append(row)
    return lines


def derived(ours: Amount, mark: str = "") -> str:
    """An estimate, marked if it is to be, over its interval, without a unit."""
    ends = "–".join(plain(end, ours.unit) for end in (ours.low, ours.high))
    return f"{plain(ours.value, ours.unit)}{mark}<br>({ends})"


def times(factor: float) -> str:
    """A factor with two significant digits: ``0.49``, ``13,000``."""
    return fmt_sig(float(f"{factor:.1e}"), 2)


def columns(measured: bool = False) -> dict[str, Pair]:
    """Headings of the table, of what documents print or of what was measured."""
    heading = common("measured") if measured else say("printed")
    return {"page": common("deployment"), "cards": say("cards-cut-precision"),
            "fits": common("verdict-headroom"), "rate_given": say("token-s", heading=heading),
            "rate": say("derived"), "pace_given": say("tpot-in-ms", heading=heading),
            "pace": say("derived"), "bound": common("bound-by")}


def needed(deployed: Deployed) -> float:
    """What the fullest card would have to hold over what an engine may use of it [1]."""
    return float(deployed.quantities["memory_per_device"] / deployed.quantities["usable_memory"])


def picture(documents: Mapping[Pair, Sequence[Deployed]]) -> Callable[[str], Figure]:
    """Every deployment on a line: memory needed, and printed speeds, as factors of what there is.

    Within a document the deployment that lacks most memory stands first.

    Args:
        documents: deployments by the heading of their document.
    """
    lines: list[Pair | Deployed] = []
    for heading, of in documents.items():
        lines += [heading, *sorted(of, key=needed, reverse=True)]

    def draw(lang: str) -> Figure:
        at = lang == "zh"
        figures.style()
        figure = Figure(figsize=(NARROW, 1.4 + 0.34 * len(lines)))
        memory, fast = figure.subplots(1, 2, sharey=True, width_ratios=(1, 1.4))
        for place, item in enumerate(lines):
            name = label(item.scenario)[at] if isinstance(item, Deployed) else item[at]
            if isinstance(item, Deployed):
                _line(memory, fast, place, item, at)
            memory.annotate(name, (0, place - 0.16), fontsize=SMALL + isinstance(item, tuple),
                            xycoords=memory.get_yaxis_transform(), xytext=(3, 0),
                            textcoords="offset points", annotation_clip=False
                            ).set_in_layout(False)  # it may reach into the other panel
        memory.set_yticks(range(len(lines)), [""] * len(lines))
        for axes, word in ((memory, say("usable")), (fast, say("as-derived"))):
            axes.axvline(1, color=figures.INK, lw=1.6, alpha=0.7, zorder=0)
            axes.annotate(word[at], (1, 1), xycoords=("data", "axes fraction"), xytext=(3, 2),
                          textcoords="offset points", fontsize=SMALL)
            axes.tick_params(axis="y", length=0)
            axes.grid(visible=False, axis="y")
        memory.set(ylim=(len(lines) - 0.4, -0.6), xlim=(0, None))
        fast.spines["left"].set_visible(False)  # names run across it
        fast.set_xscale("log")
        figures.log_ticks(fast.xaxis, *fast.get_xlim())
        memory.set_xlabel(say("memory-needed-usable")[at], fontsize=9.5)
        fast.set_xlabel(say("speed-printed-or-measured-derived")[at], fontsize=9.5)
        figure.legend(handles=_key(at, lines), loc="outside upper center", ncols=2, fontsize=SMALL)
        return figure

    return draw


def _line(memory: Axes, fast: Axes, place: float, deployed: Deployed, at: bool) -> None:
    """The bar and the marks of a deployment, which bear its name in the file of the numbers."""
    colour = FITS if verdict(deployed) not in ("short", KERNEL) else SHORT
    name, place = label(deployed.scenario)[at], place + 0.2  # below its name
    memory.barh(place, needed(deployed), height=0.36, color=colour, label=name)
    for item in speeds(deployed):
        of = f"{name}: {NAMES[item.name][at]}"
        fast.plot([item.low, item.high], [place, place], color=colour, lw=1.4, label=f"{of} (80%)")
        fast.plot(item.factor, place, SHAPES[item.name], ms=5, color=colour, mew=1.2, label=of,
                  mfc="none" if item.goal else colour)


def _key(at: bool, lines: Sequence[Pair | Deployed]) -> list[Line2D]:
    """Handles of the legend, of what is drawn alone."""
    drawn = {(speed.name, speed.goal) for item in lines if isinstance(item, Deployed)
             for speed in speeds(item)}
    words = {FITS: say("fits"), SHORT: say("does-not-fit-or-not")}
    handles = [Line2D([], [], color=colour, lw=5, label=word[at]) for colour, word in words.items()]
    handles += [Line2D([], [], ls="", marker=shape, color=figures.INK, label=NAMES[name][at])
              for name, shape in SHAPES.items() if name in {name for name, _ in drawn}]
    goal = Line2D([], [], ls="", marker="o", color=figures.INK, mfc="none",
                  label=say("hollow-goal")[at])
    return [*handles, *[goal] * any(is_goal for _, is_goal in drawn)]
