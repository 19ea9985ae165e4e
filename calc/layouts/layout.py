"""Layouts of a model on cards, and a deployment with its settings and its scenario file."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from calc.physics.arrays import Number
from calc.yamltext import unquoted
from catalogue import (
    Scenario,
    library,
    load_device,
    load_model,
    load_node,
    load_precision,
    made_scenario,
)
from catalogue.deployments.admission import (
    ENGINE,
    KERNEL,
    announced,
    cut_of,
    marked,
    problems,
    subject_of,
)
from catalogue.deployments.cuts import Cut, written
from catalogue.deployments.physics_inputs import leaves_replica, scale_up_domain
from catalogue.entries.deployments import DERIVED, usual_block
from catalogue.entries.entry import watched
from catalogue.entries.hardware import Node
from catalogue.entries.models import DRAFTERS, DSPARK, EAGLE3, OWN_LAYER, Model
from catalogue.kernels import Kernel, kernel_of
from catalogue.planning import Goal
from catalogue.reading.values import is_path

LAYOUT_AXES = ("devices", "tensor", "pipeline", "data", "expert", "slices", "spares", "context")
"""Columns of a layout, named as ``catalogue.deployments.cuts.Cut`` has them."""
Rows = dict[str, np.ndarray]  # a column for each of ``LAYOUT_AXES``, a layout each
MOST_STAGES = 4
"""Pipeline stages that are tried where nobody says which: assumed. The plans of the documents have
no more, of what was measured (``params/measurements/``) nothing has any, and each stage takes a
batch of its own in flight: nothing supports the numbers beyond."""


@dataclass(frozen=True)
class Sizes:
    """What is tried of a layout; None is every divisor.

    Attributes:
        tensor, pipeline, data, expert: parallel sizes.
        slices: of each expert; 0 is what tensor parallelism leaves.
        spares: numbers of redundant experts by expert-parallel size.
        context: ranks over which a cache is dealt, of those that divide the tensor-parallel size.
    """

    tensor: Sequence[int] | None = None
    pipeline: Sequence[int] | None = None
    data: Sequence[int] | None = None
    expert: Sequence[int] | None = None
    slices: Sequence[int] = (0,)
    spares: Callable[[int], Sequence[int]] = lambda _: (0,)
    context: Sequence[int] | None = (1,)


def enumerate_layouts(counts: Sequence[int], sizes: Sizes) -> tuple[Rows, int]:
    """Layouts of so many cards, whether they divide the model or not, and how many more there are
    with more stages than are tried.

    Args:
        counts: cards, tensor x pipeline x data [1].
        sizes: what is tried.
    """
    rows: list[tuple[int, ...]] = []
    left = 0
    for devices in counts:
        for tp in _meant(devices, sizes.tensor):
            for pp in _meant(devices // tp, sizes.pipeline):
                dp = devices // tp // pp
                if sizes.data is not None and dp not in sizes.data:
                    continue
                experts = _meant(tp * dp, sizes.expert)
                if sizes.pipeline is None and pp > MOST_STAGES:
                    left += len(experts)
                    continue
                rows += [(devices, tp, pp, dp, ep, slices, spares, context)
                         for ep in experts for slices in sizes.slices
                         for spares in sizes.spares(ep) for context in _meant(tp, sizes.context)]
    table = np.array(rows, dtype=int).reshape(-1, len(LAYOUT_AXES))
    return {name: table[:, column] for column, name in enumerate(LAYOUT_AXES)}, left


def _meant(number: int, listed: Sequence[int] | None) -> list[int]:
    """Divisors that are tried."""
    return [size for size in divisors(number) if listed is None or size in listed]


def at(rows: Mapping[str, np.ndarray], which: np.ndarray | slice) -> Rows:
    """Some rows of columns."""
    return {name: column[which] for name, column in rows.items()}


def iter_rows(rows: Mapping[str, np.ndarray]) -> Iterator[dict[str, int]]:
    """Layouts one after the other, by name."""
    names = list(rows)
    for values in zip(*(rows[name].tolist() for name in names), strict=True):
        yield dict(zip(names, values, strict=True))


def placement(node: Node, rows: Mapping[str, Number]) -> tuple[Number, Number, Number, Number]:
    """How layouts lie on servers, on which their inputs depend besides their numbers.

    Args:
        node: the server.
        rows: layouts, a number or an array for each of ``LAYOUT_AXES`` [1].

    Returns whether they take several servers, how many domains an exchange leaves, whether there
    are replicas, and whether tokens of an expert's rank come from more than one.
    """
    per_node, expert = int(node.devices_per_node.value), rows["expert"]
    left = 1 * (expert > per_node) + (expert > scale_up_domain(node))
    return (rows["devices"] > per_node, left, rows["data"] > 1,
            leaves_replica(rows["tensor"], expert, rows["slices"]))


def card_counts(fewest: int, most: int, per_node: int) -> list[int]:
    """Numbers of cards that are tried: parts of a server that divide it, then whole servers [1].

    >>> card_counts(1, 24, 8)
    [1, 2, 4, 8, 16, 24]
    """
    counts = [*divisors(per_node)[:-1], *range(per_node, most + 1, per_node)]
    return [count for count in counts if fewest <= count <= most]


@lru_cache(maxsize=1 << 14)
def divisors(number: int) -> tuple[int, ...]:
    """Its divisors, ascending.

    >>> divisors(12)
    (1, 2, 3, 4, 6, 12)
    """
    return tuple(part for part in range(1, number + 1) if number % part == 0)


def changed(scenario: Scenario, settings: Mapping[str, str | int]) -> Scenario:
    """The deployment with settings of a change in place of its own, which keep its provenance.

    What neither states is its engine's default for the layout that it is then.
    """
    groups: dict[str, dict[str, Any]] = {}
    for path, new in settings.items():
        root, _, key = path.partition(".")
        if root == "precision":
            scenario = scenario.in_precision(library.load("precisions", str(new)))
            continue
        group = getattr(scenario.file, root)
        old = (group.get(key) if isinstance(group, dict) else getattr(group, key)
               ) or scenario.file.cluster.nodes
        if isinstance(old, str):  # one of a few ways
            groups.setdefault(root, {})[key] = new
            continue
        number = int(new)
        groups.setdefault(root, {})[key] = replace(
            old, value=number, written=str(number), low=number, high=number, note=None, others=())
    parts = {}
    for root, values in groups.items():
        group = getattr(scenario.file, root)
        parts[root] = ({**group, **values} if isinstance(group, dict) else
                       group.model_copy(update=values))
    return scenario.with_file(scenario.file.model_copy(update=parts), groups.get("workload", ()))


def set_line(settings: Mapping[str, str | int]) -> str:
    """Settings as ``--set`` takes them, on a line for a shell."""
    return " ".join(f"--set {shlex.quote(f'{key}={value}')}" for key, value in settings.items())


TITLES = {"prefill": {"en": "Prefill pool", "zh": "预填充池"},
          "decode": {"en": "Decode pool", "zh": "解码池"}}

CUT = ("tensor", "pipeline", "data", "expert")
DEALT = "mechanisms.prefill_context_parallel"
DRAFTER_NAMES = {EAGLE3: "EAGLE-3 draft", DSPARK: "DSpark draft"}
UTILIZATION = 90  # percent of the memory, of a goal that says no other
ASSUMED = {"source": "a search: will-it-fit search", "kind": "assumed"}
PER_MILLE = 1000
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the former is ten times as fast


def steps(drafts: int, micro_batches: int, method: str | None = None, context: bool = False,
          host_cache: int = 0) -> str:
    """What a step does besides: ``, 1 MTP token, two micro-batches``.

    Args:
        drafts, micro_batches: drafted tokens and micro-batches of a step [1].
        method: of a drafter apart from the model.
        context: whether prompts are dealt over tensor-parallel ranks.
        host_cache: memory of each server that caches [GB].
    """
    name = DRAFTER_NAMES.get(method or "", "MTP token")
    parts = {f"{drafts} {name}{'s' * (drafts != 1)}": drafts, "prefill CP": context,
             "two micro-batches": micro_batches > 1, f"host cache {host_cache:,} GB a server":
             host_cache}
    return "".join(f", {part}" for part, is_used in parts.items() if is_used)


@dataclass(frozen=True)
class Choice:
    """What a search chooses of a deployment; counts [1], tokens [token].

    Attributes:
        device, node, engine, precision: entries of the catalogue; an engine with its release or
            None.
        devices: cards.
        tensor, pipeline, data, expert: parallel sizes.
        slices: of each expert; 0 is what tensor parallelism leaves.
        spares: redundant experts.
        context: ranks over which the cache of a request is dealt.
        chunk: prompt tokens of a step.
        micro_batches, drafts: micro-batches, and drafted tokens of a step.
        utilization: share of the memory that the engine may use, in percent.
        concurrency: requests in flight, over all replicas.
        pool: ``prefill`` or ``decode`` of two, None of one that does both.
        hits: share of prompts that the cache has while others think [per mille]; None for that of
            the demand.
        host_cache: memory of each server for caches that the cards have dropped [GB]; None without.
        loaded: share of prompts that comes from there, of ``hits`` [per mille].
        drafter: who drafts, a place in ``catalogue.entries.models.DRAFTERS``.
        prefill_context: 1 where prompts are dealt over tensor-parallel ranks.
    """

    device: str
    node: str
    engine: str | None
    precision: str
    devices: int
    tensor: int
    pipeline: int
    data: int
    expert: int
    slices: int
    spares: int
    context: int
    chunk: int
    micro_batches: int
    drafts: int
    utilization: int
    concurrency: int
    pool: str | None = None
    hits: int | None = None
    host_cache: int | None = None
    loaded: int | None = None
    drafter: int = 0
    prefill_context: int = 0

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Choice:
        """A choice of what :meth:`as_json` gives."""
        method = data.get("draft_method", OWN_LAYER)
        fields = {name: value for name, value in data.items() if name != "draft_method"}
        return cls(**({"engine": None} | fields), drafter=DRAFTERS.index(method))

    @property
    def nodes(self) -> int:
        """Servers that hold its cards [1]."""
        return -(-self.devices // _per_node(self.node))

    @property
    def layout(self) -> str:
        """Its cut in words: ``2 replicas of TP8/EP8``."""
        return self.layouts["en"]

    @property
    def layouts(self) -> Mapping[str, str]:
        """Its cut in both languages."""
        return written(self.cut)

    @property
    def cut(self) -> Cut:
        """How it divides model, cards and requests, and what it drafts."""
        return Cut(self.tensor, self.pipeline, self.data, self.expert, self.slices, self.spares,
                   context=self.context, drafts=self.drafts, drafter=self.drafter)

    @property
    def steps(self) -> str:
        """Drafts, micro-batches and host cache, as :func:`steps` has them."""
        return steps(self.drafts, self.micro_batches, self.draft_method,
                     bool(self.prefill_context), self.host_cache or 0)

    @property
    def label(self) -> str:
        """Cards, engine, format, layout and steps."""
        engine = f" under {self.engine}" if self.engine else ""
        chunks = "" if self.pool == "decode" else f", chunks of {self.chunk:,}"
        return (f"{self.devices} × {marked(self.device)[0]}{engine}, {self.precision}, "
                f"{self.layout}{chunks}{self.steps}")

    @property
    def draft_method(self) -> str | None:
        """How a drafter apart from the model drafts; None of its own layer, and without drafts."""
        return DRAFTERS[self.drafter] if self.drafts and self.drafter else None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        fields = asdict(self) | {"drafter": None, "draft_method": self.draft_method,
                                "prefill_context": self.prefill_context or None}
        return {name: value for name, value in fields.items() if value is not None}

    def settings(self) -> dict[str, str | int]:
        """What ``--set`` takes, by path; a scenario of the same model and workload becomes this."""
        nodes = self.nodes
        settings: dict[str, str | int] = {"device": self.device, "cluster.node": self.node,
                                       "cluster.nodes": nodes, "precision": self.precision}
        if self.devices != nodes * _per_node(self.node):
            settings["cluster.devices"] = self.devices
        if self.engine:
            settings["engine"] = self.engine
        settings |= {"parallelism.tensor_parallel": self.tensor,
                  "parallelism.pipeline_parallel": self.pipeline,
                  "parallelism.data_parallel": self.data,
                  "parallelism.expert_parallel": self.expert}
        if self.slices:
            settings["parallelism.expert_tensor_parallel"] = self.slices
        if self.spares:
            settings |= {"parallelism.redundant_experts": self.spares,
                      "parallelism.balancing": "periodic"}
        if self.context > 1:
            settings["parallelism.decode_context_parallel"] = self.context
        if self.host_cache:
            settings["workload.host_cache"] = f"{self.host_cache}GB"
        settings |= {"workload.concurrency": self.concurrency,
                  "workload.max_num_batched_tokens": self.chunk,
                  "workload.memory_utilization": f"{self.utilization / 100:g}"}
        if self.drafts:
            settings["workload.draft_tokens"] = self.drafts
        if self.draft_method:
            settings["workload.draft_method"] = self.draft_method
        return settings | ({DEALT: 1} if self.prefill_context else {})


@dataclass(frozen=True)
class Row:
    """A deployment of the answer: one pool, or one that decodes with one that prefills beside it.

    Attributes:
        choice: its settings; of two pools those of the one that decodes.
        quantities: by name of an objective or limit, SI units.
        over: of a near miss, limit -> how far it is over it, as a factor less one.
        prefill: settings of the pool that prefills; None where one pool does both.
        binds: of two pools ``prefill``, ``decode`` or ``transfer``.
    """

    choice: Choice
    quantities: dict[str, float]
    over: dict[str, float] = field(default_factory=dict)
    prefill: Choice | None = None
    binds: str = ""

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Settings of each of its pools, in the order in which a request meets them."""
        return (self.choice,) if self.prefill is None else (self.prefill, self.choice)

    @property
    def label(self) -> str:
        """Cards, engine, format and layout of each pool, and requests in flight."""
        pools = [choice.label for choice in self.choices]
        return (f"prefill {pools[0]}; decode {pools[1]}" if self.prefill else pools[0]) + (
            f", {self.choice.concurrency:,} in flight")

    @property
    def devices(self) -> int:
        """Cards of all its pools [1]."""
        return sum(choice.devices for choice in self.choices)

    @property
    def layout(self) -> tuple[Choice, ...]:
        """What it is but for its requests in flight."""
        return tuple(replace(choice, concurrency=0) for choice in self.choices)

    @property
    def kind(self) -> tuple[Choice, ...]:
        """What it is but for sizes that no flag is refused for: requests, chunks, memory."""
        return tuple(replace(choice, concurrency=0, chunk=0, utilization=0)
                     for choice in self.choices)

    @property
    def extras(self) -> int:
        """How many things it does that a plain deployment does not [1]; attention in parts of
        several cards of a server, whose ranks share experts, is one, and so are experts that are
        cut and dealt at once. What most recipes do without is two: stages, a second pool, a cache
        dealt over ranks, a drafter apart from the model."""
        once = sum(bool(extra) for choice in self.choices for extra in (
            choice.spares, choice.micro_batches > 1, choice.slices > 1, choice.drafts,
            choice.prefill_context, choice.host_cache,
            1 < choice.tensor < min(choice.expert, _per_node(choice.node)),
            1 < choice.expert < choice.tensor))
        twice = (self.prefill is not None, *(any(of) for of in zip(*(
            (choice.pipeline > 1, choice.context > 1) for choice in self.choices), strict=True)))
        apart = any(choice.draft_method == EAGLE3 for choice in self.choices)
        return once + 2 * sum(twice) + apart

    def worth(self, objectives: Mapping[str, int]) -> tuple[float, ...]:
        """Its objectives, each the larger the better; one that is not known, as a cost without a
        price, is the worst, and those after it decide.

        Args:
            objectives: name -> +1 to have it large, -1 to have it small.
        """
        values = self.quantities | {"cards": float(self.devices)}
        return tuple(sign * values.get(name, -sign * math.inf)
                     for name, sign in objectives.items())

    def kernels(self, model: Model) -> list[Kernel | None]:
        """Which engine, from which release, runs the format of each pool; None where none is known
        to.

        Args:
            model: that they serve.
        """
        return [kernel_of(load_precision(choice.precision), load_device(choice.device),
                          choice.engine, model=model) for choice in self.choices]

    def as_json(self) -> dict[str, Any]:
        """Plain data; a deployment of two pools names each."""
        if self.prefill is None:
            own = {"choice": self.choice.as_json(), "set": set_line(self.choice.settings())}
        else:
            own = {"prefill": self.prefill.as_json(), "decode": self.choice.as_json(),
                   "binds_pools": self.binds}
        announcement = announced(choice.device for choice in self.choices)
        return own | ({"announced": announcement[0]} if announcement else {}) | {
            "quantities": self.quantities, **({"over": self.over} if self.over else {})}


