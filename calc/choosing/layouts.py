"""Ways to lay a model out on so many cards: its cuts, and over how many ranks a cache is dealt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calc.physics.arrays import Number
from catalogue.deployments.fabric import scale_up_domain
from catalogue.deployments.layout import context_problem, cut_problem
from catalogue.entries.hardware import Node

Cut = tuple[int, int, int, int]
SHARED = "decode_context_parallel"


def cuts(inputs: Mapping[str, Any], attention: str, model: str, devices: int,
         widest: int) -> list[Cut]:
    """Every valid (tensor, pipeline, data, expert) parallel size on so many cards.

    Args:
        inputs: input symbols of the model, and over how many ranks a cache is dealt.
        attention: ``mla`` or ``gqa``.
        model: its identifier.
        devices: tensor x pipeline x data.
        widest: largest tensor-parallel size; one that leaves the scale-up links is slow.
    """
    possible = []
    for tp in divisors(devices):
        if tp > widest or context_problem(inputs, attention, model, tp, int(inputs[SHARED])):
            continue
        for pp in divisors(devices // tp):
            dp = devices // tp // pp
            possible += [(tp, pp, dp, ep) for ep in divisors(tp * dp)
                         if cut_problem(inputs, attention, model, (tp, pp, dp, ep)) is None]
    return possible


def staged_group(tensor: int, pipeline: int, expert: int) -> bool:
    """Whether ranks that share experts, and so step together, are cut into pipeline stages.

    With prompts beside decode the closed form of their steady state is too fast near saturation, by
    a third, held against the simulation.

    >>> staged_group(8, 2, 8), staged_group(8, 2, 16)
    (False, True)

    Args:
        tensor, pipeline, expert: parallel sizes.
    """
    return pipeline > 1 and expert > tensor


def placed(node: Node, devices: Number, data: Number, expert: Number
           ) -> tuple[Number, Number, Number]:
    """How layouts lie on servers, on which their inputs depend besides their numbers.

    Args:
        node: the server.
        devices, data, expert: cards, replicas and expert-parallel ranks, numbers or arrays [1].

    Returns whether they take several servers, how many domains an exchange leaves, and whether
    there are replicas.
    """
    per_node = int(node.devices_per_node.value)
    left = 1 * (expert > per_node) + (expert > scale_up_domain(node))
    return devices > per_node, left, data > 1


def shares(inputs: Mapping[str, Any], attention: str, model: str) -> list[int]:
    """Over how many ranks the cache of a request can be dealt, more than now, fewest first [1].

    Args:
        inputs: input symbols of the deployment.
        attention: ``mla`` or ``gqa``.
        model: its identifier.
    """
    tensor = int(inputs["tensor_parallel"])
    return [size for size in divisors(tensor) if size > inputs[SHARED]
            and context_problem(inputs, attention, model, tensor, size) is None]


def divisors(number: int) -> list[int]:
    """Its divisors, ascending.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    return [part for part in range(1, number + 1) if number % part == 0]
