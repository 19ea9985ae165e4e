"""The reference runtime: what a deployment comes to, in NumPy; no derivation, no page."""

from calc.choosing.answers import Estimate, Quantity, estimate, parameters, parameters_by_class
from calc.choosing.sweeps import decode_sweep, interval_sweep, latency, sweep
from calc.quantities.everything import evaluate

__all__ = [
    "Estimate", "Quantity", "decode_sweep", "estimate", "evaluate", "interval_sweep", "latency",
    "parameters", "parameters_by_class", "sweep",
]
