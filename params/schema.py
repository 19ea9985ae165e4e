"""What a parameter file may hold: one class per folder of the catalogue."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, field_validator, model_validator

from params import trees, units
from params.values import (
    AnyQuantity,
    ByteRate,
    Bytes,
    Count,
    CountOrZero,
    Dollars,
    Frequency,
    Length,
    OperationRate,
    Power,
    Ref,
    Requests,
    Share,
    SourceKey,
    Text,
    Time,
    Tokens,
    Value,
    Yuan,
)

ModelName = Annotated[str, Ref("models")]
DeviceName = Annotated[str, Ref("devices")]
LinkName = Annotated[str, Ref("links")]
NodeName = Annotated[str, Ref("nodes")]
FormatName = Annotated[str, Ref("formats")]
PrecisionName = Annotated[str, Ref("precisions")]
MeasurementsName = Annotated[str, Ref("measurements")]


class Entry(BaseModel):
    """Base of everything: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Named(Entry):
    """A catalogue entry; ``id`` is its file's name, ``defaults`` the provenance of bare numbers."""

    id: str
    name: Text
    note: Text | None = None
    defaults: dict[str, Any] | None = None


def _over(part: Value | None, whole: Value | None) -> bool:
    return part is not None and whole is not None and part.value > whole.value


class PublishedTotals(Entry):
    """Totals that the model's authors (or a document) print, to be held against the count."""

    total_parameters: Count | None = None
    active_parameters: Count | None = None


