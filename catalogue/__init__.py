"""Reads what is known, `params/`, with units and sources; nothing of the physics.

Everything a program may ask for is here; nothing of the physics is.
"""

from functools import partial

from catalogue.deployments.loading import (
    deployment_names,
    load_deployment,
    load_family,
    load_pools,
    load_scenario,
    made_scenario,
    variants,
)
from catalogue.deployments.scenario import Scenario, device_inputs, model_inputs, precision_inputs
from catalogue.entries import formulas
from catalogue.entries.formulas import symbols
from catalogue.library import load, names
from catalogue.reading import units
from catalogue.reading.files import ROOT, LayoutError, ParamsError
from catalogue.reading.values import Value, glossary, sources

load_model = partial(load, "models")
load_device = partial(load, "devices")
load_link = partial(load, "links")
load_node = partial(load, "nodes")
load_format = partial(load, "formats")
load_precision = partial(load, "precisions")
load_measurements = partial(load, "measurements")
load_prices = partial(load, "prices")

__all__ = [
    "ROOT",
    "LayoutError",
    "ParamsError",
    "Scenario",
    "Value",
    "deployment_names",
    "device_inputs",
    "formulas",
    "glossary",
    "load",
    "load_deployment",
    "load_device",
    "load_family",
    "load_format",
    "load_link",
    "load_measurements",
    "load_model",
    "load_node",
    "load_pools",
    "load_precision",
    "load_prices",
    "load_scenario",
    "made_scenario",
    "model_inputs",
    "names",
    "precision_inputs",
    "sources",
    "symbols",
    "units",
    "variants",
]
