"""What the packages call cards, engines and formats, and what we call them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

CARDS = {
    "a100_sxm": "nvidia-a100-sxm-80gb", "b200_sxm": "nvidia-b200", "b300_sxm": "nvidia-b300",
    "gb200": "nvidia-gb200", "gb300": "nvidia-gb300", "h100_sxm": "nvidia-h100-sxm",
    "h200_sxm": "nvidia-h200-sxm", "l40s": "nvidia-l40s",
    "rtx_pro_6000_server": "nvidia-rtx-pro-6000-server",
}
"""Folder -> device of ``params/devices/``, by the ``device`` that the rows name (``NVIDIA B200``,
``NVIDIA A100-SXM4-80GB``); a card that has no entry keeps the folder's name."""
DEVICES = {"h100_sxm": ("NVIDIA H100", "NVIDIA H100 80GB HBM3"), "h200_sxm": ("NVIDIA H200",)}
"""Folder -> what its card calls itself, where rows of another card lie among its own."""
ENGINES = {"trtllm": "tensorrt-llm", "sglang": "sglang", "vllm": "vllm", "nccl": "nccl",
           "oneccl": "oneccl"}
"""Framework, in small letters -> engine."""
DTYPES = {
    "bfloat16": "bf16", "half": "fp16", "float16": "fp16", "fp8": "fp8", "fp8_e4m3": "fp8",
    "fp8_block": "fp8-block", "int8": "int8", "sq": "int8", "int8_wo": "w8a16", "int4_wo": "w4a16",
    "nvfp4": "nvfp4", "fp4": "nvfp4", "w4afp8": "w4afp8", "w4a8_mxfp4_mxfp8": "mxfp4-w4a8",
    "w4a16_mxfp4": "mxfp4-w4a16", "w4a16_mxfp4_cutlass": "mxfp4-w4a16",
    "w4a16_mxfp4_humming": "mxfp4-w4a16", "default": "bf16",
}
"""``sq`` is SmoothQuant, both sides in INT8; ``fp8`` has a scale per tensor or per row,
``fp8_block`` per 128 × 128 weights. What an exchange calls ``default`` it was handed in BF16."""
STAGES = {"context": "prefill", "generation": "decode", "verify": "verify"}
_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)*(rc[0-9]+)?(\.post[0-9]+)?")


def card(folder: str) -> str:
    """Our device of a folder, or the folder's name where ``params/devices/`` has none."""
    return CARDS.get(folder, folder)


def of_card(folder: str, said: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether rows are of the card in whose folder they lie [rows].

    Earlier packages filed rows of H100 and of H200 NVL under H200, where nothing else was measured;
    what was measured is in the row.
    """
    known = DEVICES.get(folder)
    return np.ones(len(said), bool) if known is None else np.isin(
        said.astype(str), [*known, ""])


def dtypes(said: NDArray[Any]) -> NDArray[Any]:
    """Formats [rows]; one that is unknown keeps its name, for the lint to tell."""
    return renamed(said, DTYPES)


def skews(said: NDArray[Any]) -> NDArray[Any]:
    """Skews [rows]: ``power_law_1.2`` is ``power-law-1.2``."""
    return renamed(said, {word: word.replace("_", "-") for word in set(said.tolist())})


def engine(framework: str, release: str, said: str = "", version: str = "") -> str:
    """Who ran a row: what the row says of itself, else its folder.

    A package files older measurements under newer releases where nothing was measured anew; what
    was measured is in the row. ``unknown``, ``kernel-level`` and a state between releases are none.
    """
    if framework in ("nccl", "oneccl"):
        said = framework  # the rows name the program that measured it
    own = ENGINES.get((said or framework).lower(), (said or framework).lower())
    number = version if _RELEASE.fullmatch(version) else release
    return f"{own}@{number}"


def renamed(said: NDArray[Any], names: Mapping[str, str]) -> NDArray[Any]:
    """Texts by other names [rows]; what has none stays."""
    return np.array([names.get(word, word) for word in said.tolist()], dtype=object)
