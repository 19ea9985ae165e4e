"""The precision that a checkpoint is published in, as its configuration says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from catalogue.models.known import formats
from catalogue.reading import jsonfile

QUANTIZED = ("quantization_config", "quantize")
BESIDE = "hf_quant_config.json"
DTYPES = ("dtype", "torch_dtype")
SHOWN = ("quant_method", "quant_algo", "format", "bits", "weight_block_size")  # of what fits none


class Published(NamedTuple):
    """The published format.

    Attributes:
        precision: of ``params/precisions/``; empty, none fits.
        stated: in the configuration's own words; empty, it says nothing.
        quantized: whether it says more than the type of tensors.
    """

    precision: str
    stated: str
    quantized: bool


def published_format(data: Mapping[str, Any], path: Path) -> Published:
    """The precision whose description fits a configuration first.

    Args:
        data: fields of the configuration.
        path: its file; ModelOpt may say in one beside it how weights were quantized.

    Raises ParamsError for a file beside it that cannot be read.
    """
    beside = path.with_name(BESIDE)
    if not any(data.get(key) for key in QUANTIZED) and beside.is_file():
        data = {**data, QUANTIZED[0]: jsonfile.read(beside).data.get("quantization")}
    stated, quantized = _words(data), any(data.get(key) for key in QUANTIZED)
    if not quantized:
        return Published("", stated, False)
    for known in formats():
        if all(_fits(data, key, value) for key, value in known["of"].items()):
            return Published(known["precision"], stated, True)
    return Published("", stated, True)


def _words(data: Mapping[str, Any]) -> str:
    """What a configuration says of its format, for a message."""
    config = data.get("quantization_config")
    if isinstance(config, dict) and config:
        return ", ".join(f"{key} {json.dumps(config[key])[:40]}" for key in SHOWN if key in config)
    return next((f"{key} {json.dumps(data[key])[:40]}" for key in (*QUANTIZED, *DTYPES)
                 if data.get(key)), "")


def _fits(data: Mapping[str, Any], path: str, expected: Any) -> bool:
    """Whether every value at a path, under any of its names, is as expected."""
    found = [value for name in path.split("|") for value in _at(data, name.split("."))]
    if expected == "any":
        return any(value is not None for value in found)
    return all(type(value) is type(expected) and value == expected for value in found) \
        and bool(found)


def _at(data: Any, path: list[str]) -> Iterator[Any]:
    """The values at a path; None for one that is absent."""
    if not path:
        yield data
    elif path[0] == "*":
        for part in data.values() if isinstance(data, dict) else ():
            yield from _at(part, path[1:])
    else:
        yield from _at(data.get(path[0]) if isinstance(data, dict) else None, path[1:])
