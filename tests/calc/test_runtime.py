"""``calc.evaluate``: known counts, laws of memory and of decode, and arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calc
import catalogue
from calc.evidence.systems import measured_names, system
from calc.physics.arrays import Inputs
from calc.physics.memory import candidate_stages, weights
from calc.physics.parameters import count_parameters

AWQ, PLAN = "s2-910b1-awq", "s0-scenario-1"
TOTALS = {"deepseek-v3": 671_026_419_200, "llama-3.1-70b": 70_553_706_496}
INPUTS = catalogue.load_scenario(PLAN).inputs()


def run(scenario=PLAN, *settings, **changes):
    loaded = catalogue.load_scenario(scenario, overrides=settings)
    return calc.evaluate(loaded.inputs() | changes, loaded.model.attention)


def stages(count, which, **changes):
    """Weights of some pipeline stages."""
    q = Inputs(INPUTS | {"pipeline_parallel": count} | changes)
    return weights("mla", q, count_parameters("mla", q), which)


class TestMemory:

    @given(st.integers(1, 61), st.sampled_from([1, 2, 4, 8, 16]))
    def test_pipeline_stages_hold_the_model_and_the_fullest_is_a_candidate(self, p, t):
        held = stages(p, np.arange(p), tensor_parallel=t)
        candidates = stages(p, candidate_stages(61, p), tensor_parallel=t)
        assert (held.stage_layers.sum(), held.stage_dense_layers.sum()) == (61, 3)
        assert t > 1 or held.stage_weights.sum() == 2 * TOTALS["deepseek-v3"]
        assert held.stage_weights.max() == candidates.weights_per_device
        assert held.stage_replicated_weights.max() == candidates.replicated_weights_per_device


class TestDecode:
    def test_throughput_ceiling(self):
        """X E2E = c n with a first step and then floors; a decode pool has floors alone."""
        found = run(AWQ, concurrency=64)
        fastest = found["decode_dense_time"] + (512 - 1) * found["tpot_floor"]
        assert found["throughput_ceiling"] * fastest == pytest.approx(64 * 512)
        for output_tokens in (1, 512):
            found = run(AWQ, concurrency=64, output_tokens=output_tokens, separate_pools=1)
            assert found["throughput_ceiling"] * found["tpot_floor"] == pytest.approx(64)

    @pytest.mark.parametrize("name", measured_names())
    def test_no_measured_row_is_beyond_its_bound(self, name):
        """A bound that a measurement undercuts is wrong, also where the host has the experts."""
        scenario = catalogue.load_scenario(name)
        seen = system(scenario)
        for metric, bound, least in (("tpot", "tpot_floor", True),
                                     ("output_throughput", "throughput_ceiling", False)):
            if len(rows := seen.measured(metric)):
                found = calc.evaluate(seen.at(rows), scenario.model.attention)[bound]
                measured = seen.rows[metric][rows]
                assert ((measured > found) if least else (measured < found)).all(), metric
