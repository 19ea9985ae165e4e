"""Why a claim has its verdict: what the document prints, the right value, and its origin."""

from __future__ import annotations

import functools
import re

from calc.auditing import judging
from calc.auditing.alarms import (
    ALWAYS,
    CONSTANT,
    LATE,
    PERHAPS,
    RUN,
    SOUND,
    UNEXPORTED,
    alarm,
)
from calc.auditing.cases import OF_RUNNING, Case
from calc.auditing.judging import FAILS, Judgement, meets
from calc.auditing.truths import SOURCES, Truth, deployment
from calc.layouts.feasible import MEMORY
from catalogue.deployments.admission import cut_of
from catalogue.deployments.cuts import written
from catalogue.messages import LANGUAGES, Pair, join, messages, pair
from catalogue.reading.units import COUNTING, factor, human, plain
from catalogue.reading.values import sources
from catalogue.reading.words import revealed

common = messages("common")
say = messages("calc/auditing/reasons")

DERIVED = ("arithmetic",)  # a source that is a derivation of this book's
OF_MODELS = {"models", "formats", "precisions"}
OF_CARDS = {"devices", "links", "nodes", "mechanisms"}
LONGEST = 60  # signs of a source's title
GIB = factor("GiB")
POSITIVE = (judging.REPRODUCED, judging.MET, judging.COMPATIBLE, judging.SPECIFICATION,
            judging.SETTING)  # verdicts that say nothing against a claim by themselves
SHORT = 100  # signs of a note that is told again beside each claim of the same quantity
MOST = 3  # inputs that are named
_MAKER = re.compile(r"^\S+ (?=\S*\d)")  # before the name of a card, which tells it by itself
_NAME = re.compile(r"[(（,，]| throughout")  # behind which a format's name only explains


def origin(truth: Truth) -> Pair:
    """Where a number comes from, as the beginning of a sentence that tells it."""
    plans = [name for reference in truth.parts if ":" in reference
             and (name := reference.partition(":")[0])]
    kinds = {reference.partition("/")[0] for reference in truth.parts or (truth.where,)}
    source, plan = source_of(truth) or "", truth.scenario or (plans[0] if plans else None)
    if truth.scenario is None and source:
        kind = "source"
    elif plan is not None:
        kind = "plan" if deployment(plan).fits else "as-if"
    elif not truth.parts and not {"/", ":"} & set(truth.where):
        kind = "own"
    elif kinds <= {"measurements", "accuracies"}:
        kind = "measured"
    elif kinds & {"prices", "costs"} or truth.unit.startswith("USD"):
        kind = "prices"
    else:
        kind = ("shapes" if kinds <= OF_MODELS else "hardware" if kinds <= OF_CARDS
                else "recomputed")
    return say("origin", kind=kind, source=source, plan=planned(plan) if plan else "")


def source_of(truth: Truth) -> str | None:
    """The title of the source that restates a number, without what explains it; None of what is
    computed, or of several."""
    if not truth.listed and "/" not in truth.where:
        return None
    keys = [truth.where.removeprefix(SOURCES)] if truth.where.startswith(SOURCES) else truth.sources
    listed = sources()
    titles = [listed[key]["title"] for key in keys if key in listed and key not in DERIVED]
    if len(titles) != 1 or len(keys) > 1:
        return None
    title: str = titles[0].partition(": ")[0]
    while len(title) > LONGEST and "," in title:
        title = title.rpartition(",")[0]
    return title


@functools.cache
def planned(name: str) -> Pair:
    """A deployment in a few words: cards, layout, format, users."""
    scenario = deployment(name).scenario
    users = int(scenario.inputs()["concurrency"])
    en, zh = (_NAME.split(scenario.precision.name[lang])[0].strip() for lang in LANGUAGES)
    card = {lang: _MAKER.sub("", scenario.device.name[lang]) for lang in LANGUAGES}
    layout = written(cut_of(scenario))
    return say("plan", cards=scenario.devices, card=pair(card), layout=pair(layout), users=users,
               format=(en, zh))


@functools.cache
def shortage(name: str) -> Pair:
    """Why a deployment does not run, in a clause."""
    reason = deployment(name).why_not[0]
    if reason.kind != MEMORY:
        return reason.text["en"].rstrip("."), reason.text["zh"].rstrip("。")
    needed, usable = (human(reason.numbers[key], "B") for key in ("memory_per_device",
                                                                  "usable_memory"))
    return say("short-of-memory", needed=needed, usable=usable)


