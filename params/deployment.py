"""What a file of a deployment may hold: formats, precisions, scenarios, measured results."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, field_validator, model_validator

from params import trees, units
from params.entries import (
    DeviceName,
    Entry,
    FormatName,
    MeasurementsName,
    ModelName,
    Named,
    NodeName,
    PrecisionName,
)
from params.values import (
    AnyQuantity,
    Count,
    CountOrZero,
    Date,
    Length,
    Misplaced,
    Requests,
    Share,
    SourceKey,
    Text,
    Tokens,
)


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
    """Which format stores what: weights by class, cache, activations, logits.

    ``kv_index`` is the format of the keys that an indexer caches, ``kv_cache`` where it is absent.
    """

    weights: WeightFormats
    kv_cache: FormatName
    kv_rope: FormatName
    kv_index: FormatName | None = None
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
    date: Date | None = None
    columns: dict[str, str]
    rows: list[list[Measured]]
    definitions: dict[str, Text] = {}

    @model_validator(mode="after")
    def _rectangular(self) -> Measurements:
        for name, unit in self.columns.items():
            try:
                units.dimensions(unit)
            except ValueError as error:
                raise Misplaced(str(error), "columns", name) from None
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise Misplaced(f"row {number} has {len(row)} numbers, "
                                f"expected {len(self.columns)}", "rows", number - 1)
        return self

    def column(self, name: str) -> list[float]:
        """One column in SI units."""
        index = list(self.columns).index(name)
        unit = self.columns[name]
        return [row[index] * units.factor(unit) for row in self.rows]
