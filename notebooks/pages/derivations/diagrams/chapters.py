"""The chapters of the book, and which of them hands its formulas to which."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from notebooks.derive.formulas.exported import Formula
from notebooks.show.drawing import SMALL, WIDTH, Drawing, Text

NAMES: dict[str, tuple[Text, Text]] = {  # in the order of reading, with what each is about
    "architecture": (("Parameters", "参数量"), ("counted from shapes", "由形状计数")),
    "memory": (("Memory", "显存"), ("what a card holds and reads", "一张卡存什么、读什么")),
    "compute": (("Compute", "计算"), ("operations of a step", "一步的运算")),
    "communication": (("Communication", "通信"), ("what cards send", "卡间传输")),
    "latency": (("Latency", "延迟"), ("how long a step takes", "一步要多久")),
    "throughput": (("Throughput", "吞吐"), ("tokens per second", "每秒多少 token")),
    "serving": (("Serving", "服务"), ("what a user waits for", "用户等什么"))}
AFTER: dict[str, Text] = {  # what rests on all of them
    "scenarios": ("Deployments", "各部署"), "search": ("Deciding", "决策"),
    "validation": ("How far off", "误差")}
LEFT, WIDE, TALL, STEP, TOP = 92.0, 196.0, 40.0, 54.0, 26.0
BEND = 15.0  # of a curve, per chapter that it passes
ONWARD, BACK = 0, 1  # colours


def uses(formulas: Mapping[str, Formula]) -> Counter[tuple[str, str]]:
    """How often formulas of one chapter take a quantity that another one derives."""
    home = {formula.name: formula.notebook for formula in formulas.values()}
    return Counter((home[name], formula.notebook) for formula in formulas.values()
                   for name in formula.needs
                   if name in home and home[name] != formula.notebook)


def draw(formulas: Mapping[str, Formula], lang: str) -> Drawing:
    """A box per chapter, which leads to it, and curves as wide as there is use.

    Args:
        formulas: all that are exported, by key.
        lang: language of the labels.
    """
    counted = {pair: count for pair, count in uses(formulas).items()
               if pair[0] in NAMES and pair[1] in NAMES}
    most = Counter(counted).most_common(3)
    listed = ["; ".join(f"{NAMES[of][0][i]} → {NAMES[to][0][i]} ({count})"
                        for (of, to), count in most) for i in range(2)]
    bottom = TOP + STEP * len(NAMES)
    drawing = Drawing(
        "chapter-map", lang, ("What feeds what", "各章之间的依赖"),
        (f"{len(NAMES)} chapters of derivations. A chapter uses quantities that others derive; "
         f"most often {listed[0]}. Deployments, decisions and errors rest on all of them.",
         f"推导共 {len(NAMES)} 章，每章都用到别章推出的量，最多的是 {listed[1]}。"
         "各部署、决策与误差以全部推导为基础。"), height=bottom + 112)
    drawing.label(LEFT + WIDE + 8, 13, ("used further on", "供后文使用"), small=True, colour=ONWARD)
    drawing.label(4, 13, ("used further up", "供前文使用"), small=True, colour=BACK)
    rows = {name: TOP + STEP * number for number, name in enumerate(NAMES)}
    widest = max(counted.values())
    for (of, to), count in sorted(counted.items(), key=lambda item: -item[1]):
        _curve(drawing, rows[of], rows[to], 6 * math.sqrt(count / widest))
    for name, (title, about) in NAMES.items():
        with drawing.link(f"chapters/{name}.html"):
            drawing.box(LEFT, rows[name], WIDE, TALL, [title, about])
    drawing.arrow(LEFT + WIDE / 2, bottom - 8, LEFT + WIDE / 2, bottom + 10)
    drawing.label(LEFT + WIDE / 2, bottom + 26, (
        "computed a second time by an independent program", "由独立程序再算一遍"), "middle",
        small=True)
    for number, (name, title) in enumerate(AFTER.items()):
        with drawing.link(f"chapters/{name}.html"):
            drawing.box(8 + 130 * number, bottom + 40, 122, 34, [title], 2)
    drawing.label(WIDTH / 2, bottom + 90 + SMALL / 2, ("each box is a link", "点击方框进入各章"),
                  "middle", small=True, muted=True)
    return drawing


def _curve(drawing: Drawing, of: float, to: float, width: float) -> None:
    """From a chapter to one below it on the right, to one above it on the left."""
    passed = abs(to - of) / STEP
    if to > of:
        x, bend, colour = LEFT + WIDE, BEND * passed + 8, ONWARD
    else:
        x, bend, colour = LEFT, -BEND * passed - 8, BACK
    start = of + TALL * (0.68 if to > of else 0.32)
    end = to + TALL * (0.32 if to > of else 0.68)
    drawing.curve(x, start, x, end, bend, width, colour)
