"""Two pools: what a pool comes to, which are paired, and every pair of a goal a steady state."""

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace as Made

import numpy as np
import pytest
from _middle import BASE, cells

import catalogue
from calc.answer.two_pools import MOST_BUSY, combine_pools
from calc.layouts.space import Space
from calc.many.fronts import front
from calc.searching import pool_pairs as module
from calc.searching.candidates import CandidateCells
from calc.searching.goal import Wishes, wishes
from calc.searching.load_goal import load_goal
from calc.searching.pool_pairs import Pairs, Pools, as_served, combined, pairs, rated
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
        for some in space.cells(base):
            for pool, found in pools.items():
                deployed = space.first(base, some, pool)
                tried = CandidateCells(deployed.inputs(), deployed.model.attention, goal.demand)
                found.extend(module._pool(pool, tried, asked, some, deployed))
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


OTHER = replace(BASE, device="nvidia-h200-sxm", node="hgx-h200")
FINER = replace(BASE, precision="bf16")


def asked_of(*settings, objectives=None):
    goal = load_goal("r1-80-users-h20", [
        "demand.users=null", "demand.arrival_rate=2 request/s", "limits.tpot=null",
        "limits.ttft=null", "cards.fewest=12", "space.pools=two", *settings])
    return Wishes(goal, objectives or {"cards": -1, "ttft": -1}, 2, {}, ())


def pools(base=BASE, number=0, most=24):
    """Three pools that prefill and two that decode; a prompt waits next to nothing for others."""
    prefill = cells(devices=[4, 8, 16], tensor=[4, 8, 16], rate=[3., 5., 9.], residual=1e-12,
                    alone=[.5, .4, .3], port=.1, concurrency=[32, 64, 128], base=number,
                    power=[1e3, 2e3, 4e3])
    decode = cells(devices=[8, 12], tensor=[8, 12], rate=[4., 1.], tpot=[.02, .01],
                   port=[.2, .05], received=[10., 10.], concurrency=[70, 90], base=number,
                   power=[3e3, 5e3])
    return Pools(base, most, prefill, decode, (30, 20))


def found(asked, *every):
    return pairs(None, asked, Pairs([], None, (0, 0, 0), {}, list(every)))


@pytest.mark.parametrize("block", [512, 2, 1])
def test_pairs_are_those_that_the_cards_allow_and_that_serve_what_is_asked(block, monkeypatch):
    """2 requests a second: the pool of 12 that decodes finishes one; 16 and 12 are more than 24."""
    monkeypatch.setattr(module, "BLOCK", block)  # pools that are paired at once
    both = found(asked_of(), pools())
    assert both.tried == (30, 20, 3)
    rows = both.rows()
    assert [(row.devices, row.quantities["ttft"]) for row in rows] == [
        (12, pytest.approx(.7)), (16, pytest.approx(.6)), (24, pytest.approx(.5))]
    assert [(row.prefill.tensor, row.choice.tensor) for row in rows] == [(4, 8), (8, 8), (16, 8)]
    assert [(row.prefill.concurrency, row.choice.concurrency) for row in rows] == [
        (32, 70), (64, 70), (128, 70)]
    assert [row.binds for row in rows] == ["prefill", "decode", "decode"]
    assert {(row.prefill.pool, row.choice.pool) for row in rows} == {("prefill", "decode")}
    for row in rows:
        assert row.quantities["throughput"] == pytest.approx(2 * 1024)
        assert row.quantities["e2e"] == pytest.approx(row.quantities["ttft"] + 1023 * .02)
        assert row.quantities["throughput_per_card"] == pytest.approx(2048 / row.devices)
        assert row.quantities["users"] == pytest.approx(2 * row.quantities["e2e"])
    assert rows[0].quantities["prefill_busy"] == pytest.approx(2 / 3)
    assert {row.choice.pool for row in both.rows("fp8-block")} == {"decode"}
    assert both.rows("bf16") == []
    assert both.front.rows["prefill rate"][0] == pytest.approx(MOST_BUSY * 3)


