"""The page of all accelerators and processors: their numbers, a map, and where sources disagree."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

import catalogue
from catalogue.deployments.admission import marked
from catalogue.entries.hardware import Device
from catalogue.messages import Pair, messages
from catalogue.reading.values import Value
from notebooks.pages.catalogue.tables import hardware
from notebooks.show import figures
from notebooks.show.display import LANGUAGES, figure, number, numbers, table, written
from notebooks.show.numbers import fmt_fixed, fmt_sig

common = messages("common")
say = messages("pages/catalogue/all-devices")

GIBI, GIGA, TERA = 2**30, 1e9, 1e12
SHOWN = 8  # rows of a long table that are not folded
RATED = "nvidia-h800"  # whose rated and sustained peaks are known
FAR = 0.9, 1.1  # a figure outside of this ratio is far from the one used
CLOSE = 0.13  # cards whose numbers differ by less share one label
RIDGES = (50, 100, 200, 400)  # FLOP/B
BANDWIDTHS, PEAKS = (0.5, 36), (60, 16_000)  # ends of the map [TB/s, TFLOPS]


def load_devices() -> tuple[list[Device], list[Device]]:
    """Accelerators and processors of the catalogue."""
    devices = [catalogue.load_device(name) for name in catalogue.names("devices")]
    cards = [device for device in devices if device.type != "host"]
    hosts = [device for device in devices if device.type == "host"]
    numbers({"device-count": len(cards), "host-count": len(hosts)})
    return cards, hosts


def _link(device: Device) -> Pair:
    """The device's name as a link to its page."""
    english, chinese = (f"[{device.name[lang]}](devices/{device.id}.ipynb)" for lang in LANGUAGES)
    return marked(device, (english, chinese))


def _scaled(value: Value | None, factor: float, digits: int = 0) -> str:
    """A value in a named multiple of its SI unit, empty if there is none."""
    return fmt_fixed(value.value / factor, digits).replace(",", "") if value else ""


def _bf16(device: Device) -> float:
    """Dense peak of the matrix unit in BF16 [FLOP/s], 0 without one."""
    value = device.matrix_peak.bf16 if device.matrix_peak else None
    return float(value.value) if value else 0.0


def _peak(device: Device, dtype: str) -> str:
    """A dense peak of the matrix unit in TFLOPS."""
    value = getattr(device.matrix_peak, dtype, None) if device.matrix_peak else None
    return fmt_sig(value.value / TERA, 4).replace(",", "") if value else ""


def _power(device: Device) -> str:
    """Of the whole card in watts."""
    return _scaled(device.power.full if device.power else None, 1)


def accelerators(cards: Sequence[Device]) -> None:
    """Memory, bandwidth, peaks, ridge point and power, a row per card."""
    table(
        [{"name": _link(card), "vendor": hardware.vendor(card),
          "memory": _scaled(card.memory_capacity, GIBI, 1),
          "bandwidth": _scaled(card.memory_bandwidth, TERA, 3),
          **{dtype: _peak(card, dtype) for dtype in ("bf16", "fp8", "int8", "fp4")},
          "ridge": fmt_fixed(ridge, 0) if (ridge := hardware.ridge(card, "bf16")) else "",
          "power": _power(card)} for card in cards],
        {"name": common("device"), "vendor": say("vendor"), "memory": say("memory-gib"),
         "bandwidth": say("bandwidth-tb-s"), "bf16": "BF16", "fp8": "FP8",
         "int8": "INT8", "fp4": "FP4", "ridge": say("ridge-flop-b"),
         "power": say("power-w")}, sortable=True, wide=True)


def host_processors(hosts: Sequence[Device]) -> None:
    """Table of host processors (CPUs): memory bandwidth, cores, clock and peaks, a row each."""
    table(
        [{"name": _link(host), "vendor": hardware.vendor(host),
          "bandwidth": _scaled(host.memory_bandwidth, GIGA, 1),
          "cores": _scaled(host.cores, 1), "clock": _scaled(host.clock, GIGA, 2),
          "bf16": _peak(host, "bf16"), "int8": _peak(host, "int8"), "power": _power(host)}
         for host in hosts],
        {"name": say("processor"), "vendor": say("vendor"),
         "bandwidth": say("bandwidth-gb-s"), "cores": common("cores"), "clock": say("clock-ghz"),
         "bf16": say("matrix-bf16-tflops"),
         "int8": say("matrix-int8-tops"), "power": say("power-w")},
        sortable=True, wide=True)


