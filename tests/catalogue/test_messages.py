"""Messages in two languages: plurals, choices, values, and mistakes with their places."""

import pickle
import re

import pytest

from catalogue import ParamsError
from catalogue.messages import (
    Sentence,
    Texts,
    capitalised,
    ended,
    join,
    messages,
    resource,
    sentences,
)

ENGLISH = """### Words of a test.

# Of cards.
short =
    { $count ->
        [one] One card lacks { $memory }.
       *[other] { $count } cards lack { $memory }.
    }
more =
    { $name }{ $others ->
        [yes] { " " }and others
       *[no] { "" }
    }
blank = { " " }({ "{" }x{ "}" }){ " " }
"""
CHINESE = """short = { $count } 张卡各缺 { $memory }。
more =
    { $name }{ $others ->
        [yes] 等
       *[no] { "" }
    }
blank = （{ "{" }x{ "}" }）
"""
EXAMPLES = [
    ("short", {"count": 1, "memory": "2 GB"}, ("One card lacks 2 GB.", "1 张卡各缺 2 GB。")),
    ("short", {"count": 1024, "memory": "2 GB"},
     ("1024 cards lack 2 GB.", "1024 张卡各缺 2 GB。")),
    ("more", {"name": ("memory", "内存"), "others": True}, ("memory and others", "内存等")),
    ("more", {"name": "x" * 10_000, "others": False}, ("x" * 10_000,) * 2),
    ("blank", {}, (" ({x}) ", "（{x}）"))]
WRONG = [  # text of the English file, message, values, problem
    (ENGLISH, "shrot", {}, "words.ftl: there is no message 'shrot'."),
    (ENGLISH, "short", {"count": 2}, "words.ftl:4: 'short' is wrong (Unknown external: memory)."),
    (ENGLISH, "more", {"name": None, "others": True},
     "words.ftl:9: 'more' is given None for $name, "),
    ("a = x\n\na = x\n", "a", {}, "words.ftl:3: 'a' stands twice."),
    ("a = { $y\n", "a", {}, "words.ftl:1: Expected token: \"}\".")]


@pytest.fixture
def say(tmp_path, monkeypatch):
    """Messages of files with a text."""
    monkeypatch.setattr("catalogue.messages.FOLDER", tmp_path)

    def read(english=ENGLISH):
        for language, text in (("en", english), ("zh", CHINESE)):
            (tmp_path / language).mkdir()
            (tmp_path / language / "words.ftl").write_text(text, encoding="utf-8")
        resource.cache_clear()
        return messages("words")
    yield read
    resource.cache_clear()


@pytest.mark.parametrize(("key", "values", "texts"), EXAMPLES)
def test_plurals_choices_and_values(say, key, values, texts):
    assert say()(key, **values) == texts


@pytest.mark.parametrize(("text", "key", "values", "problem"), WRONG)
def test_a_wrong_call_or_file_is_refused_with_its_line(say, text, key, values, problem):
    with pytest.raises(ParamsError, match=re.escape(problem)):
        say(text)(key, **values)


def unread():
    """Chinese that must not be asked for."""
    raise AssertionError


def test_english_is_there_before_any_chinese_is_read():
    text = ended(capitalised(join((", ", "、"), [Sentence("one", unread), ("two", "二")])))
    assert (text[0], Texts(text)["en"]) == ("One, two.", "One, two.")
    with pytest.raises(AssertionError):
        tuple(text)


def test_a_sentence_reads_like_a_pair_after_pickling():
    say = sentences("calc/evidence/classes")
    text = pickle.loads(pickle.dumps(say("outside", "Outside: TP.", axes=("TP", "张量并行"))))
    en, zh = text
    assert (en, zh) == ("Outside: TP.", "超出实测范围：张量并行。")
    assert dict(Texts(text)) == {"en": en, "zh": zh}
    assert text == say("outside", "Outside: TP.", axes="another")
    with pytest.raises(ParamsError, match=r"classes\.ftl: there is no message 'outsider'"):
        say("outsider", "")[1]
