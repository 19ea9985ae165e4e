"""From DeepSeek-V3 to V4: what a token costs in bytes, operations and money, model by model."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import catalogue
from calc.answer.estimate import estimate
from calc.costing.cost import CostOptions, cost
from calc.costing.ownership import MILLION, card_hour, prices_of
from catalogue.deployments.physics_inputs import nearest
from catalogue.messages import LANGUAGES, Pair, messages, pair
from catalogue.reading.units import HOUR
from notebooks.pages.deciding.front.standard import question, serve
from notebooks.pages.deciding.generations.models import (
    CARDS,
    CUT,
    DECODE,
    DRAWN,
    DRAWN_ON,
    FLASH,
    FORMATS,
    GIGA,
    GLM,
    H20,
    KILO,
    LIMIT,
    LONG,
    LONGEST,
    MIBI,
    MODELS,
    OTHERS,
    PREFILL,
    PRO,
    SERVER,
    USERS,
    V3,
    V32,
    WHOLE,
    Served,
    asked,
    plan,
    precision_on,
    request,
    served,
    served_lengths,
    within_limit,
)
from notebooks.pages.deciding.goals import device_label
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import interval, number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/deciding/generations/page")


def named(model: str) -> Pair:
    """A model by its name in both languages."""
    return pair(catalogue.load_model(model).name)


def length(context: int) -> str:
    """A length in powers of two: 4k, 128k, 1M."""
    return f"{context // MIBI}M" if context >= MIBI else f"{context // 2**10}k"


def requests_table() -> None:
    """Bytes and operations of a request, by model and context, whatever the cards."""
    columns = [
        Column(lambda row: named(row.model), common("model")),
        Column(lambda row: length(row.context), say("context")),
        Column(lambda row: row.per_token / KILO, say("cache-of-token-kb"), fmt_fixed, digits=1),
        Column(lambda row: row.state / MIBI or None, say("state-mib"), fmt_fixed, digits=1),
        Column(lambda row: row.cache / GIGA, say("cache-of-request-gb"), fmt_sig, digits=3),
        Column(lambda row: row.read / GIGA, say("read-a-step-gb"), fmt_sig, digits=2),
        Column(lambda row: row.operations[DECODE] / GIGA, say("gflop-decode"), fmt_fixed,
               digits=0),
        Column(lambda row: row.operations[PREFILL] / GIGA, say("gflop-prefill"), fmt_fixed,
               digits=0)]
    for models, folded in ((MODELS, None), (OTHERS, say("other-models"))):
        table([request(model, context) for model in models for context in served_lengths(model)],
              columns, folded=folded, wide=True)


def servers_table() -> None:
    """What one server gives, by card, model and context; the first card's is seen at once."""
    for device in CARDS:
        rows = [served(model, device, context)
                for model in MODELS for context in served_lengths(model)]
        prices = [Column(lambda row: row.output and MILLION * row.output,
                         say("usd-per-million-output"), fmt_sig, digits=2),
                  Column(lambda row: row.input and MILLION * row.input,
                         say("usd-per-million-input"), fmt_sig, digits=2)]
        table(rows, [
            Column(lambda row: named(row.model), common("model")),
            Column(lambda row: f"`{row.precision}`", common("precision")),
            Column(lambda row: length(row.context), say("context")),
            Column(lambda row: row.held[CUT] or None, say("fit-tp8"), fmt_int),
            Column(lambda row: row.held[WHOLE] or None, say("fit-dp8"), fmt_int),
            Column(lambda row: KILO * row.pace if row.pace else None,
                   say("ms-with-users", users=USERS), fmt_fixed, digits=1),
            Column(lambda row: row.rate or None, say("tokens-a-second"), fmt_sig,
                   digits=3), *(prices if card_hour(device) else [])],
            wide=True, folded=None if device == DRAWN_ON else say(
                "server-of", card=device_label(device)))


# where a name stands from a point of its line, counted from the end, in each panel [point]
PLACES = {V3: ((0, (3, -11)), (0, (8, 0))), V32: ((1, (-8, 7)), (0, (6, -13))),
          GLM: ((0, (-12, 2)), (0, (-12, 2))), PRO: ((3, (-8, 6)), (3, (8, -9))),
          FLASH: ((3, (6, -15)), (3, (6, -15)))}


