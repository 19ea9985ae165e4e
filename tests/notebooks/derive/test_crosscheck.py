"""Two codings of every formula, the notebooks' and ``calc``'s, agree to 1e-9."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from _cases import usual

import calc
import catalogue
from notebooks.derive.crosscheck import (
    TOLERANCE,
    crosscheck,
    crosscheck_costs,
    crosscheck_decisions,
    hold_within_bounds,
)
from notebooks.derive.formulas.exported import (
    DECIDING,
    VARIANTS,
    DerivationError,
    load_formulas,
    of_notebook,
)
from notebooks.derive.formulas.samples import random_costs, random_inputs

FORMULAS = load_formulas()
DEPLOYMENTS, MODELS, SEEDS = catalogue.deployment_names(), catalogue.names("models"), range(100)
WIDTHS = ("hidden_size", "intermediate_size", "moe_intermediate_size", "routed_expert_hidden_size",
          "head_dim", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim",
          "v_head_dim", "index_head_dim", "linear_key_head_dim", "linear_value_head_dim",
          "o_lora_rank", "vocab_size", "input_tokens", "output_tokens")
EDGES = {
    "nothing divides evenly": {},
    "one output token": {"output_tokens": 1, "think_time": 0.5},
    "one user": {"concurrency": 1, "input_tokens": 3},
    "open arrivals": {"open_arrivals": 1, "output_tokens": 7.5, "stream_interval": 1},
    "separate pools": {"separate_pools": 1, "open_arrivals": 1, "concurrency": 97},
    "delayed prefill": {"prefill_delay_steps": 1, "separate_pools": 0, "concurrency": 53},
    "one-token chunks": {"max_num_batched_tokens": 1, "input_tokens": 2, "prefix_hit_share": 0.5},
}


@pytest.mark.parametrize("name", usual(DEPLOYMENTS, 5))
def test_formulas_equal_runtime_on_deployments(name):
    scenario = catalogue.load_scenario(name)
    assert crosscheck(scenario.inputs(), scenario.model.attention).worst <= TOLERANCE


@pytest.mark.parametrize("name", usual(MODELS, 5))
def test_formulas_equal_runtime_on_models(name):
    model = catalogue.load_model(name)
    inputs = {**catalogue.load_scenario("s0-scenario-1").inputs(), **catalogue.model_inputs(model)}
    assert crosscheck(inputs, model.attention).worst <= TOLERANCE


@pytest.mark.parametrize("first", usual(range(10), 5))
def test_formulas_equal_runtime_on_random_deployments(first):
    for seed in SEEDS[first::10]:
        for attention in VARIANTS:
            assert crosscheck(random_inputs(seed, attention), attention).worst <= TOLERANCE


def uneven(seed: int, attention: str) -> dict[str, Any]:
    """Inputs of a random deployment whose widths divide by no number of ranks."""
    inputs = random_inputs(seed, attention)
    return inputs | {name: inputs[name] + eighths / 8 for eighths, name in enumerate(WIDTHS, 2)
                     if inputs[name] > 1}


@pytest.mark.parametrize("attention", VARIANTS)
@pytest.mark.parametrize("name", EDGES)
def test_formulas_equal_runtime_at_edges(attention, name):
    for seed in (106, 107):
        assert crosscheck(uneven(seed, attention) | EDGES[name], attention).worst <= TOLERANCE


@pytest.mark.parametrize("name", ["h200-v32-vllm-tp8", "h200-r1-vllm-tp8"])
def test_formulas_equal_runtime_where_requests_wait_for_the_cache(name):
    scenario = catalogue.load_scenario(name)
    inputs = scenario.inputs() | {"concurrency": 2000, "input_tokens": 30_000,
                                  "context_tokens": 32_000}
    assert crosscheck(inputs, scenario.model.attention).worst <= TOLERANCE


@pytest.mark.parametrize("seed", range(8))
def test_cost_and_capacity_formulas_equal_runtime(seed):
    assert crosscheck_costs(random_costs(seed)).worst <= TOLERANCE
    assert crosscheck_decisions(seed).worst <= TOLERANCE


def test_cost_and_capacity_formulas_are_all_compared():
    compared = {row.name for report in (crosscheck_costs(random_costs(0)), crosscheck_decisions(0))
                for row in report.rows}
    assert compared == {name for notebook in DECIDING for name in of_notebook(FORMULAS, notebook)}


@pytest.mark.parametrize(("factor", "message"), [
    (2, "disagree: .*usable_memory is 1112"), (1 + 1e-8, "disagree"),
    (None, r"usable_memory \(only in calc\)")])
def test_disagreement_and_missing_quantities_are_reported(factor, message):
    scenario = catalogue.load_scenario("s0-scenario-1")
    formulas = dict(FORMULAS)
    usable = formulas.pop("usable_memory")
    if factor:
        formulas["usable_memory"] = replace(usable, tree=["multiply", factor, usable.tree])
    with pytest.raises(DerivationError, match=message):
        crosscheck(scenario.inputs(), "mla", formulas)


@pytest.mark.parametrize("factor", [1 / 4, 4])
def test_step_times_lie_within_independent_bounds(factor):
    scenario = catalogue.load_scenario("s2-910b1-awq")
    computed = calc.evaluate(scenario.inputs(), "mla")
    hold_within_bounds(computed, scenario.inputs())
    computed["prefill_step_time"] = computed["prefill_step_time"] * factor
    with pytest.raises(DerivationError, match=r"prefill_step_time is .* expected between"):
        hold_within_bounds(computed, scenario.inputs())
