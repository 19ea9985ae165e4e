"""Engines and requests of any kind, and the plainest step time there is."""

import numpy as np
from hypothesis import strategies as st

from calc.serving.requests import Limits, Request, Step

POLICIES = ["mixed", "prefill-first"]


def tokens(step: Step) -> int:
    return sum(new for new, _ in step.prefill) + len(step.decode)


def affine(t0, t1):
    return lambda step: t0 + t1 * tokens(step)


def limits(chunk=100, seqs=64, policy="mixed", **more):
    return Limits(chunk, seqs, policy=policy, **more)


def trace(arrival, input_tokens, output_tokens, cached_tokens=0):
    """Requests by the columns of what was recorded, each an array or one value; sorted, from 0."""
    at, *lengths = np.broadcast_arrays(*map(np.atleast_1d, (
        arrival, input_tokens, output_tokens, cached_tokens)))
    return tuple(sorted((Request(float(time), int(prompt), int(answer), int(cached))
                         for time, prompt, answer, cached in zip(at - at.min(), *lengths,
                                                                 strict=True)),
                        key=lambda request: request.arrival))


requests_of_any_kind = st.lists(
    st.builds(lambda arrival, prompt, output, cached: Request(
        float(arrival), prompt, output, min(cached, prompt - 1)),
        st.integers(0, 300), st.integers(1, 60), st.integers(1, 12), st.integers(0, 40)),
    min_size=1, max_size=12)
long_answers = st.lists(
    st.builds(lambda arrival, prompt, output: Request(arrival / 4, prompt, output),
              st.integers(0, 400), st.integers(1, 20), st.integers(1, 40)),
    min_size=1, max_size=12)
engines_of_any_kind = st.builds(
    Limits, st.integers(1, 50), st.integers(1, 6), st.one_of(st.none(), st.integers(24, 60)),
    st.sampled_from([1, 3, 8]).map(lambda size: max(3, size)), st.sampled_from(POLICIES),
    st.sampled_from([1, 1, 3]), st.sampled_from([0, 0, 1]))
