"""Two pools: every pair of a goal is a steady state, and the front is that of all pairs."""

import itertools
import json

import numpy as np
import pytest

import catalogue
from calc.answer.two_pools import combine_pools
from calc.layouts.space import Space
from calc.many.fronts import front
from calc.searching import pool_pairs as module
from calc.searching.candidates import CandidateCells
from calc.searching.goal import wishes
from calc.searching.load_goal import load_goal
from calc.searching.search import search


def test_a_pair_of_pools_is_what_its_file_gives(tmp_path, cli):
    code, out, _ = cli("search", "million-tokens", "--json", "-o", str(tmp_path),
                       *itertools.chain(*(("--set", text) for text in (
                           "devices=nvidia-h200-sxm", "cards.most=32", "space.pools=two",
                           "objectives=throughput_per_card,tpot", "precisions=fp8-block",
                           "space.batches=8,64,128"))))
    assert code == 0
    answer = json.loads(out)
    for path, told in zip(answer["files"], [group[0] for group in answer["front"]], strict=True):
        pools = combine_pools(*catalogue.load_pools(path))
        output = 1024
        seen = told["quantities"]
        assert min(pools.rate, 0.99 * pools.rates["prefill"]) * output == pytest.approx(
            seen["throughput"])
        closed = combine_pools(*catalogue.load_pools(path), users=seen["users"]).loop
        assert closed.rate * output == pytest.approx(seen["throughput"], rel=0.02)
        assert closed.tpot <= seen["tpot"] * 1.02  # of a decode pool that holds no more
        if told["binds_pools"] == "decode":
            assert closed.ttft == pytest.approx(seen["ttft"], rel=0.05)  # between numbers tried
        assert pools.devices <= 32


@pytest.mark.parametrize("settings", [
    ["demand.arrival_rate=3 request/s"], ["demand.users=100"],
    ["demand.users=60", "demand.think_time=10 s"], []])
def test_pairs_serve_what_is_asked_within_the_limit_on_the_ttft(settings):
    """The fewest cards are those of both pools; a limit holds with waiting (Little's law)."""
    goal = load_goal("million-tokens", [
        "devices=nvidia-h200-sxm", "cards.fewest=24", "cards.most=32", "space.pools=two",
        "precisions=fp8-block", "objectives=throughput,tpot", "limits.ttft=1 s",
        "space.drafts=0", "space.spares=none", *settings])
    rows = search(goal).pairs.rows()
    assert rows
    demand = goal.demand
    for pair in rows:
        seen = pair.quantities
        assert 24 <= pair.devices <= 32
        assert seen["ttft"] <= 1 * (1 + 1e-9)
        assert seen["prefill_busy"] < 1
        rate = seen["throughput"] / demand.output_tokens
        assert seen["users"] == pytest.approx(rate * (seen["e2e"] + (demand.think_time or 0)))
        if demand.arrival_rate is not None:
            assert rate == pytest.approx(demand.arrival_rate)
        if demand.users is not None:
            assert seen["users"] == pytest.approx(demand.users)


def test_pools_that_are_left_out_beat_no_pair():
    """Against every pair of pools, whether another one beats the pool or not."""
    goal = load_goal("million-tokens", [
        "devices=nvidia-h200-sxm", "cards.most=24", "space.pools=two", "precisions=fp8-block",
        "objectives=throughput,tpot", "space.batches=16,96", "space.expert=1,8,16",
        "space.drafts=0", "space.spares=none"])
    space = Space(goal)
    asked = wishes(space)
    ours = module.pairs(space, asked).front.rows
    pools = {"prefill": [], "decode": []}
    for base in space.bases():
        for cells in space.cells(base):
            for pool, found in pools.items():
                deployed = space.first(base, cells, pool)
                tried = CandidateCells(deployed.inputs(), deployed.model.attention, goal.demand)
                found.extend(module._pool(pool, tried, asked, cells, deployed))
    best = set()
    for first, then in itertools.product(pools["prefill"], pools["decode"]):
        for one, two in itertools.product(range(len(first["devices"])),
                                          range(len(then["devices"]))):
            if first["devices"][one] + then["devices"][two] > 24 or then["tpot"][two] > 0.1:
                continue
            busy = 0.99 * first["rate"][one]  # without a limit on the TTFT
            rate = min(busy, then["rate"][two], then["received"][two])
            best.add((rate * goal.demand.output_tokens, then["tpot"][two]))
    columns = dict(zip(("throughput", "tpot"), np.array(sorted(best)).T, strict=True))
    front_ = {tuple(np.array(sorted(best))[place]) for place in front(columns, asked.objectives)}
    assert set(zip(ours["throughput"].tolist(), ours["tpot"].tolist(), strict=True)) == front_
