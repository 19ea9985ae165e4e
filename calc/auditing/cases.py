"""Claims ready to be judged: what is printed, what its own formula gives, and the right value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import catalogue
from calc.answer.estimate import part_count
from calc.answer.model_sizes import parameters
from calc.auditing.claims import Listed, nearest
from calc.auditing.settings import Ruling, ruling
from calc.auditing.truths import SOURCES, Deployment, Truth, deployment, truth_of
from calc.uncertainty import Amount, propagate_uncertainty
from catalogue import ParamsError
from catalogue.entries import formulas
from catalogue.entries.deployments import Claim as ScenarioClaim
from catalogue.entries.deployments import Documented
from catalogue.entries.formulas import DocumentFormula, DocumentFormulas, Example, Letter
from catalogue.ledger import Claim, of_tree, of_unit, text
from catalogue.reading import units
from catalogue.reading.values import Printed, Value, of_value

SAME = 1e-6  # relative difference below which an input is the same
PRICE = "/price/"  # of an entry, which is no fact of what is built


def made_of(claim: Claim, kinds: tuple[str, ...]) -> bool:
    """Whether a claim without a formula, and no limit, is held against entries of these kinds
    alone: an input of one is a unit and no number."""
    against = [*claim.sourced.values(), *([claim.truth] if claim.truth else [])]
    return bool(claim.formula is None and not claim.bound and against and all(
        where.startswith(kinds) and PRICE not in where for where in against)
        and all(value == 1 for value in claim.given().values()))


def same_unit(claim: Claim, stated: Printed | None, sourced: Mapping[str, Truth],
              truth: Truth | None) -> None:
    """Refuse what comes out in another unit than is printed. Raises ValueError, one clause."""
    if stated is None:
        return
    given = {name: value.unit for name, value in claim.inputs.items()}
    printed = of_unit(stated.unit)
    free = {name: source.unit for name, source in sourced.items()}
    every = given | free
    for key, tree, units_of in (("formula", claim.formula, given), ("right", claim.right, every),
                             ("most", claim.most, every),
                             ("comparison", claim.comparison and claim.comparison.of, every)):
        if tree not in (None, 0) and (unit := of_tree(tree, units_of)) != printed:
            raise ValueError(f"{key} comes out in {text(unit)}, what is printed is in "
                             f"{text(printed)}")
    for name in given.keys() & free.keys():
        if of_unit(given[name]) != of_unit(free[name]):
            raise ValueError(f"the input '{name}' is in {given[name]}, its source in {free[name]}")
    if truth is not None and of_unit(truth.unit) != printed:
        raise ValueError(f"the truth is in {text(of_unit(truth.unit))}, what is printed in "
                         f"{text(printed)}")


def computed(tree: Any, given: Mapping[str, float], free: Mapping[str, Amount], unit: str,
             where: str, scenario: str | None) -> Truth:
    """Evaluate the right formula, with its interval: inputs from the document where it states them
    (``given``), otherwise ours (``free``). Raises ValueError for a letter that neither has."""
    names = formulas.symbols_of(tree)
    amounts = {**{name: Amount.exactly(value) for name, value in given.items()}, **free}
    used = {name: three for name, three in amounts.items() if name in names}
    if lost := sorted(names - used.keys()):
        raise ValueError(f"'{lost[0]}' has no value")
    three = propagate_uncertainty(lambda values: {"": float(formulas.evaluate(tree, values))},
                                  used)[""]
    return Truth(three, unit, where, scenario)


def tried(tree: Any, values: Mapping[str, float]) -> float | None:
    """The value of a formula; None where there is none, or a letter has no value."""
    if tree is None or formulas.symbols_of(tree) - values.keys():
        return None
    return float(formulas.evaluate(tree, values))


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
        claim: the claim, with what it leaves to the claim that it restates.
        what, section: what it says, and where in the document.
        printed: the number; the limit of words that a number decides; None of other words.
        bound: the claim is a limit.
        own: what the document's formula gives on the document's inputs, or what its own numbers
            give (``itself``); None without either.
        resourced: what it gives with sourced inputs; None where nothing takes their place.
        righted: what the right formula gives on the document's inputs.
        truth: ours; None where nothing decides.
        moved: letter -> the document's input and the sourced one, where they differ.
        formula: of ``params/formulas/``, if it is one of them.
        letters: unit and names of inputs, where they have any.
        fits: whether the deployment that it is of can exist; None of what is of none.
        ruling: what becomes of a setting.
    """

    listed: Listed
    claim: Claim
    what: Text
    section: str
    printed: Printed | None = None
    bound: str | None = None
    own: float | None = None
    itself: bool = False
    resourced: float | None = None
    righted: float | None = None
    truth: Truth | None = None
    moved: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    formula: DocumentFormula | None = None
    letters: Mapping[str, Any] = field(default_factory=dict)
    fits: bool | None = None
    ruling: Ruling | None = None

    @property
    def printed_text(self) -> str:
        """What the document has, in its unit or its words; empty where it has neither."""
        return self.claim.words or (self.printed.text if self.printed is not None else "")

    @property
    def circular(self) -> bool:
        """Whether what it is held against comes from the document itself."""
        own = (self.listed.document,)
        return self.truth is not None and self.truth.listed and self.truth.sources == own


