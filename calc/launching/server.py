"""What servers of all engines share: settings checked by releases, and servers laid on nodes."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from calc.answer.request_lengths import Longest
from catalogue import ParamsError, Scenario, library
from catalogue.assertions import UNKNOWN, Server, pair_problems, problems
from catalogue.deployments.admission import cut_of, server_problem, subject_of
from catalogue.deployments.physics_inputs import expert_slices
from catalogue.engine import Engine, catalogue_of, refusal
from catalogue.entries.profiles import in_order
from catalogue.kernels import published_weights
from catalogue.reading.words import revealed

TAKEN = ("accepted", "unlisted")
ORDER = ("unknown", "type", "choice", "deprecated", "unlisted", "accepted")  # the worst first
ASCEND = "vllm-ascend"
A2, A5 = "ascend-910b", "ascend-950"  # mechanisms of the cards that vLLM Ascend calls A2, A5
PORT = 8000  # of the server on the first card of a node
PORTS = 10  # from that of a card to that of the next: SGLang takes seven beside a server's own
MASTER_PORT, RPC_PORT, STORE_PORT = 29500, 13345, 24669
BOOTSTRAP_PORT, SIDE_PORT = 8998, 5600
MOST_NODES = 256
HEAD, OWN = "MASTER_ADDR", "NODE_ADDR"  # variables: addresses of a server's first node, of a node
LIBRARIES = frozenset({
    "ASCEND_RT_VISIBLE_DEVICES", "HCCL_OP_EXPANSION_MODE", "HCCL_BUFFSIZE", "NCCL_MNNVL_ENABLE",
    "NCCL_CUMEM_ENABLE", "MC_FORCE_MNNVL", "ASCEND_MF_TRANSFER_PROTOCOL"})
"""Variables of CANN, NCCL and the libraries that send caches: in no engine's catalogue."""
MXFP4 = "mxfp4"
PLAIN = ("bf16", "fp16")
QUANTIZED = {
    "fp8-block128": "fp8", "fp8": "fp8", "fp8-channel": "compressed-tensors", "mxfp8": "mxfp8",
    "int8-channel": "compressed-tensors", "int4-group64": "awq_marlin",
    "int4-group128": "awq_marlin", "int4-group128-sym": "gptq_marlin",
    "int4-group64-sym": "gptq_marlin", "int4-group128-cutlass": "compressed-tensors",
    "int4-group32-sym": "compressed-tensors", "nvfp4": "modelopt_fp4",
    "nvfp4-output": "modelopt_fp4", MXFP4: "mxfp4"}
"""Format -> ``--quantization`` of vLLM; of SGLang but for two."""
DTYPES = {"bf16": "bfloat16", "fp16": "float16"}
COMPRESSED_ROWS = "fp8-row56"  # latents with their scales: what compressed attention reads
SPARSE_ROWS = "fp8-latent128"  # likewise of sparse attention
KEYS = "int8-index128"  # index keys of sparse attention, in INT8
MEMORY = "share of a card's memory that the scenario gives to the engine"
DEALT = "prompts are dealt over the tensor-parallel ranks"
SPOKEN = "the chat format of the model's family"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Variable:
    """A value that the operator sets: a variable of the shell, and what follows it."""

    name: str
    after: str = ""


@dataclass(frozen=True)
class Setting:
    """A flag or an environment variable.

    Attributes:
        name: as the release has it.
        value: None for a switch; several in a list; JSON data in a mapping.
        why: its reason, one clause.
    """

    name: str
    value: Any
    why: str


def words(setting: Setting) -> list[str]:
    """A setting as words of a shell, quoted; a variable in double quotes."""
    if setting.value is None:
        return [setting.name]
    values = setting.value if isinstance(setting.value, list) else [setting.value]
    return [setting.name, *map(word, values)]


def word(value: Any) -> str:
    """A value as one word of a shell."""
    if isinstance(value, Variable):
        return f'"${{{value.name}}}{value.after}"'
    if isinstance(value, dict):
        return shlex.quote(json.dumps(value))
    text = str(value)  # a word with a comma looks like a list that lacks its spaces
    return f"'{text}'" if "," in text and shlex.quote(text) == text else shlex.quote(text)


