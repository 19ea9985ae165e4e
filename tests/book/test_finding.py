"""Search of the site: what the index holds of a page, marked terms, and what a query asks for."""

import json
import re

import pytest
from _plain import plain
from _project import ROOT
from py_mini_racer import MiniRacer

from _ext.finding import pages, symptoms, terms
from _ext.finding import search_documents as documents
from catalogue.reading import values

KATEX = (r'<span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>η</mi></mrow>'
         r'<annotation encoding="application/x-tex">\eta_{\mathrm{kv}}</annotation></semantics>'
         r'</math></span><span class="katex-html"><span>ηkv</span></span></span>')
PAGE = """<body><p>Menu</p><article class="bd-article">
<section id="speicher"><span id="memory"></span><h1>Memory<a class="headerlink" href="#">#</a></h1>
<p>A share <span class="math">{math}</span> of
<span class="pasted-text">70,272</span> bytes.</p>
<details class="admonition hide above-input"><summary>code</summary><pre>secret</pre></details>
<section id="memory-kv"><span id="id3"></span><h2>Cache</h2>
<div class="math" id="equation-eq-kv"><span class="eqno">(43)<a class="headerlink" href="#">#</a>
</span>\\[ a = b \\]</div>
<table><thead><tr><th><p>card</p></th><th><p>rate</p></th></tr></thead>
<tbody><tr><td><p>H20</p></td><td><p>4.0</p></td></tr>
<tr id="S1-001"><td>S1-001</td><td>Said<p>Wrong.</p></td></tr></tbody></table>
</section></section></article><p>Footer</p></body>"""
SECTIONS = [pages.Section("memory", "Memory", 1, ["A share η_kv of 70,272 bytes."]),
            pages.Section("memory-kv", "Cache", 2, [], ["card · rate", "H20 · 4.0"])]


def test_index_of_a_page_holds_its_visible_text():
    page = pages.read(PAGE.replace("{math}", KATEX).encode())
    assert page.sections == SECTIONS
    assert page.rows == {"S1-001": ["S1-001", "Said Wrong."]}
    assert page.formulas == {"equation-eq-kv": ("43", "a = b")}


@pytest.mark.parametrize(("text", "marks"), [
    ("Ranks use expert tensor parallelism; a rank, MLA, smla.",
     ["Ranks", "expert tensor parallelism", "MLA"]),
    ("每个rank采用张量并行，张量并行", ["rank", "张量并行"]),
])
def test_terms_are_marked_as_whole_words_and_once(text, marks):
    names = {name: name for name in ("rank", "tensor parallelism", "expert tensor parallelism",
                                     "MLA", "张量并行")}
    parts = list(terms.split(text, names, set()))
    assert [word for word, key in parts if key] == marks
    assert "".join(word for word, _ in parts) == text


SAID = values.symptoms()
DEVICES = dict(sorted((path.stem, plain(path.read_text(encoding="utf-8")))
                      for path in (ROOT / "params" / "devices").glob("*.yml")))
LABEL = re.compile(r"^\(([a-z0-9-]+)\)=\s*\n#", re.MULTILINE)


def test_symptoms_lead_to_existing_sections():
    sources = [*(ROOT / "notebooks").glob("*.md"), *(ROOT / "book").glob("*.md")]
    labels = {label for path in sources for label in LABEL.findall(path.read_text("utf-8"))}
    labels |= {path.stem for path in sources} | {symptoms.CARD}
    labels |= {path.stem for folder in ("scenarios", "devices", "models", "documents")
               for path in (ROOT / "params" / folder).glob("*.yml")}
    assert {name: missing for name, symptom in SAID["symptoms"].items()
            if (missing := set(symptom["at"]) - labels)} == {}


@pytest.fixture(scope="module")
def asking():
    """The script of the site, with an index that holds a document for every label."""
    others = sorted({label for symptom in SAID["symptoms"].values() for label in symptom["at"]}
                    - {symptoms.CARD, *DEVICES} | {symptoms.COMPARED})
    index = [documents.Document("device", f"{name}.html", 1, device["name"]["en"], "", [], "")
             for name, device in DEVICES.items()]
    index += [documents.Document("chapter", f"{label}.html", 1, label, "", [], "")
              for label in others]
    engine = MiniRacer()
    engine.eval((ROOT / "book/assets/finding/asking.js").read_text(encoding="utf-8"))
    engine.eval(f"const labels = {json.dumps([*DEVICES, *others])}; const asking = "
                f"bookAsking.make({json.dumps(symptoms.of_index(index, SAID, DEVICES))});")
    return engine


def asked(asking, query):
    """Ask; answers and cards as labels."""
    return json.loads(str(asking.eval(
        f"(found => JSON.stringify({{...found, answers: found.answers.map(at => labels[at]),"
        f"named: found.named.map(at => labels[at])}}))(asking.of({json.dumps(query)}))")))


@pytest.mark.parametrize(("query", "first"), [
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "run-memory"),
    ("npu out of memory 怎么办", "run-memory"), ("gpu_memory_utilization", "memory-choice"),
    ("AWQ 和 W8A8 选哪个", "precision-decision"),
    ("910B 跑 R1 W8A8 启动报 HCCL timeout", "run-hang"),  # the fault counts more than the place
    ("decode throughput drops when one expert rank is slow", "experts"),
    ("KV cache", None), ("显存", None), ("70,272", None)])  # names of things, no symptoms
def test_a_symptom_leads_to_its_section(asking, query, first):
    assert next(iter(asked(asking, query)["answers"]), None) == first
