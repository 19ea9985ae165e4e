"""Deployments: formats, precisions, scenarios, agents, recipes.

An agent is a load of several turns, in which each prompt is the whole history so far. A recipe is a
published launch command of one engine for a model on a card.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from catalogue.entries import formulas
from catalogue.entries.entry import (
    Called,
    CatalogueEntry,
    DeviceName,
    Entry,
    FormatName,
    MeasurementsName,
    ModelName,
    NodeName,
    Plain,
    PrecisionName,
    Problem,
    ProfileName,
    ServiceLimits,
    Sourced,
    Titled,
    number_as,
    together,
)
from catalogue.entries.formulas import Inputs, WrittenTree, symbols
from catalogue.entries.hardware import (
    Device,
    Dtype,
    Node,
    Number,
    RequestRate,
    ShareOrZero,
    TimeOrZero,
)
from catalogue.entries.models import CSA, Checkpoint, DraftMethod, Model, TextKind
from catalogue.reading import units
from catalogue.reading.synonyms import is_switch_on
from catalogue.reading.values import (
    AllRequests,
    AnyQuantity,
    BytesOrZero,
    Count,
    CountOrZero,
    Flag,
    Length,
    Misplaced,
    Requests,
    Share,
    SourceKey,
    Text,
    Tokens,
    Unit,
    Value,
    Words,
    engine_name,
)

BLOCK = 256  # tokens of the largest usual block of a prefix cache, of which whole ones are found
DERIVED = ("input_tokens", "output_tokens", "context_tokens", "prefix_hit_share", "think_time",
           "arrivals", "arrival_rate")
"""Keys of a load that follow from an agent, so that nobody may state them beside one."""


AgentTokens = Annotated[int, Plain("token", integer=True)]


class Agent(Entry):
    """An agent that works on a task in turns, each a request whose prompt is the whole history.

    Attributes:
        turns: requests of a task [1].
        first_prompt: prompt of the first turn, ``shared_prefix`` included [token].
        answer: of each turn, such as a call of a tool [token].
        tool_output: what the tool appends to the history after an answer [token].
        pause: mean time from an answer to the next request, while the tool runs [s].
        shared_prefix: system prompt and tool definitions with which every task begins [token].
    """

    turns: Annotated[int, Plain("1", integer=True, maximum=10_000)]
    first_prompt: AgentTokens
    answer: AgentTokens
    tool_output: AgentTokens
    pause: Annotated[float, Plain("s", exclusive=False)] = 0.0
    shared_prefix: Annotated[int, Plain("token", integer=True, exclusive=False)] = 0

    def violations(self) -> Iterator[Problem]:
        """The shared prefix is a part of the first prompt."""
        if self.shared_prefix > self.first_prompt:
            yield f"expected at most {self.first_prompt} token, the first prompt", "shared_prefix"


def turn_load(agent: Agent, answers_cached: bool = True) -> dict[str, float]:
    """Mean request of an agent, by the keys of a goal's demand: lengths [token], the share of the
    prompts that a prefix cache can find [1], and the time between two requests [s].

    With p the first prompt, a the answer, o the tool's output and g the shared prefix, prompt k of
    T is P_k = p + (k - 1) (a + o): on average p + (T - 1) (a + o) / 2, here rounded up. The longest
    context is P_T + a. A cache that still has what the agent left finds g of the first prompt and
    P_(k-1) + a = P_k - o of any other, each rounded down to whole blocks of ``BLOCK`` tokens. Their
    sum over T mean prompts is the share, so that roundings only add to what is prefilled. It is the
    most that is found: what a full cache has dropped during the pauses,
    ``calc.physics.memory.kept_share`` takes off.

    >>> turn_load(Agent(turns=3, first_prompt=1280, answer=56, tool_output=200))
    {'input_tokens': 1536, 'output_tokens': 56, 'context_tokens': 1848, 'prefix_hit_share': \
0.6111111111111112, 'think_time': 0.0}

    A pool that only prefills has its own prompts, and computes the answers of the decode pool again
    when they come back: it finds P_(k-1) = P_k - a - o.

    Args:
        agent: its turns.
        answers_cached: whether the cache that prompts are looked up in has the answers, too.
    """
    new = agent.tool_output + (0 if answers_cached else agent.answer)
    prompts = range(agent.first_prompt,
                    agent.first_prompt + agent.turns * (agent.answer + agent.tool_output),
                    agent.answer + agent.tool_output)
    mean = -(-sum(prompts) // agent.turns)
    prefixes = [min(agent.shared_prefix, agent.first_prompt - 1),
             *(prompt - new for prompt in prompts[1:])]
    hits = sum(tokens // BLOCK * BLOCK for tokens in prefixes)
    return {"input_tokens": mean, "output_tokens": agent.answer,
            "context_tokens": prompts[-1] + agent.answer,
            "prefix_hit_share": hits / (agent.turns * mean), "think_time": agent.pause}


def load_of_agent(raw: Mapping[str, Any], *at: str) -> dict[str, Any]:
    """What follows from the agent of a group of keys, both as a file has them; empty where it has
    no agent.

    One token each stands in for the lengths of an agent that is refused where its own key is read.

    Args:
        raw: keys as a file has them.
        at: the group that they stand in, where its file is checked as a whole.

    Raises Misplaced where a key is stated that follows from the agent.
    """
    if raw.get("agent") is None:
        return {}
    for key in DERIVED:
        if raw.get(key) is not None:
            raise Misplaced(f"'{key}' follows from the 'agent', expected one of the two",
                            *at, key)
    try:
        load = turn_load(Agent.model_validate(raw["agent"]))
    except ValidationError:
        load = dict.fromkeys(("input_tokens", "output_tokens"), 1)
    units = {"prefix_hit_share": "", "think_time": " s"}
    return {key: f"{number}{units.get(key, ' token')}" for key, number in load.items()}


def usual(number: float, unit: str = "1") -> Any:
    """Field of a quantity that has one usual value."""
    return Field(default_factory=lambda: usual_value(number, unit))


Role = Literal["both", "prefill", "decode"]
Cause = Literal["layout", "limits", "kernels", "steps", "drafts", "pools", "chat", "monitoring",
                "features"]


class Recipe(Entry):
    """A published launch command as data; nothing of it is run.

    Names, addresses, ports, seeds and log settings are left out: they are of whoever starts it.

    Attributes:
        models, cards: what it serves on which.
        count: cards of the server [1].
        precision: of the weights that it loads.
        checkpoint: repository of those weights; None for any of the models.
        release: of the engine, the oldest that the source names; None where it names none.
        role: of the server.
        source: where it is published, with its date.
        flags: by the engine's own name of each; None for a switch.
        variables: of the environment.
    """

    models: Annotated[list[ModelName], Field(min_length=1)]
    cards: Annotated[list[DeviceName], Field(min_length=1)]
    count: Annotated[int, Field(ge=1)]
    precision: PrecisionName
    checkpoint: Words | None = None
    source: SourceKey
    release: Words | None = None
    role: Role = "both"
    flags: Annotated[dict[str, Any], Field(min_length=1)]
    variables: dict[str, Any] = {}


class Unset(Entry):
    """Why ``deploy`` does not set what recipes set, or recipes do not what it sets.

    Attributes:
        names: flags, variables, or keys of a flag's JSON value after a dot.
        value: where it is set, for which it holds; None for any.
        since: release of the engine from which on it holds; None for all.
        given, without: flags that the deployment has to set, and those that it must not.
        why: the reason.
        source: the released source that shows it, where it is not a choice of the plan.
    """

    names: Annotated[list[Words], Field(min_length=1)]
    value: Any = None
    since: Words | None = None
    given: list[Words] = []
    without: list[Words] = []
    why: Text
    source: SourceKey | None = None


class Recipes(CatalogueEntry):
    """Recipes of one engine.

    Attributes:
        engine: of ``params/profiles/``.
        recipes: by name.
        causes: of differences, each with the flags and variables that it decides on.
        unset: reasons for settings of recipes that ``deploy`` leaves out.
        added: reasons for settings of ``deploy`` that recipes leave out, in place of their cause.
    """

    engine: ProfileName
    recipes: Annotated[dict[str, Recipe], Field(min_length=1)]
    causes: dict[Cause, list[Words]] = {}
    unset: list[Unset] = []
    added: list[Unset] = []


MOST_DRAFTS = 8  # that the formulas count
AcceptedLength = Annotated[Value, Unit("1", minimum=1, exclusive=False)]
HIT_SHARE = "prefix_hit_share"  # a mechanism that follows from an agent
Drafts = Annotated[Value, Unit("1", integer=True, exclusive=False, spread=False,
                               maximum=MOST_DRAFTS)]


class Block(Entry):
    """The part of a matrix that shares a scale: engines cut matrices between parts only.

    Attributes:
        outputs, inputs: rows and columns of a part [1].
        expert_inputs: columns to which kernels of experts divide a part [1]; none: not at all.
    """

    outputs: Count
    inputs: Count
    expert_inputs: Count | None = None


class Format(CatalogueEntry):
    """How one element is stored: its bits, and the scale and zero point that a group shares.

    Attributes:
        block: the shape of a group, where engines refuse to load a slice with part of one.
        host_unit: what a processor's kernels multiply it with, a matrix unit where it has one.
    """

    bits: Count
    scale_bits: CountOrZero
    zero_bits: CountOrZero
    group_size: CountOrZero
    block: Block | None = None
    host_unit: Literal["matrix", "vector"] = "matrix"

    def violations(self) -> Iterator[Problem]:
        """Scales are of groups, of which a block is one."""
        if self.scale_bits.value + self.zero_bits.value and not self.group_size.value:
            yield "'group_size' is 0, but scales or zero points are stored"
        block = self.block
        if block and block.outputs.value * block.inputs.value != self.group_size.value:
            yield (f"'block' of {block.outputs.value} x {block.inputs.value} is no group of "
                   f"{self.group_size.value}")

    @property
    def bytes_per_element(self) -> int | float:
        """Bytes of one element, its share of scale and zero point included; int if whole."""
        shared = self.scale_bits.value + self.zero_bits.value
        share = shared / self.group_size.value if shared else 0.0
        size = (self.bits.value + share) / units.BITS_PER_BYTE
        return int(size) if size.is_integer() else size


class WeightFormats(Entry):
    """The storage format of each class of tensors; absent, compressors of the cache are as wide as
    activations and hyper-connections FP32."""

    embedding: FormatName
    attention: FormatName
    norm: FormatName
    router: FormatName
    dense_mlp: FormatName
    shared_expert: FormatName
    routed_expert: FormatName
    head: FormatName
    compressor: FormatName | None = None
    hyper: FormatName | None = None


class Multiply(Sourced):
    """What the matrix unit multiplies, by class of tensors: a dtype, which a device has a peak of.

    It is not how weights are stored: 4-bit weights may be widened to 16 bits first. ``core`` is
    the attention core, scores (QK) and their product with the values (PV); ``index`` the scores of
    an indexer, multiplied as the core where it is absent.
    """

    attention: Dtype
    core: Dtype
    dense_mlp: Dtype
    shared_expert: Dtype
    routed_expert: Dtype
    router: Dtype
    head: Dtype
    index: Dtype | None = None

    @property
    def dtypes(self) -> dict[str, str]:
        """Class of tensors -> dtype, in the order of the fields."""
        return {name: getattr(self, name) for name, field in type(self).model_fields.items()
                if field.annotation is Dtype}


class Precision(Called):
    """Which format stores what (weights by class, cache, activations, logits), what is multiplied.

    ``kv_index`` is the format of the keys that an indexer caches, ``kv_cache`` where it is absent;
    ``state`` that of a state which a request keeps whatever its length, FP32 where it is absent.
    A deployment varies one part by an override: ``precision.kv_cache=fp8-latent128`` (656 bytes of
    a latent with its rotary key), ``precision.kv_cache=int8-latent48``, ``precision.kv_cache=fp8``
    with ``precision.kv_rope=fp8`` (576 bytes), ``precision.multiply.core=fp8``."""

    weights: WeightFormats
    multiply: Multiply
    kv_cache: FormatName
    kv_rope: FormatName
    kv_index: FormatName | None = None
    state: FormatName | None = None
    activation: FormatName
    logit: FormatName
    host_experts: Flag = False  # made for kernels of processors
    checkpoints: list[Checkpoint] = []


USUAL_SOURCE = "usual"
"""Source of what a file does not state, and that has a usual value."""
BLOCKS = {"npu": 128, "gpu": 64, "tpu": 64}
"""Tokens of a cache block by type of card: those of its MLA kernels; of a TPU as of a GPU."""
COMPRESSED = BLOCKS | {"gpu": 256}
"""Those of kernels of compressed attention, which take no others."""


def usual_value(number: float, unit: str = "1") -> Value:
    """A number that a file need not state."""
    return Value(number, unit, f"{number:g} {unit}".removesuffix(" 1"), USUAL_SOURCE, "assumed",
                 number, number)


def usual_block(device: Device, model: Model) -> Value:
    """Tokens of a block of the cache, where neither deployment nor engine states them."""
    return usual_value((COMPRESSED if model.attention == CSA else BLOCKS)[device.type], "token")


class Cluster(Entry):
    """The hardware of a deployment: servers, absent that of the card, and their number."""

    model_config = ConfigDict(json_schema_extra={"type": ["object", "integer"]})

    node: NodeName | None = None
    nodes: Count = usual(1)
    devices: Count | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_number(cls, raw: Any) -> Any:
        return number_as("devices", raw)

    def cards(self, node: Node) -> int:
        """Devices of the deployment, on servers of a kind [1]."""
        return int(self.devices.value if self.devices
                   else self.nodes.value * node.devices_per_node.value)


class Parallelism(Entry):
    """How a deployment is cut; devices = tensor x pipeline x data.

    ``expert_tensor_parallel`` slices of each routed expert (absent or 0: tensor over expert
    parallel, at least 1) times the expert-parallel size are the ranks that share experts. Experts
    and ``redundant_experts``, copies (absent: none), are spread over the expert-parallel ranks,
    less ``shared_expert_ranks`` with the shared ones alone (absent: none). ``balancing``: experts
    lie as they are numbered (none), by measured load (periodic), or ranks get equal shares (ideal).
    ``decode_context_parallel`` ranks deal the cache of a request among them (absent: 1).
    """

    tensor_parallel: Count
    pipeline_parallel: Count = usual(1)
    data_parallel: Count = usual(1)
    expert_parallel: Count = usual(1)
    expert_tensor_parallel: CountOrZero | None = None
    redundant_experts: CountOrZero | None = None
    shared_expert_ranks: CountOrZero | None = None
    decode_context_parallel: Count | None = None
    balancing: Literal["none", "periodic", "ideal"] = "none"

    @model_validator(mode="before")
    @classmethod
    def _of_switch(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and is_switch_on(raw.get("expert_parallel")):
            raise Misplaced("expected the number of cards that share the experts: tensor_parallel "
                            "x data_parallel for all of them", "expert_parallel")
        return raw


def _derived(load: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """What follows from an agent as a file states it, with the source of the file's numbers."""
    return {key: {"value": load[key], "kind": "derived"} for key in keys if key in load}


