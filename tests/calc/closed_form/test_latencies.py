"""Steps by themselves: each quantity as the whole evaluation has it, and only needed steps."""

from dataclasses import replace

import numpy as np
import pytest
from _fleet import ATTENTIONS, compositions, one, sampled

from calc.closed_form.evaluate import evaluate
from calc.closed_form.latencies import (
    BENCH_NAMES,
    DECODE_NAMES,
    FAST,
    PACE,
    SERVED_NAMES,
    STEADY_NAMES,
    latencies,
    needs_prefill,
)
from reference.steps import inputs_of, timed

PHASES = {"decode", "prefill", "burst"}


def asked(attention, at, *names, known=None):
    """Quantities of one of the random deployments."""
    return latencies(attention, inputs_of(one(sampled(attention), at)), names, known)


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("at", [1, 3])
def test_each_quantity_is_that_of_the_whole_evaluation(attention, at):
    whole = evaluate(one(sampled(attention), at), attention)
    found = asked(attention, at, *SERVED_NAMES, *STEADY_NAMES)
    assert found.keys() == SERVED_NAMES | STEADY_NAMES
    for name in found.keys() - {FAST, PACE}:
        np.testing.assert_allclose(found[name], whole[name], rtol=1e-12, err_msg=name)
    assert found[FAST] == pytest.approx(
        (found["decode_step_time"] + found["draft_time"]) / found["tokens_per_step"])


@pytest.mark.parametrize(("names", "phases", "more"), [
    ([FAST], {"decode"}, set()), (["decode_tokens", "draft_time"], {"decode"}, set()),
    ([PACE], {"decode"}, {PACE}), (["prefill_step_time"], {"prefill"}, set()),
    (["burst_head_time"], {"burst"}, set()),
    (["decode_step_time", "burst_step_time"], {"decode", "burst"}, set()),
    (["ttft"], PHASES, {"ttft", "steady_ttft", "prefill_throughput", PACE}),
    (["prefill_throughput"], PHASES, {"prefill_throughput"}),
    (["steady_ttft"], PHASES, {"steady_ttft", "prefill_throughput", PACE}),
    (["bench_ttft"], PHASES, {"bench_ttft", "steady_ttft", "ttft", "prefill_throughput", PACE}),
])
def test_only_steps_that_the_names_need_are_computed(names, phases, more):
    found = asked("gqa", 3, *names)
    assert {phase for phase in PHASES if f"{phase}_step_time" in found} == phases
    assert found.keys() & {
        "ttft", "steady_ttft", "bench_ttft", "prefill_throughput", PACE} == more
    assert set(names) <= found.keys()
    assert needs_prefill(names) == (phases != {"decode"})


@pytest.mark.parametrize(("phase", "name"), [
    ("decode", FAST), ("prefill", "prefill_time"), ("burst", "burst_time")])
def test_a_known_step_is_not_computed_again(phase, name):
    inputs = one(sampled("mla"), 3)
    steps = {phase: timed(inputs, "mla", composition)
             for phase, composition in compositions(inputs, "mla").items()}
    every = asked("mla", 3, *SERVED_NAMES)
    again = asked("mla", 3, "ttft", "tpot", *STEADY_NAMES, known=steps)
    assert (again["ttft"], again["tpot"]) == pytest.approx((every["ttft"], every["tpot"]))
    steps[phase] = replace(steps[phase], step_time=2 * steps[phase].step_time)
    longer = asked("mla", 3, name, known=steps)
    assert longer[f"{phase}_step_time"] == pytest.approx(2 * every[f"{phase}_step_time"])
    assert longer[name] > every[name]


def test_a_name_that_no_step_gives_is_refused():
    for names in (["weights_per_device"], [FAST, "weights_per_device"]):
        with pytest.raises(ValueError, match="no quantity 'weights_per_device' of a step"):
            asked("mla", 1, *names)
    assert not needs_prefill(DECODE_NAMES)
    assert all(needs_prefill([FAST, name]) for name in BENCH_NAMES)
