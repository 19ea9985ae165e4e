"""What was measured near a deployment, and how its error grows with the distance from that."""

import numpy as np
import pytest

import catalogue
from calc.closed_form.evaluate import evaluate
from calc.evidence import classes, error_growth
from calc.evidence.nearness import AXES, NAMES, both, place, widened
from calc.evidence.pooling import Residuals
from catalogue.deployments.knobs import NORMAL_90

FAR = "h200-r1-vllm-tp8"


def loaded(requests):
    return catalogue.load_scenario(FAR, overrides=[f"workload.concurrency={requests}",
                                                   f"workload.requests={requests}"])


def test_what_a_system_covers_is_where_its_rows_stand():
    stored = classes.discrepancy().measured
    scenario = catalogue.load_scenario(FAR)
    rows = scenario.measured.column("concurrency")
    own = stored[FAR]
    assert own.requests == (min(rows) / scenario.devices, max(rows) / scenario.devices)
    at = place(scenario)
    assert all(getattr(own, axis) == at[axis] for axis in (*AXES[1:], *NAMES))


def test_every_measured_system_covers_something_and_those_with_power_too():
    stored = classes.discrepancy().measured
    assert {*catalogue.names("consumptions"), *classes.discrepancy().left_out} <= stored.keys()


def test_a_doubling_beyond_what_was_measured_is_one():
    most = classes.near(loaded(8)).axes[0].covered[1] * 8
    distances = [classes.near(loaded(8), most * factor).distance for factor in (0.5, 1, 2, 8)]
    assert distances == pytest.approx([0, 0, 1, 3])


def test_its_own_rows_are_not_near_a_measured_system():
    """What lies in its own extent alone is outside of what the others cover."""
    scenario = catalogue.load_scenario("wide-cloudmatrix-decode")
    near = classes.near(scenario)
    assert near.nearest != scenario.id
    assert "expert" in {axis.name for axis in near.outside}


@pytest.mark.parametrize(("override", "axis"), [
    (["precision=w8a8-int8"], "precision"),
    (["workload.draft_tokens=3"], "drafts"),
    (["parallelism.pipeline_parallel=8", "parallelism.tensor_parallel=1"], "pipeline"),
    (["workload.concurrency=100000", "workload.requests=100000"], "requests")])
def test_what_nobody_measured_is_outside_and_named(override, axis):
    scenario = catalogue.load_scenario(FAR, overrides=override)
    near = classes.near(scenario)
    assert axis in {one.name for one in near.outside}
    assert near.distance > 0
    told = near.as_json()
    assert {one["axis"] for one in told["axes"]} == {*AXES, *NAMES}


def test_the_farther_the_wider_and_never_narrower_than_its_class():
    near, far = (classes.own_errors(loaded(8), requests) for requests in (1000, 64_000))
    for metric, own in near.items():
        assert own.sides == widened(own.of_class, own.growth, 0.0) == own.of_class
        assert far[metric].sides >= own.sides
    assert far["tpot"].sides[1] > near["tpot"].sides[1]
    assert far["output_throughput"].sides[0] > near["output_throughput"].sides[0]


def test_many_loads_at_once_are_each_alone():
    many = classes.own_errors(loaded(8), np.array([8.0, 8000.0, 64_000.0]))["tpot"].sides[1]
    alone = [classes.own_errors(loaded(8), each)["tpot"].sides[1] for each in (8, 8000, 64_000)]
    assert many == pytest.approx(alone)


def test_the_interval_of_an_estimate_is_that_at_its_distance():
    from calc.uncertainty.interval import interval

    scenario = loaded(4096)
    own = classes.own_errors(scenario)
    ends = [interval(scenario.inputs(), scenario.knobs(), "mla", ["tpot"], {"tpot": sides})["tpot"]
            for sides in (own["tpot"].of_class, own["tpot"].sides)]
    value = evaluate(scenario.inputs(), "mla")["tpot"]
    assert ends[1].high > ends[0].high > value


# --- the fit ------------------------------------------------------------------------------------


def walking(system, down, up, loads, seed):
    """A system whose error walks at random with the logarithm of the load."""
    draw = np.random.default_rng(seed)
    steps = draw.standard_normal(len(loads) - 1) * np.sqrt(np.diff(np.log2(loads)))
    steps *= np.where(steps < 0, down, up)
    error = draw.normal() + np.concatenate([[0], np.cumsum(steps)])
    return Residuals(system, "concurrent/servers/A", "tpot", error, np.zeros(len(loads)),
                     np.array(loads))


