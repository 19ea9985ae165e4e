"""The elements of the page, each with a table for browsers that run no scripts."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from IPython.display import HTML, display
from myst_nb import glue

from calc.answer.estimate import Estimate, estimate
from calc.costing.cost import token_costs
from calc.costing.ownership import MILLION, card_hour
from calc.uncertainty import Amount
from catalogue import Scenario, load_model, names
from catalogue.deployments.admission import cut_of
from catalogue.deployments.cuts import written
from catalogue.entries.models import Model
from catalogue.messages import Pair, join, messages, pair
from catalogue.reading import words
from catalogue.reading.units import HOUR
from notebooks.pages.calculators import scripts
from notebooks.pages.calculators.offers import MODELS, card_and_node, cards, deployed
from notebooks.pages.calculators.table import Axes
from notebooks.pages.calculators.views import ATTENTIONS, PHASES, trees
from notebooks.pages.calculators.words import WORDS
from notebooks.show.display import LANGUAGES, number, spoken
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_sig

common = messages("common")
say = messages("pages/calculators/page")

MEMORY, SPEED, COST, ROOFLINE, PANEL = "memory", "speed", "cost", "roofline", "panel"
# of R1, beside the one that the calculators begin with: cards, precision, layout
BESIDE = (
    {"card": "nvidia-h20-141gb", "precision": "fp8-block", "tp": 8, "ep": 8},
    {"card": "nvidia-b200", "precision": "nvfp4", "tp": 8, "ep": 8},
    {"card": "ascend-910b2", "precision": "w8a8-int8", "tp": 8, "dp": 2, "ep": 16, "block": 128},
    {"card": "ascend-910b4", "precision": "w8a8-int8", "tp": 8, "dp": 4, "ep": 32, "block": 128},
)
WITHOUT: Pair = say("calculator-of-this-page-needs")
Row = Sequence[str | Pair]


@functools.cache
def table_estimates() -> tuple[tuple[Scenario, Estimate], ...]:
    """The deployments of the tables, with what the runtime says of each."""
    states = (scripts.start(), *(scripts.start() | changes for changes in BESIDE))
    found = [deployed(state) for state in states]
    return tuple((scenario, estimate(scenario)) for scenario in found)


def _named(scenario: Scenario) -> Pair:
    """Cards, precision and layout of a row."""
    en, zh = pair(scenario.device.name)
    cards = f"{scenario.devices} × {en}", f"{scenario.devices} × {zh}"
    return join((", ", "，"), [cards, (scenario.precision.id,) * 2,
                              pair(written(cut_of(scenario)))])


def _time(found: Amount) -> Pair:
    return found.formatted("en"), found.formatted("zh")


def _rate(found: Amount) -> Pair:
    value, low, high = map(fmt_sig, found.points)
    return f"{value} ({low}–{high})", f"{value}（{low}–{high}）"


def _memory() -> tuple[Row, list[Row]]:
    """What each card holds."""
    head = (say("row"), *(say("of-one-card", what=WORDS[key])
                             for key in ("weights", "cache", "spare")), common("requests-that-fit"))
    return head, [[_named(scenario), *(fmt_bytes(float(answer.everything[name]), digits=1)
                                       for name in ("weights_per_device", "kv_per_device",
                                                    "headroom_per_device")),
                   fmt_int(float(answer.everything["max_concurrency"]))]
                  for scenario, answer in table_estimates()]


def _speed() -> tuple[Row, list[Row]]:
    """What users wait for, with intervals."""
    head = say("row"), *(say("value-of", what=what) for what in (
        WORDS["tpot"], common("time-to-first-token"), WORDS["rateRow"]))
    return head, [[_named(scenario), _time(answer.quantities["steady_tpot"]),
                   _time(answer.quantities["steady_ttft"]),
                   _rate(answer.quantities["steady_throughput"])]
                  for scenario, answer in table_estimates() if answer.fits]


def _cost() -> tuple[Row, list[Row]]:
    """What tokens cost, where somebody prices the card."""
    used = scripts.start()["use"] / 100
    head = (say("row"), say("usd-per-hour-of-card"), WORDS["perOutput"],
            say("usd-per-million-prompt-tokens"))
    rows: list[Row] = []
    for scenario, answer in table_estimates():
        hour = card_hour(scenario.device)
        if hour is not None and answer.fits:
            found = token_costs(scenario.inputs(), answer.everything, hour.value, used,
                                answer.quantities["steady_throughput"].value)
            rows.append([_named(scenario), fmt_sig(hour.value * HOUR),
                         *(fmt_sig(MILLION * float(found[key]))
                           for key in ("per_output", "per_input"))])
    return head, rows


def _roofline() -> tuple[Row, list[Row]]:
    """Operations per byte of the operators of the first deployment."""
    _, answer = table_estimates()[0]
    head = (WORDS["operator"], *(say("intensity-of", intensity=WORDS["intensity"],
                                     phase=WORDS[phase]) for phase in PHASES))
    rows: list[Row] = []
    for operator in scripts.operators():
        pair = [[float(answer.everything[f"{phase}_{operator['key']}_{of}"])
                 for of in ("flops", "bytes")] for phase in PHASES]
        if all(read for _, read in pair):
            rows.append([(operator["en"], operator["zh"]),
                         *(fmt_sig(work / read) for work, read in pair)])
    return head, rows


def _panel() -> tuple[Row, list[Row]]:
    """The deployment that the calculators begin with."""
    start = scripts.start()
    head = say("what-is-asked"), common("value")
    said = {"none": common("none"), start["way"]: WORDS["ownWay"]}
    return head, [[WORDS[key], said.get(start[key], str(start[key]))] for key in scripts.fields()
                  if key != "price"]  # of a way of one's own


TABLES: Mapping[str, Callable[[], tuple[Row, list[Row]]]] = {
    PANEL: _panel, MEMORY: _memory, SPEED: _speed, COST: _cost, ROOFLINE: _roofline}


def calculator(view: str) -> None:
    """One calculator; without scripts a table in its place.

    Args:
        view: one of ``TABLES``.
    """
    head, rows = TABLES[view]()
    for place, lang in enumerate(LANGUAGES):
        if lang in spoken():
            cells = "".join(f"<th>{_plain(cell, place)}</th>" for cell in head)
            body = "".join("<tr>" + "".join(f"<td>{_plain(cell, place)}</td>" for cell in row)
                           + "</tr>" for row in rows)
            display(HTML(f'<will-it-fit view="{view}"><noscript><table><thead><tr>{cells}</tr>'
                         f"</thead><tbody>{body}</tbody></table></noscript></will-it-fit>"),
                    metadata={"lang": lang})


def front() -> None:
    """Glue the calculator of the front page, under ``front-answer_LANG``."""
    for place, lang in enumerate(LANGUAGES):
        said = html.escape(WITHOUT[place])
        glue(f"front-answer_{lang}", HTML(f'<will-it-fit view="front"><noscript><p>{said}</p>'
                                          "</noscript></will-it-fit>"), display=False)


def _plain(cell: str | Pair, place: int) -> str:
    text = cell[place] if isinstance(cell, tuple) else cell
    return html.escape(words.revealed(text))


def left_out() -> list[Model]:
    """Models of whose formulas a part is missing: nothing in the calculators would tell."""
    return [model for model in map(load_model, names("models")) if model.missing]


def carry() -> None:
    """Have the build write the two generated scripts beside those of the site, and count them."""
    formulas, table = scripts.formulas(), scripts.table()
    found: dict[str, Any] = {"formulas.js": formulas, "table.js": table}
    display(HTML("<template></template>"), metadata={"script": found})
    number("calculators-without", " / ".join(str(model.name["en"]) for model in left_out()), str)
    number("calculators-kinds", len(Axes.of_offers().kinds))
    number("calculators-cards", len({card_and_node(card)[0].id for card in cards()}))
    number("calculators-models", len(MODELS))
    number("calculators-formulas", max(len(trees(each)) for each in ATTENTIONS))