def of_alert(case: Case) -> Pair:
    """What becomes of an alert, with what it follows from."""
    alert, printed, result = case.claim.alert, case.printed, alarm(case)
    assert alert is not None
    assert printed is not None
    if result.reason == UNEXPORTED:
        metric = revealed(alert.metric or "*")
        return say("unexported", engines=join(say("or"), [(name, name) for name in result.engines]),
                   named="*" not in metric, metric=metric)
    point = result.fires[0] if result.fires else result.nearest
    rule = say("rule", side=alert.fires, limit=printed.text)
    end = say("end", state=result.state, slower=plain(point.slower, 2) if point else "")
    watched, plan = result.watched is not None, planned(result.watched) if result.watched else ""
    if result.reason == CONSTANT:
        return say("constant", rule=rule, value=_ours(case), end=end, planned=watched, plan=plan,
                   allotted=alert.held == "at_start")
    how = (result.reason if result.reason != RUN
           else "healthy" if result.state in (ALWAYS, PERHAPS)
           else "fires" if result.state in (SOUND, LATE) else "nearest" if point else "unmoved")
    return say("alert", rule=rule, how=how, end=end, others=max(0, len(result.fires) - 1),
               healthy=say("healthy", planned=watched, plan=plan, value=_ours(case)),
               value=printed.like(point.value) if point else "",
               failure=say("failure", kind=point.failure, by=plain(point.severity))
               if point else "")


def why(case: Case, judgement: Judgement) -> dict[str, str]:
    """What the verdict follows from, with the numbers of it."""
    parts = of_verdict(case, judgement)
    if judging.INFEASIBLE in judgement.also:
        if case.fits is False:
            parts.append(say("deployment-does-not-run", why=_why_not(case),
                             but=judgement.verdict in POSITIVE))
        elif case.ruling is not None and case.ruling.beside:
            names = [(name, name) for name in case.ruling.beside[:MOST]]
            parts.append(say("configuration-does-not-start", names=join((", ", "、"), names),
                             more=len(case.ruling.beside) > MOST))
    if judgement.clashes:
        parts.append(say("others-say-otherwise", count=len(judgement.clashes), listed=join(
            (", ", "、"), ((name, name) for name in judgement.clashes[:MOST])),
            more=len(judgement.clashes) > MOST))
    parts += _notes(case, judgement)
    return {"en": " ".join(en for en, _ in parts), "zh": "".join(zh for _, zh in parts)}


def _notes(case: Case, judgement: Judgement) -> list[Pair]:
    """What a reader should know besides; of a claim that says again what another does, where."""
    stated = case.ruling.stated.note if case.ruling and case.ruling.stated else None
    step = case.formula.step if case.formula is not None and judgement.standing == FAILS else None
    note, rests_on, own = case.claim.note or stated or step, case.claim.rests_on, case.listed.claim
    again, sentences = own.like is not None, []
    if note is not None and not (again and own.note is None and len(note["en"]) > SHORT):
        sentences.append(pair(note))
    if rests_on is not None and not (again and own.rests_on is None):
        sentences.append(say("rests-on", assumption=pair(rests_on)))
    left = (note is not None) + (rests_on is not None) - len(sentences)
    return [*sentences, say("as-of", claim=str(own.like))] if left else sentences


def _why_not(case: Case) -> Pair:
    """Why the deployment that a claim is of does not run, in a clause."""
    name = case.claim.deployment or (case.truth.scenario if case.truth else None)
    assert name is not None
    return shortage(name)


def _ours(case: Case, how: str = "") -> Pair:
    """The right number with its interval; of a range, or of the document's ``own`` numbers, both
    ends."""
    assert case.truth is not None
    three = case.truth.three
    value, low, high = (_shown(case, value) for value in (three.value, three.low, three.high))
    if low == high:
        return (low, low) if how else (value, value)
    if case.truth.spans or how:
        return common("from-low-to-high", low=low, high=high)
    return say("to", value=value, low=low, high=high)


def _right(case: Case) -> Pair:
    """The right number and where it comes from, a sentence."""
    assert case.truth is not None
    return say("right-is", found=origin(case.truth), ours=_ours(case))


