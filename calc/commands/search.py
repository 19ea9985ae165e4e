"""``search``: the best deployments for users and limits, and why not others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calc.answer.display import default_lines
from calc.answer.quickplan import goal_plan
from calc.commands.options import PLAN_OPTIONS, cli_command, planned, settings_option
from calc.commands.view import Block, Table, View, heading, joined, progress
from calc.evidence.classes import NAMES, axis_label
from calc.layouts.layout import set_line
from catalogue import ParamsError, load_scenario
from catalogue.deployments.admission import marked
from catalogue.entries.entry import by_percentile
from catalogue.entries.models import DSPARK, EAGLE3
from catalogue.planning import MEAN, UNITS
from catalogue.reading.files import make_folder, write_whole
from catalogue.reading.units import human

if TYPE_CHECKING:
    from calc.evidence.classes import Nearness
    from calc.layouts.layout import Choice, Row
    from calc.searching.report import Rejected, ReportRow, SearchReport
    from catalogue.planning import Goal

MEMORY = "memory_capacity"  # limit of a deployment that does not fit
UNMET = 3  # exit code of a goal that nothing meets
MOST_WORKERS = 8  # processes of one search, by default
KEYS = {"model": "model", "card": "devices", "cards": "cards.most", "users": "demand.users",
        "input": "demand.input_tokens", "output": "demand.output_tokens", "engine": "engines",
        "precision": "precisions", "hits": "demand.prefix_hit_share", "ttft": "limits.ttft",
        "tpot": "limits.tpot"}
"""Option -> key of a goal that says the same."""
OPTIONS = PLAN_OPTIONS | {
    "card": ("NAME,...", "Cards to choose from: names (h200, 910B2) or files of your own."),
    "cards": ("NUMBER", "Most cards (default: those of four servers)."),
    "users": ("NUMBER", "Requests in flight at once (default: as many as limits allow)."),
    "engine": ("NAME,...", "Engines to choose from (default: all)."),
    "precision": ("NAME,...", "Formats to choose from (default: all that run)."),
    "ttft": ("TIME", "Limit of the time to first token, of the mean or 'p90 2 s'."),
    "tpot": ("TIME", "Limit of the time per output token: '33 ms', '30 tok/s', 'p90 50 ms'."),
    "price": ("MONEY/h", "Price of a card, such as '2 USD/h' (default: of the catalogue).")}
FIGURES = {"latency": ("ttft", "tpot", "e2e"), "throughput": ("throughput", "longest_context"),
           "cost": ("cost", "power", "energy")}
"""Figure -> its quantities, in the order in which they are printed."""
DRAFTERS = {EAGLE3: "EAGLE-3 draft", DSPARK: "DSpark draft"}
RESOURCES = {"memory_bandwidth": "reading memory", "l2_bandwidth": "reading the L2 cache",
             "compute": "computing", "communication": "links between cards", "host": "the host"}
LATER = {"seldom": "limits kept less often", "alike": "gain within the uncertainty",
         "plainer": "less than 10% gain per mechanism"}
"""Why a row that is better in the first objective stands below the first."""
LEGEND = (
    "TP: cards that share each layer; PP: pipeline stages; DP: ranks with requests and cache of "
    "their own; DCP: cards that share a request's cache.",
    "EP: cards that share the experts, +n: redundant experts; chunks: prompt tokens per step of a "
    "DP rank; MTP tokens, drafts: tokens proposed per step.",
    "in flight: requests at once on all cards; draws: samples of the uncertain inputs; (a–b): 80% "
    "interval; cost: all charged to output tokens, cards always busy.",
    "Not tried: experts on the host, cards of several kinds in one pool, spare experts other than "
    "in space.spares.")


def goal_options(function: Any) -> Any:
    """Add the options that describe a goal, or override one of a file."""
    for name, (metavar, text) in reversed(OPTIONS.items()):
        if name in (*KEYS, "price"):
            function = click.option(f"--{name}", metavar=metavar, help=text)(function)
    return click.argument("goal", required=False)(function)


@cli_command("search", "--model v4-flash --card h20 --cards 16 --users 200 --tpot '33 ms'",
             "r1-64-users-8xh20 --users 100 --ttft 'p90 3 s'", "goal.yml -o plans",
             sections=("details",))
@goal_options
@click.option("--sure", metavar="SHARE", help=(
    "Share of draws in which limits are kept at least (default: as the goal states)."))
@settings_option
@click.option("--any-engine", is_flag=True, help="Also deployments that no engine runs.")
@click.option("--any-format", is_flag=True, help="Also formats without a published checkpoint.")
@click.option("-o", "folder", metavar="DIR", help="Write the deployment file of each row.")
@click.option("--save", metavar="FILE", help="Write the goal that the options describe.")
@click.option("--workers", type=click.IntRange(min=1), metavar="NUMBER", help=(
    "Processes (default: the cores, at most 8); the answer is the same."))
def command(goal: str | None, settings: tuple[str, ...], sure: str | None, any_engine: bool,
            any_format: bool, folder: str | None, save: str | None, workers: int | None,
            **options: Any) -> View:
    """Which deployments serve these users within these limits, and which is best?

    GOAL is a name of the catalogue (`will-it-fit list goals`) or a file of your own (`will-it-fit
    new goal`), whose keys the options override; --model and --card describe one without a file.
    """
    from calc.launching.starting import search
    from calc.searching.goal import load_goal

    defaults: tuple[str, ...] = ()
    reference: Any = goal
    changes = list(settings)
    if goal is None:
        reference, defaults = planned(None, options | {"save": save}, goal_plan)
    elif save or options["price"]:
        raise ParamsError(f"--{'save' if save else 'price'}: describes a goal without a file, "
                          f"expected no '{goal[:60]}' beside it.")
    else:
        changes += overrides({name: value for name, value in options.items() if value is not None})
    changes += [f"limits.sure={sure}"] if sure else []
    changes += [f"space.{name}=true" for name, is_set in (
        ("any_engine", any_engine), ("any_format", any_format)) if is_set]

    def show(pools: str, done: int, total: int) -> None:
        bar(f"layouts in {pools} pool{'s' * (pools != 'one')}" if total
            else "drawing, simulating and starting the best", done, total)

    with progress() as bar:
        report = search(load_goal(reference, changes), progress=show,
                        workers=workers or min(MOST_WORKERS, os.cpu_count() or 1))
    files = write_files(report, Path(folder)) if folder and report.rows else []
    return search_view(report, [str(path) for path in files], defaults)


def overrides(options: Mapping[str, str]) -> list[str]:
    """Options as settings of a goal's file."""
    settings = []
    for name, value in options.items():
        of_percentiles = by_percentile(value) if KEYS[name].startswith("limits") else value
        settings += ([f"{KEYS[name]}.{at}={time}" for at, time in of_percentiles.items()]
                     if isinstance(of_percentiles, dict) else [f"{KEYS[name]}={value}"])
    return settings


