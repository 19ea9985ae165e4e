"""Command lines for vLLM Ascend before the parser and checks of vLLM and its plug-in."""

from __future__ import annotations

from pathlib import Path

from tools.engine import environment, lines
from tools.engine.cards.asked import Release
from tools.engines.source import find, load

ENGINE, RELEASE = "vllm-ascend", "0.30.0rc2"
BASE = "0.30.0"  # the release of vLLM that its image is built with
POINTS = """[vllm.platform_plugins]
ascend = vllm_ascend:register
[vllm.general_plugins]
ascend_kv_connector = vllm_ascend:register_connector
"""  # of those in its setup.py what names a platform and its connectors
METADATA = f"Metadata-Version: 2.1\nName: {ENGINE}\nVersion: {RELEASE}\n"
EPLB = '{"eplb_config": {"dynamic_eplb": true}}'
BROKEN = {  # each is refused by the engine or its plug-in
    "an unknown flag": ["--tensor-parallel-sizes", "2"],
    "a value of another type": ["--max-num-seqs", "many"],
    "an unknown key of the plug-in": ["--additional-config", '{"no_key_of_it": true}'],
    "experts balanced without the variable": ["--enable-expert-parallel",
                                              "--additional-config", EPLB],
    "a format whose description is absent": ["--quantization", "ascend"]}


def _plug_in(place: Path) -> None:
    """Write the plug-in's source beside the vLLM that it is for.

    Raises ExtractError where it cannot be had.
    """
    environment.renamed(place, BASE)
    metadata = {f"{ENGINE.replace('-', '_')}-{RELEASE}.dist-info/{name}": text for name, text in (
        ("METADATA", METADATA), ("entry_points.txt", POINTS))}
    for name, text in (load(find(ENGINE, [RELEASE])[0]).files | metadata).items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


ASCEND = Release(
    ENGINE, RELEASE, (f"{environment.PACKAGE}=={BASE}",), "ascend.inside",
    Path(__file__).parents[1], BROKEN,
    lambda checkpoint: [checkpoint, "--tensor-parallel-size", "8"], "ascend-910b2", "bf16",
    lines.ENGINE, _plug_in)