class Model(Named):
    """A transformer by its shapes, under the names of Hugging Face configurations."""

    attention: Literal["mla", "gqa"]
    num_hidden_layers: Count
    hidden_size: Count
    vocab_size: Count
    num_attention_heads: Count
    num_key_value_heads: Count
    head_dim: Count | None = None
    q_lora_rank: CountOrZero | None = None
    kv_lora_rank: Count | None = None
    qk_nope_head_dim: Count | None = None
    qk_rope_head_dim: Count | None = None
    v_head_dim: Count | None = None
    intermediate_size: Count
    first_k_dense_replace: CountOrZero | None = None
    moe_intermediate_size: Count | None = None
    n_routed_experts: Count | None = None
    n_shared_experts: CountOrZero | None = None
    num_experts_per_tok: Count | None = None
    router_bias: bool = False
    tie_word_embeddings: bool = False
    max_position_embeddings: Count | None = None
    published: PublishedTotals | None = None

    @model_validator(mode="after")
    def _complete(self) -> Model:
        mla: tuple[str, ...] = (
            "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
        needed = mla if self.attention == "mla" else ("head_dim",)
        moe = ("moe_intermediate_size", "n_routed_experts", "n_shared_experts",
               "num_experts_per_tok", "first_k_dense_replace")
        if self.is_moe:
            needed += moe
        for name in needed:
            if getattr(self, name) is None:
                kind = "mixture-of-experts" if name in moe else self.attention
                raise ValueError(f"'{name}' is missing, a model with {kind} needs it")
        if not self.is_moe and (extra := [n for n in moe if getattr(self, n) is not None]):
            raise ValueError(f"'{extra[0]}' is given, but the model has no routed experts")
        if self.is_moe:
            if _over(self.num_experts_per_tok, self.n_routed_experts):
                raise ValueError("'num_experts_per_tok' exceeds 'n_routed_experts'")
            if _over(self.first_k_dense_replace, self.num_hidden_layers):
                raise ValueError("'first_k_dense_replace' exceeds 'num_hidden_layers'")
        if self.num_attention_heads.value % self.num_key_value_heads.value:
            raise ValueError("'num_key_value_heads' does not divide 'num_attention_heads'")
        return self

    @property
    def is_moe(self) -> bool:
        """Whether any layer routes tokens to experts."""
        return any(getattr(self, name) is not None for name in
                   ("n_routed_experts", "num_experts_per_tok", "moe_intermediate_size"))


class Peaks(Entry):
    """Dense peak of one unit by the dtype that is multiplied [FLOP/s]."""

    fp32: OperationRate | None = None
    tf32: OperationRate | None = None
    bf16: OperationRate | None = None
    fp16: OperationRate | None = None
    fp8: OperationRate | None = None
    int8: OperationRate | None = None
    fp4: OperationRate | None = None


class DevicePower(Entry):
    """Electrical power of one device [W]."""

    idle: Power | None = None
    full: Power | None = None


class Price(Entry):
    """What one device was sold for, by currency; the values carry date and source."""

    usd: Dollars | None = None
    cny: Yuan | None = None


class Device(Named):
    """One card as the software sees it (a die where a package shows two), or a host processor."""

    vendor: str
    type: Literal["npu", "gpu", "host"]
    memory_capacity: Bytes | None = None
    memory_bandwidth: ByteRate
    system_reserve: Bytes | None = None
    hbm_efficiency: Share | None = None
    runtime_reserve: Bytes | None = None
    matrix_peak: Peaks | None = None
    vector_peak: Peaks | None = None
    headline_peak: Peaks | None = None
    l2_cache: Bytes | None = None
    cores: Count | None = None
    clock: Frequency | None = None
    power: DevicePower | None = None
    price: Price | None = None

    @model_validator(mode="after")
    def _complete(self) -> Device:
        if self.type != "host":
            for name in ("memory_capacity", "hbm_efficiency", "runtime_reserve", "matrix_peak"):
                if getattr(self, name) is None:
                    raise ValueError(f"'{name}' is missing, an accelerator needs it")
        return self


class Link(Named):
    """A connection between devices; ``bandwidth`` is ONE direction, per pair or per device."""

    topology: Literal["full-mesh", "switch", "point-to-point"]
    bandwidth: ByteRate
    links_per_device: Count | None = None
    latency: Time | None = None
    collective_bandwidth: dict[int, ByteRate] | None = None


class Node(Named):
    """A server: its devices, what connects them, and its host."""

    devices_per_node: Count
    device_link: LinkName
    network_link: LinkName
    host: DeviceName | None = None
    hosts_per_node: Count | None = None
    host_memory: Bytes | None = None


class Format(Named):
    """How one element is stored: its bits, and the scale and zero point that a group shares."""

    bits: Count
    scale_bits: CountOrZero
    zero_bits: CountOrZero
    group_size: CountOrZero

    @model_validator(mode="after")
    def _complete(self) -> Format:
        shared = self.scale_bits.value + self.zero_bits.value
        if shared and not self.group_size.value:
            raise ValueError("'group_size' is 0, but scales or zero points are stored")
        return self

    @property
    def bytes_per_element(self) -> int | float:
        """Bytes of one element, its share of scale and zero point included; int if whole."""
        shared = self.scale_bits.value + self.zero_bits.value
        share = shared / self.group_size.value if shared else 0.0
        size = (self.bits.value + share) / units.BITS_PER_BYTE
        return int(size) if size.is_integer() else size


class WeightFormats(Entry):
    """The storage format of each class of tensors."""

    embedding: FormatName
    attention: FormatName
    norm: FormatName
    router: FormatName
    dense_mlp: FormatName
    shared_expert: FormatName
    routed_expert: FormatName
    head: FormatName


class Precision(Named):
    """Which format stores what: weights by class, cache, activations, logits."""

    weights: WeightFormats
    kv_cache: FormatName
    kv_rope: FormatName
    activation: FormatName
    logit: FormatName


class Cluster(Entry):
    """The hardware of a deployment."""

    node: NodeName
    nodes: Count
    devices: Count | None = None


class Parallelism(Entry):
    """How a deployment is cut; devices = tensor x pipeline x data."""

    tensor_parallel: Count
    pipeline_parallel: Count
    data_parallel: Count
    expert_parallel: Count


class Workload(Entry):
    """What is asked of a deployment, and how its engine is driven."""

    concurrency: Requests
    context_tokens: Length | None = None
    input_tokens: Length | None = None
    output_tokens: Length | None = None
    max_num_batched_tokens: Tokens
    block_size: Length
    memory_utilization: Share

    @model_validator(mode="after")
    def _complete(self) -> Workload:
        if (self.input_tokens is None) != (self.output_tokens is None):
            raise ValueError("'input_tokens' and 'output_tokens' are given together or not at all")
        if self.input_tokens is None or self.output_tokens is None:
            if self.context_tokens is None:
                raise ValueError("'context_tokens' is missing (or input_tokens and output_tokens)")
        elif self.context_tokens is not None and (
            self.context_tokens.value < self.input_tokens.value + self.output_tokens.value
        ):
            raise ValueError("'context_tokens' is less than input_tokens + output_tokens")
        return self


class Claim(Entry):
    """One printed result of a document, with the document's own formula where it prints one.

    ``quantity`` is the quantity of ours that the claim speaks of (a name of ``symbols.yml``).
    """

    quantity: str
    label: Text
    value: AnyQuantity
    formula: Any = None
    note: Text | None = None

    @field_validator("formula")
    @classmethod
    def _formula(cls, tree: Any) -> Any:
        if tree is not None:
            tree = trees.numbers(tree)
            trees.validate(tree)
        return tree


class Documented(Entry):
    """What a document states of a deployment: its inputs and its results."""

    model: ModelName | None = None
    inputs: dict[str, AnyQuantity] = {}
    claims: list[Claim] = []

    def recomputed(self, claim: Claim) -> float | int | None:
        """What the document's own formula gives on its own inputs (SI); None without formula.

        Raises ValueError if an input is missing or the arithmetic has no result.
        """
        if claim.formula is None:
            return None
        return trees.evaluate(
            claim.formula, {name: value.value for name, value in self.inputs.items()})


class ScenarioFile(Entry):
    """A deployment as written: names of catalogue entries, parallelism, workload, claims."""

    id: str
    title: Text
    note: Text | None = None
    defaults: dict[str, Any] | None = None
    document: Literal["s0", "s1", "s2", "s3"] | None = None
    section: str | None = None
    model: ModelName
    device: DeviceName
    cluster: Cluster
    parallelism: Parallelism
    precision: PrecisionName
    workload: Workload
    documented: Documented | None = None
    measured: MeasurementsName | None = None


def _measured(raw: Any) -> float:
    if isinstance(raw, bool):
        raise ValueError("expected a number")
    number = units.parse(raw, units.DIMENSIONLESS)
    if number < 0:
        raise ValueError(f"'{raw}' is out of range, expected at least 0")
    return float(number)


Measured = Annotated[float, BeforeValidator(_measured)]


class Measurements(Named):
    """A table of measured results of one system: columns with units, rows of numbers."""

    source: SourceKey
    kind: Literal["measured"]
    date: str | None = None
    columns: dict[str, str]
    rows: list[list[Measured]]
    definitions: dict[str, Text] = {}

    @model_validator(mode="after")
    def _rectangular(self) -> Measurements:
        for unit in self.columns.values():
            units.dimensions(unit)
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise ValueError(f"row {number} has {len(row)} numbers, "
                                 f"expected {len(self.columns)}")
        return self

    def column(self, name: str) -> list[float]:
        """One column in SI units."""
        index = list(self.columns).index(name)
        unit = self.columns[name]
        return [row[index] * units.factor(unit) for row in self.rows]
