"""How many deployments were left out at which bound, and what an answer says of all of them."""

from collections import Counter
from types import SimpleNamespace as Made

import pytest
from _choices import PLAIN

from calc.layouts.choice import Row
from calc.searching import result as module
from calc.searching.goal import Wishes
from calc.searching.left_out import COUNTED, ORDER, Funnel, bound_words
from calc.searching.load_goal import load_goal
from calc.searching.result import Answer
from calc.searching.robust import SampledRow

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
