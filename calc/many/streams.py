"""More deployments than memory holds: batch by batch, of which a histogram is kept, or a front."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from calc.many.sweeps import Columns, decode_sweep
from calc.physics.inputs import Number
from calc.serving.evaluate import FAST

BATCH = 1 << 17  # deployments that a stream has in memory at once


def grid(fixed: Columns, axes: Mapping[str, Sequence[float]],
         size: int = BATCH) -> Iterator[dict[str, Number]]:
    """All combinations of the values of axes, batch by batch.

    Args:
        fixed: the other inputs, scalars.
        axes: input symbol -> its values; the last axis runs fastest.
        size: deployments of a batch.
    """
    values = {name: np.asarray(axis, dtype=float) for name, axis in axes.items()}
    shape = tuple(len(axis) for axis in values.values())
    total = int(np.prod(shape))
    for start in range(0, total, size):
        places = np.unravel_index(np.arange(start, min(total, start + size)), shape)
        yield {**fixed, **{name: axis[place]
                           for (name, axis), place in zip(values.items(), places, strict=True)}}


def sampled(draw: Callable[[np.random.Generator, int], Columns], count: int, seed: int = 0,
            size: int = BATCH) -> Iterator[Columns]:
    """Random deployments, batch by batch; the same for the same seed and size of a batch.

    Args:
        draw: gives all inputs of so many deployments.
        count: deployments in all.
        seed: of the random numbers.
        size: deployments of a batch.
    """
    for start in range(0, count, size):
        yield draw(np.random.default_rng([seed, start]), min(size, count - start))


def stream(batches: Iterable[Columns], attention: str, names: Iterable[str] = (FAST,), *,
           threads: int = 2) -> Iterator[tuple[Columns, dict[str, np.ndarray]]]:
    """Batches of deployments with their quantities, one batch in memory at a time.

    Args:
        batches: of inputs, as :func:`grid` and :func:`sampled` give them.
        attention: ``mla`` or ``gqa``.
        names: quantities of :func:`decode_sweep`.
        threads: that share the passes of a batch.

    Yields each batch and its quantities.
    """
    names = list(names)
    for batch in batches:
        yield batch, decode_sweep(batch, attention, names, threads=threads)