@dataclass(frozen=True)
class Start:
    """Whether ``deploy`` writes a deployment for some release of an engine.

    Attributes:
        engine: ``NAME@RELEASE`` that starts it; None where none does.
        why: what the release said that was asked first, or that requests arrive faster than it
            answers them; empty where one starts it.
        checkpoint: repository of published weights that it starts with; None where none is known.
        loads: the same in words, with what else may be meant.
    """

    engine: str | None
    why: str = ""
    checkpoint: str | None = None
    loads: str | None = None

    def text(self, file: str) -> str:
        """Command that writes the launch files of a deployment's file, or why none starts it."""
        loads = f"  (checkpoint {self.checkpoint})" if self.checkpoint else ""
        return (f"will-it-fit deploy {file} --engine {self.engine} -o DIR{loads}" if self.engine
                else f"no release starts it: {self.why}")

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def usual_chunk(goal: Goal, choice: Choice) -> int:
    """Prompt tokens of a step that the engine of a choice takes by default [token]; those of the
    choice itself where it names none.

    Args:
        goal: whose model and demand it serves.
        choice: the deployment.
    """
    if choice.engine is None:
        return choice.chunk
    file = contents(goal, choice)
    del file["workload"]["max_num_batched_tokens"]
    inputs = made_scenario(file, Path(f"{goal.id}.yml")).inputs()
    return int(inputs["max_num_batched_tokens"])


