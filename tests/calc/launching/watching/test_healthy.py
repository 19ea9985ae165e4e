"""The metrics of a service that is as predicted: every counter, gauge and histogram by hand."""

import math
import re

import numpy as np
import pytest
from _launch import expected, pool

from calc.launching.watching.healthy import healthy

STEP = 20.0
RATE, ANSWER = 1.75, 400.0  # requests a second, and their tokens
BOUNDS = 48  # four to each of twelve doublings, from an eighth of the mean on


def counted(series, job="serve"):
    """Metric -> its notation, of all that have no bounds."""
    found = {name.removesuffix(f'{{job="{job}"}}'): values for name, values in series
             if "le=" not in name}
    assert not any("{" in name for name in found)
    return found


def growing(number):
    return f"0+{number:.9g}x400"


def histogram(series, name, job="serve"):
    """Bound -> share of the observations that lie below, and the mean and the rate of them."""
    plain = {key: float(re.fullmatch(r"0\+(\S+)x400", values)[1]) for key, values in series
             if key.startswith(name)}
    count = plain[f'{name}_count{{job="{job}"}}']
    below = {float(re.search(r'le="(.*)"', key)[1]): value / count
             for key, value in plain.items() if "_bucket" in key}
    return below, plain[f'{name}_sum{{job="{job}"}}'] / count, count / STEP


COUNTERS = {
    "generation_tokens_total": RATE * ANSWER, "prompt_tokens_total": RATE * 3000,
    "prefix_cache_queries_total": RATE * 3000, "prefix_cache_hits_total": RATE * 3000 / 4,
    # of 1.6 tokens of a step one is its own
    "spec_decode_num_drafts_total": RATE * ANSWER / 1.6,
    "spec_decode_num_accepted_tokens_total": RATE * ANSWER * 0.6 / 1.6,
    # three replicas, a step in 31.25 ms, of which a quarter overflow
    "num_preemptions_total": 0.25 * 3 / 0.03125}
GAUGES = {"num_requests_running": 40, "num_requests_waiting": 0, "kv_cache_usage_perc": 0.3}


def test_counters_grow_at_the_predicted_rates_and_gauges_stay_where_they_are():
    found = counted(healthy(pool(), expected(), STEP))
    assert {name: found[f"vllm:{name}"] for name in (*COUNTERS, *GAUGES)} == {
        **{name: growing(each * STEP) for name, each in COUNTERS.items()},
        **{name: f"{each}+0x400" for name, each in GAUGES.items()}}


def test_what_is_not_predicted_stands_still():
    """No drafts, no cache that is told, preemptions rarer than is known, answers of one token."""
    none = expected(occupied=None, overflow=0.999e-3, answer=1.0)
    found = counted(healthy(pool(accepted=0.0), none, STEP))
    assert found["vllm:kv_cache_usage_perc"] == "0+0x400"
    assert found["vllm:num_preemptions_total"] == growing(0)
    assert found["vllm:spec_decode_num_drafts_total"] == growing(RATE * STEP)
    assert found["vllm:spec_decode_num_accepted_tokens_total"] == growing(0)
    assert found["vllm:inter_token_latency_seconds_count"] == growing(0)
    assert found["vllm:request_decode_time_seconds_sum"] == growing(0)
    assert counted(healthy(pool(), expected(overflow=1e-3), STEP))[
        "vllm:num_preemptions_total"] == growing(1e-3 * 3 / 0.03125 * STEP)


@pytest.mark.parametrize(("name", "mean", "rate"), [
    ("e2e_request_latency_seconds", 9.0, RATE), ("request_prompt_tokens", 3000.0, RATE),
    ("request_time_per_output_token_seconds", 0.03125, RATE),
    ("request_generation_tokens", ANSWER, RATE),
    # after its first, a request decodes 399 tokens
    ("request_decode_time_seconds", 399 * 0.03125, RATE),
    ("inter_token_latency_seconds", 0.03125, 399 * RATE)])
def test_what_is_predicted_of_all_lies_at_its_mean(name, mean, rate):
    below, middle, often = histogram(healthy(pool(), expected(), STEP), f"vllm:{name}")
    assert (middle, often) == (pytest.approx(mean), pytest.approx(rate))
    assert len(below) == BOUNDS + 1
    assert list(below) == [*(pytest.approx(mean / 8 * 2 ** (at / 4)) for at in range(BOUNDS)),
                           math.inf]
    assert list(below.values()) == [0.0] * 12 + [1.0] * (BOUNDS - 12 + 1)


def test_first_tokens_wait_as_an_exponential_variable_does():
    below, mean, rate = histogram(healthy(pool(), expected(), STEP),
                                  "vllm:time_to_first_token_seconds")
    assert (mean, rate) == (pytest.approx(0.5), pytest.approx(RATE))
    assert below == {bound: pytest.approx(1 - math.exp(-bound / 0.5)) for bound in below}
    assert min(below) == pytest.approx(0.5 / 8)


def test_what_is_promised_at_a_percentile_is_as_simulated():
    seen = {"ttft": np.array([1.0, 2.0, 3.0, 10.0]), "tpot": np.array([0.01, 0.05])}
    series = healthy(pool(), expected(), STEP, seen)
    below, mean, rate = histogram(series, "vllm:time_to_first_token_seconds")
    assert (mean, rate) == (pytest.approx(4.0), pytest.approx(RATE))
    assert below == {bound: np.searchsorted([1, 2, 3, 10], bound, "right") / 4 for bound in below}
    assert min(below) == pytest.approx(4 / 8)
    _, pace, _ = histogram(series, "vllm:request_time_per_output_token_seconds")
    assert pace == pytest.approx(0.03)
    _, between, _ = histogram(series, "vllm:inter_token_latency_seconds")
    assert between == pytest.approx(0.03125)


@pytest.mark.parametrize(("accepted", "told"), [(1.6, 1.6), (0.0, 1)])
def test_sglang_has_a_gauge_of_what_is_accepted_and_counts_requests(accepted, told):
    found = counted(healthy(pool("sglang@0.5.23", "decode", accepted=accepted), expected(), STEP),
                    "decode")
    assert found["sglang:spec_accept_length"] == f"{told}+0x400"
    assert found["sglang:num_requests_total"] == growing(RATE * STEP)
    assert found["sglang:cached_tokens_total"] == growing(RATE * 3000 / 4 * STEP)
    assert "sglang:num_retracted_requests_total" in found


def test_only_what_a_release_exports_has_series():
    found = counted(healthy(pool("vllm@0.8.5.post1"), expected(), STEP))
    assert "vllm:time_per_output_token_seconds_sum" in found
    assert not {"vllm:request_time_per_output_token_seconds_sum",
                "vllm:inter_token_latency_seconds_sum", "vllm:kv_cache_usage_perc"} & set(found)
    assert "vllm:gpu_cache_usage_perc" in found
