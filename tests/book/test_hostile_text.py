"""Text from a file is text: whatever a reader's files say, the page shows it and does nothing."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from _project import ROOT, make_report
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from catalogue.reading import words
from tools.site.browser import Browser, find_chromium

HOSTILE = """<script>document.title = 1</script> <img src=x onerror=alert(1)>
<iframe src=https://evil.example></iframe> <!-- [a](javascript:alert(1))
![b](https://evil.example/b.png)
[c]: data:text/html,x

```{raw} html
<script>document.title = 1</script>
```

:::{csv-table}
:file: /etc/passwd
:::

```{eval-rst}
.. raw:: html
   :file: /etc/passwd
```

{raw}`x` {{ 7 * 7 }} $\\undefined{x}$ \\$ `a<b` | b | *c* __d__ # e ~~f~~ [^1]
<https://evil.example> &lt; @id@
+++
% gone
(target)=
# A heading
- item"""
NAME = '") <img src=x onerror=alert(1)> [k](javascript:alert(1)).yml'  # of a file
FREE = {"vendor", "memory_type", "software", "section"}
PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'"})


def flat(text: str) -> str:
    """A text as a page may break it: one line, with plain quotes."""
    return " ".join(text.translate(PLAIN).split())


class Poison:
    """Puts the hostile text into every free text of an entry, numbered, and remembers how many."""

    def __init__(self) -> None:
        self.count = 0

    def text(self, before: str = "") -> str:
        self.count += 1
        return f"{before}Text {self.count}: {HOSTILE} :end {self.count}."

    def entry(self, item: Any, key: str = "") -> Any:
        if isinstance(item, dict):
            return {name: self.entry(value, name) for name, value in item.items()}
        if isinstance(item, list):
            return [self.entry(value, key) for value in item]
        if key in ("en", "zh") or key in FREE:
            return self.text()
        if key == "source":
            return self.text() + " https://example.org/a_b?c=*d*"
        plain = isinstance(item, str) and re.fullmatch(r"true|false|null|-?\d+", item)
        return yaml.safe_load(item) if plain else item


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Poison]:
    """A deployment whose every entry is a file of the reader's, hostile in every field."""
    folder, poison = tmp_path_factory.mktemp("hostile"), Poison()
    params = ROOT / "params"

    def file(name: str, source: str, **changes: Any) -> None:
        data = yaml.load((params / source).read_text("utf-8"), yaml.BaseLoader) | changes
        text = json.dumps(poison.entry(data), ensure_ascii=False)
        (folder / name).write_text(text, "utf-8")

    own = {"source": "x", "kind": "assumed"}
    said = {"value": "50 ms", **own, "section": "x"}
    note = {"en": "x", "zh": "x"}
    file("link.yml", "links/nvlink-h100.yml", defaults=own)
    file("network.yml", "links/infiniband-400g.yml", defaults=own)
    file("node.yml", "nodes/hgx-h200.yml", device_link="./link.yml", network_link="./network.yml",
         device="./card.yml", defaults=own)
    file("priors.yml", "mechanisms/nvidia-h200.yml", like="nvidia-hopper", defaults=own)
    file("card.yml", "devices/nvidia-h200-sxm.yml", mechanisms="./priors.yml", defaults=own)
    file("model.yml", "models/deepseek-v3.yml", defaults=own)
    file(f"precision`{NAME}", "precisions/fp8-block.yml", defaults=own)
    file("measured.yml", "templates/example-measured.yml")
    file(f"plan{NAME}", "templates/example-deployment.yml", model="./model.yml",
         device="./card.yml", cluster={"node": "./node.yml", "nodes": 1},
         precision=f"./precision`{NAME}", note=note, defaults=own, measured="./measured.yml",
         mechanisms={"kernel_boundary": {"value": "3 us", **own, "note": note, "section": "x"}},
         documented={"claims": [{"quantity": "tpot", "label": note, "note": note, "value": said,
                                 "of": "deployment"}]})
    return folder / f"plan{NAME}", poison


@pytest.fixture(scope="module", params=["en", "zh"])
def page(request: pytest.FixtureRequest, hostile: tuple[Path, Poison]) -> Path:
    """The report of the hostile deployment in a language."""
    plan, _ = hostile
    out = plan.with_name(f"{request.param}.html")
    done = make_report(SCENARIO=plan, BOOK_LANG=request.param, OUT=out)
    assert (done.returncode, done.stderr) == (0, "")
    return out


def test_nothing_of_it_is_markup_and_all_of_it_is_read(page: Path) -> None:
    text = page.read_text("utf-8")
    parsed = BeautifulSoup(text, "html.parser")
    assert not parsed.find_all(["script", "iframe", "object", "embed", "form", "input", "base",
                                "link"])
    assert all(image["src"].startswith("data:image/svg+xml;") for image in parsed.find_all("img"))
    assert not [name for tag in parsed.find_all(True) for name in tag.attrs
                if name.startswith("on")]
    links = {tag["href"] for tag in parsed.find_all("a", href=True)}
    assert all(link.startswith(("#", "https://", "http://")) for link in links)
    assert not [link for link in links if "evil" in link]
    assert "https://example.org/a_b?c=*d*" in {unquote(link) for link in links}
    assert not re.search(r"root:.?:0:0", text)
    read = flat(parsed.get_text(" "))
    shown = {int(number) for number in re.findall(r"Text (\d+):", read)}
    assert len(shown) > 20
    plain = functools.partial(re.sub, r"[\s`]", "")  # ` is there in pictures, not around code
    squeezed = plain(read)
    whole = [number for number in shown
             if plain(f"Text {number}: {flat(HOSTILE)} :end {number}.") in squeezed]
    assert sorted(shown) == sorted(whole)


def test_the_page_allows_itself_nothing_but_what_is_in_it(page: Path) -> None:
    policy = BeautifulSoup(page.read_text("utf-8"), "html.parser").find(
        "meta", {"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith("default-src 'none'; img-src data:; style-src")
    assert "script-src" not in policy["content"]


@pytest.mark.skipif(find_chromium() is None, reason="no Chromium")
def test_a_browser_runs_and_fetches_nothing(page: Path) -> None:
    chromium = find_chromium()
    assert chromium is not None
    with Browser(chromium) as browser:
        browser.open(page.as_uri())
        assert [url for url in browser.requests if not url.startswith("data:")] == [page.as_uri()]
        assert browser.evaluate("document.title") != "1"
        assert browser.evaluate("document.scripts.length") == 0
        assert browser.errors == []


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_any_text_comes_out_of_markdown_as_it_went_in(text: str) -> None:
    """By the parser of the book: one paragraph of text and code, nothing else."""
    visible = "".join(char for char in text if char.isprintable())
    hidden = words.hidden("x " + visible)
    assert words.revealed(hidden) == " ".join(f"x {visible}".split())
    parser = MarkdownIt("commonmark").enable("table")
    opened, inline, closed = parser.parse(words.markdown(hidden))
    assert (opened.type, closed.type) == ("paragraph_open", "paragraph_close")
    assert {child.type for child in inline.children} <= {"text", "code_inline", "text_special"}


def test_where_no_page_is_made_a_text_is_as_its_file_has_it() -> None:
    assert words.read("<b>") == "<b>"
