"""What tokens cost, beside a table made by hand: hour by hour and year by year, in loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calc.costing.owning import bill
from calc.costing.tokens import token_costs
from laws.holding import law, near

HOUR, HOURS_OF_YEAR = 3600, 8760
PRICE = 2.5  # of a card's hour
DAY = (1, 1, 2, 2, 4, 4, 5, 9, 10, 10, 8, 3)  # tenths of the throughput that are used, by two hours


def cards_of(q, found, index):
    """Cards that are paid: those of the layout, and of prompts that are worked on elsewhere as
    many as are busy with them."""
    own = q["tensor_parallel"][index] * q["pipeline_parallel"][index] * q["data_parallel"][index]
    if not q["separate_pools"][index]:
        return own
    chunks = found["new_tokens"][index] / found["burst_tokens"][index]
    busy = q["tensor_parallel"][index] * chunks * found["burst_step_time"][index]
    return own + busy * found["request_throughput"][index]


@law
def test_a_day_of_tokens_costs_what_the_hours_of_its_cards_cost(fleet):
    """A table of a day's hours: what is paid, requests and tokens, added up one after the other."""
    q, found = fleet.inputs, fleet.found
    used = np.mean(DAY) / 10
    costs = token_costs(q, found, PRICE / HOUR, used)
    held = []
    for index in range(len(q["concurrency"])):
        paid = requests = answers = 0.0
        for tenths in DAY:
            for _ in range(2):
                paid += cards_of(q, found, index) * PRICE
                requests += tenths / 10 * found["request_throughput"][index] * HOUR
                answers += tenths / 10 * found["output_throughput"][index] * HOUR
        held.append(near(costs["per_request"][index], paid / requests)
                    & near(costs["per_output_whole"][index], paid / answers))
    return np.array(held)


@law
def test_prompts_and_answers_share_the_cost_as_the_card_seconds_that_they_take(fleet):
    """Of one pool: the chunks of all prompts and the steps of all answers, added up."""
    q, found = fleet.inputs, fleet.found
    costs = token_costs(q, found, PRICE / HOUR)
    of_prompt = costs["per_input"] * q["input_tokens"] / costs["per_request"]
    cards = q["tensor_parallel"]
    chunks = 1000 * found["new_tokens"] / found["burst_tokens"]
    prompts = chunks * cards * found["burst_step_time"]
    passes = found["decode_step_time"] + found["draft_time"]
    answers = 1000 * q["output_tokens"] * cards * passes / found["tokens_per_step"] / (
        found["decode_batch"])
    by_hand = prompts / (prompts + answers)
    return np.ma.array(near(of_prompt, by_hand), mask=q["separate_pools"] > 0)


MONEY, SHARE = st.floats(1, 1e6), st.floats(0, 0.9)
OWNED = st.fixed_dictionaries({
    "servers": st.integers(1, 64), "cards": st.integers(1, 512), "server": MONEY,
    "network": MONEY, "racks": MONEY, "storage": MONEY, "spares": SHARE, "upkeep": SHARE,
    "residual": SHARE, "discount": st.floats(0, 0.5), "years": st.integers(1, 10),
    "people": st.floats(0, 0.1), "hosting": st.floats(0, 1e-6), "electricity": st.floats(0, 1e-6),
    "kept_power": MONEY, "mean_power": MONEY})


@given(OWNED)
def test_owning_costs_what_its_years_cost_one_after_the_other(q):
    """A table of payments: at the beginning, at the end of every year, and the sale."""
    bought = q["servers"] * q["server"]
    hardware = bought + q["spares"] * bought
    capital = hardware + q["cards"] * q["network"] + q["servers"] * q["racks"] + q["storage"]
    present, nominal, worth, seconds = capital, capital, 0.0, HOURS_OF_YEAR * HOUR
    for year in range(1, q["years"] + 1):
        paid = (q["upkeep"] * hardware + q["servers"] * q["people"] * seconds
                + q["electricity"] * q["mean_power"] * seconds
                + q["hosting"] * q["kept_power"] * seconds)
        sold = q["residual"] * hardware if year == q["years"] else 0.0
        today = (1 + q["discount"]) ** -year
        present, nominal = present + (paid - sold) * today, nominal + paid - sold
        worth += today
    found = bill({name: float(value) for name, value in q.items()})
    assert found.present == pytest.approx(present, rel=1e-9)
    assert found.nominal == pytest.approx(nominal, rel=1e-9)
    assert found.second * seconds * worth == pytest.approx(present, rel=1e-9)
