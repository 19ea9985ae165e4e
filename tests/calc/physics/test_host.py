"""Experts on the host whose kernels take a prompt in groups of tokens."""

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, run, where
from hypothesis import given, settings
from hypothesis import strategies as st

from calc.physics.experts import distinct_experts
from calc.quantities.everything import PHASES

AT_ONCE = {"host_peak": 1e40, "host_link_bandwidth": 1e40, "host_sync": 0}  # reading alone


@pytest.mark.parametrize("attention", ATTENTIONS)
@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3000))
def test_a_group_reads_its_experts_as_if_alone(attention, seed, limit):
    """Never less than all at once, never more than each token for itself; equal if none waits.

    A step of whole groups reads as many times what one group reads.
    """
    inputs = fleet(attention, seed) | AT_ONCE
    for phase in PHASES:
        read, once, apart, fits = (run(inputs, attention, host_group_tokens=tokens)
                                   for tokens in (limit, 0, 1, 10**12))
        name, tokens = f"{phase}_offload_time", once[f"{phase}_group_tokens"]
        np.testing.assert_allclose(fits[name], once[name], rtol=1e-12)
        assert not where(read[name] < once[name] * (1 - 1e-9), read[name], once[name])
        assert not where((read[name] > apart[name] * (1 + 1e-9)) & (tokens >= 1),
                         read[name], apart[name])
        alone = tokens <= limit
        np.testing.assert_allclose(read[name][alone], once[name][alone], rtol=1e-12)


@pytest.mark.parametrize("attention", ATTENTIONS)
@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_two_whole_groups_and_a_rest(attention, seed):
    inputs = fleet(attention, seed) | AT_ONCE
    for phase in PHASES:
        together = run(inputs, attention)[f"{phase}_group_tokens"]
        limit = together / 2.5
        grouped, at_once = (run(inputs, attention, host_group_tokens=tokens)
                            for tokens in (limit, 0))
        whole, rest = (distinct_experts(inputs["n_routed_experts"], inputs["num_experts_per_tok"],
                                        tokens, inputs["routing_skew"])
                       for tokens in (limit, limit / 2))
        name = f"{phase}_offload_time"
        np.testing.assert_allclose(
            grouped[name] * at_once[f"{phase}_distinct_experts"],
            at_once[name] * (2 * whole + rest), rtol=1e-9, atol=1e-30)