def picture(lang: str) -> Figure:
    """Cache of a request and cost of a million output tokens against context, a line a model."""
    place = LANGUAGES.index(lang)
    drawing, panels = figures.panels(4.3, columns=2, width=9.2)
    labels = say("cache-of-request-gb"), say(
        "usd-per-million-output-b200", cards=SERVER)
    for panel, (axes, label) in enumerate(zip(panels, labels, strict=True)):
        for model, colour in zip(MODELS, figures.PALETTE, strict=False):
            lengths = [*served_lengths(model, DRAWN)]
            values = np.array([
                MILLION * (served(model, DRAWN_ON, context).output or np.nan) if panel else
                request(model, context).cache / GIGA for context in lengths])
            axes.plot(lengths, values, color=colour, marker="o", ms=3)
            back, offset = PLACES[model][panel]
            at = np.flatnonzero(np.isfinite(values))[-1 - back]
            axes.annotate(named(model)[place], (lengths[at], values[at]), color=colour,
                          xytext=offset, textcoords="offset points", fontsize=9,
                          ha="left" if offset[0] > 0 else "right")
        axes.set(yscale="log", xlabel=say("context")[place], ylabel=label[place])
        axes.set_xscale("log", base=2)
        axes.set_xticks(DRAWN[::2], [length(context) for context in DRAWN[::2]])
        figures.log_ticks(axes.yaxis, *axes.get_ylim())
    return drawing


def _ranged(of: Served) -> tuple[float, float, float]:
    """What a million tokens of answers cost, with the ends of the interval [USD]."""
    assert of.tensor
    assert of.output
    made = plan(of.model, of.device, of.precision, of.tensor, of.context, of.users).scenario
    found = estimate(made)
    amount = cost(made, found.everything, found.quantities["output_throughput"],
                  prices_of(of.device), CostOptions("own")).amounts["per_million_output"]
    return MILLION * of.output, float(amount.low), float(amount.high)


def answer() -> None:
    """The numbers of the first sentences."""
    long, longest = length(LONG), length(LONGEST)
    numbers({"gn-long": long, "gn-longest": longest}, str)
    numbers({"gn-limit": LIMIT}, fmt_time)
    number("gn-users", USERS)
    hour = card_hour(DRAWN_ON)
    assert hour is not None
    number("gn-hour", HOUR * hour.value, fmt_fixed)
    for key, model, context in (("v3", V3, LONG), ("pro", PRO, LONG), ("flash", FLASH, LONG),
                                ("flash-longest", FLASH, LONGEST)):
        interval(f"gn-{key}-usd", _ranged(served(model, DRAWN_ON, context)), fmt_sig, digits=2)
        number(f"gn-{key}-gb", request(model, context).cache / GIGA, fmt_sig, digits=2)
    for key, model in (("pro", PRO), ("flash", FLASH)):
        number(f"gn-{key}-held", served(model, DRAWN_ON, LONG).held[WHOLE])


def changes() -> None:
    """What compressed entries and one row for all heads change, a number or two each."""
    for key, model in (("flash", FLASH), ("pro", PRO)):
        of = request(model, LONG)
        number(f"gn-{key}-even", of.state / of.per_token, fmt_sig, digits=2)
    for key, cut in (("tp", CUT), ("dp", WHOLE)):
        made = plan(FLASH, DRAWN_ON, precision_on(FLASH, DRAWN_ON), cut, LONG)
        number(f"gn-{key}-flash-rate", within_limit(made)[0], fmt_sig, digits=2)
        numbers({f"gn-{key}-pace": float(asked(made)["tpot"])}, fmt_time)


def turn() -> None:
    """The answer of the last exercise: the standard question of two models on one card."""
    number("gn-turn-users", question().users)
    for key, model in (("flash", FLASH), ("r1", V3)):
        found = serve(model, H20)
        assert found
        assert found.cell.best
        number(f"gn-turn-{key}", found.cell.best.amounts["tpot"].points[0], fmt_time)


def formats_table() -> None:
    """V4-Flash on each card, by the formats that a release has kernels of."""
    model = catalogue.load_model(FLASH)
    rows = [(device, precision, asked(plan(FLASH, device, precision, WHOLE, LONG)))
            for device in CARDS for runs in [{entry.id for entry in nearest(
                catalogue.load_device(device), model=model)}]
            for precision in FORMATS if precision in runs]
    table(rows, [
        Column(lambda row: device_label(row[0]), common("card")),
        Column(lambda row: f"`{row[1]}`", common("precision")),
        Column(lambda row: row[2]["weights_per_device"] / GIGA, say("weights-of-card-gb"),
               fmt_fixed, digits=1),
        Column(lambda row: row[2]["max_concurrency"], say("fit-dp8"), fmt_int),
        Column(lambda row: KILO * row[2]["tpot"], say("ms-with-users", users=USERS), fmt_fixed,
               digits=1),
        Column(lambda row: row[2]["prefill_throughput"] / KILO, say("prefill-a-second"),
               fmt_fixed, digits=0)])
