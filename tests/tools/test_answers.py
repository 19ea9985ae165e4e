"""The command line answers the recorded questions with the recorded numbers and exit codes."""

from __future__ import annotations

import json

import pytest
import yaml

from tools.answers.asking import HERE, QUESTIONS, answer
from tools.answers.recorded import FOLDER, path_of, recorded
from tools.baseline import differences

TOLERANCE = 1e-8  # of numbers that are recorded to nine digits
FITTED = 1e-4  # of numbers that a solver comes near to, each processor from its own side


@pytest.mark.parametrize("question", QUESTIONS)
def test_answer_matches_recording(question: str) -> None:
    answered = json.loads(json.dumps(answer(question)))
    tolerance = FITTED if question.startswith("dev kernels fit") else TOLERANCE
    changes = [*differences(recorded(question), answered, tolerance)]
    assert not changes, "renew with `make answers` and note the change in CHANGELOG.md"


def test_earlier_words_belong_to_questions() -> None:
    assert yaml.safe_load((HERE / "earlier.yml").read_text("utf-8")).keys() <= {*QUESTIONS}


def test_each_question_has_its_own_recording() -> None:
    assert {path_of(question) for question in QUESTIONS} == set(FOLDER.iterdir())
    assert len({path_of(question) for question in QUESTIONS}) == len(QUESTIONS)
