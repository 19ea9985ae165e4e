"""What is said of an alert that was run: each state in its words, with the numbers it rests on."""

from types import SimpleNamespace as Made

import pytest

from calc.auditing.alarm_words import sentence
from calc.auditing.alarms import (
    ALWAYS,
    CAPPED,
    HELD,
    IDLE,
    LATE,
    LONELY,
    NEVER,
    PERHAPS,
    RUN,
    SOUND,
    UNEXPORTED,
    Alarm,
    Point,
)
from calc.uncertainty.amount import Amount
from catalogue.ledger.rows import Alert
from catalogue.reading.printed import read

OURS = Amount(0.06, 0.05, 0.08)
HOST, EAGER = Point("host", 4.0, 0.12, 1.5), Point("eager", 2.0, 0.09, 1.25)
LATER, LONE = Point("memory", 64.0, 3.0, 50.4), Point("lone", 1.0, 0.01, 1.0)


def said(state, reason=RUN, fires="above", held=None, limit="100 ms", metric=None, **more):
    case = Made(alert=Alert(fires=fires, held=held, metric=metric,
                            cap="S0-1/x" if held == "capped" else None), printed=read(limit))
    return sentence(case, Alarm(state, OURS, reason=reason, **more), ("60 ms", "60 ms"))[0]


@pytest.mark.parametrize(("state", "more", "words"), [
    (ALWAYS, {}, "Fires above 100 ms; when healthy it is 60 ms: it fires all the time."),
    (PERHAPS, {"fires": "below"},
     "Fires below 100 ms; when healthy it is 60 ms: it may fire although nothing is wrong."),
    (NEVER, {"fires": "outside", "limit": ["40 ms", "90 ms"]},
     "Fires outside 40–90 ms; when healthy it is 60 ms, and no failure brings it nearer: it never "
     "fires."),
    (NEVER, {"nearest": HOST},
     "Fires above 100 ms; when healthy it is 60 ms, and 120 ms in the nearest of the simulated "
     "failures, with a host that takes 4 times as long between steps: it never fires."),
    (PERHAPS, {"reason": LONELY, "nearest": LONE},
     "Fires above 100 ms; when healthy it is 60 ms, and 10 ms in a quiet hour, with a single "
     "request: it may fire although nothing is wrong."),
    (PERHAPS, {"reason": IDLE}, "Fires above 100 ms; when healthy it is 60 ms, and nothing while "
     "no request is in flight: it may fire although nothing is wrong."),
    (NEVER, {"reason": CAPPED, "cap": 256.0},
     "Fires above 100 ms; when healthy it is 60 ms, and the engine runs no more than 256 at once "
     "(max_num_seqs), the others wait: it never fires."),
    (NEVER, {"reason": HELD, "held": "constant"},
     "Fires above 100 ms, and what it watches is 60 ms in every step: it never fires."),
    (NEVER, {"reason": HELD, "held": "at_start"}, "Fires above 100 ms, and the engine takes 60 ms "
     "when it starts and holds it under every load: it never fires."),
])
def test_what_tells_nothing_is_told_with_its_reason(state, more, words):
    assert said(state, **more) == words


@pytest.mark.parametrize(("state", "points", "words"), [
    (SOUND, (HOST,), "120 ms with a host that takes 4 times as long between steps: it tells "
     "trouble from health."),
    (SOUND, (EAGER, HOST), "90 ms with graphs off (one other failure is seen as well): it tells "
     "trouble from health."),
    (LATE, (LATER, HOST, EAGER), "3,000 ms with the memory of the cards at 1/64 of its speed (2 "
     "other failures are seen as well): it fires only when requests take 50 times as long, too "
     "late."),
])
def test_the_first_failure_is_told_and_the_others_are_counted(state, points, words):
    case = Made(alert=Alert(fires="above"), printed=read("100 ms"))
    found, _ = sentence(case, Alarm(state, OURS, points), ("60 ms", "60 ms"))
    assert found == f"Fires above 100 ms; when healthy it is 60 ms, and {words}"


def test_a_metric_that_no_release_exports_is_named_unless_letters_of_it_are_free():
    named = said(NEVER, UNEXPORTED, metric="vllm_ttft", engines=("vLLM", "SGLang"))
    assert named == ("No release of vLLM or SGLang exports this metric (vllm_ttft): the rule has "
                     "nothing to read and never fires.")
    free = said(NEVER, UNEXPORTED, metric="vllm:*", engines=("vLLM",))
    assert "exports this metric: the rule" in free
    assert "exports this metric: the rule" in said(NEVER, UNEXPORTED, engines=("vLLM",))
