"""Power, tokens and budgets of a made-up deployment whose numbers all differ, by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from calc.costing import affordable, power
from calc.costing.power import Around
from calc.costing.tokens import card_times, energy_per_token, shared_out, token_costs, user_month
from calc.uncertainty.amount import Amount
from catalogue import ParamsError

# --- power --------------------------------------------------------------------------------------


def step(phase, **times):
    """Quantities of a step that does nothing but what is told."""
    names = [f"{name}_{kind}" for name in power.MATMULS for kind in ("bytes", "flops", "time")]
    names += [f"{name}_time" for name in (
        "vector", "dequantisation", "all_reduce", "exchange", "pipeline", "context_exchange",
        "routed_expert", "core", "index")]
    return {f"{phase}_{name}": times.get(name, 0.0) for name in names}


CARD = {"micro_batches": 2, "memory_bandwidth": 100.0, "hbm_efficiency": 0.5} | {
    f"{name}_peak": 1000.0 for name in power.MATMULS} | {
    f"{name}_gemm_efficiency": 0.25 for name in power.MATMULS}


@pytest.mark.parametrize("phase", ["decode", "prefill", "burst"])
def test_kernels_run_for_the_longer_of_streaming_and_multiplying_and_no_longer_than_they_take(
        phase):
    """At 50 B/s and 250 operations a second, in two micro-batches."""
    found = power.busy_times(CARD, step(
        phase, vector_time=1.0, dequantisation_time=2.0,
        attention_bytes=200.0, attention_flops=750.0, attention_time=99.0,  # streams for 4 s
        dense_mlp_bytes=100.0, dense_mlp_flops=1750.0, dense_mlp_time=99.0,  # multiplies for 7 s
        head_bytes=500.0, head_flops=100.0, head_time=3.0,  # streams no longer than it takes
        router_bytes=50.0, router_flops=250.0, router_time=5.0,  # as long either way: it streams
        shared_expert_flops=2500.0, shared_expert_time=6.0,
        all_reduce_time=0.1, exchange_time=0.2, pipeline_time=0.4, context_exchange_time=0.8,
        routed_expert_time=11.0, core_time=13.0, index_time=17.0), phase)
    assert {name: float(time) for name, time in found.items()} == pytest.approx({
        "memory": 2 * (1 + 2 + 4 + 3 + 1), "matmul": 2 * (7 + 6), "experts": 22.0,
        "attention": 2 * 30, "links": 2 * 1.5})


SHARES = {"awake": 0.2, "loaded": 0.1} | dict.fromkeys(power.BUSY, 0.2) | {
    "memory": 0.5, "matmul": 0.9}


@pytest.mark.parametrize(("separate", "rate", "drawn"), [
    (0, 6.0, 480 + 2 * (1.5 * 1.5 * 30 + 0.5 * 3 * 70)), (1, 6.0, 480 + 2 * 1.5 * 1.5 * 30),
    (0, 0.0, 480), (0, 600.0, 2400)])
def test_cards_are_awake_and_each_rank_of_a_replica_makes_its_steps_and_chunks(
        separate, rate, drawn):
    """24 cards of 100 W in pairs: 6 tokens a second are 1.5 steps of 4 tokens, half as much again
    for drafts, each of 1 s of streaming; and half a request, of 3 chunks of 1 s of multiplying.
    """
    inputs = CARD | {"micro_batches": 1, "tensor_parallel": 2, "pipeline_parallel": 3,
                     "data_parallel": 4, "separate_pools": separate, "output_tokens": 12.0}
    quantities = step("decode", vector_time=1.0) | step(
        "prefill", head_flops=250.0, head_time=1.0) | {
        "draft_time": 0.2, "decode_step_time": 0.4, "decode_batch": 2.0, "tokens_per_step": 2.0,
        "prompt_chunks": 3.0}
    assert power.own_cards(inputs) == 24
    assert float(power.cards_power(inputs, quantities, rate, SHARES, 100.0)) == pytest.approx(drawn)


REST = Around(8, 300.0, 100.0, 80.0, 2000.0, (0.25, 0.75), (0.8, 0.96), 1000.0, 1.25)


def test_heat_turns_the_fans_with_the_cube_of_its_share():
    """Of two servers 600 W each of cards, and 400 W besides: half the load, an eighth of 80 W."""
    assert power.heat_of_server(1200.0, 2.0, REST) == (1000.0, 10.0)
    assert power.heat_of_server(1600.0, 0.5, REST) == (3600.0, 80.0)


def test_a_site_pays_for_what_supplies_lose_and_what_cools():
    """600 W of cards make 1000 W of heat; 1010 W are more than the last point, 96%. Of 160 W,
    560 W of heat and 80 × 0.28³ of fans, halfway between the points and a bit, 89.9%."""
    assert float(power.site_power(600.0, 8, REST)) == pytest.approx(1010 / 0.96 * 1.25)
    taken = 560 + 80 * 0.28**3
    efficiency = 0.8 + 0.16 * (taken / 1000 - 0.25) / 0.5
    assert float(power.site_power(320.0, 16, REST)) == pytest.approx(2 * taken / efficiency * 1.25)


# --- tokens -------------------------------------------------------------------------------------


TOKENS = {"tensor_parallel": 2, "pipeline_parallel": 3, "data_parallel": 1, "separate_pools": 0,
          "prefill_pool_devices": 0, "input_tokens": 100.0, "output_tokens": 10.0}
TIMES = {"burst_step_time": 6.0, "new_tokens": 70.0, "burst_tokens": 210.0,
         "decode_step_time": 0.9, "draft_time": 0.1, "decode_batch": 4.0, "tokens_per_step": 1.25,
         "output_throughput": 40.0}


def test_cards_are_busy_with_a_prompt_for_its_part_of_a_chunk_and_with_an_answer_for_its_steps():
    """Two cards for a third of 6 s; two cards for 10 tokens of 5 a second."""
    assert card_times(TOKENS, TIMES) == pytest.approx((4.0, 4.0))
    assert card_times(TOKENS, TIMES | {"burst_step_time": 3.0}) == pytest.approx((2.0, 4.0))


@pytest.mark.parametrize(("inputs", "cards", "of_prompt"), [
    ({}, 6, 1 / 2), ({"separate_pools": 1}, 6 + 16, 16 / 22),
    ({"separate_pools": 1, "prefill_pool_devices": 2}, 8, 2 / 8), ({"prefill_pool_devices": 2},
                                                                   6, 1 / 2)])
@pytest.mark.parametrize(("rate", "used"), [(None, 1.0), (40.0, 0.5), (20.0, 1.0)])
def test_what_is_paid_is_divided_by_what_prompts_and_answers_keep_busy(inputs, cards, of_prompt,
                                                                       rate, used):
    """4 requests a second at 3 a card and second; a pool that is not stated keeps up with them."""
    requests = (rate or 40.0) / 10
    if inputs == {"separate_pools": 1}:
        cards, of_prompt = 6 + 4 * requests, 4 * requests / (6 + 4 * requests)
    found = {name: float(value) for name, value in token_costs(
        TOKENS | inputs, TIMES, 3.0, used, rate).items()}
    request = 3 * cards / (used * requests)
    assert found == pytest.approx({
        "cards": cards, "per_second": 3 * cards, "per_request": request,
        "per_input": of_prompt * request / 100, "per_output": (1 - of_prompt) * request / 10,
        "per_output_whole": request / 10})


def test_parts_of_a_request_by_hand():
    """7 cards at 3 for half of 2 requests a second: 21 each, a quarter of it for 5 tokens."""
    assert shared_out(7, 3.0, 0.5, 2.0, 1.0, 3.0, 5, 9) == pytest.approx(
        (0.25, 21, 0.25 * 21 / 5, 0.75 * 21 / 9))


def test_a_month_and_idle_hours_by_hand():
    assert user_month(2.0, 3.0, 5, 7, 2) == pytest.approx(365 / 12 * 2 * (2 * 5 + 3 * 7))
    assert energy_per_token(700.0, 100.0, 0.25, 8.0) == pytest.approx((175 + 75) / 2)


# --- budgets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("amount", "price", "count"), [
    (10.0, 2.5, 4), (9.99, 2.5, 3), (0.3, 0.1, 3), (0.0, 1.0, 0), (-5.0, 1.0, 0), (0.9, 1.0, 0)])
def test_whole_ones_are_paid_for_and_a_digit_of_a_float_is_no_reason_for_one_less(amount, price,
                                                                                  count):
    assert affordable._affordable(amount, price) == count


@pytest.fixture
def priced(monkeypatch):
    """A card at 2 dollars an hour, a dollar at 8 yuan; servers of 4 cards, 700 W a card all in."""
    hours = []

    def hour(device, ownership, prices, price):
        hours.append((device, ownership, price))
        return Amount.exactly(2.0, "USD/s")

    def asked(card, node, prices):
        return (card.id, node.devices_per_node.value, prices) == ("card", 4, known)

    known = SimpleNamespace(exchange=SimpleNamespace(value=8.0, low=8.0, high=8.0), owning=None)
    for name, made in {
            "load_device": lambda device: SimpleNamespace(id=device),
            "load_node": lambda node: SimpleNamespace(devices_per_node=SimpleNamespace(value=4)),
            "prices_of": lambda device: known, "card_hour": hour,
            "full_power": lambda device: Amount.exactly(500.0, "W"),
            "around_of": lambda *given: "around" if asked(*given) else None,
            "site_power": lambda power, count, rest: power + 200.0 * count,
            "server_price": lambda *given: Amount.exactly(1000.0, given[3]) if asked(
                *given[:3]) else None}.items():
        monkeypatch.setattr(affordable, name, made)
    return hours


def within(**limits):
    return affordable.cards_within("card", "node", **limits)


def test_a_rent_pays_for_single_cards_in_its_own_currency(priced):
    """23 dollars, and 160 yuan at 16 a card."""
    dollars = Amount.exactly(23.0, "USD/s")
    assert within(rent=dollars, ownership="rent-always", price="p").cards == 11
    assert priced == [("card", "rent-always", "p")]
    assert within(rent=Amount.exactly(160.0, "CNY/s")).cards == 10
    assert priced[1] == ("card", "own", None)


def test_capital_and_power_pay_for_whole_servers(priced):
    """Two of 1000; of 10 kW three of 4 × 700 W."""
    assert within(capital=Amount.exactly(2999.0, "USD")).each == {"capital": 8}
    assert within(power=10_000.0).each == {"power": 12}
    assert within(power=2800.0).cards == 4
    assert within(power=2799.0).cards == 0


def test_the_least_of_several_limits_binds_and_each_is_told(priced):
    found = within(rent=Amount.exactly(200.0, "USD/s"), capital=Amount.exactly(3000.0, "USD"),
                   power=10_000.0)
    assert (found.cards, found.binds) == (12, "capital")
    assert found.each == {"rent": 100, "capital": 12, "power": 12}
    assert within(rent=Amount.exactly(7.0, "USD/s"), power=1e5).binds == "rent"


@pytest.mark.parametrize(("missing", "limits", "says"), [
    ("full_power", {"power": 1.0}, "nobody says what a server of 'card' draws"),
    ("around_of", {"power": 1.0}, "nobody says what a server of 'card' draws"),
    ("server_price", {"capital": Amount.exactly(1.0, "USD")}, "no price of a server of 'card'"),
    ("card_hour", {"rent": Amount.exactly(1.0, "USD/s")}, "no price of an hour")])
def test_what_nobody_says_is_refused_and_only_where_it_is_needed(priced, monkeypatch, missing,
                                                                 limits, says):
    monkeypatch.setattr(affordable, missing, lambda *_: None)
    with pytest.raises(ParamsError, match=says):
        within(**limits)
    every = {"rent": Amount.exactly(4.0, "USD/s"), "capital": Amount.exactly(4000.0, "USD"),
             "power": 1e4}
    others = {name: limit for name, limit in every.items() if name not in limits}
    assert set(within(**others).each) == set(others)


# --- what stands around -------------------------------------------------------------------------


def of(number):
    return SimpleNamespace(value=number)


PARTS = SimpleNamespace(cards=of(8), host=of(300.0), host_computing=of(450.0), network=of(100.0),
                        fans=of(80.0), cooling_load=of(2000.0), capacity=of(1000.0), whole=None)
SUPPLY = SimpleNamespace(points=[(0.25, 0.8), (0.75, 0.96)])


def around(given=PARTS, supply=SUPPLY, pue=1.25, card=500.0, server=6000.0, site=None,
           computing=False):
    device = SimpleNamespace(power=card and SimpleNamespace(full=of(card)))
    node = SimpleNamespace(power=server and SimpleNamespace(full=of(server)),
                           devices_per_node=of(4))
    prices = SimpleNamespace(around=given, supply=supply, pue=pue and of(pue))
    return power.around_of(device, node, prices, site, computing)


def test_every_part_is_taken_from_the_prices_where_they_state_all():
    assert around() == REST
    assert around(pue=None).pue == 1
    assert (around().host, around(computing=True).host) == (300, 450)
    plain = SimpleNamespace(**vars(PARTS) | {"host_computing": None})
    assert around(plain, computing=True).host == 300
    assert around(site=1.1).pue == around(None, site=1.1).pue == 1.1  # in place of the prices' own


@pytest.mark.parametrize("missing", ["host", "network", "fans", "cooling_load", "capacity"])
def test_of_what_is_known_at_full_load_all_beyond_the_cards_is_drawn_at_any_load(missing):
    """6000 W of a server are 1500 W for each of 4 cards, of which it draws 500 itself."""
    some = SimpleNamespace(**vars(PARTS) | {missing: None})
    plain = Around(4, 4000.0, 0.0, 0.0, 1.0, (), (), 1.0, 1.25)
    assert around(some) == around(None) == around(supply=None) == plain
    assert around(None, server=1000.0).host == 0  # a server draws no less than its cards
    assert float(power.site_power(2000.0, 4, plain)) == pytest.approx(6000 * 1.25)


def test_what_a_card_takes_with_all_of_the_site_comes_before_the_server_s_entry():
    """2000 W at the meter are 1600 W in the room, of which a card draws 500; eight to a server."""
    whole = SimpleNamespace(**vars(PARTS) | {"host": None, "whole": of(2000.0)})
    assert around(whole) == Around(8, 8 * 1100.0, 0.0, 0.0, 1.0, (), (), 1.0, 1.25)
    assert around(whole, pue=None).cards == 4  # nobody says how much of it is the site's
    assert around(whole, card=None) is None
    assert around(None, server=None) is None