class Cases:
    """Makes a case of each claim.

    Args:
        claims: all of them.
    """

    def __init__(self, claims: Iterable[Listed]) -> None:
        self._by_id = {claim.claim.id: claim for claim in claims}
        self._cases: dict[str, Case | None] = {}  # None of one that is being made

    def of(self, listed: Listed) -> Case:
        """The case of a claim, made once.

        Raises ParamsError or ValueError, one clause, for what cannot be found or computed.
        """
        claim, name = listed.claim, listed.claim.id
        if name in self._cases:
            if (ready := self._cases[name]) is None:
                raise ParamsError(f"'{name}' rests on itself")
            return ready
        self._cases[name] = None
        try:
            case = (self._restated(listed) if claim.like is not None
                    else self._of_example(listed) if claim.example is not None
                    else self._of_scenario(listed) if claim.claim is not None
                    else self._of_row(listed))
            case = replace(case, **_of_deployment(case))
        except BaseException:
            del self._cases[name]
            raise
        self._cases[name] = case
        return case

    def _find(self, name: str) -> Case:
        """A case by the claim's number. Raises ParamsError where there is no such claim."""
        if name not in self._by_id:
            raise ParamsError(f"there is no claim '{name[:20]}'" + nearest(name, self._by_id))
        return self.of(self._by_id[name])

    def truth(self, reference: str) -> Truth:
        """The number that a reference names: ``claims/ID``, what a claim prints; ``corrected/ID``,
        the right value; or one of :func:`calc.auditing.truths.truth_of`.

        Raises ParamsError, one clause, where there is none.
        """
        kind, _, name = reference.partition("/")
        if kind == "claims":
            if (printed := self._find(name).printed) is None:
                raise ParamsError(f"'{name}' prints no number")
            return Truth(Amount(printed.value, printed.low, printed.high, printed.unit),
                         printed.unit, reference)
        if kind != "corrected":
            return truth_of(reference)
        if (truth := self._find(name).truth) is None:
            raise ParamsError(f"nothing decides '{name}'")
        return replace(truth, where=reference, listed=False)

    def _restated(self, listed: Listed) -> Case:
        """Of a claim that says again what an earlier one says, perhaps with another number."""
        claim = listed.claim
        if claim.like not in self._by_id or claim.like >= claim.id:
            earlier = [name for name in self._by_id if name < claim.id]
            raise ParamsError(f"like: '{claim.like}' is no earlier claim"
                              + nearest(str(claim.like), earlier))
        case = self.of(self._by_id[claim.like])
        stated = {key: value for key, value in claim if value and key in claim.model_fields_set
                  and key != "missing"}
        if claim.printed or claim.words:
            stated |= {"english": claim.english}
        if claim.printed:
            stated |= {"words": claim.words}
        if claim.alert and case.claim.alert:
            stated["alert"] = case.claim.alert.model_copy(update={
                key: getattr(claim.alert, key) for key in claim.alert.model_fields_set})
        again = claim.printed is None or (
            case.own is not None and claim.printed.holds(case.own))
        restated = replace(
            case, listed=listed, claim=case.claim.model_copy(update=stated),
            what=claim.what or case.what, section=claim.section or case.section,
            bound=claim.bound or case.bound, printed=claim.printed or case.printed)
        return restated if again else replace(
            restated, own=None, itself=False, resourced=None, righted=None)

    def _of_example(self, listed: Listed) -> Case:
        """Of a number that a formula of ``params/formulas/`` is an example of."""
        claim = listed.claim
        example, formula, file = example_of(claim.example or "")
        given = example.given()
        right = formula.right if formula.right is not None else formula.right_quantity
        wanted = formulas.symbols_of(right) if right is not None else frozenset()
        lent = _lent(example, file, {*wanted, *given})
        sourced = {name: self.truth(where).three
                   for name, where in {**example.catalogue, **claim.sourced}.items()}
        free = {name: lent[name] for name in sorted(lent.keys() & wanted)} | sourced
        truth = None if claim.truth is None else self.truth(claim.truth)
        if truth is None and right is not None:
            truth = replace(
                computed(right, given, free, example.printed.unit, formula.id,
                         example.scenario),
                parts=(*example.catalogue.values(), *claim.sourced.values(),
                       *([f"models/{example.model}"] if example.model else [])))
        tests = wanted & given.keys() - free.keys()  # else it is ours whatever the document puts in
        ours = given | {name: three.value for name, three in (lent | sourced).items()
                        if name in given}
        return Case(listed, claim, claim.what or example.label or formula.quantity,
                    claim.section or example.section,
                    of_value(example.printed, example.percent), claim.bound,
                    float(formula.recomputed(example)), False, tried(formula.documented, ours),
                    tried(right, _values(free) | given) if tests else None, truth,
                    moved(given, ours), formula, {**catalogue.symbols(), **file.symbols})

    def _of_scenario(self, listed: Listed) -> Case:
        """Of a number that a deployment's file holds."""
        row = listed.claim
        claim, documented, deployed = claim_of_deployment(row.claim or "")
        name, scenario = claim.quantity, deployed.scenario
        truth = None if row.truth is None else self.truth(row.truth)
        if truth is None and claim.comparable and deployed.knows(name):
            part = f"/{claim.of}" if claim.of != "deployment" else ""
            truth = Truth(deployed.three(name).scaled(1 / part_count(scenario, claim.of)),
                          claim.value.unit, f"{scenario.id}:{name}{part}", scenario.id,
                          given=name in deployed.inputs)
        step = row.formula is not None  # as it is printed; the file has it from the beginning
        tree, inputs = (row.formula, row.inputs) if step else (claim.formula, documented.inputs)
        given = {letter: value.value for letter, value in inputs.items()}
        ours = given | {letter: self.truth(where).three.value
                        for letter, where in row.sourced.items()}
        own = formulas.evaluate(tree, given) if step else documented.recomputed(claim)
        used = formulas.symbols_of(tree) if tree is not None else set()
        return Case(listed, row.model_copy(update={"note": row.note or claim.note}),
                    row.what or claim.label, row.section or claim.value.section or "",
                    of_value(claim.value), row.bound or claim.bound,
                    None if own is None else float(own), False,
                    tried(tree, ours) if used & row.sourced.keys() else None, None, truth,
                    moved({letter: given[letter] for letter in given if letter in used}, ours),
                    letters=_letters(listed, inputs))

    def _of_row(self, listed: Listed) -> Case:
        """Of a number that stands nowhere else."""
        claim, formula, given = listed.claim, listed.claim.formula, listed.claim.given()
        sourced = {name: self.truth(where) for name, where in claim.sourced.items()}
        free = {name: source.three for name, source in sourced.items()}
        right = claim.right if claim.right is not None else formula
        stated, bound = claim.printed, claim.bound
        if (statement := claim.comparison) is not None:
            limit = statement.above if statement.below is None else statement.below
            assert limit is not None
            right, bound = statement.of, "at_most" if statement.above is None else "at_least"
            stated = replace(of_value(limit), last=(0.0,))  # a limit is exact, not rounded
        where = claim.alert.of if claim.alert is not None else claim.truth
        truth = None if where is None else self.truth(where)
        if claim.known is not None:
            truth = Truth(Amount.stated(claim.known), claim.known.unit,
                          f"{SOURCES}{claim.known.source}", listed=True)
        if truth is None and right is not None and claim.missing is None:
            scenario = next(filter(None, (source.scenario for source in sourced.values())), None)
            unit = stated.unit if stated else units.DIMENSIONLESS
            keys = dict.fromkeys(key for source in sourced.values() for key in source.sources)
            truth = replace(computed(right, given, free, unit, claim.id, scenario),
                            listed=made_of(claim, BUILT), sources=tuple(keys),
                            parts=tuple(claim.sourced.values()))
            if claim.most is not None and claim.printed is not None:
                low, printed = truth.three.value, claim.printed
                high = computed(claim.most, given, free, unit, claim.id, scenario).three.value
                farther = low if printed.low - low > high - printed.high else high
                truth = replace(truth, three=Amount(farther, low, high), spans=True)
        same_unit(claim, stated, sourced, truth)
        itself = truth is not None and claim.comparison is None and made_of(claim, ITSELF)
        own = (formulas.evaluate(formula, given) if formula is not None
               else truth.three.value if truth and itself else None)
        tests = (claim.right is not None  # else it is ours whatever the document puts in
                 and formulas.symbols_of(claim.right) & given.keys() - free.keys())
        ours = given | _values(free)
        return Case(listed, claim, claim.what or {}, claim.section or "", stated, bound,
                    None if own is None else float(own), itself,
                    tried(formula, ours) if sourced else None,
                    tried(claim.right, _values(free) | given) if tests else None, truth,
                    moved(given, ours), letters=_letters(listed, claim.inputs))


