"""What a shelf of tables is asked for, and what it says is there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """Rows of one operator, card and engine in one file."""

    file: str
    operator: str
    card: str
    engine: str
    rows: int


@dataclass(frozen=True)
class RowFilter:
    """Which rows are wanted: any of these cards, engines and formats; nothing named is all."""

    cards: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()

    def card(self, name: str) -> bool:
        """Whether rows of a card are wanted."""
        return not self.cards or name in self.cards
