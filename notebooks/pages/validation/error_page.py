"""The tables of the page on errors, a call each.

Like ``error_tables`` it takes results as data and knows nothing of how they came about: systems by
identifier, calibrations and what was predicted are handed in. Numbers are in SI units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date as Day
from typing import Any

import numpy as np

from catalogue import shipped
from catalogue.engine import engine_names, load_releases
from catalogue.messages import Pair, messages
from notebooks.pages.catalogue.tables.deployments import page_of
from notebooks.pages.validation import error_tables
from notebooks.pages.validation.error_tables import Errors, Result
from notebooks.show.display import folded, markdown, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity

common = messages("common")
say = messages("pages/validation/error-page")

Rows = Mapping[str, np.ndarray]
Systems = Mapping[str, Any]
Ends = tuple[float, float, float]
INSIDE: dict[bool, Pair] = {True: common("yes-plain"), False: common("no-bold")}
SYSTEM: dict[str, Pair] = {
    "system": common("deployment"), "metric": common("metric"), "rows": common("rows"),
    "ratio": say("predicted-measured-median"),
    "median": common("median-error"), "worst": common("worst"),
    "which": common("which-row"), "covered": say("in-interval"),
    "width": say("high-low"), "plain": say("roofline-measured")}
COVERAGE: dict[str, Pair] = {
    "rows": say("predictions"), "covered": say("in-interval"),
    "width": say("high-low-median"), "score": say("interval-score")}
OWN: dict[str, Pair] = {
    "down": say("own-error-below"), "up": say("above"), "within": say("of-row")}
PEER_METRICS = {"prefill_rate": say("prefill-rate")} | error_tables.METRICS
PEER_UNITS = {"tpot": "s", "output_throughput": "token/s", "prefill_rate": "token/s"}


def link(name: str) -> Pair:
    """A deployment's title as a link to its page, of a variant to that of its family."""
    page = page_of(name)
    en, zh = error_tables.title(name)
    return f"[{en}](scenarios/{page}.ipynb)", f"[{zh}](scenarios/{page}.ipynb)"


def doubts(systems: Systems) -> None:
    """The rows that contradict others or themselves, and why."""
    numbers: dict[tuple[str, str, str], list[int]] = {}
    for name, system in systems.items():
        for row, reason in sorted(system.suspect.items()):
            numbers.setdefault((name, reason["en"], reason["zh"]), []).append(row + 1)
    table([{"system": link(name), "rows": ", ".join(map(str, rows)), "why": (english, chinese)}
           for (name, english, chinese), rows in numbers.items()],
          {"system": common("deployment"), "rows": say("row-numbers"),
           "why": say("why-they-are-suspect")},
          folded=say("rows-that-contradict"))


def by_requests_and_length(errors: Errors, rows: Rows) -> None:
    """Errors by number of requests, and by length of the prompt."""
    with folded(*say("errors-by-requests-and-length")):
        for axis, heading in (("concurrency", common("requests")),
                              ("input_tokens", common("input-tokens"))):
            table(error_tables.by_group(errors, rows, axis),
                  {"group": heading} | error_tables.GROUP_COLUMNS)


def fitted(calibration: Any, ends: Iterable[Ends]) -> None:
    """What was fitted, its remaining range, and the range that it was expected in.

    Args:
        calibration: what was fitted to which mechanisms.
        ends: low end, value and high end of each mechanism (SI).
    """
    rows = []
    for knob, (low, value, high) in zip(calibration.knobs, ends, strict=True):
        name, unit = error_tables.mechanism(knob.name)
        prior = knob.value
        least, central, most, shown, start, end = (
            error_tables.in_unit(number, unit)
            for number in (low, prior.value, high, value, prior.low, prior.high))
        rows.append({"what": name, "value": f"{shown} ({least}–{most})", "prior": central,
                     "range": f"{start}–{end}", "inside": INSIDE[prior.low <= value <= prior.high]})
    table(rows, {"what": common("mechanism"), "value": say("fitted-value"),
                 "prior": say("before"), "range": common("range"), "inside": say("inside")})


