"""One request through all chapters: its parts sum to the whole, its energy is the cards' power."""

from __future__ import annotations

import pytest

from calc.physics.step import token_parts
from notebooks.pages.thread import request, timeline


def test_prompt_and_answer_sum_to_the_request():
    whole, quantities = request.whole(), request.told().quantities
    for name in request.NAMES:
        assert getattr(whole, name) == pytest.approx(
            sum(getattr(part, name) for part in request.bill().values()))
    assert whole.time == pytest.approx(quantities["e2e"].value)
    assert request.bill()["answer"].time == pytest.approx(
        request.steps()["answer"] * quantities["tpot"].value, rel=0.01)


def test_parts_sum_to_the_decode_step():
    parts, values = request.step_parts(), request.values()
    assert sum(parts.values()) == pytest.approx(float(values["decode_step_time"]))
    of_token = token_parts(request.scenario().inputs(), request.told().everything)
    assert parts == pytest.approx({name: part for name, part in of_token.items() if part})


def test_layers_sum_to_the_decode_step():
    step, values = timeline.step(), request.values()
    assert step.whole == pytest.approx(float(values["decode_step_time"]))
    assert sum(step.layers) == values["num_hidden_layers"]
    names = {name for part in (step.dense, step.experts) for name, _ in part} | step.once.keys()
    assert names - {"embedding"} == request.step_parts().keys() - {"shared_expert", "overlap"}


def test_shared_experts_run_beside_router_and_routed_experts():
    """What runs on the second stream fits beside the first, and their reading is not hidden."""
    step, parts, values = timeline.step(), request.step_parts(), request.values()
    assert step.aside * values["moe_layers"] == pytest.approx(-parts["overlap"])
    times = dict(step.experts)
    assert 0 < step.aside <= times["router"] + times["routed_expert"]
