"""The pipeline on a tiny project: what is stale runs, what fails says why, nothing is half done."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import _project
import psutil
import pytest

from _ext import downloads, inputs, languages, pipeline

PAGES = ["derivation", "scenarios", "scenarios/one", "scenarios/two"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return _project.make(tmp_path)


def build(project: Path) -> list[str]:
    """Build quietly and return the pages that ran, sorted."""
    return sorted(pipeline.build(project, report=lambda line: None))


def outputs(project: Path) -> dict[str, bytes]:
    """Return every file below the folder of executed notebooks."""
    chapters = project / "book" / "chapters"
    return {path.relative_to(chapters).as_posix(): path.read_bytes()
            for path in chapters.rglob("*") if path.is_file()}


def test_only_what_is_stale_runs(project: Path) -> None:
    scenarios = project / "params" / "scenarios"
    assert build(project) == PAGES
    assert build(project) == []

    (scenarios / "two.yml").write_text("22\n")
    before = {name: path.stat().st_mtime_ns for name in PAGES
              if (path := project / "book/chapters" / f"{name}.ipynb").exists()}
    assert build(project) == ["scenarios", "scenarios/two"]
    untouched = project / "book/chapters/scenarios/one.ipynb"
    assert untouched.stat().st_mtime_ns == before["scenarios/one"]

    (scenarios / "three.yml").write_text("3\n")
    assert build(project) == ["scenarios", "scenarios/three"]

    (scenarios / "one.yml").unlink()
    assert build(project) == ["scenarios"]
    assert not untouched.exists()
    assert "scenarios/one.ipynb" not in outputs(project)
    assert ".keys/scenarios/one.json" not in outputs(project)

    (project / "notebooks/derive/formulas/formulas.json").write_text('{"a": 1}\n')
    assert build(project) == ["derivation", "scenarios", "scenarios/three", "scenarios/two"]


def test_what_is_edited_during_a_build_is_stale_after_it(project: Path) -> None:
    """Keys are of what was there when the build began, not of what is there when a page ends."""
    started = inputs.Inputs(project)
    page = next(page for page in pipeline.pages(project) if page.name == "scenarios")
    before = started.key(page, ["scenarios/"])
    (project / "params/scenarios/three.yml").write_text("3\n")
    page.source.write_text(page.source.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert started.key(page, ["scenarios/"]) == before
    assert inputs.Inputs(project).key(page, ["scenarios/"]) != before


def test_a_run_leaves_the_same_bytes_and_nothing_of_the_clock(project: Path) -> None:
    build(project)
    first = outputs(project)
    key = project / "book/chapters/.keys/derivation.json"
    key.unlink()
    stamp = (project / "book/chapters/derivation.ipynb").stat().st_mtime_ns
    assert build(project) == ["derivation"]
    assert outputs(project) == first
    assert (project / "book/chapters/derivation.ipynb").stat().st_mtime_ns == stamp


def test_an_output_that_was_touched_is_made_again(project: Path) -> None:
    build(project)
    (project / "book/chapters/derivation.ipynb").write_text("{}")
    assert build(project) == ["derivation"]


def test_a_scenario_page_bears_its_name(project: Path) -> None:
    build(project)
    cells = json.loads(outputs(project)["scenarios/two.ipynb"])["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    assert texts[0] == "(two)=\n# Plan 2"
    assert texts[1] == "(two)=\n# 方案2"
    injected = [cell for cell in cells if "injected-parameters" in cell["metadata"].get("tags", [])]
    assert injected[0]["metadata"]["tags"] == ["injected-parameters", "remove-cell"]


def test_a_failing_cell_is_named_with_its_reason(project: Path) -> None:
    path = project / "notebooks" / "derivation.md"
    code = "a = 1", "b = 2\nassert a == b, 'no'"
    path.write_text(_project.notebook("derivation", "D", "推", *code))
    with pytest.raises(pipeline.NotebookError) as caught:
        build(project)
    line = path.read_text().splitlines().index("assert a == b, 'no'") + 1
    assert str(caught.value) == (f"notebooks/derivation.md stopped in cell 4, line {line}:\n"
                                 "    assert a == b, 'no'\n    AssertionError: no")
    assert sorted(outputs(project)) == sorted(
        [f"{name}.ipynb" for name in PAGES[1:]] + [f".keys/{name}.json" for name in PAGES[1:]])


def test_a_mistake_in_the_parameters_is_one_sentence(project: Path) -> None:
    (project / "params/scenarios/two.yml").write_text("many\n")
    with pytest.raises(pipeline.NotebookError) as caught:
        build(project)
    sentence = "params/scenarios/two.yml:1: 'many' is not a number of cards."
    lines = str(caught.value).splitlines()
    assert lines[:2] == ["notebooks/scenario.md for two stopped before its first cell:",
                         f"    {sentence}"]
    assert lines[-1] == f"    {sentence}"
    assert len(lines) == 5


@pytest.mark.one
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_build_leaves_nothing_half_done(project: Path, how: int) -> None:
    started = project / "started"
    slow = (f"import os, pathlib, time\npathlib.Path({str(started)!r}).write_text(str(os.getpid()))"
            "\ntime.sleep(60)")
    path = project / "notebooks" / "derivation.md"
    path.write_text(_project.notebook("derivation", "D", "推", slow))
    code = "import sys; from pathlib import Path; from _ext import pipeline; " \
           "pipeline.build(Path(sys.argv[1]))"
    path_to_ext = str(_project.ROOT / "book")
    process = subprocess.Popen([sys.executable, "-c", code, str(project)],
                               env=os.environ | {"PYTHONPATH": path_to_ext},
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               # a shell has what it starts in the background ignore an interrupt
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    deadline = time.monotonic() + 60
    while not (started.exists() and started.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    kernel = int(started.read_text())
    process.send_signal(how)
    assert process.wait(20) != 0
    deadline = time.monotonic() + 20
    while psutil.pid_exists(kernel) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not psutil.pid_exists(kernel), "a kernel outlives its build"
    for name, data in outputs(project).items():
        if not name.startswith(".work-"):
            json.loads(data)
    assert not (project / "book/chapters/derivation.ipynb").exists()

    path.write_text(_project.notebook("derivation", "D", "推", "1 + 1"))
    assert "derivation" in build(project)
    assert not [name for name in outputs(project) if name.startswith(".work-")]


@pytest.mark.parametrize("forks", [True, False])
def test_a_page_is_a_fork_or_where_that_is_not_safe_a_process_of_its_own(
    project: Path, forks: bool,
) -> None:
    source = str(project / "notebooks" / "derivation.md")
    code = f"import workshop; workshop.FORKS = {forks}; workshop.serve(2, ['json'])"
    path = os.pathsep.join(map(str, (_project.ROOT / "book" / "_ext", project,
                                     project / "notebooks")))
    jobs: list[dict[str, Any]] = [
        {"id": number, "arguments": [source, str(project / f"{number}.ipynb")], "environment": {}}
        for number in (1, 2)]
    with subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path},
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(job) + "\n" for job in jobs).encode())
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in jobs]
        process.stdin.close()
        assert process.wait(20) == 0
    assert sorted(answer["id"] for answer in answers) == [1, 2]
    assert {answer["code"] for answer in answers} == {0}
    assert (project / "1.ipynb").read_bytes() == (project / "2.ipynb").read_bytes()


def test_what_a_notebook_imports_is_read_from_its_code(project: Path) -> None:
    code = "import json, os.path as path", "from pathlib import (\n    Path as P)\nassert P"
    text = _project.notebook("derivation", "import this\n", "推", *code)
    assert list(inputs.imported(inputs.code_of(text))) == [
        "json", "os.path", "pathlib", "pathlib.Path"]
    assert list(inputs.imported("from . import a\nfrom ..b import c", "x.y")) == [
        "x.y", "x.y.a", "x.b", "x.b.c"]


def test_new_words_around_the_same_cells_are_put_there_without_a_run(project: Path) -> None:
    """As a run would have it: the same bytes, and nothing that a cell would do is done."""
    ran = project / "ran"
    texts = {name: (project / "notebooks" / f"{name}.md").read_text()
             for name in ("derivation", "scenario")}
    texts["derivation"] += _project.CODE.format(
        tags="hide-input", code=f"open({str(ran)!r}, 'a').write('.')")

    def written(old: str = "", new: str = "") -> list[str]:
        for name, text in texts.items():
            (project / "notebooks" / f"{name}.md").write_text(text.replace(old, new))
        return build(project)

    assert written() == PAGES
    words = "+++ {", '+++ {"tags": ["en"]}\n\nA sentence on @title@.\n\n+++ {'
    assert written(*words) == ["derivation", "scenarios/one", "scenarios/two"]
    assert ran.read_text() == "."
    told = outputs(project)
    assert b"A sentence on Plan 2." in told["scenarios/two.ipynb"]
    for name in ("derivation", "scenarios/one", "scenarios/two"):
        (project / "book/chapters/.keys" / f"{name}.json").unlink()
    assert build(project) == ["derivation", "scenarios/one", "scenarios/two"]
    assert ran.read_text() == ".."
    assert outputs(project) == told

    assert written("1 + 1", "1 + 2") == ["derivation", "scenarios/one", "scenarios/two"]
    assert ran.read_text() == "..."
    assert build(project) == []
    (project / "params/scenarios/two.yml").write_text("22\n")
    assert written(*words) == ["derivation", "scenarios", "scenarios/one", "scenarios/two"]
    assert b"A sentence on Plan 22." in outputs(project)["scenarios/two.ipynb"]


def test_a_module_makes_those_pages_stale_that_reach_it(project: Path) -> None:
    _project.write(project / "notebooks", {
        "__init__.py": "", "derive/__init__.py": "",
        "derive/words.py": "from notebooks.derive import deep\n",
        "derive/deep.py": "def said():\n    from .late import TEXT\n    return TEXT\n",
        "derive/late.py": "TEXT = 1\n", "derive/other.py": "",
        "derivation.md": _project.notebook("derivation", "D", "推",
                                           "from notebooks.derive import words",
                                           "words.deep.said()")})
    assert build(project) == PAGES

    def edited(name: str, text: str) -> list[str]:
        (project / name).write_text(text)
        return build(project)

    assert edited("notebooks/derive/late.py", "TEXT = 2\n") == ["derivation"]
    assert b'"2"' in outputs(project)["derivation.ipynb"]
    assert edited("notebooks/derive/other.py", "OTHER = 1\n") == []
    assert edited("notebooks/derive/__init__.py", "PACKAGE = 1\n") == ["derivation"]
    assert edited("notebooks/derive/table.json", "{}\n") == PAGES  # read by whoever knows
    catalogue = project / "catalogue/__init__.py"
    assert edited("catalogue/__init__.py", catalogue.read_text() + "\n") == PAGES


def test_of_a_file_only_the_key_counts_that_a_page_took(project: Path) -> None:
    scenario = project / "params/scenarios/one.yml"
    page = next(page for page in pipeline.pages(project) if page.name == "derivation")

    def key(text: str | None, taken: str = "scenarios/one.yml#device") -> str:
        scenario.unlink(missing_ok=True)
        if text is not None:
            scenario.write_text(text)
        return inputs.Inputs(project).key(page, [taken])

    plain = key("device: a\nnote: x\n")
    assert plain == key("note: another\n# a comment\ndevice:\n  a\n")
    varied = key("device: a\nvariants: {b: {device: b, note: x}}\n")
    assert varied == key("device: a\nvariants: {b: {device: b, note: y}}\n")
    others = (plain, varied, key("device: b\n"), key("note: x\n"), key("device: [\n"), key(None))
    assert len(set(others)) == len(others)
    assert key("device: a\n", "scenarios/one.yml") != key("device: a\n#\n", "scenarios/one.yml")


def test_modules_of_pages_import_by_statements_only() -> None:
    """What is imported by its name in a text is in no page's key."""
    for path in (_project.ROOT / "notebooks").rglob("*.*"):
        if path.suffix in (".md", ".py"):
            assert not re.search(r"import_module|__import__", path.read_text("utf-8")), path


