"""The first screen of a document: what runs, which parts can be used, the errors that matter."""

from __future__ import annotations

import re

import pytest

import catalogue
from calc.auditing.truths import deployment
from catalogue.reading.shared import CONSEQUENCES, causes
from notebooks.pages.audit import consequences, document, findings, first_screen, subjects
from notebooks.pages.audit.words import HOLDS, group
from notebooks.show import display, long_table
from notebooks.show.numbers import fmt_bytes

DOCUMENTS = ("s0", "s1", "s2", "s3")
LANGUAGES = ("en", "zh")
HEAVIEST = 350_000  # bytes of the table of claims in one language, of a page of at most 400 kB
OPEN_ROWS = 8


@pytest.fixture
def shown(monkeypatch):
    """What is shown, with its language."""
    found: list[tuple[str, str]] = []
    for module in (display, long_table):
        monkeypatch.setattr(module, "display", lambda item, metadata=None: found.append(
            ((metadata or {}).get("lang", ""), str(item.data))))
    return found


def in_language(shown: list[tuple[str, str]], lang: str) -> list[str]:
    return [text for of, text in shown if of == lang]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_recommends_comes_first_with_its_shortage(shown, name):
    page = document.Page(name)
    first_screen.answer(page)
    plans = [plan for _, _, plan in findings.recommended(page.document)]
    assert plans
    for lang in LANGUAGES:
        first = in_language(shown, lang)[0]
        assert [first.index(f"](#{plan.id})") for plan in plans] == sorted(
            first.index(f"](#{plan.id})") for plan in plans)
        for plan, line in zip(plans, [part for part in first.split("\n") if "](#" in part],
                              strict=True):
            spare = float(deployment(plan.id).quantities["headroom_per_device"])
            assert f" {fmt_bytes(abs(spare), digits=0)}" in line
            assert ("runs as written" in line or "照所写可以运行" in line) == (spare >= 0)


def test_plan_c_of_s1_and_all_of_s0_are_said_not_to_run(shown):
    first_screen.answer(document.Page("s1"))
    english = in_language(shown, "en")
    assert "S1 plan C" in english[0]
    assert "does not run: each card is 95 GB short" in english[0]
    shown.clear()
    first_screen.answer(document.Page("s0"))
    assert in_language(shown, "en")[0].count("does not run") == 4
    assert "none loads as written" in in_language(shown, "en")[1]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_strip_has_every_section_once_and_all_claims(shown, name):
    page = document.Page(name)
    first_screen.parts(page)
    named = {row.case.section.partition(", ")[0] for row in page.rows}
    assert named <= set(page.document.contents)  # a title for each
    for index, lang in enumerate(LANGUAGES):
        strip = next(text for text in in_language(shown, lang) if 'class="strip"' in text)
        cells = re.findall(r"<li style=[^>]*>(.*?) <b>(\d+)/(\d+)</b>", strip)
        assert [title for title, _, _ in cells] == [
            page.titled(section)[index] for section in page.sections()]
        assert len(cells) == len({title for title, _, _ in cells}) == len(named)
        assert sum(int(count) for _, _, count in cells) == len(page.rows)
        assert sum(int(good) for _, good, _ in cells) == page.counts[HOLDS]


def test_a_section_is_counted_where_it_stands_first():
    page = document.Page("s0")
    both = next(row for row in page.rows if row.case.section == "preface, 3.2.3")
    assert both in page.sections()["preface"]
    assert page.titled("3.2.2")[0].startswith("3.2.2 ")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_causes_are_ordered_by_consequence_and_what_is_left_over_is_last(name):
    named, ranked = causes(), consequences.weights(document.Page(name).rows)
    found = [named[cause]["consequence"] for cause, _ in ranked if cause != consequences.RESIDUE]
    assert found == sorted(found, key=CONSEQUENCES.index)
    assert consequences.RESIDUE not in [cause for cause, _ in ranked[:-1]]


def test_the_gravest_errors_of_the_two_plans(shown):
    """Each with the claim that most hangs on: what is printed, and what is right."""
    said = {}
    for name in ("s0", "s1"):
        shown.clear()
        first_screen.errors(document.Page(name))
        said[name] = {lang: "\n".join(in_language(shown, lang)) for lang in LANGUAGES}
        kinds = [said[name]["en"].index(kind) for kind in (
            "Does not run", "Wrong decision", "Wrong number")]
        assert kinds == sorted(kinds)
    assert re.search(r'#S0-304">S0-304</a>, [^<]*: 20\.97 GB, right 169', said["s0"]["en"])
    assert "58000 token/s, right 1," in said["s0"]["en"]
    assert "运算量漏乘批量" in said["s0"]["zh"]
    assert re.search(r'#S1-087">S1-087</a>, [^<]*: 5\.77 GiB, right 158', said["s1"]["en"])
    assert "More tokens than the users take" in said["s1"]["en"]
    assert "all-reduce" in said["s1"]["zh"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_runs_instead_begins_with_the_recommended_and_ends_with_the_supposed(shown, name):
    entry = catalogue.load("documents", name)
    findings.instead(name)
    first = next(plan.id for _, _, plan in findings.recommended(entry))
    for lang in LANGUAGES:
        texts = in_language(shown, lang)
        rows = [line for text in texts for line in text.split("\n") if line.startswith("| [")]
        assert f"](#{first})" in rows[0]
        supposed = [any(f"](#{name}" in row for name in entry.supposed) for row in rows]
        assert supposed == sorted(supposed)
        assert texts[0].count("\n| [") <= OPEN_ROWS
        assert "dropdown" not in texts[0]


def test_the_sentence_on_what_can_be_used_says_most_some_and_none():
    page = document.Page("s1")
    en, zh = subjects.usable(page.rows)
    held = [group(row) == HOLDS for row in page.rows if subjects.subject(row) == "throughput"]
    assert f"throughput ({sum(held)}/{len(held)})" in en
    assert f"吞吐（{sum(held)}/{len(held)}）" in zh
    assert en.count(".") == 1  # one sentence


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_table_of_claims_stays_light(shown, name):
    document.claims_table(document.Page(name))
    for lang, text in shown:
        assert lang in LANGUAGES
        assert len(text.encode()) <= HEAVIEST
        assert "</td>" not in text  # HTML needs none, and a thousand rows have seven each
