"""Diagrams: boxes, bars, arrows and labels in SVG that stands in the page itself.

Letters and lines have the colour of the page's text (``currentColor``) and areas the mid-tones of
the figures, so a diagram follows light and dark. It is as wide as a phone, 400 units, which a
larger screen enlarges. Places and lengths are given by whoever draws, from computed numbers; a text
is one for both languages, or a pair of which the drawing keeps its own. It is escaped here.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree

from catalogue.messages import Pair, messages
from catalogue.reading import words
from notebooks.show import figures
from notebooks.show.figures import CACHE, COLOURS, SPARE, tints

Text = str | Pair
WIDTH = 400.0
SIZE, SMALL = 13.0, 11.5  # of letters
LEADING = 1.25  # from line to line, in sizes
CHINESE = r"\u2e80-\uffee"
MARKS = (r"\u3001-\u3003\u3008-\u3011\u3014-\u301f\u30fb\uff01-\uff07\uff09\uff0a\uff0c-\uff0f"
         r"\uff1a\uff1b\uff1f")
# A word with the space after it, or a Chinese letter, with brackets before and marks after it.
UNBROKEN = re.compile(rf"(?:（|[^{CHINESE} ]*“)*(?:[{CHINESE}]|[^{CHINESE} ]+ ?| )[{MARKS}]*|.")
WIDE, NARROW = 1.0, 0.56  # a letter's mean width, in sizes: Chinese, and others
HEAD = 7.0  # of an arrow
DASHES = "4 3"


class Drawing:
    """A diagram in one language.

    Args:
        key: of the figure, unique on its page.
        lang: ``en`` or ``zh``.
        title: what it shows, in a few words.
        about: what there is to be seen, for readers who cannot see it.
        height: in units, of which it is ``WIDTH`` wide.
    """

    def __init__(self, key: str, lang: str, title: Text, about: Text, height: float) -> None:
        self.lang, self.height = lang, height
        self.numbers = ""  # what is behind it as CSV, for a reader to take along
        names = [f"{key}-{lang}-{part}" for part in ("title", "about")]
        self._svg = self._root = ElementTree.Element("svg", {
            "xmlns": "http://www.w3.org/2000/svg", "class": "drawn", "role": "img",
            "viewBox": f"0 0 {WIDTH:g} {_at(height)}", "aria-labelledby": " ".join(names),
            "lang": lang, "fill": "currentColor", "font-size": f"{SIZE:g}"})
        for name, tag, text in zip(names, ("title", "desc"), (title, about), strict=True):
            ElementTree.SubElement(self._root, tag, {"id": name}).text = self.word(text)

    def word(self, text: Text) -> str:
        """A text in the language of the drawing."""
        return words.revealed(in_language(text, self.lang))

    def bar(self, x: float, y: float, width: float, height: float, colour: int | None = None,
            hollow: bool = False, dashed: bool = False, tint: float = 1.0) -> None:
        """A rectangle in a colour of the palette, without one in that of the text.

        A hollow one is an outline on a light tint; `tint` is how opaque another one is.
        """
        ink = _ink(colour)
        self._add("rect", x=x, y=y, width=max(width, 0.0), height=height, rx=2 if hollow else 0,
                  fill=ink, fill_opacity=0.12 if hollow else tint if tint < 1 else None,
                  stroke=ink if hollow else None, stroke_width=1.2 if hollow else None,
                  stroke_dasharray=DASHES if dashed else None)

    def box(self, x: float, y: float, width: float, height: float, lines: Sequence[Text],
            colour: int | None = None, dashed: bool = False) -> None:
        """An outline with lines of text in its middle, the first in full size."""
        self.bar(x, y, width, height, colour, hollow=True, dashed=dashed)
        sizes = [SIZE, *[SMALL] * (len(lines) - 1)]
        top = y + (height - LEADING * sum(sizes)) / 2
        for line, size in zip(lines, sizes, strict=True):
            top += LEADING * size
            self.label(x + width / 2, top - 0.3 * size, line, "middle", small=size == SMALL)

    def label(self, x: float, y: float, text: Text, anchor: str = "start", small: bool = False,
              muted: bool = False, bold: bool = False, colour: int | None = None) -> None:
        """A line of text with its base at ``y``; ``anchor`` is start, middle or end."""
        self._add("text", x=x, y=y, text_anchor=anchor,
                  fill=None if colour is None else _ink(colour),
                  font_size=SMALL if small else None, fill_opacity=0.75 if muted else None,
                  font_weight=600 if bold else None).text = self.word(text)

    def note(self, x: float, y: float, width: float, text: Text, muted: bool = True) -> float:
        """A small text broken to a width; gives the base of the line after it."""
        for line in broken(self.word(text), width, SMALL):
            self.label(x, y, line, small=True, muted=muted)
            y += LEADING * SMALL
        return y

    def line(self, x: float, y: float, to_x: float, to_y: float, width: float = 1.2,
             colour: int | None = None, dashed: bool = False) -> None:
        """A straight line."""
        self._add("line", x1=x, y1=y, x2=to_x, y2=to_y, stroke=_ink(colour), stroke_width=width,
                  stroke_dasharray=DASHES if dashed else None)

    def arrow(self, x: float, y: float, to_x: float, to_y: float, width: float = 1.2,
              colour: int | None = None, dashed: bool = False) -> None:
        """A straight arrow; its head grows with its width."""
        head = max(HEAD, 1.6 * width)
        length = math.hypot(to_x - x, to_y - y)
        dx, dy = (to_x - x) / length, (to_y - y) / length
        neck_x, neck_y = to_x - head * dx, to_y - head * dy
        self.line(x, y, neck_x, neck_y, width, colour, dashed)
        side = head / 2 if width < HEAD / 2 else 0.8 * width
        self._polygon(colour, (to_x, to_y), (neck_x - side * dy, neck_y + side * dx),
                      (neck_x + side * dy, neck_y - side * dx))

    def curve(self, x: float, y: float, to_x: float, to_y: float, bend: float, width: float = 1.2,
              colour: int | None = None) -> None:
        """A curve that goes out to the right by ``bend`` (to the left if it is negative) and back.

        It comes in level, with the head of an arrow as far as it is long enough for one.
        """
        head, way = max(HEAD, 1.3 * width), math.copysign(1, bend)
        end, side = to_x + way * head, max(head / 2, 0.75 * width)
        path = (f"M{_at(x)} {_at(y)}C{_at(x + bend)} {_at(y)} {_at(end + bend)} {_at(to_y)} "
                f"{_at(end)} {_at(to_y)}")
        self._add("path", d=path, fill="none", stroke=_ink(colour), stroke_width=width,
                  stroke_opacity=0.8)
        self._polygon(colour, (to_x, to_y), (end, to_y - side), (end, to_y + side))

    def circle(self, x: float, y: float, radius: float, colour: int | None = None) -> None:
        """A filled circle."""
        self._add("circle", cx=x, cy=y, r=radius, fill=_ink(colour))

    def axis(self, x: float, y: float, length: float, end: float, ticks: Sequence[float],
             unit: Text) -> None:
        """A scale from 0 to ``end`` along a line, with some of its numbers and its unit below."""
        self.line(x, y, x + length, y, width=0.8)
        for tick in ticks:
            at = x + length * tick / end
            self.line(at, y, at, y + 4, width=0.8)
            self.label(at, y + 4 + SMALL, f"{tick:g}", "middle", small=True, muted=True)
        self.label(x + length, y + 6 + 2.2 * SMALL, unit, "end", small=True, muted=True)

    def swatch(self, x: float, y: float, colour: int, text: Text, tint: float = 1.0) -> None:
        """A part of a legend: a square in a colour, and what it stands for, with its base."""
        self.bar(x, y - 9, 10, 10, colour, tint=tint)
        self.label(x + 15, y, text, small=True)

    @contextmanager
    def link(self, address: str) -> Iterator[None]:
        """What is drawn within it leads there: ``with drawing.link("page.html"): ...``."""
        self._svg.set("role", "group")  # what is in an image cannot be reached
        outer = self._root
        self._root = ElementTree.SubElement(outer, "a", {"href": address})
        yield
        self._root = outer

    def svg(self) -> str:
        """The drawing as text, the same on every run."""
        return ElementTree.tostring(self._svg, encoding="unicode")

    def _polygon(self, colour: int | None, *points: tuple[float, float]) -> None:
        self._add("polygon", points=" ".join(f"{_at(x)},{_at(y)}" for x, y in points),
                  fill=_ink(colour))

    def _add(self, tag: str, **attributes: Any) -> ElementTree.Element:
        """Add an element with the attributes that are not None."""
        return ElementTree.SubElement(self._root, tag, {
            name.replace("_", "-"): _at(value) if isinstance(value, (int, float)) else value
            for name, value in attributes.items() if value is not None})


def in_language(text: Text, lang: str) -> str:
    """A text in a language: itself, or its own of a pair."""
    return text if isinstance(text, str) else text[lang == "zh"]


def width_of(text: str, size: float = SIZE) -> float:
    """About how wide a text is, in units; no font is asked."""
    return size * sum(WIDE if unicodedata.east_asian_width(letter) in "WF" else NARROW
                      for letter in text)


def broken(text: str, width: float, size: float = SIZE) -> list[str]:
    """A text in lines of at most a width: between words, and between Chinese letters."""
    lines = [""]
    for part in UNBROKEN.findall(text):
        if lines[-1] and width_of((lines[-1] + part).rstrip(), size) > width:
            lines.append("")
        lines[-1] += part if lines[-1] else part.lstrip()
    return [line.rstrip() for line in lines]


def _ink(colour: int | None) -> str:
    """A colour of the palette; without one that of the text."""
    return "currentColor" if colour is None else COLOURS[colour % len(COLOURS)]


def _at(number: float) -> str:
    """A coordinate, short and the same everywhere."""
    return f"{round(number, 2):g}" if abs(number) < 1e4 else f"{number:.1f}"


say = messages("show/drawing")

SMALL_PART, SEEN_PART = 0.03, 0.003  # of a bar: parts below are merged, unseen
STACK_MARGIN, BAR, STRIP = 8.0, 20.0, 5.0
LINE = LEADING * SIZE
NUMBER_WIDTH = 84.0  # of numbers
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
        stack.parts.get(name, 0.0) < SMALL_PART * sum(stack.parts.values()) for stack in stacks)}
    def parts(stack: Stack) -> dict[Any, float]:
        kept = {name: size for name, size in stack.parts.items() if name not in small}
        rest = sum(size for name, size in stack.parts.items() if name in small)
        return kept | ({say("smaller-parts"): rest} if rest else {})

    return [replace(stack, parts=parts(stack)) for stack in stacks]


def stacked_bars(key: str, lang: str, title: Text, stacks: Sequence[Stack],
                 kinds: Mapping[Any, int], said: Callable[[float], str]) -> Drawing:
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
    places = tuple(kinds.values())
    colours = dict(zip(kinds, zip(places, tints(places), strict=True), strict=True))
    colours[say("smaller-parts")] = SPARE, 1.0
    seen = [name for name in colours if any(
        bar.parts.get(name, 0.0) > SEEN_PART * sum(bar.parts.values()) for bar in bars)]
    wide = WIDTH - 2 * STACK_MARGIN - 1.5 * SWATCH - NUMBER_WIDTH * len(stacks)
    labels = {name: broken(in_language(name, lang), wide, SIZE) for name in seen}
    height = sum(map(_stack_height, stacks)) + LINE * (
        0.5 + sum(map(len, labels.values())) + any(stack.heading for stack in stacks))
    about = _stack_words(stacks, said, "en"), _stack_words(stacks, said, "zh")
    drawing = Drawing(key, lang, title, about, height)
    drawing.numbers = figures.as_csv(("panel", "series", "size"), (
        (in_language(stack.name, lang), in_language(name, lang), size)
        for stack in stacks for name, size in stack.parts.items()))
    top = 0.0
    for bar in bars:
        _draw_stack(drawing, top, bar, colours, said)
        top += _stack_height(bar)
    if any(stack.heading for stack in stacks):
        for place, stack in enumerate(reversed(stacks)):
            drawing.label(WIDTH - STACK_MARGIN - place * NUMBER_WIDTH, top + SIZE, stack.heading,
                          "end", small=True, muted=True)
        top += LINE
    for name, lines in labels.items():
        colour, tint = colours[name]
        drawing.bar(STACK_MARGIN, top + SIZE - SWATCH + 1, SWATCH, SWATCH, colour, tint=tint)
        for place, stack in enumerate(reversed(bars)):
            size = stack.parts.get(name, 0.0)
            drawing.label(WIDTH - STACK_MARGIN - place * NUMBER_WIDTH, top + SIZE,
                          said(size) if size else "–", "end")
        for line in lines:
            drawing.label(STACK_MARGIN + 1.5 * SWATCH, top + SIZE, line)
            top += LINE
    return drawing


def _stack_height(stack: Stack) -> float:
    """Of a bar with what stands above and below it."""
    return 1.4 * LINE + BAR + (stack.hidden > 0) * (STRIP + LINE) + len(stack.marks) * LINE + 6


def _draw_stack(drawing: Drawing, top: float, stack: Stack,
                colours: Mapping[Any, tuple[int, float]], said: Callable[[float], str]) -> None:
    drawing.label(STACK_MARGIN, top + SIZE, stack.name)
    drawing.label(WIDTH - STACK_MARGIN, top + SIZE, stack.whole, "end", bold=True)
    top += 1.4 * LINE
    whole = sum(stack.parts.values())
    scale = (WIDTH - 2 * STACK_MARGIN) / max(whole, *(at for _, at in stack.marks), 0.0)
    x = STACK_MARGIN
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
        x, base = STACK_MARGIN + at * scale, below + (place + 1) * LINE
        drawing.line(x, top - 3, x, base, dashed=place == 0)
        left = x - STACK_MARGIN > width_of(drawing.word(name), SIZE)
        drawing.label(x + (-4 if left else 4), base, name, "end" if left else "start")


def _stack_words(stacks: Sequence[Stack], said: Callable[[float], str], lang: str) -> str:
    """What the bars show, in words."""
    colon, comma, end = {"en": (": ", ", ", ". "), "zh": ("：", "，", "。")}[lang]
    return "".join(
        f"{in_language(stack.name, lang)} {stack.whole}{colon}"
        + comma.join(f"{in_language(name, lang)} {said(size)}"
                     for name, size in stack.parts.items())
        + end for stack in stacks).strip()
