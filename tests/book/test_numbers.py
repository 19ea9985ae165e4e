"""Number formats of the calculators' script, against those of the runtime."""

import json

import numpy as np
import pytest
from _project import ROOT
from py_mini_racer import MiniRacer

from catalogue.reading import units

UNITS = ("1", "s", "B", "B/s", "B/token", "FLOP/s", "token/s", "request", "USD", "CNY/h", "W", "J")
EDGES = (0.0, 1.0, 999.5, 999.4999, 1000.0, 9999.5, 12345.0, 0.5, 2.675, 120.5, 1e-4, 9.99e-5,
         1e6, 999_950.0, 1e9, 123456789.0, 1e15, 6.71e16, 3.2e-9, 1e-300, 1.7e300, float("inf"))
WIDE = 10.0 ** np.random.default_rng(5).uniform(-12, 16, 500)
NUMBERS = [sign * float(each) for sign in (1, -1)
           for each in (*EDGES, *WIDE, *np.round(WIDE, 2), *np.floor(WIDE))]
FINITE = [value for value in NUMBERS if abs(value) < 1e300]
ONES = [(value, UNITS[place % len(UNITS)]) for place, value in enumerate(NUMBERS)]
SPANS = [(*sorted(pair), UNITS[place % len(UNITS)], pair[0] if place % 3 else 0)
         for place, pair in enumerate(zip(FINITE[::2], FINITE[1::2], strict=False))]


@pytest.fixture(scope="module")
def script():
    engine = MiniRacer()
    engine.eval((ROOT / "book/assets/calculators/numbers.js").read_text(encoding="utf-8"))
    return engine


def asked(script, call, cases):
    text = json.dumps(cases).replace("-Infinity", "-1e999").replace("Infinity", "1e999")
    return json.loads(str(script.eval(f"JSON.stringify({text}.map(({call})))")))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_numbers_and_intervals_have_the_same_text(script, lang):
    ones = asked(script, f"([value, unit]) => willItFit.human(value, unit, '{lang}')", ONES)
    assert ones == [units.human(value, unit, lang) for value, unit in ONES]
    call = f"([low, high, unit, of]) => willItFit.span(low, high, unit, '{lang}', of)"
    assert asked(script, call, SPANS) == [units.span(low, high, unit, lang, of=of)
                                          for low, high, unit, of in SPANS]
