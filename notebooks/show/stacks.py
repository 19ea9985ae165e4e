"""Stacked bars: what a whole is made of, to scale, and a legend that bears the numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from catalogue.messages import messages
from notebooks.show import behind
from notebooks.show.drawing import (
    LEADING,
    SIZE,
    WIDTH,
    Drawing,
    Text,
    broken,
    in_language,
    width_of,
)
from notebooks.show.figures import CACHE, SPARE, tints

say = messages("show/stacks")

SMALL, SEEN = 0.03, 0.003  # share of a bar from which a part, and all small ones, are named
MARGIN, BAR, STRIP = 8.0, 20.0, 5.0
LINE = LEADING * SIZE
COLUMN = 84.0  # of numbers
SWATCH = 10.0


@dataclass(frozen=True)
class Stack:
    """A bar: name and whole as they stand above it, and its parts, from the left.

    ``hidden`` is how much of its end is only there in part, ``marks`` are limits and where they
    are; both in the unit of the parts. ``heading`` stands above its numbers.
    """

    name: Text
    whole: str
    parts: Mapping[Any, float]  # by names, each a `Text`
    hidden: float = 0.0
    marks: Sequence[tuple[Text, float]] = ()
    heading: Text = ""


def merged(stacks: Sequence[Stack], kinds: Mapping[Any, int]) -> list[Stack]:
    """The bars with what is small in all of them put together, at their ends; but for caches,
    which grow with users and lengths."""
    small = {name for name, kind in kinds.items() if kind != CACHE and all(
        stack.parts.get(name, 0.0) < SMALL * sum(stack.parts.values()) for stack in stacks)}
    def parts(stack: Stack) -> dict[Any, float]:
        kept = {name: size for name, size in stack.parts.items() if name not in small}
        rest = sum(size for name, size in stack.parts.items() if name in small)
        return kept | ({say("smaller-parts"): rest} if rest else {})

    return [replace(stack, parts=parts(stack)) for stack in stacks]


def draw(key: str, lang: str, title: Text, stacks: Sequence[Stack], kinds: Mapping[Any, int],
         said: Callable[[float], str]) -> Drawing:
    """Bars one below the other, each as long as the drawing.

    Args:
        key: of the figure, unique on its page.
        lang: ``en`` or ``zh``.
        title: what it shows, in a few words.
        stacks: the bars; a part has the same colour in all.
        kinds: all parts in the order of the legend, and what each is: a place in the palette.
        said: a part's size as the legend has it.
    """
    bars = merged(stacks, kinds)
    colours = {name: (kind, tint) for (name, kind), tint in
               zip(kinds.items(), tints(tuple(kinds.values())), strict=True)}
    colours[say("smaller-parts")] = SPARE, 1.0
    seen = [name for name in colours if any(
        bar.parts.get(name, 0.0) > SEEN * sum(bar.parts.values()) for bar in bars)]
    wide = WIDTH - 2 * MARGIN - 1.5 * SWATCH - COLUMN * len(stacks)
    labels = {name: broken(in_language(name, lang), wide, SIZE) for name in seen}
    height = sum(map(_height, stacks)) + LINE * (
        0.5 + sum(map(len, labels.values())) + any(stack.heading for stack in stacks))
    drawing = Drawing(key, lang, title, (_about(stacks, said, "en"), _about(stacks, said, "zh")),
                      height)
    drawing.numbers = behind.written(("panel", "series", "size"), (
        (in_language(stack.name, lang), in_language(name, lang), size)
        for stack in stacks for name, size in stack.parts.items()))
    top = 0.0
    for bar in bars:
        _bar(drawing, top, bar, colours, said)
        top += _height(bar)
    if any(stack.heading for stack in stacks):
        for place, stack in enumerate(reversed(stacks)):
            drawing.label(WIDTH - MARGIN - place * COLUMN, top + SIZE, stack.heading, "end",
                          small=True, muted=True)
        top += LINE
    for name, lines in labels.items():
        colour, tint = colours[name]
        drawing.bar(MARGIN, top + SIZE - SWATCH + 1, SWATCH, SWATCH, colour, tint=tint)
        for place, stack in enumerate(reversed(bars)):
            size = stack.parts.get(name, 0.0)
            drawing.label(WIDTH - MARGIN - place * COLUMN, top + SIZE, said(size) if size else "–",
                          "end")
        for line in lines:
            drawing.label(MARGIN + 1.5 * SWATCH, top + SIZE, line)
            top += LINE
    return drawing


def _height(stack: Stack) -> float:
    """Of a bar with what stands above and below it."""
    return 1.4 * LINE + BAR + (stack.hidden > 0) * (STRIP + LINE) + len(stack.marks) * LINE + 6


def _bar(drawing: Drawing, top: float, stack: Stack, colours: Mapping[Any, tuple[int, float]],
         said: Callable[[float], str]) -> None:
    drawing.label(MARGIN, top + SIZE, stack.name)
    drawing.label(WIDTH - MARGIN, top + SIZE, stack.whole, "end", bold=True)
    top += 1.4 * LINE
    whole = sum(stack.parts.values())
    scale = (WIDTH - 2 * MARGIN) / max(whole, *(at for _, at in stack.marks), 0.0)
    x = MARGIN
    for name, size in stack.parts.items():
        colour, tint = colours[name]
        drawing.bar(x, top, size * scale, BAR, colour, tint=tint)
        x += size * scale
    below = top + BAR
    if stack.hidden > 0:
        drawing.bar(x - stack.hidden * scale, below + 2, stack.hidden * scale, STRIP, hollow=True,
                    dashed=True)
        below += STRIP + LINE
        drawing.label(x, below - 2, f"−{said(stack.hidden)}", "end", muted=True)
    for place, (name, at) in enumerate(stack.marks):
        x, base = MARGIN + at * scale, below + (place + 1) * LINE
        drawing.line(x, top - 3, x, base, dashed=place == 0)
        left = x - MARGIN > width_of(drawing.word(name), SIZE)
        drawing.label(x + (-4 if left else 4), base, name, "end" if left else "start")


def _about(stacks: Sequence[Stack], said: Callable[[float], str], lang: str) -> str:
    """What the bars show, in words."""
    colon, comma, end = {"en": (": ", ", ", ". "), "zh": ("：", "，", "。")}[lang]
    return "".join(
        f"{in_language(stack.name, lang)} {stack.whole}{colon}"
        + comma.join(f"{in_language(name, lang)} {said(size)}"
                     for name, size in stack.parts.items())
        + end for stack in stacks).strip()
