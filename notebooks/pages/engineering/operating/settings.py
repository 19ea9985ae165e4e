"""Settings: what each flag of the documents' commands is worth on the nearest deployment that runs.

One setting moves at a time: with what is printed, against what it takes the place of, which is the
value of the document's command where a remedy changes it, else the default of the newest release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import calc
import catalogue
from calc.searching.goal import load_goal
from catalogue import LayoutError, Scenario
from catalogue.deployments.physics_inputs import missing_dtypes
from catalogue.deployments.profiles import running
from catalogue.engine import Engine, bare, launch_blocks, load_engine, successors
from catalogue.messages import Pair, messages
from notebooks.show.columns import Column
from notebooks.show.display import table
from notebooks.show.numbers import fmt_fixed, fmt_quantity

common = messages("common")
say = messages("pages/engineering/operating/settings")

PACE, FIRST, ROOM = "steady_tpot", "steady_ttft", "headroom_per_device"
RATE = "steady_throughput"
STEP, SENT, SUMMED = ("decode_step_time", "decode_communication_time", "decode_all_reduce_time")
ALPHA = "collective_alpha"
MILLI, GIGA, GIBI = 1e3, 1e9, 2**30
GOAL = "r1-80-users-h20"  # whose users and lengths S1's command serves here
ASKED = "s0-config-4.3-decode"  # whose lengths S0's does: it prints no others for these servers
ACROSS = 32  # ranks that share the experts of S1: with --enable-expert-parallel, all
STAGES = 4  # servers of S0, a pipeline stage each: the fewest that hold 16-bit weights
MEASURED = "nvidia-h200"  # the same switches as an H20's
NOTHING = "–"
SMALL = 5e-5  # s, or GB: what is less is told as none


@dataclass(frozen=True)
class Base:
    """The nearest deployment of a document that runs, and what its command gives.

    Attributes:
        name: entry of ``params/scenarios/``.
        overrides: what was changed until it runs, and the requests that it serves.
        command: name of a setting, in one spelling -> value in the document's command.
        flags: engine whose catalogue has the flags.
        profile: engine whose defaults hold on its card.
        sections: of which blocks the settings are told.
    """

    name: str
    overrides: tuple[str, ...]
    command: Mapping[str, Any]
    flags: str
    profile: str
    sections: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A base with one setting moved.

    Attributes:
        overrides: of the scenario; of one path the last holds.
        moves: input symbols, SI.
    """

    overrides: tuple[str, ...] = ()
    moves: Mapping[str, float] = field(default_factory=dict)


NONE = Case()


@dataclass(frozen=True)
class Worth:
    """What a setting does, with what is printed over what it takes the place of.

    Attributes:
        name, value, sections: as the document has it.
        against: what it takes the place of; None where it is not asked.
        pace, first, room: time per token and to the first one [s], memory left of a card [B], what
            they become less what they were; None where no number is told.
        words: why, or what else is to be said.
    """

    name: str
    value: Any
    sections: tuple[str, ...]
    against: Any = None
    pace: float | None = None
    first: float | None = None
    room: float | None = None
    words: Pair = (NOTHING, NOTHING)


@cache
def bases() -> dict[str, Base]:
    """S1 and S0: their commands on the nearest deployments that hold the weights."""
    demand = load_goal(GOAL).demand
    prompt, answer = int(demand.input_tokens), int(demand.output_tokens)
    asked = catalogue.load_scenario(ASKED).inputs()
    return {
        "s1": Base("s1-launch-production", (
            f"parallelism.expert_parallel={ACROSS}",
            f"workload.concurrency={int(demand.users or 1)} request",
            f"workload.context_tokens={prompt + answer} token",
            f"workload.input_tokens={prompt} token", f"workload.output_tokens={answer} token"),
            _command("s1", "3.5.2"), "vllm", "vllm",
            ("3.5.2", "3.5.3", "3.7.1", "3.7.2", "3.7.3", "3.7.4", "3.7.5")),
        "s0": Base("s0-config-4.2", (
            f"cluster.nodes={STAGES}", f"parallelism.pipeline_parallel={STAGES}",
            f"workload.input_tokens={int(asked['input_tokens'])} token",
            f"workload.output_tokens={int(asked['output_tokens'])} token"),
            _command("s0", "4.2"), "vllm", "vllm-ascend", ("3.3.3", "4.1", "4.2", "4.3"))}


