"""The reference runtime: what a deployment comes to, in NumPy; no derivation, no page.

- `evaluate`: every quantity of a deployment; any input may be an array.
- `estimate`: the answer for a scenario: whether it fits, times with intervals, what binds, what
  would run. It returns an `Estimate` of `Amount`.
- `sweep`, `decode_sweep`, `interval_sweep`, `latency`: the same of many deployments at once.
- `elasticities`: d ln(quantity) / d ln(input) of a deployment, by every continuous input.
- `parameters`, `parameters_by_class`: of a model, counted from its shapes.

Deployments, models and cards are loaded by `catalogue`. On the command line: ``python -m calc``.
"""

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from calc.choosing.answers import Estimate, estimate, parameters, parameters_by_class
from calc.choosing.sweeps import decode_sweep, interval_sweep, latency, sweep
from calc.deciding.inputs.elasticities import elasticities
from calc.intervals.amounts import Amount
from calc.quantities.everything import evaluate

__all__ = [
    "Amount",
    "Estimate",
    "decode_sweep",
    "elasticities",
    "estimate",
    "evaluate",
    "interval_sweep",
    "latency",
    "parameters",
    "parameters_by_class",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """``__version__``: of the installed package; "unknown" of a checkout that was not installed."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return version("will-it-fit")
    except PackageNotFoundError:
        return "unknown"
