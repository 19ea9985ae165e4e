"""What an engine does to a deployment, release by release: its profile, and the formats it loads.

Which flags an engine takes stands in ``params/engines/``, which is extracted from its source. Here
stands what it does where a deployment says nothing: how it schedules, what its kernels reach on a
class of cards, the defaults of what it is driven by. What its kernels come to in tables of measured
operators stands in ``params/fits/``, which ``will-it-fit dev kernels fit -o FILE`` writes; a
profile takes those statements after its own. ``params/kernels/`` has the formats of weights and
caches that its releases load on a class of cards.
"""

import functools
import re
from collections.abc import Collection, Iterator
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from catalogue.entries.entry import (
    CatalogueEntry,
    Entry,
    FormatName,
    MechanismsName,
    Problem,
    ProfileName,
    Sourced,
    given,
)
from catalogue.entries.hardware import Architecture, Dtype
from catalogue.messages import Pair, pair
from catalogue.reading.values import (
    AnyQuantity,
    Bytes,
    BytesOrZero,
    Count,
    Date,
    Flag,
    Length,
    NameOrText,
    Requests,
    Share,
    SourceKey,
    Tokens,
    Value,
    Words,
)

_VERSION = re.compile(r"(?P<numbers>\d+(\.\d+){0,3})(rc(?P<candidate>\d+)|\.post(?P<post>\d+))?")
_NUMBERS = 4  # that a version has at most