def of_verdict(case: Case, judgement: Judgement) -> list[Pair]:
    """The sentences of a verdict itself."""
    verdict, truth, printed, own = judgement.verdict, case.truth, case.printed, case.own
    if verdict == judging.THRESHOLD:
        return [of_alert(case)]
    if verdict == judging.SETTING:
        setting, ruling = case.claim.setting, case.ruling
        assert setting is not None
        assert ruling is not None
        return [say("setting", state=ruling.state, program=setting.program,
                    name=revealed(setting.name), since=ruling.since, until=ruling.until)]
    if verdict in (judging.ASSUMPTION, judging.UNVERIFIABLE):
        missing = case.claim.missing
        reason = ("assumed" if verdict == judging.ASSUMPTION else "circular"
                  if missing is None and case.circular else "missing")
        return [say("undecided", why=reason,
                    missing=say("a-source") if missing is None else pair(missing))]
    if verdict == judging.INFEASIBLE:
        return of_infeasible(case)
    if verdict in (judging.INPUT, judging.FORMULA, judging.BOTH):
        return of_fault(case, verdict)
    if verdict == judging.ARITHMETIC or (
            verdict == judging.REPRODUCED and (case.itself or truth is None or (
                own is not None and truth.where == case.listed.claim.id and not case.moved))):
        assert own is not None
        assert printed is not None
        how = ("differs" if verdict == judging.ARITHMETIC else
               "agrees" if case.itself or printed.holds(own) else "about")
        given = _shown(case, own)
        first = say("own", itself=case.itself, how=how, printed=printed.text,
                    ours=_ours(case, "own") if case.itself else given)
        if how != "differs" or case.itself or truth is None or (
                _shown(case, truth.three.value) == given):
            return [first]
        return [first, _right(case)]
    return [of_number(case, judgement)]


def of_number(case: Case, judgement: Judgement) -> Pair:
    """How the right number relates to what is printed."""
    verdict, truth, printed = judgement.verdict, case.truth, case.printed
    assert truth is not None
    assert printed is not None
    three, source, ours = truth.three, origin(truth), _ours(case)
    if verdict == judging.MET or (case.bound is not None and verdict != judging.COMPATIBLE):
        return say("limit", statement=case.claim.comparison is not None,
                   least=case.bound == "at_least", met=verdict == judging.MET, found=source,
                   ours=ours, printed=printed.text)
    if verdict == judging.COMPATIBLE:
        how = ("limit-in-interval" if case.bound else
               "inside" if printed.low <= three.low and three.high <= printed.high else
               "overlaps" if printed.low < three.low or three.high < printed.high else
               "in-interval")
    elif verdict == judging.NUMBER or judging.WRONG in judgement.also:
        how = "wrong"
    elif judging.BINARY in judgement.also:
        how = "in-gib"
    elif printed.low != printed.high:
        how = "inside"
    else:
        how = "equal" if printed.like(three.value) == printed.like(printed.value) else "rounds"
    return say("figure", how=how, found=source, ours=ours, printed=printed.text,
               gib=plain(three.value / GIB))


def of_fault(case: Case, verdict: str) -> list[Pair]:
    """Which inputs a source has otherwise, what that makes of the formula, and the right number."""
    assert case.truth is not None
    assert case.own is not None
    named = []
    for name, (theirs, ours) in list(case.moved.items())[:MOST]:
        letter = case.letters.get(name)
        unit = letter.unit if letter and letter.unit not in COUNTING else "1"
        label = (letter.en, letter.zh) if letter else (name.replace("_", " "),) * 2
        named.append(say("input-is-otherwise", input=label, ours=_readable(ours, unit),
                         theirs=_readable(theirs, unit)))
    right, resourced = case.truth.three.value, case.resourced
    close = resourced is not None and abs(resourced - right) > judging.CLOSE * abs(right)
    what = (("close" if close else "inputs") if verdict == judging.INPUT else
            "both" if verdict == judging.BOTH and case.moved else "formula")
    return [say("fault", what=what, inputs=join((", ", "，"), named), own=_shown(case, case.own),
                found="" if resourced is None else _shown(case, resourced)), _right(case)]


def of_infeasible(case: Case) -> list[Pair]:
    """That the deployment does not run, and the right number where it is another."""
    stops, truth = say("deployment-does-not-run", why=_why_not(case), but=False), case.truth
    if truth is None or truth.given or not truth.three.value:
        return [stops]
    assert case.printed is not None
    as_if = (truth.unit in OF_RUNNING and truth.scenario is not None
             and not deployment(truth.scenario).fits)
    right = not as_if and meets(case.printed, truth.three, case.bound, case.claim.approximate)
    return [stops] if right else [stops, _right(case)]


def _shown(case: Case, value: float) -> str:
    """A number in the unit that is printed."""
    printed = case.printed
    if printed is None:
        return human(value, case.truth.unit if case.truth else "1")
    return printed.like(value)


def _readable(value: float, unit: str) -> Pair:
    """A number in a readable unit."""
    return human(value, unit, "en"), human(value, unit, "zh")
