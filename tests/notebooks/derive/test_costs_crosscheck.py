"""The formulas of the chapter on cost against ``calc.costing``: two codings, to 1e-9."""

from __future__ import annotations

import pytest

from notebooks.derive.crosscheck import TOLERANCE, crosscheck_costs
from notebooks.derive.formulas.cost_samples import random_costs
from notebooks.derive.formulas.errors import DerivationError
from notebooks.derive.formulas.exported import load_formulas, of_notebook


@pytest.mark.parametrize("seed", range(40))
def test_the_two_codings_agree(seed):
    assert crosscheck_costs(random_costs(seed)).worst <= TOLERANCE


def test_cards_at_their_limit_and_fans_at_full_speed_are_met():
    found = [crosscheck_costs(random_costs(seed)) for seed in range(40)]
    drawn = [{row.name: row.calc for row in report.rows} for report in found]
    at = [random_costs(seed) for seed in range(40)]
    limits = [case["own_cards"] * case["full_power"] for case in at]
    assert {values["cards_power"] == limit for values, limit in zip(drawn, limits, strict=True)
            } == {True, False}
    full = [case["fan_watts"] for case in at]
    assert {values["fans_drawn"] == most for values, most in zip(drawn, full, strict=True)
            } == {True, False}


def test_every_formula_of_the_chapter_is_met():
    formulas = of_notebook(load_formulas(), "cost")
    assert {row.name for row in crosscheck_costs(random_costs(0)).rows} == set(formulas)


def test_a_missing_input_is_named():
    given = random_costs(0)
    del given["cost_capital"]
    with pytest.raises(DerivationError, match="cost_capital"):
        crosscheck_costs(given)
