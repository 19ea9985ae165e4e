"""Dimension check of formulas, from the units of ``params/symbols.yml``.

Dimensions must agree in every sum, minimum, maximum, comparison and branch, and with the unit of
the quantity that a formula defines. Tokens, requests and blocks are *counted*: a plain number may
be added to them, and they may be rounded; bytes, operations, seconds, joules and currencies may
not. A few formulas change what is counted, each for the reason in ``COUNTED_ANEW``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sympy
from sympy.core.relational import Relational

import catalogue
from catalogue.ledger.claims import text as named
from catalogue.reading.units import uncounted
from notebooks.derive.formulas.exported import DerivationError
from notebooks.derive.formulas.trees import Over

Dimensions = dict[str, sympy.Rational]
COUNTED_ANEW = {name: reason for reason, names in {
    "entries, rows, widths and keys are elements of one token":
        """exchange_buffers kv_index_bytes_per_token kv_layer_bytes_per_token kv_entry_bytes
        kv_window_entry_bytes layer_activations logit_activations expert_activations
        index_workspace activations_per_device""",
    "pages, windows, states and half a block are those of one request, entries of one token":
        """held_tokens state_bytes_per_device state_bytes_per_request block_tokens
        state_blocks_per_request prompt_blocks layer_block_bytes max_concurrency mean_requests
        layer_state_pool stage_workload_kv headroom_per_device stage_kv_blocks longest_requests
        cache_tokens""",
    "a decode step takes one token of each request, or yields one, drafts counted as numbers":
        "expert_group_tokens throughput_ceiling tokens_per_step cards_power",
    "a deviation falls, and a variance grows, with the number of requests":
        "fullest_cache cache_deviation",
    "a prompt, an answer, a transfer or tokens sent together are those of one request":
        """served_requests held_time bench_count ttft stream_gap pool_ratio kv_port_time
        cache_load_time prompt_chunks e2e prompt_interruption riding_cores riding_time
        prompt_span return_wait random_wait steady_stall pool_wait steady_queue steady_e2e
        steady_ttft steady_request_throughput steady_throughput prompt_growth step_left
        others_rate queue_filled queue_steps random_queue prompts_per_step random_share
        steady_decode chunks_between unheld_prompts rank_busy coming_prompts released_prompts
        releases hold_steps hold_wait group_busy fullest_chunk own_chunk_tokens busy_step
        own_chunk least_work returned_decode random_decode lighter_step steady_pace
        steady_prefill steady_users prompt_work replica_others shorter_stay mean_chunks
        deeper_chunk meeting_share overlap_about overlap_nearer overlapping receive_wait
        wave_ttft later_ttft bench_ttft bench_tpot bench_throughput place_wait burst_place_wait
        pools_rate best_prefill_devices best_pools_rate request_throughput""",
    "devices of a node load together": "loading_time",
}.items() for name in names.split()}
STEPS = ("decode_", "prefill_", "burst_")


def of_unit(unit: str) -> Dimensions:
    """Dimensions of a unit: ``B/token`` -> {information: 1, token: -1}."""
    return {name: sympy.Integer(power)
            for name, power in catalogue.units.dimensions(unit).items()}


def check(name: str, expr: sympy.Expr) -> None:
    """Refuse a formula whose dimensions do not agree with each other or with its unit.

    Raises DerivationError with the formula's name, the two sides and their units.
    """
    found, declared = of(expr, name), catalogue.symbols()[name].unit
    expected = of_unit(declared)
    if _counts_anew(name):
        found, expected = uncounted(found), uncounted(expected)
    if expr != 0 and found != expected:
        raise DerivationError(f"formula '{name}' comes out in {text(found)}, "
                              f"but its unit in params/symbols.yml is {declared}.")


def of(expr: sympy.Basic, formula: str) -> Dimensions:
    """Dimensions of an expression; ``formula`` names it in errors."""
    if isinstance(expr, sympy.Symbol):
        known = catalogue.symbols()
        return of_unit(known[expr.name].unit) if expr.name in known else {}
    if isinstance(expr, sympy.Mul):
        total: Dimensions = {}
        for arg in expr.args:
            for name, power in of(arg, formula).items():
                total[name] = total.get(name, 0) + power
        return {name: power for name, power in total.items() if power != 0}
    if isinstance(expr, sympy.Pow):
        return _power(expr, formula)
    if isinstance(expr, (sympy.Add, sympy.Max, sympy.Min)):
        return _agree(expr.args, formula)
    if isinstance(expr, (sympy.ceiling, sympy.floor)):
        return _counted(expr.args[0], formula, f"{type(expr).__name__} of")
    if isinstance(expr, (sympy.log, sympy.exp)):
        _counted(expr.args[0], formula, f"{type(expr).__name__} of")
        return {}
    if isinstance(expr, sympy.Piecewise):
        for _, condition in expr.args:
            if isinstance(condition, Relational):
                _agree(condition.args, formula)
        return _agree([value for value, _ in expr.args], formula)
    if isinstance(expr, Over):
        _counted(expr.args[1], formula, "count of")
        return of(expr.args[2], formula)
    return {}


def text(dimensions: Mapping[str, sympy.Rational]) -> str:
    """Readable form of dimensions, e.g. ``B/s``."""
    return named(dimensions) if dimensions else "plain numbers"


def _power(expr: sympy.Pow, formula: str) -> Dimensions:
    base = of(expr.base, formula)
    _counted(expr.exp, formula, "exponent")
    if base and not expr.exp.is_Rational and not uncounted(base):
        return {}  # a count, as in a logarithm
    if base and not expr.exp.is_Rational:
        raise DerivationError(f"formula '{formula}' raises {expr.base} [{text(base)}] to the "
                              f"power {expr.exp}, which is not a fixed number.")
    return {name: power * expr.exp for name, power in base.items()}


def _agree(args: Iterable[sympy.Basic], formula: str) -> Dimensions:
    """The common dimensions of arguments; zero agrees with all, other numbers with counts."""
    first: sympy.Basic | None = None
    common: Dimensions = {}
    for arg in sorted(args, key=lambda arg: bool(arg.is_number)):
        if arg == 0:
            continue
        powers = of(arg, formula)
        if arg.is_number and not uncounted(common):
            continue
        if first is None:
            first, common = arg, powers
        elif powers != common and not (_counts_anew(formula)
                                      and uncounted(powers) == uncounted(common)):
            raise DerivationError(f"formula '{formula}' puts {first} [{text(common)}] beside "
                                  f"{arg} [{text(powers)}].")
    return common


def _counts_anew(formula: str) -> bool:
    """Whether a formula changes what is counted, so that only the other dimensions must agree."""
    return formula in COUNTED_ANEW or formula.startswith(STEPS)


def _counted(arg: sympy.Basic, formula: str, where: str) -> Dimensions:
    powers = of(arg, formula)
    if hard := uncounted(powers):
        raise DerivationError(f"formula '{formula}' takes the {where} {arg}, which is in "
                              f"{text(hard)} and not a count.")
    return powers
