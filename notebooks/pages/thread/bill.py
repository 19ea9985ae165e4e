"""The whole bill of the request, its time to scale, and its step under an older release."""

from __future__ import annotations

from collections.abc import Callable

from catalogue.messages import Pair, messages
from notebooks.pages.catalogue.tables.deployments import HIDDEN, KINDS, apart, grouped
from notebooks.pages.thread import request
from notebooks.show.columns import Column
from notebooks.show.display import figure, number, numbers, table
from notebooks.show.drawing import Drawing, Stack, stacked_bars
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_quantity, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/thread/bill")

MILLI = 1e3
PROMPT, ANSWER = common("input"), common("output")
Format = Callable[[float], str]
ROWS: tuple[tuple[str, Pair, Format], ...] = (
    ("bytes", say("bytes"), fmt_bytes),
    ("flops", say("operations"), lambda value: fmt_quantity(value, "FLOP")),
    ("collectives", say("collectives"), fmt_int),
    ("time", common("time"), fmt_time),
    ("joules", say("energy"), lambda value: fmt_quantity(value, "J")),
    ("cents", say("money"), lambda value: fmt_sig(value, 2)))


def bill() -> None:
    """A row per chapter's unit: what prompt and answer take, and both."""
    told, whole = request.bill(), request.whole()

    def cell(of: request.Taken) -> Callable[[tuple[str, Pair, Format]], str]:
        return lambda row: row[2](getattr(of, row[0]))

    table(ROWS, [Column(lambda row: row[1], say("what")), Column(cell(told["prompt"]), PROMPT),
                 Column(cell(told["answer"]), ANSWER), Column(cell(whole), say("whole"))])
    numbers({"bill-cents": whole.cents}, fmt_sig, digits=2)
    numbers({"bill-time": whole.time}, fmt_time)
    numbers({"bill-joules": whole.joules}, fmt_quantity, unit="J")
    figure("bill", to_scale)


def releases() -> None:
    """A decode step under the measured release and under that of the request, part by part."""
    steps = request.by_release()
    before, now = (sum(parts.values()) for parts in steps.values())
    for key, name, time in zip(("before", "now"), steps, (before, now), strict=True):
        number(f"release-{key}", name, str)
        number(f"release-{key}-step", time, fmt_time)
    assert before > now
    number("release-times", before / now, fmt_sig, digits=2)
    table(apart([((name,) * 2, parts) for name, parts in steps.items()]), {
        "what": common("part")} | {f"time{at}": (name,) * 2 for at, name in enumerate(steps)})


def to_scale(lang: str) -> Drawing:
    """What its two kinds of steps are made of: the one of the prompt, each of the answer."""
    stacks = []
    for phase, name, heading in (("prefill", say("prompt-step"), say("in-ms-prompt")),
                                 ("decode", say("one-step"), say("in-ms-step"))):
        parts = request.step_parts(phase)
        stacks.append(Stack(name, fmt_time(sum(parts.values())), grouped(parts), heading=heading,
                            hidden=-sum(parts.get(part, 0.0) for part in HIDDEN)))
    return stacked_bars("bill", lang, say("time-to-scale"), stacks, KINDS,
                        lambda part: f"{MILLI * part:,.1f}")
