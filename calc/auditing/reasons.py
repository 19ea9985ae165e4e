"""Why a claim has its verdict: what the document has, what is right, and from where."""

from __future__ import annotations

from collections.abc import Callable

from calc.auditing import judging
from calc.auditing.alarm_words import sentence
from calc.auditing.alarms import alarm
from calc.auditing.cases import OF_RUNNING, Case, Text
from calc.auditing.judging import FAILS, Judgement, meets
from calc.auditing.origins import origin, shortage
from calc.auditing.settings import ORDER
from calc.auditing.truths import deployment
from catalogue.messages import Pair, join, messages, pair
from catalogue.reading.amounts import human, plain
from catalogue.reading.units import COUNTING, factor
from catalogue.reading.words import revealed

common = messages("common")
say = messages("calc/auditing/reasons")

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
