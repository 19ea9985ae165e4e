"""Fits as the text of a file of ``params/fits/``: statements of an engine's profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calc.yamltext import Flow, dump, significant
from catalogue.entries.profiles import Rejected, in_order
from kernels.fitting import Errors, Fitted

SCHEMA = "# yaml-language-server: $schema=../schema/fits.json\n"
# a law's parameter -> the mechanism that it is, and the unit that it is written in
SHARE, MICROSECONDS, NANOSECONDS, BYTES = ("", 1.0), (" us", 1e-6), (" ns", 1e-9), (" B", 1.0)
OF_A_TOKEN = (" ns/token", 1e-9)
NAMES = {"routed_expert_gemm_efficiency": "grouped_gemm_efficiency",
         "sliced_expert_gemm_efficiency": "sliced_gemm_efficiency"}
# latencies that a law takes however little it has to do
FIXED = frozenset({"matmul_latency", "routed_expert_latency", "sliced_expert_latency",
                   "latent_core_latency", "collective_alpha", "second_round_alpha",
                   "pipelined_alpha"})
UNITS = {**dict.fromkeys((*FIXED, "prefill_core_latency", "exchange_alpha",
                          "exchange_network_alpha"), MICROSECONDS),
         **dict.fromkeys(("depth_latency", "latent_core_fill", "exchange_expert_time"),
                         NANOSECONDS),
         "activation_traffic": BYTES, "exchange_token_time": OF_A_TOKEN}
BY_DTYPE = ("gemm_efficiency", "matmul_latency", "depth_latency", "activation_traffic",
            "grouped_gemm_efficiency", "sliced_gemm_efficiency")
MOST = 1.0  # of a share
WORST = 0.25  # median error from which on a law does not describe its table
DIGITS = 3  # of values; of errors, after the point


@dataclass(frozen=True)
class FittedTable:
    """A fitted table.

    Attributes:
        release: of the engine.
        operator, kernel, dtype: as the table names them.
        multiplied: the dtype that is multiplied, as mechanisms name it.
        fit: the fitted law.
        cut: ``whole`` or ``slices`` of experts; None of other operators.
        gathered: whether it times experts for ranks that have the tokens of all, or for tokens
            that are sent; None, for both.
        experts: formats of the catalogue in which routed experts are stored so; none of dense ones.
        attention: of the models whose core it is; None for every model.
        exchange: the mode of sending tokens that it times; None of other operators.
        rejected: why its law's fixed times are not used; None where they are.
        instead: the table whose fixed times are used then; None, those of the card.
    """

    release: str
    operator: str
    kernel: str
    dtype: str
    multiplied: str
    fit: Fitted
    cut: str | None = None
    gathered: bool | None = None
    experts: tuple[str, ...] = ()
    attention: str | None = None
    exchange: str | None = None
    rejected: Rejected | None = None
    instead: FittedTable | None = None


def used_fits(table: FittedTable) -> dict[str, Fitted]:
    """The fit whose value and range are written for the release, by parameter.

    A rejected law takes the fixed times of ``instead``; nothing contradicts its other values.
    """
    instead = table.instead.fit if table.instead else None
    fits = {name: instead if table.rejected and name in FIXED else table.fit
            for name in table.fit.values}
    return {name: fit for name, fit in fits.items() if fit}


def text(engine: str, card: str, name: Mapping[str, str], package: str, source: str, date: str,
         tables: Sequence[FittedTable]) -> str:
    """The file of an engine on a class of cards.

    Args:
        engine: its profile.
        card: mechanisms of the card.
        name: of engine and card, by language.
        package: and version that the tables are of.
        source: key of ``params/sources/``.
        date: of the tables.
        tables: those whose law describes its table, and those that values without a fit are judged
            on; the others are left out.
    """
    groups: dict[tuple[Any, ...], dict[str, list[FittedTable]]] = {}
    for table in tables:
        if not table.fit.values or table.fit.errors.median <= WORST:
            kind = (table.operator, *_kind(table).values())
            groups.setdefault(kind, {}).setdefault(table.release, []).append(table)
    statements = [
        statement(release if number else None, card, releases[release])
        for releases in groups.values()
        for number, release in enumerate(sorted(releases, key=in_order))]
    return SCHEMA + dump({
        "name": dict(name), "engine": engine, "card": card, "table": package,
        "defaults": {"source": source, "kind": "derived", "date": date}, "statements": statements})


def _kind(table: FittedTable) -> dict[str, Any]:
    """Fields that statements of an operator differ by, besides their release."""
    return {"experts": table.experts, "multiplied": table.multiplied if table.experts else "",
            "gathered": table.gathered, "exchange": table.exchange}


def statement(since: str | None, card: str, tables: Sequence[FittedTable]) -> dict[str, Any]:
    """A statement of a profile: tables of one kind and release, and on what their values rest."""
    mechanisms: dict[str, Any] = {}
    for table in tables:
        mechanisms |= {
            mechanism_name(name, table.multiplied): value_of(name, fit.values[name],
                                                             fit.ranges[name])
            for name, fit in used_fits(table).items()}
        if table.cut != "slices":  # there it is the same
            mechanisms |= {name: Flow(value=bounds.start, range=[bounds.low, bounds.high])
                           for name, bounds in table.fit.law.fixed.items()}
    return _stated(since=since, cards=[card], attention=tables[0].attention, **_kind(tables[0]) | {
        "experts": list(tables[0].experts)}, mechanisms=mechanisms,
                   measured=list(map(measured_table, tables)))


def measured_table(table: FittedTable) -> dict[str, Any]:
    """A table, and the errors of its law."""
    def rounded(errors: Errors) -> dict[str, float]:
        return {name: round(value, DIGITS) for name, value in vars(errors).items()}

    fit, rejected = table.fit, table.rejected
    return _stated(
        operator=table.operator, cut=table.cut, kernel=table.kernel, dtype=table.dtype,
        fitted=fit.fitted, judged=rounded(fit.errors),
        regions={least: rounded(errors) for least, errors in fit.regions.items()},
        rejected=_stated(reason=rejected.reason, against=rejected.against,
                         factor=significant(rejected.factor, DIGITS),
                         instead=table.instead and table.instead.release) if rejected else None)


def _stated(**fields: Any) -> dict[str, Any]:
    """Fields that have a value."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def mechanism_name(name: str, multiplied: str) -> str:
    """The mechanism that a parameter of a law is, of the dtype that is multiplied."""
    mechanism = NAMES.get(name, name)
    return f"{mechanism}.{multiplied}" if mechanism in BY_DTYPE else mechanism


def value_of(name: str, value: float, ends: tuple[float, float]) -> Flow:
    """A parameter with its range; an efficiency ends at most at `MOST`."""
    low, high = ends
    if name.endswith("efficiency"):
        high = min(high, MOST)
    return Flow(value=_quantity(name, value),
                range=[_quantity(name, min(low, value)), _quantity(name, max(high, value))])


def _quantity(name: str, number: float) -> str | float:
    """A value of a parameter (SI) in the unit of the mechanism."""
    suffix, unit = UNITS.get(name, SHARE)
    shown = significant(number / unit, DIGITS)
    return f"{shown:g}{suffix}" if suffix else shown