def plain(value: Any) -> Any:
    """A setting's value as JSON data; a variable by its name."""
    return f"${value.name}{value.after}" if isinstance(value, Variable) else value


def comment(text: str) -> str:
    """A text on one line of a comment: nothing that a terminal or a shell would act on.

    >>> comment("a\\nrm -rf / \\x1b[31m")
    'a rm -rf / ?[31m'
    """
    line = " ".join(revealed(text).split())
    return "".join(sign if sign.isprintable() else "?" for sign in line)


def over(settings: Iterable[Setting], stronger: Iterable[Setting]) -> list[Setting]:
    """Settings, those of the same name replaced."""
    return list({setting.name: setting for setting in (*settings, *stronger)}.values())


# --- releases -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Release:
    """An engine, a bench or a router in one release, and the catalogues of its settings.

    ``by`` are catalogues with releases, all of which have to take a setting. vLLM Ascend takes
    vLLM's arguments, of the pinned release with the same numbers, or of both beside it.
    """

    name: str
    version: str
    by: tuple[tuple[Engine, str], ...] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"

    def judge(self, name: str, value: Any = None) -> str:
        """Verdict on a setting, as ``Engine.judge`` has it; the worst of all catalogues."""
        text = "0" if isinstance(value, Variable) else True if value is None else value
        return min((engine.judge(name, text, version) for engine, version in self._of(name)),
                   key=ORDER.index)

    def has(self, name: str, value: Any = None) -> bool:
        """Whether the release takes a setting, marked as deprecated or not."""
        return self.judge(name, value) in (*TAKEN, "deprecated")

    def take(self, name: str, value: Any, why: str) -> Setting:
        """A setting of this release.

        Raises ParamsError, one sentence, for a name that it does not have, with the release that
        dropped it and its successor, and for a value that it refuses.
        """
        verdict = self.judge(name, value)
        if verdict == "unknown":
            for engine, version in self._of(name):
                if engine.judge(name, True, version) == "unknown":
                    raise ParamsError(refusal(engine, name, version))
        if verdict in ("type", "choice"):
            state = next(state for engine, version in self._of(name)
                         if (state := engine.state(name, version)) is not None)
            expected = (f"one of {', '.join(map(str, state.choices))}" if state.choices
                        else f"a value of type {state.type}")
            raise ParamsError(f"{self}: '{str(value)[:60]}' is no value of {name}, expected "
                              f"{expected}.")
        return Setting(name, value, why)

    def first(self, candidates: Iterable[tuple[str, Any]], why: str) -> Setting:
        """The first of several spellings that the release takes, those not deprecated before.

        Raises ParamsError, one sentence, where it takes none of them.
        """
        spellings = list(candidates)
        for verdicts in (TAKEN, ("deprecated",)):
            for name, value in spellings:
                if self.judge(name, value) in verdicts:
                    return Setting(name, value, why)
        return self.take(*spellings[0], why)

    def exports(self, *names: str) -> list[str]:
        """Those of several metrics that the release exports to everyone, deprecated ones last."""
        deprecated = {}
        for name in names:
            state = next((state for engine, version in self.by
                          if (state := engine.state(name, version)) is not None), None)
            if state is not None and not state.hidden and not state.v0:
                deprecated[name] = state.deprecated
        return sorted(deprecated, key=lambda name: deprecated[name])

    def metric(self, *names: str) -> str:
        """The first of several metrics that the release exports to everyone.

        Raises ParamsError, one sentence, where it has none of them.
        """
        if exported := self.exports(*names):
            return exported[0]
        engine, version = self.by[0]
        raise ParamsError(refusal(engine, names[0], version))

    def _of(self, name: str) -> list[tuple[Engine, str]]:
        """The catalogues that decide on a setting: the plug-in's on its own settings."""
        own = [(engine, version) for engine, version in self.by
               if engine.name == self.name and engine.exists(name, version)]
        return own or [pair for pair in self.by if pair[0].name != ASCEND] or list(self.by)


