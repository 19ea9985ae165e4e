"""The finished answer to a goal: rows that were drawn and simulated, why a better one stands below
the first, its weakest limit, formats without a row, and of a goal that nothing meets a way out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from calc.answer.display import (
    data_frame,
    default_lines,
    heading,
    html_lines,
    html_table,
    resource_name,
)
from calc.answer.request_lengths import longer_words
from calc.answer.service import Pools, engine_words, startup_lines
from calc.costing.ownership import capital_of, stated
from calc.evidence.classes import Nearness, stand_ins
from calc.layouts.feasible import MEMORY
from calc.layouts.layout import Row, Start, family, scenario, set_line, text, unrun
from calc.layouts.space import UNPUBLISHED
from calc.physics.step import bound_by
from calc.searching.goal import SHORT
from calc.searching.ranking import (
    NEARLY,
    SURE,
    SampledRow,
    Simulated,
    excesses,
    extras,
    sample_rows,
)
from calc.searching.search import Funnel, search
from calc.searching.selection import Selection, started_pools
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue import load_device, load_node
from catalogue.deployments.admission import (
    announced,
    borrowed,
    length_words,
    positions,
    too_long,
    underived,
)
from catalogue.engine import UNNAMED, stated_release
from catalogue.kernels import Kernel, Quality, quality, unpublished
from catalogue.messages import Pair
from catalogue.planning import MEAN, UNITS, CardRange, Goal
from catalogue.reading.files import is_file, make_folder, store, unwritable
from catalogue.reading.units import HOUR, human

MOST_REJECTED = 4  # formats
NEAREST_FIRST = ("seldom", "unscored", "worse", "limit", "memory", "start")
SHOWN = ("cards", "layout", "precision", "start with")  # columns of a row besides quantities
USUAL = ("ttft", "tpot", "throughput")  # quantities that are shown of every row
AT_FULL_USE = " per million output tokens, prompts included, at 100% utilisation"
MOST_WIDER = 64  # cards of a goal that is searched again with one more server
Later = Literal["seldom", "plainer", "alike"]
LATER: dict[Later, str] = {
    "seldom": "limits kept less often", "alike": "gain within the uncertainty",
    "plainer": "less than 10% gain per mechanism"}
"""Why a row that is better in the first objective stands below the first."""
Why = Literal["limit", "memory", "start", "worse", "seldom", "unscored"]
WHY: dict[Why, str] = {
    "limit": "over a limit", "memory": "does not fit", "start": "no release starts it",
    "worse": "not better", "seldom": "limits kept less often", "unscored": "gains too little"}


@dataclass(frozen=True)
class Memory:
    """Memory of the fullest card of a deployment [B].

    Attributes:
        weights, cache, besides: weights, the cache of the requests at their longest, and the rest.
        capacity: that the engine may use.
    """

    weights: float
    cache: float
    besides: float
    capacity: float


@dataclass(frozen=True)
class ReportRow:
    """A deployment of a report.

    Attributes:
        row: settings and quantities at central values.
        amounts: reported quantities by name, with their 80% intervals.
        agent_costs: cost of a million processed tokens and of an agent's task; empty for other
            loads.
        quality: of the format of each pool, each once.
        kernels: engine and release that run the format of each pool.
        start: release that starts it; None where that was not asked.
        stand_ins: what is taken of other cards for it.
        keeps: share of draws in which it keeps all limits [1]; None without limits.
        simulated: means and percentiles of its users; None where no time is limited.
        later: of one below the first that is better in the first objective, why it is there.
        group: deployments that cannot be told from it.
        limit: the limit that it is near to, if any.
        resource, share: what binds most of a decode step, and its share of it [1].
        memory: of the fullest card; of two pools the fullest that decodes.
        near: what was measured near it; of two pools near both.
        unrun: why no engine runs it, pool by pool and by language; empty where one does.
        pools: rates and closed loop of two pools; None of one pool.
        startup_lines: of its engine about the caches of its pools, plain data.
        startup_words: the same in words.
    """

    row: Row
    amounts: dict[str, Amount]
    agent_costs: dict[str, Amount]
    quality: tuple[Quality, ...]
    kernels: tuple[Kernel | None, ...]
    start: Start | None
    stand_ins: Pair | None
    keeps: float | None
    simulated: Simulated | None
    later: Later | None
    group: tuple[Row, ...]
    limit: str
    resource: str
    share: float
    memory: Memory
    near: Nearness
    unrun: tuple[Mapping[str, str], ...]
    pools: Pools | None
    startup_lines: dict[str, Any]
    startup_words: tuple[Pair, ...]

    @property
    def cells(self) -> list[str]:
        """Texts of the columns ``SHOWN``."""
        choices = self.row.choices
        return [f"{self.row.devices} × {' / '.join(dict.fromkeys(one.device for one in choices))}",
                " → ".join(f"{choice.layout}{choice.steps}" for choice in choices),
                " / ".join(dict.fromkeys(choice.precision for choice in choices)),
                (self.start and self.start.engine) or ""]

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Labels and texts of what binds a row, its memory, quality and evidence."""
        memory = self.memory
        near = f"; {heading(self.limit)} near its limit" if self.limit else ""
        weights, cache, besides, used, capacity = (human(value, "B") for value in (
            memory.weights, memory.cache, memory.besides,
            memory.weights + memory.cache + memory.besides, memory.capacity))
        return [
            *((heading(name), cost.formatted("en")) for name, cost in self.agent_costs.items()),
            *(("engine", f"NO ENGINE RUNS IT: {why['en']}") for why in self.unrun),
            ("limited by", f"{resource_name(self.resource)} ({self.share:.0%} of a decode step)"
             f"{near}"),
            ("memory", f"{weights} weights + {cache} cache + {besides} rest = {used} of {capacity} "
             f"on the fullest {'decode card' if self.pools else 'card'}"),
            ("quality", "; ".join(f"{of.precision}: {of.words[0].removeprefix('quality: ')}"
                                  for of in self.quality)),
            ("evidence", self.near.text)]

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return self.row.as_json() | ({"stand_ins": self.stand_ins[0]} if self.stand_ins else {}) | {
            "amounts": {name: amount.as_json() for name, amount in (
                self.amounts | self.agent_costs).items()},
            "quality": [of_format.words[0] for of_format in self.quality],
            "runs": [kernel and kernel.words[0] for kernel in self.kernels],
            **({"start": self.start.as_json()} if self.start else {}),
            **({"pools": self.pools.as_json()} if self.pools else {}),
            "binds": self.limit, "keeps": self.keeps, "later": self.later,
            "unstarted": [why["en"] for why in self.unrun],
            "limited_by": {"resource": self.resource, "share": self.share},
            "memory": asdict(self.memory), "near": self.near.as_json(),
            "simulated": self.simulated and self.simulated.as_json(),
            "startup_lines": self.startup_lines}


