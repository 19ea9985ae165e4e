"""No hostile file or argument ends a command in a traceback: a share of ``make fuzz``."""

import json

import pytest

from calc.commands.deciding.search import UNMET
from tools.fuzzing.doors import DOORS
from tools.fuzzing.endings import GOOD, case, ended

CASES = 15  # of each door


@pytest.mark.whole
@pytest.mark.parametrize("door", DOORS)
def test_every_case_ends_in_an_answer_or_in_one_sentence(tmp_path, door):
    endings = [case(door, number, tmp_path / "case") for number in range(CASES)]
    assert [each for each in endings if each.how not in GOOD] == []
    assert {each.how for each in endings} == {*GOOD}, "it is neither all good nor all spoilt"


def test_a_case_is_the_same_under_its_number(tmp_path):
    def told(number):
        case("scenario", number, tmp_path / "case")
        return (tmp_path / "case" / "scenarios" / "spoilt.yml").read_bytes()

    assert told(3) == told(3)
    assert told(3) != told(4)


def test_what_ends_badly_is_seen(monkeypatch, tmp_path):
    """A defect, an answer that is no JSON and one without an end are each told apart."""
    from calc.commands import listing

    def ending(run):
        monkeypatch.setattr(listing, "run", run)
        return ended(["models", "--json"]).how

    def fails(_):
        raise KeyError("models")

    assert ended(["models", "--json"]).how == "answered"
    assert ended(["models", "nothing"]).how == "refused"
    assert ending(fails) == "traceback"
    assert ending(lambda _: print("{}") or UNMET) == "unclear"
    assert ending(lambda _: print(json.dumps({"a": float("nan")})) or 0) == "unclear"
    assert ending(lambda _: 1) == "unclear"


def test_that_nothing_meets_a_goal_is_an_answer_if_it_is_told(monkeypatch):
    """By exit code 3, as the command documents it; without a word it would be unclear."""
    from calc.commands.deciding import search

    def ending(printed, *more):
        monkeypatch.setattr(search, "run", lambda _: print(printed, end="") or UNMET)
        return ended(["search", "r1-64-users-8xh20", *more]).how

    assert ending("Nothing meets the goal.") == "answered"
    assert ending('{"met": false}', "--json") == "answered"
    assert ending("") == "unclear"
    assert ending("Nothing meets the goal.", "--json") == "unclear"
