"""``search``: from a goal to every deployment that meets it, the best, and why not others."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console

from calc.commands.arguments import add_settings
from calc.commands.deciding.answered import (
    TOLD,
    agent_cost,
    amount,
    brief,
    caveats,
    formats,
    head,
    interval,
    longer,
    near,
    prints,
    row_label,
    sentences,
    short_head,
    short_label,
    start_command,
    started,
    steps_of,
    stood_in,
    unrun_words,
)
from calc.commands.deciding.legend import legend
from calc.commands.deciding.missing import nearest, sentence, why_none
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
from catalogue.messages import Pair, messages
from catalogue.planning.goals import MEAN
from catalogue.reading.files import write_whole

if TYPE_CHECKING:
    from calc.layouts.layout import Row
    from calc.searching.ranking import SampledRow
    from calc.searching.report import Rejected, ReportRow, SearchReport, Surer, Usual
    from calc.searching.search import Stopped
    from calc.searching.selection import Answer
    from catalogue.planning.goals import Goal

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
    from calc.searching.goal import load_goal
    from calc.searching.search import Stopped

    flags = [f"{key}={getattr(args, flag)}" for flag, key in FLAGS.items()
             if getattr(args, flag) is not None]
    flags += [f"space.{name}=true" for name in ("any_engine", "any_format") if getattr(args, name)]
    if args.workers < 1:
        raise ParamsError(spoken(say("workers", count=args.workers)))
    goal = load_goal(args.goal, [*args.settings, *flags])
    try:
        told, near = _found(goal, args)
    except Stopped as stopped:
        _tell_stopped(stopped, args.json)
        return INTERRUPTED
    met = told.answer.met
    files = _written(told, near, Path(args.out)) if args.out and met else []
    if args.json:
        print_json(_data(told, near, args) | (
            {"files": [str(path) for path in files]} if files else {}))
    else:
        _print(told, near, files, args.all)
    return OK if met else UNMET


def _found(goal: Goal, args: argparse.Namespace) -> tuple[SearchReport, Row | None]:
    """The answer, and the best that lies inside of what was measured.

    Raises Stopped when it is interrupted.
    """
    from calc.launching.starting import search
    from calc.searching.alternatives import inside
    from calc.searching.report import SearchReport
    from calc.searching.search import Stopped

    with progress() as told:
        answer = search(goal, workers=args.workers, told=lambda pools, done, of: told(
            spoken(say("trying", pools=pools)), done, of))
        told(spoken(say("ranking")), 0, 0)
        try:
            return SearchReport.of(answer), inside(answer) if args.all else None
        except KeyboardInterrupt:
            raise Stopped(answer.result, len(answer.result.bases)) from None


def _data(told: SearchReport, near: Row | None, args: argparse.Namespace) -> dict[str, Any]:
    """An answer as plain data."""
    from calc.answer.startup_line import startup_lines

    answer = told.answer
    data = told.as_json() | _missing(answer)
    data |= {"refused_requests": refused[0]} if (refused := longer(answer)) else {}
    for row, (first, *_) in zip(told.rows, data.get("front", ()), strict=False):
        first["startup_lines"] = startup_lines(started(answer, row.row))
    if args.all and answer.met:
        data |= answer.beside_json() | {"inside": near and answer.beside(near)}
    return data


def _tell_stopped(stopped: Stopped, as_json: bool) -> None:
    """Print the best deployments that an interrupted search has found, at central values."""
    from calc.searching.selection import MOST_TOLD, Answer

    found = stopped.result
    rows = Answer(found).central_front[:MOST_TOLD]
    one, two = stopped.done, len(found.pairs.pools) if found.pairs else 0
    of_one, goal = len(found.bases), found.wishes.goal
    of_two = len(found.space.bases()) if "two" in goal.space.pools else 0
    if as_json:
        print_json({"goal": goal.id, "interrupted": {"one": [one, of_one], "two": [two, of_two]},
                    "front": [row.as_json() for row in rows]})
        return
    screen = console()
    tell(screen, spoken(say("stopped", found=len(rows), one=f"{one:,}", of_one=f"{of_one:,}",
                            two=f"{two:,}", of_two=f"{of_two:,}")))
    for number, row in enumerate(rows, 1):
        seen = listing(f"{head(name)} {amount(name, row.quantities[name])}"
                       for name in TOLD if name in row.quantities)
        tell(screen, f"{number:>3}. {sentences([row_label(row), seen])}")
        if row.prefill is None:
            tell(screen, f"     {set_line(row.choice.settings())}")


def _missing(answer: Answer) -> dict[str, Any]:
    """Why nothing meets the goal and what is nearest, as plain data; nothing where it is met."""
    if answer.met or answer.sure or answer.missed or answer.refused:
        return {}
    rows = nearest(answer)
    if not rows:
        return {"why": why_none(answer)}
    return {"why": sentence(answer, rows[0]), "nearest_miss": rows[0].as_json() | {
        "binds": answer.binds(rows[0])}}


def _written(told: SearchReport, near: Row | None, folder: Path) -> list[Path]:
    """Scenario files of the rows of a report, in their order, and of the best that lies inside of
    what was measured.

    Raises ParamsError for a folder that cannot be written to, or that holds another such file.
    """
    from calc.layouts.layout import family, text

    goal = told.answer.result.wishes.goal
    texts = {f"{goal.id}-{number}.yml": text(goal, row.choice) if row.prefill is None
             else family(goal, row.prefill, row.choice)
             for number, row in [*enumerate((each.row for each in told.rows), 1),
                                 *([(INSIDE, near)] if near and _outside(told.answer) else [])]}
    files = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, whole in texts.items():
            path, contents = folder / name, whole.encode()
            if path.exists() and path.read_bytes() != contents:
                raise ParamsError(spoken(say("another-file", path=str(path))))
            write_whole(path, contents)
            files.append(path)
    except OSError as error:
        raise ParamsError(cannot_be_written(folder, error)) from None
    return files


def _outside(answer: Answer) -> bool:
    """Whether the first that is told lies outside of what was measured."""
    return answer.best is not None and bool(answer.near(answer.best).outside)


def _print(told: SearchReport, near: Row | None, files: list[Path], everything: bool) -> None:
    answer = told.answer
    screen, goal = console(), answer.result.wishes.goal
    tell(screen, spoken(say("title", title=translated(goal.title), limits=_limits(answer),
                            limited=bool(answer.result.wishes.limits or goal.limits.times),
                            best=listing(map(head, answer.result.wishes.chosen)))))
    for line in (*caveats(answer), *longer(answer)):
        tell(screen, line)
    if answer.sure and not answer.met and answer.sure.surest:
        _print_unsure(screen, answer, answer.sure.surest)
    elif answer.met:
        _print_rows(screen, told, files)
        if everything:
            _print_all(screen, answer, near, files)
    elif answer.missed:
        _print_missed(screen, answer)
    elif answer.refused:
        _print_refused(screen, answer)
    else:
        _print_miss(screen, answer)
    for way in told.ways:
        row = way.each.row
        tell(screen, spoken(say(
            "way-out", what=way.what, cards=way.cards, label=row_label(row),
            seen=sentences([interval(way.each, name) for name in TOLD
                            if name in (*answer.result.wishes.chosen, *answer.result.wishes.limits)
                            and name in row.quantities]))))
    for line in _after(told, files, everything):
        tell(screen, line)


def _limits(answer: Answer) -> str:
    """Limits of a goal, one after the other."""
    wishes = answer.result.wishes
    times = wishes.goal.limits.times
    return listing([*(spoken(say("limit", quantity=head(name), at=at, value=human(limit, "s")))
                      for name, stated in times.items() for at, limit in stated.items()),
                    *(f"{head(name)} {amount(name, limit)}"
                      for name, limit in wishes.limits.items() if name not in times)])


def _after(told: SearchReport, files: list[Path], everything: bool) -> list[str]:
    """What was left out, tried and written; sentences."""
    answer = told.answer
    found, lines = answer.result, []
    lines += packed(spoken(say("usual")), [_usual(answer, each) for each in told.usual])
    lines += packed(spoken(say("rejected")), [_rejected(answer, each) for each in told.rejected])
    if answer.left_out:
        names = [spoken(say("pools", name=name.partition(" pool")[0])) for name in answer.left_out]
        lines.append(spoken(say("left-out", names=listing(names))))
    if found.pairs and (everything or not answer.met):
        first, then, compared = (f"{count:,}" for count in found.pairs.tried)
        lines.append(spoken(say("two-pools", prefill=first, decode=then, compared=compared)))
    if found.funnel.deployments and (everything or not answer.met):
        lines.append(_funnel(answer))
    if found.funnel.counts["drafts"] and everything:
        lines.append(_undrafted(answer))
    priced = {"cost"} & {*found.wishes.chosen, *(found.wishes.goal.objectives or ("cost",))}
    if found.wishes.unpriced and found.funnel.deployments and priced:
        lines.append(spoken(say("no-price", devices=listing(found.wishes.unpriced))))
    if answer.met and not everything:
        tried = found.funnel.deployments + (found.pairs.tried[2] if found.pairs else 0)
        lines.append(spoken(say("checked", tried=f"{tried:,}", rows=len(told.rows),
                                written=bool(files))))
    lines += [spoken(say("wrote", path=str(path))) for path in files]
    return lines + (packed(spoken(say("signs")), legend(told)) if told.rows else [])


def packed(title: str, parts: Sequence[str], indent: str = "     ") -> list[str]:
    """Parts after a title, several to a line of at most ``WIDE`` columns; nothing of none."""
    lines, between = [title], spoken(("; ", "；"))
    for number, part in enumerate(parts):
        if number and cell_len(lines[-1] + part) > WIDE:
            lines[-1] = lines[-1].rstrip()
            lines.append(indent)
        lines[-1] += part + (between if number + 1 < len(parts) else spoken((".", "。")))
    return lines if parts else []


def _usual(answer: Answer, each: Usual) -> str:
    """Why no row has a common layout, in words."""
    row, name = each.row, next(
        name for name in (*answer.result.wishes.chosen, "tpot") if name != "cards")
    if row is None:
        return spoken(say("usual-layout", why=each.why, layout=translated(written(each.cut)),
                          cards="", quantity="", value="", limit="", short="", kept=False,
                          share="", cause=""))
    money = answer.result.wishes.goal.currency
    reached = amount(name, row.quantities[name], money) if each.why in ("seldom", "beaten") else ""
    at, value, limit = _over(answer, each) if each.why == "limit" else (head(name), reached, "")
    start = answer.start(row) if each.why == "start" else None
    return spoken(say(
        "usual-layout", why=each.why, cards=row.devices, quantity=at, value=value, limit=limit,
        layout=translated(row.choice.layouts) + spoken(steps_of(row.choice)),
        short=human(row.quantities["short"], "B") if each.why == "memory" else "",
        kept=each.keeps is not None, share=_percent(each.keeps),
        cause=_cause(answer, start.why) if start else ""))


def _percent(share: float | None) -> str:
    """A share of draws; empty of none."""
    return "" if share is None else f"{share:.0%}"


def _over(answer: Answer, each: Usual) -> tuple[str, str, str]:
    """The limit that a layout exceeds most: quantity, value and limit, in words."""
    assert each.row
    if each.seen is None:
        at = answer.binds(each.row)
        return (head(at), amount(at, each.row.quantities[at]),
                amount(at, answer.result.wishes.limits[at]))
    limits = answer.result.wishes.goal.limits.times
    _, name, at = max((value / limits[name][at], name, at)
                      for name, stated in each.seen.seen.items() for at, value in stated.items())
    return (spoken(say("at", quantity=head(name), at=at)),
            human(each.seen.seen[name][at], "s"), human(limits[name][at], "s"))


def _rejected(answer: Answer, each: Rejected) -> str:
    """A format that no row has, and the reason, in words."""
    row, at = each.row, answer.binds(each.row)
    name = next(name for name in (*answer.result.wishes.chosen, "tpot") if name != "cards")
    value = "" if each.why in ("memory", "start") else amount(
        of := at if each.why == "limit" else name, row.quantities[of],
        answer.result.wishes.goal.currency)
    start = answer.start(row) if each.why == "start" else None
    return spoken(say(
        "rejected-format", why=each.why, precision=each.precision, value=value,
        quantity=short_head(at if each.why == "limit" else name),
        limit=amount(at, answer.result.wishes.limits[at]) if each.why == "limit" else "",
        short=human(row.quantities["short"], "B") if each.why == "memory" else "",
        layout=translated(row.choice.layouts), devices=row.devices,
        share=_percent(each.keeps), cause=_cause(answer, start.why) if start else ""))


def _cause(answer: Answer, why: str) -> str:
    """Why no release starts a deployment, without the name that its file would have."""
    return why.removeprefix(f"'{answer.result.wishes.goal.id}': ")


def _undrafted(answer: Answer) -> str:
    """Which layouts are tried without drafts, and why."""
    count, model = f"{answer.result.funnel.counts['drafts']:,}", answer.result.space.model
    return spoken(say("staged-drafts", count=count) if model.drafts
                  else say("without-drafts", count=count, model=model.id))


def _file(answer: Answer, number: int, files: list[Path]) -> str:
    """Where the file of a deployment that is told is, or would be."""
    return str(files[number - 1]) if files else f"{answer.result.wishes.goal.id}-{number}.yml"


def _print_rows(screen: Console, told: SearchReport, files: list[Path]) -> None:
    """What is told, the first that can stand for most: what it is, comes to, and rests on."""
    answer = told.answer
    for number, row in enumerate(told.rows, 1):
        tell(screen, f"{number:>3}. {row_label(row.row)}{_kept(row)}")
        parts = [("users", _seen(told, row)), *(("runs", why) for why in unrun_words(
            answer, row.row))]
        if number == 1:
            costs = agent_cost(row.each)
            parts += [*([("costs", costs)] if costs else []), ("limited", _limited(answer, row)),
                      *(("cache", line) for line in prints(answer, row.row)),
                      ("evidence", near(answer, row.row))]
        command = start_command(answer, row.row, _file(answer, number, files))
        if command and (number == 1 or row.start is None or row.start.engine is None):
            parts.append(("start", command))
        for part, text in parts:
            name = spoken(say("part", name=part))
            tell(screen, f"     {name}{' ' * (INDENT - cell_len(name))}{text}")
    of_formats = formats(answer, [row.row for row in told.rows])
    width = max(map(cell_len, of_formats))
    for name, told_of in of_formats.items():
        for line in packed(f"     {name:<{width}}  ", told_of, " " * (width + 7)):
            tell(screen, line)
    for line in (*_routed(told), *stood_in(answer)):
        tell(screen, line)
    _print_sure(screen, told)
    if answer.refused:
        first = answer.refused[0]
        start = answer.start(first)
        for line in packed(spoken(say("refused", count=len(answer.refused))), [
                short_label(first), _cause(answer, start.why) if start else ""]):
            tell(screen, line)
    if answer.missed or answer.overloaded:
        tell(screen, spoken(say("missed", count=len(answer.missed), missed=bool(answer.missed),
                                behind=answer.overloaded, late=bool(answer.overloaded))))


def _kept(row: ReportRow) -> str:
    """How often a row keeps the limits, and why one that is better stands below the first."""
    from calc.searching.ranking import LITTLE

    later = spoken(say("later", why=row.later, share=f"{LITTLE:.0%}")) if row.later else ""
    if row.keeps is None:
        return later and f" ({later})"
    return spoken(say("keeps", share=f"{row.keeps:.0%}", below=bool(later), later=later))


def _routed(told: SearchReport) -> list[str]:
    """Rows whose prefix hits need a session to return to the same replica or DP rank."""
    demand = told.answer.result.wishes.goal.demand
    if not demand.prefix_hit_share:
        return []
    cuts = {number: row.row.choice.cut for number, row in enumerate(told.rows, 1)
            if row.row.prefill is None}
    several = [f"{number}" for number, cut in cuts.items() if cut.data > 1]
    return [spoken(say("router", rows=listing(several), count=len(several)))] if several else []


def _seen(told: SearchReport, row: ReportRow) -> str:
    """Latency, throughput and cost of a row: means with intervals, and the limited percentiles."""
    from calc.searching.ranking import LITTLE

    wishes, simulated = told.answer.result.wishes, row.seen
    asked = (*wishes.chosen, *wishes.limits, "tpot", "ttft", "throughput")
    found = []
    for name in (name for name in SEEN if name in asked and name in row.row.quantities):
        stated = simulated.seen.get(name, {}) if simulated else {}
        stated = {at: value for at, value in stated.items() if at != MEAN or (
            value > (1 + LITTLE) * row.row.quantities[name])}
        told_of = (formatted(row.each.amounts[name]) if name == "throughput"
                   else interval(row.each, name))
        if name == "throughput" and "throughput_per_card" in asked:
            told_of = spoken(say("of-all-and-card", whole=told_of, card=text_of(
                row.each.amounts["throughput_per_card"])))
        found.append(listing([told_of, *(
            spoken(say("at-percentile", at=at, value=human(value, "s")))
            for at, value in stated.items())]))
    binds = row.row.prefill and spoken(say(
        "pool-binds", pool=row.row.binds,
        users=f"{told.answer.loop(row.row).loop.users:,.0f}"))
    return sentences([*found, *([binds] if binds else [])])


def _limited(answer: Answer, row: ReportRow) -> str:
    """What binds a decode step, and what a card holds."""
    resource, share = row.binds
    held, tight = row.memory, answer.binds(row.row)
    whole = held.weights + held.cache + held.besides
    return spoken(say(
        "limited-by", resource=resource, share=f"{share:.0%}", weights=human(held.weights, "B"),
        cache=human(held.cache, "B"), besides=human(held.besides, "B"), whole=human(whole, "B"),
        capacity=human(held.capacity, "B"), near=bool(tight),
        quantity=head(tight) if tight else ""))


def _print_refused(screen: Console, answer: Answer) -> None:
    """That no release starts what meets the goal, and why not the first."""
    first = answer.refused[0]
    start = answer.start(first)
    tell(screen, spoken(say("nothing-starts", label=row_label(first),
                            why=_cause(answer, start.why) if start else "")))


def _print_missed(screen: Console, answer: Answer) -> None:
    """That nothing keeps its limits in a simulation, and how near the first came."""
    first = answer.missed[0]
    limits = answer.result.wishes.goal.limits.times
    seen = listing(spoken(say("seen-over", quantity=head(name), at=at, value=human(value, "s"),
                              limit=human(limits[name][at], "s")))
                   for name, stated in first.seen.items() for at, value in stated.items())
    tell(screen, spoken(say("nothing-keeps", count=len(answer.missed), label=row_label(first.row),
                            seen=seen)))


def _print_sure(screen: Console, told: SearchReport) -> None:
    """What is surer than the first, or how surely that was found."""
    from calc.searching.ranking import SURE
    from calc.searching.report import fewest_of

    answer = told.answer
    if not answer.result.wishes.limits:
        return
    if answer.sure:
        tell(screen, spoken(say("drawn", tried=answer.sure.tried,
                                share=f"{answer.sure.share:.0%}")))
    counts = fewest_of(told.rows)
    if "cards" in answer.result.wishes.leading and len(counts) > 1:
        tell(screen, spoken(say("fewest", counts=sentences([spoken(say(
            "cards-kept", cards=cards, share=f"{share:.0%}")) for cards, share in counts]))))
    first = told.rows[0]
    if first.keeps is None or first.keeps >= SURE:
        return
    ways = [_surer(each) for each in told.surer]
    ways += [spoken(say("surer-row", number=number, share=f"{row.keeps:.0%}"))
             for number, row in enumerate(told.rows, 1) if (row.keeps or 0.0) >= SURE]
    assert told.weakest
    name, at, broken = told.weakest
    weak = spoken(say("weakest", number=1, quantity=head(name), at=at, share=f"{broken:.0%}"))
    tell(screen, weak + spoken(say("surer", ways=sentences(ways)) if ways else say(
        "none-sure", share=f"{SURE:.0%}", sure=f"{SURE:g}")))


def _surer(each: Surer) -> str:
    """What makes the first deployment surer."""
    share = f"{each.keeps:.0%}"
    if each.what == "users":
        return spoken(say("surer-users", users=f"{each.to:,.0f}", share=share))
    return spoken(say("surer-limit", quantity=head(each.what), at=each.at,
                      value=human(each.to, "s"), share=share))


def _print_unsure(screen: Console, answer: Answer, nearest: SampledRow) -> None:
    """That nothing is so sure, and what is surest."""
    assert answer.sure
    tell(screen, spoken(say(
        "nothing-so-sure", share=f"{answer.sure.share:.0%}", tried=answer.sure.tried,
        label=row_label(nearest.row), keeps=f"{answer.keeps(nearest) or 0:.0%}")))
    tell(screen, f"    {set_line(nearest.row.choice.settings())}")


def _print_all(screen: Console, answer: Answer, near: Row | None, files: list[Path]) -> None:
    """The best inside of what was measured, by format and by card: ranked in
    closed form, not simulated."""
    lines: list[str] = []
    if _outside(answer):
        lines.append(spoken(say("inside", told=say("inside-nothing") if near is None else say(
            "inside-best", brief=brief(answer, near), nearest=answer.near(near).nearest or ""))))
        if near is not None:
            file = files[-1] if files else f"{answer.result.wishes.goal.id}-{INSIDE}.yml"
            lines.append(f"    {start_command(answer, near, str(file))}")
    lines.append(spoken(_published(answer)))
    for title, rows in ((say("by-precision"), answer.precisions),
                        (_by_device(answer), answer.devices)):
        if len(rows) > 1:
            lines += [spoken(title), *(f"    {brief(answer, row)}" for row in rows)]
    for line in lines:
        tell(screen, line)


def _published(answer: Answer) -> Pair:
    """The best in the published weights, or why there is none."""
    if answer.official_precision is None:
        return say("published-unknown")
    if answer.official is None:
        return say("published-none", precision=answer.official_precision)
    return say("published", brief=brief(answer, answer.official))


def _by_device(answer: Answer) -> Pair:
    """The heading of the best on each card; by what those without a price are ordered."""
    wishes = answer.result.wishes
    others = [head(name) for name in wishes.objectives if name != "cost"]
    return say("by-device", unpriced=bool(wishes.unpriced and "cost" in wishes.objectives),
               names=spoken((" then ", "、")).join(others) or say("nothing"))


def _print_miss(screen: Console, answer: Answer) -> None:
    """How near it came, or why nothing did."""
    rows = nearest(answer)
    if not rows:
        tell(screen, spoken(say("cannot-be-laid-out", why=why_none(answer))))
        return
    for number, row in enumerate(rows):
        tell(screen, spoken(say("nearest-miss", first=number == 0,
                                sentence=sentence(answer, row))))
        if row.prefill is None:
            tell(screen, f"    {set_line(row.choice.settings())}")


def _funnel(answer: Answer) -> str:
    """What was tried and what became of it, in one sentence."""
    from calc.searching.candidates import PER_DOUBLING
    from calc.searching.search import COUNTED, bound_words

    funnel: Any = answer.result.funnel
    parts = [spoken(say("became", count=f"{funnel.counts[name]:,}", words=bound_words()[name]))
             for name in COUNTED if funnel.counts[name]]
    goal = answer.result.wishes.goal
    listed = goal.space.batches or (goal.demand.users is not None and not goal.demand.think_time)
    return spoken(say("funnel", tried=f"{funnel.deployments:,}", parts=listing(parts),
                      grid="" if listed else say("grid", numbers=PER_DOUBLING)))
