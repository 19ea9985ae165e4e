"""Linear attention and state-space blocks: what the columns of their tables mean.

A row is one kernel of a layer, which the ``kernel`` column names: the convolution or the rule; a
layer takes both. Heads are those of the rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from catalogue.tables.packaged.names import STAGES, renamed
from catalogue.tables.packaged.rows import Block, Raw


def linear(operator: str) -> Callable[[Raw], Iterator[Block]]:
    """Kernels over ``batch_size`` requests of ``seq_len`` new tokens (1 of a decode step).

    ``verify`` checks ``seq_len`` drafted tokens a request.

    Source: ``collector/{vllm,sglang,trtllm}/collect_gdn.py``, ``collector/{vllm,sglang}/
    collect_kda.py``.
    """
    def blocks(raw: Raw) -> Iterator[Block]:
        yield Block(operator, _common(raw) | {
            "key_heads": raw.number("num_k_heads"), "key_head_dim": raw.number("head_k_dim"),
            "value_heads": raw.number("num_v_heads"), "value_head_dim": raw.number("head_v_dim")})
    return blocks


def mamba2(raw: Raw) -> Iterator[Block]:
    """Kernels of a Mamba 2 layer; only those of its convolution are in the tables.

    Source: ``collector/trtllm/collect_mamba2.py``.
    """
    yield Block("mamba2", _common(raw) | {
        "heads": raw.number("nheads"), "head_dim": raw.number("head_dim"),
        "state": raw.number("d_state"), "groups": raw.number("n_groups"),
        "chunk": raw.number("chunk_size")})


def _common(raw: Raw) -> dict[str, Any]:
    return {"stage": renamed(raw.text("phase"), STAGES), "batch": raw.number("batch_size"),
            "tokens": raw.number("seq_len"), "hidden_size": raw.number("d_model"),
            "window": raw.number("d_conv"), "dtype": "bf16", "time": raw.time()}
