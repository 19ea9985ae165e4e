"""What a file of settings may hold: what documents say to set or run, and what reads it.

Flags of an engine are held against its releases (``params/engines/``). Here stands what is not a
flag of an engine: variables of libraries, settings of the system, files, scripts, and features that
are claimed without a flag.
"""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from catalogue.entries.entry import CatalogueEntry, Entry
from catalogue.reading.values import Identifier, SourceKey, Text, Whole, Words

State = Literal["works", "usual", "unread", "stops", "worse", "misses", "wrong", "open"]


class Stated(Entry):
    """One setting, or one thing to run, as a document has it.

    Attributes:
        what: in a few words; ``name`` where it has a name in code.
        value: that it is given; None where there is none.
        program: that is to read it.
        document, section, line: where it stands; of several sections the line is in the first.
        claim: its number in the audit, if it is a claim.
        entries: of the engine's catalogue that stand for it today.
        state: ``works`` as said; ``usual``, as without it; ``unread``, used by nothing; ``stops``
            the program; ``worse`` than without it; ``misses`` what it is for;
            ``wrong``, not so; ``open``, it depends.
        source: what it was held against; None where reading it is enough.
        note: what comes of it, in a clause or two.
    """

    what: Text | None = None
    name: Words | None = None
    value: int | Words | None = None
    program: Words
    document: Literal["s0", "s1", "s2", "s3"]
    section: Words
    line: Whole
    claim: Identifier | None = None
    entries: list[Words] = []
    state: State
    source: SourceKey | None = None
    note: Text

    @model_validator(mode="after")
    def _called(self) -> Stated:
        if (self.what is None) == (self.name is None):
            raise ValueError("'what' is missing, or name where it has one in code")
        return self


class Settings(CatalogueEntry):
    """What documents say on one subject, in their order."""

    settings: list[Stated]
