"""What the page on errors is made of: the bars, and errors by group of rows.

It takes results as data and knows nothing of how they came about; numbers are in SI units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

import catalogue
from catalogue.messages import LANGUAGES, Pair, messages
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/validation/error-tables")

UNCALIBRATED = "uncalibrated"
BLIND = "wide-"  # deployments that were first predicted blind, by the start of their identifiers
APART = "-v32-"  # deployments of DeepSeek-V3.2, by a part of their identifiers
PROTOCOLS: dict[str, Pair] = {
    UNCALIBRATED: say("nothing-is-fitted"), "halves": say("random-halves"),
    "low-concurrency": say("fitted-at-few-requests"),
    "short-inputs": say("fitted-at-short-inputs"),
    "single-request": say("random-halves-single-requests"),
    "leave-one-out": say("each-row-from-all-others"),
    "leave-one-length-out": say("each-length-from-all-others")}
METRICS: dict[str, Pair] = {
    "tpot": ("TPOT", "TPOT"), "ttft": ("TTFT", "TTFT"), "e2e": common("end-to-end-latency"),
    "output_throughput": common("output-throughput"),
    "prefill_throughput": say("prefill-throughput")}


class Errors(Protocol):
    """Predicted beside measured; arrays of one length."""

    @property
    def row(self) -> np.ndarray: ...  # noqa: D102
    @property
    def measured(self) -> np.ndarray: ...  # noqa: D102
    @property
    def predicted(self) -> np.ndarray: ...  # noqa: D102
    @property
    def low(self) -> np.ndarray: ...  # noqa: D102
    @property
    def high(self) -> np.ndarray: ...  # noqa: D102
    @property
    def errors(self) -> np.ndarray: ...  # noqa: D102
    @property
    def calibrations(self) -> tuple[Any, ...]: ...  # noqa: D102
    @property
    def worst_row(self) -> int: ...  # noqa: D102


class Result(Protocol):
    """Errors of one system and metric under one protocol."""

    @property
    def system(self) -> str: ...  # noqa: D102
    @property
    def metric(self) -> str: ...  # noqa: D102
    @property
    def protocol(self) -> str: ...  # noqa: D102
    @property
    def left_out(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def predictions(self) -> Errors: ...  # noqa: D102
    @property
    def of(self) -> tuple[str, ...]: ...  # noqa: D102


Found = TypeVar("Found", bound=Result)


@dataclass(frozen=True)
class Bar:
    """What was to be reached.

    Attributes:
        id: of the bar.
        what: in words.
        most: the largest value that meets it [1].
        least: the smallest, where too small is wrong too [1].
        take: statistic of the results that it is about.
        quoted: what a plain roofline reached where the bar was set [1].
        missing: the mechanism that is missing where it is not met, and the evidence.
        share: whether it is a share, printed in percent.
    """

    id: str
    what: Pair
    most: float
    take: Callable[[Sequence[Result]], float]
    least: float = 0.0
    quoted: float | None = None
    missing: Pair = ("", "")
    share: bool = True

    def shown(self, value: float | None) -> str:
        """A value as the table prints it, to the digit that is compared."""
        if value is None:
            return "–"
        return fmt_percent(value) if self.share else fmt_fixed(value)

    def met(self, value: float) -> bool:
        """Whether a value meets the bar, compared to the digit that is printed."""
        return self.least <= round(value, 3 if self.share else 2) <= self.most


def mean(found: Errors) -> float:
    """Mean size of the relative errors [1]."""
    return float(np.abs(found.errors).mean())


def median(found: Errors) -> float:
    """Median size of the relative errors [1]."""
    return float(np.median(np.abs(found.errors)))


def worst(found: Errors) -> float:
    """Largest relative error [1]."""
    return float(np.abs(found.errors).max())


def covered(found: Errors) -> float:
    """Share of rows inside their 80% intervals [1]."""
    return float(((found.low <= found.measured) & (found.measured <= found.high)).mean())


def width(found: Errors) -> float:
    """Median of the high end of an interval over the low end [1]."""
    return float(np.median(found.high / found.low))


def split_half_std(found: Errors) -> float:
    """Standard deviation over the seeds of the mean error of a half [1]; halves are equal."""
    return float(np.abs(found.errors).reshape(len(found.calibrations), -1).mean(axis=1).std())


def find(results: Iterable[Found], system: str, metric: str, protocol: str,
         left_out: bool = False) -> Found:
    """The one result of a system, metric and protocol, of all rows or without some.

    Raises LookupError if there is none.
    """
    for result in results:
        if ((result.system, result.metric, result.protocol) == (system, metric, protocol)
                and bool(result.left_out) == left_out):
            return result
    raise LookupError(f"nothing of {system}, {metric}, {protocol} is validated")


def one(system: str, metric: str, protocol: str, of: Callable[[Errors], float],
        left_out: bool = False) -> Callable[[Sequence[Result]], float]:
    """A statistic of the one result that a bar is about."""
    return lambda results: of(find(results, system, metric, protocol, left_out).predictions)


def uncalibrated(results: Iterable[Result], *metrics: str, apart: bool | None = False,
                 ) -> list[Result]:
    """Results without a fit, of some metrics or all; without DeepSeek-V3.2, of it alone, or both.

    Deployments that were first predicted blind are not among them.
    """
    return [result for result in results
            if result.protocol == UNCALIBRATED and apart in (None, APART in result.system)
            and not result.system.startswith(BLIND)
            and (not metrics or result.metric in metrics)]


def calibrated(results: Iterable[Result], metric: str) -> list[Result]:
    """Results with a fit, of one metric."""
    return [result for result in results
            if result.protocol != UNCALIBRATED and result.metric == metric]


def _medians(results: Sequence[Result]) -> float:
    """Median over systems and metrics of the median error of their rows [1]."""
    return float(np.median([median(result.predictions) for result in uncalibrated(
        results, "tpot", "output_throughput")]))


def _all_covered(results: Sequence[Result]) -> float:
    """Share of all uncalibrated rows inside their intervals [1]."""
    predictions = [result.predictions for result in uncalibrated(results, apart=None)]
    return float(np.average([covered(errors) for errors in predictions],
                            weights=[len(errors.row) for errors in predictions]))


def _all_widths(results: Sequence[Result]) -> float:
    """Median of high over low over all uncalibrated rows [1]."""
    return float(np.median(np.concatenate([
        result.predictions.high / result.predictions.low
        for result in uncalibrated(results, apart=None)])))


def _averaged(metric: str, of: Callable[[Errors], float],) -> Callable[[Sequence[Result]], float]:
    """Mean of a statistic over the protocols of a metric's calibrations, all weighted alike."""
    def take(results: Sequence[Result]) -> float:
        return float(np.mean([of(result.predictions) for result in calibrated(results, metric)]))
    return take


