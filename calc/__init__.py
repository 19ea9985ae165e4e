"""The reference runtime: what a deployment comes to, in NumPy, independent of the derivations."""

from calc.estimate import Estimate, Quantity, estimate, parameters, parameters_by_class
from calc.evaluate import evaluate
from calc.sweeping import decode_sweep, interval_sweep, latency, sweep

__all__ = [
    "Estimate", "Quantity", "decode_sweep", "estimate", "evaluate", "interval_sweep", "latency",
    "parameters", "parameters_by_class", "sweep",
]
