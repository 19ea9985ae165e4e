"""The three kinds of steps: what each is made of, and one derivation for all of them.

A quantity ``{phase}_x`` has the same formula in a decode step, in a chunk of one prompt and in a
chunk of the rest of a burst; only the composition differs. A page derives it once, as a function
of the phase, and prints the formula of one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import sympy
from sympy import Min

from notebooks.derive.formulas.symbols import EULER, sym, symbol
from notebooks.derive.steps.rows import where

PHASES = ("decode", "prefill", "burst")
CLASSES = ("attention", "core", "index", "dense_mlp", "shared_expert", "routed_expert", "router",
           "head")


@dataclass(frozen=True)
class Composition:
    """What one micro-batch of a step is made of, on one data-parallel rank.

    Attributes:
        tokens: that pass through the layers [token].
        rows: tokens whose logits are computed [token].
        attended, in_window: positions that the core multiplies, summed over the tokens, in a
            layer without and with a window [token].
        head_rows: rows of heads that it multiplies for each of them [1].
        indexed, read_keys: positions that a token sees, and cached ones, on this rank, summed over
            the tokens and over the requests [token].
        scored, scored_keys: of these, those whose index keys are on this rank [token].
        compared: scores that an indexer chooses among, summed over the tokens [token].
        read, read_in_window: cached positions whose entries are read in a layer without and with a
            window, summed over the requests [token].
        expanded: cached positions whose keys and values MLA expands again, in prefill [token].
        absorbed: 1 where MLA absorbs its up-projections instead of expanding, else 0 [1].
        sharing_ranks: ranks whose heads all attend to this rank's part of the cache [1].
        core_missing: rows that only fill the tiles of prompts in the core of prefill [token].
        decoding: whether it is a decode step.
        dealt: ranks over which the tokens are dealt, of which it is one's part [1].
    """

    tokens: sympy.Expr
    rows: sympy.Expr
    attended: sympy.Expr
    in_window: sympy.Expr
    head_rows: sympy.Expr
    indexed: sympy.Expr
    read: sympy.Expr
    read_in_window: sympy.Expr
    read_keys: sympy.Expr
    scored: sympy.Expr
    scored_keys: sympy.Expr
    compared: sympy.Expr
    expanded: sympy.Expr
    absorbed: sympy.Expr
    sharing_ranks: sympy.Expr
    core_missing: sympy.Expr
    decoding: bool
    dealt: sympy.Expr = sympy.S.One

    def own(self) -> Composition:
        """What a rank attends for: its heads of all tokens, or all heads of its part of prompts.

        Keys and values that MLA expands are then those of the other ranks' tokens too.
        """
        if self.decoding:
            return self
        ranks = sym.prompt_ranks
        others = (1 - self.absorbed) * self.tokens * (1 - 1 / ranks)
        shares = {name: getattr(self, name) / ranks for name in (
            "tokens", "attended", "in_window", "indexed", "scored", "compared", "core_missing")}
        return replace(self, expanded=self.expanded + others, dealt=ranks, **shares)

    @property
    def cut(self) -> sympy.Expr:
        """Ranks among which the heads that a rank attends with are divided [1]."""
        return sym.tensor_parallel / self.dealt


def of(phase: str, name: str) -> sympy.Symbol:
    """The symbol of a quantity of a phase: ``of("prefill", "head_flops")``."""
    return symbol(f"{phase}_{name}")


def composition(phase: str) -> Composition:
    """The composition of a step in the symbols of ``params/symbols.yml``.

    Raises DerivationError for a phase that is not one of ``PHASES``.
    """
    return _decode() if phase == "decode" else _chunk(phase)


def index_parts() -> sympy.Expr:
    """Ranks over which the index keys of a request are split [1]."""
    return sympy.Piecewise((1, sym.index_replicated > 0), (sym.decode_context_parallel, True))


def split_keys() -> sympy.Expr:
    """More than 0 where an indexer picks and its keys are split over several ranks."""
    return sym.index_topk * (1 - sym.index_replicated) * (sym.decode_context_parallel - 1)


def _compared(scored: sympy.Expr, tokens: sympy.Expr) -> sympy.Expr:
    """Scores to choose among [token]: of split keys once more, the best of every rank."""
    best = sym.decode_context_parallel * sym.index_topk * tokens
    return scored + where(split_keys() > 0, best)


def score_bytes(step: Composition) -> sympy.Expr:
    """Bytes that a step writes and reads of a score, of one head, token and position [B].

    None in decode, whose kernel is fused.
    """
    if step.decoding:
        return sympy.Integer(0)
    return where(sym.prefill_unfused > 0, sym.score_traffic)


def _decode() -> Composition:
    """Each request's next token and its drafts; the drafts of a request share what is read.

    Positions are those of this rank's part of the cache.
    """
    parts = sym.micro_batches
    held = parts * sym.decode_context_parallel
    cached, tokens = sym.decode_batch / held, sym.decode_tokens / held
    new = sym.decode_tokens / parts
    seen = sym.fullest_cache * sym.decode_context_tokens
    picked, multiplied, in_window = (
        mean * _of_fullest(limit, mean) for mean, limit in (
            (sym.decode_attended_tokens, sym.index_topk * sym.compress_ratio),
            (sym.decode_multiplied_tokens, sym.index_topk * sym.compress_ratio),
            (sym.decode_window_tokens, sym.sliding_window)))
    of_rank = held / parts / index_parts()  # index keys that it has over its part of the entries
    indexed = sympy.Piecewise((tokens * seen, sym.index_topk > 0), (0, True))
    return Composition(
        tokens=new, rows=new, attended=tokens * multiplied, in_window=tokens * in_window,
        head_rows=sym.decode_head_rows, indexed=indexed, read=cached * picked,
        read_in_window=cached * in_window, read_keys=cached * seen,
        scored=of_rank * indexed, scored_keys=of_rank * cached * seen,
        compared=_compared(of_rank * indexed, new),
        expanded=sympy.Integer(0), absorbed=sympy.Integer(1),
        sharing_ranks=sym.decode_context_parallel, core_missing=sympy.Integer(0), decoding=True)


def _of_fullest(limit: sympy.Symbol, mean: sympy.Symbol) -> sympy.Expr:
    """Positions of the fullest rank over the mean, where a request has a limit of them.

    A longer context takes no more than the limit; more requests, which a measured excess holds, do.
    """
    within = sympy.Min(sym.fullest_cache, limit / mean)
    return sympy.Piecewise((sympy.Max(sym.kv_imbalance, within), limit > 0),
                           (sym.fullest_cache, True))


def _chunk(phase: str) -> Composition:
    """The mean chunk of a phase, of one prompt or of several."""
    of_step = of(phase, "tokens") / sym.micro_batches
    cached = of_step / sym.prefill_tokens * sym.prefill_cached
    of_all = of(phase, "tokens") / sym.prefill_tokens * sym.prefill_cached
    found = sympy.ceiling(
        (sym.absorbed_prefix_tokens - sym.cached_tokens) / sym.max_num_batched_tokens)
    none = sympy.Piecewise((1, sym.cached_tokens <= 0), (0, True))  # of what the first chunk finds
    chunks = sym.new_tokens / sym.prefill_tokens
    few = sympy.Piecewise(
        (sympy.Max(0, sympy.Min(chunks, found) - none) / chunks,
         sym.new_tokens > sym.prefill_tokens),
        (1, sym.cached_tokens * (sym.absorbed_prefix_tokens - of_all) > 0), (0, True))
    absorbed = sympy.Piecewise((sym.prefill_absorbed, sym.index_topk > 0),
                               (sympy.Max(few, sym.prefill_absorbed), True))
    of_prompt = sympy.Min(sym.new_tokens, of(phase, "tokens"))
    missing = of_step * sympy.Max(sym.prefill_tile_rows / of_prompt - 1, 0)
    indexed, keys = absorbed * of_step * sym.prefill_context_tokens, absorbed * cached
    scored, shared = indexed / index_parts(), sharing_prompts()
    return Composition(
        tokens=of_step, rows=of_step / sym.new_tokens,
        attended=of_step * sym.prefill_multiplied / shared,
        in_window=of_step * sym.prefill_in_window / shared, head_rows=of(phase, "head_rows"),
        indexed=indexed / shared, read=cached / shared, read_in_window=cached / shared,
        read_keys=keys / shared, scored=scored, scored_keys=keys / index_parts(),
        compared=_compared(scored, absorbed * of_step), expanded=(1 - absorbed) * cached,
        absorbed=absorbed, sharing_ranks=shared, core_missing=missing, decoding=False)


def sharing_prompts() -> sympy.Expr:
    """Ranks whose heads all attend to this rank's part of a cache in steps with prompts [1]."""
    picking = sym.index_topk * sym.prefill_absorbed * (1 - sym.prompt_rows_gathered) > 0
    return sympy.Piecewise((sym.decode_context_parallel, picking), (1, True))


