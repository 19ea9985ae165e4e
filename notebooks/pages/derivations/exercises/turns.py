"""Answers to *Your turn*: of DeepSeek-R1 on eight H200, as its command line sets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import catalogue
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations.diagrams.bursts import ends
from notebooks.show.display import number, numbers
from notebooks.show.numbers import fmt_bytes, fmt_count, fmt_fixed, fmt_percent, fmt_time

R1, V4, V4_MODEL = ("h200-r1-vllm-tp8", "engine=vllm"), ("v4-pro-8xb300",), "deepseek-v4-pro"
LONG = {"concurrency": 1, "input_tokens": 130560, "output_tokens": 512}
DEEP = {"input_tokens": 32768, "output_tokens": 512}
USUAL = {"input_tokens": 2048, "output_tokens": 512}
BURST = {"concurrency": 8, "input_tokens": 4096, "output_tokens": 512}
FEW, MANY = 1, 64  # users that are compared
MOST = 512  # users among whom a crossing is looked for
SHARED = 32  # users of a step with speculative tokens


def asked(derivation: Derivation, deployment: Sequence[str], workload: Mapping[str, int],
          attention: str = "mla") -> dict[str, Any]:
    """Inputs and quantities of a scenario, and what is set of it, with a workload, as ``--set``."""
    scenario, *settings = deployment
    changes = (*settings, *(f"workload.{key}={value}" for key, value in workload.items()))
    inputs = catalogue.load_scenario(scenario, overrides=changes).inputs()
    return inputs | derivation.values(inputs, attention)


def experts() -> None:
    """Parameters of a routed expert of DeepSeek-V4-Pro, and what all and the chosen ones have."""
    inputs = catalogue.model_inputs(catalogue.load_model(V4_MODEL))
    one = 3 * inputs["hidden_size"] * inputs["moe_intermediate_size"]
    layers = inputs["num_hidden_layers"] - inputs["first_k_dense_replace"]
    per_layer = {"all": inputs["n_routed_experts"], "chosen": inputs["num_experts_per_tok"]}
    number("turn-expert", one)
    numbers({"turn-count": per_layer["all"], "turn-of-token": per_layer["chosen"],
             "turn-layers": layers})
    numbers({f"turn-{name}": one * layers * count for name, count in per_layer.items()}, fmt_count)


def cache(derivation: Derivation) -> None:
    """The KV cache of one long request on one card, of R1 and of V4-Pro."""
    number("turn-long", LONG["input_tokens"] + LONG["output_tokens"])
    for name, scenario, attention in (("r1", R1, "mla"), ("v4", V4, "csa")):
        held = asked(derivation, scenario, LONG, attention)["kv_per_device"]
        number(f"turn-cache-{name}", held, fmt_bytes)


def crossing(derivation: Derivation) -> None:
    """From how many users the attention core takes longer than the routed experts."""
    def experts_first(users: int) -> bool:
        values = asked(derivation, R1, DEEP | {"concurrency": users})
        return bool(values["decode_core_time"] < values["decode_routed_expert_time"])

    low, high = 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if experts_first(middle) else (low, middle)
    assert high < MOST, "Before the cache is full, the attention core takes the longer."
    numbers({"turn-crossing": high, "turn-context": DEEP["input_tokens"]})


def sent(derivation: Derivation) -> None:
    """What share of the time per output token all-reduces take, for one user and for many."""
    for users in (FEW, MANY):
        values = asked(derivation, R1, USUAL | {"concurrency": users})
        number(f"turn-sent-{users}", values["decode_communication_time"] / values["tpot"],
               fmt_percent, digits=1)
        number(f"turn-token-{users}", values["tpot"], fmt_time)
    number("turn-many", MANY)
    number("turn-engine", catalogue.load_scenario(R1[0], overrides=R1[1:]).engine, str)


def speculation(derivation: Derivation) -> None:
    """How much sooner the next token comes with one speculative token."""
    plain, drafted = (asked(
        derivation, R1, USUAL | {"concurrency": SHARED, "draft_tokens": count})
                      for count in (0, 1))
    number("turn-faster", plain["steady_tpot"] / drafted["steady_tpot"], fmt_fixed)
    number("turn-step", drafted["decode_step_time"] / plain["decode_step_time"], fmt_fixed)
    number("turn-users", SHARED)


def law_of_users(derivation: Derivation) -> None:
    """By how much users over the time per token exceed the throughput of a burst."""
    values = asked(derivation, R1, USUAL | {"concurrency": MANY})
    most = MANY / values["tpot"]
    number("turn-above", most / values["output_throughput"] - 1, fmt_percent, digits=0)
    numbers({"turn-many": MANY, "turn-answer": USUAL["output_tokens"]})


def last_of_a_burst(derivation: Derivation) -> None:
    """When the last of a burst has its first token, over the mean of all."""
    values = asked(derivation, R1, BURST)
    tokens = ends(values)
    number("turn-last", tokens[-1] / values["ttft"], fmt_fixed)
    numbers({"turn-burst": BURST["concurrency"], "turn-burst-prompt": BURST["input_tokens"]})
    number("turn-chunks", values["burst_chunks"])