def percentile_words(at: str) -> str:
    """A percentile before its value; empty for the mean."""
    return "" if at in ("", MEAN) else f"{at} "


def report_row(selection: Selection, sample: SampledRow, *group: SampledRow,
               first: SampledRow | None = None) -> ReportRow:
    """The row of a report for a deployment of a selection.

    Args:
        selection: of the deployments that a search found.
        sample: the deployment under draws.
        group: deployments that cannot be told from it.
        first: the one that is recommended; None for ``sample`` itself.
    """
    row, goal, model = sample.row, selection.goal, selection.result.space.model
    deployed = scenario(goal, row.choice)
    inputs = dict(deployed.inputs())
    quantities = dict(evaluate(inputs, deployed.model.attention))
    shares = bound_by(inputs, quantities)
    resource = max(shares, key=lambda name: float(shares[name]))
    weights, cache, total = (float(quantities[name]) for name in (
        "weights_per_device", "kv_per_device", "memory_per_device"))
    start = selection.start(row)
    pools = started_pools(goal, row, start.engine) if start and start.engine else {}
    return ReportRow(
        row=row, amounts=sample.amounts, agent_costs=sample.agent_costs,
        quality=tuple(quality(model, name) for name in dict.fromkeys(
            choice.precision for choice in row.choices)),
        kernels=tuple(row.kernels(model)), start=start, stand_ins=stand_ins(deployed),
        keeps=selection.keeps(sample), simulated=sample.seen,
        later=later_reason(selection, first or sample, sample),
        group=tuple(other.row for other in group),
        limit=selection.result.wishes.binds(row), resource=resource,
        share=float(shares[resource]) / sum(map(float, shares.values())),
        memory=Memory(weights, cache, total - weights - cache, float(quantities["usable_memory"])),
        near=selection.near(row), unrun=tuple(unrun(goal, row)),
        pools=None if row.prefill is None else selection.loop(row),
        startup_lines=startup_lines(pools), startup_words=tuple(
            words for name, pool in pools.items() for words in engine_words(pool, name)))


