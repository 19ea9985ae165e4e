"""The page of all deployments: its picture, its tables and the numbers of its sentences.

What a sentence claims and a number does not say (which plan is the fastest, what fits) is asserted
here beside the numbers, so that the page cannot say what has ceased to hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import calc
import catalogue
from calc.uncertainty import Amount
from catalogue.deployments.loading import Family
from catalogue.entries.deployments import Claim
from catalogue.messages import Pair, messages, pair
from catalogue.reading.units import human
from notebooks.pages.deployments import families, findings, summary
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.views import RATE
from notebooks.show.columns import Column
from notebooks.show.display import figure, number, numbers, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_percent, fmt_quantity, fmt_sig

common = messages("common")
say = messages("pages/deployments/overview")

SHOWN = 6  # rows of a table that are not folded
PER_SECOND = "token/s"
YES = "●"
BITS = 8  # of a byte; links are printed in Gb/s
GIGA = 1e9
DOCUMENTS: dict[str, Pair] = {"s0": say("s0-plans-for-r1"), "s1": say("s1-plans-for-v3"),
                              "s2": say("s2-measured"), "s3": say("s3-measured")}
PICTURES = {"s0": ("s0",), "s1": ("s1",), "measured": ("s2", "s3")}
SIXTEEN_BITS = ("bf16", "fp16")
AGREES = 1e-3  # relative; a document's own formula gives what it prints


@dataclass(frozen=True)
class Overview:
    """All deployments.

    Attributes:
        families: the files of the documents, in their order.
        deployed: the documents' deployments by identifier.
        others: what somebody else measured.
    """

    families: Sequence[Family]
    deployed: dict[str, Deployed]
    others: Sequence[Deployed]

    def of(self, *documents: str) -> list[Deployed]:
        """The deployments of some documents."""
        return [item for name in documents for item in self.deployed.values()
                if item.scenario.file.document == name]


def every_deployment() -> Overview:
    """Load them all."""
    documented, other = summary.families()
    return Overview(documented, {item.id: Deployed(item) for family in documented
                                 for item in family.deployments},
                    [Deployed(item) for family in other for item in family.deployments])


def claimed(deployed: Deployed, quantity: str, bound: str | None = None) -> list[Claim]:
    """The claims of a deployment's document about a quantity of the whole."""
    documented = deployed.scenario.documented
    return [claim for claim in (documented.claims if documented else ())
            if (claim.quantity, claim.of, claim.bound) == (quantity, "deployment", bound)]


def bare(rate: Amount) -> str:
    """A rate without its unit, which the sentence has."""
    return _rate(rate.value)


def _rate(value: float) -> str:
    return human(value, PER_SECOND).removesuffix(f" {PER_SECOND}")


def glance(overview: Overview) -> None:
    """The picture of all, how many fit, and how far off the printed speeds are."""
    for key, names in PICTURES.items():
        figure(f"every-deployment-{key}", summary.picture(
            {DOCUMENTS[name]: overview.of(name) for name in names}))
    planned = overview.of("s0", "s1")
    promises = {name: [speed for item in overview.of(name) for speed in summary.speeds(item)
                       if not speed.goal] for name in ("s0", "s1")}
    for name, printed in promises.items():
        factors = [speed.factor for speed in printed if speed.name == RATE]
        numbers({f"{name}-least-rate": min(factors), f"{name}-largest-rate": max(factors)},
                summary.times)
    times = [speed.factor for speed in promises["s0"] if speed.name != RATE]
    assert min(times) > 10
    assert min(speed.factor for speed in promises["s1"]) > 1
    number("s0-least-time", summary.times(min(times)), str)
    others = overview.others
    unmeasured = sum(item.scenario.measured is None for item in others)
    kept = [speed for item in overview.of("s2", "s3") for speed in summary.speeds(item)]
    numbers({"number-of-documented": len(overview.deployed),
             "number-of-measured": len(others) - unmeasured, "number-of-examples": unmeasured,
             "number-planned": len(planned),
             "number-fitting": sum(item.has_room for item in planned),
             "measured-inside": sum(not speed.outside for speed in kept),
             "measured-all": len(kept)})


