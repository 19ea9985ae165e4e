"""Command lines for SGLang before its own parser and checks, as on the card they are for."""

from __future__ import annotations

from pathlib import Path

from tools.engine.cards.asked import Release

RELEASE, ROUTER = "0.5.23", "0.3.2"
# of its requirements those that a configuration reads and vLLM does not bring
WITH = (f"sglang=={RELEASE}", f"sglang-router=={ROUTER}", "orjson", "pybase64", "setproctitle")
BROKEN = {  # each is refused by the engine itself
    "an unknown flag": ["--tensor-parallel-sizes", "2"],
    "a value of another type": ["--max-running-requests", "many"],
    "ranks that nodes do not divide": ["--tp-size", "8", "--nnodes", "3"],
    "an unknown format": ["--quantization", "w3"],
    "experts that no block of scales divides": ["--tp-size", "32", "--nnodes", "4"]}
SGLANG = Release(
    "sglang", RELEASE, WITH, "inside", Path(__file__).parent, BROKEN,
    lambda checkpoint: ["--model-path", checkpoint], "nvidia-h200-sxm", "fp8-block")
