"""A prompt through two pools: its prefill, the transfer of its cache, its decode, in time."""

from __future__ import annotations

from collections.abc import Mapping

from catalogue.messages import messages
from notebooks.show.drawing import SMALL, WIDTH, Drawing, Text
from notebooks.show.numbers import fmt_int, fmt_time

say = messages("pages/derivations/diagrams/flows/handover")

LEFT, TOP, LANE, TALL = 8.0, 62.0, 58.0, 20.0  # the lanes' left end, first base, pitch, height
AFTER = 6  # decode steps that hold the request before the picture ends
PREFILL, SENT, DECODES = 0, 1, 2  # colours


def draw(of: Mapping[str, float], plan: Text, lang: str) -> Drawing:
    """The two pools and the link between them as lanes, times to scale.

    Args:
        of: inputs and quantities of a deployment with two pools, times in seconds.
        plan: name of the deployment.
        lang: language of the labels.
    """
    prefill, sent, step = of["prefill_time"], of["kv_transfer_time"], of["decode_step_time"]
    arrives, chunks = prefill + sent, round(of["prompt_chunks"])
    joins = -(-arrives // step) * step  # the first step that begins with the cache in place
    end = joins + AFTER * step
    times = [fmt_time(time) for time in (prefill, sent, step)]
    drawing = Drawing(
        "prompt-through-pools", lang, say("prompt-through-pools"),
        say("course-of-prompt", prefill=times[0], sent=times[1], step=times[2],
            joins=fmt_time(joins)), height=TOP + 3 * LANE + 46)
    scale = (WIDTH - 2 * LEFT) / end

    def bar(lane: int, start: float, stop: float, colour: int, hollow: bool = False) -> None:
        drawing.bar(LEFT + scale * start, TOP + LANE * lane, scale * (stop - start) - 0.8, TALL,
                    colour, hollow=hollow)

    drawing.label(LEFT, 15, plan, small=True, bold=True)
    drawing.label(LEFT, 15 + 1.3 * SMALL, say("tokens-and-requests",
                  tokens=fmt_int(of["input_tokens"]), requests=fmt_int(of["concurrency"])),
                  small=True, muted=True)
    for lane, text in enumerate((say("prefill-pool", time=times[0]),
                                 say("transfer", time=times[1]),
                                 say("decode-pool", time=times[2]))):
        drawing.label(LEFT, TOP + LANE * lane - 7, text, small=True)
    for chunk in range(chunks):
        bar(0, prefill * chunk / chunks, prefill * (chunk + 1) / chunks, PREFILL)
    bar(0, prefill, end, PREFILL, hollow=True)
    bar(1, prefill, arrives, SENT)
    for number in range(round(end / step)):
        bar(2, step * number, step * (number + 1), DECODES, hollow=step * number < joins - step / 2)
    for lane, time in ((0, prefill), (1, arrives)):
        drawing.line(LEFT + scale * time, TOP + LANE * lane + TALL, LEFT + scale * time,
                     TOP + LANE * (lane + 1) + (0 if lane == 0 else TALL), width=0.8, dashed=True)
    legend = TOP + 2 * LANE + TALL + 22
    drawing.label(LEFT, legend, say("filled-and-outlined"), small=True, muted=True)
    drawing.axis(LEFT, legend + 10, WIDTH - 2 * LEFT, end, _ticks(end), say("seconds-from-start"))
    return drawing


def _ticks(end: float) -> list[float]:
    step = next(size for size in (0.1, 0.2, 0.5, 1, 2, 5, 10) if end / size <= 8)
    return [round(step * number, 1) for number in range(int(end / step) + 1)]
