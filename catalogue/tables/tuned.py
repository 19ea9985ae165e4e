"""Kernels that AITER tuned shape by shape, brought into our columns; nothing is fitted.

AITER (MIT licence, https://github.com/ROCm/aiter) is the kernel library that engines use on AMD's
cards. Its folder ``aiter/configs`` holds, by family and by model, the kernel that was the fastest
of all for each shape, and its time. What the columns mean was read from the programs that write
them (commit e4048607):

- ``us`` is in microseconds: the mean of 101 calls less outliers, each the sum of the times on the
  device of the kernels of a call, by the profiler (``aiter/test_common.py``, ``get_trace_perf``).
  No gap between kernels is in it, nor the host.
- Calls take copies of their arguments in turn, as many as memory holds, 101 at most (``perftest``:
  8192 times the L2 over the arguments' bytes). Weights come from memory, but where 101 times all
  arguments fit the 256 MB of Infinity Cache.
- A matmul's rows are quantised before (``generate_data`` of
  ``csrc/ck_gemm_a8w8_blockscale/gemm_a8w8_blockscale_tune.py``): quantising them is not in it.
- A layer's experts are ``us1`` (gate, up, activation) and ``us2`` (down) or one kernel with both,
  ``us`` their sum. Rows are sorted before, and not in it; quantising them is in it only where
  kernels that do so themselves took part (``xbf16``); quantising between the two mostly is not
  (``csrc/ck_gemm_moe_2stages_codegen/gemm_moe_tune.py``, ``generate_data``, ``post_process``).
  Every token has ``topk`` of the ``expert`` experts of this rank, drawn alike; ``inter_dim`` is of
  the rank. Where a shared expert is appended it is one of ``expert``, drawn like the others.
- A time of 0 is a choice made by hand, -1 or ``inf`` a failed kernel: the lint leaves them out.

A tuned row is the best of hundreds of kernels: what is served without tuning is slower.
"""

from __future__ import annotations

import csv
import functools
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from catalogue.reading.errors import ParamsError
from catalogue.tables.operators import OPERATORS
from catalogue.tables.shelved import Part, RowFilter
from catalogue.tables.table import Table, joined, row_location

Cells = Mapping[str, str]
Values = Mapping[str, Any]

US = 1e-6
AMD = "gfx942"  # of rows from before there was a column for it
CARDS = {("gfx942", "304"): "amd-mi300x", ("gfx942", "80"): "amd-mi308x",
         ("gfx950", "256"): "amd-mi355x"}
"""Architecture and compute units -> device; an MI325X and an MI350X have the same two."""
MI325X = re.compile(r".*_(ds_v3|glm5_1)")
"""Files whose rows of 304 units are of an MI325X: their commits (84493f0e, 6b831fb2) say so. It has
the MI300X's matrix units with more power and 13% more bandwidth: the same shapes take 0.86 to 0.9
of the time. All others of gfx942 are taken for an MI300X, which ca781d81 says of one of them."""
RELEASE = re.compile(r"(?:amd[-_.])?aiter[-_@](v?[0-9][0-9A-Za-z.]*)")
UNSTATED = "unstated"  # in place of a release, where no folder says one
HEAD = frozenset(("cu_num", "us"))
TORCH = {"torch.bfloat16": "bf16", "torch.float16": "fp16", "torch.int8": "int8",
         "torch.float8_e4m3fnuz": "fp8", "torch.float8_e4m3fn": "fp8",
         "torch.float4_e2m1fn_x2": "mxfp4", "torch.int4": "int4"}
GATED, UNGATED = 3, 2
WIDTHS = {(7168, 256): 2048, (7168, 384): 2048, (6144, 256): 2048, (6144, 384): 2048,
          (4096, 128): 1536}
"""Width of the model and its routed experts -> width of one, of DeepSeek-V3, Kimi-K2, GLM-5,
MiMo-V2.5-Pro and Qwen3-235B. Of these it is known how often a rank's experts are cut."""


class _Unknown(ValueError):
    """A cell that is not what its column holds: column, and what was expected."""


