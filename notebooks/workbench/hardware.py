"""How the catalogue's hardware is shown: labels in both languages, disagreements, rooflines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pydantic import BaseModel

import params
from params.hardware import Device, Microbenchmarks, Rate
from params.values import Value
from workbench import figures

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
    "dies": ("dies", "裸片数"),
    "cores": ("cores", "核数"),
    "clock": ("clock", "主频"),
    "power": ("power", "功耗"),
    "price": ("price", "价格"),
    "device_bandwidth": ("per device, one direction", "单卡单方向带宽"),
    "pair_bandwidth": ("per pair, one direction", "单对卡单方向带宽"),
    "links_per_device": ("links per device", "每卡链路数"),
    "latency": ("latency", "时延"),
    "devices_per_node": ("devices", "卡数"),
    "fabric_nodes": ("nodes in the fabric", "超节点内服务器数"),
    "planes": ("switch planes", "交换平面数"),
    "ports_per_node": ("network ports", "网络端口数"),
    "hosts_per_node": ("host processors", "主机处理器数"),
    "host_memory": ("host memory", "主机内存"),
}
HOST_LABELS: dict[str, Text] = {
    "memory_capacity": ("memory", "内存容量"), "memory_bandwidth": ("memory bandwidth", "内存带宽"),
}
PARTS: dict[str, Text] = {
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
    "kernel-boundary": ("between two kernels", "算子间隔"),
    "graph-kernel-boundary": ("between two kernels of a graph", "图内算子间隔"),
    "host-time-per-operator": ("host, per operator", "主机侧每算子"),
    "host-gap-per-step": ("host, between two steps", "主机侧步间空隙"),
}
ROUNDING = 0.005  # 81,559 MiB and 80 GiB are one statement
WEIGHT_BYTES = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "fp4": 0.5}


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
    found = [Disagreement(label, value, other)
             for label, value in values_of(entry) for other in value.others]
    return [item for item in found if abs(item.ratio - 1) > ROUNDING]


def ridge(device: Device, dtype: str) -> float | None:
    """FLOP per byte from which a kernel is bound by compute: dense peak over bandwidth."""
    peak = getattr(device.matrix_peak, dtype, None) if device.matrix_peak else None
    return peak.value / device.memory_bandwidth.value if peak else None


def benchmarks(device: Device) -> Microbenchmarks | None:
    """What was measured on the device, or on the relative that its file names."""
    if device.microbenchmarks is None:
        return None
    found: Microbenchmarks = params.load("microbenchmarks", device.microbenchmarks)
    return found


def rows_of(rate: Rate) -> str:
    """The rows of a rate as text: ``64`` or ``65–128``."""
    if rate.rows is None:
        return ""
    low, high = rate.rows
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def roofline(device: Device, measured: Microbenchmarks | None) -> Callable[[str], Figure]:
    """The roofline of a device as a drawing per language.

    The slope is the memory bandwidth, below it the share that weights are streamed at; each dtype
    has its dense peak. Points are medians of measured matmuls, at 2 x rows / bytes per weight:
    the intensity if only weights are read.
    """
    peaks = [(name, getattr(device.matrix_peak, name)) for name in WEIGHT_BYTES
             if device.matrix_peak and getattr(device.matrix_peak, name)]
    if device.type == "host":
        peaks += [(f"{name}", getattr(device.vector_peak, name)) for name in WEIGHT_BYTES
                  if device.vector_peak and getattr(device.vector_peak, name)]
    levels: dict[float, list[str]] = {}
    for name, peak in peaks:
        levels.setdefault(peak.value, []).append(name.upper())
    bandwidth = device.memory_bandwidth.value

    def draw(lang: str) -> Figure:
        zh = lang == "zh"
        picture, axes = figures.axes(height=3.9)
        top = max(levels, default=bandwidth)
        left, right = 0.5, max(4096.0, 4 * top / bandwidth)
        axes.plot([left, top / bandwidth], [left * bandwidth, top], color=figures.INK,
                  label="标称带宽" if zh else "nominal bandwidth")
        if device.hbm_efficiency is not None:
            share = device.hbm_efficiency
            axes.fill_between([left, top / bandwidth],
                              [left * bandwidth * share.low, top * share.low],
                              [left * bandwidth * share.high, top * share.high],
                              color=figures.PALETTE[7], alpha=0.35, lw=0,
                              label="实际可达带宽" if zh else "bandwidth reached")
        for place, (level, names) in enumerate(sorted(levels.items())):
            colour = figures.PALETTE[place % len(figures.PALETTE)]
            axes.plot([level / bandwidth, right], [level, level], color=colour)
            axes.annotate(f"{' = '.join(names)}  {level / 1e12:,.4g} TFLOPS", (right, level),
                          xytext=(0, 3), textcoords="offset points", ha="right", fontsize=8.5,
                          color=colour)
            _points(axes, measured, level, names, colour)
        axes.set(xscale="log", yscale="log", xlim=(left, right),
                 xlabel="计算强度（FLOP/B）" if zh else "arithmetic intensity (FLOP/B)",
                 ylabel="FLOP/s")
        axes.legend(loc="lower right", fontsize=8.5)
        return picture

    return draw


def _points(axes: Axes, measured: Microbenchmarks | None, level: float, names: list[str],
            colour: str) -> None:
    """Measured matmuls of the dtypes of one level: median and range."""
    for rate in measured.rates if measured else ():
        if rate.kernel != "gemm" or rate.rate.unit != "FLOP/s" or not rate.rows \
                or not rate.dtype or rate.dtype.upper() not in names:
            continue
        middle = (rate.rows[0] * rate.rows[1]) ** 0.5
        x = 2 * middle / WEIGHT_BYTES[rate.dtype]
        value = rate.rate
        axes.errorbar(
            x, value.value, yerr=[[value.value - value.low], [value.high - value.value]],
            fmt="o", ms=4, color=colour, lw=1, capsize=2)
