"""What the chapter on what decides says of a deployment: each input alone, by slope, together."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from functools import partial

from matplotlib.figure import Figure

import catalogue
from calc.sensitivity.information import Information, Worth, to_buy
from calc.sensitivity.plans import (
    CARD_HOURS,
    Plan,
    check_quantity,
    plan_of,
    quantity_label,
    unit_of,
)
from calc.sensitivity.sobol import Index, Sensitivity, sensitivity
from calc.sensitivity.tornado import OWN, Bar, Elasticity, Tornado, answers_of, tornado
from catalogue import ParamsError
from catalogue.messages import LANGUAGES, Pair, join, messages, pair
from catalogue.reading.units import human
from notebooks.pages.catalogue.tables.mechanisms import labelled
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import draw, markdown, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity, fmt_sig

common = messages("common")
say = messages("pages/deciding/deciding")

DECIDED = ("tpot", "ttft", CARD_HOURS, "headroom_per_device")
SLOPED = ("tpot", "ttft", "output_throughput", "headroom_per_device")
FEW, ROWS = 3, 10
MILLI = 1e3
BARS = 10
WIDEST = (46, 22)  # letters of a line of a label
TALL = 0.62  # of a bar
MARGIN = 0.08  # of the axis, for what is printed beside a bar
SAMPLES = (256, 1024, 4096)
REPLICAS = 10  # deployments' worth of tokens that are bought for
LATER = (1.25, 1.5, 2.0, 3.0)  # price of a card that was missing, over one bought in time
OWN_NAME = say("formulas-own-error")
# of every document, and the measured systems of others, one of each kind
SEVERAL = ("s0-scenario-1", "s0-recommended", "s1-plan-a", "s1-expert-tiers-uniform",
           "s2-910b1-awq", "s3-hybrid-910b4", "h200-r1-vllm-tp8", "wide-lmsys-decode",
           "wide-cloudmatrix-decode", "kt-4090d-v02")


@dataclass(frozen=True)
class Deciding:
    """A deployment, and what moves each quantity that is decided by.

    Attributes:
        plan: the deployment.
        tornados: by quantity.
    """

    plan: Plan
    tornados: dict[str, Tornado]


def page_of(scenario: str) -> Deciding:
    """A deployment by its name or the path of its file; without prompts there is no TTFT.

    Raises ParamsError for one that cannot be used.
    """
    plan = plan_of(scenario)
    return Deciding(plan, {name: tornado(plan, name) for name in DECIDED if _asked(plan, name)})


def answer(page: Deciding) -> None:
    """What each quantity depends on: three inputs, how far they move it, and the own error."""
    def inputs(row: tuple[str, Tornado]) -> Pair:
        return join(("; ", "；"), (
            with_note(label(bar.name, page.plan), _ends(bar, unit_of(row[0])))
            for bar in _widest(row[1])))

    def own(row: tuple[str, Tornado]) -> str | None:
        return next((_ends(bar, unit_of(row[0])) for bar in row[1].bars if bar.name == OWN), None)

    pace = page.tornados["tpot"]
    markdown(*say("its-time-per-output-token", heading=pair(page.plan.scenario.heading),
              users=fmt_int(page.plan.inputs["concurrency"]), pace=quantity_text(pace.value, "s"),
              inputs=join(("; ", "；"), (label(bar.name, page.plan) for bar in _widest(pace))),
              own_error_widest=pace.bars[0].name == OWN, fits=bool(page.plan.fits({})[0])))
    table(page.tornados.items(), [
        Column(lambda row: quantity_label(row[0]), common("quantity")),
        Column(lambda row: quantity_text(row[1].value, unit_of(row[0])), common("value-2")),
        Column(inputs, say("three-inputs-that-move-it")), Column(own, OWN_NAME)], wide=True)


def picture(page: Deciding) -> None:
    """The tornado of the time per output token."""
    found = page.tornados["tpot"]
    draw(partial(_drawn, found, page.plan))


def _range(bar: Bar, plan: Plan) -> Pair:
    """Both ends of an input's range; of the own error, factors."""
    if bar.name == OWN:
        return f"×{fmt_sig(bar.low, 2)}", f"×{fmt_sig(bar.high, 3)}"
    symbol = next(knob.symbols[0] for knob in plan.knobs if knob.name == bar.name)
    unit = catalogue.symbols()[symbol].unit
    low, high = (human(end, unit).replace(" us", " µs") for end in (bar.low, bar.high))
    return low, high


