"""The scenario template through Papermill, as a reader runs it, from any directory."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from _door import DEVICE

from catalogue import ParamsError
from notebooks.pages.deciding import goals
from notebooks.pages.deployments.sections.page import page_of

PROJECT = Path(__file__).resolve().parents[2]
TEMPLATES = PROJECT / "notebooks"

MY_CARD = DEVICE.replace("64 GiB", "288 GB").replace("1.6 TB/s", "8 TB/s")


def run(tmp_path, *parameters, template="scenario.ipynb"):
    """Run a template in a folder of the reader's own; returns the process and the notebook."""
    command = [Path(sys.executable).with_name("papermill"), str(TEMPLATES / template), "out.ipynb"]
    for name, value in parameters:
        command += ["-p", name, value]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False,
                          timeout=300)
    notebook = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    return done, notebook


def words(notebook) -> str:
    """All text that the notebook printed."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code"
               for output in cell.outputs]
    return "\n".join(str(output.get("data", {}).get("text/markdown", "")) for output in outputs)


@pytest.fixture(scope="module")
def in_both(tmp_path_factory):
    """A documented scenario in both languages: the process and the notebook."""
    return run(tmp_path_factory.mktemp("both"), ("scenario", "s2-910b1-awq"))


def test_a_documented_scenario_by_its_name(in_both):
    done, notebook = in_both
    assert done.returncode == 0, done.stderr
    assert "It fits" in words(notebook)
    assert "装得下" in words(notebook)


@pytest.mark.slow
def test_a_documented_scenario_by_its_path(tmp_path):
    done, notebook = run(tmp_path, ("scenario", "params/scenarios/s0-scenario-1.yml"))
    assert done.returncode == 0, done.stderr
    for text in ("It does not fit", "装不下", "169.56 GB"):
        assert text in words(notebook)


@pytest.mark.slow
def test_a_card_of_the_readers_own(tmp_path):
    """288 GB hold what 64 GiB did not; the reader's file is read and not touched."""
    card = tmp_path / "mine.yml"
    card.write_text(MY_CARD, encoding="utf-8")
    done, notebook = run(tmp_path, ("scenario", "s0-scenario-1"), ("device", "mine.yml"))
    assert done.returncode == 0, done.stderr
    assert "It fits" in words(notebook)
    assert card.read_text(encoding="utf-8") == MY_CARD
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.yml", "out.ipynb"]


def shown(notebook, lang):
    """Outputs of a language: those that bear its mark."""
    return [output for cell in notebook.cells if cell.cell_type == "code"
            for output in cell.outputs if output.get("metadata", {}).get("lang") == lang]


@pytest.mark.slow
@pytest.mark.parametrize(("lang", "other"), [("en", "zh"), ("zh", "en")])
def test_one_language_alone(tmp_path, in_both, lang, other):
    """Numbers, tables and figures are printed in it; prose cells Papermill cannot leave out."""
    done, notebook = run(tmp_path, ("scenario", "s2-910b1-awq"), ("lang", lang))
    assert done.returncode == 0, done.stderr
    assert len(shown(notebook, lang)) > 20
    assert any("image/svg+xml" in output.data for output in shown(notebook, lang))
    assert shown(notebook, other) == []
    assert [output.data for output in shown(in_both[1], lang)] == [
        output.data for output in shown(notebook, lang)]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), [("device", "ascend-910b2"), ("model", "deepseek-v3")])
def test_a_card_and_a_model_in_one_language(tmp_path, kind, name):
    done, notebook = run(tmp_path, (kind, name), ("lang", "zh"), template=f"{kind}.ipynb")
    assert done.returncode == 0, done.stderr
    assert shown(notebook, "zh")
    assert not shown(notebook, "en")


@pytest.mark.slow
def test_what_decides_of_another_deployment_in_one_language(tmp_path):
    done, notebook = run(tmp_path, ("scenario", "h20-qwen3-8b"), ("lang", "zh"),
                         template="decide.ipynb")
    assert done.returncode == 0, done.stderr
    assert shown(notebook, "zh")
    assert not shown(notebook, "en")
    assert "Qwen3-8B" in words(notebook)


MY_GOAL = """
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


@pytest.mark.slow
def test_a_goal_of_the_readers_own(tmp_path):
    """Theirs alone is searched and drawn; one that nothing meets has a page as well."""
    for name, limit, says in (("mine", "30 ms", "8 × NVIDIA H200 SXM"),
                              ("late", "1 ms", "nothing meets it")):
        path = tmp_path / f"{name}.yml"
        path.write_text(MY_GOAL.replace("30 ms", limit), encoding="utf-8")
        done, notebook = run(tmp_path, ("goal", path.name), ("lang", "en"),
                             template="search.ipynb")
        assert done.returncode == 0, done.stderr
        assert "**Twenty users**" in words(notebook)
        assert says in words(notebook)
        assert shown(notebook, "zh") == []
        assert "R1 for 80 users on the fewest 910B" not in words(notebook)


def of_one_sentence(notebook) -> str:
    """The sentence that is all that stands under the one cell that stopped."""
    output, = [output for cell in notebook.cells if cell.cell_type == "code"
               for output in cell.outputs if output.output_type == "error"]
    sentence = "\n".join(output.traceback)
    assert len(sentence.strip().splitlines()) == 1
    return sentence


def test_a_goal_that_cannot_be_asked_is_one_sentence(tmp_path):
    done, notebook = run(tmp_path, ("goal", "nowhere.yml"), template="search.ipynb")
    assert done.returncode != 0
    assert "there is no such file." in of_one_sentence(notebook)


@pytest.mark.parametrize(("goal", "says"), [
    ("r1-80-users-910c", "the nearest names are"),
    ("twice.yml", "to reach 50,000 token/s together, each needs a token every 1.6 ms")])
def test_the_page_says_what_is_wrong_with_a_goal(tmp_path, monkeypatch, goal, says):
    (tmp_path / "twice.yml").write_text(
        MY_GOAL.replace("users: 20", "users: 80").replace(
            "{tpot: 30 ms}", "{tpot: 50 ms, throughput: 50000 token/s}").replace(
            "drafts: [0, 1]", "drafts: [0, 1], pools: [one]"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParamsError, match=says) as told:
        goals.page_of(goal)
    assert len(str(told.value).strip().splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("parameters", "says"), [
    ([("scenario", "s0-scenario-1"), ("lang", "fr")], "lang: expected en, zh or both, not 'fr'."),
    ([("scenario", "s0-scenario-1"), ("device", "kunpeng-920")], "is a host processor"),
    ([("scenaro", "s0-scenario-1")], "there is no parameter 'scenaro', expected scenario or"),
])
def test_a_wrong_parameter_is_one_sentence_and_fails(tmp_path, parameters, says):
    done, notebook = run(tmp_path, *parameters)
    assert done.returncode != 0
    assert says in of_one_sentence(notebook)
    assert says in done.stderr


@pytest.mark.parametrize(("scenario", "device", "says"), [
    ("nowhere.yml", "", "nowhere.yml: there is no such file."),
    ("s0-scenario-9", "", "the nearest names are"),
    ("s0-scenario-1", "ascend-910b9", "the nearest names are"),
])
def test_the_page_says_what_is_wrong_with_a_name(tmp_path, monkeypatch, scenario, device, says):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParamsError, match=says) as told:
        page_of(scenario, device)
    assert len(str(told.value).strip().splitlines()) == 1
