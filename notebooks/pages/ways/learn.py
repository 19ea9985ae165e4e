"""Learn: one request on a line of time, the minutes that lessons take, answers to questions."""

from __future__ import annotations

from calc.physics.step import BANDWIDTH
from catalogue.messages import messages
from notebooks.pages.thread import request
from notebooks.show.display import figure, number, numbers
from notebooks.show.drawing import SMALL, WIDTH, Drawing
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_percent, fmt_time

say = messages("pages/ways/learn")

MINUTES = {  # to read what is open of a lesson, at 120 words a minute
    "architecture": 11, "memory": 16, "compute": 16, "communication": 15, "latency": 17,
    "throughput": 12, "serving": 20, "matrix": 3, "cost": 6, "risk": 3}
PREFILL, DECODE, CACHE = 0, 2, 3  # colours
LONG = 2**17  # tokens of a long context
STEPS = 7  # of decode that are drawn
LEFT, TOP, BOX, TALL = 8.0, 84.0, 82.0, 54.0  # of the step of prefill
ONE, GAP, SKIP = 30.0, 6.0, 44.0  # width of a step of decode, between two, before the last


def answer() -> None:
    """Glue the numbers of the page and draw its picture."""
    found, asks = request.told(), request.asked().demand
    of = found.quantities
    assert asks.input_tokens is not None
    assert asks.output_tokens is not None
    assert found.bottleneck["prefill"] == BANDWIDTH, "Reading experts takes longest of the prompt."
    numbers({"le-input": asks.input_tokens, "le-output": asks.output_tokens})
    numbers({"le-first": of["ttft"].value, "le-token": of["tpot"].value,
             "le-whole": of["e2e"].value,
             "le-prompt": float(found.everything["prefill_step_time"])}, fmt_time)
    held = asks.input_tokens + asks.output_tokens
    number("le-cache", of["kv_bytes_per_token"].value * held, fmt_bytes, unit="MB", digits=0)
    number("le-long", of["kv_bytes_per_token"].value * LONG, fmt_bytes)
    number("le-engine", request.engine(), str)
    number("le-share", of["ttft"].value / of["e2e"].value, fmt_percent, digits=0)
    numbers({f"le-minutes-{name}": minutes for name, minutes in MINUTES.items()})
    number("le-minutes", sum(MINUTES.values()))
    figure("one-request", drawn)


def drawn(lang: str) -> Drawing:
    """A prompt, the steps that it takes, what each gives and adds to the cache, and the time."""
    found, asks = request.told(), request.asked().demand
    of = found.quantities
    told = {"first": fmt_time(of["ttft"].value), "token": fmt_time(of["tpot"].value),
            "whole": fmt_time(of["e2e"].value), "input": fmt_int(asks.input_tokens or 0),
            "output": fmt_int(asks.output_tokens or 0)}
    drawing = Drawing("one-request", lang, say("title"), say(
        "about", first=told["first"], token=told["token"], whole=told["whole"],
        input=told["input"], output=told["output"]), height=316)
    drawing.label(LEFT, 16, say("prompt", input=told["input"]), small=True)
    for place in range(12):
        drawing.bar(LEFT + 5 * place, 24, 4, 14, PREFILL)
    drawing.arrow(LEFT + 28, 42, LEFT + 28, TOP - 4)
    drawing.box(LEFT, TOP, BOX, TALL, [say("prefill"), say("one-step")], PREFILL)
    drawing.label(WIDTH - LEFT, 16, say("answer", output=told["output"]), "end", small=True)
    _token(drawing, LEFT + BOX - 12)
    for step in range(STEPS):
        drawing.bar(_at(step), TOP, ONE, TALL, DECODE, hollow=True)
        _token(drawing, _at(step) + ONE / 2)
    drawing.label(_at(STEPS - 1) - SKIP / 2, TOP + TALL / 2, "…", "middle")
    drawing.label((_at(0) + _at(STEPS - 1) + ONE) / 2, TOP + TALL + 16, say("decode"), "middle",
                  small=True)
    _cache(drawing, TOP + TALL + 42)
    _time(drawing, told, of["ttft"].value / of["e2e"].value)
    return drawing


def _at(step: int) -> float:
    """Where a step of decode begins; the last one stands apart."""
    return LEFT + BOX + GAP + step * (ONE + GAP) + (step == STEPS - 1) * SKIP


def _token(drawing: Drawing, x: float) -> None:
    """A token that a step gives."""
    drawing.arrow(x, TOP - 4, x, TOP - 22)
    drawing.bar(x - 2, TOP - 40, 4, 14, DECODE)


def _cache(drawing: Drawing, y: float) -> None:
    """The cache after each step: what was read stays, each step adds a token."""
    drawing.label(LEFT, y, say("cache-grows"), small=True)
    drawing.bar(LEFT, y + 14, BOX, 14, CACHE)
    for step in range(STEPS):
        drawing.bar(_at(step), y + 14 - step, ONE, 14 + step, CACHE, hollow=True)
    drawing.note(LEFT, y + 44, WIDTH - 2 * LEFT, say("each-step-reads"))


def _time(drawing: Drawing, told: dict[str, str], share: float) -> None:
    """The time to the first and the last token, to scale."""
    y, wide = 266.0, WIDTH - 2 * LEFT
    drawing.bar(LEFT, y, wide * share, 14, PREFILL)
    drawing.bar(LEFT + wide * share + 1, y, wide * (1 - share) - 1, 14, DECODE)
    drawing.label(LEFT, y - 6, say("ttft", first=told["first"]), small=True)
    drawing.label(LEFT + wide, y - 6, say("tpot", token=told["token"]), "end", small=True)
    drawing.label(LEFT, y + 14 + 1.5 * SMALL, say("to-scale"), small=True, muted=True)
    drawing.label(LEFT + wide, y + 14 + 1.5 * SMALL, say("end", whole=told["whole"]), "end",
                  small=True)