def slopes(page: Deciding) -> None:
    """Elasticities of the quantities, the strongest inputs first."""
    plan = page.plan
    names = [name for name in SLOPED if _asked(plan, name)]
    found = {name: {one.name: one for one in answers_of(plan, name)} for name in names}
    scale = dict.fromkeys(names, 1.0) | {names[-1]: abs(float(plan.at({}, names[-1])[0]))}
    strongest = sorted({key for of in found.values() for key in of}, key=lambda key: -max(
        abs(of[key].elasticity) / scale[name] for name, of in found.items() if key in of))[:ROWS]

    def slope(name: str) -> Column:
        return Column(lambda key: _slope(found[name].get(key), scale[name]), quantity_label(name))

    table(strongest, [Column(lambda key: label(key, plan), common("input")), *map(slope, names)],
          wide=True)


def sobol_by_design_size(page: Deciding) -> list[Sensitivity]:
    """Sobol indices of the time per output token, by the size of the design."""
    found = [sensitivity(page.plan, "tpot", samples) for samples in SAMPLES]
    last = found[-1]

    def total(of: Sensitivity) -> Column:
        named = {one.name: one for one in of.indices}
        return Column(lambda one: _with_error(named[one.name].total, named[one.name].total_error),
                      say("in-company-samples", samples=f"{of.samples:,}"))

    table(last.indices[:ROWS], [
        Column(lambda one: label(one.name, page.plan), common("input")),
        Column(lambda one: _with_error(one.first, one.first_error), say("first-order")),
        *map(total, found)], wide=True)
    alone = " ± ".join(fmt_percent(share, 0) for share in (
        sum(one.first for one in last.indices),
        math.sqrt(sum(one.first_error**2 for one in last.indices))))
    markdown(*say("variance-explained", evaluations=f"{last.evaluations:,}", alone=alone,
              spread=fmt_fixed(last.deviation), company=_company(last, page.plan)))
    return found


def _company(found: Sensitivity, plan: Plan) -> Pair:
    """The input that matters most beside others only, if any is told apart from none."""
    def brought(one: Index) -> float:
        return one.total - one.total_error - max(one.first, 0) - one.first_error

    most = max(found.indices, key=brought)
    if brought(most) <= 0:
        return say("none-of-them-matters-only")
    return say("together-with-others-more-than", alone=fmt_sig(max(most.first, 0), 2),
               total=fmt_sig(most.total, 2), name=label(most.name, plan))


def several() -> None:
    """The three inputs that decide the time per output token of very different deployments."""
    rows = [(plan, tornado(plan, "tpot")) for plan in map(plan_of, SEVERAL)]
    table(rows, [
        Column(lambda row: row[0].scenario.heading, common("deployment")),
        Column(lambda row: row[0].inputs["concurrency"], common("in-flight"), fmt_int),
        Column(lambda row: quantity_text(row[1].value, "s"), say("tpot-at-central-values")),
        Column(lambda row: join(("; ", "；"), (label(bar.name, row[0]) for bar in _widest(row[1]))),
               say("three-inputs-that-move-it-most")),
        Column(lambda row: say("own-error") if row[1].bars[0].name == OWN else say("some-input"),
               say("reaches-farthest"))], wide=True)


def buying(page: Deciding) -> None:
    """How many cards to buy, and what it would save to know more, by how much dearer late is."""
    plan = page.plan
    demand = REPLICAS * float(plan.at({}, "output_throughput")[0])

    def worth(found: Information, own: bool) -> Worth | None:
        return next((worth for worth in found.worths if (worth.name == OWN) is own), None)

    def best(row: tuple[float, Information]) -> Pair:
        most = worth(row[1], own=False)
        return with_note(label(most.name, plan), fmt_sig(most.value, 2)) if (
            most and most.value > most.scatter) else common("none")

    def running(row: tuple[float, Information]) -> float | None:
        own = worth(row[1], own=True)
        return own.value if own else None

    markdown(*say("for-output-tokens-per-second", heading=pair(plan.scenario.heading),
              demand=fmt_sig(demand), cards=REPLICAS * plan.cards))
    table([(late, to_buy(plan, demand, late)) for late in LATER], [
        Column(lambda row: f"{row[0]:g}×", say("missing-card-costs")),
        Column(lambda row: int(row[1].options[row[1].taken].split()[0]),
               common("cards-to-buy-now")),
        Column(lambda row: row[1].perfect, say("knowing-all-saves-cards"), fmt_sig, digits=2),
        Column(running, common("running-it-first-saves-cards"), fmt_sig, digits=2),
        Column(best, say("of-inputs-most-cards"))])


