"""Values of a card alone, as a deployment takes them where its engine states nothing."""

import pytest

import catalogue
from calc.kernels.before import values_alone
from calc.kernels.communication import LAWS as COLLECTIVES
from calc.kernels.cores import LAWS as CORES
from calc.kernels.fitting import fit, halves
from calc.kernels.matmuls import DENSE, SENT, SLICES, WHOLE
from tests.calc.kernels.test_fitting import CARD, TRUE, dense_columns

H200 = catalogue.load_device("nvidia-h200-sxm")
PRIORS = catalogue.load("mechanisms", str(H200.mechanisms))


@pytest.mark.parametrize("law", [DENSE, WHOLE, SENT, SLICES, *CORES, COLLECTIVES[0]],
                         ids=lambda law: law.operator)
def test_every_parameter_of_a_law_has_a_value_without_a_fit(law):
    values = values_alone(law, H200, PRIORS, "bf16", 2.0)
    assert set(values or ()) == {*law.parameters, *law.fixed}


def test_values_are_those_of_the_card_by_what_is_multiplied():
    for dtype in ("bf16", "fp8"):
        values = values_alone(DENSE, H200, PRIORS, dtype, 1.0)
        assert values["gemm_efficiency"] == getattr(PRIORS.gemm_efficiency, dtype).value


def test_experts_of_few_bits_have_those_of_kernels_that_widen():
    wide, narrow = (values_alone(SLICES, H200, PRIORS, "bf16", stored) for stored in (2.0, 0.5))
    assert wide["sliced_streaming_efficiency"] == PRIORS.sliced_streaming_efficiency.value
    assert narrow["sliced_streaming_efficiency"] == PRIORS.sliced_narrow_streaming_efficiency.value


def test_the_card_alone_is_judged_on_the_rows_that_judge_the_fit():
    columns = dense_columns()
    time = DENSE.time({**columns, **CARD}, TRUE)
    kinds = columns["columns"].astype(int)
    off = {**TRUE, "gemm_efficiency": TRUE["gemm_efficiency"] / 2}
    found = fit(DENSE, {**columns, **CARD}, time, halves(list(columns.values())), columns["rows"],
                kinds, off)
    assert found.before.rows == found.errors.rows
    assert found.before.most > 0.2 > found.errors.most
