"""What the documents' deployments amount to: the quantities that the page of all of them tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import calc
from calc.answer.nearest import Change
from calc.layouts.layout import changed
from calc.uncertainty import Amount
from catalogue.deployments.loading import Family
from catalogue.entries.deployments import Claim
from catalogue.messages import Pair
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.families import cut
from notebooks.pages.deployments.summary import derived, label, short
from notebooks.pages.deployments.views import RATE, together
from notebooks.show.numbers import fmt_int

MANY = 2**20  # requests; tried in vain for a rate if this many do not give it
CLASSES = ("attention", "core", "index", "dense_mlp", "shared_expert", "routed_expert", "router",
           "head")


@dataclass(frozen=True)
class Printed:
    """A rate that a document prints, and for what.

    Attributes:
        title: of the deployment.
        id: label of its section.
        devices: its cards.
        ours: what is derived.
    """

    title: Pair
    id: str
    devices: int
    ours: Amount


def fewest(deployed: Deployed) -> Change:
    """The change that runs in the precision asked for, cards added or not, on the fewest cards.

    Raises ValueError if none was found.
    """
    return min((change for change in deployed.answer.changes if "precision" not in change.settings),
               key=lambda change: change.devices)


def narrower(deployed: Deployed) -> Change:
    """The nearest precision that runs on the same cards, with the cut that it needs.

    Raises StopIteration if none was found.
    """
    return next(change for change in deployed.answer.changes
                if "precision" in change.settings and change.devices == deployed.scenario.devices)


def layout(deployed: Deployed, change: Change) -> str:
    """How the one server is cut that a change leaves."""
    english, chinese = cut(changed(deployed.scenario, change.settings))
    assert english == chinese
    return english


def with_requests(deployed: Deployed, count: int, names: Iterable[str]) -> dict[str, Amount]:
    """Quantities of decode with another number of requests at once, the rest as it is."""
    return deployed.of(deployed.questions["tpot"] | {"concurrency": count}, list(names))


def requests_for(deployed: Deployed, rate: float) -> int:
    """Fewest requests at once with which reading weights and cache alone allows a rate [1].

    A request receives at most one token per step, and a step takes at least ``tpot_floor``.

    Args:
        deployed: the deployment; whether so many requests fit is not asked.
        rate: tokens per second.

    Raises ValueError if no number of requests does, up to ``MANY``.
    """
    inputs = deployed.questions["tpot"]
    low, high = 1, MANY
    if MANY / _floor(deployed, inputs, MANY) < rate:
        raise ValueError(f"{rate} token/s lie above the floor with any number of requests")
    while low < high:
        middle = (low + high) // 2
        if middle / _floor(deployed, inputs, middle) >= rate:
            high = middle
        else:
            low = middle + 1
    return low


def _floor(deployed: Deployed, given: dict[str, int | float], count: int) -> float:
    quantities = calc.evaluate(given | {"concurrency": count}, deployed.attention)
    return float(quantities["tpot_floor"])


def arithmetic_bound(deployed: Deployed) -> float:
    """Output rate if the matrix units worked at their full peak and waited for nothing [token/s].

    Requests are taken as spread evenly; the rate does not depend on their number.
    """
    inputs = deployed.questions["tpot"] | {"kv_imbalance": 1, "even_routing": 1}
    quantities = calc.evaluate(inputs, deployed.attention)
    fullest = {"core": quantities["fullest_cache"], "index": quantities["fullest_cache"]}
    step = sum(float(quantities[f"decode_{name}_flops"] / fullest.get(name, 1))
               / inputs[f"{name}_peak"] for name in CLASSES)
    return float(inputs["concurrency"]) / step


def recurring(families: Sequence[Family], deployed: Mapping[str, Deployed]) -> dict[
        float, list[Printed]]:
    """Printed rates that stand for different numbers of cards, by rate [token/s].

    Goals are left out; a prefill and a decode pool count as one deployment.

    Args:
        families: of one document.
        deployed: its deployments by identifier.
    """
    found: dict[float, list[Printed]] = {}
    for family in families:
        for member in family.deployments:
            here = deployed[member.id]
            if RATE in here.answers:
                printed = Printed(label(member), member.id, member.devices, here.answers[RATE])
                _add(found, member.documented.claims if member.documented else (), printed)
        if family.pools:
            printed = Printed(short(family.title), family.id,
                           sum(pool.devices for pool in family.pools), together(family.pools))
            _add(found, family.documented.claims if family.documented else (), printed)
    return {rate: printed for rate, printed in sorted(found.items())
            if len({member.devices for member in printed}) > 1}


def _add(found: dict[float, list[Printed]], claims: Iterable[Claim], printed: Printed) -> None:
    rates = dict.fromkeys(float(claim.value.value) for claim in claims if claim.quantity == RATE
                          and claim.of == "deployment" and claim.bound is None)
    for rate in rates:
        found.setdefault(rate, []).append(printed)


def recurring_rows(found: Mapping[float, Sequence[Printed]]) -> list[dict[str, str | Pair]]:
    """Rows of a table: a printed rate, and what it is printed for."""
    return [{"rate": fmt_int(rate) if number == 0 else "",
             "what": (f"[{member.title[0]}](#{member.id})", f"[{member.title[1]}](#{member.id})"),
             "cards": fmt_int(member.devices), "ours": derived(member.ours).replace("<br>", " ")}
            for rate, printed in found.items() for number, member in enumerate(printed)]
