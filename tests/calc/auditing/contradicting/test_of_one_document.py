"""The audit of one document beside the others: its own claims, and what may contradict one."""

from __future__ import annotations

import pytest

from calc.auditing import audit as auditing
from calc.auditing.claim_files import listed_in
from calc.auditing.contradicting import quantity_files
from catalogue import ParamsError
from catalogue.ledger.quantities import NamedQuantity, Quantities

TEXT = {"en": "n", "zh": "n"}
HEAD = "title: {en: t, zh: t}\ndocument: DOC\ndefaults: {source: DOC, kind: documented}\nclaims:\n"
CLAIM = "what: {en: w, zh: w}, section: '1', line: 1, missing: {en: m, zh: m}"


@pytest.fixture
def documents(monkeypatch, tmp_path):
    """Two documents of three claims; the first of each are of one quantity, the second of another
    within its own document, the third stand alone."""
    for name, first in (("s1", 10), ("s2", 50)):
        lines = "".join(f"  - {{id: S{name[1]}-00{at}, printed: {number}, {CLAIM}}}\n"
                        for at, number in enumerate((first, 3, 7, 90), 1))
        (tmp_path / f"{name}.yml").write_text(HEAD.replace("DOC", name) + lines, encoding="utf-8")
    files = [Quantities(id="q", title=TEXT, quantities={
        "shared": NamedQuantity(name=TEXT, claims=["S1-001", "S2-001"]),
        "one": NamedQuantity(name=TEXT, claims=["S1-002", "S1-003"]),
        "two": NamedQuantity(name=TEXT, claims=["S2-002", "S2-003"])})]
    claims = listed_in([tmp_path / "s1.yml", tmp_path / "s2.yml"])
    monkeypatch.setattr(auditing, "listed", lambda: claims)
    monkeypatch.setattr(auditing, "entries", lambda problems=None: files)


def test_a_document_has_its_own_rows_and_every_contradiction_of_one_of_them(documents):
    found = auditing.of_document("s1")
    assert [row.id for row in found.rows] == ["S1-001", "S1-002", "S1-003", "S1-004"]
    assert [each.id for each in found.contradictions] == ["S1-001~S2-001", "S1-002~S1-003"]
    clashes = {row.id: row.judgement.clashes for row in found.rows}
    assert clashes == {"S1-001": ("S2-001",), "S1-002": ("S1-003",), "S1-003": ("S1-002",),
                       "S1-004": ()}
    also = {row.id: row.judgement.also for row in found.rows}
    assert also == {name: ("contradicts",) if others else () for name, others in clashes.items()}


def test_of_both_documents_all_rows_and_contradictions_are_told_once(documents):
    whole = auditing.audit()
    assert len(whole.rows) == 8
    assert [each.id for each in whole.contradictions] == [
        "S1-001~S2-001", "S1-002~S1-003", "S2-002~S2-003"]
    assert auditing.audit(files=[]).contradictions == ()
    assert auditing.audit(auditing.listed()).contradictions == ()


def test_a_file_of_quantities_that_cannot_be_read_is_a_sentence_or_is_raised(monkeypatch):
    def load(kind, name):
        if name == "bad":
            raise ParamsError("it is bad")
        return name

    monkeypatch.setattr(quantity_files.catalogue, "names", lambda kind: ["a", "bad", "b"])
    monkeypatch.setattr(quantity_files.catalogue, "load", load)
    problems: list[str] = []
    assert quantity_files.entries(problems) == ["a", "b"]
    assert problems == ["it is bad"]
    with pytest.raises(ParamsError, match="it is bad"):
        quantity_files.entries()
