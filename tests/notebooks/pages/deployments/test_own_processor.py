"""The processor measured end to end: its laws beside its tables, its causes beside the run."""

import numpy as np
import pytest

from notebooks.pages.deployments import own_processor

BARS = [("pytorch", "gemm"), ("pytorch", "experts"), ("pytorch", "mla_prefill"),
        ("vllm", "gemm"), ("vllm", "experts"), ("vllm", "mla_decode")]


@pytest.fixture(scope="module")
def laws():
    return {kernels: own_processor.laws(kernels) for kernels in own_processor.TABLES}


@pytest.mark.parametrize("kernels", own_processor.TABLES)
def test_a_law_grows_with_what_there_is_to_do_as_its_table_does(laws, kernels):
    for time, law in laws[kernels].values():
        assert np.corrcoef(np.log(time), np.log(law))[0, 1] > 0.97


@pytest.mark.parametrize(("kernels", "operator"), BARS)
def test_a_law_keeps_its_bar_on_rows_that_it_was_not_fitted_to(laws, kernels, operator):
    time, law = laws[kernels][operator]
    error = np.abs(law / time - 1)[1::2]
    assert np.median(error) < 0.15
    assert np.quantile(error, 0.9) < 0.3


def test_random_weights_send_tokens_to_about_as_many_experts_as_one_takes():
    assert 8 <= own_processor.met_by(16) < 16


def test_causes_that_were_not_fitted_bring_the_loads_nearer():
    for metric in own_processor.KEPT:
        blind = np.mean([abs(of[f"{metric}_predicted"] / of[metric] - 1)
                         for of in own_processor.loads()])
        after = np.mean([abs(made[metric] / of[metric] - 1) for made, of in zip(
            own_processor.explained(), own_processor.loads(), strict=True)])
        assert after < blind / 2
