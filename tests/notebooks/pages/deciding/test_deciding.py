"""The chapter on what decides: of any deployment, in two languages, with the runtime's numbers."""

import re

import pytest

import catalogue
from calc.sensitivity.plans import plan_of
from calc.sensitivity.tornado import OWN, tornado
from notebooks.pages.deciding import costs, deciding, turning
from notebooks.show import display
from notebooks.show.columns import cells
from notebooks.show.numbers import fmt_percent

DEPLOYMENTS = ("s0-scenario-1", "s2-910b1-awq", "h20-qwen3-8b", "s3-hybrid-910b4",
               "wide-cloudmatrix-prefill")
DIGITS = re.compile(r"\d[\d,.]*\d|\d")


@pytest.fixture
def said(monkeypatch):
    """What a call shows: pairs of texts, and the cells of tables' rows."""
    texts, rows = [], []
    monkeypatch.setattr(deciding, "show", lambda en, zh: texts.append((en, zh)))
    for module in (deciding, turning):
        monkeypatch.setattr(module, "table", lambda found, columns, **_: rows.extend(
            list(row.values()) for row in cells(found, columns)[0]))
    monkeypatch.setattr(deciding, "draw", lambda picture: [picture(lang) for lang in
                                                           display.LANGUAGES])
    return texts, rows


@pytest.mark.one
@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_every_part_is_told_of_any_deployment_in_both_languages(said, name):
    texts, rows = said
    page = deciding.page_of(name)
    for part in (deciding.answer, deciding.picture, deciding.slopes, deciding.sobol_by_design_size,
                 deciding.buying):
        part(page)
    assert len(texts) >= 3
    for en, zh in texts:
        assert en
        assert zh
        if "：" not in zh:  # no title, which has numbers of its own
            assert sorted(DIGITS.findall(en)) == sorted(DIGITS.findall(zh))
    for row in rows:
        for cell in row:
            assert not isinstance(cell, tuple) or all(cell)


def test_an_answer_names_the_inputs_that_move_it_most(said):
    texts, rows = said
    page = deciding.page_of("s2-910b1-awq")
    deciding.answer(page)
    plan = plan_of("s2-910b1-awq")
    widest = [bar for bar in tornado(plan, "tpot").bars if bar.name != OWN][:3]
    for bar in widest:
        assert deciding.label(bar.name, plan)[0] in texts[0][0]
    assert "does not fit" not in texts[0][0]
    assert [row[0][0] for row in rows][:2] == ["time per output token", "time to first token"]


def test_a_deployment_that_does_not_fit_says_so(said):
    texts, rows = said
    deciding.answer(deciding.page_of("s0-scenario-1"))
    assert "It does not fit" in texts[0][0]
    assert "放不下" in texts[0][1]
    assert "time to first token" not in [row[0][0] for row in rows]


@pytest.mark.parametrize("name", catalogue.deployment_names()[::9])
def test_every_input_has_a_name_in_both_languages_and_no_letter(name):
    plan = plan_of(name)
    for knob in plan.knobs:
        en, zh = deciding.label(knob.name, plan)
        assert not set("$_\\") & set(en + zh)
        assert re.search("[\u4e00-\u9fff]|MLA", zh), knob.name


@pytest.mark.parametrize("case", turning.CASES, ids=lambda case: case.question[0][:40])
def test_a_question_is_answered_alike_in_both_languages(case):
    found, first, second, path = turning.solved(case)
    en, zh = turning._answer(case, found, first, second, path)
    assert DIGITS.findall(en.split("**")[1] if "**" in en else "") == DIGITS.findall(
        zh.split("**")[1] if "**" in zh else "")
    for plan, names in ((first, case.names[0]), (second, case.names[1])):
        assert plan.label
        leads = found.always in (None, "first" if plan is first else "second")
        assert (names[0] in en) == (names[1] in zh) == leads


def test_the_questions_of_the_chapter_are_all_there():
    """Links, hits on the host, width of experts, pools, drafts and what weights are stored in."""
    paths = {case.path for case in turning.CASES}
    assert {"all_links", "device_hit_share", "requests_per_card", "input_tokens",
            "mtp_acceptance", "workload.context_tokens"} <= paths
    assert any(turning.solved(case)[0].always for case in turning.CASES)


def test_a_deployment_beside_a_service_names_the_price_list_the_load_and_how_it_is_used_now():
    sold, used = catalogue.load_prices("deepseek-api").current, question_of_costs()
    for model, reference in turning.PRICED:
        case, now, _, _ = turning._of_price(model, reference)
        load = catalogue.load_scenario(reference).inputs()
        for lang, text in zip(("en", "zh"), case.question, strict=True):
            assert sold.model[lang] in text
            assert f"{load['concurrency']:,}" in text
            assert {str(load["input_tokens"]), str(load["output_tokens"])} <= set(
                DIGITS.findall(text))
        assert all(text.startswith(used) for text in now)


def question_of_costs():
    """The utilisation at which the chapter on cost prices a token, as it is printed."""
    return fmt_percent(costs.flagship().asked.utilisation, 0)


def test_choices_and_their_worth_add_up(said):
    _, rows = said
    turning.choices()
    assert len(rows) == len(turning.CHOICES)
    for _, _, cost, saved, own, _ in rows:
        perfect = float(saved.split()[0])
        assert 0 < perfect < float(cost)
        assert float(own) <= perfect


def test_a_picture_has_a_bar_for_every_input_that_moves_most():
    plan = plan_of("s2-910b1-awq")
    found = tornado(plan, "tpot")
    ends = {bar.name: deciding._range(bar, plan) for bar in found.bars}
    for lang in ("en", "zh"):
        drawing = deciding._drawn(found, plan, lang)
        axes, = drawing.axes
        assert len(axes.get_yticks()) == deciding.BARS
        assert {text.get_text() for text in axes.texts} >= {
            end for bar in found.bars[:5]
            for end, value in zip(ends[bar.name], (bar.at_low, bar.at_high), strict=True)
            if value != found.value}
