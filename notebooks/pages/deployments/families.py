"""The deployments of one scenario file side by side: a table, a picture, a pair of pools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import catalogue
from calc.answer.estimate import part_count
from calc.answer.service import combine_pools as evaluated
from catalogue.deployments.admission import cut_of
from catalogue.deployments.cuts import written
from catalogue.deployments.loading import Family
from catalogue.deployments.scenario import Scenario
from catalogue.messages import Pair, messages
from notebooks.pages.catalogue.tables.deployments import quantity_label
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.verdicts import RATES
from notebooks.pages.deployments.views import OF, RATE, derived, printed
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_quantity, fmt_sig

common_words = messages("common")
say = messages("pages/deployments/families")


def cut(scenario: Scenario) -> Pair:
    """How a deployment is cut: ``4 replicas of TP8``."""
    text = written(cut_of(scenario))
    return text["en"], text["zh"]


def one_replica(scenario: Scenario) -> str:
    """How titles write a cut: ``TP8×DP4``, with what is larger than one."""
    degrees = zip(("TP", "PP", "DP", "EP"), cut_of(scenario).degrees, strict=True)
    return "×".join(f"{name}{size}" for name, size in degrees if size > 1 or name == "TP")


def stored(scenario: Scenario) -> Pair:
    """The precision of a deployment by its name, without what stands in brackets."""
    name = scenario.precision.name
    return name["en"].partition(" (")[0], name["zh"].partition("（")[0]


def quantity(family: Sequence[Deployed]) -> str:
    """The quantity by which a family is compared: what is printed of most of its deployments.

    Of several, the first of ``RATES``, by which it is compared where nothing is printed; a prefill
    and a decode pool, which share none of them, by requests per second.
    """
    counts = Counter(name for deployed in family for name in _claimed(deployed))
    common = [name for name in RATES if all(name in member.questions for member in family)]
    if not common:
        return "request_throughput"
    most = max(counts.values(), default=0)
    chosen = [name for name in (*common, *counts) if counts[name] == most]
    return next(iter(chosen))


def _claimed(deployed: Deployed) -> set[str]:
    """What is printed of a deployment that we derive too."""
    documented = deployed.scenario.documented
    return {claim.quantity for claim in (documented.claims if documented else ())
            if derived(deployed, claim.quantity) is not None}


def rows(family: Sequence[Deployed], title: Callable[[Deployed], Pair]) -> list[dict[str, Any]]:
    """One row per deployment: whether it fits, and the compared quantity in both views."""
    name = quantity(family)
    lines = []
    for deployed in family:
        fits = deployed.has_room
        size = fmt_bytes(deployed.headroom, digits=1)
        row: dict[str, Any] = {
            "what": title(deployed), "cards": fmt_int(deployed.scenario.devices),
            "cut": cut(deployed.scenario), "precision": stored(deployed.scenario),
            "asked": fmt_int(deployed.inputs["concurrency"]),
            "fits": say("does-not-fit", size=size, fits=fits),
            "room": fmt_quantity(deployed.room, "request")}
        ours = derived(deployed, name)
        if ours is not None:
            row["ours"] = ours.text if ours.exact else f"{ours.text} ({ours.reach})"
        if claims := of(deployed, name):
            row["printed"] = tuple("<br>".join(
                printed(claim) + (OF[claim.of][lang] if claim.of != "deployment" else "")
                for claim in claims) for lang in range(2))
            if ours is not None and ours.value > 0:
                row["ratio"] = "<br>".join(fmt_sig(value / ours.value)
                                           for value in values(deployed, name))
        lines.append(row)
    return lines


def columns(family: Sequence[Deployed]) -> dict[str, Pair]:
    """Headings of the table; without anything printed, without the document's columns."""
    name = quantity_label(quantity(family))
    claimed = any(of(deployed, quantity(family)) for deployed in family)
    document = {"printed": common_words("documented"), "ratio": say("documented-derived")}
    many = len({deployed.inputs["concurrency"] for deployed in family}) > 1
    return {"what": common_words("deployment"), "cards": common_words("number-of-cards"),
            "cut": common_words("layout"), "precision": common_words("precision"),
            **({"asked": common_words("requests-at-once")} if many else {}),
            "fits": common_words("verdict-headroom"), "room": common_words("requests-that-fit"),
            "ours": say("derived", name=name), **(document if claimed else {})}


def of(deployed: Deployed, name: str) -> list[catalogue.entries.deployments.Claim]:
    """What a document claims of a quantity, at this workload."""
    documented = deployed.scenario.documented
    return [claim for claim in documented.claims
            if claim.quantity == name and claim.comparable] if documented else []


def values(deployed: Deployed, name: str) -> list[float]:
    """The claimed values of a quantity [SI], of the whole deployment."""
    return [float(claim.value.value) * part_count(deployed.scenario, claim.of)
            for claim in of(deployed, name)]


def pools(family: Family) -> Pair:
    """Which of the two pools of a family decides, what is printed of both together, and the ratio
    of cards at which neither waits."""
    assert family.pools is not None
    both = evaluated(*family.pools)
    prefill, decode = (fmt_sig(both.rates[name]) for name in ("prefill", "decode"))
    en, zh = say("prefill-pool-finishes-requests-per", prefill=prefill, decode=decode,
                 binds=both.binds)
    claims = [claim for claim in (family.documented.claims if family.documented else ())
              if claim.quantity == RATE]
    if claims:
        en, zh = say("document-prints", text=printed(claims[-1]), text2=(en, zh))
    best = fmt_quantity(both.best_rate * both.answer, "token/s")
    balance = say("for-requests-of-and-tokens", lengths=fmt_int(both.prompt),
                  lengths2=fmt_int(both.answer), cards=fmt_sig(both.best_prefill_devices),
                  cards2=fmt_int(both.devices), best=best, groups=both.whole[0],
                  groups2=both.whole[1], sent=fmt_quantity(both.transfer_time, "s"))
    return f"{en}. {balance[0]}", f"{zh}。{balance[1]}"
