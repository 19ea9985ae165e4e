"""What was predicted before a measurement was known, beside the measurement and what follows now.

Like ``error_tables`` it takes results as data. Rates are per card [token/s]; of a package with two
dies a card is a die.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from catalogue.messages import Pair, messages
from notebooks.pages.validation import error_figures
from notebooks.pages.validation.error_tables import BLIND, METRICS, signed
from notebooks.show import figures
from notebooks.show.display import table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/validation/blind")

SYSTEMS: dict[str, Pair] = {
    "wide-lmsys": say("h100-sglang"),
    "wide-ant": say("h20-sglang"),
    "wide-rtp": say("h800-rtp-llm"),
    "wide-vllm": say("h200-vllm"),
    "wide-cloudmatrix": say("cloudmatrix384")}
ALL: Pair = common("all")
LABELS: dict[str, Pair] = {
    "measured": common("measured"), "then": say("predicted-blind"), "now": say("predicted-now")}


@dataclass(frozen=True)
class BlindRow:
    """A measured row of one deployment and its predictions [token/s per card].

    Attributes:
        system, metric: what was measured.
        row: of its table, from 0.
        cards: that it has [1].
        requests: in flight per card [1].
        length: of a prompt [token].
        measured, now: the rate, and what follows today.
        low, high: ends of today's 80% interval.
        blind: value, low and high as they were predicted blind; NaN where nothing was.
    """

    system: str
    metric: str
    row: int
    cards: float
    requests: float
    length: float
    measured: float
    now: float
    low: float
    high: float
    blind: tuple[float, float, float]

    @property
    def family(self) -> str:
        """The identifier of the file that describes it."""
        return next(name for name in SYSTEMS if self.system.startswith(f"{name}-"))


def pairs(results: Iterable[Any], systems: Mapping[str, Any]) -> list[BlindRow]:
    """Every row of the deployments that were first predicted blind.

    Args:
        results: uncalibrated ones, of which ``blind`` holds what was predicted blind, or nothing.
        systems: by identifier, with ``inputs`` and measured ``rows``.
    """
    found = []
    for result in results:
        if not result.system.startswith(BLIND):
            continue
        system, made = systems[result.system], {}
        cards = float(system.inputs["data_parallel"] * system.inputs["tensor_parallel"]
                      * system.inputs["pipeline_parallel"])
        if result.blind is not None:
            kept = (result.blind.predicted, result.blind.low, result.blind.high)
            made = dict(zip(result.blind.row.tolist(), (np.array(kept) / cards).T, strict=True))
        of = result.predictions
        for at, row in enumerate(of.row):
            rates = {name: float(getattr(of, name)[at] / cards)
                     for name in ("measured", "low", "high")}
            found.append(BlindRow(
                result.system, result.metric, int(row), cards,
                float(system.rows["concurrency"][row] / cards),
                float(system.rows["input_tokens"][row]), now=float(of.predicted[at] / cards),
                blind=tuple(made.get(int(row), np.full(3, np.nan)).tolist()), **rates))
    return found


def find(found: Iterable[BlindRow], system: str, row: int = 0) -> BlindRow:
    """The pair of a deployment and a row (from 0). Raises LookupError if there is none."""
    for pair in found:
        if (pair.system, pair.row) == (system, row):
            return pair
    raise LookupError(f"no row {row} of {system}")


def errors(found: Sequence[BlindRow], which: str) -> np.ndarray:
    """Signed relative errors [1] of the rows that were predicted blind, ``then`` or ``now``."""
    made = [pair for pair in found if np.isfinite(pair.blind[0])]
    return np.array([(pair.now if which == "now" else pair.blind[0]) / pair.measured - 1
                     for pair in made])


def median(found: Sequence[BlindRow], which: str) -> float:
    """Median size of these errors [1]."""
    return float(np.median(np.abs(errors(found, which))))


def inside(found: Sequence[BlindRow], which: str) -> float:
    """Share of the rows that were predicted blind in their 80% intervals [1]."""
    return float(np.mean(_held(found, which)))


def _held(found: Sequence[BlindRow], which: str) -> list[bool]:
    """Whether each row that was predicted blind lies in its interval, ``then`` or ``now``."""
    return [low <= pair.measured <= high for pair in found if np.isfinite(pair.blind[0])
            for low, high in [(pair.low, pair.high) if which == "now" else pair.blind[1:]]]


def by_system(found: Sequence[BlindRow]) -> None:
    """Median errors of each system, blind and now, on the same rows."""
    def row(name: Pair, chosen: Sequence[BlindRow]) -> dict[str, Any]:
        made = [pair for pair in chosen if np.isfinite(pair.blind[0])]
        held = {which: _held(made, which) for which in ("then", "now")}
        return {"system": name, "rows": len(made),
                **{which: fmt_percent(median(made, which), digits=0) for which in held},
                **{f"{which}_bias": signed(float(np.median(errors(made, which))), 0)
                   for which in held},
                **{f"{which}_in": f"{sum(inside)}/{len(made)}" for which, inside in held.items()}}

    table([row(name, [pair for pair in found if pair.family == family])
           for family, name in SYSTEMS.items()] + [row(ALL, found)],
          {"system": common("system"), "rows": common("rows"),
           "then": say("median-error-blind"), "now": say("now"),
           "then_bias": say("with-sign-blind"), "now_bias": say("now"),
           "then_in": say("in-interval-blind"), "now_in": say("now")},
          wide=True)


def every_row(found: Sequence[BlindRow], link: Any) -> None:
    """Every row: measured, predicted blind, predicted now.

    Args:
        found: the rows.
        link: makes a link of a deployment's identifier.
    """
    def shown(value: float, measured: float) -> str:
        return (f"{fmt_int(round(value))} ({signed(value / measured - 1, 0)})"
                if np.isfinite(value) else "–")

    table([{"system": link(pair.system), "metric": METRICS[pair.metric],
            "length": fmt_int(pair.length),
            "requests": (fmt_fixed(pair.requests, 1) if pair.requests >= 1 else
                         fmt_sig(pair.requests, 2))
            if pair.metric == "output_throughput" else "–",
            "measured": fmt_int(round(pair.measured)),
            "then": shown(pair.blind[0], pair.measured), "now": shown(pair.now, pair.measured)}
           for pair in found],
          {"system": common("deployment"), "metric": common("metric"),
           "length": common("input-tokens"), "requests": common("requests-per-card"),
           "measured": say("measured-token-s-per-card"), "then": say("predicted-blind-error"),
           "now": say("predicted-now-error")},
          wide=True, folded=common("every-row"))


@dataclass(frozen=True)
class Ratio:
    """How much a change of a deployment was worth [1]: measured, predicted blind, and now."""

    of: Pair
    measured: float
    then: float
    now: float


def ratio(of: Pair, changed: BlindRow, before: BlindRow) -> Ratio:
    """The ratio of two rows' rates per card."""
    return Ratio(of, changed.measured / before.measured, changed.blind[0] / before.blind[0],
                 changed.now / before.now)


