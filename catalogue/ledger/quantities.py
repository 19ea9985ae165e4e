"""What a file of quantities may hold: which claims state one quantity, and what holds between some.

Whether claims contradict each other is computed from what they print, never typed.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from catalogue.entries import trees
from catalogue.entries.entry import Entry
from catalogue.entries.formulas import Tree
from catalogue.ledger.rows import ClaimId
from catalogue.reading.values import Flag, Identifier, Misplaced, Text

ClaimEnd = Annotated[str, Field(pattern=r"^S[0-3]-C?[0-9]{3}(/(low|high))?$")]


class NamedQuantity(Entry):
    """One quantity of one thing, at one moment, in one format.

    Attributes:
        name: what it is and of which thing, for somebody who has not read the documents.
        claims: that state it; ``ID/low`` and ``ID/high`` are the ends of a printed range.
        one_truth: all of them are held against one value; false where each is held against its
            own document's numbers, or at another place of a range.
    """

    name: Text
    claims: Annotated[list[ClaimEnd], Field(min_length=2)]
    one_truth: Flag = True

    @model_validator(mode="after")
    def _each_once(self) -> NamedQuantity:
        for number, claim in enumerate(self.claims):
            if claim in self.claims[:number]:
                raise Misplaced(f"'{claim}' is listed twice", "claims", number)
        return self


class NumericLaw(Entry):
    """What holds between numbers whatever they are.

    Attributes:
        words: the law.
        left, holds, right: both sides, of letters, and how they stand to each other.
        of: the claims that stand for the letters, once for each time that the law applies.
    """

    words: Text
    left: Tree
    holds: Literal["equal", "at_most"]
    right: Tree
    of: Annotated[list[dict[str, ClaimEnd]], Field(min_length=1)]

    @model_validator(mode="after")
    def _letters_are_claims(self) -> NumericLaw:
        letters = trees.symbols_of(self.left) | trees.symbols_of(self.right)
        for number, given in enumerate(self.of):
            if given.keys() != letters:
                raise Misplaced(f"expected the letters {', '.join(sorted(letters))}, found "
                                f"{', '.join(sorted(given))}", "of", number)
        return self


class Launch(Entry):
    """Settings of one deployment, wherever its document has them."""

    name: Text
    claims: Annotated[list[ClaimId], Field(min_length=2)]


class Quantities(Entry):
    """Quantities, laws and deployments by name."""

    id: Identifier
    title: Text
    defaults: dict[str, Any] | None = None
    quantities: dict[Identifier, NamedQuantity] = {}
    laws: dict[Identifier, NumericLaw] = {}
    launches: dict[Identifier, Launch] = {}