def release_of(name: str, version: str) -> Release:
    """A release with its catalogues.

    >>> [f"{engine.name} {version}" for engine, version in release_of("vllm-ascend", "0.18.0").by]
    ['vllm-ascend 0.18.0', 'vllm 0.18.1']

    One that is not pinned has the flags of the next older one that is, else of the oldest.

    Raises ParamsError for an engine without a catalogue.
    """
    engine = catalogue_of(name)
    own = next((pinned for pinned in reversed(engine.versions)
                if in_order(pinned) <= in_order(version)), engine.versions[0])
    hosts = [] if name != ASCEND else [
        (catalogue_of("vllm"), pinned) for pinned in nearest_releases(catalogue_of("vllm"), own)]
    return Release(name, own, ((engine, own), *hosts))


def nearest_releases(engine: Engine, version: str) -> tuple[str, ...]:
    """The pinned release with the same two first numbers, else those before and after it."""
    numbers = in_order(version)[:2]
    same = [pinned for pinned in engine.versions if in_order(pinned)[:2] == numbers]
    if same:
        return (same[-1],)
    before = [pinned for pinned in engine.versions if in_order(pinned)[:2] < numbers]
    after = [pinned for pinned in engine.versions if in_order(pinned)[:2] > numbers]
    return (*before[-1:], *after[:1])


def nearest(tool: str, day: str) -> Release:
    """The pinned release of a router that was uploaded nearest to a day.

    Args:
        tool: of ``params/engines/tools/``.
        day: of the engine's release, as the catalogue has it.
    """
    engine, wanted = catalogue_of(tool), date.fromisoformat(day)
    version = min(engine.releases,
                  key=lambda release: abs(date.fromisoformat(release.date) - wanted)).version
    return Release(tool, version, ((engine, version),))


def extra_settings(release: Release, flags: Iterable[str], variables: Iterable[str]
                   ) -> tuple[list[Setting], list[Setting]]:
    """Flags ``--name=value`` and variables ``NAME=value`` that the operator adds.

    Raises ParamsError, one sentence, for what the release does not take.
    """
    why = "given on the command line"
    chosen, added = list[Setting](), list[Setting]()
    for text in flags:
        name, equals, value = text.strip().partition("=")
        if not name.startswith("--") or any(sign.isspace() for sign in name):
            raise ParamsError(f"--flag {text[:60]!r}: expected --name or --name=value.")
        chosen.append(release.take(name, value if equals else None, why))
    for text in variables:
        name, equals, value = text.strip().partition("=")
        if not equals or not _NAME.fullmatch(name):
            raise ParamsError(f"--env {text[:60]!r}: expected NAME=value.")
        added.append(release.take(name, value, why))
    return chosen, added


# --- settings together ----------------------------------------------------------------------------


