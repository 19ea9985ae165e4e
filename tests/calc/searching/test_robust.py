"""How often limits hold under draws of all ranges, and the best of what holds them often enough."""

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from calc.many.fronts import front
from calc.searching.load_goal import load_goal
from calc.searching.percentiles import Simulated
from calc.searching.result import Answer
from calc.searching.robust import (
    SPARE,
    apart,
    firmest,
    keeps,
    rows_with_margin,
    sample_rows,
    surely,
)
from calc.searching.same_cards import relaxed
from calc.searching.search import search
from catalogue import ParamsError

SMALL = ("devices=nvidia-h20,ascend-910b2", "cards.most=24", "precisions=w8a8-int8,w4a8-int8",
         "space.chunks=4096", "space.drafts=0,1", "space.spares=none", "space.micro_batches=1",
         "limits.tpot=60ms", "limits.ttft=1s", "objectives=cards,tpot", "space.pools=one")
FEWER = (*SMALL, "devices=nvidia-h20", "precisions=w8a8-int8", "space.drafts=0")
SHARES = (0.0, 0.3, 0.6, 0.8, 0.9, 0.97)


def found(*settings):
    return search(load_goal("r1-80-users-h20", [*SMALL, *settings]))


@pytest.fixture(scope="module")
def sure():
    """A search in which limits are objectives too, as wherever a share is asked."""
    return found("limits.sure=0.5")


def values(rows, names):
    return {tuple(each.worth(names)) for each in rows}


def test_the_share_grows_with_the_limit():
    base = found()
    each, = sample_rows(base, base.rows(base.front, 1))
    shares = []
    for limit in (40, 50, 60, 75, 100, 400):
        wider = found(f"limits.tpot={limit}ms")
        shares.append(keeps(wider, each))
    assert shares == sorted(shares)
    assert shares[0] < 0.5 < shares[-1]


def test_the_share_is_that_of_the_percentile_that_is_limited():
    """What waits in a simulation the longer, the less often it keeps its limit."""
    base = found("limits.ttft.p90=1 s")
    each, = sample_rows(base, base.rows(base.front, 1))
    mean = each.row.quantities["ttft"]
    shares = [keeps(base, each, Simulated(each.row, {"ttft": {"p90": mean * factor}}, True, ""))
              for factor in (0.5, 1.0, 2.0, 4.0, 8.0)]
    assert shares[0] == shares[1] == keeps(base, each)  # the mean is held against it, too
    assert shares == sorted(shares, reverse=True)
    within = (8 * each.quantities["ttft"] <= 1) & (each.quantities["tpot"] <= 0.06)
    assert shares[-1] == pytest.approx(within.mean())


def test_what_seldom_keeps_its_limits_gives_place_to_what_often_does():
    shares = {"first": 0.42, "second": 0.81, "third": 0.79, "last": 0.95}
    groups = [[name, f"like {name}"] for name in shares]
    assert [leader for leader, _ in firmest(groups, shares.get)] == [
        "second", "last", "first", "third"]
    seldom = {name: share / 2 for name, share in shares.items()}  # of the surest's, as large a part
    assert [leader for leader, _ in firmest(groups, seldom.get)] == [
        "second", "third", "last", "first"]
    assert firmest(groups, lambda _: None) == groups  # where nothing is limited


def test_a_share_of_nothing_gives_the_answer_without_one(sure):
    plain = found()
    names = plain.wishes.objectives
    ours = surely(sure, 0.0)
    assert ours.left == 0
    assert values((each.row for each in ours.front), names) == values(
        plain.rows(plain.front), names)
    assert list(names) == list(sure.wishes.chosen)


def test_the_surer_the_fewer_and_never_better():
    sure, firsts = found("limits.sure=0.5", "limits.tpot=45ms"), []
    for share in SHARES:
        one = surely(sure, share)
        assert all(keeps(sure, each) >= share for each in one.front)
        if one.front:
            firsts.append(one.front[0].row.worth(sure.wishes.chosen))
    assert len(firsts) > 2
    assert firsts == sorted(firsts, reverse=True)
    assert firsts[0] > firsts[-1]


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_it_is_the_front_of_all_candidates_that_are_sure(sure, share):
    """Against every one of them drawn, in no order."""
    rows = [row for kept in sure.of_bases for row in sure.rows(kept.front)]
    kept = [each.row for each in sample_rows(sure, rows) if keeps(sure, each) >= share]
    names = sure.wishes.chosen
    columns = dict(zip(names, np.array([row.worth(names) for row in kept]).T, strict=True))
    best = {kept[place].worth(names) for place in front(columns, dict.fromkeys(names, 1))}
    ours = surely(sure, share)
    assert values((each.row for each in ours.front), names) == best
    assert ours.tried < len(rows)


