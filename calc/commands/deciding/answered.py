"""An answer of ``search`` in words: a deployment, its quantities, what runs and starts it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from calc.commands.printing import amount as human
from calc.commands.printing import formatted, listing, spoken, text_of, translated
from calc.evidence.classes import axis_label
from calc.evidence.nearness import NAMES
from catalogue import load_scenario
from catalogue.caveats import announced, borrowed, marked, underived
from catalogue.engines.released import stated_release
from catalogue.entries.models import OWN_LAYER
from catalogue.kernels import quality
from catalogue.messages import Pair, messages
from catalogue.planning.goals import UNITS, UNNAMED
from catalogue.reading.units import DIMENSIONLESS

if TYPE_CHECKING:
    from calc.layouts.layout import Choice, Row
    from calc.searching.ranking import SampledRow
    from calc.searching.selection import Answer
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
    """Cards, engine, format, layout and requests in flight of a deployment; of two pools each, what
    they have in common once."""
    decode, requests = row.choice, f"{row.choice.concurrency:,}"
    if row.prefill is None:
        return spoken(say("one-pool", pool=_brief_pool(decode), requests=requests))
    alike = len({(choice.engine, choice.precision, choice.device) for choice in row.choices}) == 1
    first, then = (_own(choice) if alike else _brief_pool(choice) for choice in row.choices)
    cards = say("pools-alike", first=row.prefill.devices, then=decode.devices,
                on=_brief_cards(decode)) if alike else say("pools-apart", devices=row.devices)
    return spoken(say("two-pools", cards=cards, prefill=first, decode=then, requests=requests))


def short_label(row: Row) -> str:
    """The format and the layout of a deployment, of two pools each."""
    formats = " + ".join(dict.fromkeys(choice.precision for choice in row.choices))
    return f"{formats} {' + '.join(_layout(choice) for choice in row.choices)}"


def _layout(choice: Choice) -> str:
    """A layout with what it drafts."""
    return translated(choice.layouts) + spoken(steps_of(choice))


def interval(each: SampledRow, name: str) -> str:
    """A quantity with its 80% interval, if it has one."""
    if name not in each.amounts:
        return f"{head(name)} {amount(name, each.row.quantities[name])}"
    told = formatted(each.amounts[name])
    return spoken(say("cost-is", cost=told)) if name == "cost" else f"{head(name)} {told}"


def agent_cost(each: SampledRow) -> str:
    """Cost of a million processed tokens and of an agent's task; empty for other loads."""
    agent, costs = each.goal.demand.agent, each.agent_costs
    if agent is None or not costs:
        return ""
    return spoken(say("agent-cost", turns=agent.turns,
                      processed=formatted(costs["per_million_processed"]),
                      task=formatted(costs["per_task"])))


def brief(answer: Answer, row: Row) -> str:
    """A deployment beside the first: what it comes to, what its format costs, what starts it."""
    seen, pools = answer.amounts(row), " + ".join(
        spoken(say("of-a-choice", devices=choice.devices, device=marked(choice.device),
                   precision=choice.precision, layout=translated(choice.layouts),
                   steps=steps_of(choice))) for choice in row.choices)
    pace, first, rate, cost = (
        text_of(seen[name]) if name in seen else ""
        for name in ("tpot", "ttft", "throughput_per_card", "cost"))
    return spoken(say("brief", pools=pools, pace=pace, first=first, rate=rate, priced=bool(cost),
                      cost=cost, told=sentences([*qualities(answer, row), starts(answer, row)])))


def sentences(parts: list[str]) -> str:
    """Parts of a sentence one after the other."""
    return spoken(("; ", "；")).join(parts)


def starts(answer: Answer, row: Row) -> str:
    """The engine release that starts a deployment, or why none does."""
    start = answer.start(row)
    if start is None:
        return ""
    return spoken(say("none-starts", why=start.why) if start.engine is None
                  else common("starts-under", engine=start.engine))


def start_command(answer: Answer, row: Row, file: str) -> str:
    """The command that writes what starts a deployment of a file, or why no release does."""
    start = answer.start(row)
    if start is None or start.engine is None:
        return starts(answer, row)
    return f"python -m calc deploy {file} --engine {start.engine} -o DIR"


def started(answer: Answer, row: Row) -> dict[str, Scenario]:
    """Return the pools of a deployment under the release that starts it; none if nothing does."""
    from calc.launching.starting import started_pools

    start = answer.start(row)
    if start is None or start.engine is None:
        return {}
    return started_pools(answer.result.wishes.goal, row, start.engine)


def prints(answer: Answer, row: Row) -> list[str]:
    """What the engine that starts a deployment prints of the cache of each of its pools."""
    from calc.answer.startup_line import engine_words

    return [spoken(words) for name, pool in started(answer, row).items()
            for words in engine_words(pool, name)]


