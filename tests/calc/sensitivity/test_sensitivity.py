"""What each input does alone, in company, and what knowing it is worth."""

import math

import numpy as np
import pytest

from calc.answer.estimate import estimate, predicted
from calc.sensitivity.information import BINS, between, information, to_buy
from calc.sensitivity.plans import against, plan_of
from calc.sensitivity.sobol import priors, scores_of, sensitivity
from calc.sensitivity.tornado import OWN, Bar, answers_of, elasticities, own_sides, tornado
from catalogue import ParamsError
from catalogue.deployments.physics_inputs import NORMAL_90
from reference.plans import knob, law

SAMPLE = ("s2-910b1-awq", "h200-r1-sglang-tp8", "wide-lmsys-decode-mtp")
WIDE = "parallelism.expert_parallel=8"
MEMORY, ROOM = "memory_per_device", "headroom_per_device"  # without an error of the formulas
RATE, DRAWS = "output_throughput", BINS * BINS


# --- alone ----------------------------------------------------------------------------------------


def test_bars_by_hand():
    """2a + b² + 0c at a = 3, b = 5: the widest first, what moves nothing left out."""
    knobs = [knob("a", 1, 3, 4), knob("b", 4, 5, 7, "b", "b2"), knob("c", 1, 7, 9)]
    plan = law({"a": 3.0, "b": 5.0, "b2": 5.0, "c": 7.0}, knobs, **dict.fromkeys(
        (MEMORY, "tpot"), lambda at: 2 * at.a + at.b * at.b2 + 0 * at.c))
    result = tornado(plan, MEMORY)
    assert result.value == 31
    assert result.bars == (Bar("b", 5, 4, 7, 22, 55), Bar("a", 3, 1, 4, 27, 33))
    down, up = own_sides(plan, "tpot")
    own, = (bar for bar in tornado(plan, "tpot").bars if bar.name == OWN)
    assert (own.at_low, own.at_high) == pytest.approx(
        (31 * math.exp(-NORMAL_90 * down), 31 * math.exp(NORMAL_90 * up)))


@pytest.mark.parametrize("name", SAMPLE)
def test_an_interval_is_wider_than_any_bar_and_narrower_than_their_sum(name):
    plan = plan_of(name)
    symbol, _ = plan.seen.get("tpot", ("tpot", 1.0))
    low, high = predicted(plan.scenario, [symbol])[symbol].ends
    result = tornado(plan, "tpot")
    moves = [sorted(math.log(end / result.value) for end in (bar.at_low, bar.at_high))
             for bar in result.bars]
    assert sum(min(down, 0) for down, _ in moves) <= math.log(low / result.value) + 1e-12
    assert math.log(high / result.value) <= sum(max(up, 0) for _, up in moves) + 1e-12
    assert high / low >= max(math.exp(up - down) for down, up in moves) * 0.9


def test_the_own_error_of_quantities():
    """A cost errs to the other side of its rate; a steady state as a wave; of memory none is known.
    """
    plan = plan_of("h200-r1-sglang-tp8")
    down, up = own_sides(plan, RATE)
    assert own_sides(plan, "card_hours") == (up, down)
    assert own_sides(plan, "steady_throughput") == (down, up)
    assert own_sides(plan, ROOM) == (0.0, 0.0)


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.parametrize("quantity", ["tpot", "card_hours"])
def test_an_elasticity_is_what_a_small_move_does(name, quantity):
    plan = plan_of(name)
    for one in [one for one in answers_of(plan, quantity) if not one.arc][:6]:
        ends = {symbol: plan.inputs[symbol] * np.exp([-1e-6, 1e-6]) for symbol in one.symbols}
        moved = np.diff(np.log(plan.at(ends, quantity)))[0] / 2e-6
        assert moved == pytest.approx(one.elasticity, abs=1e-6)


def test_the_room_of_a_device_by_hand():
    """All of memory but what the system keeps, times its share: the slopes of each."""
    plan = plan_of("s2-910b1-awq")
    result = elasticities(plan.inputs, "mla", [ROOM, "free_for_kv_per_device", MEMORY])
    share, room, kept = (plan.inputs[name] for name in (
        "memory_utilization", "memory_capacity", "system_reserve"))
    for name in (ROOM, "free_for_kv_per_device"):
        assert result[name]["memory_capacity"] == pytest.approx(share * room, rel=1e-6)
        assert result[name]["memory_utilization"] == pytest.approx(share * (room - kept), rel=1e-6)
    assert result[MEMORY]["memory_capacity"] == pytest.approx(0, abs=1)


