"""Names of uncertain inputs, as pages on sensitivity and risk show them."""

from __future__ import annotations

import catalogue
from calc.sensitivity.plans import Plan
from calc.sensitivity.tornado import OWN
from catalogue.messages import Pair
from notebooks.pages.catalogue.tables.mechanisms import labelled

OWN_NAME: Pair = ("the formulas' own error", "公式自身的误差")
GROUPED: dict[str, Pair] = {
    "link_bandwidth": ("bandwidth of the links in a server", "服务器内链路带宽"),
    "matrix_peak": ("peak of the matrix units", "矩阵单元峰值")}


def label(name: str, plan: Plan) -> Pair:
    """Return the name of an input without its letter; of what no input moves, the own error."""
    if name.startswith(OWN):
        return OWN_NAME
    name = name.partition(" (")[0]  # a number distinguishes two plans' ranges of it
    if name in GROUPED:
        return GROUPED[name]
    knobs = {knob.name: knob.value for knob in plan.scenario.every_knob()}
    if name in knobs:
        (en, zh), _ = next(iter(labelled({name: knobs[name]})))
        return en.split(", $")[0], zh.split(" $")[0]
    symbol = catalogue.symbols()[name]
    return symbol.en, symbol.zh