# the largest of n is about what one of them exceeds with probability exp(-gamma)/n, Gumbel's mean
LARGEST = sympy.exp(-EULER)
TUKEY = sympy.Rational(491, 100), sympy.Rational(14, 100)


def normal_quantile(exceeded: sympy.Expr) -> sympy.Expr:
    """What a standard normal variable exceeds with a probability, in Tukey's form; at least 0."""
    scale, power = TUKEY
    return sympy.Max(0, scale * ((1 - exceeded) ** power - exceeded ** power))


def normal_tail(z: sympy.Expr) -> sympy.Expr:
    """Probability that a standard normal variable exceeds so many deviations [1].

    Bowling, Khasawneh, Kaewkuekool and Cho, JIEM 2 (2009) 114-127: within 1.5e-4.
    """
    z = sympy.Max(-8, sympy.Min(8, z))  # nothing lies beyond
    linear, cubic = sympy.Rational(15976, 10**4), sympy.Rational(7056, 10**5)
    return 1 / (1 + sympy.exp(linear * z + cubic * z**3))


@dataclass(frozen=True)
class More:
    """What a step has to do besides, of all micro-batches; less where it is negative.

    Attributes:
        own: computation of the card, with that of experts [s].
        link: communication between cards [s].
        on_host: what the host computes or hands over [s].
        experts: of ``own``, that of routed experts [s].
        exchange: of ``link``, on the way to the experts and back [s].
        dispatch: of ``exchange``, on the way there [s].
    """

    own: sympy.Expr = sympy.S.Zero
    link: sympy.Expr = sympy.S.Zero
    on_host: sympy.Expr = sympy.S.Zero
    experts: sympy.Expr = sympy.S.Zero
    exchange: sympy.Expr = sympy.S.Zero
    dispatch: sympy.Expr = sympy.S.Zero


