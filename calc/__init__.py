"""The reference runtime: what a deployment comes to, in NumPy, independent of the derivations."""

from calc.estimate import Estimate, Quantity, estimate, parameters, parameters_by_class
from calc.evaluate import evaluate, sweep

__all__ = [
    "Estimate", "Quantity", "estimate", "evaluate", "parameters", "parameters_by_class", "sweep",
]
