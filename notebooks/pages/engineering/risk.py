"""Risk: what of S1's plan may go wrong, how surely and how much, and what to measure before buying.

The plan as it can run: FP8, chunks that fit, a server per pipeline stage. Its stages are those of
the document, with the requests of its own context: a prompt and an answer of half of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import calc
import catalogue
from calc.answer.estimate import Estimate
from calc.auditing.costs import example_of
from calc.auditing.judging import Audited
from calc.capacity.availability import Fleet
from calc.costing.cost import Cost, CostOptions, cost
from calc.costing.ownership import YEAR, converted, prices_of
from calc.launching.monitoring import Predicted, predicted
from calc.sensitivity.information import Information, Worth, to_buy
from calc.sensitivity.plans import Plan, plan_of
from calc.sensitivity.sobol import priors, scores_of
from calc.sensitivity.tornado import OWN
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.ledger import Risk
from catalogue.messages import LANGUAGES, Pair, join, messages
from catalogue.reading.units import NONE
from catalogue.reading.values import Printed
from notebooks.pages.deciding.capacity.failing import RANKS
from notebooks.pages.deciding.capacity.failing import fleet as fleet_of
from notebooks.pages.deciding.deciding import label
from notebooks.pages.derivations.choices.documents import place
from notebooks.pages.engineering import claims, layouts
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/engineering/risk")

LENGTHS = ("precision=fp8-block", "workload.max_num_batched_tokens=8192 token",
           "workload.input_tokens=1024 token", "workload.output_tokens=1024 token",
           "workload.context_tokens=2048 token", "workload.arrivals=closed-loop")
# the layout in which the plan is judged by the audit and costed: a server per pipeline stage
STAGED = ("parallelism.data_parallel=1", "parallelism.pipeline_parallel=4")
STAGES: dict[str, tuple[str, ...]] = {  # of params/scenarios/s1-phases.yml
    "1": ("workload.memory_utilization=0.92", "workload.concurrency=4 request"),
    "2": (*STAGED, "workload.concurrency=80 request"),
    "3": (*STAGED, "workload.concurrency=320 request")}
NAMES: dict[str, Pair] = {
    "1": say("stage-1"), "2": say("stage-2"), "3": say("stage-3")}
MOST_USERS = 1600  # that the cards hold at once
GOALS = ("S1-374", "S1-258", "S1-202")  # token/s: of its stages, of its monitoring, of its plan
STAGE_GOALS = {"1": (), "2": ("S1-374", "S1-375"), "3": ("S1-391", "S1-392", "S1-393")}
WAVE, RATE = "output_throughput", "steady_throughput"  # what was measured, what is asked for
DRAWS = 1 << 11
HARDWARE = "s1-f50"  # the document's own sum
SUPPLY = "S1-180"  # the claim on what a supply gives
DEMAND, LATER = 10000.0, (1.2, 2.0, 4.0)  # token/s to buy for; price of a card that is missing
YEARS, DELAY, DEARER, EARLIER = 3.0, 0.25, 1.2, 2.0  # the document's years; what may change
DAY = "azure-conversation"
WEEK = 7 / 365
PER_TIME = "card_hour_of_parts"  # of owning: the cost of a token goes with it


@cache
def stage(name: str) -> Scenario:
    """A stage of the document as it can run."""
    return catalogue.load_scenario(f"s1-phases-{name}", overrides=[*LENGTHS, *STAGES[name]])


@cache
def estimated(name: str) -> Estimate:
    """What it comes to."""
    return calc.estimate(stage(name))


@cache
def forecast(name: str) -> Predicted:
    """What is predicted of it."""
    return predicted(stage(name), estimated(name))


@cache
def planned(users: int) -> Plan:
    """The plan of all 32 cards with so many users."""
    return plan_of("s1-phases-3",
                   [*LENGTHS, *STAGED, f"workload.concurrency={users} request"])


@cache
def rates(users: int) -> np.ndarray:
    """Throughput over all that is not known, formulas' own error included, sorted [token/s]."""
    plan = planned(users)
    found = priors([plan], WAVE)
    scores = scores_of(len(found.names), DRAWS)
    return np.sort(found.sample(plan, scores, RATE))


@cache
def goals() -> tuple[float, ...]:
    """Throughputs that the document asks for: stages, monitoring, plan [token/s]."""
    return tuple(_printed(name).value for name in GOALS)


def reached(users: int, goal: float) -> float:
    """Probability that the plan reaches a throughput [1]."""
    return float((rates(users) >= goal).mean())


def server() -> Amount:
    """What a server costs with its cards, by dealers [USD]."""
    node = stage("3").node
    assert node.price
    assert node.price.cny
    exchange = prices_of(stage("3").device.id).exchange
    return converted(Amount.stated(node.price.cny), "USD", exchange)


