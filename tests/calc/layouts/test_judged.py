"""Whether deployments are loaded: the margin of memory, sentences, what is judged only once."""

from types import SimpleNamespace as Made

import numpy as np
import pytest

from calc.layouts import feasible as module
from calc.layouts.feasible import HEADROOM, KINDS, MEMORY, Judge, has_room, rejection_counts


def test_memory_that_is_all_used_is_enough_unless_some_is_to_be_left():
    assert has_room(0.0)
    assert not has_room(-1e-9)
    assert has_room({HEADROOM: 5.0, "other": -9.0}, 5.0)
    assert not has_room({HEADROOM: 5.0}, 5.1)
    assert has_room(np.array([-1.0, 0.0, 2.0]), 1.0).tolist() == [False, False, True]


FOUND = {HEADROOM: -3e9, "weights_per_device": 50e9, "kv_per_device": 20e9,
         "activations_per_device": 2e9, "exchange_buffers": 0.0, "memory_per_device": 75e9,
         "usable_memory": 72e9, "absorbed_copies_per_device": 0.5e9, "mtp_weights": 1e9}


@pytest.mark.parametrize(("changed", "said"), [
    ({}, ("copied",)), ({"exchange_buffers": 1.0}, ("copied", "buffered")),
    ({"absorbed_copies_per_device": 0.0, "mtp_weights": 1.0}, ("copied",)),
    ({"absorbed_copies_per_device": 0.0, "mtp_weights": 0.0}, ())])
def test_what_is_short_is_told_with_all_that_it_is_short_for(changed, said, monkeypatch):
    """Copies of absorbed weights and of a prediction layer are one number."""
    asked = {}
    monkeypatch.setattr(module, "say", lambda key, **given: asked.update(given))
    monkeypatch.setattr(module, "by_language", lambda _: {})
    found = FOUND | changed
    reason = module._short(found)
    assert reason.kind == MEMORY
    copies = found["absorbed_copies_per_device"] + found["mtp_weights"]
    assert reason.numbers == {"short": 3e9, "copies": copies} | {
        name: found[name] for name in module.OF_MEMORY}
    assert tuple(name for name in ("copied", "buffered") if asked[name]) == said
    assert {name: asked[name] for name in ("short", "weights", "cache", "active", "whole",
                                           "usable")} == {
        "short": "3 GB", "weights": "50 GB", "cache": "20 GB", "active": "2 GB", "whole": "75 GB",
        "usable": "72 GB"}


@pytest.mark.parametrize(("en", "told"), [
    ("heads do not divide", "Heads do not divide."),
    ("vllm@0.11.0 has none", "vllm@0.11.0 has none.")])
def test_a_reason_is_a_sentence_that_keeps_the_name_of_a_release(en, told):
    reason = module._sentence(Made(kind="division", numbers={"heads": 128},
                                   text={"en": en, "zh": "不能整除"}))
    assert (reason.text["en"], reason.text["zh"]) == (told, "不能整除。")
    assert reason.as_json() == {"kind": "division", "heads": 128, "text": reason.text}


def test_reasons_begin_with_the_memory(monkeypatch):
    monkeypatch.setattr(module, "not_loaded", lambda _: ("another",))
    short, other = module.reasons(None, FOUND)
    assert (short.kind, other) == (MEMORY, "another")
    assert module.reasons(None, FOUND | {HEADROOM: 0.0}) == ("another",)


def test_rejections_are_counted_by_kind_without_those_that_are_none():
    order = list(KINDS)
    kinds = np.array([-1, 0, 3, 3, -1, len(order) - 1])
    assert rejection_counts(kinds) == {order[0]: 1, order[3]: 2, order[-1]: 1}
    assert rejection_counts(np.array([-1, -1])) == {}


class Odd:
    """A rule that refuses odd sizes of one axis, and counts what it is asked."""

    by = ("card",)
    alike = None

    def __init__(self, kind, axis, alike=None):
        self.kind, self.of, self.alike, self.asked = kind, (axis, "absent"), alike, []

    def problem(self, subject, cut):
        size = getattr(cut, self.of[0])
        self.asked.append(size)
        return "odd" if size % 2 else None


def rows(**lists):
    return {name: np.array(values) for name, values in lists.items()}


def test_the_first_rule_that_refuses_a_layout_is_why(monkeypatch):
    """Layouts that are alike in what a rule looks at are asked of it once."""
    first, then, never = (Odd(kind, axis) for kind, axis in zip(
        list(KINDS)[1:4], ("tensor", "data", "pipeline"), strict=True))
    monkeypatch.setattr(module, "RULES", (first, then, never))
    table = rows(tensor=[1, 2, 3, 4, 3], data=[3, 3, 2, 2, 2], pipeline=[9, 9, 9, 9, 9])
    asked = list(KINDS)[1:3]
    assert Judge().kinds(None, table, asked=asked).tolist() == [1, 2, 1, -1, 1]
    assert (sorted(first.asked), sorted(then.asked), never.asked) == ([1, 2, 3, 4], [2, 3], [])
    assert module.admitted(None, table, asked).tolist() == [False, False, False, True, False]
    assert module.admitted(None, table).tolist() == [False] * 5


def test_what_was_judged_of_the_same_table_and_subject_is_remembered(monkeypatch):
    rule = Odd(next(iter(KINDS)), "tensor")
    monkeypatch.setattr(module, "RULES", (rule,))
    judge, card = Judge(), Made(card=Made(id="a card"))

    def ask(values, subject=card, table="table"):
        rule.asked.clear()
        return judge.kinds(subject, rows(tensor=values), table).tolist(), rule.asked[:]

    assert ask([1, 2]) == ([0, -1], [1, 2])
    assert ask([1, 2]) == ([0, -1], [])
    assert ask([2, 5, 1], table="other") == ([-1, 0, 0], [5])  # the others are known
    assert ask([2, 5], Made(card=Made(id="another"))) == ([-1, 0], [2, 5])
    assert ask([2, 5], Made(card="plain")) == ([-1, 0], [2, 5])
    assert ask([4, 5], table=None) == ([-1, 0], [4, 5])
    assert ask([4, 5], table=None) == ([-1, 0], [4, 5])


def test_a_rule_that_looks_at_less_than_the_sizes_is_asked_once_of_what_is_alike(monkeypatch):
    rule = Odd(next(iter(KINDS)), "tensor", lambda subject, rows: [rows["tensor"] % 2])
    monkeypatch.setattr(module, "RULES", (rule,))
    assert Judge().kinds(None, rows(tensor=[1, 3, 4, 8, 5])).tolist() == [0, 0, -1, -1, 0]
    assert len(rule.asked) == 2
    nothing = Odd(next(iter(KINDS)), "tensor")
    monkeypatch.setattr(module, "RULES", (nothing,))
    assert Judge().kinds(None, rows(data=[7, 7, 7])).tolist() == [0, 0, 0]  # a size of one is odd
    assert Judge().kinds(None, rows(tensor=[])).tolist() == []
