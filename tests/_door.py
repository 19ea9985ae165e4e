"""A device file to spoil, and what every refusal has in common."""

import pytest

from params import ParamsError

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


def sentence(action, *args, **kwargs) -> str:
    with pytest.raises(ParamsError) as caught:
        action(*args, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith((".", "?"))
    return message
