"""How far a command is, on a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from calc.many.processes import OnProgress

SOON = 2.0  # until it is shown [s]


class _Late(Progress):
    """Progress that is shown from ``SOON`` seconds on."""

    def get_renderables(self) -> Iterable[RenderableType]:
        soon = any((task.elapsed or 0.0) < SOON for task in self.tasks)
        return () if soon else super().get_renderables()


@contextlib.contextmanager
def progress() -> Iterator[OnProgress]:
    """Say on standard error what takes its time, and how much of it is done; nothing elsewhere.

    Yields a function of what is under way, how much of it is done, and of how much; 0 of 0 where
    nobody knows.
    """
    screen = Console(stderr=True, markup=False)
    with _Late(TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(),
               TimeElapsedColumn(), console=screen, transient=True,
               disable=not screen.is_terminal) as shown:
        task = shown.add_task("", total=None)
        yield lambda what, done, of: shown.update(
            task, description=what, completed=done, total=of or None)
