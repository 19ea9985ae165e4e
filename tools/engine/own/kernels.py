"""Runs inside the engine's environment: its own kernels on a processor, shape by shape.

Writes a table of the same operators as ``tools/measure_card.py --table``, to the standard output:
``PATH-OF-THE-ENVIRONMENT/bin/python tools/engine/own/kernels.py CARD``.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import sys
from collections.abc import Iterator
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
import measure_card
import measure_operators as by_shape

MINUTES = 150.0  # s that it may take, about
BLOCK, PADDED = 16, 32  # tokens of a block of the cache; rows that the engine asks oneDNN for
INSTRUCTIONS = "vec"  # of its experts' kernel, for a processor without tiles


def gemms(card: Any, of: Any, cache: int) -> Iterator[by_shape.Point]:
    """Every weight at every number of rows, by oneDNN as the engine calls it."""
    from vllm import _custom_ops as ops

    @lru_cache(maxsize=1)
    def rotated(n: int, k: int) -> list[Any]:
        copies = math.ceil(2 * cache / (n * k * by_shape.WIDTH)) + 1
        return [ops.create_onednn_mm(weight, PADDED) for weight in card.weights(
            "bf16", n, k, copies)]

    def make(m: int, n: int, k: int) -> list[by_shape.Call]:
        rows = card.matrix("bf16", m, k)
        return [partial(ops.onednn_mm, weight, rows, None) for weight in rotated(n, k)]

    for n, k in by_shape.weights(of, 1):
        for m in of.rows:
            yield ({"kernel": "onednn_mm", "dtype": "bf16", "rows": m, "columns": n, "depth": k},
                   partial(make, m, n, k))


def experts(card: Any, of: Any, _cache: int) -> Iterator[by_shape.Point]:
    """All experts of a layer, tokens sent to them uniformly; moving rows is in its kernel."""
    from vllm._custom_ops import cpu_fused_moe, cpu_prepack_moe_weight

    @lru_cache(maxsize=1)
    def held() -> list[Any]:
        return [cpu_prepack_moe_weight(card.matrix("bf16", of.experts, *shape), INSTRUCTIONS)
                for shape in ((2 * of.expert, of.hidden), (of.hidden, of.expert))]

    def make(tokens: int) -> list[by_shape.Call]:
        torch, calls = card.torch, []
        for _ in range(by_shape.DRAWS):
            chosen = torch.rand(tokens, of.experts).topk(of.chosen).indices.to(torch.int32)
            rows = card.matrix("bf16", tokens, of.hidden)
            calls.append(partial(cpu_fused_moe, torch.empty_like(rows), rows, *held(), None, None,
                                 torch.ones(tokens, of.chosen), chosen, "silu", INSTRUCTIONS,
                                 False))
        return calls

    for tokens in of.rows:
        yield ({"kernel": "cpu_fused_moe", "dtype": "bf16", "tokens": tokens,
                "hidden_size": of.hidden, "moe_intermediate_size": of.expert,
                "n_routed_experts": of.experts, "num_experts_per_tok": of.chosen,
                "tensor_parallel": 1, "expert_parallel": 1, "skew": "uniform"},
               partial(make, tokens))


def decodes(card: Any, of: Any, cache: int) -> Iterator[by_shape.Point]:
    """The core of latent attention over a paged cache."""
    from vllm._custom_ops import mla_decode_kvcache_cpu

    latent = of.kv_rank + of.rope

    def make(batch: int, context: int) -> list[by_shape.Call]:
        torch, blocks = card.torch, batch * context // BLOCK
        copies = math.ceil(2 * cache / (batch * context * latent * by_shape.WIDTH)) + 1
        queries = card.matrix("bf16", batch, of.heads, latent)
        out = card.matrix("bf16", batch, of.heads, of.kv_rank)
        table = torch.arange(blocks, dtype=torch.int32).view(batch, -1)
        lengths = torch.full((batch,), context, dtype=torch.int32)
        return [partial(mla_decode_kvcache_cpu, out, queries,
                        card.matrix("bf16", blocks, BLOCK, latent), latent**-0.5, table, lengths)
                for _ in range(copies)]

    for batch, context in itertools.product(of.batches, of.contexts):
        if batch * context <= of.cached:
            yield ({"kernel": "mla_decode_kvcache", "dtype": "bf16", "heads": of.heads,
                    "batch": batch, "context": context, "cache_dtype": "bf16"},
                   partial(make, batch, context))


class Table(by_shape.Table):
    """The table of the engine's kernels."""

    operators = {"gemm": gemms, "experts": experts, "mla_decode": decodes}  # noqa: RUF012
    engine = f"vllm@{version('vllm')}".partition("+")[0]


def main(card: str) -> None:
    """Measure, and write the table."""
    with contextlib.redirect_stdout(sys.stderr):
        import vllm._custom_ops  # noqa: F401  it registers the kernels

        processor, report = measure_card.Card("cpu", 0), measure_card.Report()
        table = Table(measure_card.measure, SimpleNamespace(
            table=MINUTES, quick=False, device=card), measure_card.say)
        table.measure(processor, measure_card.FULL, report)
        text = table.text(report)
    sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