@functools.cache
def in_order(version: str) -> tuple[int, ...]:
    """What sorts versions: a candidate comes before its release, what is posted after it.

    >>> sorted(["1.2.0", "0.5.10.post1", "1.2.0rc5", "0.5.9"], key=in_order)
    ['0.5.9', '0.5.10.post1', '1.2.0rc5', '1.2.0']

    Raises ValueError for what is no version.
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"'{version[:40]}' is not a release, expected one such as 0.11.0")
    numbers = [int(number) for number in match["numbers"].split(".")]
    candidate, post = match["candidate"], match["post"]
    return (*numbers, *[0] * (_NUMBERS - len(numbers)),
            -1 if candidate else int(post is not None), int(candidate or post or 0))


Version = Annotated[str, AfterValidator(lambda text: in_order(text) and text)]


class Released(Entry):
    """What holds in a range of releases.

    Attributes:
        since, until: first and last release, of all that were published; absent, from the first and
            up to the newest.
    """

    since: Version | None = None
    until: Version | None = None

    def violations(self) -> Iterator[Problem]:
        """The range has releases."""
        if self.since and self.until and in_order(self.since) > in_order(self.until):
            yield f"'until' {self.until} comes before 'since' {self.since}"

    def includes(self, release: str) -> bool:
        """Whether a release is in the range."""
        at = in_order(release)
        return ((self.since is None or in_order(self.since) <= at)
                and (self.until is None or at <= in_order(self.until)))


# how ranks come by the tokens of their experts: they are those of one replica, gathered from
# several, or a mode of sending them
Way = Literal["own", "gathered", "low_latency", "normal"]
WAYS: tuple[Way, ...] = get_args(Way)


class Scheduling(Sourced):
    """Whether a step may hold prompts and decodes, or prompts go first; and where from."""

    value: Literal["mixed", "prefill-first"]


Waiting = Literal["eager", "delay", "balance"]


class Coordination(Sourced):
    """Whether ranks that share experts wait for each other's prompts; and where from.

    Attributes:
        value: what they do where nothing is said.
        known: all that the engine can do.
        balance: what the engine's own switch of that name does.
        delay_steps: for which they wait at most where nothing is said.
    """

    value: Waiting
    known: Annotated[list[Waiting], Field(min_length=1)] = ["eager", "delay", "balance"]
    balance: Literal["delay", "balance"] = "balance"
    delay_steps: Count | None = None


class Ability(Sourced):
    """Whether an engine does something without being made to by a switch for experiments."""

    value: Flag


class Starting(Sourced):
    """Which layouts of experts and replicas an engine starts, and where that is from.

    A server is what answers requests by itself: replicas of attention that share experts, or one.

    Attributes:
        divided_experts: experts on some of a server's ranks, each cut over the others; without it,
            each is whole on one of all ranks, or cut over all of them.
        cut_over_replicas: experts cut over ranks of several replicas.
        wide_replicas: replicas of more than one rank in a server of several.
        spares: redundant experts.
        dealt_cache: the cache of a request dealt over tensor-parallel ranks.
        any_vocabulary: the vocabulary filled up until tensor parallelism divides it; else only up
            to a multiple of 64.
        spread_replicas: replicas of more than one node in a server of several.
        host_cache: caches that the cards have dropped, in host memory.
    """

    divided_experts: Flag | None = None
    cut_over_replicas: Flag | None = None
    wide_replicas: Flag | None = None
    spares: Flag | None = None
    dealt_cache: Flag | None = None
    any_vocabulary: Flag | None = None
    spread_replicas: Flag | None = None
    host_cache: Flag | None = None


Block = Literal["norm", "attention", "indexer", "all_reduce", "dense_mlp", "router",
                "routed_expert", "latent_output", "shared_expert", "head"]
Operator = Literal["gemm", "experts", "mla_decode", "mla_prefill", "mla_decode_block",
                   "dsa_decode_block", "all_reduce", "exchange"]
NO_LIMIT = 2**20  # tokens: more than any captured step has
DIVISIBLE: Block = "latent_output"


class Scheduled(Entry):
    """A block of kernels of a captured decode step.

    Attributes:
        block: its name.
        laws: operators of ``params/fits/`` that time its kernels; the others pay a boundary.
        fused: the block whose kernel does its work as well.
        beside: blocks of the main stream at whose side it runs, on a second one.
        until: most tokens of a step for which it does; absent, of any captured step.
        divided: whether the ranks of tensor parallelism share it: of the projection from the width
            of routed experts back to that of the model alone.
    """

    block: Block
    laws: list[Operator] = []
    fused: Block | None = None
    beside: list[Block] = []
    until: Tokens | None = None
    divided: bool = False


class Schedule(Sourced):
    """Blocks of a captured decode step in the order in which they are launched; and where from."""

    blocks: Annotated[list[Scheduled], Field(min_length=1)]

    def violations(self) -> Iterator[Problem]:
        """Blocks wait for blocks of the same step."""
        names = [item.block for item in self.blocks]
        for index, item in enumerate(self.blocks):
            for name in (*item.beside, *([item.fused] if item.fused else [])):
                if name not in names or name == item.block:
                    yield (f"'{item.block}' refers to '{name}', which is no other block of this "
                           f"schedule, expected one of {', '.join(names)}", "blocks", index)

    @property
    def mechanisms(self) -> dict[str, Value]:
        """What the physics takes of it: switches by name."""
        blocks = {item.block: item for item in self.blocks}
        norm, shared = blocks.get("norm"), blocks.get("shared_expert")
        back = blocks.get(DIVISIBLE)
        most = 0.0
        if shared is not None and (shared.beside or shared.fused):
            most = shared.until.value if shared.until else NO_LIMIT
        stated = {"fused_norms": (norm is not None and norm.fused == "all_reduce", "1"),
                  "second_stream_tokens": (most, "token"),
                  "latent_output_divided": (back is not None and back.divided, "1")}
        return {name: Value(float(value), unit, f"{float(value):g}", self.source, self.kind,
                            float(value), float(value)) for name, (value, unit) in stated.items()}


class CardReserve(Entry):
    """What is set aside on cards up to a size.

    Attributes:
        below: memory of a card; absent, all larger ones [B].
        constant, rank: whatever runs, and for each rank of a server [B].
        least: all that is set aside for prompts, graphs and ranks is at least this [B].
        graph, wide_graph: largest captured batch of a server of one to three ranks per stage, and
            of more [request].
    """

    below: Bytes | None = None
    constant: BytesOrZero | None = None
    rank: BytesOrZero | None = None
    least: BytesOrZero | None = None
    graph: Requests | None = None
    wide_graph: Requests | None = None


class Reserve(Sourced):
    """Memory that an engine sets aside: the rest is the share that it takes where none is stated.

    An absent attribute is as an earlier statement has it.

    Attributes:
        cards: by memory, ascending.
        prompt_token: for each prompt token of a step of a server [B].
        least_prompt_tokens: that are counted [token].
        graph_request: for each request of the largest graph [B].
        joined: where ranks share experts [B].
        joined_request: for each request of the largest graph and each replica that shares experts
            [B].
        large_joined_request: likewise, besides, of graphs of more than ``large_graph`` [B].
        large_graph: requests [request].
        prompt_graphs: for all captured steps with prompts, without pipeline stages [B].
        prompt_graph: for each size of such a step up to the prompt tokens [B].
        beside: for drafts or an exchange, not counted in the least [B].
        decodes: whether tokens of decode steps count in place of prompt tokens.
        limited_graphs: whether graphs are no larger than the requests that may run.
    """

    cards: list[CardReserve] | None = None
    prompt_token: BytesOrZero | None = None
    least_prompt_tokens: Tokens | None = None
    graph_request: BytesOrZero | None = None
    joined: BytesOrZero | None = None
    joined_request: BytesOrZero | None = None
    large_joined_request: BytesOrZero | None = None
    large_graph: Requests | None = None
    prompt_graphs: BytesOrZero | None = None
    prompt_graph: BytesOrZero | None = None
    beside: BytesOrZero | None = None
    decodes: Flag | None = None
    limited_graphs: Flag | None = None

    def over(self, earlier: "Reserve | None") -> "Reserve":
        """The reserve of two statements, of which this one is the later."""
        if earlier is None:
            return self
        return earlier.model_copy(update={
            name: getattr(self, name) for name in given(self, type(self).model_fields)})


class Defaults(Entry):
    """What an engine takes for a key of a deployment's workload, where that is not given."""

    max_num_batched_tokens: Tokens | None = None
    max_num_seqs: Requests | None = None
    block_size: Length | None = None
    memory_utilization: Share | None = None
    scheduler_recv_interval: Count | None = None
    stream_interval: Length | None = None


