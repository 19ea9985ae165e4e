"""Public tools that predict a decode step, installed into environments that are thrown away.

None of them needs an accelerator, none is a dependency. They are other models of the same thing, so
only their speed is compared here. The lengths of prompts are those of our deployments.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

# name -> requirement, what is called, and a program that prints the seconds of the processor that a
# prediction takes, and those of preparing a model, a card and a cut for it
PEERS = {
    "aiconfigurator": ("aiconfigurator==0.12.0", "predict_decode_latency", """
import json, logging, time
from aiconfigurator_core.sdk.engine import EngineHandle
logging.disable(logging.WARNING)
start = time.process_time()
engine = EngineHandle.compile("deepseek-ai/DeepSeek-V3", "h200_sxm", "sglang", tp_size=8,
                              moe_tp_size=1, moe_ep_size=8)
prepared, count, passes = time.process_time() - start, 10_000, []
for number in range(5):
    start = time.process_time()
    for i in range(count):
        engine.predict_decode_latency(1 + i % 256, 128 + (i * 7919 + number) % 32_640, 2)
    passes.append(time.process_time() - start)
print(json.dumps([min(passes) / count, prepared]))
"""),
    "genz": ("genz-llm==0.0.16", "decode_moddeling", """
import json, time, warnings
from GenZ import decode_moddeling
warnings.simplefilter("ignore")
def predict(i):
    decode_moddeling(model="meta-llama/Llama-3.1-70B", batch_size=1 + i, Bb=1,
                     input_tokens=128 + i * 7919 % 32_640, bits="bf16", system_name="H100_GPU",
                     tensor_parallel=8)
predict(0)
count, start = 40, time.process_time()
for i in range(count):
    predict(i)
print(json.dumps([(time.process_time() - start) / count, 0]))
"""),
}


def speed(python: Path, program: str) -> tuple[float, float]:
    """Seconds per prediction and per preparation, by the tool in that interpreter's environment."""
    done = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True,
                          cwd=python.parent)
    seconds, prepared = json.loads(done.stdout.splitlines()[-1])
    return seconds, prepared


def beside(per_core: float) -> dict[str, tuple]:
    """Predictions per second of one core, and how many of ours go into one of theirs.

    Args:
        per_core: our deployments per second of one core.

    What does not install or run is a row of zero with a note.
    """
    rows: dict[str, tuple] = {}
    for name, (requirement, called, program) in PEERS.items():
        key, unit = f"peer_{name}", "predictions/s"
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder) / "bin" / "python"
            try:
                subprocess.run([sys.executable, "-m", "venv", folder], check=True)
                subprocess.run([python, "-m", "pip", "install", "-q", requirement], check=True,
                               capture_output=True)
                seconds, prepared = speed(python, program)
            except subprocess.CalledProcessError as error:
                rows[key] = (0.0, unit, f"{requirement} does not run here: {error}")
                continue
        note = f"{requirement}, {called} of one card and cut; batch and length vary; one core"
        if prepared:
            note += f"; another cut takes {prepared:.2g} s of preparation"
        rows[key] = (1 / seconds, unit, note)
        rows[f"tpot_closed_form_over_{key}"] = (per_core * seconds, "1", "of one core")
    return rows
