"""A model's inputs on one rank, and loaders that were measured: for derivations and *Loading*."""

from __future__ import annotations

from typing import Any, NamedTuple

import catalogue
from catalogue.deployments.physics_inputs import DEGREES
from catalogue.entries.formulas import neutral

ONE_RANK = {**neutral(), **dict.fromkeys(DEGREES, 1), "devices_per_node": 8, "captured": 1}
ROOM_FOR_ALL = 1e15  # memory of a card on which no request waits for a place [B]


class Loader(NamedTuple):
    """Seconds until the last of eight H200 had DeepSeek-R1 (TP8 with EP8), by where it lay."""

    name: str
    storage: float
    memory: float


LOADERS = (Loader("safetensors", 160, 22.6), Loader("fastsafetensors", 75.8, 63.4),
           Loader("Run:ai Model Streamer", 101, 79.8), Loader("InstantTensor", 15.3, 12.1))
STORAGE = 50e9  # of the same machine [B/s]


def deployed(precision: str, model: Any = None, **layout: float) -> dict[str, Any]:
    """Inputs (SI) of a model in a precision, on one rank unless a layout says otherwise.

    The model is DeepSeek-V3 if none is named.
    """
    return {**catalogue.model_inputs(model or catalogue.load_model("deepseek-v3")),
            **catalogue.precision_inputs(catalogue.load_precision(precision)), **ONE_RANK, **layout}


def checkpoint() -> float:
    """Bytes of the published files of DeepSeek-R1 in FP8."""
    return float(catalogue.load_precision("fp8-block").checkpoints[0].size.value)
