"""What the page on errors is made of: the bars, and errors by group of rows.

It takes results as data and knows nothing of how they came about; numbers are in SI units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

import catalogue
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

Text = tuple[str, str]
UNCALIBRATED = "uncalibrated"
BLIND = "wide-"  # deployments that were first predicted blind, by the start of their identifiers
APART = "-v32-"  # deployments of DeepSeek-V3.2, by a part of their identifiers
PROTOCOLS: dict[str, Text] = {
    UNCALIBRATED: ("nothing is fitted", "不作拟合"),
    "halves": ("random halves", "随机对半"),
    "low-concurrency": ("fitted at ≤ 4, predicts ≥ 6 requests", "用 ≤ 4 并发拟合，预测 ≥ 6 并发"),
    "short-inputs": ("fitted at ≤ 1,024, predicts longer", "用 ≤ 1,024 token 拟合，预测更长"),
    "single-request": ("random halves, single requests of those predicted",
                       "随机对半，只看被预测的单请求行"),
    "leave-one-out": ("each row from all others", "逐行留一"),
    "leave-one-length-out": ("each length from all others", "逐输入长度留一"),
}
METRICS: dict[str, Text] = {
    "tpot": ("TPOT", "TPOT"), "ttft": ("TTFT", "TTFT"), "e2e": ("latency", "端到端延迟"),
    "output_throughput": ("output throughput", "输出吞吐"),
    "prefill_throughput": ("prefill throughput", "预填充吞吐")}
TERMS: dict[str, Text] = {
    "": ("all terms", "全部项"), "dequantisation": ("dequantisation", "反量化"),
    "single_token_path": ("path for one token", "单 token 路径"), "stall": ("stall", "预填充停顿"),
    "routing_skew": ("routing skew", "路由倾斜"),
    "kernel_boundary": ("kernel boundary", "算子间隔"),
    "host_gap": ("gap between steps", "步间空隙")}


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
    def seeds(self) -> tuple[int, ...]: ...  # noqa: D102
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
    what: Text
    most: float
    take: Callable[[Sequence[Result]], float]
    least: float = 0.0
    quoted: float | None = None
    missing: Text = ("", "")
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


def spread(found: Errors) -> float:
    """Standard deviation over the seeds of the mean error of a half [1]; halves are equal."""
    return float(np.abs(found.errors).reshape(len(found.seeds), -1).mean(axis=1).std())


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


def _averaged(metric: str, of: Callable[[Errors], float],
              ) -> Callable[[Sequence[Result]], float]:
    """Mean of a statistic over the protocols of a metric's calibrations, all weighted alike."""
    def take(results: Sequence[Result]) -> float:
        return float(np.mean([of(result.predictions) for result in calibrated(results, metric)]))
    return take


_FIRST: Text = (
    "prompts that come together take longer than one alone; no term of a step does that "
    "([below](#validation-ttft))",
    "同来的提示比单独一条耗时更长，单步中没有哪一项会造成这种现象（[见下文](#validation-ttft)）")
_SAME: Text = ("as for the mean", "与均值相同")
_ALONE: Text = (
    "as for the mean: fitted to rows of several requests as well, single ones come out too slow",
    "与均值相同：拟合时要兼顾多并发的行，单请求便偏慢")
_UNEVEN: Text = (
    "single requests fit worst, and a fit has one noise for all rows",
    "单请求行偏离最大，而一次拟合的噪声对所有行是同一个数")
_LEFT: Text = (
    "the mechanism missing in first tokens leaves residuals, and the intervals must hold them",
    "首 token 所缺的机制留下残差，区间要把它们包住")
_APART: Text = (
    "systems differ by more than their inputs' ranges explain, and an interval "
    "made from other systems must hold that ([below](#validation-coverage))",
    "系统之间的差别大于输入区间所能解释的，而区间由其他系统得出，必须把这一差别包住（[见下文](#validation-coverage)）")
_FEW: Text = (
    "half of the rows belong to two systems; their classes have few others, so the wide interval "
    "holds all of them ([below](#validation-coverage))",
    "半数的行属于两个系统，而同类的其他系统很少、区间很宽，这些行全在其内（[见下文](#validation-coverage)）")
_OUTLIER: Text = (
    "one row of its six lengths is an outlier; without it the bar is met, in the next line",
    "六个长度中有一行离群；去掉后即达标，见下一行")
_AWQ, _OTHER, _HYBRID = "s2-910b1-awq", "s2-other-engine", "s3-hybrid-910b4"

