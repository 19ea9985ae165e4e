"""The picture that a preview of a page shows: the book, the title, its first computed answer.

Sixteen colours and flat ground, so a picture is a few kB and takes some ms; it is named by what it
says and drawn once.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from .. import pipeline

FONT = Path(__file__).resolve().parents[3] / "notebooks/show/fonts/workbench-sans-sc.ttf"
PALETTE = ("3f86c6", "d9772b", "3f9b5f", "c9566b", "8e6fc1", "2c9a9a", "b08d2e", "8a9099")
SIZE = (1200, 630)  # pixels, as previews show them
FOLDER = "_images"
MARGIN, BAR = 80, 18
GROUND, INK = (255, 255, 255), (29, 37, 48)
SHADES = 16 - len(PALETTE)  # from ground to ink
BOOK, TITLE, TEXT = 28, 64, 38  # sizes of letters, in pixels
LEADING = 1.32
MOST = {TITLE: 3, TEXT: 5}  # lines
ENDED = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
WORD = re.compile(r"[\u2e80-\uffef“‘《（](?:[，。、：；！？”’》）…]*)|[^\s\u2e80-\uffef]+\s*|\s+")


def sentence(text: str) -> str:
    """The first sentence that has a number, else the first.

    >>> sentence("What fits? It needs 671 GB. More follows.")
    'It needs 671 GB.'
    """
    every = [part.strip() for part in ENDED.split(text) if part.strip()]
    return next((part for part in every if re.search(r"\d", part)), every[0] if every else "")


def broken(text: str, size: int, width: float) -> list[str]:
    """Lines of a text, each at most so many pixels wide; Chinese breaks between any two signs."""
    lines = [""]
    for word in WORD.findall(text):
        if lines[-1] and _font(size).getlength(f"{lines[-1]}{word}".rstrip()) > width:
            lines.append("")
        lines[-1] += word if lines[-1] else word.lstrip()
    return [line.rstrip() for line in lines]


def drawn(book: str, title: str, subtitle: str) -> Image.Image:
    """Draw the picture of a page: name of the book, title of the page, a sentence of it or nothing.

    Its palette has shades of the ink first, then the colours of the figures.
    """
    mask = Image.new("L", SIZE, 0)
    pen = ImageDraw.Draw(mask)
    pen.text((MARGIN, MARGIN - 10), book, 150, _font(BOOK))
    top = MARGIN + 78.0
    for text, size, ink in ((title, TITLE, 255), (subtitle, TEXT, 200)):
        lines = broken(text, size, SIZE[0] - 2 * MARGIN)
        if len(lines) > MOST[size]:
            lines = [*lines[:MOST[size] - 1], f"{lines[MOST[size] - 1]}…"]
        for line in lines:
            pen.text((MARGIN, top), line, ink, _font(size))
            top += LEADING * size
        top += 24
    image = mask.point([value * (SHADES - 1) // 255 for value in range(256)])
    image = Image.frombytes("P", SIZE, image.tobytes())
    shades = [round(ground + (ink - ground) * index / (SHADES - 1)) for index in range(SHADES)
              for ground, ink in zip(GROUND, INK, strict=True)]
    image.putpalette([*shades, *(part for colour in PALETTE for part in bytes.fromhex(colour))])
    wide = SIZE[0] // len(PALETTE)
    for index in range(len(PALETTE)):
        image.paste(SHADES + index, (index * wide, SIZE[1] - BAR, (index + 1) * wide, SIZE[1]))
    return image


def put(outdir: Path, *words: str) -> str:
    """Draw a picture into the site, if it is not there; its address from the site's folder."""
    name = f"{FOLDER}/page-{pipeline.digest(*words)[:16]}.png"
    target = outdir / name
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        drawn(*words).save(target, bits=4)
    return name


@functools.cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(FONT), size)
