"""An answer of ``search`` in words: a deployment, its quantities, what runs and starts it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from calc.commands.printing import amount as human
from calc.commands.printing import formatted, listing, spoken, translated
from calc.evidence.classes import NAMES, axis_label
from catalogue import load_scenario
from catalogue.deployments.admission import marked
from catalogue.entries.models import OWN_LAYER
from catalogue.messages import Pair, messages
from catalogue.planning import UNITS
from catalogue.reading.units import DIMENSIONLESS

if TYPE_CHECKING:
    from calc.evidence.classes import Nearness
    from calc.layouts.layout import Choice, Row, Start
    from calc.searching.report import ReportRow, SearchReport
    from catalogue.planning import Goal

common = messages("common")
say = messages("calc/commands/deciding/answered")

MEMORY = "memory_capacity"  # limit of a deployment that does not fit
QUANTITIES = ("throughput_per_card", "throughput", "ttft", "tpot", "e2e", "cost", "power", "energy",
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
    layouts = (translated(choice.layouts) + spoken(steps_of(choice)) for choice in row.choices)
    return f"{formats} {' + '.join(layouts)}"


def interval(row: ReportRow, name: str) -> str:
    """A quantity with its 80% interval, if it has one."""
    if name not in row.amounts:
        return f"{head(name)} {amount(name, row.row.quantities[name])}"
    words = formatted(row.amounts[name])
    return spoken(say("cost-is", cost=words)) if name == "cost" else f"{head(name)} {words}"


def agent_cost(goal: Goal, row: ReportRow) -> list[str]:
    """Cost of a million processed tokens and of an agent's task; none for other loads."""
    agent, costs = goal.demand.agent, row.agent_costs
    if agent is None or not costs:
        return []
    return [spoken(say("agent-cost", turns=agent.turns,
                       processed=formatted(costs["per_million_processed"]),
                       task=formatted(costs["per_task"])))]


def sentences(parts: list[str]) -> str:
    """Parts of a sentence one after the other."""
    return spoken(("; ", "；")).join(parts)


def starts(start: Start | None) -> str:
    """The engine release that starts a deployment, or why none does."""
    if start is None:
        return ""
    return spoken(say("none-starts", why=start.why) if start.engine is None
                  else common("starts-under", engine=start.engine))


def start_command(start: Start | None, file: str) -> str:
    """The command that writes what starts a deployment of a file, or why no release does."""
    if start is None or start.engine is None:
        return starts(start)
    return f"python -m calc deploy {file} --engine {start.engine} -o DIR"


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


def unrun_words(row: ReportRow) -> list[str]:
    """Why no engine runs a deployment; nothing where one does."""
    return list(dict.fromkeys(spoken(say("none-runs", why=translated(why))) for why in row.unrun))


def formats(rows: Sequence[ReportRow]) -> dict[str, list[str]]:
    """Each format of some deployments by name: its quality, kernels and checkpoints."""
    kernels, checkpoints = (defaultdict[str, list[str]](list) for _ in range(2))
    words = dict[str, Pair]()
    for row in rows:
        words |= {quality.precision: quality.words for quality in row.quality}
        for choice, kernel in zip(row.row.choices, row.kernels, strict=True):
            kernels[choice.precision] += [spoken(kernel.brief)] if kernel else []
            checkpoints[choice.precision] += [spoken(row.start.loads)] if (
                row.start and row.start.loads) else []
    return {name: [spoken(quality), *(
        spoken(say("kernels-and-checkpoints", part=part, first=not number, name=label))
        for part, labels in (("kernel", kernels), ("checkpoint", checkpoints))
        for number, label in enumerate(dict.fromkeys(labels[name])))]
        for name, quality in words.items()}


def near(model: str, evidence: Nearness) -> str:
    """What was measured near a deployment of a model, in one sentence."""
    if evidence.nearest is None:
        return spoken(say("nothing-near"))
    other = load_scenario(evidence.nearest).model.id
    outside = [spoken(say("outside-of", axis=axis_label(axis.name), value=_amount_of(axis.value),
                          named=axis.name in NAMES, ends=_ends(axis)))
               for axis in evidence.outside]
    return spoken(say("near", nearest=evidence.nearest, beyond=bool(outside),
                      outside=listing(outside), other=other != model, model=other))


def nearest_words(report: SearchReport, row: Row) -> str:
    """By how much a deployment misses a limit."""
    limit = report.nearest_limit
    if limit == MEMORY:
        return spoken(say("short", label=row_label(row),
                          short=human(row.quantities["short"], "B")))
    money = report.goal.currency if limit == "cost" else None
    return spoken(say(
        "over-a-limit", label=row_label(row), quantity=head(limit),
        value=amount(limit, row.quantities[limit]), priced=money is not None, currency=money or "",
        limit=amount(limit, report.limits[limit]), factor=human(1 + row.over[limit])))


def _amount_of(value: Any) -> str:
    return human(value) if isinstance(value, float) else str(value)


def _ends(axis: Any) -> str:
    low, *high = dict.fromkeys(_amount_of(value) for value in axis.covered)
    return spoken(common("from-low-to-high", low=low, high=high[0])) if high else low