def _values(amounts: Mapping[str, Amount]) -> dict[str, Any]:
    return {name: three.value for name, three in amounts.items()}


def _of_deployment(case: Case) -> dict[str, Any]:
    """Whether the deployment of a claim can be built, and the verdict on a setting in it.

    Nothing is said of a deployment that is only computed with, where the same would hold of one
    that can exist: of shapes, and of what a card would have to hold.
    """
    claim, truth = case.claim, case.truth
    named = None if claim.deployment is None else deployment(claim.deployment)
    of = named or (deployment(truth.scenario) if truth is not None and truth.scenario is not None
                   and truth.unit in OF_RUNNING else None)
    plan = None if named is None else named.scenario
    return {"fits": None if of is None else of.fits, "ruling": None if claim.setting is None else
            ruling(claim.setting, case.listed.claim.id, case.listed.document, case.section,
                   None if plan is None else plan.device.software,
                   plan is not None and plan.file.measured is not None)}


def _letters(listed: Listed, inputs: Mapping[str, Value]) -> dict[str, Any]:
    """Names and units of inputs: the file's own, else those of the document's formulas, else those
    of the book."""
    document = listed.document
    named = {**catalogue.symbols(), **(catalogue.load("formulas", document).symbols
                                       if document in catalogue.names("formulas") else {})}
    return {**{name: named[name] if name in named else Letter(
        latex="x", unit=value.unit, en=name.replace("_", " "), zh=name.replace("_", " "))
        for name, value in inputs.items()}, **listed.letters}


