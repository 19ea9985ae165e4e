"""No result hangs on the units that a deployment is told in."""

import numpy as np
import pytest

from calc.costing.tokens import token_costs
from catalogue.entries.formulas import symbols
from catalogue.reading.units import dimensions
from laws.holding import law, near

UNITS = [("time", 2.0**10), ("time", 2.0**-20), ("information", 2.0**10), ("information", 2.0**-3),
         ("operation", 2.0**10)]


def scale(name, unit, factor):
    """By what a quantity grows where one of a unit is so many new ones."""
    return factor ** dimensions(symbols()[name].unit).get(unit, 0)


@pytest.mark.parametrize(("unit", "factor"), UNITS)
@law
def test_in_other_units_every_result_is_another_number_of_the_same_amount(fleet, unit, factor):
    """Seconds, bytes and operations of every parameter at once: nothing in the code has a unit."""
    told = {name: value * scale(name, unit, factor) for name, value in fleet.inputs.items()}
    found = fleet.of(**told)
    return np.array([near(found[name], value * scale(name, unit, factor))
                     for name, value in fleet.found.items()])


@law
def test_in_another_currency_every_price_is_another_number_of_the_same_amount(fleet):
    one, other = (token_costs(fleet.inputs, fleet.found, money) for money in (1.0, 7.25))
    return np.array([near(other[name], value * (1 if name == "cards" else 7.25))
                     for name, value in one.items()])
