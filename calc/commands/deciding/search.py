"""``search``: from a goal to every deployment that meets it, the best, and why not others."""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console

from calc.commands.arguments import add_settings
from calc.commands.printing import (
    OK,
    cannot_be_written,
    console,
    formatted,
    listing,
    print_json,
    spoken,
    tell,
    text_of,
    translated,
)
from calc.commands.printing import amount as human
from calc.commands.progress import progress
from calc.evidence.classes import NAMES, axis_label
from calc.layouts.layout import set_line
from catalogue import ParamsError, load_scenario
from catalogue.deployments.admission import marked
from catalogue.entries.models import OWN_LAYER
from catalogue.messages import Pair, messages
from catalogue.planning import MEAN, UNITS
from catalogue.reading.files import make_folder, write_whole
from catalogue.reading.units import DIMENSIONLESS

if TYPE_CHECKING:
    from calc.evidence.classes import Nearness
    from calc.layouts.layout import Choice, Row, Start
    from calc.searching.report import Rejected, ReportRow, SearchReport
    from catalogue.planning import Goal

common = messages("common")
say = messages("calc/commands/deciding/search")

MEMORY = "memory_capacity"  # limit of a deployment that does not fit
QUANTITIES = ("throughput_per_card", "throughput", "ttft", "tpot", "e2e", "cost", "power", "energy",
        "longest_context")
"""Quantities in the order in which they are told."""

UNMET = 3  # exit code of a goal that nothing meets
FLAGS = {"users": "demand.users", "input": "demand.input_tokens", "output": "demand.output_tokens",
         "tpot": "limits.tpot", "ttft": "limits.ttft", "devices": "devices", "cards": "cards.most",
         "sure": "limits.sure"}
