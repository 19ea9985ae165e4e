"""What each input does: alone, in company, and what knowing it is worth."""

import itertools
import math

import numpy as np
import pytest

from calc.evidence.classes import deviations
from calc.sensitivity import sensitivity as module
from calc.sensitivity.elasticities import answers_of, elasticities
from calc.sensitivity.information import BINS, DRAWS, between, information, to_buy
from calc.sensitivity.plans import BATCHES, Limit, against, plan_of, signed
from calc.sensitivity.sampling import priors, sample_quantity
from calc.sensitivity.sensitivity import sensitivity
from calc.sensitivity.tornado import OWN, own_sides, tornado
from calc.uncertainty.interval import interval
from catalogue import ParamsError
from catalogue.deployments.knobs import NORMAL_90

SAMPLE = ("s2-910b1-awq", "h200-r1-sglang-tp8", "s3-hybrid-910b4", "wide-lmsys-decode-mtp")
WIDE = "parallelism.expert_parallel=8"


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.parametrize("quantity", ["tpot", "headroom_per_device"])
def test_a_bar_is_the_deployment_with_that_input_at_either_end(name, quantity):
    plan = plan_of(name)
    found = tornado(plan, quantity)
    assert found.value == plan.at({}, quantity)[0]
    knobs = {knob.name: knob for knob in plan.knobs}
    for bar in found.bars:
        if bar.name != OWN:
            for end, value in ((bar.low, bar.at_low), (bar.high, bar.at_high)):
                moved = dict.fromkeys(knobs[bar.name].symbols, np.array([end]))
                assert plan.at(moved, quantity)[0] == pytest.approx(value, rel=1e-12)
    swings = [bar.swing for bar in found.bars]
    assert swings == sorted(swings, reverse=True)
    assert min(swings) > 0


@pytest.mark.parametrize("name", SAMPLE)
def test_an_interval_is_wider_than_any_bar_and_narrower_than_all_of_them_together(name):
    plan = plan_of(name)
    low, high = interval(plan.inputs, plan.knobs, plan.scenario.model.attention, ["tpot"],
                         deviations(plan.scenario))["tpot"].ends
    found = tornado(plan, "tpot")
    moves = [sorted(math.log(end / found.value) for end in (bar.at_low, bar.at_high))
             for bar in found.bars]
    assert sum(min(down, 0) for down, _ in moves) <= math.log(low / found.value) + 1e-12
    assert math.log(high / found.value) <= sum(max(up, 0) for _, up in moves) + 1e-12
    assert high / low >= max(math.exp(up - down) for down, up in moves) * 0.9


def test_a_cost_errs_to_the_other_side_of_its_rate():
    plan = plan_of("h200-r1-sglang-tp8")
    down, up = own_sides(plan, "output_throughput")
    assert own_sides(plan, "card_hours") == (up, down)
    assert own_sides(plan, "headroom_per_device") == (0.0, 0.0)


@pytest.mark.parametrize("name", SAMPLE)
def test_what_is_told_of_an_input_is_what_a_small_move_does(name):
    plan = plan_of(name)
    for quantity in ("tpot", "card_hours"):
        told = [one for one in answers_of(plan, quantity) if not one.arc][:6]
        for one in told:
            ends = {symbol: plan.inputs[symbol] * np.exp([-1e-6, 1e-6]) for symbol in one.symbols}
            moved = np.diff(np.log(plan.at(ends, quantity)))[0] / 2e-6
            assert moved == pytest.approx(one.elasticity, abs=1e-6)


def test_a_mechanism_that_is_not_at_work_is_not_told():
    """One replica has no other whose cache could be fuller."""
    plan = plan_of("h200-r1-sglang-tp8")
    assert "kv_imbalance" not in {knob.name for knob in plan.scenario.every_knob()}
    assert "kv_imbalance" not in {one.name for one in answers_of(plan, "tpot")}


def test_a_count_has_an_arc():
    plan = plan_of("h200-r1-sglang-tp8")
    arc = next(one for one in answers_of(plan, "tpot") if one.name == "concurrency")
    ends = plan.at({"concurrency": arc.value * np.array([0.5, 2.0])}, "tpot")
    assert arc.arc
    assert arc.elasticity == pytest.approx(math.log(ends[1] / ends[0]) / math.log(4))


def test_what_may_be_negative_is_told_in_its_unit():
    plan = plan_of("h200-r1-sglang-tp8")
    found = elasticities(plan.inputs, "mla", ["headroom_per_device"])["headroom_per_device"]
    used = plan.inputs["memory_utilization"] * (
        plan.inputs["memory_capacity"] - plan.inputs["system_reserve"])
    assert signed("headroom_per_device")
    assert found["memory_utilization"] == pytest.approx(used, rel=1e-9)


def test_a_steady_state_has_no_elasticity():
    plan = plan_of("h200-r1-sglang-tp8")
    with pytest.raises(ParamsError, match="no elasticity of 'steady_tpot'"):
        answers_of(plan, "steady_tpot")