def _short(card: Device) -> str:
    """Its name as a label of the map."""
    text = card.id.split("-", 1)[1].removesuffix("-80gb").removesuffix("-sxm").upper()
    return text.replace("-DIE", " die").replace("-141GB", " 141 GB").replace("RTX-", "RTX ")


def map_of_cards(cards: Sequence[Device]) -> None:
    """Bandwidth against BF16 peak, with lines of equal ridge point.

    A package is left to its die; cards that are only announced are hollow.
    """
    shown = [card for card in cards if _bf16(card) and not card.dies]
    vendors = sorted({hardware.vendor(card) for card in shown})
    colours = dict(zip(vendors, figures.PALETTE, strict=False))

    def picture(lang: str) -> Figure:
        at = LANGUAGES.index(lang)
        fig, ax = figures.axes(height=5.2)
        labels: dict[tuple[float, float], list[str]] = {}  # close cards share one
        for card in sorted(shown, key=lambda card: (_bf16(card), card.id)):
            place = card.memory_bandwidth.value / TERA, _bf16(card) / TERA
            ax.plot(*place, "o", ms=6, color=colours[hardware.vendor(card)],
                    fillstyle="none" if card.announced else "full")
            near = next((other for other in labels if all(
                abs(a / b - 1) < CLOSE for a, b in zip(place, other, strict=True))), place)
            labels.setdefault(near, []).append(_short(card))
        for place, names in labels.items():
            crowded = any(1 < x / place[0] < 1.6 and abs(y / place[1] - 1) < 0.08
                          for x, y in labels)
            ax.annotate(", ".join(sorted(names)), place, xytext=(-7 if crowded else 7, -3),
                        textcoords="offset points", fontsize=8, ha="right" if crowded else "left")
        for vendor in vendors:
            ax.plot([], [], "o", color=colours[vendor], label=vendor[at])
        ax.set(xscale="log", yscale="log", xlim=BANDWIDTHS, ylim=PEAKS,
               xlabel=say("memory-bandwidth-tb-s")[at], ylabel=say("bf16-dense-tflops")[at])
        _ridges(ax)
        ax.set_xticks([0.5, 1, 2, 4, 8, 16, 32], ["0.5", "1", "2", "4", "8", "16", "32"])
        peaks = (100, 200, 500, 1000, 2000, 5000, 10_000)
        ax.set_yticks(peaks, [f"{peak:,}" for peak in peaks])
        ax.legend(loc="lower right")
        return fig

    figure("map-of-cards", picture)


def _ridges(ax: Axes) -> None:
    """Lines of equal ridge point."""
    (low, high), (bottom, _) = BANDWIDTHS, PEAKS
    for slope in RIDGES:
        ax.plot([low, high], [low * slope, high * slope], color=figures.INK, lw=0.7, ls=":")
        start = max(low, bottom / slope) * 1.06
        ax.text(start, start * slope * 1.05, f"{slope} FLOP/B", fontsize=7.5, color=figures.INK,
                rotation=math.degrees(math.atan(slope)), rotation_mode="anchor",
                transform_rotates_text=True)


def disagreements(devices: Sequence[Device]) -> None:
    """Figures that differ most from the one used; and a rated peak beside a sustained one."""
    disputed = [(device, item) for device in devices for item in hardware.disagreements(device)]
    number("disputed-count", len(disputed))
    peaks = catalogue.load_device(RATED).matrix_peak
    rated = peaks.bf16 if peaks else None
    assert rated is not None
    number("h800-peak", rated.written, str)
    number("h800-sustained", min((other for other in rated.others if other.kind == "measured"),
                                 key=lambda other: other.value).written, str)
    far = sorted((pair for pair in disputed if not FAR[0] < pair[1].ratio < FAR[1]),
                 key=lambda pair: -max(pair[1].ratio, 1 / pair[1].ratio))
    number("far-count", len(far))
    table([hardware.disputed_row(item)
           | {"name": _link(device), "other": hardware.without_range(written(item.other))}
           for device, item in far],
          {"name": common("device")} | hardware.DISPUTED, sortable=True, wide=True,
          folded=say("other-figures"), first=SHOWN)