@dataclass(frozen=True)
class WeakestLimit:
    """The limit that the first deployment breaks most often.

    Attributes:
        name: of the quantity, or of the memory.
        at: ``mean`` or a percentile, of a time; empty of others.
        broken: share of draws in which it is broken [1].
        wider: of a time, the limit with which all are kept in ``SURE`` of the draws [s]; None where
            other limits are broken too often, or none would be enough.
    """

    name: str
    at: str
    broken: float
    wider: float | None


@dataclass(frozen=True)
class Rejected:
    """A format that no row of the report has, or a deployment that no release starts.

    Attributes:
        precision: the format.
        why: ``limit``, ``memory``, ``start``, ``worse``, ``seldom``: better than the first, and
            within the limits less often, or ``unscored``: better than the first by less than what
            formats without a published score have to win.
        row: its nearest miss, or its best deployment.
        limit: the limit that the row breaks most, or is near to.
        start: release that starts the row; None where that was not asked.
        keeps: share of draws in which the row keeps all limits, if drawn [1].
    """

    precision: str
    why: Why
    row: Row
    limit: str = ""
    start: Start | None = None
    keeps: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"precision": self.precision, "why": self.why} | self.row.as_json() | (
            {"start": self.start.as_json()} if self.start else {})


@dataclass(frozen=True)
class WayOut:
    """A wider goal that is met, where the goal is not.

    Attributes:
        what: ``cards``: one more server, ``format``: any that the cards multiply, or ``money``:
            any budget and rent.
        cards: most cards of it [1].
        first: its first deployment, simulated.
        wider: what is allowed, in words.
    """

    what: Literal["cards", "format", "money"]
    cards: int
    first: ReportRow
    wider: str

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"what": self.what, "cards": self.cards} | self.first.row.as_json()


