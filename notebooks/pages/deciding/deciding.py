"""What the chapter on what decides says of a deployment: each input alone, by slope, together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import catalogue
from calc.sensitivity.elasticities import Elasticity, answers_of, continuous
from calc.sensitivity.information import to_buy
from calc.sensitivity.plans import (
    CARD_HOURS,
    Plan,
    check_quantity,
    plan_of,
    quantity_label,
    unit_of,
)
from calc.sensitivity.sensitivity import Index, Sensitivity, sensitivities
from calc.sensitivity.tornado import OWN, Bar, Tornado, tornado
from catalogue import ParamsError
from catalogue.entries.formulas import input_symbols
from catalogue.messages import Pair, join, messages
from catalogue.reading.amounts import human
from notebooks.derive.crosscheck import crosscheck_slopes
from notebooks.pages.catalogue.tables.mechanisms import labelled
from notebooks.pages.deciding import deciding_figures
from notebooks.show.display import draw, show, table
from notebooks.show.numbers import fmt_fixed, fmt_percent, fmt_quantity, fmt_sig

common = messages("common")
say = messages("pages/deciding/deciding")

DECIDED = ("tpot", "ttft", CARD_HOURS, "headroom_per_device")
SLOPED = ("tpot", "ttft", "output_throughput", "headroom_per_device")
FEW, ROWS = 3, 10
SAMPLES = (256, 1024, 4096)
REPLICAS = 10  # deployments' worth of tokens that are bought for
LATER = (1.25, 1.5, 2.0, 3.0)  # price of a card that was missing, over one bought in time
OWN_NAME = say("formulas-own-error")
# of every document, and the measured systems of others, one of each kind
SEVERAL = ("s0-scenario-1", "s0-recommended", "s1-plan-a", "s1-expert-tiers-uniform",
           "s2-910b1-awq", "s3-hybrid-910b4", "h200-r1-vllm-tp8", "wide-lmsys-decode",
           "wide-cloudmatrix-decode", "kt-4090-v03")


@dataclass(frozen=True)
class Deciding:
    """A deployment, and what moves each quantity that is decided by.

    Attributes:
        plan: the deployment.
        tornados: by quantity.
    """

    plan: Plan
    tornados: dict[str, Tornado]

    @property
    def heading(self) -> Pair:
        """Its title in both languages."""
        title = self.plan.scenario.heading
        return title["en"], title["zh"]


def page_of(scenario: str) -> Deciding:
    """A deployment by its name or the path of its file; without prompts there is no TTFT.

    Raises ParamsError for one that cannot be used.
    """
    plan = plan_of(scenario)
    return Deciding(plan, {name: tornado(plan, name) for name in DECIDED if _asked(plan, name)})


def answer(page: Deciding) -> None:
    """What each quantity depends on: three inputs, how far they move it, and the own error."""
    rows = []
    for name, found in page.tornados.items():
        unit = unit_of(name)
        inputs = [bar for bar in found.bars if bar.name != OWN][:FEW]
        told = [[with_note(label(bar.name, page.plan), _ends(bar, unit))[lang] for bar in inputs]
                for lang in range(2)]
        own = next((bar for bar in found.bars if bar.name == OWN), None)
        rows.append({"what": quantity_label(name), "value": quantity_text(found.value, unit),
                     "inputs": ("; ".join(told[0]), "；".join(told[1])),
                     "own": _ends(own, unit) if own else "–"})
    heading, pace = page.heading, page.tornados["tpot"]
    first = [label(bar.name, page.plan) for bar in pace.bars if bar.name != OWN][:FEW]
    show(*say("its-time-per-output-token", heading=heading, pace=quantity_text(pace.value, "s"),
              inputs=join(("; ", "；"), first), own_error_widest=pace.bars[0].name == OWN,
              fits=bool(page.plan.fits({})[0])))
    table(rows, {"what": common("quantity"), "value": common("value-2"),
                 "inputs": say("three-inputs-that-move-it"),
                 "own": OWN_NAME}, wide=True)


def picture(page: Deciding) -> None:
    """The tornado of the time per output token."""
    found = page.tornados["tpot"]
    ranged, moving = len(page.plan.knobs), sum(bar.name != OWN for bar in found.bars)
    show(*say("of-inputs-have-range-here", inputs=len(input_symbols()), ranged=ranged,
              moving=moving))
    labels = {bar.name: label(bar.name, page.plan) for bar in found.bars}
    ends = {bar.name: _range(bar, page.plan) for bar in found.bars}
    draw(partial(_drawn, found, labels, ends))


def _drawn(found: Tornado, labels: dict[str, Pair], ends: dict[str, Pair],
           lang: str) -> deciding_figures.Figure:
    return deciding_figures.tornado(found, labels, ends, ("en", "zh").index(lang), 1e3,
                                    common("time-per-output-token-ms"))


def _range(bar: Bar, plan: Plan) -> Pair:
    """Both ends of an input's range; of the own error, factors."""
    if bar.name == OWN:
        return f"×{fmt_sig(bar.low, 2)}", f"×{fmt_sig(bar.high, 3)}"
    symbol = next(knob.symbols[0] for knob in plan.knobs if knob.name == bar.name)
    unit = catalogue.symbols()[symbol].unit
    low, high = (human(end, unit).replace(" us", " µs") for end in (bar.low, bar.high))
    return low, high