def ratios(chosen: Iterable[Ratio]) -> None:
    """Ratios as a table."""
    table([{"of": one.of, **{name: fmt_fixed(getattr(one, name)) for name in LABELS}}
           for one in chosen],
          {"of": say("rate-per-card"), "measured": LABELS["measured"],
           "then": say("predicted-blind"), "now": LABELS["now"]})


def _lines(axes: Axes, at: Sequence[float], chosen: Sequence[BlindRow], lang: int) -> None:
    """Measured as dots, blind with its intervals, and now as a line."""
    axes.plot(at, [pair.measured for pair in chosen], "o", ms=6, color=figures.INK, zorder=3,
              label=LABELS["measured"][lang])
    then = [(x, *pair.blind) for x, pair in zip(at, chosen, strict=True)
            if np.isfinite(pair.blind[0])]
    x, value, low, high = map(np.array, zip(*then, strict=True))
    axes.errorbar(x, value, yerr=[value - low, high - value], fmt="s", ms=4.5, lw=1, capsize=2,
                  color=figures.PALETTE[1], label=LABELS["then"][lang])
    axes.plot(at, [pair.now for pair in chosen], "-", marker=".", color=figures.PALETTE[0],
              label=LABELS["now"][lang])
    axes.set_ylim(bottom=0)


def by_size(panels: Sequence[tuple[Pair, Sequence[BlindRow]]], lang: int) -> Figure:
    """Decode throughput per card against the size of the expert-parallel group.

    Args:
        panels: a title, and rows by growing size, of each.
        lang: 0 for English, 1 for Chinese.
    """
    drawing, cells = error_figures.panels(len(panels), 3.3)
    for axes, (title, chosen) in zip(cells, panels, strict=True):
        _lines(axes, range(len(chosen)), chosen, lang)
        axes.set(xticks=range(len(chosen)), xlim=(-0.5, len(chosen) - 0.5), title=title[lang],
                 xticklabels=[f"EP{pair.cards:.0f}" for pair in chosen])
    cells[0].set_ylabel(say("token-s-per-card")[lang])
    cells[0].legend(loc="lower left", fontsize=8)
    return drawing


def by_batch(chosen: Sequence[BlindRow], lang: int) -> Figure:
    """Decode throughput per card against the requests per card."""
    drawing, axes = figures.axes(height=3.4)
    ordered = sorted(chosen, key=lambda pair: pair.requests)
    _lines(axes, [pair.requests for pair in ordered], ordered, lang)
    axes.set(xlabel=common("requests-per-card")[lang],
             ylabel=say("token-s-per-card")[lang], xlim=(0, None))
    axes.legend(loc="upper left", fontsize=8)
    return drawing
