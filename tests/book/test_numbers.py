"""The calculators write numbers as everything else does."""

import json
from pathlib import Path

import numpy as np
import pytest
from py_mini_racer import MiniRacer

from catalogue.reading import amounts

SCRIPT = Path(__file__).resolve().parents[2] / "book" / "assets" / "calculators" / "numbers.js"
UNITS = ("1", "s", "B", "B/s", "B/token", "FLOP/s", "token/s", "request", "USD", "CNY/h", "W", "J")
EDGES = (0.0, 1.0, 999.5, 999.4999, 1000.0, 9999.5, 12345.0, 0.5, 2.675, 120.5, 1e-4, 9.99e-5,
         1e6, 999_950.0, 1e9, 123456789.0, 1e15, 6.71e16, 3.2e-9, 1e-300, 1.7e300, float("inf"))
COUNT = 2_000


@pytest.fixture(scope="module")
def script():
    engine = MiniRacer()
    engine.eval(SCRIPT.read_text(encoding="utf-8"))
    return engine


def numbers():
    draw = np.random.default_rng(5)
    wide = 10.0 ** draw.uniform(-12, 16, COUNT)
    short = np.round(wide, 2)
    found = [*EDGES, *wide.tolist(), *short.tolist(), *np.floor(wide).tolist()]
    return [*found, *(-each for each in found)]


def asked(script, call, cases):
    text = json.dumps(cases).replace("-Infinity", "-1e999").replace("Infinity", "1e999")
    return json.loads(script.eval(f"JSON.stringify({text}.map(({call})))"))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_number_is_the_same_text(script, lang):
    cases = [(value, UNITS[place % len(UNITS)]) for place, value in enumerate(numbers())]
    found = asked(script, f"([value, unit]) => willItFit.human(value, unit, '{lang}')", cases)
    for (value, unit), text in zip(cases, found, strict=True):
        assert text == amounts.human(value, unit, lang), (value, unit)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_interval_is_the_same_text(script, lang):
    values = [value for value in numbers() if abs(value) < 1e300]
    cases = [(*sorted(pair), UNITS[place % len(UNITS)], pair[0] if place % 3 else 0)
             for place, pair in enumerate(zip(values[::2], values[1::2], strict=False))]
    found = asked(script, "([low, high, unit, of]) => "
                  f"willItFit.span(low, high, unit, '{lang}', of)", cases)
    for (low, high, unit, of), text in zip(cases, found, strict=True):
        assert text == amounts.span(low, high, unit, lang, of=of), (low, high, unit, of)


def test_digits_that_are_asked_for_are_the_same(script):
    cases = [(value, digits) for value in numbers()[::7] for digits in (1, 2, 4, 5)]
    found = asked(script, "([value, digits]) => willItFit.plain(value, digits)", cases)
    for (value, digits), text in zip(cases, found, strict=True):
        assert text == amounts.plain(value, digits), (value, digits)


def test_no_script_writes_a_number_by_itself():
    for path in SCRIPT.parent.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        for way in ("toLocaleString", "toPrecision", "NumberFormat", "toExponential"):
            assert way not in text, (path.name, way)