# --- in company -----------------------------------------------------------------------------------


def test_indices_of_a_product_are_shares_of_its_variance():
    """a b² of two ranges from 1/e to e of the value: a fifth and four fifths."""
    ends = (1 / math.e, 1.0, math.e)
    plan = law({"a": 1.0, "b": 1.0, "c": 2.0}, [knob("a", *ends), knob("b", *ends),
                                                knob("c", 1, 2, 3)],
               **{MEMORY: lambda at: at.a * at.b**2 + 0 * at.c})
    result = sensitivity(plan, MEMORY, 256)
    assert (result.samples, result.evaluations, result.in_log) == (256, 256 * 5, True)
    assert result.deviation == pytest.approx(math.sqrt(5) / NORMAL_90, rel=0.03)
    for index, name, share in zip(result.indices, "bac", (0.8, 0.2, 0), strict=True):
        assert index.name == name
        assert (index.first, index.total) == pytest.approx((share, share), abs=0.05)


def test_indices_of_a_signed_quantity_with_interactions():
    """(a - 1)(b - 1): neither explains much alone, and its scale changes the deviation only."""
    ends = (1 / math.e, 1.0, math.e)
    one, three = (sensitivity(law({"a": 1.0, "b": 1.0}, [knob("a", *ends), knob("b", *ends)], **{
        ROOM: lambda at, scale=scale: scale * (at.a - 1) * (at.b - 1)}), ROOM, 256)
        for scale in (1, 3))
    assert not one.in_log
    assert three.deviation == pytest.approx(3 * one.deviation)
    assert all(index.total > index.first + 0.3 for index in one.indices)


def test_plans_share_inputs_of_one_range_and_the_error_of_their_class():
    """Each plan's own part and the shared one are the error of the quantity together."""
    plan = plan_of("h200-r1-sglang-tp8")
    result = priors([plan, against("h200-r1-sglang-tp8", (), WIDE)], "tpot")
    shared, own, other = range(len(plan.knobs), len(result.names))
    assert [[column for column, _ in parts] for parts in result.own] == [
        [shared, own], [shared, other]]
    for parts in result.own:
        assert math.hypot(*(sides[1] for _, sides in parts)) == pytest.approx(
            own_sides(plan, "tpot")[1])
    different = priors([law({}, [knob("a", 1, 2, high)]) for high in (3, 4)], MEMORY)
    assert different.names == ("a (1)", "a (2)")


@pytest.mark.parametrize("users", [80, 320])
def test_samples_of_a_steady_state_have_the_interval_of_its_estimate(users):
    """S1's plan as the page on risk has it; a sample draws the error of a wave."""
    plan = plan_of("s1-phases-3", [
        "precision=fp8-block", "parallelism.data_parallel=1", "parallelism.pipeline_parallel=4",
        "workload.max_num_batched_tokens=8192", "workload.input_tokens=1024",
        "workload.output_tokens=1024", "workload.context_tokens=2048",
        "workload.arrivals=closed-loop", f"workload.concurrency={users}"])
    prior = priors([plan], RATE)
    rates = prior.sample(plan, scores_of(len(prior.names), 2 * DRAWS), "steady_throughput")
    estimated = estimate(plan.scenario).seen.throughput
    assert np.quantile(rates, [0.1, 0.9]) == pytest.approx([*estimated.ends], rel=0.125)


# --- worth of knowing -----------------------------------------------------------------------------


def test_worth_of_an_input_that_tells_which_of_three_options_is_best():
    """In a quarter of the cases the second costs 1 in place of 9, in a half both cost 4 and 5."""
    rising = np.arange(8 * BINS)
    losses = np.repeat([[1.0, 4, 7], [9, 4, 7], [5, 4, 7], [5, 4, 7]], 2 * BINS, axis=0)
    result = information(losses, np.stack([rising, rising % (2 * BINS)], axis=1),
                         ["tells", "does not"], ["a", "b", "c"])
    assert (result.losses, result.taken, result.draws) == ((5.0, 4.0, 7.0), 1, 8 * BINS)
    assert (result.perfect, result.wrong) == (0.75, 0.25)
    assert [(worth.name, worth.value, worth.changes) for worth in result.worths] == [
        ("tells", 0.75, 0.25), ("does not", 0, 0)]


