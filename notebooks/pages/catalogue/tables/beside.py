"""Tables of what is counted of every model beside what is published, with the reason of each
difference beyond its bar.

What the runtime counts is handed in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import catalogue
from catalogue.deployments.profiles import load_profile
from catalogue.entries.models import Checkpoint, Model, PublishedCache
from catalogue.messages import Pair, messages
from catalogue.reading.values import Value
from notebooks.show.display import markdown, source, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent

common = messages("common")
say = messages("pages/catalogue/tables/beside")

COUNTS = {"total": say("all"), "active": common("active"), "stored": common("in-files")}
GIGA, MEGA = 1e9, 1e6
NONE = "–"
DIGITS = 3  # of a difference in percent
LEAST = fmt_percent(10.0 ** -(DIGITS + 2), DIGITS)
ROUNDING = 1e-12  # relative, of a count that is a mean of layers


class Held(Protocol):
    """Ours beside theirs, as ``calc.answer.model_sizes`` has it."""

    quantity: str
    name: str
    ours: float
    theirs: Value | None

    @property
    def difference(self) -> float:
        """Ours over theirs, less one [1]."""

    @property
    def beyond(self) -> bool:
        """Whether it lies beyond its bar."""

    @property
    def rounded(self) -> bool:
        """Whether what is published has too few digits to differ."""


def bars(of: dict[str, float]) -> None:
    """Within what each quantity should agree with what is published."""
    markdown(*say("bars", parameters=fmt_percent(of["parameters"]), bytes=fmt_percent(of["bytes"]),
              token=fmt_percent(of["token"]), request=fmt_percent(of["request"])))


def counts(models: Iterable[Model], held: dict[str, list[Held]]) -> None:
    """Parameters of every model of which any are published."""
    rows = [_row(model, each, fmt_fixed(each.ours / GIGA, 2), fmt_fixed(
        each.theirs.value / GIGA, 2)) | {"what": COUNTS[each.name]}
            for model in models for each in held[model.id] if each.theirs]
    table(rows, _columns(say("counted-billions"), say("published-billions"),
                         {"what": say("parameters")}), sortable=True, wide=True)


def files(models: Iterable[Model], held: dict[str, list[tuple[Checkpoint, Held]]]) -> None:
    """Bytes of every checkpoint whose size is published."""
    rows = [_row(model, each, fmt_fixed(each.ours / GIGA, 2), fmt_fixed(
        each.theirs.value / GIGA, 2)) | {
            "repository": checkpoint.repository or NONE,
            "precision": _named(catalogue.load_precision(each.name))}
            for model in models for checkpoint, each in held[model.id] if each.theirs]
    table(rows, _columns(say("counted-gb"), say("published-gb"), {
        "repository": say("repository"), "precision": common("precision")}),
          sortable=True, wide=True)


def caches(models: Iterable[Model],
           held: dict[str, list[tuple[PublishedCache, Held, Held | None]]]) -> None:
    """What engines keep of a token, and of a request whatever its length."""
    rows: list[dict[str, Any]] = []
    for model in models:
        for published, token, request in held[model.id]:
            of = {"engine": _named(load_profile(published.engine)),
                  "precision": _named(catalogue.load_precision(published.precision))}
            rows.append(_row(model, token, _bytes(token.ours), _bytes(
                token.theirs.value if token.theirs else None)) | of | {"of": say("a-token")})
            if request:
                rows.append(_row(model, request, _bytes(request.ours), _bytes(
                    request.theirs.value if request.theirs else None)) | of | {
                        "of": say("a-request")})
    table(rows, _columns(say("counted-bytes"), say("published-bytes"), {
        "engine": common("engine"), "precision": common("precision"), "of": say("kept-of")}),
          sortable=True, wide=True)


def _row(model: Model, held: Held, ours: str, theirs: str) -> dict[str, Any]:
    return {"model": tuple(f"[{model.name[lang]}](models/{model.id}.ipynb)"
                           for lang in ("en", "zh")),
            "ours": ours, "theirs": theirs,
            "difference": _difference(held) if held.theirs else NONE,
            "why": _why(held), "source": source(held.theirs) if held.theirs else NONE}


def _columns(ours: Pair, theirs: Pair, between: dict[str, Pair]) -> dict[str, Pair]:
    return {"model": common("model"), **between, "ours": ours, "theirs": theirs,
            "difference": common("difference"), "why": say("why"), "source": common("source")}


def _difference(held: Held) -> str:
    """As a percentage; of what differs by less than its last digit, that it does."""
    told = fmt_percent(held.difference, DIGITS)
    exact = abs(held.difference) < ROUNDING
    return told if exact or float(told.lstrip("−")[:-1].replace(",", "")) else f"< {LEAST}"


def _why(held: Held) -> Pair:
    """Why it lies beyond its bar; nothing of what does not."""
    if held.theirs is None:
        return say("not-published")
    if not held.beyond:
        return "", ""
    note = held.theirs.note
    return (note["en"], note["zh"]) if note and not held.rounded else say("digits-printed")


def _named(entry: Any) -> Pair:
    return entry.name["en"], entry.name["zh"]


def _bytes(value: float | None) -> str:
    """Bytes, whole where they are."""
    if value is None:
        return NONE
    whole = abs(value - round(value)) < ROUNDING * value
    return fmt_int(round(value)) if whole else f"{value:,.2f}"
