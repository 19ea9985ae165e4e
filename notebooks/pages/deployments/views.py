"""Three views of a deployment side by side: what is printed, what follows, what was measured.

*Documented*: the document's number, and what its own formula gives on its own inputs. *Derived*:
ours on sourced inputs, with the 80% interval and the formula. *Measured*, where somebody did.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import catalogue
from calc.answer.estimate import EXACT, kinds, part_count
from calc.answer.service import service_level_of_pools
from calc.uncertainty import Amount
from catalogue import Scenario, units
from catalogue.deployments.loading import Family
from catalogue.entries.deployments import Claim, Documented
from catalogue.entries.formulas import DocumentFormula, Letter, symbols_of
from catalogue.messages import LANGUAGES, Pair, join, messages
from catalogue.reading.units import span
from notebooks.derive.formulas.exported import formula_of
from notebooks.derive.formulas.treelatex import tree_latex
from notebooks.pages.catalogue.tables.deployments import interval_label, quantity_label
from notebooks.pages.deployments.answers import Deployed
from notebooks.show.display import formula_link, section
from notebooks.show.documents import documents, sides
from notebooks.show.documents import letter_meanings as letters_of
from notebooks.show.numbers import fmt_int, fmt_like, fmt_sig, fmt_written

common = messages("common")
say = messages("pages/deployments/views")

RATE = "output_throughput"
Rows = list[dict[str, Any]]
# in this order; what a document prints besides follows
ORDER = ("weights_per_device", "replicated_weights_per_device", "kv_bytes_per_token",
         "kv_per_device", "activations_per_device", "memory_per_device", "usable_memory",
         "free_for_kv_per_device", "headroom_per_device", "max_concurrency", "ttft",
         "prefill_time", "tpot", "e2e", "output_throughput", "input_throughput")
ALWAYS = ("weights_per_device", "kv_bytes_per_token", "memory_per_device", "headroom_per_device",
          "max_concurrency")  # besides what answers the deployment
SAME = 5e-3  # relative difference below which a formula is not called different
LONG = 400  # characters of LaTeX from which on a formula is only linked to
BOUNDS = {"at_most": "≤ ", "at_least": "≥ "}
OF: dict[str, Pair] = {"deployment": ("", ""), "replica": say("per-replica"),
                       "device": say("per-card"),
                       "layer": say("per-layer")}
COLUMNS: dict[str, Pair] = {
    "what": common("quantity"), "printed": common("documented"), "section": common("section"),
    "own": say("its-formula-its-inputs"), "ours": say("derived"),
    "reach": common("interval"), "formula": common("formula"),
    "seen": common("measured"), "ratio": say("given-derived")}


@dataclass(frozen=True)
class Views:
    """The rows of the table, and what is missing in it.

    Attributes:
        rows: one per printed number, and one per quantity that nothing is printed of.
        columns: those that have anything in them.
        absent: a sentence for each view that is not there, in both languages.
        notes: label and note of the claims that have one; not of those whose formula, beside the
            right one, is told what goes wrong already.
    """

    rows: Rows
    columns: dict[str, Pair]
    absent: list[Pair]
    notes: list[tuple[Pair, Pair]]


@dataclass(frozen=True)
class Differing:
    """The document's formulas that do not give what ours do, beside the right ones.

    Attributes:
        rows: of a table: what goes wrong, and the two formulas.
        letters: LaTeX of a letter -> its meaning in both languages.
        mistaken: the claims whose notes are in the rows.
    """

    rows: Rows
    letters: dict[str, Pair]
    mistaken: list[Claim]


def derived(deployed: Deployed, name: str) -> Amount | None:
    """Our number of a quantity; None where it is no answer of this deployment."""
    times = ("ttft", "tpot", "e2e", "output_throughput")
    if name in deployed.inputs:  # a document may claim what we are given
        value = float(deployed.inputs[name])
        return Amount(value, value, value, catalogue.symbols()[name].unit, name=name)
    if name in times and name not in deployed.questions:
        return None
    if name not in deployed.quantities:
        return None
    # beside what was measured, of the run that was made
    return deployed.as_measured.get(name) or deployed.quantity(name)


def three(deployed: Deployed, brief: bool = False) -> Views:
    """The three views of a deployment; brief, of what is printed of it and what answers it."""
    documented = deployed.scenario.documented
    claims = documented.claims if documented else []
    wanted = {*deployed.questions, *(claim.quantity for claim in claims)}
    wanted |= set() if brief else {*ALWAYS}
    names = [name for name in ORDER if name in wanted]
    names += [name for name in dict.fromkeys(claim.quantity for claim in claims)
              if name not in ORDER]
    rows: Rows = []
    for name in names:
        of = [claim for claim in claims if claim.quantity == name]
        rows += [_claimed(deployed, documented, claim) for claim in of]
        if not of:
            rows.append(_alone(deployed, name))
    mistaken = [] if brief else differing(deployed).mistaken
    return Views(rows, _used(rows), _absent(deployed),
                 _notes(claim for claim in claims if not any(claim is item for item in mistaken)))


def legend(columns: Mapping[str, Pair], inputs: str) -> Pair:
    """What the columns of the table are, of those that it has.

    Args:
        columns: those of a table of the three views.
        inputs: address of the section on the inputs.
    """
    both = {"printed": common("documented"), "seen": common("measured")}
    given = join(say("or"), (name for key, name in both.items() if key in columns))
    words: dict[str, Pair] = {
        "printed": say("documented-is-what-document-prints"),
        "own": say("its-formula-its-inputs-is"),
        "ours": say("derived-is-what-this-book", inputs=inputs),
        "seen": say("measured-is-of-same-workload"),
        "ratio": say("given-derived-is-number-over", given=given)}
    return join((" ", ""), (words[key] for key in words if key in columns))


def _notes(claims: Iterable[Claim]) -> list[tuple[Pair, Pair]]:
    """Label and note of the claims that have one."""
    return [((claim.label["en"], claim.label["zh"]), (claim.note["en"], claim.note["zh"]))
            for claim in claims if claim.note]


def of_the_whole(family: Family) -> Views:
    """What a document prints of all deployments of a file together; ours is that of their pools."""
    documented, ours = family.documented, None
    claims = documented.claims if documented else []
    if family.pools:
        ours = together(family.pools)
    rows: Rows = []
    for claim in claims:
        row = {"what": (claim.label["en"], claim.label["zh"]), "printed": printed(claim),
               "section": _section(claim),
               "own": "" if claim.formula is None else fmt_like(
                   documented.recomputed(claim) if documented else None, claim.value.written)}
        if ours is not None and claim.quantity == ours.name:
            row |= {"ours": ours.texts, "reach": ours.reach,
                    "ratio": fmt_sig(claim.value.value / ours.value)}
        rows.append(row)
    return Views(rows, _used(rows), [], _notes(claims))


def _used(rows: Rows) -> dict[str, Pair]:
    """The columns that have anything in them."""
    return {key: label for key, label in COLUMNS.items() if any(row.get(key) for row in rows)}


def together(pools: tuple[Scenario, Scenario]) -> Amount:
    """Output throughput of a prefill and a decode pool under the load that they state."""
    seen = service_level_of_pools(*pools)
    assert seen is not None  # users who ask again
    return replace(seen.throughput, name=RATE)


def _claimed(deployed: Deployed, documented: Documented | None, claim: Claim) -> dict[str, Any]:
    """The row of a printed number, ours in its unit."""
    assert documented is not None
    written, count = claim.value.written, part_count(deployed.scenario, claim.of)
    row = {"what": tuple(f"{claim.label[lang]}{OF[claim.of][at] if of_part(claim, lang) else ''}"
                         for at, lang in enumerate(("en", "zh"))),
           "printed": printed(claim), "section": _section(claim),
           "own": "" if claim.formula is None else fmt_like(documented.recomputed(claim), written)}
    if claim.value.kind == "measured":
        row |= {"printed": "", "seen": row["printed"]}
    ours = derived(deployed, claim.quantity) if claim.comparable else None
    if ours is None:
        return row | {"ours": "–"}
    ours = ours.scaled(1 / count)
    low, value, high = ours.low, ours.value, ours.high
    row |= {"ours": fmt_like(value, written),
            "reach": _interval(deployed, ours, low, high, written),
            "formula": formula_link(claim.quantity, deployed.attention) or say("input")}
    if value > 0:
        ends = [claim.value.low, claim.value.high] if _spans(claim) else [claim.value.value]
        row["ratio"] = "–".join(fmt_sig(end / value) for end in ends)
    if claim.value.kind != "measured" and (measured := deployed.measured(claim.quantity)):
        row["seen"] = span(measured[0] / count, measured[1] / count, ours.unit)
    return row


def _section(claim: Claim) -> str | Pair:
    """Where a number is printed; a section that has no number by its name."""
    if not claim.value.section:
        return ""
    parts = list(map(section, claim.value.section.split(", ")))
    return ", ".join(part[0] for part in parts), "、".join(part[1] for part in parts)


def of_part(claim: Claim, lang: str) -> bool:
    """Whether a label does not say itself that a number is of a replica or a card."""
    words = say("parts-in-labels")[LANGUAGES.index(lang)].split(", ")
    return claim.of != "deployment" and not any(word in claim.label[lang] for word in words)


def printed(claim: Claim) -> str:
    """A printed number with its unit; of a range both ends, of a limit its side."""
    value = claim.value
    if not _spans(claim):
        return BOUNDS.get(claim.bound or "", "") + fmt_written(value.written)
    unit = units.split(value.written)[1]
    ends = [_plain(end / units.factor(unit)) for end in (value.low, value.high)]
    shown = "" if unit in units.COUNTING else unit
    return f"{'–'.join(ends)} {shown}".rstrip()


def _spans(claim: Claim) -> bool:
    """Whether a document prints a range."""
    return claim.value.kind == "documented" and claim.value.low < claim.value.high


def _plain(number: float) -> str:
    """A printed number without the zeros that scaling leaves behind its point."""
    return fmt_int(round(number)) if round(number, 9) % 1 == 0 else fmt_sig(number)


def _alone(deployed: Deployed, name: str) -> dict[str, Any]:
    """The row of a quantity that nothing is printed of."""
    row: dict[str, Any] = {"what": quantity_label(name), "ours": "–"}
    ours = derived(deployed, name)
    if ours is None:
        return row
    row |= {"ours": ours.texts, "reach": _interval(deployed, ours, ours.low, ours.high),
            "formula": formula_link(name, deployed.attention)}
    if measured := deployed.measured(name):
        row["seen"] = span(*measured, ours.unit)
    return row


def _interval(deployed: Deployed, ours: Amount, low: float, high: float,
              written: str | None = None) -> str | Pair:
    """An interval as text, in the unit of a printed number; what nothing moves is exact."""
    if ours.exact:
        exact = kinds(deployed.inputs).get(ours.name) == EXACT
        return say("exact") if exact else say("no-range")
    if written is None:
        return interval_label(low, high, ours.unit)
    ends = [fmt_like(end, written) for end in (low, high)]
    unit = "" if units.split(written)[1] in units.COUNTING else ends[0].partition(" ")[2]
    ends[0] = ends[0].removesuffix(unit).strip()
    if low < 0:
        return common("from-low-to-high", low=ends[0], high=ends[1])
    return "–".join(ends)


def _absent(deployed: Deployed) -> list[Pair]:
    """Which view is missing, and what it would need."""
    scenario, found = deployed.scenario, []
    if scenario.documented is None or not scenario.documented.claims:
        found.append(say("document-prints-no-result-for") if scenario.file.document else
                     say("no-document-describes-this-deployment"))
    if scenario.file.workload.output_tokens is None:
        found.append(say("end-to-end-latency-cannot"))
    elif "ttft" not in deployed.questions:
        found.append(say("decode-pool-has-no-first"))
    elif "tpot" not in deployed.questions:
        found.append(say("there-is-no-decode-run"))
    if scenario.measured is None:
        found.append(say("we-know-of-no-published"))
    elif deployed.seen is None:
        found.append(common("what-was-measured-is-of"))
    return found


def differing(deployed: Deployed) -> Differing:
    """The document's formulas that do not give what ours do, beside the right ones.

    Where the claim has no note, ``params/formulas/`` says which step of a known formula goes wrong.
    """
    documented = deployed.scenario.documented
    found: dict[str, dict[str, Any]] = {}
    letters: dict[str, Pair] = {}
    mistaken: list[Claim] = []
    for claim in documented.claims if documented else ():
        if claim.value.kind == "measured" or not claim.comparable:
            continue
        printed = _printed_as(claim.value.source, claim.value.section, claim.value.value)
        if printed is not None and printed.verdict != "right" and printed.id not in found:
            theirs, ours = sides(printed)
            letters |= letters_of(printed)
            found[printed.id] = {"what": _wrong(printed.quantity, claim.note or printed.step),
                                 "theirs": _maths(theirs), "ours": _maths(ours)}
            mistaken.append(claim)
        elif (printed is None and claim.formula is not None
              and _differs(deployed, documented, claim)):
            own = _letters(claim.value.source, documented)
            used = {name: own[name] for name in symbols_of(claim.formula)}
            letters |= {item.latex: (item.en, item.zh) for item in used.values()
                        if not item.latex.startswith(r"\text")}
            theirs = tree_latex(claim.formula, {name: item.latex for name, item in used.items()})
            found[f"{claim.quantity} {claim.formula}"] = {
                "what": _wrong(claim.label, claim.note), "theirs": _maths(theirs),
                "ours": f"{_maths(_right(deployed, claim.quantity))} "
                        f"{formula_link(claim.quantity, deployed.attention)}".strip()}
            mistaken.append(claim)
    return Differing(list(found.values()), letters, mistaken)


def _wrong(label: Mapping[str, str], step: Mapping[str, str] | None) -> Pair:
    """What is computed, and what goes wrong."""
    steps = step or {"en": "", "zh": ""}
    en, zh = (f"**{label[lang]}**<br>{steps[lang]}".removesuffix("<br>") for lang in ("en", "zh"))
    return en, zh


def _differs(deployed: Deployed, documented: Documented | None, claim: Claim) -> bool:
    assert documented is not None
    ours, theirs = derived(deployed, claim.quantity), documented.recomputed(claim)
    if ours is None or theirs is None:
        return False
    value = ours.value / part_count(deployed.scenario, claim.of)
    return abs(theirs - value) > SAME * abs(value)


def _maths(latex: str | None) -> str:
    return "–" if latex is None else rf"$\displaystyle {latex}$"


def _letters(source: str, documented: Documented | None) -> dict[str, Letter]:
    """The letters of a document's own inputs: its file's, else the book's, else their names."""
    letters = _letters_in(source)
    names: Iterable[str] = documented.inputs if documented else ()
    return {name: letters.get(name) or Letter(
        latex=rf"\text{{{name.replace('_', ' ')}}}", unit="1", en=name, zh=name)
        for name in names}


def _right(deployed: Deployed, name: str) -> str | None:
    letter, entry = catalogue.symbols()[name].latex, formula_of(name, deployed.attention)
    if entry is None:
        return None
    return f"{letter} = {entry.latex}" if len(entry.latex) < LONG else letter


def _printed_as(source: str, section: str | None, value: float) -> DocumentFormula | None:
    """The formula by which a document arrives at a number that it prints in a section.

    Args:
        source: key of the document.
        section: of the number, several of them joined by a comma.
        value: the number [SI].
    """
    places = (section or "").split(", ")
    return next((formula for file in documents() for formula in file.formulas
                 if formula.source == source and any(
                     example.section in places and any(
                         math.isclose(value, end, rel_tol=1e-9) for end in (
                             example.printed.value, example.printed.low, example.printed.high))
                     for example in formula.examples)), None)


def _letters_in(source: str) -> dict[str, Letter]:
    """The letters of a document's formulas by name, and those of the book that they leave free."""
    own = {name: letter for file in documents() if file.formulas[0].source == source
           for name, letter in file.symbols.items()}
    taken = {letter.latex for letter in own.values()}
    return {name: symbol for name, symbol in catalogue.symbols().items()
            if symbol.latex not in taken} | own
