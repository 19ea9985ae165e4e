"""Cards in the chapter on compute: their ridge points, what passes them, what is reached of a peak.

Ridge points and gains come from the chapter's formulas, which are handed in. Rates are in bytes or
operations per second, times in seconds unless a heading says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import catalogue
from catalogue.entries.hardware import Device
from catalogue.reading.values import Value
from notebooks.pages.catalogue.tables.hardware import benchmarks
from notebooks.pages.derivations.compute import Steps
from notebooks.show.display import number, show, sourced, table
from notebooks.show.numbers import fmt_fixed, fmt_percent

Text = tuple[str, str]
Ridge = Callable[[Device, str], float]  # of a card and a dtype [FLOP/B]
MULTIPLY_ADD = 2  # operations
TERA, MILLISECONDS = 1e12, 1e3
HEADS = 128  # of DeepSeek-V3
CARDS = ("ascend-910b1", "ascend-910b2", "ascend-910b4", "nvidia-h20", "nvidia-h800")
NARROW = {"bf16": "bf16", "int8": "int8-channel", "fp8": "fp8-block128"}  # format of weights
CARD: Text = ("card", "卡")
CLASS_NAMES: dict[str, Text] = {
    "attention": ("attention projections", "注意力投影"), "core": ("attention core", "注意力核心"),
    "dense_mlp": ("dense networks", "稠密网络"), "shared_expert": ("shared experts", "共享专家"),
    "routed_expert": ("routed experts", "路由专家"), "router": ("router", "路由器"),
    "head": ("output head", "输出头")}
PRECISIONS = {"ascend-910b2": "w8a8-int8", "nvidia-h20": "fp8-block", "nvidia-h800": "fp8-block"}
PHASES: dict[str, Text] = {"decode": ("decode", "解码"), "prefill": ("prefill", "预填充")}
MEASURED = (("ascend-910b2", "bf16"), ("ascend-910b2", "int8"), ("nvidia-h800", "fp8"),
            ("nvidia-h20", "fp8"))
MECHANISMS = {"ascend-910b2": "ascend-910b", "nvidia-h800": "nvidia-h800",
              "nvidia-h20": "nvidia-h20"}


def load_cards() -> dict[str, Device]:
    """The cards of the chapter by name."""
    return {name: catalogue.load_device(name) for name in CARDS}


def bytes_of_a_weight(dtype: str) -> float:
    """Of weights that are multiplied as this dtype, scales included [B]."""
    return float(catalogue.load_format(NARROW[dtype]).bytes_per_element)


def _name(card: Device) -> Text:
    return card.name["en"], card.name["zh"]


def _peak(card: Device, dtype: str) -> float:
    """Dense peak of the matrix unit [FLOP/s]."""
    return float(getattr(card.matrix_peak, dtype).value)


def _bandwidth(card: Device) -> float:
    """Of the memory [B/s]."""
    return float(card.memory_bandwidth.value)


def rows_at_the_ridge(cards: Mapping[str, Device], ridge: Ridge) -> list[list[float]]:
    """The ridge points of what each card multiplies; returns the rows that reach them, by card."""
    rows, at = [], []
    for card in cards.values():
        dtypes = [dtype for dtype in NARROW
                  if card.matrix_peak and getattr(card.matrix_peak, dtype, None)]
        needed = [bytes_of_a_weight(dtype) * ridge(card, dtype) / MULTIPLY_ADD for dtype in dtypes]
        rows += [{"card": _name(card), "dtype": dtype.upper(),
                  "ridge": fmt_fixed(ridge(card, dtype), 0), "rows": fmt_fixed(number_of_rows, 0)}
                 for dtype, number_of_rows in zip(dtypes, needed, strict=True)]
        at.append(needed)
    table(rows, {"card": CARD, "dtype": ("weights and arithmetic", "权重与运算"),
                 "ridge": "$R$ (FLOP/B)", "rows": ("rows at the ridge", "脊点处的行数")})
    for name in ("nvidia-h20", "nvidia-h800", "ascend-910b2"):
        number(f"ridge-{name.partition('-')[2]}", ridge(cards[name], "bf16"), fmt_fixed, digits=0)
    return at


def vector_units(cards: Mapping[str, Device]) -> list[float]:
    """Peaks and ridge points of vector units; returns the ridge points [FLOP/B]."""
    rows, points = [], []
    for card in cards.values():
        if card.vector_peak is None:
            continue
        dtype, peak = next((name, value) for name, value in card.vector_peak if value)
        points.append(peak.value / _bandwidth(card))
        rows.append({"card": _name(card), "dtype": dtype.upper(),
                     "peak": fmt_fixed(peak.value / TERA, 1), "ridge": fmt_fixed(points[-1], 1)})
    table(rows, {"card": CARD, "dtype": ("vector unit, dtype", "向量单元的数据类型"),
                 "peak": ("peak (TFLOPS)", "峰值（TFLOPS）"),
                 "ridge": ("ridge point (FLOP/B)", "脊点（FLOP/B）")})
    return points


def tokens_at(rows: float, per_expert: Callable[[float], float]) -> float:
    """Tokens of a group at which an expert gets so many rows, by bisection.

    Args:
        rows: of an expert.
        per_expert: rows of an expert for so many tokens, increasing.
    """
    low, high = 1.0, 1e6
    for _ in range(100):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if per_expert(middle) < rows else (low, middle)
    return high


def when_decode_is_bound(cards: Mapping[str, Device], ridge: Ridge,
                         per_expert: Callable[[float], float], whole: float, cut: float) -> None:
    """Tokens at which matmuls turn compute-bound, and the core over the ridge point.

    Args:
        cards: by name.
        ridge: ridge point by card and dtype [FLOP/B].
        per_expert: rows of an expert for so many tokens.
        whole, cut: intensity of the core with all heads and with an eighth of them [FLOP/B].
    """
    rows = []
    for card in cards.values():
        point = ridge(card, "bf16")
        needed = bytes_of_a_weight("bf16") * point / MULTIPLY_ADD
        rows.append({"card": _name(card), "ridge": fmt_fixed(point, 0),
                     "dense": fmt_fixed(needed, 0),
                     "moe": fmt_fixed(tokens_at(needed, per_expert), 0),
                     "whole": fmt_fixed(whole / point, 2), "cut": fmt_fixed(cut / point, 2),
                     "heads": fmt_fixed(HEADS * point / whole, 0)})
    table(rows, {
        "card": CARD, "ridge": ("$R$, BF16", "$R$（BF16）"),
        "dense": ("dense: tokens", "稠密：token 数"),
        "moe": ("MoE: tokens that share the experts", "MoE：共用专家的 token 数"),
        "whole": ("core, 128 heads: $I/R$", "核心，128 头：$I/R$"),
        "cut": ("core, 16 heads: $I/R$", "核心，16 头：$I/R$"),
        "heads": ("heads at the ridge", "脊点处的头数")})
    show("DeepSeek-V3 in BF16, uniform routing, nominal rates. Token counts are where arithmetic "
         "takes as long as reading; above $I/R = 1$ the core is compute-bound. Only heads "
         "that are needed are counted, not whole tiles.",
         "DeepSeek-V3，BF16，路由均匀，标称速率。token 数指计算与读取用时相等处；$I/R$ "
         "大于 1 时核心受限于算力；只计所需的头，不计凑满的整块。")


def bounds_by_class(step: Steps, cards: Mapping[str, Device], ridge: Ridge
                    ) -> list[tuple[float, float]]:
    """Intensity of each class over the ridge point, and bounds of a step; returns the bounds [s].

    The lower bound takes the larger of arithmetic and reading, class by class, the upper both.
    """
    over: dict[str, dict[str, str | Text]] = {kind: {"kind": name}
                                              for kind, name in CLASS_NAMES.items()}
    lower: dict[str, str | Text] = {"kind": ("sum of the larger (ms)", "取较大者之和（ms）")}
    upper: dict[str, str | Text] = {"kind": ("sum of both (ms)", "两者之和（ms）")}
    headings: dict[str, Text] = {}
    bounds = []
    for name, precision in PRECISIONS.items():
        tile = catalogue.load("mechanisms", MECHANISMS[name]).core_tile_rows
        values, card = step(precision, core_tile_rows=tile.value), cards[name]
        dtypes = catalogue.load_precision(precision).multiply.dtypes
        for phase in PHASES:
            low = high = values[f"{phase}_vector_bytes"] / _bandwidth(card)
            for kind in over:
                flops, through = values[f"{phase}_{kind}_flops"], values[f"{phase}_{kind}_bytes"]
                point = ridge(card, dtypes[kind])
                over[kind][f"{phase} {name}"] = fmt_fixed(flops / through / point, 2)
                times = flops / _peak(card, dtypes[kind]), through / _bandwidth(card)
                low, high = low + max(times), high + times[0] + times[1]
            lower[f"{phase} {name}"] = fmt_fixed(MILLISECONDS * low, 1)
            upper[f"{phase} {name}"] = fmt_fixed(MILLISECONDS * high, 1)
            bounds.append((low, high))
    for phase, title in PHASES.items():
        for name in PRECISIONS:
            english, chinese = _name(cards[name])
            headings[f"{phase} {name}"] = f"{english}, {title[0]}", f"{chinese}，{title[1]}"
    table([*over.values(), lower, upper], {"kind": ("class", "类别")} | headings, wide=True)
    show("DeepSeek-V3, one of eight tensor-parallel ranks; 32 requests at 4,096 tokens of context, "
         "and a prompt of 4,096 tokens, uniform routing; W8A8 on the 910B2, FP8 on H20 and H800. "
         "Above 1 a class is compute-bound.",
         "DeepSeek-V3，八个张量并行 rank 之一；32 个请求、上下文 4,096 token，"
         "以及一条 4,096 token 的提示，路由均匀；910B2 用 W8A8，"
         "H20 与 H800 用 FP8。大于 1 表示受限于算力。")
    return bounds


@dataclass(frozen=True)
class Gain:
    """What narrow weights gain over 16-bit ones if they are widened through L2 [1]."""

    counted: float  # with the traffic that was counted
    least: float  # with all of it
    most: float  # as if the weights took no space


def gains_of_narrow_weights(cards: Mapping[str, Device], gain: Callable[[Device], Gain],
                            ratio: float, traffic: Value) -> None:
    """Gains of 4-bit weights, card by card.

    Args:
        cards: by name.
        gain: of a card.
        ratio: bytes of a 16-bit weight over those of a narrow one [1].
        traffic: of L2 per weight [B].
    """
    gains = {name: gain(card) for name, card in cards.items() if card.l2_bandwidth is not None}

    def share(name: str) -> float:
        reached = cards[name].hbm_efficiency
        return gains[name].counted / ratio * (reached.value if reached else 1)

    table([{"card": _name(cards[name]), "gain": fmt_fixed(of_card.counted, 2),
            "least": fmt_fixed(of_card.least, 2), "most": fmt_fixed(of_card.most, 2),
            "hoped": fmt_fixed(ratio, 2), "share": fmt_percent(share(name), 0)}
           for name, of_card in gains.items()],
          {"card": CARD, "hoped": ("ratio of bytes", "字节之比"),
           "least": ("gain, $\\zeta = 2 b_{16}$", "加速，$\\zeta = 2 b_{16}$"),
           "gain": (f"gain, $\\zeta$ = {traffic.written}", f"加速，$\\zeta$ = {traffic.written}"),
           "most": ("gain as $b \\to 0$", "$b \\to 0$ 时的加速"),
           "share": ("weights stream at, of the nominal bandwidth", "权重读取速率占标称带宽")})
    sourced([(("$\\zeta$, L2 traffic per weight", "$\\zeta$，每个权重的 L2 读写量"), traffic)],
            folded=("Where $\\zeta$ comes from", "$\\zeta$ 的来源"))
    number("widened-hoped", ratio, fmt_fixed, digits=1)
    number("widened-worst", min(one.counted for one in gains.values()), fmt_fixed, digits=1)
    number("widened-best", max(one.least for one in gains.values()), fmt_fixed, digits=1)
    number("widened-gain", gains["ascend-910b1"].counted, fmt_fixed, digits=2)
    number("widened-kept", gains["ascend-910b1"].least, fmt_fixed, digits=2)


@dataclass(frozen=True)
class Reached:
    """What matmuls of so many rows were measured to reach."""

    card: Device
    dtype: str
    rows: Sequence[int]  # fewest and most
    rate: Value
    roofline: float  # at their geometric mean [FLOP/s]

    @property
    def of_peak(self) -> float:
        """Share of the peak [1]."""
        return self.rate.value / _peak(self.card, self.dtype)

    @property
    def of_roofline(self) -> float:
        """Share of what the roofline allows [1]."""
        return self.rate.value / self.roofline

    def row(self) -> dict[str, Any]:
        """Of the table."""
        (low, high), peak = self.rows, _peak(self.card, self.dtype)
        ends = (fmt_percent((end or 0.0) / peak, 0) for end in (self.rate.low, self.rate.high))
        return {"card": _name(self.card), "dtype": self.dtype.upper(),
                "rows": f"{low:,}" if low == high else f"{low:,}–{high:,}",
                "bound": fmt_percent(self.roofline / peak, 0),
                "reached": fmt_percent(self.of_peak, 0), "range": "–".join(ends),
                "of": fmt_percent(self.of_roofline, 0)}


def _matmuls(card: Device, dtype: str) -> Iterator[Reached]:
    measured = benchmarks(card)
    for entry in measured.rates if measured else ():
        if (entry.kernel == "gemm" and entry.dtype == dtype and entry.rate.unit == "FLOP/s"
                and entry.rows):
            low, high = entry.rows
            roofline = min(_peak(card, dtype), MULTIPLY_ADD * (low * high) ** 0.5
                           * _bandwidth(card) / bytes_of_a_weight(dtype))
            yield Reached(card, dtype, entry.rows, entry.rate, roofline)


def reached_of_the_peak(cards: Mapping[str, Device]) -> dict[tuple[str, str], dict[int, Reached]]:
    """Matmuls as measured, beside peak and roofline; returns them by card and dtype, and rows."""
    reached = {(name, dtype): {entry.rows[0]: entry for entry in _matmuls(cards[name], dtype)}
               for name, dtype in MEASURED}
    table([entry.row() for by_rows in reached.values() for entry in by_rows.values()], {
        "card": CARD, "dtype": ("type", "类型"), "rows": ("rows", "行数"),
        "bound": ("roofline, of the peak", "屋顶线（占峰值）"),
        "reached": ("measured, of the peak", "实测（占峰值）"), "range": ("range", "范围"),
        "of": ("measured of roofline", "实测占屋顶线")})
    show("Medians over the shapes of a class of rows, ranges from the worst to the best shape; the "
         "roofline is taken at the geometric mean of the rows. Weights that stay in the L2 cache "
         "can pass it.",
         "数值为同一行数档内各形状的中位数，范围自最差至最好；屋顶线取行数的几何平均处。"
         "权重留在 L2 缓存中时可以越过屋顶线。")
    sourced(_taken(cards), wide=True,
            folded=("What the book takes from such measurements", "本书据此类实测所取的数值"))
    return reached


def _taken(cards: Mapping[str, Device]) -> list[tuple[Text, Value]]:
    """The mechanisms that rest on such measurements."""
    priors = {name: catalogue.load("mechanisms", prior) for name, prior in MECHANISMS.items()}
    taken = []
    for name, dtype in MEASURED:
        english, chinese = _name(cards[name])
        taken.append(((f"{english}, {dtype.upper()}: share of the peak with many rows",
                       f"{chinese}，{dtype.upper()}：行数足够多时的峰值利用率"),
                      getattr(priors[name].gemm_efficiency, dtype)))
    for name, prior in priors.items():
        english, chinese = _name(cards[name])
        taken.append(((f"{english}: rows multiplied at least, $m_0$",
                       f"{chinese}：最小处理行数 $m_0$"), prior.gemm_tile_rows))
    return taken
