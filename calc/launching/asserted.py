"""Whether a release starts with settings that it takes one by one: what it asserts of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from calc.launching.settings import Release, Setting, Variable
from catalogue import ParamsError, Scenario, library
from catalogue.engines.assertions import UNKNOWN, Server, pair_problems, problems

A2, A5 = "ascend-910b", "ascend-950"  # mechanisms of the cards that vLLM Ascend calls A2, A5


def about(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """What assertions may ask of a deployment besides its settings.

    >>> import catalogue
    >>> about(catalogue.load_scenario("h200-r1-vllm-tp8"))["weights"]["expert_block"]
    128
    """
    model, device, weights = scenario.model, scenario.device, scenario.precision.weights
    shapes = {name: value.value for name in type(model).model_fields
              if hasattr(value := getattr(model, name), "value")}
    leading = shapes.get("first_k_dense_replace") if model.is_moe else model.num_hidden_layers.value
    dense, expert = (library.load("formats", name)
                     for name in (weights.dense_mlp, weights.routed_expert))
    npu = device.type == "npu"
    return {
        "model": {**shapes, "attention": model.attention, "moe": model.is_moe,
                  "dense_layers": leading},
        "card": {"cuda": device.type == "gpu", "ascend": npu, "software": device.software,
                 "a2": npu and device.mechanisms == A2, "a5": npu and device.mechanisms == A5},
        "weights": {
            "stored": weights.model_dump(),
            "dense_block": dense.block.outputs.value if dense.block else 0,
            "expert_block": expert.block.outputs.value if model.is_moe and expert.block else 0,
            "expert": weights.routed_expert if model.is_moe else None,
            "expert_bits": expert.bits.value if model.is_moe else None}}


def refuse(scenario: Scenario, release: Release, flags: Iterable[Setting],
           variables: Iterable[Setting]) -> None:
    """Refuse settings that a release does not start with, though it takes each of them.

    Raises ParamsError, one sentence.
    """
    server = _server(scenario, flags, variables)
    for engine, version in release.by:
        if found := problems(engine.name, version, *server):
            raise ParamsError(f"'{scenario.id}': {engine.title} {version} does not start so: "
                              f"{'; '.join(found)}.")


def refuse_pair(release: Release, servers: Mapping[str, tuple[
        Scenario, Iterable[Setting], Iterable[Setting]]]) -> None:
    """Refuse a prefill and a decode server between which a release sends no caches.

    Args:
        release: of both.
        servers: ``prefill`` and ``decode``, each with its scenario, flags and variables.

    Raises ParamsError, one sentence.
    """
    both = {name: _server(*server) for name, server in servers.items()}
    for engine, version in release.by:
        if found := pair_problems(engine.name, version, both):
            raise ParamsError(f"{engine.title} {version} sends no caches between these two pools: "
                              f"{'; '.join(found)}.")


def _server(scenario: Scenario, flags: Iterable[Setting], variables: Iterable[Setting]) -> Server:
    return _values(flags), _values(variables), about(scenario)


def _values(settings: Iterable[Setting]) -> Mapping[str, Any]:
    """Settings by name; what the operator fills in is not known."""
    return {each.name: UNKNOWN if isinstance(each.value, Variable) else each.value
            for each in settings}
