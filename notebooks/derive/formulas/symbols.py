"""SymPy symbols with the names, letters and signs of ``params/symbols.yml``.

``sym.hidden_size`` is the symbol of a quantity; ``latex(expr)`` prints with the book's letters.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping
from typing import Any

import sympy
from sympy.functions.elementary.miscellaneous import MinMaxBase
from sympy.printing.latex import LatexPrinter

import catalogue
from notebooks.derive.formulas.errors import DerivationError

EULER = sympy.Rational("0.5772156649015329")  # gamma, to the digits of a double; printed as it
LARGEST_DENOMINATOR = 100  # of a multiple of gamma that is printed as one
# Plain numbers that need not be integers.
_FRACTIONAL = frozenset({
    "memory_utilization", "hbm_efficiency", "distinct_experts",
    "decode_context_tokens", "decode_attended_tokens", "decode_window_tokens",
    "prompt_variation", "answer_variation", "biased_output_tokens", "biased_cached_tokens",
    "biased_new_tokens", "context_deviation", "prefill_context_tokens",
    "held_tokens", "holding_requests", "cache_occupied", "cache_deviation", "cache_overflow",
    "attention_activation_width", "dense_activation_width", "moe_activation_width",
    "load_overlap", "expert_load_overlap", "expert_row_traffic", "sliced_row_traffic",
    "gathered_row_traffic", "core_row_traffic", "expert_tile_growth", "sliced_tile_growth",
    "largest_expert_tile", "largest_sliced_tile",
    "clock_factor", "clock_spread", "operators_per_layer",
    "placement_residual", "routing_skew", "kv_imbalance", "fullest_cache",
    "mtp_acceptance", "acceptance_decay", "accepted_length",
    "offloaded_share", "host_overlap", "prefix_hit_share", "gemm_tile_rows", "expert_tile_rows",
    "attention_operators", "indexer_operators", "dense_mlp_operators", "routed_expert_operators",
    "shared_expert_operators", "reference_operators",
    "fetched_share", "stored_share", "device_hit_share", "host_hit_share",
    *(f"{phase}_{name}_tokens" for phase in ("decode", "prefill", "burst")
      for name in ("group", "shared")),
    *(f"{phase}_{name}_experts" for phase in ("decode", "prefill", "burst")
      for name in ("distinct", "missing", "storage")),
    *(f"{phase}_{name}_imbalance" for phase in ("decode", "prefill", "burst")
      for name in ("rank", "node")),
    "cached_tokens", "new_tokens", "prefill_tokens", "prefill_attended", "prefill_in_window",
    "prefill_cached", "burst_tokens", "tokens_per_step", "pipeline_bubble", "pool_ratio",
    "block_waste", "absorbed_copies", "alone_share", "shared_chunk", "prompts_per_chunk",
    "prompt_span", "queue_steps", "random_queue", "prompts_per_step", "hold_steps", "hold_wait",
    "chunks_between", "unheld_prompts", "random_share", "shorter_stay",
    "mean_chunks", "meeting_share", "overlap_about", "overlap_nearer", "overlapping",
    "rank_busy", "group_busy", "queue_filled", "fullest_chunk", "prefill_delay_steps",
    "scheduler_recv_interval", "steps_ahead",
    "steady_users",
    "awake_share", "memory_share", "matmul_share", "expert_share", "attention_share", "link_share",
    "servers", "paid_cards", "utilisation", "prompt_cost_share", "site_effectiveness",
    "crossover_utilisation", "crossover_hours", "discount_rate", "owned_years", "annuity",
    "payback_years", "capital_return",
    "users_online", "prompts_met", "first_prompt", "mean_prompt",
    "turn_answer", "shared_prefix", "kept_tokens", "returned_share", "conversation_hits",
    "shortest_fetch", "server_availability", "restarting_share",
})
# Quantities that a shortfall makes negative.
_SIGNED = frozenset({"stage_free_for_kv", "free_for_kv_per_device", "headroom_per_device"})
# Never zero, so that they may stand in a denominator or a logarithm.
_POSITIVE = frozenset({
    "num_hidden_layers", "hidden_size", "vocab_size", "num_attention_heads",
    "num_key_value_heads", "intermediate_size", "tensor_parallel", "pipeline_parallel",
    "data_parallel", "expert_parallel", "routed_ranks", "expert_slices",
    "concurrency", "context_tokens", "output_tokens", "biased_output_tokens",
    "context_deviation", "max_num_batched_tokens", "scheduler_recv_interval", "stream_interval",
    "block_size", "memory_utilization",
    "memory_capacity", "memory_bandwidth", "stage_layers", "multiply_add_flops",
    "gemm_tile_rows", "expert_tile_rows", "clock_factor", "slowest_clock", "reference_operators",
    "kv_imbalance", "fullest_cache", "decode_context_parallel",
    "micro_batches", "devices_per_node",
    "prefill_tokens", "new_tokens", "biased_new_tokens", "burst_tokens", "prompt_chunks",
    "burst_chunks", "burst_requests", "tokens_per_step", "front_end_rate", "prompts_per_chunk",
    "utilisation", "discount_rate", "owned_years", "year_time", "servers", "cooling_load",
    "conversation_turns", "mean_prompt",
    "recompute_quadratic", "between_failures", "repair_time", "group_servers",
    "cost_capital", "money_surplus", "price_card", "price_on_demand", "price_service", "full_power",
})
_POSITIVE_ENDS = ("_weight_bytes", "_element_bytes", "_bandwidth", "_efficiency", "_peak")
_DECIMALS = 5  # that a fraction of tens may have to be printed as 4.91, not as 491/100


@functools.cache
def symbol(name: str) -> sympy.Symbol:
    """The SymPy symbol of a quantity, with the assumptions that its meaning allows.

    Raises DerivationError, with the nearest names, if ``params/symbols.yml`` does not have it.
    """
    known = catalogue.symbols()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3) or ["none"]
        raise DerivationError(f"'{name}' is not a symbol of params/symbols.yml, "
                              f"the nearest names are {', '.join(near)}.")
    parts = set(known[name].unit.split("/")) - {catalogue.units.DIMENSIONLESS}
    assumptions: dict[str, bool] = {"real": True}
    if parts <= set(catalogue.units.COUNTING) and not (
            name in _FRACTIONAL or name.endswith("_efficiency")):
        assumptions["integer"] = True
    if name in _POSITIVE or name.endswith(_POSITIVE_ENDS):
        assumptions["positive"] = True
    elif name not in _SIGNED:
        assumptions["nonnegative"] = True
    return sympy.Symbol(name, **assumptions)


class Symbols:
    """Attribute access to every symbol: ``sym.hidden_size``."""

    def __getattr__(self, name: str) -> sympy.Symbol:
        if name.startswith("_"):
            raise AttributeError(name)
        return symbol(name)

    def __dir__(self) -> list[str]:
        return sorted(catalogue.symbols())


sym = Symbols()


def letter(name: str) -> str:
    """LaTeX of a quantity's symbol."""
    return str(catalogue.symbols()[symbol(name).name].latex)