_CONDITIONS = ("since", "until", "cards", "attention", "drafts", "experts", "multiplied",
               "gathered", "exchange", "apart", "joined")


class Statement(Released):
    """What an engine does in a range of releases, on a class of cards, of a kind of model.

    Attributes:
        cards: names of mechanisms, of which devices it holds; absent, of all.
        attention: of which models it holds, ``sparse`` of those with an indexer, ``sparse-gqa`` of
            grouped queries with one, ``heavy`` of those with layers of heavily compressed entries;
            absent, of all.
        drafts: whether it holds with drafted tokens or without; absent, of both.
        experts: of which routed experts it holds, by the format that they are stored in; absent,
            of all.
        multiplied: the same by the dtype that they are multiplied in; absent, of all.
        gathered: whether it holds where a rank has the tokens of all, gathered or in one
            tensor-parallel group, or where each is sent to its experts; absent, of both.
        exchange: of which mode of sending them it holds; absent, of both and where none is sent.
        apart: whether it holds where pools prefill and decode apart; absent, of both.
        joined: whether its workload, reserve and mechanisms hold where ranks share experts, or
            where none do; absent, of both.
        scheduling: how a step is filled.
        prefill_coordination: of ranks that share experts.
        staged_drafts: whether a model drafts with its own layer in pipeline stages.
        graphs: whether decode runs as a captured graph where nothing is set.
        schedule: which kernels a captured decode step launches, and what runs beside what.
        starts: which layouts it starts; what is absent is as an earlier statement has it.
        workload: defaults that are decided when the engine starts, by card or model, or that its
            recipes set.
        chunk_dealt: whether ranks that share experts share the default of a step's prompt tokens.
        reserve: what it sets aside of the memory, of which the default share is the rest.
        flags: keys of the workload, whose default is that of a flag (``params/engines/``).
        mechanisms: by name, as a scenario's.
    """

    cards: list[MechanismsName] = []
    attention: Literal["mla", "gqa", "csa", "sparse", "sparse-gqa", "heavy"] | None = None
    drafts: Flag | None = None
    experts: list[FormatName] = []
    multiplied: Literal["bf16", "fp16", "fp8", "int8", "fp4"] | None = None
    gathered: Flag | None = None
    exchange: Literal["low_latency", "normal"] | None = None
    apart: Flag | None = None
    joined: Flag | None = None
    scheduling: Scheduling | None = None
    prefill_coordination: Coordination | None = None
    staged_drafts: Ability | None = None
    graphs: Ability | None = None
    schedule: Schedule | None = None
    starts: Starting | None = None
    workload: Defaults = Defaults()
    chunk_dealt: Ability | None = None
    reserve: Reserve | None = None
    flags: dict[Literal["max_num_batched_tokens", "block_size", "memory_utilization",
                        "scheduler_recv_interval", "stream_interval"], str] = {}
    mechanisms: dict[str, AnyQuantity] = {}

    def violations(self) -> Iterator[Problem]:
        """What hangs on ranks that share experts is what a deployment looks up by that."""
        yield from super().violations()
        if self.joined is not None and (other := sorted(
                self.model_fields_set - {*_CONDITIONS, "workload", "mechanisms", "reserve"})):
            yield f"'{other[0]}' does not depend on ranks that share experts", other[0]

    def holds(self, release: str, card: str, attention: Collection[str], drafts: bool,
              experts: tuple[str, str] | None = None, way: Way = "low_latency",
              apart: bool = False) -> bool:
        """Whether it speaks of a release, a class of cards, a kind of attention, and drafts.

        Args:
            release: of the engine.
            card: mechanisms of the device.
            attention: kinds of it that the model has, as statements name them.
            drafts: whether tokens are drafted.
            experts: the format and the dtype that routed experts are stored and multiplied in;
                None where they are not known, of which nothing is said then.
            way: how a rank comes by the tokens of its experts.
            apart: whether it is a decode pool of its own.
        """
        stored, multiplied = experts or (None, None)
        return (self.includes(release) and (not self.cards or card in self.cards)
                and (not self.experts or stored in self.experts)
                and self.multiplied in (None, multiplied)
                and self.attention in (None, *attention) and self.drafts in (None, drafts)
                and self.apart in (None, apart) and self.joined in (None, way != "own")
                and self.gathered in (None, way in ("own", "gathered"))
                and self.exchange in (None, way))