def test_a_notebook_is_filtered_by_language() -> None:
    notebook = {"cells": [
        {"cell_type": "markdown", "metadata": {"tags": ["en"]}, "source": ["one"]},
        {"cell_type": "markdown", "metadata": {"tags": ["zh"]}, "source": ["一"]},
        {"cell_type": "code", "metadata": {}, "source": ["1"], "outputs": [
            {"data": {}, "metadata": {"lang": "en"}}, {"data": {}, "metadata": {"lang": "zh"}},
            {"data": {}, "metadata": {}}, {"name": "stdout"}]},
    ]}
    cells = json.loads(languages.filter_notebook(json.dumps(notebook), "zh"))["cells"]
    assert [cell["source"] for cell in cells] == ["", ["一"], ["1"]]
    assert [output.get("metadata") for output in cells[2]["outputs"]] == [{"lang": "zh"}, {}, None]


def test_a_page_is_filtered_by_language_and_keeps_its_lines() -> None:
    page = '---\na: 1\n---\n+++ {"tags": ["en"]}\none\n+++ {"tags": ["zh"]}\n一\n'
    assert languages.filter_page(page, "en") == "---\na: 1\n---\n\none\n\n\n"
    assert languages.filter_page(page, "zh") == "---\na: 1\n---\n\n\n\n一\n"


