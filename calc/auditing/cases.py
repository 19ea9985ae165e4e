"""Claims ready to be judged: what is printed, what its own formula gives, and the right value."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import catalogue
from calc.answer.estimate import unit_count
from calc.answer.model_sizes import parameters
from calc.auditing.claims import Listed, nearest
from calc.auditing.settings import Ruling, ruling
from calc.auditing.truths import SOURCES, Deployment, Truth, Truths, deployment
from calc.uncertainty import Amount, propagate_uncertainty
from catalogue import ParamsError
from catalogue.entries import formulas
from catalogue.entries.deployments import Claim as ScenarioClaim
from catalogue.entries.deployments import Documented
from catalogue.entries.formulas import DocumentFormula, DocumentFormulas, Example, Letter
from catalogue.ledger import Alert, Claim, Comparison, EngineSetting, of_tree, of_unit, text
from catalogue.reading import units
from catalogue.reading.values import Printed, of_value

SAME = 1e-6  # relative difference below which an input is the same
Bound = Literal["at_most", "at_least"]
PRICE = "/price/"  # of an entry, which is no fact of what is built


def compared(comparison: Comparison) -> tuple[Any, Printed, Bound]:
    """The number of a statement in words, its limit, and the side of it that holds."""
    above = comparison.above is not None
    limit = comparison.above if above else comparison.below
    assert limit is not None
    limit_value = replace(of_value(limit), last=(0.0,))  # a limit is exact, not rounded
    return comparison.of, limit_value, "at_least" if above else "at_most"


def made_of(claim: Claim, kinds: tuple[str, ...]) -> bool:
    """Whether a claim without a formula, and no limit, is held against entries of these kinds
    alone: an input of one is a unit and no number."""
    against = [*claim.sourced.values(), *([claim.truth] if claim.truth else [])]
    return bool(claim.formula is None and not claim.bound and against and all(
        where.startswith(kinds) and PRICE not in where for where in against)
        and all(value == 1 for value in claim.given().values()))


def both_ends(least: Truth, most: Truth, printed: Printed) -> Truth:
    """Of a range: both its ends, and as its value that which is farther outside of what is
    printed."""
    low, high = least.three.value, most.three.value
    beyond = printed.low - low > high - printed.high
    return replace(least, three=Amount(low if beyond else high, low, high), spans=True)


def same_unit(claim: Claim, sourced: Mapping[str, Truth], truth: Truth | None) -> None:
    """Refuse what comes out in another unit than is printed. Raises ValueError, one clause."""
    compares = claim.comparison
    stated = claim.printed or (compared(compares)[1] if compares is not None else None)
    if stated is None:
        return
    given = {name: value.unit for name, value in claim.inputs.items()}
    printed = of_unit(stated.unit)
    free = {name: source.unit for name, source in sourced.items()}
    every = given | free
    for key, tree, units_of in (("formula", claim.formula, given), ("right", claim.right, every),
                             ("most", claim.most, every),
                             ("comparison", compares.of if compares else None, every)):
        if tree not in (None, 0) and (unit := of_tree(tree, units_of)) != printed:
            raise ValueError(f"{key} comes out in {text(unit)}, what is printed is in "
                             f"{text(printed)}")
    for name in given.keys() & free.keys():
        if of_unit(given[name]) != of_unit(free[name]):
            raise ValueError(f"the input '{name}' is in {given[name]}, its source in {free[name]}")
    if truth is not None and of_unit(truth.unit) != printed:
        raise ValueError(f"the truth is in {text(of_unit(truth.unit))}, what is printed in "
                         f"{text(printed)}")


def computed(tree: Any, amounts: Mapping[str, Amount], unit: str, where: str,
             scenario: str | None) -> Truth:
    """What the right formula gives, with its interval. Raises ValueError for a letter it lacks."""
    names = formulas.symbols_of(tree)
    used = {name: three for name, three in amounts.items() if name in names}
    if lost := sorted(names - used.keys()):
        raise ValueError(f"'{lost[0]}' has no value")
    three = propagate_uncertainty(lambda values: {"": float(formulas.evaluate(tree, values))},
                                  used)[""]
    return Truth(three, unit, where, scenario)


def tried(tree: Any, amounts: Mapping[str, Amount]) -> float | None:
    """The value of a formula; None where there is none, or a letter has no value."""
    if tree is None or formulas.symbols_of(tree) - amounts.keys():
        return None
    return float(formulas.evaluate(tree, {name: three.value for name, three in amounts.items()}))


def moved(given: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Inputs that a source has otherwise."""
    return {name: (float(value), float(ours[name])) for name, value in given.items()
            if abs(float(ours[name]) - float(value)) > SAME * abs(float(value))}


