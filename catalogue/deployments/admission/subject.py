"""What is asked to be loaded: a model on cards, how it is cut, and a reason why it is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from catalogue.deployments.layout import expert_slices
from catalogue.deployments.profiles import Starts, drafts_in_stages, starting
from catalogue.deployments.resolved import joined_replicas
from catalogue.engines.released import fitting
from catalogue.entries.deployments import Offload, Precision
from catalogue.entries.hardware import Device, Node
from catalogue.entries.models import Model
from catalogue.messages import Pair, by_language

Text = dict[str, str]


@dataclass(frozen=True)
class Cut:
    """How a model is cut, and what depends on it [1].

    Attributes:
        tensor, pipeline, data, expert: parallel sizes.
        slices: of each routed expert; 0 is what tensor parallelism leaves.
        spares: redundant experts.
        shared_ranks: ranks of the shared expert alone.
        context: ranks over which the cache of a request is dealt.
        drafts: drafted tokens of a step.
        drafter: who drafts them, a place in ``catalogue.entries.models.DRAFTERS``.
    """

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    expert: int = 1
    slices: int = 0
    spares: int = 0
    shared_ranks: int = 0
    context: int = 1
    drafts: int = 0
    drafter: int = 0

    @property
    def degrees(self) -> tuple[int, int, int, int]:
        """Tensor, pipeline, data and expert parallel size."""
        return self.tensor, self.pipeline, self.data, self.expert

    @property
    def each(self) -> int:
        """Slices of each expert."""
        return expert_slices({"expert_tensor_parallel": self.slices}, self.tensor, self.expert)

    @property
    def joined(self) -> int:
        """Replicas of one server: those that share experts."""
        return int(joined_replicas(self.tensor, self.expert, self.slices))

    @property
    def server(self) -> int:
        """Cards of one server."""
        return self.tensor * self.pipeline * self.joined


@dataclass(frozen=True)
class Subject:
    """A model in a precision on cards, but for how it is cut.

    Attributes:
        model, precision, device, node: entries.
        numbers: input symbols of the model, and switches that a deployment states.
        engine: with its release if one is meant; None for any that runs on the card.
        engines_own: whether only what an engine starts is admitted.
        context: tokens of the longest request; None where nothing says so.
        offload: experts on a host's processors.
        staged_drafts: whether drafts in pipeline stages are admitted; None, where engines draft so.
        staged_groups: whether ranks that share experts may be cut into pipeline stages.
    """

    model: Model
    precision: Precision
    device: Device
    node: Node
    numbers: Mapping[str, float] = field(repr=False)
    engine: str | None = None
    engines_own: bool = True
    context: float | None = None
    offload: Offload | None = None
    staged_drafts: bool | None = None
    staged_groups: bool = True

    @cached_property
    def engines(self) -> tuple[Starts, ...]:
        """Engines that are meant, of which it is known what they start."""
        names = [self.engine] if self.engine else fitting(self.device)
        every = (starting(name, self.device, self.model, drafts=False, precision=self.precision)
                 for name in names)
        return tuple(engine for engine in every if engine.starts)

    @cached_property
    def stages_draft(self) -> bool:
        """Whether drafts are made in pipeline stages."""
        if self.staged_drafts is not None:
            return self.staged_drafts
        return drafts_in_stages(self.device, self.model, self.engine)


@dataclass(frozen=True)
class Problem:
    """Why a deployment is not loaded.

    Attributes:
        kind: of ``KINDS``.
        key: of the deployment, at fault.
        words: one clause in both languages, without file and line; made where it is read.
        numbers: what it rests on, plain data.
    """

    kind: str
    key: str
    words: Callable[[], Pair]
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> Text:
        """The clause, by language."""
        return by_language(self.words())


@dataclass(frozen=True)
class Rule:
    """One rule, and what it looks at: what is equal in all of that is judged alike.

    Attributes:
        kind: of the problem that it finds.
        of: attributes of a cut; none where the cut does not matter.
        by: attributes of a subject.
        problem: what is wrong, if anything.
        alike: what it looks at, as columns that are made of those of ``of``, where that is less.
    """

    kind: str
    of: tuple[str, ...]
    by: tuple[str, ...]
    problem: Callable[[Subject, Cut], Problem | None]
    alike: Callable[[Subject, Mapping[str, Any]], tuple[Any, ...]] | None = None


def told(kind: str, key: str, words: Callable[[], Pair], **numbers: Any) -> Problem:
    """A problem, whose words are made where they are read: most that are found are counted."""
    return Problem(kind, key, words, numbers)
