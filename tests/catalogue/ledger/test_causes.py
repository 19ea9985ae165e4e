"""What went wrong in the documents: every cause says what becomes of who believes it."""

from __future__ import annotations

import re

import pytest

from catalogue import ParamsError
from catalogue.reading import shared

CAUSE = "some-cause:\n  {}title: {{en: Off, zh: 有误}}\n  what: {{en: It is off., zh: 有误。}}\n"


def test_every_cause_has_one_of_the_consequences():
    found = [cause["consequence"] for cause in shared.causes().values()]
    assert set(found) == set(shared.CONSEQUENCES)


@pytest.mark.parametrize(("line", "sentence"), [
    ("consequence: grave\n  ", r"causes\.yml:2: 'grave' is no consequence, expected one of "),
    ("", r"causes\.yml:1: 'some-cause' lacks consequence\.")])
def test_a_cause_with_another_consequence_or_none_is_a_sentence(tmp_path, line, sentence):
    path = tmp_path / "causes.yml"
    path.write_text(CAUSE.format(line), encoding="utf-8")
    with pytest.raises(ParamsError) as error:
        shared._causes(path)
    assert re.search(sentence, str(error.value))
