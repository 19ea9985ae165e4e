"""``search``: from a goal to every deployment that meets it, the best, and why not others."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console

from calc.commands.arguments import add_settings
from calc.commands.deciding.answered import (
    QUANTITIES,
    agent_cost,
    amount,
    brief,
    formats,
    head,
    interval,
    near,
    nearest_words,
    row_label,
    sentences,
    short_head,
    short_label,
    start_command,
    steps_of,
    unrun_words,
)
from calc.commands.printing import (
    INTERRUPTED,
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
from calc.layouts.layout import set_line
from catalogue import ParamsError
from catalogue.deployments.cuts import written
from catalogue.messages import messages
from catalogue.planning import MEAN
from catalogue.reading.files import write_whole

if TYPE_CHECKING:
    from calc.layouts.layout import Row, Start
    from calc.searching.report import Beside, RankedRow, Rejected, SearchReport, Surer
    from calc.searching.search import Stopped

say = messages("calc/commands/deciding/search")

UNMET = 3  # exit code of a goal that nothing meets
FLAGS = {"users": "demand.users", "input": "demand.input_tokens", "output": "demand.output_tokens",
         "tpot": "limits.tpot", "ttft": "limits.ttft", "devices": "devices", "cards": "cards.most",
         "sure": "limits.sure"}
INSIDE = "inside"  # of what was measured: how that file's name ends
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
    command.add_argument("--all", action="store_true", help=spoken(say("help-all")))
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
    from calc.searching.search import Stopped

    flags = [f"{key}={getattr(args, flag)}" for flag, key in FLAGS.items()
             if getattr(args, flag) is not None]
    flags += [f"space.{name}=true" for name in ("any_engine", "any_format") if getattr(args, name)]
    if args.workers < 1:
        raise ParamsError(spoken(say("workers", count=args.workers)))
    goal = load_goal(args.goal, [*args.settings, *flags])

    def show(pools: str, done: int, total: int) -> None:
        bar(spoken(say("trying", pools=pools) if total else say("ranking")), done, total)

    try:
        with progress() as bar:
            report = search(goal, workers=args.workers, progress=show, everything=args.all)
    except Stopped as stopped:
        print_stopped(stopped, args.json)
        return INTERRUPTED
    files = write_files(report, Path(args.out)) if args.out and report.met else []
    if args.json:
        print_json(report.as_json() | why_unmet(report) | (
            {"files": [str(path) for path in files]} if files else {}))
    else:
        print_report(report, files)
    return OK if report.met else UNMET


def why_unmet(report: SearchReport) -> dict[str, str]:
    """Why nothing meets the goal, as plain data; nothing where it is met, or nearly."""
    if report.why is not None:
        return {"why": spoken(report.why)}
    if not report.nearest or report.missed or report.refused:
        return {}
    return {"why": nearest_words(report, report.nearest[0], report.limits_of_nearest[0])}


def print_stopped(stopped: Stopped, as_json: bool) -> None:
    """Print the best deployments that an interrupted search has found, at central values."""
    from calc.searching.selection import MOST_TOLD, Selection

    result = stopped.result
    rows = Selection(result).central_front[:MOST_TOLD]
    one, two = stopped.done, len(result.pairs.pools) if result.pairs else 0
    of_one, goal = len(result.bases), result.wishes.goal
    of_two = len(result.space.bases()) if "two" in goal.space.pools else 0
    if as_json:
        print_json({"goal": goal.id, "interrupted": {"one": [one, of_one], "two": [two, of_two]},
                    "front": [row.as_json() for row in rows]})
        return
    screen = console()
    tell(screen, spoken(say("stopped", found=len(rows), one=f"{one:,}", of_one=f"{of_one:,}",
                            two=f"{two:,}", of_two=f"{of_two:,}")))
    for number, row in enumerate(rows, 1):
        seen = listing(f"{head(name)} {amount(name, row.quantities[name])}"
                       for name in QUANTITIES if name in row.quantities)
        tell(screen, f"{number:>3}. {sentences([row_label(row), seen])}")
        if row.prefill is None:
            tell(screen, f"     {set_line(row.choice.settings())}")


def write_files(report: SearchReport, folder: Path) -> list[Path]:
    """Write scenario files of the rows of a report, in their order, and of the best that lies
    inside of what was measured.

    Raises ParamsError for a folder that cannot be written to, or that holds another such file.
    """
    from calc.layouts.layout import family, text

    goal, beside = report.goal, report.beside
    rows = {f"{number}": row.row for number, row in enumerate(report.rows, 1)}
    if beside and beside.is_outside and beside.inside:
        rows[INSIDE] = beside.inside.row
    files = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, row in rows.items():
            path = folder / f"{goal.id}-{name}.yml"
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
        if report.beside:
            print_beside(screen, report, report.beside, files)
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
    """What was left out, tried and written; sentences."""
    funnel, detailed = report.funnel, report.everything or not report.met
    lines = packed(spoken(say("usual")), [layout_words(report, layout) for layout in report.usual])
    lines += packed(spoken(say("rejected")), [format_words(report, row) for row in report.rejected])
    if report.left_out:
        names = [spoken(say("pools", name=name.partition(" pool")[0])) for name in report.left_out]
        lines.append(spoken(say("left-out", names=listing(names))))
    if report.pairs and detailed:
        first, then, compared = (f"{count:,}" for count in report.pairs)
        lines.append(spoken(say("two-pools", prefill=first, decode=then, compared=compared)))
    if funnel.deployments and detailed:
        lines.append(funnel_words(report))
    if funnel.counts["drafts"] and report.everything:
        count = f"{funnel.counts['drafts']:,}"
        lines.append(spoken(say("staged-drafts", count=count) if report.has_own_drafter
                            else say("without-drafts", count=count, model=report.goal.model)))
    priced = "cost" in {*report.chosen, *(report.goal.objectives or ("cost",))}
    if report.unpriced and funnel.deployments and priced:
        lines.append(spoken(say("no-price", devices=listing(report.unpriced))))
    if not detailed:
        tried = funnel.deployments + (report.pairs[2] if report.pairs else 0)
        lines.append(spoken(say("checked", tried=f"{tried:,}", rows=len(report.rows),
                                written=bool(files))))
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


def layout_words(report: SearchReport, layout: Rejected) -> str:
    """Why no row has a common layout, in words."""
    row, why = layout.row, layout.why
    name = next(name for name in (*report.chosen, "tpot") if name != "cards")
    quantity, value, limit = head(name), "", ""
    if row and why == "limit":
        quantity, value, limit = exceeded_limit(report, layout, row)
    elif row and why in ("seldom", "beaten"):
        value = amount(name, row.quantities[name], report.goal.currency)
    words = (translated(row.choice.layouts) + spoken(steps_of(row.choice)) if row
             else translated(written(layout.cut)) if layout.cut else "")
    return spoken(say(
        "usual-layout", why=why, layout=words, cards=row.devices if row else "", quantity=quantity,
        value=value, limit=limit, kept=layout.keeps is not None, share=percent(layout.keeps),
        short=human(row.quantities["short"], "B") if row and why == "memory" else "",
        cause=start_failure(report, layout.start)))


def percent(share: float | None) -> str:
    """A share of draws; empty of none."""
    return "" if share is None else f"{share:.0%}"


def exceeded_limit(report: SearchReport, layout: Rejected, row: Row) -> tuple[str, str, str]:
    """The limit that a layout exceeds most: quantity, value and limit, in words."""
    at = layout.limit
    if layout.simulated is None:
        return head(at), amount(at, row.quantities[at]), amount(at, report.limits[at])
    limits = report.goal.limits.times
    _, name, at = max((value / limits[name][at], name, at) for name, stated in
                      layout.simulated.seen.items() for at, value in stated.items())
    return (spoken(say("at", quantity=head(name), at=at)),
            human(layout.simulated.seen[name][at], "s"), human(limits[name][at], "s"))


def format_words(report: SearchReport, rejected: Rejected) -> str:
    """A format that no row has, and the reason, in words."""
    row, why = rejected.row, rejected.why
    assert row
    name = rejected.limit if why == "limit" else next(
        name for name in (*report.chosen, "tpot") if name != "cards")
    return spoken(say(
        "rejected-format", why=why, precision=rejected.name, quantity=short_head(name),
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
        assert first.row
        for line in packed(spoken(say("refused", count=len(report.refused))), [
                short_label(first.row), start_failure(report, first.start)]):
            tell(screen, line)
    if report.missed or report.overloaded:
        tell(screen, spoken(say("missed", count=len(report.missed), missed=bool(report.missed),
                                behind=report.overloaded, late=bool(report.overloaded))))


def certainty_words(row: RankedRow) -> str:
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


def quantity_words(report: SearchReport, row: RankedRow) -> str:
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


def bottleneck_words(row: RankedRow) -> str:
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
    lines = [] if report.sure is None else [
        spoken(say("drawn", tried=report.drawn, share=f"{report.sure:.0%}"))]
    counts = report.shares_by_cards
    if next(iter(report.objectives)) == "cards" and len(counts) > 1:
        lines.append(spoken(say("fewest", counts=sentences([spoken(say(
            "cards-kept", cards=cards, share=f"{share:.0%}")) for cards, share in counts]))))
    first = report.rows[0]
    if first.keeps is None or first.keeps >= SURE:
        return lines
    ways = [surer_words(change) for change in report.surer]
    ways += [spoken(say("surer-row", number=number, share=f"{row.keeps:.0%}"))
             for number, row in enumerate(report.rows, 1) if (row.keeps or 0.0) >= SURE]
    assert report.weakest
    name, at, broken = report.weakest
    weak = spoken(say("weakest", number=1, quantity=head(name), at=at, share=f"{broken:.0%}"))
    return [*lines, weak + spoken(say("surer", ways=sentences(ways)) if ways else say(
        "none-sure", share=f"{SURE:.0%}", sure=f"{SURE:g}"))]


def surer_words(change: Surer) -> str:
    """What makes the first deployment surer."""
    share = f"{change.keeps:.0%}"
    if change.what == "users":
        return spoken(say("surer-users", users=f"{change.to:,.0f}", share=share))
    return spoken(say("surer-limit", quantity=head(change.what), at=change.at,
                      value=human(change.to, "s"), share=share))


def print_unmet(screen: Console, report: SearchReport) -> None:
    """Print why nothing meets the goal, and what comes nearest."""
    if report.surest:
        nearest = report.surest
        tell(screen, spoken(say(
            "nothing-so-sure", share=f"{report.sure:.0%}", tried=report.drawn,
            label=row_label(nearest.row), keeps=f"{nearest.keeps or 0:.0%}")))
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
        assert refused.row
        tell(screen, spoken(say("nothing-starts", label=row_label(refused.row),
                                why=start_failure(report, refused.start))))
    elif report.why:
        tell(screen, spoken(say("cannot-be-laid-out", why=spoken(report.why))))
    for number, (row, limit) in enumerate(zip(
            report.nearest, report.limits_of_nearest, strict=True) if not (
            report.missed or report.refused) else ()):
        tell(screen, spoken(say("nearest-miss", first=number == 0,
                                sentence=nearest_words(report, row, limit))))
        if row.prefill is None:
            tell(screen, f"    {set_line(row.choice.settings())}")


def print_beside(screen: Console, report: SearchReport, beside: Beside, files: list[Path]
                  ) -> None:
    """Print the best inside of what was measured, by format and by card: ranked in closed form,
    not simulated."""
    lines: list[str] = []
    if beside.is_outside:
        lines.append(spoken(say("inside", told=say("inside-nothing") if beside.inside is None
                                else say("inside-best", brief=brief(beside.inside),
                                         nearest=beside.nearest))))
        if beside.inside is not None:
            file = files[-1] if files else f"{report.goal.id}-{INSIDE}.yml"
            lines.append(f"    {start_command(beside.inside.start, str(file))}")
    if report.official_precision is None:
        lines.append(spoken(say("published-unknown")))
    elif beside.official is None:
        lines.append(spoken(say("published-none", precision=report.official_precision)))
    else:
        lines.append(spoken(say("published", brief=brief(beside.official))))
    others = [head(name) for name in report.objectives if name != "cost"]
    by_device = say("by-device", unpriced=bool(report.unpriced and "cost" in report.objectives),
                    names=spoken((" then ", "、")).join(others) or say("nothing"))
    for title, rows in ((say("by-precision"), beside.by_precision), (by_device, beside.by_device)):
        if len(rows) > 1:
            lines += [spoken(title), *(f"    {brief(row)}" for row in rows)]
    for line in lines:
        tell(screen, line)


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
    """Explain each sign of the rows of a report and of its usual layouts."""
    return [spoken(say("sign", name=name)) for name in dict.fromkeys(occurring_signs(report))]


def occurring_signs(report: SearchReport) -> Iterator[str]:
    """Names of the signs in the order in which they are explained."""
    choices = [choice for row in report.rows for choice in row.row.choices]
    cuts = [*(choice.cut for choice in choices), *(
        layout.row.choice.cut if layout.row else layout.cut for layout in report.usual
        if layout.cut)]
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
