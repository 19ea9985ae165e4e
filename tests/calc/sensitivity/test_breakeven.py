"""Break-even points are solved: both plans are equal there, and the better one changes."""

import math
from dataclasses import replace

import numpy as np
import pytest

from calc.costing.rates import card_hour, stated
from calc.costing.ways import api_request, crossover_utilisation
from calc.sensitivity import sampling
from calc.sensitivity.against_service import utilisation
from calc.sensitivity.breakeven import (
    CROSSING,
    EQUAL,
    FIRST,
    NEITHER,
    SECOND,
    STEP,
    TIE,
    breakeven,
    solve,
)
from calc.sensitivity.paths import GROUPS, path_of
from calc.sensitivity.plans import Limit, against, better, plan_of
from calc.sensitivity.probability import doubt
from catalogue import ParamsError, load_prices

NARROW = "parallelism.tensor_parallel=16,parallelism.data_parallel=1"
# scenario, settings, against, path, quantity: some cross, some step, some never turn
CASES = (
    ("s0-scenario-1", (), NARROW, "all_links", "tpot"),
    ("s0-scenario-1", ("precision=w8a8-int8",), NARROW, "network_alpha", "tpot"),
    ("h200-r1-sglang-mtp", (), "workload.draft_tokens=0", "mtp_acceptance", "tpot"),
    ("h200-r1-sglang-tp8", (), "parallelism.expert_parallel=8", "workload.concurrency", "tpot"),
    ("s3-hybrid-910b4", (), "s3-eight-cards", "concurrency", "card_hours"),
    ("s1-expert-tiers-one-request", (), "s1-expert-tiers-on-cards,parallelism.expert_parallel=32,"
     "workload.concurrency=4", "device_hit_share", "tpot"),
    ("wide-vllm-decode-ep32", (), "wide-vllm-decode-ep96", "requests_per_card", "card_hours"),
)


def asked(reference, settings, other, name):
    first = plan_of(reference, settings)
    return first, against(first, reference, settings, other), path_of(first, name)


@pytest.mark.parametrize(("reference", "settings", "other", "name", "quantity"), CASES)
def test_at_a_break_even_both_are_equal_and_the_better_one_changes(
        reference, settings, other, name, quantity):
    first, second, path = asked(reference, settings, other, name)
    found = breakeven(first, second, path, quantity)

    def leads(value):
        one, two = (float(plan.at(path.moves(plan, np.array([value])), quantity)[0])
                    for plan in (first, second))
        gap = math.log(one / two) * (1 if better(quantity) == "less" else -1)
        return TIE if abs(gap) <= EQUAL else FIRST if gap < 0 else SECOND, gap

    holds = found.start
    assert leads(path.low)[0] == holds
    for turn in found.turns:
        beside = 1.0 if path.whole else 1e-6 * turn.at
        assert turn.before == holds == leads(turn.at - beside)[0]
        assert turn.after == leads(turn.at + (0 if path.whole else beside))[0]
        if turn.kind == CROSSING:
            assert abs(leads(turn.at)[1]) <= EQUAL
        holds = turn.after
    assert leads(path.high)[0] == holds
    assert (found.always is None) == bool(found.turns)


def test_no_point_of_a_range_contradicts_what_is_told():
    """Between two turns the same plan leads at every one of many other points."""
    first, second, path = asked(*CASES[0][:4])
    found = breakeven(first, second, path, "tpot")
    points = np.random.default_rng(0).uniform(path.low, path.high, 2000)
    leads = first.at(path.moves(first, points), "tpot") < second.at(
        path.moves(second, points), "tpot")
    assert (leads == (points < found.turns[0].at)).all()
    assert len(found.turns) == 1


def test_all_roots_of_a_range_are_found():
    found = solve(np.cos, 0.0, 20.0)
    assert [turn.at for turn in found.turns] == pytest.approx(
        [math.pi * (place + 0.5) for place in range(6)], abs=1e-12)
    assert {turn.kind for turn in found.turns} == {CROSSING}


def test_a_jump_is_no_crossing():
    found = solve(lambda x: np.where(x < 2.5, -1.0, 1.0), 1.0, 4.0)
    turn, = found.turns
    assert turn.kind == STEP
    assert turn.at == pytest.approx(2.5)


def test_whole_numbers_are_all_tried():
    """A dent of one number among a hundred thousand is seen."""
    found = solve(lambda x: np.where(x == 77_777, 1.0, -1.0), 1, 100_000, whole=True)
    assert [(turn.at, turn.after) for turn in found.turns] == [(77_777, SECOND), (77_778, FIRST)]


