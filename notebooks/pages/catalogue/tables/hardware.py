"""How the catalogue's hardware is shown: labels in both languages, disagreements, rooflines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pydantic import BaseModel

import catalogue
from catalogue.entries.hardware import Device, Microbenchmarks, Rate
from catalogue.messages import Pair, messages
from catalogue.reading.values import Value
from notebooks.show import figures
from notebooks.show.display import citation, written
from notebooks.show.numbers import fmt_sig

common = messages("common")
say = messages("pages/catalogue/tables/hardware")

LABELS: dict[str, Pair] = {
    "memory_capacity": say("card-memory"),
    "memory_bandwidth": common("memory-bandwidth"),
    "system_reserve": say("kept-by-own-system"),
    "hbm_efficiency": say("share-of-bandwidth-reached"),
    "runtime_reserve": say("runtime-communication-graphs"),
    "matrix_peak": say("matrix-peak"),
    "sparse_peak": say("sparse-peak"),
    "vector_peak": say("vector-peak"),
    "headline_peak": say("headline-peak"),
    "host_bandwidth": say("to-host-one-direction"),
    "l2_cache": say("l2-cache"),
    "l2_bandwidth": common("l2-bandwidth"),
    "dies": say("dies"),
    "cores": common("cores"),
    "clock": say("clock"),
    "power": say("power"),
    "price": say("price"),
    "device_bandwidth": say("per-device-one-direction"),
    "pair_bandwidth": say("per-pair-one-direction"),
    "links_per_device": say("links-per-device"),
    "latency": common("latency"),
    "exchange_alpha": say("added-to-expert-exchange"),
    "devices_per_node": say("devices"),
    "fabric_nodes": say("servers-in-fabric"),
    "planes": say("switch-planes"),
    "ports_per_node": say("network-ports"),
    "hosts_per_node": say("host-processors"),
    "host_memory": common("host-memory"),
}
HOST_LABELS: dict[str, Pair] = {
    "memory_capacity": say("memory-of-a-host"),
    "memory_bandwidth": say("memory-bandwidth-of-a-host"),
}
PARTS: dict[str, Pair] = {
    "low_latency": common("low-latency"), "normal": common("normal-plain"),
    "idle": say("idle"), "full": say("full-load"), "cny": say("cny"),
    "usd": common("usd"), "usd_rent": say("rent-usd"),
}
KERNELS: dict[str, Pair] = {
    "gemm": say("matmul"),
    "grouped-gemm": say("grouped-matmul-experts"),
    "weight-streaming": say("streaming-of-weights"),
    "copy": say("copy-read-write"),
    "host-to-device": say("host-to-device"),
    "device-to-host": say("device-to-host"),
    "mla-decode": say("mla-decode"),
    "mla-prefill": say("mla-prefill"),
    "moe-block": say("whole-moe-block"),
    "sliced-moe-block": say("moe-block-sliced"),
    "kernel-boundary": say("between-two-kernels"),
    "graph-kernel-boundary": say("between-two-kernels-of-graph"),
    "host-time-per-operator": say("host-per-operator"),
    "host-gap-per-step": say("host-between-two-steps"),
}
VENDORS: dict[str, Pair] = {"Huawei": say("huawei"), "Intel": say("intel")}
ROUNDING = 0.005  # 81,559 MiB and 80 GiB are one statement
TERA = 1e12
MARKERS = "osD^vPX"
COLOURS = figures.PALETTE[:-1]  # the last, a grey, is the band of bandwidth
WEIGHT_BYTES = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "fp4": 0.5}


def vendor(device: Device) -> Pair:
    """The maker's name in both languages."""
    return VENDORS.get(device.vendor, (device.vendor, device.vendor))


@cache
def dies_of(device: str) -> int:
    """How many of a device make what is bought [1]."""
    held = [card for name in catalogue.names("devices")
            if (card := catalogue.load_device(name)).die == device]
    return int(held[0].dies.value) if held and held[0].dies else 1


def without_range(text: str) -> str:
    """A value as it is shown, its range left out: ``500 W`` of ``500 W (400–500)``."""
    return re.sub(r" \([^()]*\)$", "", text)


def filled(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a table that at least one of its rows has something in."""
    rows = list(rows)
    return {key: heading for key, heading in columns.items()
            if any(row.get(key) not in ("", "–", None) for row in rows)}


def values_of(entry: BaseModel) -> Iterator[tuple[Pair, Value]]:
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

    label: Pair
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


DISPUTED: dict[str, Pair] = {
    "what": common("quantity"), "used": say("used-here"),
    "other": say("also-printed"), "factor": common("factor"), "why": say("by-whom-and-what-it-is"),
}


def disputed_row(item: Disagreement) -> dict[str, str | Pair]:
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
                  color=figures.INK, label=say("nominal-bandwidth")[zh])
        lowest = 1.0
        if device.hbm_efficiency is not None:
            share = device.hbm_efficiency
            lowest = share.low
            axes.fill_between([left, top / bandwidth],
                              [left * bandwidth * share.low / TERA, top * share.low / TERA],
                              [left * bandwidth * share.high / TERA, top * share.high / TERA],
                              color=figures.PALETTE[-1], alpha=0.35, lw=0,
                              label=say("bandwidth-reached")[zh])
        for place, (level, names) in enumerate(levels):
            colour = COLOURS[place % len(COLOURS)]
            axes.plot([level / bandwidth, right], [level / TERA] * 2, color=colour)
            _points(axes, rates, names, colour, MARKERS[place % len(MARKERS)])
        if rates:
            axes.plot([], [], "o", ms=4, color=figures.INK,
                      label=say("matmuls-median-and-range")[zh])
        low = min([left * bandwidth * lowest, *(rate.rate.low for rate in rates)]) / TERA
        axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(low / 1.5, top / TERA * 1.6),
                 xlabel=say("arithmetic-intensity-flop-b")[zh], ylabel=say("tflops-int8-tops")[zh])
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
