"""Why a deployment does not run as asked, and the nearest one that does, found by trying.

Changes are tried from what a user notices least to what costs most: another cut of the same cards,
a cache dealt over ranks where no cut suffices, shorter prompt chunks, fewer requests or a shorter
context (to half of what was asked), another precision, both, still fewer requests, more cards.
Memory decides, in closed form, for all cuts and precisions at once; where it can be had, with room
for the upper end of what an engine may reserve. What is told of a change is what the runtime gives
for it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calc.choosing.layouts import SHARED, Cut, cuts, divisors, shares
from calc.quantities.everything import evaluate
from catalogue import Scenario, library, precision_inputs
from catalogue.deployments.blocks import block_problem
from catalogue.deployments.fabric import scale_up_domain
from catalogue.deployments.layout import DEGREES
from catalogue.deployments.precision_support import missing_dtypes
from catalogue.deployments.precision_support import nearest as supported
from catalogue.entries.deployments import Precision
from catalogue.reading.amounts import human

MEMORY, DTYPE = "memory_capacity", "dtype"
CLASSES = {
    "attention": ("attention projections", "注意力投影"), "core": ("attention core", "注意力核心"),
    "index": ("scores of the indexer", "索引器打分"), "dense_mlp": ("dense MLP", "稠密 MLP"),
    "shared_expert": ("shared experts", "共享专家"), "routed_expert": ("routed experts", "路由专家"),
    "router": ("router", "路由器"), "head": ("output head", "输出头"),
}
TOLD = ("headroom_per_device", "max_concurrency", "ttft", "tpot", "e2e", "output_throughput")
ON_PROCESSORS = ("q4-k-m", "q4-k-m-kt", "w8a8-int4-cpu")  # made for experts on processors
LEAST_CHUNK = 512  # tokens of a prompt chunk; shorter ones leave matmuls mostly idle
MOST_NODES = 128  # that are tried
Text = dict[str, str]


@dataclass(frozen=True)
class Reason:
    """Why a deployment does not run as asked.

    Attributes:
        kind: ``memory_capacity`` or ``dtype``.
        numbers: bytes per device [B], or classes of tensors by dtype.
        text: one sentence in both languages.
    """

    kind: str
    numbers: dict[str, Any]
    text: Text

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, **self.numbers, "text": self.text}


@dataclass(frozen=True)
class Change:
    """A deployment that runs, as a change of one that does not.

    Attributes:
        settings: what differs, as ``--set`` takes it.
        devices: cards of the deployment [1].
        quantities: of ``TOLD``, SI units.
        text: one sentence in both languages.
    """

    settings: dict[str, str | int]
    devices: int
    quantities: dict[str, float]
    text: Text

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return vars(self)


def reasons(scenario: Scenario, found: Mapping[str, Any]) -> tuple[Reason, ...]:
    """Why a deployment does not run as asked; nothing if it does.

    Args:
        scenario: the deployment.
        found: quantities of ``calc.evaluate`` for it, scalars.
    """
    result = []
    if found["headroom_per_device"] < 0:
        names = ("weights_per_device", "kv_per_device", "activations_per_device",
                 "exchange_buffers", "memory_per_device", "usable_memory")
        numbers = {"short": -float(found["headroom_per_device"])}
        numbers |= {name: float(found[name]) for name in names}
        numbers["copies"] = float(found["absorbed_copies_per_device"] + found["mtp_weights"])
        told = {name: human(number, "B") for name, number in numbers.items()}
        weights, cache, active, buffers, whole, usable = (told[name] for name in names)
        besides = [f", copies {told['copies']}" * (numbers["copies"] > 0)
                   + f", buffers {buffers}" * (numbers["exchange_buffers"] > 0),
                   f"、副本与预测层 {told['copies']}" * (numbers["copies"] > 0)
                   + f"、缓冲 {buffers}" * (numbers["exchange_buffers"] > 0)]
        result.append(Reason(MEMORY, numbers, {
            "en": f"The fullest device is {told['short']} short: weights {weights}, cache {cache} "
                  f"(every request at its longest){besides[0]} and activations {active} come to "
                  f"{whole} with the runtime's own, of the {usable} that the engine may use.",
            "zh": f"最满的一张卡还差 {told['short']}：权重 {weights}、KV 缓存 {cache}"
                  f"（每个请求都按最长计）{besides[1]}、激活 {active}，"
                  f"连同运行时占用共 {whole}，而引擎可用 {usable}。"}))
    if lacking := missing_dtypes(scenario.precision, scenario.device, _on_device(scenario)):
        classes: dict[str, list[str]] = {}
        for name, dtype in lacking:
            classes.setdefault(dtype, []).append(name)
        wanted = [", ".join(f"{dtype.upper()} for {_list(members, 0)}"
                            for dtype, members in classes.items()),
                  "；".join(f"{_list(members, 1)}要求 {dtype.upper()}"
                           for dtype, members in classes.items())]
        device, precision = scenario.device.name, scenario.precision.id
        result.append(Reason(DTYPE, {"classes": classes}, {
            "en": f"{device['en']} has no matrix unit for what {precision} multiplies: "
                  f"{wanted[0]}. Times are those of weights widened to 16 bits.",
            "zh": f"{device['zh']} 的矩阵单元不支持 {precision} 所需的数据类型：{wanted[1]}。"
                  "所列时间按权重先转为 16 bit 计算。"}))
    return tuple(result)


def _list(names: Sequence[str], language: int) -> str:
    return (", " if language == 0 else "、").join(CLASSES[name][language] for name in names)


def _on_device(scenario: Scenario) -> list[str] | None:
    """Classes that the device multiplies; None for all."""
    offload = scenario.file.offload
    if offload is None or offload.fetched or offload.routed_experts.value < 1:
        return None
    return [name for name in scenario.precision.multiply.dtypes if name != "routed_expert"]


class Search:
    """The changes of one deployment that make it run.

    Args:
        scenario: the deployment; it need not fit.
        found: quantities of ``calc.evaluate`` for it, scalars.
    """

    def __init__(self, scenario: Scenario, found: Mapping[str, Any]) -> None:
        self.scenario, self.found = scenario, found
        self.inputs, self.attention = scenario.inputs(), scenario.model.attention
        self.model = self.inputs, self.attention, scenario.model.id
        options = [precision for precision in supported(scenario.device, scenario.precision,
                                            _on_device(scenario))
                   if precision.id not in ON_PROCESSORS or scenario.file.offload]
        own = [precision for precision in options if precision.id == scenario.precision.id]
        self.asked = not missing_dtypes(scenario.precision, scenario.device, _on_device(scenario))
        if self.asked:
            own = [scenario.precision]  # with what was changed in it
        self.precisions = own + [precision for precision in options
                                  if precision.id != scenario.precision.id]
        self.cut: Cut = tuple(int(self.inputs[name])  # type: ignore[assignment]
                              for name in DEGREES)
        self.widest = max(scale_up_domain(scenario.node), self.cut[0])
        reserve = scenario.device.runtime_reserve
        self.margin = float(reserve.high - reserve.value) if reserve else 0.0
        self.cuts = self._by_distance(scenario.devices)
        self._tried: dict[int, dict[str, np.ndarray]] = {}

    def changes(self) -> list[Change]:
        """What makes it run, nearest first: on these cards, then on the fewest of their kind."""
        steps = (self._cut, self._deal, self._chunk, self._requests, self._context, self._precision,
                 self._precision_and_cut, self._few_requests, self._more_cards)
        every = [self._told(settings) for step in steps for settings in step() if settings]
        return [change for number, change in enumerate(every)
                if not any(set(change.settings.items()) >= set(other.settings.items())
                           for other in every[:number])]

    def _by_distance(self, devices: int) -> list[Cut]:
        """Cuts of so many cards, nearest to the one asked for first."""
        def distance(cut: Cut) -> tuple[float, ...]:
            moved = sum(new != old for new, old in zip(cut, self.cut, strict=True))
            factors = sum(abs(np.log2(new / old))
                          for new, old in zip(cut, self.cut, strict=True))
            return moved, round(factors, 6), cut[1], cut[0]

        return sorted(cuts(*self.model, devices, self.widest), key=distance)

    def _grid(self, tried: Sequence[Cut], precisions: Sequence[Precision]) -> dict[str, np.ndarray]:
        """Memory of all cuts (columns) in all precisions (rows); none where no engine loads it."""
        sizes = [precision_inputs(precision) for precision in precisions]
        columns = {name: np.array([[row[name]] for row in sizes]) for name in sizes[0]}
        degrees = {name: np.array([[cut[i] for cut in tried]]) for i, name in enumerate(DEGREES)}
        quantities = evaluate(self.inputs | columns | degrees, self.attention, decode=False)
        sliced = {(cut[0], cut[3]): cut for cut in tried}  # the other degrees slice no matrix
        whole = [{degrees: block_problem(*self.model, precision, cut) is None
                  for degrees, cut in sliced.items()} for precision in precisions]
        loads = np.array([[row[cut[0], cut[3]] for cut in tried] for row in whole])
        return {"headroom_per_device": np.where(loads, quantities["headroom_per_device"], -np.inf),
                "max_concurrency": np.where(loads, quantities["max_concurrency"], 0)}

    def _all(self) -> dict[str, np.ndarray]:
        """:meth:`_grid` of everything on the same cards."""
        if 0 not in self._tried:
            self._tried[0] = self._grid(self.cuts, self.precisions)
        return self._tried[0]

    def _first(self, headroom: np.ndarray) -> tuple[int, int] | None:
        """First precision, and of it the first cut, that fit with the margin; else without it."""
        for least in (self.margin, 0.0):
            rows = np.argwhere(headroom >= least)
            if len(rows):
                return int(rows[0][0]), int(rows[0][1])
        return None

    def _settings(self, precision: int, cut: Cut) -> dict[str, str | int]:
        chosen = self.precisions[precision].id
        found: dict[str, str | int] = {}
        if chosen != self.scenario.precision.id:
            found["precision"] = chosen
        return found | {f"parallelism.{name}": new for name, new, old in
                        zip(DEGREES, cut, self.cut, strict=True) if new != old}

    def _cut(self) -> Iterator[dict[str, str | int]]:
        """Another cut in the precision asked for."""
        if self.asked and self.cuts and (
                place := self._first(self._all()["headroom_per_device"][:1])):
            yield self._settings(0, self.cuts[place[1]])

    def _deal(self) -> Iterator[dict[str, str | int]]:
        """The cache of a request over the fewest ranks, where no cut of the same cards suffices."""
        if (not self.asked or self.found["headroom_per_device"] >= 0
                or any(self._cut())):
            return
        for size in shares(*self.model):
            if self._workload(**{SHARED: size})["headroom_per_device"] >= 0:
                yield {f"parallelism.{SHARED}": size}
                return

    def _workload(self, **changed: float) -> Mapping[str, Any]:
        return evaluate(self.inputs | changed, self.attention, decode=False)

    def _chunk(self) -> Iterator[dict[str, str | int]]:
        """Shorter chunks of prompts, halved until it fits."""
        size = int(self.inputs["max_num_batched_tokens"]) // 2
        while self.asked and size >= LEAST_CHUNK:
            if self._workload(max_num_batched_tokens=size)["headroom_per_device"] >= 0:
                yield {"workload.max_num_batched_tokens": size}
                return
            size //= 2

    def _requests(self, share: float = 0.5) -> Iterator[dict[str, str | int]]:
        """Fewer requests at once, if enough of those asked for remain."""
        most = int(self.found["max_concurrency"])
        if self.asked and max(1, share * self.inputs["concurrency"]) <= most < self.inputs[
                "concurrency"]:
            yield {"workload.concurrency": most}

    def _context(self) -> Iterator[dict[str, str | int]]:
        """A shorter context, to what a request needs, or to half where only that is known.

        Requests that are listed need theirs.
        """
        workload, asked = self.scenario.file.workload, int(self.inputs["context_tokens"])
        size = int(self.inputs["block_size"] * self.inputs[SHARED])
        room = int(self.found["kv_blocks"] // self.found["requests_per_rank"]) * size
        least = (max(1, asked // 2) if workload.input_tokens is None
                 else int(self.inputs["input_tokens"] + self.inputs["output_tokens"]))
        if (self.asked and self.scenario.variations is None
                and workload.context_tokens is not None and least <= room < asked):
            yield {"workload.context_tokens": room}

    def _precision(self) -> Iterator[dict[str, str | int]]:
        """Another precision, cut as asked."""
        if self.cut in self.cuts and self.precisions:
            column = self._all()["headroom_per_device"][:, [self.cuts.index(self.cut)]]
            if place := self._first(column):
                yield self._settings(place[0], self.cut)

    def _precision_and_cut(self) -> Iterator[dict[str, str | int]]:
        """The nearest precision that fits in any cut, in its nearest cut."""
        if self.cuts and self.precisions and (
                place := self._first(self._all()["headroom_per_device"])):
            yield self._settings(place[0], self.cuts[place[1]])

    def _few_requests(self) -> Iterator[dict[str, str | int]]:
        """Where all the requests are too many in any precision and cut: as many as one holds.

        The nearest precision and cut that hold at least half of what the best of them holds.
        """
        if not (self.cuts and self.precisions):
            return
        budgets = self._all()
        capacity = budgets["max_concurrency"]
        if (budgets["headroom_per_device"] >= 0).any() or capacity.max() < 1:
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
        if (not self.precisions or self.found["headroom_per_device"] >= 0
                or (self.cuts and self._first(self._all()["headroom_per_device"][:1]))):
            return
        within = [count for count in divisors(per_node) if count > self.scenario.devices]
        whole = (per_node * nodes for nodes in range(1, MOST_NODES + 1))
        for devices in (*within[:-1], *(count for count in whole
                                        if count > self.scenario.devices)):
            tried = self._by_distance(devices)
            if not tried:
                continue
            if place := self._first(self._grid(tried, self.precisions[:1])["headroom_per_device"]):
                nodes = -(-devices // per_node)
                cluster: dict[str, str | int] = {}
                if nodes != file.cluster.nodes.value:
                    cluster["cluster.nodes"] = nodes
                if file.cluster.devices is not None or devices < nodes * per_node:
                    cluster["cluster.devices"] = devices
                yield cluster | self._settings(0, tried[place[1]])
                return

    def _told(self, settings: dict[str, str | int]) -> Change:
        """A change with what the runtime gives for it."""
        other = changed(self.scenario, settings)
        computed = evaluate(other.inputs(), self.attention)
        quantities = {name: float(computed[name]) for name in TOLD}
        return Change(settings, other.devices, quantities,
                      _sentence(self.scenario, other, settings, quantities))


def changed(scenario: Scenario, settings: Mapping[str, str | int]) -> Scenario:
    """The deployment with settings of a change in place of its own, which keep its provenance."""
    groups: dict[str, dict[str, Any]] = {}
    for path, new in settings.items():
        root, _, key = path.partition(".")
        if root == "precision":
            scenario = replace(scenario, precision=library.load("precisions", str(new)))
            continue
        old = getattr(getattr(scenario.file, root), key) or scenario.file.cluster.nodes
        if isinstance(old, str):  # one of a few ways
            groups.setdefault(root, {})[key] = new
            continue
        number = int(new)
        groups.setdefault(root, {})[key] = replace(
            old, value=number, written=str(number), low=number, high=number, note=None, others=())
    parts = {root: getattr(scenario.file, root).model_copy(update=values)
             for root, values in groups.items()}
    return replace(scenario, file=scenario.file.model_copy(update=parts))


def set_line(settings: Mapping[str, str | int]) -> str:
    """Settings as ``--set`` takes them, on a line for a shell."""
    return " ".join(f"--set {shlex.quote(f'{key}={value}')}" for key, value in settings.items())


def _sentence(asked: Scenario, changed: Scenario, settings: Mapping[str, str | int],
              quantities: Mapping[str, float]) -> Text:
    """What is changed, and what comes out."""
    cut = tuple(int(getattr(changed.file.parallelism, name).value) for name in DEGREES)
    tp, pp, dp, ep = cut
    dealt = changed.file.parallelism.decode_context_parallel
    slices = changed.file.parallelism.expert_tensor_parallel
    layout = (f"TP{tp}×PP{pp}×DP{dp}, EP{ep}" + (f"×ETP{slices.value}" if slices else "")
              + (f", DCP{dealt.value}" if dealt else ""))
    cards = changed.devices
    same = cards == asked.devices
    en, zh = [], []
    if not same:
        en.append(f"{cards} cards")
        zh.append(f"{cards} 卡")
    if "precision" in settings:
        en.append(f"precision {settings['precision']}")
        zh.append(f"精度 {settings['precision']}")
    if any(key.startswith("parallelism.") for key in settings):
        en.append(layout)
        zh.append(layout.replace(", ", "、"))
    for key, words in {
            "max_num_batched_tokens": ("prompt chunks of {:,} tokens", "预填充分块 {:,} token"),
            "concurrency": ("{:,} requests at once", "同时 {:,} 个请求"),
            "context_tokens": ("a context of {:,} tokens", "上下文 {:,} token")}.items():
        if (new := settings.get(f"workload.{key}")) is not None:
            en.append(words[0].format(new))
            zh.append(words[1].format(new))
    spare = human(quantities["headroom_per_device"], "B")
    first, each = human(quantities["ttft"], "s"), human(quantities["tpot"], "s")
    # without lengths of answers nothing is known of the time of prompts
    answers = changed.file.workload.output_tokens is not None
    return {
        "en": f"It runs{' on the same cards' if same else ''} with {', '.join(en)}: {spare} per "
              f"device to spare, "
              f"{f'first token after {first}, then one' if answers else 'a token'} every {each}.",
        "zh": f"{'同样的卡，' if same else ''}改为{' ' * zh[0][0].isascii()}{'，'.join(zh)}，"
              f"即可运行：每卡余 {spare}，"
              f"{f'首 token {first}，此后' if answers else ''}每 token {each}。"}
