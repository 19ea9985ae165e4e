"""Terms of a start-up log beside their predictions, and which one is off.

Source: notebooks/memory.md, sections What is left for the cache and What an engine allocates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from calc.physics.kv_cache import beside_tokens
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount, interval
from catalogue import Scenario
from catalogue.deployments.measured import StartupRow
from catalogue.entries.measurements import JUDGED

TERMS = {
    "weights": "loaded_weights", "activations": "activations_per_device", "runtime": "workspaces",
    "graphs": "graph_memory", "available": "free_for_kv_per_device",
    "cache": "free_for_kv_per_device", "tokens": "cache_tokens", "blocks": "kv_blocks",
    "requests": "longest_requests", "request_memory": "kv_per_device"}
"""Printed figure -> quantity that predicts it, of one request per replica."""
LONGEST, BLOCKS = "longest", "kv_blocks"
CAUSES = ("weights", "activations", "runtime", "graphs", "request_memory")
"""Terms that the others follow from."""
LEFT = ("available", "cache")
"""Terms that say what the others leave [B]."""
EXPLAINED = 0.5  # [1] of an error, from which on a term explains it
EQUAL = 0.01  # [1] what is nearer than that is never off: engines print two decimals
NEAR, FAR = 0.1, 1.5  # error of a prediction that is near, and factor of one that is far off [1]


@dataclass(frozen=True)
class Term:
    """A printed figure beside ours, SI.

    Attributes:
        figure: its name.
        printed: as the engine printed it.
        ours: predicted, with the 80% interval.
    """

    figure: str
    printed: float
    ours: Amount

    @property
    def off(self) -> float:
        """Predicted less printed."""
        return float(self.ours.value) - self.printed

    @property
    def share(self) -> float:
        """Error over the printed value [1]."""
        return abs(self.off) / max(abs(self.printed), 1.0)

    @property
    def covered(self) -> bool:
        """Whether the printed value lies in the interval."""
        return bool(self.ours.low <= self.printed <= self.ours.high)


def startup_terms(scenario: Scenario, printed: Mapping[str, float], longest: int | None = None
                  ) -> list[Term]:
    """Predict every printed figure that has a prediction.

    Args:
        scenario: the deployment.
        printed: figures in SI units, by name.
        longest: tokens of the longest request; the deployment's own if None [token].
    """
    inputs = scenario.inputs()
    inputs["concurrency"] = inputs["data_parallel"]
    if longest is not None:
        inputs["context_tokens"] = longest
    attention = scenario.model.attention
    amounts = interval(inputs, scenario.knobs(), attention, {*TERMS.values(), BLOCKS})
    predicted = {figure: amounts[name] for figure, name in TERMS.items()}
    if LONGEST in printed:
        predicted[LONGEST] = longest_request(
            amounts[BLOCKS], evaluate(inputs, attention, decode=False),
            inputs["decode_context_parallel"])
    return [Term(figure, value, predicted[figure]) for figure, value in printed.items()
            if figure in predicted]


def longest_request(blocks: Amount, quantities: Mapping[str, Any], ranks: float) -> Amount:
    """The longest request that a cache holds, dealt over some ranks [token].

    Args:
        blocks: of the cache [block].
        quantities: of the deployment.
        ranks: over which a request is dealt [1].
    """
    fixed = beside_tokens(quantities)
    block = float(quantities["block_tokens"]) * ranks
    value, low, high = (max(0.0, block * (size - fixed)) for size in (
        blocks.value, blocks.low, blocks.high))
    return Amount(value, low, high, "token", name=LONGEST)


def wrong_term(terms: list[Term]) -> Term | None:
    """Return the term that is off; None if every printed value lies in its interval.

    Of terms that others follow from, that is the one off by most bytes, if it explains at least
    half of what the memory for the cache is off by. Else it is the first that follows, unless a
    later one is off by more than twice its share.

    Args:
        terms: of one log.
    """
    outside = [term for term in terms
               if not term.covered and abs(term.off) > EQUAL * abs(term.printed)]
    cause = max((term for term in outside if term.figure in CAUSES),
                key=lambda term: abs(term.off), default=None)
    left = next((term for term in outside if term.figure in LEFT), None)
    if cause and (left is None or abs(cause.off) >= EXPLAINED * abs(left.off)):
        return cause
    following = [term for term in outside if term.figure not in CAUSES]
    worst = max((term.share for term in following), default=0.0)
    return next((term for term in following if term.share >= EXPLAINED * worst), cause)


@dataclass(frozen=True)
class StartupCell:
    """A printed figure and its prediction, in SI units.

    Attributes:
        row: the log.
        figure: name of the printed figure.
        printed: its value.
        predicted: with its 80% interval; NaN if nothing can be computed.
    """

    row: StartupRow
    figure: str
    printed: float
    predicted: Amount

    @property
    def factor(self) -> float:
        """Predicted over printed [1]."""
        return float(self.predicted.value) / self.printed

    @property
    def covered(self) -> bool:
        """Whether the printed value, before it was rounded, may lie in the interval."""
        half = self.row.log.rounded_by(self.figure)
        return bool(self.predicted.low - half <= self.printed <= self.predicted.high + half)

    @property
    def recorded(self) -> StartupCell | None:
        """The same figure with the prediction recorded before any rule was changed, if one is."""
        record = self.row.log.recorded.get(self.figure)
        if record is None:
            return None
        value, low, high = record
        return replace(self, predicted=Amount(value, low, high, self.predicted.unit))


def startup_cells(rows: Iterable[StartupRow]) -> list[StartupCell]:
    """Predict every printed figure that is judged, of logs that are not excluded.

    Args:
        rows: start-up logs.
    """
    nothing = Amount(math.nan, math.nan, math.nan, "1")
    cells = []
    for row in rows:
        if row.log.excluded is not None:
            continue
        figures = {name: value for name, value in row.log.figures.items() if name in JUDGED}
        terms = [] if row.scenario is None else startup_terms(
            row.scenario, figures, row.log.longest_context)
        predicted = {term.figure: term.ours for term in terms}
        cells += [StartupCell(row, name, value, predicted.get(name, nothing))
                  for name, value in figures.items()]
    return cells


@dataclass(frozen=True)
class StartupSummary:
    """Errors of predicted figures of start-up logs, as counts.

    Attributes:
        logs: that printed the figures.
        figures: that are predicted.
        unpredicted: for which nothing can be computed.
        near: predicted within ``NEAR``.
        far: off by more than the factor ``FAR``.
        covered: in the 80% interval.
    """

    logs: int
    figures: int
    unpredicted: int
    near: int
    far: int
    covered: int


def summarise_startups(cells: Iterable[StartupCell]) -> StartupSummary:
    """Count errors of figures of start-up logs.

    Args:
        cells: printed figures with predictions.
    """
    cells = list(cells)
    quantities = list(filter(_predicted, cells))
    return StartupSummary(
        logs=len({cell.row.log.id for cell in quantities}), figures=len(quantities),
        unpredicted=len(cells) - len(quantities),
        near=sum(abs(cell.factor - 1) <= NEAR for cell in quantities),
        far=sum(not 1 / FAR <= cell.factor <= FAR for cell in quantities),
        covered=sum(cell.covered for cell in quantities))


def _predicted(cell: StartupCell) -> bool:
    return not math.isnan(cell.factor)


def _worst_first(cells: Iterable[StartupCell]) -> list[StartupCell]:
    """Predicted figures by the absolute logarithm of predicted over printed."""
    return sorted(filter(_predicted, cells), reverse=True, key=lambda cell: (
        abs(math.log(cell.factor)) if cell.factor > 0 else math.inf))


def worst_of_logs(cells: Iterable[StartupCell]) -> list[StartupCell]:
    """Return the worst predicted figure of each log, worst first.

    Args:
        cells: printed figures with predictions.
    """
    worst: dict[str, StartupCell] = {}
    for cell in _worst_first(cells):
        worst.setdefault(cell.row.log.id, cell)
    return list(worst.values())


def startup_groups(cells: Iterable[StartupCell]) -> dict[tuple[str, str], list[StartupCell]]:
    """Group predicted figures by engine and kind of attention, the group with the worst first.

    Args:
        cells: printed figures with predictions.
    """
    groups: dict[tuple[str, str], list[StartupCell]] = {}
    for cell in _worst_first(cells):
        assert cell.row.scenario is not None  # as it is predicted
        groups.setdefault((cell.row.engine, cell.row.scenario.model.attention), []).append(cell)
    return groups


def differing_term(row: StartupRow) -> str | None:
    """Name of the printed figure that is off, see :func:`wrong_term`; None if all are inside.

    Args:
        row: a log with a deployment.
    """
    assert row.scenario is not None
    wrong = wrong_term(startup_terms(row.scenario, row.log.figures, row.log.longest_context))
    return wrong.figure if wrong else None