@dataclass(frozen=True)
class SearchReport:
    """The finished answer to a goal.

    >>> from calc.searching.selection import select
    >>> report = search_report(select("r1-64-users-8xh20", ["precisions=fp8-block"]))
    >>> report.rows[0].row.devices, report.rows[0].later
    (8, None)

    Attributes:
        goal: the goal.
        objectives: name -> +1 to have it large, -1 to have it small.
        chosen: those that the goal names.
        limits: by name, SI units.
        unpriced: cards without a price.
        hours: price of a card by the time [money/s], of those that have one.
        funnel: deployments by what became of them.
        pairs: prefill pools, decode pools and pairs that were compared [1]; None without pairs.
        front_size: deployments on the front [1].
        rows: recommended, the best first; empty where nothing meets the goal.
        surest: the surest deployment, where none keeps the limits in the share that is asked for.
        weakest: the limit that the first breaks most often; None without limits, and without rows.
        rejected: formats that none of the rows has.
        missed: deployments that keep no limits simulated.
        refused: of what was to be recommended, one of each kind that no release starts, or that
            answers requests more slowly than they arrive.
        nearest: where nothing meets the goal, the nearest deployment.
        nearest_limit: the limit that it breaks most.
        why: why nothing can be laid out; None where something can.
        ways: of a goal that nothing meets, wider ones that are met.
        notes: which cards are only announced, what of the model is not computed, which releases are
            answered by a neighbour, which requests are longer than the model's positions.
        defaults: what was chosen for a goal that was asked for by plain values.
    """

    goal: Goal
    objectives: dict[str, int]
    chosen: tuple[str, ...]
    limits: dict[str, float]
    unpriced: tuple[str, ...]
    hours: Mapping[str, Amount]
    funnel: Funnel
    pairs: tuple[int, int, int] | None
    front_size: int
    rows: tuple[ReportRow, ...]
    surest: ReportRow | None
    weakest: WeakestLimit | None
    rejected: tuple[Rejected, ...]
    missed: tuple[Simulated, ...]
    refused: tuple[Rejected, ...]
    nearest: Row | None
    nearest_limit: str
    why: str | None
    ways: tuple[WayOut, ...]
    notes: tuple[str, ...]
    defaults: tuple[str, ...] = ()

    def unit(self, name: str) -> str:
        """Unit of a quantity: SI, or the currency of the goal."""
        return self.goal.currency if name == "cost" else UNITS.get(name, "1")

    def amounts(self, row: ReportRow) -> dict[str, Amount]:
        """Quantities of a row that are objectives or limits, and latency and throughput."""
        values, names = row.row.quantities, (*self.chosen, *self.limits, *USUAL)
        return {name: row.amounts.get(name) or Amount.exactly(values[name], self.unit(name))
                for name in dict.fromkeys(names) if name in values}

    @property
    def table(self) -> list[dict[str, str | Amount | None]]:
        """Rows to compare, by column; without columns that no row has."""
        rows: list[dict[str, str | Amount | None]] = [{
            "row": str(rank), **dict(zip(SHOWN, row.cells, strict=True)),
            "limits kept": None if row.keeps is None else f"{row.keeps:.0%}", **self.amounts(row),
            "not first": row.later and LATER[row.later]} for rank, row in enumerate(self.rows, 1)]
        columns = [name for name in dict.fromkeys(name for row in rows for name in row)
                   if any(row.get(name) for row in rows)
                   and not (name == "throughput" and "throughput_per_card" in self.chosen)]
        return [{name: row.get(name) for name in columns} for row in rows]

    @property
    def limit_words(self) -> str:
        """Limits of the goal; empty without any."""
        times = self.goal.limits.times
        stated = [*((name, at, limit) for name, of in times.items() for at, limit in of.items()),
                  *((name, MEAN, limit) for name, limit in self.limits.items()
                    if name not in times)]
        limits = self.goal.limits
        return ", ".join([
            *(f"{heading(name)} {percentile_words(at)}{human(limit, self.unit(name))}"
              for name, at, limit in stated),
            *([f"budget {limits.budget} to buy the cards"] if limits.budget else []),
            *([f"rent {limits.rent} of all cards"] if limits.rent else [])])

    def lines(self, row: ReportRow) -> list[tuple[str, str]]:
        """Labels and texts of a row: limits, quantities, and what is its own."""
        lines = []
        if row.keeps is not None:
            broken = self.weakest if row is self.rows[0] else None
            lines.append(("limits", f"{self.limit_words}: kept in {row.keeps:.0%} of samples" + (
                f", most often broken: {heading(broken.name)} ({broken.broken:.0%})"
                if broken and broken.broken else "")))
        for name, amount in self.amounts(row).items():
            seen = row.simulated.seen.get(name, {}) if row.simulated else {}
            lines.append((heading(name), "".join((
                amount.formatted("en"), AT_FULL_USE if name == "cost" else "",
                *(f", simulated {percentile_words(at)}{human(value, 's')}"
                  for at, value in seen.items())))))
        if row.pools:
            lines.append(("pools", f"throughput of {row.pools.loop.users:,.0f} users limited by "
                          f"{row.row.binds}"))
        return [*lines, *row.lines]

    @property
    def figures(self) -> list[tuple[str, str]]:
        """Labels and texts of the first row; of a goal that nothing meets its limits, the nearest
        deployment and wider goals."""
        if self.rows:
            return self.lines(self.rows[0])
        _, row, lacks = self.unmet
        figures = [("limits", self.limit_words)] if self.limit_words else []
        if row:
            figures += [("nearest", row.label), ("but", lacks)]
            figures += [] if row.prefill else [("settings", set_line(row.choice.settings()))]
        for way in self.ways:
            seen = "; ".join(f"{heading(name)} {amount.formatted('en')}"
                             for name, amount in self.amounts(way.first).items())
            figures.append(("way out", f"{way.wider}: {way.first.row.label}: {seen}"))
        return figures

    @property
    def sentences(self) -> list[str]:
        """What keeps the limits more surely, defaults, notes, rejected formats, deployments that
        were tried, and cards without a price."""
        lines = [*self.surer, *default_lines(self.defaults), *self.notes]
        if self.rejected:
            lines.append(f"Rejected: {'; '.join(map(self.rejection, self.rejected))}.")
        if self.funnel.deployments:
            missed = f"; {len(self.missed)} over a limit when simulated" if self.missed else ""
            lines.append(f"{self.funnel.text}{missed}.")
        if self.rows and self.unpriced and "cost" in {*self.chosen, *(
                self.goal.objectives or ("cost",))}:
            lines.append(f"No price of {', '.join(self.unpriced)}: state one with --price, such as "
                         "--price '1.5..2.5 USD/h'.")
        if "cost" in {*self.chosen, *self.limits}:
            cards = dict.fromkeys(one.device for row in self.rows for one in row.row.choices)
            prices = [f"{card} {hour.scaled(HOUR, hour.currency).formatted('en')}, {hour.kind} "
                      f"({hour.source})" for card in cards if (hour := self.hours.get(card))]
            lines += [f"Price per card-hour: {'; '.join(prices)}. Change it with --price."] * bool(
                prices)
        return lines

    @property
    def verdict(self) -> str:
        """Whether the goal is met: by which deployment, or why not."""
        if not self.rows:
            return f"NOT MET: {self.unmet[0]}"
        first = self.rows[0]
        unsure = first.keeps is not None and first.keeps < SURE
        samples = f" IN {first.keeps:.0%} OF SAMPLES" if unsure else ""
        return f"MET{samples}: {first.row.label}"

    @property
    def unmet(self) -> tuple[str, Row | None, str]:
        """Of a goal that nothing meets why, the nearest deployment, and what that lacks."""
        times = self.goal.limits.times
        if self.surest:
            wanted = f"{self.goal.limits.sure or 0:.0%} of samples"
            return (f"nothing keeps its limits in {wanted}", self.surest.row,
                    f"limits kept in {self.surest.keeps or 0:.0%}")
        if self.missed:
            seen = ", ".join(
                f"{heading(name)} {percentile_words(at)}{human(value, 's')} (limit "
                f"{human(times[name][at], 's')})" for name, stated in self.missed[0].seen.items()
                for at, value in stated.items())
            return (f"nothing keeps its limits when simulated ({len(self.missed)} were)",
                    self.missed[0].row, f"simulated {seen}")
        if self.refused:
            return ("no engine release starts what meets the goal, or it cannot keep up",
                    self.refused[0].row, f"{self.refusal(self.refused[0])}; --any-engine prints it")
        if self.why or self.nearest is None:
            return f"nothing that the goal allows can be laid out: {self.why}", None, ""
        row, name = self.nearest, self.nearest_limit
        if name == MEMORY:
            return ("nothing meets the goal", row,
                    f"{human(row.quantities[SHORT], 'B')} per device short")
        value, most = (human(number, self.unit(name)) for number in (
            row.quantities[name], self.limits[name]))
        return ("nothing meets the goal", row, f"{heading(name)} {value}, the limit is {most}, off "
                f"by a factor of {human(1 + row.over[name])}")

    def refusal(self, rejected: Rejected) -> str:
        """Why no release starts a deployment, without the name that its file would have."""
        return rejected.start.why.removeprefix(f"'{self.goal.id}': ") if rejected.start else ""

    def rejection(self, rejected: Rejected) -> str:
        """A format that no row has, and why."""
        name = rejected.limit if rejected.why == "limit" else next(
            name for name in (*self.chosen, "tpot") if name != "cards")
        value = rejected.row.quantities.get(name)
        return f"{rejected.precision} {WHY[rejected.why]}" + (
            "" if value is None else f" ({heading(name)} {human(value, self.unit(name))})")

    @property
    def surer(self) -> list[str]:
        """What keeps the limits more surely than the first row."""
        weakest, keeps = self.weakest, self.rows[0].keeps if self.rows else None
        if weakest is None or keeps is None or keeps >= SURE:
            return []
        ways = [f"row {rank} keeps them in {row.keeps:.0%} of samples"
                for rank, row in enumerate(self.rows, 1) if (row.keeps or 0.0) >= SURE]
        if weakest.wider is not None:
            ways.insert(0, f"{heading(weakest.name)} limit {percentile_words(weakest.at)}"
                        f"{human(weakest.wider, 's')}: {SURE:.0%} of samples")
        return [f"To be surer: {'; '.join(ways)}." if ways else
                f"No row keeps its limits in {SURE:.0%} of samples; try more cards."]

    def write(self, folder: Path) -> list[Path]:
        """Write the deployment file of each row.

        Raises ParamsError for a folder that cannot be written to, or that has another such file.
        """
        try:
            make_folder(folder)
        except OSError as error:
            raise unwritable(folder, error) from None
        paths = []
        for rank, row in enumerate((row.row for row in self.rows), 1):
            path = folder / f"{self.goal.id}-{rank}.yml"
            contents = (text(self.goal, row.choice) if row.prefill is None
                        else family(self.goal, row.prefill, row.choice))
            if not is_file(path) or path.read_text("utf-8") != contents:
                store(path, contents, replace=False)
            paths.append(path)
        return paths

    def to_frame(self) -> Any:
        """The recommended deployments as a ``pandas.DataFrame``, values with 80% intervals in SI
        units.

        Raises ParamsError where pandas is not installed.
        """
        return data_frame(({
            "rank": rank, **dict(zip(SHOWN, row.cells, strict=True)), "keeps": row.keeps, **{
                f"{name}{end}": number for name, amount in row.amounts.items()
                for end, number in zip(("", "_low", "_high"), amount.points, strict=True)}}
            for rank, row in enumerate(self.rows, 1)), "rank")

    def _repr_html_(self) -> str:
        table = self.table
        rows = [["–" if cell is None else str(cell) for cell in row.values()] for row in table]
        return html_lines(self.verdict, self.sentences, html_table(
            list(map(heading, table[0])), rows) if table else html_table(("", ""), self.figures))

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        data: dict[str, Any] = {
            "goal": self.goal.id, "met": bool(self.rows), "objectives": list(self.objectives),
            "limits": self.limits, "unpriced": list(self.unpriced),
            "funnel": self.funnel.as_json(), "notes": list(self.notes),
            "missed": [missed.row.as_json() | {"simulated": missed.as_json()}
                       for missed in self.missed]}
        if self.defaults:
            data["defaults"] = list(self.defaults)
        if not self.rows:
            if self.why is not None:
                data["why"] = self.why
            elif self.nearest and not (self.missed or self.refused):
                data["why"] = f"{self.nearest.label}: {self.unmet[2]}"
            return data | {"surest": self.surest and self.surest.as_json(),
                           "ways_out": [way.as_json() for way in self.ways],
                           "nearest_miss": self.nearest and self.nearest.as_json() | {
                               "binds": self.nearest_limit}}
        return data | {
            "front_size": self.front_size,
            **({"pairs_tried": list(self.pairs)} if self.pairs else {}),
            "front": [[row.as_json(), *(other.as_json() for other in row.group)]
                      for row in self.rows],
            "weakest": self.weakest and asdict(self.weakest),
            "rejected": [rejected.as_json() for rejected in self.rejected],
            "refused": [refused.as_json() for refused in self.refused]}


