"""The front page's first table: how many of usual cards serve today's models, and how fast."""

from __future__ import annotations

import html
from dataclasses import dataclass

from IPython.display import HTML
from myst_nb import glue

import catalogue
from calc.launching.starting import search
from calc.searching.robust import SampledRow
from catalogue.messages import Pair, join, messages
from catalogue.reading.yamlfile import at_rest
from notebooks.pages.deciding.goals import device_label
from notebooks.pages.deciding.matrix import GOAL
from notebooks.show.display import LANGUAGES, table
from notebooks.show.numbers import fmt_fixed, fmt_int

common = messages("common")

MODELS = ("deepseek-v4-flash", "deepseek-v4-pro", "glm-5.2")
CARDS = ("nvidia-b300", "nvidia-h200-sxm", "nvidia-h20", "ascend-910c-die", "ascend-910b2")
# as published, widened without loss, eight bits: the first that a card multiplies and that fits
FORMATS = (("fp8-mxfp4", "fp8-mxfp4-w4a16"), ("fp8-block", "fp8-block-fp8-latent"),
           ("w8a8-int8-index8",))
SHORT = {"fp8-mxfp4": "MXFP4", "fp8-mxfp4-w4a16": "MXFP4", "fp8-block": "FP8",
         "fp8-block-fp8-latent": "FP8", "w8a8-int8-index8": "INT8"}
SERVERS = (1, 2, 4, 8, 16)
MOST = 64  # cards
MILLI = 1e3
NOTHING = "–"


@dataclass(frozen=True)
class Served:
    """A model on a card: on the fewest whole servers that a release starts it on, the fastest.

    Attributes:
        model, device: of the catalogue.
        best: what is chosen, with what it comes to; None where no number of cards holds it.
        engine: the release that starts it.
    """

    model: str
    device: str
    best: SampledRow | None = None
    engine: str = ""


@at_rest()
def served() -> list[Served]:
    """Each model of the table on each of its cards."""
    return [_served(model, device) for model in MODELS for device in CARDS]


def _served(model: str, device: str) -> Served:
    weights = catalogue.load_model(model).weights
    assert weights
    own = [formats for formats in FORMATS if weights.precision in formats]
    node = catalogue.load_device(device).node
    assert node
    size = int(catalogue.load_node(node).devices_per_node.value)
    for count in (size * servers for servers in SERVERS if size * servers <= MOST):
        for formats in (*own, FORMATS[-1]):
            answer = search(GOAL, [
                f"model={model}", f"devices={device}", f"precisions={','.join(formats)}",
                f"cards.fewest={count}", f"cards.most={count}"])
            if answer.met:
                best = answer.front[0][0]
                start = answer.start(best.row)
                return Served(model, device, best, (start and start.engine) or "")
    return Served(model, device)


def answer() -> None:
    """Show the table, and glue it in both languages for the front page, under ``today-table_LANG``.
    """
    found = {(each.model, each.device): each for each in served()}
    rows = [{"card": _linked("devices", card, device_label(card)),
             **{model: _cell(found[model, card]) for model in MODELS}} for card in CARDS]
    heads = {"card": common("card"), **{model: _linked("models", model, _name(model))
                                        for model in MODELS}}
    for lang, tag in enumerate(LANGUAGES):
        head, *body = ("".join(f"<{mark}>{row[key][lang]}</{mark}>" for key in heads)
                       for mark, row in (("th", heads), *(("td", row) for row in rows)))
        lines = "".join(f"<tr>{row}</tr>" for row in body)
        glue(f"today-table_{tag}", HTML(f'<table class="table front"><thead><tr>{head}</tr></thead>'
                                        f"<tbody>{lines}</tbody></table>"), display=False)
    table([row | {"card": device_label(card)} for card, row in zip(CARDS, rows, strict=True)],
          {"card": common("card"), **{model: _name(model) for model in MODELS}}, wide=True)


def _name(model: str) -> Pair:
    name = catalogue.load_model(model).name
    return name["en"], name["zh"]


def _linked(kind: str, name: str, text: Pair) -> Pair:
    en, zh = (f'<a href="chapters/{kind}/{name}.html">{html.escape(each)}</a>' for each in text)
    return en, zh


def _cell(each: Served) -> Pair:
    """Cards and time per token with its interval; weights, cut and the release that starts it."""
    if each.best is None:
        return NOTHING, NOTHING
    choice, told = each.best.row.choice, each.best.amounts["tpot"]
    value, low, high = (fmt_fixed(MILLI * point, 0) for point in told.points)
    cut = {"TP": choice.tensor, "PP": choice.pipeline, "DP": choice.data, "EP": choice.expert}
    plan = "×".join(f"{name}{size}" for name, size in cut.items() if size > 1) or "TP1"
    pace = (f"{value} ms</strong> ({low}–{high})<br>{SHORT[choice.precision]}",) * 2
    return join((", ", "，"), [
        _strong(common("cards-2", cards=fmt_int(choice.devices))), pace, (plan,) * 2,
        (each.engine,) * 2])


def _strong(text: Pair) -> Pair:
    return f"<strong>{text[0]}", f"<strong>{text[1]}"
