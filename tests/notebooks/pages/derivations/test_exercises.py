"""What readers try at the end of a chapter: its command runs, and is the one that is answered."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import catalogue
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations.exercises import turns

CHAPTERS = Path(__file__).resolve().parents[4] / "notebooks"
NAMES = ("architecture", "memory", "compute", "communication", "latency", "throughput", "serving")
ANSWERED = {"memory": turns.LONG, "compute": turns.DEEP, "communication": turns.USUAL,
            "latency": turns.USUAL, "throughput": turns.USUAL, "serving": turns.BURST}


def exercises(name: str) -> list[str]:
    """The exercises of a chapter in each language."""
    return [text.split("-symbols)=")[0] for text in (CHAPTERS / f"{name}.md").read_text(
        "utf-8").split("-exercises)=")[1:]]


def commands(text: str) -> list[list[str]]:
    joined = re.sub(r"\\\n\s*", "", "\n".join(re.findall(r"```bash\n(.*?)```", text, re.DOTALL)))
    return [shlex.split(line) for line in joined.splitlines() if line.strip()]


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_ends_with_three_exercises_one_of_them_to_be_tried(name):
    for text in exercises(name):
        assert re.findall(r"(?m)^(\d)\. ", text) == ["1", "2", "3"]
        assert text.count("{admonition}") == 3
        assert len(re.findall(r"\*\*(?:Your turn\.|自己动手。)\*\*", text)) == 1
    english, chinese = map(commands, exercises(name))
    assert english == chinese


@pytest.mark.parametrize("name", ANSWERED)
def test_the_command_sets_what_its_answer_was_computed_with(name):
    for command in commands(exercises(name)[0]):
        assert command[:4] == ["python", "-m", "calc", "estimate"]
        changes = [each for each in command[5:] if each != "--set"]
        catalogue.load_scenario(command[4], overrides=changes)
        assert {f"workload.{key}={value}" for key, value in ANSWERED[name].items()} <= set(changes)


def test_the_attention_core_passes_the_experts_at_the_user_that_is_named():
    derivation = Derivation("nothing")
    before, after = (turns.asked(derivation, turns.R1, turns.DEEP | {"concurrency": users})
                     for users in (turns.FEW, turns.MOST))
    assert before["decode_core_time"] < before["decode_routed_expert_time"]
    assert after["decode_core_time"] > after["decode_routed_expert_time"]
