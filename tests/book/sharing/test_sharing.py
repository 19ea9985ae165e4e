"""What tells others of the site: addresses, pictures, the map, the feed, the page for no page."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import _project
import pytest
from PIL import Image

from _ext.sharing import addresses, feed, pictures, site

SITE = "https://example.org/fit/"
CHANGES = "# Changelog\n\n## 1.0\n\n- Search: `finds` more,\n  and sooner.\n- <b>Cards</b>.\n"


def test_a_plain_build_invents_no_address_and_one_that_is_told_stands_on_every_page(
        tmp_path: Path) -> None:
    project = _project.make_book(tmp_path)
    font = project / pictures.FONT.relative_to(_project.ROOT)
    font.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(pictures.FONT, font)
    command = [Path(sys.executable).with_name("jupyter-book"), "build", project / "book"]
    pages = [project / "_build/html" / name for name in ("index.html", "zh/index.html")]

    def built(address: str) -> list[str]:
        subprocess.run(command, cwd=project, env={**os.environ, addresses.ADDRESS: address},
                       check=True, capture_output=True)
        return [page.read_text(encoding="utf-8") for page in pages]

    for text in built(""):
        assert "canonical" not in text
        assert "og:url" not in text
        assert "og:image" not in text
        assert text.count('name="viewport"') == 1
    assert not (pages[0].parent / "sitemap.xml").exists()
    assert 'href="/search.html"' in (pages[0].parent / "404.html").read_text(encoding="utf-8")

    for text, folder in zip(built(SITE), ("", "zh/"), strict=True):
        assert f'<link rel="canonical" href="{SITE}{folder}index.html"' in text
        assert f'<meta property="og:url" content="{SITE}{folder}index.html"' in text
        assert f'hreflang="zh-CN" href="{SITE}zh/index.html"' in text
        name = text.partition('og:image" content="')[2].partition('"')[0]
        assert (pages[0].parent / name.removeprefix(SITE)).is_file()
    assert f"Sitemap: {SITE}sitemap.xml" in (pages[0].parent / "robots.txt").read_text()


@pytest.mark.parametrize("written", ["", "example.org", "javascript:alert(1)",
                                     'https://x.org/"><script>'])
def test_only_an_address_of_the_web_is_one(written: str) -> None:
    assert addresses.base(written) == ""


def test_the_map_has_every_page_in_both_languages() -> None:
    tree = ElementTree.fromstring(site.sitemap(SITE, ["index", "chapters/memory"]))
    found = [element.text for element in tree.iter() if element.tag.endswith("loc")]
    assert found == [f"{SITE}index.html", f"{SITE}zh/index.html",
                     f"{SITE}chapters/memory.html", f"{SITE}zh/chapters/memory.html"]


def test_the_feed_has_an_entry_per_change_the_newest_first() -> None:
    tree = ElementTree.fromstring(feed.atom(CHANGES, {5: 60, 6: 10, 7: 30}, SITE, "Fit"))
    atom = "{http://www.w3.org/2005/Atom}"
    entries = tree.findall(f"{atom}entry")
    assert [entry.findtext(f"{atom}title") for entry in entries] == ["Search", "<b>Cards</b>"]
    assert entries[0].findtext(f"{atom}updated") == "1970-01-01T00:01:00Z"
    assert entries[0].findtext(f"{atom}content") == "Search: finds more, and sooner."


def test_a_picture_is_small_keeps_its_text_inside_and_is_drawn_once(tmp_path: Path) -> None:
    said = pictures.Said("Fit", "显存：一张卡要放下什么", "R1 needs 671 GB " * 30)
    name = pictures.put(said, tmp_path)
    assert pictures.put(said, tmp_path) == name
    path = tmp_path / name
    assert path.stat().st_size < 40_000
    edge = Image.open(path).convert("L").crop((pictures.SIZE[0] - pictures.MARGIN // 2, 0,
                                               pictures.SIZE[0], pictures.SIZE[1] - pictures.BAR))
    assert edge.getextrema() == (255, 255)
