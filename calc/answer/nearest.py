"""Why a deployment does not run as asked, and the nearest one that does, found by trying.

Changes are tried from what a user notices least to what costs most: another cut of the same cards,
a cache dealt over ranks where no cut suffices, shorter prompt chunks, fewer requests or a shorter
context (to half of what was asked), another precision, both, still fewer requests, more cards.
Memory decides, in closed form, for all cuts and precisions at once; where it can be had, with room
for the upper end of what an engine may reserve. What is told of a change is what the runtime gives
for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calc.answer.steady_state import central_values
from calc.layouts.feasible import HEADROOM, Judge, admitted, has_room, reasons
from calc.layouts.layout import (
    LAYOUT_AXES,
    Sizes,
    at,
    card_counts,
    changed,
    divisors,
    enumerate_layouts,
    iter_rows,
)
from calc.serving.evaluate import evaluate
from catalogue import Scenario, precision_inputs
from catalogue.deployments.admission import (
    CONTEXT,
    KINDS,
    OF_PRECISION,
    STAGES,
    cut_of,
    positions,
    precisions,
    problems,
    subject_of,
    too_long,
)
from catalogue.deployments.cuts import Cut, written
from catalogue.deployments.physics_inputs import DEGREES, scale_up_domain
from catalogue.deployments.physics_inputs import SHARED_CACHE as SHARED
from catalogue.entries.deployments import Precision
from catalogue.messages import by_language, join, messages
from catalogue.reading.units import human

common = messages("common")
say = messages("calc/answer/nearest")

CHANGE_QUANTITIES = ("headroom_per_device", "max_concurrency", "ttft", "tpot", "e2e",
                     "output_throughput")
OF_ALL = ("shared_ranks", "drafts", "drafter")  # of a cut, besides how it is laid out
LEAST_CHUNK = 512  # tokens of a prompt chunk; shorter ones leave matmuls mostly idle
MOST_NODES = 128  # that are tried
Text = dict[str, str]


@dataclass(frozen=True)
class Change:
    """A deployment that runs, as a change of one that does not.

    Attributes:
        settings: what differs, as ``--set`` takes it.
        devices: cards of the deployment [1].
        quantities: of ``CHANGE_QUANTITIES``, SI units; latency and throughput as users see
            them.
        text: one sentence in both languages.
    """

    settings: dict[str, str | int]
    devices: int
    quantities: dict[str, float]
    text: Text

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return vars(self)


class Search:
    """The changes of one deployment that make it run.

    Args:
        scenario: the deployment; it need not fit.
        found: quantities of ``calc.evaluate`` for it, scalars.
    """

    def __init__(self, scenario: Scenario, quantities: Mapping[str, Any]) -> None:
        self.scenario, self.found = scenario, quantities
        self.inputs, self.attention = scenario.inputs(), scenario.model.attention
        self.cut = cut_of(scenario)
        own = subject_of(scenario)
        self.problems = {problem.kind for problem in problems(own, self.cut)}
        self.asked = not self.problems & set(OF_PRECISION)
        options = precisions(own, scenario.precision)
        first = [precision for precision in options if precision.id == scenario.precision.id]
        if self.asked:
            first = [scenario.precision]  # with what was changed in it
        self.precisions = first + [precision for precision in options
                                    if precision.id != scenario.precision.id]
        # where it steps so already, or has no prompts, there is nothing to leave out
        self.subject = replace(own, staged_groups=bool(self.inputs["separate_pools"]) or bool(
            list(problems(replace(own, staged_groups=False), self.cut, (STAGES,)))))
        reserve = scenario.device.runtime_reserve
        self.margin = float(reserve.high - reserve.value) if reserve else 0.0
        self.cuts = self._by_distance(scenario.devices)
        self._tried: dict[int, dict[str, np.ndarray]] = {}

    def changes(self) -> list[Change]:
        """What makes it run, nearest first: on these cards, then on the fewest of their kind."""
        if CONTEXT in self.problems:
            return self._shorter()
        steps = (self._undrafted, self._cut, self._deal, self._chunk, self._requests,
                 self._context, self._precision, self._precision_and_cut, self._few_requests,
                 self._more_cards)
        every = [self._evaluated(settings) for step in steps for settings in step() if settings]
        return [change for number, change in enumerate(every)
                if not any(set(change.settings.items()) >= set(other.settings.items())
                           for other in every[:number])]

    def _shorter(self) -> list[Change]:
        """Requests of as many tokens as the model knows, and what they need besides."""
        workload, most = self.scenario.file.workload, positions(self.scenario.model)
        tokens = int(self.inputs["input_tokens"] + self.inputs["output_tokens"])
        if workload.context_tokens is None or (
                workload.input_tokens is not None and too_long(tokens, most)):
            return []
        fewer: dict[str, str | int] = {"workload.context_tokens": int(most)}
        other = changed(self.scenario, fewer)
        quantities = evaluate(other.inputs(), self.attention)
        if not reasons(other, quantities):
            return [self._evaluated(fewer)]
        return [self._evaluated(fewer | change.settings)
                for change in Search(other, quantities).changes()]

    @property
    def _short(self) -> bool:
        """Whether memory alone is what it lacks."""
        return not has_room(self.found) and not self.problems

    def _by_distance(self, devices: int) -> list[Cut]:
        """Cuts of so many cards, nearest to the one asked for first; those over a network last."""
        own, widest = self.cut.degrees, scale_up_domain(self.scenario.node)

        def distance(cut: Cut) -> tuple[float, ...]:
            new = cut.degrees
            moved = sum(one != two for one, two in zip(new, own, strict=True))
            factors = sum(abs(np.log2(one / two)) for one, two in zip(new, own, strict=True))
            return (cut.tensor > max(widest, own[0]), moved, round(factors, 6), cut.pipeline,
                    cut.tensor)

        rows, _ = enumerate_layouts((devices,), Sizes(
            slices=(self.cut.slices,), spares=lambda _: (self.cut.spares,),
            context=(self.cut.context,)))
        rest = {name: getattr(self.cut, name) for name in OF_ALL}
        rows |= {name: np.full(len(rows["tensor"]), value) for name, value in rest.items()}
        keep = admitted(self.subject, rows, [kind for kind in KINDS if kind not in (
            *OF_PRECISION, "blocks", CONTEXT)])
        return sorted((Cut(**{name: row[name] for name in (*LAYOUT_AXES[1:], *rest)})
                       for row in iter_rows(at(rows, keep))), key=distance)

    def _grid(self, tried: Sequence[Cut], precisions: Sequence[Precision]) -> dict[str, np.ndarray]:
        """Memory of all cuts (columns) in all precisions (rows); none where no engine loads it."""
        sizes = [precision_inputs(precision) for precision in precisions]
        columns = {name: np.array([[row[name]] for row in sizes]) for name in sizes[0]}
        degrees = {name: np.array([[cut.degrees[axis] for cut in tried]])
                   for axis, name in enumerate(DEGREES)}
        quantities = evaluate(self.inputs | columns | degrees | self.scenario.shares(degrees),
                              self.attention, decode=False)
        rows = {name: np.array([getattr(cut, name) for cut in tried])
                for name in (*LAYOUT_AXES[1:], *OF_ALL)}
        judge, kinds = Judge(), [kind for kind in KINDS if kind != CONTEXT]
        loads = np.array([judge.kinds(replace(self.subject, precision=precision), rows, "cuts",
                                      kinds) < 0 for precision in precisions])
        return {HEADROOM: np.where(loads, quantities[HEADROOM], -np.inf),
                "max_concurrency": np.where(loads, quantities["max_concurrency"], 0)}

    def _all(self) -> dict[str, np.ndarray]:
        """:meth:`_grid` of everything on the same cards."""
        if 0 not in self._tried:
            self._tried[0] = self._grid(self.cuts, self.precisions)
        return self._tried[0]

    def _first(self, headroom: np.ndarray) -> tuple[int, int] | None:
        """First precision, and of it the first cut, that fit with the margin; else without it."""
        for least in (self.margin, 0.0):
            rows = np.argwhere(has_room(headroom, least))
            if len(rows):
                return int(rows[0][0]), int(rows[0][1])
        return None

    def _undrafted(self) -> Iterator[dict[str, str | int]]:
        """No drafts, where none are made in pipeline stages."""
        if self.problems == {"drafts"} and has_room(self.found):
            yield {"workload.draft_tokens": 0}

    def _settings(self, precision: int, cut: Cut) -> dict[str, str | int]:
        chosen = self.precisions[precision].id
        settings: dict[str, str | int] = {}
        if chosen != self.scenario.precision.id:
            settings["precision"] = chosen
        return settings | {f"parallelism.{name}": new for name, new, old in
                        zip(DEGREES, cut.degrees, self.cut.degrees, strict=True) if new != old}

    def _cut(self) -> Iterator[dict[str, str | int]]:
        """Another cut in the precision asked for."""
        if self.asked and self.cuts and (
                first := self._first(self._all()[HEADROOM][:1])):
            yield self._settings(0, self.cuts[first[1]])

    def _deal(self) -> Iterator[dict[str, str | int]]:
        """The cache of a request over the fewest ranks, where no cut of the same cards suffices."""
        if not self._short or any(self._cut()):
            return
        dealt = {"tensor": np.array([self.cut.tensor]), "expert": np.array([self.cut.expert]),
                 "data": np.array([self.cut.data]), "slices": np.array([self.cut.slices])}
        for size in divisors(self.cut.tensor):
            loads = size > self.cut.context and admitted(
                self.subject, dealt | {"context": np.array([size])}, ("dealt", "engine"))[0]
            if loads and has_room(self._workload(**{SHARED: size})):
                yield {f"parallelism.{SHARED}": size}
                return

    def _workload(self, **changed: float) -> Mapping[str, Any]:
        return evaluate(self.inputs | changed | self.scenario.shares(changed), self.attention,
                        decode=False)

    def _chunk(self) -> Iterator[dict[str, str | int]]:
        """Shorter chunks of prompts, halved until it fits."""
        size = int(self.inputs["max_num_batched_tokens"]) // 2
        while self._short and size >= LEAST_CHUNK:
            if has_room(self._workload(max_num_batched_tokens=size)):
                yield {"workload.max_num_batched_tokens": size}
                return
            size //= 2

    def _requests(self, share: float = 0.5) -> Iterator[dict[str, str | int]]:
        """Fewer requests at once, if enough of those asked for remain."""
        most = int(self.found["max_concurrency"])
        if not self.problems and max(1, share * self.inputs["concurrency"]) <= most < self.inputs[
                "concurrency"]:
            yield {"workload.concurrency": most}

    def _context(self) -> Iterator[dict[str, str | int]]:
        """A shorter context, to what a request needs, or to half where only that is known.

        Requests that are listed need theirs.
        """
        workload, context = self.scenario.file.workload, int(self.inputs["context_tokens"])
        size = int(self.found["block_tokens"] * self.inputs[SHARED])
        blocks = (self.found["kv_blocks"] - self.found["prompt_blocks"]) // self.found[
            "requests_per_rank"]
        room = int(blocks - self.found["state_blocks_per_request"]) * size
        least = (max(1, context // 2) if workload.input_tokens is None
                 else int(self.inputs["input_tokens"] + self.inputs["output_tokens"]))
        if (not self.problems and self.scenario.variations is None
                and workload.context_tokens is not None and least <= room < context):
            yield {"workload.context_tokens": room}

    def _precision(self) -> Iterator[dict[str, str | int]]:
        """Another precision, cut as asked."""
        if self.cut in self.cuts and self.precisions:
            column = self._all()[HEADROOM][:, [self.cuts.index(self.cut)]]
            if first := self._first(column):
                yield self._settings(first[0], self.cut)

    def _precision_and_cut(self) -> Iterator[dict[str, str | int]]:
        """The nearest precision that fits in any cut, in its nearest cut."""
        if self.cuts and self.precisions and (
                first := self._first(self._all()[HEADROOM])):
            yield self._settings(first[0], self.cuts[first[1]])

    def _few_requests(self) -> Iterator[dict[str, str | int]]:
        """Where all the requests are too many in any precision and cut: as many as one holds.

        The nearest precision and cut that hold at least half of what the best of them holds.
        """
        if not (self.cuts and self.precisions):
            return
        budgets = self._all()
        capacity = budgets["max_concurrency"]
        if has_room(budgets[HEADROOM]).any() or capacity.max() < 1:
            return
        row, column = np.argwhere(capacity >= max(1, capacity.max() / 2))[0]
        yield self._settings(int(row), self.cuts[column]) | {
            "workload.concurrency": int(capacity[row, column])}

    def _more_cards(self) -> Iterator[dict[str, str | int]]:
        """The fewest cards of this kind on which it runs as asked, or in the nearest precision.

        Not where another cut of the same cards does.
        """
        file = self.scenario.file
        per_node = int(self.scenario.node.devices_per_node.value)
        if (not self.precisions or has_room(self.found)
                or (self.cuts and self._first(self._all()[HEADROOM][:1]))):
            return
        for devices in card_counts(self.scenario.devices + 1, MOST_NODES * per_node, per_node):
            tried = self._by_distance(devices)
            if not tried:
                continue
            if first := self._first(self._grid(tried, self.precisions[:1])[HEADROOM]):
                nodes = -(-devices // per_node)
                cluster: dict[str, str | int] = {}
                if nodes != file.cluster.nodes.value:
                    cluster["cluster.nodes"] = nodes
                if file.cluster.devices is not None or devices < nodes * per_node:
                    cluster["cluster.devices"] = devices
                yield cluster | self._settings(0, tried[first[1]])
                return

    def _evaluated(self, settings: dict[str, str | int]) -> Change:
        """A change with what the runtime gives for it."""
        other = changed(self.scenario, settings)
        quantities = central_values(other, CHANGE_QUANTITIES)
        return Change(settings, other.devices, quantities,
                      _sentence(self.scenario, other, settings, quantities))


WORKLOAD = ("max_num_batched_tokens", "concurrency", "draft_tokens", "context_tokens")


def _sentence(original: Scenario, changed: Scenario, settings: Mapping[str, str | int],
              quantities: Mapping[str, float]) -> Text:
    """What is changed, and what comes out."""
    layout = written(cut_of(changed))
    cards = changed.devices
    same = cards == original.devices
    parts = [] if same else [common("cards-2", cards=cards)]
    if "precision" in settings:
        parts.append(say("precision", precision=settings["precision"]))
    if any(key.startswith("parallelism.") for key in settings):
        parts.append((layout["en"], layout["zh"]))
    counts = {key: f"{new:,}" for key in WORKLOAD
              if (new := settings.get(f"workload.{key}")) is not None}
    parts += [say("workload", key=key, count=count) for key, count in counts.items()]
    spare = human(quantities["headroom_per_device"], "B")
    first, pace = human(quantities["ttft"], "s"), human(quantities["tpot"], "s")
    # without lengths of answers nothing is known of the time of prompts; of one token there is none
    inputs, stated = changed.inputs(), changed.file.workload.output_tokens is not None
    kind = "tokens" if not stated else "prompts" if inputs["output_tokens"] <= 1 else "answers"
    prompts = human(quantities["output_throughput"] * inputs["input_tokens"], "token/s")
    return by_language(say(
        "it-runs-with-per-device", spare=spare, first=first, each=pace, same=same, kind=kind,
        prompts=prompts,
        changes=join((", ", "，"), parts), spaced=parts[0][1][0].isascii()))
