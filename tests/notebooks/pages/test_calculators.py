"""Calculators: states are deployments of the runtime, and the browser answers as it does."""

from __future__ import annotations

import json

import pytest
from _project import ROOT
from py_mini_racer import MiniRacer

import calc
from catalogue import load_model
from catalogue.deployments.admission import positions
from notebooks.pages.calculators import offers
from notebooks.pages.calculators.samples import state
from notebooks.pages.calculators.scripts import question, start
from notebooks.pages.calculators.words import dictionaries


def test_first_state_is_the_standard_question():
    begun, asked = start(), question()
    assert (begun["users"], begun["input"], begun["output"], begun["vary"]) == (
        asked.users, asked.demand.input_tokens, asked.demand.output_tokens,
        asked.demand.length_variation)
    assert begun["drafts"] in asked.draft_tokens
    assert (begun["way"], begun["price"]) == (asked.ownership, 0)


@pytest.mark.parametrize("seed", range(4))
def test_random_states_are_deployments_of_the_runtime(seed):
    scenario = offers.deployed(state(seed))
    values = calc.evaluate(scenario.inputs(), scenario.model.attention)
    assert float(values["tpot"]) > 0
    recurrent = scenario.model.attention == "csa" or bool(scenario.model.linear_layers)
    assert (float(values["state_bytes_per_request"]) > 0) is recurrent


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("model", ["deepseek-v3", "deepseek-v4-flash"])
def test_requests_longer_than_the_positions_of_the_model_are_refused(model, lang):
    most, engine = int(positions(load_model(model))), MiniRacer()
    engine.eval((ROOT / "book/assets/calculators/state.js").read_text(encoding="utf-8"))
    data = json.dumps({"models": {model: {"name": load_model(model).name, "positions": most}}})
    words = json.dumps(dictionaries()[lang])

    def refusal(prompt):
        state = json.dumps({"model": model, "input": prompt, "output": 1000})
        return engine.eval(f"willItFit.tooLong({data}, {words}, {state})")

    assert refusal(most - 1000) is None
    assert f"{most + 1:,} token" in (said := str(refusal(most - 999)))
    assert said.count(f"{most:,}") == 2
