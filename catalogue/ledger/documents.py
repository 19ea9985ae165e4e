"""Audited documents: what they state in words, settings that they name, advice that they give.

No number here is judged by the audit: words of a table (a rank, a remedy), and times whose meaning
comes from what is beside them. A claim on the same thing is named, not repeated. Settings are
those that are no flag of an engine: variables of libraries, settings of the system, files, scripts.
Advice is a choice or its reason; it gets no verdict.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from catalogue.entries.entry import CatalogueEntry, Entry, Problem, ScenarioName, Titled, just_one
from catalogue.ledger.claims import ClaimId
from catalogue.reading.values import (
    Flag,
    Identifier,
    Positive,
    SourceKey,
    Text,
    Time,
    Words,
)

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
    line: Positive
    claim: Identifier | None = None
    entries: list[Words] = []
    state: State
    source: SourceKey | None = None
    note: Text

    def violations(self) -> Iterator[Problem]:
        """It is said in words, or has a name in code."""
        yield from just_one(self, "what", "name")


class Settings(CatalogueEntry):
    """What documents say on one subject, in their order."""

    settings: list[Stated]


MOST_PLACES = 4


class Mention(Entry):
    """Where something stands: lines of the document, the first and the last, in a section."""

    section: Words
    lines: Annotated[list[Positive], Field(min_length=1, max_length=2)]


class Advice(Entry):
    """One recommendation, or one reason for it.

    Attributes:
        says: the statement, in our words.
        places: where it stands.
        claims: of the same document on the same subject; their verdicts are on its page.
    """

    says: Text
    places: Annotated[list[Mention], Field(min_length=1, max_length=MOST_PLACES)]
    claims: list[ClaimId] = []


class AdviceOf(Titled):
    """Advice of one document by name, in its order."""

    document: Literal["s0", "s1", "s2", "s3"]
    advice: dict[Identifier, Advice]


Rank = Literal["low", "medium", "high"]


class DocumentReference(Entry):
    """Where a document says something.

    Attributes:
        section: as the document numbers or names it.
        line: of the document.
        claims: those of ``params/claims/`` on the same thing.
    """

    section: Words
    line: Positive
    claims: list[ClaimId] = []


class Risk(DocumentReference):
    """A row of a matrix of risks.

    Attributes:
        name: of the risk.
        likely, grave: its likelihood and its impact.
    """

    name: Text
    likely: Rank
    grave: Rank


class Symptom(DocumentReference):
    """What is said to tell a cause, and what is said to help.

    Attributes:
        symptom: what is seen.
        cause: what is inferred; None where the document names none.
        remedies: by a name that is unique among all documents; where there are as many claims,
            these are on one each, in their order.
    """

    symptom: Text
    cause: Text | None = None
    remedies: dict[Identifier, Text]


class Recommended(DocumentReference):
    """A deployment that the document recommends, or measures; ``claims`` are what it promises.

    Attributes:
        scenario: the deployment, or the file of its pools.
        measured: the document reports what it measured of it.
    """

    scenario: ScenarioName
    measured: Flag = False


class Rated(DocumentReference):
    """How well a deployment is said to stand failures.

    Attributes:
        scenario: the deployment.
        rank: as the document words it.
    """

    scenario: ScenarioName
    rank: Rank


class Hold(DocumentReference):
    """How long an alert is to hold before it is told.

    Attributes:
        name: of the rule, as the document spells it.
        time: of its ``for`` [s].
    """

    name: Words
    time: Time


class Probe(DocumentReference):
    """A check of whether a server answers.

    Attributes:
        what: who asks, and for what.
        interval, timeout: claims that print them.
    """

    what: Text
    interval: ClaimId
    timeout: ClaimId


class Measure(DocumentReference):
    """What is to be done about servers that fail; ``name`` unique in the document."""

    name: Identifier
    what: Text


class Document(CatalogueEntry):
    """A document.

    Attributes:
        name: its title here.
        written: its own title, as it stands there.
        subject: what it is about and for whom, in a sentence.
        ledger: what its claims begin with, ``S0``.
        recommended: its recommendations, in its order.
        supposed: files of deployments that it does not put forward but supposes, to see what an
            optimisation gives.
        contents: what is in each section that a claim stands in, in the document's order.
        risks, symptoms, rated, holds, probes, measures: what it says of operation, in its order.
    """

    written: Words
    subject: Text
    ledger: Words
    recommended: list[Recommended] = []
    supposed: list[ScenarioName] = []
    contents: dict[Words, Text] = {}
    risks: list[Risk] = []
    symptoms: list[Symptom] = []
    rated: list[Rated] = []
    holds: list[Hold] = []
    probes: list[Probe] = []
    measures: list[Measure] = []
