"""A goal without an answer: which limit, by how much, and what is nearest, in one pool and two."""

import json

import jsonschema
import pytest

import catalogue
from calc.commands.deciding.search import UNMET

GOAL = "r1-64-users-8xh20"
SMALL = ["precisions=fp8-block,w4afp8", "space.chunks=4096", "space.drafts=0"]


def searched(cli, *settings, flags=()):
    code, out, err = cli("search", GOAL, "--workers", "1", *flags, *(
        part for each in (*SMALL, *settings) for part in ("--set", each)))
    assert code == UNMET
    assert not err
    return out


@pytest.mark.parametrize(("settings", "says"), [
    (["limits.tpot=1ms", "space.pools=one"], "the limit is 1 ms, off by a factor of"),
    (["limits.tpot=1ms", "space.pools=two", "cards.most=16"], "cards in two pools"),
    (["limits.ttft=1ms", "space.pools=two", "cards.most=16"], "TTFT"),
    (["limits.power=100 W"], "power"),
    (["demand.users=100000", "space.pools=one"], "per device short"),
    (["demand.users=100000", "space.pools=two"], "holds 100,000 users"),
    (["demand.input_tokens=900000"], "901,024 tokens are longer than the 163,840 positions"),
    (["cards.fewest=1", "cards.most=1", "space.pools=two"], "expected more of 'cards'"),
])
def test_it_is_told_why(cli, settings, says):
    assert says in searched(cli, *settings).splitlines()[1]


@pytest.mark.parametrize(("goal", "demand", "asked"), [
    (GOAL, "users=9000000", "9,000,000 users"),
    ("r1-million-requests-910c", "arrival_rate=90000 request/s", "90000 request/s")])
def test_pairs_that_hold_too_little_are_told_what_was_asked(cli, goal, demand, asked):
    code, out, _ = cli("search", goal, "--workers", "1", *(
        part for each in ("space.pools=two", f"demand.{demand}", "cards.fewest=1", "cards.most=32",
                          *SMALL[1:]) for part in ("--set", each)))
    assert code == UNMET
    assert f"no pair of pools on 32 cards holds {asked}," in " ".join(out.split())


def test_programs_are_told_too(cli):
    answer = json.loads(searched(cli, "limits.tpot=1ms", "space.pools=two", "cards.most=16",
                                 flags=["--json"]))
    jsonschema.validate(answer, json.loads(
        (catalogue.ROOT / "schema/answers/search.json").read_text("utf-8")))
    assert answer["nearest_miss"]["binds"] == "tpot"
    assert "two pools" in answer["why"]