def about(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """What assertions may require of a deployment besides its settings.

    >>> import catalogue
    >>> about(catalogue.load_scenario("h200-r1-vllm-tp8"))["weights"]["expert_block"]
    128
    """
    model, device, weights = scenario.model, scenario.device, scenario.precision.weights
    shapes = {name: value.value for name in type(model).model_fields
              if hasattr(value := getattr(model, name), "value")}
    leading = shapes.get("first_k_dense_replace") if model.is_moe else model.num_hidden_layers.value
    dense, expert = (library.load("formats", name)
                     for name in (weights.dense_mlp, weights.routed_expert))
    npu = device.type == "npu"
    return {
        "model": {**shapes, "attention": model.attention, "moe": model.is_moe,
                  "dense_layers": leading},
        "card": {"cuda": device.type == "gpu", "ascend": npu, "software": device.software,
                 "a2": npu and device.mechanisms == A2, "a5": npu and device.mechanisms == A5},
        "weights": {
            "stored": weights.model_dump(),
            "dense_block": dense.block.outputs.value if dense.block else 0,
            "expert_block": expert.block.outputs.value if model.is_moe and expert.block else 0,
            "expert": weights.routed_expert if model.is_moe else None,
            "expert_bits": expert.bits.value if model.is_moe else None}}


def check_settings(scenario: Scenario, release: Release, flags: Iterable[Setting],
                   variables: Iterable[Setting]) -> None:
    """Refuse settings that a release does not start with, though it takes each of them.

    Raises ParamsError, one sentence.
    """
    server = _server(scenario, flags, variables)
    for engine, version in release.by:
        if reasons := problems(engine.name, version, *server):
            raise ParamsError(f"'{scenario.id}': {engine.title} {version} does not start so: "
                              f"{'; '.join(reasons)}.")


def check_pair(release: Release, servers: Mapping[str, tuple[
        Scenario, Iterable[Setting], Iterable[Setting]]]) -> None:
    """Refuse a prefill and a decode server between which a release sends no caches.

    Args:
        release: of both.
        servers: ``prefill`` and ``decode``, each with its scenario, flags and variables.

    Raises ParamsError, one sentence.
    """
    both = {name: _server(*server) for name, server in servers.items()}
    for engine, version in release.by:
        if reasons := pair_problems(engine.name, version, both):
            raise ParamsError(f"{engine.title} {version} sends no caches between these two pools: "
                              f"{'; '.join(reasons)}.")


def _server(scenario: Scenario, *settings: Iterable[Setting]) -> Server:
    """A server as assertions read it; values that the operator fills in are unknown."""
    flags, variables = ({setting.name: UNKNOWN if isinstance(setting.value, Variable)
                         else setting.value for setting in of} for of in settings)
    return flags, variables, about(scenario)


# --- servers on nodes -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """What one node runs of one server.

    Attributes:
        server: its number within the pool.
        rank: of this node among those of the server; 0 answers requests.
        node: number of the node within the pool.
        first: of the node's cards, the first that this part takes.
        cards: how many it takes.
        port: on which it answers.
    """

    server: int
    rank: int
    node: int
    first: int
    cards: int
    port: int


@dataclass(frozen=True)
class Layout:
    """Servers on nodes.

    Attributes:
        tp, pp: tensor- and pipeline-parallel size of a replica.
        joined: replicas of one server: those that share experts.
        experts: expert-parallel size of a server; 1 where each expert is cut over all its ranks.
        slices: of each expert.
        servers: that answer requests by themselves.
        span: nodes of a server.
        nodes: of the pool.
        parts: what runs where.
    """

    tp: int
    pp: int
    joined: int
    experts: int
    slices: int
    servers: int
    span: int
    nodes: int
    parts: tuple[Part, ...]

    def of_node(self, node: int) -> list[Part]:
        """What a node runs."""
        return [part for part in self.parts if part.node == node]

    @property
    def shares(self) -> bool:
        """Whether another pool takes the first cards of its first node."""
        return self.parts[0].first > 0

    @property
    def heads(self) -> list[Part]:
        """The parts that answer requests, one per server."""
        return [part for part in self.parts if part.rank == 0]


def layouts(named: Mapping[str, Scenario]) -> dict[str, Layout]:
    """How pools lie on their nodes, by name: servers that are smaller than a node take the cards
    that the pool before leaves free on its last one, if that is a node of the same kind.

    Raises ParamsError as :func:`layout` does.
    """
    result: dict[str, Layout] = {}
    taken: dict[tuple[str, str], int] = {}  # of the last node, by its kind and card
    for name, scenario in named.items():
        kind = scenario.node.id, scenario.device.id
        result[name] = layout(scenario, taken.get(kind, 0))
        last = result[name].parts[-1]
        taken = {kind: last.first + last.cards}
    return result


def layout(scenario: Scenario, taken: int = 0) -> Layout:
    """How a scenario lies on its nodes.

    Replicas that share experts are one server, others stand by themselves: engines cut the experts
    over all data-parallel replicas of a server.

    >>> import catalogue
    >>> two = layout(catalogue.load_scenario("s1-plan-c"))
    >>> two.servers, two.joined, two.span, two.nodes
    (4, 1, 1, 4)

    Args:
        scenario: the deployment, or the pool.
        taken: cards of the first node that another pool takes, if others are enough for a server.

    Raises ParamsError, one sentence, for a server that does not fill whole nodes.
    """
    numbers = scenario.inputs()
    tp, pp, dp, ep = (int(numbers[f"{name}_parallel"])
                      for name in ("tensor", "pipeline", "data", "expert"))
    slices = expert_slices(numbers, tp, ep)
    joined = ep * slices // tp
    cards, per_node = tp * pp * joined, int(scenario.node.devices_per_node.value)
    if problem := server_problem(subject_of(scenario), cut_of(scenario)):
        raise ParamsError(f"'{scenario.id}': {problem.text['en']}.")
    servers, span = dp // joined, max(1, cards // per_node)
    if cards <= per_node:
        fit = per_node // cards
        start = -(-taken // cards) % fit
        slots = [divmod(number, fit) for number in range(start, start + servers)]
        parts = tuple(Part(number, 0, node, slot * cards, cards, PORT + PORTS * slot * cards)
                      for number, (node, slot) in enumerate(slots))
    else:
        parts = tuple(Part(server, rank, server * span + rank, 0, per_node, PORT)
                      for server in range(servers) for rank in range(span))
    nodes = parts[-1].node + 1
    if nodes > MOST_NODES:
        raise ParamsError(f"'{scenario.id}': {nodes} nodes, expected at most {MOST_NODES} scripts.")
    return Layout(tp, pp, joined, ep, slices, servers, span, nodes, parts)


# --- what flags follow from -----------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """One part of a server, with what its flags follow from.

    Attributes:
        scenario, inputs: the deployment, or the pool, and its input symbols.
        layout, part: of its servers, and what this node runs.
        release: of the engine.
        role: ``both``, ``prefill`` or ``decode``.
        longest: of its requests.
        layouts: of all pools, by name.
    """

    scenario: Scenario
    inputs: Mapping[str, Any]
    layout: Layout
    part: Part
    release: Release
    role: str
    longest: Longest
    layouts: Mapping[str, Layout]

    @property
    def separate(self) -> bool:
        """Whether the pool does one of both phases."""
        return self.role != "both"

    @property
    def ascend(self) -> bool:
        """Whether the engine is vLLM Ascend."""
        return self.release.name == ASCEND

    def stated(self, key: str) -> int:
        """A number of the workload or the parallelism, 0 where none is stated."""
        file = self.scenario.file
        value = getattr(file.workload, key, None) or getattr(file.parallelism, key, None)
        return int(value.value) if value else 0


Table = tuple[tuple[Any, Any, Any, str], ...]
"""Flags in the order of the script: condition; name, or several spellings in a list, each perhaps
with a value of its own; value, None of a switch; reason."""


def settings_of(release: Release, table: Table) -> list[Setting]:
    """The settings of a table whose condition is true.

    Raises ParamsError, one sentence, for what the release does not take.
    """
    settings = []
    for condition, names, value, why in table:
        if condition:
            spellings = [(name, value) if isinstance(name, str) else name
                         for name in (names if isinstance(names, list) else [names])]
            settings.append(Setting(names, value, why) if spellings[0][0] in LIBRARIES
                            else release.first(spellings, why))
    return settings


def per_replica(target: Target) -> int:
    """Requests in flight of a replica [request]."""
    return math.ceil(target.inputs["concurrency"] / target.scenario.replicas)


def compressed(scenario: Scenario) -> bool:
    """Whether a model attends to compressed entries, as DeepSeek-V4 does."""
    return scenario.model.attention == "csa"


def dealt(target: Target) -> bool:
    """Whether several tensor-parallel ranks deal the tokens of prompts among them."""
    return bool(target.inputs["prefill_context_parallel"] and target.inputs["tensor_parallel"] > 1)


def quantization(scenario: Scenario, named: Mapping[str, str], of_v4: str) -> dict[str, str]:
    """``--quantization`` by format; engines refuse a name that differs from the checkpoint's.

    Checkpoints of DeepSeek-V4 say FP8 whatever their experts. MXFP4 of a model whose own weights
    are in another format is AMD's, in Quark's form, which runs on AMD's cards.

    Args:
        scenario: the deployment.
        named: of all formats.
        of_v4: what an engine calls the method of DeepSeek-V4's checkpoints.
    """
    if compressed(scenario):
        return {**named, **dict.fromkeys((MXFP4, "fp8-block128-e8m0"), of_v4)}
    own = published_weights(scenario.model)
    if own is None or own.routed_expert == MXFP4:
        return dict(named)
    others = {name: method for name, method in named.items() if name != MXFP4}
    return others | ({MXFP4: "quark"} if scenario.device.software == "rocm" else {})


def precision(scenario: Scenario, release: Release, methods: Mapping[str, str],
              caches: Mapping[str, str | None]) -> list[Setting]:
    """In which formats a server computes, reads weights and stores its cache.

    Args:
        scenario: the deployment, or the pool.
        release: of the engine.
        methods: format of the routed experts (of the dense layers where there are none) to
            ``--quantization``, but for plain ones.
        caches: format of the cache to ``--kv-cache-dtype``; None where no flag is set.

    Raises ParamsError, one sentence, for a format that is in neither.
    """
    of, settings = scenario.precision, []
    stored = of.weights.routed_expert if scenario.model.is_moe else of.weights.dense_mlp
    if of.activation in DTYPES:
        settings.append(release.take("--dtype", DTYPES[of.activation],
                                     f"activations in {of.activation}"))
    if stored not in (*PLAIN, *methods):
        raise ParamsError(f"{release}: no --quantization reads weights in '{stored}', expected "
                          f"one of {', '.join([*PLAIN, *methods])}.")
    if stored not in PLAIN:
        settings.append(release.take("--quantization", methods[stored],
                                     f"experts in {stored}; another checkpoint is refused"))
    if of.kv_cache not in caches:
        raise ParamsError(f"{release}: no --kv-cache-dtype stores '{of.kv_cache}', expected "
                          f"one of {', '.join(caches)}.")
    if (of.kv_index == KEYS and scenario.model.index_topk is not None
            and release.name != ASCEND):
        raise ParamsError(f"{release}: no flag caches index keys in '{of.kv_index}', expected a "
                          f"precision with other ones, or {ASCEND}.")
    if cache := caches[of.kv_cache]:
        settings.append(release.take("--kv-cache-dtype", cache, "the scenario's cache"))
    return settings


@dataclass(frozen=True)
class Chat:
    """Parsers that make calls and reasoning of an answer, by a family's chat format.

    Source: recipes of vLLM, tutorials of vLLM Ascend, cookbook of SGLang (``params/recipes/``).

    Attributes:
        calls, reasoning: of vLLM.
        sglang: of SGLang, reasoning and calls; None where it has none.
        tokens: tokenizer mode of vLLM that makes tokens of a conversation; None for the usual.
    """

    calls: str
    reasoning: str
    sglang: tuple[str, str] | None = None
    tokens: str | None = None


CHATS = {
    "deepseek-v4": Chat("deepseek_v4", "deepseek_v4", ("deepseek-v4", "deepseekv4"), "deepseek_v4"),
    "deepseek-v3.2": Chat("deepseek_v32", "deepseek_v3", ("deepseek-v3", "deepseekv32"),
                          "deepseek_v32"),
    "glm-5": Chat("glm47", "glm45", ("glm45", "glm47")),
    "minimax-m2": Chat("minimax_m2", "minimax_m2"),
    "qwen3.5": Chat("qwen3_coder", "qwen3", ("qwen3", "qwen3_coder")),
    "kimi-k2": Chat("kimi_k2", "kimi_k2", ("kimi_k2", "kimi_k2"))}


def chat_of(scenario: Scenario) -> Any:
    """Parsers (`Chat`) of models that talk alike; None where none are known.

    Kimi's shapes and those of V3.2 are DeepSeek-V3's, their chat is not."""
    model = scenario.model
    family = ("kimi-k2" if model.id.startswith("kimi-k2") else
              model.id if model.id == "deepseek-v3.2" else model.family or "")
    return CHATS.get(family)


def code_rows(target: Target) -> Table:
    """A checkpoint's tokenizer that is code of its own, as Kimi's (``tokenization_kimi``)."""
    return ((target.scenario.model.id.startswith("kimi-k"), "--trust-remote-code", None,
             "the tokenizer is code of the checkpoint"),)


def address_rows(target: Target) -> Table:
    """Under which name and where a server answers."""
    return ((True, "--served-model-name", target.scenario.model.id,
             "the model, as requests name it"),
            (True, "--host", "0.0.0.0", "requests come from outside"),
            (True, "--port", target.part.port, "of this server"))
