"""``make report``: a reader's deployment as one file, and files that are hostile."""

import itertools
import json
import re
import shutil
from urllib.parse import unquote

import pytest
import yaml
from _project import ROOT, make_report
from bs4 import BeautifulSoup

EXAMPLES = ROOT / "params" / "templates"
CARD, DEPLOYMENT = FILES = ("example-card.yml", "example-deployment.yml")
BOOK, VERDICT = "https://example.org/book", {"en": "It fits", "zh": "装得下"}
HAN = re.compile("[\u4e00-\u9fff]")
LOADED = re.compile(r"""<(?:script|link|iframe|object|embed)\b|\bsrc=["'](?!data:)|@import|url\(""")
BY_MYST = re.compile(r":::|\{(?:div|dropdown|ref|eq|glue:text)\}|@(?:id|title|variant)@"
                     r"|\$[\\A-Za-z]|\]\(")
NUMBER = re.compile(r'<td class="text-right"><p>([\d.,–% ]+)')
KNOWN = {"SCENARIO": "s0-scenario-1"}
REFUSED = [({}, "usage: make report SCENARIO="), ({"SCENARIO": "nowhere.yml"}, "nowhere.yml"),
           (KNOWN | {"DEVICE": "kunpeng-920"}, "host processor"),
           (KNOWN | {"BOOK": "javascript://x"}, "expected an address"),
           (KNOWN | {"OUT": "mine.yml"}, "OUT: "), (KNOWN | {"OUT": "gone/mine.html"}, "OUT: ")]

HOSTILE = """<script>document.title = 1</script> <img src=x onerror=alert(1)>
<iframe src=https://evil.example></iframe> <!-- [a](javascript:alert(1))
![b](https://evil.example/b.png)

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
ACTIVE = ["script", "iframe", "object", "embed", "form", "input", "base", "link"]
NUMBERS = itertools.count(1)
POLICY = "default-src 'none'; img-src data:; style-src"


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """The example's report by language; the Chinese files have names of any kind."""
    reports = {}
    for lang, place, book in (("en", "mine", BOOK), ("zh", "我的 卡", "")):
        folder = tmp_path_factory.mktemp("report") / place
        folder.mkdir()
        for name in FILES:
            shutil.copy(EXAMPLES / name, folder)
        scenario = (folder / DEPLOYMENT).rename(folder / f"{place} 1.yml")
        reports[lang] = folder.with_name(f"{lang}.html")
        done = make_report(SCENARIO=scenario, BOOK_LANG=lang, OUT=reports[lang], BOOK=book)
        assert (done.returncode, done.stderr) == (0, "")
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
            CARD: (EXAMPLES / CARD).read_bytes(),
            scenario.name: (EXAMPLES / DEPLOYMENT).read_bytes()}
    return reports


def words(page):
    """The visible text of a page."""
    return re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)


@pytest.mark.parametrize("lang", VERDICT)
def test_a_report_is_whole_and_in_its_language(examples, lang):
    page = examples[lang].read_text(encoding="utf-8")
    assert not LOADED.search(page)
    assert page.count('class="drawn"') + page.count('src="data:image/svg+xml;base64,') >= 3
    assert "<math" in page
    assert f'<html lang="{"zh-CN" if lang == "zh" else lang}">' in page
    assert VERDICT[lang] in words(page)
    assert lang == "zh" or not HAN.search(words(page))
    assert not BY_MYST.search(words(page))


def test_reports_have_the_same_numbers_in_both_languages(examples):
    english, chinese = (NUMBER.findall(page.read_text("utf-8")) for page in examples.values())
    assert english == chinese
    assert len(english) > 50


@pytest.mark.parametrize("lang", VERDICT)
def test_links_of_a_report_lead_to_sections_and_chapters(examples, lang):
    page = examples[lang].read_text("utf-8")
    links = re.findall(r'href="([^"]+)"', page)
    inside = [link for link in links if link.startswith("#")]
    assert inside
    assert all(f'id="{link.removeprefix("#")}"' in page for link in inside)
    assert all(link.startswith("https://") for link in {*links} - {*inside})
    assert any(link.startswith(f"{BOOK}/chapters/") for link in links) == (lang == "en")