def fitted_by_band(bands: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    """What is fitted to the rows of each band of lengths alone."""
    first = next(iter(bands.values()))
    headings = {knob.name: error_tables.mechanism(knob.name) for knob in first.knobs}
    table([{"band": label, "rows": sizes[label],
            **{name: error_tables.in_unit(value, headings[name][1])
               for name, value in band.values.items()}, "inside": INSIDE[band.inside]}
           for label, band in bands.items()],
          {"band": common("input-tokens"), "rows": common("rows")}
          | {name: heading for name, (heading, _) in headings.items()}
          | {"inside": say("all-inside")}, wide=True, folded=say("fitted-to-each-band"))


def first_token(results: Sequence[Result], plain: Sequence[Result], system: str, rows: Rows
                ) -> None:
    """Errors of the first token beside those of a roofline, with and without suspect rows."""
    statistics = {"mean": error_tables.mean, "median": error_tables.median,
                  "worst": error_tables.worst}

    def row(left_out: bool, protocol: str) -> dict[str, Any]:
        ours, theirs = (error_tables.find(of, system, "ttft", protocol, left_out).predictions
                        for of in (results, plain))
        return {"rows": say("without-suspect-rows") if left_out else common("all"),
                "protocol": error_tables.PROTOCOLS[protocol],
                "which": error_tables.row_name(rows, ours.worst_row),
                **{f"{name}_{whose}": fmt_percent(statistic(errors))
                   for name, statistic in statistics.items()
                   for whose, errors in (("ours", ours), ("plain", theirs))}}

    table([row(left_out, protocol) for left_out in (False, True)
           for protocol in ("halves", "single-request")],
          {"rows": say("which-rows"), "protocol": say("protocol"), "mean_ours": common("mean"),
           "mean_plain": common("roofline"), "median_ours": common("median"),
           "median_plain": common("roofline"), "worst_ours": common("worst"),
           "worst_plain": common("roofline"), "which": say("our-worst-row")},
          wide=True)


def shares_of_the_core(times: Mapping[int, float],
                       shares: Mapping[int, tuple[float | None, float | None]]) -> None:
    """Share of the peak that the core would need, with either constant, by length of the prompt."""
    def shown(share: float | None) -> str | Pair:
        return say("no-time-is-left") if share is None else f"{share:.2f}"

    table([{"length": fmt_int(length), "ttft": fmt_fixed(times[length], 3),
            "generous": shown(generous), "usual": shown(usual)}
           for length, (generous, usual) in shares.items()],
          {"length": common("input-tokens"), "ttft": say("ttft-s"),
           "generous": say("core-over-peak-at-least"), "usual": say("with-fitted-constant")})


def second_prompts(times: Mapping[int, float], ratios: Mapping[int, tuple[float, float]]) -> None:
    """A second prompt over the first, measured and predicted, by length."""
    table([{"length": fmt_int(length), "one": fmt_fixed(times[length], 3),
            "ratio": fmt_fixed(measured), "predicted": fmt_fixed(predicted)}
           for length, (measured, predicted) in ratios.items()],
          {"length": common("input-tokens"), "one": say("ttft-of-one-request-s"),
           "ratio": say("second-prompt-over-first"), "predicted": common("predicted")})


def nothing_fitted(results: Sequence[Result], plain: Sequence[Result], systems: Systems,
                   apart: bool) -> None:
    """One row per system and metric: errors, coverage, and the roofline's median ratio."""
    def row(result: Result) -> dict[str, Any]:
        errors = result.predictions
        below = error_tables.find(plain, result.system, result.metric, result.protocol).predictions
        count, farthest = len(errors.row), np.abs(errors.errors).argmax()
        return {"system": link(result.system), "metric": error_tables.METRICS[result.metric],
                "rows": count, "ratio": fmt_fixed(median_ratio(errors)),
                "median": fmt_percent(error_tables.median(errors), digits=0),
                "worst": error_tables.signed(float(errors.errors[farthest]), 0),
                "which": error_tables.row_name(systems[result.system].rows, errors.worst_row),
                "covered": f"{round(error_tables.covered(errors) * count)}/{count}",
                "width": fmt_fixed(error_tables.width(errors)),
                "plain": fmt_fixed(median_ratio(below))}

    table(map(row, error_tables.uncalibrated(results, apart=apart)), SYSTEM, sortable=True,
          wide=True, folded=say("later-model-system-by-system")
          if apart else say("system-by-system"))


def median_ratio(errors: Any) -> float:
    """Median over rows of predicted over measured [1]."""
    return float(np.median(errors.predicted / errors.measured))


@dataclass(frozen=True)
class Peer:
    """A prediction of another tool beside ours and the measurement, of one row (SI)."""

    system: str
    metric: str
    measured: float
    theirs: float
    ours: float


def peers(compared: Iterable[Peer], tool: str) -> None:
    """The errors of another tool beside ours, row by row."""
    table([{"system": link(peer.system), "metric": PEER_METRICS[peer.metric],
            "seen": fmt_quantity(peer.measured, PEER_UNITS[peer.metric]),
            "theirs": error_tables.signed(peer.theirs / peer.measured - 1),
            "ours": error_tables.signed(peer.ours / peer.measured - 1)} for peer in compared],
          {"system": common("deployment"), "metric": common("metric"),
           "seen": common("measured"), "theirs": tool, "ours": say("ours")},
          folded=say("number-by-number"))


def by_class(results: Sequence[Result], own: Any
             ) -> dict[tuple[str, str], list[tuple[Result, np.ndarray]]]:
    """Results without a fit by class of an own error, whatever the engine, and metric: each with
    which of its rows are of the class.

    Args:
        results: of all systems and protocols.
        own: the formulas' own error, an entry of ``params/discrepancies``.
    """
    found = {}
    for name in _of_makers(own):
        for metric in own.classes[name]:
            rows = [(result, np.array([f"{of}/".startswith(f"{name}/") for of in result.of]))
                    for result in error_tables.uncalibrated(results, metric, apart=None)]
            found[name, metric] = [each for each in rows if each[1].any()]
    return found


def _of_makers(own: Any) -> list[str]:
    """Classes of an own error that know load, kind and maker, and no engine."""
    return [name for name in own.classes if name.count("/") == 2]


def interval_coverage(own: Any, named: Callable[[str], Pair]) -> None:
    """How many rows lay in their intervals, where nothing was fitted, by class.

    Args:
        own: as for ``by_class``.
        named: a class in both languages.
    """
    metrics = ("tpot", "output_throughput", "ttft")

    def cell(of: Mapping[str, Any], metric: str) -> Pair:
        if metric not in of:
            return "–", "–"
        found = of[metric]
        return (f"{found.inside} of {found.rows}", f"{found.inside} / {found.rows}")

    table([{"of": named(name),
            "systems": max(found.systems for found in own.classes[name].values()),
            **{metric: cell(own.classes[name], metric) for metric in metrics}}
           for name in _of_makers(own)],
          {"of": say("rows-inside-their-interval"), "systems": say("systems")}
          | {metric: error_tables.METRICS[metric] for metric in metrics})


def coverage(results: Sequence[Result], own: Any, named: Callable[[str], Pair],
             score: Callable[..., float]) -> None:
    """Whether intervals hold what they should, where nothing and where something was fitted.

    Args:
        results: of all systems and protocols.
        own: the formulas' own error, an entry of ``params/discrepancies``.
        named: a class in both languages.
        score: interval score of low ends, high ends and measured values.
    """
    def row(chosen: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
        low, high, measured = (
            np.concatenate([getattr(result.predictions, name)[of] for result, of in chosen])
            for name in ("low", "high", "measured"))
        covered = float(((low <= measured) & (measured <= high)).mean())
        return {"rows": len(measured), "covered": fmt_percent(covered, digits=0),
                "width": fmt_fixed(float(np.median(high / low))),
                "score": fmt_fixed(score(low, high, measured))}

    table([{"of": named(name), "what": error_tables.METRICS[metric], "systems": len(chosen),
            **{side: fmt_fixed(getattr(own.classes[name][metric], side)) for side in OWN},
            **row(chosen)}
           for (name, metric), chosen in by_class(results, own).items()],
          {"of": say("nothing-fitted"), "what": common("metric"),
           "systems": say("systems")} | COVERAGE | OWN, wide=True,
          folded=say("nothing-fitted-by-class"))
    fits: list[Any] = [result for result in results
                       if result.protocol != error_tables.UNCALIBRATED]
    table([{"what": _of_which(result), "protocol": error_tables.PROTOCOLS[result.protocol],
            "inside": fmt_percent(result.inside, digits=0), **row([(result, slice(None))])}
           for result in fits],
          {"what": say("calibrated"), "protocol": say("protocol")} | COVERAGE
          | {"inside": say("fits-inside-their-ranges")}, wide=True,
          folded=say("calibrated-by-protocol"))


def _of_which(result: Any) -> Pair:
    """System and metric of a fit, and whether suspect rows were left out."""
    return say("which-fit", system=error_tables.title(result.system),
               metric=error_tables.METRICS[result.metric], left_out=bool(result.left_out))


def ages() -> None:
    """How much of the catalogue was older than a year on the day of its newest release."""
    found = shipped.statements()
    dates = sorted(max(release.date for release in load_releases(name)) for name in engine_names())
    old = shipped.old(found, shipped.YEAR, Day.fromisoformat(dates[-1]))
    markdown(*say("ages", date=dates[-1], old=fmt_int(len(old)),
              values=fmt_int(len(found)), engines=fmt_int(len(dates)), first=dates[0]))
