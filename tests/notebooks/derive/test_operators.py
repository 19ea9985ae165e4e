"""Operator table of the book: its rows equal the reference table."""

from __future__ import annotations

from dataclasses import MISSING, fields
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy

import calc
from calc.physics import work
from calc.physics.kv_cache import cache
from catalogue.entries.formulas import evaluate
from notebooks.derive.formulas.samples import random_inputs
from notebooks.derive.formulas.trees import to_tree
from notebooks.derive.steps.operators import (
    Operator,
    table,
)
from notebooks.derive.steps.phases import PHASES, composition, of
from notebooks.derive.steps.routing import Routing
from reference import operators as coded

SEEDS = range(3)
# Operations per element of a norm differ: both are estimates, and no formula contains them.
ESTIMATED = ("vector",)
# Counted per rank in the book, over all ranks that share a cache in calc.
POSITIONS = ("attended", "in_window", "indexed", "read", "read_in_window", "read_keys")


def latent(seed: int) -> dict:
    """Return a random deployment with latent attention in all layers, and one residual stream."""
    inputs = random_inputs(seed, "mla", alike=True)
    layers = inputs["num_hidden_layers"]
    return inputs | {"hc_mult": 1, "full_attention_layers": layers, "sparse_layers": layers}


def rows_of(phase: str, inputs: dict) -> list[Operator]:
    routing = Routing(*(of(phase, name) for name in (
        "group_tokens", "distinct_experts", "rank_imbalance", "shared_tokens")))
    return table(composition(phase), routing, inputs["q_lora_rank"] > 0)


def value(expr: sympy.Expr, known: dict) -> float:
    return evaluate(to_tree(sympy.sympify(expr)), known)


def deployment(seed: int) -> dict:
    """Return inputs and runtime quantities of a random deployment, as fractions."""
    inputs = latent(seed)
    found = {name: Fraction(float(number))
             for name, number in calc.evaluate(inputs, "mla").items() if np.ndim(number) == 0}
    return found | {name: Fraction(number) for name, number in inputs.items()}


def reference_tables(inputs: dict, known: dict) -> dict[str, list]:
    """Return the reference rows of each phase, from the composition in the book's symbols."""
    q = SimpleNamespace(**{name: float(number) for name, number in inputs.items()})
    names = {"logit_rows": "rows"}
    found = {}
    for phase in PHASES:
        made = composition(phase)
        parts = {field.name: getattr(made, names.get(field.name, field.name))
                 for field in fields(work.Composition) if field.default is MISSING}
        numbers = {name: part if isinstance(part, bool) else
                   float(value(part, known)) * q.micro_batches for name, part in parts.items()}
        whole = float(value(made.sharing_ranks, known))  # calc deals a step's positions itself
        numbers |= {name: numbers[name] * whole for name in POSITIONS}
        numbers["absorbed"] = float(value(made.absorbed, known))  # a form, of any part of a step
        found[phase] = coded.operator_table("mla", q, cache("mla", q),
                                            work.Composition(**numbers))
    return found


def test_rows_equal_the_reference_table():
    columns = ("weight_bytes", "activation_bytes", "kv_bytes")
    for seed in SEEDS:
        inputs, known = latent(seed), deployment(seed)
        for phase, theirs in reference_tables(inputs, known).items():
            ours = sums(rows_of(phase, inputs), known, columns)
            others = calc_sums(theirs, columns)
            for name in ours.keys() | others.keys():
                assert ours.get(name, {}) == pytest.approx(others.get(name, {}), rel=1e-9), (
                    seed, phase, name)


def merged(name: str) -> str:
    """Return the row name under which amounts are compared: expert biases may be split."""
    return "routed" if name in ("routed_gate_up", "routed_down") else name


def sums(rows: list[Operator], known: dict, columns: tuple[str, ...]) -> dict[str, dict]:
    """Return amounts of all layers by row, without empty rows."""
    found: dict[str, dict] = {}
    alone = known["tensor_parallel"] == 1
    for row in rows:
        count = value(row.count, known)
        reduced = row.collective in ("all-reduce", "all-gather", "reduce-scatter")
        if row.name.startswith("mtp_") or not count or (alone and reduced):
            continue
        flops = 0 if row.unit in ESTIMATED else row.flops
        amounts = {"flops": flops} | {name: getattr(row, name) for name in columns}
        add(found, merged(row.name), {key: float(count * value(part, known))
                                      for key, part in amounts.items()})
    return {name: amounts for name, amounts in found.items() if any(amounts.values())}


def calc_sums(rows: list, columns: tuple[str, ...]) -> dict[str, dict]:
    """Return the same of the reference rows."""
    found: dict[str, dict] = {}
    for row in rows:
        flops = 0.0 if row.unit in ESTIMATED else float(row.total("flops"))
        add(found, merged(row.name),
            {"flops": flops} | {name: float(row.total(name)) for name in columns})
    return {name: amounts for name, amounts in found.items() if any(amounts.values())}


def add(found: dict[str, dict], name: str, amounts: dict) -> None:
    before = found.setdefault(name, dict.fromkeys(amounts, 0.0))
    found[name] = {key: before[key] + amount for key, amount in amounts.items()}