@pytest.mark.parametrize(("page", "tag", "urls"), [
    ("index", "en", ["index.html", "zh/index.html"]),
    ("index", "zh", ["../index.html", "../zh/index.html"]),
    ("chapters/a/b", "en", ["../../chapters/a/b.html", "../../zh/chapters/a/b.html"]),
    ("chapters/a/b", "zh", ["../../../chapters/a/b.html", "../../../zh/chapters/a/b.html"]),
])
def test_a_page_knows_its_other_language(page: str, tag: str, urls: list[str]) -> None:
    found = languages.alternates(page, tag)
    assert [entry["url"] for entry in found] == urls
    assert [entry["tag"] for entry in found if entry["current"]] == [tag]


CELLS_OF_VARIANTS = """
+++ {"tags": ["en", "family"]}

## Variants

+++ {"tags": ["zh", "family"]}

## 变体

+++ {"tags": ["en", "variant"]}

(@variant@)=
## @title@

+++ {"tags": ["zh", "variant"]}

(@variant@)=
## @title@

```{code-cell} python3
:tags: [hide-input, variant]
"@variant@"
```
"""

FAMILY_OF_TWO = """
class Variant:
    def __init__(self, name, title):
        self.id, self.title = name, {"en": title, "zh": title}


def load_family(name):
    found = Family(name, load_scenario(name))
    if name == "two":
        found.deployments = (Variant("two-a", "A"), Variant("two-b", "B"))
    return found
"""


