"""Random inputs of the formulas on cost, which are of a deployment's money, not of its steps."""

from __future__ import annotations

import random

from catalogue.reading.units import YEAR

SHARES = ("memory_share", "matmul_share", "expert_share", "attention_share", "link_share")
BUSY = ("memory_busy", "matmul_busy", "expert_busy", "attention_busy", "link_busy")


def random_costs(seed: int) -> dict[str, float]:
    """What the formulas of the chapter on cost start from, of a random deployment, in SI units.

    Args:
        seed: of the deployment, which is paid back some day.
    """
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
        "paid_cards": draw.uniform(1, 400), "price_card": draw.uniform(1e-4, 3e-3),
        "price_on_demand": draw.uniform(1e-4, 5e-3), "request_throughput": draw.uniform(0.01, 99),
        "prompt_card_time": draw.uniform(0.01, 9), "answer_card_time": draw.uniform(0.01, 9),
        "input_tokens": draw.randint(1, 9000), "price_service": draw.uniform(1e-5, 0.1),
        "discount_rate": rate, "owned_years": draw.randint(1, 9), "cost_capital": capital,
        "cost_yearly": draw.uniform(1e3, 1e6), "price_residual": draw.uniform(0, capital),
        "year_time": YEAR, "money_revenue": draw.uniform(0, 1e7),
        "money_surplus": capital * rate * draw.uniform(1.1, 9)}
