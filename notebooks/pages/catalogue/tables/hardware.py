"""How the catalogue's hardware is shown: labels in both languages, disagreements, rooflines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pydantic import BaseModel

import catalogue
from catalogue.entries.hardware import Device, Microbenchmarks, Rate
from catalogue.reading.values import Value
from notebooks.show import figures
from notebooks.show.display import citation, written
from notebooks.show.numbers import fmt_sig

Text = tuple[str, str]
LABELS: dict[str, Text] = {
    "memory_capacity": ("memory", "显存容量"),
    "memory_bandwidth": ("memory bandwidth", "显存带宽"),
    "system_reserve": ("kept by the card's own system", "系统自留显存"),
    "hbm_efficiency": ("share of bandwidth reached", "带宽利用率"),
    "runtime_reserve": ("runtime, communication, graphs", "运行时、通信与图捕获占用"),
    "matrix_peak": ("matrix peak", "矩阵峰值"),
    "sparse_peak": ("sparse peak", "稀疏峰值"),
    "vector_peak": ("vector peak", "向量峰值"),
    "headline_peak": ("headline peak", "宣传峰值"),
    "host_bandwidth": ("to the host, one direction", "到主机，单方向"),
    "l2_cache": ("L2 cache", "L2 缓存"),
    "l2_bandwidth": ("L2 bandwidth", "L2 带宽"),
    "dies": ("dies", "die 数"),
    "cores": ("cores", "核数"),
    "clock": ("clock", "主频"),
    "power": ("power", "功耗"),
    "price": ("price", "价格"),
    "device_bandwidth": ("per device, one direction", "单卡单方向带宽"),
    "pair_bandwidth": ("per pair, one direction", "单对卡单方向带宽"),
    "links_per_device": ("links per device", "每卡链路数"),
    "latency": ("latency", "时延"),
    "exchange_alpha": ("added to an all-to-all of experts", "专家 all-to-all 另加时延"),
    "devices_per_node": ("devices", "设备数"),
    "fabric_nodes": ("servers in the fabric", "超节点内服务器数"),
    "planes": ("switch planes", "交换平面数"),
    "ports_per_node": ("network ports", "网络端口数"),
    "hosts_per_node": ("host processors", "主机处理器数"),
    "host_memory": ("host memory", "主机内存"),
}
HOST_LABELS: dict[str, Text] = {
    "memory_capacity": ("memory", "内存容量"), "memory_bandwidth": ("memory bandwidth", "内存带宽"),
}
PARTS: dict[str, Text] = {
    "low_latency": ("low latency", "低延迟"), "normal": ("normal", "普通"),
    "idle": ("idle", "空载"), "full": ("full load", "满载"), "cny": ("CNY", "人民币"),
    "usd": ("USD", "美元"), "usd_rent": ("rent, USD", "租金，美元"),
}
KERNELS: dict[str, Text] = {
    "gemm": ("matmul", "矩阵乘"),
    "grouped-gemm": ("grouped matmul (experts)", "分组矩阵乘（专家）"),
    "weight-streaming": ("streaming of weights", "权重流读取"),
    "copy": ("copy, read + write", "拷贝（读写合计）"),
    "host-to-device": ("host to device", "主机到卡"),
    "device-to-host": ("device to host", "卡到主机"),
    "mla-decode": ("MLA, decode", "MLA 解码"),
    "mla-prefill": ("MLA, prefill", "MLA 预填充"),
    "moe-block": ("whole MoE block", "整个 MoE 块"),
    "sliced-moe-block": ("MoE block, experts cut by eight", "MoE 块，专家切 8 份"),
    "kernel-boundary": ("between two kernels", "算子间隔"),
    "graph-kernel-boundary": ("between two kernels of a graph", "图内算子间隔"),
    "host-time-per-operator": ("host, per operator", "主机侧每算子"),
    "host-gap-per-step": ("host, between two steps", "主机侧步间空隙"),
}
VENDORS: dict[str, Text] = {"Huawei": ("Huawei", "华为"), "Intel": ("Intel", "英特尔")}
ROUNDING = 0.005  # 81,559 MiB and 80 GiB are one statement
TERA = 1e12
MARKERS = "osD^vPX"
COLOURS = figures.PALETTE[:-1]  # the last, a grey, is the band of bandwidth
WEIGHT_BYTES = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "fp4": 0.5}


def vendor(device: Device) -> Text:
    """The maker's name in both languages."""
    return VENDORS.get(device.vendor, (device.vendor, device.vendor))


