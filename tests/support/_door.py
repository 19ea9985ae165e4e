"""Files to spoil, what every refusal has in common, and every value of an entry."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catalogue import ROOT, ParamsError, Value
from catalogue.shipped import values_of

DEVICE = """
name: {en: Card, zh: 卡}
vendor: Nobody
type: gpu
memory_capacity: {value: 64 GiB, source: "https://example.org/card", kind: vendor}
memory_bandwidth: {value: 1.6 TB/s, source: "https://example.org/card", kind: vendor}
hbm_efficiency: {value: 0.8, source: "a guess of ours", kind: assumed, range: [0.7, 0.9]}
runtime_reserve: {value: 2 GiB, source: "a guess of ours", kind: assumed}
matrix_peak:
  bf16: {value: 300 TFLOPS, source: "https://example.org/card", kind: vendor}
"""


def number(value: float, low: float | None = None, high: float | None = None) -> Value:
    """An assumed number, of this range or none."""
    return Value(value, "1", str(value), "arithmetic", "assumed",
                 value if low is None else low, value if high is None else high)


def sentence(action, *args, **kwargs) -> str:
    """The first sentence with which an action is refused."""
    with pytest.raises(ParamsError) as caught:
        action(*args, **kwargs)
    message = caught.value.problems[0]
    assert "\n" not in message
    assert message.endswith((".", "?"))
    return message


def spoilt(path: Path, entry: str, old: str, new: str) -> Path:
    """An entry of the catalogue (``kind/name``) or the text of a file, written with a change."""
    text = entry if "\n" in entry else (ROOT / f"{entry}.yml").read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def values(item: Any) -> Iterator[tuple[str, Value]]:
    """Every value of an entry, with what other sources print of it, and its path."""
    return ((".".join(map(str, keys)), value) for keys, value in values_of(item))
