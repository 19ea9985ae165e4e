"""Why a claim has its verdict: what the document prints, the right value, and its origin."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from functools import cache

from calc.auditing import judging
from calc.auditing.alarms import (
    ALWAYS,
    CAPPED,
    CONSTANT,
    IDLE,
    LATE,
    LONELY,
    PERHAPS,
    SOUND,
    UNEXPORTED,
    Alarm,
    Point,
    alarm,
)
from calc.auditing.cases import OF_RUNNING, Case, Text
from calc.auditing.judging import FAILS, Judgement, meets
from calc.auditing.settings import ORDER
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
_MAKER = re.compile(r"^\S+ (?=\S*\d)")  # before the name of a card, which tells it by itself
_NAME = re.compile(r"[(（,，]| throughout")  # behind which a format's name only explains


def origin(truth: Truth) -> Pair:
    """Where a number comes from, as the beginning of a sentence that tells it."""
    if truth.scenario is not None:
        return _for(truth.scenario)
    titled = source_of(truth)
    if titled is not None:
        return say("source-has", source=(titled, titled))
    if not truth.parts and not {"/", ":"} & set(truth.where):
        return say("on-own-inputs")
    kinds = {reference.partition("/")[0] for reference in truth.parts or (truth.where,)}
    if kinds <= {"measurements", "accuracies"}:
        return say("measured")
    if plans := [name for reference in truth.parts if ":" in reference
                 and (name := reference.partition(":")[0])]:
        return _for(plans[0])
    if kinds & {"prices", "costs"} or truth.unit.startswith("USD"):
        return say("at-prices")
    if "goals" in kinds:
        return say("searched")
    if kinds <= OF_MODELS:
        return say("from-shapes")
    return say("from-hardware") if kinds <= OF_CARDS else say("recomputed")


def _for(name: str) -> Pair:
    """That a number is computed for a deployment, be it that its memory does not suffice."""
    if deployment(name).fits:
        return say("computed-for", plan=planned(name))
    return say("computed-as-if", plan=planned(name))


def source_of(truth: Truth) -> str | None:
    """The title of the source that restates a number; None of what is computed, or of several."""
    if not truth.listed and "/" not in truth.where:
        return None
    keys = [truth.where.removeprefix(SOURCES)] if truth.where.startswith(SOURCES) else truth.sources
    listed = sources()
    titles = [listed[key]["title"] for key in keys if key in listed and key not in DERIVED]
    return None if len(titles) != 1 or len(keys) > 1 else _short(titles[0])


def _short(title: str) -> str:
    """A title without what explains it, and not too long."""
    begun = title.partition(": ")[0]
    while len(begun) > LONGEST and "," in begun:
        begun = begun.rpartition(",")[0]
    return begun if len(begun) <= LONGEST else f"{begun[:LONGEST - 1].rstrip()}…"


@functools.cache
def planned(name: str) -> Pair:
    """A deployment in a few words: cards, layout, format, users."""
    scenario = deployment(name).scenario
    users = int(scenario.inputs()["concurrency"])
    en, zh = (_NAME.split(scenario.precision.name[lang])[0].strip() for lang in LANGUAGES)
    card = {lang: _MAKER.sub("", scenario.device.name[lang]) for lang in LANGUAGES}
    layout = written(cut_of(scenario))
    return say("plan", cards=scenario.devices, card=(card["en"], card["zh"]),
               layout=(layout["en"], layout["zh"]), users=users,
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


@cache
def _failures() -> dict[str, Pair]:
    """What a failure is called, whatever its severity."""
    return {"eager": say("eager"), "uneven": say("uneven"), "lost": say("lost")}


def _with(point: Point) -> Pair:
    """A failure with its severity."""
    if point.failure in _failures():
        return _failures()[point.failure]
    by = plain(point.severity)
    return {
        "clock": lambda: say("clock", by=by), "memory": lambda: say("memory", by=by),
        "links": lambda: say("links", by=by), "network": lambda: say("network", by=by),
        "alpha": lambda: say("alpha", by=by), "host": lambda: say("host", by=by),
        "prompts": lambda: say("prompts", by=by), "answers": lambda: say("answers", by=by),
        "users": lambda: say("users", by=by), "cache": lambda: say("cache", by=by),
    }[point.failure]()


def sentence(case: Case, alarm: Alarm, ours: Pair) -> Pair:
    """What becomes of an alert, with what it follows from.

    Args:
        case: of the alert.
        alarm: what becomes of it.
        ours: what it watches while nothing fails, with its interval.
    """
    alert, printed = case.alert, case.printed
    assert alert is not None
    assert printed is not None
    if alarm.reason == UNEXPORTED:
        names = "*" not in revealed(alert.metric or "*")
        return say("unexported", engines=join(
            say("or"), [(engine,) * 2 for engine in alarm.engines]),
                   named=say("named", metric=revealed(alert.metric or "")) if names else ("", ""))
    limit = printed.text
    rule = {"above": lambda: say("fires-above", limit=limit),
            "below": lambda: say("fires-below", limit=limit),
            "outside": lambda: say("fires-outside", limit=limit)}[alert.fires]()
    if alarm.reason == CONSTANT:
        end = _end(alarm)
        if alert.held != "at_start":
            return say("never-changes", rule=rule, value=ours, end=end)
        where = ("", "") if alarm.watched is None else say("on-plan", plan=planned(alarm.watched))
        return say("set-at-start", rule=rule, value=ours, where=where, end=end)
    healthy = (say("healthy", value=ours) if alarm.watched is None
               else say("healthy-plan", plan=planned(alarm.watched), value=ours))
    if alarm.reason == LONELY and alarm.nearest is not None:
        return say("in-quiet-hour", rule=rule, healthy=healthy, end=_end(alarm),
                   value=printed.like(alarm.nearest.value))
    if alarm.reason == IDLE:
        return say("while-idle", rule=rule, healthy=healthy, end=_end(alarm))
    if alarm.state in (ALWAYS, PERHAPS):
        return say("in-health", rule=rule, healthy=healthy, end=_end(alarm))
    if alarm.reason == CAPPED and alarm.cap is not None:
        return say("capped", rule=rule, healthy=healthy, cap=plain(alarm.cap), end=_end(alarm))
    if alarm.state in (SOUND, LATE):
        point = alarm.fires[0]
        return say("fires-in", rule=rule, healthy=healthy, value=printed.like(point.value),
                   failure=_with(point), others=len(alarm.fires) - 1,
                   end=_late(point) if alarm.state == LATE else _end(alarm))
    if alarm.nearest is None:
        return say("unmoved", rule=rule, healthy=healthy, end=_end(alarm))
    return say("nearest", rule=rule, healthy=healthy, value=printed.like(alarm.nearest.value),
               failure=_with(alarm.nearest), end=_end(alarm))


def _late(point: Point) -> Pair:
    """By how much users wait longer before it fires."""
    return say("too-late", slower=plain(point.slower, 2))


def _end(alarm: Alarm) -> Pair:
    """What follows."""
    if alarm.state == ALWAYS:
        return say("always")
    if alarm.state == PERHAPS:
        return say("perhaps")
    return say("sound") if alarm.state == SOUND else say("never")


GIB = factor("GiB")
POSITIVE = (judging.REPRODUCED, judging.MET, judging.COMPATIBLE, judging.SPECIFICATION,
            judging.SETTING)  # verdicts that say nothing against a claim by themselves
SHORT = 100  # signs of a note that is told again beside each claim of the same quantity
MOST = 3  # inputs that are named


def why(case: Case, judgement: Judgement) -> dict[str, str]:
    """What the verdict follows from, with the numbers of it."""
    parts = [SENTENCES[judgement.verdict](case, judgement)]
    if judging.INFEASIBLE in judgement.also:
        parts += _stopped(case, judgement.verdict in POSITIVE)
    if judgement.clashes:
        parts.append(say("others-say-otherwise", count=len(judgement.clashes), listed=join(
            (", ", "、"), ((name, name) for name in judgement.clashes[:MOST])),
            more=len(judgement.clashes) > MOST))
    stated = case.ruling.stated.note if case.ruling and case.ruling.stated else None
    step = case.formula.step if case.formula is not None and judgement.standing == FAILS else None
    parts += _noted(case, case.note or stated or step)
    return {"en": " ".join(en for en, _ in parts), "zh": "".join(zh for _, zh in parts)}


def _noted(case: Case, note: Text | None) -> list[Pair]:
    """What a reader should know besides; of a claim that says again what another does, where."""
    claim, sentences = case.listed.claim, []
    again = claim.like is not None
    if note is not None and not (again and claim.note is None and len(note["en"]) > SHORT):
        sentences.append(pair(note))
    if case.rests_on is not None and not (again and claim.rests_on is None):
        sentences.append(say("rests-on", assumption=pair(case.rests_on)))
    left = (note is not None) + (case.rests_on is not None) - len(sentences)
    return [*sentences, say("as-of", claim=str(claim.like))] if left else sentences


def _stopped(case: Case, but: bool) -> list[Pair]:
    """Why what a claim speaks of does not run: its deployment, or the command it stands in."""
    sentences = []
    if case.fits is False:
        sentences.append(say("deployment-does-not-run", why=_why_not(case), but=but))
    elif case.ruling is not None and case.ruling.beside:
        names = [(name, name) for name in case.ruling.beside[:MOST]]
        sentences.append(say("configuration-does-not-start", names=join((", ", "、"), names),
                        more=len(case.ruling.beside) > MOST))
    return sentences


def _why_not(case: Case) -> Pair:
    """Why the deployment that a claim is of does not run, in a clause."""
    name = case.deployment or (case.truth.scenario if case.truth else None)
    assert name is not None
    return shortage(name)


def _printed(case: Case) -> Pair:
    """What the document has."""
    assert case.printed is not None
    return case.printed.text, case.printed.text


def _ours(case: Case) -> Pair:
    """The right number with its interval."""
    assert case.truth is not None
    three = case.truth.three
    value, low, high = (_shown(case, value) for value in (three.value, three.low, three.high))
    if case.truth.spans and low != high:
        return common("from-low-to-high", low=low, high=high)
    return (value, value) if low == high else say("to", value=value, low=low, high=high)


def _origin(case: Case) -> Pair:
    assert case.truth is not None
    return origin(case.truth)


def _right(case: Case) -> Pair:
    """The right number and where it comes from, a sentence."""
    return say("right-is", found=_origin(case), ours=_ours(case))


def _by_itself(case: Case) -> Pair:
    """What its own numbers give: one, or both ends of a range."""
    assert case.truth is not None
    low, high = (_shown(case, end) for end in (case.truth.three.low, case.truth.three.high))
    return (low, low) if low == high else common("from-low-to-high", low=low, high=high)


def _arithmetic(case: Case, _: Judgement) -> Pair:
    assert case.own is not None
    if case.itself:
        return say("its-own-numbers-give", ours=_by_itself(case), printed=_printed(case))
    given = _shown(case, case.own)
    wrong = say("its-own-formula-gives", ours=given, printed=_printed(case))
    truth = case.truth
    if truth is None or _shown(case, truth.three.value) == given:
        return wrong
    return join((" ", ""), [wrong, _right(case)])


def _reproduced(case: Case, _: Judgement) -> Pair:
    own = case.own is not None
    if case.itself:
        return say("its-own-numbers-agree", ours=_by_itself(case))
    if case.truth is None or (own and case.truth.where == case.listed.claim.id and not case.moved):
        assert case.own is not None
        return _own_agrees(case, case.own)
    return _as_printed(case)


def _as_printed(case: Case) -> Pair:
    """That the right number is what is printed: the same, what it rounds to, or in its range."""
    printed, truth = case.printed, case.truth
    assert printed is not None
    assert truth is not None
    source, ours = _origin(case), _ours(case)
    if printed.low != printed.high:
        return say("within-what-is-printed", found=source, ours=ours, printed=_printed(case))
    if printed.like(truth.three.value) == printed.like(printed.value):
        return say("as-printed", found=source, ours=ours)
    return say("rounds-to", found=source, ours=ours, printed=_printed(case))


def _own_agrees(case: Case, own: float) -> Pair:
    if case.printed is not None and not case.printed.holds(own):
        return say("its-own-formula-about", ours=_shown(case, own), printed=_printed(case))
    return say("its-own-formula-agrees", ours=_shown(case, own))


def _met(case: Case, _: Judgement) -> Pair:
    return _held_to_limit(case, met=True)


def _held_to_limit(case: Case, met: bool) -> Pair:
    """On which side of a limit the right number is, of what is printed or of a statement."""
    source, ours, limit = _origin(case), _ours(case), _printed(case)
    least = case.bound == "at_least"
    if case.compares:
        return say("statement", least=least, met=met, found=source, ours=ours, printed=limit)
    return say("limit", least=least, met=met, found=source, ours=ours, printed=limit)


def _compatible(case: Case, _: Judgement) -> Pair:
    assert case.truth is not None
    if case.bound:
        return say("limit-within-interval", found=_origin(case), ours=_ours(case),
                   printed=_printed(case))
    printed, three = case.printed, case.truth.three
    assert printed is not None
    if printed.low <= three.low and three.high <= printed.high:
        return say("within-what-is-printed", found=_origin(case), ours=_ours(case),
                   printed=_printed(case))
    if printed.low < three.low or three.high < printed.high:
        return say("overlaps-interval", found=_origin(case), ours=_ours(case),
                   printed=_printed(case))
    return say("within-interval", found=_origin(case), ours=_ours(case), printed=_printed(case))


def _specification(case: Case, judgement: Judgement) -> Pair:
    if case.bound is not None:
        return _held_to_limit(case, met=False)
    if judging.WRONG in judgement.also:
        return say("not-as-printed", found=_origin(case), ours=_ours(case), printed=_printed(case))
    if judging.BINARY in judgement.also:
        assert case.truth is not None
        return say("in-gib", found=_origin(case), ours=_ours(case),
                   gib=plain(case.truth.three.value / GIB))
    return _as_printed(case)


def _input(case: Case, _: Judgement) -> Pair:
    assert case.truth is not None
    resourced, ours = case.resourced, case.truth.three.value
    if resourced is not None and abs(resourced - ours) > judging.CLOSE * abs(ours):
        return join((" ", ""), [say("formula-comes-close", inputs=_inputs(case),
                                    found=_shown(case, resourced)), _right(case)])
    return join((" ", ""), [say("formula-holds-inputs-do-not", inputs=_inputs(case)),
                            _right(case)])


def _formula(case: Case, _: Judgement) -> Pair:
    assert case.own is not None
    return join((" ", ""), [say("formula-does-not-hold", own=_shown(case, case.own)),
                            _right(case)])


def _number(case: Case, _: Judgement) -> Pair:
    if case.bound is not None:
        return _held_to_limit(case, met=False)
    return say("not-as-printed", found=_origin(case), ours=_ours(case), printed=_printed(case))


def _both(case: Case, _: Judgement) -> Pair:
    assert case.own is not None
    if not case.moved:
        return _formula(case, _)
    return join((" ", ""), [say("neither-holds", inputs=_inputs(case)), _right(case)])


def _infeasible(case: Case, _: Judgement) -> Pair:
    stops = say("deployment-does-not-run", why=_why_not(case), but=False)
    truth = case.truth
    if truth is None or truth.given or not truth.three.value:
        return stops
    if (truth.unit in OF_RUNNING and truth.scenario is not None
            and not deployment(truth.scenario).fits):
        return join((" ", ""), [stops, say("were-there-room", ours=_ours(case))])
    assert case.printed is not None
    right = meets(case.printed, truth.three, case.bound, case.approximate)
    return stops if right else join((" ", ""), [stops, _right(case)])


def _setting(case: Case, judgement: Judgement) -> Pair:
    setting, ruling = case.setting, case.ruling
    assert setting is not None
    assert ruling is not None
    program, name = setting.program, revealed(setting.name)
    if ruling.state not in ORDER:
        return say("of-program", program=program, name=name, state=ruling.state)
    return say("of-releases", state=ruling.state, program=program, name=name, since=ruling.since,
               until=ruling.until)


def _threshold(case: Case, _: Judgement) -> Pair:
    return sentence(case, alarm(case), _ours(case))


def _assumption(case: Case, _: Judgement) -> Pair:
    return say("it-is-assumed", missing=_missing(case))


def _unverifiable(case: Case, _: Judgement) -> Pair:
    if case.missing is None and case.circular:
        return say("only-the-document-says-so")
    return say("cannot-be-checked", missing=_missing(case))


def _missing(case: Case) -> Pair:
    return pair(case.missing) if case.missing is not None else say("a-source")


def _inputs(case: Case) -> Pair:
    """Which inputs a source has otherwise."""
    named = []
    for name, (theirs, ours) in list(case.moved.items())[:MOST]:
        letter = case.letters.get(name)
        unit = letter.unit if letter and letter.unit not in COUNTING else "1"
        label = (letter.en, letter.zh) if letter else (name.replace("_", " "),) * 2
        named.append(say("input-is-otherwise", input=label, ours=_readable(ours, unit),
                         theirs=_readable(theirs, unit)))
    return join((", ", "，"), named)


def _shown(case: Case, value: float) -> str:
    """A number in the unit that is printed."""
    printed = case.printed
    if printed is None:
        return human(value, case.truth.unit if case.truth else "1")
    return printed.like(value)


def _readable(value: float, unit: str) -> Pair:
    """A number in a readable unit."""
    return human(value, unit, "en"), human(value, unit, "zh")


SENTENCES: dict[str, Callable[[Case, Judgement], Pair]] = {
    judging.ARITHMETIC: _arithmetic, judging.REPRODUCED: _reproduced, judging.MET: _met,
    judging.COMPATIBLE: _compatible, judging.SPECIFICATION: _specification, judging.INPUT: _input,
    judging.FORMULA: _formula, judging.BOTH: _both, judging.NUMBER: _number,
    judging.INFEASIBLE: _infeasible, judging.SETTING: _setting, judging.THRESHOLD: _threshold,
    judging.ASSUMPTION: _assumption, judging.UNVERIFIABLE: _unverifiable,
}