@cache
def priced(**changed: Amount) -> Cost:
    """What the plan costs with servers at dealers' prices, over the document's years."""
    answer, steady = estimated("3"), forecast("3").throughput
    changes = {"server": server(), "years": Amount.exactly(YEARS),
               "residual": Amount.exactly(0.0)} | changed
    asked = CostOptions(utilisation=1 / catalogue.load("loads", DAY).peak, changes=changes)
    return cost(stage("3"), answer.everything, steady,
                prices_of(stage("3").device.id), asked)


def dearer(**changed: Amount) -> float:
    """What a change makes of the cost of a token [1], the rest of the bill at its own values."""
    return float(priced(**changed).amounts[PER_TIME].value / priced().amounts[PER_TIME].value)


def _raised() -> float:
    """What dearer servers make of the cost of a token [1]."""
    return dearer(server=Amount.exactly(DEARER * server().value))


def fleet() -> Fleet:
    """The four servers, which serve as one."""
    return fleet_of(stage("3"), 1, stage("3").devices)


def failing(years: float = 1.0) -> float:
    """Probability that one of the four servers fails within so many years [1]."""
    one = fleet()
    return Fleet(1, one.servers, 0, one.between_failures, one.repair, years * YEAR).restarting


def answer() -> None:
    """The numbers of the first paragraph."""
    rate, own = forecast("3").throughput, _known(LATER[1])[0]
    numbers({"ri-rate-value": rate.value, "ri-rate-low": rate.low, "ri-rate-high": rate.high,
             "ri-short": goals()[-1] / rate.value, "ri-worth": own.value, "ri-late": LATER[1]},
            fmt_fixed, digits=0)
    numbers({"ri-users": int(forecast("3").planned), "ri-plan": goals()[-1],
             "ri-first": goals()[0], "ri-demand": DEMAND})
    numbers({"ri-goal": reached(80, goals()[0]),
             "ri-delay": dearer(years=Amount.exactly(YEARS - DELAY)) - 1,
             "ri-dearer": _raised() - 1,
             "ri-earlier": dearer(years=Amount.exactly(EARLIER)) - 1}, fmt_percent, digits=0)
    numbers({"ri-fail": failing(), "ri-up": fleet().share}, fmt_percent)
    number("ri-week", stage("3").devices * WEEK / YEARS, fmt_fixed, digits=1)


def picture(lang: str) -> Figure:
    """Probability that the plan reaches a throughput."""
    at = LANGUAGES.index(lang)
    drawing, axes = figures.axes(height=3.5)
    shares = 100 * (1 - np.arange(DRAWS) / DRAWS)
    for colour, users in zip(figures.PALETTE[:3], (80, 320, MOST_USERS), strict=True):
        found = rates(users)
        axes.plot(np.r_[found[0] / 3, found], np.r_[100.0, shares], color=colour,
                  label=layouts.counted(users)[at])
    for goal, title in zip(goals(), (say("goal-of-stages"), say("alert"), common("plan")),
                           strict=True):
        axes.axvline(goal, color=figures.PALETTE[3], lw=1.2, ls="--")
        axes.annotate(title[at], (goal, 103), fontsize=8, color=figures.PALETTE[3],
                      ha="right" if goal == goals()[1] else "left", annotation_clip=False)
    axes.set(xscale="log", xlim=(300, 80000), ylim=(0, 102),
             xlabel=say("output-token-s-of-h20", cards=stage("3").devices)[at],
             ylabel=say("probability-to-reach-it")[at])
    ticks = [500, 1000, 2000, 5000, 10000, 20000, 50000]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.legend(fontsize=8.5, loc="lower left")
    return drawing


@cache
def risks() -> dict[str, Risk]:
    """The document's matrix: its rows by the claim that ranks each."""
    return {risk.claims[0]: risk for risk in catalogue.load("documents", "s1").risks}


@cache
def _claims() -> dict[str, Audited]:
    """Those that the page rests on, by number."""
    return {row.id: row for row in claims.select_claims(" ".join((*GOALS, *risks(), SUPPLY, *(
        each for stage_ in STAGE_GOALS.values() for each in stage_))))}


def claim(name: str) -> Audited:
    """A claim of the audit."""
    return _claims()[name]


def factors() -> dict[str, float]:
    """By claim of the matrix: what the risk makes of the cost of a token, where it comes [1]."""
    found = {each.id: each for each in catalogue.load("formulas", "s1").formulas}
    given = example_of(found[HARDWARE])[2]
    planned_ = (given["cost_cards"] + given["cost_servers"]) / stage("3").file.cluster.nodes.value
    return dict(zip(risks(), (
        goals()[-1] / forecast("3").throughput.value, 1 / fleet().share,
        1 / dearer(server=Amount.exactly(planned_)),
        max(dearer(years=Amount.exactly(YEARS - DELAY)),
            _raised()),
        dearer(years=Amount.exactly(EARLIER))), strict=True))


