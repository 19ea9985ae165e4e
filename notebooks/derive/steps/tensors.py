"""Tensors by their shapes: what the count of parameters starts from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import sympy

from notebooks.derive.formulas.symbols import latex, sym


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


@dataclass(frozen=True)
class Kind:
    """Grouped-query attention of one kind of layers: how many there are, and their heads.

    Attributes:
        layers: of the kind [1].
        heads, kv: query heads, and key and value heads [1].
        key, value: elements of a key and of a value [1].
        made: share of the values that are projected: none where keys serve as values [1].
    """

    layers: sympy.Expr
    heads: sympy.Expr
    kv: sympy.Expr
    key: sympy.Expr
    value: sympy.Expr
    made: sympy.Expr

    @property
    def pair(self) -> sympy.Expr:
        """Elements of a key and a value [1]."""
        return self.key + self.value

    @property
    def projected(self) -> sympy.Expr:
        """Elements of both that are projected [1]."""
        return self.key + self.made * self.value


def kinds() -> tuple[Kind, Kind]:
    """Layers with a cache without a window, and those with one."""
    full = sym.full_attention_layers
    return (Kind(full, sym.num_attention_heads, sym.num_key_value_heads, sym.head_dim,
                 sym.v_head_dim, 1 - sym.value_from_key),
            Kind(sym.num_hidden_layers - sym.linear_layers - full,
                 sym.window_num_attention_heads, sym.window_num_key_value_heads,
                 sym.window_head_dim, sym.window_v_head_dim, sympy.S.One))


def over_kinds(of: Callable[[Kind], sympy.Expr]) -> sympy.Expr:
    """Sum over all layers with a cache of what a layer of each kind has."""
    return sympy.Add(*(kind.layers * of(kind) for kind in kinds()))


def kv_share(ranks: sympy.Expr) -> sympy.Expr:
    """Key and value projections on one of so many ranks, the mean layer [1]."""
    full, windowed = kinds()
    of_windows = sym.window_kv_parameters
    return ((sym.attention_kv_parameters - of_windows) / sympy.Min(ranks, full.kv)
            + of_windows / sympy.Min(ranks, windowed.kv))


def size(tensors: Iterable[Tensor], cut: str | None = None) -> sympy.Expr:
    """Elements of some tensors, of all or of those that are cut in one way."""
    return sympy.Add(*(t.size for t in tensors if cut in (None, t.cut)))
