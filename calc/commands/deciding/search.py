"""``search``: from a goal to every deployment that meets it, the best, and why not others."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from calc.commands.deciding.answered import (
    HEADS,
    amount,
    brief,
    interval,
    near,
    qualities,
    row_label,
    runs,
    starts,
    stood_in,
)
from calc.commands.deciding.missing import nearest, sentence, why_none
from calc.commands.printing import OK, console, count_phrase, print_json
from calc.layouts.change import set_line
from catalogue import ParamsError
from catalogue.reading.amounts import human
from catalogue.reading.files import write_whole

if TYPE_CHECKING:
    from calc.layouts.choice import Row
    from calc.searching.result import Answer
    from calc.searching.robust import SampledRow
    from calc.searching.same_cards import Relaxed

UNMET = 3  # exit code of a goal that nothing meets
FLAGS = {"users": "demand.users", "input": "demand.input_tokens", "output": "demand.output_tokens",
         "tpot": "limits.tpot", "ttft": "limits.ttft", "devices": "devices", "cards": "cards.most",
         "have": "have", "sure": "limits.sure"}
INSIDE = "inside"  # of what was measured: how that file's name ends
MOST_WORKERS = 8  # processes of one search, by default


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``search`` takes, besides ``--json``."""
    command.add_argument("goal", help="identifier or path of a goal file")
    command.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                         dest="settings", help="override, e.g. limits.tpot=50ms, cards.most=64, "
                                               "precisions=fp8-block,w8a8-int8")
    for flag, key in FLAGS.items():
        command.add_argument(f"--{flag}", metavar="VALUE", help=f"the same as --set {key}=VALUE")
    command.add_argument("--any-engine", action="store_true", help="also what no engine runs")
    command.add_argument("--relax", action="store_true",
                         help="search once more: what is best with each limit 1%% and 10%% wider")
    command.add_argument("-o", "--out", metavar="DIR",
                         help="write the scenario file of every deployment that is told")
    command.add_argument("--workers", type=int, metavar="N",
                         default=min(MOST_WORKERS, os.cpu_count() or 1),
                         help="processes that share the work; the answer is the same")


def run(args: argparse.Namespace) -> int:
    """Print what meets a goal; exit code 3 if nothing does.

    Raises ParamsError for a goal that cannot be used, or contradicts itself.
    """
    from calc.launching.starting import search
    from calc.searching.load_goal import load_goal
    from calc.searching.same_cards import inside, relaxed

    flags = [f"{key}={getattr(args, flag)}" for flag, key in FLAGS.items()
             if getattr(args, flag) is not None] + ["space.any_engine=true"] * args.any_engine
    if args.workers < 1:
        raise ParamsError(f"--workers {args.workers}: expected at least 1.")
    goal = load_goal(args.goal, [*args.settings, *flags])
    if args.relax and (goal.limits.sure is not None or goal.space.pools != ["one"] or any(
            [*stated] != ["mean"] for stated in goal.limits.times.values())):
        raise ParamsError("--relax: widens limits of means at central values in one pool, expected "
                          "no percentile, no limits.sure and no second pool.")
    answer = search(goal, workers=args.workers)
    wider = relaxed(goal, args.workers) if args.relax else []
    near = inside(answer)
    files = _written(answer, near, Path(args.out)) if args.out and answer.met else []
    if args.json:
        print_json(answer.as_json() | _missing(answer) | {"inside": near and answer.beside(near)}
                   | ({"files": [str(path) for path in files]} if files else {})
                   | ({"relaxed": [each.as_json() for each in wider]} if args.relax else {}))
    else:
        _print(answer, near, files, wider)
    return OK if answer.met else UNMET


def _missing(answer: Answer) -> dict[str, Any]:
    """Why nothing meets the goal and what is nearest, as plain data; nothing where it is met."""
    if answer.met or answer.sure or answer.missed or answer.refused:
        return {}
    rows = nearest(answer)
    if not rows:
        return {"why": why_none(answer)}
    return {"why": sentence(answer, rows[0]), "nearest_miss": rows[0].as_json() | {
        "binds": answer.binds(rows[0])}}