def finder(overview: Overview) -> None:
    """Every deployment by its card, measured ones first, to be sorted and filtered."""
    by_card = sorted((*overview.deployed.values(), *overview.others), key=lambda item: (
        pair(item.scenario.device.name)[0], item.scenario.measured is None))
    table(by_card, [
        Column(lambda item: pair(item.scenario.device.name), common("card")),
        Column(_linked, common("deployment")),
        Column(lambda item: YES if item.scenario.measured else None, common("measured")),
        Column(lambda item: item.scenario.devices, common("number-of-cards")),
        Column(lambda item: pair(item.scenario.model.name), say("computed-as")),
        Column(lambda item: pair(item.scenario.precision.name), common("stored-as")),
        Column(lambda item: families.cut(item.scenario), common("layout")),
        Column(lambda item: item.inputs["concurrency"], common("number-of-requests"), fmt_sig),
        Column("headroom", common("memory-to-spare"), fmt_bytes),
        Column(lambda item: item.answers["tpot"].text
               if item.has_room and "tpot" in item.answers else None, "TPOT")],
          sortable=True, wide=True, folded=say("all-deployments-they-can-be"))


def _linked(item: Deployed) -> Pair:
    """Document and title of a deployment, with a link to its page."""
    scenario = item.scenario
    of = scenario.file.document
    source = f"{of.upper()} " if of else ""
    en, zh = summary.label(scenario)
    return f"{source}[{en}](#{scenario.id})", f"{source}[{zh}](#{scenario.id})"


def what_fits(overview: Overview) -> None:
    """S0: what of its plans fits, and the least that does."""
    plans = [item for item in overview.of("s0", "s1")
             if item.scenario.precision.id in SIXTEEN_BITS]
    assert {item.scenario.id for item in plans if item.has_room} == {
        "s0-cards-910b2", "s0-cards-a100", "s0-cards-h100",
        *catalogue.variants("s1-expert-tiers")} - {"s1-expert-tiers-on-cards"}
    cards = [item for item in overview.of("s0")
             if item.scenario.device.id == "ascend-910b2" and item in plans]
    short = [item for item in cards if not item.has_room]
    assert [item.scenario.id for item in cards if item not in short] == ["s0-cards-910b2"]
    assert all(item in short for item in cards if "-scenario-" in item.scenario.id)
    two, server, enough = (overview.deployed[name] for name in (
        "s0-scenario-1", "s0-config-4.1-bf16", "s0-scenario-2"))
    more, eight_bits, four_bits = (findings.fewest(two), findings.narrower(two),
                                   findings.narrower(server))
    as_stages = findings.fewest(enough)
    assert as_stages.devices > enough.scenario.devices  # engines start four stages at most
    assert str(eight_bits.settings["precision"]).startswith("w8")
    assert str(four_bits.settings["precision"]).startswith("w4")
    numbers({"s0-stages": overview.deployed["s0-cards-910b2"].inputs["pipeline_parallel"],
             "s0-more": more.devices, "s0-own": two.scenario.devices,
             "s0-planned": enough.scenario.devices, "s0-enough": as_stages.devices})
    numbers({"s0-least-short": fmt_bytes(-max(item.headroom for item in short), digits=0),
             "s0-most-short": fmt_bytes(-min(item.headroom for item in short), digits=0),
             "s0-more-cut": findings.layout(two, more),
             "s0-enough-cut": findings.layout(enough, as_stages),
             "s0-own-cut": findings.layout(two, eight_bits)}, str)


