"""Words of files: what is said, and what is told of a file or a call that is wrong."""

import pytest

from catalogue import ParamsError, messages
from catalogue.reading import record

TEXT = """### Words of a test.

# Of cards.
short =
    .en = { $count ->
        [one] One card lacks { $memory }.
       *[other] { $count } cards lack { $memory }.
    }
    .zh = { $count } 张卡各缺 { $memory }。

more =
    .en = { $name }{ $others ->
        [yes] { " " }and others
       *[no] { "" }
    }
    .zh = { $name }{ $others ->
        [yes] 等
       *[no] { "" }
    }

blank =
    .en = { " " }({ "{" }x{ "}" }){ " " }
    .zh = （{ "{" }x{ "}" }）
"""


@pytest.fixture
def said(tmp_path):
    """Messages of a file with this text."""
    def of(text):
        path = tmp_path / "words.ftl"
        path.write_text(text, encoding="utf-8")
        messages._read.cache_clear()
        return messages.Messages(path)
    return of


def test_a_number_chooses_the_plural_and_is_written_without_grouping(said):
    say = said(TEXT)
    assert say("short", count=1, memory="2 GB") == ("One card lacks 2 GB.", "1 张卡各缺 2 GB。")
    assert say("short", count=1024, memory="2 GB")[0] == "1024 cards lack 2 GB."


def test_a_truth_chooses_words_and_a_pair_gives_each_language_its_own(said):
    say = said(TEXT)
    assert say("more", name=("memory", "内存"), others=True) == ("memory and others", "内存等")
    assert say("more", name=("memory", "内存"), others=False) == ("memory", "内存")


def test_blanks_at_the_ends_and_signs_of_the_syntax_are_said(said):
    assert said(TEXT)("blank") == (" ({x}) ", "（{x}）")


def test_a_long_value_is_said_whole(said):
    assert len(said(TEXT)("more", name="x" * 10_000, others=False)[0]) == 10_000


@pytest.mark.parametrize(("key", "values", "problem"), [
    ("shrot", {}, "words.ftl: there is no message 'shrot', which "),
    ("short", {"count": 2}, "words.ftl:4: 'short' is wrong in .en (Unknown external: memory), as "),
    ("short", {"count": 2.5, "memory": "2 GB"}, "words.ftl:4: 'short' is given 2.5 for $count, "),
    ("more", {"name": None, "others": True}, "words.ftl:11: 'more' is given None for $name, "),
])
def test_a_call_that_is_wrong_is_told_with_both_places(said, key, values, problem):
    with pytest.raises(ParamsError) as told:
        said(TEXT)(key, **values)
    assert problem in str(told.value)
    assert "tests/catalogue/test_messages.py:" in str(told.value)


@pytest.mark.parametrize(("text", "problem"), [
    ("a =\n    .en = x\n", "words.ftl:1: 'a' has not just the attributes .en and .zh"),
    ("a = x\n    .zh = y\n", "words.ftl:1: 'a' has not just the attributes .en and .zh"),
    ("a =\n    .en = x\n    .zh = y\n\na =\n    .en = x\n    .zh = y\n",
     "words.ftl:5: 'a' stands twice, first in line 1."),
    ("a =\n    .en = x\n    .zh = { $y\n", "words.ftl:3: Expected token: \"}\"."),
])
def test_a_file_that_is_wrong_is_told_with_its_line(said, text, problem):
    with pytest.raises(ParamsError) as told:
        said(text)("a")
    assert problem in str(told.value)


def test_no_such_file():
    with pytest.raises(ParamsError, match=r"messages/none\.ftl: there is no such file"):
        messages.messages("none")("a")


def test_files_are_recorded_those_that_were_read_before_too(said, tmp_path, monkeypatch):
    """A module that is imported once for all pages keeps the words that it read."""
    monkeypatch.setattr(record, "_noted", set())
    monkeypatch.setattr(record, "_kept", set())
    monkeypatch.delenv("PARAMS_RECORD", raising=False)
    said(TEXT)("blank")
    monkeypatch.setenv("PARAMS_RECORD", str(tmp_path / "record"))
    say = messages.messages("common")
    say("value")
    say("quantity")
    assert sorted((tmp_path / "record").read_text().splitlines()) == [
        str(tmp_path / "words.ftl"), "messages/common.ftl"]
