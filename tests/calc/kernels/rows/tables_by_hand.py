"""Tables made by hand on a shelf, and fits that keep what they were given instead of fitting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from calc.kernels.rows import of_every_operator
from catalogue import library
from catalogue.tables.table import Table, joined, synthetic

H200 = library.load("devices", "nvidia-h200-sxm")
PRIORS = library.load("mechanisms", str(H200.mechanisms))


def table(operator: str, count: int, time: float, engine: str = "vllm@0.25.0",
          card: str = H200.id, dtype: str = "bf16", **columns: Any) -> Table:
    """So many rows alike."""
    return synthetic(operator, card=card, engine=engine, dtype=dtype, time=np.full(count, time),
                     **columns)


class Tables:
    """A shelf with some tables, all of them sound."""

    def __init__(self, monkeypatch: Any, *tables: Table) -> None:
        monkeypatch.setattr(of_every_operator, "sound", lambda found: (found, []))
        self._tables = tables

    def parts(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(operator=each.operator, card=each["card"][0],
                                engine=each["engine"][0]) for each in self._tables if len(each)]

    def table(self, operator: str, card: str, engine: str, dtype: Any) -> Table:
        every = joined(operator, [each for each in self._tables if each.operator == operator])
        found = every.select(card=card, engine=engine)
        return found.select(dtype=dtype) if dtype else found


@dataclass(eq=False)
class Fit:
    """What a fit was asked, and values that it is said to have found."""

    law: Any = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    time: Any = None
    chosen: Any = None
    tokens: Any = None
    kinds: Any = None
    alone: Any = None
    values: Mapping[str, float] = field(default_factory=dict)


def fitted_by(monkeypatch: Any, module: Any) -> list[Fit]:
    """Fits of a module from now on, in their order."""
    asked: list[Fit] = []

    def fit(*given: Any) -> Fit:
        asked.append(Fit(*given))
        return asked[-1]

    monkeypatch.setattr(module, "fit", fit)
    return asked