@pytest.mark.parametrize(("low", "high", "points"), [
    (0.0, 8.0, [0, 2, 4, 6, 8]), (1.0, 16.0, [1, 2, 4, 8, 16])])
def test_a_range_is_cut_into_as_many_even_pieces_as_are_told(low, high, points):
    """Four, so five points with both ends; evenly in the logarithm beyond a factor of ten."""
    asked_for = []
    solve(lambda x: asked_for.append(x) or np.ones_like(x), low, high, most=4)
    assert asked_for[0] == pytest.approx(points)


def test_a_plan_that_is_impossible_loses_and_two_are_neither():
    found = solve(lambda x: np.where(x < 1, np.nan, np.where(x < 2, np.inf, -np.inf)), 0.0, 3.0)
    assert [found.start, *(turn.after for turn in found.turns)] == [NEITHER, SECOND, FIRST]


def test_equal_throughout_is_an_answer():
    plan = plan_of("s2-910b1-awq")
    assert breakeven(plan, plan, path_of(plan, "memory_bandwidth"), "tpot").always == TIE


def test_a_margin_asks_more_of_the_other():
    first, second, path = asked("h200-r1-sglang-mtp", (), "workload.draft_tokens=0",
                                "mtp_acceptance")
    even = breakeven(first, second, path, "tpot").turns[0].at
    asked_for = breakeven(first, second, path, "tpot", margin=0.1).turns[0].at
    assert asked_for < even  # without drafts wins by a tenth only where fewer are accepted


def test_under_a_limit_each_plan_serves_what_it_lets_it():
    plan, limit = plan_of("h200-r1-sglang-tp8"), Limit("tpot", 0.05)
    batches = np.arange(1.0, 1025.0)
    served = plan.at({"concurrency": batches}, "throughput_per_card")
    allowed = (plan.at({"concurrency": batches}, "tpot") <= limit.most) & plan.fits(
        {"concurrency": batches})
    best = plan.within({"input_tokens": np.array([219.0])}, "throughput_per_card", limit)[0]
    assert best <= served[allowed].max()
    assert best >= 0.95 * served[allowed].max()
    assert np.isnan(plan.within({}, "throughput_per_card", Limit("tpot", 1e-6))[0])


def test_two_pools_share_the_cards_so_that_both_finish_alike():
    """Their rate is what the slower of two pools of whole cards reaches at best, for any split."""
    plan = plan_of("h200-r1-sglang-tp8")
    pools = against(plan, "h200-r1-sglang-tp8", (), "pools")
    rate = pools.at({}, "throughput_per_card")[0]
    found = plan._asked({}, ("request_throughput", "prefill_throughput"), {"separate_pools": 1.0})
    prompt, answer = plan.inputs["input_tokens"], plan.inputs["output_tokens"]
    shares = np.linspace(0.001, 0.999, 999)
    slower = np.minimum(shares * found["prefill_throughput"] / prompt,
                        (1 - shares) * found["request_throughput"])
    assert slower.max() * answer / plan.cards == pytest.approx(rate, rel=2e-3)
    assert (slower * answer / plan.cards <= rate * (1 + 1e-12)).all()


def test_a_group_keeps_its_proportions():
    plan = plan_of("s0-scenario-1")
    moved = path_of(plan, "all_links").moves(plan, np.array([1e9, 2e9]))
    assert moved.keys() == set(GROUPS["all_links"])
    for name, values in moved.items():
        assert values[1] / values[0] == pytest.approx(2)
        assert values[0] / moved["network_bandwidth"][0] == pytest.approx(
            plan.inputs[name] / plan.inputs["network_bandwidth"])


def test_a_group_is_searched_about_its_first_from_a_sixteenth_to_sixteen_times():
    plan = plan_of("s0-scenario-1")
    path, first = path_of(plan, "all_links"), plan.inputs["network_bandwidth"]
    assert first not in (plan.inputs["pair_bandwidth"], plan.inputs["device_link_bandwidth"])
    assert (path.low, path.high) == (first / 16, first * 16)


def test_a_longer_prompt_makes_the_longest_context_longer():
    plan = plan_of("h200-r1-sglang-tp8")
    rest = plan.inputs["context_tokens"] - plan.inputs["input_tokens"]
    moved = path_of(plan, "workload.input_tokens").moves(plan, np.array([1000.0]))
    assert moved["context_tokens"][0] == 1000 + rest
    whole = path_of(plan, "context_tokens").moves(plan, np.array([2000.0]))
    assert whole["input_tokens"][0] == 2000 - plan.inputs["output_tokens"]


