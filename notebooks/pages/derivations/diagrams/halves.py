"""One step laid out in time: one batch, two micro-batches in turn, and two streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from catalogue.messages import messages
from notebooks.show.drawing import SMALL, WIDTH, Drawing, Text
from notebooks.show.figures import CACHE, HOST, LINKS, READ
from notebooks.show.numbers import fmt_fixed, fmt_percent

say = messages("pages/derivations/diagrams/halves")

Values = Mapping[str, float]
Steps = Callable[..., Values]  # of a deployment and what changes of it
LEFT, BAR = 8.0, 17.0
CARD, EXPERTS, LINK, GAP = CACHE, READ, LINKS, HOST  # colours
AT_EXPERTS = ("router", "shared_expert", "routed_expert")
MS = 1e3


def parts(of: Values) -> list[tuple[int, float]]:
    """Attention and what goes with it, dispatch, experts, combine: colour and busy time [s].

    Args:
        of: inputs and quantities of a deployment of one stage that exchanges tokens.
    """
    batches = of["micro_batches"]
    experts = batches * sum(of[f"decode_{name}_time"] for name in AT_EXPERTS)
    sums = of["decode_communication_time"] - batches * of["decode_exchange_time"]
    there = batches * of["decode_dispatch_time"] + sums
    return [(CARD, of["decode_compute_time"] - experts), (LINK, there), (EXPERTS, experts),
            (LINK, of["decode_communication_time"] - there)]


def decode_step_drawing(step: Steps, spread: Values, requests: int, card: Text,
                        lang: str) -> Drawing:
    """A decode step of so many requests per card, without drafts, of one rank per card."""
    ways = [step(spread, concurrency=requests * spread["data_parallel"], draft_tokens=0,
                 micro_batches=count, single_batch_overlap=0, unequal_streams=apart)
            for count, apart in ((1, 0), (2, 0), (2, 1))]
    ranks = int(spread["data_parallel"])
    whole, split, streams = ways
    plan = say("requests-per-card", ranks=ranks, requests=requests, card=card)
    return draw(whole, split, streams, plan, lang)


def draw(whole: Values, split: Values, streams: Values, plan: Text, lang: str) -> Drawing:
    """A decode step in three ways, each in its lanes; parts are summed over layers.

    Args:
        whole, split, streams: quantities of the step in one batch, in two halves, in two streams.
        plan: name of the deployment.
        lang: language of the labels.
    """
    times = [of["decode_step_time"] for of in (whole, split, streams)]
    printed = [f"{fmt_fixed(MS * time, 1)} ms" for time in times]
    hidden = fmt_fixed(MS * split["decode_hidden_time"], 1)
    again, resent = (fmt_fixed(MS * (split[name] - whole[name]), 1)
                     for name in ("decode_compute_time", "decode_communication_time"))
    drawing = Drawing(
        "halves-in-time", lang, say("step-in-three-ways"),
        say("how-steps-are-laid-out", whole=printed[0], again=again, resent=resent,
            hidden=hidden, split=printed[1], streams=printed[2]),
        height=338)
    scale = (WIDTH - 2 * LEFT) / max(times)
    gap = [of["decode_step_time"] - of["decode_device_time"] for of in (whole, split, streams)]
    drawing.label(LEFT, 14, plan, small=True, bold=True)
    _title(drawing, 42, say("one-batch"), printed[0])
    _lane(drawing, 48, 0.0, [*parts(whole), (GAP, gap[0])], scale)
    _title(drawing, 96, say("two-micro-batches-in-turn"), printed[1])
    _in_turn(drawing, 102, split, gap[1], scale)
    saved = fmt_percent(split["decode_hidden_time"] / split["decode_communication_time"], 0)
    drawing.label(LEFT, 160, say("what-halves-cost", again=again,
                                 resent=resent, saved=saved), small=True, muted=True)
    _title(drawing, 190, say("two-streams-half-each"), printed[2])
    half = [(colour, time / 2) for colour, time in parts(streams)]
    late = times[2] - gap[2] - sum(time for _, time in half)
    _lane(drawing, 196, 0.0, half, scale)
    _lane(drawing, 196 + BAR + 3, late, [*half, (GAP, gap[2])], scale)
    end = max(times)
    ticks = [10.0 * n for n in range(int(MS * end // 10) + 1)][:: 1 + int(MS * end // 90)]
    drawing.axis(LEFT, 250, scale * end, MS * end, ticks, ("ms", "ms"))
    for x, y, colour, text in (
            (LEFT, 302, CARD, say("attention-and-rest-on-card")),
            (250, 302, EXPERTS, say("experts-on-card")),
            (LEFT, 302 + 1.6 * SMALL, LINK, say("links-dispatch-and-combine")),
            (250, 302 + 1.6 * SMALL, GAP, say("between-steps"))):
        drawing.swatch(x, y, colour, text)
    return drawing


def _title(drawing: Drawing, y: float, text: Text, time: str) -> None:
    drawing.label(LEFT, y, text)
    drawing.label(WIDTH - LEFT, y, time, "end", bold=True)


def _lane(drawing: Drawing, y: float, start: float, of: Sequence[tuple[int, float]],
          scale: float) -> None:
    """Parts one behind the other."""
    x = LEFT + scale * start
    for colour, time in of:
        drawing.bar(x, y, max(0.0, scale * time - 0.8), BAR, colour)
        x += scale * time


def _in_turn(drawing: Drawing, y: float, of: Values, gap: float, scale: float) -> None:
    """The card's lane, and below it that of the links, which overlap by what is hidden."""
    busy = parts(of)
    computed = [part for part in busy if part[0] != LINK]
    start = of["decode_compute_time"] - of["decode_hidden_time"]
    _lane(drawing, y, 0.0, [(colour, time / 2) for _ in range(2) for colour, time in computed],
          scale)
    sent = of["decode_communication_time"]
    _lane(drawing, y + BAR + 3, start, [*[(LINK, sent / 2)] * 2, (GAP, gap)], scale)
