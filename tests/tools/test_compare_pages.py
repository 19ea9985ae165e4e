"""Two builds of the book differ where a reader sees a change."""

import pytest

from tools.compare_pages import main

PAGE = """<html><body><nav>{nav}</nav><article class="bd-article"><h1>Memory</h1>
<div class="cell_input">{code}</div><p>It needs <b>{number}</b> GB of the {word}.</p>
<table><tr><td>1</td><td>{cell}</td></tr></table><img src="../_images/{figure}">
</article></body></html>"""
DRAWING = '<svg><dc:date>{date}</dc:date><path id="{name}" d="M 0 {height}"/></svg>'


@pytest.fixture
def site(tmp_path):
    def build(name, figure="a.svg", height=1, **texts):
        folder = tmp_path / name
        (folder / "chapters").mkdir(parents=True)
        (folder / "_images").mkdir()
        (folder / "_images" / figure).write_text(
            DRAWING.format(date=name, name=name, height=height), "utf-8")
        words = {"nav": "", "code": "", "number": "1,024.5", "word": "card", "cell": 2} | texts
        (folder / "chapters" / "memory.html").write_text(
            PAGE.format(figure=figure, **words), "utf-8")
        (folder / "search.html").write_text("<html><form></form></html>", "utf-8")
        return str(folder)
    return build


def test_equal_sites(site):
    assert main([site("before"), site("after")]) == 0


@pytest.mark.parametrize(
    "hidden", [{"code": "x = 2"}, {"nav": "Another page"}, {"figure": "b.svg"}])
def test_code_navigation_and_file_names_are_ignored(site, hidden):
    assert main([site("before"), site("after", **hidden)]) == 0


@pytest.mark.parametrize(("shown", "kind", "lines"), [
    ({"number": "1,024.6"}, "numbers", ["-It needs 1,024.5 GB", "+It needs 1,024.6 GB"]),
    ({"cell": 3}, "numbers", ["-2", "+3"]),
    ({"word": "host"}, "words  ", ["-It needs 1,024.5 GB of the card."]),
    ({"height": 2}, "figures", []),
])
def test_visible_changes(site, capsys, shown, kind, lines):
    assert main([site("before"), site("after", **shown)]) == 1
    printed = capsys.readouterr().out
    assert f"{kind} chapters/memory.html" in printed
    assert all(line in printed for line in lines)


def test_missing_page(site, tmp_path, capsys):
    before, after = site("before"), site("after")
    (tmp_path / "after" / "chapters" / "memory.html").rename(tmp_path / "after" / "other.html")
    assert main([before, after]) == 1
    assert "gone chapters/memory.html" in capsys.readouterr().out