class _Printer(LatexPrinter):
    """LaTeX without words, so that an equation reads the same in both languages.

    What is subtracted stands after what it is subtracted from. Euler's number stands upright: e is
    also the expert-parallel size.
    """

    def _print_ExpBase(self, expr: sympy.Expr, exp: str | None = None) -> str:
        return self._do_exponent(rf"\mathrm{{e}}^{{{self._print(expr.args[0])}}}", exp)

    def _as_ordered_terms(self, expr: sympy.Add, order: str | None = None) -> list[sympy.Expr]:
        terms = super()._as_ordered_terms(expr, order)
        return sorted(terms, key=lambda term: term.could_extract_minus_sign())

    def doprint(self, expr: sympy.Basic) -> str:
        """LaTeX of an expression, fractions of tens as decimals."""
        return str(super().doprint(expr.xreplace({
            part: sympy.Float(str(part.p / part.q)) for part in expr.atoms(sympy.Rational)
            if part.q % 5 == 0 and 10 ** _DECIMALS % part.q == 0})))

    def _print_Piecewise(self, expr: sympy.Piecewise) -> str:
        branches = [(value, condition) for value, condition in expr.args
                    if condition != sympy.true]
        rows = [rf"{self._print(value)} & {self._print(condition)}"
                for value, condition in branches]
        otherwise = [self._print(sympy.Not(condition)) for _, condition in branches]
        rows.append(rf"{self._print(expr.args[-1][0])} & " + r",\;".join(otherwise))
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


