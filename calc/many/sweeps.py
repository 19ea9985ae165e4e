"""Many deployments at once: chosen quantities.

A sweep runs in passes whose temporaries stay in the cache of a core. What is one number for all
deployments stays one number. The formulas are those of ``calc.evaluate``, only fewer of them; of
many passes the first is written down as it is computed, and repeated (``calc.recording``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from calc.physics.arrays import Inputs, Number, double
from calc.recording import Repeating, one_if_same, repeating
from calc.serving.evaluate import (
    FAST,
    WANTED,
    check_names,
    evaluate,
    latencies,
    needs_prefill,
)

DECODED, PREFILLED, PACKED = (tuple(f"{phase}_{name}" for name in names)
                              for phase, names in WANTED.items())
CHUNK = 1 << 13  # deployments of a pass: its temporaries stay in the cache
LARGEST_BLOCK = (1 << 22) - (1 << 10)  # numbers: just below what glibc hands back at once
Columns = Mapping[str, Number]
Compute = Callable[[dict[str, Any]], Mapping[str, Number]]


def sweep(inputs: Columns, attention: str, names: Iterable[str], *, decode: bool = True
          ) -> dict[str, np.ndarray]:
    """Chosen quantities of many deployments, each equal to what :func:`calc.evaluate` gives.

    >>> import catalogue
    >>> inputs = catalogue.load_scenario("s2-910b1-awq").inputs()
    >>> result = sweep(inputs | {"concurrency": np.arange(1, 101)}, "mla", ["tpot"])
    >>> int((result["tpot"] <= 0.05).sum())  # requests at once within 50 ms per token
    11

    Args:
        inputs: input symbols in SI units; scalars, or arrays of one length n.
        attention: ``mla`` or ``gqa``.
        names: quantities to keep, without ``stage_*``.
        decode: as for :func:`calc.evaluate`.

    Returns one array of shape (n,) per name.

    Raises ValueError for arrays that are not of one length, no array at all, a quantity that does
    not exist or depends on the stage, and as :func:`calc.evaluate` does.
    """
    names = list(names)
    if staged := [name for name in names if name.startswith("stage_")]:
        raise ValueError(f"'{staged[0]}' depends on the stage, evaluate() gives it")
    return _in_passes(lambda part: evaluate(part, attention, decode=decode), inputs, names)


def decode_sweep(inputs: Columns, attention: str, names: Iterable[str] = (FAST,), *,
                 computed: Columns | None = None) -> dict[str, np.ndarray]:
    """Latency of many deployments and its parts, without their memory budget.

    >>> import catalogue
    >>> inputs = catalogue.load_scenario("s2-910b1-awq").inputs()
    >>> decode_sweep(inputs | {"concurrency": np.array([1, 32])}, "mla")["decode_tpot"].round(4)
    array([0.0204, 0.0797])

    The names of a decode step (``decode_step_time``, ``decode_core_time`` and so on),
    ``draft_time``, ``tokens_per_step`` and ``decode_tpot``, which is TPOT without the stalls for
    other requests' prompts, need one step. Any other name of a wave (``tpot``, ``ttft``,
    ``output_throughput``, ``prefill_step_time``) or of a steady state (``steady_tpot``) needs those
    of prefill as well: more than twice the work.

    Args:
        inputs: input symbols in SI units; scalars, or arrays of one length n.
        attention: ``mla`` or ``gqa``.
        names: quantities to keep.
        computed: ``DECODED``, ``PREFILLED`` or ``PACKED`` of the same deployments, where they were
            computed before: then such a step is not computed again, and of it nothing else is to be
            had.

    Returns one array of shape (n,) per name, equal to what :func:`calc.evaluate` gives.

    Raises ValueError for inputs as :func:`sweep` does, and for a name that no step gives.
    """
    names = list(names)
    needs_prefill(names)
    check_names(inputs)
    return _in_passes(_Latencies(attention, tuple(names)), {**inputs, **(computed or {})}, names)


@dataclass(frozen=True)
class _Latencies:
    """Computes latency of the deployments of a pass, whose steps may be computed already."""

    attention: str
    names: tuple[str, ...]

    def __call__(self, part: dict[str, Any]) -> Mapping[str, Number]:
        steps = {phase: SimpleNamespace(**{name: part.pop(f"{phase}_{name}") for name in wanted})
                 for phase, wanted in WANTED.items() if f"{phase}_{wanted[0]}" in part}
        return latencies(self.attention, Inputs(part), self.names, steps)


def latency(inputs: Columns, attention: str, names: Iterable[str] = (FAST,)) -> dict[str, Number]:
    """What :func:`decode_sweep` does in each pass, of inputs of any shape: scalars give scalars.

    >>> import catalogue
    >>> inputs = catalogue.load_scenario("s2-910b1-awq").inputs()
    >>> float(latency(inputs, "mla")["decode_tpot"].round(4))
    0.0797

    Args:
        inputs: input symbols in SI units.
        attention: ``mla`` or ``gqa``.
        names: quantities to keep.

    Raises ValueError for a missing or unknown input, and for a name that no step gives.
    """
    names = list(names)
    check_names(inputs)
    quantities = latencies(attention, Inputs({
        name: double(value) for name, value in inputs.items()}), names)
    return {name: quantities[name] for name in names}


def _in_passes(compute: Compute, inputs: Columns, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Chosen results of a computation, pass by pass.

    Raises ValueError for arrays that are not of one length, or for a name that is not computed.
    """
    fixed, arrays, count = split_inputs(inputs)
    # of one block, since large ones come in large pages, which are there much sooner
    result = dict(zip(names, np.empty((len(names), count)), strict=True))
    # glibc hands small blocks back to the system and fetches them again, pass by pass, until a
    # large one was freed once; that alone would halve the speed
    np.empty(LARGEST_BLOCK)
    passes = (repeating(compute, tuple(fixed.items()), tuple(arrays))
              if isinstance(compute, _Latencies) else Repeating(compute, fixed, ways=0))
    for start in range(0, count, CHUNK):
        part = slice(start, start + CHUNK)
        passes.take({name: array[part] for name, array in arrays.items()},
                    {name: column[part] for name, column in result.items()},
                    (count - start - 1) // CHUNK)
    return result


def split_inputs(inputs: Columns) -> tuple[dict[str, Number], dict[str, np.ndarray], int]:
    """Inputs that are one number of all deployments, the others, and how many deployments.

    Raises ValueError for arrays that are not of one length.
    """
    # floats throughout: integers of a narrow array type would wrap around without a word
    fixed: dict[str, Number] = {name: np.float64(value) for name, value in inputs.items()
                                if isinstance(value, (int, float))}
    columns = {name: np.asarray(value) for name, value in inputs.items() if name not in fixed}
    fixed |= {name: value.astype(float)[()] for name, value in columns.items() if not value.ndim}
    arrays = {name: value for name, value in columns.items() if value.ndim}
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise ValueError("a sweep takes arrays of one length")
    (count,), = shapes
    alike = {name: np.float64(one) for name, array in arrays.items()
             if count and not np.ndim(one := one_if_same(array))}
    others = {name: array for name, array in arrays.items() if name not in alike}
    return fixed | alike, others, count