def _written(answer: Answer, near: Row | None, folder: Path) -> list[Path]:
    """Scenario files of the deployments that are told, in their order, and of the best that lies
    inside of what was measured.

    Raises ParamsError for a folder that cannot be written to, or that holds another such file.
    """
    from calc.layouts.choice import family, text

    goal = answer.found.wishes.goal
    texts = {f"{goal.id}-{number}.yml": text(goal, row.choice) if row.prefill is None
             else family(goal, row.prefill, row.choice)
             for number, row in [*enumerate(_told(answer), 1),
                                 *([(INSIDE, near)] if near and _outside(answer) else [])]}
    files = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, whole in texts.items():
            path, contents = folder / name, whole.encode()
            if path.exists() and path.read_bytes() != contents:
                raise ParamsError(f"{path}: there is another file of this name, expected a new "
                                  "folder.")
            write_whole(path, contents)
            files.append(path)
    except OSError as error:
        raise ParamsError(f"{folder}: cannot be written ({(error.strerror or 'refused').lower()})."
                          ) from None
    return files


def _outside(answer: Answer) -> bool:
    """Whether the first that is told lies outside of what was measured."""
    return answer.best is not None and bool(answer.near(answer.best).outside)


def _told(answer: Answer) -> list[Row]:
    return [group[0].row for group in answer.front]


def _print(answer: Answer, near: Row | None, files: list[Path], wider: list[Relaxed]) -> None:
    screen, goal = console(), answer.found.wishes.goal
    screen.print(f"{goal.title['en']}", soft_wrap=True)
    if answer.sure and not answer.met and answer.sure.surest:
        _print_unsure(screen, answer, answer.sure.surest)
    elif answer.met:
        _print_front(screen, answer, files)
        _print_others(screen, answer, near, files)
    elif answer.missed:
        _print_missed(screen, answer)
    elif answer.refused:
        _print_refused(screen, answer)
    else:
        _print_miss(screen, answer)
    if answer.left_out:
        screen.print(f"Left out by the goal: {', '.join(answer.left_out)}.", highlight=False,
                     soft_wrap=True)
    if answer.found.pairs:
        first, then, compared = answer.found.pairs.tried
        screen.print(f"Two pools: {first:,} that prefill and {then:,} that decode fit, of which "
                     f"{compared:,} pairs were compared.", highlight=False, soft_wrap=True)
    for each in wider:
        screen.print(_relaxed(answer, each), highlight=False, soft_wrap=True)
    funnel = answer.found.funnel
    if funnel.deployments:
        screen.print(_funnel(answer), highlight=False, soft_wrap=True)
    if funnel.counts["drafts"]:
        screen.print(_undrafted(answer), highlight=False, soft_wrap=True)
    if answer.found.wishes.unpriced and funnel.deployments:
        screen.print("No price: " + ", ".join(answer.found.wishes.unpriced) + "; state one in the "
                     "goal: devices: [{device: NAME, price: 1.5..2.5 USD/h}].", highlight=False,
                     soft_wrap=True)
    for path in files:
        screen.print(f"wrote {path}", highlight=False, soft_wrap=True)
    if answer.met and not files:
        screen.print("-o DIR writes the files.", highlight=False)


def _undrafted(answer: Answer) -> str:
    """Which layouts are tried without drafts, and why."""
    count, model = answer.found.funnel.counts["drafts"], answer.found.space.model
    if not model.drafts:
        return (f"Without drafts ({count:,} layouts): no layer that drafts is published with "
                f"'{model.id}'; --any-engine tries them.")
    return (f"Pipeline stages without drafts ({count:,} layouts): engines draft none there; "
            "--set space.staged_drafts=true tries them.")


def _file(answer: Answer, number: int, files: list[Path]) -> str:
    """Where the file of a deployment that is told is, or would be."""
    return str(files[number - 1]) if files else f"{answer.found.wishes.goal.id}-{number}.yml"


