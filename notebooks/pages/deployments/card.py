"""A deployment in short: verdict, what a user gets, how sure that is, and what to run instead."""

from __future__ import annotations

import html
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import catalogue
from calc.answer.estimate import Estimate
from calc.answer.service import estimate_service, measured_evidence
from calc.answer.steady_state import SEEN_OF_BURST
from calc.costing.cost import CostOptions, PrefillPool, cost
from calc.costing.ownership import prices_of, way_of
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.messages import Pair, join, messages
from catalogue.reading.files import ROOT
from catalogue.reading.units import human
from notebooks.pages.calculators.links import link
from notebooks.pages.catalogue.tables.deployments import quantity_label as quantity_named
from notebooks.pages.deployments.alternatives import in_words
from notebooks.pages.deployments.answers import Deployed
from notebooks.show.display import in_book, markdown, table
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_sig

common = messages("common")
say = messages("pages/deployments/card")

PACE = ("tpot", "ttft", "output_throughput")
WAYS = {"own": say("own-cards"), "rent-always": say("cards-rented-for-years"),
        "rent-by-hour": say("cards-rented-by-hour")}
DAY = "azure-conversation"  # whose hours say how much of the throughput is used, as `cost` does
MILLION = 10**6
WHERE = "validation-coverage"  # how such intervals did, class by class
COMMAND = "will-it-fit estimate"
CALCULATORS = "../calculators.html"


def command(deployed: Deployed, settings: Mapping[str, str | int]) -> str:
    """The line that gives a change in a shell."""
    sets = "".join(f" \\\n    --set {shlex.quote(f'{path}={value}')}"
                   for path, value in {**deployed.given, **settings}.items())
    scenario, name = deployed.scenario, deployed.scenario.id
    if not scenario.path.is_relative_to(ROOT):  # a reader's own file, and its variant
        stem, variant = scenario.path.stem, scenario.id.removeprefix(scenario.path.stem)[1:]
        name = f"{stem}{scenario.path.suffix}{f'#{variant}' if variant else ''}"
    return f"{COMMAND} {shlex.quote(name)}{sets}"


def glance(deployed: Deployed) -> None:
    """What a user gets and what it costs, each with its interval, and how such intervals did."""
    if deployed.refusal is not None:
        return
    rows = [_row(deployed.answers[name]) for name in PACE if name in deployed.answers]
    if (amount := price(deployed)) is not None:
        rows.append(amount)
    if rows:
        table(rows, {"what": say("in-flight", users=fmt_sig(deployed.in_flight),
                                 burst=deployed.answer.burst),
                     "value": _valued(deployed.has_room), "reach": common("interval")})
    _measured((deployed.scenario,), (deployed.answer,))


def _valued(room: bool) -> Pair:
    return common("estimate") if room else say("hypothetical-with-enough-memory")


def glance_of_pools(pools: tuple[Scenario, Scenario]) -> None:
    """The same of two pools together: what a user gets of both, and what both cost.

    Args:
        pools: that prefill and that decode.
    """
    deployed = estimate_service(pools, [Deployed(pool).answer for pool in pools])
    if (seen := deployed.seen) is None:
        return
    rows: list[dict[str, Any]] = [
        {"what": quantity_named(SEEN_OF_BURST[name]), "value": f"**{amount.text}**",
         "reach": amount.reach}
        for name, amount in seen.amounts().items() if name != "e2e"]
    if (amount := _priced(deployed.last, deployed.answers[-1], seen.throughput, PrefillPool(
            pools[0], deployed.answers[0].everything))) is not None:
        rows.append(amount)
    table(rows, {"what": say("both-pools", cards=deployed.devices, users=fmt_int(seen.in_flight)),
                 "value": _valued(deployed.fits), "reach": common("interval")})
    _measured(pools, deployed.answers)


def _measured(pools: Sequence[Scenario], answers: Sequence[Estimate]) -> None:
    """Which measured runs say how sure it is."""
    if found := measured_evidence(pools, answers):
        markdown(*say("measured-and-how-far-off", where=f"#{WHERE}", found=found))


def move(deployed: Deployed) -> None:
    """A link into the calculators in the state of the deployment, and what of it they lack."""
    if not in_book() or (found := link(deployed.scenario)) is None:
        return
    address = html.escape(f"{CALCULATORS}#{found.state}")
    markdown(*say("move-it-in-calculators", address=address, lacks=bool(found.without),
              without=join((" ", ""), found.without)))


