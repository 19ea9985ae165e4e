"""The reference runtime: what a deployment comes to, in NumPy, independent of the derivations."""

from calc.estimate import Estimate, Quantity, estimate, parameters
from calc.evaluate import evaluate, sweep

__all__ = ["Estimate", "Quantity", "estimate", "evaluate", "parameters", "sweep"]