def search_report(selection: Selection) -> SearchReport:
    """The report of a selection, computed and simulated.

    Args:
        selection: of the deployments that a search found.
    """
    result, wishes = selection.result, selection.result.wishes
    groups = selection.front
    first = groups[0][0] if groups else None
    rows = tuple(report_row(selection, *group, first=first) for group in groups)
    surest = None if groups else max((group[0] for group in selection.recommended), default=None,
                                     key=lambda sample: selection.keeps(sample) or 0.0)
    nearest = None if groups or surest else nearest_miss(selection)
    ways = () if groups else tuple(ways_out(selection))
    return SearchReport(
        goal=selection.goal, objectives=wishes.objectives, chosen=tuple(wishes.chosen),
        limits=wishes.limits, unpriced=wishes.unpriced, hours=wishes.hours, funnel=result.funnel,
        pairs=result.pairs.tried if result.pairs else None, front_size=len(selection.candidates),
        rows=rows, surest=report_row(selection, surest) if surest else None,
        weakest=weakest_limit(selection, first) if first else None,
        rejected=tuple(rejected_formats(selection, rows)) if rows else (),
        missed=tuple(selection.missed),
        refused=tuple(Rejected(row.choice.precision, "start", row, start=selection.start(row))
                      for row in selection.refused),
        nearest=nearest, nearest_limit=wishes.binds(nearest) if nearest else "",
        why=None if groups or nearest or surest or selection.missed or selection.refused
        else why_none(selection, ways),
        ways=ways,
        notes=tuple(caveats(selection)))