def matrix() -> None:
    """The document's matrix: as printed, and as computed."""
    rate, found = forecast("3").throughput, factors()
    order = sorted(found, key=lambda name: -found[name])
    assert reached(MOST_USERS, goals()[1]) == 0  # what is called certain below
    assert found["S1-266"] > 1
    certain, unknown = say("certain"), say("no-source")
    value, low, high = (fmt_fixed(end, 0) for end in rate.points)
    texts: list[tuple[Pair, Pair]] = [
        (certain, say("rate-between", rate=value, low=low, high=high)),
        (say("in-year", share=fmt_percent(failing(), 1)),
         say("all-four-servers-stop-of", share=fmt_percent(1 - fleet().share, 1))),
        (certain, say("servers-at-dealers-prices")),
        (unknown, say("servers-fifth-dearer-three-months")),
        (unknown, say("two-years-of-use-instead"))]
    told = dict(zip(risks(), texts, strict=True))

    def documented(of: Callable[[Risk], Any], heading: Pair) -> Column:
        return Column(lambda name: of(risks()[name]), heading)

    table(risks(), [
        documented(lambda risk: place("s1", risk), common("section-line")),
        documented(lambda risk: risk.name, say("risk")),
        documented(lambda risk: join((" / ", " / "), (RANKS[risk.likely], RANKS[risk.grave])),
                   say("s1-likely-impact")),
        Column(lambda name: _printed(name).text, say("its-priority")),
        Column(lambda name: told[name][0], say("likely-computed")),
        Column(lambda name: told[name][1], say("if-it-comes")),
        Column(lambda name: f"× {fmt_sig(found[name], 3)}", common("cost-of-token")),
        Column(lambda name: order.index(name) + 1, say("order-by-cost"))], wide=True)


def missing() -> None:
    """What the matrix leaves out, as numbers of the text."""
    node = stage("3").node
    assert node.power
    assert node.power.full
    number("ri-server", node.power.full.value / 1e3, fmt_fixed, digits=1)
    number("ri-load", catalogue.load("loads", DAY).peak, fmt_sig, digits=2)
    number("ri-s1-180", _printed(SUPPLY).text, str)


def _printed(name: str) -> Printed:
    """What a claim prints."""
    found = claim(name).case.printed
    assert found
    return found


@cache
def bought(late: float) -> Information:
    """How many cards to buy for the demand, and what knowing more saves."""
    return to_buy(planned(320), DEMAND, late, draws=DRAWS, of=RATE)


def information() -> None:
    """How many cards to buy, what it is worth to run the plan first, and to know an input."""
    def most(late: float) -> Pair:
        _, best = _known(late)
        if best.value <= best.scatter:
            return common("none")
        return join((": ", "："), (label(best.name, planned(320)), (fmt_sig(best.value, 2),) * 2))

    table(LATER, [
        Column("× {:g}".format, say("missing-card-costs-later")),
        Column(lambda late: int(bought(late).options[bought(late).taken].split()[0]),
               common("cards-to-buy-now"), fmt_int),
        Column(lambda late: bought(late).wrong, say("chance-of-being-wrong"), fmt_percent,
               digits=0),
        Column(lambda late: _known(late)[0].value, common("running-it-first-saves-cards"), fmt_sig,
               digits=2),
        Column(most, say("input-known-saves-at-most"))])


def acceptance() -> None:
    """By stage: what has to be measured for the next one to be bought."""
    def between(of: Amount, fmt: Callable[..., str], *options: int) -> str:
        value, low, high = (fmt(end, *options) for end in of.points)
        return f"{low} – {high} ({value})"

    def told(name: str) -> list[str | Pair]:
        of, quantities = forecast(name), estimated(name).quantities
        captured = stage(name).inputs()["captured"]
        graphs = common("yes-plain") if captured else common("no-plain")
        return [graphs, fmt_quantity(quantities["weights_per_device"].value, "B"),
                fmt_int(int(quantities["max_concurrency"].value)),
                between(of.ttft, fmt_time), between(of.tpot, fmt_time),
                between(of.throughput, fmt_fixed, 0),
                "; ".join(_printed(each).text for each in STAGE_GOALS[name]) or NONE]

    tests = [say("captured-graphs"), common("weights-of-card"),
             say("requests-at-their-longest-that"), say("ttft-mean-between"),
             say("tpot-mean-between"), say("output-token-s-between"), say("goal-of-s1-token-s")]
    table(zip(tests, *map(told, STAGES), strict=True), [Column(0, say("prediction-holds-if")), *(
        Column(at, name) for at, name in enumerate(NAMES.values(), 1))])


def _known(late: float) -> tuple[Worth, Worth]:
    """What it is worth to run the plan first, and to know the input that is worth most."""
    worths = bought(late).worths
    return (next(worth for worth in worths if worth.name == OWN),
            next(worth for worth in worths if worth.name != OWN))