class Image(Released, Sourced):
    """A container image of an engine, and where its tag is documented.

    Attributes:
        stack: software of the cards that it is built for.
        architectures: of those cards; absent, all of the stack.
        name: repository and tag, with ``{release}`` for the version.
    """

    stack: Words
    architectures: list[Architecture] = []
    name: Words


class Profile(CatalogueEntry):
    """What an engine does; of two statements about one thing the later holds.

    Attributes:
        stacks: software of cards that it is written for (``Device.software``).
        since: first release of which it speaks; absent, all that are known.
        source: where its released packages are.
        flags: the engine of ``params/engines/`` that has its flags and releases, if one does.
        releases: with their dates, besides those of which the flags are known.
        images: official container images.
        statements: from the general to the special.
    """

    stacks: Annotated[list[Words], Field(min_length=1)]
    since: Version | None = None
    source: SourceKey
    flags: str | None = None
    releases: dict[Version, Date] = {}
    images: list[Image] = []
    statements: list[Statement]

    def image(self, release: str, stack: str, architecture: str) -> str | None:
        """The image of a release for a kind of cards; None where no tag is documented.

        Args:
            release: of the engine.
            stack, architecture: of the cards, as devices name them.
        """
        return next((image.name.replace("{release}", release) for image in self.images
                     if image.includes(release) and image.stack == stack
                     and (not image.architectures or architecture in image.architectures)), None)

    def violations(self) -> Iterator[Problem]:
        """Its releases are known, and whose flags a statement names."""
        if self.flags is None and not self.releases:
            yield "'releases' is missing, and no 'flags' say which there are"
        if self.flags is None and any(statement.flags for statement in self.statements):
            yield "'flags' is missing, of which a statement takes a default"


Error = Annotated[float, Field(strict=False, ge=-1, le=1e6)]
Rows = Annotated[int, Field(strict=False, ge=0)]


class Judged(Entry):
    """Law over table, less one, of rows that were not fitted.

    Attributes:
        rows: how many [1].
        leaning: median [1].
        median, most: median and 90% point of its size [1].
    """

    rows: Rows
    leaning: Error
    median: Error
    most: Error


Factor = Annotated[float, Field(strict=False, gt=0, le=1e6)]


class Rejected(Entry):
    """Why a law is not used: its time with one token contradicts other laws, or a measured step.

    Attributes:
        reason: ``neighbour``, at least twice the fixed time of a release beside it: a table
            measured outside of graphs, or of a kernel that serving does not take; or ``step``,
            longer in a step than a measured one leaves.
        against: the release, or the measured step.
        factor: its time over that of the neighbour, or over what the step leaves [1].
        instead: the release whose fixed times stand in the statement; absent, those of the card
            hold.
    """

    reason: Literal["neighbour", "step"]
    against: Words
    factor: Factor
    instead: Version | None = None


