"""What an engine prints of its cache when it starts, predicted, in the engine's own words.

Source: notebooks/memory.md, section What an engine allocates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calc.closed_form.evaluate import evaluate
from calc.uncertainty.amount import Amount
from catalogue import Scenario

GIB = 2**30
FORMS = {
    "vllm": "GPU KV cache size: {tokens:,.0f} tokens, maximum concurrency for {length:,.0f} tokens "
            "per request: {requests:.2f}x",
    "sglang": "max_total_num_tokens={tokens:.0f}, context_len={length:.0f}",
    "tensorrt-llm": "Allocated {memory:.2f} GiB for max tokens in paged KV cache ({tokens:.0f})"}
FORMS["vllm-ascend"] = FORMS["vllm"]
"""Engine -> the line that it prints, of one replica."""
NOTABLE = 0.01  # of the memory for the cache, from which on a prompt's further blocks are told


@dataclass(frozen=True)
class StartupLine:
    """The line of one replica.

    Attributes:
        text: as the engine prints it.
        tokens: of the cache, with the 80% interval [token].
        requests: of the longest length that it holds, not a whole number [request].
    """

    text: str
    tokens: Amount
    requests: float


def startup_line(scenario: Scenario, quantities: Mapping[str, Amount],
                 everything: Mapping[str, Any]) -> StartupLine | None:
    """Return the line that a deployment's engine prints; None where its words are not known.

    Args:
        scenario: the deployment.
        quantities: of ``calc.estimate``.
        everything: of ``calc.evaluate``.
    """
    form = FORMS.get(scenario.running.profile.id) if scenario.running else None
    if form is None:
        return None
    tokens, requests = quantities["cache_tokens"], float(everything["longest_requests"])
    return StartupLine(form.format(
        tokens=tokens.value, requests=requests, length=scenario.inputs()["context_tokens"],
        memory=quantities["free_for_kv_per_device"].value / GIB), tokens, requests)


def saved_by_shorter_steps(scenario: Scenario, everything: Mapping[str, Any]
                           ) -> tuple[float, float, float] | None:
    """Memory that windows and states of a prompt in work take, and what shorter steps save [B].

    None where that is not worth a word.

    Args:
        scenario: the deployment.
        everything: of ``calc.evaluate``.

    Returns the memory, the saving, and tokens of the shorter steps [token].
    """
    def of(found: Mapping[str, Any]) -> float:
        return float(found["prompt_blocks"] * found["stage_block_bytes"].max())

    taken = of(everything)
    if taken <= NOTABLE * float(everything["free_for_kv_per_device"]):
        return None
    inputs = scenario.inputs()
    half = inputs["max_num_batched_tokens"] // 2
    shorter = evaluate(inputs | {"max_num_batched_tokens": half}, scenario.model.attention,
                       decode=False)
    return taken, taken - of(shorter), half
