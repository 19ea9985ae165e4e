"""The reference runtime: what a deployment comes to, in NumPy; no derivation, no page.

- `evaluate`: every quantity of a deployment; any input may be an array.
- `estimate`: the answer for a scenario, or for a model, a card and a load: whether it fits, times
  with intervals, what binds, what would run. It returns an `Estimate` of `Amount`.
- `sweep`, `decode_sweep`, `latency`: the same of many deployments at once.
- `search`, `load_goal`: from a goal to the deployments that meet it, as a `SearchReport`.
- `elasticities`: d ln(quantity) / d ln(input) of a deployment, by every continuous input.
- `parameters`, `parameters_by_class`: of a model, counted from its shapes.

Deployments, models and cards are loaded by `catalogue`. On the command line: ``will-it-fit``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calc.answer.estimate import Estimate, estimate
    from calc.answer.model_sizes import parameters, parameters_by_class
    from calc.answer.quickplan import QuickPlan, deployment_plan, goal_plan
    from calc.launching.starting import search
    from calc.many.sweeps import decode_sweep, latency, sweep
    from calc.searching.goal import load_goal
    from calc.searching.report import SearchReport
    from calc.sensitivity.tornado import elasticities
    from calc.serving.evaluate import evaluate_asked as evaluate
    from calc.uncertainty import Amount

__all__ = [
    "Amount",
    "Estimate",
    "QuickPlan",
    "SearchReport",
    "decode_sweep",
    "deployment_plan",
    "elasticities",
    "estimate",
    "evaluate",
    "goal_plan",
    "latency",
    "load_goal",
    "parameters",
    "parameters_by_class",
    "search",
    "sweep",
]


_STANDS = {
    "Amount": "uncertainty.Amount",
    "Estimate": "answer.estimate.Estimate",
    "QuickPlan": "answer.quickplan.QuickPlan",
    "SearchReport": "searching.report.SearchReport",
    "decode_sweep": "many.sweeps.decode_sweep",
    "deployment_plan": "answer.quickplan.deployment_plan",
    "elasticities": "sensitivity.tornado.elasticities",
    "estimate": "answer.estimate.estimate",
    "evaluate": "serving.evaluate.evaluate_asked",
    "goal_plan": "answer.quickplan.goal_plan",
    "latency": "many.sweeps.latency",
    "load_goal": "searching.goal.load_goal",
    "parameters": "answer.model_sizes.parameters",
    "parameters_by_class": "answer.model_sizes.parameters_by_class",
    "search": "launching.starting.search",
    "sweep": "many.sweeps.sweep",
}
"""Where each stands; its module is imported when it is asked for."""


def __getattr__(name: str) -> Any:
    """What is offered here, from where it stands.

    ``__version__``: of the installed package; "unknown" of a checkout that was not installed.
    """
    if name in _STANDS:
        module, _, own = _STANDS[name].rpartition(".")
        return getattr(import_module(f"{__name__}.{module}"), own)
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("will-it-fit")
    except PackageNotFoundError:
        return "unknown"


def __dir__() -> list[str]:
    """All that is offered, imported or not yet."""
    return sorted({*globals(), *__all__})