def test_every_one_that_is_told_says_how_often_it_keeps_its_limits(cli):
    settings = itertools.chain(*(("--set", text) for text in FEWER))
    code, out, _ = cli("search", "r1-80-users-h20", "--json", *settings)
    told = json.loads(out)
    assert code == 0
    shares = [group[0]["keeps"] for group in told["front"]]
    assert all(0 <= share <= 1 for share in shares)
    first = next((share for share in shares if share >= 0.9), None)
    assert (told["first_sure"] or {}).get("keeps") == first


def test_the_shell_tells_it_and_takes_a_share(cli):
    settings = list(itertools.chain(*(("--set", text) for text in FEWER)))
    code, out, _ = cli("search", "r1-80-users-h20", *settings, "--sure", "0.3")
    assert code == 0
    assert "of draws" in out
    assert "keep the limits in at least 30% of draws" in out
    code, out, err = cli("search", "r1-80-users-h20", *settings, "--sure", "1", "--tpot", "40ms")
    assert (code, err) == (3, "")
    assert "Nothing keeps its limits in 100% of draws. The surest of" in out
    code, out, _ = cli("search", "r1-80-users-h20", *settings, "--sure", "1", "--tpot", "40ms",
                       "--json")
    told = json.loads(out)
    assert (code, told["met"]) == (3, False)
    assert told["sure"]["surest"]["keeps"] < 1


def test_without_limits_there_is_no_share():
    base = search(load_goal("r1-64-users-8xh20", ["space.chunks=4096", "space.drafts=0",
                                                  "precisions=w8a8-int8"]))
    answer = Answer(base)
    assert answer.keeps(answer.front[0][0]) is None
    assert answer.first_sure is None


@pytest.mark.parametrize(("settings", "told"), [
    (["limits.sure=0.9", "limits.tpot=null", "limits.ttft=null"], "no limit is stated"),
    (["limits.sure=1.5"], "at most 1"),
])
def test_a_share_that_means_nothing_is_refused(settings, told):
    with pytest.raises(ParamsError, match=told):
        load_goal("r1-80-users-h20", settings)


@pytest.mark.one
@pytest.mark.parametrize("settings", [
    (), ("demand.users=null", "devices=nvidia-h20", "cards.most=8", "limits.tpot=40ms",
         f"space.batches={','.join(str(size) for size in range(8, 200, 3))}",
         "objectives=throughput_per_card")])
def test_what_a_wider_limit_gives_is_what_a_search_with_it_finds(settings):
    goal = load_goal("r1-80-users-h20", [*SMALL, *settings])
    moved, before = 0, Answer(search(goal)).best
    for each in relaxed(goal):
        limits = goal.limits.model_copy(update={each.limit: each.to})
        other = search(goal.model_copy(update={"limits": limits}))
        names = other.wishes.objectives
        assert each.row.worth(names) == other.rows(other.front, 1)[0].worth(names)
        moved += each.row.worth(names) != before.worth(names)
    assert moved or not settings  # cards are few, batches are many


def test_the_shell_tells_what_a_wider_limit_gives_and_of_which_goals(cli):
    settings = list(itertools.chain(*(("--set", text) for text in SMALL)))
    code, out, _ = cli("search", "r1-80-users-h20", *settings, "--relax")
    assert code == 0
    assert "TPOT limit 10% wider (66 ms): cards" in out
    assert "TTFT limit 1% wider (1.01 s)" in out
    code, _, err = cli("search", "r1-80-users-h20", *settings, "--relax", "--sure", "0.5")
    assert code == 2
    assert "--relax: widens limits of means" in err


def test_twice_as_fast_is_told_apart_and_a_part_in_a_million_is_not(sure):
    one = sample_rows(sure, sure.rows(sure.front)[:1])[0]

    def slower(times):
        return replace(one, quantities={**one.quantities, "tpot": times * one.quantities["tpot"]})
    assert apart(one, slower(2), {"tpot": -1})
    assert not apart(one, slower(1 + 1e-6), {"tpot": -1})
    assert not apart(one, slower(2), {"cost": -1} if "cost" in one.quantities else {"ttft": -1})


@pytest.mark.parametrize(("limits", "reached", "kept", "first"), [
    ({"throughput": 100.5}, [100.4, 100.5, 110.5, 110.6], [100.5, 110.5, 110.6],
     [100.5, 110.6]),
    ({"tpot": 0.05}, [0.051, 0.05, 0.046, 0.045], [0.05, 0.046, 0.045], [0.05, 0.045])])
def test_the_best_with_more_and_more_to_spare_of_a_limit(limits, reached, kept, first):
    """One for each share that is to spare: of a floor so much above it, of a ceiling below it."""
    [name] = limits
    rows = [SimpleNamespace(quantities={name: each}, choices=each) for each in reached]
    found = SimpleNamespace(wishes=SimpleNamespace(limits=limits))
    for each, told in ((len(rows), kept), (1, first)):
        some = rows_with_margin(found, rows, each * len(SPARE))
        assert [row.choices for row in some] == told