def test_a_limit_leaves_out_pairs_that_are_over_it_and_keeps_those_at_it():
    asked = asked_of("limits.e2e=21.1 s")  # 600 ms and 1023 tokens at 20 ms
    assert [row.devices for row in found(asked, pools()).rows()] == [16, 24]
    soon = found(asked_of("limits.ttft=650 ms"), pools())
    assert [row.devices for row in soon.rows()] == [16, 24]
    fed = found(asked_of("limits.power=5 kW"), pools())
    assert [(row.devices, row.quantities["power"]) for row in fed.rows()] == [
        (12, 4e3), (16, 5e3)]


def test_no_more_cards_than_either_base_may_have_are_paired():
    every = pools(most=24), pools(OTHER, 1, most=16)
    both = found(asked_of("devices=nvidia-h20,nvidia-h200-sxm"), *every)
    assert both.tried == (60, 40, 3 + 2 * 3)
    assert both.bases == [BASE, OTHER]
    assert {(row.prefill.device, row.choice.device) for row in both.rows()} <= {
        (one, two) for one in ("nvidia-h20", "nvidia-h200-sxm")
        for two in ("nvidia-h20", "nvidia-h200-sxm")}


def test_caches_pass_between_cards_of_one_kind_unless_the_goal_names_the_cards():
    every = pools(), pools(OTHER, 1)
    assert found(asked_of("devices=any"), *every).tried[2] == 6
    assert found(asked_of("devices=nvidia-h20,nvidia-h200-sxm"), *every).tried[2] == 12
    empty = replace(every[1], prefill={}), replace(every[0], decode={})
    assert found(asked_of("devices=nvidia-h20,nvidia-h200-sxm"), *empty).tried[2] == 3
    assert found(asked_of()).tried == (0, 0, 0)


@pytest.mark.parametrize(("cache", "compared"), [("bf16", 12), ("fp8", 6)])
def test_weights_of_two_pools_may_differ_where_their_caches_do_not(cache, compared, monkeypatch):
    monkeypatch.setattr(module, "load_precision", lambda name: Made(
        kv_cache={"bf16": "bf16", "fp8-block": cache}[name]))
    both = found(asked_of(), pools(), pools(FINER, 1))
    assert both.tried[2] == compared
    assert both.alike.keys() == {"fp8-block", "bf16"}
    assert len(both.rows("bf16")) == 3
    assert not module._exchange(BASE, replace(OTHER, precision="bf16"))
    assert module._exchange(BASE, OTHER)


def test_each_pool_may_have_fewer_cards_than_both_must():
    space = Space(asked_of().goal, resolve=len)
    alone = module._of_one(space)
    assert (alone.goal.cards.fewest, alone.goal.cards.most, alone.resolve) == (1, 64, len)


def test_a_pool_that_alone_keeps_no_limit_is_in_no_pair():
    """1 a second is asked for, or 1536 tokens a second in answers of 1024."""
    some = {"rate": np.array([.9, 1., 1.5, 1.6]), "tpot": np.array([.01, .06, .05, .04])}
    asked = ("demand.arrival_rate=1 request/s",)
    for settings, kept in (
            (asked, [1., 1.5, 1.6]), ((*asked, "limits.tpot=50 ms"), [1.5, 1.6]),
            ((*asked, "limits.throughput=1536 token/s"), [1.5, 1.6]),
            (("demand.arrival_rate=null", "limits.tpot=9 s"), [.9, 1., 1.5, 1.6])):
        assert module._able(some, asked_of(*settings))["rate"].tolist() == kept
    assert module._able(some, asked_of("limits.throughput=2000 token/s")) == {}
    first = {"rate": some["rate"]}
    soon = asked_of(*asked, "limits.tpot=1 ms")
    assert module._able(first, soon)["rate"].tolist() == [1, 1.5, 1.6]


