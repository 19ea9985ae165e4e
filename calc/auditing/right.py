"""What is right instead of a claim: the right formula on sourced inputs, in the unit printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from calc.auditing.truths import Truth
from calc.uncertainty import Amount, propagate_uncertainty
from catalogue.entries import trees
from catalogue.ledger.claims import Claim, Comparison, of_tree, of_unit, text
from catalogue.reading.printed import Printed, of_value

SAME = 1e-6  # relative difference below which an input is the same
Bound = Literal["at_most", "at_least"]
PRICE = "/price/"  # of an entry, which is no fact of what is built


def compared(comparison: Comparison) -> tuple[Any, Printed, Bound]:
    """The number of a statement in words, its limit, and the side of it that holds."""
    above = comparison.above is not None
    limit = comparison.above if above else comparison.below
    assert limit is not None
    limit_value = replace(of_value(limit), last=(0.0,))  # a limit is exact, not rounded
    return comparison.of, limit_value, "at_least" if above else "at_most"


def made_of(claim: Claim, kinds: tuple[str, ...]) -> bool:
    """Whether a claim without a formula, and no limit, is held against entries of these kinds
    alone: an input of one is a unit and no number."""
    against = [*claim.sourced.values(), *([claim.truth] if claim.truth else [])]
    return bool(claim.formula is None and not claim.bound and against and all(
        where.startswith(kinds) and PRICE not in where for where in against)
        and all(value == 1 for value in claim.given().values()))


def both_ends(least: Truth, most: Truth, printed: Printed) -> Truth:
    """Of a range: both its ends, and as its value that which is farther outside of what is
    printed."""
    low, high = least.three.value, most.three.value
    beyond = printed.low - low > high - printed.high
    return replace(least, three=Amount(low if beyond else high, low, high), spans=True)


def same_unit(claim: Claim, sourced: Mapping[str, Truth], truth: Truth | None) -> None:
    """Refuse what comes out in another unit than is printed. Raises ValueError, one clause."""
    compares = claim.comparison
    stated = claim.printed or (compared(compares)[1] if compares is not None else None)
    if stated is None:
        return
    given = {name: value.unit for name, value in claim.inputs.items()}
    printed = of_unit(stated.unit)
    free = {name: source.unit for name, source in sourced.items()}
    every = given | free
    for key, tree, units_of in (("formula", claim.formula, given), ("right", claim.right, every),
                             ("most", claim.most, every),
                             ("comparison", compares.of if compares else None, every)):
        if tree not in (None, 0) and (unit := of_tree(tree, units_of)) != printed:
            raise ValueError(f"{key} comes out in {text(unit)}, what is printed is in "
                             f"{text(printed)}")
    for name in given.keys() & free.keys():
        if of_unit(given[name]) != of_unit(free[name]):
            raise ValueError(f"the input '{name}' is in {given[name]}, its source in {free[name]}")
    if truth is not None and of_unit(truth.unit) != printed:
        raise ValueError(f"the truth is in {text(of_unit(truth.unit))}, what is printed in "
                         f"{text(printed)}")


def computed(tree: Any, amounts: Mapping[str, Amount], unit: str, where: str,
             scenario: str | None) -> Truth:
    """What the right formula gives, with its interval. Raises ValueError for a letter it lacks."""
    names = trees.symbols_of(tree)
    used = {name: three for name, three in amounts.items() if name in names}
    if lost := sorted(names - used.keys()):
        raise ValueError(f"'{lost[0]}' has no value")
    three = propagate_uncertainty(lambda values: {"": float(trees.evaluate(tree, values))},
                                  used)[""]
    return Truth(three, unit, where, scenario)


def tried(tree: Any, amounts: Mapping[str, Amount]) -> float | None:
    """The value of a formula; None where there is none, or a letter has no value."""
    if tree is None or trees.symbols_of(tree) - amounts.keys():
        return None
    return float(trees.evaluate(tree, {name: three.value for name, three in amounts.items()}))


def moved(given: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Inputs that a source has otherwise."""
    return {name: (float(value), float(ours[name])) for name, value in given.items()
            if abs(float(ours[name]) - float(value)) > SAME * abs(float(value))}