def without_range(text: str) -> str:
    """A value as it is shown, its range left out: ``500 W`` of ``500 W (400–500)``."""
    return re.sub(r" \([^()]*\)$", "", text)


def filled(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a table that at least one of its rows has something in."""
    rows = list(rows)
    return {key: heading for key, heading in columns.items()
            if any(row.get(key) not in ("", "–", None) for row in rows)}


def values_of(entry: BaseModel) -> Iterator[tuple[Text, Value]]:
    """Every sourced value of a device, link or node with its label, in the order of the labels."""
    host = getattr(entry, "type", None) == "host"
    for name, label in LABELS.items():
        item = getattr(entry, name, None)
        if isinstance(item, Value):
            yield HOST_LABELS.get(name, label) if host else label, item
        elif isinstance(item, BaseModel):
            for part in type(item).model_fields:
                value = getattr(item, part)
                if value is not None:
                    english, chinese = PARTS.get(part, (part.upper(), part.upper()))
                    yield (f"{label[0]} ({english})", f"{label[1]}（{chinese}）"), value


@dataclass(frozen=True)
class Disagreement:
    """Another source's figure for a quantity, and its ratio to the one this book uses."""

    label: Text
    used: Value
    other: Value

    @property
    def ratio(self) -> float:
        """The other figure over the one used; 1 where neither can be divided."""
        same = self.other.unit == self.used.unit and self.used.value
        return float(self.other.value / self.used.value) if same else 1.0


def disagreements(entry: BaseModel) -> list[Disagreement]:
    """What other sources print of an entry's quantities, as far as it is more than rounding."""
    items = [Disagreement(label, value, other)
             for label, value in values_of(entry) for other in value.others]
    return [item for item in items if abs(item.ratio - 1) > ROUNDING]


DISPUTED: dict[str, Text] = {
    "what": ("quantity", "量"), "used": ("used here", "本书采用"),
    "other": ("also printed", "另有数值"), "factor": ("factor", "倍数"),
    "why": ("by whom, and what it is", "出处与说明"),
}


def disputed_row(item: Disagreement) -> dict[str, str | Text]:
    """A disagreement as a row of a table whose columns are ``DISPUTED``."""
    return {"what": item.label, "used": without_range(written(item.used)),
            "other": written(item.other), "factor": fmt_sig(item.ratio, 3),
            "why": citation(item.other)}


def ridge(device: Device, dtype: str) -> float | None:
    """FLOP per byte from which a kernel is bound by compute: dense peak over bandwidth."""
    peak = getattr(device.matrix_peak, dtype, None) if device.matrix_peak else None
    return peak.value / device.memory_bandwidth.value if peak else None


def benchmarks(device: Device) -> Microbenchmarks | None:
    """What was measured on the device, or on the relative that its file names."""
    if device.microbenchmarks is None:
        return None
    found: Microbenchmarks = catalogue.load("microbenchmarks", device.microbenchmarks)
    return found


def rows_of(rate: Rate) -> str:
    """The rows of a rate as text: ``64`` or ``65–128``."""
    if rate.rows is None:
        return ""
    low, high = rate.rows
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def levels_of(device: Device) -> dict[float, list[str]]:
    """Dense peak [FLOP/s] -> the dtypes that have it; of a host its vector units count too."""
    units = [device.matrix_peak] + ([device.vector_peak] if device.type == "host" else [])
    levels: dict[float, list[str]] = {}
    for unit in units:
        for name in WEIGHT_BYTES:
            if unit and (peak := getattr(unit, name)):
                levels.setdefault(peak.value, []).append(name.upper())
    return levels


def measured_on(measured: Microbenchmarks | None, device: Device) -> Device:
    """The device that rates are of: the one itself, or the relative that they were measured on."""
    if measured is None or measured.device in (None, device.id):
        return device
    return catalogue.load_device(measured.device)


def matmuls(device: Device, measured: Microbenchmarks | None) -> list[Rate]:
    """Matmuls measured on this very device, of dtypes that its roofline has."""
    if measured is None or measured_on(measured, device) is not device:
        return []
    known = {name for names in levels_of(device).values() for name in names}
    return [rate for rate in measured.rates if rate.kernel == "gemm" and rate.rows
            and rate.rate.unit == "FLOP/s" and rate.dtype and rate.dtype.upper() in known]


def roofline(device: Device, measured: Microbenchmarks | None) -> Callable[[str], Figure]:
    """The roofline of a device with at least one peak, as a drawing per language.

    The slope is the memory bandwidth, below it the share that weights are streamed at; each dtype
    has its dense peak. Points are medians of matmuls measured on this very device, at
    2 x rows / bytes per weight: the intensity if only weights are read.
    """
    levels = sorted(levels_of(device).items())
    rates = matmuls(device, measured)
    bandwidth, top = device.memory_bandwidth.value, levels[-1][0]
    left = 0.5
    right = max([4096.0, 4 * top / bandwidth, *(1.5 * _intensity(rate) for rate in rates)])

    def draw(lang: str) -> Figure:
        zh = lang == "zh"
        picture, axes = figures.axes(height=3.9)
        axes.plot([left, top / bandwidth], [left * bandwidth / TERA, top / TERA],
                  color=figures.INK, label="标称带宽" if zh else "nominal bandwidth")
        lowest = 1.0
        if device.hbm_efficiency is not None:
            share = device.hbm_efficiency
            lowest = share.low
            axes.fill_between([left, top / bandwidth],
                              [left * bandwidth * share.low / TERA, top * share.low / TERA],
                              [left * bandwidth * share.high / TERA, top * share.high / TERA],
                              color=figures.PALETTE[-1], alpha=0.35, lw=0,
                              label="实际可达带宽" if zh else "bandwidth reached")
        for place, (level, names) in enumerate(levels):
            colour = COLOURS[place % len(COLOURS)]
            axes.plot([level / bandwidth, right], [level / TERA] * 2, color=colour)
            _points(axes, rates, names, colour, MARKERS[place % len(MARKERS)])
        if rates:
            axes.plot([], [], "o", ms=4, color=figures.INK,
                      label="矩阵乘：中位数与范围" if zh else "matmuls: median and range")
        low = min([left * bandwidth * lowest, *(rate.rate.low for rate in rates)]) / TERA
        axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(low / 1.5, top / TERA * 1.6),
                 xlabel="计算强度（FLOP/B）" if zh else "arithmetic intensity (FLOP/B)",
                 ylabel="算力（TFLOPS，INT8 为 TOPS）" if zh else "TFLOPS (INT8: TOPS)")
        for axis, ends in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            figures.log_ticks(axis, *ends)
        _name_levels(axes, levels)
        axes.legend(loc="lower right", fontsize=8.5)
        return picture

    return draw