def _whole(cells: Cells, column: str) -> int:
    try:
        return int(cells[column])
    except ValueError:
        raise _Unknown(column, "a whole number") from None


def _time(cells: Cells) -> float:
    try:
        return float(cells["us"]) * US
    except ValueError:
        raise _Unknown("us", "a time in microseconds") from None


def _gemm(dtype: str | None) -> Callable[[Cells], Values]:
    """A matmul ``M`` by ``N`` of ``K`` in one format, or in that of a column where none is said."""
    def row(cells: Cells) -> Values:
        found = dtype or _format(cells, "q_dtype_w" if "q_dtype_w" in cells else "dtype")
        return {"rows": _whole(cells, "M"), "columns": _whole(cells, "N"),
                "depth": _whole(cells, "K"), "dtype": found, "kernel": cells["kernelName"],
                "time": _time(cells)}

    return row


def _batched(dtype: str) -> Callable[[Cells], Values]:
    """``B`` such matmuls at once."""
    one = _gemm(dtype)
    return lambda cells: {**one(cells), "batch": _whole(cells, "B")}


def _format(cells: Cells, column: str) -> str:
    try:
        return TORCH[cells[column]]
    except KeyError:
        raise _Unknown(column, f"one of {', '.join(TORCH)}") from None


def _experts(cells: Cells) -> Values:
    stages = ("kernelName1", "kernelName2")
    hidden, inside = _whole(cells, "model_dim"), _whole(cells, "inter_dim")
    experts = _whole(cells, "expert")
    width = WIDTHS.get((hidden, experts - experts % 2), inside)  # one of them is a shared expert
    return {"tokens": _whole(cells, "token"), "hidden_size": hidden,
            "moe_intermediate_size": width if width % inside == 0 else inside,
            "n_routed_experts": experts, "num_experts_per_tok": _whole(cells, "topk"),
            "tensor_parallel": max(1, width // inside) if width % inside == 0 else 1,
            "expert_parallel": 1, "skew": "uniform", "dtype": _stored(cells),
            "kernel": " + ".join(cells[stage] for stage in stages if cells[stage]),
            "matrices": GATED if _whole(cells, "use_g1u1") else UNGATED, "time": _time(cells)}


def _stored(cells: Cells) -> str:
    """Format of experts: what is multiplied by what, in which groups (``QuantType``)."""
    given, stored = _format(cells, "q_dtype_a"), _format(cells, "q_dtype_w")
    groups = cells["q_type"].removeprefix("QuantType.")
    if stored == "fp8":
        return "fp8-block" if groups == "per_1x128" else "mxfp8" if groups == "per_1x32" else "fp8"
    if stored == "mxfp4":
        return {"fp8": "mxfp4-w4a8", "mxfp4": "mxfp4"}.get(given, "mxfp4-w4a16")
    if stored == "int4":
        return "w4a16" if given in ("bf16", "fp16") else "w4afp8"
    return stored


@dataclass(frozen=True)
class _Kind:
    """A family of files: those whose name holds its, their operator, and how a row is read."""

    name: re.Pattern[str]
    operator: str
    row: Callable[[Cells], Values]


KINDS = tuple(_Kind(re.compile(pattern), operator, row) for pattern, operator, row in (
    (r"a8w8_blockscale(_bpreshuffle)?_tuned_gemm", "gemm", _gemm("fp8-block")),
    (r"a8w8(_bpreshuffle)?_tuned_gemm", "gemm", _gemm(None)),
    (r"a4w4_blockscale_tuned_gemm", "gemm", _gemm("mxfp4")),
    (r"bf16_tuned_gemm", "gemm", _gemm(None)),
    (r"a8w8_tuned_batched_gemm", "batched_gemm", _batched("int8")),
    (r"bf16_tuned_batched_gemm", "batched_gemm", _batched("bf16")),
    (r"tuned_fmoe", "experts", _experts)))
"""The first that fits is a file's."""


@dataclass(frozen=True)
class _File:
    path: Path
    kind: _Kind
    name: str

    @property
    def engine(self) -> str:
        """``aiter`` and the release that the nearest folder says, as in ``aiter-0.1.20``."""
        said = (RELEASE.fullmatch(part) for part in reversed(self.path.absolute().parts))
        release = next((match[1].removeprefix("v") for match in said if match), UNSTATED)
        return f"aiter@{release}"


def _tables(root: Path) -> Iterator[_File]:
    for path in [root] if root.is_file() else sorted(root.rglob("*tuned*.csv")):
        kind = next((kind for kind in KINDS if kind.name.search(path.stem)), None)
        tuned = path.suffix == ".csv" and "untuned" not in path.stem
        if tuned and kind and set(_head(path)) >= HEAD:
            yield _File(path, kind, "/".join(path.parts[-2:]))


def _head(path: Path) -> Sequence[str]:
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            return [cell.strip() for cell in next(csv.reader(lines), [])]
    except (OSError, UnicodeDecodeError, csv.Error):
        return []


def is_tuned(folder: Path) -> bool:
    """Whether this is a folder of AITER's configurations, or one of its files."""
    return next(_tables(folder), None) is not None


@dataclass(frozen=True)
class TunedShelf:
    """Tables of tuned kernels, read file by file.

    Attributes:
        root: ``aiter/configs``, a folder above or below, or one of its files.
    """

    root: Path
    _files: tuple[_File, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_files", tuple(_tables(self.root)))

    def parts(self) -> Sequence[Part]:
        """Rows by operator, card and engine, file by file."""
        return [Part(file.name, file.kind.operator, card, file.engine,
                     len(table.select(card=card)))
                for file in self._files for table in [_read(file)] for card in table.cards()]

    def read(self, operator: str, wanted: RowFilter) -> Table:
        """Rows of an operator.

        Raises ParamsError for a file that cannot be read, or a cell that is not of its column.
        """
        limits = {name: values for name, values in (
            ("card", wanted.cards), ("engine", wanted.engines), ("dtype", wanted.dtypes)) if values}
        return joined(operator, [_read(file).select(**limits) for file in self._files
                                 if file.kind.operator == operator])


@functools.lru_cache(maxsize=1024)
def _read(file: _File) -> Table:
    """Every row of a file; an empty line is none."""
    try:
        rows = csv.reader(io.StringIO(file.path.read_text(encoding="utf-8")))
        head = [cell.strip() for cell in next(rows)]
        found = [(rows.line_num, cells) for cells in rows if any(cells)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ParamsError(f"{file.name}: cannot be read as a CSV file ({error}).") from None
    made = [_row(file, dict(zip(head, cells, strict=False)), line, len(cells), len(head))
            for line, cells in found]
    columns = {column.name: np.array([row[column.name] for row in made],
                                     object if column.text else float if column.name == "time"
                                     else np.int64)
               for column in OPERATORS[file.kind.operator].columns}
    return Table(file.kind.operator, columns, (file.name,), np.zeros(len(made), np.int64),
                 np.array([line for line, _ in found], np.int64))


def _row(file: _File, cells: Cells, line: int, given: int, expected: int) -> Values:
    where = row_location(file.name, line)
    if given not in (expected, expected - 1):  # the last one, a tag, is often left out
        raise ParamsError(f"{where}: has {given} cells, expected {expected} as in its head.")
    try:
        return {"card": _card(file, cells), "engine": file.engine, **file.kind.row(cells)}
    except KeyError as error:
        raise ParamsError(f"{where}: lacks the column {error}, expected the layout of AITER's "
                          "configurations.") from None
    except _Unknown as error:
        column, wanted = error.args
        raise ParamsError(f"{where}, column '{column}': '{cells[column]}' is not allowed, expected "
                          f"{wanted}.") from None


def _card(file: _File, cells: Cells) -> str:
    """Our device of a row; one that we have no name for keeps architecture and units."""
    of = (cells.get("gfx") or _architecture(cells["cu_num"]), cells["cu_num"])
    if CARDS.get(of) == "amd-mi300x" and MI325X.fullmatch(file.path.stem):
        return "amd-mi325x"
    return CARDS.get(of, "-".join(of))


def _architecture(units: str) -> str:
    return next((architecture for architecture, count in CARDS if count == units), AMD)
