"""The named inputs of formulas and the symbols that they are."""

from dataclasses import FrozenInstanceError, fields

import pytest

from calc.physics.arrays import Inputs
from catalogue.entries.formulas import symbols


def test_a_field_for_each_input_symbol() -> None:
    """Names, units and sentences follow params/symbols.yml, in its order."""
    stated = {name: (symbol.unit, symbol.en, symbol.zh)
              for name, symbol in symbols().items() if symbol.kind}
    assert {field.name: tuple(field.metadata.values()) for field in fields(Inputs)} == stated
    assert [field.name for field in fields(Inputs)] == [*stated]


def test_what_is_not_given_is_missing() -> None:
    q = Inputs({"tensor_parallel": 8.0}, data_parallel=2.0)
    assert (q.tensor_parallel, q.data_parallel) == (8.0, 2.0)
    with pytest.raises(AttributeError, match="hidden_size"):
        _ = q.hidden_size
    with pytest.raises(FrozenInstanceError):
        q.tensor_parallel = 4.0  # type: ignore[misc]