class Workload(Entry):
    """What is asked of a deployment, and how its engine is driven.

    ``requests`` are sent at once, of which ``concurrency`` are in flight (absent: all of them);
    ``draft_tokens`` are proposed per request and step (absent: none) by ``draft_method``, a drafter
    of the model's file (absent: its own layer), ``draft_block`` of them in one pass (absent: one).
    What comes of them hangs on the kind of ``text`` (absent: any), or is stated: tokens of a step,
    its own included (``accepted_length``), or how often each counts (``acceptance``). Lengths are
    distributed about their means as ``length_distribution`` says; absent, formulas take equal ones,
    a simulation public traffic's.

    ``arrivals``: all at once (``burst``), from ``concurrency`` users who each ask again
    ``think_time`` after an answer (``closed-loop``; absent: at once), or independently at an
    ``arrival_rate`` (``poisson``), where ``concurrency`` is the most that are in flight; absent, a
    closed loop without thinking. Chunk, block size and memory share that a deployment does not
    state are its engine's, else what is usual (of blocks: of the card, :func:`usual_block`), as are
    decode steps between two looks for requests and tokens sent together (of none: 1).
    ``host_cache``: memory of each server for caches that the cards have dropped (absent: none).

    From an ``agent`` follow lengths, a closed loop with its ``think_time``, and the mechanism
    ``prefix_hit_share``; ``concurrency`` is then the number of agents at work.
    """

    agent: Agent | None = None
    concurrency: Requests
    requests: AllRequests | None = None
    max_num_seqs: Requests | None = None
    draft_tokens: Drafts | None = None
    draft_method: DraftMethod | None = None
    draft_block: Count | None = None
    text: TextKind | None = None
    accepted_length: AcceptedLength | None = None
    acceptance: list[ShareOrZero] | None = None
    context_tokens: Length | None = None
    input_tokens: Length | None = None
    output_tokens: Length | None = None
    length_distribution: Literal["constant", "exponential", "lognormal"] | None = None
    length_variation: Number | None = None
    arrivals: Literal["burst", "closed-loop", "poisson"] | None = None
    think_time: TimeOrZero | None = None
    arrival_rate: RequestRate | None = None
    max_num_batched_tokens: Tokens = usual(8192, "token")
    block_size: Length = usual(64, "token")
    memory_utilization: Share = usual(0.9)
    host_cache: BytesOrZero | None = None
    scheduler_recv_interval: Count | None = None
    stream_interval: Length | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_agent(cls, raw: Any) -> Any:
        load = load_of_agent(raw) if isinstance(raw, dict) else {}
        if not load:
            return raw
        return raw | _derived(load, load.keys() - {HIT_SHARE}) | {"arrivals": "closed-loop"}

    def violations(self) -> Iterator[Problem]:
        """Lengths, arrivals and drafts that contradict one another."""
        yield from together(self, "input_tokens", "output_tokens")
        if self.input_tokens is None or self.output_tokens is None:
            if self.context_tokens is None:
                yield "'context_tokens' is missing (or input_tokens and output_tokens)"
        elif self.context_tokens is not None and (
                self.context_tokens.value < self.input_tokens.value + self.output_tokens.value):
            yield "'context_tokens' is less than input_tokens + output_tokens"
        if (self.length_distribution == "lognormal") != (self.length_variation is not None):
            yield ("'length_variation' and a lognormal length_distribution belong together, "
                   "expected both or neither")
        if self.think_time is not None and self.arrivals != "closed-loop":
            yield "expected 'arrivals: closed-loop' beside a 'think_time'", "think_time"
        if self.arrivals == "poisson" and self.arrival_rate is None:
            yield "'arrivals: poisson' needs an 'arrival_rate', such as 2 request/s", "arrivals"
        if self.arrival_rate is not None and self.arrivals != "poisson":
            yield "write 'arrivals: poisson' beside an 'arrival_rate'", "arrival_rate"
        if self.requests is not None and self.requests.value < self.concurrency.value:
            yield (f"'requests' ({self.requests.value:,}) is less than concurrency "
                   f"({self.concurrency.value:,}), expected as many, or no 'requests'")
        if self.draft_method and self.draft_tokens is None:
            yield "expected 'draft_tokens' beside a 'draft_method'", "draft_method"
        yield from self._violations_of_drafts()

    def _violations_of_drafts(self) -> Iterator[Problem]:
        """What is accepted can come of the drafts."""
        drafts, length, chances = self.draft_tokens, self.accepted_length, self.acceptance
        key = "acceptance" if length is None else "accepted_length"
        if length is not None and chances is not None:
            yield "expected 'acceptance' or 'accepted_length', not both", "acceptance"
        elif drafts is None:
            if length is not None or chances is not None:
                yield f"expected 'draft_tokens' beside '{key}'", key
        else:
            most = 1 + int(drafts.value)
            if length is not None and length.high > most:
                yield (f"a step yields '{length.written}' tokens, but checks {drafts.written} "
                       f"drafts, expected 1 to {most}", key)
            if chances is not None and len(chances) != most - 1:
                yield f"{len(chances)} acceptances, expected {most - 1}, one for each draft", key
            for index, (before, after) in enumerate(pairwise(chances or ()), 1):
                if after.value > before.value:
                    yield (f"draft {index + 1} counts with '{after.written}', more often than the "
                           f"one before it, expected at most {before.written}", key, index)

    @property
    def length_accepted(self) -> Value | None:
        """Tokens of a step as they are stated, or its own and each draft as often as it counts [1].

        Source: notebooks/serving.md, section Drafted tokens.
        """
        if not self.acceptance:
            return self.accepted_length
        value, low, high = (1 + sum(getattr(chance, end) for chance in self.acceptance)
                            for end in ("value", "low", "high"))
        return replace(self.acceptance[0], value=value, low=low, high=high,
                       written=f"{value:.4g}")


