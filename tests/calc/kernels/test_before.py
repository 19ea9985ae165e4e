"""Values of a card alone, as a deployment takes them where its engine states nothing."""

import pytest

import catalogue
from calc.kernels.before import values_alone
from calc.kernels.communication import LAWS as COLLECTIVES
from calc.kernels.cores import LAWS as CORES
from calc.kernels.fitting import fit, halves
from calc.kernels.law import Bounds, Law
from calc.kernels.matmuls import DENSE, SENT, SLICES, WHOLE
from tests.calc.kernels.test_fitting import CARD, TRUE, dense_columns

H200 = catalogue.load_device("nvidia-h200-sxm")
PRIORS = catalogue.load("mechanisms", str(H200.mechanisms))


@pytest.mark.parametrize("law", [DENSE, WHOLE, SENT, SLICES, *CORES, COLLECTIVES[0]],
                         ids=lambda law: law.operator)
def test_every_parameter_of_a_law_has_a_value_without_a_fit(law):
    values = values_alone(law, H200, PRIORS, "bf16", 2.0)
    assert set(values or ()) == {*law.parameters, *law.fixed}


def test_the_card_alone_is_judged_on_the_rows_that_judge_the_fit():
    columns = dense_columns()
    time = DENSE.time({**columns, **CARD}, TRUE)
    kinds = columns["columns"].astype(int)
    off = {**TRUE, "gemm_efficiency": TRUE["gemm_efficiency"] / 2}
    found = fit(DENSE, {**columns, **CARD}, time, halves(list(columns.values())), columns["rows"],
                kinds, off)
    assert found.before.rows == found.errors.rows
    assert found.before.most > 0.2 > found.errors.most


NAMES = ("gemm_efficiency", "matmul_latency", "activation_traffic",
         "routed_expert_gemm_efficiency", "sliced_expert_gemm_efficiency", "load_overlap",
         "expert_streaming_efficiency", "sliced_streaming_efficiency", "routed_expert_latency",
         "sliced_expert_latency", "sliced_row_traffic", "second_round_alpha", "pipelined_alpha")
NAMED = Law("gemm", dict.fromkeys(NAMES, Bounds(2, 1, 3)), lambda columns, values: columns["x"],
          {"expert_load_overlap": Bounds(2, 1, 3)})


def card(name):
    device = catalogue.load_device(name)
    return device, catalogue.load("mechanisms", str(device.mechanisms))


def values(name, multiplied, stored, **others):
    device, priors = card(name)
    return values_alone(NAMED, device, priors.model_copy(update=others), multiplied, stored)


def test_a_value_is_that_of_what_is_multiplied_and_of_whole_experts_or_slices():
    """A card without a law of what rows move besides has none of matmuls, and one of experts."""
    _, priors = card("amd-mi300x")
    found = values("amd-mi300x", "fp8", 1.0, activation_traffic=None, sliced_expert_latency=None)
    assert found == {
        "gemm_efficiency": priors.gemm_efficiency.fp8.value,
        "matmul_latency": priors.matmul_latency.fp8.value, "activation_traffic": 0.0,
        "routed_expert_gemm_efficiency": priors.grouped_gemm_efficiency.fp8.value,
        "sliced_expert_gemm_efficiency": priors.sliced_gemm_efficiency.fp8.value,
        "load_overlap": priors.load_overlap.value,
        "expert_load_overlap": priors.expert_load_overlap.value,
        "expert_streaming_efficiency": priors.expert_streaming_efficiency.value,
        "sliced_streaming_efficiency": priors.sliced_streaming_efficiency.value,
        "routed_expert_latency": priors.routed_expert_latency.value,
        "sliced_expert_latency": priors.routed_expert_latency.value,  # nothing is said of slices
        "sliced_row_traffic": 1, "second_round_alpha": priors.second_round_alpha.value,
        "pipelined_alpha": priors.pipelined_alpha.value}


@pytest.mark.parametrize(("stored", "narrow"), [(1.0, False), (0.99, True), (0.5, True)])
def test_weights_of_less_than_eight_bits_are_read_by_kernels_that_widen_them(stored, narrow):
    _, priors = card("amd-mi300x")
    found = values("amd-mi300x", "bf16", stored)
    assert found["expert_streaming_efficiency"] == (
        priors.narrow_streaming_efficiency if narrow
        else priors.expert_streaming_efficiency).value
    for name in ("routed_expert_latency", "sliced_expert_latency"):
        usual = getattr(priors, name)
        assert found[name] == (priors.narrow_expert_latency if narrow else usual).value


def test_a_card_that_says_nothing_of_kernels_that_widen_has_the_usual_ones():
    _, priors = card("amd-mi300x")
    found = values("amd-mi300x", "bf16", 0.5, narrow_expert_latency=None)
    assert found["sliced_expert_latency"] == priors.sliced_expert_latency.value


def test_rows_move_what_is_known_of_the_dtype_and_nothing_of_another():
    _, priors = card("amd-mi300x")
    assert values("amd-mi300x", "fp8", 1.0)["activation_traffic"] == (
        priors.activation_traffic.fp8.value)
    assert values("amd-mi300x", "bf16", 2.0)["activation_traffic"] == 0


def test_a_second_round_starts_like_the_first_and_a_pipeline_that_is_not_known_never():
    _, priors = card("ascend-910b2")
    found = values("ascend-910b2", "fp16", 2.0)
    assert found["second_round_alpha"] == priors.collective_alpha.value
    assert found["pipelined_alpha"] == 1e6


def test_slices_follow_whole_experts_where_nothing_is_said_of_them():
    _, priors = card("amd-mi300x")
    found = values("amd-mi300x", "fp8", 1.0, sliced_gemm_efficiency=None,
                   sliced_streaming_efficiency=None, expert_load_overlap=None)
    assert found["sliced_expert_gemm_efficiency"] == priors.grouped_gemm_efficiency.fp8.value
    assert found["sliced_streaming_efficiency"] == priors.expert_streaming_efficiency.value
    assert found["expert_load_overlap"] == priors.load_overlap.value


def test_a_law_of_what_no_card_says_has_no_values():
    device, priors = card("amd-mi300x")
    strange = Law("gemm", {"gemm_efficiency": Bounds(2, 1, 3), "strangeness": Bounds(2, 1, 3)},
                  NAMED.time)
    assert values_alone(strange, device, priors, "bf16", 2.0) is None
