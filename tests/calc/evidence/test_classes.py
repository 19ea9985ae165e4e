"""The formulas' own error by class: laws of the estimate, and what is stored of it."""

import math

import numpy as np
import pytest

import catalogue
from calc.commands.evidence.discrepancy import with_estimates
from calc.evidence import classes, growth, pooling, validation
from calc.evidence.pooling import Residuals
from catalogue.deployments.physics_inputs import NORMAL_90

LIKE, ROWS, K = 800, 15, 2
NORMAL_80 = 0.8


def rows(system, of, errors, metric="tpot", ranges=0.0):
    errors = np.asarray(errors, float)
    return Residuals(system, of, metric, errors, np.full(errors.shape, ranges))


def drawn(of, between, within, count=LIKE, seed=1, ranges=0.0):
    """Systems of a class whose errors are normal."""
    draw = np.random.default_rng(seed)
    return [rows(f"{of}-{i}", of, draw.normal(0, math.hypot(between, ranges))
                 + draw.normal(0, within, ROWS), ranges=ranges) for i in range(count)]


def measured():
    """The systems that are estimated from."""
    return pooling.seen(validation.measured_systems())


@pytest.fixture(scope="module")
def made():
    return growth.estimate(validation.measured_systems(), classes.discrepancy().borrowed)


# --- the estimate -------------------------------------------------------------------------------


@pytest.mark.parametrize(("between", "within"), [(0.3, 0.05), (0.5, 0.2)])
def test_many_systems_give_the_deviations_that_they_were_drawn_with(between, within):
    own = pooling.pool(drawn("hosts/X", between, within), K)["hosts/X"]["tpot"]
    assert [own.down, own.up] == pytest.approx([between, between], rel=0.15)
    assert own.within == pytest.approx(within, rel=0.1)


def test_what_ranges_explain_is_not_counted_twice():
    own = pooling.pool(drawn("hosts/X", 0.4, 0.01, ranges=0.3), K)["hosts/X"]["tpot"]
    assert [own.down, own.up] == pytest.approx([0.4, 0.4], rel=0.2)


@pytest.mark.parametrize("error", [0.0, 0.1, -0.1])
def test_where_ranges_cover_a_class_nothing_is_added(error):
    own = pooling.pool([rows(f"s{i}", "hosts/X", [error], ranges=0.2) for i in range(3)], K)
    assert own["hosts/X"]["tpot"].down == own["hosts/X"]["tpot"].up == 0


@pytest.mark.parametrize("far", [1.0, 10.0])
def test_one_system_that_is_far_off_does_not_widen_the_others(far):
    near = drawn("servers/A/vllm", 0.2, 0.1, 9)
    plain = pooling.pool(near, K)["servers/A/vllm"]["tpot"]
    found = pooling.pool([*near, rows("far", "servers/A/mindie", [far] * 3)], K)
    assert found["servers/A/vllm"]["tpot"].up == pytest.approx(plain.up, rel=0.35)
    assert found["servers/A/mindie"]["tpot"].up > 0.5 * far
    assert found["servers/A/mindie"]["tpot"].down == pytest.approx(
        found["servers/A"]["tpot"].down, rel=0.35)


def test_a_class_that_is_off_to_one_side_is_wide_on_that_side():
    """Nothing is taken off a prediction, and the other side borrows what all classes have."""
    slow = [rows(f"s{i}", "servers/A/vllm", [0.5 + i / 100] * 3) for i in range(10)]
    own = pooling.pool([*slow, *drawn("servers/B/vllm", 0.2, 0.1, 40)], K)["servers/A"]["tpot"]
    assert own.up > 0.5 > 0.3 > own.down


def test_slower_and_faster_are_the_same_upside_down():
    found = drawn("hosts/X", 0.3, 0.1, 7)
    turned = [rows(each.system, each.of, -each.error) for each in found]
    own, other = (pooling.pool(each, K)["hosts/X"]["tpot"] for each in (found, turned))
    assert (own.down, own.up, own.within) == pytest.approx((other.up, other.down, other.within))


