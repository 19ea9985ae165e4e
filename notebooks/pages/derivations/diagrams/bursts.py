"""A burst of prompts on a line of time: what the card computes, and what each request waits for."""

from __future__ import annotations

from collections.abc import Mapping

import catalogue
from catalogue.messages import messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.show.drawing import SMALL, WIDTH, Drawing, Text
from notebooks.show.figures import COMPUTE, HOST, READ, WRONG
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_time

say = messages("pages/derivations/diagrams/bursts")

PLAN = "s2-910b1-awq"  # which the chapter holds against its measurements
REQUESTS, PROMPT, ANSWER = 8, 4096, 512
LEFT, ROW, TOP = 34.0, 19.0, 92.0
STEPS = 24  # of decode that the picture goes on for, after the prefill
WAITS, PREFILL, DECODES, STALLS = HOST, COMPUTE, READ, WRONG  # colours


def planned(derivation: Derivation, lang: str) -> Drawing:
    """A burst at the deployment of document S2."""
    chosen = catalogue.load_scenario(PLAN)
    inputs = chosen.inputs() | {
        "concurrency": REQUESTS, "input_tokens": PROMPT, "output_tokens": ANSWER,
        "context_tokens": PROMPT + ANSWER}
    title = chosen.file.title
    return draw(inputs | derivation.values(inputs, "mla"), (title["en"], title["zh"]), lang)


def ends(of: Mapping[str, float]) -> list[float]:
    """When each request of a burst has its first token, in the order of the queue [s].

    Args:
        of: inputs and quantities of a deployment without stages, prefill first.
    """
    others, chunks = int(of["burst_requests"]), int(of["burst_chunks"])
    first = of["prefill_time"]
    last = (-(-place * chunks // others) for place in range(1, others + 1))
    return [first, *(first + of["burst_step_time"] * chunk for chunk in last)]


def draw(of: Mapping[str, float], plan: Text, lang: str) -> Drawing:
    """The card's chunks, then a line for every request; times to scale.

    Args:
        of: as for ``ends``.
        plan: name of the deployment.
        lang: language of the labels.
    """
    tokens, step = ends(of), of["decode_step_time"]
    chunks, all_read = int(of["burst_chunks"]), of["prefill_time"] + of["burst_time"]
    end = all_read + STEPS * step
    soonest, latest, mean = map(fmt_time, (tokens[0], tokens[-1], sum(tokens) / len(tokens)))
    drawing = Drawing(
        "burst-in-time", lang, say("burst-of-prompts", prompts=len(tokens)),
        say("course-of-burst", chunks=chunks, soonest=soonest, latest=latest, mean=mean),
        height=TOP + ROW * len(tokens) + 66)
    scale = (WIDTH - LEFT - 8) / end
    at = [LEFT + scale * time for time in (0.0, of["prefill_time"], all_read, end)]
    drawing.label(8, 15, plan, small=True, bold=True)
    budget, prompt = fmt_int(of["max_num_batched_tokens"]), fmt_int(of["input_tokens"])
    drawing.label(8, 15 + 1.3 * SMALL, say("prompts-and-chunks", prompts=len(tokens),
                                           tokens=prompt, budget=budget), small=True, muted=True)
    drawing.label(LEFT, 56, say("cards-prompt-then-full-chunks"), small=True)
    drawing.bar(at[0], 62, at[1] - at[0] - 1, 16, PREFILL)
    for chunk in range(chunks):
        length = scale * of["burst_step_time"]
        drawing.bar(at[1] + chunk * length, 62, length - 1, 16, PREFILL)
    for number in range(STEPS):
        drawing.bar(at[2] + scale * step * number, 62, max(0.4, scale * step - 0.8), 16, DECODES)
    for number, time in enumerate(tokens):
        _request(drawing, number, TOP + ROW * number, (LEFT, LEFT + scale * time, at[2], at[3]))
    bottom = TOP + ROW * len(tokens) + 2
    drawing.axis(LEFT, bottom, WIDTH - LEFT - 8, end, _ticks(end), say("seconds"))
    drawing.circle(13, bottom + 52, 4.5)
    drawing.label(22, bottom + 56, say("first-token"), small=True)
    for x, colour, text in ((100, WAITS, say("waits-for-it")), (196, STALLS, say("stalls")),
                            (262, DECODES, say("decodes"))):
        drawing.swatch(x, bottom + 56, colour, text)
    return drawing


def _request(drawing: Drawing, number: int, y: float, at: tuple[float, ...]) -> None:
    """One request: waiting and prefill, its first token, the stall, its decode."""
    start, token, done, end = at
    drawing.label(LEFT - 8, y + 10, str(number + 1), "end", small=True)
    drawing.bar(start, y + 2, token - start, 8, WAITS)
    drawing.bar(token, y + 2, done - token, 8, STALLS)
    drawing.bar(done, y + 2, end - done, 8, DECODES)
    drawing.circle(token, y + 6, 4.5)


def _ticks(end: float) -> list[float]:
    step = next(size for size in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if end / size <= 8)
    return [float(fmt_fixed(step * number, 1)) for number in range(int(end / step) + 1)]
