"""What the documents recommend in words, as it is listed."""

from __future__ import annotations

import pytest

import catalogue
from catalogue import ParamsError

DOCUMENTS = ("s0", "s1", "s2", "s3")
ONE = """\
title: {en: "One", zh: "一"}
document: s1
advice:
  first:
    says: {en: "Buy it.", zh: "买。"}
    places: [{section: "1.1", lines: [%s]}]
    claims: [%s]
"""


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_claim_near_it_is_one_of_the_document(document):
    known = {claim.id for name in catalogue.names("claims") if name.startswith(document)
             for claim in catalogue.load("claims", name).claims}
    for name, each in catalogue.load("advice", document).advice.items():
        assert set(each.claims) <= known, name


@pytest.mark.parametrize(("lines", "claims", "says"), [
    ("12, 9", "S1-001", ":6: expected the first line before the last"),
    ("9", "S2-C001", ":7: expected a claim of S1"),
    ("9, 10, 11", "S1-001", ":6: .*lines")])
def test_what_cannot_be_is_one_sentence(tmp_path, lines, claims, says):
    path = tmp_path / "mine.yml"
    path.write_text(ONE % (lines, claims), encoding="utf-8")
    with pytest.raises(ParamsError, match=says) as caught:
        catalogue.load("advice", str(path))
    assert "\n" not in str(caught.value)