def _per_node(node: str) -> int:
    return int(load_node(node).devices_per_node.value)


def of_pool(choice: Choice, prompt: int) -> dict[str, str | int]:
    """What makes a deployment the pool that a choice is: settings by path; none of one that does
    both.

    Args:
        choice: the deployment.
        prompt: tokens of a request's prompt [token].
    """
    if choice.pool == "decode":
        # a plan that is to answer soon streams every token, whatever recipes for throughput do
        return {"mechanisms.separate_pools": 1, "workload.stream_interval": 1}
    if choice.pool is None:
        return {}
    settings: dict[str, str | int] = {"workload.output_tokens": 1,
                                   "workload.context_tokens": prompt + 1}
    if choice.expert > choice.tensor and choice.slices <= 1:  # slices are gathered for
        # few requests of many tokens: the mode for high throughput
        settings["mechanisms.exchange_normal"] = 1
    return settings


def contents(goal: Goal, choice: Choice) -> dict[str, Any]:
    """A scenario file of a choice, as plain data.

    Args:
        goal: whose model and demand it serves.
        choice: the deployment.
    """
    demand, space = goal.demand, goal.space
    parts: dict[str, dict[str, Any]] = {}
    plain: dict[str, Any] = {}
    for path, value in choice.settings().items():
        root, _, key = path.partition(".")
        if key:
            parts.setdefault(root, {})[key] = value
        else:
            plain[root] = value
    if is_path(choice.node) and choice.node == load_device(choice.device).node:
        del parts["cluster"]["node"]  # that of the card
    workload = parts["workload"]
    workload |= {key: getattr(demand, key) for key in (
        "input_tokens", "output_tokens", "context_tokens", "length_distribution",
        "length_variation") if getattr(demand, key) is not None}
    if choice.engine is None:
        workload["block_size"] = usual_block(
            load_device(choice.device), load_model(goal.model)).value
    if space.block_size is not None:
        workload["block_size"] = space.block_size
    workload |= arrival_settings(goal)
    mechanisms = parts.pop("mechanisms", {})
    if choice.micro_batches > 1:
        mechanisms["micro_batches"] = choice.micro_batches
    stated = demand.prefill_hit_share if choice.pool == "prefill" else demand.prefix_hit_share
    hits = stated if choice.hits is None else choice.hits / PER_MILLE
    mechanisms |= {"prefix_hit_share": hits} if hits else {}
    if choice.loaded and choice.hits is not None:
        mechanisms["host_prefix_share"] = choice.loaded / PER_MILLE
    for path, number in of_pool(choice, demand.input_tokens).items():
        root, _, key = path.partition(".")
        {"workload": workload, "mechanisms": mechanisms}[root][key] = number
    if demand.agent is not None and choice.pool != "prefill" and choice.hits is None:
        workload, mechanisms = ({key: value for key, value in group.items() if key not in DERIVED}
                                for group in (workload, mechanisms))
        parts["workload"] = workload | {"agent": demand.agent.model_dump() | {
            "pause": f"{demand.agent.pause} s"}}
    promised = {name: {at: time_text(limit, name == "tpot") for at, limit in targets.items()}
                for name, stated in goal.limits.times.items() if (targets := watched(stated))}
    title = f"{goal.title['en']}: {choice.devices} × {choice.device}"
    file = {"title": {"en": title, "zh": f"{goal.title['zh']}：{choice.devices} × {choice.device}"},
            "defaults": ASSUMED, "model": goal.model, **plain, **parts}
    return (file | ({"limits": promised} if promised else {})
            | ({"mechanisms": mechanisms} if mechanisms else {}))