# --- in company -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLE[:3])
def test_alone_an_input_explains_less_than_in_company_and_all_of_them_no_more_than_there_is(name):
    found = sensitivity(plan_of(name), "tpot", 1024)
    for one in found.indices:
        assert one.first <= one.total + one.first_error + one.total_error + 0.01
        assert one.total >= -one.total_error - 1e-9
    error = math.sqrt(sum(one.first_error**2 for one in found.indices))
    assert sum(one.first for one in found.indices) <= 1 + error
    assert sum(one.total for one in found.indices) >= 1 - sum(
        one.total_error for one in found.indices)


def test_more_samples_narrow_the_indices_and_agree():
    plan = plan_of("h200-r1-sglang-tp8")
    few, many = (sensitivity(plan, "tpot", samples) for samples in (256, 4096))
    at = {one.name: one for one in many.indices}
    for one in few.indices[:5]:
        assert abs(one.total - at[one.name].total) <= 2 * (
            one.total_error + at[one.name].total_error)
    assert at[OWN].total_error < 0.5 * few.indices[0].total_error
    assert many.evaluations == 4096 * (len(many.indices) + 2)


def test_a_sum_of_known_parts_has_the_indices_of_its_variances(monkeypatch):
    """With the plan's answer replaced by a product, each factor explains its own variance."""
    plan = plan_of("s2-910b1-awq")
    knobs = [knob for knob in plan.knobs
             if knob.name in ("hbm_efficiency", "mla_efficiency", "routing_skew")]

    def product(self, moves, name):
        return math.prod(moves[knob.symbols[0]] ** power
                         for power, knob in enumerate(knobs, 1))

    monkeypatch.setattr(type(plan), "at", product)
    found = {one.name: one for one in sensitivity(plan, "tpot", 4096).indices}
    scores = np.random.default_rng(0).standard_normal(100_000)
    variances = {knob.name: np.var(power * np.log(knob.at(scores)))
                 for power, knob in enumerate(knobs, 1)}
    variances[OWN] = np.var(np.where(scores < 0, *own_sides(plan, "tpot")) * scores)
    for name, variance in variances.items():
        share = variance / sum(variances.values())
        assert found[name].first == pytest.approx(share, abs=0.03)
        assert found[name].total == pytest.approx(share, abs=0.03)
    assert max(one.total for name, one in found.items() if name not in variances) == 0


def test_a_design_draws_every_input_from_its_whole_prior(monkeypatch):
    """Scores of a standard normal distribution, a tenth beyond either end of an 80% range."""
    plan, seen = plan_of("s2-910b1-awq"), []

    def asked(plan, knobs, own, scores, name):
        seen.append(scores)
        return sample_quantity(plan, knobs, own, scores, name)

    monkeypatch.setattr(module, "sample_quantity", asked)
    sensitivity(plan, "tpot", 256)
    scores, = seen
    assert np.abs(scores.mean(axis=0)).max() < 0.05
    assert np.allclose(scores.std(axis=0), 1, atol=0.05)
    assert np.allclose((scores < -NORMAL_90).mean(axis=0), 0.1, atol=0.02)
    assert np.allclose((scores > NORMAL_90).mean(axis=0), 0.1, atol=0.02)


@pytest.mark.parametrize("samples", [0, -4, 63, 100, 1 << 17])
def test_a_design_of_no_power_of_two(samples):
    with pytest.raises(ParamsError, match="power of two"):
        sensitivity(plan_of("s2-910b1-awq"), "tpot", samples)


# --- worth of knowing -----------------------------------------------------------------------------


def test_draws_of_an_input_are_the_values_at_their_scores():
    """With a range from zero, and with one above it."""
    scores = np.linspace(-4, 4, 33)
    knobs = plan_of("s2-910b1-awq").knobs
    assert {knob.value.low > 0 for knob in knobs} == {True, False}
    for knob in knobs:
        assert knob.at(scores) == pytest.approx(
            [knob.at(score) for score in scores.tolist()], rel=1e-14)


def test_draws_are_those_of_the_prior():
    knob = plan_of("s2-910b1-awq").knobs[3]
    found = knob.at(np.array([-NORMAL_90, 0.0, 0.0, NORMAL_90]))
    assert found == pytest.approx([knob.value.low, *[knob.value.value] * 2, knob.value.high])


def test_plans_share_what_they_have_in_common():
    plan = plan_of("h200-r1-sglang-tp8")
    found = priors([plan, against(plan, "h200-r1-sglang-tp8", (), WIDE)], "tpot")
    assert len([name for name in found.names if not name.startswith(OWN)]) == len(plan.knobs)
    one, two = found.own
    assert one[0][0] == two[0][0]  # of the class
    assert one[1][0] != two[1][0]  # of a row
    for parts in found.own:
        assert math.hypot(*(sides[1] for _, sides in parts)) == pytest.approx(
            own_sides(plan, "tpot")[1])
    scores = np.zeros((3, len(found.names)))
    assert sample_quantity(plan, found.knobs[0], one, scores, "tpot") == pytest.approx(
        plan.at({}, "tpot")[0])


