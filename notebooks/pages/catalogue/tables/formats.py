"""Storage formats and the cards that multiply them, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import catalogue
from catalogue.deployments.precision_support import missing_dtypes
from notebooks.show.display import show, table
from notebooks.show.folding import folded, short_table
from notebooks.show.numbers import fmt_int, fmt_sig

Text = tuple[str, str]
FORMATS = ("bf16", "fp8-block128", "int8-channel", "int4-group64")  # shown first
CARDS = ("ascend-910b2", "ascend-910c-die", "nvidia-a800-sxm-80gb", "nvidia-h20", "nvidia-h800",
         "amd-mi300x", "nvidia-b200")


def named(entry: Any) -> Text:
    """The name of an entry of the catalogue."""
    return entry.name["en"], entry.name["zh"]


def formats() -> None:
    """Storage formats with their bits and what an element takes: the usual ones first."""
    names = [*FORMATS, *(name for name in catalogue.names("formats") if name not in FORMATS)]
    short_table([{"name": named(stored), "bits": stored.bits.value,
                  "scale": stored.scale_bits.value, "zero": stored.zero_bits.value,
                  "group": stored.group_size.value or "–",
                  "bytes": fmt_sig(stored.bytes_per_element, 6).rstrip("0").rstrip(".")}
                 for stored in map(catalogue.load_format, names)],
                {"name": ("format", "格式"), "bits": "$q$", "scale": "$q_s$", "zero": "$q_z$",
                 "group": "$g_q$", "bytes": ("bytes per element", "每元素字节")},
                first=len(FORMATS), rest=("All other formats", "其余格式"))
    four = catalogue.load_format(FORMATS[-1])
    bits, scale, zero, group = (fmt_int(value.value) for value in (
        four.bits, four.scale_bits, four.zero_bits, four.group_size))
    sides = f"{bits} + \\tfrac{{{scale} + {zero}}}{{{group}}}"
    filled = (f"$\\tfrac{{1}}{{8}} \\left({sides}\\right) =$ "
              f"**{fmt_sig(four.bytes_per_element, 4)}**")
    show(f"{four.name['en']}: {filled} bytes.", f"{four.name['zh']}：{filled} 字节。")


def supported(precisions: Sequence[Any]) -> None:
    """Which cards multiply each of the precisions as it is, folded."""
    cards = [catalogue.load_device(name) for name in CARDS]

    def support(precision: Any, card: Any) -> Text:
        lacking = sorted({dtype.upper() for _, dtype in missing_dtypes(precision, card)})
        named_types = ", ".join(lacking)
        return ((f"via 16 bits (no {named_types})", f"还原为 16 比特（无 {named_types}）")
                if lacking else ("✓", "✓"))

    with folded("Which cards multiply each precision", "各卡能直接相乘哪些精度"):
        table([{"precision": named(precision)}
               | {card.id: support(precision, card) for card in cards} for precision in precisions],
              {"precision": ("precision", "精度")} | {card.id: named(card) for card in cards})
        show("✓: the card's matrix unit supports the precision. Via 16 bits: an engine with a "
             "kernel for it widens the weights first; this saves memory but does not speed up "
             "the multiplication.",
             "✓：该卡的矩阵单元可以直接相乘。还原为 16 比特：引擎若有相应的算子，先把权重还原再"
             "相乘，只省显存，不加快计算。")
