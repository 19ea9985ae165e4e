"""How the tokens of a step meet the experts of a layer, and which rank has most."""

from __future__ import annotations

from dataclasses import dataclass

import sympy
from sympy import Expr, Max, Min
from sympy.logic.boolalg import Boolean

from notebooks.derive.formulas.symbols import sym
from notebooks.derive.steps.rows import where


@dataclass(frozen=True)
class Routing:
    """How the tokens of a step meet the routed experts.

    Attributes:
        group_tokens: tokens that share one set of experts, G [token].
        distinct_experts: experts of a layer that they touch, E [1].
        rank_imbalance: what the fullest rank has above the mean, as a share of it [1].
        shared_tokens: tokens that each shared expert on a rank multiplies [token].
    """

    group_tokens: Expr
    distinct_experts: Expr
    rank_imbalance: Expr
    shared_tokens: Expr

    @property
    def slowest(self) -> Expr:
        """Load of the slowest rank over the mean [1]."""
        return 1 + self.rank_imbalance

    @property
    def rows(self) -> Expr:
        """Rows that the slowest rank computes [token]."""
        return (self.slowest * self.group_tokens * sym.num_experts_per_tok
                / sym.routed_ranks)

    @property
    def read(self) -> Expr:
        """Experts of a layer whose weights the group of the slowest rank reads [1]."""
        return Min(sym.n_routed_experts, self.slowest * self.distinct_experts)


def sharing_ranks() -> Expr:
    """Ranks that together hold one set of experts: each expert once, slice by slice [1]."""
    return sym.expert_parallel * sym.expert_slices


def own_outputs() -> Expr:
    """Share of the outputs that a rank computes where routed experts' rows get back to the width of
    the model [1]: all, or its part where the ranks of tensor parallelism divide that projection."""
    return 1 - sym.latent_output_divided * (1 - 1 / sym.tensor_parallel)


def of_experts(whole: Expr, slices: Expr) -> Expr:
    """What holds of the experts of a rank: whole ones, or slices."""
    return sympy.Piecewise((slices, sym.expert_slices > 1), (whole, True))


def has_all() -> Boolean:
    """Whether a rank has the tokens of all that share its experts."""
    return Max(sym.exchange_gathered, 1 + sym.tensor_parallel - sharing_ranks()) > 0


def expert_tile(slowest: Expr, together: Expr) -> Expr:
    """Rows of a tile of experts [1]: the smallest, or as many as suit the mean rows of an expert
    among those that the rank has before it, up to the largest."""
    mean = together * sym.num_experts_per_tok / Max(sym.n_routed_experts, 1)
    grown = mean * sympy.Piecewise(
        (sym.sliced_tile_growth * slowest, sym.expert_slices > 1),
        (sym.expert_tile_growth * sym.routed_ranks, has_all()),
        (sym.expert_tile_growth * slowest, True))
    return Max(sym.expert_tile_rows,
               Min(grown, of_experts(sym.largest_expert_tile, sym.largest_sliced_tile)))


def moved_rows(rows: Expr, together: Expr) -> Expr:
    """Rows of experts that are moved besides their matmuls, each as often as it is [token]: those
    of the rank, and where it has the tokens of all also those of all experts."""
    of_all = where(has_all(), sym.gathered_row_traffic * together * sym.num_experts_per_tok)
    return of_experts(sym.expert_row_traffic * rows + of_all, sym.sliced_row_traffic * rows)


def of_either(shared: Expr, routed: Expr) -> Expr:
    """What the fullest rank has of shared and routed experts: both, or the more if apart."""
    return sympy.Piecewise((Max(shared, routed), sym.shared_expert_ranks > 0),
                           (shared + routed, True))