def caveats(selection: Selection) -> Iterator[str]:
    """Which cards are only announced, what of the model is not computed, which releases are
    answered by a neighbour, which requests are too long; of all cards that were tried where nothing
    meets the goal."""
    result, goal = selection.result, selection.goal
    cards = (base.device for base, of_base in zip(result.bases, result.of_bases, strict=True)
             if of_base.front.rows or not selection.met)
    releases = (stated_release(name) for name in goal.engines or () if name != UNNAMED)
    notes = [announced(cards), underived([goal.model]), *itertools.starmap(borrowed, releases)]
    yield from (note[0] for note in notes if note)
    if lacking := unpublished(result.space.model, goal.precisions or ()):
        yield f"precisions: {lacking}."
    row = selection.best or selection.nearest_miss
    if row and (longer := longer_words(scenario(goal, row.choice))):
        yield longer


def nearest_miss(selection: Selection) -> Row | None:
    """The nearest in one pool or, where nothing was simulated or refused, in two."""
    rows = [selection.nearest_miss]
    if not (selection.missed or selection.refused) and (pairs := selection.pairs_without_limits):
        for row in pairs.rows():
            excess = selection.result.wishes.excess({
                name: np.array(value) for name, value in row.quantities.items()})
            if over := {name: float(value) for name, value in excess.items() if value > 0}:
                rows.append(replace(row, over=over))
    return min((row for row in rows if row is not None), default=None, key=lambda row: (
        not row.over, max(row.over.values(), default=0.0)))


