"""A device as one document states it: its figures in place of the sourced ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel

from catalogue.reading.values import Value

E = TypeVar("E", bound=BaseModel)


def as_documented(entry: E, document: str, section: str | None = None) -> E:
    """A device, or a part of its entry, with every value that the document states.

    The sourced one is then an other.

    A document may state several values of one quantity. The one of the section in question is
    taken, else the one of the section that shares most of its number, else the first.

    Args:
        entry: a device of the catalogue.
        document: key of a document, such as ``s0``.
        section: section of the deployment in question, such as ``3.2.3``.
    """
    changed: dict[str, Any] = {}
    for name in type(entry).model_fields:
        item = getattr(entry, name)
        if isinstance(item, Value):
            changed[name] = _chosen(item, document, section)
        elif isinstance(item, BaseModel):
            changed[name] = as_documented(item, document, section)
    return entry.model_copy(update=changed)


def _chosen(value: Value, document: str, section: str | None) -> Value:
    stated = [other for other in value.others
              if other.kind == "documented" and other.source == document]
    if not stated:
        return value
    best = max(stated, key=lambda other: _closeness(other, section))
    rest = tuple(other for other in value.others if other is not best)
    return replace(best, others=(replace(value, others=()), *rest))


def _closeness(value: Value, section: str | None) -> int:
    """How many leading parts of its number a value's section shares with another."""
    wanted = (section or "").split(".")
    shared = 0
    for part in (value.section or "").split(","):
        count = 0
        for mine, other in zip(part.strip().split("."), wanted, strict=False):
            if mine != other:
                break
            count += 1
        shared = max(shared, count)
    return shared
