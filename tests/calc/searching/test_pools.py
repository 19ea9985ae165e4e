"""Pairs of pools: each pool evaluated separately, and each pair a steady state."""

from dataclasses import replace

import numpy as np
import pytest
from _middle import BASE, cells

from calc.answer.service import MOST_BUSY, combine_pools
from calc.layouts.layout import scenario
from calc.searching.goal import Wishes, load_goal
from calc.searching.pools import Pools, as_served, pairs
from calc.serving.evaluate import evaluate

H200 = ("devices=nvidia-h200-sxm", "cards.most=32", "space.pools=two", "precisions=fp8-block",
        "space.drafts=0", "space.spares=none", "objectives=throughput,tpot")
OTHER = replace(BASE, device="nvidia-h200-sxm", node="hgx-h200")


def test_a_pair_equals_its_two_pools_by_themselves(answer_of):
    result = answer_of("million-tokens", *H200, "space.batches=8,64,128").result
    goal, rows = result.wishes.goal, result.pairs.rows()
    for row in rows[::4]:
        prefill, decode = (scenario(goal, choice) for choice in row.choices)
        pools, seen = combine_pools(prefill, decode), row.quantities
        assert pools.devices == row.devices <= 32
        assert min(pools.rate, MOST_BUSY * pools.rates["prefill"]) * 1024 == pytest.approx(
            seen["throughput"])
        alone = evaluate(decode.inputs(), "mla")
        assert seen["tpot"] == pytest.approx(float(alone["tpot"]))
        assert float(alone["request_throughput"]) * 1024 >= seen["throughput"] * (1 - 1e-9)


@pytest.mark.parametrize("settings", [
    ("demand.arrival_rate=3 request/s",), ("demand.users=100",),
    ("demand.users=60", "demand.think_time=10 s"), ()])
def test_pairs_serve_what_is_asked_within_the_limit_on_the_ttft(answer_of, settings):
    """The fewest cards are those of both pools; a limit holds with waiting (Little's law)."""
    result = answer_of("million-tokens", *H200, "cards.fewest=24", "limits.ttft=1 s", *settings
                       ).result
    demand, rows = result.wishes.goal.demand, result.pairs.rows()
    assert rows
    for pair in rows:
        seen, rate = pair.quantities, pair.quantities["throughput"] / demand.output_tokens
        assert 24 <= pair.devices <= 32
        assert seen["ttft"] <= 1 * (1 + 1e-9)
        assert seen["prefill_busy"] < 1
        assert seen["users"] == pytest.approx(rate * (seen["e2e"] + (demand.think_time or 0)))
        assert rate == pytest.approx(demand.arrival_rate or rate)
        assert seen["users"] == pytest.approx(demand.users or seen["users"])


def asked_of(*settings):
    goal = load_goal("r1-80-users-h20", [
        "demand.users=null", "demand.arrival_rate=2 request/s", "limits.tpot=null",
        "limits.ttft=null", "cards.fewest=12", "space.pools=two", *settings])
    return Wishes(goal, {"cards": -1, "ttft": -1}, 2, {}, ())


def pools(base=BASE, number=0, most=24):
    """Three pools that prefill and two that decode; a prompt waits next to nothing for others."""
    prefill = cells(devices=[4, 8, 16], tensor=[4, 8, 16], rate=[3., 5., 9.], residual=1e-12,
                    alone=[.5, .4, .3], port=.1, concurrency=[32, 64, 128], base=number,
                    power=[1e3, 2e3, 4e3])
    decode = cells(devices=[8, 12], tensor=[8, 12], rate=[4., 1.], tpot=[.02, .01],
                   port=[.2, .05], received=[10., 10.], concurrency=[70, 90], base=number,
                   power=[3e3, 5e3])
    return Pools(base, most, prefill, decode, (30, 20))


def paired(asked, *every):
    return pairs(None, asked, list(every))


def test_pairs_are_those_that_the_cards_allow_and_that_serve_what_is_asked():
    """2 requests a second: the pool of 12 that decodes finishes one; 16 and 12 are more than 24."""
    both = paired(asked_of(), pools())
    assert both.tried == (30, 20, 5)  # of the cards of a pair
    assert [(row.devices, row.prefill.tensor, row.binds) for row in both.rows()] == [
        (12, 4, "prefill"), (16, 8, "decode"), (24, 16, "decode")]
    for row, ttft, busy in zip(both.rows(), (.7, .6, .5), (2 / 3, 2 / 5, 2 / 9), strict=True):
        assert [row.quantities[name] for name in (
            "ttft", "e2e", "throughput", "throughput_per_card", "prefill_busy")] == pytest.approx(
            [ttft, ttft + 1023 * .02, 2 * 1024, 2048 / row.devices, busy])


@pytest.mark.parametrize(("limit", "kept"), [
    ("limits.e2e=21.1 s", [16, 24]), ("limits.ttft=650 ms", [16, 24]),
    ("limits.power=5 kW", [12, 16])])
def test_a_limit_keeps_the_pairs_at_it(limit, kept):
    assert [row.devices for row in paired(asked_of(limit), pools()).rows()] == kept


@pytest.mark.parametrize(("settings", "every", "compared"), [
    (("devices=nvidia-h20,nvidia-h200-sxm",), (pools(), pools(OTHER, 1)), 20),
    (("devices=nvidia-h20,nvidia-h200-sxm",), (pools(), pools(OTHER, 1, most=16)), 14),
    (("devices=any",), (pools(), pools(OTHER, 1)), 10),  # caches pass between cards of one kind
    ((), (pools(), pools(replace(BASE, precision="bf16"), 1)), 10),  # one format serves both
    ((), (pools(), pools(replace(BASE, engine="vllm@0.33.0"), 1)), 10),  # and one engine
    (("devices=any",), (replace(pools(), prefill={}), replace(pools(OTHER, 1), decode={})), 0)])
def test_pools_of_several_cards_formats_and_engines(settings, every, compared):
    assert paired(asked_of(*settings), *every).tried[2] == compared


def test_users_whom_a_pair_cannot_serve_wait_for_each_other():
    """40 users at 2 a second see a turn of 20 s: 5 s of thinking, 9.9 s of tokens, the rest."""
    demand = load_goal("r1-80-users-h20", ["demand.users=40", "demand.think_time=5 s",
                                           "demand.output_tokens=100 token"]).demand
    full = {name: np.array([value]) for name, value in {
        "prefill rate": 4., "decode rate": 3., "transfer rate": 2., "tpot": .1, "throughput": 0.,
        "ttft": 1., "e2e": 3., "users": 0., "prefill_busy": 0.}.items()}
    seen, late = (as_served(full, demand.model_copy(update=changed)) for changed in (
        {}, {"users": None, "arrival_rate": 3.0}))
    assert [float(seen[name][0]) for name in ("ttft", "e2e", "throughput", "users", "prefill_busy")
            ] == pytest.approx([5.1, 15, 200, 40, .5])
    assert (late["ttft"].tolist(), late["throughput"].tolist()) == ([np.inf], [0])
