"""What ``search`` writes, calls near, and gives as a reason, of answers written down here."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace as Made

import numpy as np
import pytest

from calc.commands.deciding import answered, missing, search
from calc.layouts import choice as choices
from calc.layouts.choice import Choice, Row
from catalogue import ParamsError

CHOICE = Choice("nvidia-h20", "hgx-h20", None, "fp8-block", 16, 8, 1, 2, 8, 0, 0, 1, 8192, 1, 0, 90,
                1024)


def row(choice=CHOICE, prefill=None, **over):
    return Row(choice, {"tpot": 0.05}, over=over, prefill=prefill)


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def texts(monkeypatch):
    monkeypatch.setattr(choices, "text", lambda goal, choice: f"one {choice.concurrency}\n")
    monkeypatch.setattr(choices, "family",
                        lambda goal, prefill, decode: f"two {prefill.devices} {decode.devices}\n")


def answer(outside=(), **own):
    rows = [row(), row(prefill=replace(CHOICE, devices=4))]
    wishes = Made(goal=Made(id="goal", limits=Made(times={})))
    return Made(**{"result": Made(wishes=wishes), "front": [[Made(row=each)] for each in rows],
                   "best": rows[0], "near": lambda of: Made(outside=outside)} | own)


@pytest.mark.usefixtures("texts")
def test_files_are_of_those_told_and_of_the_best_that_was_measured_near(tmp_path):
    folder = tmp_path / "a" / "b"
    assert search._written(answer(), row(), folder) == [folder / "goal-1.yml",
                                                        folder / "goal-2.yml"]
    assert [path.read_text() for path in sorted(folder.iterdir())] == ["one 1024\n", "two 4 16\n"]
    near = row(replace(CHOICE, concurrency=7))
    told = search._written(answer(outside=["x"]), near, folder)
    assert [path.name for path in told] == ["goal-1.yml", "goal-2.yml", "goal-inside.yml"]
    assert told[2].read_text() == "one 7\n"
    assert len(search._written(answer(outside=["x"]), None, folder)) == 2
    assert len(search._written(answer(outside=["x"], best=None), near, folder)) == 2


@pytest.mark.usefixtures("texts")
def test_no_file_is_written_over_another(tmp_path):
    (tmp_path / "goal-2.yml").write_text("mine")
    with pytest.raises(ParamsError, match=r"goal-2\.yml"):
        search._written(answer(), None, tmp_path)
    assert (tmp_path / "goal-2.yml").read_text() == "mine"
    with pytest.raises(ParamsError, match="cannot be written"):
        search._written(answer(), None, tmp_path / "goal-2.yml")


@pytest.mark.parametrize(("files", "number", "told"), [
    ([], 2, "goal-2.yml"), ([Path("a.yml"), Path("b.yml")], 2, "b.yml"),
    ([Path("a.yml"), Path("b.yml")], 1, "a.yml")])
def test_a_file_stands_where_it_was_written_or_would_be(files, number, told):
    assert search._file(answer(), number, files) == told


@pytest.mark.parametrize("own", [
    {"met": True}, {"sure": Made()}, {"missed": [1]}, {"refused": [1]}])
def test_why_nothing_meets_a_goal_is_told_programs_where_nothing_else_is(monkeypatch, own):
    monkeypatch.setattr(search, "nearest", lambda of: [])
    monkeypatch.setattr(search, "why_none", lambda of: "It is too long.")
    none = {"met": False, "sure": None, "missed": [], "refused": []}
    assert search._missing(Made(**none)) == {"why": "It is too long."}
    assert search._missing(Made(**(none | own))) == {}


# --- the nearest ----------------------------------------------------------------------------------


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


@pytest.fixture(autouse=True)
def pairs(monkeypatch):
    """The pairs of pools of an answer are those it is given here."""
    monkeypatch.setattr(missing, "_without_limits", lambda answer: answer.found)


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


def test_of_two_pools_which_holds_nothing_or_takes_too_many_cards():
    only = {"pools": ("two",)}
    assert "prefill" in none(held((0, 5, 0)), **only)
    assert "decode" in none(held((5, 0, 0)), **only)
    smallest = none(held((5, 5, 0)), **only)
    assert all(f"{count}" in smallest for count in (4, 32, 24))
    # 4 that prefill and 20 that decode are the 24 that there are
    for decode, fits in ((20, True), (21, False)):
        told = none(held((5, 5, 0), decode=((decode,), ())), users=9000, **only)
        assert ("no pair of pools on 24 cards holds 9,000 users" in told) is fits
    enough = held((5, 5, 0), decode=((20,), ()))
    assert "holds 2.5 request/s" in none(enough, rate=2.5, **only)
    assert "holds" in none(enough, **only)
    # where nothing was tried, or one pool would do, it is told as of one pool
    other = none(held((0, 0, 0)), **only)
    assert other == none(held((5, 5, 0))) == none(None, **only)


def test_a_card_that_no_release_is_known_for_or_a_rate_that_nothing_keeps_up_with():
    assert "7" in none(saturated=7)
    assert none(saturated=7) != none()


# --- what was measured near -----------------------------------------------------------------------


def axis(name, value, covered, *, inside):
    return Made(name=name, value=value, covered=covered, inside=inside)


def near(*axes, nearest="theirs (row 3)"):
    found = Made(nearest=nearest, axes=axes, outside=[each for each in axes if not each.inside])
    return answered.near(Made(near=lambda row: found), None)


def test_what_lies_inside_and_what_beyond_of_what_was_measured():
    users = axis("concurrency", 64.0, (1.0, 32.0), inside=False)
    card = axis("device", "a", ("b", "c"), inside=True)
    told = near(users, card)
    assert "theirs (row 3)" in told
    assert "64" in told
    assert "1 to 32" in told
    assert "b c" not in told
    other = near(axis("device", "a", ("b", "c"), inside=False))
    assert "b c" in other
    assert "to" not in other.split("b c")[1]
    one = near(axis("concurrency", 64.0, (8.0, 8.0), inside=False))
    assert "8" in one
    assert "8 to 8" not in one
    assert near(nearest=None) != near()


def test_caveats_are_of_what_is_told_or_of_all_that_was_tried(monkeypatch):
    told = []
    monkeypatch.setattr(answered, "announced", lambda devices: told.append(list(devices)) or ())
    monkeypatch.setattr(answered, "underived", lambda models: ("not derived", "未推导"))

    def asked(met):
        goal = Made(model="m")
        return answered.caveats(Made(met=met, result=Made(
            bases=[Made(device="a"), Made(device="b")], wishes=Made(goal=goal),
            of_bases=[Made(front=Made(rows=[])), Made(front=Made(rows=[1]))])))

    assert asked(True) == asked(False) == ["not derived"]
    assert told == [["b"], ["a", "b"]]


def test_what_is_taken_of_other_cards_is_told_once():
    rows = [Made(row=number) for number in (1, 2, 3)]
    found = answered.stood_in(Made(front=[[each] for each in rows], stand_ins=lambda row: {
        1: ("x", "甲"), 2: None, 3: ("x", "甲")}[row]))
    assert found == ["x"]


def test_a_quantity_without_a_range_is_told_alone():
    each = Made(amounts={}, row=Row(CHOICE, {"tpot": 0.05}))
    assert answered.interval(each, "tpot") == "TPOT 50 ms"


def test_two_formats_are_told_apart_in_what_they_cost():
    of = Made(quality=lambda row: [Made(words=("lossless", "无损")), Made(words=("less", "较差"))])
    two = row(prefill=replace(CHOICE, precision="bf16"))
    assert len(answered.qualities(of, two)) == 2
    assert "bf16" in answered.qualities(of, two)[0]
    assert answered.qualities(of, row(prefill=CHOICE)) == ["lossless", "less"]
