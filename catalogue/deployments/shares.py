"""The share of a card's memory that an engine takes where a deployment states none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from catalogue.deployments.physics_inputs import joined_replicas
from catalogue.entries.profiles import CardReserve, Reserve, Way
from catalogue.reading.values import Value

DIGITS = 3  # that engines round the share to
WIDE = 4  # ranks of a server from which graphs are larger
# sizes of captured steps with prompts: those up to a number of tokens lie so far apart [token]
PROMPT_GRAPHS = ((0, 32, 4), (32, 256, 16), (256, 512, 32), (512, 1024, 64), (1024, 4096, 256),
                 (4096, None, 512))
Number = Any  # a number, or an array of them


def share_of(reserved: Number, memory: Number) -> Number:
    """Share of a card's memory that is not set aside, rounded as the engine does [1].

    It is 0 where more is set aside than there is: the engine does not start then.

    Args:
        reserved: what is set aside [B].
        memory: of the card [B].
    """
    return np.round(np.maximum(0, memory - reserved) / memory, DIGITS)


def reserved_by_way(rules: Mapping[Way, Reserve], sent: Way, inputs: Mapping[str, Number],
                    graph: float | None = None) -> Number:
    """What is set aside [B] where ranks come by tokens as the sizes of a layout say.

    Args:
        rules: by how ranks come by the tokens of their experts.
        sent: the mode of sending tokens to whole experts.
        inputs: as of :func:`reserved_memory`, which may differ in how.
        graph: likewise.
    """
    own, gathered, full = (reserved_memory(rules[way], inputs, graph)
                            for way in ("own", "gathered", sent))
    joined = _joined(inputs)
    is_sent = (inputs["expert_parallel"] > 1) & (inputs["expert_tensor_parallel"] <= 1)
    return np.where(joined <= 1, own, np.where(is_sent, full, gathered))


def reserved_memory(rule: Reserve, inputs: Mapping[str, Number], graph: float | None = None
                    ) -> Number:
    """Memory of a card that an engine sets aside for prompts, graphs and ranks [B].

    A server has ``joined_replicas``, which share its prompt tokens of a step and experts.
    Source: SGLang, ``_handle_gpu_memory_settings`` of srt/server_args.py.

    Args:
        rule: its coefficients.
        inputs: memory of a card, sizes, prompt tokens of a step of a replica and limits by symbol,
            numbers or arrays that can be broadcast; one size of memory.
        graph: requests of the largest captured graph; None for the engine's own [request].
    """
    memory = inputs["memory_capacity"]
    card = next((card for card in rule.cards or [] if card.below is None
                 or memory < card.below.value), CardReserve())
    joined, stages = _joined(inputs), inputs["pipeline_parallel"]
    wide = inputs["tensor_parallel"] * joined
    requests = inputs.get("max_num_seqs", 0) * joined
    largest = graph if graph is not None else np.where(
        wide < WIDE, _of(card.graph), _of(card.wide_graph))
    if rule.limited_graphs and graph is None:
        largest = np.where(requests > 0, np.minimum(largest, requests), largest)
    prompts = inputs["max_num_batched_tokens"] * joined
    tokens = prompts
    if rule.decodes:
        tokens = np.where(requests > 0, requests, largest) * (inputs["draft_tokens"] + 1)
    large = np.where(largest > _of(rule.large_graph), _of(rule.large_joined_request), 0)
    captured = _of(rule.prompt_graphs) + _of(rule.prompt_graph) * prompt_graphs(prompts)
    reserved = (_of(card.constant) + _of(card.rank) * wide * stages
             + _of(rule.prompt_token) * np.maximum(tokens, _of(rule.least_prompt_tokens))
             + _of(rule.graph_request) * largest
             + np.where(joined > 1, _of(rule.joined) + joined * largest * (
                 _of(rule.joined_request) + large), 0)
             + np.where(stages > 1, 0, captured))
    return np.maximum(reserved, _of(card.least)) + _of(rule.beside)


def prompt_graphs(tokens: Number) -> Number:
    """Sizes of steps with prompts that are captured up to so many tokens [1].

    Args:
        tokens: of the largest step.
    """
    return sum(np.maximum(0, (tokens if end is None else np.minimum(tokens, end)) - start) // step
               for start, end, step in PROMPT_GRAPHS)


def _joined(inputs: Mapping[str, Number]) -> Number:
    return joined_replicas(*(inputs[name] for name in (
        "tensor_parallel", "expert_parallel", "expert_tensor_parallel")))


def _of(value: Value | None) -> float:
    return 0.0 if value is None else float(value.value)