Text = Mapping[str, str]
OF_RUNNING = ("s", "token/s", "request/s", "request", "USD")  # what a deployment gives if it runs
ITSELF = ("measurements/", "claims/")  # of what a document prints elsewhere
BUILT = ("devices/", "links/", "nodes/", "models/", "formats/")  # of what is built as it is


@dataclass(frozen=True)
class Case:
    """A claim and everything that its verdict follows from.

    Attributes:
        listed: the claim as it is listed, and where.
        what, section: what it says, and where in the document.
        printed: the number; None where words are printed.
        own: what the document's formula gives on the document's inputs, or what its own numbers
            give (``itself``); None without either.
        resourced: what it gives with sourced inputs; None where nothing takes their place.
        righted: what the right formula gives on the document's inputs.
        truth: ours; None where nothing decides.
        moved: letter -> the document's input and the sourced one, where they differ.
        bound: the claim is a limit.
        approximate: it says about.
        fits: whether the deployment that it is of can exist; None of what is of none.
        deployment: that it is of, where it says so.
        missing, assumed, cause: as the claim has them, or the one that it restates.
        formula: of ``params/formulas/``, if it is one of them.
        reconstructed: the document prints no formula, ``own`` is what leads to its number.
        words, english: what is printed where it is no number; in English where it is Chinese.
        compares: they are judged by a number, ``printed`` is its limit.
        ruling: what becomes of a setting.
        rests_on: assumption that the verdict hangs on.
        letters: unit and names of inputs, where they have any.
    """

    listed: Listed
    what: Text
    section: str
    printed: Printed | None = None
    own: float | None = None
    itself: bool = False
    resourced: float | None = None
    righted: float | None = None
    truth: Truth | None = None
    moved: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    bound: str | None = None
    approximate: bool = False
    fits: bool | None = None
    deployment: str | None = None
    missing: Text | None = None
    assumed: bool = False
    cause: str | None = None
    formula: DocumentFormula | None = None
    reconstructed: bool = False
    compares: bool = False
    words: str | None = None
    english: str | None = None
    ruling: Ruling | None = None
    rests_on: Text | None = None
    note: Text | None = None
    setting: EngineSetting | None = None
    alert: Alert | None = None
    letters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def printed_text(self) -> str:
        """What the document has, in its unit or its words; empty where it has neither."""
        return self.words or (self.printed.text if self.printed is not None else "")

    @property
    def circular(self) -> bool:
        """Whether what it is held against comes from the document itself."""
        own = (self.listed.document,)
        return self.truth is not None and self.truth.listed and self.truth.sources == own


@functools.cache
def _formulas() -> dict[str, tuple[DocumentFormula, DocumentFormulas]]:
    """Every formula of the documents by its id, with its file."""
    files = [catalogue.load("formulas", name) for name in catalogue.names("formulas")]
    return {formula.id: (formula, file) for file in files for formula in file.formulas}


