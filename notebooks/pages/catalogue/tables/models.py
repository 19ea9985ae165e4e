"""What several pages ask of a model: its formulas as numbers, and what its files hold."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import catalogue
from catalogue.entries.formulas import Number
from catalogue.entries.models import Model
from notebooks.derive.formulas.exported import (
    Formula,
    computable,
    evaluate_all,
    load_formulas,
    select,
)


@functools.cache
def _formulas(attention: str) -> dict[str, Formula]:
    return select(load_formulas(), attention)


def derived(model: Model, formats: Mapping[str, Number] | None = None) -> dict[str, Number]:
    """Every stored formula for which the model's shapes suffice, with bytes per element if given.

    Args:
        model: a model of the catalogue.
        formats: bytes per element by class of tensors, of ``catalogue.precision_inputs``.
    """
    inputs = catalogue.model_inputs(model) | dict(formats or {})
    return evaluate_all(computable(_formulas(model.attention), inputs), inputs)


def parameters_in_files(model: Model, values: Mapping[str, Number]) -> Number:
    """Parameters of the published files [1]: a prediction layer mostly brings copies of two
    matrices.

    Args:
        model: a model of the catalogue.
        values: its derived quantities by name.
    """
    layers = model.num_nextn_predict_layers.value if model.num_nextn_predict_layers else 0
    copied = model.published is None or model.published.copies
    copies = copied * (values["embedding_parameters"] + values["head_parameters"])
    return values["total_parameters"] + layers * (values["mtp_layer_parameters"] + copies)