def write_files(report: SearchReport, folder: Path) -> list[Path]:
    """Write the scenario file of each row.

    Raises ParamsError for a folder that cannot be written to, or that has another such file.
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
                raise ParamsError(f"{path}: another file has this name, expected a new folder.")
            write_whole(path, contents)
            files.append(path)
    except OSError as error:
        raise ParamsError(f"{folder}: cannot be written ({(error.strerror or '').lower()})."
                          ) from None
    return files


# --- the view -------------------------------------------------------------------------------------


def search_view(report: SearchReport, files: Sequence[str], defaults: Sequence[str]) -> View:
    """The first row with its figures, the others beside it, and what was rejected."""
    data = report.as_json() | why_unmet(report) | ({"files": list(files)} if files else {}) | (
        {"defaults": list(defaults)} if defaults else {})
    closing = [*default_lines(defaults), *report.notes, *rejected_line(report),
               *tried_lines(report), *([f"Written: {joined(files)}"] if files else [])]
    goal_figure = ("goal", f"{report.goal.title['en']}; best: {joined(map(head, report.chosen))}")
    if not report.rows:
        verdict, figures = unmet(report)
        return View(f"NOT MET: {verdict}", data, False, [
            *limit_figure(report, None), *figures, *ways_out(report), goal_figure],
                    closing, rows=row_table(report), code=UNMET, sections={"details": LEGEND})
    others = row_table(report, with_intervals=False)
    return View(
        f"MET: {row_label(report.rows[0].row)}", data, True,
        [*row_figures(report, 0, files), goal_figure],
        [*([others] if len(report.rows) > 1 else []), *surer_lines(report), *closing],
        row_table(report), {"details": [*details(report, files)]})


def row_figures(report: SearchReport, index: int, files: Sequence[str] = ()
                ) -> list[tuple[str, str]]:
    """Limits, latency, throughput, cost, memory, evidence and start of a row."""
    row = report.rows[index]
    memory = row.memory
    total = memory.weights + memory.cache + memory.besides
    near_limit = f"; {head(row.limit)} near its limit" if row.limit else ""
    file = files[index] if files else f"{report.goal.id}-{index + 1}.yml"
    return [
        *limit_figure(report, row),
        *((name, text) for name, names in FIGURES.items()
          if (text := quantity_words(report, row, names))),
        *(("task cost", words) for words in agent_cost(report.goal, row)),
        *(("engine", f"NO ENGINE RUNS IT: {why['en']}") for why in row.unrun),
        ("limited by", f"{RESOURCES.get(row.resource, 'starting kernels')} ({row.share:.0%} of a "
         f"decode step){near_limit}"),
        ("memory", f"{human(memory.weights, 'B')} weights + {human(memory.cache, 'B')} cache + "
         f"{human(memory.besides, 'B')} rest = {human(total, 'B')} of "
         f"{human(memory.capacity, 'B')} on the fullest card"),
        ("quality", "; ".join(f"{of.precision}: {of.words[0].removeprefix('quality: ')}"
                              for of in row.quality)),
        ("evidence", near(report.goal.model, row.near)),
        *(("start", words) for words in start_words(row, file))]


def limit_figure(report: SearchReport, row: ReportRow | None) -> list[tuple[str, str]]:
    """Limits of the goal, and how often a row keeps them, if one is given; nothing without."""
    times = report.goal.limits.times
    limits = [*(f"{head(name)} {quantile(at)}{human(limit, 's')}" for name, stated in times.items()
                for at, limit in stated.items()),
              *(f"{head(name)} {amount(report, name, limit)}"
                for name, limit in report.limits.items() if name not in times)]
    if not limits:
        return []
    weakest = report.weakest if row and row is report.rows[0] else None
    share = "" if row is None or row.keeps is None else f": kept in {row.keeps:.0%} of draws"
    if weakest and weakest.broken:
        share += f", most often broken: {head(weakest.name)} ({weakest.broken:.0%})"
    return [("limits", f"{joined(limits)}{share}")]


def quantity_words(report: SearchReport, row: ReportRow, names: Sequence[str]) -> str:
    """Quantities of a row that the goal names, with intervals and limited percentiles."""
    from calc.searching.ranking import LITTLE

    shown = {*report.chosen, *report.limits, "tpot", "ttft", "throughput"}
    parts = []
    for name in (name for name in names if name in shown and name in row.row.quantities):
        text = amount_words(report, row, name)
        if name == "throughput" and "throughput_per_card" in shown:
            text += f", {row.amounts['throughput_per_card'].text_in('en')} per card"
        stated = row.simulated.seen.get(name, {}) if row.simulated else {}
        text += "".join(f", {quantile(at) or 'simulated '}{human(value, 's')}"
                        for at, value in stated.items() if at != MEAN or (
                            value > (1 + LITTLE) * row.row.quantities[name]))
        parts.append(text)
    if row.pools and "throughput" in names:
        parts.append(f"{row.row.binds} limits a closed loop of {row.pools.loop.users:,.0f} users")
    return "; ".join(parts)


def amount_words(report: SearchReport, row: ReportRow, name: str) -> str:
    """A quantity with its name and 80% interval."""
    value = (row.amounts[name].formatted("en") if name in row.amounts
             else amount(report, name, row.row.quantities[name]))
    if name == "cost":
        return f"{value} per million output tokens"
    return value if name == "throughput" else f"{head(name)} {value}"


def agent_cost(goal: Goal, row: ReportRow) -> Iterator[str]:
    """Cost of a million processed tokens and of an agent's task; nothing for other loads."""
    if (agent := goal.demand.agent) and (costs := row.agent_costs):
        turns = f"{agent.turns} turn{'s' * (agent.turns != 1)}"
        yield (f"{costs['per_million_processed'].formatted('en')} per million processed tokens "
               f"(input and output), {costs['per_task'].formatted('en')} a task of {turns}")


