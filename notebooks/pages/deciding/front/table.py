"""The front page's table: the standard question answered for each model on each card."""

from __future__ import annotations

import html
from collections.abc import Sequence

from IPython.display import HTML
from myst_nb import glue

import catalogue
from calc.searching.goal import load_goal
from catalogue.messages import Pair, join, messages, pair
from notebooks.pages.deciding.front.standard import CARDS, R1, SHORT, Served, question, served
from notebooks.pages.deciding.goals import device_label, so_many
from notebooks.pages.deciding.matrix import GOAL
from notebooks.show.display import LANGUAGES, number, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_time

common = messages("common")
say = messages("pages/deciding/front/table")

MILLI = 1e3


def answer() -> None:
    """Show the table, and glue it in both languages for the front page, under ``today-table_LANG``.
    """
    found = {(each.model, each.device): each for each in served()}
    models = question().models
    rows = [{"card": _linked("devices", card, device_label(card)),
             **{model: _cell(found.get((model, card))) for model in models}} for card in CARDS]
    heads = {"card": common("card"),
             **{model: _linked("models", model, name_of(model)) for model in models}}
    for lang, tag in enumerate(LANGUAGES):
        head, *body = ("".join(f"<{mark}>{row[key][lang]}</{mark}>" for key in heads)
                       for mark, row in (("th", heads), *(("td", row) for row in rows)))
        lines = "".join(f"<tr>{row}</tr>" for row in body)
        glue(f"today-table_{tag}", HTML(f'<table class="table front"><thead><tr>{head}</tr></thead>'
                                        f"<tbody>{lines}</tbody></table>"), display=False)
    table([row | {"card": device_label(card)} for card, row in zip(CARDS, rows, strict=True)],
          {"card": common("card"), **{model: name_of(model) for model in models}}, wide=True)
    _ends([each for each in found.values() if each.model == R1])


def _ends(answers: Sequence[Served]) -> None:
    """Numbers of the fastest and the slowest card of one model."""
    ranked = sorted(answers, key=lambda each: each.cell.pace)
    for key, each in (("fastest", ranked[0]), ("slowest", ranked[-1])):
        number(f"standard-{key}", each.cell.pace, fmt_time)
        number(f"standard-{key}-cards", each.choice.devices)
        number(f"standard-{key}-card", device_label(each.device)[0].split(maxsplit=1)[1], str)


def name_of(model: str) -> Pair:
    """A model by its name in both languages."""
    return pair(catalogue.load_model(model).name)


def _linked(kind: str, name: str, text: Pair) -> Pair:
    en, zh = (f'<a href="chapters/{kind}/{name}.html">{html.escape(each)}</a>' for each in text)
    return en, zh


def _cell(each: Served | None) -> Pair:
    """Cards and time per token with its interval; weights, layout and the release that starts it.
    """
    if each is None:
        return say("none-starts", most=fmt_int(load_goal(GOAL).cards.most or 0))
    assert each.cell.best is not None
    value, low, high = (fmt_fixed(MILLI * point, 0)
                        for point in each.cell.best.amounts["tpot"].points)
    en, zh = so_many(each.choice.devices, each.choice.device)
    weights = SHORT[each.choice.precision]
    pace = (f"{value} ms</strong> ({low}–{high})<br>{weights}",) * 2
    return join((", ", "，"), [(f"<strong>{en}", f"<strong>{zh}"), pace, each.layout,
                              common("starts-under", engine=each.cell.engine)])
