"""Axes of a sweep as they are written: paths, and lists or ranges of their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from catalogue import ParamsError, units

MOST_VALUES = 100_000  # of an axis
TOGETHER = "+"  # between paths that move together, and their values
RANGE = ".."
FORM = ("LOW..HIGH (whole numbers), LOW..HIGH:+STEP, LOW..HIGH:xFACTOR or LOW..HIGH:/COUNT "
        "(so many, evenly)")


@dataclass(frozen=True)
class Axis:
    """What one axis of a sweep runs over.

    Attributes:
        paths: what ``--set`` takes, or an input symbol; several move together.
        values: one text per path, for each place on the axis.
        origin: where it was given, for messages.
    """

    paths: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    origin: str

    @property
    def name(self) -> str:
        """Its paths, as they are written."""
        return TOGETHER.join(self.paths)

    def settings(self, place: int) -> dict[str, str]:
        """Path -> value at a place."""
        return dict(zip(self.paths, self.values[place], strict=True))


def axis(name: str, values: str | Sequence[object], origin: str) -> Axis:
    """An axis from its paths and its values, a text with commas or a list.

    >>> axis("workload.concurrency", "1, 8..32:x2", "--axis").values
    (('1',), ('8',), ('16',), ('32',))
    >>> axis("device+cluster.node", "ascend-910b2+atlas-800i-a2, nvidia-h20+hgx-h20", "").values[1]
    ('nvidia-h20', 'hgx-h20')

    Args:
        name: path, or several with ``+`` between them.
        values: single ones and ranges.
        origin: where it was given, for messages.

    Raises ParamsError for what is neither.
    """
    paths = tuple(path.strip() for path in name.split(TOGETHER))
    items = values.split(",") if isinstance(values, str) else [_text(item) for item in values]
    found: list[tuple[str, ...]] = []
    for item in items:
        for text in _several(item.strip(), origin) if len(paths) == 1 else [item.strip()]:
            parts = tuple(part.strip() for part in (
                text.split(TOGETHER) if len(paths) > 1 else [text]))
            if len(parts) != len(paths) or not all(parts):
                raise ParamsError(f"{origin}: '{item[:60]}' is no value of '{name}', expected "
                                  f"{TOGETHER.join(['VALUE'] * len(paths))}.")
            found.append(parts)
            if len(found) > MOST_VALUES:
                raise ParamsError(f"{origin}: more than {MOST_VALUES:,} values of '{name}'.")
    if twice := next((value for value, count in _counts(found).items() if count > 1), None):
        raise ParamsError(f"{origin}: '{TOGETHER.join(twice)}' is given twice.")
    return Axis(paths, tuple(found), origin)


def _text(item: object) -> str:
    return str(item).lower() if isinstance(item, bool) else str(item)


def _counts(values: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    counts: dict[tuple[str, ...], int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts


def _several(text: str, origin: str) -> Iterator[str]:
    """The values of a range, in its unit; anything else is itself."""
    low, dots, rest = text.partition(RANGE)
    try:
        first, unit = units.split(low)
    except ValueError:  # a path has dots as well
        dots = ""
    if not dots:
        yield text
        return
    high, _, step = (part.strip() for part in rest.partition(":"))
    try:
        last, other = units.split(high)
        start, end = Decimal(first), Decimal(last)
        numbers = _numbers(start, end, step or "+1")
    except (ValueError, InvalidOperation):
        raise ParamsError(f"{origin}: '{text[:60]}' is not a range, expected {FORM}.") from None
    if unit == units.DIMENSIONLESS:
        unit = other
    if unit != other or not start < end:
        raise ParamsError(f"{origin}: '{text[:60]}' is not a range, expected two ends in one unit, "
                          "the lower one first.")
    for number in numbers:
        yield f"{number:f}" if unit == units.DIMENSIONLESS else f"{number:f} {unit}"


def _numbers(start: Decimal, end: Decimal, step: str) -> Iterator[Decimal]:
    """From start to end by a step, all decimal. Raises ValueError for a step that leads nowhere."""
    kind, size = step[:1], Decimal(step[1:])
    if not (size.is_finite() and ((kind == "+" and size > 0) or (kind == "x" and size > 1
                                  and start > 0) or (kind == "/" and size > 1 and size % 1 == 0))):
        raise ValueError(step)

    def walk() -> Iterator[Decimal]:
        number, count = start, 0
        while number <= end and (kind != "/" or count < size):
            yield number.normalize()
            count += 1
            number = (number * size if kind == "x" else start + count * size if kind == "+"
                      else start + (end - start) * count / (size - 1))

    return walk()
