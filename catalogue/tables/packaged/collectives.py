"""Collectives: what the columns of their tables mean."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from catalogue.tables.packaged.names import renamed
from catalogue.tables.packaged.rows import Block, Raw

WIDTHS = {"bf16": 2, "fp16": 2, "fp32": 4, "int8": 1, "fp8": 1}  # bytes of an element
NCCL = {"all_gather": "all_gather", "alltoall": "all_to_all", "reduce_scatter": "reduce_scatter",
        "all_reduce": "all_reduce"}


def custom_allreduce(raw: Raw) -> Iterator[Block]:
    """All-reduce as an engine calls it; ``message_size`` counts ELEMENTS of one rank's buffer.

    A buffer is ``message_size`` numbers of ``allreduce_dtype`` (``get_input_shape_and_comm_size``,
    ``torch.ones(shape, dtype)``), so its bytes are twice that in BF16. ``_graph`` in the kernel's
    name is a replayed CUDA graph, ``_eager`` is issued by the host one by one and holds a copy of
    the buffer besides; TensorRT-LLM's is a graph. One server.

    Source: ``collector/network/collect_all_reduce.py``.
    """
    dtype = raw.dtype("allreduce_dtype")
    yield Block("all_reduce", {
        "ranks": raw.number("num_gpus"), "bytes": raw.number("message_size") * _width(dtype),
        "algorithm": "", "dtype": dtype, "time": raw.time()})


def nccl(raw: Raw) -> Iterator[Block]:
    """nccl-tests; ``message_size`` counts ELEMENTS of what it calls the size.

    ``message_size = size // bytes_per_element``. The size is the longer of what goes in and comes
    out at one rank: the gathered buffer of an all-gather, what is scattered of a reduce-scatter.
    The time is that out of place, of ``num_gpus`` threads in one process, so of one NVLink domain.

    Source: ``collector/network/collect_nccl.py``; nccl-tests, ``src/*.cu``, ``GetCollByteCount``.
    """
    dtype, said = raw.dtype("nccl_dtype"), raw.text("op_name")
    names = {word: NCCL.get(word.rpartition("/")[2], word) for word in set(said.tolist())}
    operators = renamed(said, names)
    shape = {"ranks": raw.number("num_gpus"), "bytes": raw.number("message_size") * _width(dtype),
             "algorithm": "", "dtype": dtype, "time": raw.time()}
    for name in NCCL.values():
        yield Block(name, shape, operators == name)


def _width(dtype: np.ndarray) -> np.ndarray:
    """Bytes of an element [rows], 0 where the format is unknown."""
    return np.array([WIDTHS.get(word, 0) for word in dtype.tolist()], np.int64)
