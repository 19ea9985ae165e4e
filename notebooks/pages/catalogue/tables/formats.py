"""Storage formats and the cards that multiply them, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import catalogue
from catalogue.deployments.physics_inputs import missing_dtypes, widened
from catalogue.messages import Pair, messages
from notebooks.pages.catalogue.tables.mechanisms import of_device
from notebooks.show.display import folded, markdown, short_table, table
from notebooks.show.numbers import fmt_int, fmt_sig

common = messages("common")
say = messages("pages/catalogue/tables/formats")

FORMATS = ("bf16", "fp8-block128", "int8-channel", "int4-group64")  # shown first
CARDS = ("ascend-910b2", "ascend-910c-die", "nvidia-a800-sxm-80gb", "nvidia-h20", "nvidia-h800",
         "amd-mi300x", "nvidia-b200")


def entry_label(entry: Any) -> Pair:
    """The name of an entry of the catalogue."""
    return entry.name["en"], entry.name["zh"]


def formats() -> None:
    """Storage formats with their bits and what an element takes: the usual ones first."""
    names = [*FORMATS, *(name for name in catalogue.names("formats") if name not in FORMATS)]
    short_table([{"name": entry_label(stored), "bits": stored.bits.value,
                  "scale": stored.scale_bits.value, "zero": stored.zero_bits.value,
                  "group": stored.group_size.value or "–",
                  "bytes": fmt_sig(stored.bytes_per_element, 6).rstrip("0").rstrip(".")}
                 for stored in map(catalogue.load_format, names)],
                {"name": common("format"), "bits": "$q$", "scale": "$q_s$", "zero": "$q_z$",
                 "group": "$g_q$", "bytes": say("bytes-per-element")},
                first=len(FORMATS), rest=say("all-other-formats"))
    four = catalogue.load_format(FORMATS[-1])
    bits, scale, zero, group = (fmt_int(value.value) for value in (
        four.bits, four.scale_bits, four.zero_bits, four.group_size))
    sides = f"{bits} + \\tfrac{{{scale} + {zero}}}{{{group}}}"
    filled = (f"$\\tfrac{{1}}{{8}} \\left({sides}\\right) =$ "
              f"**{fmt_sig(four.bytes_per_element, 4)}**")
    markdown(*say("bytes-of-format", name=entry_label(four), filled=filled))


def supported(precisions: Sequence[Any]) -> None:
    """Which cards multiply each of the precisions as it is, folded."""
    cards = [catalogue.load_device(name) for name in CARDS]

    def support(precision: Any, card: Any) -> Pair:
        if lacking := sorted({dtype.upper() for _, dtype in missing_dtypes(precision, card)}):
            return say("via-16-bits", lacking=", ".join(lacking))
        priors = of_device(card)
        assert priors is not None
        assert priors.dequantisation_traffic is not None
        first = widened(precision, precision.multiply.dtypes)["routed_expert"]
        return say("through-l2") if first and priors.dequantisation_traffic.value else ("✓", "✓")

    with folded(*say("which-cards-multiply-each-precision")):
        table([{"precision": entry_label(precision)}
               | {card.id: support(precision, card) for card in cards} for precision in precisions],
              {"precision": common("precision")} | {card.id: entry_label(card) for card in cards})
        markdown(*say("what-the-marks-mean"))
