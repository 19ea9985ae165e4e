"""What a file of accuracies may hold: scores as printed, and how many problems they rest on."""

from __future__ import annotations

from typing import Annotated

from pydantic import model_validator

from catalogue.entries.entry import Entry, Named, ScenarioName
from catalogue.reading.values import Count, Misplaced, Text, Unit, Value

Percentage = Annotated[Value, Unit("1", exclusive=False, maximum=100.0, spread=False)]


class Benchmark(Entry):
    """A set of problems, each solved or not.

    Attributes:
        name: as its authors write it.
        problems: of the set that the scores are of [1]; ``others`` are further sets which the name
            may mean.
    """

    name: Text
    problems: Count


class Score(Entry):
    """A system's score on a benchmark.

    Attributes:
        system: key of ``systems``.
        benchmark: key of ``benchmarks``.
        solved: percentage of the problems, as printed.
        answers: generated per problem, over which the score is a mean [1]; None where it is not
            stated.
    """

    system: str
    benchmark: str
    solved: Percentage
    answers: Count | None = None


class Accuracy(Named):
    """Scores of several systems on several benchmarks, as one document sets them side by side.

    Attributes:
        scenario: the deployment that the first of ``systems`` is.
        systems: what was evaluated, by key.
        benchmarks: on what, by key.
        scores: the table's cells.
    """

    scenario: ScenarioName
    systems: dict[str, Text]
    benchmarks: dict[str, Benchmark]
    scores: list[Score]

    @model_validator(mode="after")
    def _known(self) -> Accuracy:
        cells = [(score.system, score.benchmark) for score in self.scores]
        for number, (system, benchmark) in enumerate(cells):
            if system not in self.systems:
                raise Misplaced(f"'{system}' is none of 'systems'", "scores", number, "system")
            if benchmark not in self.benchmarks:
                raise Misplaced(f"'{benchmark}' is none of 'benchmarks'", "scores", number,
                                "benchmark")
            if (system, benchmark) in cells[:number]:
                raise Misplaced(f"'{system}' has two scores on '{benchmark}'", "scores", number)
        return self

    def score(self, system: str, benchmark: str) -> Score | None:
        """A cell of the table; None where the document has a dash."""
        return next((score for score in self.scores
                     if (score.system, score.benchmark) == (system, benchmark)), None)