def longer(answer: Answer) -> list[str]:
    """Which share of the requests of a goal is longer than the positions of its model."""
    from calc.answer.request_lengths import longer_words
    from calc.layouts.layout import scenario

    row = answer.best or answer.nearest_miss
    told = row and longer_words(scenario(answer.result.wishes.goal, row.choice))
    return [spoken(told)] if told else []


def steps(drafts: int, micro_batches: int, host_cache: int = 0, method: str | None = None,
          dealt: bool = False) -> Pair:
    """How a step runs, where it drafts, deals prompts or is cut in two, and what a server's memory
    caches [GB]: ``, 1 MTP token, two micro-batches, host cache 512 GB a server``."""
    return say("steps", drafting=drafts > 0, drafts=drafts, one=drafts == 1,
               method=method or OWN_LAYER, dealt=dealt, halves=micro_batches > 1,
               hosted=host_cache > 0, size=f"{host_cache:,}")


def steps_of(choice: Choice) -> Pair:
    """The same of a deployment that a search chose."""
    return steps(choice.drafts, choice.micro_batches, choice.host_cache or 0, choice.draft_method,
                 bool(choice.prefill_context))


def qualities(answer: Answer, row: Row) -> list[str]:
    """What the format of a deployment costs in quality; of two pools in two formats each."""
    told = [spoken(known.words) for known in answer.quality(row)]
    names = list(dict.fromkeys(choice.precision for choice in row.choices))
    return told if len(names) == 1 else [
        spoken(say("of-format", name=name, told=each))
        for name, each in zip(names, told, strict=True)]


def _brief_pool(choice: Choice) -> Pair:
    """A pool by its cards, engine, format and layout."""
    return say("brief-pool", devices=choice.devices, on=_brief_cards(choice), own=_own(choice))


def _brief_cards(choice: Choice) -> Pair:
    """The kind of cards, the engine and the format of a pool."""
    return say("brief-cards", device=marked(choice.device), named=bool(choice.engine),
               engine=choice.engine or "", precision=choice.precision)


def _own(choice: Choice) -> Pair:
    """The layout of a pool, and what else it has of its own."""
    return say("own", layout=translated(choice.layouts), chunked=choice.pool != "decode",
               chunk=f"{choice.chunk:,}", steps=steps_of(choice))


def amount(name: str, value: float, currency: str = DIMENSIONLESS) -> str:
    """A quantity by its name, with its unit, or the currency of a cost."""
    return human(value, UNITS.get(name, currency if name == "cost" else DIMENSIONLESS))


def unrun_words(answer: Answer, row: Row) -> list[str]:
    """Why no engine runs a deployment; nothing where one does."""
    from calc.layouts.layout import unrun

    return list(dict.fromkeys(spoken(say("none-runs", why=translated(why)))
                              for why in unrun(answer.result.wishes.goal, row)))


def formats(answer: Answer, rows: Sequence[Row]) -> dict[str, list[str]]:
    """Each format of some deployments by name: its quality, kernels and checkpoints."""
    model, kernels, names = answer.result.space.model, defaultdict[str, list[str]](list), (
        defaultdict[str, list[str]](list))
    for row in rows:
        start = answer.start(row)
        for choice, kernel in zip(row.choices, row.kernels(model), strict=True):
            kernels[choice.precision] += [spoken(kernel.brief)] if kernel else []
            names[choice.precision] += [spoken(start.loads)] if start and start.loads else []
    return {name: [spoken(quality(model, name).words), *(
        spoken(say("kernels-and-checkpoints", part=part, first=not number, name=each))
        for part, of in (("kernel", kernels), ("checkpoint", names))
        for number, each in enumerate(dict.fromkeys(of[name])))]
        for name in dict.fromkeys(choice.precision for row in rows for choice in row.choices)}


def near(answer: Answer, row: Row) -> str:
    """What was measured near a deployment, in one sentence."""
    found = answer.near(row)
    if found.nearest is None:
        return spoken(say("nothing-near"))
    model = load_scenario(found.nearest).model
    outside = [spoken(say("outside-of", axis=axis_label(axis.name), value=_amount_of(axis.value),
                          named=axis.name in NAMES, ends=_ends(axis))) for axis in found.outside]
    return spoken(say("near", nearest=found.nearest, beyond=bool(outside), outside=listing(outside),
                      other=model.id != answer.result.space.model.id, model=model.id))


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
    low, *high = dict.fromkeys(_amount_of(each) for each in axis.covered)
    return spoken(common("from-low-to-high", low=low, high=high[0])) if high else low