def test_few_systems_borrow_and_many_do_not():
    wide, narrow = drawn("servers/A/vllm", 0.8, 0.1), drawn("servers/B/vllm", 0.1, 0.05, LIKE, 2)
    at = "servers/B"
    sizes = [pooling.pool([*wide, *narrow[:count]], K)[at]["tpot"].up for count in (2, 12, LIKE)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == pytest.approx(0.1, rel=0.2)
    assert pooling.pool([*wide, *narrow[:12]], 10 * K)[at]["tpot"].up > sizes[1]


def test_an_engine_that_is_not_known_has_a_wider_interval():
    one, other = drawn("servers/A/vllm", 0.2, 0.1), drawn("servers/A/sglang", 0.6, 0.1, seed=2)
    estimates = pooling.pool([*one, *other], K)
    own = estimates["servers/A"]["tpot"]
    at, _, (down, up) = classes.taken(estimates, "servers/A", "tpot")
    assert at == "servers/A"
    assert down > math.hypot(own.down, own.within)
    assert up > math.hypot(own.up, own.within)
    assert (down, up) == classes.taken(estimates, "servers/A/mindie", "tpot")[2]


def test_a_vendor_that_was_not_measured_gets_all_servers():
    estimates = pooling.pool(drawn("servers/A/vllm", 0.3, 0.1, 5), K)
    for name in ("servers/C", "servers/C/vllm"):
        assert classes.taken(estimates, name, "tpot") == classes.taken(
            estimates, "servers", "tpot")
    assert classes.taken(estimates, "hosts/A", "tpot")[0] == "all"
    assert classes.taken(estimates, "hosts/A", "ttft") is None


def test_latency_that_nobody_measured_is_as_sure_as_a_token():
    estimates = pooling.pool(drawn("servers/A/vllm", 0.3, 0.1, 5), K)
    assert classes.taken(estimates, "servers/A/vllm", "e2e") == classes.taken(
        estimates, "servers/A/vllm", "tpot")


def test_a_system_takes_no_part_in_its_own_interval():
    others = drawn("servers/A/vllm", 0.3, 0.1, 6)
    sizes = {pooling.left_out([*others, rows("mine", "servers/A/vllm", [error] * 3)], K)
             ["mine"]["tpot"] for error in (0.0, 0.4, 5.0)}
    assert len(sizes) == 1


def test_four_fifths_of_the_systems_lie_in_what_the_others_give():
    found = drawn("servers/A/vllm", 0.3, 0.0, 60)
    sides = pooling.left_out(found, K)
    inside = [-NORMAL_90 * sides[each.system]["tpot"][0] <= each.shared
              <= NORMAL_90 * sides[each.system]["tpot"][1] for each in found]
    assert np.mean(inside) == pytest.approx(NORMAL_80, abs=0.1)


# --- what is stored -----------------------------------------------------------------------------


def test_what_was_predicted_blind_takes_no_part():
    for name in ("wide-lmsys-decode", "wide-vllm-prefill-ep8"):
        assert name not in classes.discrepancy().left_out
    assert not any(system.scenario.measured.blind for system in measured())


def test_the_stored_classes_are_those_of_the_measured_systems():
    stored, systems = classes.discrepancy(), measured()
    assert {name: own.of for name, own in stored.left_out.items()} == {
        system.id: classes.class_of(system.scenario) for system in systems}
    for name, of in stored.classes.items():
        members = [system for system in systems
                   if name in classes.ladder(classes.class_of(system.scenario))]
        assert members
        for metric, own in of.items():
            counts = [len(system.measured(metric)) for system in members]
            assert own.rows == sum(counts)
            assert own.systems == sum(count > 0 for count in counts)


def test_what_is_stored_comes_out_again(made):
    stored = classes.discrepancy()
    assert made.classes.keys() == stored.classes.keys()
    for name, of in made.classes.items():
        for metric, own in of.items():
            kept = stored.classes[name][metric]
            assert (own.systems, own.rows) == (kept.systems, kept.rows)
            assert [own.down, own.up, own.within, own.inside] == pytest.approx(
                [kept.down, kept.up, kept.within, kept.inside], rel=1e-2, abs=2e-3)
    for name, own in made.left_out.items():
        for metric, sides in own.deviation.items():
            assert sides == pytest.approx(stored.left_out[name].deviation[metric],
                                          rel=1e-2, abs=2e-3)


def test_rows_inside_are_those_of_the_validation():
    """The count of a class is that of the intervals which are printed."""
    inside = {}
    for result in validation.uncalibrated_results(measured()):
        own = classes.discrepancy().left_out[result.system].of
        errors = result.predictions
        count = int(((errors.low <= errors.measured) & (errors.measured <= errors.high)).sum())
        for name in classes.ladder(own):
            inside[name, result.metric] = inside.get((name, result.metric), 0) + count
    assert inside == {(name, metric): own.inside
                      for name, of in classes.discrepancy().classes.items()
                      for metric, own in of.items()}


LEAST_ROWS, LEAST_SYSTEMS, FAIR = 10, 3, 0.65


def test_intervals_hold_in_every_class_with_rows_of_several_systems():
    """At least as often as 80% of a dozen rows may by chance; of one system rows fall together."""
    for name, of in classes.discrepancy().classes.items():
        for metric, own in of.items():
            if own.rows >= LEAST_ROWS and own.systems >= LEAST_SYSTEMS:
                assert own.inside >= FAIR * own.rows, (name, metric)


def test_writing_twice_gives_the_same_file():
    path = catalogue.ROOT / "discrepancies" / f"{classes.UNCALIBRATED}.yml"
    text, stored = path.read_text("utf-8"), classes.discrepancy()
    assert with_estimates(text, stored) == text


# --- what a deployment gets ---------------------------------------------------------------------


@pytest.mark.parametrize(("engine", "expected"), [
    ("vllm@0.11.0", "servers/NVIDIA/vllm"), ("sglang@0.5.3", "servers/NVIDIA/sglang")])
def test_the_class_has_the_engine_without_its_release(engine, expected):
    scenario = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[f"engine={engine}"])
    assert classes.class_of(scenario) == expected


def test_a_deployment_that_names_no_engine_is_of_the_class_of_its_vendor():
    assert classes.class_of(catalogue.load_scenario("s0-scenario-1")) == "servers/Huawei"


def test_a_measured_system_on_other_cards_is_another_deployment():
    own = classes.own_errors(catalogue.load_scenario("s2-910b1-awq"))
    moved = classes.own_errors(catalogue.load_scenario(
        "s2-910b1-awq", overrides=["device=nvidia-h20"]))
    assert own["tpot"].of == "servers/Huawei"
    assert own["tpot"].sides == classes.discrepancy().left_out["s2-910b1-awq"].deviation["tpot"]
    assert moved["tpot"].of == "servers/NVIDIA"


@pytest.mark.parametrize("name", catalogue.deployment_names())
def test_every_deployment_has_an_own_error_of_a_class_with_rows(name):
    own = classes.own_errors(catalogue.load_scenario(name))
    assert own.keys() == {"tpot", "ttft", "e2e", "output_throughput", "prefill_throughput"}
    for error in own.values():
        assert max(error.sides) > 0
        assert 0 <= error.inside <= error.rows
        assert all(classes.named(error.of))
