"""Downloads of the site: the wheel, pages as notebooks, parameterised notebooks."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import nbformat
import pytest
from _project import ROOT

from _ext.export import edition

CARD = "example-card.yml"  # 256 GB hold what 64 GiB did not
GOAL = """
title: {en: Twenty users, zh: 二十个用户}
model: deepseek-v3
devices: [nvidia-h200-sxm]
cards: {fewest: 8, most: 16}
precisions: [fp8-block]
demand: {input_tokens: 4000 token, output_tokens: 1000 token, users: 20}
limits: {tpot: 30 ms}
objectives: [cards, tpot]
space: {chunks: [8192], drafts: [0, 1]}
"""
VERDICTS = {"It fits", "装得下"}
WRONG = "there is no parameter 'scenaro', expected scenario or"


@pytest.fixture(scope="module")
def wheel(site):
    path, = (site / edition.ENGINE).glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """An environment with the package and its libraries, and without the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
                    "--disable-pip-version-check", "--target", folder, wheel], check=True)
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{sysconfig.get_path('purelib')}"}


def run(environment, folder, *words):
    """Run the system's interpreter, which reads no files of ``.venv`` that add paths."""
    return subprocess.run([Path(sys.executable).resolve(), *words], cwd=folder, env=environment,
                          text=True, capture_output=True, check=False, timeout=300)


def test_bill_of_materials_is_beside_the_wheel(wheel):
    beside = {path.name: path.read_bytes() for path in wheel.parent.iterdir() if path != wheel}
    assert beside == {Path(name).name: (ROOT / name).read_bytes() for name in edition.BESIDE}


def test_a_page_as_a_notebook_runs_with_the_package_alone(site, installed, tmp_path):
    source = site / "_sources/chapters/architecture.ipynb"
    done = run(installed, tmp_path, "-m", "papermill", str(source), "out.ipynb")
    assert done.returncode == 0, done.stderr[-2000:]


def papermill(folder, template, *parameters):
    """Run a notebook in a folder of the reader's; return process, outputs, and printed text."""
    options = [word for parameter in parameters for word in ("-p", *parameter.split("="))]
    done = subprocess.run(
        [Path(sys.executable).with_name("papermill"), ROOT / f"notebooks/{template}.ipynb",
         "out.ipynb", *options], cwd=folder, capture_output=True, text=True, check=False)
    notebook = nbformat.read(folder / "out.ipynb", as_version=4)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code"
               for output in cell.outputs]
    return done, outputs, "\n".join(str(output.get("data", {}).get("text/markdown", ""))
                                    for output in outputs)


def languages(outputs):
    return {output.metadata.lang for output in outputs if "lang" in output.get("metadata", {})}


def test_a_documented_scenario_on_a_card_of_the_readers_own(tmp_path):
    card = (ROOT / "params/templates" / CARD).read_text("utf-8")
    (tmp_path / CARD).write_text(card, "utf-8")
    done, outputs, text = papermill(tmp_path, "scenario", "scenario=s0-scenario-1",
                                    f"device={CARD}")
    assert done.returncode == 0, done.stderr
    assert all(verdict in text for verdict in VERDICTS)
    assert languages(outputs) == {"en", "zh"}
    assert (tmp_path / CARD).read_text("utf-8") == card
    assert {path.name for path in tmp_path.iterdir()} == {CARD, "out.ipynb"}


def test_a_goal_of_the_readers_own_in_one_language(tmp_path):
    (tmp_path / "mine.yml").write_text(GOAL, encoding="utf-8")
    done, outputs, text = papermill(tmp_path, "search", "goal=mine.yml", "lang=en")
    assert done.returncode == 0, done.stderr
    assert "**Twenty users**" in text
    assert "H200 SXM" in text
    assert languages(outputs) == {"en"}


def test_a_wrong_parameter_is_one_sentence_and_fails(tmp_path):
    done, outputs, _ = papermill(tmp_path, "scenario", "scenaro=s0-scenario-1")
    sentence, = ["\n".join(output.traceback) for output in outputs if output.output_type == "error"]
    assert done.returncode != 0
    assert WRONG in sentence
    assert WRONG in done.stderr
    assert len(sentence.strip().splitlines()) == 1
