"""What stands beside an answer: quality and engines of formats, what was left out, data, and
what a notebook shows."""

from collections import Counter
from types import SimpleNamespace as Made

import numpy as np
import pytest
from _middle import PLAIN

from calc.layouts.choice import Row, unrun
from calc.layouts.feasible import Judge
from calc.many.fronts import Front
from calc.searching import result as module
from calc.searching import robust
from calc.searching.goal import Wishes
from calc.searching.left_out import COUNTED, ORDER, Funnel, bound_words
from calc.searching.load_goal import load_goal, search
from calc.searching.pool_pairs import Pairs
from calc.searching.result import Answer
from calc.searching.robust import SampledRow
from calc.searching.search import SearchResult
from catalogue import ParamsError
from catalogue.kernels import quality

SMALL = ("space.tensor=8", "space.pipeline=1", "space.decode_context=4", "space.chunks=4096",
         "space.drafts=0", "space.pools=one")


def asked(*settings: str) -> Answer:
    return search("r1-64-users-8xh20", [*SMALL, *settings])


def test_published_weights_alone():
    answer = asked("limits.quality=published")
    assert {base.precision for base in answer.result.bases} == {"fp8-block"}
    assert answer.result.funnel.counts["quality"]
    assert "w4afp8" in answer.left_out
    assert answer.best
    assert answer.quality(answer.best)[0].is_published


def test_formats_of_pairs_are_not_left_out_where_one_pool_is():
    answer = search("v3-16xh200", ["space.pools=two", "space.chunks=2048", "space.drafts=0",
                                   "space.spares=none", "space.tensor=8"])
    assert "one pool" in answer.left_out
    assert "w4afp8" in answer.left_out
    assert "fp8-block" not in answer.left_out


def test_a_wider_bound_lets_no_less_in():
    tried = [{base.precision for base in asked(f"limits.quality={points}").result.bases}
             for points in ("0", "1 point", "5 points")]
    assert tried[0] <= tried[1] <= tried[2]
    for bound, names in zip((0, 1, 5), tried, strict=True):
        model = asked().result.space.model
        assert all(quality(model, name).within(bound) for name in names)


@pytest.mark.parametrize("bad", ["good", "-1 point", "1 GB"])
def test_a_bound_that_is_none(bad):
    with pytest.raises(ParamsError, match="no bound on quality, expected points"):
        load_goal("r1-64-users-8xh20", [f"limits.quality={bad}"])


def test_only_what_no_engine_runs_is_marked():
    usual = asked("precisions=fp8-block")
    assert usual.best
    assert not unrun(usual.result.wishes.goal, usual.best)
    assert all(usual.best.kernels(usual.result.space.model))
    lifted = asked("precisions=w4a8-int8", "space.any_engine=true")
    assert lifted.best
    assert unrun(lifted.result.wishes.goal, lifted.best)
    assert not any(lifted.best.kernels(lifted.result.space.model))


GOAL = load_goal("r1-80-users-h20")


def test_a_funnel_counts_deployments_and_says_in_the_order_of_the_questions():
    one = Funnel(Counter(memory=3, front=1, quality=9), 5)
    one.merge(Funnel(Counter(memory=2, beaten=4, division=7, limits=0), 6))
    assert (one.deployments, one.computed) == (3 + 2 + 1 + 4, 11)
    told = one.as_json()
    assert told["by_bound"] == {"division": 7, "quality": 9, "memory": 5, "beaten": 4, "front": 1}
    assert list(told["by_bound"]) == [name for name in ORDER if name in told["by_bound"]]
    assert (told["deployments"], told["computed"]) == (10, 11)


def test_every_bound_has_its_words_in_the_order_in_which_it_is_asked():
    assert tuple(bound_words()) == ORDER
    assert ORDER[-len(COUNTED):] == COUNTED
    assert ORDER.count("drafts") == 1
    assert ORDER.index("drafts") == len(ORDER) - len(COUNTED) - 1


class Whole(Answer):
    """An answer of which every part is known by a name."""

    missed, refused, precisions, devices = (), (), ("p",), ("d",)
    official, runner_up, official_precision = "o", None, "fp8-block"
    nearest_miss = None

    def _told(self, each):
        return f"told {each}"

    def beside(self, row):
        return f"beside {row}"


def whole(front=(), **more):
    asked = Wishes(GOAL, {"cards": -1}, 1, {}, ("a card",))
    answer = Whole(Made(wishes=asked, pairs=None, funnel=Made(as_json=lambda: "funnel")))
    answer.__dict__.update({"front": front, "sure": None, "left_out": ["x"], "least_change": None,
                            "first_sure": None, "candidates": [1, 2, 3]} | more)
    return answer


ROW = Row(PLAIN, {"tpot": .06}, over={"tpot": .2})
GROUP = ["first", Made(row=ROW)]
BEGUN = {"goal": "r1-80-users-h20", "met": True, "objectives": ["cards"],
         "limits": {"tpot": .05, "ttft": 2.0}, "unpriced": ["a card"], "funnel": "funnel"}


def test_an_answer_as_data_has_its_front_and_what_stands_beside_it():
    told = whole([GROUP]).as_json()
    assert told == BEGUN | {
        "left_out": ["x"], "missed": [], "front": [["told first", ROW.as_json()]], "front_size": 3,
        "first_sure": None, "official": "beside o", "runner_up": None, "refused": [],
        "official_precision": "fp8-block", "by_precision": ["beside p"],
        "by_device": ["beside d"]}
    more = whole([GROUP], first_sure="s", least_change=(ROW, {"a": 1}))
    more.result.pairs = Made(tried=(1, 2, 3))
    told = more.as_json()
    assert (told["first_sure"], told["pairs_tried"]) == ("told s", [1, 2, 3])
    assert told["least_change"] == ROW.as_json() | {"changed": {"a": 1}}


