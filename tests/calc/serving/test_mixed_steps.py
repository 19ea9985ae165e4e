"""Steps with prompts and answers: what their requests do side by side, and what a host delays.

Beside a timeline of such a step, in which nothing is added up (``reference.timeline``).
"""

from collections.abc import Iterator

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, namespace, one, run, sampled
from hypothesis import given, settings
from hypothesis import strategies as st

from calc.physics.memory import cache
from calc.physics.timing.matmuls import slowest_clock
from calc.serving.requests import Step
from calc.serving.step_times import Clock
from catalogue.deployments.knobs import DENSE
from reference.layers import layers
from reference.operators import operator_table
from reference.timeline import Way, length

ROUNDING = 1e-9  # relative, of sums of a dozen numbers in floating point
UNDIVIDED = {
    **{f"{name}_depth_latency": 0 for name in DENSE}, "load_overlap": 0, "micro_batches": 1,
    "shared_expert_ranks": 0, "single_batch_overlap": 0, "overlap_efficiency": 0,
    "host_overlap": 0, "draft_tokens": 0, "host_time_per_operator": 0}
HIDING = {"single_batch_overlap": 1, "overlap_efficiency": 1}
LAUNCHES = [1e-6, 1e-5, 1e-4, 1e-2]  # of an operator [s]

both = pytest.mark.parametrize("attention", ATTENTIONS)
launched = pytest.mark.parametrize("launch", LAUNCHES)


def drawn(attention, ways) -> Iterator[tuple[dict[str, float], Step]]:
    """Single deployments of every shape and cut, and a step of prompts and answers of each."""
    rng = np.random.default_rng(0)
    for index in range(40):
        inputs = one(sampled(attention) if index % 2 else fleet(attention, index), index)
        prompts = tuple((int(new), int(cached)) for new, cached in zip(
            rng.integers(1, 4096, 2), rng.integers(0, 2048, 2), strict=True))
        answers = tuple(map(int, rng.integers(1, 8192, rng.integers(1, 64))))
        yield inputs | ways, Step(prompts, answers)


def in_time(attention, inputs, step, way):
    """A step with prompts and answers as pieces in time [s], and those pieces.

    All its tokens pass the operators of prompts; the cores of those who decode are their own.
    """
    clock, q = Clock(inputs, attention), namespace(inputs)
    chunks = clock._chunks(*np.array(step.prefill, float).T, float(len(step.decode)))
    found = vars(clock._timed(chunks)) | {"slowest_clock": slowest_clock(q)}
    riding = clock._timed(clock._answers(*clock._rounded(step)))
    for name in ("core_time", "index_time", "context_exchange_time"):
        found[name] = found[name] + getattr(riding, name)
    made = layers(q, operator_table(attention, q, cache(attention, q), chunks), chunks, found)
    return length(made, way), made


def ends(made):
    """What is before, between and after the layers, and the longer of the layers [s]."""
    def of(*pieces):
        return sum(piece.time for piece in pieces)

    experts = made.experts
    return (of(*made.before, *made.after) + (made.stages - 1) * made.passed_on.time
            + of(*made.attention) + max(of(*made.dense), of(*vars(experts).values())))


@both
class TestInTime:
    def test_without_launches_the_card_does_one_thing_after_another(self, attention):
        for inputs, step in drawn(attention, UNDIVIDED):
            taken, _ = in_time(attention, inputs, step, Way())
            assert Clock(inputs, attention)(step) == pytest.approx(taken, rel=ROUNDING)

    def test_experts_run_beside_their_exchange_as_in_any_step(self, attention):
        for inputs, step in drawn(attention, UNDIVIDED | HIDING):
            taken, _ = in_time(attention, inputs, step, Way(beside_exchange=True))
            assert Clock(inputs, attention)(step) == pytest.approx(taken, rel=ROUNDING)

    @launched
    def test_a_host_that_launches_ahead_delays_but_the_ends(self, attention, launch):
        for inputs, step in drawn(attention, UNDIVIDED | {"host_time_per_operator": launch}):
            taken, made = in_time(attention, inputs, step, Way(launch=launch))
            told = Clock(inputs, attention)(step)
            assert told <= taken * (1 + ROUNDING)
            if min(made.dense_layers, made.moe_layers) == 0:  # layers are alike
                assert taken <= (told + ends(made)) * (1 + ROUNDING)


@both
@launched
def test_no_less_than_either_part_and_no_more_than_both(attention, launch):
    for inputs, step in drawn(attention, UNDIVIDED | {"host_time_per_operator": launch}):
        clock = Clock(inputs, attention)
        prompts, answers = clock(Step(step.prefill, ())), clock(Step((), step.decode))
        assert max(prompts, answers) <= clock(step) * (1 + ROUNDING)
        assert clock(step) <= (prompts + answers) * (1 + ROUNDING)


@both
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_card_that_waits_for_its_host_has_time_for_those_who_decode(attention, seed):
    """In closed form: a chunk among others takes what its launches take."""
    inputs = fleet(attention, seed) | {
        "mixed_steps": 1, "separate_pools": 0, "host_time_per_operator": 1e6}
    found = run(inputs, attention)
    np.testing.assert_allclose(found["own_chunk"], found["prefill_step_time"], rtol=ROUNDING)
    assert (found["riding_time"] == 0).all()
    assert (run(inputs, attention, host_time_per_operator=0)["riding_time"] >= 0).all()
