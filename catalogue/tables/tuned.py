"""Kernels that AITER tuned shape by shape, in the columns of ``operators.yml``; nothing is fitted.

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from catalogue.reading.errors import ParamsError
from catalogue.tables.table import Part, Table, as_table, row_location

if TYPE_CHECKING:
    import pandas as pd

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


class _Wrong(ValueError):
    """A cell that is missing or not allowed: line, column, text, what was expected."""


def _parsed(cells: pd.DataFrame, column: str, parse: Callable[[str], Any] = str,
            expected: str = "a text") -> list[Any]:
    """A column of texts as values. Raises _Wrong for the first cell that is missing or wrong."""
    values = []
    for line, text in cells.reindex(columns=[column])[column].items():
        try:
            value = parse(text) if isinstance(text, str) else None
        except (ValueError, KeyError):
            value = None
        if value is None:
            raise _Wrong(line, column, text, expected)
        values.append(value)
    return values


def _whole(cells: pd.DataFrame, column: str) -> np.ndarray:
    return np.array(_parsed(cells, column, int, "a whole number"), np.int64)


def _format(cells: pd.DataFrame, column: str) -> list[str]:
    return _parsed(cells, column, TORCH.__getitem__, f"one of {', '.join(TORCH)}")


def _gemm(cells: pd.DataFrame, dtype: str | None) -> dict[str, Any]:
    """A matmul ``M`` by ``N`` of ``K`` in one format, or in that of a column where none is given.
    """
    return {"dtype": dtype or _format(cells, "q_dtype_w" if "q_dtype_w" in cells else "dtype"),
            "rows": _whole(cells, "M"), "columns": _whole(cells, "N"),
            "depth": _whole(cells, "K"), "kernel": _parsed(cells, "kernelName")}


def _batched(cells: pd.DataFrame, dtype: str | None) -> dict[str, Any]:
    """``B`` such matmuls at once."""
    return _gemm(cells, dtype) | {"batch": _whole(cells, "B")}


def _experts(cells: pd.DataFrame, _: str | None) -> dict[str, Any]:
    hidden, inside, experts = (_whole(cells, name) for name in ("model_dim", "inter_dim", "expert"))
    width = np.array([WIDTHS.get((size, count - count % 2), own) for size, count, own in zip(
        hidden, experts, inside, strict=True)])  # one of them is a shared expert
    cut = width % inside == 0
    kernels = zip(_parsed(cells, "kernelName1"), _parsed(cells, "kernelName2"), strict=True)
    return {"tokens": _whole(cells, "token"), "hidden_size": hidden,
            "moe_intermediate_size": np.where(cut, width, inside), "n_routed_experts": experts,
            "num_experts_per_tok": _whole(cells, "topk"),
            "tensor_parallel": np.where(cut, np.maximum(1, width // inside), 1),
            "expert_parallel": 1, "skew": "uniform", "dtype": _stored(cells),
            "kernel": [" + ".join(filter(None, names)) for names in kernels],
            "matrices": np.where(_whole(cells, "use_g1u1") != 0, GATED, UNGATED)}


def _stored(cells: pd.DataFrame) -> list[str]:
    """Format of experts: what is multiplied by what, in which groups (``QuantType``)."""
    def stored(multiplied: str, weights: str, groups: str) -> str:
        if weights == "fp8":
            return {"per_1x128": "fp8-block", "per_1x32": "mxfp8"}.get(
                groups.removeprefix("QuantType."), "fp8")
        if weights == "mxfp4":
            return {"fp8": "mxfp4-w4a8", "mxfp4": "mxfp4"}.get(multiplied, "mxfp4-w4a16")
        if weights == "int4":
            return "w4a16" if multiplied in ("bf16", "fp16") else "w4afp8"
        return weights

    return list(map(stored, _format(cells, "q_dtype_a"), _format(cells, "q_dtype_w"),
                    _parsed(cells, "q_type")))


@dataclass(frozen=True)
class Kind:
    """A family of files, by a pattern in their names: operator, how columns follow, format."""

    name: str
    operator: str
    columns: Callable[[pd.DataFrame, str | None], Mapping[str, Any]]
    dtype: str | None = None


KINDS = (
    Kind(r"a8w8_blockscale(_bpreshuffle)?_tuned_gemm", "gemm", _gemm, "fp8-block"),
    Kind(r"a8w8(_bpreshuffle)?_tuned_gemm", "gemm", _gemm),
    Kind(r"a4w4_blockscale_tuned_gemm", "gemm", _gemm, "mxfp4"),
    Kind(r"bf16_tuned_gemm", "gemm", _gemm),
    Kind(r"a8w8_tuned_batched_gemm", "batched_gemm", _batched, "int8"),
    Kind(r"bf16_tuned_batched_gemm", "batched_gemm", _batched, "bf16"),
    Kind(r"tuned_fmoe", "experts", _experts))
"""The first that matches is a file's."""


