"""The fonts of formulas: which signs are looked for, and that no formula lacks one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.site import letters

PAGE = '<article><span class="katex"><i>q</i><span class="katex-html" aria-hidden>x\u9f98{}</span>'


def test_what_a_formula_shows_is_looked_for(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(PAGE.format("\u2a0c"), encoding="utf-8")
    assert letters.signs(tmp_path) == {"x", "\u9f98", "\u2a0c"}
    assert letters.missing(tmp_path) == {"\u2a0c"}


@pytest.mark.whole
def test_no_formula_has_a_sign_that_was_left_out(site: Path) -> None:
    assert letters.missing(site) == set()
