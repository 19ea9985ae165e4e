"""An answer of ``search`` in words: a deployment, its quantities, what runs and starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calc.commands.printing import amount as human
from calc.commands.printing import listing, said, spoken, text_of, translated
from calc.costing.tokens import MILLION, agent_costs
from calc.evidence.classes import axis_label
from catalogue.caveats import announced, borrowed, marked, underived
from catalogue.engines.released import stated_release
from catalogue.messages import Pair, messages
from catalogue.planning.goals import UNITS, UNNAMED
from catalogue.reading.units import DIMENSIONLESS

if TYPE_CHECKING:
    from calc.layouts.choice import Choice, Row
    from calc.searching.result import Answer
    from calc.searching.robust import SampledRow
    from catalogue import Scenario

common = messages("common")
say = messages("calc/commands/deciding/answered")

TOLD = ("throughput_per_card", "throughput", "ttft", "tpot", "e2e", "cost", "power", "energy",
        "longest_context")
"""Quantities in the order in which they are told."""


def head(name: str) -> str:
    """How a quantity is called beside its number."""
    return spoken(say("head", name=name))


def short_head(name: str) -> str:
    """The same, without what a cost is of."""
    return spoken(say("cost")) if name == "cost" else head(name)


def row_label(row: Row) -> str:
    """A deployment, as engines are told it; of two pools each."""
    requests = f"{row.choice.concurrency:,}"
    if row.prefill is None:
        return spoken(say("one-pool", pool=_brief_pool(row.choice), requests=requests))
    return spoken(say("two-pools", devices=row.devices, prefill=_brief_pool(row.prefill),
                      decode=_brief_pool(row.choice), requests=requests))


def interval(each: SampledRow, name: str) -> str:
    """A quantity with its 80% interval, if it has one."""
    if name not in each.amounts:
        return f"{head(name)} {amount(name, each.row.quantities[name])}"
    told = f"{head(name)} {said(each.amounts[name])}"
    return told + _agent_cost(each) if name == "cost" else told


def _agent_cost(each: SampledRow) -> str:
    """Cost of a million processed tokens and of an agent's task; empty for other loads."""
    demand, cost = each.goal.demand, each.amounts["cost"]
    if demand.agent is None:
        return ""
    shares = agent_costs(demand.output_tokens / MILLION, demand.agent.turns,
                         demand.input_tokens, demand.output_tokens)
    return spoken(say("agent-cost", turns=demand.agent.turns,
                      processed=said(cost.scaled(MILLION * shares["per_processed"])),
                      task=said(cost.scaled(shares["per_task"]))))


def brief(answer: Answer, row: Row) -> str:
    """A deployment beside the first: what it comes to, what its format costs, what starts it."""
    seen, pools = answer.amounts(row), " + ".join(
        spoken(say("of-a-choice", devices=choice.devices, device=marked(choice.device),
                   precision=choice.precision, layout=translated(choice.layouts),
                   steps=steps(choice.drafts, choice.micro_batches))) for choice in row.choices)
    pace, first, rate, cost = (
        text_of(seen[name]) if name in seen else ""
        for name in ("tpot", "ttft", "throughput_per_card", "cost"))
    return spoken(say("brief", pools=pools, pace=pace, first=first, rate=rate, priced=bool(cost),
                      cost=cost, told=sentences([*qualities(answer, row), starts(answer, row)])))


def sentences(parts: list[str]) -> str:
    """Parts of a sentence one after the other."""
    return spoken(("; ", "；")).join(parts)


def starts(answer: Answer, row: Row, file: str = "") -> str:
    """Which release starts a deployment, and with which command if its file has a name."""
    start = answer.start(row)
    if start is None:
        return ""
    if start.engine is None:
        return spoken(say("none-starts", why=start.why))
    return spoken(say("start-with", file=file, engine=start.engine, known=bool(start.checkpoint),
                      checkpoint=start.loads or "") if file
                  else common("starts-under", engine=start.engine))


def started(answer: Answer, row: Row) -> dict[str, Scenario]:
    """Return the pools of a deployment under the release that starts it; none if nothing does."""
    from calc.launching.starting import started_pools

    start = answer.start(row)
    if start is None or start.engine is None:
        return {}
    return started_pools(answer.result.wishes.goal, row, start.engine)