def _print_front(screen: Console, answer: Answer, files: list[Path]) -> None:
    """What is told, the first that can stand for most: what it is, comes to, and rests on."""
    wishes = answer.found.wishes
    asked = (*wishes.chosen, *wishes.limits, "tpot", "ttft", "throughput")
    names = [name for name in HEADS if name in asked]
    for number, group in enumerate(answer.front, 1):
        each = group[0]
        seen = ", ".join(interval(each, name) for name in names
                         if name in each.row.quantities)
        of = [row_label(each.row), *qualities(answer, each.row)]
        screen.print(f"{number:>3}. {'; '.join(of)}", highlight=False, soft_wrap=True)
        for line in ("; ".join([seen, *_beside(answer, group)]), runs(answer, each.row),
                     starts(answer, each.row, _file(answer, number, files)),
                     near(answer, each.row)):
            screen.print(f"     {line}", highlight=False, soft_wrap=True)
    for line in stood_in(answer):
        screen.print(line, highlight=False, soft_wrap=True)
    _print_sure(screen, answer)
    for row in answer.refused:
        start = answer.start(row)
        screen.print(f"Left out, no release starts it: {row_label(row)}: "
                     f"{start.why if start else ''}.",
                     highlight=False, soft_wrap=True)
    if answer.missed:
        screen.print(f"{len(answer.missed)} before one of these are left out: simulated, they do "
                     "not keep the limits.", highlight=False, soft_wrap=True)
    screen.print(f"{count_phrase(len(answer.front), 'group')} of "
                 f"{count_phrase(answer.front_size, 'deployment')} on the front.", highlight=False)
    first = answer.front[0][0].row
    if first.prefill is None:
        screen.print(f"The first one: {set_line(first.choice.settings())}", highlight=False,
                     soft_wrap=True)


def _beside(answer: Answer, group: list[SampledRow]) -> list[str]:
    """What is said of a deployment besides its quantities."""
    each, told = group[0], answer.simulated(group[0].row)
    tight, share = answer.binds(each.row), answer.keeps(each)
    found = [f"{HEADS[tight]} near its limit"] if tight else []
    if each.row.prefill is not None:
        found.append(f"{each.row.binds} binds; closed loop of "
                     f"{answer.loop(each.row).loop.users:,.0f} users")
    if share is not None:
        found.append(f"keeps its limits in {share:.0%} of draws")
    if told is not None:
        found.append("simulated, formulas alone: " + ", ".join(
            f"{HEADS[name]} {at} {human(value, 's')}" for name, seen in told.seen.items()
            for at, value in seen.items()))
    batches = sorted({one.row.choice.concurrency for one in group
                      if one.row.layout == each.row.layout})
    if len(batches) > 1:
        found.append(f"the same with {batches[0]:,} to {batches[-1]:,} in flight")
    other = sum(one.row.layout != each.row.layout for one in group)
    return found + [f"{other} more that cannot be told apart"] * bool(other)


def _print_refused(screen: Console, answer: Answer) -> None:
    """That no release starts what meets the goal, and why not the first."""
    first = answer.refused[0]
    start = answer.start(first)
    screen.print(f"Nothing that meets the goal is started by a release of an engine. The first: "
                 f"{row_label(first)}: {start.why if start else ''}. --any-engine tells it all the "
                 "same.", highlight=False, soft_wrap=True)


def _print_missed(screen: Console, answer: Answer) -> None:
    """That nothing keeps its limits in a simulation, and how near the first came."""
    first = answer.missed[0]
    seen = ", ".join(f"{HEADS[name]} {at} {human(value, 's')}, the limit is "
                     f"{human(answer.found.wishes.goal.limits.times[name][at], 's')}"
                     for name, stated in first.seen.items() for at, value in stated.items())
    screen.print(f"Nothing keeps its limits in a simulation; {len(answer.missed)} were simulated "
                 "that do in the mean of the closed form. The first: "
                 f"{row_label(first.row)}: {seen}.",
                 highlight=False, soft_wrap=True)


def _print_sure(screen: Console, answer: Answer) -> None:
    """Which deployment is sure, or how that was found."""
    from calc.searching.robust import SURE

    if not answer.found.wishes.limits:
        return
    if answer.sure:
        screen.print(f"{answer.sure.tried} deployments drawn of the fronts of all offers in "
                     f"objectives and limits; above those that keep the limits in at least "
                     f"{answer.sure.share:.0%} of draws, below by central values.",
                     highlight=False, soft_wrap=True)
        return
    first = answer.first_sure
    if first is None:
        screen.print(f"None of these keeps its limits in {SURE:.0%} of draws from the ranges of "
                     f"all inputs; --sure {SURE:g} looks further.", highlight=False,
                     soft_wrap=True)
    elif first.row.choices != answer.front[0][0].row.choices:
        screen.print(f"First in {SURE:.0%} of draws: {row_label(first.row)} "
                     f"({answer.keeps(first) or 0:.0%}); --sure {SURE:g} looks further.",
                     highlight=False, soft_wrap=True)