@pytest.mark.parametrize(("seconds", "rate"), [(.25, 9), (.5, 8)])
def test_a_pool_finishes_no_more_than_its_front_ends_and_its_ports(seconds, rate, monkeypatch):
    """4 ranks send a prompt's cache in so many seconds each; a front end passes 9 a second on."""
    monkeypatch.setattr(module, "transfer_time", lambda *_: (seconds, None))
    monkeypatch.setattr(module, "cache", lambda *_: None)
    monkeypatch.setattr(module, "front_ends_rate", lambda q: 3.0 * q.front_ends)
    inputs = {"data_parallel": 4, "prompt_variation": .5, "request_overhead": .1, "front_ends": 3}
    seen = {"request_throughput": np.array([20., 7.]), "prefill_time": .7, "tpot": .03}
    asked = asked_of().goal.demand
    first = rated("prefill", inputs, seen, "mla", asked)
    assert first["rate"].tolist() == [rate, 7]
    assert first["residual"] == pytest.approx([4 / rate * 1.25 / 2, 4 / 7 * 1.25 / 2])
    assert (first["alone"], first["port"]) == (pytest.approx(.8), seconds)
    then = rated("decode", inputs, seen, "mla", asked)
    assert then["rate"].tolist() == [9, 7]
    assert (then["received"], then["tpot"], then["port"]) == (4 / seconds, .03, seconds)


@pytest.mark.parametrize(("settings", "limited", "limit"), [
    ((), True, None), (("limits.ttft=1 s",), True, 1), (("limits.ttft=1 s",), False, None),
    (("limits.ttft=1 s", "demand.arrival_rate=null"), False, 1),
    (("limits.ttft=1 s", "demand.arrival_rate=null", "demand.users=7"), False, None)])
def test_the_limit_of_waiting_holds_where_nothing_is_asked_or_where_it_is_to_hold(
        settings, limited, limit, monkeypatch):
    told = []
    monkeypatch.setattr(module, "balanced", lambda *given: told.append(given))
    asked = asked_of(*settings)
    combined("first", "then", asked, limited)
    demand = asked.goal.demand
    assert told == [("first", "then", 1024, limit, demand.users, 0.0, demand.arrival_rate)]


def test_users_whom_a_pair_cannot_serve_wait_for_each_other():
    """40 users at 2 a second see a turn of 20 s: 5 s of thinking, 9.9 s of tokens, the rest."""
    demand = load_goal("r1-80-users-h20", ["demand.users=40", "demand.think_time=5 s",
                                           "demand.output_tokens=100 token"]).demand
    full = {"prefill rate": [4.], "decode rate": [3.], "transfer rate": [2.], "tpot": [.1],
            "throughput": [0.], "ttft": [1.], "e2e": [3.], "users": [0.], "prefill_busy": [0.]}
    seen = as_served({name: np.array(column) for name, column in full.items()}, demand)
    assert {name: column.tolist() for name, column in seen.items() if name in (
        "ttft", "e2e", "throughput", "users", "prefill_busy")} == {
        "ttft": [pytest.approx(5.1)], "e2e": [15], "throughput": [200], "users": [40],
        "prefill_busy": [.5]}
    busy = full | {"prefill rate": [2.], "transfer rate": [9.], "decode rate": [9.]}
    assert as_served({name: np.array(column) for name, column in busy.items()}, demand)[
        "prefill_busy"].tolist() == [1]
    for change in ({"users": None, "think_time": None}, {"arrival_rate": 3.0, "users": None}):
        late = as_served({name: np.array(column) for name, column in full.items()},
                         demand.model_copy(update=change))
        assert (late["ttft"].tolist(), late["e2e"].tolist()) == ([np.inf], [np.inf])
        assert late["throughput"].tolist() == [0]


class Tried:
    """Cells that fit, or hold so many requests."""

    attention = "mla"

    def spare(self, cells):
        return 300 - cells["concurrency"]

    def holds(self, cells):
        return cells["most"]

    def prefilling(self, cells):
        return {}

    def packing(self, cells):
        return {}

    def columns(self, cells):
        return {"inputs": 1}

    def quantities(self, cells, names):
        return dict.fromkeys(names, np.ones(len(cells["data"])))

    def power(self, cells, deployed, throughput):
        return deployed + throughput


def test_a_pool_that_prefills_drafts_nothing_and_one_that_decodes_has_the_least_chunk():
    """32 prompts are with each rank of the former; users are shared by the ranks of the latter."""
    some = cells(drafts=[0, 1, 0, 0], chunk=[4096, 2048, 2048, 2048], data=[2, 2, 9, 10],
                 most=[64, 64, 60, 600])
    part, = module._prefilling(Tried(), None, some)
    assert part["concurrency"].tolist() == [64, 64, 288]
    whole = [number for part in module._decoding(
        Tried(), asked_of("demand.arrival_rate=null", "demand.users=25",
                        "space.batches=1,3,4,13,14"), some)
             for number in part["concurrency"].tolist()]
    assert whole == [2, 6, 8, 26, 2, 6, 8, 26, 9, 27, 10, 30]


