"""What a roofline says of rows, by hand: a wave of requests, a pool of its own, and a line."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.evidence.baselines import ablation, rooflines
from calc.evidence.protocols import Predictions

STEPS = {"decode": 6.0, "prefill": 5.0, "burst": 4.0}
QUANTITIES = {"tokens_per_step": 2.0, "prompt_chunks": 3.0, "requests_per_rank": 7.0,
              "burst_tokens": 100.0}


@pytest.fixture
def asked(monkeypatch):
    """Steps of so many seconds, longer by one with the attention core in prefill."""
    seen = []

    def evaluate(inputs, attention):
        seen.append((inputs, attention))
        return QUANTITIES

    monkeypatch.setattr(rooflines, "evaluate", evaluate)
    monkeypatch.setattr(rooflines, "roofline_time", lambda inputs, quantities, phase, core=True: (
        STEPS[phase] + (core and phase != "decode")))
    return seen


def system(separate=0.0):
    return SimpleNamespace(
        id="s", scenario=SimpleNamespace(model=SimpleNamespace(attention="mla")),
        at=lambda rows: {"output_tokens": np.array([11.0, 21.0, 31.0])[rows],
                         "separate_pools": separate, "concurrency": 8.0, "data_parallel": 2.0,
                         "routing_skew": 0.7},
        rows={"tpot": np.array([3.0, 5.0, 9.0]), "ttft": np.array([1.0, 2.0, 4.0])},
        measured=lambda metric: np.array([0, 2]))


@pytest.mark.parametrize("core", [True, False])
def test_a_wave_waits_for_half_of_its_prompts_and_then_decodes(asked, core):
    """A token takes 6/2 s; three chunks of 6 or 5 s, and the mean of seven comes after four."""
    found = rooflines.roofline(system(), np.array([0, 2]), core)
    first = 4 * 3 * (5.0 + core)
    assert found["tpot"].tolist() == [3.0, 3.0]
    assert found["ttft"].tolist() == [first] * 2
    assert found["e2e"].tolist() == [first + 30, first + 90]
    assert found["output_throughput"] == pytest.approx(
        [8 * 11 / (first + 30), 8 * 31 / (first + 90)])
    assert found["prefill_throughput"] == pytest.approx([200 / (4.0 + core)] * 2)
    (inputs, attention), = asked
    assert attention == "mla"
    assert inputs["concurrency"] == 8.0
    assert {name: inputs[name] for name in rooflines.PLAIN} == {
        "routing_skew": 0, "even_routing": 1, "clock_spread": 0, "kv_imbalance": 1,
        "micro_batches": 1, "core_tile_rows": 1, "sparse_tile_rows": 1, "prefill_tile_rows": 1}


def test_a_pool_of_its_own_holds_a_request_for_its_tokens_only(asked):
    found = rooflines.roofline(system(1.0), np.array([0, 1]))
    assert found["output_throughput"] == pytest.approx([8 / 3, 8 / 3])


def test_rows_that_were_not_fitted_lie_on_the_line_of_the_others(monkeypatch):
    """Measured 3 and 9 of bounds 1 and 4 are twice the bound and one: 5 of 2, and so each way."""
    cores = []

    def roofline(system, rows, core):
        cores.append(core)
        return {name: np.array([1.0, 2.0, 4.0])[rows] for name in ("tpot", "ttft")}

    monkeypatch.setattr(rooflines, "roofline", roofline)
    monkeypatch.setattr(rooflines, "PROTOCOLS", {"mine": lambda system, rows: iter(
        [(rows[[0, 2]], rows[[1]]), (rows[[0, 1]], rows[[2]])])})
    monkeypatch.setattr(rooflines, "seeds_of", lambda protocol: (7,))
    found = rooflines.held_out(system(), "tpot", "mine", np.arange(3))
    assert found.row.tolist() == [1, 2]
    assert found.measured.tolist() == [5.0, 9.0]
    for values in (found.predicted, found.low, found.high):
        assert values == pytest.approx([5.0, 9.0])
    assert found.seeds == (7,)
    rooflines.held_out(system(), "ttft", "mine", np.arange(3))
    rooflines.held_out(system(), "ttft", "mine", np.arange(3), core=True)
    rooflines.held_out(system(), "tpot", "mine", np.arange(3), core=False)
    assert cores == [True, False, True, False]


def test_the_plain_one_is_the_roofline_itself_on_all_that_was_measured(asked):
    found = rooflines.uncalibrated(system(), "tpot")
    assert isinstance(found, Predictions)
    assert (found.row.tolist(), found.measured.tolist()) == ([0, 2], [3.0, 9.0])
    assert found.predicted.tolist() == found.low.tolist() == found.high.tolist() == [3.0, 3.0]
    assert rooflines.uncalibrated(system(), "tpot", np.array([1])).measured.tolist() == [5.0]


def test_two_rows_make_a_line_and_one_does_not():
    line = rooflines.fit_line(np.array([1.0, 4.0]), np.array([3.0, 9.0]))
    assert (line.share, line.constant) == pytest.approx((0.5, 1.0))
    with pytest.raises(ValueError, match="1 rows, expected at least 2"):
        rooflines.fit_line(np.array([1.0]), np.array([3.0]))


def test_relative_errors_count_and_not_seconds():
    """Of 1 and 100 s at bounds of 1, with 1 s at a bound of 2: the smallest of Σ (t/m - 1)²."""
    bounds, measured = np.array([1.0, 1.0, 2.0]), np.array([1.0, 100.0, 1.0])
    line = rooflines.fit_line(bounds, measured)
    weights = 1 / measured**2
    mean = (weights * bounds).sum() / weights.sum(), (weights * measured).sum() / weights.sum()
    slope = (weights * (bounds - mean[0]) * (measured - mean[1])).sum() / (
        weights * (bounds - mean[0]) ** 2).sum()
    assert (1 / line.share, line.constant) == pytest.approx((slope, mean[1] - slope * mean[0]))


# --- ablation -----------------------------------------------------------------------------------


def test_a_term_that_is_left_out_is_fitted_by_the_others(monkeypatch):
    """Each term is switched off in the inputs, and a mechanism among them is not fitted."""
    asked = []
    monkeypatch.setattr(ablation, "_held_out", lambda *given: asked.append(given) or len(asked))
    case = SimpleNamespace(measured=lambda metric: {"tpot": "rows"}[metric],
                           with_inputs=lambda inputs: inputs)
    found = ablation.ablate(case, ["kernel_boundary", "single_token_path", "hbm"], 3,
                            ["kernel_boundary", "stall", "routing_skew"])
    assert found == {"": 1, "kernel_boundary": 2, "stall": 3, "routing_skew": 4}
    assert asked == [
        ({}, ["kernel_boundary", "single_token_path", "hbm"], "rows", 3),
        ({"kernel_boundary": 0.0, "single_token_path": 0.0}, ["hbm"], "rows", 3),
        ({"separate_pools": 1.0}, ["kernel_boundary", "single_token_path", "hbm"], "rows", 3),
        ({"routing_skew": 0.0}, ["kernel_boundary", "single_token_path", "hbm"], "rows", 3)]


def test_what_does_nothing_of_a_term_is_its_neutral_value():
    assert ablation.off("host_gap") == {"host_gap_per_step": 0.0}
    assert ablation.off("kv_imbalance") == {"kv_imbalance": 1.0}
    assert math.isclose(sum(ablation.off("stall").values()), 1.0)
