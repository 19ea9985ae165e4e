"""Which operators a table may hold, and the columns of each: type, unit, what is allowed.

Shapes are of ONE rank and ONE layer unless a column says otherwise; times are of one call on the
device, without the host's launch where the measurement replays a graph.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

DTYPES = ("bf16", "fp16", "fp32", "fp8", "fp8-block", "int8", "w8a16", "w4a16", "w4afp8", "nvfp4",
          "mxfp4", "mxfp4-w4a8", "mxfp4-w4a16")
"""What is multiplied, or sent: ``w4a16`` stores 4 bits and multiplies 16, ``mxfp4-w4a8`` multiplies
activations of 8 bits by weights of 4; ``nvfp4`` and ``mxfp4`` multiply 4 by 4."""
SKEW = re.compile(r"(uniform|balanced|power-law-(sampled-)?[0-9.]+)(-eplb)?")
CARD = re.compile(r"[a-z0-9][a-z0-9._-]*")
ENGINE = re.compile(r"[a-z0-9][a-z0-9_-]*@[A-Za-z0-9][A-Za-z0-9._+-]*")


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: of the column.
        says: what stands in it.
        text: whether it is a text; otherwise a whole number (``time`` alone is a real one).
        unit: of the number in a table, SI.
        low: its least value.
        words: the texts allowed, or a pattern of them; None for any.
        default: of a row that leaves it out; None where it must be stated.
    """

    name: str
    says: str
    text: bool = False
    unit: str = "1"
    low: int = 1
    words: tuple[str, ...] | re.Pattern[str] | None = None
    default: str | int | None = None

    def allows(self, word: str) -> bool:
        """Whether a text may stand here."""
        if self.words is None:
            return True
        if isinstance(self.words, tuple):
            return word in self.words
        return self.words.fullmatch(word) is not None

    @property
    def expected(self) -> str:
        """What messages say may stand here."""
        if isinstance(self.words, tuple):
            return f"one of {', '.join(word or 'nothing' for word in self.words)}"
        if self.words is not None:
            return f"a text such as {EXAMPLES[self.name]}"
        return "a text" if self.text else f"a whole number of at least {self.low}"


EXAMPLES = {"card": "nvidia-h200-sxm", "engine": "vllm@0.24.0", "skew": "balanced or power-law-1.2"}


def _number(name: str, says: str, unit: str = "1", *, low: int = 1,
            default: int | None = None) -> Column:
    return Column(name, says, unit=unit, low=low, default=default)


def _text(name: str, says: str, words: tuple[str, ...] | re.Pattern[str] | None = None,
          default: str | None = None) -> Column:
    return Column(name, says, text=True, words=words, default=default)


COMMON = (
    _text("card", "device of params/devices/, or the name of one that it does not have", CARD),
    _text("engine", "what ran it, with its release", ENGINE),
    _text("kernel", "the kernel's own name", default=""),
    _text("dtype", "what is multiplied or sent", DTYPES),
)
TIME = Column("time", "of one call", unit="s")

_HEADS = _number("heads", "query heads of the rank")
_HIDDEN = _number("hidden_size", "of the model")
_BATCH = _number("batch", "requests")
_CONTEXT = _number("context", "tokens that a request attends to, its newest included", "token")
_QUERIES = _number("tokens", "new tokens of a request", "token")
_PAST = _number("past", "tokens of a request in the cache before", "token", low=0, default=0)
_CACHE = _text("cache_dtype", "of the KV cache", DTYPES)
_SKEW = _text("skew", "how unevenly tokens fall to experts", SKEW)
_ROUTED = _number("n_routed_experts", "of a layer, on all ranks")
_TOP = _number("num_experts_per_tok", "routed experts of a token")
_EXPERT = _number("moe_intermediate_size", "of an expert, before it is cut")
_EP = _number("expert_parallel", "ranks that experts are spread over", default=1)
_TP = _number("tensor_parallel", "ranks that an expert is cut over", default=1)
_RANKS = _number("ranks", "that take part")
_MODEL = _text("model", "whose sizes these are", default="")
_STAGE = _text("stage", "of the block", ("prefill", "decode", "verify"))


