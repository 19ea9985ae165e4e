"""The precision that a checkpoint is published in, as its configuration says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from catalogue.models.known import formats
from catalogue.reading.jsonfile import json_excerpt

QUANTIZED = ("quantization_config", "quantize")
DTYPES = ("dtype", "torch_dtype")
SHOWN = ("quant_method", "quant_algo", "format", "bits", "weight_block_size")  # of what fits none


class Published(NamedTuple):
    """The published format.

    Attributes:
        precision: of ``params/precisions/``; empty, none fits.
        stated: in the configuration's own words; empty, it says nothing.
    """

    precision: str
    stated: str


def published_format(data: Mapping[str, Any]) -> Published:
    """The precision whose description fits a configuration first."""
    stated = _words(data)
    if not any(data.get(key) for key in QUANTIZED):
        return Published("", stated)
    for precision, described in formats():
        if all(_fits(data, key, value) for key, value in described.items()):
            return Published(precision, stated)
    return Published("", stated)


def _words(data: Mapping[str, Any]) -> str:
    """What a configuration says of its format, for a message."""
    config = data.get("quantization_config")
    if isinstance(config, dict) and config:
        parts = [f"{key} {config[key]}" for key in SHOWN
                 if isinstance(config.get(key), (str, int, list))]
        return " ".join(", ".join(parts).split())[:80]
    for key in (*QUANTIZED[1:], *DTYPES):
        if isinstance(data.get(key), str):
            return f"{key} {json_excerpt(data[key])}"
    return ""


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
