"""Why a claim has its verdict: what the document prints, the right value, and its origin."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from calc.auditing import judging
from calc.auditing.alarms import (
    ALWAYS,
    CONSTANT,
    LATE,
    PERHAPS,
    RUN,
    SOUND,
    UNEXPORTED,
    Point,
    alarm,
)
from calc.auditing.cases import OF_RUNNING, Case
from calc.auditing.failures import FAILURES
from calc.auditing.judging import FAILS, Judgement, meets
from calc.auditing.truths import SOURCES, Truth, deployment
from calc.layouts.feasible import MEMORY
from catalogue.deployments.admission import cut_of
from catalogue.deployments.cuts import written
from catalogue.messages import LANGUAGES, Pair, Texts, join, pair, plural, sentences
from catalogue.reading.units import COUNTING, factor, human, plain
from catalogue.reading.values import sources
from catalogue.reading.words import revealed

common = sentences("common")
say = sentences("calc/auditing/reasons")

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
    return origin_words(kind, source, planned(plan) if plan else ("", ""))


def origin_words(kind: str, source: str, plan: Pair) -> Pair:
    """The origin of a number, the beginning of a sentence.

    Args:
        kind: of origin.
        source: its title; empty for other kinds.
        plan: the deployment in words; empty for other kinds.
    """
    english = {
        "plan": f"Computed for {plan[0]}",
        "as-if": f"Computed for {plan[0]}, as if memory sufficed",
        "source": f"By “{source}”",
        "own": "By correct arithmetic on the document's own inputs",
        "measured": "By the measured rows that the document prints",
        "prices": "At the prices collected in this book",
        "shapes": "From the model's published shapes",
        "hardware": "From the data of the hardware",
        "recomputed": "Recomputed with sourced inputs"}
    return say("origin", english[kind], kind=kind, source=source, plan=plan)


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
    layout = pair(written(cut_of(scenario)))
    return say("plan", f"{scenario.devices}×{card['en']} ({layout[0]}, {en}, "
               f"{plural(users, 'user')})", cards=scenario.devices, card=pair(card), layout=layout,
               users=users, format=(en, zh))


@functools.cache
def shortage(name: str) -> Pair:
    """Why a deployment does not run, a clause with its full stop."""
    reason = deployment(name).why_not[0]
    if reason.kind != MEMORY:
        return pair(reason.text)
    needed, usable = (human(reason.numbers[key], "B") for key in ("memory_per_device",
                                                                  "usable_memory"))
    return say("short-of-memory", f"a card needs {needed} and may use {usable}.",
               needed=needed, usable=usable)


def of_alert(case: Case) -> Pair:
    """What becomes of an alert, with what it follows from."""
    alert, printed, result = case.claim.alert, case.printed, alarm(case)
    assert alert is not None
    assert printed is not None
    if result.reason == UNEXPORTED:
        metric = revealed(alert.metric or "*")
        named, engines = "*" not in metric, join((" or ", "、"), [
            (name, name) for name in result.engines])
        return say("unexported",
                   f"No release of {engines[0]} exports this metric" + f" ({metric})" * named
                   + ": the rule has nothing to read and never fires.",
                   engines=engines, named=named, metric=metric)
    point = result.fires[0] if result.fires else result.nearest
    rule = say("rule", f"Fires {alert.fires} {printed.text}", side=alert.fires, limit=printed.text)
    watched = result.watched is not None
    plan = planned(result.watched) if result.watched else ("", "")
    if result.reason == CONSTANT:
        return of_constant(case, rule, _end(result.state, point), plan, watched)
    how = (result.reason if result.reason != RUN
           else "healthy" if result.state in (ALWAYS, PERHAPS)
           else "fires" if result.state in (SOUND, LATE) else "nearest" if point else "unmoved")
    value = _ours(case)
    healthy = say("healthy", f"computed for {plan[0]}, it is {value[0]} when healthy" if watched
                  else f"when healthy it is {value[0]}", planned=watched, plan=plan, value=value)
    return of_tried(rule, healthy, how, _end(result.state, point),
                    printed.like(point.value) if point else "",
                    _failure(point) if point and point.failure in FAILURES else ("", ""),
                    max(0, len(result.fires) - 1))


def of_constant(case: Case, rule: Pair, end: Pair, plan: Pair, planned: bool) -> Pair:
    """What becomes of an alert on a metric that never changes."""
    assert case.claim.alert is not None
    allotted, value = case.claim.alert.held == "at_start", _ours(case)
    where = f"on {plan[0]} " * planned
    behaviour = (f"{where}the engine takes {value[0]} when it starts and holds it under every load"
                 if allotted else f"what it watches is {value[0]} in every step")
    return say("constant", f"{rule[0]}, and {behaviour}: {end[0]}.", rule=rule, value=value,
               end=end, planned=planned, plan=plan, allotted=allotted)


def of_tried(rule: Pair, healthy: Pair, how: str, end: Pair, value: str, failure: Pair,
             others: int) -> Pair:
    """What becomes of an alert that was tried in simulated failures.

    Args:
        rule, healthy, end: when it fires, its value without a failure, and the conclusion.
        how: what decides.
        value, failure: of the failure that decides.
        others: further failures in which it fires.
    """
    seen = ("" if others == 0 else " (one other failure is seen as well)" if others == 1 else
            f" ({others} other failures are seen as well)")
    english = {
        "lonely": f", and {value} in a quiet hour, with a single request",
        "idle": ", and nothing while no request is in flight",
        "fires": f", and {value} {failure[0]}{seen}",
        "nearest": f", and {value} in the nearest of the simulated failures, {failure[0]}",
        "unmoved": ", and no failure brings it nearer", "healthy": ""}
    return say("alert", f"{rule[0]}; {healthy[0]}{english[how]}: {end[0]}.",
               rule=rule, healthy=healthy, how=how, end=end, value=value, failure=failure,
               others=others)


def _end(state: str, point: Point | None) -> Pair:
    """The conclusion about an alert, a clause."""
    slower = plain(point.slower, 2) if point else ""
    english = {
        ALWAYS: "it fires all the time", PERHAPS: "it may fire although nothing is wrong",
        SOUND: "it separates failures from normal operation",
        LATE: f"it fires only when requests take {slower} times as long, too late"}
    return say("end", english.get(state, "it never fires"), state=state, slower=slower)


def _failure(point: Point) -> Pair:
    """A simulated failure, as an adverbial phrase."""
    by = plain(point.severity)
    english = {
        "clock": f"with the clock of the cards at 1/{by}",
        "memory": f"with the memory of the cards at 1/{by} of its speed",
        "links": f"with the links between cards at 1/{by} of their speed",
        "network": f"with the network between servers at 1/{by} of its speed",
        "alpha": f"with collectives that start {by} times as slowly",
        "host": f"with a host that takes {by} times as long between steps",
        "prompts": f"with prompts {by} times as long",
        "answers": f"with answers {by} times as long",
        "users": f"with {by} times as many requests",
        "cache": f"with 1/{by} of the cache's blocks",
        "eager": "with graphs off", "uneven": "with experts unevenly loaded",
        "lost": "with half of the replicas lost"}
    return say("failure", english[point.failure], kind=point.failure, by=by)


def why(case: Case, judgement: Judgement) -> Texts:
    """What the verdict follows from, with the numbers of it."""
    parts = of_verdict(case, judgement)
    if judging.INFEASIBLE in judgement.also:
        if case.fits is False:
            parts.append(_not_running(case, judgement.verdict in POSITIVE))
        elif case.ruling is not None and case.ruling.beside:
            names, others, more = _listed(case.ruling.beside)
            parts.append(say("configuration-does-not-start",
                             "But no release that serves the model starts with the document's "
                             f"other settings beside it, because of {names[0]}{others}.",
                             names=names, more=more))
    if judgement.clashes:
        count, (names, others, more) = len(judgement.clashes), _listed(judgement.clashes)
        claims = "claim" if count == 1 else "claims"
        parts.append(say("others-say-otherwise",
                         f"Contradicted by {claims} {names[0]}{others}.", listed=names, more=more))
    parts += _notes(case, judgement)
    return Texts(join((" ", ""), parts))


def _listed(names: Sequence[str]) -> tuple[Pair, str, bool]:
    """The first of some names, what stands for the others in English, and whether there are any."""
    more = len(names) > MOST
    return (join((", ", "、"), ((name, name) for name in names[:MOST])), " and others" * more, more)


def _not_running(case: Case, but: bool) -> Pair:
    """That the deployment that a claim is of does not run, as an objection or by itself."""
    name = case.claim.deployment or (case.truth.scenario if case.truth else None)
    assert name is not None
    reason, subject = shortage(name), "But the document's" if but else "The document's"
    return say("deployment-does-not-run", f"{subject} deployment does not run: {reason[0]}",
               why=reason, but=but)


def _notes(case: Case, judgement: Judgement) -> list[Pair]:
    """What a reader should know besides; of a claim that says again what another does, where."""
    stated = case.ruling.stated.note if case.ruling and case.ruling.stated else None
    step = case.formula.step if case.formula is not None and judgement.standing == FAILS else None
    note, rests_on, own = case.claim.note or stated or step, case.claim.rests_on, case.listed.claim
    again, notes = own.like is not None, list[Pair]()
    if note is not None and not (again and own.note is None and len(note["en"]) > SHORT):
        notes.append(pair(note))
    if rests_on is not None and not (again and own.rests_on is None):
        notes.append(say("rests-on", f"Assumed here: {rests_on['en']}", assumption=pair(rests_on)))
    left = (note is not None) + (rests_on is not None) - len(notes)
    if left:
        notes.append(say("as-of", f"More at {own.like}, of the same quantity.",
                         claim=str(own.like)))
    return notes


def _ours(case: Case, how: str = "") -> Pair:
    """The right number with its interval; of a range, or of the document's ``own`` numbers, both
    ends."""
    assert case.truth is not None
    three = case.truth.three
    value, low, high = (_shown(case, value) for value in (three.value, three.low, three.high))
    if low == high:
        return (low, low) if how else (value, value)
    if case.truth.spans or how:
        return common("from-low-to-high", f"{low} to {high}", low=low, high=high)
    return say("to", f"{value} ({low} to {high})", value=value, low=low, high=high)


def _right(case: Case) -> Pair:
    """The right number and where it comes from, a sentence."""
    assert case.truth is not None
    source, ours = origin(case.truth), _ours(case)
    return say("right-is", f"{source[0]}, the figure is {ours[0]}.", found=source, ours=ours)


def of_verdict(case: Case, judgement: Judgement) -> list[Pair]:
    """The sentences of a verdict itself."""
    verdict, truth, printed, own = judgement.verdict, case.truth, case.printed, case.own
    if verdict == judging.THRESHOLD:
        return [of_alert(case)]
    if verdict == judging.SETTING:
        return [of_setting(case)]
    if verdict in (judging.ASSUMPTION, judging.UNVERIFIABLE):
        return [of_undecided(case, verdict)]
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
        ours = _ours(case, "own") if case.itself else (given, given)
        whose = "figures" if case.itself else "formula and inputs"
        compared = {"differs": f", not {printed.text}", "agrees": ", as printed",
                    "about": f", about the {printed.text} that it prints as an approximation"}[how]
        first = say("own", f"The document's own {whose} give {ours[0]}{compared}.",
                    itself=case.itself, how=how, printed=printed.text, ours=ours)
        if how != "differs" or case.itself or truth is None or (
                _shown(case, truth.three.value) == given):
            return [first]
        return [first, _right(case)]
    return [of_number(case, judgement)]


def of_setting(case: Case) -> Pair:
    """What becomes of a setting of an engine."""
    setting, ruling = case.claim.setting, case.ruling
    assert setting is not None
    assert ruling is not None
    program, name = setting.program, revealed(setting.name)
    span = f"releases {ruling.since} to {ruling.until}"
    english = {
        "accepted": f"{program} takes {name} with this value ({span}).",
        "deprecated": f"{program} takes {name} and calls it deprecated ({span}).",
        "unlisted": f"{program} knows {name}, but not this value ({span}).",
        "choice": f"{program} knows {name}, but refuses this value ({span}).",
        "type": f"{program} knows {name}, but the value is of the wrong type ({span}).",
        "unknown": f"No release of {program} that serves the model has {name} ({span} were read).",
        "works": f"{name} of {program}: it does what the document says.",
        "usual": f"{name} of {program}: this is how it is by default; nothing changes.",
        "unread": f"{name} of {program}: nothing reads it.",
        "stops": f"{name} of {program}: it stops the program.",
        "worse": f"{name} of {program}: it makes matters worse than leaving it out.",
        "misses": f"{name} of {program}: it does not do what it is set for.",
        "wrong": f"{name} of {program}: it is not so.",
        "open": f"{name} of {program}: whether it helps depends on the installation.",
        "ran": f"{name} of {program}: it works, for the measurements that the document prints were "
               "made with it.",
        "no-catalogue": f"{name} of {program}: this book does not hold what the program makes of "
                        "it, so it cannot be decided."}
    return say("setting", english[ruling.state], state=ruling.state, program=program, name=name,
               since=ruling.since, until=ruling.until)


def of_undecided(case: Case, verdict: str) -> Pair:
    """What a claim that cannot be checked lacks."""
    stated = case.claim.missing
    missing = say("a-source", "a source.") if stated is None else pair(stated)
    if verdict == judging.ASSUMPTION:
        reason = "assumed"
        english = ("This is an assumption of the document. It could be judged with: "
                   f"{missing[0]}")
    elif stated is None and case.circular:
        reason = "circular"
        english = "Only the document itself says so; nothing independent confirms or refutes it."
    else:
        reason = "missing"
        english = f"This cannot be checked. What is missing: {missing[0]}"
    return say("undecided", english, why=reason, missing=missing)


def of_number(case: Case, judgement: Judgement) -> Pair:
    """How the right number relates to what is printed."""
    verdict, truth, printed = judgement.verdict, case.truth, case.printed
    assert truth is not None
    assert printed is not None
    three, source, ours = truth.three, origin(truth), _ours(case)
    if verdict == judging.MET or (case.bound is not None and verdict != judging.COMPATIBLE):
        return of_limit(case, verdict == judging.MET)
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
    gib, text = plain(three.value / GIB), printed.text
    english = {
        "in-gib": f"{gib} GiB, which is {ours[0]}: the document writes GB for GiB.",
        "inside": f"{ours[0]}, inside the printed {text}.",
        "overlaps": f"{ours[0]}; the printed {text} overlaps this interval, its middle inside.",
        "in-interval": f"{ours[0]}; the printed {text} lies within this interval.",
        "limit-in-interval": f"{ours[0]}; the limit of {text} lies within this interval and may be "
                             "kept.",
        "wrong": f"{ours[0]}, not {text}.",
        "rounds": f"{ours[0]}, which rounds to the printed {text}.",
        "equal": f"{ours[0]}, as printed."}
    return say("figure", f"{source[0]}, the figure is {english[how]}", how=how, found=source,
               ours=ours, printed=text, gib=gib)


def of_limit(case: Case, met: bool) -> Pair:
    """Whether the right number keeps a limit, or makes a comparison true."""
    assert case.truth is not None
    assert case.printed is not None
    source, ours, text = origin(case.truth), _ours(case), case.printed.text
    least, statement = case.bound == "at_least", case.claim.comparison is not None
    if statement:
        side = f"{'' if met else 'not '}{'above' if least else 'below'}"
        english = (f"{source[0]}, the number that decides the statement is {ours[0]}, {side} "
                   f"{text}: the statement {'holds' if met else 'does not hold'}.")
    else:
        bound = "minimum" if least else "limit"
        verb = "meets" if least else "keeps to"
        relation = f"which {verb}" if met else "below" if least else "above"
        english = f"{source[0]}, the figure is {ours[0]}, {relation} the printed {bound} of {text}."
    return say("limit", english, statement=statement, least=least, met=met, found=source,
               ours=ours, printed=text)


def of_fault(case: Case, verdict: str) -> list[Pair]:
    """Which inputs a source has otherwise, what that makes of the formula, and the right number."""
    assert case.truth is not None
    assert case.own is not None
    named = []
    for name, (theirs, ours) in list(case.moved.items())[:MOST]:
        letter = case.letters.get(name)
        unit = letter.unit if letter and letter.unit not in COUNTING else "1"
        label = (letter.en, letter.zh) if letter else (name.replace("_", " "),) * 2
        correct, printed = _readable(ours, unit), _readable(theirs, unit)
        named.append(say("input-is-otherwise", f"{label[0]} is {correct[0]}, not {printed[0]}",
                         input=label, ours=correct, theirs=printed))
    right, resourced = case.truth.three.value, case.resourced
    close = resourced is not None and abs(resourced - right) > judging.CLOSE * abs(right)
    what = (("close" if close else "inputs") if verdict == judging.INPUT else
            "both" if verdict == judging.BOTH and case.moved else "formula")
    inputs, own = join((", ", "，"), named), _shown(case, case.own)
    result = "" if resourced is None else _shown(case, resourced)
    english = {
        "close": f"The document's inputs are wrong: {inputs[0]}. With the right ones its formula "
                 f"gives {result}, close to what a full calculation does.",
        "inputs": f"The document's formula is right, its inputs are not: {inputs[0]}.",
        "both": f"Both the document's formula and its inputs are wrong: {inputs[0]}.",
        "formula": f"The document's formula, which gives {own}, is wrong."}
    return [say("fault", english[what], what=what, inputs=inputs, own=own, found=result),
            _right(case)]


def of_infeasible(case: Case) -> list[Pair]:
    """That the deployment does not run, and the right number where it is another."""
    stops, truth = _not_running(case, but=False), case.truth
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