def why_none(selection: Selection, ways: Iterable[WayOut]) -> str:
    """Why nothing that the goal allows can be laid out.

    Args:
        selection: that has no deployment.
        ways: wider goals that are met.
    """
    goal, space = selection.goal, selection.result.space
    if too_long(goal.demand.longest, positions(space.model)):
        return length_words(goal.demand.longest, space.model)[0]
    unknown = [str(device) for device in dict.fromkeys(offer.device for offer in space.offers)
               if load_device(device).architecture is None]
    if unknown and not goal.space.any_engine:
        return (f"no release is known to run on '{unknown[0]}', whose file states no "
                "'architecture', expected one there, or --any-engine")
    limits = goal.limits
    if "money" in [way.what for way in ways]:
        name = "budget" if limits.budget else "rent"
        most = max(map(space.most, space.bases()))
        return (f"limits.{name}: {limits.budget or limits.rent} pays for {most or 'no'} cards, too "
                "few")
    if behind := selection.result.funnel.counts["saturated"]:
        who = ("the one layout cannot keep up" if behind == 1 else
               f"all {behind} layouts that hold the model cannot keep up")
        return (f"{who} with the requests, expected more of 'cards', or fewer requests in "
                "'demand'")
    return ("no layout or pair of pools on the allowed cards holds the model and its requests, "
            "divides the model and is loaded in one of the precisions, expected more of 'cards', "
            "'space' or 'precisions'")


def ways_out(selection: Selection) -> Iterator[WayOut]:
    """One more server, other formats, and more money, where they meet the goal."""
    goal, space = selection.goal, selection.result.space
    if too_long(goal.demand.longest, positions(space.model)):
        return
    wider: dict[Literal["cards", "format", "money"], Goal] = {}
    if goal.cards.most is not None and space.offers:
        server = max((int(load_node(base.node).devices_per_node.value)
                      for base in space.bases()), default=0)
        most = goal.cards.most + server
        if server and most <= MOST_WIDER:
            wider["cards"] = goal.model_copy(update={"cards": CardRange(
                fewest=goal.cards.fewest, most=most)})
    formats = {"precisions": None} if goal.precisions else {
        "space": goal.space.model_copy(update={"any_format": True})}
    if goal.precisions or (space.dropped[UNPUBLISHED] and not goal.space.any_format):
        wider["format"] = goal.model_copy(update=formats)
    if goal.limits.budget or goal.limits.rent:
        wider["money"] = goal.model_copy(update={
            "limits": goal.limits.model_copy(update={"budget": None, "rent": None}),
            "cards": goal.cards.model_copy(update={"most": goal.cards.most or MOST_WIDER}),
            "objectives": ["cards"]})
    for what, other in wider.items():
        answer = Selection(search(other), most=1, starts=selection.starts)
        if answer.met:
            first = report_row(answer, answer.front[0][0])
            words = (f"up to {other.cards.most} cards" if what == "cards" else "another format"
                     if what == "format" else money_words(selection, first.row))
            yield WayOut(what, int(other.cards.most or 0), first, words)


