"""Alert thresholds that the documents print, from ``params/engines/thresholds/``."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from catalogue.reading import units, yamlfile
from catalogue.reading.errors import ParamsError
from catalogue.reading.files import ROOT
from catalogue.reading.values import Text
from catalogue.reading.yamlfile import YamlFile

ABOVE, BELOW = "above", "below"
_NEEDED = ("section", "label", "direction", "metrics", "note")
_ALL = (*_NEEDED, "warning", "critical", "quantity")


@dataclass(frozen=True)
class Threshold:
    """What a document alerts on.

    Attributes:
        section: where it is printed.
        label, note: what of, and what is off with it, in both languages.
        above: whether it fires above the threshold, else below.
        printed: first level, as it is printed; value and unit are its SI number and unit.
        second: the level above the first, as it is printed, if there is one.
        quantity: of ours, if one is predicted.
        metrics: of vLLM that tell it.
    """

    section: str
    label: Text
    note: Text
    above: bool
    printed: str
    second: str | None
    value: float
    unit: str
    quantity: str | None
    metrics: tuple[str, ...]


def documents() -> list[str]:
    """Documents whose thresholds are held."""
    return sorted(path.stem for path in (ROOT / "engines" / "thresholds").glob("*.yml"))


@functools.cache
def thresholds(document: str) -> tuple[Threshold, ...]:
    """The thresholds of a document, in its order.

    >>> [each.printed for each in thresholds("s1")][-2:]
    ['500 token/s', '0.2 s']

    Raises ParamsError, one sentence with file and line.
    """
    return thresholds_of(yamlfile.read(ROOT / "engines" / "thresholds" / f"{document}.yml"))


def thresholds_of(file: YamlFile) -> tuple[Threshold, ...]:
    """The thresholds in a file. Raises ParamsError, one sentence with file and line."""
    listed = file.data.get("thresholds")
    if not isinstance(listed, list):
        raise ParamsError(f"{file.where()}: expected a list of thresholds.")
    return tuple(_threshold(file, number, raw) for number, raw in enumerate(listed))


def _threshold(file: YamlFile, number: int, raw: Any) -> Threshold:
    at = file.where(("thresholds", number))
    if not isinstance(raw, dict) or set(raw) - set(_ALL) or set(_NEEDED) - set(raw):
        raise ParamsError(f"{at}: expected {', '.join(_NEEDED)}, and of {', '.join(_ALL[5:])} "
                          "what is printed.")
    levels = [str(raw[name]) for name in ("warning", "critical") if raw.get(name) is not None]
    if raw["direction"] not in (ABOVE, BELOW) or not levels:
        raise ParamsError(f"{at}: expected a direction, above or below, and a level.")
    text, _, unit = levels[0].partition(" ")
    try:
        value = float(text) / 100 if unit == "%" else float(units.parse(levels[0], units.si(unit)))
    except ValueError as error:
        raise ParamsError(f"{at}: {error}.") from None
    return Threshold(str(raw["section"]), raw["label"], raw["note"], raw["direction"] == ABOVE,
                     levels[0], levels[1] if len(levels) > 1 else None, value,
                     "1" if unit == "%" else units.si(unit), raw.get("quantity"),
                     tuple(raw["metrics"]))
