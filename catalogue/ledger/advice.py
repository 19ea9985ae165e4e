"""What a file of advice may hold: what a document recommends in words, where, and what is near it.

A claim is a number or a setting and gets a verdict; advice is a choice or its reason. What follows
of it is said in the chapter that it belongs to.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from catalogue.entries.entry import Entry
from catalogue.ledger.rows import ClaimId
from catalogue.reading.values import Identifier, Misplaced, Text, Whole, Words

MOST_PLACES = 4


class Place(Entry):
    """Where something stands: lines of the document, the first and the last, in a section."""

    section: Words
    lines: Annotated[list[Whole], Field(min_length=1, max_length=2)]


class Advice(Entry):
    """One recommendation, or one reason for it.

    Attributes:
        says: the statement, in our words.
        places: where it stands.
        claims: of the same document on the same subject; their verdicts are on its page.
    """

    says: Text
    places: Annotated[list[Place], Field(min_length=1, max_length=MOST_PLACES)]
    claims: list[ClaimId] = []


class AdviceOf(Entry):
    """Advice of one document by name, in its order."""

    id: Identifier
    document: Literal["s0", "s1", "s2", "s3"]
    title: Text
    defaults: dict[str, Any] | None = None
    advice: dict[Identifier, Advice]

    @model_validator(mode="after")
    def _of_one_document(self) -> AdviceOf:
        for name, each in self.advice.items():
            for number, claim in enumerate(each.claims):
                if not claim.startswith(self.document.upper()):
                    raise Misplaced(f"expected a claim of {self.document.upper()}", "advice", name,
                                    "claims", number)
            for number, place in enumerate(each.places):
                if place.lines != sorted(place.lines):
                    raise Misplaced("expected the first line before the last", "advice", name,
                                    "places", number, "lines")
        return self
