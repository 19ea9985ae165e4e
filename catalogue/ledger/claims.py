"""Claims of documents: their entries, the quantities that they share, units of their formulas.

A claim that stands in a scenario or in ``params/formulas/`` is not repeated: ``claim`` or
``example`` names it. Whatever it is compared with is named by a reference (``Reference``), never by
its number, so that a verdict is computed anew: ``claims/ID`` is what a claim prints,
``corrected/ID`` the corrected value. Contradictions are computed from what claims print. Units of
counts (tokens, requests, blocks) are ignored in formulas: documents leave them out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from catalogue.entries import trees
from catalogue.entries.entry import Entry
from catalogue.entries.formulas import Letter, Tree
from catalogue.reading import units
from catalogue.reading.printed import PrintedNumber
from catalogue.reading.shared import causes
from catalogue.reading.values import AnyQuantity, Flag, Identifier, Misplaced, Text, Whole, Words

Dimensions = dict[str, Fraction]
_SAME = ("add", "subtract", "min", "max")
_PLAIN = ("log", "exp")


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
        tree: as ``catalogue.entries.trees`` has them.
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
    if operator == "multiply":
        return _product([(of_tree(arg, given), 1) for arg in args])
    if operator in ("divide", "rational"):
        return _product([(of_tree(args[0], given), 1), (of_tree(args[1], given), -1)])
    if operator == "power":
        return _raised(args[0], args[1], given)
    found = of_tree(args[0], given)
    if operator in _PLAIN and found:
        raise ValueError(f"{operator} of a quantity in {text(found)}, expected a plain number")
    return found  # of ceil and floor


def _product(factors: Iterable[tuple[Dimensions, int]]) -> Dimensions:
    total: Dimensions = {}
    for of, sign in factors:
        for name, power in of.items():
            total[name] = total.get(name, Fraction(0)) + sign * power
    return {name: power for name, power in total.items() if power}


def _raised(base: Any, exponent: Any, given: Mapping[str, str]) -> Dimensions:
    of = of_tree(base, given)
    if (power := of_tree(exponent, given)):
        raise ValueError(f"an exponent in {text(power)}, expected a plain number")
    if of and not isinstance(exponent, (int, float, Fraction)):
        raise ValueError(f"a quantity in {text(of)} to a power that is no fixed number")
    return {name: power * Fraction(exponent) for name, power in of.items()} if of else {}


def _agree(args: Iterable[Any], given: Mapping[str, str]) -> Dimensions:
    found = [of_tree(arg, given) for arg in args if arg != 0]
    for of in found[1:]:
        if of != found[0]:
            raise ValueError(f"a quantity in {text(found[0])} beside one in {text(of)}")
    return found[0] if found else {}


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


ClaimId = Annotated[str, Field(pattern=r"^S[0-3]-C?[0-9]{3}$")]
KINDS = ("devices", "links", "nodes", "models", "formats", "precisions", "mechanisms", "prices",
         "measurements", "accuracies", "claims", "corrected", "goals", "costs")
_REFERENCE = re.compile(
    rf"(?:{'|'.join(KINDS)})/[A-Za-z0-9._-]+(?:/[\w.=,-]+)*|[a-z0-9][a-z0-9.-]*(?:@[a-z]+)?:[a-z_0-9]+"
    r"(?:/(?:replica|device|layer))?")
_CHINESE = re.compile("[\u3001-\uffef]")  # characters, and their punctuation
_DEPLOYMENT = re.compile(r"[a-z0-9][a-z0-9.-]*(?:@[a-z]+)?")
_EXAMPLE = re.compile(r"(s[0-3]-f[0-9]{2})\.([1-9][0-9]*)")
_CLAIM = re.compile(r"([a-z0-9][a-z0-9.-]*):([a-z_0-9]+)(?:\.([1-9]))?")


def _matching(pattern: re.Pattern[str], expected: str) -> BeforeValidator:
    def check(raw: Any) -> str:
        if not isinstance(raw, str) or not pattern.fullmatch(raw):
            raise ValueError(f"'{str(raw)[:60]}' is not {expected}")
        return raw

    return BeforeValidator(check)


Reference = Annotated[str, _matching(
    _REFERENCE, "KIND/NAME/KEY of an entry, or SCENARIO:quantity, optionally with /replica, "
                f"/device or /layer; KIND is one of {', '.join(KINDS)}")]
DeploymentPlace = Annotated[str, _matching(
    _DEPLOYMENT, "a deployment such as s1-plan-c, or SCENARIO@runs as it can run")]
ExamplePlace = Annotated[str, _matching(_EXAMPLE, "FORMULA.NUMBER such as s1-f07.1")]
ClaimPlace = Annotated[str, _matching(
    _CLAIM, "SCENARIO:quantity or SCENARIO:quantity.NUMBER such as s1-plan-c:tpot.2")]


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
            once when the engine starts; ``capped`` by a setting of the engine.
        cap: that setting; of a capped metric.
        idle: it falls to nothing while no request is in flight.
    """

    of: Reference | None = None
    watched: DeploymentPlace | None = None
    fires: Literal["above", "below", "outside"]
    metric: Words | None = None
    held: Literal["constant", "at_start", "capped"] | None = None
    cap: Reference | None = None
    idle: Flag = False

    @model_validator(mode="after")
    def _capped_by_something(self) -> Alert:
        if (self.held == "capped") != (self.cap is not None):
            raise ValueError("expected cap just where held is capped")
        return self


