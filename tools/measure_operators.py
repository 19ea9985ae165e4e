"""Operators of DeepSeek-V3's layers, shape by shape: the table of ``measure_card.py --table``.

It stands beside measure_card.py, is copied with it, and needs nothing but Python and PyTorch. One
row is one operator at one shape, its time in seconds the median of several. What is timed is what
PyTorch has, and the column `kernel` names it: an engine's own kernels may be faster.

gemm: a weight of the model, cut over 1 to 8 cards (`columns` by `depth`), times `rows`; fp8 has a
scale per tensor, fp8-block one per 128 inputs and per block of 128 by 128 weights, one or two rows
padded to four; rows come quantised. experts: gate and up, activation, down of the experts of one
rank, tokens sent to experts chosen uniformly; neither choosing nor moving rows is in it.
mla_decode: the absorbed core, one token of each request over a cache of `context` tokens.
mla_prefill: the core of whole prompts.
Weights and caches rotate, so that no cache on the chip holds them; on a card the calls are
replayed as one graph. What an operator leaves of its share of the time goes to the next one; shapes
that there is no time for are counted.
"""
from __future__ import annotations

import csv
import io
import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from types import SimpleNamespace as Shapes
from typing import Any

Call = Callable[[], Any]
Point = tuple[dict[str, Any], Callable[[], list[Call]]]  # columns of a row, and what makes calls
SHARES = {"gemm": 0.5, "experts": 0.25, "mla_decode": 0.15, "mla_prefill": 0.1}  # of the time
BLOCK = 128  # inputs, and outputs of a weight, that share a scale
BLOCK_ROWS = 4  # cuBLAS takes no fewer with scales by blocks
DRAWS = 4  # of who goes to which expert, in turn
WIDTH = 2  # bytes of BF16
MLA = {"kv_rank": 512, "nope": 128, "rope": 64, "value": 128}
CARD = Shapes(  # DeepSeek-V3
    hidden=7168, dense=18432, expert=2048, experts=256, chosen=8, heads=128, q_rank=1536,
    vocabulary=129280, cuts=(1, 8, 2, 4), rows=[2**power for power in range(16)],
    dtypes=("bf16", "fp8", "fp8-block"), groups=((1, 8), (8, 1), (1, 32), (4, 1), (1, 1)),
    batches=(1, 4, 16, 64, 256), contexts=(512, 2048, 8192, 32768), cached=2**21,
    prompts=(128, 512, 2048, 8192), **MLA)
PROCESSOR = Shapes(  # the same structure, a quarter as wide: a processor has a thousandth of it all
    hidden=2048, dense=4096, expert=512, experts=64, chosen=8, heads=16, q_rank=768,
    vocabulary=1024, cuts=(1, 2), rows=[2**power for power in range(12)], dtypes=("bf16",),
    groups=((1, 1), (1, 2), (2, 1)), batches=(1, 2, 4, 8, 16, 32), contexts=(128, 512, 2048),
    cached=2**14, prompts=(128, 256, 512, 1024), **MLA)
TINY = Shapes(
    hidden=256, dense=256, expert=128, experts=8, chosen=2, heads=2, q_rank=128, vocabulary=256,
    cuts=(1,), rows=[1, 16], dtypes=("bf16", "fp8", "fp8-block"), groups=((1, 1),),
    batches=(1, 2), contexts=(16,), cached=64, prompts=(16,), **MLA)


