"""The formulas' own error by class: laws of the estimate, and what is stored of it."""

import math

import numpy as np
import pytest
from scipy.stats import binom

import catalogue
from calc.commands.evidence.discrepancy import with_estimates
from calc.evidence import classes, error_growth, pooling, validation
from calc.evidence.pooling import Residuals
from catalogue.deployments.knobs import NORMAL_90

LIKE, ROWS, K = 200, 15, 2
NORMAL_80 = 0.8
A = "concurrent/servers/A"


def rows(system, of, errors, metric="tpot", ranges=0.0):
    errors = np.asarray(errors, float)
    return Residuals(system, of, metric, errors, np.full(errors.shape, ranges))


def drawn(of, size, count=LIKE, seed=1, ranges=0.0, within=0.0, metric="tpot"):
    """Systems of a class whose rows share an error, that of a normal variable."""
    draw = np.random.default_rng(seed)
    return [rows(f"{of}-{i}", of, draw.normal(0, math.hypot(size, ranges))
                 + draw.normal(0, within, ROWS), metric, ranges) for i in range(count)]


def of_class(found, name, metric="tpot", borrowed=K):
    return pooling.Estimates(found, borrowed)[name][metric]


def measured():
    """The systems that are estimated from."""
    return pooling.non_blind_systems(validation.measured_systems())


# --- the estimate -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0.1, 0.5])
def test_four_fifths_of_many_rows_lie_in_what_is_estimated_of_them(size):
    found = drawn(A, size)
    own = of_class(found, A)
    error = np.concatenate([each.error for each in found])
    inside = (-NORMAL_90 * own.down <= error) & (error <= NORMAL_90 * own.up)
    assert inside.mean() == pytest.approx(NORMAL_80, abs=0.06)
    assert own.down == pytest.approx(own.up, rel=0.3)


def test_what_ranges_explain_is_not_counted_twice():
    own = of_class(drawn(A, 0.4, ranges=0.3), A)
    assert [own.down, own.up] == pytest.approx([0.4, 0.4], rel=0.3)


@pytest.mark.parametrize("error", [0.0, 0.1, -0.1])
def test_where_ranges_cover_a_class_nothing_is_added(error):
    own = of_class([rows(f"s{i}", A, [error], ranges=0.2) for i in range(3)], A)
    assert max(own.down, own.up) < 0.02


@pytest.mark.parametrize("beside", [0, 1, 5])
def test_one_row_that_is_off_moves_its_class_by_a_bounded_amount(beside):
    """Even where it is the only row of its class; the farther it is, the less that matters."""
    around = [*drawn("concurrent/servers/B/x", 0.2, 9),
              *drawn("queued/servers/B/x", 0.2, 9, seed=3)]
    near, name = drawn(f"{A}/vllm", 0.2, beside, seed=2), f"{A}/vllm"
    sizes = [of_class([*around, *near, rows("far", name, [far])], name).up
             for far in (0.1, 1.0, 10.0, 1e3, 1e6)]
    assert sizes[0] < sizes[1]
    assert sizes[3] == pytest.approx(sizes[4], rel=0.05)
    assert sizes[4] < 1.2


def test_one_system_that_is_far_off_does_not_widen_others():
    near = [*drawn(f"{A}/vllm", 0.2, 9), *drawn(f"{A}/sglang", 0.2, 9, seed=2)]
    plain = of_class(near, f"{A}/vllm").up
    found = [*near, rows("far", f"{A}/mindie", [5.0] * 3)]
    assert of_class(found, f"{A}/vllm").up < 1.2 * plain
    assert of_class(found, f"{A}/mindie").up > 1.5 * plain


def test_many_requests_at_once_widen_no_other_load():
    calm, queued = drawn(A, 0.1, 40), drawn("queued/servers/A", 0.8, 40, seed=2)
    alone, beside = of_class(calm, A), of_class([*calm, *queued], A)
    assert max(beside.down, beside.up) < 1.2 * max(alone.down, alone.up)
    assert of_class([*calm, *queued], "queued/servers/A").up > 0.4