_AWQ, _OTHER, _HYBRID = "s2-910b1-awq", "s2-other-engine", "s3-hybrid-910b4"

BARS: tuple[Bar, ...] = (
    Bar("halves", say("awq-tpot-halves-mean"), 0.03,
        one(_AWQ, "tpot", "halves", mean), quoted=0.066),
    Bar("more-requests", say("awq-tpot-to-more-requests-mean"), 0.06,
        one(_AWQ, "tpot", "low-concurrency", mean), quoted=0.165),
    Bar("more-requests-worst", say("awq-tpot-to-more-requests-worst"), 0.15,
        one(_AWQ, "tpot", "low-concurrency", worst), quoted=0.40),
    Bar("longer", say("awq-tpot-to-longer-mean"), 0.04,
        one(_AWQ, "tpot", "short-inputs", mean), quoted=0.056),
    Bar("longer-worst", say("awq-tpot-to-longer-worst"), 0.10,
        one(_AWQ, "tpot", "short-inputs", worst)),
    Bar("first-token", say("awq-ttft-halves-mean"), 0.14,
        one(_AWQ, "ttft", "halves", mean), quoted=0.16,
        missing=say("misses-prompts-that-come-together")),
    Bar("first-token-median", say("awq-ttft-halves-median"), 0.09,
        one(_AWQ, "ttft", "halves", median), missing=say("misses-as-for-mean")),
    Bar("single-request", say("awq-ttft-single-requests-mean"), 0.10,
        one(_AWQ, "ttft", "single-request", mean), quoted=0.13,
        missing=say("misses-as-for-mean-of-single-requests")),
    Bar("other-engine", say("other-engine-tpot-mean"), 0.018,
        one(_OTHER, "tpot", "leave-one-out", mean), quoted=0.018),
    Bar("hybrid", say("hybrid-tpot-mean"), 0.048,
        one(_HYBRID, "tpot", "leave-one-length-out", mean), missing=say("misses-one-outlier")),
    Bar("hybrid-sound", say("hybrid-tpot-without-outlier-mean"), 0.037,
        one(_HYBRID, "tpot", "leave-one-length-out", mean, left_out=True)),
    Bar("nothing-fitted", say("all-systems-median-of-medians"), 0.22, _medians, quoted=0.77),
    Bar("coverage", say("nothing-fitted-rows-inside"), 0.90, _all_covered, least=0.70,
        missing=say("misses-few-others")),
    Bar("width", say("nothing-fitted-width"), 2.0, _all_widths,
        missing=say("misses-systems-apart"), share=False),
    Bar("coverage-tpot", say("calibrated-tpot-rows-inside"), 0.90,
        _averaged("tpot", covered), least=0.70),
    Bar("width-tpot", say("calibrated-tpot-width"), 1.3,
        _averaged("tpot", width), share=False),
    Bar("coverage-ttft", say("calibrated-ttft-rows-inside"), 0.90,
        _averaged("ttft", covered), least=0.70, missing=say("misses-uneven-noise")),
    Bar("width-ttft", say("calibrated-ttft-width"), 1.3,
        _averaged("ttft", width), missing=say("misses-residuals-of-first-tokens"), share=False),
)