def example_of(reference: str) -> tuple[Example, DocumentFormula, DocumentFormulas]:
    """An example of a formula: ``s1-f07.1``. Raises ParamsError where there is none."""
    name, _, number = reference.partition(".")
    file = catalogue.load("formulas", name.partition("-")[0])
    formula = next((one for one in file.formulas if one.id == name), None)
    if formula is None or int(number) > len(formula.examples):
        raise ParamsError(f"there is no example '{reference}' in params/formulas/" + nearest(
            reference, (f"{one.id}.{count + 1}" for one in file.formulas
                        for count in range(len(one.examples)))))
    return formula.examples[int(number) - 1], formula, file


def claim_of_deployment(reference: str) -> tuple[ScenarioClaim, Documented, Deployment]:
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


def _lent(example: Example, file: DocumentFormulas, names: Collection[str]) -> dict[str, Amount]:
    """Values from the deployment or the model of an example, for names the document leaves open."""
    left = [name for name in names if name not in file.symbols]
    if example.scenario is not None:
        deployed = deployment(example.scenario)
        return {name: deployed.three(name) for name in left if deployed.knows(name)}
    if example.model is None:
        return {}
    model = catalogue.load_model(example.model)
    shapes = catalogue.model_inputs(model) | {
        f"{name}_parameters": count for name, count in parameters(model).items()}
    return {name: Amount.exactly(shapes[name]) for name in left if name in shapes}
