"""The last exercise of each engineering chapter: the page prints the command that is answered."""

from pathlib import Path

import pytest

import notebooks
from notebooks.pages.engineering.operating import monitoring, turns

PAGES = Path(notebooks.__file__).parent


@pytest.mark.parametrize("chapter", turns.TURNS)
def test_a_page_prints_the_command_that_its_answer_is_of_in_both_languages(chapter: str) -> None:
    text = (PAGES / f"{chapter}.md").read_text(encoding="utf-8")
    assert text.count(f"```bash\n{turns.TURNS[chapter].command}\n```") == 2


def test_the_exercise_on_monitoring_starts_from_the_deployment_of_its_first_table() -> None:
    """One question has one number: so do the metrics that the exercise starts from."""
    before = turns.TURNS["monitoring"].before
    assert before is not None
    assert set(before) <= {setting.removesuffix(" token").removesuffix(" request")
                           for setting in monitoring.SERVED}


def test_awq_is_slower_on_the_ascend_and_more_memory_holds_more_requests(
        monkeypatch: pytest.MonkeyPatch) -> None:
    said: dict[str, float] = {}
    monkeypatch.setattr(turns, "number", lambda key, value, *_, **__: said.update({key: value}))
    turns.turn("precision")
    assert said["turn-after-steady-tpot"] > said["turn-before-steady-tpot"]
    turns.turn("settings")
    assert said["turn-after-max-concurrency"] > said["turn-before-max-concurrency"]
    assert said["turn-after-steady-tpot"] == said["turn-before-steady-tpot"]