def _name_levels(axes: Axes, levels: list[tuple[float, list[str]]]) -> None:
    """Names and peaks at the right of their lines, moved apart where they would overlap."""
    low, high = axes.get_ylim()
    apart = (high / low) ** 0.05  # a line of letters on these axes
    at = 0.0
    for place, (level, names) in enumerate(levels):
        at = max(level / TERA, at * apart)
        axes.annotate(f"{', '.join(names)}  {level / TERA:,.10g}", (1, at),
                      xycoords=axes.get_yaxis_transform(), xytext=(5, 0),
                      textcoords="offset points", va="center", fontsize=8.5,
                      color=COLOURS[place % len(COLOURS)])


def _intensity(rate: Rate) -> float:
    """Operations per byte of a matmul that reads nothing but its weights."""
    assert rate.rows is not None
    assert rate.dtype is not None
    return float(2 * (rate.rows[0] * rate.rows[1]) ** 0.5 / WEIGHT_BYTES[rate.dtype])


def _points(axes: Axes, rates: list[Rate], names: list[str], colour: str, marker: str) -> None:
    """Measured matmuls of the dtypes of one level: median and range."""
    for rate in rates:
        value = rate.rate
        if rate.dtype is None or rate.dtype.upper() not in names:
            continue
        axes.errorbar(
            _intensity(rate), value.value / TERA,
            yerr=[[(value.value - value.low) / TERA], [(value.high - value.value) / TERA]],
            fmt=marker, ms=4.5, color=colour, lw=1, capsize=2, alpha=0.85)