def files(root: Path) -> Sequence[TunedFile]:
    """AITER's configurations at a path: ``aiter/configs``, a folder above or below, or a file."""
    paths = [root] if root.is_file() else sorted(root.rglob("*tuned*.csv"))
    return [TunedFile(path, kind) for path in paths
            if path.suffix == ".csv" and "untuned" not in path.stem
            for kind in [next((kind for kind in KINDS if re.search(kind.name, path.stem)), None)]
            if kind and set(_head(path)) >= HEAD]


def _head(path: Path) -> Sequence[str]:
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            return [cell.strip() for cell in next(csv.reader(lines), [])]
    except (OSError, UnicodeDecodeError, csv.Error):
        return []


@dataclass(frozen=True)
class TunedFile:
    """A file of tuned kernels."""

    path: Path
    kind: Kind

    @property
    def name(self) -> str:
        """The file in messages."""
        return "/".join(self.path.parts[-2:])

    @property
    def engine(self) -> str:
        """``aiter`` and the release that the nearest folder names, as in ``aiter-0.1.20``."""
        releases = map(RELEASE.fullmatch, reversed(self.path.absolute().parts))
        return f"aiter@{next((of[1].removeprefix('v') for of in releases if of), UNSTATED)}"

    def parts(self) -> list[Part]:
        """Rows by card."""
        return self._table.parts()

    def table(self, operator: str, limits: Mapping[str, tuple[str, ...]]) -> Table | None:
        """Rows of an operator, with the values of ``limits`` in these columns.

        Raises ParamsError for a file that cannot be read, or a cell that its column does not allow.
        """
        return self._table.select(**limits) if operator == self.kind.operator else None

    @functools.cached_property
    def _table(self) -> Table:
        cells = self._cells()
        try:
            return as_table(self.kind.operator, {
                "card": self._cards(cells), "engine": self.engine,
                **self.kind.columns(cells, self.kind.dtype),
                "time": np.array(_parsed(cells, "us", float, "a time in microseconds")) * US},
                self.name, cells.index)
        except _Wrong as error:
            line, column, text, expected = error.args
            where = row_location(self.name, line)
            if not isinstance(text, str):
                raise ParamsError(f"{where}: lacks the column '{column}', expected the layout of "
                                  "AITER's configurations.") from None
            raise ParamsError(f"{where}, column '{column}': '{text}' is not allowed, expected "
                              f"{expected}.") from None

    def _cells(self) -> pd.DataFrame:
        """Every row as texts by its line; an empty line is none."""
        import pandas as pd

        try:
            rows = csv.reader(io.StringIO(self.path.read_text(encoding="utf-8")))
            head = [cell.strip() for cell in next(rows)]
            lines = dict((rows.line_num, cells) for cells in rows if any(cells))  # noqa: C402
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise ParamsError(f"{self.name}: cannot be read as a CSV file ({error}).") from None
        for line, cells in lines.items():
            if len(cells) not in (len(head), len(head) - 1):  # a tag at the end is often left out
                raise ParamsError(f"{row_location(self.name, line)}: has {len(cells)} cells, "
                                  f"expected {len(head)} as in its head.")
        return pd.DataFrame([dict(zip(head, cells, strict=False)) for cells in lines.values()],
                            list(lines), list(dict.fromkeys(head)), dtype=object)

    def _cards(self, cells: pd.DataFrame) -> list[str]:
        """The device of every row; one without an entry keeps architecture and units."""
        known = {count: architecture for architecture, count in reversed(CARDS)}
        counts = _parsed(cells, "cu_num")
        architectures = _parsed(cells, "gfx") if "gfx" in cells else [""] * len(counts)
        pairs = [(architecture or known.get(units, AMD), units)
                 for architecture, units in zip(architectures, counts, strict=True)]
        cards = {pair: CARDS.get(pair, "-".join(pair)) for pair in pairs}
        if MI325X.fullmatch(self.path.stem):
            cards = {pair: "amd-mi325x" if card == "amd-mi300x" else card
                     for pair, card in cards.items()}
        return [cards[pair] for pair in pairs]
