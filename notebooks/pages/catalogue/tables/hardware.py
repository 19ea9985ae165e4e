"""Sourced values of hardware entries with their labels, and figures that other sources print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pydantic import BaseModel

import catalogue
from catalogue.entries.hardware import Device, Microbenchmarks
from catalogue.messages import Pair
from catalogue.reading.values import Value
from notebooks.show.display import citation, written
from notebooks.show.numbers import fmt_sig

LABELS: dict[str, Pair] = {
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
    "latency": ("latency", "延迟"),
    "exchange_alpha": ("added to an all-to-all of experts", "专家 all-to-all 另加延迟"),
    "devices_per_node": ("devices", "设备数"),
    "fabric_nodes": ("servers in the fabric", "超节点内服务器数"),
    "planes": ("switch planes", "交换平面数"),
    "ports_per_node": ("network ports", "网络端口数"),
    "hosts_per_node": ("host processors", "主机处理器数"),
    "host_memory": ("host memory", "主机内存"),
}
HOST_LABELS: dict[str, Pair] = {
    "memory_capacity": ("memory", "内存容量"), "memory_bandwidth": ("memory bandwidth", "内存带宽")}
PARTS: dict[str, Pair] = {
    "low_latency": ("low latency", "低延迟"), "normal": ("normal", "普通"),
    "idle": ("idle", "空载"), "full": ("full load", "满载"), "cny": ("CNY", "人民币"),
    "usd": ("USD", "美元"), "usd_rent": ("rent, USD", "租金，美元")}
ROUNDING = 0.005  # 81,559 MiB and 80 GiB are one statement
DISPUTED: dict[str, Pair] = {
    "what": ("quantity", "量"), "used": ("used here", "本书采用"),
    "other": ("also printed", "另有数值"), "factor": ("factor", "倍数"),
    "why": ("by whom, and what it is", "出处与说明")}


def vendor(device: Device) -> Pair:
    """The maker's name in both languages."""
    chinese = {"Huawei": "华为", "Intel": "英特尔"}
    return device.vendor, chinese.get(device.vendor, device.vendor)


@cache
def dies_of(device: str) -> int:
    """How many of a device make what is bought [1]."""
    held = [card for name in catalogue.names("devices")
            if (card := catalogue.load_device(name)).die == device]
    return int(held[0].dies.value) if held and held[0].dies else 1


def without_range(text: str) -> str:
    """A value as it is shown, its range left out: ``500 W`` of ``500 W (400–500)``."""
    return re.sub(r" \([^()]*\)$", "", text)


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


def disputed_row(item: Disagreement) -> dict[str, str | Pair]:
    """A disagreement as a row of a table whose columns are ``DISPUTED``."""
    return {"what": item.label, "used": without_range(written(item.used)),
            "other": written(item.other), "factor": fmt_sig(item.ratio, 3),
            "why": citation(item.other)}


def benchmarks(device: Device) -> Microbenchmarks | None:
    """What was measured on the device, or on the relative that its file names."""
    name = device.microbenchmarks
    return None if name is None else catalogue.load("microbenchmarks", name)
