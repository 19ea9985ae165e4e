"""Claims of documents: their entries, the quantities that they share, units of their formulas.

A claim that stands in a scenario or in ``params/formulas/`` is not repeated: ``claim`` or
``example`` names it. Whatever it is compared with is named by a reference (``Reference``), never by
its number, so that a verdict is computed anew: ``claims/ID`` is what a claim prints,
``corrected/ID`` the corrected value. Contradictions are computed from what claims print. Units of
counts (tokens, requests, blocks) are ignored in formulas: documents leave them out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field

from catalogue.entries import formulas
from catalogue.entries.entry import (
    CatalogueEntry,
    Entry,
    Problem,
    ScenarioName,
    Titled,
    given,
    just_one,
    repeated,
)
from catalogue.entries.formulas import Inputs, Letter, WrittenTree
from catalogue.reading import units
from catalogue.reading.values import (
    AnyQuantity,
    Flag,
    Identifier,
    Positive,
    PrintedNumber,
    SourceKey,
    Text,
    Time,
    Words,
    causes,
)

Dimensions = dict[str, Fraction]
_SAME = ("add", "subtract", "min", "max")


def of_unit(unit: str) -> Dimensions:
    """Dimensions of a unit, without what is counted.

    >>> of_unit("GB/token")
    {'information': Fraction(1, 1)}
    """
    return {name: Fraction(power)
            for name, power in units.uncounted(units.dimensions(unit)).items()}


def text(of: Mapping[str, Any]) -> str:
    """Readable form of dimensions: ``B/s``, ``a plain number``."""
    def part(name: str, power: Any) -> str:
        return units.SI.get(name, name) + ("" if power == 1 else f"^{power}")

    above = [part(name, power) for name, power in sorted(of.items()) if power > 0]
    below = [part(name, -power) for name, power in sorted(of.items()) if power < 0]
    return "/".join(["·".join(above) or "1", *below]) if of else "a plain number"


def of_tree(tree: Any, given: Mapping[str, str]) -> Dimensions:
    """Dimensions of a valid tree.

    Args:
        tree: as ``catalogue.entries.formulas`` has them.
        given: unit by the name of a symbol; an index of ``*_over`` is a plain number.

    Raises ValueError where two units are added or compared, or one is an exponent.
    """
    if isinstance(tree, str):
        return of_unit(given.get(tree, units.DIMENSIONLESS))
    if not isinstance(tree, list):
        return {}
    operator, *args = tree
    if operator == "piecewise":
        *branches, default = args
        for (_, left, right), _value in branches:
            _agree((left, right), given)
        return _agree([*(value for _, value in branches), default], given)
    if operator.endswith("_over"):
        return of_tree(args[2], given)
    if operator in _SAME:
        return _agree(args, given)
    base, *others = (of_tree(arg, given) for arg in args)
    if operator in ("multiply", "divide", "rational"):
        sign = 1 if operator == "multiply" else -1
        for of in others:
            base |= {name: base.get(name, 0) + sign * power for name, power in of.items()}
        return {name: power for name, power in base.items() if power}
    if operator == "power" and others[0]:
        raise ValueError(f"an exponent in {text(others[0])}, expected a plain number")
    if operator == "power" and base:
        exponent = args[1]
        if isinstance(exponent, list) and exponent[0] == "rational":
            exponent = Fraction(*exponent[1:])
        if not isinstance(exponent, (int, float, Fraction)):
            raise ValueError(f"a quantity in {text(base)} to a power that is no fixed number")
        return {name: power * Fraction(exponent) for name, power in base.items()}
    if operator in ("log", "exp") and base:
        raise ValueError(f"{operator} of a quantity in {text(base)}, expected a plain number")
    return base  # of ceil and floor


def _agree(args: Iterable[Any], given: Mapping[str, str]) -> Dimensions:
    dimensions = [of_tree(arg, given) for arg in args if arg != 0]
    for of in dimensions[1:]:
        if of != dimensions[0]:
            raise ValueError(f"a quantity in {text(dimensions[0])} beside one in {text(of)}")
    return dimensions[0] if dimensions else {}


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

    def violations(self) -> Iterator[Problem]:
        """Every claim is listed once."""
        for index, claim in repeated(self.claims):
            yield f"'{claim}' is listed twice", "claims", index


class NumericLaw(Entry):
    """What holds between numbers whatever they are.

    Attributes:
        words: the law.
        left, holds, right: both sides, of letters, and how they stand to each other.
        of: the claims that stand for the letters, once for each time that the law applies.
    """

    words: Text
    left: WrittenTree
    holds: Literal["equal", "at_most"]
    right: WrittenTree
    of: Annotated[list[dict[str, ClaimEnd]], Field(min_length=1)]

    def violations(self) -> Iterator[Problem]:
        """Every letter is a claim."""
        letters = formulas.symbols_of(self.left) | formulas.symbols_of(self.right)
        for number, claims in enumerate(self.of):
            if claims.keys() != letters:
                yield (f"expected the letters {', '.join(sorted(letters))}, found "
                       f"{', '.join(sorted(claims))}", "of", number)


class Launch(Entry):
    """Settings of one deployment, wherever its document has them."""

    name: Text
    claims: Annotated[list[ClaimId], Field(min_length=2)]


class Quantities(Titled):
    """Quantities, laws and deployments by name."""

    quantities: dict[Identifier, NamedQuantity] = {}
    laws: dict[Identifier, NumericLaw] = {}
    launches: dict[Identifier, Launch] = {}


ClaimId = Annotated[str, Field(pattern=r"^S[0-3]-C?[0-9]{3}$")]
KINDS = ("devices", "links", "nodes", "models", "formats", "precisions", "mechanisms", "prices",
         "measurements", "accuracies", "claims", "corrected", "goals", "costs")
_CHINESE = re.compile("[\u3001-\uffef]")  # characters, and their punctuation
# KIND/NAME/KEY of an entry, or SCENARIO:quantity, of all, a replica, a device or a layer
Reference = Annotated[str, Field(pattern=(
    rf"^(?:(?:{'|'.join(KINDS)})/[A-Za-z0-9._-]+(?:/[\w.=,-]+)*"
    r"|[a-z0-9][a-z0-9.-]*(?:@[a-z]+)?:[a-z_0-9]+(?:/(?:replica|device|layer))?)$"))]
DeploymentPlace = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*(@[a-z]+)?$")]
ExamplePlace = Annotated[str, Field(pattern=r"^s[0-3]-f[0-9]{2}\.[1-9][0-9]*$")]
ClaimPlace = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*:[a-z_0-9]+(\.[1-9])?$")]


class EngineSetting(Entry):
    """A setting that the document gives to a program.

    Attributes:
        program: what takes it, in words.
        engine: its catalogue in ``params/engines/``; None for a program that has none.
        name: as the document spells it.
        value: that it is given; None for a switch.
    """

    program: Words
    engine: Literal["vllm", "vllm-ascend", "sglang"] | None = None
    name: Words
    value: bool | int | float | Words | list[bool | int | float | Words] | None = None


class Alert(Entry):
    """A limit at which something is to be told, or the range that is called normal.

    Attributes:
        of: what it watches, as predicted of a deployment; ``right`` of the claim where that is no
            single number.
        watched: the deployment that is watched, where no reference names it.
        fires: above the limit, below it, or outside of the normal range.
        metric: its name as the document spells it, else that of the engine that tells it; with
            ``*`` for any letters. Where no pinned release exports it, the rule has nothing to read.
        held: ``constant`` in every deployment and under every load; ``at_start``, taken or allotted
            once when the engine starts.
        idle: it falls to nothing while no request is in flight.
    """

    of: Reference | None = None
    watched: DeploymentPlace | None = None
    fires: Literal["above", "below", "outside"]
    metric: Words | None = None
    held: Literal["constant", "at_start"] | None = None
    idle: Flag = False


class Comparison(Entry):
    """What a statement in words comes to: a number, and the side of a limit that it has to be on.

    Attributes:
        of: the number, of ``inputs`` and ``sourced`` of its claim.
        above, below: the limit; one of them.
    """

    of: WrittenTree
    above: AnyQuantity | None = None
    below: AnyQuantity | None = None

    def violations(self) -> Iterator[Problem]:
        """There is one limit."""
        yield from just_one(self, "above", "below")


class Claim(Inputs):
    """One claim of a document.

    Attributes:
        line: of the document.
        section: that it stands in, as the document numbers or names it.
        what: what it says, in a few words.
        printed: the number; ``words`` where it is none, ``english`` where these are Chinese.
        bound: it is a limit, met from one side.
        approximate: the document says about; the number holds within ``ABOUT``.
        example, claim: where it stands already; ``formula`` beside a claim is the step as it is
            printed, where the deployment's file has it from the beginning.
        like: an earlier claim of the same thing, whose judgement is this one's.
        formula: the document's own, on ``inputs``, its own numbers; ``reconstructed`` where only
            the result is printed.
        sourced: by letter what takes the place of an input, and what else ``right`` needs.
        right: the right formula, of a range that of its lower end, and ``most`` of its upper one;
            ``truth`` where one number of ours is it; ``known`` a number with its source, of
            what has no entry of its own.
        setting, alert: judged against the catalogue of an engine, or against a prediction.
        comparison: what a statement in words is judged by.
        rests_on: the assumption of ours that the verdict hangs on, and what would turn it.
        deployment: that it is of, where no reference names it.
        missing: the source that it would take to decide; ``assumed`` where the document puts it
            in as an assumption.
        cause: key of ``params/causes.yml`` that explains what is wrong with it, if it is.
        note: what a reader should know besides, in a clause or two.
        transcribed: what was wrong in the list that the claims were first collected in.
    """

    id: ClaimId
    line: Positive
    section: Words | None = None
    what: Text | None = None
    printed: PrintedNumber | None = None
    words: Words | None = None
    english: Words | None = None
    bound: Literal["at_most", "at_least"] | None = None
    approximate: Flag = False
    example: ExamplePlace | None = None
    claim: ClaimPlace | None = None
    like: ClaimId | None = None
    formula: WrittenTree | None = None
    reconstructed: Flag = False
    sourced: dict[str, Reference] = {}
    right: WrittenTree | None = None
    most: WrittenTree | None = None
    truth: Reference | None = None
    known: AnyQuantity | None = None
    setting: EngineSetting | None = None
    alert: Alert | None = None
    comparison: Comparison | None = None
    rests_on: Text | None = None
    deployment: Identifier | None = None
    missing: Text | None = None
    assumed: Flag = False
    cause: Identifier | None = None
    note: Text | None = None
    transcribed: Text | None = None

    def violations(self) -> Iterator[Problem]:
        """It is printed, or in words, and compared with one thing, of letters that are known."""
        if (self.english is None) == bool(_CHINESE.search(self.words or "")):
            yield "'english' has words that are Chinese in English, and no others", "english"
        elsewhere = given(self, ("example", "claim", "like"))
        if len(elsewhere) > 1:
            yield f"'{elsewhere[1]}' is given beside {elsewhere[0]}", elsewhere[1]
        if not elsewhere:
            yield from self._violations_of_a_judgement()
        trees_of = {"formula": self.formula, "right": self.right, "most": self.most,
                    "comparison": self.comparison and self.comparison.of}
        for key, tree in trees_of.items():
            defined = {*self.inputs, *(() if key == "formula" else self.sourced)}
            if lost := sorted(formulas.symbols_of(tree) - defined):
                yield f"'{lost[0]}' is neither among inputs nor sourced", key
        if self.cause is not None and self.cause not in causes():
            yield f"'{self.cause[:60]}' is not in params/causes.yml", "cause"

    def _violations_of_a_judgement(self) -> Iterator[Problem]:
        """What is printed is held against one thing."""
        for name in ("what", "section"):
            if getattr(self, name) is None:
                yield f"'{name}' is missing"
        yield from just_one(self, "printed", "words")
        if self.most is not None and self.right is None:
            yield "'right' is missing, of the lower end", "most"
        if self.comparison is not None and self.words is None:
            yield "'words' is missing, what the document says", "comparison"
        against = given(self, ("right", "truth", "known", "setting", "alert", "comparison"))
        if self.alert is not None and self.alert.of is None:
            if self.right is None:
                yield "'of' is missing, what the alert watches (or right)", "alert"
            against.remove("alert")
        if len(against) > 1:
            yield f"'{against[1]}' is given beside {against[0]}", against[1]
        if not against and self.formula is None and self.missing is None:
            yield "expected formula, right, truth, known, setting, alert, comparison or missing"


class Claims(Titled):
    """Claims of one document, in its order; ``letters`` name those inputs that need a name."""

    document: Literal["s0", "s1", "s2", "s3"]
    letters: dict[str, Letter] = {}
    claims: list[Claim]

    def violations(self) -> Iterator[Problem]:
        """Claims are of the document, each once."""
        for number, claim in enumerate(self.claims):
            if not claim.id.startswith(self.document.upper()):
                yield f"expected a claim of {self.document.upper()}", "claims", number, "id"
        for number, name in repeated(claim.id for claim in self.claims):
            yield f"'{name}' is listed twice", "claims", number, "id"


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