def test_worth_in_a_linear_decision():
    """Loss x against 0, x normal with mean m: perfect information is worth s·φ(m/s) − m·Φ(−m/s)."""
    score, other, idle = np.random.default_rng(3).standard_normal((3, 1 << 17))
    mean, known, unknown = 0.3, 0.8, 0.6
    losses = np.stack([mean + known * score + unknown * other, np.zeros_like(score)], axis=1)
    result = information(losses, np.stack([score, other, idle], axis=1),
                         ["known", "unknown", "idle"], ["x", "nothing"])

    def worth(deviation):
        at = mean / deviation
        tail = math.erfc(at / math.sqrt(2)) / 2
        return deviation * math.exp(-at * at / 2) / math.sqrt(2 * math.pi) - mean * tail

    assert result.options[result.taken] == "nothing"
    assert [one.name for one in result.worths] == ["known", "unknown", "idle"]
    assert [result.perfect, *(one.value for one in result.worths)] == pytest.approx(
        [worth(1.0), worth(known), worth(unknown), 0], rel=0.03, abs=3 * result.worths[0].scatter)


PURCHASE = law({"a": 10.0}, [knob("a", 5, 10, 20)], **{RATE: lambda at: at.a})


def test_a_purchase_equals_a_plain_loop_over_its_draws():
    """A demand of 30 at 5 a card now and 15 later, of deployments of 8 cards."""
    result = to_buy(PURCHASE, 30.0, 3.0, 5.0, DRAWS)
    moved = priors([PURCHASE], RATE)
    needed = np.ceil(30 / moved.sample(PURCHASE, scores_of(len(moved.names), DRAWS), RATE))
    sizes = np.arange(needed.min(), needed.max() + 1)
    losses = [40 * (size + 3 * np.maximum(0, needed - size)).mean() for size in sizes]
    assert result.options == tuple(f"{int(8 * size)} cards" for size in sizes)
    assert result.losses == pytest.approx(losses)
    assert result.taken == int(np.argmin(losses))
    assert result.perfect == pytest.approx(min(losses) - 40 * needed.mean())
    assert result.wrong == pytest.approx((needed != sizes[result.taken]).mean())
    assert result.needed == tuple(8 * np.quantile(needed, (0.1, 0.5, 0.9), method="higher"))


def test_dearer_later_buys_more_now():
    cheap, dear = (to_buy(PURCHASE, 300.0, late, draws=DRAWS) for late in (1.2, 4.0))
    assert (dear.taken, dear.perfect) > (cheap.taken, cheap.perfect)


@pytest.mark.parametrize(("name", "sign"), [("card_hours", 1), ("throughput_per_card", -1)])
def test_between_two_plans_the_cheaper_or_the_faster_is_taken(name, sign):
    plan = plan_of("h200-r1-sglang-tp8", ["workload.concurrency=4"])
    other = against("h200-r1-sglang-tp8", ["workload.concurrency=4"], WIDE)
    result, dear = (between(plan, other, name, price, DRAWS) for price in (1.0, 2.0))
    assert result.losses[result.taken] == min(result.losses)
    assert (np.sign(result.losses) == sign).all()
    assert dear.perfect == pytest.approx(2 * result.perfect)
    assert all(0 <= worth.value <= result.perfect + 1e-12 for worth in result.worths)


def constant(quantity):
    return law({"a": 2.0}, [knob("a", 1, 2, 3)], **{MEMORY: quantity})


ERRORS = [
    (lambda: sensitivity(law({}), MEMORY, 96), "--samples 96: expected a power of two from 64"),
    (lambda: sensitivity(constant(lambda at: 0 * at.a), MEMORY, 64), "no range of an input moves"),
    (lambda: sensitivity(constant(lambda at: np.where(at.a > 2.9, np.nan, at.a)), MEMORY, 64),
     "no value at the far ends"),
    (lambda: to_buy(PURCHASE, 30.0, 0.5), "expected 1 to below 1000"),
    (lambda: to_buy(PURCHASE, 1e9, 2.0), r"--demand: takes .* deployments of"),
    (lambda: to_buy(PURCHASE, 30.0, 2.0, draws=1536), "a power of two from 1024")]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors(call, message):
    with pytest.raises(ParamsError, match=message):
        call()
