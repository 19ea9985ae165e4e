"""The formulas of the chapter on cost against ``calc.costing``: two codings, to 1e-9."""

from __future__ import annotations

import random

import pytest

from workbench.crosscheck import TOLERANCE, crosscheck_costs
from workbench.formulas.errors import DerivationError
from workbench.formulas.exported import load_formulas, of_notebook

SHARES = ("memory_share", "matmul_share", "expert_share", "attention_share", "link_share")
BUSY = ("memory_busy", "matmul_busy", "expert_busy", "attention_busy", "link_busy")


def inputs(seed: int) -> dict[str, float]:
    """What the formulas start from, of a random deployment that is paid back some day."""
    draw = random.Random(f"costs {seed}")
    servers = draw.randint(1, 9)
    capital, rate = draw.uniform(1e4, 1e7), draw.uniform(0.01, 0.2)
    return {
        "own_cards": 8 * servers, "servers": servers, "tensor_parallel": draw.choice((1, 8)),
        "full_power": draw.uniform(300, 1400), "awake_share": draw.uniform(0.15, 0.3),
        **{name: draw.uniform(0.3, 1) for name in SHARES},
        **{name: draw.uniform(0, 0.02) for name in BUSY},
        "used_throughput": draw.uniform(10, 50_000), "decode_batch": draw.randint(1, 256),
        "tokens_per_step": draw.uniform(1, 3), "draft_time": draw.choice((0, 1e-3)),
        "decode_step_time": draw.uniform(0.01, 0.1), "output_tokens": draw.randint(1, 4000),
        "prompt_chunks": draw.randint(1, 9), "answer_step_energy": draw.uniform(0.1, 40),
        "prompt_chunk_energy": draw.uniform(1, 400), "host_watts": draw.uniform(500, 2000),
        "network_watts": draw.uniform(0, 800), "fan_watts": draw.uniform(100, 1500),
        "cooling_load": draw.uniform(2000, 12_000), "supply_efficiency": draw.uniform(0.85, 0.97),
        "site_effectiveness": draw.uniform(1, 1.6), "loaded_power": draw.uniform(500, 3000),
        "utilisation": draw.uniform(0.05, 1), "output_throughput": draw.uniform(10, 50_000),
        "paid_cards": draw.uniform(1, 400), "card_price": draw.uniform(1e-4, 3e-3),
        "demand_price": draw.uniform(1e-4, 5e-3), "request_throughput": draw.uniform(0.01, 99),
        "prompt_card_time": draw.uniform(0.01, 9), "answer_card_time": draw.uniform(0.01, 9),
        "input_tokens": draw.randint(1, 9000), "api_price": draw.uniform(1e-5, 0.1),
        "discount_rate": rate, "owned_years": draw.randint(1, 9), "capital": capital,
        "yearly_cost": draw.uniform(1e3, 1e6), "residual_value": draw.uniform(0, capital),
        "year_time": 31536000, "yearly_revenue": draw.uniform(0, 1e7),
        "yearly_surplus": capital * rate * draw.uniform(1.1, 9)}


@pytest.mark.parametrize("seed", range(40))
def test_the_two_codings_agree(seed):
    assert crosscheck_costs(inputs(seed)).worst <= TOLERANCE


def test_cards_at_their_limit_and_fans_at_full_speed_are_met():
    found = [crosscheck_costs(inputs(seed)) for seed in range(40)]
    drawn = [{row.name: row.calc for row in report.rows} for report in found]
    at = [inputs(seed) for seed in range(40)]
    limits = [case["own_cards"] * case["full_power"] for case in at]
    assert {values["cards_power"] == limit for values, limit in zip(drawn, limits, strict=True)
            } == {True, False}
    assert {values["fans_drawn"] == case["fan_watts"] for values, case in zip(drawn, at, strict=True)
            } == {True, False}


def test_every_formula_of_the_chapter_is_met():
    formulas = of_notebook(load_formulas(), "cost")
    assert {row.name for row in crosscheck_costs(inputs(0)).rows} == set(formulas)


def test_a_missing_input_is_named():
    given = inputs(0)
    del given["capital"]
    with pytest.raises(DerivationError, match="capital"):
        crosscheck_costs(given)
