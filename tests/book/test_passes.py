"""Whole builds of a tiny book: strict in both languages, and whole again after a failure.

And what a dropdown that goes on beyond its cell holds.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import _project
import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document
from sphinx.errors import ExtensionError

from _ext import ONWARDS, RestOfSection, passes
from tools.site import building, identical


def build(project: Path, *options: str, cwd: Path | None = None) -> tuple[int, str]:
    """Run jupyter-book on the project; return its exit code and everything that it said."""
    command = [Path(sys.executable).with_name("jupyter-book"), "build", project / "book"]
    done = subprocess.run([*command, *options], cwd=cwd or project, capture_output=True,
                          text=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny book that was built once; the tests leave it as they found it."""
    made = _project.make_book(tmp_path_factory.mktemp("book"))
    code, said = build(made)
    assert code == 0, said
    return made


def page(project: Path, name: str) -> str:
    """Return the HTML of a page."""
    return (project / "_build/html" / name).read_text(encoding="utf-8")


def test_a_plain_build_makes_both_languages(project: Path) -> None:
    assert "Plan 2" in page(project, "chapters/scenarios/two.html")
    assert "方案2" in page(project, "zh/chapters/scenarios/two.html")
    assert "方案2" not in page(project, "chapters/scenarios/two.html")


def test_it_builds_from_elsewhere(project: Path, tmp_path: Path) -> None:
    code, said = build(project, cwd=tmp_path)
    assert code == 0, said
    assert list(tmp_path.iterdir()) == []


def test_it_is_the_same_wherever_it_and_its_packages_lie(project: Path, tmp_path: Path) -> None:
    """``.buildinfo`` hashes the settings, to which the theme adds where it lies."""
    *_, place = identical.PLACES
    elsewhere, packages = _project.make_book(tmp_path / place.folder), tmp_path / place.packages
    packages.symlink_to(sys.prefix)
    python = packages / Path(sys.executable).relative_to(sys.prefix)
    building.build(elsewhere, python, place.told, place.umask)
    assert list(identical.differing(project / "_build/html", elsewhere / "_build/html")) == []


@pytest.mark.slow
@pytest.mark.parametrize("tag", ["en", "zh"])
def test_a_warning_in_either_language_fails_until_it_is_mended(project: Path, tag: str) -> None:
    index = project / "book/index.md"
    good = index.read_text(encoding="utf-8")
    index.write_text(f'{good}\n+++ {{"tags": ["{tag}"]}}\n{{ref}}`nowhere`\n', encoding="utf-8")
    for _ in range(2):  # a second try does not forget
        code, said = build(project)
        assert code == 1, said
        assert "undefined label: 'nowhere'" in said
        assert "Traceback" not in said
    index.write_text(good, encoding="utf-8")
    code, said = build(project)
    assert code == 0, said
    assert "nowhere" not in page(project, "index.html") + page(project, "zh/index.html")


@pytest.mark.slow
def test_a_failing_notebook_stops_the_build_in_a_few_lines(project: Path) -> None:
    path = project / "notebooks/derivation.md"
    good = path.read_text(encoding="utf-8")
    path.write_text(_project.notebook("derivation", "D", "推", "1 / 0"), encoding="utf-8")
    code, said = build(project)
    assert code == 1
    assert "notebooks/derivation.md stopped in cell 3, line" in said
    assert "ZeroDivisionError: division by zero" in said
    assert "Traceback" not in said
    path.write_text(good, encoding="utf-8")
    assert build(project)[0] == 0


@pytest.mark.slow
def test_a_changed_title_shows_where_it_is_found_and_a_removed_scenario_nowhere(
        project: Path) -> None:
    scenario = project / "params/scenarios/two.yml"
    scenario.write_text("2222\n")
    assert build(project)[0] == 0
    for name in ("chapters/scenarios/two.html", "_static/search-index.js"):
        assert "Plan 2222" in page(project, name)
        assert "方案2222" in page(project, f"zh/{name}")
    scenario.unlink()
    assert build(project)[0] == 0
    for name in ("index.html", "zh/index.html", "_static/search-index.js",
                 "zh/_static/search-index.js"):
        assert "Plan 2222" not in page(project, name)
        assert "方案2222" not in page(project, name)
    assert not list((project / "_build/html").rglob("two.*"))
    scenario.write_text("2\n")  # the next build makes its page again


@pytest.mark.slow
def test_a_changed_name_of_a_part_shows_on_every_page(project: Path) -> None:
    contents = project / "book/_toc.yml"
    good = contents.read_text(encoding="utf-8")
    for name in ("First part", "Second part"):
        contents.write_text(
            f"format: jb-book\nroot: index\nparts:\n- caption: {name}\n  chapters:\n"
            "  - file: chapters/derivation\n  - file: chapters/scenarios\n"
            "    sections:\n    - glob: chapters/scenarios/*\n", encoding="utf-8")
        code, said = build(project)
        assert code == 0, said
        for path in ("index.html", "chapters/derivation.html", "zh/chapters/scenarios/one.html"):
            assert name in page(project, path)
    contents.write_text(good, encoding="utf-8")  # the next build names it so again


