"""What a file of ``params/documents/`` may hold: a document that is audited, what it says in words.

What stands here is no number that the audit judges: words of a table (a rank, a remedy), and times
that take their meaning from what is beside them. A claim on the same thing is named, not repeated.
"""

from __future__ import annotations

from typing import Literal

from catalogue.entries.entry import CatalogueEntry, Entry, ScenarioName
from catalogue.ledger.rows import ClaimId
from catalogue.reading.values import Flag, Identifier, Text, Time, Whole, Words

Rank = Literal["low", "medium", "high"]


class DocumentReference(Entry):
    """Where a document says something.

    Attributes:
        section: as the document numbers or names it.
        line: of the document.
        claims: those of ``params/claims/`` on the same thing.
    """

    section: Words
    line: Whole
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
