"""What commands answer is what was recorded: no number and no word moves unnoticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.answers import recorded
from tools.answers.asking import answer
from tools.answers.held import held
from tools.answers.questions import QUESTIONS

RENEW = "read what moved, say so in the changelog, and renew it with `make answers`"


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_the_one_recorded(question: str) -> None:
    found = held(recorded.recorded(question), json.loads(json.dumps(answer(question))))
    assert found.same, f"{found.at} {found.others[:3]}: {RENEW}"


def test_every_question_has_a_record_of_its_own_and_every_record_a_question() -> None:
    places = [recorded.place(question) for question in QUESTIONS]
    assert len(set(places)) == len(QUESTIONS)
    assert set(recorded.FOLDER.iterdir()) == set(places)


def test_a_record_holds_more_digits_than_are_compared(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "FOLDER", tmp_path / "recorded")
    told = {"a": [1 / 3, 2e-30 / 7, True, "0.1"], "b": 3}
    recorded.record("of a third", told)
    assert held(recorded.recorded("of a third"), told).same
    recorded.record("of a third", {"a": 0.5})
    assert recorded.recorded("of a third") == {"a": 0.5}


def test_a_question_that_was_never_answered_has_no_record() -> None:
    with pytest.raises(OSError, match=r"how-many\.json"):
        recorded.recorded("how many?")


def test_an_answer_has_what_is_printed_said_and_written() -> None:
    assert answer("check templates/nothing.yml") == {
        "code": 2, "printed": ["1 file checked, 1 with a problem."],
        "said": ["templates/nothing.yml: there is no such file."]}
    written = answer("deploy h200-r1-vllm-tp8 -o files")
    assert written["code"] == 0
    assert {"files/README.md", "files/deployment.json"} <= set(written["files"])
    assert isinstance(written["files"]["files/deployment.json"], dict)