@pytest.mark.parametrize(("variables", "reason"), REFUSED)
def test_bad_input_is_one_sentence_and_writes_nothing(tmp_path, variables, reason):
    files = {"report.html": "an older one", "mine.yml": "title: mine"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = make_report(**variables | {"OUT": tmp_path / variables.get("OUT", "report.html")})
    sentence, *rest = done.stderr.strip().splitlines()
    assert (done.returncode, reason in sentence) == (2, True)
    assert all(re.match(r"make(\[\d+\])?: \*\*\*", line) for line in rest)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files


def poisoned(item, key=""):
    """An entry with the hostile text, numbered, in every free text."""
    if isinstance(item, dict):
        return {name: poisoned(value, name) for name, value in item.items()}
    if isinstance(item, list):
        return [poisoned(value, key) for value in item]
    if key in {"en", "zh", "source", *FREE}:
        number = next(NUMBERS)
        text = f"Text {number}: {HOSTILE} :end {number}."
        return text + " https://example.org/a_b?c=*d*" * (key == "source")
    plain = isinstance(item, str) and re.fullmatch(r"true|false|null|-?\d+", item)
    return yaml.safe_load(item) if plain else item


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The report of a deployment whose every entry is a file of the reader's, hostile in it all."""
    folder = tmp_path_factory.mktemp("hostile")

    def file(name, source, **changes):
        text = (ROOT / "params" / source).read_text("utf-8")
        data = poisoned(yaml.load(text, yaml.BaseLoader) | changes)
        (folder / name).write_text(json.dumps(data, ensure_ascii=False), "utf-8")

    own = {"source": "x", "kind": "assumed"}
    said = {"value": "50 ms", **own, "section": "x"}
    note = {"en": "x", "zh": "x"}
    file("node.yml", "nodes/hgx-h200.yml", device="./card.yml", defaults=own)
    file("card.yml", "devices/nvidia-h200-sxm.yml", defaults=own)
    file("model.yml", "models/deepseek-v3.yml", defaults=own)
    file(f"precision`{NAME}", "precisions/fp8-block.yml", defaults=own)
    file("measured.yml", "templates/example-measured.yml")
    file(f"plan{NAME}", "templates/example-deployment.yml", model="./model.yml",
         device="./card.yml", cluster={"node": "./node.yml", "nodes": 1},
         precision=f"./precision`{NAME}", note=note, defaults=own, measured="./measured.yml",
         mechanisms={"kernel_boundary": {"value": "3 us", **own, "note": note, "section": "x"}},
         documented={"claims": [{"quantity": "tpot", "label": note, "note": note, "value": said,
                                 "of": "deployment"}]})
    out = folder / "report.html"
    done = make_report(SCENARIO=folder / f"plan{NAME}", BOOK_LANG="zh", OUT=out)
    assert (done.returncode, done.stderr) == (0, "")
    return out


def squeezed(text):
    """A text without spaces and backticks, which a page may add or leave out; plain quotes."""
    return re.sub(r"[\s`]", "", text.translate(PLAIN))


def test_hostile_texts_are_shown_in_full_and_do_nothing(hostile):
    text = hostile.read_text("utf-8")
    parsed = BeautifulSoup(text, "html.parser")
    assert not parsed.find_all(ACTIVE)
    assert all(image["src"].startswith("data:image/svg+xml;") for image in parsed.find_all("img"))
    assert not [name for tag in parsed.find_all(True) for name in tag.attrs
                if name.startswith("on")]
    links = {tag["href"] for tag in parsed.find_all("a", href=True)}
    assert all(link.startswith(("#", "https://", "http://")) for link in links)
    assert not [link for link in links if "evil" in link]
    assert "https://example.org/a_b?c=*d*" in {unquote(link) for link in links}
    assert not re.search(r"root:.?:0:0", text)
    shown = squeezed(parsed.get_text(" "))
    numbers = {int(number) for number in re.findall(r"Text(\d+):", shown)}
    assert len(numbers) > 20
    assert [number for number in numbers
            if squeezed(f"Text {number}: {HOSTILE} :end {number}.") not in shown] == []
    policy = parsed.find("meta", {"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith(POLICY)
    assert "script-src" not in policy["content"]


def test_a_browser_shows_reports_and_requests_nothing(browser, hostile, examples):
    for page in (hostile, *examples.values()):
        browser.open(page.as_uri())
        requests = [url for url in browser.requests if not url.startswith("data:")]
        assert (requests, browser.errors) == ([page.as_uri()], [])
        assert browser.evaluate("document.scripts.length") == 0
        assert browser.evaluate("[...document.images].every(one => one.naturalWidth)")
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert browser.evaluate("document.title") != "1"
