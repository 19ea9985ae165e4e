"""Time of a step: bounds, boundaries and launches, drafting, graphs, limits, better hardware.

Each law is tried on a hundred random shapes and layouts at once (``_fleet``), with rates,
latencies, shares and lengths that hypothesis draws anew for every example.
"""


import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, run, sampled, where
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.physics.operators import operator_time
from calc.physics.step import CLASSES, DEVICE, bound_by, parts
from calc.serving.evaluate import PHASES, evaluate

ROUNDING = 1e-9  # relative: sums of a dozen numbers in floating point
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=5)
both = pytest.mark.parametrize("attention", ATTENTIONS)


def assert_at_most(less, more, scale=None):
    wrong = less > more + ROUNDING * np.abs(more if scale is None else scale)
    assert not where(wrong, less, more), where(wrong, less, more)


def assert_close(left, right):
    assert_at_most(left, right, np.maximum(np.abs(left), np.abs(right)))
    assert_at_most(right, left, np.maximum(np.abs(left), np.abs(right)))


@both
class TestParts:
    @FEW
    @given(SEEDS)
    def test_step_parts_sum_and_bound_the_step(self, attention, seed):
        """Parts: the device's own work, the work of the host's cores for it or the loading of
        experts, communication, and the host's launches.

        The path for one token replaces work, and a second stream of the card shares its time, so
        what both save is given back before the comparison; what micro-batches and deferred experts
        hide is not.
        """
        inputs = fleet(attention, seed)
        every, halves = run(inputs, attention), inputs["micro_batches"]
        across = ("all_reduce", "exchange", "pipeline", "context_exchange")
        for phase in PHASES:
            found = {name.removeprefix(f"{phase}_"): value for name, value in every.items()}
            busy = {name: halves * found[f"{name}_time"] for name in DEVICE}
            assert_close(sum(busy[name] for name in across), found["communication_time"])
            own = sum(busy[name] for name in busy if name not in across)
            assert_close(own, found["compute_time"])
            pieces, step = parts(inputs, every, phase), found["step_time"]
            size = sum(abs(piece) for piece in pieces.values())
            assert not where(abs(sum(pieces.values()) - step) > ROUNDING * size, step)
            # by what binds: nothing is hidden there, so it sums to the step and what hides
            assert_close(sum(bound_by(inputs, every, phase).values()),
                         step + found["hidden_time"] + found["saved_time"])
            beside = halves * (found["offload_time"] + found["fetch_time"])
            longest = [found["compute_time"] - beside, beside, found["communication_time"],
                       found["host_time"]]
            gap = pieces["host_gap"] + (phase != "decode") * (inputs["draft_tokens"] > 0) * (
                found["draft_pass_time"])
            aside = halves * np.minimum(found["second_stream_time"],
                                        found["router_time"] + found["routed_expert_time"])
            assert_at_most(np.maximum.reduce(longest), step - gap + found["saved_time"] + aside)
            assert_at_most(step, sum(longest) + gap)
            for share in ("hidden_time", "saved_time", "host_time", "device_time"):
                assert not where(found[share] < 0, found[share])

    @FEW
    @given(SEEDS)
    def test_no_step_beats_the_bandwidth_or_the_peak_of_its_classes(self, attention, seed):
        inputs = fleet(attention, seed)
        found, halves = run(inputs, attention), inputs["micro_batches"]
        for phase in PHASES:
            moved = sum(found[f"{phase}_{name}_bytes"] for name in (*CLASSES, "vector"))
            multiplied = sum(found[f"{phase}_{name}_flops"] / inputs[f"{name}_peak"]
                             for name in CLASSES)
            device = found[f"{phase}_device_time"] + found[f"{phase}_saved_time"]
            assert_at_most(halves * moved / inputs["memory_bandwidth"], device)
            assert_at_most(halves * multiplied, device)

    def test_a_rank_alone_communicates_nothing(self, attention):
        found = run(fleet(attention, 3), attention, tensor_parallel=1, expert_parallel=1,
                    pipeline_parallel=1, decode_context_parallel=1, shared_expert_ranks=0,
                    expert_tensor_parallel=0)
        assert not any(np.any(found[f"{phase}_communication_time"]) for phase in PHASES)

    def test_single_token_path_respects_bandwidth(self, attention):
        inputs = sampled(attention) | {"concurrency": 1, "micro_batches": 1}
        found = run(inputs, attention, host_overlap=0, single_token_path=3e-3)
        moved = sum(found[f"decode_{name}_bytes"] for name in (*CLASSES, "vector"))
        assert_at_most(moved / inputs["memory_bandwidth"], found["decode_device_time"])
        hiding = run(inputs, attention, host_overlap=1, single_token_path=1.0)
        assert not where(hiding["decode_device_time"] < 0)


