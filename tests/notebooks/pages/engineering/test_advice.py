"""What follows of the documents' advice, held against the quantities that it is made of."""

from __future__ import annotations

import pytest

import catalogue
from calc.auditing import costs as auditing
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.deciding import cost_documents
from notebooks.pages.derivations.choices import communication, documents, serving, throughput
from notebooks.pages.engineering import advice, layouts, uses
from notebooks.show import display

DERIVED = (serving, communication, throughput)


@pytest.fixture
def shown(monkeypatch):
    """What each chapter shows of advice, by its name; nothing is glued."""
    found: list[tuple[str, tuple[str, str]]] = []
    for module in (uses, advice, cost_documents):
        monkeypatch.setattr(module, "advised", lambda follows: found.extend(follows.items()))
        monkeypatch.setattr(module, "number", lambda *args, **options: None, raising=False)
    monkeypatch.setattr(documents, "advised", lambda follows: found.extend(follows.items()))
    for module in (serving, communication):
        for name in ("number", "numbers"):
            monkeypatch.setattr(module, name, lambda *args, **options: None)
    return found


def test_all_advice_stands_in_one_chapter_in_both_languages(shown):
    uses.uses()
    for chapter in (advice.precision, advice.experts, advice.separation):
        chapter()
    cost_documents.night(auditing.plan())
    for module in DERIVED:
        module.advice(Derivation("none"))
    listed = [f"{document}/{name}" for document in catalogue.names("advice")
              for name in catalogue.load("advice", document).advice]
    assert sorted(name for name, _ in shown) == sorted(listed)
    for name, (english, chinese) in shown:
        assert english.endswith("."), name
        assert chinese.endswith("。"), name


def test_a_row_links_the_claims_and_names_section_and_lines(monkeypatch):
    told = []
    monkeypatch.setattr(display, "show", lambda en, zh: told.append((en, zh)))
    documents.advised({"s1/h20-online": ("So.", "如此。")})
    english, chinese = told[0]
    assert "S1 suitable uses, lines 660–665" in english
    assert "S1 场景适用性分析，第 660–665 行" in chinese
    assert all('href="documents/s1.html#S1-249"' in text for text in told[0])
    with pytest.raises(KeyError, match="nothing"):
        documents.advised({"s1/nothing": ("So.", "如此。")})


def test_the_cheaper_card_is_ahead_neither_live_nor_in_batches():
    """What the chapter's sentence says, of all four comparisons."""
    assert uses.paced(uses.H20, uses.USERS).value < uses.paced(uses.B2, uses.USERS).value
    for case in (uses.B2, uses.B2_FOUR):
        assert uses.full(uses.H20).million.value < uses.full(case).million.value


def test_what_a_token_costs_is_the_hour_over_what_is_made_in_it():
    full = uses.full(uses.B2)
    made = uses.plan(*uses.B2)
    assert full.million.central == pytest.approx(
        1e6 * made.cards * full.hour.value / full.rate.value)


def test_a_narrower_cache_helps_most_where_memory_is_full_before_the_promise():
    gains: dict[bool, list[float]] = {True: [], False: []}
    for case in advice.ROOMS:
        wide, narrow = advice.cached(case)
        more = advice.found_of(advice.plan(*case, pool="decode"),
                               concurrency=float(wide + 1))
        gains[bool(more["headroom_per_device"] < 0)].append(narrow / wide)
    assert min(gains[True]) > max(gains[False]) >= min(gains[False]) >= 1


def test_deferral_hides_little_of_what_many_requests_wait_for():
    (none, every), (none_many, every_many) = advice.deferred(1), advice.deferred(advice.MANY)
    assert none / every > none_many / every_many > 1


def test_whole_experts_are_slower_on_the_server_that_cuts_them_well():
    for users in advice.FEW:
        cut, whole = (advice.grouped(users, expert) for expert in (1, 8))
        assert whole["steady_tpot"] > cut["steady_tpot"]
        assert whole["decode_rank_imbalance"] > cut["decode_rank_imbalance"] == 0


@pytest.mark.parametrize(("case", "drafts"), [(uses.H20, 1), (uses.B2, 0), (uses.B2_FOUR, 1)])
def test_a_plan_drafts_where_an_engine_does(case, drafts):
    """No release for Ascend drafts in pipeline stages, vLLM for NVIDIA does since 0.31.0."""
    assert layouts.plan(*case).inputs["draft_tokens"] == drafts
