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
        ours: predicted, with the 80% interval; NaN if nothing can be computed.
        row: the log, of a measured one.
    """

    figure: str
    printed: float
    ours: Amount
    row: StartupRow | None = None

    @property
    def off(self) -> float:
        """Predicted less printed."""
        return float(self.ours.value) - self.printed

    @property
    def factor(self) -> float:
        """Predicted over printed [1]."""
        return float(self.ours.value) / self.printed

    @property
    def covered(self) -> bool:
        """Whether the printed value may lie in the interval; of a log, before it was rounded."""
        half = self.row.log.rounded_by(self.figure) if self.row else 0.0
        return bool(self.ours.low - half <= self.printed <= self.ours.high + half)

    @property
    def recorded(self) -> Term | None:
        """The same figure with the prediction recorded before any rule was changed, if one is."""
        record = self.row.log.recorded.get(self.figure) if self.row else None
        return replace(self, ours=Amount(*record, self.ours.unit)) if record else None


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


def is_off(term: Term) -> bool:
    """Whether a printed value lies outside of its interval."""
    return not term.covered and abs(term.off) > EQUAL * abs(term.printed)


def wrong_term(terms: list[Term]) -> Term | None:
    """Return the term that is off; None if every printed value lies in its interval.

    Of terms that others follow from, that is the one off by most bytes, if it explains at least
    half of what the memory for the cache is off by. Else it is the first that follows, unless a
    later one is off by more than twice its share.

    Args:
        terms: of one log.
    """
    outside = [term for term in terms if is_off(term)]
    cause = max((term for term in outside if term.figure in CAUSES),
                key=lambda term: abs(term.off), default=None)
    left = next((term for term in outside if term.figure in LEFT), None)
    if cause and (left is None or abs(cause.off) >= EXPLAINED * abs(left.off)):
        return cause
    shares = {term.figure: abs(term.off) / max(abs(term.printed), 1.0)
              for term in outside if term.figure not in CAUSES}
    worst = max(shares.values(), default=0.0)
    return next((term for term in outside
                 if shares.get(term.figure, -1.0) >= EXPLAINED * worst), cause)


def startup_cells(rows: Iterable[StartupRow]) -> list[Term]:
    """Predict every printed figure that is judged, of logs that are not excluded.

    Args:
        rows: start-up logs.

    Returns the worst first, by the size of the logarithm of predicted over printed; those for which
    nothing can be computed at the end.
    """
    nothing = Amount(math.nan, math.nan, math.nan, "1")
    cells: list[Term] = []
    for row in rows:
        if row.log.excluded is None:
            figures = {name: value for name, value in row.log.figures.items() if name in JUDGED}
            terms = ([Term(*figure, nothing) for figure in figures.items()] if row.scenario is None
                     else startup_terms(row.scenario, figures, row.log.longest_context))
            cells += [replace(term, row=row) for term in terms]

    def size(term: Term) -> float:
        if math.isnan(term.factor):
            return -1.0
        return abs(math.log(term.factor)) if term.factor > 0 else math.inf

    return sorted(cells, key=size, reverse=True)


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


def summarise_startups(cells: Iterable[Term]) -> StartupSummary:
    """Count errors of figures of start-up logs.

    Args:
        cells: printed figures with predictions.
    """
    cells = list(cells)
    figures = [cell for cell in cells if not math.isnan(cell.factor)]
    return StartupSummary(
        logs=len({cell.row.log.id for cell in figures if cell.row}), figures=len(figures),
        unpredicted=len(cells) - len(figures),
        near=sum(abs(cell.factor - 1) <= NEAR for cell in figures),
        far=sum(not 1 / FAR <= cell.factor <= FAR for cell in figures),
        covered=sum(cell.covered for cell in figures))
