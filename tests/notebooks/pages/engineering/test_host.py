"""Hybrid or more cards: what is decided by is at the break-even, and bounds lie where they must."""

import numpy as np
import pytest

from notebooks.pages.deployments.supplements.hybrid import bearable
from notebooks.pages.engineering import host


def test_at_the_break_even_price_of_a_host_both_cost_the_same_per_token() -> None:
    cards, slow, fast = (2, 8), 17.69, 51.4
    even = bearable(cards, slow, fast, 1)
    assert slow / (cards[0] + even) == pytest.approx(fast / (cards[1] + even), rel=1e-12)
    assert slow / (cards[0] + 2 * even) < fast / (cards[1] + 2 * even)


@pytest.mark.parametrize("users", [1, 2, 8])
def test_the_bandwidth_for_a_promise_keeps_it_exactly(users: int) -> None:
    at = host.bandwidth_for(users)
    assert at is not None
    pace = host.pace(host.with_host(host.BEST).inputs(), concurrency=float(users),
                     host_memory_bandwidth=at)
    assert float(pace) == pytest.approx(host.layouts.LIMIT, rel=1e-6)


def test_more_users_take_more_bandwidth_and_a_promise_can_be_beyond_any() -> None:
    needed = [host.bandwidth_for(users) for users in (1, 2, 4, 8)]
    assert None not in needed
    assert needed == sorted(needed)
    assert host.bandwidth_for(4, limit=0.005) is None


def test_no_part_of_the_host_makes_a_token_slower_by_taking_no_time() -> None:
    inputs, users = host.compared().pair.inputs(), np.array(host.USERS, float)
    times = {name: host.pace(inputs, concurrency=users, **moves)
             for name, (_, moves) in host.HELPS.items()}
    for name in ("memory", "cores", "link", "sync", "whole"):
        assert (times[name] <= times["as"]).all()
    assert (times["none"] >= times["as"]).all()


def test_most_users_are_the_last_within_the_limit() -> None:
    made = host.with_host(host.BEST)
    most = host.most_within(made)
    inside, outside = (float(host.pace(made.inputs(), concurrency=float(users)))
                       for users in (most, most + 1))
    assert inside <= host.layouts.LIMIT < outside


def test_a_slower_start_of_operators_holds_up_the_cards_and_more_users_bear_more() -> None:
    turns = []
    for users in host.PLACED_USERS:
        made = host.layouts.plan("nvidia-h20", "fp8-block", 2, users)
        inputs, kind = dict(made.inputs) | {"captured": 0.0}, made.scenario.model.attention
        turn = host.keeps_up(inputs, kind)
        found = host.calc.evaluate(inputs | {host.LAUNCH: turn}, kind)
        assert float(found["decode_host_time"]) == pytest.approx(
            float(found["decode_device_time"]), rel=1e-9)
        turns.append(turn)
    assert turns == sorted(turns)