class Offload(Entry):
    """Routed experts that are not on the cards: the host computes them, or the cards fetch them.

    Attributes:
        routed_experts: share of the routed experts that is not on the cards [1].
        format: how they are stored there.
        hosts: processors that compute them, or out of whose memory they are fetched [1].
        host: the processor; absent, that of the node.
        group_tokens: that the host's kernels take at once; absent, all of a step [token].
        fetched: whether chosen experts are loaded to the cards, else the host computes them.
        on_storage: of all routed experts, the share on the node's drives; absent, none [1].
    """

    routed_experts: Share
    format: FormatName
    hosts: Count
    host: DeviceName | None = None
    group_tokens: Tokens | None = None
    fetched: Flag = False
    on_storage: ShareOrZero | None = None

    def violations(self) -> Iterator[Problem]:
        """Experts on storage are fetched, and those are not computed by the host."""
        if self.fetched and self.group_tokens is not None:
            yield "experts that are fetched are not computed in groups", "group_tokens"
        if self.on_storage is not None and not self.fetched:
            yield "only experts that are fetched may be on storage", "on_storage"
        if self.on_storage is not None and self.on_storage.value > self.routed_experts.value:
            yield (f"{self.on_storage.written} of the routed experts on storage, but only "
                   f"{self.routed_experts.written} are not on the cards", "on_storage")