def latex(expr: sympy.Basic | int) -> str:
    """LaTeX of an expression with the letters of ``params/symbols.yml``.

    Factors and terms stand in the order of that file: layers and shapes, then bytes, then
    what is computed from them.
    """
    return _printer().doprint(_in_order(expr))


def latex_of_numbers(expr: sympy.Basic, numbers: Mapping[str, str]) -> str:
    """LaTeX of an expression with a text in the place of each letter, in the order of letters.

    Args:
        expr: the expression.
        numbers: name of a symbol -> LaTeX that takes its place.
    """
    texts = {proxy: numbers[name] for name, proxy in _proxies().items() if name in numbers}
    return _Printer({"symbol_names": texts, "mul_symbol": "times"}).doprint(_in_order(expr))


def latex_terms(expr: sympy.Basic) -> list[str]:
    """LaTeX of the terms of a sum, each with its sign, in the order in which they are printed."""
    expr, printer = _in_order(expr), _printer()
    if not isinstance(expr, sympy.Add):
        return [printer.doprint(expr)]
    texts = [printer.doprint(term) for term in printer._as_ordered_terms(expr)]
    return [texts[0], *(t if t.startswith("-") else f"+ {t}" for t in texts[1:])]


def _in_order(expr: sympy.Basic | int) -> sympy.Basic:
    """The expression with symbols renamed so that SymPy's own sorting gives the file's order.

    Powers of exp(gamma) are given back their letter.
    """
    expr = sympy.Integer(expr) if isinstance(expr, int) else expr
    letters = {power: sympy.exp(times * sympy.EulerGamma) for power in expr.atoms(sympy.exp)
               if power.exp.is_Rational and (times := power.exp / EULER).q <= LARGEST_DENOMINATOR}
    return expr.xreplace({s: proxy for s in expr.atoms(sympy.Symbol)
                          if (proxy := _proxies().get(s.name))} | letters)


@functools.cache
def _proxies() -> dict[str, sympy.Symbol]:
    return {name: sympy.Symbol(f"s{place:03d}", **symbol(name).assumptions0)
            for place, name in enumerate(catalogue.symbols())}


def _printer() -> _Printer:
    known = catalogue.symbols()
    letters = {proxy: known[name].latex for name, proxy in _proxies().items()}
    return _Printer({"symbol_names": letters, "mul_symbol": r"\,"})


# Whenever a maximum or a minimum is built, SymPy asks of every two arguments whether one is never
# below the other; if it cannot tell, it factors their difference and asks again, which was most of
# the time of a chapter and tells of no two arguments of the book. So it is asked once, and of the
# same two only once in a process.
@functools.cache
def compared(first: sympy.Expr, second: sympy.Expr) -> Any:
    """Of two arguments the class that chooses the first, if it always does; True if they are one.

    False if nothing is known, which leaves both to stand.
    """
    if first == second:
        return True
    for (left, right), (above, below) in (((first, second), (sympy.Max, sympy.Min)),
                                          ((second, first), (sympy.Min, sympy.Max))):
        try:
            is_above = left >= right
        except TypeError:  # one of them is not real
            return False
        if is_above in (sympy.true, sympy.false):
            return above if is_above else below
    return False


def _is_connected(kind: Any, first: Any, second: Any) -> Any:
    """What is known of two arguments of a maximum or minimum."""
    return compared(first, second)


MinMaxBase._is_connected = classmethod(_is_connected)
