"""Models on one rank, or with their inputs changed; bytes of their weights."""

import math
from typing import Any

import calc
import catalogue


def inputs_of(model: str, **changed: Any) -> dict[str, Any]:
    """Return inputs of the first deployment of document S0 with another model and changes."""
    base = catalogue.load_scenario("s0-scenario-1").inputs()
    return base | catalogue.model_inputs(catalogue.load_model(model)) | changed


def deployed(model: str, **changed: Any) -> dict[str, Any]:
    """Return every quantity of a model in 16 bits, by default of one request on one rank."""
    alone = {"tensor_parallel": 1, "data_parallel": 1, "concurrency": 1}
    return calc.evaluate(inputs_of(model, **alone | changed), catalogue.load_model(model).attention)


def weight_bytes(model: str, precision: str) -> float:
    """Return the bytes of a model's weights in a precision [B]."""
    stored = catalogue.precision_inputs(catalogue.load_precision(precision))
    counted = calc.parameters_by_class(catalogue.load_model(model))
    return math.fsum(
        count * stored[f"{'attention' if kind.startswith('attention') else kind}_weight_bytes"]
        for kind, count in counted.items())