def bar_rows(results: Sequence[Result], rooflines: Sequence[Result]) -> list[dict[str, Any]]:
    """The table of the bars: reached, what a roofline reaches under the same protocol, met or not.

    Args:
        results: every prediction.
        rooflines: the same, predicted by a plain roofline, without intervals.
    """
    rows = []
    for bar in BARS:
        value = bar.take(results)
        met = bar.met(value)
        plain = None if bar.id.startswith(("coverage", "width")) else bar.take(rooflines)
        most = bar.shown(bar.most)
        rows.append({
            "what": bar.what, "bar": f"{bar.shown(bar.least)}–{most}" if bar.least else f"≤ {most}",
            "reached": bar.shown(value), "plain": bar.shown(plain),
            "quoted": bar.shown(bar.quoted),
            "met": common("yes-plain") if met else common("no-bold"),
            "missing": ("", "") if met else bar.missing})
    return rows


BAR_COLUMNS: dict[str, str | Pair] = {
    "what": say("system-and-protocol"), "bar": say("bar"),
    "reached": say("reached"), "met": say("met"), "plain": say("plain-roofline"),
    "quoted": say("roofline-as-bar-was-set"), "missing": say("what-is-missing")}


def title(system: str) -> Pair:
    """The title of a measured deployment, without the word that says so of all of them.

    That of a variant begins with its family's, which names cards, engine and model.
    """
    scenario = catalogue.load_scenario(system)
    en, zh = (scenario.file.title[lang].removesuffix(end)
              for lang, end in zip(LANGUAGES, common("that-it-was-measured"), strict=True))
    if scenario.family is None:
        return en, zh
    family = (scenario.family["en"].partition(":")[0], scenario.family["zh"].partition("：")[0])
    return f"{family[0]}: {en}", f"{family[1]}：{zh}"


def row_name(rows: Mapping[str, np.ndarray], index: int) -> Pair:
    """A row by its prompt length and its requests."""
    length, requests = (int(rows[name][index]) for name in ("input_tokens", "concurrency"))
    return say("row", length=f"{length:,}", requests=f"{requests:,}", count=requests)


def by_group(found: Errors, rows: Mapping[str, np.ndarray], axis: str) -> list[dict[str, Any]]:
    """Errors of the predictions by the value of a column: rows of a table.

    Args:
        found: the predictions.
        rows: measured columns, by name.
        axis: the column.
    """
    column = rows[axis][found.row]
    result = []
    for value in np.unique(column):
        of = column == value
        errors, row = found.errors[of], found.row[of]
        last = int(np.abs(errors).argmax())
        result.append({
            "group": fmt_int(value), "rows": len(set(row.tolist())),
            "mean": fmt_percent(float(np.abs(errors).mean())),
            "median": fmt_percent(float(np.median(np.abs(errors)))),
            "bias": signed(float(errors.mean())), "worst": signed(float(errors[last])),
            "which": row_name(rows, int(row[last]))})
    return result


GROUP_COLUMNS: dict[str, str | Pair] = {
    "rows": common("rows"), "mean": common("mean-error"), "median": common("median"),
    "bias": say("with-sign"), "worst": common("worst"), "which": common("which-row")}


def signed(value: float, digits: int = 1) -> str:
    """A relative error with its sign: ``+3.2%``; none for what is printed as zero."""
    text = fmt_percent(value, digits).lstrip("−")
    return text if not float(text.rstrip("%").replace(",", "")) else "−+"[value > 0] + text


def in_unit(value: float, unit: str) -> str:
    """A mechanism's value (SI) in the unit that readers use for it."""
    if unit != "s" or not value:
        return f"{fmt_sig(value)} {unit}" if unit != "1" else fmt_sig(value)
    return f"{fmt_sig(value * 1e6)} µs" if abs(value) < 1e-4 else f"{fmt_sig(value * 1e3)} ms"


def mechanism(name: str) -> tuple[Pair, str]:
    """Name in both languages, and unit, of what a calibration fits."""
    symbol = catalogue.symbols()[{
        "grouped_gemm_efficiency": "routed_expert_gemm_efficiency",
        "sliced_gemm_efficiency": "sliced_expert_gemm_efficiency"}.get(name, name)]
    return (symbol.en, symbol.zh), symbol.unit


def per_row(found: Errors) -> tuple[np.ndarray, ...]:
    """Each row once, over all splits that held it out: medians of prediction and interval.

    Returns row, measured, predicted, low and high.
    """
    rows = np.unique(found.row)
    chosen = [found.row == row for row in rows]
    return rows, *(np.array([np.median(column[of]) for of in chosen])
                   for column in (found.measured, found.predicted, found.low, found.high))