class Measured(Entry):
    """What a fit rests on; of a table without fitted rows, what other values are judged on.

    Attributes:
        operator: of the table.
        cut: of experts, whether they are whole on a rank.
        kernel: as the table names it.
        dtype: as the table names it.
        fitted: rows [1].
        judged: on the rows kept apart.
        regions: the same by the least number of tokens.
        rejected: why the law's fixed times are not used; absent where they are.
    """

    operator: Operator
    cut: Literal["whole", "slices"] | None = None
    kernel: Words
    dtype: Words
    fitted: Rows
    judged: Judged
    regions: dict[int, Judged]
    rejected: Rejected | None = None


class KernelFit(Statement):
    """A statement of an engine's profile, with what it rests on."""

    measured: list[Measured]


class Fits(CatalogueEntry):
    """What the kernels of an engine reach on a class of cards.

    Attributes:
        engine: whose profile takes the statements.
        card: mechanisms of the cards that were measured.
        table: package and version that the tables are of.
        statements: from the oldest release to the newest; the first holds of older ones too.
    """

    engine: str
    card: MechanismsName
    table: Words
    statements: list[KernelFit]


AttentionKind = Literal["mla", "gqa", "csa", "sparse", "block-sparse"]
"""Of models: latent, grouped, compressed; latent or grouped over what an indexer picks."""
DENSE = ("mla", "gqa")  # over everything that is cached
Runs = Literal["native", "weight-only", "no"]


class Cell(Released, Sourced):
    """One cell of a table: on which cards, from which release on, and who says so.

    Attributes:
        cards: architectures of which it holds.
        attention: of which models it holds; absent, of all, or of a cache those of ``DENSE``.
        model_classes: of which models it holds, ``architectures`` of their configurations; absent,
            of all.
        runs: ``native``, the matrix unit multiplies what is stored or what activations are rounded
            to; ``weight-only``, weights are widened to 16 bits first; ``no``, it is refused, or
            runs as something else.
        kernel: what runs it on these cards, as the engine's source names it; of what is refused
            ``none``, or ``none: `` and what runs instead.
        source, kind, date: where that is stated.
    """

    cards: Annotated[list[Architecture], Field(min_length=1)]
    attention: list[AttentionKind] = []
    model_classes: list[Words] = []
    runs: Runs = "native"
    kernel: NameOrText

    @property
    def instead(self) -> Pair | None:
        """What runs in place of what is refused; None where nothing is said of it."""
        en, zh = (text.partition(": ") for text in pair(self.kernel))
        return (en[2], zh[2] or en[2]) if self.runs == "no" and en[2] else None


class Product(Cell):
    """Weights of a format, and what they are multiplied in.

    Attributes:
        weights: formats of ``params/formats/``.
        multiply: dtypes of the product.
        classes: of tensors; absent, all.
    """

    weights: Annotated[list[FormatName], Field(min_length=1)]
    multiply: Annotated[list[Dtype], Field(min_length=1)]
    classes: list[Literal["attention", "router", "dense_mlp", "shared_expert", "routed_expert",
                          "head"]] = []


class Cache(Cell):
    """A format of the cache, and what the attention core multiplies over it: a backend.

    Attributes:
        formats: of keys and values, or of the latent.
        multiply: dtypes of the core.
    """

    formats: Annotated[list[FormatName], Field(min_length=1)]
    multiply: Annotated[list[Dtype], Field(min_length=1)]


class Platforms(Sourced):
    """Software of cards that an engine is written for (``Device.software``), and who says so."""

    stacks: Annotated[list[Words], Field(min_length=1)]


class Kernels(CatalogueEntry):
    """What the releases of one engine run and refuse, by format and class of cards.

    What no cell speaks of is not known. Of cells that speak of the same, the last one counts.

    Attributes:
        engine: of ``params/profiles/``; absent, an engine of which nothing else is known here, no
            deployment can name it, and no release of it.
        platforms: cards of other known software are refused.
        products: of weights and activations.
        caches: what is cached.
    """

    engine: ProfileName | None = None
    platforms: Platforms | None = None
    products: list[Product]
    caches: list[Cache]