def _command(document: str, section: str) -> dict[str, Any]:
    """The settings of an engine in a section of a document."""
    return {bare(name): value for block in launch_blocks(document)
            if block.section == section and block.engine for name, value in block.settings.items()}


@cache
def scenario_with(key: str, overrides: tuple[str, ...] = ()) -> Scenario:
    """A base with settings of its scenario in place of its own.

    Raises LayoutError for what cannot be laid out.
    """
    base = bases()[key]
    return catalogue.load_scenario(base.name, overrides=[*base.overrides, *overrides])


def answered(key: str, case: Case = NONE) -> Mapping[str, float]:
    """Every quantity of a base with a setting moved."""
    scenario = scenario_with(key, case.overrides)
    found = calc.evaluate(scenario.inputs() | dict(case.moves), scenario.model.attention)
    return {name: float(found[name]) for name in (PACE, FIRST, ROOM, RATE, STEP, SENT, SUMMED)}


def _cut(key: str, **sizes: int) -> Case:
    """A base cut otherwise, on as many whole servers as that takes."""
    inputs = scenario_with(key).inputs()
    tensor, pipeline, data = (int(sizes.get(name, inputs[f"{name}_parallel"]))
                              for name in ("tensor", "pipeline", "data"))
    cards = tensor * pipeline * data
    shared = int(inputs["expert_parallel"]) > 1
    return Case((
        f"cluster.nodes={max(1, cards // int(inputs['devices_per_node']))}",
        f"parallelism.tensor_parallel={tensor}", f"parallelism.pipeline_parallel={pipeline}",
        f"parallelism.data_parallel={data}",
        f"parallelism.expert_parallel={tensor * data if shared else 1}"))


