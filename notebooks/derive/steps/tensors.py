"""Tensors by their shapes: what the count of parameters starts from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sympy

from notebooks.derive.formulas.symbols import latex


@dataclass(frozen=True)
class Tensor:
    """A weight tensor of one layer, or of the model.

    Attributes:
        name: English and Chinese.
        shape: its extents.
        cut: how tensor parallelism stores it: ``heads`` (a share per rank), ``kv`` (by key/value
            heads, at most so many shares) or ``whole`` (on every rank).
    """

    name: tuple[str, str]
    shape: tuple[sympy.Expr | int, ...]
    cut: str = "heads"

    @property
    def size(self) -> sympy.Expr:
        """Number of elements."""
        return sympy.Mul(*self.shape)

    @property
    def latex(self) -> str:
        """The shape as inline mathematics."""
        def extent(value: sympy.Expr | int) -> str:
            return rf"({latex(value)})" if isinstance(value, sympy.Add) else latex(value)

        return "$" + r" \times ".join(map(extent, self.shape)) + "$"


def size(tensors: Iterable[Tensor], cut: str | None = None) -> sympy.Expr:
    """Elements of some tensors, of all or of those that are cut in one way."""
    return sympy.Add(*(t.size for t in tensors if cut in (None, t.cut)))
