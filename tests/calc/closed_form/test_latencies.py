"""Steps by themselves: each quantity as the whole evaluation has it; no step that none needs."""

from types import SimpleNamespace

import numpy as np
import pytest
from _fleet import ATTENTIONS, namespace, one, sampled

from calc.closed_form.evaluate import evaluate
from calc.closed_form.latencies import (
    BENCH_NAMES,
    DECODE_NAMES,
    FAST,
    PACE,
    SERVED_NAMES,
    STEADY_NAMES,
    WANTED,
    latencies,
    needs_prefill,
)

OWN = {FAST, PACE}  # of a batch of decode alone, which an evaluation does not name
CASES = [(attention, at) for attention in ATTENTIONS for at in (1, 3)]


def asked(attention, at, *names, known=None):
    """Quantities of one of the random deployments."""
    return latencies(attention, namespace(one(sampled(attention), at)), names, known)


@pytest.mark.parametrize(("attention", "at"), CASES)
def test_each_is_what_the_whole_evaluation_gives(attention, at):
    whole = evaluate(one(sampled(attention), at), attention)
    found = asked(attention, at, *SERVED_NAMES, *STEADY_NAMES)
    assert found.keys() == SERVED_NAMES | STEADY_NAMES
    for name, value in found.items():
        if name not in OWN:
            np.testing.assert_allclose(value, whole[name], rtol=1e-12, err_msg=name)


def test_a_token_without_stalls_is_a_step_with_its_drafts_over_its_tokens():
    found = asked("mla", 1, FAST)
    assert found[FAST] == pytest.approx(
        (found["decode_step_time"] + found["draft_time"]) / found["tokens_per_step"])


@pytest.mark.parametrize(("names", "phases", "more"), [
    ([FAST], {"decode"}, set()),
    (["decode_tokens", "draft_time"], {"decode"}, set()),
    ([PACE], {"decode"}, {PACE}),
    (["prefill_step_time"], {"prefill"}, set()),
    (["burst_head_time"], {"burst"}, set()),
    (["prefill_step_time", "burst_step_time"], {"prefill", "burst"}, set()),
    (["decode_step_time", "burst_step_time"], {"decode", "burst"}, set()),
    (["ttft"], {"decode", "prefill", "burst"}, {"ttft", "prefill_throughput"}),
    (["prefill_throughput"], {"decode", "prefill", "burst"}, {"prefill_throughput"}),
    (["steady_ttft"], {"decode", "prefill", "burst"}, {"steady_ttft", "prefill_throughput"}),
    (["bench_ttft"], {"decode", "prefill", "burst"},
     {"bench_ttft", "steady_ttft", "ttft", "prefill_throughput"}),
])
def test_only_what_is_asked_for_and_what_it_is_made_of(names, phases, more):
    found = asked("gqa", 3, *names)
    assert {phase for phase in WANTED if f"{phase}_step_time" in found} == phases
    kinds = {"ttft", "steady_ttft", "bench_ttft", "prefill_throughput", PACE}
    # the pace of a steady state is one of its quantities
    assert found.keys() & kinds == more | ({PACE} if "steady_ttft" in more else set())
    assert set(names) <= found.keys()
    assert needs_prefill(names) == (phases != {"decode"})


@pytest.mark.parametrize("phase", ["decode", "prefill", "burst"])
def test_a_step_that_is_known_is_not_computed_again(phase):
    every = asked("mla", 3, *SERVED_NAMES)
    steps = {name: SimpleNamespace(**{part: every[f"{name}_{part}"] for part in WANTED[name]})
             for name in WANTED}
    again = asked("mla", 3, "ttft", "tpot", *STEADY_NAMES, known=steps)
    assert again["ttft"] == every["ttft"]
    assert again["tpot"] == every["tpot"]
    steps[phase].step_time = 2 * steps[phase].step_time
    name = {"decode": FAST, "prefill": "prefill_time", "burst": "burst_time"}[phase]
    longer = asked("mla", 3, name, known=steps)
    assert longer[f"{phase}_step_time"] == 2 * every[f"{phase}_step_time"]
    assert longer[name] > every[name]


def test_a_name_that_no_step_gives_is_told():
    for names in (["weights_per_device"], [FAST, "weights_per_device"]):
        with pytest.raises(ValueError, match="no quantity 'weights_per_device' of a step"):
            asked("mla", 1, *names)
    assert not needs_prefill(DECODE_NAMES)
    assert all(needs_prefill([FAST, name]) for name in BENCH_NAMES)