BARS: tuple[Bar, ...] = (
    Bar("halves", ("8×910B1, TPOT: halves, mean", "8×910B1，TPOT：对半，均值"), 0.03,
        one(_AWQ, "tpot", "halves", mean), quoted=0.066),
    Bar("more-requests", ("8×910B1, TPOT: ≤ 4 to ≥ 6 requests, mean",
                          "8×910B1，TPOT：≤ 4 并发外推至 ≥ 6，均值"), 0.06,
        one(_AWQ, "tpot", "low-concurrency", mean), quoted=0.165),
    Bar("more-requests-worst", ("8×910B1, TPOT: ≤ 4 to ≥ 6 requests, worst row",
                                "8×910B1，TPOT：≤ 4 并发外推至 ≥ 6，最差行"), 0.15,
        one(_AWQ, "tpot", "low-concurrency", worst), quoted=0.40),
    Bar("longer", ("8×910B1, TPOT: ≤ 1,024 tokens to longer, mean",
                   "8×910B1，TPOT：≤ 1,024 token 外推至更长，均值"), 0.04,
        one(_AWQ, "tpot", "short-inputs", mean), quoted=0.056),
    Bar("longer-worst", ("8×910B1, TPOT: ≤ 1,024 tokens to longer, worst row",
                         "8×910B1，TPOT：≤ 1,024 token 外推至更长，最差行"), 0.10,
        one(_AWQ, "tpot", "short-inputs", worst)),
    Bar("first-token", ("8×910B1, TTFT: halves, mean", "8×910B1，TTFT：对半，均值"), 0.14,
        one(_AWQ, "ttft", "halves", mean), quoted=0.16, missing=_FIRST),
    Bar("first-token-median", ("8×910B1, TTFT: halves, median",
                               "8×910B1，TTFT：对半，中位数"), 0.09,
        one(_AWQ, "ttft", "halves", median), missing=_SAME),
    Bar("single-request", ("8×910B1, TTFT: halves, single requests, mean",
                           "8×910B1，TTFT：对半，单请求，均值"), 0.10,
        one(_AWQ, "ttft", "single-request", mean), quoted=0.13, missing=_ALONE),
    Bar("other-engine", ("other engine, TPOT: each row from the others, mean",
                         "另一引擎，TPOT：逐行留一，均值"), 0.018,
        one(_OTHER, "tpot", "leave-one-out", mean), quoted=0.018),
    Bar("hybrid", ("2×910B4 with experts on the host, TPOT: each length from the others, mean",
                   "2×910B4 + 主机专家，TPOT：逐长度留一，均值"), 0.048,
        one(_HYBRID, "tpot", "leave-one-length-out", mean), missing=_OUTLIER),
    Bar("hybrid-sound", ("2×910B4 with experts on the host, without the outlier, mean",
                         "2×910B4 + 主机专家，去掉离群行，均值"), 0.037,
        one(_HYBRID, "tpot", "leave-one-length-out", mean, left_out=True)),
    Bar("nothing-fitted", ("all systems, TPOT and throughput, nothing fitted: median of medians",
                           "全部系统，TPOT 与吞吐，不作拟合：各系统中位数的中位数"), 0.22,
        _medians, quoted=0.77),
    Bar("coverage", ("80% intervals, nothing fitted: rows inside",
                     "80% 区间，不作拟合：落入的行"), 0.90, _all_covered, least=0.70,
        missing=_FEW),
    Bar("width", ("80% intervals, nothing fitted: median of high/low",
                 "80% 区间，不作拟合：上下限之比的中位数"), 2.0,
        _all_widths, missing=_APART, share=False),
    Bar("coverage-tpot", ("80% intervals, calibrated TPOT: rows inside",
                          "80% 区间，标定后的 TPOT：落入的行"), 0.90, _averaged("tpot", covered),
        least=0.70),
    Bar("width-tpot", ("80% intervals, calibrated TPOT: median of high/low",
                      "80% 区间，标定后的 TPOT：上下限之比的中位数"), 1.3,
        _averaged("tpot", width), share=False),
    Bar("coverage-ttft", ("80% intervals, calibrated TTFT: rows inside",
                          "80% 区间，标定后的 TTFT：落入的行"), 0.90, _averaged("ttft", covered),
        least=0.70, missing=_UNEVEN),
    Bar("width-ttft", ("80% intervals, calibrated TTFT: median of high/low",
                      "80% 区间，标定后的 TTFT：上下限之比的中位数"), 1.3,
        _averaged("ttft", width), missing=_LEFT, share=False),
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
            "quoted": bar.shown(bar.quoted), "met": ("yes", "是") if met else ("**no**", "**否**"),
            "missing": ("", "") if met else bar.missing})
    return rows


BAR_COLUMNS: dict[str, str | Text] = {
    "what": ("system and protocol", "系统与协议"), "bar": ("bar", "目标"),
    "reached": ("reached", "达到"), "met": ("met", "达标"),
    "plain": ("plain roofline", "普通屋顶线"),
    "quoted": ("roofline, as the bar was set", "设目标时所引屋顶线"),
    "missing": ("what is missing", "缺什么")}


def title(system: str) -> Text:
    """The title of a measured deployment, without the word that says so of all of them."""
    named = catalogue.load_scenario(system).file.title
    return named["en"].removesuffix(", measured"), named["zh"].removesuffix("（实测）")


def row_name(rows: Mapping[str, np.ndarray], index: int) -> Text:
    """A row by its prompt length and its requests."""
    length, requests = (int(rows[name][index]) for name in ("input_tokens", "concurrency"))
    many = "s" if requests > 1 else ""
    return (f"{length:,} tokens, {requests:,} request{many}",
            f"{length:,} token、{requests:,} 并发")


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


GROUP_COLUMNS: dict[str, str | Text] = {
    "rows": ("rows", "行数"), "mean": ("mean error", "平均误差"), "median": ("median", "中位数"),
    "bias": ("with sign", "带符号"), "worst": ("worst", "最差"), "which": ("which row", "哪一行")}


def signed(value: float, digits: int = 1) -> str:
    """A relative error with its sign: ``+3.2%``; none for what is printed as zero."""
    text = fmt_percent(value, digits).lstrip("−")
    return text if not float(text.rstrip("%").replace(",", "")) else "−+"[value > 0] + text


def in_unit(value: float, unit: str) -> str:
    """A mechanism's value (SI) in the unit that readers use for it."""
    if unit != "s" or not value:
        return f"{fmt_sig(value)} {unit}" if unit != "1" else fmt_sig(value)
    return f"{fmt_sig(value * 1e6)} µs" if abs(value) < 1e-4 else f"{fmt_sig(value * 1e3)} ms"


def mechanism(name: str) -> tuple[Text, str]:
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
