"""Why a claim has its verdict, in a sentence or two of each language."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from calc.auditing import judging
from calc.auditing.alarm_words import told
from calc.auditing.alarms import alarm
from calc.auditing.cases import OF_RUNNING, Case
from calc.auditing.judging import FAILS, Judgement, meets
from calc.auditing.settings import ELSEWHERE
from calc.auditing.truths import SOURCES
from catalogue.messages import Pair, join, messages
from catalogue.reading.amounts import human
from catalogue.reading.units import COUNTING

say = messages("calc/auditing/reasons")

OWN_NUMBERS = ("measurements/", "accuracies/", "claims/")  # of the document itself
MOST = 3  # inputs that are named


@cache
def _states() -> dict[str, Pair]:
    """What a setting is, by the name of it."""
    return {
        "accepted": say("pinned-release-takes-it"),
        "deprecated": say("releases-that-take-it-call"),
        "unlisted": say("value-is-not-among-those"),
        "choice": say("value-is-not-among-choices"),
        "type": say("value-is-not-of-its"),
        "unknown": say("no-pinned-release-has-such"),
        ELSEWHERE: say("its-program-has-no-catalogue"),
    }


def why(case: Case, judgement: Judgement) -> dict[str, str]:
    """What the verdict follows from, with the numbers of it."""
    said = _SAID[judgement.verdict](case, judgement)
    if judging.BINARY in judgement.also:
        said = say("it-is-meant-in-gib", said=said)
    if judging.INFEASIBLE in judgement.also:
        said = say("deployment-that-it-is-of", said=said)
    if judgement.clashes:
        said = say("others-say-otherwise", said=said,
                   listed=join((", ", "、"), ((name, name) for name in judgement.clashes[:MOST])),
                   claims=len(judgement.clashes), more=len(judgement.clashes) > MOST)
    step = case.formula.step if case.formula is not None and judgement.standing == FAILS else None
    note = case.note or step or {"en": "", "zh": ""}
    return {"en": f"{said[0]} {note['en']}".strip(), "zh": f"{said[1]}{note['zh']}"}


def _by_itself(case: Case) -> Pair:
    """What its own numbers give: one, or both ends of a range."""
    assert case.truth is not None
    three = case.truth.three
    low, high = _shown(case, three.low), _shown(case, three.high)
    return (say("its-own-numbers-give", ours=low) if low == high else
            say("its-own-numbers-give-to", low=low, high=high))


def _arithmetic(case: Case, _: Judgement) -> Pair:
    assert case.own is not None
    text = _shown(case, case.own)
    if case.itself:
        return _by_itself(case)
    return say("on-its-own-inputs-its", ours=text)


def _ours(case: Case) -> Pair:
    """Our number with its interval."""
    assert case.truth is not None
    three = case.truth.three
    value = _shown(case, three.value)
    if three.low == three.high:
        return value, value
    low, high = _shown(case, three.low), _shown(case, three.high)
    if low == high:
        return value, value
    return say("to", value=value, low=low, high=high)


def _reproduced(case: Case, _: Judgement) -> Pair:
    if case.itself:
        return _by_itself(case)
    own = case.own is not None
    if case.truth is None or (own and case.truth.where == case.listed.claim.id and not case.moved):
        return say("its-formula-gives-it-on")
    if case.truth.where.startswith(OWN_NUMBERS):
        return say("its-own-numbers-give", ours=_ours(case))
    return say("ours-is", ours=_ours(case))


def _compatible(case: Case, _: Judgement) -> Pair:
    return say("inside-our-interval", ours=_ours(case))


def _specification(case: Case, judgement: Judgement) -> Pair:
    assert case.truth is not None
    if case.truth.where.startswith(SOURCES):
        return (say("its-source-has", ours=_ours(case)) if judging.WRONG in judgement.also
                else say("so-has-its-source", ours=_ours(case)))
    return (say("catalogue-has", ours=_ours(case)) if judging.WRONG in judgement.also
            else say("so-has-catalogue", ours=_ours(case)))


def _input(case: Case, _: Judgement) -> Pair:
    named = _inputs(case)
    return say("formula-holds-what-goes-in", named=named, ours=_ours(case))


def _formula(case: Case, _: Judgement) -> Pair:
    if case.own is None and case.formula is None:
        assert case.truth is not None
        if case.truth.where.startswith(OWN_NUMBERS):
            return say("its-own-numbers-give", ours=_ours(case))
        return say("ours-is", ours=_ours(case))
    return say("formula-does-not-hold-ours", ours=_ours(case))


def _both(case: Case, _: Judgement) -> Pair:
    named = _inputs(case)
    if not case.moved:
        return say("its-formula-does-not-lead", ours=_ours(case))
    return say("neither-formula-holds-nor-what", named=named, ours=_ours(case))


def _infeasible(case: Case, _: Judgement) -> Pair:
    truth = case.truth
    if (truth is not None and case.printed is not None and truth.unit == "1"
            and not meets(case.printed, truth.three, case.bound)):
            return say("deployment-does-not-run-as", ours=_ours(case))
    if (truth is None or truth.unit not in OF_RUNNING or truth.given or not truth.three.value):
        return say("deployment-does-not-run-as-written")
    return say("deployment-does-not-run-as-written-on", ours=_ours(case))


def _setting(case: Case, judgement: Judgement) -> Pair:
    assert case.setting is not None
    en, zh = _states()[judgement.also[0]]
    return f"{case.setting.program}: {en}.", f"{case.setting.program}：{zh}。"


def _threshold(case: Case, _: Judgement) -> Pair:
    return told(case, alarm(case))


def _missing(case: Case, _: Judgement) -> Pair:
    missing = case.missing
    if missing is None:
        return say("nothing-decides-it")
    return say("missing", missing=(missing["en"], missing["zh"]))


def _inputs(case: Case) -> Pair:
    """Which inputs a source has otherwise."""
    if not case.moved:
        return "", ""
    named = []
    for name, (theirs, ours) in list(case.moved.items())[:MOST]:
        letter = case.letters.get(name)
        unit = letter.unit if letter and letter.unit not in COUNTING else "1"
        said = (letter.en, letter.zh) if letter else (name.replace("_", " "),) * 2
        named.append(say("input-is-otherwise", input=said, ours=human(ours, unit),
                         theirs=human(theirs, unit)))
    return say("in-brackets", inputs=join((", ", "，"), named))


def _shown(case: Case, value: float) -> str:
    """A number in the unit that is printed."""
    printed = case.printed
    if printed is None:
        return human(value, case.truth.unit if case.truth else "1")
    return printed.like(value)


_SAID: dict[str, Callable[[Case, Judgement], Pair]] = {
    judging.ARITHMETIC: _arithmetic, judging.REPRODUCED: _reproduced,
    judging.COMPATIBLE: _compatible, judging.SPECIFICATION: _specification, judging.INPUT: _input,
    judging.FORMULA: _formula, judging.BOTH: _both, judging.INFEASIBLE: _infeasible,
    judging.SETTING: _setting, judging.THRESHOLD: _threshold, judging.ASSUMPTION: _missing,
    judging.UNVERIFIABLE: _missing,
}
