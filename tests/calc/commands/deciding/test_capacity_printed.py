"""What ``capacity`` prints of numbers that are written down here: each in its place and unit."""

from types import SimpleNamespace as Made

import pytest
from _options import printed

from calc.capacity import growth, pool_layouts, tables
from calc.capacity.replicas import Limits
from calc.commands.deciding import capacity as command
from catalogue import ParamsError

HOUR = {"rate": 12.0, "replicas": 3, "busy": 0.416, "ttft": 0.25, "tpot": 0.02, "ttft_at": 0.5,
        "tpot_at": None}
DAY = {"requests": 1_234_567.0, "devices_per_replica": 8, "rate_within_limits": 4.5,
       "saturation_rate": 6.25, "closed_form_holds": True, "replicas": 3, "devices": 24,
       "hours": [HOUR, HOUR | {"rate": 0.5, "replicas": 1, "busy": 1.0, "ttft_at": 2.0}],
       "utilisation": 0.63, "start": 90.0, "saved_by_scaling": 0.337, "checked": [],
       "online": None}
RUNS = [{"replicas": 3, "ttft": 0.75, "tpot": 0.05, "met": False},
        {"replicas": 4, "ttft": 0.5, "tpot": 0.03, "met": True}]


def day(share, **more):
    return printed(command._print_day, {"scenario": "mine", "load": "theirs", "day": DAY | more},
                   {"share": share})


def test_a_day_hour_by_hour():
    assert day(0.995) == [
        "mine, theirs: 1,234,567 requests a day, one replica of 8 cards takes 4.5 request/s within "
        "limits (p99.5), 6.25 at most.",
        "hour | request/s | replicas | busy | TTFT p99.5 | TPOT p99.5",
        "0 | 12 | 3 | 42% | 500 ms | –",
        "1 | 0.5 | 1 | 100% | 2 s | –",
        "replicas: 3 (24 cards), busy 63% of what they take, over the day",
        "scaled by the hour, started 90 s ahead: 34% of the cards' time is saved"]


def test_a_day_in_the_mean_with_what_was_simulated():
    found = day(None, closed_form_holds=False, online=4321.0, checked=RUNS)
    assert found[1:4] == ["hour | request/s | replicas | busy | TTFT mean | TPOT mean",
                          "0 | 12 | 3 | 42% | 250 ms | 20 ms",
                          "1 | 0.5 | 1 | 100% | 250 ms | 20 ms"]
    assert found[4].startswith("The closed form does not hold at these rates")
    assert found[-3:] == [
        "busiest hour simulated with 3 replicas: TTFT 750 ms, TPOT 50 ms (mean), not within limits",
        "busiest hour simulated with 4 replicas: TTFT 500 ms, TPOT 30 ms (mean), within limits",
        "in conversation in the busiest hour: 4,321 users"]
    assert day(None, checked=RUNS[:1])[-1] == (
        "The simulation met the limits with none of these: the first number is too hopeful.")


FLEET = {"groups": 3, "servers": 2, "spares": 1, "between_failures": 86400.0 * 30,
         "repair": 3600.0 * 24, "restart": 405.0, "source": "somebody", "share": 0.98765,
         "share_low": 0.9, "share_high": 0.999, "promise": None, "spares_for_promise": None}


def test_servers_that_fail():
    assert printed(command._print_failures, {"failures": FLEET}, {}) == [
        "servers: 3 groups of 2, 1 stand by; one fails every 30 days, is mended in 24 h, a group "
        "restarts in 6.75 min (somebody)",
        "throughput that is there: 98.77% (90.00% to 99.90%)"]
    promised = FLEET | {"groups": 1, "promise": 0.995, "spares_for_promise": {
        "low": 4, "central": 2, "high": None}}
    found = printed(command._print_failures, {"failures": promised}, {})
    assert found[0].startswith("servers: 1 group of 2,")
    assert found[2] == ("servers that stand by for all groups in 99.5000% of the time: 2 "
                        "(no number to 4)")


def test_tiers_of_a_cache():
    tier = {"tier": "device", "tokens": 12345.0, "time": 300.0, "found": 0.123, "hit_share": 0.456,
            "fetch": 0.001, "recompute": 0.5, "break_even": None, "replicas": 0}
    other = tier | {"tier": "storage", "break_even": 2e9, "replicas": 7, "time": 86400 * 3.0}
    assert printed(command._print_tiers, {"tiers": [tier, other]}, {})[1:] == [
        "device | 12,345 | 5 min | 12.3% | 45.6% | 1 ms | 500 ms | 0 B/s | –",
        "storage | 12,345 | 3 days | 12.3% | 45.6% | 1 ms | 500 ms | 2 GB/s | 7"]


REGRET = {"cases": ["low, central", "high, low"], "candidates": ["a", "b", "c", "d"],
          "costs": [[1000.0, 2000.0], [1500.0, None], [3.0, 4.0], [5.0, 6.0]],
          "regrets": [[0.0, 500.4], [10.0, None], [1.0, 7.0], [5.0, 2.0]],
          "least_regret": "a", "least_cost": "b", "central": "a", "money": None}