class Cases:
    """Makes a case of each claim.

    Args:
        claims: all of them.
    """

    def __init__(self, claims: Iterable[Listed]) -> None:
        self._by_id = {claim.claim.id: claim for claim in claims}
        self._made: dict[str, Case] = {}
        self._making: set[str] = set()
        self.truths = Truths(self._printed_of, self._ours_of)

    def of(self, listed: Listed) -> Case:
        """The case of a claim, made once.

        Raises ParamsError or ValueError, one clause, for what cannot be found or computed.
        """
        name = listed.claim.id
        if name in self._making:
            raise ParamsError(f"'{name}' rests on itself")
        if name not in self._made:
            self._making.add(name)
            try:
                self._made[name] = self._make(listed)
            finally:
                self._making.discard(name)
        return self._made[name]

    def _make(self, listed: Listed) -> Case:
        claim = listed.claim
        if claim.like is not None:
            case = self._restated(listed)
        elif claim.example is not None:
            case = self._of_example(listed, *_example(claim.example))
        elif claim.claim is not None:
            case = self._of_scenario(listed, *_claimed(claim.claim))
        else:
            case = self._of_row(listed)
        named = claim.deployment or case.deployment
        return replace(case, fits=_fits(named, case.truth), deployment=named,
                       cause=claim.cause or case.cause,
                       approximate=claim.approximate or case.approximate,
                       rests_on=claim.rests_on or case.rests_on,
                       alert=claim.alert or case.alert, ruling=_ruled(case, listed, named))

    def _printed_of(self, name: str) -> Printed:
        """What a claim prints. Raises ParamsError where there is no such claim or number."""
        if name not in self._by_id:
            raise ParamsError(f"there is no claim '{name[:20]}'" + nearest(name, self._by_id))
        printed = self.of(self._by_id[name]).printed
        if printed is None:
            raise ParamsError(f"'{name}' prints no number")
        return printed

    def _ours_of(self, name: str) -> Truth:
        """Ours of a claim. Raises ParamsError where there is no such claim, or nothing decides."""
        if name not in self._by_id:
            raise ParamsError(f"there is no claim '{name[:20]}'" + nearest(name, self._by_id))
        truth = self.of(self._by_id[name]).truth
        if truth is None:
            raise ParamsError(f"nothing decides '{name}'")
        return truth

    def _restated(self, listed: Listed) -> Case:
        """Of a claim that says again what an earlier one says, perhaps with another number."""
        claim = listed.claim
        if claim.like not in self._by_id or claim.like >= claim.id:
            earlier = [name for name in self._by_id if name < claim.id]
            raise ParamsError(f"like: '{claim.like}' is no earlier claim"
                              + nearest(str(claim.like), earlier))
        case = self.of(self._by_id[claim.like])
        again = claim.printed is None or (
            case.own is not None and claim.printed.holds(case.own))
        return replace(
            case, listed=listed, what=claim.what or case.what,
            section=claim.section or case.section, bound=claim.bound or case.bound,
            printed=claim.printed or case.printed, own=case.own if again else None,
            words=claim.words or (case.words if claim.printed is None else None),
            english=claim.english if claim.words or claim.printed else case.english,
            itself=case.itself and again,
            resourced=case.resourced if again else None,
            righted=case.righted if again else None, note=claim.note or case.note)

    def _of_example(self, listed: Listed, example: Example, formula: DocumentFormula,
                    file: DocumentFormulas) -> Case:
        """Of a number that a formula of ``params/formulas/`` is an example of."""
        given, claim = example.given(), listed.claim
        sourced = {name: self.truths.of(where).three
                   for name, where in {**example.catalogue, **claim.sourced}.items()}
        lent = _lender(example, file)
        right = formula.right if formula.right is not None else formula.right_quantity
        truth = None if claim.truth is None else self.truths.of(claim.truth)
        righted = None
        if right is not None:
            names = formulas.symbols_of(right)
            free = {name: three for name in names if (three := lent(name)) is not None} | sourced
            own = {name: Amount.exactly(value) for name, value in given.items()}
            truth = truth or replace(
                computed(right, own | free, example.printed.unit, formula.id, example.scenario),
                parts=(*example.catalogue.values(), *claim.sourced.values(),
                       *([f"models/{example.model}"] if example.model else [])))
            if names & own.keys() - free.keys():  # else it is ours whatever the document puts in
                righted = tried(right, free | own)
        ours = given | {name: three.value for name in given
                        if (three := sourced.get(name) or lent(name)) is not None}
        return Case(listed, claim.what or example.label or formula.quantity,
                    claim.section or example.section,
                    of_value(example.printed, example.percent), float(formula.recomputed(example)),
                    False,
                    tried(formula.documented, {n: Amount.exactly(v) for n, v in ours.items()}),
                    righted, truth, moved(given, ours), claim.bound, formula=formula,
                    reconstructed=formula.reconstructed, note=claim.note,
                    letters={**catalogue.symbols(), **file.symbols})

    def _of_scenario(self, listed: Listed, claim: ScenarioClaim, documented: Documented,
                     deployed: Deployment) -> Case:
        """Of a number that a deployment's file holds."""
        row, name = listed.claim, claim.quantity
        truth = None if row.truth is None else self.truths.of(row.truth)
        if truth is None and claim.comparable and deployed.knows(name):
            truth = Truth(deployed.three(name).scaled(1 / unit_count(deployed.scenario, claim)),
                          claim.value.unit, f"{deployed.scenario.id}:{name}"
                          + f"/{claim.of}" * (claim.of != "deployment"), deployed.scenario.id,
                          given=name in deployed.inputs)
        step = row.formula is not None  # as it is printed; the file has it from the beginning
        tree, inputs = (row.formula, row.inputs) if step else (claim.formula, documented.inputs)
        given = {letter: value.value for letter, value in inputs.items()}
        given_units = {letter: value.unit for letter, value in inputs.items()}
        ours = given | {letter: self.truths.of(where).three.value
                        for letter, where in row.sourced.items()}
        own = formulas.evaluate(tree, given) if step else documented.recomputed(claim)
        used = formulas.symbols_of(tree) if tree is not None else set()
        return Case(listed, row.what or claim.label, row.section or claim.value.section or "",
                    of_value(claim.value), None if own is None else float(own), False,
                    tried(tree, {n: Amount.exactly(v) for n, v in ours.items()})
                    if used & row.sourced.keys() else None, None, truth,
                    moved({letter: given[letter] for letter in given if letter in used}, ours),
                    row.bound or claim.bound, note=row.note or claim.note,
                    letters=_letters(listed, given_units))

    def _of_row(self, listed: Listed) -> Case:
        """Of a number that stands nowhere else."""
        claim = listed.claim
        given = claim.given()
        sourced = {name: self.truths.of(where) for name, where in claim.sourced.items()}
        own = {name: Amount.exactly(value) for name, value in given.items()}
        free = {name: source.three for name, source in sourced.items()}
        where = claim.alert.of if claim.alert is not None else claim.truth
        truth = None if where is None else self.truths.of(where)
        if claim.known is not None:
            value = claim.known
            truth = Truth(Amount.stated(value),
                          value.unit, f"{SOURCES}{value.source}", listed=True)
        right = claim.right if claim.right is not None else claim.formula
        stated, bound = claim.printed, claim.bound
        if claim.comparison is not None:
            right, stated, bound = compared(claim.comparison)
        if truth is None and right is not None and claim.missing is None:
            scenario = next(filter(None, (source.scenario for source in sourced.values())), None)
            unit = stated.unit if stated else units.DIMENSIONLESS
            keys = dict.fromkeys(key for source in sourced.values() for key in source.sources)
            truth = replace(computed(right, own | free, unit, claim.id, scenario),
                            listed=made_of(claim, BUILT), sources=tuple(keys),
                            parts=tuple(claim.sourced.values()))
            if claim.most is not None and claim.printed is not None:
                most = computed(claim.most, own | free, unit, claim.id, scenario)
                truth = both_ends(truth, most, claim.printed)
        same_unit(claim, sourced, truth)
        ours = given | {name: three.value for name, three in free.items() if name in given}
        formula = claim.formula
        itself = truth is not None and claim.comparison is None and made_of(claim, ITSELF)
        computed_value = (formulas.evaluate(formula, given) if formula is not None
                 else truth.three.value if truth and itself else None)
        tests = (claim.right is not None  # else it is ours whatever the document puts in
                 and formulas.symbols_of(claim.right) & own.keys() - free.keys())
        return Case(listed, claim.what or {}, claim.section or "", stated,
                    None if computed_value is None else float(computed_value), itself,
                    tried(formula, own | free) if sourced else None,
                    tried(claim.right, free | own) if tests else None, truth,
                    moved(given, ours), bound, note=claim.note, missing=claim.missing,
                    assumed=claim.assumed, setting=claim.setting, alert=claim.alert,
                    reconstructed=claim.reconstructed, compares=claim.comparison is not None,
                    words=claim.words, english=claim.english,
                    letters=_letters(listed, {letter: value.unit for letter, value
                                              in claim.inputs.items()}))