INDENT = 12  # columns of a label before its words
WIDE = 240  # columns of a line that is made of several parts
SEEN = ("ttft", "tpot", "e2e", "throughput", "cost", "power", "energy", "longest_context")
MOST_WORKERS = 8  # processes of one search, by default


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``search`` takes, besides ``--json``."""
    command.add_argument("goal", help=spoken(say("help-goal")))
    add_settings(command, say("help-set"), metavar="KEY=VALUE")
    for flag, key in FLAGS.items():
        command.add_argument(f"--{flag}", metavar="VALUE",
                             help=spoken(say("help-same-as-set", key=key)))
    command.add_argument("--any-engine", action="store_true", help=spoken(say("help-any-engine")))
    command.add_argument("--any-format", action="store_true", help=spoken(say("help-any-format")))
    command.add_argument("-o", "--out", metavar="DIR", help=spoken(say("help-out")))
    command.add_argument("--workers", type=int, metavar="N",
                         default=min(MOST_WORKERS, os.cpu_count() or 1),
                         help=spoken(say("help-workers")))


def run(args: argparse.Namespace) -> int:
    """Print what meets a goal; exit code 3 if nothing does.

    Raises ParamsError for a goal that cannot be used, or contradicts itself.
    """
    from calc.launching.starting import search
    from calc.searching.goal import load_goal

    flags = [f"{key}={getattr(args, flag)}" for flag, key in FLAGS.items()
             if getattr(args, flag) is not None]
    flags += [f"space.{name}=true" for name in ("any_engine", "any_format") if getattr(args, name)]
    if args.workers < 1:
        raise ParamsError(spoken(say("workers", count=args.workers)))
    goal = load_goal(args.goal, [*args.settings, *flags])

    def show(pools: str, done: int, total: int) -> None:
        bar(spoken(say("trying", pools=pools) if total else say("ranking")), done, total)

    with progress() as bar:
        report = search(goal, workers=args.workers, progress=show)
    files = write_files(report, Path(args.out)) if args.out and report.rows else []
    if args.json:
        print_json(report.as_json() | why_unmet(report) | (
            {"files": [str(path) for path in files]} if files else {}))
    else:
        print_report(report, files)
    return OK if report.rows else UNMET


def why_unmet(report: SearchReport) -> dict[str, str]:
    """Why nothing meets the goal, as plain data; nothing where it is met, or nearly."""
    if report.why is not None:
        return {"why": spoken(report.why)}
    if not report.nearest or report.missed or report.refused:
        return {}
    return {"why": nearest_words(report, report.nearest)}


def write_files(report: SearchReport, folder: Path) -> list[Path]:
    """Write scenario files of the rows of a report, in their order.

    Raises ParamsError for a folder that cannot be written to, or that holds another such file.
    """
    from calc.layouts.layout import family, text

    goal, files = report.goal, []
    try:
        make_folder(folder)
        for number, row in enumerate((row.row for row in report.rows), 1):
            path = folder / f"{goal.id}-{number}.yml"
            contents = (text(goal, row.choice) if row.prefill is None
                        else family(goal, row.prefill, row.choice)).encode()
            if path.exists() and path.read_bytes() != contents:
                raise ParamsError(spoken(say("another-file", path=str(path))))
            write_whole(path, contents)
            files.append(path)
    except OSError as error:
        raise ParamsError(cannot_be_written(folder, error)) from None
    return files


def print_report(report: SearchReport, files: list[Path]) -> None:
    """Print a report, part by part."""
    screen, goal = console(), report.goal
    tell(screen, spoken(say("title", title=translated(goal.title), limits=limit_words(report),
                            limited=bool(report.limits or goal.limits.times),
                            best=listing(map(head, report.chosen)))))
    for note in report.notes:
        tell(screen, spoken(note))
    if report.rows:
        print_rows(screen, report, files)
    else:
        print_unmet(screen, report)
    names = {*report.chosen, *report.limits}
    for way in report.ways:
        tell(screen, spoken(say(
            "way-out", what=way.what, cards=way.cards, label=row_label(way.first.row),
            seen=sentences([interval(way.first, name) for name in QUANTITIES
                            if name in names and name in way.first.row.quantities]))))
    for line in closing_lines(report, files):
        tell(screen, line)


def limit_words(report: SearchReport) -> str:
    """Limits of a goal, one after the other."""
    times = report.goal.limits.times
    return listing([*(spoken(say("limit", quantity=head(name), at=at, value=human(limit, "s")))
                      for name, stated in times.items() for at, limit in stated.items()),
                    *(f"{head(name)} {amount(name, limit)}"
                      for name, limit in report.limits.items() if name not in times)])


def closing_lines(report: SearchReport, files: list[Path]) -> list[str]:
    """What was rejected, tried and written; sentences."""
    funnel = report.funnel
    lines = packed(spoken(say("rejected")), [format_words(report, row) for row in report.rejected])
    if report.pairs:
        first, then, compared = (f"{count:,}" for count in report.pairs)
        lines.append(spoken(say("two-pools", prefill=first, decode=then, compared=compared)))
    if funnel.deployments:
        lines.append(funnel_words(report))
    priced = "cost" in {*report.chosen, *(report.goal.objectives or ("cost",))}
    if report.unpriced and funnel.deployments and priced:
        lines.append(spoken(say("no-price", devices=listing(report.unpriced))))
    lines += [spoken(say("wrote", path=str(path))) for path in files]
    return lines + (packed(spoken(say("signs")), legend(report)) if report.rows else [])


def packed(title: str, parts: Sequence[str], indent: str = "     ") -> list[str]:
    """Parts after a title, several to a line of at most ``WIDE`` columns; nothing of none."""
    lines, between = [title], spoken(("; ", "；"))
    for number, part in enumerate(parts):
        if number and cell_len(lines[-1] + part) > WIDE:
            lines[-1] = lines[-1].rstrip()
            lines.append(indent)
        lines[-1] += part + (between if number + 1 < len(parts) else spoken((".", "。")))
    return lines if parts else []


def percent(share: float | None) -> str:
    """A share of draws; empty of none."""
    return "" if share is None else f"{share:.0%}"


def format_words(report: SearchReport, rejected: Rejected) -> str:
    """A format that no row has, and the reason, in words."""
    row, why = rejected.row, rejected.why
    name = rejected.limit if why == "limit" else next(
        name for name in (*report.chosen, "tpot") if name != "cards")
    return spoken(say(
        "rejected-format", why=why, precision=rejected.precision, quantity=short_head(name),
        value="" if why in ("memory", "start") else amount(
            name, row.quantities[name], report.goal.currency),
        limit=amount(name, report.limits[name]) if why == "limit" else "",
        short=human(row.quantities["short"], "B") if why == "memory" else "",
        layout=translated(row.choice.layouts), devices=row.devices,
        share=percent(rejected.keeps), cause=start_failure(report, rejected.start)))


def start_failure(report: SearchReport, start: Start | None) -> str:
    """Why no release starts a deployment, without the name that its file would have."""
    return start.why.removeprefix(f"'{report.goal.id}': ") if start else ""


def print_rows(screen: Console, report: SearchReport, files: list[Path]) -> None:
    """Print the ranked rows with quantities, and what the first rests on."""
    for number, row in enumerate(report.rows, 1):
        tell(screen, f"{number:>3}. {row_label(row.row)}{certainty_words(row)}")
        parts = [("users", quantity_words(report, row)),
                 *(("runs", why) for why in unrun_words(row))]
        if number == 1:
            parts += [*(("costs", costs) for costs in agent_cost(report.goal, row)),
                      ("limited", bottleneck_words(row)),
                      *(("cache", spoken(words)) for words in row.startup_words),
                      ("evidence", near(report.goal.model, row.near))]
        file = str(files[number - 1]) if files else f"{report.goal.id}-{number}.yml"
        command = start_command(row.start, file)
        if command and (number == 1 or row.start is None or row.start.engine is None):
            parts.append(("start", command))
        for part, text in parts:
            name = spoken(say("part", name=part))
            tell(screen, f"     {name}{' ' * (INDENT - cell_len(name))}{text}")
    of_formats = formats(report.rows)
    width = max(map(cell_len, of_formats))
    for name, lines in of_formats.items():
        for line in packed(f"     {name:<{width}}  ", lines, " " * (width + 7)):
            tell(screen, line)
    stand_ins = dict.fromkeys(spoken(row.stand_ins) for row in report.rows if row.stand_ins)
    for line in (*router_lines(report), *stand_ins, *certainty_lines(report)):
        tell(screen, line)
    if report.refused:
        first = report.refused[0]
        for line in packed(spoken(say("refused", count=len(report.refused))), [
                short_label(first.row), start_failure(report, first.start)]):
            tell(screen, line)
    if report.missed:
        tell(screen, spoken(say("missed", count=len(report.missed))))


def certainty_words(row: ReportRow) -> str:
    """How often a row keeps the limits, and why one that is better stands below the first."""
    from calc.searching.ranking import LITTLE

    later = spoken(say("later", why=row.later, share=f"{LITTLE:.0%}")) if row.later else ""
    if row.keeps is None:
        return later and f" ({later})"
    return spoken(say("keeps", share=f"{row.keeps:.0%}", below=bool(later), later=later))


def router_lines(report: SearchReport) -> list[str]:
    """Rows whose prefix hits need a session to return to the same replica or DP rank."""
    several = [f"{number}" for number, row in enumerate(report.rows, 1)
               if row.row.prefill is None and row.row.choice.cut.data > 1]
    if not report.goal.demand.prefix_hit_share or not several:
        return []
    return [spoken(say("router", rows=listing(several), count=len(several)))]


def quantity_words(report: SearchReport, row: ReportRow) -> str:
    """Latency, throughput and cost of a row: means with intervals, and the limited percentiles."""
    from calc.searching.ranking import LITTLE

    names = (*report.chosen, *report.limits, "tpot", "ttft", "throughput")
    parts = []
    for name in (name for name in SEEN if name in names and name in row.row.quantities):
        stated = row.simulated.seen.get(name, {}) if row.simulated else {}
        stated = {at: value for at, value in stated.items() if at != MEAN or (
            value > (1 + LITTLE) * row.row.quantities[name])}
        words = formatted(row.amounts[name]) if name == "throughput" else interval(row, name)
        if name == "throughput" and "throughput_per_card" in names:
            words = spoken(say("of-all-and-card", whole=words, card=text_of(
                row.amounts["throughput_per_card"])))
        parts.append(listing([words, *(
            spoken(say("at-percentile", at=at, value=human(value, "s")))
            for at, value in stated.items())]))
    if row.pools:
        parts.append(spoken(say("pool-binds", pool=row.row.binds,
                                users=f"{row.pools.loop.users:,.0f}")))
    return sentences(parts)


def bottleneck_words(row: ReportRow) -> str:
    """What binds a decode step, and the memory of a card."""
    memory = row.memory
    total = memory.weights + memory.cache + memory.besides
    return spoken(say(
        "limited-by", resource=row.resource, share=f"{row.share:.0%}",
        weights=human(memory.weights, "B"), cache=human(memory.cache, "B"),
        besides=human(memory.besides, "B"), whole=human(total, "B"),
        capacity=human(memory.capacity, "B"), near=bool(row.limit),
        quantity=head(row.limit) if row.limit else ""))


def certainty_lines(report: SearchReport) -> list[str]:
    """What is surer than the first, or how surely that was found."""
    from calc.searching.ranking import SURE

    if not report.limits:
        return []
    first, weakest = report.rows[0], report.weakest
    if weakest is None or first.keeps is None or first.keeps >= SURE:
        return []
    ways = [] if weakest.wider is None else [spoken(say(
        "surer-limit", quantity=head(weakest.name), at=weakest.at,
        value=human(weakest.wider, "s"), share=f"{SURE:.0%}"))]
    ways += [spoken(say("surer-row", number=number, share=f"{row.keeps:.0%}"))
             for number, row in enumerate(report.rows, 1) if (row.keeps or 0.0) >= SURE]
    weak = spoken(say("weakest", number=1, quantity=head(weakest.name), at=weakest.at or MEAN,
                      share=f"{weakest.broken:.0%}"))
    return [weak + spoken(say("surer", ways=sentences(ways)) if ways else say(
        "none-sure", share=f"{SURE:.0%}", sure=f"{SURE:g}"))]


def print_unmet(screen: Console, report: SearchReport) -> None:
    """Print why nothing meets the goal, and what comes nearest."""
    if nearest := report.surest:
        tell(screen, spoken(say(
            "nothing-so-sure", share=percent(report.goal.limits.sure),
            label=row_label(nearest.row), keeps=percent(nearest.keeps))))
        tell(screen, f"    {set_line(nearest.row.choice.settings())}")
    elif report.missed:
        first, limits = report.missed[0], report.goal.limits.times
        seen = listing(spoken(say("seen-over", quantity=head(name), at=at, value=human(value, "s"),
                                  limit=human(limits[name][at], "s")))
                       for name, stated in first.seen.items() for at, value in stated.items())
        tell(screen, spoken(say("nothing-keeps", count=len(report.missed),
                                label=row_label(first.row), seen=seen)))
    elif report.refused:
        refused = report.refused[0]
        tell(screen, spoken(say("nothing-starts", label=row_label(refused.row),
                                why=start_failure(report, refused.start))))
    elif report.why:
        tell(screen, spoken(say("cannot-be-laid-out", why=spoken(report.why))))
    if (row := report.nearest) and not (report.missed or report.refused):
        tell(screen, spoken(say("nearest-miss", sentence=nearest_words(report, row))))
        if row.prefill is None:
            tell(screen, f"    {set_line(row.choice.settings())}")


def funnel_words(report: SearchReport) -> str:
    """What was tried and what became of it, in one sentence."""
    from calc.searching.candidates import PER_DOUBLING
    from calc.searching.search import COUNTED, bound_words

    funnel, demand = report.funnel, report.goal.demand
    parts = [spoken(say("became", count=f"{funnel.counts[name]:,}", words=bound_words()[name]))
             for name in COUNTED if funnel.counts[name]]
    listed = report.goal.space.batches or (demand.users is not None and not demand.think_time)
    return spoken(say("funnel", tried=f"{funnel.deployments:,}", parts=listing(parts),
                      grid="" if listed else say("grid", numbers=PER_DOUBLING)))


def legend(report: SearchReport) -> list[str]:
    """Explain each sign of the rows of a report."""
    return [spoken(say("sign", name=name)) for name in dict.fromkeys(occurring_signs(report))]


def occurring_signs(report: SearchReport) -> Iterator[str]:
    """Names of the signs in the order in which they are explained."""
    choices = [choice for row in report.rows for choice in row.row.choices]
    cuts = [choice.cut for choice in choices]
    occurs = {
        "tensor": True, "data": any(cut.joined > 1 for cut in cuts),
        "pipeline": any(cut.pipeline > 1 for cut in cuts),
        "context": any(cut.context > 1 for cut in cuts),
        "expert": any(cut.expert > 1 for cut in cuts), "spares": any(cut.spares for cut in cuts),
        "chunk": True, "micro_batches": any(choice.micro_batches > 1 for choice in choices),
        "drafts": any(cut.drafts for cut in cuts), "flight": True,
        "cost": "cost" in {*report.chosen, *report.limits},
        "draws": any(row.keeps is not None for row in report.rows), "interval": True}
    return (name for name, present in occurs.items() if present)


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
    return spoken(say("row-of-two-pools", cards=cards, prefill=first, decode=then,
                      requests=requests))


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
    outside = []
    for axis in evidence.outside:
        low, *high = dict.fromkeys(map(_amount_of, axis.covered))
        outside.append(spoken(say(
            "outside-of", axis=axis_label(axis.name), value=_amount_of(axis.value),
            named=axis.name in NAMES,
            ends=spoken(common("from-low-to-high", low=low, high=high[0])) if high else low)))
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
