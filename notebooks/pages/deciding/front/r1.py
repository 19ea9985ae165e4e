"""DeepSeek-R1, which the documents are about: the standard question answered on each card."""

from __future__ import annotations

from calc.costing.cost import Cost
from calc.evidence.classes import evidence, own_errors
from calc.uncertainty import Amount
from catalogue.messages import Pair, join, messages
from notebooks.pages.catalogue.tables.deployments import HELD
from notebooks.pages.deciding.front.standard import CARDS, R1, SHORT, Served, served_by
from notebooks.pages.deciding.goals import device_label, so_many
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/deciding/front/r1")

DIGITS = {"tpot": 2, "ttft": 3}  # significant, of the times by name
NOTHING = "–"
OWNED = "nvidia-h200-sxm"  # whose tokens are priced on the front page
WHOLE = "per_million_output_whole"


def answer() -> None:
    """A row per card: fewest cards, weights, layout, times with intervals, money, similar runs."""
    rows = [served_by(R1, card) for card in CARDS]
    table(rows, [
        Column(lambda each: device_label(each.device), common("card")),
        Column(lambda each: so_many(each.choice.devices, each.device, column=True),
               common("number-of-cards")),
        Column(_layout, say("weights-layout")),
        Column(lambda each: _time(each, "tpot"), say("per-token-tpot")),
        Column(lambda each: _time(each, "ttft"), say("first-token-ttft")),
        Column(_million, say("million-output-tokens")),
        Column(lambda each: evidence({"tpot": own_errors(each.scenario)["tpot"]}), HELD)],
        wide=True)
    _, _, found, asked = served_by(R1, OWNED).priced()
    low, high = found.amounts[WHOLE].ends
    numbers({"r1-million": found.amounts[WHOLE].value, "r1-million-low": low,
             "r1-million-high": high}, fmt_sig, digits=2)
    number("r1-used", asked.utilisation, fmt_percent, digits=0)


def _layout(each: Served) -> Pair:
    return join((", ", "，"), [(SHORT[each.choice.precision],) * 2, each.layout])


def _million(each: Served) -> Pair:
    """What a million output tokens cost, prompts included, as the question has them used: at the
    published hour of a card, else at the one that prices of hardware come to."""
    priced = each.priced()
    if WHOLE in priced.cost.amounts:
        return (f"{million(priced.cost)} {priced.cost.currency}",) * 2
    of_parts = priced.of_parts()
    if of_parts is None:
        return NOTHING, NOTHING
    return say("of-hardware", price=f"{million(of_parts)} {of_parts.currency}")


def million(found: Cost) -> str:
    """What a million output tokens cost, prompts included: ``**2.2** (1.6–3.1)``."""
    shown, *span = (fmt_sig(point, 2) for point in found.amounts[WHOLE].points)
    return f"**{shown}** ({'–'.join(span)})"


def _time(each: Served, name: str) -> str:
    """A time and its interval in one unit, the time's: ``232 ms (172–671 ms)``."""
    assert each.cell.best is not None
    told: Amount = each.cell.best.amounts[name]
    factor, unit = (1e3, "ms") if told.value < 1 else (1, "s")
    shown, *span = (fmt_sig(point * factor, max(DIGITS[name], len(str(int(point * factor)))))
                    for point in told.points)
    return f"**{shown} {unit}** ({'–'.join(span)} {unit})"