def test_where_nothing_meets_a_goal_the_nearest_miss_is_told():
    none = whole()
    assert none.as_json() == BEGUN | {"met": False, "left_out": ["x"], "missed": [],
                                      "nearest_miss": None}
    none.nearest_miss = ROW
    none.missed = [Made(row=ROW, as_json=lambda: "seen")]
    told = none.as_json()
    assert told["nearest_miss"] == ROW.as_json() | {"binds": "tpot"}
    assert told["missed"] == [ROW.as_json() | {"simulated": "seen"}]


@pytest.mark.parametrize(("surest", "more"), [("s", {"surest": "told s"}), (None, {})])
def test_where_nothing_is_sure_the_surest_is_told_and_nothing_else(surest, more):
    sure = Made(surest=surest, as_json=lambda: {"share": .9})
    none = whole(sure=sure).as_json()
    assert none == BEGUN | {"met": False, "sure": {"share": .9} | more}
    assert "front" in whole([GROUP], sure=sure).as_json()


def test_what_stands_beside_a_row_and_what_is_told_of_it(monkeypatch):
    class Known(Answer):
        def start(self, row):
            return Made(as_json=lambda: "start") if row is ROW else None

        def stand_ins(self, row):
            return ("en", "zh") if row is ROW else None

        def amounts(self, row):
            return {"tpot": Made(as_json=lambda: 7)}

        def quality(self, row):
            return [Made(words=("good", "好"))]

        def near(self, row):
            return Made(as_json=lambda: "near")

        def keeps(self, each):
            return .8

        def simulated(self, row):
            return Made(as_json=lambda: "seen") if row is ROW else None

        def loop(self, row):
            return Made(as_json=lambda: "loop")

    monkeypatch.setattr(Row, "kernels", lambda self, model: [Made(text="vllm"), None])
    monkeypatch.setattr(module, "unrun", lambda goal, row: [{"en": "no kernel", "zh": "无"}])
    asked = Wishes(GOAL, {"cards": -1}, 1, {}, ())
    answer = Known(Made(wishes=asked, space=Made(model=None)))
    beside = {"amounts": {"tpot": 7}, "quality": ["good"], "runs": ["vllm", None]}
    assert answer.beside(ROW) == ROW.as_json() | beside | {"stand_ins": "en", "start": "start"}
    pair = Row(PLAIN, {"tpot": .045}, prefill=PLAIN)
    assert answer.beside(pair) == pair.as_json() | beside
    told = {"keeps": .8, "unstarted": ["no kernel"], "near": "near"}
    assert answer._told(SampledRow(GOAL, ROW, {})) == answer.beside(ROW) | told | {
        "binds": "tpot", "simulated": "seen"}
    assert answer._told(SampledRow(GOAL, pair, {})) == answer.beside(pair) | told | {
        "binds": "tpot", "simulated": None, "pools": "loop"}


LONG = "as long as a book"


class Long:
    """What would fill a screen."""

    def __repr__(self):
        return LONG


FRONT = Front({"tpot": -1})


@pytest.mark.parametrize("shown", [
    Answer("found", starts=Long(), _refused=[Long()], _started={1: Long()},
           _simulated={1: Long()}),
    SearchResult("wishes", [], [], FRONT, "funnel", Long(), draws={1: Long()}),
    Pairs([], FRONT, (0, 0, 0), {"a": Long()}, [Long()]),
    SampledRow("goal", Row(PLAIN, {}), {}, deployed=Long()),
    Judge({1: Long()}, {1: Long()}), Front({"tpot": -1}, _strong=Long())],
    ids=lambda shown: type(shown).__name__)
def test_what_only_takes_room_is_not_shown(shown):
    """Columns of a million rows and whole deployments are there, and are asked for by name."""
    assert LONG not in repr(shown)
    assert type(shown).__name__ in repr(shown)


def test_what_is_shown_of_an_answer_says_what_it_is_of():
    told = repr(Answer("what was found", most=7))
    assert "what was found" in told
    assert "most=7" in told


def test_rows_are_drawn_alike_whatever_they_were_made_from():
    """The scenario of a deployment is made anew in each run, and tells no two rows apart."""
    one, other = (SampledRow("goal", Row(PLAIN, {}), {}, deployed=Long()) for _ in range(2))
    assert one == other
    ours, theirs = (Front({"tpot": -1}, _strong=Long()) for _ in range(2))
    assert ours == theirs


def test_of_what_is_drawn_those_quantities_are_kept_that_a_row_has(monkeypatch):
    """Of the draws with what distance adds, and of those without it."""
    far, near = ({name: np.full(2, value) for name in ("tpot", "ttft", "cost")}
                 for value in (3.0, 2.0))
    monkeypatch.setattr(robust, "draws_of", lambda found, row: (far, near, "deployed"))
    monkeypatch.setattr(robust, "_scatter", lambda deployed: {"of": deployed})
    row = Row(PLAIN, {"tpot": 1.0, "cost": 2.0, "longest_context": 9.0})
    each = robust._sampled(Made(wishes=Made(goal="goal")), row)
    assert (each.goal, each.row, each.scatter, each.deployed) == (
        "goal", row, {"of": "deployed"}, "deployed")
    assert {name: drawn.tolist() for name, drawn in each.quantities.items()} == {
        "tpot": [3, 3], "cost": [3, 3]}
    assert {name: drawn.tolist() for name, drawn in each.near.items()} == {
        "tpot": [2, 2], "cost": [2, 2]}