def slopes(page: Deciding) -> None:
    """Elasticities of the quantities, computed in both codings, the strongest inputs first."""
    plan = page.plan
    names = [name for name in SLOPED if _asked(plan, name)]
    attention = plan.scenario.model.attention
    crosscheck_slopes(plan.inputs, attention, names)
    found = {name: {one.name: one for one in answers_of(plan, name)} for name in names}
    scale = {name: abs(float(plan.at({}, name)[0])) if name == names[-1] else 1.0
             for name in names}
    strongest = sorted({key for of in found.values() for key in of}, key=lambda key: -max(
        abs(of[key].elasticity) / scale[name] for name, of in found.items() if key in of))[:ROWS]
    table([{"input": label(key, plan), **{name: _slope(of.get(key), scale[name])
                                          for name, of in found.items()}} for key in strongest],
          {"input": common("input"), **{name: quantity_label(name) for name in names}}, wide=True)
    compared = len(continuous(plan.inputs)) * len(names)
    show(*say("elasticities-were-computed-both-ways", compared=compared))


def sobol_by_design_size(page: Deciding) -> list[Sensitivity]:
    """Sobol indices of the time per output token, by the size of the design."""
    found = sensitivities(page.plan, "tpot", SAMPLES)
    by_size = [{one.name: one for one in each.indices} for each in found]
    table([{"input": label(one.name, page.plan),
            "first": _with_error(one.first, one.first_error),
            **{str(each.samples): _with_error(at[one.name].total, at[one.name].total_error)
               for each, at in zip(found, by_size, strict=True)}}
           for one in found[-1].indices[:ROWS]],
          {"input": common("input"), "first": say("alone"),
           **{str(each.samples): say("in-company-samples",
                                     samples=f"{each.samples:,}") for each in found}},
          wide=True)
    last = found[-1]
    error = math.sqrt(sum(one.first_error**2 for one in last.indices))
    alone = (f"{fmt_percent(sum(one.first for one in last.indices), 0)} ± "
             f"{fmt_percent(error, 0)}")
    spread, company = fmt_percent(last.deviation, 0), _company(last, page.plan)
    show(*say("variance-explained", evaluations=f"{last.evaluations:,}",
              spread=spread, alone=alone, company=company))
    return found


def _company(found: Sensitivity, plan: Plan) -> Pair:
    """The input that matters most beside others only, if any is told apart from none."""
    def brought(one: Index) -> float:
        return one.total - one.total_error - max(one.first, 0) - one.first_error

    most = max(found.indices, key=brought)
    if brought(most) <= 0:
        return say("none-of-them-matters-only")
    alone, total = fmt_sig(max(most.first, 0), 2), fmt_sig(most.total, 2)
    name = label(most.name, plan)
    return say("together-with-others-more-than", alone=alone, total=total, name=name)


def several() -> None:
    """The three inputs that decide the time per output token of very different deployments."""
    rows, widest = [], 0
    for name in SEVERAL:
        plan = plan_of(name)
        found = tornado(plan, "tpot")
        inputs = [label(bar.name, plan) for bar in found.bars if bar.name != OWN][:FEW]
        title = plan.scenario.heading
        widest += found.bars[0].name == OWN
        rows.append({"what": (title["en"], title["zh"]), "value": quantity_text(found.value, "s"),
                     "inputs": join(("; ", "；"), inputs),
                     "first": say("own-error") if found.bars[0].name == OWN else say("some-input")})
    table(rows, {"what": common("deployment"), "value": "TPOT",
                 "inputs": say("three-inputs-that-move-it-most"),
                 "first": say("reaches-farthest")}, wide=True)
    show(*say("in-of-these-formulas-own", widest=widest, rows=len(rows)))


def buying(page: Deciding) -> None:
    """How many cards to buy, and what it would save to know more, by how much dearer late is."""
    plan = page.plan
    demand = REPLICAS * float(plan.at({}, "output_throughput")[0])
    rows = []
    for late in LATER:
        found = to_buy(plan, demand, late)
        best = next((worth for worth in found.worths if worth.name != OWN), None)
        own = next((worth for worth in found.worths if worth.name == OWN), None)
        cards = int(found.options[found.taken].split()[0])
        rows.append({
            "late": f"{late:g}×", "cards": cards, "perfect": fmt_sig(found.perfect, 2),
            "own": fmt_sig(own.value, 2) if own else "–",
            "input": with_note(label(best.name, plan), fmt_sig(best.value, 2))
            if best and best.value > best.scatter else common("none")})
    show(*say("for-output-tokens-per-second", demand=fmt_sig(demand),
              cards=REPLICAS * plan.cards))
    table(rows, {"late": say("missing-card-costs"), "cards": common("cards-to-buy-now"),
                 "perfect": say("knowing-all-saves-cards"),
                 "own": common("running-it-first-saves-cards"),
                 "input": say("of-inputs-most-cards")})


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
    value = fmt_fixed(one.elasticity / scale, 2)
    sign = "+" if one.elasticity > 0 else ""
    return f"{sign}{value}{'*' if one.arc else ''}"


def _with_error(value: float, error: float) -> str:
    return f"{fmt_fixed(value, 3)} ± {fmt_fixed(error, 3)}"