def money_words(selection: Selection, row: Row) -> str:
    """The budget and the rent that a deployment takes, rounded up to three digits."""
    limits, words = selection.goal.limits, []

    def enough(money: float, currency: str) -> str:
        digit = 10 ** (math.floor(math.log10(money)) - 2)
        return human(math.ceil(money / digit) * digit, currency)

    if limits.budget:
        currency = stated(limits.budget, "USD").currency
        capital = sum(capital_of(choice.device, choice.node, choice.devices, currency)
                      for choice in row.choices)
        words.append(f"a budget of {enough(capital, currency)}")
    if limits.rent:
        wishes = selection.result.wishes
        rent = HOUR * sum(wishes.hour(choice.device) * choice.devices for choice in row.choices)
        words.append(f"a rent of {enough(rent, selection.goal.currency)}/h")
    return " and ".join(words)


def later_reason(selection: Selection, first: SampledRow, other: SampledRow) -> Later | None:
    """Why a deployment that is better in the first objective stands below the first."""
    leading = selection.result.wishes.leading
    if other is first or other.row.worth(leading) <= first.row.worth(leading):
        return None
    if (selection.keeps(other) or 0.0) < (selection.keeps(first) or 0.0) - NEARLY:
        return "seldom"
    return ("plainer" if extras(selection.result, other.row) > extras(selection.result, first.row)
            else "alike")


def weakest_limit(selection: Selection, first: SampledRow) -> WeakestLimit | None:
    """The limit that the first deployment breaks most often; None without limits."""
    if selection.keeps(first) is None:
        return None
    over = excesses(selection.result, first, selection.simulated(first.row))
    name, at = max(over, key=lambda limit: float(np.mean(over[limit] > 0)))
    excess, wider = over[name, at], None
    others = [other for key, other in over.items() if key[0] != name]
    within = np.max(others, axis=0) <= 0 if others else np.ones(len(excess), bool)
    limit = selection.goal.limits.times.get(name, {}).get(at)
    if limit is not None and within.mean() >= SURE:
        needed = float(np.quantile(np.where(within, excess, np.inf), SURE, method="higher"))
        wider = limit * (1 + needed) if 0 < needed < math.inf else None
    return WeakestLimit(name, at, float(np.mean(excess > 0)), wider)


def rejected_formats(selection: Selection, rows: tuple[ReportRow, ...]) -> list[Rejected]:
    """Formats that were tried of which no row has one, the nearest of each."""
    result = selection.result
    shown = {choice.precision for row in rows for choice in row.row.choices}
    by_format: dict[str, list[Rejected]] = {}
    for base, of_base in zip(result.bases, result.of_bases, strict=True):
        if base.precision in shown:
            continue
        of_format = by_format.setdefault(base.precision, [])
        if of_base.front.rows:
            of_format.append(rejected_format(selection, rows[0], base.precision,
                                           result.row(of_base.front.rows, 0)))
        elif miss := of_base.miss.rows or of_base.short.rows:
            row = result.row(miss, 0)
            of_format.append(Rejected(
                base.precision, "limit" if of_base.miss.rows else "memory", row,
                result.wishes.binds(row)))

    def order(rejected: Rejected) -> tuple[float, ...]:
        """Nearest misses by how near they are, all others by the objectives of the goal."""
        missed = max(rejected.row.over.values(), default=rejected.row.quantities.get(SHORT, 0.0))
        return (NEAREST_FIRST.index(rejected.why), missed,
                *(-worth for worth in rejected.row.worth(result.wishes.chosen)))

    return sorted((min(of_format, key=order) for of_format in by_format.values() if of_format),
                  key=order)[:MOST_REJECTED]


def rejected_format(selection: Selection, first: ReportRow, precision: str, row: Row) -> Rejected:
    """Why no row has a format, the best deployment of which is within the limits."""
    chosen = selection.result.wishes.chosen
    if not selection.offers(row):
        return Rejected(precision, "start", row, start=selection.start(row))
    row = selection.as_ranked(row)
    if row.worth(chosen) <= first.row.worth(chosen):
        return Rejected(precision, "worse", row)
    share = selection.keeps(*sample_rows(selection.result, [row]))
    seldom = first.keeps is not None and (share or 0.0) < first.keeps - NEARLY
    return Rejected(precision, "seldom" if seldom else "unscored", row, keeps=share)