def plan_c(overview: Overview) -> None:
    """S1, plan C: what its users and all its slots get, and what the goal would take."""
    plan = overview.deployed["s1-plan-c"]
    users = int(plan.inputs["concurrency"])
    slots = int(claimed(plan, "max_concurrency")[0].value.value)
    names = (RATE, "tpot_floor", "kv_per_device")
    few, all_slots = (findings.with_requests(plan, count, names) for count in (users, slots))
    goal = claimed(plan, RATE, "at_least")[0].value.value
    needed = findings.requests_for(plan, goal)
    arithmetic = findings.arithmetic_bound(plan)
    cache = findings.with_requests(plan, needed, names)["kv_per_device"].value
    most, most_slots = users / few["tpot_floor"].value, slots / all_slots["tpot_floor"].value
    assert few[RATE].high < all_slots[RATE].high < most_slots < goal
    assert cache > plan.quantities["usable_memory"]
    assert arithmetic < goal < claimed(plan, RATE)[-1].value.value
    numbers({"c-users": users, "c-slots": slots, "c-goal": goal,
             "c-asked": int(float(f"{needed:.2g}"))})
    numbers({"c-rate": bare(few[RATE]), "c-rate-slots": bare(all_slots[RATE]),
             "c-most": _rate(most), "c-most-slots": _rate(most_slots),
             "c-cache": fmt_bytes(cache, digits=0),
             "c-weights": fmt_bytes(plan.quantities["weights_per_device"], digits=0),
             "c-usable": fmt_bytes(plan.quantities["usable_memory"], digits=0),
             "c-arithmetic": _rate(arithmetic)}, str)


LIKE = 0.05  # two plans differ by less: no estimate of this book tells them apart


def four_plans(overview: Overview) -> None:
    """S1: its four plans, by its own formula and derived."""
    plans = {name: overview.deployed[f"s1-plan-{name}"] for name in "abcd"}
    rates = {name: plan.answers[RATE] for name, plan in plans.items()}
    waits = {name: plan.answers[summary.FIRST] for name, plan in plans.items()}
    printed, recomputed = {}, {}
    for name, plan in plans.items():
        claim, documented = claimed(plan, RATE)[-1], plan.scenario.documented
        assert documented is not None
        by_its_formula = documented.recomputed(claim)
        assert by_its_formula is not None
        printed[name], recomputed[name] = claim.value.value, by_its_formula
        number(f"plan-{name}", bare(rates[name]), str)
    factors = {"a": 0.5, "b": 1.0, "c": 1.0, "d": 2.0}  # what the text says of each
    assert all(abs(recomputed[name] / printed[name] - factor) < AGREES
               for name, factor in factors.items())
    wide = Deployed(catalogue.load_scenario("s1-plan-d", overrides=["cluster.node=hgx-h20"]))
    assert sorted(rates, key=lambda name: rates[name].value)[:2] == list("ab")
    assert rates["d"].low < rates["c"].value < rates["d"].high
    assert abs(rates["c"].value / rates["d"].value - 1) < LIKE
    assert min(waits, key=lambda name: waits[name].value) == "c"
    assert wide.answers[summary.FIRST].value < (waits["c"].value + waits["d"].value) / 2
    assert max(plans, key=lambda name: plans[name].headroom) == "d"
    number("plan-d-short", fmt_bytes(-plans["d"].headroom, digits=1), str)
    for name in "cd":
        numbers({f"plan-{name}-reach": rates[name].reach.removesuffix(f" {PER_SECOND}"),
                 f"plan-{name}-first": waits[name].text}, str)
    node, wide_node = plans["d"].scenario.node, wide.scenario.node
    assert node.ports_per_node is not None
    numbers({"plan-ports": node.ports_per_node.value,
             "plan-port": _port_gigabits(node.network_link),
             "plan-port-wide": _port_gigabits(wide_node.network_link)})
    numbers({"plan-d-wide": bare(wide.answers[RATE]),
             "plan-d-first-wide": wide.answers[summary.FIRST].text}, str)


def _port_gigabits(link: str | None) -> float:
    """What a port of a network carries [Gb/s]."""
    assert link is not None
    bandwidth = catalogue.load_link(link).device_bandwidth
    assert bandwidth is not None
    return BITS * bandwidth.value / GIGA