@dataclass(frozen=True)
class Operator:
    """An operator: what it does, and the columns of its shape beside the common ones."""

    name: str
    says: str
    shape: tuple[Column, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column of a row in order, ``operator`` apart."""
        return (*COMMON, *self.shape, TIME)

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that say what was measured: all but its time."""
        return tuple(column.name for column in self.columns if column is not TIME)


_BLOCK = (_MODEL, _HEADS, _BATCH)
_CORE = _text("core_dtype", "that the core multiplies; ``dtype`` is of the projections", DTYPES,
              "bf16")
_INDEXER = _text("indexer", "whether it runs, or rows are those of a layer before",
                 ("runs", "reused", "none"), "none")
_ALL = (
    Operator("gemm", "a matrix product, rows × depth by depth × columns", (
        _number("rows", "of the activations, tokens of a step"),
        _number("columns", "of the weight"), _number("depth", "that is summed over"))),
    Operator("batched_gemm", "a product per head: MLA's absorbed projections", (
        _number("batch", "products, heads of the rank"), _number("rows", "of each, tokens"),
        _number("columns", "of each"), _number("depth", "that is summed over"))),
    Operator("experts", "routed experts of ONE rank: gate and up, activation, down", (
        _number("tokens", "of all ranks that experts are spread over", "token"), _HIDDEN, _EXPERT,
        _ROUTED, _TOP, _TP, _EP, _SKEW,
        _number("matrices", "of an expert: 3 with a gate, 2 without", low=2, default=3))),
    Operator("mlp", "a gated dense block: gate and up, activation, down", (
        _number("tokens", "of the rank", "token"), _HIDDEN,
        _number("intermediate_size", "of the rank"))),
    Operator("mla_decode", "core of latent attention, one new token a request, weights absorbed",
             (_HEADS, _BATCH, _CONTEXT, _CACHE)),
    Operator("mla_prefill", "core of latent attention over a prompt",
             (_HEADS, _BATCH, _QUERIES, _PAST, _CACHE)),
    Operator("mla_decode_block", "latent attention with its projections, one new token a request",
             (*_BLOCK, _CONTEXT, _CACHE, _CORE)),
    Operator("mla_prefill_block", "latent attention with its projections over a prompt",
             (*_BLOCK, _QUERIES, _PAST, _CACHE, _CORE)),
    Operator("attention_decode", "core of grouped-query attention, one new token a request", (
        _HEADS, _number("kv_heads", "of the rank"), _number("head_dim", "of a head"), _BATCH,
        _CONTEXT, _number("window", "of a sliding window, 0 without", "token", low=0, default=0),
        _CACHE)),
    Operator("attention_prefill", "core of grouped-query attention over a prompt", (
        _HEADS, _number("kv_heads", "of the rank"), _number("head_dim", "of a head"), _BATCH,
        _QUERIES, _PAST, _number("window", "of a sliding window, 0 without", "token", low=0,
                                 default=0), _CACHE)),
    Operator("attention_encoder", "attention without a mask or a cache", (
        _HEADS, _number("head_dim", "of a head"), _BATCH, _QUERIES)),
    *(Operator(f"{kind}_{stage}_block", f"{name}, a whole block with its projections, {stage}",
               (*_BLOCK, *([_CONTEXT] if stage == "decode" else [_QUERIES, _PAST]), _CACHE, _CORE,
                _INDEXER))
      for kind, name in (("dsa", "DeepSeek sparse attention"),
                         ("csa", "compressed sparse attention"),
                         ("hca", "heavily compressed attention"), ("msa", "block sparse attention"))
      for stage in ("decode", "prefill")),
    *(Operator(name, says, (
        _MODEL, _HEADS, _BATCH, _QUERIES, _PAST, _CACHE,
        _number("compression", "tokens that share a cached row"),
        _text("scores", "how scores are spread, where that matters", default="")))
      for name, says in (("index_scores", "what the indexer multiplies: queries by cached keys"),
                         ("index_top", "which rows the indexer keeps"),
                         ("sparse_attention", "attention to the rows that were kept"))),
    *(Operator(name, f"{says}, one of its kernels", (
        _STAGE, _BATCH, _QUERIES, _HIDDEN, _number("key_heads", "of the rank"),
        _number("key_head_dim", "of a head"), _number("value_heads", "of the rank"),
        _number("value_head_dim", "of a head"), _number("window", "of the convolution", "token")))
      for name, says in (("gated_delta_net", "gated delta rule"),
                         ("kimi_delta_attention", "Kimi delta attention"))),
    Operator("mamba2", "state-space block of Mamba 2, one of its kernels", (
        _STAGE, _BATCH, _QUERIES, _HIDDEN, _HEADS, _number("head_dim", "of a head"),
        _number("state", "numbers of a state"), _number("groups", "that share one"),
        _number("chunk", "tokens scanned at once", "token"),
        _number("window", "of the convolution", "token"))),
    Operator("hyper_connections", "a mapping of manifold-constrained hyper-connections", (
        _text("stage", "which mapping", ("pre", "post", "post-pre", "expand", "contract")),
        _number("tokens", "of the step", "token"), _HIDDEN,
        _number("streams", "residual streams"), _number("sites", "mappings that the time holds"),
        _number("iterations", "of Sinkhorn"))),
    Operator("quantise", "scales of activations, or those and the values", (
        _text("stage", "what is computed", ("scales", "values")),
        _number("rows", "tokens"), _number("columns", "of a row"))),
    *(Operator(name, says, (_RANKS, _number("bytes", "buffer of one rank: the longer of what goes "
                                            "in and comes out", "B"),
                            _text("algorithm", "of the collective", default="")))
      for name, says in (("all_reduce", "sum on every rank"),
                         ("all_gather", "what all ranks have, on every rank"),
                         ("reduce_scatter", "a part of the sum on every rank"),
                         ("all_to_all", "a part of each rank's buffer to each rank"))),
    *(Operator(name, says, (
        _text("mode", "of the kernel"), _RANKS, _number("nodes", "servers", default=1),
        _number("tokens", "of one rank", "token"), _HIDDEN, _TOP, _ROUTED,
        _number("multiprocessors", "that it takes, 0 where nothing is said", low=0, default=0),
        _text("skew", _SKEW.says, SKEW, "uniform")))
      for name, says in (("dispatch", "tokens to the ranks of their experts"),
                         ("combine", "experts' results back to the ranks of their tokens"),
                         ("exchange_setup", "what is agreed on before tokens are sent"))),
    Operator("experts_exchange", "dispatch, routed experts and combine in one kernel", (
        _STAGE, _number("tokens", "of ONE rank", "token"), _HIDDEN, _EXPERT, _ROUTED, _TOP, _EP,
        _SKEW)),
    Operator("block", "a block of one model, in that model's own sizes", (
        _text("component", "of the model"), _text("geometry", "its sizes, as they were written"),
        _BATCH, _number("tokens", "new tokens of a request, or of all of them", "token"), _PAST)),
)
OPERATORS: Mapping[str, Operator] = MappingProxyType({each.name: each for each in _ALL})
"""By name."""