@pytest.mark.slow
def test_where_nothing_changed_nothing_is_written_and_a_lost_page_comes_back(
        project: Path) -> None:
    html = project / "_build/html"
    assert build(project)[0] == 0  # of whatever a test before left
    before = {path: path.stat().st_mtime_ns for path in html.rglob("*") if path.is_file()}
    code, said = build(project)
    assert code == 0, said
    assert "up to date" in said
    assert {path: path.stat().st_mtime_ns for path in before} == before
    for lost in ("index.html", "zh/chapters/derivation.html"):
        (html / lost).unlink()
        assert build(project)[0] == 0
        assert (html / lost).is_file()


@pytest.mark.slow
def test_two_builds_at_once_do_not_meet(project: Path) -> None:
    """The second one says so and leaves; the first one's lock ends with it."""
    with (project / "_build/.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, said = build(project)
    assert code == 1
    assert "another build of it is running" in said
    assert "Traceback" not in said
    assert build(project)[0] == 0


@pytest.mark.slow
def test_what_is_kept_of_pages_and_is_not_as_it_was_is_made_anew(project: Path) -> None:
    index = project / "book/index.md"
    good = index.read_text(encoding="utf-8")
    for path in (project / "_build/.doctrees").rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            half = len(data) // 2
            path.write_bytes(data[:half] + bytes([data[half] ^ 1]) + data[half + 1:])
    index.write_text(f"{good}\nMore.\n", encoding="utf-8")
    code, said = build(project)
    assert code == 0, said
    assert "Plan 2" in page(project, "chapters/scenarios/two.html")
    index.write_text(good, encoding="utf-8")
    assert build(project)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(("number", "told"), [
    (signal.SIGINT, "interrupted"), (signal.SIGTERM, "told to end"), (signal.SIGKILL, "")])
def test_a_build_that_is_ended_says_so_and_the_next_one_clears_its_drafts(
        project: Path, number: int, told: str) -> None:
    path = project / "notebooks/derivation.md"
    good = path.read_text(encoding="utf-8")
    started = project / "started"
    path.write_text(_project.notebook(
        "derivation", "D", "推", f"open({str(started)!r}, 'w')\nimport time\ntime.sleep(600)"),
        encoding="utf-8")
    running = subprocess.Popen(
        [Path(sys.executable).with_name("jupyter-book"), "build", "book"], cwd=project, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not started.exists():
        time.sleep(0.05)
        assert running.poll() is None
    running.send_signal(number)
    said = running.communicate()[1]
    assert said == (f"The book was not built: {told}; the next build goes on from here.\n"
                    if told else "")
    assert running.returncode == (128 + number if told else -number)
    started.unlink()
    path.write_text(good, encoding="utf-8")
    (project / "_build/html/.draft-left").write_text("half")
    assert build(project)[0] == 0
    assert [each.name for each in project.rglob(".*")
            if each.name.startswith((".draft-", ".work"))] == []


def test_a_full_disk_is_a_sentence() -> None:
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a", None, "b.html")
    for cause in (error, ExtensionError("a handler", error)):
        with pytest.raises(SystemExit) as ended:
            passes._finish(None, cause)  # type: ignore[arg-type]  # of the build nothing is asked
        assert str(ended.value) == (
            "The book was not built: b.html: cannot be written (no space left on device).")


def paragraph(text: str) -> nodes.paragraph:
    return nodes.paragraph(text, text)


def dropdown(title: str, *classes: str) -> nodes.container:
    return nodes.container("", nodes.rubric(title, title), container_classes=list(classes))


def folded(*children: nodes.Node) -> nodes.section:
    """A section of these, after the dropdowns took what is theirs."""
    document = new_document("page", get_default_settings())
    section = nodes.section("", *children)
    document += section
    RestOfSection(document).apply()
    return section


def test_a_fold_takes_what_follows_up_to_the_next_heading() -> None:
    below = nodes.section("", nodes.title("", "below"))
    label = nodes.target("", "", refid="below")
    section = folded(paragraph("answer"), dropdown("why", ONWARDS), paragraph("formula"),
                     paragraph("table"), label, below)
    assert [child.astext() for child in section] == [
        "answer", "why\n\nformula\n\ntable", "", "below"]
    assert label.parent is section  # a label stays with its heading


def test_the_next_fold_ends_it() -> None:
    section = folded(dropdown("one", ONWARDS), paragraph("a"), dropdown("two", ONWARDS),
                     paragraph("b"))
    assert [child.astext() for child in section] == ["one\n\na", "two\n\nb"]


def test_other_dropdowns_hold_what_is_in_them() -> None:
    section = folded(dropdown("own", "wide"), paragraph("after"))
    assert [child.astext() for child in section] == ["own", "after"]