def _ruled(case: Case, listed: Listed, named: str | None) -> Ruling | None:
    """What becomes of a setting in the deployment that it stands in."""
    if case.setting is None:
        return None
    plan = None if named is None else deployment(named).scenario
    software = None if plan is None else plan.device.software
    ran = plan is not None and plan.file.measured is not None
    return ruling(case.setting, listed.claim.id, listed.document, case.section, software, ran)


def _fits(named: str | None, truth: Truth | None) -> bool | None:
    """Whether the deployment can exist that a claim is of; None where it would say the same of
    one that can: of shapes, and of what a card would have to hold."""
    if named is not None:
        return deployment(named).fits
    if truth is None or truth.scenario is None or truth.unit not in OF_RUNNING:
        return None
    return deployment(truth.scenario).fits


@functools.cache
def _named_in(document: str) -> dict[str, Any]:
    """Letters of the book, and of a document's formulas."""
    own = (catalogue.load("formulas", document).symbols
           if document in catalogue.names("formulas") else {})
    return {**catalogue.symbols(), **own}


def _letters(listed: Listed, given: Mapping[str, str]) -> dict[str, Any]:
    """Names and units of inputs: the file's own, else those of the document's formulas."""
    named = _named_in(listed.document)
    return {**{name: named[name] if name in named else Letter(
        latex="x", unit=unit, en=name.replace("_", " "), zh=name.replace("_", " "))
        for name, unit in given.items()}, **listed.letters}