@both
def test_a_step_larger_than_its_graph_is_launched_kernel_by_kernel(attention):
    inputs = sampled(attention) | {"captured": 1, "host_time_per_operator": 1e-5}
    eager, found = (run(inputs, attention, captured=flag) for flag in (0, 1))
    fits = eager["decode_tokens"] / inputs["micro_batches"] <= inputs["largest_graph"]
    assert 0 < fits.mean() < 1
    np.testing.assert_array_equal(
        found["decode_host_time"], np.where(fits, 0, eager["decode_host_time"]))
    # of a step with prompts attention is launched kernel by kernel; stages and pools capture none
    fits = ((eager["prefill_tokens"] / inputs["micro_batches"] <= inputs["prompt_graph_tokens"])
            & (np.broadcast_to(inputs["pipeline_parallel"], fits.shape) == 1)
            & (np.broadcast_to(inputs["separate_pools"], fits.shape) == 0))
    assert 0 < fits.mean() < 1
    less = found["prefill_host_time"] < eager["prefill_host_time"]
    assert not where(less & ~fits)
    assert less[fits].all()
    heads = inputs["num_hidden_layers"] * inputs["attention_operators"]
    ratio = inputs["operators_per_layer"] / inputs["reference_operators"]
    assert_at_most(np.where(fits, heads * ratio, 0) * inputs["micro_batches"] * 1e-5,
                   found["prefill_host_time"])


def test_a_drafting_prompt_passes_one_layer_more_of_sixty_one():
    """And a projection that no rank divides."""
    inputs = catalogue.load_scenario("h200-r1-sglang-mtp").inputs() | {
        "input_tokens": 8000, "host_gap_per_draft": 0}
    plain, drafting = (evaluate(inputs | {"draft_tokens": count}, "mla") for count in (0, 1))
    longer = drafting["prefill_step_time"] / plain["prefill_step_time"] - 1
    assert 1 / 61 < longer < 1.5 / 61


@given(st.floats(0, 1e3), st.floats(0, 1e3), st.floats(0, 1))
def test_operator_time_between_maximum_and_sum(compute, memory, exposed):
    taken = operator_time(compute, memory, exposed)
    assert max(compute, memory) <= taken <= (compute + memory) * (1 + ROUNDING)
    assert taken == operator_time(memory, compute, exposed)
    assert operator_time(compute, memory, 0.0) == max(compute, memory)
    assert operator_time(compute, memory, 1.0) == pytest.approx(compute + memory)
    assert operator_time(3.0, 2.0, 0.75) == pytest.approx(3 + 0.75 * 2)


@both
def test_hidden_time_is_proportional_to_overlap(attention):
    inputs = sampled(attention) | {"host_overlap": 0, "draft_tokens": 0}
    none, some, whole = (run(inputs, attention, overlap_efficiency=x) for x in (0, 0.25, 1))
    slow = run(inputs, attention, captured=0, host_time_per_operator=1e6)
    for phase in PHASES:
        device = f"{phase}_device_time"
        assert_close(some[device], 0.75 * none[device] + 0.25 * whole[device])
        assert_close(slow[f"{phase}_step_time"],
                     slow[f"{phase}_host_time"] + inputs["host_gap_per_step"])
