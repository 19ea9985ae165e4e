"""Inputs of a model on one rank, for derivations."""

from __future__ import annotations

from typing import Any

import catalogue
from catalogue.deployments.physics_inputs import DEGREES
from catalogue.entries.formulas import neutral

ONE_RANK = {**neutral(), **dict.fromkeys(DEGREES, 1), "devices_per_node": 8, "captured": 1}


def deployed(precision: str, model: Any = None, **layout: float) -> dict[str, Any]:
    """Inputs (SI) of a model in a precision, on one rank unless a layout says otherwise.

    The model is DeepSeek-V3 if none is named.
    """
    return {**catalogue.model_inputs(model or catalogue.load_model("deepseek-v3")),
            **catalogue.precision_inputs(catalogue.load_precision(precision)), **ONE_RANK, **layout}
