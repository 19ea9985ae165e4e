"""Symbols: complete, in units of the registry, and one quantity with the field of their name."""

import pytest

import catalogue
from catalogue import ParamsError, units
from catalogue.deployments.layout import rule_of
from catalogue.entries import formulas
from catalogue.entries.mechanisms import Mechanisms


def test_symbols_have_units_of_the_registry():
    for symbol in catalogue.symbols().values():
        units.dimensions(symbol.unit)
        assert symbol.latex
        assert symbol.en
        assert symbol.zh


@pytest.mark.parametrize(("facts", "said"), [
    ("kind: guess", "test.yml:2: rate.kind: Input should be 'model'"),
    ("sgin: positive", "test.yml:2: rate.sgin: Extra inputs are not permitted"),
    ("kind: prior, sign: positive, neutral: 0", "0 is no value of what is positive"),
    ("samples: [-1, 1]", "a sample below zero, expected 'sign: signed'"),
    ("samples: [1, 2], range: [1, 2]", "expected 'samples' or one 'range'"),
    ("neutral: 0", "'neutral' is of an input, expected its 'kind'")])
def test_what_is_wrong_with_a_symbol_is_told(tmp_path, facts, said):
    path = tmp_path / "test.yml"
    path.write_text("# one symbol\n"
                    f"rate: {{latex: r, unit: B/s, en: rate, zh: 速率, {facts}}}\n", "utf-8")
    with pytest.raises(ParamsError) as error:
        formulas._symbols(path)
    assert said in str(error.value)


def test_mechanisms_and_symbols_agree_on_units_and_limits():
    """A field of a file and the symbol of its name are one quantity."""
    for name, symbol in catalogue.symbols().items():
        rule = rule_of(Mechanisms, name)
        if rule is None:
            continue
        assert symbol.kind == "prior", name
        assert symbol.rule.unit == rule.unit, name  # of a request or not
        assert symbol.most == rule.maximum, name
        assert rule.exclusive or symbol.sign != "positive", name
