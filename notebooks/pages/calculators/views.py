"""What the calculators show of a deployment: quantities, and sums of them, as trees of formulas."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from calc.answer.steady_state import STEADY
from calc.physics.step import CLASSES, DEVICE
from catalogue.entries.formulas import symbols_of
from notebooks.derive.formulas.exported import COST, load_formulas, of_notebook, select
from notebooks.show.arithmetic import OFFERED

ATTENTIONS = ("mla", "gqa", "csa")
FITS = ("headroom_per_device", "memory_per_device", "usable_memory", "max_concurrency",
        "kv_blocks", "blocks_per_request", "kv_bytes_per_token")
FAST = ("tpot", "ttft", "e2e", "output_throughput", "tpot_floor", "throughput_ceiling")
FLOOR = "tpot_floor"
MEASURED = (*FITS[:1], "max_concurrency", *FAST[:4])  # with an error of the formulas' own
RANGED = (*MEASURED, *STEADY)  # shown with an interval; those of a steady state have a burst's
STEP = (*DEVICE, "overlap", "single_token_path", "host", "host_gap", "draft", "idle_ranks", "stall")
PHASES = ("decode", "prefill")
MONEY = ("cost_request", "cost_input_token", "cost_output_token")
# what the page sets itself of a price
PRICED = ("price_card", "utilisation")


def _less(first: Any, *others: Any) -> Any:
    return ["add", first, *(["multiply", -1, other] for other in others)]


def memory_parts() -> dict[str, Any]:
    """What the memory of a stage's card holds [B]; the parts sum to what it takes."""
    return {
        "memory_weights": "stage_weights",
        "memory_copies": _less("usable_memory", "working_memory", "stage_weights",
                               "stage_free_for_kv"),
        "memory_cache": "stage_workload_kv",
        "memory_activations": "activations_per_device",
        "memory_buffers": "exchange_buffers",
        "memory_runtime": ["add", "loading_reserve", "workspaces"],
        "memory_graphs": "graph_memory",
        "memory_over": _less("stage_workload_kv", "stage_free_for_kv")}


def step_parts() -> dict[str, Any]:
    """What the time per output token is made of [s], as ``calc.physics.step`` has it."""
    def each(part: Any) -> Any:
        return ["divide", part, "tokens_per_step"]

    longer = ["max", "decode_device_time", "decode_host_time"]
    found = {name: each(["multiply", "micro_batches", f"decode_{name}_time"]) for name in DEVICE}
    found |= {
        "overlap": each(["multiply", -1, "decode_hidden_time"]),
        "single_token_path": each(["multiply", -1, "decode_saved_time"]),
        "host": each(["max", 0, _less("decode_host_time", "decode_device_time")]),
        "host_gap": each(_less("decode_step_time", longer)), "draft": each("draft_time"),
        "idle_ranks": ["add", "steady_pace", each(["multiply", -1, [
            "add", "decode_step_time", "draft_time"]])],
        "stall": "decode_stall"}
    return {f"step_{name}": found[name] for name in STEP}


def rooflines() -> dict[str, Any]:
    """Operations per byte of the operators of either phase, and what each reaches [FLOP/s]."""
    found: dict[str, Any] = {}
    for phase in PHASES:
        for name in CLASSES:
            work, read = f"{phase}_{name}_flops", f"{phase}_{name}_bytes"
            found[f"intensity_{phase}_{name}"] = ["divide", work, read]
            found[f"reached_{phase}_{name}"] = ["divide", work, f"{phase}_{name}_time"]
    return found


def costs() -> dict[str, Any]:
    """Cards that are paid, and for how long they are busy with a prompt and with an answer.

    Prompts with a pool of their own have as many cards beside as keep up, and either pool is
    charged its cards, however busy they are: ``calc.costing.cost``.
    """
    step = ["add", "decode_step_time", "draft_time"]

    def of_pools(apart: Any, together: Any) -> Any:
        return ["piecewise", [["gt", "separate_pools", 0], apart], together]

    cards = ["multiply", "tensor_parallel", "pipeline_parallel", "data_parallel"]
    prompt = ["divide", ["multiply", "tensor_parallel", "burst_step_time", "new_tokens"],
              "burst_tokens"]
    answer = ["divide", ["multiply", "tensor_parallel", "output_tokens", step],
              ["multiply", "decode_batch", "tokens_per_step"]]
    beside = ["multiply", "request_throughput", prompt]
    own = {"paid_cards": ["add", cards, of_pools(beside, 0)],
           "prompt_card_time": of_pools(beside, prompt),
           "answer_card_time": of_pools(cards, answer)}
    priced = of_notebook(load_formulas(), COST)
    return own | {name: priced[name].tree for name in ("prompt_cost_share", *MONEY)}


@functools.cache
def trees(attention: str) -> Mapping[str, Any]:
    """Every formula by name: those of the lock file, and what the calculators make of them."""
    chosen = {name: one.tree for name, one in select(load_formulas(), attention).items()}
    return chosen | memory_parts() | step_parts() | rooflines() | costs()


def calculator_quantities() -> list[str]:
    """The quantities that the calculators show, and those with sliders of their own."""
    return [*FITS, *FAST, *STEADY, *memory_parts(), *step_parts(), *rooflines(), *costs(), *OFFERED]


@functools.cache
def input_symbols(attention: str) -> frozenset[str]:
    """Input symbols that they take."""
    known = trees(attention)
    seen: set[str] = set()
    todo = calculator_quantities()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += symbols_of(known[name]) if name in known else ()
    return frozenset(seen - known.keys() - {"stage", *PRICED})