def test_regret_of_every_candidate_or_of_those_that_are_told():
    whole = printed(command._print_regret, {"regret": REGRET}, {"late": None})
    assert whole[1:] == [
        "candidate | low, central | high, low | largest regret",
        "a | 1,000 | 2,000 | 500", "b | 1,500 | – | –", "c | 3 | 4 | 7", "d | 5 | 6 | 5",
        "least regret: a; least mean cost: b; best as expected: a",
        "no price of this card's hour is known, see --price"]
    priced = REGRET | {"money": {
        "hour": [2.0, 1.5, 2.5], "currency": "USD", "source": "somebody",
        "largest": [[1000.8, 750.6, 1251.0], None, [14.0, 14.0, 14.0], [10.0, 7.5, 12.5]]}}
    told = printed(command._print_regret, {"regret": priced}, {"late": 2.0})
    assert [line.partition(" |")[0] for line in told[2:4]] == ["a", "b"]
    assert told[-2:] == [
        "a card's hour at 2 (1.5–2.5) USD (somebody); largest regret of a day, with both ends of "
        "the price:",
        "a: 1,001 (751–1,251) USD"]
    exact = priced | {"least_cost": "c"}
    assert printed(command._print_regret, {"regret": exact}, {"late": 2.0})[-1] == "c: 14 USD"


def test_the_best_layout_of_every_number_of_cards():
    one = {"cut": [8, 1, 1, 8], "way": {"draft_tokens": 0, "micro_batches": 1}, "doubts": [],
           "per_device": 1234.5, "ttft": 0.5, "tpot": 0.05, "binds": "tpot", "resource": "memory"}
    doubted = one | {"doubts": ["few"], "way": {"draft_tokens": 2, "micro_batches": 1}}
    two = {"per_device": 99.5, "groups": [2, 1], "prefill": {"devices": 8},
           "decode": {"devices": 32, "drafts": 1, "micro_batches": 2}}
    found = printed(command._print_cards, {"cards": {
        "sizes": [8, 16, 32], "best": [None, one, doubted], "two_pools": [None, None, two]}}, {})
    assert [line.split(" | ")[:5] for line in found[1:4]] == [
        ["8", "–", "–", "–", "–"], ["16", "TP8/EP8", "1,235", "500 ms", "50 ms"],
        ["32", "TP8/EP8, 2 MTP tokens ~", "1,235", "500 ms", "50 ms"]]
    assert [line.split(" | ")[7] for line in found[1:4]] == [
        "–", "–", "99.5 (2×8 + 1×32, 1 MTP token, two micro-batches)"]
    assert found[4].startswith("~ in closed form, which a simulation need not confirm there: ")
    assert len(printed(command._print_cards, {"cards": {
        "sizes": [16], "best": [one], "two_pools": [None]}}, {})) == 2


@pytest.mark.parametrize(("text", "share"), [("99", 0.99), ("50", 0.5), ("99.9", 0.999)])
def test_a_percentile_lies_from_the_median_to_one_request_in_a_thousand(text, share):
    assert command._percentile(text) == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize("text", ["49.9", "99.95", "", "100", "-99"])
def test_what_is_no_percentile(text):
    with pytest.raises(ParamsError):
        command._percentile(text)


@pytest.mark.parametrize(("text", "expected"), [
    ("1,1,1", {"low": 1, "central": 1, "high": 1}),
    ("0.5,2,3", {"low": 0.5, "central": 2, "high": 3}),
    ("0,1,2", None), ("1,2,1e18", None), ("1,2,inf", None), ("1,2,3,4", None), ("a,b,c", None),
    ("2,1,3", None)])
def test_growth_is_three_numbers_that_do_not_fall(text, expected):
    if expected is None:
        with pytest.raises(ParamsError):
            command._growth(text)
    else:
        assert command._growth(text) == expected


@pytest.mark.parametrize(("alone", "paired", "told"), [
    ((16,), (8,), True), ((), (8,), True), ((16,), (), True), ((), (), False)])
def test_each_number_of_cards_has_its_best_or_none(monkeypatch, alone, paired, told):
    """One that neither one pool nor two pools serve is refused with the largest that was tried."""
    def answer(size):
        return Made(as_json=lambda: {"size": size})

    asked = Limits(1.0, 0.05, 0.99)
    scenario = Made(id="mine", node=Made(devices_per_node=Made(value=8)))
    monkeypatch.setattr(tables, "Tables", lambda of: ("tables", of))
    monkeypatch.setattr(growth, "best", lambda of, size, limits, tables: answer(size) if (
        of, limits, tables) == (scenario, asked, ("tables", scenario)) and size in alone else None)
    monkeypatch.setattr(pool_layouts, "Pairing", lambda of, sizes: Made(
        best=lambda limits: {size: answer(size) for size in sizes if (
            of, limits) == (scenario, asked) and size in paired}))
    given = {"ttft": 1.0, "tpot": 0.05, "share": 0.99}
    sizes = growth.sizes_of(8)
    if told:
        found = command._cards(scenario, given)
        assert found["sizes"] == list(sizes)
        assert found["best"] == [{"size": size} if size in alone else None for size in sizes]
        assert found["two_pools"] == [{"size": size} if size in paired else None for size in sizes]
    else:
        with pytest.raises(ParamsError, match=f"{sizes[-1]}"):
            command._cards(scenario, given)
