"""The reference runtime: what a deployment comes to, in NumPy; no derivation, no page.

- `evaluate`: every quantity of a deployment; any input may be an array.
- `estimate`: the answer for a scenario: whether it fits, times with intervals, what binds, what
  would run. It returns an `Estimate` of `Amount`.
- `sweep`, `decode_sweep`, `interval_sweep`, `latency`: the same of many deployments at once.
- `search`, `load_goal`: from a goal to every deployment that meets it, as an `Answer`.
- `elasticities`: d ln(quantity) / d ln(input) of a deployment, by every continuous input.
- `parameters`, `parameters_by_class`: of a model, counted from its shapes.

Deployments, models and cards are loaded by `catalogue`. On the command line: ``python -m calc``.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from calc.answer.estimate import Estimate, estimate, parameters, parameters_by_class
from calc.closed_form.evaluate import evaluate_asked as evaluate
from calc.many.sweeps import decode_sweep, interval_sweep, latency, sweep
from calc.sensitivity.elasticities import elasticities
from calc.uncertainty.amount import Amount

if TYPE_CHECKING:
    from calc.launching.starting import search
    from calc.search.load_goal import load_goal
    from calc.search.result import Answer

LATE = {"Answer": "search.result", "load_goal": "search.load_goal",
        "search": "launching.starting"}
"""Name -> module that has it, loaded when it is asked for."""

__all__ = [
    "Amount",
    "Answer",
    "Estimate",
    "decode_sweep",
    "elasticities",
    "estimate",
    "evaluate",
    "interval_sweep",
    "latency",
    "load_goal",
    "parameters",
    "parameters_by_class",
    "search",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """``__version__``: of the installed package; "unknown" of a checkout that was not installed.

    Of what is loaded late: itself.
    """
    if name in LATE:
        return getattr(import_module(f"{__name__}.{LATE[name]}"), name)
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return version("will-it-fit")
    except PackageNotFoundError:
        return "unknown"
