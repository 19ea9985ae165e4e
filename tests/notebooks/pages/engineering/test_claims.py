"""The documents' claims beside a chapter: those that it names, judged as on their own page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from calc.auditing.judging import CONTRADICTS
from catalogue import ParamsError
from notebooks.pages.audit.words import everything, printed, right
from notebooks.pages.engineering import claims
from notebooks.show import display

NOTEBOOKS = Path(__file__).resolve().parents[4] / "notebooks"
NUMBER = re.compile(r"\bS[0-3]-C?\d+\b")
CHAPTERS = sorted(path.name for path in NOTEBOOKS.glob("*.md")
                  if "claims.claims_table(" in path.read_text("utf-8"))
assert CHAPTERS, "no chapter judges claims"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_judges_its_claims_as_their_page_does(chapter):
    text = (NOTEBOOKS / chapter).read_text("utf-8")
    called = text.split("claims.claims_table(")[1].split(")\n")[0]
    names = NUMBER.findall(called)
    assert len(names) == len(set(names)) > 5
    pages = {row.id: row for row in everything().rows}
    for row in claims.select_claims(" ".join(names)):
        same = pages[row.id]
        assert row.judgement.verdict == same.judgement.verdict
        assert set(same.judgement.also) - {CONTRADICTS} == set(row.judgement.also)
        assert (printed(row), right(row)) == (printed(same), right(same))


def test_chinese_words_of_a_document_are_quoted_and_translated_and_numbers_are_not():
    said = [printed(row) for row in everything().rows]
    assert ("“better value for money”", "“性价比更高”") in said
    assert ("64 GB", "64 GB") in said
    assert not [en for en, _ in said if re.search("[\u4e00-\u9fff]", en)]
    assert not [zh for _, zh in said if re.search("[\u4e00-\u9fff]", re.sub("“.*”", "", zh))]


def test_microseconds_have_their_sign_in_what_is_printed_and_in_what_is_right():
    rows = {row.id: row for row in everything().rows}
    assert printed(rows["S1-161"])[0] == "500 µs"
    assert right(rows["S1-161"])[0].endswith(" µs")


def test_a_number_that_is_right_itself_is_no_correction():
    rows = {row.id: row for row in everything().rows}
    assert right(rows["S1-263"]) == ("–", "–")  # cards that hold no model, rightly multiplied
    assert not [row.id for row in rows.values() if row.case.printed
                and right(row)[0] == row.case.printed.text]


def test_a_statement_in_words_that_fails_shows_its_number_and_what_it_claims_of_it():
    rows = {row.id: row for row in everything().rows}
    assert right(rows["S3-C074"]) == ("0.176; claimed: > 1", "0.176（原文称 > 1）")
    assert right(rows["S1-425"])[0].endswith("; claimed: < 1")
    assert right(rows["S1-423"]) == ("–", "–")  # replicas enough, of which none runs


@pytest.mark.parametrize(("names", "told"), [("S1-374", True), ("S1-256", False)])
def test_what_a_speed_beside_infeasible_is_stands_above_the_table(monkeypatch, names, told):
    shown = []
    monkeypatch.setattr(claims, "show", lambda en, zh: shown.append((en, zh)))
    claims.claims_table(names)
    assert [en.startswith("*Infeasible*") for en, _ in shown] == [True] * told


def test_a_table_links_every_claim_to_its_row(monkeypatch):
    told = []
    monkeypatch.setattr(display, "show", lambda en, zh: told.append((en, zh)))
    claims.claims_table("S1-165 S2-C053")
    for text in told[0]:
        assert 'href="documents/s1.html#S1-165"' in text
        assert 'href="documents/s2.html#S2-C053"' in text


def test_a_number_that_no_claim_has_is_one_sentence():
    with pytest.raises(ParamsError, match="no claim 'S9-001'"):
        claims.select_claims("S1-165 S9-001")