def test_a_class_that_is_off_to_one_side_is_wide_on_that_side():
    """Nothing is taken off a prediction, and the other side has what is around the class."""
    slow = [rows(f"s{i}", f"{A}/vllm", [0.5 + i / 100] * 3) for i in range(10)]
    own = of_class([*slow, *drawn("concurrent/servers/B/vllm", 0.2, 40)], f"{A}/vllm")
    assert own.up > 0.4 > 0.3 > own.down


def test_slower_and_faster_are_the_same_upside_down():
    found = drawn(A, 0.3, 7)
    own, other = (of_class(each, A) for each in (found, [
        rows(each.system, each.of, -each.error) for each in found]))
    assert (own.down, own.up, own.within) == pytest.approx(
        (other.up, other.down, other.within), rel=1e-2)


def test_few_systems_borrow_and_many_tend_to_their_own():
    wide, narrow = drawn(f"{A}/x", 0.8, 40), drawn("concurrent/servers/B/x", 0.1, LIKE, 2)
    sizes = [of_class([*wide, *narrow[:count]], "concurrent/servers/B/x").up
             for count in (1, 4, 12, LIKE)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == pytest.approx(of_class(narrow, "concurrent/servers/B/x").up, rel=0.1)
    assert of_class([*wide, *narrow[:4]], "concurrent/servers/B/x", borrowed=10 * K).up > sizes[1]


def test_a_class_borrows_from_what_is_nearest_and_from_each_system_once():
    found = [rows("one", f"{A}/x", [0.0]), rows("two", f"{A}/y", [0.0]),
             rows("three", "concurrent/servers/B/x", [0.0]),
             rows("four", "queued/servers/A/x", [0.0])]
    weights = {each.system: share for each, share in pooling.chain(found, f"{A}/x", "tpot", 2)}
    assert weights == pytest.approx({"one": 1 / 3, "two": 2 / 9, "three": 4 / 27, "four": 8 / 27})
    assert sum(weights.values()) == pytest.approx(1)


def test_rows_scatter_as_they_do_about_their_systems():
    assert of_class(drawn(A, 0.4, within=0.1), A).within == pytest.approx(0.1, rel=0.15)
    assert of_class([rows("s", A, [0.7])], A).within == 0


def test_an_engine_that_is_not_known_has_a_wider_interval():
    one, other = drawn(f"{A}/vllm", 0.2, 20), drawn(f"{A}/sglang", 0.6, 20, seed=2)
    estimates = pooling.Estimates([*one, *other], K)
    own = estimates[A]["tpot"]
    at, _, (down, up) = classes.applied_error(estimates, A, "tpot")
    assert at == A
    assert (down, up) > (own.down, own.up)
    assert (down, up) == classes.applied_error(estimates, f"{A}/mindie", "tpot")[2]


def test_a_vendor_that_was_not_measured_gets_all_servers():
    estimates = pooling.Estimates(drawn(f"{A}/vllm", 0.3, 5), K)
    for name in ("concurrent/servers/C", "concurrent/servers/C/vllm"):
        assert classes.applied_error(estimates, name, "tpot") == classes.applied_error(
            estimates, "concurrent/servers", "tpot")
    assert classes.applied_error(estimates, "concurrent/hosts/A", "tpot")[0] == "concurrent"
    assert classes.applied_error(estimates, "queued/servers/A", "tpot")[0] == "all"
    assert classes.applied_error(estimates, "concurrent/hosts/A", "ttft") is None


def test_latency_that_nobody_measured_is_as_sure_as_a_token():
    estimates = pooling.Estimates(drawn(f"{A}/vllm", 0.3, 5), K)
    assert classes.applied_error(estimates, f"{A}/vllm", "e2e") == classes.applied_error(
        estimates, f"{A}/vllm", "tpot")


def test_latency_borrows_from_the_tokens_of_its_class():
    one = rows("e", A, [0.0], "e2e")
    assert of_class([*drawn(A, 0.5, 40), one], A, "e2e").up > 0.2 > of_class([one], A, "e2e").up


def test_a_system_takes_no_part_in_its_own_interval():
    others = drawn(f"{A}/vllm", 0.3, 6)
    sizes = {pooling.left_out([*others, rows("mine", f"{A}/vllm", [error] * 3)], K)
             ["mine"]["concurrent"]["tpot"] for error in (0.0, 0.4, 5.0)}
    assert len(sizes) == 1


def test_four_fifths_of_the_systems_lie_in_what_the_others_give():
    found = drawn(f"{A}/vllm", 0.3, 40)
    sides = pooling.left_out(found, K)
    inside = [-NORMAL_90 * sides[each.system]["concurrent"]["tpot"][0] <= each.error[0]
              <= NORMAL_90 * sides[each.system]["concurrent"]["tpot"][1] for each in found]
    assert np.mean(inside) == pytest.approx(NORMAL_80, abs=0.1)


def test_where_nothing_is_measured_no_class_has_an_error():
    assert pooling.estimate([], K, {}, {}) == pooling.Written({}, {}, {}, {}, {})


def test_a_system_that_is_predicted_without_itself_lies_in_an_interval_or_not():
    """Of two systems of one class each is predicted by the other: shares of rows, and widths."""
    two = [each for each in measured() if each.id in ("h200-r1-vllm-tp8", "h200-r1-sglang-tp8")]
    found = pooling.estimate(two, K, {}, error_growth.coverage(two))
    assert found.left_out.keys() == {each.id for each in two}
    assert all(width > 1 for width in found.width.values())


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
        for metric, own in of.items():
            counts = [sum(name in classes.ladder(each) for each in validation.classes_of(
                system, system.measured(metric))) for system in systems]
            assert own.rows == sum(counts) > 0
            assert own.systems == sum(count > 0 for count in counts)


LEAST_ROWS, LEAST_SYSTEMS, CHANCE = 10, 3, 0.05


def test_intervals_hold_in_every_class_with_rows_of_several_systems():
    """As often as 80% of so many systems may by chance: rows of one fall together."""
    for name, of in classes.discrepancy().classes.items():
        for metric, own in of.items():
            if own.rows >= LEAST_ROWS and own.systems >= LEAST_SYSTEMS:
                least = binom.ppf(CHANCE, own.systems, NORMAL_80) / own.systems
                assert own.inside >= least * own.rows, (name, metric)


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
    assert own["tpot"].of == "concurrent/servers/Huawei"
    assert own["tpot"].sides == classes.discrepancy().left_out["s2-910b1-awq"].deviation[
        "concurrent"]["tpot"]
    assert moved["tpot"].of == "concurrent/servers/NVIDIA"


@pytest.mark.parametrize(("name", "load"), [
    ("h200-r1-vllm-tp8", "concurrent"), ("h20-qwen3-30b", "alone"),
    ("h20-qwen3-30b-prefill", "alone"), ("s2-910b1-awq", "concurrent")])
def test_a_phase_alone_is_a_load_of_its_own(name, load):
    assert classes.load_of(catalogue.load_scenario(name)) == load


def test_rows_that_are_sent_at_once_are_queued_but_not_those_that_a_client_holds_back():
    case = validation.measured_system("h200-r1-vllm-tp8")
    assert list(case.queued) == [row not in case.limited for row in range(len(case.queued))]
    assert set(validation.classes_of(case, np.arange(len(case.queued)))) == {
        "queued/servers/NVIDIA/vllm", "varying/servers/NVIDIA/vllm",
        "concurrent/servers/NVIDIA/vllm"}
    varying = [row for row, load in enumerate(case.loads.tolist()) if load == "varying"]
    assert varying == sorted(case.unequal - case.limited)  # of which only a mean is known
    assert not validation.measured_system("s2-910b1-awq").queued.any()


@pytest.mark.parametrize("name", catalogue.deployment_names())
def test_every_deployment_has_an_own_error_of_a_class_with_rows(name):
    own = classes.own_errors(catalogue.load_scenario(name))
    assert own.keys() == {"tpot", "ttft", "e2e", "output_throughput", "prefill_throughput"}
    for error in own.values():
        assert max(error.sides) > 0
        assert 0 <= error.inside <= error.rows
        assert all(classes.class_label(error.of))
