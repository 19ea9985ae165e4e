"""A goal without an answer: which limit, by how much, and what is nearest, in one pool and two."""

import json
from types import SimpleNamespace as Made

import jsonschema
import numpy as np
import pytest

import catalogue
from calc.commands.deciding import missing
from calc.commands.deciding.search import UNMET
from calc.layouts.choice import Choice, Row

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


# --- the nearest ----------------------------------------------------------------------------------

CHOICE = Choice("nvidia-h20", "hgx-h20", None, "fp8-block", 16, 8, 1, 2, 8, 0, 0, 1, 8192, 1, 0, 90,
                1024)


def row(**over):
    return Row(CHOICE, {"tpot": 0.05}, over=over)


def test_the_nearer_is_told_first_and_what_lacks_memory_last(monkeypatch):
    near, far, short = row(tpot=0.1, ttft=0.2), row(tpot=0.5), row()

    def order(one, two):
        monkeypatch.setattr(missing, "_nearest_pair", lambda answer: two)
        return missing.nearest(Made(nearest_miss=one))

    assert order(far, near) == [near, far]
    assert order(near, far) == [near, far]
    assert order(short, far) == [far, short]
    assert order(None, far) == [far]
    assert order(None, None) == []


def test_of_pairs_the_nearest_is_least_over_its_limits(monkeypatch):
    """By the worst of its limits; what breaks none is no miss."""
    excess = {1.0: {"tpot": 0.1, "ttft": 0.9}, 2.0: {"tpot": 0.5, "ttft": -0.2},
              3.0: {"tpot": 0.0, "ttft": -1.0}}
    rows = [Row(CHOICE, {"tpot": at}) for at in excess]
    wishes = Made(excess=lambda quantities: {
        name: np.array(each) for name, each in excess[float(quantities["tpot"])].items()})
    monkeypatch.setattr(missing, "_without_limits", lambda answer: Made(rows=lambda: rows))
    found = missing._nearest_pair(Made(result=Made(wishes=wishes)))
    assert (found.quantities, found.over) == ({"tpot": 2.0}, {"tpot": 0.5})
    monkeypatch.setattr(missing, "_without_limits", lambda answer: Made(rows=lambda: rows[2:]))
    assert missing._nearest_pair(Made(result=Made(wishes=wishes))) is None
    monkeypatch.setattr(missing, "_without_limits", lambda answer: None)
    assert missing._nearest_pair(Made(result=Made(wishes=wishes))) is None


def test_by_how_much_it_misses():
    """A quarter over a limit of 40 ms; short of memory by so many bytes."""
    wishes = Made(limits={"tpot": 0.04}, goal=Made(currency="USD"))
    over = missing.sentence(Made(result=Made(wishes=wishes), binds=lambda row: "tpot"),
                            row(tpot=0.25))
    assert "50 ms" in over
    assert "the limit is 40 ms, off by a factor of 1.25" in over
    short = Row(CHOICE, {"short": 3e9})
    assert "3 GB per device short" in missing.sentence(
        Made(result=Made(wishes=wishes), binds=lambda row: "memory_capacity"), short)
    dear = missing.sentence(Made(result=Made(wishes=Made(
        limits={"cost": 2.0}, goal=Made(currency="USD"))), binds=lambda row: "cost"),
        Row(CHOICE, {"cost": 3.0}, over={"cost": 0.5}))
    assert "3" in dear
    assert "USD" in dear


# --- why there is none ----------------------------------------------------------------------------


def none(found=None, *, most=4096, pools=("one", "two"), saturated=0, users=None, rate=None,
         context=None, cards=("nvidia-h20",), any_engine=False):
    goal = Made(demand=Made(context_tokens=context, input_tokens=3000, output_tokens=1000,
                            users=users, arrival_rate=rate),
                space=Made(pools=list(pools), any_engine=any_engine))
    space = Made(model=Made(id="v3", max_position_embeddings=most and Made(value=most)),
                 offers=[Made(device=card) for card in cards])
    return missing.why_none(Made(found=found, result=Made(
        wishes=Made(goal=goal), space=space,
        funnel=Made(counts={"saturated": saturated}))))


@pytest.fixture
def _pairs(monkeypatch):
    """The pairs of pools of an answer are those it is given here."""
    monkeypatch.setattr(missing, "_without_limits", lambda answer: answer.found)


@pytest.mark.usefixtures("_pairs")
def test_requests_longer_than_the_model_has_positions():
    assert "4,000 tokens are longer than the 3,999 positions of 'v3'" in none(most=3999)
    assert "longer" not in none(most=4000)
    assert "5,000 tokens are longer" in none(context=5000, most=4096)
    assert "longer" not in none(most=None)


def pool(*devices):
    return {"devices": np.array(devices)}


def held(tried, prefill=((8,), (4, 16)), decode=((32,), ()), most=(24, 16)):
    return Made(tried=tried, pools=[
        Made(prefill=one and pool(*one), decode=other and pool(*other), most=cards)
        for one, other, cards in zip(prefill, decode, most, strict=True)])


@pytest.mark.usefixtures("_pairs")
def test_of_two_pools_which_holds_nothing_or_takes_too_many_cards():
    only = {"pools": ("two",)}
    assert "prefill" in none(held((0, 5, 0)), **only)
    assert "decode" in none(held((5, 0, 0)), **only)
    smallest = none(held((5, 5, 0)), **only)
    assert all(f"{count}" in smallest for count in (4, 32, 24))
    # 4 that prefill and 20 that decode are the 24 that there are
    for decode, fits in ((19, True), (20, True), (21, False)):
        told = none(held((5, 5, 0), decode=((decode,), ())), users=9000, **only)
        assert ("no pair of pools on 24 cards holds 9,000 users" in told) is fits
    enough = held((5, 5, 0), decode=((20,), ()))
    assert "holds 2.5 request/s" in none(enough, rate=2.5, **only)
    assert "holds" in none(enough, **only)
    # where nothing was tried, or one pool would do, it is told as of one pool
    other = none(held((0, 0, 0)), **only)
    assert other == none(held((5, 5, 0))) == none(None, **only)


@pytest.mark.usefixtures("_pairs")
def test_a_card_that_no_release_is_known_for_or_a_rate_that_nothing_keeps_up_with():
    assert "7" in none(saturated=7)
    assert none(saturated=7) != none()
