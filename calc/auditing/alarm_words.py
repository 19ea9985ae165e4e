"""What becomes of an alert, in a sentence."""

from __future__ import annotations

from functools import cache

from calc.auditing.alarms import (
    ALWAYS,
    CAPPED,
    HELD,
    IDLE,
    LATE,
    LONELY,
    PERHAPS,
    SOUND,
    UNEXPORTED,
    Alarm,
    Point,
)
from calc.auditing.cases import Case
from calc.auditing.origins import planned
from catalogue.messages import Pair, join, messages
from catalogue.reading.amounts import plain
from catalogue.reading.words import revealed

say = messages("calc/auditing/alarm-words")


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
    if alarm.reason == HELD:
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