def start_words(row: ReportRow, file: str) -> Iterator[str]:
    """Command that writes the launch files, with the checkpoint; or why no release starts it."""
    if row.start and row.start.engine:
        loads = f"  (checkpoint {row.start.checkpoint})" if row.start.checkpoint else ""
        yield f"will-it-fit deploy {file} --engine {row.start.engine} -o DIR{loads}"
    elif row.start:
        yield f"no release starts it: {row.start.why}"


def row_table(report: SearchReport, with_intervals: bool = True) -> Table:
    """Rows to compare by the objectives of the goal, latency and throughput."""
    rows: list[tuple[Any, ...]] = []
    rate = () if "throughput_per_card" in report.chosen else ("throughput",)
    names = [name for name in dict.fromkeys((*report.chosen, "ttft", "tpot", *rate))
             if name != "cards" and any(name in row.row.quantities for row in report.rows)]
    later = any(row.later for row in report.rows)
    for number, row in enumerate(report.rows, 1):
        choices = row.row.choices
        values = [row.amounts.get(name, row.row.quantities.get(name)) for name in names]
        rows.append((
            str(number), " + ".join(f"{choice.devices} × {choice.device}" for choice in choices),
            *(" + ".join(dict.fromkeys(map(str, of))) for of in (
                [choice.engine or "any" for choice in choices],
                [choice.precision for choice in choices])),
            " + ".join(f"{choice.layout}{steps_of(choice)}" for choice in choices),
            None if row.keeps is None else f"{row.keeps:.0%}", *(
                value if with_intervals or isinstance(value, float | int | None)
                else value.text_in("en") for value in values),
            *([LATER.get(row.later or "")] if later else [])))
    return Table(("row", "cards", "engine", "format", "layout", "limits kept", *names,
                  *(["not first: why"] if later else [])), rows,
                 units=UNITS | {"cost": report.goal.currency})


