"""What a command prints of an answer that a test writes down: lines, and the cells of tables."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

from rich.console import Console

BORDER = "│┃"


def printed(part: Callable[..., Any], *args: Any) -> list[str]:
    """What a part of a command prints to its first argument, a screen; a line of a table as its
    cells between strokes, borders left out."""
    screen = Console(width=240, file=StringIO(), markup=False, emoji=False)
    part(screen, *args)
    return lines_of(screen.file.getvalue())


def lines_of(text: str) -> list[str]:
    """The lines of a printed text, those of tables as :func:`printed` has them."""
    lines = []
    for line in text.splitlines():
        if line[:1] in BORDER and line:
            lines.append(" | ".join(cell.strip() for cell in
                                    line.replace("┃", "│").strip("│").split("│")))
        elif line.strip("─━┏┓┗┛┡┩└┘├┤┬┴┼┳┻╇╋ "):
            lines.append(line.strip())
    return lines