def time_text(time: float, per_token: bool) -> str:
    """A time in a file, without loss; of a token as a rate if that is shorter.

    >>> time_text(2.0, False), time_text(1 / 30, True)
    ('2 s', '30 token/s')
    """
    rate = f"{1 / time:.6g}" if per_token and time else ""
    if float(f"{time:.6g}") == time:
        return f"{time:.6g} s"
    return f"{rate} token/s" if rate and 1 / float(rate) == time else f"{time} s"


def as_asked(goal: Goal, choice: Choice) -> dict[str, Any]:
    """The same under the load of the goal: of users who think, and of those whose prompts are with
    another pool, not all are in flight in a pool, and its file states all of them."""
    file, users = contents(goal, replace(choice, hits=None)), goal.demand.users
    if users is not None and (choice.pool == "decode" or (
            choice.pool is None and goal.demand.think_time)):
        file["workload"]["concurrency"] = users
    return file


def arrival_settings(goal: Goal) -> dict[str, Any]:
    """How requests arrive, as a scenario says it."""
    demand = goal.demand
    if demand.arrival_rate is not None:
        return {"arrivals": "poisson", "arrival_rate": f"{demand.arrival_rate} request/s"}
    if demand.arrivals == "burst":
        return {"arrivals": "burst"}
    arrivals: dict[str, Any] = {"arrivals": "closed-loop"}
    return arrivals | ({"think_time": f"{demand.think_time} s"} if demand.think_time else {})