def _example(reference: str) -> tuple[Example, DocumentFormula, DocumentFormulas]:
    """An example of a formula: ``s1-f07.1``. Raises ParamsError where there is none."""
    name, _, number = reference.partition(".")
    if name not in _formulas() or int(number) > len(_formulas()[name][0].examples):
        names = (f"{identifier}.{count}" for identifier, (formula, _) in _formulas().items()
                 for count in range(1, len(formula.examples) + 1))
        raise ParamsError(f"there is no example '{reference}' in params/formulas/"
                          + nearest(reference, names))
    formula, file = _formulas()[name]
    return formula.examples[int(number) - 1], formula, file


def _claimed(reference: str) -> tuple[ScenarioClaim, Documented, Deployment]:
    """A claim of a deployment: ``s1-plan-c:tpot`` or, of several, ``s1-plan-c:tpot.2``.

    Raises ParamsError where there is none.
    """
    name, _, rest = reference.partition(":")
    quantity, _, number = rest.partition(".")
    documented = deployment(name).scenario.documented
    claims = [claim for claim in (documented.claims if documented else ())
             if claim.quantity == quantity]
    if documented is None or int(number or 1) > len(claims) or (len(claims) > 1 and not number):
        raise ParamsError(f"'{reference}' names {len(claims)} claims, expected one")
    return claims[int(number or 1) - 1], documented, deployment(name)


def _lender(example: Example, file: DocumentFormulas) -> Callable[[str], Amount | None]:
    """What the deployment or the model of an example has of a name that the document leaves."""
    if example.scenario is not None:
        deployed = deployment(example.scenario)
        return lambda name: (
            deployed.three(name) if name not in file.symbols and deployed.knows(name) else None)
    if example.model is None:
        return lambda name: None
    model = catalogue.load_model(example.model)
    shapes = catalogue.model_inputs(model) | {
        f"{name}_parameters": count for name, count in parameters(model).items()}
    return lambda name: (Amount.exactly(shapes[name]) if name in shapes and name not in file.symbols
                         else None)
