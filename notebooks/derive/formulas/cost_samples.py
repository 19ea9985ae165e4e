"""Random inputs of the formulas on cost, which are of a deployment's money, not of its steps."""

from __future__ import annotations

import random

from catalogue.entries.formulas import Symbol, symbols
from catalogue.reading.units import YEAR

CARDS, MOST_SERVERS = 8, 9
# One stream of random numbers gives these, in this order: both decide what formulas are checked at.
NAMES = (
    "tensor_parallel", "full_power", "awake_share", "memory_share", "matmul_share", "expert_share",
    "attention_share", "link_share", "memory_busy", "matmul_busy", "expert_busy",
    "attention_busy", "link_busy", "used_throughput", "decode_batch", "tokens_per_step",
    "draft_time", "decode_step_time", "output_tokens", "prompt_chunks", "answer_step_energy",
    "prompt_chunk_energy", "host_watts", "network_watts", "fan_watts", "cooling_load",
    "supply_efficiency", "site_effectiveness", "loaded_power", "utilisation",
    "output_throughput", "paid_cards", "price_card", "price_on_demand", "request_throughput",
    "prompt_card_time", "answer_card_time", "input_tokens", "price_service", "owned_years",
    "cost_yearly")
# of any length, where a step's formulas are checked at a few
LENGTHS = {"output_tokens": (1, 4000), "input_tokens": (1, 9000)}


def random_costs(seed: int) -> dict[str, float]:
    """What the formulas of the chapter on cost start from, of a random deployment, in SI units.

    Args:
        seed: of the deployment, which is paid back some day.
    """
    draw, known = random.Random(f"costs {seed}"), symbols()
    servers = draw.randint(1, MOST_SERVERS)
    capital, rate = draw.uniform(1e4, 1e7), draw.uniform(0.01, 0.2)
    drawn = {name: _drawn(draw, known[name]) for name in NAMES}
    return drawn | {
        "own_cards": CARDS * servers, "servers": servers, "discount_rate": rate,
        "cost_capital": capital, "price_residual": draw.uniform(0, capital), "year_time": YEAR,
        "money_revenue": _drawn(draw, known["money_revenue"]),
        "money_surplus": capital * rate * draw.uniform(1.1, 9)}


def _drawn(draw: random.Random, symbol: Symbol) -> float:
    if symbol.name == "tensor_parallel":
        return draw.choice((1, CARDS))
    if ends := LENGTHS.get(symbol.name):
        return draw.randint(*ends)
    if symbol.range is None:
        return draw.choice(symbol.samples)
    low, high = symbol.range
    return draw.randint(int(low), int(high)) if symbol.whole else draw.uniform(low, high)