def text(goal: Goal, choice: Choice) -> str:
    """The scenario file of a choice, which ``estimate`` takes.

    Args:
        goal: whose model and demand it serves.
        choice: the deployment.
    """
    return yaml.dump(unquoted(as_asked(goal, choice)), Dumper=DUMPER, sort_keys=False,
                     allow_unicode=True, width=100)


def family(goal: Goal, prefill: Choice, decode: Choice) -> str:
    """A scenario file of two pools, which ``estimate`` evaluates together.

    Args:
        goal: whose model and demand they serve.
        prefill, decode: the pools.
    """
    own = {name: as_asked(goal, choice) for name, choice in (
        ("prefill", prefill), ("decode", decode))}
    shared = {key: value for key, value in own["decode"].items() if own["prefill"].get(key) == value
              and key not in ("title", "device")}
    variants = {name: {key: value for key, value in part.items() if key not in shared}
                for name, part in own.items()}
    for name, title in TITLES.items():
        variants[name]["title"] = title
    file = {"title": goal.title, **shared, "device": decode.device, "pools": list(own),
             "variants": variants}
    return yaml.dump(unquoted(file), Dumper=DUMPER, sort_keys=False, allow_unicode=True, width=100)


def scenario(goal: Goal, choice: Choice) -> Scenario:
    """The deployment of a choice, checked as a file is.

    Args:
        goal: whose model and demand it serves.
        choice: the deployment.

    Raises ParamsError for a choice that no file can hold.
    """
    return made_scenario(contents(goal, choice), Path(f"{goal.id}.yml"))


def unrun(goal: Goal, row: Row) -> list[Mapping[str, str]]:
    """Why no engine runs a deployment, pool by pool and by language; nothing where one does.

    Args:
        goal: whose model and demand it serves.
        row: the deployment.
    """
    scenarios = [scenario(goal, choice) for choice in row.choices]
    return [problem.text for deployed in scenarios for problem in problems(
        subject_of(deployed), cut_of(deployed), (KERNEL, ENGINE))]