def test_cells_of_a_variant_are_repeated_and_a_page_may_have_cells_of_its_own(
        project: Path) -> None:
    template, catalogue = (project / name for name in ("notebooks/scenario.md",
                                                       "catalogue/__init__.py"))
    template.write_text(template.read_text() + CELLS_OF_VARIANTS)
    catalogue.write_text(catalogue.read_text() + FAMILY_OF_TWO)
    own = project / "notebooks" / "supplements" / "two.md"
    own.parent.mkdir()
    own.write_text(_project.notebook("two-more", "More", "补充", "1 + 1"))
    build(project)

    def texts(page: str) -> list[str]:
        cells = json.loads(outputs(project)[page])["cells"]
        return ["".join(cell["source"]) for cell in cells]

    assert not any("@id@" in text or "## " in text for text in texts("scenarios/one.ipynb"))
    found = texts("scenarios/two.ipynb")
    assert [text for text in found if "## " in text] == [
        "## Variants", "## 变体",
        "(two-a)=\n## A", "(two-a)=\n## A", "(two-b)=\n## B", "(two-b)=\n## B"]
    assert '"two-b"' in found
    assert found[-1] == "1 + 1"

    own.write_text(own.read_text().replace("1 + 1", "1 + oops"))
    place = r"of supplements/two.md, line 12:\n    1 \+ oops"
    with pytest.raises(pipeline.NotebookError, match=place):
        build(project)


def test_a_picture_brings_the_file_of_its_numbers_if_it_has_any() -> None:
    """Glued or shown at once; a plot is known by the name that myst-nb gives it."""
    image, mime = "<svg>\n</svg>\n", "image/svg+xml"
    numbers = {mime: {"numbers": "x\n1\n"}}
    cells = [{"outputs": [
        {"data": {f"application/papermill.record/{mime}": [image]},
         "metadata": {**numbers, "scrapbook": {"name": "curve_en"}}},
        {"data": {mime: image}, "metadata": {**numbers, "lang": "zh"}},
        {"data": {"text/html": "<svg/>"}, "metadata": {}}, {"name": "stdout"},
        {"data": {"text/html": image}, "metadata": {
            "text/html": {"numbers": "y\n2\n"}, "lang": "en"}}]}]
    found = list(downloads.behind(json.dumps({"cells": cells}), "page"))
    name = hashlib.sha256(b"<svg>\n</svg>").hexdigest()
    assert found == [(name, "page-curve_en.csv", "x\n1\n"), (name, "page-1_zh.csv", "x\n1\n"),
                     (name, "page-4_en.csv", "y\n2\n")]
