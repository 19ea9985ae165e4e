"""Rows of the operator table: what one is, and those that every kind of attention has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import sympy
from sympy import Expr

from notebooks.derive.formulas.symbols import latex, sym

VECTOR = "vector"
# Operations per element: a norm with its residual; a gate with its SiLU.
NORM_FLOPS, GATE_FLOPS = 5, 5


@dataclass(frozen=True)
class Operator:
    """A row of the table.

    Attributes:
        name: of the operator.
        layer: ``dense``, ``moe`` or ``every`` layer, or ``outside`` of the layers.
        count: how often a step has it [1].
        unit: what it keeps busy: ``matrix``, ``vector`` or ``link``.
        cls: class that its operations, activations and cache are summed into.
        flops: operations of one occurrence [FLOP].
        weight_bytes, activation_bytes, kv_bytes: bytes that one occurrence moves [B].
        collective: ``all-reduce``, ``all-gather``, ``dispatch``, ``combine`` or none.
        payload: bytes of a rank that go into the collective, before any is copied [B].
        weights_in: class that the weights are summed into: norms are stored with attention.
    """

    name: str
    layer: str
    count: Expr
    unit: str
    cls: str
    flops: Expr = sympy.S.Zero
    weight_bytes: Expr = sympy.S.Zero
    activation_bytes: Expr = sympy.S.Zero
    kv_bytes: Expr = sympy.S.Zero
    collective: str | None = None
    payload: Expr = sympy.S.Zero
    weights_in: str = ""

    @property
    def bytes(self) -> Expr:
        """All bytes that one occurrence moves [B]."""
        return self.weight_bytes + self.activation_bytes + self.kv_bytes

    @property
    def home(self) -> str:
        """Class that the weights are summed into."""
        return self.weights_in or self.cls


def where(condition: sympy.Basic, value: Expr) -> Expr:
    """The value where a condition holds, else nothing."""
    return sympy.Piecewise((value, condition), (0, True))


def matmul(tokens: Expr, inputs: Expr, outputs: Expr) -> Expr:
    """Operations of multiplying rows by a matrix [FLOP]: one multiply-add per weight and row."""
    return sym.multiply_add_flops * tokens * inputs * outputs


def norm(name: str, tokens: Expr, layers: Expr) -> Operator:
    """A norm that adds the residual first: hidden state and residual are read and written."""
    d = sym.hidden_size
    return Operator(
        name, "every", layers, "vector", VECTOR, flops=NORM_FLOPS * d * tokens,
        weight_bytes=d * sym.norm_weight_bytes, weights_in="attention",
        activation_bytes=4 * d * tokens * sym.activation_element_bytes)


def inner_norm(name: str, width: Expr, tokens: Expr) -> Operator:
    """A norm inside of attention: fused with the projection before it, weights alone are read."""
    return Operator(
        name, "every", sym.num_hidden_layers, "vector", "attention",
        flops=NORM_FLOPS * width * tokens, weight_bytes=width * sym.norm_weight_bytes)


def output(row: Operator, tokens: Expr, held: Expr, dealt: Expr, sums: Expr | int) -> Operator:
    """A matrix behind the heads, which may stay cut where prompts are dealt over ranks.

    Args:
        row: of the matrix with all heads of a rank's own tokens.
        tokens: of them [token].
        held: elements of that matrix [1].
        dealt: ranks over which the tokens are dealt [1].
        sums: elements per token that are partial sums where it stays cut [1].
    """
    cut = sym.context_output_cut
    return replace(
        row, weight_bytes=row.weight_bytes - cut * (1 - 1 / dealt) * held
        * sym.attention_weight_bytes, activation_bytes=row.activation_bytes
        + cut * (dealt - 1) * sums * tokens * sym.activation_element_bytes)


def projection(name: str, tokens: Expr, inputs: Expr, outputs: Expr, *, width: Expr | None = None,
                per_token: Expr | None = None, bias: Expr | int = 0) -> Operator:
    """A matrix of attention: ``inputs`` by ``outputs`` on this rank.

    Args:
        name: of the row.
        tokens: rows that are multiplied [token].
        inputs, outputs: shape of the matrix [1].
        width: bytes per weight, that of attention weights if left out [B].
        per_token: elements read and written per token, both sides if left out [1].
        bias: numbers beside the matrix that count as parameters [1].
    """
    moved = inputs + outputs if per_token is None else per_token
    return Operator(
        name, "every", sym.num_hidden_layers, "matrix", "attention",
        flops=matmul(tokens, inputs, outputs) + sym.multiply_add_flops * tokens * bias,
        weight_bytes=(inputs * outputs + bias) * (width or sym.attention_weight_bytes),
        activation_bytes=moved * tokens * sym.activation_element_bytes)


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
