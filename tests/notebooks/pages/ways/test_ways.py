"""The three ways in: what they send readers to is there, and what they print is the book's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import catalogue
from catalogue.messages import LANGUAGES
from notebooks.pages.calculators.page import table_estimates
from notebooks.pages.deciding.front import r1, standard
from notebooks.pages.ways import buy, learn, numbers, run

ROOT = Path(__file__).resolve().parents[4]
CELLS = re.compile(r"^(?=\+\+\+|```\{code-cell)", re.M)
ROW = re.compile(r"^\| (?!:?-)(.*) \|$", re.M)
LINK = re.compile(r"\]\(#([a-z0-9-]+)\)")
LABEL = re.compile(r"^(?:\(([a-z0-9-]+)\)=|:name: (\S+))$", re.M)
QUESTION = re.compile(r"^:::\{dropdown\} (\d+)\. (.*)\n([^:]*(?:(?!^:::)[\s\S])*?)^:::$", re.M)
WORDS = 120  # a minute


def prose(name: str, lang: str) -> str:
    """What a page says in a language."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return "".join(cell for cell in CELLS.split(text) if f'"{lang}"' in cell.partition("\n")[0])


@pytest.fixture(scope="module")
def labels() -> set[str]:
    pages = [*(ROOT / "notebooks").glob("*.md"), *(ROOT / "book").glob("*.md")]
    return {name for page in pages for found in LABEL.findall(page.read_text(encoding="utf-8"))
            for name in found if name} | {f"s{number}" for number in range(4)}


@pytest.mark.parametrize("page", ["notebooks/learn.md", "notebooks/run.md", "notebooks/buy.md",
                                  "notebooks/numbers.md", "book/quote.md"])
def test_both_languages_lead_to_the_same_sections_which_are_there(page, labels):
    english, chinese = (LINK.findall(prose(page, lang)) for lang in LANGUAGES)
    assert english == chinese
    assert set(english) <= labels


def test_every_symptom_has_a_cause_a_measure_a_remedy_and_a_section():
    rows = [[cell.strip() for cell in row.split(" | ")]
            for row in ROW.findall(prose("notebooks/run.md", "en"))]
    symptoms = [row for row in rows if row[-1] != "why"]
    assert len(symptoms) >= 18
    for row in symptoms:
        assert len(row) == 5
        assert all(row)
        assert LINK.search(row[-1]), row[0]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_ten_questions_are_answered_by_computed_numbers_of_the_lesson_they_name(lang):
    text = prose("notebooks/learn.md", lang)
    asked = QUESTION.findall(text)
    assert [int(number) for number, _, _ in asked] == list(range(1, 11))
    for _, _, answer in asked:
        lesson, = LINK.findall(answer)
        assert lesson in learn.MINUTES
        assert set(re.findall(r"\{glue:text\}`([a-z]+)\.ipynb::", answer)) == {lesson}


@pytest.mark.parametrize("name", learn.MINUTES)
def test_a_lesson_takes_about_the_minutes_that_its_words_do(name):
    text = prose(f"notebooks/{name}.md", "en")
    for folded in (r":::+\{dropdown\}.*?\n:::+\n", r"\$\$.*?\$\$[^\n]*"):
        text = re.sub(folded, "", text, flags=re.S)
    minutes = len(re.findall(r"[A-Za-z]{2,}", re.sub(r"\{[a-z:]+\}`[^`]*`", "num", text))) / WORDS
    assert minutes / 2 < learn.MINUTES[name] < 2 * minutes


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_picture_has_the_times_of_the_one_request(lang):
    _, found = learn.asked()
    drawn = learn.drawn(lang).svg()
    for name in ("ttft", "tpot", "e2e"):
        assert learn.fmt_time(found.quantities[name].value) in drawn


def glued(module, monkeypatch):
    """What a module glues, by key, not yet written."""
    found = {}
    monkeypatch.setattr(module, "numbers", lambda values, *_, **__: found.update(values))
    monkeypatch.setattr(module, "number", lambda key, value, *_, **__: found.update({key: value}),
                        raising=False)
    module.answer()
    return found


def test_the_numbers_to_know_are_those_of_their_chapters(monkeypatch):
    found = glued(numbers, monkeypatch)
    assert found["nu-r1-token"] == 70272
    assert found["nu-r1-long"] == pytest.approx(70272 * 2**17 / 1e9)
    assert found["nu-reduces"] == 123
    assert found["nu-exchanges"] == 116
    assert [round(found[f"nu-{card}-ridge"]) for card in ("h20", "910b2")] == [37, 221]
    for key in numbers.MODELS:
        assert found[f"nu-{key}-read-1"] < found[f"nu-{key}-read-64"] < found[f"nu-{key}-weights"]
    for key in numbers.CARDS:
        assert found[f"nu-{key}-floor-1"] < found[f"nu-{key}-floor-64"] < found[f"nu-{key}-all"] * 2


def test_what_to_buy_keeps_the_limit_on_whole_servers_and_grows_with_users():
    answers = [*buy.bought(), *buy.bought(buy.SLOWER, buy.WIDER)]
    for each in (each for each in answers if each.best):
        node = catalogue.load_node(catalogue.load_device(each.device).node)
        assert each.best.row.devices % int(node.devices_per_node.value) == 0
        assert each.tpot.value <= each.limit
    for device in buy.CARDS:
        cards = [each.best.row.devices if each.best else buy.MOST + 1
                 for each in buy.bought() if each.device == device]
        assert cards == sorted(cards)


def test_wider_limits_never_take_more_cards():
    narrow = {(each.device, each.users): each.best for each in buy.bought()}
    for each in buy.bought(buy.SLOWER, buy.WIDER):
        before = narrow[each.device, each.users]
        assert before is None or each.best.row.devices <= before.row.devices


def test_the_standard_question_costs_what_it_costs_elsewhere():
    each = next(each for each in buy.bought() if (each.device, each.users) == (
        r1.OWNED, standard.question().users))
    told = standard.serve(standard.R1, r1.OWNED)
    assert each.best.row.choice == told.choice
    _, _, found, _ = told.priced()
    assert each.million().points == pytest.approx(found.amounts[r1.WHOLE].points)


def test_the_calculators_table_says_of_a_card_what_run_says():
    found = {scenario.device.id: answer for scenario, answer in table_estimates()}
    for key, (device, _) in run.PLANS.items():
        told = run.plan(key)[0].cell.best.amounts
        for name in ("tpot", "ttft"):
            assert found[device].quantities[f"steady_{name}"].points == pytest.approx(
                told[name].points)


@pytest.mark.parametrize("key", run.PLANS)
def test_a_command_is_of_a_release_and_has_the_layout_that_is_promised(key):
    found, made = run.plan(key)
    script = made.files[run.SCRIPT]
    assert run.released(run.PLANS[key][1]) in script
    assert f"--tensor-parallel-size {found.choice.tensor}\n" in script
    assert f"--data-parallel-size {found.choice.data}\n" in script or found.choice.data == 1
    assert "rc" not in run.released(run.PLANS[key][1])
    text = (ROOT / "notebooks/run.md").read_text(encoding="utf-8")
    assert text.count(f"--engine {run.released('vllm-ascend')} ") == len(LANGUAGES)