@pytest.mark.parametrize("make", [
    lambda: between(plan_of("h200-r1-sglang-tp8", ["workload.concurrency=4"]),
                    plan_of("h200-r1-sglang-tp8", ["workload.concurrency=4", WIDE])),
    lambda: between(plan_of("s3-hybrid-910b4", ["workload.concurrency=1"]),
                    plan_of("s3-eight-cards")),
    lambda: to_buy(plan_of("h200-r1-sglang-tp8"), 50_000, 2.0),
])
def test_knowing_all_is_worth_at_least_as_much_as_knowing_one_and_that_is_never_a_loss(make):
    found = make()
    assert found.perfect > 0
    for worth in found.worths:
        assert 0 <= worth.value <= found.perfect + 1e-12
    assert found.losses[found.taken] == min(found.losses)
    assert found.worths[0].value > 3 * found.worths[0].scatter


def test_of_a_linear_decision_the_worth_is_known():
    """Loss x against 0, x normal with mean m: perfect information is worth s·φ(m/s) − m·Φ(−m/s)."""
    rng = np.random.default_rng(3)
    score, other = rng.standard_normal((2, 1 << 18))
    mean, known, unknown = 0.3, 0.8, 0.6
    losses = np.stack([mean + known * score + unknown * other, np.zeros_like(score)], axis=1)
    found = information(losses, np.stack([score, other, rng.standard_normal(1 << 18)], axis=1),
                        ["known", "unknown", "idle"], ["x", "nothing"])

    def worth(deviation):
        at = mean / deviation
        tail = math.erfc(at / math.sqrt(2)) / 2
        return deviation * math.exp(-at * at / 2) / math.sqrt(2 * math.pi) - mean * tail

    at = {one.name: one for one in found.worths}
    assert found.options[found.taken] == "nothing"
    assert found.perfect == pytest.approx(worth(1.0), rel=0.01)
    assert at["known"].value == pytest.approx(worth(known), rel=0.03)
    assert at["unknown"].value == pytest.approx(worth(unknown), rel=0.05)
    assert at["idle"].value <= 3 * found.worths[0].scatter + 1e-9


def test_a_plan_that_is_better_in_every_case_leaves_nothing_to_learn():
    losses = np.stack([np.linspace(1, 2, BINS * 8), np.linspace(3, 4, BINS * 8)], axis=1)
    found = information(losses, losses[:, :1], ["x"], ["a", "b"])
    assert (found.perfect, found.wrong, found.worths[0].value) == (0, 0, 0)


def test_dearer_later_buys_more_now():
    plan = plan_of("h200-r1-sglang-tp8")
    cheap, dear = (to_buy(plan, 50_000, late) for late in (1.2, 4.0))
    assert dear.taken > cheap.taken
    assert dear.perfect > cheap.perfect


def test_money_scales_what_is_lost():
    plan = plan_of("h200-r1-sglang-tp8")
    cards, money = to_buy(plan, 50_000, 2.0), to_buy(plan, 50_000, 2.0, 25_000)
    assert money.perfect == pytest.approx(25_000 * cards.perfect)
    assert money.taken == cards.taken


def test_users_at_once_are_as_many_as_the_limit_lets_a_deployment_have():
    plan, limit = plan_of("h200-r1-sglang-tp8"), Limit("tpot", 0.04)
    most, = plan.within({}, "concurrency", limit)
    after = BATCHES[most / plan.inputs["data_parallel"] < BATCHES][0] * plan.inputs["data_parallel"]
    paces = plan.at({"concurrency": np.array([most, after])}, "tpot")
    assert paces[0] <= limit.most < paces[1]
    needed = [to_buy(plan, users, 2.0, draws=DRAWS // 8, limit=limit, of="concurrency").needed
              for users in (most, 2 * most, 8 * most)]
    for few, many in itertools.pairwise(needed):
        assert all(one <= other for one, other in zip(few[:2], many[:2], strict=True))
    assert needed[-1][1] >= 4 * needed[0][1]


def test_a_tighter_limit_takes_more_cards():
    plan = plan_of("h200-r1-sglang-tp8")
    loose, tight = (to_buy(plan, 50_000, 2.0, draws=DRAWS // 8, limit=Limit("tpot", most))
                    for most in (0.1, 0.04))
    assert loose.needed[1] < tight.needed[1]
    assert loose.unmet <= tight.unmet
    with pytest.raises(ParamsError, match="keeps it, expected a higher one"):
        to_buy(plan, 50_000, 2.0, draws=DRAWS // 8, limit=Limit("tpot", 0.001))


def test_cards_that_get_cheaper_are_not_bought_ahead():
    with pytest.raises(ParamsError, match="--late"):
        to_buy(plan_of("h200-r1-sglang-tp8"), 50_000, 0.5)


def test_a_demand_of_thousands_of_deployments_is_refused():
    with pytest.raises(ParamsError, match="--demand"):
        to_buy(plan_of("s2-910b1-awq"), 1e9, 2.0)
