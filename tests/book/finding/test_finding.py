"""What the index holds of a page, and which words are marked in it."""

from __future__ import annotations

import pytest

from _ext.finding import documents, pages, terms

MATHJAX = r"\(\eta_{\mathrm{kv}}\)"
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


@pytest.mark.parametrize("math", [MATHJAX, KATEX])
def test_a_page_is_read_as_a_reader_sees_it(math: str) -> None:
    page = pages.read(PAGE.replace("{math}", math).encode())
    assert page.sections == [
        pages.Section("memory", "Memory", 1, ["A share η_kv of 70,272 bytes."]),
        pages.Section("memory-kv", "Cache", 2, [], ["card · rate", "H20 · 4.0"])]
    assert page.rows == {"S1-001": ["S1-001", "Said Wrong."]}
    assert page.formulas == {"equation-eq-kv": ("43", "a = b")}


@pytest.mark.parametrize(("title", "name"), [
    ("NVIDIA H20", "H20"), ("S1 plan C: 32×H20, TP8×DP4", "plan C"),
    ("S1 方案 C：32×H20，TP8×DP4", "方案 C"), ("Ascend 910B2", "910B2")])
def test_an_entry_is_found_by_what_it_is_called(title: str, name: str) -> None:
    assert name in documents.names_of(title)


def test_what_explains_a_term_is_found_by_all_of_its_names() -> None:
    term = {"en": "draft token", "zh": "草稿 token", "also": ["投机解码"], "at": "serving-drafts"}
    here = documents.Document("chapter", "serving.html#serving-drafts", 1, "", "", [], "")
    (found,) = documents.explained([here], {"draft": term})
    assert found.names == ["draft token", "草稿 token", "投机解码"]


@pytest.mark.parametrize(("text", "marks"), [
    ("Ranks use expert tensor parallelism; a rank, MLA, smla.",
     ["Ranks", "expert tensor parallelism", "MLA"]),
    ("每个rank采用张量并行，张量并行", ["rank", "张量并行"]),
])
def test_a_term_is_marked_whole_and_once(text: str, marks: list[str]) -> None:
    names = {name: name for name in ("rank", "tensor parallelism", "expert tensor parallelism",
                                     "MLA", "张量并行")}
    parts = list(terms.split(text, names, set()))
    assert [word for word, key in parts if key] == marks
    assert "".join(word for word, _ in parts) == text


def test_an_everyday_word_is_not_marked() -> None:
    entry = {"en": "goal", "zh": "目标", "at": "which"}
    assert terms.marked({"goal": entry}, "en") == {"goal": "goal"}
    assert terms.marked({"goal": entry | {"everyday": True}}, "en") == {}


def test_names_that_a_text_cannot_hold_are_left_out() -> None:
    names = {"KV cache": "kv", "MoE": "moe", "rank": "rank"}
    assert terms.said("One kv\n cache; frankly", names) == {"KV cache": "kv", "rank": "rank"}
