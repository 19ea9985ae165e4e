"""Downloads and metadata of the site: edition, addresses, scripts, packages."""

import os
import zipfile
from pathlib import Path

import pytest

from _ext.export import archive, edition, repository, scripts
from _ext.sharing import addresses

SHOWN = edition.Edition("1.2.3", "abc1234", "2026-01-31", "https://example.org/fit")
ADDRESS = "https://github.com/a/b"
LINES = {"index.html": "Version 1.2.3 · commit abc1234 · data as of 2026-01-31",
         "zh/chapters/memory.html": "版本 1.2.3 · 提交 abc1234 · 数据截至 2026-01-31"}
PAGE = ('<html><p class="edition"><!--edition--><!--/edition--></p>'
        '<script>let a = 1;</script></html>')


@pytest.fixture
def small(tmp_path):
    """A site of two pages, one in each language."""
    folder = tmp_path / "html"
    for name in LINES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(PAGE)
    return folder


@pytest.mark.parametrize(("name", "line"), LINES.items())
def test_pages_state_the_edition_and_replace_an_older_one(small, name, line):
    edition.stamp(small, SHOWN)
    first = (small / name).read_text()
    assert line in first
    assert 'href="https://example.org/fit"' in first
    edition.stamp(small, edition.Edition("2.0.0"))
    second = (small / name).read_text()
    edition.stamp(small, edition.Edition("2.0.0"))
    assert (small / name).read_text() == second
    assert "1.2.3" not in second


@pytest.mark.parametrize("text", ["javascript:alert(1)", "/a/path", "https://x.org/a b",
                                  "https://x.org/'onmouseover='x", "file:///etc/passwd",
                                  "https://me:token@example.org/a/b.git"])
def test_links_are_addresses_of_the_web_without_secrets(text, tmp_path):
    (tmp_path / "_config.yml").write_text(f'repository:\n  url: "{text}"\n')
    with pytest.raises(ValueError, match="expected https://HOST/PATH"):
        repository.address(tmp_path)
    assert addresses.base(text) == ""


@pytest.mark.parametrize(("page", "offered"), [
    ("chapters/scenarios/x.html", {"colab", "binder"}), ("chapters/memory.html", set())])
def test_pages_link_to_the_repository_where_its_address_is_set(page, offered, tmp_path):
    """Issues on every page; Colab and Binder on pages that are made from a committed notebook."""
    for address in ("", ADDRESS):
        shown = edition.Edition("1", address=address, notebooks=frozenset({"scenario"}))
        line = edition.footer(shown, Path(page), tmp_path)
        assert (f"{ADDRESS}/issues" in line) == bool(address)
        assert {name for name in ("colab", "binder") if name in line} == (
            offered if address else set())


def test_scripts_leave_the_page_and_data_stays(small):
    data = '<script type="application/json">{"a": 1}</script>'
    moved = scripts.outward(f'{PAGE}{data}<button onclick="window.print()">', small, "../")
    (script,) = (small / scripts.FOLDER).iterdir()
    assert script.read_text() == "let a = 1;\n"
    assert f'<script src="../{scripts.FOLDER}/{script.name}"></script>' in moved
    assert data in moved
    assert 'data-action="print"' in moved


def test_zipped_site_has_every_page_but_not_itself_and_no_dates(small):
    target = archive.pack(small, small)
    before = target.read_bytes()
    zipped = zipfile.ZipFile(target)
    assert f"{archive.NAME}/zh/chapters/memory.html" in zipped.namelist()
    assert not [name for name in zipped.namelist() if name.endswith(".zip")]
    assert target.name in (small / "index.html").read_text()
    assert target.name not in zipped.read(f"{archive.NAME}/index.html").decode()
    os.utime(small / "index.html", (1e9, 1e9))
    (small / "index.html").chmod(0o600)
    assert archive.pack(small, small).read_bytes() == before