def surer_lines(report: SearchReport) -> list[str]:
    """What keeps the limits more surely than the first row."""
    from calc.searching.ranking import SURE

    first, weakest = report.rows[0], report.weakest
    if weakest is None or first.keeps is None or first.keeps >= SURE:
        return []
    ways = [] if weakest.wider is None else [
        f"{head(weakest.name)} limit {quantile(weakest.at)}{human(weakest.wider, 's')}: {SURE:.0%} "
        "of draws"]
    ways += [f"row {number}: {row.keeps:.0%} of draws" for number, row in enumerate(report.rows, 1)
             if (row.keeps or 0.0) >= SURE]
    return [f"To be surer: {'; '.join(ways)}." if ways else (
        f"No row keeps its limits in {SURE:.0%} of draws; try --sure {SURE:g} or more cards.")]


def rejected_line(report: SearchReport) -> list[str]:
    """Formats that no row has, with reasons."""
    return [f"Rejected: {'; '.join(rejection(report, one) for one in report.rejected)}."
            ] if report.rejected else []


def rejection(report: SearchReport, rejected: Rejected) -> str:
    """A format that no row has, and why."""
    row, why = rejected.row, rejected.why
    if why == "memory":
        return f"{rejected.precision} {human(row.quantities['short'], 'B')} short of memory"
    if why == "start":
        return f"{rejected.precision} no release starts it"
    name = rejected.limit if why == "limit" else next(
        name for name in (*report.chosen, "tpot") if name != "cards")
    reason = {"limit": lambda: f" (limit {amount(report, name, report.limits[name])})",
              "seldom": lambda: f", limits kept in {rejected.keeps or 0.0:.0%}",
              "unscored": lambda: ", gains too little"}.get(why, str)()
    return f"{rejected.precision} {head(name)} {amount(report, name, row.quantities[name])}{reason}"


def tried_lines(report: SearchReport) -> list[str]:
    """Deployments that were tried, what became of them, and cards without a price."""
    from calc.searching.search import COUNTED, bound_words

    funnel = report.funnel
    if not funnel.deployments:
        return []
    became = joined(f"{funnel.counts[name]:,} {bound_words()[name][0]}" for name in COUNTED
                    if funnel.counts[name])
    lines = [f"Tried {funnel.deployments:,} deployments: {became}."]
    if report.missed:
        lines.append(f"Left out after simulation: {len(report.missed)}, over a limit.")
    if report.unpriced and "cost" in {*report.chosen, *(report.goal.objectives or ("cost",))}:
        lines.append(f"No price of {joined(report.unpriced)}: state one in the goal, devices: "
                     "[{device: NAME, price: 1.5..2.5 USD/h}].")
    return lines


