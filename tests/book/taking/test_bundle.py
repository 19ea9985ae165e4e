"""The engine as one file that pip installs: one package, and all that a reader asks of it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from _ext.taking import bundle, edition

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that the site carries, packed by somebody whose files nobody else may read."""
    site = tmp_path_factory.mktemp("site") / "html"
    site.mkdir()
    before = os.umask(0o077)
    try:
        return edition.package(ROOT, site)
    finally:
        os.umask(before)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of an interpreter that has the file and the libraries, not the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
                    "--disable-pip-version-check", "--target", folder, wheel], check=True)
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{sysconfig.get_path('purelib')}"}


def _asked(environment: dict[str, str], folder: Path, *words: str
           ) -> subprocess.CompletedProcess[str]:
    """What the system's own interpreter prints; files of ``.venv`` that add paths are not read."""
    plain = Path(sys.executable).resolve()
    return subprocess.run([plain, *words], cwd=folder, env=environment, text=True,
                          capture_output=True, check=False)


def test_it_has_one_package(wheel: Path) -> None:
    names = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {bundle.PACKAGE}


def test_it_does_not_say_when_or_by_whom_it_was_packed(wheel: Path) -> None:
    held = zipfile.ZipFile(wheel).infolist()
    assert {entry.date_time for entry in held} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.external_attr >> 16 & 0o777 for entry in held} == {
        edition.READABLE, 0o664}  # of RECORD, which setuptools writes itself


def test_beside_it_lie_its_bill_of_materials_and_the_licences(wheel: Path) -> None:
    beside = {path.name: path.read_bytes() for path in wheel.parent.iterdir() if path != wheel}
    assert beside == {Path(name).name: (ROOT / name).read_bytes() for name in edition.BESIDE}


def test_its_texts_name_its_own_command(wheel: Path) -> None:
    packed = zipfile.ZipFile(wheel)
    texts = [name for name in packed.namelist() if name.endswith((".md", ".py", ".yml", ".ftl"))]
    assert not [name for name in texts
                if bundle.SPOKEN.search(packed.read(name).decode())
                and not name.endswith("taking/bundle.py")]


def test_no_room_is_imported_by_its_name_in_the_checkout(installed: dict[str, str], tmp_path: Path
                                                         ) -> None:
    done = _asked(installed, tmp_path, "-c", "import will_it_fit as wif, sys\n"
                  "print(wif.estimate(wif.load_scenario('h200-r1-vllm-tp8')).fits)\n"
                  f"assert not {{*{bundle.ROOMS!r}}} & {{*sys.modules}}\nimport calc")
    assert done.stdout == "True\n", done.stderr
    assert done.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'calc'"


@pytest.mark.slow
def test_a_search_shares_its_work_among_processes(installed: dict[str, str], tmp_path: Path
                                                  ) -> None:
    """However small it is: what processes are given is found by its name in the package."""
    done = _asked(installed, tmp_path, "-c", "from will_it_fit.calc.searching import search\n"
                  "from will_it_fit.calc.searching.load_goal import load_goal\n"
                  "search.WORTH_IT, goal = 0, load_goal('r1-64-users-8xh20')\n"
                  "one, two = (search.search(goal, workers=number) for number in (1, 2))\n"
                  "print(one.rows(one.front) == two.rows(two.front))")
    assert done.stdout == "True\n", done.stderr


@pytest.mark.slow
def test_it_makes_a_report_of_a_file_of_ones_own(installed: dict[str, str], tmp_path: Path
                                                 ) -> None:
    mine = tmp_path / "my-plan.yml"
    mine.write_text((ROOT / "params/templates/scenario.yml").read_text())
    done = _asked(installed, tmp_path, "-m", "will_it_fit", "report", mine.name, "-o", "mine.html")
    assert (done.returncode, done.stdout) == (0, "mine.html\n"), done.stderr
    assert "<math" in (tmp_path / "mine.html").read_text()


def test_a_command_without_its_libraries_names_the_extra(installed: dict[str, str], tmp_path: Path
                                                         ) -> None:
    hidden = tmp_path / "pyarrow"
    hidden.mkdir()
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError(name='pyarrow')")
    told = installed | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{installed['PYTHONPATH']}"}
    done = _asked(told, tmp_path, "-m", "will_it_fit", "sweep", "h200-r1-vllm-tp8", "--axis",
                  "workload.concurrency=1..4", "-o", "parts")
    assert done.returncode == 2
    assert done.stderr == ("sweep: the library pyarrow is not installed, expected the package with "
                           "its extra: pip install 'will_it_fit-0.1.0-py3-none-any.whl[analysis]'."
                           "\n")


def test_of_chapters_it_has_what_a_report_refers_to_and_the_template_whole() -> None:
    chapters = [path for pattern in bundle.CHAPTERS for path in ROOT.glob(pattern)]
    assert len(chapters) > 40
    for path in chapters:
        text, held = path.read_text(encoding="utf-8"), bundle.needed(path, ROOT).decode()
        assert bundle.CHAPTER.findall(held) == bundle.CHAPTER.findall(text)
        assert (held == text) is (path == ROOT / bundle.TEMPLATE)


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.md")), ids=lambda p: p.stem)
def test_cells_of_a_notebook_import_the_package_and_keep_their_lines(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    changed = bundle.cells(text)
    assert bundle.cells(changed) == changed
    assert len(changed.splitlines()) == len(text.splitlines())
    assert not [line for line in changed.splitlines()
                if line.startswith(tuple(f"{word} {room}" for word in ("from", "import")
                                         for room in bundle.ROOMS))]