def _tensor(key: str, size: int) -> Case:
    """Other tensor parallelism on the same cards."""
    inputs = scenario_with(key).inputs()
    ranks = int(inputs["tensor_parallel"] * inputs["data_parallel"])
    return _cut(key, tensor=size, data=max(1, ranks // size))


def _at_once(key: str, most: int | None) -> Case:
    """As many requests as come, or as the limit lets in."""
    scenario = scenario_with(key)
    load = int(scenario.inputs()["concurrency"])
    kept = load if most is None else min(load, most * scenario.replicas)
    return Case((f"workload.concurrency={kept} request",))


def _summed(key: str, by_library: bool) -> Case:
    """Sums by NCCL instead of the engine's own kernels: half of its latency per exchange."""
    rounds = dict.fromkeys((ALPHA, "second_round_alpha"), nccl_latency() / 2)
    return Case(moves=rounds if by_library else {})


@cache
def nccl_latency() -> float:
    """What NCCL takes for a small sum over the eight cards of a Hopper server [s], as measured."""
    tables = catalogue.load("microbenchmarks", MEASURED)
    return next(each.time.value for each in tables.collectives
                if (each.operation, each.algorithm, each.ranks) == ("all-reduce", "NCCL", 8)
                and each.time is not None)


def _offloaded(key: str, size: float) -> Case:
    """Experts in the memory of the host, so many GiB of each card, as S1's remedies have it."""
    if not size:
        return NONE
    base = scenario_with(key)
    remedies, inputs = catalogue.load_scenario("s1-launch-remedies").inputs(), base.inputs()

    def weights(**moves: float) -> float:
        return float(calc.evaluate(inputs | moves, base.model.attention)["weights_per_device"])

    experts = weights() - weights(fetched_share=1.0)
    names = [name for name in inputs if name.startswith(("host_", "offloaded_"))]
    return Case(moves={name: remedies[name] for name in names}
                | {"fetched_share": min(1.0, size * GIBI / experts)})


CACHES = {"float16": "fp16"}
PRECISIONS = {"awq": "w4a16-awq", "fp8": "fp8-block"}
# a setting, in one spelling -> what it moves; the value is None where an engine decides itself
MOVED: dict[str, Callable[[str, Any], Case]] = {
    "gpu_memory_utilization": lambda key, at: Case((f"workload.memory_utilization={at}",)),
    "max_num_batched_tokens": lambda key, at: Case((
        f"workload.max_num_batched_tokens={at} token",)),
    "block_size": lambda key, at: Case((f"workload.block_size={at} token",)),
    "max_num_seqs": _at_once,
    "tensor_parallel_size": _tensor,
    "data_parallel_size": lambda key, at: _cut(key, data=at),
    "pipeline_parallel_size": lambda key, at: _cut(key, pipeline=at),
    "enforce_eager": lambda key, at: Case(moves={"captured": float(not at)}),
    "disable_custom_all_reduce": _summed,
    "kv_cache_dtype": lambda key, at: NONE if at == "auto" else Case((
        f"precision.kv_cache={CACHES[at]}",)),
    "quantization": lambda key, at: NONE if at in (None, "None") else Case((
        f"precision={PRECISIONS[at]}",)),
    "cpu_offload_gb": _offloaded,
}
ADDRESS: Pair = say("sets-what-is-served-and")
TOLD: dict[str, Pair] = {
    "enable_prefix_caching": say("on-by-default-gain-depends"),
    "enable_chunked_prefill": say("on-by-default"),
    "dtype": say("bits-of-activations-either-way"),
    "max_model_len": say("only-upper-limit-requests-are"),
    "trust_remote_code": ADDRESS, "revision": ADDRESS, "model": ADDRESS,
    "served_model_name": ADDRESS, "host": ADDRESS, "port": ADDRESS,
    "disable_log_stats": say("metrics-have-no-data"),
    "max_parallel_loading_workers": say("start-up-only-see-loading"),
    "distributed_executor_backend": say("not-modelled-how-processes-are"),
    "VLLM_USE_MODELSCOPE": ADDRESS,
    "VLLM_WORKER_MULTIPROC_METHOD": say("start-up-only"),
    "ray_workers_use_nsight": say("false-is-default"),
}
ASIDE: dict[str, Pair] = {  # beside numbers
    "max_num_seqs": say("others-wait"),
    "tensor_parallel_size": say("without-it-every-card-would"),
    "max_num_batched_tokens": say("room-for-activations-of-step"),
    "cpu_offload_gb": say("every-step-fetches-experts-over"),
    "quantization": say("needs-other-weights-see-precision"),
    "disable_custom_all_reduce": say("nccl-does-all-reduce-instead"),
    "gpu_memory_utilization": say("room-for-kv-cache-not"),
}
IDLE: dict[str, Pair] = {  # where all differences are none
    "max_num_seqs": say("these-requests-do-not-reach"),
    "enforce_eager": say("cards-take-longer-to-run"),
    "kv_cache_dtype": say("bits-either-way"),
    "block_size": say("of-no-weight-for-step"),
    "quantization": say("checkpoint-decides-with-or-without"),
}
NO_EFFECT: Pair = say("no-effect-here")


def default(key: str, name: str) -> Any:
    """What an engine takes where a setting is not given, in its newest release."""
    base = bases()[key]
    scenario, engine = scenario_with(key), load_engine(base.flags)
    own = running(base.profile, scenario.device, scenario.model, drafts=False).workload
    known = {"gpu_memory_utilization": "memory_utilization"}.get(name, name)
    if known in own:
        return own[known].value
    state = engine.state(name, engine.versions[-1])
    return None if state is None else state.default


def worths(key: str) -> Iterator[Worth]:
    """A row per setting and value of the blocks of a document, in its order."""
    base, engine = bases()[key], load_engine(bases()[key].flags)
    found: dict[tuple[str, str], tuple[str, Any, list[str]]] = {}
    for block in launch_blocks(key):
        if block.section in base.sections and block.engine == base.flags:
            for name, value in block.settings.items():
                _, _, sections = found.setdefault((bare(name), str(value)), (name, value, []))
                sections += [block.section] if block.section not in sections else []
    for (spelled, _), (name, value, sections) in found.items():
        yield _worth(key, engine, spelled, Worth(name, value, tuple(sections)))


def _worth(key: str, engine: Engine, bare: str, worth: Worth) -> Worth:
    """What one setting does."""
    if why := lacking(engine, worth.name):
        return replace(worth, words=why)
    if bare not in MOVED:
        return replace(worth, words=TOLD[bare])
    given = bases()[key].command.get(bare)
    against = given if given not in (None, worth.value) else default(key, bare)
    worth = replace(worth, against=against)
    first, other = (_tried(key, MOVED[bare](key, value)) for value in (worth.value, against))
    if isinstance(first, tuple):
        return replace(worth, words=say("does-not-run", why=first))
    if isinstance(other, tuple):
        return replace(worth, words=say("without-it-does-not-run", why=other))
    pace, wait, room = (first[name] - other[name] for name in (PACE, FIRST, ROOM))
    none = max(abs(pace), abs(wait), abs(room) / GIGA) < SMALL
    return replace(worth, pace=pace, first=wait, room=room, words=IDLE.get(bare, NO_EFFECT) if none
                   else ASIDE.get(bare, (NOTHING, NOTHING)))


def lacking(engine: Engine, name: str) -> Pair | None:
    """That no release has a setting, or none of today's, and what to do instead."""
    entry = engine.find(name)
    if entry is not None and entry.until is None:
        return None
    known = {bare(each): successor for each, successor in successors(engine.name).items()}
    after = known.get(bare(name))
    note = (f" {after.note['en']}", after.note["zh"]) if after else ("", "")
    if entry and entry.until:
        return say("gone-after", release=entry.until, note=note)
    return say("in-no-release", note=note)


def _tried(key: str, case: Case) -> Mapping[str, float] | Pair:
    """Quantities of a base with a setting moved, or why it does not run."""
    try:
        scenario = scenario_with(key, case.overrides)
    except LayoutError as error:
        return (str(error), str(error))
    if missing := missing_dtypes(scenario.precision, scenario.device):
        return say("card-has-no-unit-for",
                   dtypes=", ".join(sorted({dtype.upper() for _, dtype in missing})))
    found = answered(key, case)
    if found[ROOM] < 0:
        return say("card-is-short", short=fmt_quantity(-found[ROOM], "B"))
    return found


def signed(value: float, scale: float, digits: int) -> str:
    """A difference; 0 where it is none."""
    shown = fmt_fixed(value * scale, digits)
    return "0" if float(shown.replace(",", "").replace("−", "-")) == 0 else shown


def flag_table(key: str) -> None:
    """Every setting of a document's blocks with its worth; names and addresses in one row."""
    found = list(worths(key))
    plain = ", ".join(f"`{each.name}`" for each in found if each.words == ADDRESS)
    rows = [each for each in found if each.words != ADDRESS]
    if plain:
        rows.append(Worth(plain, None, (NOTHING,), words=ADDRESS))

    def name(each: Worth) -> str:
        if each.value is None:
            return each.name
        return f"`{each.name}`" + ("" if each.value is True else f"<br>`{each.value}`")

    table(rows, [
        Column(name, common("setting")),
        Column(lambda each: ", ".join(each.sections), common("section")),
        Column(lambda each: None if each.pace is None else f"`{each.against}`".lower(),
               say("instead-of")),
        Column("pace", say("ms-per-token"), signed, scale=MILLI, digits=2),
        Column("first", say("ms-to-first-token"), signed, scale=MILLI, digits=1),
        Column("room", say("gb-left-of-card"), signed, scale=1 / GIGA, digits=2),
        Column("words", say("effect"))], wide=True)