@pytest.mark.parametrize(("pool", "kept", "watts"), [
    ("prefill", [4096, 2048, 2048], 907), ("decode", [2048, 2048, 2048], 900 + 7 * 1024)])
def test_a_pool_is_of_its_own_cells_and_draws_what_its_own_rate_takes(
        pool, kept, watts, monkeypatch):
    some = cells(drafts=[0, 1, 0, 0], chunk=[4096, 2048, 2048, 2048], concurrency=9)
    given = []
    for name in ("_prefilling", "_decoding"):
        monkeypatch.setattr(module, name, lambda tried, asked, cells, name=name: [
            given.append(name) or cells])
    monkeypatch.setattr(module, "rated", lambda *_: {"rate": 7.0, "port": .1})
    part, = module._pool(pool, Tried(), asked_of("limits.power=9 kW"), some, 900.0)
    assert given == [{"prefill": "_prefilling", "decode": "_decoding"}[pool]]
    assert part["chunk"].tolist() == kept
    assert part["power"].tolist() == [watts] * 3
    assert part["rate"].tolist() == [7] * 3
    assert part["concurrency"].tolist() == [9] * 3
    plain, = module._pool(pool, Tried(), asked_of(), some, 900.0)
    assert "power" not in plain
    none = {name: column[:0] for name, column in some.items()}
    assert list(module._pool(pool, Tried(), asked_of(), none, 900.0)) == []
    drafting = some | {"drafts": np.ones(4, int)}
    assert len(list(module._pool(pool, Tried(), asked_of(), drafting, 900.0))) == (pool == "decode")


def test_pools_of_each_base_are_those_that_no_other_of_the_same_cards_beats(monkeypatch):
    """One that is better in everything but the cards is another one; those that alone break a
    limit are counted as tried, and those that are not to be kept are not tried."""
    asked = asked_of("limits.tpot=50 ms")
    space = Made(bases=lambda: [BASE, OTHER], most=lambda base: {BASE: 24, OTHER: 16}[base])
    monkeypatch.setattr(module, "_of_one", lambda given: given)
    given = []

    def candidates(each, base, demand, pool, threads):
        given.append((base.device, pool, threads))
        if base is OTHER and pool == "decode":
            return None
        return "tried", "deployed", cells(chunk=[1, 2, 3, 4, 5])

    def columns(pool, tried, wanted, some, deployed):
        assert (tried, deployed, wanted) == ("tried", "deployed", asked)
        every = cells(devices=[8, 8, 16, 8, 8], chunk=[1, 2, 3, 4, 5], concurrency=7,
                      rate=[5., 4., 5., 9., 1.], port=.1, alone=.3, residual=.2, received=9.,
                      tpot=[.03, .04, .03, .06, .01])
        if pool == "prefill":
            del every["tpot"]
        keep = np.isin(every["chunk"], some["chunk"])
        yield {name: column[keep] for name, column in every.items()}

    monkeypatch.setattr(module, "candidate_cells", candidates)
    monkeypatch.setattr(module, "_pool", columns)
    first, then = module.pools(space, asked, threads=5)
    assert given == [(base.device, pool, 5) for base in (BASE, OTHER)
                     for pool in ("prefill", "decode")]
    assert (first.base, first.most, first.tried) == (BASE, 24, (5, 5))
    assert (then.base, then.most, then.tried) == (OTHER, 16, (5, 0))
    assert first.prefill["chunk"].tolist() == [4]  # of 16 cards one of 8 beats it
    assert first.decode["chunk"].tolist() == [1]
    assert (first.prefill["base"].tolist(), then.prefill["base"].tolist()) == ([0], [1])
    assert then.decode == {}
    kept = module.pools(space, asked, keep=lambda base, some: some["chunk"] != 4)
    assert kept[0].tried == (4, 4)
    assert kept[0].prefill["chunk"].tolist() == [1]
