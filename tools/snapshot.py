"""Print the numbers of a checkout as JSON: ``python -m tools.snapshot``.

Answers, quantities, cross-check, formulas, deploy directories.
Uses only public names of the project, so that it runs on older checkouts too: `tools.baseline` puts
these tools before the packages of the checkout on the path.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import calc
import catalogue
from tools.answers.asking import QUESTIONS, answer, run

ROOT = Path(calc.__file__).parents[1]
DEPLOYS = {  # name of a deploy directory -> arguments; of different engines, cards and pools
    "vllm": "h200-r1-vllm-tp8", "vllm-ascend": "v4-flash-16x910c", "sglang": "h200-r1-sglang-mtp",
    "sglang-amd": "mi355x-v4-pro-sglang", "two-pools": "a3-glm51-pd-tp1"}


def snapshot() -> dict[str, Any]:
    """Everything that the baseline compares besides pages and rates."""
    formulas = json.loads((ROOT / "notebooks/derive/formulas/formulas.json").read_text("utf-8"))
    names = catalogue.deployment_names()
    return {"answers": {question: answer(question) for question in QUESTIONS},
            "quantities": {name: quantities(name) for name in names},
            "crosscheck": {name: crosschecked(name) for name in names},
            "formulas": {key: {part: formula[part] for part in ("tree", "unit")}
                         for key, formula in formulas.items()},
            "deploy": {name: deployed(given) for name, given in DEPLOYS.items()}}


def quantities(name: str) -> dict[str, Any]:
    """All quantities of a shipped deployment, in SI units."""
    scenario = catalogue.load_scenario(name)
    return {key: np.asarray(value).tolist()
            for key, value in calc.evaluate(scenario.inputs(), scenario.model.attention).items()}


def crosschecked(name: str) -> str:
    """Compare derivation and runtime on a shipped deployment to a relative 1e-9."""
    from notebooks.derive.crosscheck import DerivationError, crosscheck

    scenario = catalogue.load_scenario(name)
    try:
        crosscheck(scenario.inputs(), scenario.model.attention)
    except DerivationError as error:
        return str(error)
    return "agrees"


def deployed(arguments: str) -> dict[str, str]:
    """The files of a deploy directory, by path."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        files = Path("files")
        run(["deploy", *arguments.split(), "-o", str(files)])
        return {path.relative_to(files).as_posix(): path.read_text("utf-8")
                for path in sorted(files.rglob("*")) if path.is_file()}


if __name__ == "__main__":
    print(json.dumps(snapshot()))
