"""Fits as the text of a file of ``params/fits/``: statements of an engine's profile."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calc.kernels.fitting import Errors, Fitted
from catalogue.entries.profiles import Rejected, in_order

# a law's parameter -> the mechanism that it is, and the unit that it is written in
SHARE, MICROSECONDS, NANOSECONDS, BYTES = ("", 1.0), (" us", 1e-6), (" ns", 1e-9), (" B", 1.0)
OF_A_TOKEN = (" ns/token", 1e-9)
NAMES = {"routed_expert_gemm_efficiency": "grouped_gemm_efficiency",
         "sliced_expert_gemm_efficiency": "sliced_gemm_efficiency"}
UNITS = {"matmul_latency": MICROSECONDS, "depth_latency": NANOSECONDS, "activation_traffic": BYTES,
         **dict.fromkeys(("routed_expert_latency", "sliced_expert_latency", "latent_core_latency",
                          "prefill_core_latency", "collective_alpha", "second_round_alpha",
                          "pipelined_alpha", "exchange_alpha", "exchange_network_alpha"),
                         MICROSECONDS), "latent_core_fill": NANOSECONDS,
         "exchange_expert_time": NANOSECONDS, "exchange_token_time": OF_A_TOKEN}
BY_DTYPE = ("gemm_efficiency", "matmul_latency", "depth_latency", "activation_traffic",
            "grouped_gemm_efficiency", "sliced_gemm_efficiency")
# what a law takes however little it has to do
FIXED = frozenset({"matmul_latency", "routed_expert_latency", "sliced_expert_latency",
                   "latent_core_latency", "collective_alpha", "second_round_alpha",
                   "pipelined_alpha"})
MOST = 1.0  # of a share
WORST = 0.25  # median error from which on a law says nothing of a table
DIGITS = 3
ERROR_DIGITS = 3  # after the point


@dataclass(frozen=True)
class Table:
    """A fitted table.

    Attributes:
        release: of the engine.
        operator, cut, kernel, dtype: as the table names them; no cut but of experts.
        multiplied: the dtype that is multiplied, as mechanisms name it.
        gathered: whether it times experts for ranks that have the tokens of all, or for tokens
            that are sent; None, for both.
        experts: formats of the catalogue in which routed experts are stored so; none of dense ones.
        fit: what the law came to.
        attention: of the models whose core it is; None for every model.
        exchange: the mode of sending tokens that it times; None of other operators.
        rejected: why its law's fixed times are not used; None where they are.
        instead: the table whose fixed times are used then; None, those of the card.
    """

    release: str
    operator: str
    cut: str | None
    kernel: str
    dtype: str
    multiplied: str
    gathered: bool | None
    experts: tuple[str, ...]
    fit: Fitted
    attention: str | None = None
    exchange: str | None = None
    rejected: Rejected | None = None
    instead: Table | None = None

    @property
    def used(self) -> Fitted:
        """Values that are written for the release: a rejected law takes the fixed times of
        ``instead`` and keeps the rest, which nothing contradicts.
        """
        if not self.rejected:
            return self.fit
        given = {name: self.instead.fit if name in FIXED and self.instead else self.fit
                 for name in self.fit.values if self.instead or name not in FIXED}
        return replace(self.fit, values={name: of.values[name] for name, of in given.items()},
                       ranges={name: of.ranges[name] for name, of in given.items()})


def named_values(table: Table) -> dict[str, str]:
    """Values of a law by the names of mechanisms, as a file has them."""
    return {_key(name, table.multiplied): _quantity(name, value)
            for name, value in table.fit.values.items()}


def text(engine: str, card: str, name: Mapping[str, str], package: str, source: str, date: str,
         tables: Sequence[Table]) -> str:
    """The file of an engine on a class of cards.

    Args:
        engine: its profile.
        card: mechanisms of the card.
        name: of engine and card, by language.
        package: and version that the tables are of.
        source: key of ``params/sources/``.
        date: of the tables.
        tables: those whose law says something, and those that values without a fit are judged on;
            the others are left out.
    """
    told = [table for table in tables
            if not table.fit.values or table.fit.errors.median <= WORST]
    lines = ["# yaml-language-server: $schema=../schema/fits.json",
             f"name: {{en: {_quoted(name['en'])}, zh: {_quoted(name['zh'])}}}",
             f"engine: {engine}", f"card: {card}", f"table: {_quoted(package)}",
             f"defaults: {{source: {source}, kind: derived, date: {date}}}", "statements:"]
    for kind in dict.fromkeys(map(_kind, told)):
        of_kind = [table for table in told if _kind(table) == kind]
        releases = sorted({table.release for table in of_kind}, key=in_order)
        for release in releases:
            same = [table for table in of_kind if table.release == release]
            lines += _statement(release if release != releases[0] else None, card, same)
    return "\n".join(lines) + "\n"


def _quoted(words: str) -> str:
    return json.dumps(words, ensure_ascii=False)


def _kind(table: Table) -> tuple[str, tuple[str, ...], str, bool | None, str | None]:
    """What statements are told apart by, besides their release."""
    return (table.operator, table.experts, table.multiplied if table.experts else "",
            table.gathered, table.exchange)


def _statement(since: str | None, card: str, tables: Sequence[Table]) -> Iterator[str]:
    (_, experts, multiplied, gathered, exchange), begun = _kind(tables[0]), False

    def line(written: str) -> str:
        nonlocal begun
        mark, begun = ("    " if begun else "  - "), True
        return mark + written

    if since:
        yield line(f'since: "{since}"')
    yield line(f"cards: [{card}]")
    if tables[0].attention:
        yield line(f"attention: {tables[0].attention}")
    if experts:
        yield line(f"experts: [{', '.join(experts)}]")
        yield line(f"multiplied: {multiplied}")
    if gathered is not None:
        yield line(f"gathered: {str(gathered).lower()}")
    if exchange:
        yield line(f"exchange: {exchange}")
    if any(table.used.values for table in tables):
        yield line("mechanisms:")
    for table in tables:
        fixed = {name: (bound.start, bound.low, bound.high)
                 for name, bound in table.fit.law.fixed.items()}
        for name, value in table.used.values.items():
            written = _value(name, value, table.used.ranges[name])
            yield f"      {_key(name, table.multiplied)}: {written}"
        if table.experts and table.cut == "whole":  # of slices and dense ones it is the same
            for name, (value, low, high) in fixed.items():
                yield f"      {name}: {{value: {value:g}, range: [{low:g}, {high:g}]}}"
    if "load_overlap" in tables[0].fit.law.fixed and not experts:
        bound = tables[0].fit.law.fixed["load_overlap"]
        ends = f"[{bound.low:g}, {bound.high:g}]"
        yield f"      load_overlap: {{value: {bound.start:g}, range: {ends}}}"
    yield "    measured:"
    for table in tables:
        yield from _measured(table)


def _key(name: str, multiplied: str) -> str:
    mechanism = NAMES.get(name, name)
    return f"{mechanism}.{multiplied}" if mechanism in BY_DTYPE else mechanism


def _value(name: str, value: float, ends: tuple[float, float]) -> str:
    low, high = ends
    if name.endswith("efficiency"):
        high = min(high, MOST)
    numbers = [_quantity(name, number) for number in (value, min(low, value), max(high, value))]
    return f"{{value: {numbers[0]}, range: [{numbers[1]}, {numbers[2]}]}}"


def _quantity(name: str, number: float) -> str:
    """A value of a parameter (SI) in the unit of the mechanism."""
    suffix, unit = UNITS.get(name, SHARE)
    return _digits(number / unit) + suffix


def _digits(number: float) -> str:
    """A number that YAML takes for one: a mantissa has a point."""
    mantissa, power, exponent = f"{float(f'{number:.{DIGITS}g}'):g}".partition("e")
    return mantissa + (".0" if power and "." not in mantissa else "") + power + exponent


def _measured(table: Table) -> Iterator[str]:
    fit = table.fit
    cut = f", cut: {table.cut}" if table.cut else ""
    yield (f"      - {{operator: {table.operator}{cut}, kernel: {_quoted(table.kernel)}, "
           f"dtype: {table.dtype}, fitted: {fit.fitted},")
    yield f"         judged: {_errors(fit.errors)},"
    if fit.before:
        yield f"         before: {_errors(fit.before)},"
    regions = ",\n                   ".join(
        f"{least}: {_errors(errors)}" for least, errors in fit.regions.items())
    yield f"         regions: {{{regions}}},"
    if table.rejected:
        instead = f", instead: {_quoted(table.instead.release)}" if table.instead else ""
        yield (f"         rejected: {{reason: {table.rejected.reason}, "
               f"against: {_quoted(table.rejected.against)}, "
               f"factor: {_digits(table.rejected.factor)}{instead}}},")
    parameters = ", ".join(_key(name, table.multiplied) for name in fit.values)
    yield f"         parameters: [{parameters}],"
    lower = fit.covariance[np.tril_indices(len(fit.values))]
    yield f"         covariance: [{', '.join(_digits(number) for number in lower)}]}}"


def _errors(errors: Errors) -> str:
    written = (f"{name}: {getattr(errors, name):.{ERROR_DIGITS}f}"
               for name in ("leaning", "median", "most"))
    return f"{{rows: {errors.rows}, {', '.join(written)}}}"
