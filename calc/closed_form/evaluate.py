"""Everything at once: from input symbols to every quantity, vectorised."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from calc.closed_form.benches import benched
from calc.closed_form.occupancy import occupancy
from calc.closed_form.planning import planning, pool_ratio, transfer_time
from calc.closed_form.steady import steady
from calc.closed_form.waves import (
    chunk,
    decode_step,
    fullest_cache,
    loads,
    prefill_throughput,
    prompts,
    serving,
)
from calc.physics.arrays import Inputs, Number, ceil_div, double
from calc.physics.cache import Cache, cache
from calc.physics.communication import token_fanout
from calc.physics.decode_floor import decode_floor
from calc.physics.fetching import distances
from calc.physics.memory import (
    Activations,
    Added,
    Memory,
    Weights,
    activations,
    added,
    budget,
    candidate_stages,
    weights,
)
from calc.physics.shapes import Parameters, count_parameters
from calc.physics.step import step
from calc.physics.timing.matmuls import expert_fixed_time, slowest_clock
from catalogue.deployments.layout import DEGREES
from catalogue.entries.formulas import input_symbols

PHASES = ("decode", "prefill", "burst")
# quantities that take no step
MEMORY_NAMES = frozenset(field.name for part in (
    Parameters, Weights, Added, Cache, Activations, Memory) for field in fields(part))


def check_names(inputs: Mapping[str, Number]) -> None:
    """Check that the inputs are complete.

    Args:
        inputs: input symbols by name.

    Raises ValueError for a missing input or one that is not an input.
    """
    if inputs.keys() != input_symbols():
        wrong = sorted(inputs.keys() ^ input_symbols())
        problem = "missing" if wrong[0] in input_symbols() else "not an input"
        raise ValueError(f"'{wrong[0]}' is {problem}")


def check_ranks(inputs: Mapping[str, Number]) -> None:
    """Check the degrees of parallelism.

    Args:
        inputs: input symbols by name.

    Raises ValueError for degrees that are no whole numbers of ranks or do not divide the heads.
    """
    for name in DEGREES:
        wrong = ~(np.asarray(inputs[name], float) % 1 == 0) | (np.asarray(inputs[name]) < 1)
        if wrong.any():
            raise ValueError(f"'{name}' is {_first(inputs[name], wrong)}, expected a whole number "
                             "of at least 1")
    heads, tensor = inputs["num_attention_heads"], inputs["tensor_parallel"]
    if (uneven := np.asarray(heads) % np.asarray(tensor) != 0).any():
        raise ValueError(f"'tensor_parallel' is {_first(tensor, uneven)}, expected a divisor of "
                         f"the {_first(heads, uneven)} attention heads")


def _first(values: Any, which: np.ndarray) -> str:
    """The first of some numbers for which something holds."""
    return f"{np.broadcast_to(values, which.shape)[which].ravel()[0]:g}"


def evaluate_asked(inputs: Mapping[str, Number], attention: str, *,
                   decode: bool = True) -> dict[str, Number]:
    """Every quantity of a deployment that nobody has checked yet; as :func:`evaluate`.

    >>> import catalogue
    >>> inputs = catalogue.load_scenario("s2-910b1-awq").inputs()
    >>> quantities = evaluate_asked(inputs | {"concurrency": np.array([1, 8, 32])}, "mla")
    >>> (1e3 * quantities["tpot"]).round(1)
    array([20.4, 41.2, 79.7])

    Args:
        inputs: all input symbols in SI units; any of them may be an array, arrays broadcast.
        attention: ``mla`` or ``gqa``.
        decode: whether to compute the decode floor and what follows from it as well.

    Returns quantities in SI units, by their names in ``params/symbols.yml``.

    Raises ValueError for ranks that nothing is cut into, besides what that raises it for.

    Source: formulas of notebooks/, from architecture.md to serving.md.
    """
    check_names(inputs)
    check_ranks(inputs)
    return evaluate(inputs, attention, decode=decode)


def evaluate(inputs: Mapping[str, Number], attention: str, *,
             decode: bool = True) -> dict[str, Number]:
    """Every quantity of a deployment whose layout was checked, see :func:`evaluate_asked`.

    ``catalogue.load_scenario`` checks one; a search checks its own. ``stage_*`` arrays have the
    stages of ``calc.physics.memory.candidate_stages`` as their first axis.

    Args:
        inputs: all input symbols in SI units; any of them may be an array, arrays broadcast.
        attention: ``mla``, ``gqa`` or ``csa``.
        decode: whether to compute steps and what follows from them as well.

    Returns quantities by name, in the SI units of ``params/symbols.yml``: [s], [B], [token/s].

    Raises ValueError for an unknown attention, a missing input, or one that is not an input.

    Source: formulas of notebooks/, from architecture.md to serving.md.
    """
    check_names(inputs)
    numbers = {name: double(value) for name, value in inputs.items()}
    q, ndim = Inputs(numbers), max(value.ndim for value in numbers.values())
    counted = count_parameters(attention, q)
    stages = candidate_stages(q.num_hidden_layers, q.pipeline_parallel, ndim)
    stored = weights(attention, q, counted, stages)
    cached = cache(attention, q)
    requests = ceil_div(q.concurrency, q.data_parallel)
    active = activations(attention, q, counted.moe_layers, requests)
    kept = added(attention, q, counted, stored, stages)
    memory = budget(attention, q, stored, kept, cached, stages,
                    active.activations_per_device, requests)
    quantities = _named(counted, stored, kept, cached, active, memory)
    if not decode:
        return quantities
    waiting = numbers["concurrency"] - memory.served_requests
    if np.any(waiting > 0):
        q = Inputs(numbers | {"concurrency": double(memory.served_requests),
                              "prefix_hit_share": double(memory.found_hit_share),
                              "host_prefix_share": double(memory.loaded_hit_share)})
    requests = memory.served_per_rank
    floor = decode_floor(q, counted, stored, cached, requests)
    cut = prompts(q, requests)
    compositions = (decode_step(q, floor), *(
        chunk(q, cut, tokens) for tokens in (cut.prefill_tokens, cut.burst_tokens)))
    decoding, alone, rest = steps = [step(attention, q, counted, stored, cached, composition)
                                     for composition in compositions]
    (through_ports, transfer), loaded = transfer_time(q, cached), loads(q, cached, alone)
    ratio = pool_ratio(q, floor.decode_batch, cut, decoding, alone)
    lasting = steady(q, cut, requests, waiting, decoding, alone, rest, transfer, ratio, loaded)
    served = serving(q, cut, requests, waiting, lasting.prompt_work, lasting.steady_pace,
                     decoding, alone, rest, transfer, loaded.admission_time)
    planned = planning(q, counted, stored, memory, cut, ratio, served, through_ports, transfer)
    quantities |= {"decode_tokens": compositions[0].tokens, "slowest_clock": slowest_clock(q),
                   "fullest_cache": fullest_cache(q, floor), "expert_fixed_time":
                   expert_fixed_time(q), "prefill_throughput": prefill_throughput(q, cut, rest)}
    quantities |= {f"{phase}_{name}": value for phase, done in zip(PHASES, steps, strict=True)
                   for name, value in _named(done).items()}
    bench = benched(q, cut, waiting, served, lasting, decoding, rest)
    return quantities | _named(floor, cut, loaded, served, bench, distances(q, counted),
                               token_fanout(q), planned, lasting,
                               occupancy(q, memory, floor, lasting))


def _named(*parts: Any) -> dict[str, Number]:
    """Fields of dataclasses by name."""
    return {name: getattr(part, name) for part in parts for name in _fields(part.__class__)}


@functools.cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
