"""Announced cards and models that are not derived in full: every answer says so."""

import json

import pytest
from _door import spoilt

import catalogue
from calc.layouts.feasible import not_loaded
from catalogue.deployments.admission import announced, marked, underived, unsourced

PLAN = "h200-r1-vllm-tp8"
GOAL = ("precisions=fp8-block", "space.tensor=16", "cards.fewest=16", "cards.most=16",
        "space.pipeline=1", "space.chunks=4096", "space.pools=one", "space.drafts=0")
COMMANDS = [["estimate", PLAN], ["simulate", PLAN, "--users", "4", "--requests", "20"],
            ["cost", PLAN, "--price", "2 USD/h"]]


@pytest.fixture
def card(tmp_path):
    """A card that is only announced."""
    return spoilt(tmp_path / "my-card.yml", "devices/nvidia-h200-sxm", "\nname:",
                  "\nannounced: {source: a roadmap, kind: vendor, date: 2025-09}\nname:")


@pytest.fixture
def model(tmp_path):
    """A model with tables that nothing counts."""
    return spoilt(tmp_path / "my-model.yml", "models/deepseek-v3", "\nname:",
                  "\nmissing: {en: No tables., zh: 不含查找表。}\nname:")


def test_caveats_are_of_announced_cards_and_underived_models_alone(card, model):
    stated = catalogue.load_device(str(card)).announced
    assert (stated.source, stated.date) == ("a roadmap", "2025-09")
    assert announced(["nvidia-h200-sxm"]) is underived(["deepseek-v3"]) is None
    assert marked("nvidia-h200-sxm") == ("nvidia-h200-sxm",) * 2
    assert "my-card" in announced(["nvidia-h200-sxm", str(card)])[0]
    assert "No tables." in underived([str(model)])[0]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_answers_carry_both_caveats(card, model, cli, command):
    changes = ["--set", f"device={card}", "--set", f"model={model}"]
    code, out, err = cli(*command, *changes, "--json")
    assert code == 0, err
    answer = json.loads(out)
    assert (answer["announced"], answer["missing"]) == (
        announced([str(card)])[0], underived([str(model)])[0])


def test_search_marks_rows_of_an_announced_card(card, cli):
    code, out, err = cli("search", "r1-64-users-8xh20", "--json", *(
        word for key in (*GOAL, f"devices={card}") for word in ("--set", key)))
    assert code == 0, err
    answer = json.loads(out)
    assert answer["front"][0][0]["announced"] == announced([str(card)])[0]


@pytest.mark.parametrize("plan", [PLAN, "s0-scenario-1"])  # of an engine, and of none
@pytest.mark.parametrize("name", ["own", "intel-gaudi-3", "google-tpu7x-die"])
def test_a_card_that_no_engine_is_known_for_has_an_answer(tmp_path, name, plan):
    """Memory and times with a note; that it does not run, nobody can say.

    The own card has an instruction set of its own, of which no engine's kernels are known.
    """
    own = spoilt(tmp_path / "own-card.yml", "templates/device", "My card  ", "Own card  ")
    scenario = catalogue.load_scenario(plan, overrides=[f"device={own if name == 'own' else name}"])
    assert not_loaded(scenario) == ()
    assert "known" in unsourced([scenario])[0]
    assert "算子" in unsourced([scenario])[1]
    assert unsourced([catalogue.load_scenario(PLAN)]) is None
