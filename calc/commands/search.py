"""``search``: the best deployments for users and limits, and why not others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calc.answer.display import heading
from calc.commands import OK
from calc.commands.options import (
    PLAN_OPTIONS,
    Number,
    cli_command,
    plan_options,
    planned,
    settings_option,
)
from calc.commands.view import Block, Table, View, joined, progress
from calc.uncertainty import Amount
from catalogue.planning import UNITS

if TYPE_CHECKING:
    from calc.searching.report import SearchReport

UNMET = 3  # exit code of a goal that nothing meets
MOST_WORKERS = 8  # processes of one search, by default
OPTIONS = {name: text for name, text in PLAN_OPTIONS.items() if name != "layout"} | {
    "card": ("NAME,...", "Cards to choose from: catalogue names, e.g. h200, or your own files."),
    "cards": ("NUMBER", "Maximum number of cards (default: four servers' worth)."),
    "users": ("NUMBER", "Concurrent users (default: as many as the limits allow)."),
    "engine": ("NAME,...", "Engines to choose from (default: all)."),
    "precision": ("NAME,...", "Weight formats to choose from (default: all that run)."),
    "price": ("MONEY/h", "Price per card-hour, e.g. '2 USD/h' (default: the catalogue price).")}
LEGEND = (
    "TP: cards that share each layer; PP: pipeline stages; DP: ranks with requests and cache of "
    "their own; DCP: cards that share a request's cache; EP: cards that share the experts, +n: "
    "redundant experts; A → B: prefill pool and decode pool; chunks: prompt tokens per step of a "
    "DP rank; MTP tokens, drafts: tokens proposed per step; (a–b): 80% interval.\nNot tried: "
    "experts on the host, cards of several kinds in one pool, spare experts not in space.spares.")


@cli_command("search", "--model deepseek-v4-flash --card h20 --cards 16 --users 200 --tpot '33 ms'",
             "r1-64-users-8xh20 --users 100 --ttft 'p90 3 s'", "goal.yml -o plans",
             sections=("details",))
@plan_options("goal", OPTIONS)
@click.option("--confidence", "sure", metavar="SHARE", help=(
    "Minimum probability that the limits are met, given the uncertainty of the inputs, e.g. 0.8 "
    "(default: from the goal)."))
@partial(settings_option, what="goal", example="space.pools=one")
@click.option("--any-engine", is_flag=True,
              help="Also consider deployments that no engine supports.")
@click.option("--any-format", is_flag=True,
              help="Also consider formats without a published checkpoint.")
@click.option("-o", "folder", metavar="DIR", help="Write a deployment file for each result.")
@click.option("--workers", type=Number(least=1, most=1024, integer=True), metavar="COUNT",
              help="Worker processes (default: number of cores, at most 8).")
def command(goal: str | None, settings: tuple[str, ...], sure: str | None, any_engine: bool,
            any_format: bool, folder: str | None, save: str | None, workers: int | None,
            **options: Any) -> View:
    """Which deployments serve the users within the latency limits, and which is best?

    GOAL is a catalogue name (`will-it-fit list goals`) or your own file (`will-it-fit new goal`)
    that states the model, cards, users and latency limits; options override its keys. Without GOAL,
    describe one with --model and --card.
    """
    from calc.answer.quickplan import GOAL_PATHS
    from calc.launching.starting import search
    from calc.searching.goal import load_goal, with_price

    changes, price = list(settings), options["price"] if goal else None
    reference, defaults = planned(
        goal, {"save": save} | ({} if goal else options), goal=True)
    if goal:
        del options["price"]
        keys = {name: ".".join(map(str, path)) for name, path in GOAL_PATHS.items()}
        keys["cards"] = "cards.most"
        changes += [f"{keys[name]}={value}" for name, value in options.items() if value is not None]
    changes += [f"limits.sure={sure}"] if sure else []
    changes += [f"space.{name}=true" for name, is_set in (
        ("any_engine", any_engine), ("any_format", any_format)) if is_set]

    loaded = load_goal(reference, changes)
    loaded = with_price(loaded, price) if price else loaded
    with progress() as bar:
        report = replace(search(loaded, progress=bar, workers=(
            workers or min(MOST_WORKERS, os.cpu_count() or 1))), defaults=defaults)
    return search_view(report, report.write(Path(folder)) if folder else [])


def search_view(report: SearchReport, files: Sequence[Path]) -> View:
    """The first row with its figures, the others beside it, and what was rejected."""
    rows, met = report.table, bool(report.rows)
    table = Table.of(rows, *(rows[0] if rows else ()), **UNITS, cost=report.goal.currency)
    goal = ("goal", f"{report.goal.title['en']}; best: {joined(map(heading, report.chosen))}")
    values = [{name: cell.text if isinstance(cell, Amount) else cell for name, cell in row.items()}
              for row in rows]
    return View(
        report.verdict, report.as_json() | ({"files": list(map(str, files))} if files else {}),
        met, [*report.figures, *(start_lines(report, 1, files) if met else ()), goal],
        [*([Table.of(values, *values[0])] if len(rows) > 1 else []), *report.sentences,
         *([f"Written: {joined(map(str, files))}"] if files else [])],
        table, {"details": [*details(report, files)]}, code=OK if met else UNMET)


def start_lines(report: SearchReport, rank: int, files: Sequence[Path]) -> list[tuple[str, str]]:
    """Command that writes the launch files of a row, if a release starts it."""
    if not (start := report.rows[rank - 1].start):
        return []
    text = start.text(str(files[rank - 1] if files else f"plans/{report.goal.id}-{rank}.yml"))
    return [("start", f"{'-o plans, then ' * bool(start.engine and not files)}{text}")]


def details(report: SearchReport, files: Sequence[Path]) -> Iterator[Block]:
    """Every row in full with its kernels and cache, and what no release starts."""
    for rank, row in enumerate(report.rows, 1):
        yield f"{rank}. {row.row.label}"
        lines = [*report.lines(row), *start_lines(report, rank, files),
                 *(("kernel", kernel.words[0]) for kernel in row.kernels if kernel),
                 *(("cache", words[0]) for words in row.startup_words),
                 *([("checkpoint", row.start.loads)] if row.start and row.start.loads else [])]
        yield from (f"   {name:19}  {text}" for name, text in lines)
    yield from dict.fromkeys(row.stand_ins[0] for row in report.rows if row.stand_ins)
    yield from (f"Not started: {left.row.label}: {report.refusal(left)}"
                for left in (*report.rejected, *report.refused) if left.start)
    yield LEGEND
