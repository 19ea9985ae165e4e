"""Whether a deployment runs as asked: the one judge, for one deployment or for many at once.

What is known without physics stands in ``catalogue.deployments.admission``; here its rules are
asked of many layouts, and the memory is held against what is there. Nobody else decides.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from catalogue import Scenario
from catalogue.deployments.admission import (
    KINDS,
    RULES,
    cut_of,
    problems,
    subject_of,
)
from catalogue.deployments.cuts import Cut, Rule, Subject
from catalogue.engine import AT
from catalogue.messages import Texts, capitalised, ended, sentences
from catalogue.reading.units import human

say = sentences("calc/layouts/feasible")

MEMORY, HEADROOM = "memory_capacity", "headroom_per_device"
OF_MEMORY = ("weights_per_device", "kv_per_device", "activations_per_device", "exchange_buffers",
             "memory_per_device", "usable_memory")

DENSE, DENSE_PER_ROW = 1 << 16, 8  # numbers that are told apart in a table, not by sorting


@dataclass(frozen=True)
class Reason:
    """Why a deployment does not run as asked.

    Attributes:
        kind: ``memory_capacity``, or of ``catalogue.deployments.admission.KINDS``.
        numbers: what it rests on: bytes per device [B], classes of tensors by dtype, counts.
        text: one sentence in both languages.
    """

    kind: str
    numbers: dict[str, Any]
    text: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, **self.numbers, "text": {"en": self.text["en"]}}


def has_room(headroom: Any, margin: float = 0.0) -> Any:
    """Whether it fits, or does not fit (out of memory): the memory holds it, every request at its
    longest; an array for arrays.

    Args:
        headroom: quantities of ``calc.evaluate`` by name, or what the fullest device has to spare
            itself [B].
        margin: that is to be left [B].
    """
    return (headroom[HEADROOM] if isinstance(headroom, Mapping) else headroom) >= margin


def reasons(scenario: Scenario, quantities: Mapping[str, Any]) -> tuple[Reason, ...]:
    """Why a deployment does not run as asked; nothing if it does.

    Args:
        scenario: the deployment.
        quantities: quantities of ``calc.evaluate`` for it, scalars.
    """
    short = () if has_room(quantities) else (memory_shortage(quantities),)
    return (*short, *not_loaded(scenario))


def not_loaded(scenario: Scenario) -> tuple[Reason, ...]:
    """Why nothing loads a deployment, whatever its memory."""
    reasons_of_rules = []
    for problem in problems(subject_of(scenario), cut_of(scenario)):
        words = problem.words()
        named = AT in words[0].split()[0]  # a release keeps its name
        reasons_of_rules.append(Reason(problem.kind, dict(problem.numbers),
                                       Texts(ended(words if named else capitalised(words)))))
    return tuple(reasons_of_rules)


def memory_shortage(quantities: Mapping[str, Any]) -> Reason:
    """By how much the fullest device is short, and of what."""
    numbers = {"short": -float(quantities[HEADROOM])}
    numbers |= {name: float(quantities[name]) for name in OF_MEMORY}
    numbers["copies"] = float(quantities["absorbed_copies_per_device"] + quantities["mtp_weights"])
    labels = {name: human(number, "B") for name, number in numbers.items()}
    weights, cache, active, buffers, total, usable = (labels[name] for name in OF_MEMORY)
    short, copies = labels["short"], labels["copies"]
    copied, buffered = numbers["copies"] > 0, numbers["exchange_buffers"] > 0
    besides = f", copies {copies}" * copied + f", buffers {buffers}" * buffered
    return Reason(MEMORY, numbers, Texts(say(
        "fullest-device-is-short-weights",
        f"The fullest device is {short} short: weights {weights}, cache {cache} (every request at "
        f"its longest){besides} and activations {active} come to {total} with the runtime's own, "
        f"of the {usable} that the engine may use.",
        short=short, weights=weights, cache=cache, active=active, whole=total, usable=usable,
        copies=copies, buffers=buffers, copied=copied, buffered=buffered)))


@dataclass
class Judge:
    """Rules asked of many layouts; what was judged is remembered by all that it depends on."""

    remembered: dict[tuple[Any, ...], np.ndarray] = field(default_factory=dict, repr=False)
    alike: dict[tuple[Any, ...], dict[tuple[int, ...], bool]] = field(
        default_factory=dict, repr=False)

    def kinds(self, subject: Subject, rows: Mapping[str, np.ndarray], table: Any = None,
              kinds: Collection[str] = tuple(KINDS)) -> np.ndarray:
        """Why each layout is not loaded: a place in ``KINDS``, or -1 of one that is, shape (n,).

        Args:
            subject: the model on its cards.
            rows: columns named as attributes of ``Cut``, shape (n,) each; absent, its defaults.
            table: what tells these rows from others, where they are judged again.
            kinds: kinds that are.
        """
        order, count = list(KINDS), len(next(iter(rows.values())))
        places = np.full(count, -1)
        for rule in RULES:
            if rule.kind in kinds:
                bad = self._bad(rule, subject, rows, table)
                places[(places < 0) & bad] = order.index(rule.kind)
        return places

    def _bad(self, rule: Rule, subject: Subject, rows: Mapping[str, np.ndarray], table: Any
             ) -> np.ndarray:
        if table is None:
            return _judged(rule, subject, rows, {})
        by = (rule.kind, rule.of, *(
            getattr(part := getattr(subject, name), "id", part) for name in rule.by))
        if (table, by) not in self.remembered:
            self.remembered[table, by] = _judged(rule, subject, rows, self.alike.setdefault(by, {}))
        return self.remembered[table, by]


def _judged(rule: Rule, subject: Subject, rows: Mapping[str, np.ndarray],
            verdicts: dict[tuple[int, ...], bool]) -> np.ndarray:
    """Which layouts a rule refuses; those that are equal in what it looks at are judged once.

    Args:
        rule: of ``RULES``.
        subject: the model on its cards.
        rows: columns of the layouts, shape (n,) each.
        verdicts: what the rule says of the same subject, by what it looks at of a layout; added to.
    """
    names = [name for name in rule.of if name in rows]
    count = len(next(iter(rows.values())))
    if not names or not count:
        return np.full(count, rule.problem(subject, Cut()) is not None)
    looked_at = [rows[name] for name in names] if rule.alike is None else [
        np.broadcast_to(column, count) for column in rule.alike(subject, rows)]
    first, which = distinct(looked_at)
    alike = [rows[name][first].tolist() for name in names]
    values_looked_at = [column[first].tolist() for column in looked_at]
    keys = list(zip(*values_looked_at, strict=True))
    for key, values in zip(keys, zip(*alike, strict=True), strict=True):
        if key not in verdicts:
            verdicts[key] = rule.problem(
                subject, Cut(**dict(zip(names, values, strict=True)))) is not None
    return np.array([verdicts[key] for key in keys], bool)[which]


def distinct(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows that differ, by the last of each, and to which of them every row belongs.

    >>> distinct([np.array([3, 1, 3, 3]), np.array([0, 5, 0, 9])])
    (array([1, 2, 3]), array([1, 0, 1, 2]))

    Args:
        columns: whole numbers from 0 [1], shape (n,) each.
    """
    code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        index, count = _places(column)
        code, _ = _places(code * count + index)
    rows = np.empty(int(code.max(initial=-1)) + 1, np.int64)
    rows[code] = np.arange(len(code))
    return rows, code


def _places(column: np.ndarray) -> tuple[np.ndarray, int]:
    """The place of each number among those that there are, in their order, and how many are."""
    least = int(column.min(initial=0))
    span = int(column.max(initial=0)) - least + 1
    if span > max(DENSE, DENSE_PER_ROW * len(column)):
        numbers, indices = np.unique(column, return_inverse=True)
        return indices, len(numbers)
    there = np.zeros(span, bool)
    there[column - least] = True
    places = np.cumsum(there) - 1
    return places[column - least], int(places[-1]) + 1


def admitted(subject: Subject, rows: Mapping[str, np.ndarray],
             kinds: Collection[str] = tuple(KINDS)) -> np.ndarray:
    """Which layouts are loaded, shape (n,); arguments as of :meth:`Judge.kinds`."""
    return Judge().kinds(subject, rows, kinds=kinds) < 0
