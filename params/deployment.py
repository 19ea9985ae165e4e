"""What a file of a deployment may hold: formats, precisions, scenarios, measured results."""

from __future__ import annotations

import math
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
from params.hardware import Dtype
from params.values import (
    AnyQuantity,
    Bytes,
    Count,
    CountOrZero,
    Date,
    Flag,
    Kind,
    Length,
    Misplaced,
    Requests,
    Share,
    SourceKey,
    Text,
    Tokens,
    Whole,
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


class Multiply(Entry):
    """What the matrix unit multiplies, by class of tensors: a dtype, which a device has a peak of.

    It is not how weights are stored: 4-bit weights may be widened to 16 bits first. ``core`` is
    the attention core, scores (QK) and their product with the values (PV).
    """

    source: SourceKey
    kind: Kind
    date: Date | None = None
    note: Text | None = None
    attention: Dtype
    core: Dtype
    dense_mlp: Dtype
    shared_expert: Dtype
    routed_expert: Dtype
    router: Dtype
    head: Dtype

    @property
    def dtypes(self) -> dict[str, str]:
        """Class of tensors -> dtype, in the order of the fields."""
        return {name: getattr(self, name) for name, field in type(self).model_fields.items()
                if field.annotation == Dtype}


class Checkpoint(Entry):
    """A published checkpoint of a model in a precision, and the size of its weight files [B]."""

    model: ModelName
    size: Bytes


class Precision(Named):
    """Which format stores what (weights by class, cache, activations, logits), what is multiplied.

    ``kv_index`` is the format of the keys that an indexer caches, ``kv_cache`` where it is absent.
    A deployment varies one part by an override: ``precision.kv_cache=fp8-latent128`` (656 bytes of
    a latent with its rotary key), ``precision.kv_cache=fp8`` with ``precision.kv_rope=fp8`` (576),
    ``precision.kv_cache=int8-latent48``, ``precision.multiply.core=fp8``.
    """

    weights: WeightFormats
    multiply: Multiply
    kv_cache: FormatName
    kv_rope: FormatName
    kv_index: FormatName | None = None
    activation: FormatName
    logit: FormatName
    checkpoints: list[Checkpoint] = []


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
    """What is asked of a deployment, and how its engine is driven.

    ``requests`` are sent at once, of which ``concurrency`` are in flight (absent: all of them);
    ``draft_tokens`` are proposed per request and step (absent: none).
    """

    concurrency: Requests
    requests: Requests | None = None
    draft_tokens: CountOrZero | None = None
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
        if self.requests is not None and self.requests.value < self.concurrency.value:
            raise ValueError("'requests' is less than concurrency")
        return self


class Offload(Entry):
    """Routed experts that the host processors store and compute.

    Attributes:
        routed_experts: share of the routed experts on the host [1].
        format: how the host stores them.
        hosts: processors that compute them [1].
        host: the processor; absent, that of the node.
    """

    routed_experts: Share
    format: FormatName
    hosts: Count
    host: DeviceName | None = None


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
    """A deployment as written: names of catalogue entries, parallelism, workload, claims.

    ``graphs`` says whether decode runs as a captured graph, else operator by operator;
    ``scheduling`` whether a step may hold prompts and decodes, or prompts go first.
    ``mechanisms`` holds what is known of this deployment in place of its device's priors, and how
    its engine works (``params.physics.SWITCHES``), by input symbol.
    """

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
    offload: Offload | None = None
    graphs: Flag = True
    scheduling: Literal["mixed", "prefill-first"] = "mixed"
    mechanisms: dict[str, AnyQuantity] = {}
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


class Suspect(Entry):
    """Rows that are shown, but that nothing is fitted to or judged by, and why.

    ``rows``: numbers of rows from 1, or columns with the values that such rows have, as written.
    """

    rows: list[Whole] | dict[str, list[Measured]]
    reason: Text


class PeerPrediction(Entry):
    """What another tool predicts for a row (from 1) of the table: ``metric`` is its column."""

    tool: str
    metric: str
    row: Whole = 1
    value: AnyQuantity


class Measurements(Named):
    """A table of measured results of one system: columns with units, rows of numbers.

    A cell that the source leaves empty is ``null``. ``definitions`` says what a column means in its
    source; one that is computed from others says how. ``peer_predictions`` are not measurements.
    ``unequal`` are numbers of rows (from 1) whose requests have many lengths, of which only the
    mean is stated; ``limited_by_client`` of those where the client holds requests back, so that
    waiting for a place does not count.
    """

    source: SourceKey
    kind: Literal["measured"]
    date: Date | None = None
    columns: dict[str, str]
    rows: list[list[Measured | None]]
    definitions: dict[str, Text] = {}
    suspect: list[Suspect] = []
    unequal: list[Whole] = []
    limited_by_client: list[Whole] = []
    peer_predictions: list[PeerPrediction] = []

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

    @model_validator(mode="after")
    def _named(self) -> Measurements:
        """What is marked or predicted is there."""
        for number, suspect in enumerate(self.suspect):
            at = ("suspect", number, "rows")
            if isinstance(suspect.rows, list):
                if lost := [row for row in suspect.rows if row > len(self.rows)]:
                    raise Misplaced(f"there is no row {lost[0]}, the table has {len(self.rows)}",
                                    *at)
                continue
            if unknown := [name for name in suspect.rows if name not in self.columns]:
                raise Misplaced(f"there is no column '{unknown[0][:60]}', expected one of "
                                f"{', '.join(self.columns)}", *at)
            chosen = [self.rows[row - 1] for row in self._rows_of(suspect)]
            for name, values in suspect.rows.items():
                held = {row[list(self.columns).index(name)] for row in chosen}
                if missing := [value for value in values if value not in held]:
                    raise Misplaced(f"no row that it names has {name} {missing[0]:g}", *at, name)
        for name in ("unequal", "limited_by_client"):
            if lost := [row for row in getattr(self, name) if row > len(self.rows)]:
                raise Misplaced(f"there is no row {lost[0]}, the table has {len(self.rows)}", name)
        for number, peer in enumerate(self.peer_predictions):
            there = ("peer_predictions", number)
            if peer.metric not in self.columns:
                raise Misplaced(f"there is no column '{peer.metric[:60]}', expected one of "
                                f"{', '.join(self.columns)}", *there, "metric")
            if peer.row > len(self.rows):
                raise Misplaced(f"there is no row {peer.row}, the table has {len(self.rows)}",
                                *there, "row")
            if peer.value.unit != units.si(self.columns[peer.metric]):
                raise Misplaced(f"'{peer.value.written}' has the wrong unit, '{peer.metric}' is in "
                                f"{self.columns[peer.metric]}", *there, "value")
        return self

    def _rows_of(self, suspect: Suspect) -> list[int]:
        """Numbers of the rows that an entry names, from 1."""
        if isinstance(suspect.rows, list):
            return list(suspect.rows)
        wanted = [(list(self.columns).index(name), values)
                  for name, values in suspect.rows.items()]
        return [number for number, row in enumerate(self.rows, 1)
                if all(row[index] in values for index, values in wanted)]

    @property
    def suspect_rows(self) -> dict[int, Text]:
        """Number of a suspect row, from 1 -> why; of several reasons the first."""
        found: dict[int, Text] = {}
        for suspect in self.suspect:
            found |= {row: suspect.reason for row in self._rows_of(suspect) if row not in found}
        return dict(sorted(found.items()))

    def column(self, name: str) -> list[float]:
        """One column in SI units; a cell that is empty is not a number (nan)."""
        index = list(self.columns).index(name)
        one = units.factor(self.columns[name])
        return [math.nan if (cell := row[index]) is None else cell * one for row in self.rows]
