"""The pipeline on a tiny project: which pages a change makes stale, what a run writes."""

import shutil

import _project
import pytest

from _ext import page_inputs, pipeline

PAGES = ("derivation", "scenarios", "scenarios/one", "scenarios/two")
RUN, TELL = pipeline.RUN, pipeline.TELL
ALL = dict.fromkeys(PAGES, RUN)
WORDS = '+++ {"tags": ["en"]}\n\nA sentence on @title@.\n\n'


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    project = _project.make(tmp_path_factory.mktemp("built") / "project")
    assert sorted(build(project)) == [*PAGES]
    return project


@pytest.fixture
def project(built, tmp_path):
    """A copy of the project whose pages were executed once for all tests."""
    return shutil.copytree(built, tmp_path / "project")


def build(project):
    """Build without output and return the pages that ran, sorted."""
    return sorted(pipeline.build(project, report=lambda line: None))


def outputs(project):
    """Return every file below the folder of executed notebooks."""
    chapters = project / "book" / "chapters"
    return {path.relative_to(chapters).as_posix(): path.read_bytes()
            for path in chapters.rglob("*") if path.is_file()}


def stale(project):
    """Return what each stale page needs."""
    state = page_inputs.Inputs(project)
    return {page.name: need for page in pipeline.pages(project)
            if (need := pipeline.needed(page, state))}


def edit(project, name, text):
    """Write a file of the project, or delete it."""
    path = project / name
    path.unlink() if text is None else _project.write(project, {name: text})


def append(project, name, text):
    edit(project, name, (project / name).read_text(encoding="utf-8") + text)


@pytest.mark.parametrize(("name", "text", "needs"), [
    ("params/scenarios/two.yml", "22\n", {"scenarios": RUN, "scenarios/two": RUN}),
    ("params/scenarios/three.yml", "3\n", {"scenarios": RUN, "scenarios/three": RUN}),
    ("params/scenarios/one.yml", None, {"scenarios": RUN}),
    ("book/chapters/derivation.ipynb", "{}", {"derivation": RUN}),
    ("book/chapters/.keys/derivation.json", None, {"derivation": RUN}),
    ("notebooks/derive/formulas/formulas.json", '{"a": 1}\n', ALL),
    ("requirements.txt", "numpy==2.5\n", ALL),
    ("catalogue/reading/__init__.py", "NEW = 1\n", ALL),
    ("notebooks/derive/late.py", "TEXT = 2\n", {"derivation": RUN}),
    ("notebooks/derive/__init__.py", "PACKAGE = 1\n", {"derivation": RUN}),
    ("notebooks/derive/other.py", "OTHER = 1\n", {}),
    ("notebooks/derive/table.json", "{}\n", ALL),
])
def test_pages_made_stale_by_a_file(project, name, text, needs):
    assert stale(project) == {}
    edit(project, name, text)
    assert stale(project) == needs


def test_a_repeated_run_writes_the_same_bytes_and_removes_orphans(project):
    first = outputs(project)
    edit(project, "book/chapters/.keys/derivation.json", None)
    edit(project, "params/scenarios/one.yml", None)
    stamp = (project / "book/chapters/derivation.ipynb").stat().st_mtime_ns
    assert build(project) == ["derivation", "scenarios"]
    second = outputs(project)
    assert first.keys() - second.keys() == {"scenarios/one.ipynb", ".keys/scenarios/one.json"}
    assert {name for name in second if second[name] != first[name]} == {
        "scenarios.ipynb", ".keys/scenarios.json"}
    assert (project / "book/chapters/derivation.ipynb").stat().st_mtime_ns == stamp


def test_new_prose_is_written_without_running_cells(project):
    """The result has the bytes of a run."""
    for name in ("derivation", "scenario"):
        append(project, f"notebooks/{name}.md", WORDS)
    told = dict.fromkeys(("derivation", "scenarios/one", "scenarios/two"), TELL)
    assert stale(project) == told
    runs = (project / "runs").read_text()
    assert build(project) == [*told]
    assert (project / "runs").read_text() == runs
    written = outputs(project)
    assert b"A sentence on Plan 2." in written["scenarios/two.ipynb"]
    for name in told:
        edit(project, f"book/chapters/.keys/{name}.json", None)
    assert build(project) == [*told]
    assert (project / "runs").read_text() == runs + "."
    assert outputs(project) == written


FAILING = _project.notebook("derivation", "D", "推", "a = 1", "b = 2\nassert a == b, 'no'")
LINE = FAILING.splitlines().index("assert a == b, 'no'") + 1
SENTENCE = "    params/scenarios/two.yml:1: 'many' is not a number of cards."
REASONS = [f"notebooks/derivation.md stopped in cell 4, line {LINE}:",
           "    assert a == b, 'no'", "    AssertionError: no",
           "notebooks/scenario.md for two stopped before its first cell:", SENTENCE]


def test_failing_pages_are_named_with_cell_line_and_reason(project):
    edit(project, "notebooks/derivation.md", FAILING)
    edit(project, "params/scenarios/two.yml", "many\n")
    with pytest.raises(pipeline.NotebookError) as caught:
        build(project)
    lines = str(caught.value).splitlines()
    assert lines[:len(REASONS)] == REASONS
    assert lines[-1] == SENTENCE
    assert stale(project) == {"derivation": RUN, "scenarios": RUN, "scenarios/two": RUN}