@pytest.mark.parametrize(("name", "between", "said"), [
    ("parallelism.tensor_parallel", None, "has no values in between"),
    ("device.memory_bandwith", None, "the nearest are memory_bandwidth"),
    ("single_batch_overlap", None, "nothing of this deployment moves"),
    ("memory_bandwidth", "1 TB/s", "expected LOW,HIGH"),
    ("memory_bandwidth", "2 TB/s, 1 TB/s", "is not below"),
    ("memory_bandwidth", "1 GB, 2 GB", "wrong unit"),
    ("mtp_acceptance", "-1, 1", "below zero"),
])
def test_a_path_that_does_not_move_is_one_sentence(name, between, said):
    with pytest.raises(ParamsError, match=said):
        path_of(plan_of("s2-910b1-awq"), name, between)


@pytest.mark.parametrize("setting", [
    "mechanisms.speed=2", "mechanisms.prefix_hit_share", "mechanisms.mtp_acceptance=-1",
    "mechanisms.kernel_boundary=3 GB", "mechanisms.=1", "workload.users=3"])
def test_a_setting_that_cannot_be_used_is_one_sentence(setting):
    with pytest.raises(ParamsError, match=r"\.$"):
        plan_of("s2-910b1-awq", [setting])


@pytest.mark.parametrize("reference", ["s0-scenario-1", "s0-config-4.3-decode"])
def test_two_pools_need_prompts_and_one_pool(reference):
    plan = plan_of(reference)
    with pytest.raises(ParamsError, match="--against pools"):
        against(plan, reference, (), "pools")


# --- how sure -------------------------------------------------------------------------------------


def test_the_point_of_the_central_values_lies_in_its_interval():
    first, second, path = asked(*CASES[2][:4])
    point = breakeven(first, second, path, "tpot").turns[0].at
    found = doubt(first, second, path, "tpot")
    assert found.low < point < found.high
    assert 0 <= found.first + found.second < 0.5


def test_what_is_known_exactly_leaves_no_doubt(monkeypatch):
    """Without ranges and own errors every case is that of the central values."""
    monkeypatch.setattr(sampling, "own_sides", lambda plan, name: (0.0, 0.0))
    first, second, path = asked(*CASES[2][:4])
    first, second = (replace(plan, knobs=plan.knobs[:1]) for plan in (first, second))
    point = breakeven(first, second, path, "tpot").turns[0].at
    found = doubt(first, second, path, "tpot")
    assert (found.low, found.high) == pytest.approx((point, point), rel=0.02)
    assert (found.first, found.second) == (0, 0)


def test_a_plan_against_itself_with_a_margin_is_never_beaten(monkeypatch):
    monkeypatch.setattr(sampling, "own_sides", lambda plan, name: (0.0, 0.0))
    plan = plan_of("s2-910b1-awq")
    found = doubt(plan, plan, path_of(plan, "memory_bandwidth"), "tpot", 0.1)
    assert (found.low, found.high, found.first, found.second) == (None, None, 1.0, 0.0)


# --- against a service ----------------------------------------------------------------------------


def test_the_utilisation_that_is_solved_is_the_one_in_closed_form():
    plan, service = plan_of("h200-r1-sglang-tp8"), load_prices("deepseek-api")
    hour = card_hour("nvidia-h200-sxm")
    found, sure = utilisation(plan, hour, service)
    prompt, answer = plan.inputs["input_tokens"], plan.inputs["output_tokens"]
    requests = plan.at({}, "output_throughput")[0] / answer
    sold = next(iter(service.holding.values()))
    api = api_request(sold.input.value, sold.output.value, prompt, answer)
    turn, = found.turns
    assert turn.at == pytest.approx(crossover_utilisation(plan.cards * hour.value, requests, api))
    assert (turn.before, turn.after) == (SECOND, FIRST)
    assert sure.low < turn.at < sure.high


def test_a_dear_card_is_never_cheaper_than_the_service():
    plan = plan_of("h200-r1-sglang-tp8")
    found, sure = utilisation(plan, stated("100 USD/h"), load_prices("deepseek-api"))
    assert found.always == SECOND
    assert sure.second == 1.0


@pytest.mark.parametrize(("name", "price", "service", "said"), [
    ("s0-scenario-1", "1 USD/h", "deepseek-api", "states no length of prompts"),
    ("h200-r1-sglang-tp8", "1 CNY/h", "deepseek-api", "in CNY, but"),
    ("h200-r1-sglang-tp8", "1 USD/h", "nvidia-h200-sxm", "sells no tokens"),
])
def test_a_service_that_cannot_be_compared_is_one_sentence(name, price, service, said):
    with pytest.raises(ParamsError, match=said):
        utilisation(plan_of(name), stated(price), load_prices(service))
