"""The whole bill of the request, and its time to scale."""

from __future__ import annotations

from collections.abc import Callable

from catalogue.messages import Pair, messages
from notebooks.pages.catalogue.tables.deployments import KINDS, grouped
from notebooks.pages.thread import request
from notebooks.show.columns import Column
from notebooks.show.display import figure, numbers, table
from notebooks.show.drawing import Drawing
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_quantity, fmt_sig, fmt_time
from notebooks.show.stacks import Stack, draw

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


def to_scale(lang: str) -> Drawing:
    """What its two kinds of steps are made of: the one of the prompt, each of the answer."""
    stacks = []
    for phase, name, heading in (("prefill", say("prompt-step"), say("in-ms-prompt")),
                                 ("decode", say("one-step"), say("in-ms-step"))):
        step = grouped(request.step_parts(phase))
        stacks.append(Stack(name, fmt_time(sum(step.values())), step, heading=heading))
    return draw("bill", lang, say("time-to-scale"), stacks, KINDS,
                lambda part: f"{MILLI * part:,.1f}")