def _row(answer: Amount) -> dict[str, Any]:
    return {"what": quantity_named(answer.name), "value": f"**{answer.text}**",
            "reach": answer.reach}


def price(deployed: Deployed) -> dict[str, Any] | None:
    """A million output tokens in money, where somebody prices the card; on a usual day."""
    if "output_throughput" not in deployed.answers or not deployed.has_room:
        return None
    return _priced(deployed.scenario, deployed.answer, deployed.answers["output_throughput"])


def _priced(scenario: Scenario, found: Estimate, rate: Amount,
            prefill: PrefillPool | None = None) -> dict[str, Any] | None:
    prices = prices_of(scenario.device)
    way = way_of(scenario.device, prices)
    used = 1 / catalogue.load("loads", DAY).peak
    amounts = cost(scenario, found.everything, rate, prices, CostOptions(way, utilisation=used),
                   prefill)
    per_million = amounts.amounts.get("per_million_output")
    if per_million is None:
        return None
    had = WAYS[way]
    return {"what": say("million-output-tokens", had=had),
            "value": tuple(f"**{human(per_million.value, per_million.unit, lang)}**"
                           for lang in ("en", "zh")),
            "reach": tuple(map(per_million.reach_in, ("en", "zh")))}


def plans(deployed: Deployed) -> list[dict[str, Any]]:
    """As written, the nearest change that runs, and the best on the same cards; none twice."""
    found = deployed.alternatives
    nearest = next(iter(deployed.answer.changes), None)
    asked: list[tuple[Pair, Mapping[str, str | int] | None]] = [
        (say("nearest-that-runs"), nearest.settings if nearest else None),
        (say("most-tokens-per-second"), found.best.settings if found.best else None),
        (common("published-weights"), found.official.settings if found.official else None)]
    rows: list[dict[str, Any]] = [_plan(deployed, say("as-written"), {})]
    seen: list[Mapping[str, str | int]] = [{}]
    for kind, settings in asked:
        if settings is None:
            continue
        if settings in seen:
            row = rows[seen.index(settings)]
            row["kind"] = tuple(f"{old}{(', ', '、')[lang]}{new}" for lang, (old, new) in
                                enumerate(zip(row["kind"], kind, strict=True)))
            continue
        seen.append(settings)
        rows.append(_plan(deployed, kind, settings))
    return rows


def _plan(deployed: Deployed, kind: Pair, settings: Mapping[str, str | int]) -> dict[str, Any]:
    other = deployed.changed(settings)
    runs = other.has_room and (bool(settings) or deployed.answer.fits)
    row: dict[str, Any] = {
        "kind": kind, "settings": settings,
        "change": tuple(in_words(deployed, settings, lang) or "–" for lang in range(2)),
        "spare": fmt_bytes(other.headroom), "cards": fmt_int(other.scenario.devices)}
    for name in PACE:
        if runs and name in other.answers:
            row[name] = other.answers[name].text
    return row


def instead(deployed: Deployed) -> None:
    """The table of plans, and the command of each that changes something."""
    rows = plans(deployed)
    if len(rows) == 1:
        return
    told = [name for name in PACE if any(name in row for row in rows)]
    for row in rows:
        row |= {name: row.get(name, "–") for name in told}
    table(rows, {"kind": common("plan"), "change": common("change"),
                 "cards": common("number-of-cards"), "spare": common("memory-to-spare")}
          | {name: quantity_named(name) for name in told})  # not wide: contents cover the margin
    if any(_multiplies_slower(deployed, row["settings"]) for row in rows):
        markdown(*say("four-bit-weights-are-read"))
    lines = [(row["kind"], command(deployed, row["settings"])) for row in rows if row["settings"]]
    markdown(_commands(lines, 0), _commands(lines, 1))


def _multiplies_slower(deployed: Deployed, settings: Mapping[str, str | int]) -> bool:
    """Whether a change reads fewer bits per weight of an expert and multiplies them slower."""
    if "precision" not in settings:
        return False
    new, old = deployed.changed(settings).inputs, deployed.inputs
    return (new["routed_expert_weight_bytes"] < old["routed_expert_weight_bytes"]
            and new["routed_expert_peak"] < old["routed_expert_peak"])


def _commands(lines: list[tuple[Pair, str]], lang: int) -> str:
    """One block of a shell: a comment with the plan's name above each command."""
    blocks = "\n".join(f"# {kind[lang]}\n{line}" for kind, line in lines)
    return f"```bash\n{blocks}\n```"
