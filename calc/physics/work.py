"""Operations and bytes of a step by class of operators, and experts that are off the cards.

Classes sum the rows of notebooks/compute.md, section The operator table. Operations [FLOP] and
bytes [B] are of one rank over all layers of all pipeline stages, for one micro-batch. Experts that
the host computes, or that cards load when they are chosen, take time [s] of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from calc.physics.arrays import (
    Inputs,
    Number,
    anywhere,
    either,
    is_absent,
    maximum,
    minimum,
    once,
    plus,
    scaled,
    select,
)
from calc.physics.experts import (
    distinct_experts,
    expert_shards,
    expert_slices,
    fullest,
    moved_rows,
    ranks_in_step,
    routed_ranks,
    shared_apart,
    streaming,
)
from calc.physics.kv_cache import (
    Cache,
    head_rows,
    index_parts,
    positions_of_entries,
    positions_of_layers,
    score_bytes,
    selection_bytes,
    sparse_prompts,
)
from calc.physics.memory import Weights, after_layers
from calc.physics.parameters import (
    CSA,
    GQA,
    MLA,
    Parameters,
    attention_layers,
    core_width,
    kv_share,
    latent_projections,
    latent_share,
    layer_halves,
    linear_bytes,
    linear_flops,
    linear_widths,
    projections_width,
    prompt_ranks,
    residual_widths,
    up_projections,
    window_heads,
    window_layers,
)


@dataclass(frozen=True, eq=False)
class Composition:
    """Composition of a step on one data-parallel rank.

    Attributes:
        tokens: that pass through the layers [token].
        logit_rows: tokens whose logits are computed [token].
        attended, in_window, indexed: positions that the core multiplies, summed over tokens, in a
            layer without and with a window, and positions that an indexer scores [token].
        read, read_in_window, read_keys: cached positions read, summed over requests [token].
        expanded: cached tokens whose keys and values are expanded again, prefill of MLA [token].
        absorbed: 1 where MLA absorbs its up-projections: decode, and sparse prefill; else 0, or
            the share of the chunks of a prompt that do.
        decoding: whether it is a decode step.
        core_missing: rows that only fill the tiles of prompts in the core of prefill [token].
        group_tokens: of all ranks that share the experts; None if each has as many [token].
        busiest_tokens: of the one of them that has the most; None likewise [token].
        dealt: ranks over which its tokens are dealt, of which it is one's part [1].
    """

    tokens: Number
    logit_rows: Number
    attended: Number
    in_window: Number
    indexed: Number
    read: Number
    read_in_window: Number
    read_keys: Number
    expanded: Number
    absorbed: Number
    decoding: bool
    core_missing: Number = 0
    group_tokens: Number | None = None
    busiest_tokens: Number | None = None
    dealt: Number = 1

    def part(self, parts: Number) -> Composition:
        """One of so many equal parts of the step, a micro-batch."""
        if not anywhere(parts != 1):
            return self
        return replace(self, **{field.name: value / parts for field in fields(self)
                                if field.name not in ("absorbed", "decoding", "dealt")
                                and (value := getattr(self, field.name)) is not None})

    def own(self, q: Inputs) -> Composition:
        """A rank's heads of all tokens, or all heads of its part; MLA expands others' keys too."""
        ranks = 1 if self.decoding else prompt_ranks(q)
        if not anywhere(ranks != 1):
            return self
        parts = {name: getattr(self, name) / ranks
                 for name in ("tokens", "attended", "in_window", "indexed", "core_missing")}
        expanded = self.expanded + (1 - self.absorbed) * (self.tokens - parts["tokens"])
        return replace(self, **parts, expanded=expanded, dealt=ranks)

    def together(self, q: Inputs) -> Number:
        """Tokens that meet the experts, of all ranks that share them [token]."""
        if self.group_tokens is not None:
            return self.group_tokens
        return self.tokens * ranks_in_step(q)

    def of_shared(self, q: Inputs) -> Number:
        """Tokens that a shared expert of a rank multiplies [token]: its own, or a part of all."""
        return either(q.shared_expert_ranks > 0, lambda: shared_apart(q, self.together(q)),
                      lambda: self.tokens)

    def cut(self, q: Inputs) -> Number:
        """Ranks over which the heads are cut [1]: fewer where tokens are dealt."""
        return either(self.dealt > 1, lambda: q.tensor_parallel / self.dealt,
                      lambda: q.tensor_parallel)

    def sharing_ranks(self, q: Inputs) -> Number:
        """Ranks whose heads all attend to this rank's part of a cache [1].

        In decode, and in prompts of sparse attention, unless they gather the cache.
        """
        if self.decoding or not anywhere(q.decode_context_parallel > 1):
            return q.decode_context_parallel if self.decoding else 1
        return select(sparse_prompts(q, self) & (q.prompt_rows_gathered <= 0),
                      q.decode_context_parallel, 1)

    def compared(self, q: Inputs) -> Number:
        """Scores of an indexer that a rank chooses among, summed over its tokens [token].

        Those of the keys that it keeps; of split keys once more, the best of every rank.
        """
        parts = index_parts(q)
        best = either(parts > 1, lambda: self.tokens * self.absorbed * parts * q.index_topk,
                      lambda: 0)
        return plus(self.indexed / parts, best)

    def exchanged(self) -> Number:
        """Tokens of the rank that an exchange waits for: its port carries them all [token]."""
        return self.tokens if self.busiest_tokens is None else self.busiest_tokens

    def sent(self, q: Inputs) -> tuple[Number, Number]:
        """Tokens that a rank exchanges, in the mean [token], and the most over that mean [1]."""
        if self.group_tokens is None and self.busiest_tokens is None:
            return self.tokens, 1
        mean = self.together(q) / ranks_in_step(q)
        return mean, self.exchanged() / select(mean > 0, mean, 1)


@dataclass(frozen=True, eq=False)
class Work:
    """Operations [FLOP] and bytes [B] of one class of operators."""

    flops: Number
    bytes: Number


@dataclass(frozen=True, eq=False)
class PerToken:
    """Work of a class of operators for any number of tokens.

    Attributes:
        flops: for a token [FLOP/token].
        stored: bytes of weights, however many tokens there are [B].
        moved: bytes of activations of a token [B/token].
    """

    flops: Number
    stored: Number
    moved: Number

    def of(self, tokens: Number) -> Work:
        """Operations and bytes for so many tokens."""
        return Work(self.flops * tokens, self.stored + self.moved * tokens)


@dataclass(frozen=True, eq=False)
class Attention(Work):
    """Projections of attention, and what is of them alone.

    Attributes:
        projections: elements of the matrices on this rank, a layer [1].
        expanded_flops: of the expansion of cached tokens, in ``flops`` too [FLOP].
        up: elements of MLA's up-projections from the latent vector, mean layer [1].
    """

    projections: Number
    expanded_flops: Number
    up: Number


@dataclass(frozen=True, eq=False)
class Core(Work):
    """The attention core.

    Attributes:
        head_rows: rows of heads that are multiplied for a token [1].
        row_bytes: of the rows of a token, all layers [B/token].
    """

    head_rows: Number
    row_bytes: Number


@dataclass(frozen=True, eq=False)
class Routed(Work):
    """Routed experts that the device multiplies, and how tokens meet them.

    Attributes:
        tokens: that share the experts [token].
        met: of them, at the slowest rank as if all had its load [token].
        hit: distinct experts of a layer that they choose [1].
        read: experts of a layer that the slowest rank's share stands for [1].
        rows: rows of activations at the slowest rank, a layer [token].
        inside: width of an expert on this rank [1].
        weights: elements of the experts' matrices that are read, all layers [1].
        slowest: load of the fullest rank over the mean [1].
    """

    tokens: Number
    met: Number
    hit: Number
    read: Number
    rows: Number
    inside: Number
    weights: Number
    slowest: Number

    def rows_of_one(self, q: Inputs) -> Number:
        """Rows of one of the experts that are read [token]."""
        return self.met * q.num_experts_per_tok / maximum(self.read, 1)


def attention_work(attention: str, q: Inputs, n: Parameters, w: Weights, batch: Composition
                   ) -> Attention:
    """Projections of attention [FLOP], [B]: of MLA as stored, or absorbed.

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        n: the model's parameters.
        w: weights by stage [B].
        batch: composition of the micro-batch, the rank's own part.

    Source: notebooks/compute.md, section Projections of attention.
    """
    t, layers, width = batch.cut(q), q.num_hidden_layers, q.activation_element_bytes
    up = up_projections(q) / t if attention == MLA else 0
    projections = (n.attention_divided_parameters / t + kv_share(q, n, t)
                   + n.attention_replicated_parameters)
    pooled = batch.dealt * n.compressor_parameters  # on every rank, of all
    projected = q.multiply_add_flops * layers * plus(projections, pooled) * batch.tokens
    attending = attention_layers(q)
    again = q.multiply_add_flops * attending * up * batch.expanded
    beyond = 0 if batch.decoding else w.context_weights_per_layer
    stored = layers * (w.attention_weights_per_layer + beyond)
    # absorbed up-projections are kept as wide as activations
    stored = stored + batch.absorbed * attending * up * (width - q.attention_weight_bytes)
    scattered = q.context_output_cut * (batch.dealt - 1) * q.hidden_size  # sums for other ranks
    per_token = plus(projections_width(attention, q, t, batch.absorbed), attending * scattered)
    if anywhere(q.linear_layers > 0):
        per_token = per_token + q.linear_layers * (
            2 * q.hidden_size + linear_widths(q)[0] / t)
    return Attention(plus(projected, again), stored + per_token * width * batch.tokens,
                     projections, again, attending / layers * up)


def core_work(attention: str, q: Inputs, c: Cache, batch: Composition) -> Core:
    """Scores and their product with the values: operations [FLOP] and bytes [B].

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        c: cache per token [B/token].
        batch: composition of the micro-batch.

    Source: notebooks/compute.md, section The core: scores and values.
    """
    layers, width = attention_layers(q), q.activation_element_bytes
    # ranks that share a cache: the heads of all of them at a part of the positions each
    shared = batch.sharing_ranks(q)
    heads = scaled(q.num_attention_heads / batch.cut(q), shared)
    of_head = core_width(attention, q, batch.absorbed)
    rows = heads if attention == GQA else head_rows(q, batch)
    multiplied, own_width = rows * of_head, heads * of_head
    if attention == CSA:
        met, passed = positions_of_entries(q, batch)
        of_token = layers * own_width * width
        return Core(q.multiply_add_flops * multiplied * met,
                    c.kv_entry_bytes * passed + of_token * batch.tokens, rows, of_token)
    (met, in_window), (passed, passed_in_window) = positions_of_layers(q, batch)
    met_by_heads, in_layers = multiplied * met, layers * own_width
    if not is_absent(in_window):
        windows = multiplied
        if attention == GQA:
            own = window_heads(q)
            windows = scaled(own.query / batch.cut(q), shared) * own.pair
            in_layers = in_layers + window_layers(q) * (windows - own_width)
        met_by_heads = met_by_heads + windows * in_window
    expanded = batch.expanded if attention == MLA else 0
    flops, of_token = q.multiply_add_flops * met_by_heads / shared, in_layers * width
    entries = plus(c.kv_entry_bytes * passed, c.kv_window_entry_bytes * passed_in_window)
    moved = entries / shared + of_token * plus(batch.tokens, expanded)
    if anywhere(q.linear_layers > 0):
        flops, moved = flops + linear_flops(q, batch), moved + linear_bytes(q, batch)
    if not batch.decoding:
        moved = plus(moved, score_bytes(q, met, in_window))
    return Core(flops, moved, rows, of_token)


def index_work(q: Inputs, c: Cache, batch: Composition) -> Work:
    """Scores of an indexer with the keys of a rank: operations [FLOP] and bytes of keys [B].

    Args:
        q: input symbols as attributes.
        c: cache per token [B/token].
        batch: composition of the micro-batch.

    Source: notebooks/compute.md, section Sparse attention.
    """
    if not anywhere(q.indexer_layers > 0):
        return Work(0.0, 0.0)
    per_position = q.multiply_add_flops * q.index_n_heads * q.index_head_dim
    keys = q.indexer_layers / q.compress_ratio / index_parts(q)
    return Work(keys * per_position * batch.indexed,
                keys * c.kv_index_bytes_per_token * batch.read_keys)


@once
def dense_mlp_work(q: Inputs, n: Parameters) -> PerToken:
    """The MLPs of the leading dense layers: operations [FLOP] and bytes [B].

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/compute.md, section Dense networks, shared experts, router.
    """
    layers, parameters = q.first_k_dense_replace, n.dense_mlp_parameters / q.tensor_parallel
    activations = 2 * q.hidden_size + q.mlp_matrices * q.intermediate_size / q.tensor_parallel
    return PerToken(q.multiply_add_flops * layers * parameters,
                    layers * q.dense_mlp_weight_bytes * parameters,
                    layers * activations * q.activation_element_bytes)


@once
def shared_expert_work(q: Inputs, n: Parameters) -> PerToken:
    """The experts that every token passes, of a rank that has them [FLOP], [B].

    On ranks of their own each takes in its tokens by itself, elsewhere all together.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/compute.md, sections Dense networks, shared experts, router, and Shared
    experts on ranks of their own.
    """
    layers, parameters = n.moe_layers, n.shared_expert_parameters / q.tensor_parallel
    inside = q.n_shared_experts * q.moe_intermediate_size / q.tensor_parallel
    taken = select(q.shared_expert_ranks > 0, q.n_shared_experts, minimum(1, q.n_shared_experts))
    activations = 2 * taken * q.hidden_size + q.mlp_matrices * inside
    return PerToken(q.multiply_add_flops * layers * parameters,
                    layers * q.shared_expert_weight_bytes * parameters,
                    layers * activations * q.activation_element_bytes)


def routed_expert_work(q: Inputs, n: Parameters, batch: Composition) -> Routed:
    """The routed experts that the device itself multiplies, at its slowest rank [FLOP], [B].

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        batch: composition of the micro-batch.

    Source: notebooks/compute.md, section Routed experts.
    """
    k, d = q.num_experts_per_tok, q.routed_expert_hidden_size
    on_device, together = (1 - q.offloaded_share) * n.moe_layers, batch.together(q)
    parameters = on_device * n.routed_expert_parameters / expert_shards(q)
    hit = distinct_experts(q.n_routed_experts, k, together, q.routing_skew)
    slowest = fullest(q, routed_ranks(q), together)
    met = slowest * together
    rows = k / routed_ranks(q) * met
    inside = q.moe_intermediate_size / expert_slices(q)
    read = minimum(q.n_routed_experts, slowest * hit)
    weights = parameters * read
    flops = q.multiply_add_flops * parameters * k * met
    moved = (q.routed_expert_weight_bytes * weights
             + on_device * (2 * d + q.mlp_matrices * inside) * q.activation_element_bytes * rows)
    return Routed(flops, moved, together, met, hit, read, rows, inside, weights, slowest)


@once
def router_work(q: Inputs, n: Parameters) -> PerToken:
    """The product that chooses experts, with undivided weights: operations [FLOP], bytes [B].

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/compute.md, section Dense networks, shared experts, router.
    """
    d, count, latent = q.hidden_size, q.n_routed_experts, latent_projections(q)
    share = latent_share(q)
    moved = d + count + select(latent > 0, 2 * (share * d + q.routed_expert_hidden_size), 0)
    return PerToken(
        q.multiply_add_flops * n.moe_layers * (d * count + share * latent),
        n.moe_layers * q.router_weight_bytes * (n.router_parameters - (1 - share) * latent),
        n.moe_layers * moved * q.activation_element_bytes)


@once
def head_work(q: Inputs, w: Weights) -> tuple[PerToken, Number]:
    """The output head, by the row of logits [FLOP], [B], and its columns on this rank [1].

    Args:
        q: input symbols as attributes.
        w: weights by stage [B].

    Source: notebooks/compute.md, section The output head.
    """
    d = q.hidden_size
    columns = w.head_matrix_weights / (q.head_weight_bytes * d)
    return PerToken(q.multiply_add_flops * d * columns, w.head_matrix_weights,
                    d * q.activation_element_bytes + columns * q.logit_element_bytes), columns


def vector_bytes(q: Inputs, n: Parameters, batch: Composition, routed: Routed) -> Number:
    """Bytes that the vector unit reads and writes [B].

    Norms with their residual, or several streams; gates of the MLPs; rows of the experts,
    however often; scores that an indexer chooses from. Of a rank with routed experts.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        batch: composition of the micro-batch.
        routed: how tokens meet the routed experts.

    Source: notebooks/compute.md, section What the vector unit does.
    """
    t, d, tokens, own = q.tensor_parallel, q.hidden_size, batch.tokens, batch.own(q)
    inside = q.n_shared_experts * q.moe_intermediate_size / t
    shared_inside = select(q.shared_expert_ranks > 0, 0, inside)
    around = (layer_halves(q) * residual_widths(q) / own.dealt + 2) * d
    of_token = around + q.mlp_matrices * (
        n.moe_layers * shared_inside + q.first_k_dense_replace * q.intermediate_size / t)
    moved = of_token * q.activation_element_bytes * tokens + routed_row_bytes(q, n, routed)
    return plus(moved + after_layers(q, n), selection_bytes(q, own.compared(q)))


def routed_row_bytes(q: Inputs, n: Parameters, routed: Routed) -> Number:
    """Bytes of rows of routed experts in :func:`vector_bytes` [B], proportional to all tokens.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        routed: how tokens meet the routed experts.

    Source: notebooks/compute.md, section What the vector unit does.
    """
    of_row = n.moe_layers * (1 - q.offloaded_share) * (
        q.mlp_matrices * routed.inside + 2 * q.routed_expert_hidden_size)
    return of_row * q.activation_element_bytes * moved_rows(q, routed.rows, routed.tokens)


@dataclass(frozen=True, eq=False)
class Distances:
    """Time to get one expert to where it is multiplied, by where it lies [s]."""

    expert_read_time: Number
    expert_link_time: Number
    expert_host_time: Number
    expert_storage_time: Number


def distances(q: Inputs, n: Parameters) -> Distances:
    """One expert out of device memory, over the host links, out of host memory and of storage [s].

    A rank gets its part, over a link of its own; host memory serves all ranks of the deployment at
    once, and storage all of a node. The last three are 0 where nothing is fetched.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/latency.md, section Experts that are fetched.
    """
    part = n.routed_expert_parameters / expert_shards(q)
    stored = select(q.fetched_share > 0, part * q.offloaded_weight_bytes, 0)
    devices = q.tensor_parallel * q.pipeline_parallel * q.data_parallel
    return Distances(
        part * q.routed_expert_weight_bytes
        / (q.memory_bandwidth * streaming(q)),
        stored / (q.host_link_bandwidth * q.host_link_efficiency),
        stored * devices / (q.host_memory_bandwidth * q.host_stream_efficiency),
        stored * minimum(q.devices_per_node, devices) / q.storage_bandwidth)


@dataclass(frozen=True, eq=False)
class Missing:
    """Experts of a layer that a step has to load [1], and the time of loading, all layers [s]."""

    missing_experts: Number
    storage_experts: Number
    fetch_time: Number


def missing(q: Inputs, n: Parameters, read: Number) -> Missing:
    """The chosen experts that the cards do not have, and how long it takes to load them.

    A level supplies what is not found above it: at least what does not fit there, at most what it
    keeps itself. Links, host memory and storage work at the same time, the slowest decides.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        read: experts of a layer that the group of the slowest rank reads, wherever they are [1].

    Source: notebooks/latency.md, section Experts that are fetched.
    """
    if not anywhere(q.fetched_share > 0):
        return Missing(0.0, 0.0, 0.0)
    times = distances(q, n)
    elsewhere = q.fetched_share * q.n_routed_experts
    on_cards, stored = q.n_routed_experts - elsewhere, q.stored_share * elsewhere
    lacking = minimum(
        elsewhere, maximum((1 - q.device_hit_share) * read, read - on_cards))
    from_storage = minimum(
        stored, maximum((1 - q.host_hit_share) * lacking, lacking - (elsewhere - stored)))
    slowest = maximum(
        lacking * times.expert_link_time,
        maximum((lacking - from_storage) * times.expert_host_time,
                   from_storage * times.expert_storage_time))
    return Missing(lacking, from_storage, (1 - q.offloaded_share) * n.moe_layers * slowest)


def offload_time(q: Inputs, n: Parameters, batch: Composition, routed: Routed) -> Number:
    """Time of the experts that the host computes [s].

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        batch: composition of the micro-batch.
        routed: how its tokens meet the experts.

    Source: notebooks/latency.md, section Experts on the host.
    """
    def offloaded() -> Number:
        flops = (q.offloaded_share * q.multiply_add_flops * n.moe_layers
                 * n.routed_expert_parameters * q.num_experts_per_tok * routed.tokens)
        # a core multiplies what it has loaded: the two do not overlap
        return (flops / (q.host_peak * q.host_gemm_efficiency)
                + host_reads(q, n, batch.tokens, _read_by_groups(q, routed))
                + n.moe_layers * q.host_sync)

    return either(q.offloaded_share > 0, offloaded, lambda: 0)


def host_reads(q: Inputs, n: Parameters, tokens: Number, read: Number) -> Number:
    """Time to read experts in host memory, and to hand hidden states there and back [s].

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        tokens: of a rank [token].
        read: experts of a layer that are chosen, wherever they are [1].

    Source: notebooks/latency.md, section Experts on the host.
    """
    weights = q.offloaded_share * n.moe_layers * read * n.routed_expert_parameters
    # a token travels if any of its experts is on the host
    travels = 1 - (1 - q.offloaded_share) ** q.num_experts_per_tok
    moved = (2 * travels * n.moe_layers * tokens * q.routed_expert_hidden_size
             * q.activation_element_bytes)
    return (weights * q.offloaded_weight_bytes
            / (q.host_memory_bandwidth * q.host_stream_efficiency)
            + moved / q.host_link_bandwidth)


def _read_by_groups(q: Inputs, routed: Routed) -> Number:
    """Experts of a layer that the host reads, whole groups of tokens and the rest one by one [1].

    Source: notebooks/latency.md, section Experts on the host.
    """
    limit = select(q.host_group_tokens > 0, q.host_group_tokens, 1)
    groups = np.floor(routed.tokens / limit)
    per_group, rest = (distinct_experts(q.n_routed_experts, q.num_experts_per_tok, tokens,
                                    q.routing_skew)
                   for tokens in (limit, maximum(0, routed.tokens - groups * limit)))
    return select(q.host_group_tokens > 0, groups * per_group + rest, routed.hit)
