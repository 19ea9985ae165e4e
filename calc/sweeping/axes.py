"""Axes of a sweep as they are written: paths, and lists or ranges of their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import count, takewhile

from catalogue import ParamsError, units
from catalogue.entries.deployments import Parallelism

MOST_VALUES = 100_000  # of an axis
TOGETHER = "+"  # between paths that move together, and their values
RANGE = ".."
FORM = ("LOW..HIGH (whole numbers), LOW..HIGH:+STEP, LOW..HIGH:xFACTOR or LOW..HIGH:/COUNT "
        "(so many, evenly)")
PLAIN = ("concurrency", "input_tokens", "output_tokens", "context_tokens",
         "max_num_batched_tokens", "block_size", "memory_utilization")
WORKLOAD, CUT = "workload.", "parallelism."


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
        name: path, or several with ``+`` between them; an input symbol of the workload or the
            layout is the path to it.
        values: single ones and ranges.
        origin: where it was given, for messages.

    Raises ParamsError for what is neither.
    """
    paths = tuple(_path(path.strip()) for path in name.split(TOGETHER))
    found: list[tuple[str, ...]] = []
    for item in values.split(",") if isinstance(values, str) else map(written, values):
        for text in _several(item.strip(), origin) if len(paths) == 1 else [item.strip()]:
            parts = tuple(part.strip() for part in (
                text.split(TOGETHER) if len(paths) > 1 else [text]))
            if len(parts) != len(paths) or not all(parts):
                raise ParamsError(f"{origin}: '{item[:60]}' is no value of '{name}', expected "
                                  f"{TOGETHER.join(['VALUE'] * len(paths))}.")
            found.append(parts)
            if len(found) > MOST_VALUES:
                raise ParamsError(f"{origin}: more than {MOST_VALUES:,} values of '{name}'.")
    for value, times in Counter(found).most_common(1):
        if times > 1:
            raise ParamsError(f"{origin}: '{TOGETHER.join(value)}' is given twice.")
    return Axis(paths, tuple(found), origin)


def written(value: object) -> str:
    """A value of a file as a flag has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _path(name: str) -> str:
    root = WORKLOAD if name in PLAIN else CUT if name in Parallelism.model_fields else ""
    return root + name


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
        plain = f"{number.normalize():f}"
        yield plain if unit == units.DIMENSIONLESS else f"{plain} {unit}"


def _numbers(start: Decimal, end: Decimal, step: str) -> Iterator[Decimal]:
    """From start to end by a step, all decimal. Raises ValueError for a step that leads nowhere."""
    kind, size = step[:1], Decimal(step[1:])
    if kind == "/" and size > 1 and size % 1 == 0:
        return (start + (end - start) * i / (size - 1) for i in range(int(size)))
    if kind == "+" and 0 < size < Decimal("inf"):
        return takewhile(lambda number: number <= end, (start + i * size for i in count()))
    if kind == "x" and 1 < size < Decimal("inf") and start > 0:
        return takewhile(lambda number: number <= end, (start * size**i for i in count()))
    raise ValueError(step)