class Claim(Entry):
    """One printed result of a document, with the document's own formula where it prints one.

    Claims stand in the order in which the document arrives at them; of several about one quantity
    the last is its result.

    Attributes:
        quantity: the quantity of ours that the claim speaks of (a name of ``symbols.yml``).
        of: what the printed number counts: the whole deployment, one replica, one device, or one
            layer of the model.
        bound: the printed number is a target or a limit, reached from one side.
        comparable: whether it is of this workload; a document may not say of which one it is.
    """

    quantity: str
    label: Text
    value: AnyQuantity
    of: Literal["deployment", "replica", "device", "layer"] = "deployment"
    bound: Literal["at_most", "at_least"] | None = None
    comparable: Flag = True
    formula: WrittenTree | None = None
    note: Text | None = None


class Documented(Inputs):
    """What a document states of a deployment: its inputs and its results."""

    model: ModelName | None = None
    claims: list[Claim] = []

    def violations(self) -> Iterator[Problem]:
        """Claims are of known quantities in their units, by formulas that can be computed."""
        quantities = symbols()
        for number, claim in enumerate(self.claims):
            at, symbol = ("claims", number), quantities.get(claim.quantity)
            if symbol is None:
                yield (f"'{claim.quantity}' is not a quantity of params/symbols.yml", *at,
                       "quantity")
            elif units.uncounted(units.dimensions(claim.value.unit)) != units.uncounted(
                    units.dimensions(symbol.unit)):
                yield (f"'{claim.value.written}' has the wrong unit for '{claim.quantity}', "
                       f"expected a quantity in {symbol.unit}", *at, "value")
            try:
                self.recomputed(claim)
            except ValueError as error:
                yield str(error), *at, "formula"

    def recomputed(self, claim: Claim) -> float | int | None:
        """What the document's own formula gives on its own inputs (SI); None without formula.

        Raises ValueError if an input is missing or the arithmetic has no result.
        """
        return None if claim.formula is None else formulas.evaluate(claim.formula, self.given())