def overlap_and_tiers(overview: Overview) -> None:
    """S1: what overlapping two micro-batches costs, and experts on three levels of memory."""
    whole, halves = (overview.deployed[f"s1-overlap-{name}"] for name in ("none", "mla-80"))
    assert halves.answers[summary.PACE].value > whole.answers[summary.PACE].value
    numbers({"overlap-communication": fmt_quantity(float(whole.steps[0].parts["all_reduce"]), "s"),
             "overlap-none": whole.answers[summary.PACE].text,
             "overlap-halves": halves.answers[summary.PACE].text}, str)
    number("overlap-share", halves.inputs["overlap_efficiency"], fmt_percent, digits=0)
    number("overlap-printed", claimed(halves, RATE)[-1].value.value)
    tiers = overview.deployed["s1-expert-tiers-uniform"]
    target = claimed(tiers, summary.PACE, "at_most")[0].value.value
    assert tiers.headroom > 0
    assert tiers.answers[summary.PACE].low > target
    number("tiers-tpot", tiers.answers[summary.PACE].text, str)


def measured_in_s2(overview: Overview) -> None:
    """S2: predicted and measured, of both engines."""
    awq, other = (overview.deployed[name] for name in ("s2-910b1-awq", "s2-other-engine"))
    apart, close = summary.speed(other, summary.PACE), summary.speed(awq, summary.PACE)
    assert awq.seen is not None
    assert apart is not None
    assert close is not None
    assert apart.outside
    assert not close.outside
    rows = awq.seen.measured(summary.PACE)
    floor = calc.evaluate(awq.seen.at(rows), awq.attention)["tpot_floor"]
    ratio = awq.seen.rows[summary.PACE][rows] / floor
    numbers({"s2-least-ratio": ratio.min(), "s2-largest-ratio": ratio.max()}, fmt_sig, digits=2)
    number("s2-error", float(np.median(np.abs(awq.predictions[summary.PACE].errors))), fmt_percent,
           digits=0)
    number("s2-other", 1 / apart.factor, fmt_fixed, digits=1)
    number("s2-other-requests", other.inputs["concurrency"])


def recurring(overview: Overview) -> dict[float, list[findings.Printed]]:
    """Printed rates that recur for other cards, and two numbers that exclude each other."""
    rates = findings.recurring(overview.families, overview.deployed)
    assert {240.0, 600.0, 1200.0} <= set(rates)
    first = overview.deployed["s0-scenario-1"]
    pace, total = claimed(first, summary.PACE)[0].value, claimed(first, RATE)[-1].value
    requests = first.inputs["concurrency"]
    assert requests / pace.value > 10 * total.value
    numbers({"again": len(rates), "first-requests": requests, "first-total": total.value})
    numbers({"first-pace": pace.written, "first-would": _rate(requests / pace.value)}, str)
    return rates


def front_page(overview: Overview) -> None:
    """Numbers that the book's first page shows."""
    two = overview.deployed["s0-scenario-1"]
    number("s0-weights", two.quantities["weights_per_device"], fmt_bytes)
    number("s0-printed-weights", claimed(two, "weights_per_device")[-1].value.written, str)


def recurring_table(rates: dict[float, list[findings.Printed]]) -> None:
    """The rates that recur, each with what it is printed for."""
    table(findings.recurring_rows(rates), {
        "rate": say("token-s-printed"), "what": common("deployment"),
        "cards": common("number-of-cards"), "ours": say("derived-if-memory-sufficed")})


def deployments_table(deployments: Sequence[Deployed], measured: bool = False) -> None:
    """A row for each of some deployments."""
    table(summary.rows(deployments), summary.columns(measured), wide=True,
          folded=say("other-deployments"), first=SHOWN)


def paces_inside(overview: Overview) -> None:
    """Of how many deployments the measured time per token lies in the interval."""
    paces = {item.scenario.id: pace for item in (*overview.deployed.values(), *overview.others)
             if (pace := summary.speed(item, summary.PACE)) and pace.measured}
    missed = {name: pace for name, pace in paces.items() if pace.outside}
    slower = [name for name, pace in missed.items() if pace.factor < 1]
    numbers({"tpot-measured": len(paces), "tpot-inside": len(paces) - len(missed),
             "tpot-missed": len(missed), "tpot-missed-slower": len(slower),
             "tpot-missed-h200": sum(name.startswith("h200-") for name in slower),
             "tpot-missed-v32": sum(name.startswith("h200-v32-") for name in slower)})