# --- words ----------------------------------------------------------------------------------------


def label(name: str, plan: Plan) -> Pair:
    """What an input is called, without its letter; what no input moves is the own error."""
    if name.startswith(OWN):
        return OWN_NAME
    name = name.partition(" (")[0]  # a number tells two plans' ranges of it apart
    if name in GROUPED:
        return GROUPED[name]
    knobs = {knob.name: knob.value for knob in plan.scenario.every_knob()}
    if name in knobs:
        (en, zh), _ = next(iter(labelled({name: knobs[name]})))
        return en.split(", $")[0], zh.split(" $")[0]
    symbol = catalogue.symbols()[name]
    return symbol.en, symbol.zh


GROUPED: dict[str, Pair] = {
    "link_bandwidth": say("bandwidth-of-links-in-server"),
    "matrix_peak": say("peak-of-matrix-units"),
}


def with_note(name: Pair, what: str) -> Pair:
    """A name with something in brackets, those of its language."""
    return f"{name[0]} ({what})", f"{name[1]}（{what}）"


def quantity_text(value: float, unit: str) -> str:
    """A quantity in the unit that readers use for it."""
    return f"{fmt_fixed(value)} h" if unit == "h" else fmt_quantity(value, unit)


def _asked(plan: Plan, name: str) -> bool:
    try:
        check_quantity(plan, name)
    except ParamsError:
        return False
    return True


def _ends(bar: Bar, unit: str) -> str:
    low, high = sorted((bar.at_low, bar.at_high))
    left, right = quantity_text(low, unit), quantity_text(high, unit)
    return f"{left.split(' ')[0]}–{right}" if left.split(" ")[-1] == right.split(" ")[-1] else (
        f"{left}–{right}")


def _slope(one: Elasticity | None, scale: float) -> str:
    if one is None:
        return "0"
    sign = "+" if one.elasticity > 0 else ""
    return f"{sign}{fmt_fixed(one.elasticity / scale)}{'*' if one.arc else ''}"


def _with_error(value: float, error: float) -> str:
    return f"{fmt_fixed(value, 3)} ± {fmt_fixed(error, 3)}"


def _widest(found: Tornado) -> list[Bar]:
    """The few inputs that move a quantity most."""
    return [bar for bar in found.bars if bar.name != OWN][:FEW]


def _drawn(found: Tornado, plan: Plan, lang: str) -> Figure:
    """A bar per input, the widest on top: where the time goes at either end of its range."""
    bars, at = found.bars[:BARS], LANGUAGES.index(lang)
    drawing, axes = figures.axes(height=1.1 + 0.44 * len(bars))
    reached = [MILLI * end for bar in bars for end in (bar.at_low, bar.at_high)]
    span, value = max(reached) - min(reached), MILLI * found.value
    colours = figures.PALETTE[:2]
    for place, bar in enumerate(bars):
        own = bar.name == OWN
        for text, end, colour in zip(_range(bar, plan), (bar.at_low, bar.at_high), colours,
                                     strict=True):
            left, right = sorted((MILLI * end, value))
            axes.barh(-place, right - left, left=left, height=TALL,
                      color=figures.PALETTE[-1] if own else colour, alpha=0.55 if own else 1.0)
            if end != found.value:
                outside = end < found.value
                axes.annotate(text, (MILLI * end, -place), fontsize=7.5, va="center",
                              xytext=(-3 if outside else 3, 0), textcoords="offset points",
                              ha="right" if outside else "left",
                              color=figures.INK if own else colour)
    axes.axvline(value, color=figures.INK, lw=1)
    axes.set_yticks([-place for place in range(len(bars))],
                    [_lines(label(bar.name, plan)[at], at) for bar in bars], fontsize=8.5)
    axes.set(xlabel=common("time-per-output-token-ms")[at],
             xlim=(min(reached) - MARGIN * span, max(reached) + MARGIN * span))
    axes.grid(axis="y", visible=False)
    for colour, words in zip(colours, (say("input-at-its-low-end"), say("input-at-its-high-end")),
                             strict=True):
        axes.barh(0, 0, color=colour, label=words[at])
    axes.legend(loc="lower right", fontsize=8)
    return drawing


def _lines(text: str, lang: int) -> str:
    """A label in lines; Chinese breaks anywhere."""
    wide = WIDEST[lang]
    return "\n".join(textwrap.wrap(text, wide) if lang == 0 else (
        text[start:start + wide] for start in range(0, len(text), wide)))