@pytest.mark.parametrize("size", [0.1, 0.3])
def test_a_walk_gives_the_size_of_its_steps(size):
    found = [walking(f"s{seed}", size, size, (1.0, 2.0, 8.0, 64.0), seed) for seed in range(400)]
    (down, up), level = error_growth.fit(error_growth.steps(found))
    assert [down, up] == pytest.approx([size, size], rel=0.15)
    assert level < 0.3 * size


def test_errors_that_do_not_move_do_not_grow():
    still = [Residuals(f"s{i}", "x", "tpot", np.full(3, i / 9), np.zeros(3),
                       np.array([1.0, 10.0, 100.0])) for i in range(5)]
    (down, up), _ = error_growth.fit(error_growth.steps(still))
    assert max(down, up) < 1e-3


def test_what_slows_with_load_is_wide_on_that_side_alone():
    found = [walking(f"s{seed}", 0.0, 0.4, (1.0, 4.0, 16.0), seed) for seed in range(200)]
    (down, up), _ = error_growth.fit(error_growth.steps(found))
    assert up > 0.2
    assert down < 0.05


def test_one_system_whose_error_jumps_does_not_set_the_growth():
    still = [walking(f"s{seed}", 0.05, 0.05, (1.0, 4.0, 16.0), seed) for seed in range(8)]
    sizes = [error_growth.fit(error_growth.steps([*still, Residuals(
        "far", "concurrent/servers/A", "tpot", np.array([0.0, jump]), np.zeros(2),
        np.array([1.0, 4.0]))]))[0][1] for jump in (0.0, 3.0, 3e3)]
    assert sizes[2] < sizes[0] + 0.1


def test_rows_under_one_load_say_nothing_of_growth():
    assert error_growth.steps([walking("s", 0.1, 0.1, (4.0, 4.0, 4.0), 1)]) == []


def test_a_system_takes_no_part_in_its_own_growth():
    others = [walking(f"s{seed}", 0.2, 0.2, (1.0, 4.0, 16.0), seed) for seed in range(6)]
    sizes = {error_growth.grown({"tpot": [*others, walking("mine", step, step, (1.0, 9.0), 99)]})
             ["tpot"].without["mine"] for step in (0.0, 0.5, 3.0)}
    assert len(sizes) == 1


@pytest.mark.parametrize("size", [0.05, 0.4])
def test_four_fifths_of_the_pairs_of_walks_lie_inside_of_what_the_other_walks_give(size):
    found = [walking(f"s{seed}", size, size, (1.0, 3.0, 40.0), seed) for seed in range(25)]
    assert error_growth.grown({"tpot": found})["tpot"].inside == pytest.approx(0.8, abs=0.12)


def test_about_four_fifths_of_left_out_pairs_lie_inside_of_what_is_stored():
    for load, of in classes.discrepancy().growth.items():
        for metric, each in of.items():
            # pairs of one system are alike: of four systems a single one is a quarter of all
            assert each.inside >= (0.7 if each.systems > 4 else 0.6), (load, metric)
            assert each.systems == len(each.without)


@pytest.mark.parametrize("measured", [True, False])
def test_growth_is_that_of_the_load_or_else_that_of_a_server(measured):
    stored = classes.discrepancy().growth
    for load in ("concurrent", "queued", "alone"):
        kept = {name: each for name, each in stored.items()
                if name == "concurrent" or (measured and name in stored)}
        own = classes.growth_under(kept, load)
        assert own == kept.get(load, kept["concurrent"])
        assert classes.own_errors(loaded(8), load=load)["tpot"].growth == classes.grown_without(
            classes.growth_under(stored, load), "tpot", loaded(8).id)


def test_the_ends_of_a_widened_interval():
    assert widened((0.0, 0.3), (0.1, 0.4), 4.0) == pytest.approx((0.2, np.hypot(0.3, 0.8)))
    assert NORMAL_90 > 1


def test_two_pools_are_as_far_outside_as_the_farther_of_both():
    decode = classes.near(loaded(8))
    prefill = classes.near(catalogue.load_scenario(FAR, overrides=[
        "parallelism.pipeline_parallel=4", "parallelism.tensor_parallel=2"]))
    found = {axis.name: axis for axis in both(prefill, decode).axes}
    assert not decode.outside
    assert found["pipeline"].value == 4
    assert not found["pipeline"].inside
    # requests are those of the pool that decodes
    assert found["requests"] == next(axis for axis in decode.axes if axis.name == "requests")
    assert both(decode, decode) == decode