NOTHING = More()


def together(phase: str, names: Iterable[str]) -> sympy.Expr:
    """Times of these parts of a step, of all its micro-batches [s]."""
    return sym.micro_batches * sum(of(phase, f"{name}_time") for name in names)


def hidden(phase: str, more: More = NOTHING) -> sympy.Expr:
    """What runs beside something else: one micro-batch beside the other, host beside card [s].

    Args:
        phase: of ``PHASES``.
        more: what the step has to do besides.

    Source: notebooks/latency.md, sections Two micro-batches and One step.
    """
    there = together(phase, ("offload", "fetch"))
    link, on_host = of(phase, "communication_time") + more.link, there + more.on_host
    own = of(phase, "compute_time") - there - of(phase, "saved_time") + more.own
    at_experts = together(phase, ("router", "shared_expert", "routed_expert")) + more.experts
    exchange, dispatch = (together(phase, (name,)) + getattr(more, name)
                          for name in ("exchange", "dispatch"))
    # micro-batches take turns at the card, or one is at attention, the other at experts
    streams = Min(own, link, at_experts + exchange, own + link - at_experts - exchange)
    halves = sympy.Piecewise((streams, sym.unequal_streams > 0), (Min(own, link), True))
    shared, apart = together(phase, ("shared_expert",)), sym.shared_expert_ranks > 0
    ready = sympy.Piecewise((0, apart), (shared, True))  # without a token of others
    # of an expert's matrices, which have as many elements each
    last = (together(phase, ("routed_expert",)) + more.experts
            + where(apart, shared)) / sym.mlp_matrices
    alone = where(sym.single_batch_overlap > 0,
                  Min(ready, dispatch) + Min(last, exchange - dispatch))
    beside = together(phase, ("router", "routed_expert")) + more.experts
    between = sym.overlap_efficiency * sympy.Piecewise(
        (halves, sym.micro_batches > 1), (alone, True)) + Min(
            together(phase, ("second_stream",)), beside)
    return between + sym.host_overlap * Min(on_host, own + link - between)


def added(phase: str, more: More) -> sympy.Expr:
    """What the card takes longer for a step with more to do: less what of it is hidden [s].

    Args:
        phase: of ``PHASES``.
        more: what the step has to do besides.

    Source: notebooks/latency.md, section One step.
    """
    return (more.own + more.link + more.on_host
            - (hidden(phase, more) - of(phase, "hidden_time")))


def resource_times(phase: str) -> dict[str, sympy.Expr]:
    """What each resource of a step takes at its full rate, the others endlessly fast [s].

    Bytes over the bandwidth and operations over the peaks, of the card that reads and multiplies
    them; what is sent; what the host computes or hands over, and launches. No efficiency, tile,
    boundary or fixed cost of a kernel is in it.

    Args:
        phase: one of ``PHASES``.
    """
    own = [cls for cls in CLASSES if cls != "shared_expert"]
    apart = sym.shared_expert_ranks > 0  # on other cards

    def both(of_own: sympy.Expr, of_shared: sympy.Expr) -> sympy.Expr:
        return sym.micro_batches * (of_own + sympy.Piecewise((0, apart), (of_shared, True)))

    def computed(cls: str) -> sympy.Expr:
        return of(phase, f"{cls}_flops") / symbol(f"{cls}_peak")

    moved = sum((of(phase, f"{cls}_bytes") for cls in own), of(phase, "vector_bytes"))
    shared = of(phase, "shared_expert_bytes")
    return {
        "memory": both(moved / sym.memory_bandwidth, shared / sym.memory_bandwidth),
        "arithmetic": both(sum(map(computed, own)), computed("shared_expert")),
        "links": of(phase, "communication_time"),
        "host": sym.micro_batches * (of(phase, "offload_time") + of(phase, "fetch_time")),
        "launches": of(phase, "host_time")}


def step_floor(phase: str) -> sympy.Expr:
    """What no step is below [s]: its slowest resource, and the gap to the next step."""
    return sympy.Max(*resource_times(phase).values()) + _besides(phase)


def step_ceiling(phase: str) -> sympy.Expr:
    """What no step is above [s]: card, links and launches one after the other, and the gap."""
    return (of(phase, "compute_time") + of(phase, "communication_time")
            + of(phase, "host_time") + _besides(phase))


def _besides(phase: str) -> sympy.Expr:
    """The gap, and the pass of prompts through a layer that drafts [s]."""
    if phase == "decode":
        return sym.host_gap_per_step
    return sym.host_gap_per_step + where(sym.draft_tokens > 0, of(phase, "draft_pass_time"))
