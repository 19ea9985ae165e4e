"""What the pages on the documents say of the audit."""

from __future__ import annotations

import re
import shlex

import pytest

import calc
import catalogue
from calc.auditing.audit import of_document
from notebooks.pages.audit import consequences, document, findings, overview, words
from notebooks.pages.audit.words import (
    GROUPS,
    HOLDS,
    OPEN,
    WRONG,
    decides,
    everything,
    group,
    page_of,
)
from notebooks.pages.deployments import alternatives
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.card import command
from notebooks.show import display, long_table
from notebooks.show.numbers import fmt_quantity

DOCUMENTS = ("s0", "s1", "s2", "s3")


@pytest.fixture
def said(monkeypatch):
    """What is shown and what is glued."""
    shown: list[tuple[str, str]] = []
    glued: dict[str, str] = {}
    monkeypatch.setattr(display, "_glued", {})
    monkeypatch.setattr(display, "glue", lambda key, text, display: glued.update({key: text}))
    for module in (display, long_table):
        monkeypatch.setattr(module, "display", lambda item, metadata=None: shown.append(
            ((metadata or {}).get("lang", ""), str(item.data))))
    return shown, glued


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_claim_of_a_document_stands_on_its_page_in_both_languages(said, name):
    shown, _ = said
    page = document.Page(name)
    document.claims_table(page)
    for lang, text in shown:
        assert lang in ("en", "zh")
        for row in of_document(name).rows:
            assert f"<tr id={row.id} " in text
        for claim, first in page.excluded.items():
            clashes = next((row.judgement.clashes for row in page.rows if row.id == claim), ())
            assert not clashes or f'<a href="../audit.html#{first}">' in text
    assert {lang for lang, _ in shown} == {"en", "zh"}
    assert sum(page.counts.values()) == len(page.rows)


def test_the_answer_counts_what_the_rows_say(said):
    shown, glued = said
    overview.answer()
    counts = [len([row for row in everything().rows if group(row) == kind]) for kind in GROUPS]
    assert sum(counts) == len(everything().rows)
    shares = [int(glued[key].rstrip("%")) for key in ("a-holds", "a-wrong", "a-open")]
    assert abs(sum(shares) - 100) <= 1
    assert set(GROUPS) == {HOLDS, WRONG, OPEN}
    assert shown


def test_what_the_front_page_says_of_the_plans(said):
    """That none of S0 runs, and that the goal of S1 lies below the floor, stand there in words."""
    _, glued = said
    findings.sentences()
    assert glued["a-s0-run"] == "0"
    assert float(glued["a-s1-over"]) > 1
    assert float(glued["a-s3-host"]) > float(glued["a-s3-even"])


def test_causes_come_by_what_they_carry():
    weights = consequences.weights(everything().rows)
    assert sum(len(found) for _, found in weights) == len(
        [row for row in everything().rows if row.cause is not None])
    alone = consequences.weights(of_document("s1").rows)
    assert {name for name, _ in alone} <= {name for name, _ in weights}


def test_a_text_of_a_claim_is_text(said):
    shown, _ = said
    long_table.rows_table([{"id": "S1-001", "what": "<script>x</script>", "more": "<b>", "link":
                         "javascript:'<'"}], {"id": "i", "what": "w"}, "<i>")
    for _, text in shown:
        assert "<script>" not in text
        assert "<b>" not in text
        assert "<i>" not in text


def test_what_decides_a_claim_is_a_page():
    pages = {decides(row) for row in everything().rows} - {None}
    assert {page.partition("#")[0].split("/")[1] for page in pages if page.startswith("..")} <= {
        "devices", "models", "scenarios", "nodes.html", "cost.html", "search.html",
        "reference.html", "validation.html", "engines.html", "memory.html", "compute.html",
        "communication.html", "latency.html", "throughput.html", "serving.html",
        "architecture.html"}
    assert page_of("s1-scale-48") == "s1-scale"


def test_words_for_all(said):
    for row in everything().rows:
        en, zh = words.called(row)
        assert en
        assert zh


def test_what_is_recommended_of_a_search_is_what_its_command_computes():
    plans = {plan.id: plan for _, plan in findings.plans_of("s1")}
    best = findings.searched(plans["s1-plan-c"])
    assert best.precision == "fp8-block"  # H20 multiplies the published weights
    program, *words = shlex.split(
        command(Deployed(plans["s1-plan-c"]), best.settings).replace("\\\n", ""))
    assert [program, *words[:4]] == ["python", "-m", "calc", "estimate", "s1-plan-c"]
    again = calc.estimate(catalogue.load_scenario(words[3], overrides=words[5::2]))
    assert again.fits
    assert float(again.everything["output_throughput"]) == pytest.approx(
        best.quantities["output_throughput"])
    assert findings.searched(plans["s1-overlap-tp4-75"]) is None  # states no throughput to aim at


def test_what_a_document_page_says_of_a_plan_is_what_the_plans_own_page_says():
    """One number of one question: medians, not what the inputs' own values come to."""
    plan = {plan.id: plan for _, plan in findings.plans_of("s1")}["s1-plan-c"]
    nearest = findings.estimated("s1-plan-c").nearest
    own = Deployed(plan)
    told, [row] = findings._told(own, nearest.settings), [
        row for row in alternatives.rows(own) if row["change"] == findings._changed(own, nearest)]
    assert row["tpot"].startswith(fmt_quantity(told["tpot"], "s"))
    assert row["output_throughput"].startswith(fmt_quantity(told["output_throughput"], "token/s"))
    assert row["spare"] in findings._spared(own, nearest)[0]


def test_every_contradiction_has_an_address_and_links_its_claims(said):
    shown, _ = said
    overview.contradictions()
    found = everything().contradictions
    for lang in ("en", "zh"):
        text = "\n".join(part for spoken, part in shown if spoken == lang)
        rows = re.findall(r'<tr id="?(S[^">]+)"?>', text)
        assert rows == [each.id for each in found]
        for each in found:
            for claim in each.claims:
                assert f"href=documents/{claim[:2].lower()}.html#{claim}>" in text
    english = "\n".join(part for spoken, part in shown if spoken == "en")
    assert f"**{len(found)}** times" in english
    ports = next(line for line in english.splitlines() if '"#S0-094~S0-276"' in line)
    assert "<td>200 Gb/s<td>" in ports
