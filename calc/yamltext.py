"""YAML text of fitted values: innermost collections in one line, numbers of a few digits."""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

_NUMBER = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]+)?")


class Flow(dict[Any, Any]):
    """A mapping that is written in one line, whatever it contains."""


class PlainDumper(yaml.SafeDumper):
    """YAML without references from one place to another."""

    def ignore_aliases(self, data: Any) -> bool:
        """Never write a reference."""
        return True


class _Dumper(PlainDumper):
    """Items of lists indented below their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists as mappings."""
        super().increase_indent(flow, False)


_Dumper.add_representer(Flow, lambda dumper, data: dumper.represent_mapping(
    "tag:yaml.org,2002:map", list(data.items()), flow_style=True))


def significant(number: float, digits: int) -> float | int:
    """A number of so many significant digits; whole ones as integers.

    >>> significant(1234.6, 4), significant(0.00123456, 3)
    (1235, 0.00123)
    """
    rounded = float(f"{number:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded


def rounded(data: Any, digits: int) -> Any:
    """Plain data with all numbers of so many significant digits."""
    if isinstance(data, dict):
        return type(data)((name, rounded(value, digits)) for name, value in data.items())
    if isinstance(data, (list, tuple)):
        return [rounded(value, digits) for value in data]
    return significant(data, digits) if isinstance(data, float) else data


def unquoted(data: Any) -> Any:
    """Plain data with numbers in place of texts of them.

    >>> unquoted({"users": "64", "share": ["0.9"], "length": "64 token"})
    {'users': 64, 'share': [0.9], 'length': '64 token'}
    """
    if isinstance(data, dict):
        return {name: unquoted(value) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [unquoted(value) for value in data]
    if isinstance(data, str) and _NUMBER.fullmatch(data):
        return float(data) if "." in data else int(data)
    return data


def dump(data: Any) -> str:
    """Plain data as YAML, in the order given."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True,
                          width=math.inf, default_flow_style=None)
    return text
