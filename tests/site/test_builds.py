"""Whole builds of a tiny book: strict, incremental, complete after a failure, byte for byte."""

import contextlib
import fcntl
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import _project
import psutil
import pytest

from _ext.sharing import addresses

ADDRESS = "https://example.org/fit/"
SLOW = "import os, time\nopen({!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
PLACES = {  # folder of a build -> umask and environment
    "one": (0o022, {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"}),
    "other/below": (0o077, {"PYTHONHASHSEED": "2", "TZ": "Asia/Shanghai", "LC_ALL": "zh_CN.UTF-8"})}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A tiny book that was built; each test restores its sources."""
    made = _project.make_book(tmp_path_factory.mktemp("book") / "project")
    built(made)
    shutil.copytree(made / "_build/html", made.with_name("fresh"))
    return made


def built(project, **options):
    """Build successfully; return the output."""
    done = _project.build(project, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def failed(project):
    """Fail to build; return the errors, without a traceback."""
    done = _project.build(project)
    assert (done.returncode, "Traceback" in done.stdout + done.stderr) == (1, False), done.stderr
    return done.stderr


@contextlib.contextmanager
def edited(path, text):
    """Change a file, or delete it, and restore it."""
    before = path.read_text(encoding="utf-8")
    path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    yield
    path.write_text(before, encoding="utf-8")


def page(project, name):
    """Return a file of the site."""
    return (project / "_build/html" / name).read_text(encoding="utf-8")


def built_in(place, tree):
    """Build under the conditions of a place; packages are found by a link. Return the site."""
    packages = tree.with_name("packages")
    packages.symlink_to(sys.prefix)
    umask, environment = PLACES[place]
    built(tree, umask=umask, environment=environment,
          python=packages / Path(sys.executable).relative_to(sys.prefix))
    return tree / "_build/html"


def test_nothing_is_written_where_nothing_changed_and_lost_pages_return(project, tmp_path):
    site = project / "_build/html"
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*") if path.is_file()}
    assert "up to date" in built(project, cwd=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert list(tmp_path.iterdir()) == []
    for lost in ("index.html", "zh/chapters/derivation.html"):
        (site / lost).unlink()
    built(project)
    assert {path for path in before if not path.is_file()} == set()


def test_a_build_is_the_same_in_another_environment(project, tmp_path):
    other = _project.make_book(tmp_path / "other/below/tree")
    site = built_in("other/below", other)
    assert _project.differing(project.with_name("fresh"), site) == []


@pytest.mark.nightly
def test_two_clean_builds_of_the_book_are_identical(tmp_path):
    """What is committed, in two folders, time zones, languages, orders of hashes and umasks."""
    trees = {place: tmp_path / place / "tree" for place in PLACES}
    for tree in trees.values():
        subprocess.run(["git", "clone", "--quiet", "--shared", _project.ROOT, tree], check=True)
    assert _project.differing(*(built_in(*each) for each in trees.items())) == []


def test_a_warning_fails_until_it_is_mended(project):
    """A second try does not forget a warning of the Chinese pass."""
    index = project / "book/index.md"
    text = index.read_text("utf-8") + '\n+++ {"tags": ["zh"]}\n{ref}`nowhere`\n'
    with edited(index, text):
        for _ in range(2):
            assert "undefined label: 'nowhere'" in failed(project)


def test_titles_change_and_removed_scenarios_vanish_everywhere(project):
    scenario, site = project / "params/scenarios/two.yml", project / "_build/html"
    shown = ("chapters/scenarios.html", "_static/search-index.js")
    with edited(scenario, "2222\n"):
        built(project)
        for name in ("chapters/scenarios/two.html", *shown):
            assert all("2222" in page(project, f"{folder}{name}") for folder in ("", "zh/"))
    with edited(scenario, None):
        built(project)
        for name in ("index.html", *shown):
            assert not any("2222" in page(project, f"{folder}{name}") for folder in ("", "zh/"))
        assert not list(site.rglob("two.*"))


def test_two_builds_at_once_do_not_meet(project):
    with (project / "_build/.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another build" in failed(project)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_build_leaves_no_process_and_the_next_one_no_draft(project, number):
    path, started = project / "notebooks/derivation.md", project / "started"
    started.unlink(missing_ok=True)
    with edited(path, _project.notebook("derivation", "D", "推", SLOW.format(str(started)))):
        command = [Path(sys.executable).with_name("jupyter-book"), "build", "book"]
        running = subprocess.Popen(command, cwd=project, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while not (started.exists() and started.read_text()):
            time.sleep(0.05)
            assert running.poll() is None
        processes = psutil.Process(running.pid).children(recursive=True)
        assert int(started.read_text()) in {each.pid for each in processes}
        running.send_signal(number)
        assert running.wait() == (1 if number == signal.SIGTERM else -number)
        assert psutil.wait_procs(processes, timeout=60)[1] == []
    (project / "_build/html/.draft-left").write_text("half")
    built(project)
    assert [each.name for each in project.rglob(".*")
            if each.name.startswith((".draft-", ".work"))] == []


def test_an_address_of_the_site_is_on_every_page_and_never_invented(project):
    site = project / "_build/html"
    assert not {"canonical", "og:url", "og:image"} & set(page(project, "index.html").split('"'))
    assert not (site / "sitemap.xml").exists()
    built(project, environment={addresses.ADDRESS: ADDRESS})
    for folder in ("", "zh/"):
        text = page(project, f"{folder}index.html")
        assert f'<link rel="canonical" href="{ADDRESS}{folder}index.html"' in text
        assert f'hreflang="zh-CN" href="{ADDRESS}zh/index.html"' in text
        name = text.partition('og:image" content="')[2].partition('"')[0]
        assert (site / name.removeprefix(ADDRESS)).is_file()
    assert f"{ADDRESS}zh/chapters/derivation.html" in page(project, "sitemap.xml")