def _relaxed(answer: Answer, wider: Relaxed) -> str:
    """What one limit that is wider changes of the first objective, in one sentence."""
    name = next(iter(answer.found.wishes.chosen))
    said = (f"{HEADS[wider.limit]} limit {wider.factor - 1:.0%} wider "
            f"({amount(wider.limit, wider.to)})")
    if wider.row is None:
        return f"{said}: still nothing."
    objective = {name: answer.found.wishes.chosen[name]}
    value, = wider.row.worth(objective)
    best = answer.central.worth(objective)[0] if answer.central else None
    change = ("" if best is None else ", as before" if value == best
              else f", {abs(value) / abs(best) - 1:+.1%}")
    return (f"{said}: {HEADS.get(name, name)} {amount(name, abs(value))}{change}, with "
            f"{row_label(wider.row)}.")


def _print_unsure(screen: Console, answer: Answer, nearest: SampledRow) -> None:
    """That nothing is so sure, and what is surest."""
    assert answer.sure
    screen.print(f"Nothing keeps its limits in {answer.sure.share:.0%} of draws. The surest of "
                 f"{answer.sure.tried} drawn: {row_label(nearest.row)}: "
                 f"{answer.keeps(nearest) or 0:.0%}.", highlight=False, soft_wrap=True)
    screen.print(f"    {set_line(nearest.row.choice.settings())}", highlight=False, soft_wrap=True)


def _print_others(screen: Console, answer: Answer, near: Row | None, files: list[Path]) -> None:
    """The best inside of what was measured, that in the published weights, another layout, the
    least change, other precisions."""
    lines: list[str] = []
    if _outside(answer):
        lines.append("Inside of what was measured: " + (
            "nothing that meets the goal." if near is None else
            f"{brief(answer, near)}; nearest {answer.near(near).nearest}"))
        if near is not None:
            file = files[-1] if files else f"{answer.found.wishes.goal.id}-{INSIDE}.yml"
            lines.append(f"    {starts(answer, near, str(file))}")
    if answer.official_precision is None:
        lines.append("Published weights: none is known of this model that these cards multiply.")
    elif answer.official is None:
        lines.append(f"Published weights ({answer.official_precision}): none of these deployments "
                     "meets the goal in them.")
    else:
        lines.append(f"Published weights: {brief(answer, answer.official)}")
    if answer.runner_up is not None:
        lines.append(f"Another layout: {brief(answer, answer.runner_up)}")
    if answer.least_change is not None:
        row, changed = answer.least_change
        lines += [f"Least change: {brief(answer, row)}", f"    {set_line(changed)}"]
    wishes, last = answer.found.wishes, ""
    if wishes.unpriced and "cost" in wishes.objectives:
        others = [HEADS.get(name, name) for name in wishes.objectives if name != "cost"]
        last = f", those without a price last, by {' then '.join(others) or 'nothing'}"
    for title, rows in (("By precision", answer.precisions), ("By device" + last, answer.devices)):
        if len(rows) > 1:
            lines += [f"{title}:", *(f"    {brief(answer, row)}" for row in rows)]
    for line in lines:
        screen.print(line, highlight=False, soft_wrap=True)


def _print_miss(screen: Console, answer: Answer) -> None:
    """How near it came, or why nothing did."""
    rows = nearest(answer)
    if not rows:
        screen.print(f"Nothing that the goal allows can be laid out: {why_none(answer)}.",
                     highlight=False, soft_wrap=True)
        return
    for said, row in zip(("Nothing meets the goal. Nearest", "Next"), rows, strict=False):
        screen.print(f"{said}: {sentence(answer, row)}.", highlight=False, soft_wrap=True)
        if row.prefill is None:
            screen.print(f"    {set_line(row.choice.settings())}", highlight=False, soft_wrap=True)


def _funnel(answer: Answer) -> str:
    """What was tried and what became of it, in one sentence."""
    from calc.searching.candidates import PER_DOUBLING
    from calc.searching.left_out import COUNTED, bound_words

    funnel: Any = answer.found.funnel
    parts = [f"{funnel.counts[name]:,} {bound_words()[name][0]}" for name in COUNTED
             if funnel.counts[name]]
    goal = answer.found.wishes.goal
    listed = goal.space.batches or (goal.demand.users is not None and not goal.demand.think_time)
    grid = "" if listed else f" Of requests in flight {PER_DOUBLING} numbers to a doubling."
    return (f"Of {funnel.deployments:,} deployments, all of them tried: {', '.join(parts)}.{grid} "
            "Not among them: experts on the host, cards of several kinds in one pool, spare "
            "experts other than space.spares lists.")
