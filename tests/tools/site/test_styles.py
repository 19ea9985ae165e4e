"""The theme's styles without what no page needs: which rules stay, and that no page lacks one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.site import styles

SHEET = """/* a note with { a brace */
.kept,.gone{color:var(--used)}:root{--used:red;--unused:url("a;b");--gone:1}
@media (max-width:10px){.gone:hover{top:0}.kept:not(.gone) a{top:.5rem}}
@font-face{font-family:"F";src:url(f.woff2)}.gone{}"""


def test_a_rule_stays_where_a_page_can_match_it() -> None:
    lean = styles.without_unused(styles.trimmed(SHEET, {"kept"}), "")
    assert lean == """.kept{color:var(--used)}
:root{--used:red;}
@media (max-width:10px){.kept:not(.gone) a{top:.5rem}}
@font-face{font-family:"F";src:url(f.woff2)}"""


def test_what_scripts_ask_for_stays() -> None:
    assert styles.without_unused(":root{--a:1;--b:2}", "read('--b')") == ":root{--b:2}"


def test_classes_come_from_pages_and_scripts(tmp_path: Path) -> None:
    (tmp_path / "_static").mkdir()
    (tmp_path / "index.html").write_text('<p class="one two" id=three>')
    (tmp_path / "_static/a.js").write_text("list.add('four-five')")
    assert {"one", "two", "three", "four-five"} <= styles.names(tmp_path)


@pytest.mark.whole
def test_no_page_has_a_class_whose_style_was_left_out(site: Path) -> None:
    assert styles.missing(site) == set()