def details(report: SearchReport, files: Sequence[str]) -> Iterator[Block]:
    """Every row in full, its kernels, checkpoints and cache, and what was left out."""
    model = report.goal.model
    for number, row in enumerate(report.rows, 1):
        yield f"{number}. {row_label(row.row)}"
        figures = row_figures(report, number - 1, files)
        figures += [("kernel", kernel.words[0]) for kernel in row.kernels if kernel]
        figures += [("cache", words[0]) for words in row.startup_words]
        figures += [("checkpoint", row.start.loads)] if row.start and row.start.loads else []
        figures += [("not first", LATER[row.later])] if row.later else []
        if report.goal.demand.prefix_hit_share and not row.row.prefill and row.row.choice.data > 1:
            figures.append(("router", "prefix hits need sessions to return to their DP rank; "
                            "deploy writes a router that does (HAProxy, X-Session-ID)"))
        yield from (f"   {name:10}  {text}" for name, text in figures)
    yield from dict.fromkeys(row.stand_ins[0] for row in report.rows if row.stand_ins)
    for left in (*report.rejected, *report.refused):
        cause = f": {start_failure(report, left)}" if left.start else ""
        yield (f"Left out: {rejection(report, left)}, {row_label(left.row)}{cause}")
    if report.pairs:
        first, then, compared = report.pairs
        yield (f"Two pools: {first:,} fit for prefill and {then:,} for decode; {compared:,} pairs "
               f"compared for {model}.")
    yield from LEGEND


# --- a goal that nothing meets --------------------------------------------------------------------


def why_unmet(report: SearchReport) -> dict[str, str]:
    """Why nothing meets the goal, as plain data; nothing where it is met, or nearly."""
    if report.why is not None:
        return {"why": report.why}
    if not report.nearest or report.missed or report.refused:
        return {}
    return {"why": nearest_words(report, report.nearest)}


def unmet(report: SearchReport) -> tuple[str, list[tuple[str, str]]]:
    """Why nothing meets the goal, and what comes nearest."""
    if surest := report.surest:
        return (f"nothing keeps its limits in {report.goal.limits.sure or 0:.0%} of draws", [
            ("surest", f"{row_label(surest.row)}: {surest.keeps or 0:.0%}"),
            ("settings", set_line(surest.row.choice.settings()))])
    if report.missed:
        first, times = report.missed[0], report.goal.limits.times
        seen = joined(f"{head(name)} {quantile(at)}{human(value, 's')} (limit "
                      f"{human(times[name][at], 's')})" for name, stated in first.seen.items()
                      for at, value in stated.items())
        return f"nothing keeps its limits when simulated ({len(report.missed)} were)", [
            ("nearest", row_label(first.row)), ("simulated", seen)]
    if report.refused:
        first_refused = report.refused[0]
        return "no engine release starts what meets the goal, or it cannot keep up", [
            ("first", row_label(first_refused.row)),
            ("refused", f"{start_failure(report, first_refused)}; --any-engine prints it")]
    if report.why:
        return f"nothing that the goal allows can be laid out: {report.why}", []
    row = report.nearest
    if row is None:
        return "nothing meets the goal", []
    return "nothing meets the goal", [("nearest", nearest_words(report, row)), *(
        [("settings", set_line(row.choice.settings()))] if row.prefill is None else [])]


def ways_out(report: SearchReport) -> Iterator[tuple[str, str]]:
    """Wider goals that are met."""
    names = [name for name in (*report.chosen, *report.limits) if name != "cards"]
    for way in report.ways:
        seen = "; ".join(amount_words(report, way.first, name) for name in dict.fromkeys(names)
                         if name in way.first.row.quantities)
        wider = f"up to {way.cards} cards" if way.what == "cards" else "another format"
        yield "way out", f"{wider}: {row_label(way.first.row)}: {seen}"


def nearest_words(report: SearchReport, row: Row) -> str:
    """By how much a deployment misses a limit."""
    name, label = report.nearest_limit, row_label(row)
    if name == MEMORY:
        return f"{label}: {human(row.quantities['short'], 'B')} per device short"
    money = f" {report.goal.currency}" if name == "cost" else ""
    value, most = (human(number, UNITS.get(name, "1")) for number in (
        row.quantities[name], report.limits[name]))
    return (f"{label}: {head(name)} {value}{money}, the limit is {most}{money}, off by a factor of "
            f"{human(1 + row.over[name])}")


