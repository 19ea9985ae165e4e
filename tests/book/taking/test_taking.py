"""What readers take along: the edition, the engine, a page as a notebook, the site as one file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from _ext.taking import edition, packed, portable, strict

ROOT = Path(__file__).resolve().parents[3]
SHOWN = edition.Edition("1.2.3", "abc1234", "2026-01-31", "https://example.org/fit")
PAGE = ('<html><p class="edition"><!--edition--><!--/edition--></p>'
        '<script>let a = 1;</script></html>')


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A site of two pages, one in each language."""
    site = tmp_path / "html"
    for name in ("index.html", "zh/chapters/memory.html"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(PAGE)
    return site


def test_every_page_says_its_edition_in_its_language(small: Path) -> None:
    edition.stamp(small, SHOWN)
    english = (small / "index.html").read_text()
    chinese = (small / "zh/chapters/memory.html").read_text()
    assert "Version 1.2.3 · commit abc1234 · data as of 2026-01-31" in english
    assert "版本 1.2.3 · 提交 abc1234 · 数据截至 2026-01-31" in chinese
    assert 'href="https://example.org/fit"' in english


def test_an_edition_takes_the_place_of_another_and_nothing_else_changes(small: Path) -> None:
    edition.stamp(small, SHOWN)
    edition.stamp(small, edition.Edition("2.0.0"))
    once = (small / "index.html").read_text()
    edition.stamp(small, edition.Edition("2.0.0"))
    assert (small / "index.html").read_text() == once
    assert "1.2.3" not in once


def test_pages_that_have_their_line_are_looked_through_when_they_are_written_anew(small: Path
                                                                                ) -> None:
    edition.stamp(small, SHOWN)
    rests, new = small / "index.html", small / "zh/chapters/memory.html"
    for path in (rests, new):
        path.write_text(PAGE)
    os.utime(rests, ns=(1, 1))
    edition.stamp(small, SHOWN, since=2)
    assert rests.read_text() == PAGE
    assert "abc1234" in new.read_text()
    assert "let a" not in new.read_text()
    edition.stamp(small, edition.Edition("2.0.0"), since=2)
    assert "2.0.0" in rests.read_text()
    assert "2.0.0" in new.read_text()


@pytest.mark.parametrize("remote", ["javascript:alert(1)", "/a/path", "https://x.org/a b",
                                    'https://x.org/"onmouseover="x', "", "file:///etc/passwd"])
def test_only_an_address_of_the_web_becomes_a_link(remote: str) -> None:
    assert edition.repository(remote) == ""


def test_secrets_of_a_remote_are_left_out() -> None:
    assert edition.repository("https://me:token@example.org/a/b.git") == "https://example.org/a/b"


def test_scripts_leave_the_page_and_data_stays(small: Path) -> None:
    data = '<script type="application/json">{"a": 1}</script>'
    moved = strict.outward(f'{PAGE}{data}<button onclick="window.print()">', small, "../")
    (script,) = (small / strict.FOLDER).iterdir()
    assert script.read_text() == "let a = 1;\n"
    assert f'<script src="../{strict.FOLDER}/{script.name}"></script>' in moved
    assert data in moved
    assert 'data-action="print"' in moved


def test_an_address_that_is_kept_for_good_names_what_is_in_the_file(small: Path) -> None:
    sheet = small / "_static/styles/theme.css"
    sheet.parent.mkdir(parents=True)
    found = []
    for number, text in enumerate(("a{}", "b{}")):
        sheet.write_text(text)
        os.utime(sheet, (number, number))
        found.append(strict.outward('href="../_static/styles/theme.css?digest=1a"', small, ""))
    assert found[0] != found[1]
    assert "theme.css?v=" in found[0]


def test_the_site_as_one_file_has_every_page_and_not_itself(small: Path) -> None:
    target = packed.pack(small, small)
    held = zipfile.ZipFile(target).namelist()
    assert f"{packed.NAME}/zh/chapters/memory.html" in held
    assert not [name for name in held if name.endswith(".zip")]
    assert target.name in (small / "index.html").read_text()
    inside = zipfile.ZipFile(target).read(f"{packed.NAME}/index.html").decode()
    assert target.name not in inside


def test_the_site_as_one_file_is_the_same_whenever_its_pages_were_written(small: Path) -> None:
    target = packed.pack(small, small)
    before = target.read_bytes()
    os.utime(small / "index.html", (1e9, 1e9))
    (small / "index.html").chmod(0o600)
    assert packed.pack(small, small).read_bytes() == before


def test_the_page_names_the_package_as_it_is_called() -> None:
    text = (ROOT / "book" / "taking.md").read_text(encoding="utf-8")
    assert text.count(f"will_it_fit-{version('will-it-fit')}-py3-none-any.whl") == 4


@pytest.mark.parametrize(("folder", "language", "word"),
                         [("", "en", "parameters"), ("zh/", "zh", "参数")])
def test_a_page_as_a_notebook_is_in_one_language_with_its_numbers(
        site: Path, folder: str, language: str, word: str) -> None:
    path = site / f"{folder}_sources/chapters/architecture.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert portable.SAID[language]["purpose"] in "".join(cells[0]["source"])
    prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    assert any(word in text for text in prose)
    assert not any("{glue:" in text or text.startswith("(") for text in prose)
    (drawing,) = (cell["attachments"] for cell in cells if "attachments" in cell)
    assert all("<svg" in image["image/svg+xml"] for image in drawing.values())


def test_a_page_as_a_notebook_runs_with_the_engine_alone(site: Path, tmp_path: Path) -> None:
    """Installed from the file that the site carries, in an empty folder, without the repository."""
    (engine,) = (site / edition.ENGINE).glob("*.whl")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target",
                    tmp_path / "installed", "--disable-pip-version-check", engine], check=True)
    source = site / "_sources/chapters/architecture.ipynb"
    told = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    done = subprocess.run([Path(sys.executable).with_name("papermill"), source, "out.ipynb"],
                          cwd=tmp_path, env=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    listed = subprocess.run([sys.executable, tmp_path / "installed/bin/will-it-fit", "devices"],
                            cwd=tmp_path, env=told, capture_output=True, text=True, check=True)
    assert "H20" in listed.stdout