def prints(answer: Answer, row: Row) -> list[str]:
    """What the engine that starts a deployment prints of the cache of each of its pools."""
    from calc.launching.startup_line import engine_words

    return [spoken(words) for name, pool in started(answer, row).items()
            for words in engine_words(pool, name)]


def longer(answer: Answer) -> list[str]:
    """Which share of the requests of a goal is longer than the positions of its model."""
    from calc.launching.lengths import longer_words
    from calc.layouts.choice import scenario

    row = answer.best or answer.nearest_miss
    told = row and longer_words(scenario(answer.result.wishes.goal, row.choice))
    return [spoken(told)] if told else []


def steps(drafts: int, micro_batches: int) -> Pair:
    """How a step runs, where it drafts or is cut in two: ``, 1 draft, two micro-batches``."""
    return say("steps", drafting=drafts > 0, drafts=drafts, one=drafts == 1,
               halves=micro_batches > 1)


def qualities(answer: Answer, row: Row) -> list[str]:
    """What the format of a deployment costs in quality; of two pools in two formats each."""
    told = [spoken(known.words) for known in answer.quality(row)]
    names = list(dict.fromkeys(choice.precision for choice in row.choices))
    return told if len(names) == 1 else [
        spoken(say("of-format", name=name, told=each))
        for name, each in zip(names, told, strict=True)]


def _brief_pool(choice: Choice) -> Pair:
    return say("brief-pool", devices=choice.devices, device=marked(choice.device),
               named=bool(choice.engine), engine=choice.engine or "", precision=choice.precision,
               layout=translated(choice.layouts), chunk=f"{choice.chunk:,}",
               steps=steps(choice.drafts, choice.micro_batches))


def amount(name: str, value: float) -> str:
    """A quantity by its name, with its unit."""
    return human(value, UNITS.get(name, DIMENSIONLESS))


def runs(answer: Answer, row: Row) -> str:
    """Which engine runs a deployment, or why none does."""
    from calc.layouts.choice import unrun

    why = unrun(answer.result.wishes.goal, row)
    kernels = {choice.precision: kernel for choice, kernel in zip(
        row.choices, row.kernels(answer.result.space.model), strict=True) if kernel}
    told = [spoken(say("format-runs", alone=len(kernels) == 1, name=name, told=kernel.words))
            for name, kernel in kernels.items()]
    return sentences(list(dict.fromkeys(
        [spoken(say("none-runs", why=translated(each))) for each in why] or told)))


def near(answer: Answer, row: Row) -> str:
    """What was measured near a deployment, in one sentence."""
    found = answer.near(row)
    if found.nearest is None:
        return spoken(say("nothing-near"))
    inside = [spoken(axis_label(axis.name)) for axis in found.axes if axis.inside]
    outside = [spoken(say("outside-of", axis=axis_label(axis.name),
                          value=_amount_of(axis.value), ends=_ends(axis)))
               for axis in found.outside]
    return spoken(say("near", nearest=found.nearest, beyond=bool(outside), outside=listing(outside),
                      also=bool(outside and inside), inside=listing(inside)))


def stood_in(answer: Answer) -> list[str]:
    """What is taken of other cards for those that are told, a sentence for each."""
    rows = (group[0].row for group in answer.front)
    return list(dict.fromkeys(spoken(told) for row in rows if (told := answer.stand_ins(row))))


def caveats(answer: Answer) -> list[str]:
    """Which cards are only announced, what of the model is not computed, and which releases are
    answered by a neighbour; of all cards that were tried where nothing meets the goal."""
    found = answer.result
    told = announced(base.device for base, kept in zip(found.bases, found.of_bases, strict=True)
                     if kept.front.rows or not answer.met)
    missing = underived([found.wishes.goal.model])
    engines = [stated_release(name) for name in found.wishes.goal.engines or ()
               if name != UNNAMED]
    every = (told, missing, *(borrowed(*each) for each in engines))
    return [spoken(each) for each in every if each]


def _amount_of(value: Any) -> str:
    return human(value) if isinstance(value, float) else str(value)


def _ends(axis: Any) -> str:
    if axis.name in ("precision", "device", "pools"):
        return " ".join(map(str, axis.covered))
    low, *high = dict.fromkeys(_amount_of(each) for each in axis.covered)
    return spoken(common("from-low-to-high", low=low, high=high[0])) if high else low
