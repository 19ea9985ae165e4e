"""What a file of a standard question may hold: every page that answers one takes it from there."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from catalogue.entries.entry import Entry, ModelName, ScenarioName
from catalogue.planning.goals import DegreeOrZero, Demand, EngineName, Part
from catalogue.planning.prices import Ownership
from catalogue.reading.values import Identifier, Ref, Text

LoadName = Annotated[str, Ref("loads")]
PricesName = Annotated[str, Ref("prices")]


class Question(Entry):
    """A question that several pages answer, with the same number.

    Attributes:
        title: the question, in both languages.
        models: of which it is asked.
        scenario: deployment that it is asked of; absent, of any.
        engine: that serves it there, in its newest release if none is stated; absent, its own.
        demand: users and lengths, in a steady state.
        draft_tokens: tokens of a step that may be drafted by the model's own layer [token].
        memory_utilization: share of the memory that the engine may use [1].
        ownership: how cards are had.
        day: load whose busiest hour the cards are bought for: over the day they are used as much
            as its mean is of its peak.
        api: service whose price an owned deployment is held against.
    """

    id: Identifier
    title: Text
    models: Annotated[list[ModelName], Field(min_length=1)]
    scenario: ScenarioName | None = None
    engine: EngineName | None = None
    demand: Demand
    draft_tokens: Annotated[list[DegreeOrZero], Field(min_length=1)]
    memory_utilization: Part
    ownership: Ownership
    day: LoadName
    api: PricesName | None = None
    defaults: dict[str, Any] | None = None

    @property
    def users(self) -> int:
        """Users at once [request]."""
        assert self.demand.users is not None
        return self.demand.users

    @property
    def settings(self) -> list[str]:
        """The question's load and engine as overrides of a scenario, ``KEY=VALUE``."""
        asked = self.demand
        told = [f"workload.concurrency={self.users} request", "workload.arrivals=closed-loop",
                f"workload.input_tokens={asked.input_tokens} token",
                f"workload.output_tokens={asked.output_tokens} token"]
        if asked.length_distribution:
            told.append(f"workload.length_distribution={asked.length_distribution}")
        if asked.length_variation is not None:
            told.append(f"workload.length_variation={asked.length_variation}")
        if self.engine:
            told.append(f"engine={self.engine}")
        return told
