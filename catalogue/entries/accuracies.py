"""What a file of accuracies may hold: scores as printed, and how many problems they rest on."""

from __future__ import annotations

from typing import Annotated

from pydantic import model_validator

from catalogue.entries.entry import CatalogueEntry, Entry, ModelName, PrecisionName, ScenarioName
from catalogue.reading.values import Count, Misplaced, Text, Unit, Value, Words

DIGITS = 3  # of a difference of two printed percentages
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


class FormatScore(Entry):
    """What the weights of a model scored in a format, and in another where one source has both.

    Attributes:
        model: of the catalogue; absent, one that it does not have, of ``family`` then.
        family: models of one architecture, as ``Model.family`` has it.
        weights: which were evaluated, as their publisher calls them.
        precision: the format, an entry of ``params/precisions/``.
        benchmark: as its authors write it.
        solved: percentage of the problems.
        against: the format of the other score.
        reference: percentage in it, by the same source and way of asking.
        engine, card: what ran it.
    """

    model: ModelName | None = None
    family: Words | None = None
    weights: Words
    precision: PrecisionName
    benchmark: Words
    solved: Percentage
    against: PrecisionName | None = None
    reference: Percentage | None = None
    engine: Words | None = None
    card: Words | None = None

    @model_validator(mode="after")
    def _paired(self) -> FormatScore:
        if (self.against is None) != (self.reference is None):
            raise ValueError("'against' and 'reference' are given together or not at all")
        if (self.model is None) == (self.family is None):
            raise ValueError("either 'model' or 'family' is given, of which model the score is")
        return self

    @property
    def source(self) -> str:
        """Key of who printed it."""
        return self.solved.source

    @property
    def difference(self) -> float | None:
        """Points over the reference, below zero where the format costs; None without one."""
        return None if self.reference is None else round(self.solved.value - self.reference.value,
                                                         DIGITS)


class Accuracy(CatalogueEntry):
    """Scores of several systems on several benchmarks, as one document sets them side by side.

    Attributes:
        scenario: the deployment that the first of ``systems`` is.
        systems: what was evaluated, by key.
        benchmarks: on what, by key.
        scores: the table's cells.
        formats: scores of one format beside another's, of any model.
    """

    scenario: ScenarioName | None = None
    systems: dict[str, Text] = {}
    benchmarks: dict[str, Benchmark] = {}
    scores: list[Score] = []
    formats: list[FormatScore] = []

    @model_validator(mode="after")
    def _something(self) -> Accuracy:
        if not (self.scores or self.formats):
            raise ValueError("nothing is scored: give 'scores' or 'formats'")
        if (self.scenario is None) != (not self.scores):
            raise ValueError("'scores' are of a 'scenario', and only they")
        return self

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