def start_failure(report: SearchReport, rejected: Rejected) -> str:
    """Why no release starts a deployment, without the name that its file would have."""
    return rejected.start.why.removeprefix(f"'{report.goal.id}': ") if rejected.start else ""


# --- names and numbers ----------------------------------------------------------------------------


def head(name: str) -> str:
    """A quantity of a search in words.

    >>> head("tpot"), head("throughput_per_card"), head("memory_capacity")
    ('TPOT', 'throughput per card', 'memory')
    """
    return "memory" if name == MEMORY else heading(name)


def quantile(at: str) -> str:
    """A percentile before its value; empty for the mean."""
    return "" if at in ("", MEAN) else f"{at} "


def amount(report: SearchReport, name: str, value: float) -> str:
    """A quantity with its unit, or the currency of the goal."""
    return human(value, report.goal.currency if name == "cost" else UNITS.get(name, "1"))


def row_label(row: Row) -> str:
    """Cards, engine, format, layout and requests in flight; of two pools what differs each."""
    decode, requests = row.choice, f"{row.choice.concurrency:,} in flight"
    if row.prefill is None:
        return f"{pool_label(decode)}, {requests}"
    same = len({(choice.engine, choice.precision, choice.device) for choice in row.choices}) == 1
    first, then = (layout_label(choice) if same else pool_label(choice) for choice in row.choices)
    cards = (f"{row.prefill.devices} + {decode.devices} × {card_label(decode)} in two pools"
             if same else f"{row.devices} cards in two pools")
    return f"{cards}: prefill {first}; decode {then}, {requests}"


def pool_label(choice: Choice) -> str:
    """Number of cards, card, engine, format and layout of a pool."""
    return f"{choice.devices} × {card_label(choice)}, {layout_label(choice)}"


def card_label(choice: Choice) -> str:
    """Card, engine and format of a pool."""
    engine = f" under {choice.engine}" if choice.engine else ""
    return f"{marked(choice.device)[0]}{engine}, {choice.precision}"


def layout_label(choice: Choice) -> str:
    """Layout, chunks and steps of a pool."""
    chunks = "" if choice.pool == "decode" else f", chunks of {choice.chunk:,}"
    return f"{choice.layout}{chunks}{steps_of(choice)}"


def steps_of(choice: Choice) -> str:
    """Drafts, micro-batches and host cache of a pool."""
    return steps(choice.drafts, choice.micro_batches, choice.draft_method,
                 bool(choice.prefill_context), choice.host_cache or 0)


def steps(drafts: int, micro_batches: int, method: str | None = None, context: bool = False,
          host_cache: int = 0) -> str:
    """What a step does besides: ``, 1 MTP token, two micro-batches``.

    Args:
        drafts, micro_batches: drafted tokens and micro-batches of a step [1].
        method: of a drafter apart from the model.
        context: whether prompts are dealt over tensor-parallel ranks.
        host_cache: memory of each server that caches [GB].
    """
    name = DRAFTERS.get(method or "", "MTP token")
    parts = {f"{drafts} {name}{'s' * (drafts != 1)}": drafts, "prefill CP": context,
             "two micro-batches": micro_batches > 1, f"host cache {host_cache:,} GB a server":
             host_cache}
    return "".join(f", {part}" for part, is_used in parts.items() if is_used)


def near(model: str, evidence: Nearness) -> str:
    """What was measured near a deployment of a model."""
    if evidence.nearest is None:
        return "nothing of its kind was measured"
    other = load_scenario(evidence.nearest).model.id
    outside = []
    for axis in evidence.outside:
        ends = "–".join(dict.fromkeys(map(value_words, axis.covered)))
        outside.append(f"{axis_label(axis.name)[0]} {value_words(axis.value)}"
                       + ("" if axis.name in NAMES else f" (measured {ends})"))
    return (f"nearest measured: {evidence.nearest}"
            + (f" (another model, {other})" if other != model else "") + "; "
            + (f"outside: {joined(outside)}" if outside else
               "load, layout, drafts, format and card are within what was measured"))


def value_words(value: Any) -> str:
    """A value of an axis: a number or a name."""
    return human(value) if isinstance(value, float) else str(value)
