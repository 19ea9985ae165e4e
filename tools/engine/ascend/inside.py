"""Runs inside the engine's environment: vLLM with its plug-in for Ascend, line by line.

Reads ``{"card", "lines": [{"name", "argv", "environment"}]}`` and writes one JSON line for each, as
``inside`` of vLLM does. Nothing is left out of a line: the plug-in checks all of it.
"""

from __future__ import annotations

import contextlib
import json
import sys
import types
from typing import Any

import inside
import stand_in


def main() -> int:
    """Check what stands on the standard input."""
    asked = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):  # where the engine's logs go
        played(asked["card"])
    inside.check(asked["lines"], ())
    return 0


def played(card: dict[str, Any]) -> None:
    """Load the engine and its plug-in as beside a card."""
    stand_in.install(card)
    built = types.ModuleType("vllm_ascend._build_info")  # written where its kernels are compiled
    vars(built)["__device_type__"] = card["generation"]
    sys.modules[built.__name__] = built
    import torch.distributed
    import vllm_ascend

    torch.distributed.is_hccl_available = lambda: True
    vllm_ascend._build_info = built


if __name__ == "__main__":
    sys.exit(main())
