"""The strip at the top of every derivation: the request, what it takes there, and where it goes."""

from __future__ import annotations

import html

from IPython.display import HTML, display

from catalogue.messages import Pair, messages
from catalogue.reading.units import human
from notebooks.pages.calculators.links import link
from notebooks.pages.derivations.diagrams.chapters import NAMES
from notebooks.pages.thread import request
from notebooks.show.display import LANGUAGES, spoken
from notebooks.show.drawing import in_language
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_percent, fmt_quantity, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/thread/strip")

CHAPTERS = {name: words for name, (words, _) in NAMES.items()}
CALCULATORS = "calculators.html"
Line = tuple[str | Pair, Pair]


def strip(chapter: str) -> None:
    """Show the strip of a chapter.

    Args:
        chapter: one of ``CHAPTERS``.
    """
    for place, lang in enumerate(LANGUAGES):
        if lang in spoken():
            display(HTML(_html(chapter, place)), metadata={"lang": lang})


def lines(chapter: str) -> list[Line]:
    """What the request takes in a chapter: an amount, and what it is of."""
    return {"architecture": _architecture, "memory": _memory, "compute": _compute,
            "communication": _communication, "latency": _latency, "throughput": _throughput,
            "serving": _serving}[chapter]()


def _html(chapter: str, place: int) -> str:
    """The strip in one language: where in the thread, then amounts, then the calculators."""
    lang = LANGUAGES[place]
    steps = "".join(f"<li>{_step(name, in_language(words, lang), name == chapter)}</li>"
                    for name, words in CHAPTERS.items())
    rows = "".join(
        f"<div><dt>{html.escape(amount if isinstance(amount, str) else amount[place])}</dt>"
        f"<dd>{html.escape(what[place])}</dd></div>" for amount, what in lines(chapter))
    found = link(request.scenario())
    onward = (f'<p><a href="{CALCULATORS}#{html.escape(found.state)}">'
              f"{html.escape(say('in-calculators')[place])}</a></p>" if found else "")
    asked = request.asked().demand
    title = say("title", engine=request.engine(), input=fmt_int(asked.input_tokens),
                output=fmt_int(asked.output_tokens))
    return (f'<aside class="thread" aria-label="{html.escape(say("thread")[place])}">'
            f"<p><b>{html.escape(title[place])}</b></p><ol>{steps}</ol><dl>{rows}</dl>{onward}"
            "</aside>")


def _step(name: str, words: str, here: bool) -> str:
    text = html.escape(words)
    return f'<b aria-current="step">{text}</b>' if here else f'<a href="{name}.html">{text}</a>'


def _architecture() -> list[Line]:
    found = request.values()
    held, used = float(found["total_parameters"]), float(found["active_parameters"])
    return [(_count(held), say("parameters-held")), (_count(used), say("parameters-used")),
            (fmt_percent(used / held, 1), say("share-used"))]


def _memory() -> list[Line]:
    found, asked = request.values(), request.asked().demand
    token = float(found["kv_bytes_per_token"])
    whole = asked.input_tokens + asked.output_tokens
    return [(fmt_bytes(float(found["weights_per_device"])), say("weights")),
            (fmt_quantity(token * asked.input_tokens, "B"), say("cache-of-prompt")),
            (fmt_quantity(token * whole, "B"), say("cache-at-end")),
            (fmt_bytes(request.moved("decode")), say("read-per-token"))]


def _compute() -> list[Line]:
    found = request.values()
    of_card = request.operations("decode") / request.scenario().devices
    return [(fmt_quantity(request.bill()["prompt"].flops, "FLOP"), say("flops-of-prompt")),
            (fmt_quantity(request.operations("decode"), "FLOP"), say("flops-of-token")),
            (fmt_sig(of_card / request.moved("decode"), 2), say("intensity")),
            (fmt_sig(found["ridge_point"], 3), say("ridge"))]


def _communication() -> list[Line]:
    parts = request.step_parts()
    sent, whole = parts["all_reduce"], sum(parts.values())
    return [(fmt_int(request.collectives()), say("collectives")),
            (fmt_quantity(request.message(), "B"), say("message")),
            (fmt_time(sent), say("sent-time", share=fmt_percent(sent / whole, 1),
                                 step=fmt_time(whole)))]


def _latency() -> list[Line]:
    found = request.values()
    step, floor = float(found["decode_step_time"]), float(found["tpot_floor"])
    return [(fmt_time(float(found["prefill_step_time"])), say("prompt-step")),
            (fmt_time(step), say("token-step")),
            (fmt_time(floor), say("floor", share=fmt_percent(floor / step, 0))),
            (request.told().quantities["tpot"].reach, say("interval"))]


def _throughput() -> list[Line]:
    found, load = request.values(), request.standard().inputs()
    users, prompt, answer = (fmt_int(load[name]) for name in (
        "concurrency", "input_tokens", "output_tokens"))
    return [(request.told().quantities["steady_throughput"].text, say("alone")),
            (request.shared().text, say("together", users=users, prompt=prompt, answer=answer,
                                        engine=request.engine())),
            (fmt_int(found["max_concurrency"]), say("places")),
            (fmt_quantity(float(found["throughput_ceiling"]), "token/s"), say("ceiling"))]


def _serving() -> list[Line]:
    whole = request.whole()
    told = request.told().quantities
    return [(told["ttft"].text, say("ttft")), (told["tpot"].text, say("tpot")),
            (told["e2e"].text, say("e2e")), (fmt_quantity(whole.joules, "J"), say("joules")),
            (say("cents", cents=fmt_sig(whole.cents, 2)), say("money"))]


def _count(number: float) -> Pair:
    """A large number in words: billions, 亿."""
    return human(number, "1"), human(number, "1", "zh")
