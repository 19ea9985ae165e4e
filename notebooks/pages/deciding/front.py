"""The front page's answer without a script: how many of usual cards serve an ordinary load."""

from __future__ import annotations

import html
from collections.abc import Sequence

from IPython.display import HTML
from myst_nb import glue

from calc.evidence.classes import own_errors
from calc.layouts.choice import scenario
from calc.searching.load_goal import load_goal
from calc.uncertainty.amount import Amount
from catalogue.messages import Pair, messages
from notebooks.pages.catalogue.tables.deployments import HELD, coverage_label
from notebooks.pages.deciding.goals import device_label
from notebooks.pages.deciding.matrix import DRAWN, GOAL, PUBLISHED, Cell
from notebooks.show.display import LANGUAGES
from notebooks.show.numbers import fmt_int, fmt_sig

common = messages("common")
say = messages("pages/deciding/front")

CARDS = ("nvidia-h20", "nvidia-h20-141gb", "nvidia-h200-sxm", "nvidia-b200", "ascend-910b2",
         "ascend-910b4", "ascend-910c-die")
EIGHT_BITS = (PUBLISHED, "w8a8-int8")  # the first that a card multiplies
HEADINGS: tuple[Pair, ...] = (
    common("card"), common("number-of-cards"), say("weights-cut"),
    say("per-token-tpot"), say("first-token-ttft"), HELD, say("million-output-tokens"))
DIGITS = {"tpot": 2, "ttft": 3}  # significant, of the times by name
NOTHING = "–"


def answer(matrix: Sequence[Cell]) -> None:
    """Glue the table of the front page in both languages, under ``front-table_LANG``.

    Raises StopIteration if a card of the table holds the model in no eight bits.
    """
    cells = [next(cell for precision in EIGHT_BITS for cell in matrix
                  if (cell.device, cell.precision, cell.users) == (device, precision, DRAWN)
                  and cell.best) for device in CARDS]
    for lang, tag in enumerate(LANGUAGES):
        head = "".join(f"<th>{html.escape(heading[lang])}</th>" for heading in HEADINGS)
        body = "".join(f"<tr>{_row(cell, lang)}</tr>" for cell in cells)
        glue(f"front-table_{tag}", HTML(f'<table class="table front"><thead><tr>{head}</tr></thead>'
                                        f"<tbody>{body}</tbody></table>"), display=False)


def _row(cell: Cell, lang: int) -> str:
    """A card: fewest cards, weights and cut, times with intervals, how such did, money."""
    assert cell.best is not None
    choice, told = cell.best.row.choice, cell.best.amounts
    own = own_errors(scenario(load_goal(GOAL), choice))["tpot"]
    cut = {"TP": choice.tensor, "PP": choice.pipeline, "DP": choice.data, "EP": choice.expert}
    weights = "FP8" if cell.precision == PUBLISHED else "INT8"
    times = (_time(told[name], digits) for name, digits in DIGITS.items())
    cost = (f"<strong>{fmt_sig(told['cost'].value, 2)}</strong> "
            f"({'–'.join(fmt_sig(end, 2) for end in told['cost'].ends)}) "
            f"{html.escape(cell.currency)}" if "cost" in told else NOTHING)
    texts = (f'<a href="chapters/devices/{cell.device}.html">'
             f"{html.escape(device_label(cell.device)[lang])}</a>", fmt_int(choice.devices),
             f"{weights}, {'×'.join(f'{name}{size}' for name, size in cut.items() if size > 1)}",
             *times, coverage_label(own.inside, own.rows)[lang], cost)
    return "".join(f"<td>{text}</td>" for text in texts)


def _time(told: Amount, digits: int) -> str:
    """A time and its interval in one unit, the time's: ``232 ms (172–671 ms)``."""
    factor, unit = (1e3, "ms") if told.value < 1 else (1, "s")
    shown, *span = (fmt_sig(each * factor, digits) for each in told.points)
    return f"<strong>{shown} {unit}</strong> ({'–'.join(span)} {unit})"
