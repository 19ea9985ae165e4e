"""One decode step of the request over the layers, kernel by kernel, to scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from catalogue.messages import Pair, messages
from notebooks.pages.thread import request
from notebooks.show.drawing import SMALL, WIDTH, Drawing
from notebooks.show.figures import CACHE, COMPUTE, HOST, LINKS, READ, as_csv
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_time

common = messages("common")
say = messages("pages/thread/timeline")

MICRO = 1e6  # microseconds in a second
BAR, LANE = 20.0, 24.0  # of a bar, and from lane to lane
SHADES = {"routed_expert": 0.7, "shared_expert": 0.5, "dense_mlp": 0.35, "head": 0.2}  # opacity
# parts of a layer in the order in which they run: words, colour; what is sent has a lane of its own
ATTENTION = (("attention", common("attention-projections"), READ),
             ("core", common("attention-core"), CACHE), ("all_reduce", say("all-reduce"), LINKS))
DENSE = (("dense_mlp", common("dense-mlp"), READ), ("all_reduce", say("all-reduce"), LINKS),
         ("boundary", say("boundaries"), HOST))
EXPERTS = (("router", common("router"), COMPUTE), ("routed_expert", common("routed-experts"), READ),
           ("shared_expert", common("shared-expert"), READ), *DENSE[1:])
ONCE = (("embedding", say("embedding"), LINKS), ("head", common("output-head"), READ),
        ("vector", say("norms"), COMPUTE), ("host_gap", say("host-gap"), HOST))


@dataclass(frozen=True)
class Step:
    """A decode step [s].

    Attributes:
        dense, experts: parts of a layer of either kind, in their order, by name.
        layers: how many of each kind there are [1].
        once: what a step has once, by name, in the order in which it runs.
        aside: of the shared experts of a layer, what runs beside its router and routed experts.
    """

    dense: tuple[tuple[str, float], ...]
    experts: tuple[tuple[str, float], ...]
    layers: tuple[int, int]
    once: Mapping[str, float]
    aside: float

    @property
    def whole(self) -> float:
        """All of it [s]."""
        return sum(count * sum(time for _, time in of) for count, of in zip(
            self.layers, (self.dense, self.experts), strict=True)) + sum(self.once.values())


def step() -> Step:
    """The step of the request: what all layers of a kind take, shared out among them."""
    found, parts = request.values(), request.step_parts()
    every, moe = int(found["num_hidden_layers"]), int(found["moe_layers"])
    sent = parts["all_reduce"] / request.collectives()
    shared = dict.fromkeys(("attention", "core", "boundary"), every) | {
        "dense_mlp": every - moe} | dict.fromkeys(("router", "routed_expert", "shared_expert"), moe)
    each = {name: parts[name] / count for name, count in shared.items()} | {"all_reduce": sent}
    aside = -parts.get("overlap", 0.0) / moe  # with the starts of the kernels that it is
    left = each["shared_expert"] - aside
    beside = each | {"shared_expert": max(left, 0.0), "boundary": each["boundary"] + min(left, 0.0)}

    def of(kinds: tuple[tuple[str, Pair, int], ...], times: Mapping[str, float]
           ) -> tuple[tuple[str, float], ...]:
        return tuple((name, times[name]) for name, _, _ in kinds if times[name])

    return Step(of((*ATTENTION, *DENSE), each), of((*ATTENTION, *EXPERTS), beside),
                (every - moe, moe),
                {"embedding": sent, **{name: parts[name] for name, _, _ in ONCE[1:]}}, aside)


def drawn(lang: str) -> Drawing:
    """A layer with experts and a dense one in two lanes, card and links; below, the whole step."""
    told = step()
    names = {name: (words, colour) for name, words, colour in (*ATTENTION, *EXPERTS, *DENSE, *ONCE)}
    drawing = Drawing("step-timeline", lang, say("title"), say(
        "about", step=fmt_time(told.whole), layers=fmt_int(sum(told.layers))), height=364)
    longest = max(sum(time for _, time in of) for of in (told.dense, told.experts))
    for top, of, head in ((20.0, told.experts, say("expert-layer")),
                          (116.0, told.dense, say("dense-layer"))):
        drawing.label(0, top - 6, head, small=True, bold=True)
        drawing.label(WIDTH, top - 6, fmt_time(sum(time for _, time in of)), "end", small=True)
        drawing.label(0, top + 14, common("card"), small=True, muted=True)
        drawing.label(0, top + 14 + LANE, say("links"), small=True, muted=True)
        aside = told.aside if of is told.experts else 0.0
        _lanes(drawing, top, of, names, longest, aside)
    _whole(drawing, 202.0, told, names)
    _legend(drawing, 258.0, told, names)
    listed = {"experts": told.experts, "dense": told.dense, "once": tuple(told.once.items()),
              "aside": (("shared_expert", told.aside),)}
    drawing.numbers = as_csv(["layer", "part", "us"], [
        [kind, name, MICRO * time] for kind, of in listed.items() for name, time in of])
    return drawing


LEFT = 40.0  # where lanes begin, behind their names


def _lanes(drawing: Drawing, top: float, of: tuple[tuple[str, float], ...],
           names: Mapping[str, tuple[Pair, int]], longest: float, aside: float) -> None:
    """The parts of a layer one after another, what is sent a lane lower; below, what of its shared
    experts runs beside the router and what follows it."""
    at = LEFT
    for name, time in of:
        wide, colour = (WIDTH - LEFT) * time / longest, names[name][1]
        if name == EXPERTS[0][0] and aside:
            drawing.label(0, top + 14 + 2 * LANE, say("stream"), small=True, muted=True)
            drawing.bar(at, top + 2 * LANE, (WIDTH - LEFT) * aside / longest, BAR, READ,
                        tint=SHADES["shared_expert"])
        drawing.bar(at, top + (LANE if colour == LINKS else 0), max(wide - 0.6, 0.6), BAR, colour,
                    tint=SHADES.get(name, 1.0))
        at += wide


def _whole(drawing: Drawing, top: float, told: Step,
           names: Mapping[str, tuple[Pair, int]]) -> None:
    """The step as its layers, each a stroke wide, with what it has once before and after them."""
    drawing.label(0, top - 6, say("whole-step"), small=True, bold=True)
    drawing.label(WIDTH, top - 6, fmt_time(told.whole), "end", small=True)
    first, *last = [(time, names[name][1], SHADES.get(name, 1.0))
                    for name, time in told.once.items()]
    layers = [(sum(time for _, time in of), colour, 1.0) for count, of, colour in zip(
        told.layers, (told.dense, told.experts), (COMPUTE, READ), strict=True)
        for _ in range(count)]
    at = 0.0
    for time, colour, tint in (first, *layers, *last):
        wide = WIDTH * time / told.whole
        drawing.bar(at, top, wide - min(0.8, wide / 2), BAR, colour, tint=tint)
        at += wide


def _legend(drawing: Drawing, top: float, told: Step,
            names: Mapping[str, tuple[Pair, int]]) -> None:
    """Each part of a layer, what a step has once, and how long it takes; two columns."""
    listed = dict(told.dense) | dict(told.experts) | dict(told.once)
    if told.aside:
        listed["shared_expert"] = told.aside
    for place, (name, time) in enumerate(listed.items()):
        words, colour = names[name]
        en, zh = words
        text = f"{fmt_fixed(MICRO * time, 0)} µs"
        drawing.swatch(place % 2 * WIDTH / 2, top + place // 2 * (SMALL + 6), colour,
                       (f"{en}, {text}", f"{zh}，{text}"), SHADES.get(name, 1.0))