def weights(of: Any, cut: int) -> dict[tuple[int, int], None]:
    """Outputs and inputs of the matmuls of one rank of `cut`, each once."""
    latent, heads = of.kv_rank + of.rope, of.heads // cut
    shapes = [(of.q_rank + latent, of.hidden), (heads * (of.nope + of.rope), of.q_rank),
              (heads * (of.nope + of.value), of.kv_rank), (of.hidden, heads * of.value),
              (2 * of.dense // cut, of.hidden), (of.hidden, of.dense // cut),
              (2 * of.expert // cut, of.hidden), (of.hidden, of.expert // cut),
              (of.experts, of.hidden), (of.vocabulary // cut, of.hidden)]
    return dict.fromkeys(shapes)


def gemms(card: Any, of: Any, cache: int) -> Iterator[Point]:
    """Every weight at every number of rows."""
    @lru_cache(maxsize=1)
    def rotated(dtype: str, n: int, k: int) -> list[Any]:
        copies = math.ceil(2 * cache / (n * k * (WIDTH if dtype == "bf16" else 1))) + 1
        return list(card.weights(dtype, n, k, copies))

    def make(dtype: str, m: int, n: int, k: int) -> list[Call]:
        product = blocks(card, m, n, k) if dtype == "fp8-block" else card.product(dtype, m, n, k)
        return [partial(product, weight) for weight in rotated(dtype[:4].strip("-"), n, k)]

    shapes = dict.fromkeys(shape for cut in of.cuts for shape in weights(of, cut))
    for dtype, (n, k) in itertools.product(of.dtypes, shapes):
        for m in of.rows:
            yield ({"kernel": "torch.mm" if dtype == "bf16" else "torch._scaled_mm",
                    "dtype": dtype, "rows": m, "columns": n, "depth": k},
                   partial(make, dtype, m, n, k))


def blocks(card: Any, m: int, n: int, k: int) -> Callable[[Any], Any]:
    """What multiplies m rows by an FP8 weight, with scales of both by blocks."""
    torch, ones = card.torch, partial(card.torch.ones, device=card.place)
    m, of_columns, of_depth = max(m, BLOCK_ROWS), math.ceil(n / BLOCK), math.ceil(k / BLOCK)
    return partial(torch._scaled_mm, card.matrix("fp8", m, k), scale_a=ones(of_depth, m).t(),
                   scale_b=ones(of_columns, of_depth).t(), out_dtype=torch.bfloat16)


def experts(card: Any, of: Any, _cache: int) -> Iterator[Point]:
    """The experts of one rank, whole (expert_parallel) or cut (tensor_parallel)."""
    @lru_cache(maxsize=1)
    def expert_weights(dtype: str, own: int, width: int) -> list[Any]:
        shapes = ((own, 2 * width, of.hidden), (own, of.hidden, width))
        return [card.matrix(dtype, *shape).transpose(1, 2) for shape in shapes]

    def make(dtype: str, tokens: int, tensor: int, expert: int) -> list[Call]:
        torch, own, width = card.torch, of.experts // expert, of.expert // tensor
        up, down = expert_weights(dtype, own, width)
        calls: list[Call] = []
        while len(calls) < DRAWS:
            chosen = torch.rand(tokens, of.experts).topk(of.chosen).indices.flatten()
            counts = torch.bincount(chosen[chosen < own], minlength=own)
            if not int(counts.sum()):
                continue  # a rank that nothing is sent to does nothing
            ends = counts.cumsum(0).to(torch.int32).to(card.place)
            calls.append(partial(block_of_experts, card, grouped(card, dtype, own), up, down, ends,
                                 card.matrix(dtype, int(counts.sum()), of.hidden)))
        return calls

    for dtype, (tensor, expert) in itertools.product(("bf16", "fp8"), of.groups):
        for tokens in of.rows:
            if dtype in of.dtypes and tokens >= expert // of.chosen:
                yield ({"kernel": "torch._grouped_mm" if dtype == "bf16"
                        else "torch._scaled_grouped_mm", "dtype": dtype, "tokens": tokens,
                        "hidden_size": of.hidden, "moe_intermediate_size": of.expert,
                        "n_routed_experts": of.experts, "num_experts_per_tok": of.chosen,
                        "tensor_parallel": tensor, "expert_parallel": expert,
                        "skew": "uniform"}, partial(make, dtype, tokens, tensor, expert))


def grouped(card: Any, dtype: str, own: int) -> Callable[..., Any]:
    """A matmul of rows sorted by expert, by the weights of each; FP8 with a scale per row."""
    torch, ones = card.torch, partial(card.torch.ones, device=card.place)
    if dtype == "bf16":
        return lambda rows, weight, ends: torch._grouped_mm(rows, weight, offs=ends)
    return lambda rows, weight, ends: torch._scaled_grouped_mm(
        rows, weight, ones(len(rows)), ones(own, weight.shape[-1]), offs=ends,
        out_dtype=torch.bfloat16)


def block_of_experts(card: Any, multiply: Callable[..., Any], up: Any, down: Any, ends: Any,
                     rows: Any) -> Any:
    """Gate and up, activation, down."""
    gate, value = multiply(rows, up, ends).chunk(2, dim=-1)
    inner = card.torch.nn.functional.silu(gate) * value
    return multiply(inner.to(rows.dtype), down, ends)


def decodes(card: Any, of: Any, cache: int) -> Iterator[Point]:
    """The absorbed core of latent attention, one token of each request."""
    latent = of.kv_rank + of.rope

    def make(heads: int, batch: int, context: int) -> list[Call]:
        copies = math.ceil(2 * cache / (batch * context * latent * WIDTH)) + 1
        queries = card.matrix("bf16", batch, heads, latent)
        first = card.matrix("bf16", batch, context, latent)
        return [partial(core, card.torch, queries, cache_copy, of.kv_rank)
                for cache_copy in (first, *(first.clone() for _ in range(copies - 1)))]

    for cut, batch, context in itertools.product(of.cuts, of.batches, of.contexts):
        if batch * context <= of.cached:
            yield ({"kernel": "torch.bmm, torch.softmax, torch.bmm", "dtype": "bf16",
                    "heads": of.heads // cut, "batch": batch, "context": context,
                    "cache_dtype": "bf16"}, partial(make, of.heads // cut, batch, context))


def core(torch: Any, queries: Any, cached: Any, values: int) -> Any:
    """Attention of (batch, heads, latent) over (batch, context, latent), plain matmuls."""
    shares = torch.softmax(torch.bmm(queries, cached.transpose(1, 2)), -1)
    return torch.bmm(shares, cached[..., :values])


def prefills(card: Any, of: Any, _cache: int) -> Iterator[Point]:
    """The core of prompts, heads as they are."""
    def make(heads: int, batch: int, tokens: int) -> list[Call]:
        attend = card.torch.nn.functional.scaled_dot_product_attention
        queries, keys = (card.matrix("bf16", batch, heads, tokens, of.nope + of.rope)
                         for _ in range(2))
        return [partial(attend, queries, keys, card.matrix("bf16", batch, heads, tokens, of.value),
                        is_causal=True)]

    for cut, batch, tokens in itertools.product(of.cuts, of.batches[:2], of.prompts):
        yield ({"kernel": "torch.nn.functional.scaled_dot_product_attention", "dtype": "bf16",
                "heads": of.heads // cut, "batch": batch, "tokens": tokens, "past": 0,
                "cache_dtype": "bf16"}, partial(make, of.heads // cut, batch, tokens))


OPERATORS: dict[str, Callable[[Any, Any, int], Iterator[Point]]] = {
    "gemm": gemms, "experts": experts, "mla_decode": decodes, "mla_prefill": prefills}


class Table:
    """The rows of a table, and its text."""

    def __init__(self, measure: Callable[..., list[float]], options: Any,
                 say: Callable[..., None]) -> None:
        """With measure_card's way to time a card, and its options."""
        self.timed, self.say, self.most = measure, say, options.table
        self.quick, self.card = options.quick, options.device
        self.rows = list[dict[str, Any]]()

    def measure(self, card: Any, plan: Any, report: Any) -> None:
        """Operator after operator, each in its share of the time and what was left before."""
        of = TINY if self.quick else CARD if card.api else PROCESSOR
        ends = time.monotonic()
        for operator, points in OPERATORS.items():
            ends, done, left = ends + SHARES[operator] * self.most, len(self.rows), 0
            for columns, make in points(card, of, plan.cache):
                if time.monotonic() > ends:
                    left += 1
                    continue
                shape = ", ".join(f"{name} {value}" for name, value in columns.items()
                                  if isinstance(value, int))
                with report.attempt(f"{operator} {columns['dtype']}", shape):
                    self.rows.append({"operator": operator, **columns,
                                      "time": self.seconds(card, make(), plan)})
            self.say(f"{operator}: {len(self.rows) - done} shapes"
                     + f", {left} left out, no time" * bool(left))

    def seconds(self, card: Any, calls: Sequence[Call], plan: Any) -> float:
        """Of one call, the median of some; a processor makes a few at a time, each takes long."""
        if card.api:
            return statistics.median(self.timed(card, calls, plan))
        turn, times = itertools.cycle(calls), []
        for _ in range(plan.repeats + 1):
            begun, done = time.perf_counter(), 0
            while not done or time.perf_counter() - begun < plan.sample:
                next(turn)()
                done += 1
            times.append((time.perf_counter() - begun) / done)
        return statistics.median(times[1:])

    def text(self, report: Any) -> str:
        """The table as CSV, with the collectives that a report holds."""
        out = io.StringIO()
        import torch  # measure_card has it by now
        own = {"card": self.card, "engine": f"pytorch@{torch.__version__.partition('+')[0]}"}
        collectives = [{"operator": operation.replace("-", "_"), "kernel": backend, "ranks": ranks,
                        "dtype": "fp32" if backend == "gloo" else "bf16", "bytes": size,
                        "time": statistics.median(times)}
                       for backend, ranks, operation, size, times in report.collected]
        rows = [{**own, **row, "time": f"{row['time']:.4g}"} for row in self.rows + collectives]
        writer = csv.DictWriter(out, dict.fromkeys(name for row in rows for name in row),
                                lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()