class Comparison(Entry):
    """What a statement in words comes to: a number, and the side of a limit that it has to be on.

    Attributes:
        of: the number, of ``inputs`` and ``sourced`` of its claim.
        above, below: the limit; one of them.
    """

    of: Tree
    above: AnyQuantity | None = None
    below: AnyQuantity | None = None

    @model_validator(mode="after")
    def _one_limit(self) -> Comparison:
        if (self.above is None) == (self.below is None):
            raise ValueError("expected either above or below")
        return self


class Claim(Entry):
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
    line: Whole
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
    formula: Tree | None = None
    inputs: dict[str, AnyQuantity] = {}
    reconstructed: Flag = False
    sourced: dict[str, Reference] = {}
    right: Tree | None = None
    most: Tree | None = None
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

    @model_validator(mode="after")
    def _held_against_something(self) -> Claim:
        placed = [key for key in ("example", "claim", "like") if getattr(self, key) is not None]
        if len(placed) > 1:
            raise Misplaced(f"'{placed[1]}' is given beside {placed[0]}", placed[1])
        if (self.english is None) == bool(_CHINESE.search(self.words or "")):
            raise Misplaced("'english' has words that are Chinese in English, and no others",
                            "english")
        if placed:
            return self
        if self.most is not None and self.right is None:
            raise Misplaced("'right' is missing, of the lower end", "most")
        if self.what is None or self.section is None:
            raise ValueError(f"'{'what' if self.what is None else 'section'}' is missing")
        if (self.printed is None) == (self.words is None):
            raise ValueError("'printed' is missing, or words where it is no number")
        watched = self.alert is not None and self.alert.of is None
        if watched and self.right is None:
            raise Misplaced("'of' is missing, what the alert watches (or right)", "alert")
        if self.comparison is not None and self.words is None:
            raise Misplaced("'words' is missing, what the document says", "comparison")
        against = [key for key in ("right", "truth", "known", "setting", "alert", "comparison")
                   if getattr(self, key) is not None and not (watched and key == "alert")]
        if len(against) > 1:
            raise Misplaced(f"'{against[1]}' is given beside {against[0]}", against[1])
        if not against and self.formula is None and self.missing is None:
            raise ValueError("nothing says what it is held against, expected one of formula, "
                             "right, truth, known, setting, alert, comparison, missing")
        return self

    @model_validator(mode="after")
    def _letters_known(self) -> Claim:
        if self.formula is not None and (
                lost := sorted(trees.symbols_of(self.formula) - self.inputs.keys())):
            raise Misplaced(f"'{lost[0]}' is not among the inputs", "formula")
        compared = self.comparison.of if self.comparison else None
        for key, tree in (("right", self.right), ("most", self.most), ("comparison", compared)):
            if tree is not None and (lost := sorted(trees.symbols_of(tree) - self.inputs.keys()
                                                    - self.sourced.keys())):
                raise Misplaced(f"'{lost[0]}' is neither among inputs nor sourced", key)
        if self.cause is not None and self.cause not in causes():
            raise Misplaced(f"'{self.cause[:60]}' is not in params/causes.yml", "cause")
        return self

    def given(self) -> dict[str, float | int]:
        """The document's inputs as plain numbers (SI)."""
        return {name: value.value for name, value in self.inputs.items()}


class Claims(Entry):
    """Claims of one document, in its order; ``letters`` name those inputs that need a name."""

    id: Identifier
    document: Literal["s0", "s1", "s2", "s3"]
    title: Text
    note: Text | None = None
    defaults: dict[str, Any] | None = None
    letters: dict[str, Letter] = {}
    claims: list[Claim]

    @model_validator(mode="after")
    def _in_order(self) -> Claims:
        seen: dict[str, int] = {}
        for number, claim in enumerate(self.claims):
            if not claim.id.startswith(self.document.upper()):
                raise Misplaced(f"expected a claim of {self.document.upper()}", "claims", number,
                                "id")
            if claim.id in seen:
                raise Misplaced(f"'{claim.id}' is listed twice", "claims", number, "id")
            seen[claim.id] = number
        return self