class ScenarioFile(Titled):
    """A deployment as written: names of catalogue entries, parallelism, workload, claims.

    ``engine`` names what serves it, with its release (``vllm@0.11.0``): what is not said here of
    workload, scheduling and mechanisms is as it does it (``catalogue.deployments.profiles``).
    ``graphs``: decode runs as a captured graph, else operator by operator; ``scheduling``: a step
    may hold prompts and decodes, or prompts go first; ``prefill_coordination``: of ranks that share
    experts each prefills as soon as it can, waits for the others, at most ``prefill_delay_steps``
    (absent: the engine's default, or 30), or lets in no request while one is full, unless what
    the engine calls ``balance`` is to wait; ``limits``: what users
    are promised, which alerts watch; ``mechanisms``: what is known in place of the device's priors.
    A file may describe a family: ``variants`` and ``pools`` (``catalogue.deployments.loading``).
    """

    document: Literal["s0", "s1", "s2", "s3"] | None = None
    section: Words | None = None
    model: ModelName
    device: DeviceName
    engine: Annotated[str | None, BeforeValidator(engine_name)] = None
    cluster: Cluster = Field(default_factory=Cluster)
    parallelism: Parallelism
    precision: PrecisionName
    workload: Workload
    offload: Offload | None = None
    graphs: Flag = True
    scheduling: Literal["mixed", "prefill-first"] = "mixed"
    prefill_coordination: Literal["eager", "delay", "balance"] = "eager"
    prefill_delay_steps: CountOrZero | None = None
    limits: ServiceLimits | None = None
    mechanisms: dict[str, AnyQuantity] = {}
    documented: Documented | None = None
    measured: MeasurementsName | None = None
    variants: dict[str, dict[str, Any]] = {}
    pools: tuple[str, str] | None = None

    @property
    def latency_limits(self) -> dict[str, tuple[str, float]]:
        """Times that have a limit -> ``mean`` or a percentile, and the limit [s]."""
        return self.limits.stated if self.limits else {}

    @model_validator(mode="before")
    @classmethod
    def _of_agent(cls, raw: Any) -> Any:
        workload = raw.get("workload") if isinstance(raw, dict) else None
        agent = workload.get("agent") if isinstance(workload, dict) else None
        mechanisms = raw.get("mechanisms", {}) if agent is not None else None
        if not isinstance(mechanisms, dict):
            return raw
        load = load_of_agent({"agent": agent} | mechanisms, "mechanisms")
        return raw | {"mechanisms": mechanisms | _derived(load, (HIT_SHARE,))}
