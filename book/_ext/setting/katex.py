"""Formulas are set when the book is built, by KaTeX 0.19.1 (npm, MIT) in V8: pages need no script.

A formula comes out as MathML for screen readers, with the TeX it was written in, and as HTML for
the eye; a formula that KaTeX refuses is a warning at its place, and fails the build.
"""

from __future__ import annotations

import atexit
import html
import json
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

LOGGER = logging.getLogger(__name__)
KATEX = Path(__file__).parent / "vendor" / "katex" / "katex.min.js"
STYLES = "vendor/katex/katex.min.css"
# the outline of a tall floor begins with two moves, of which browsers draw nothing
TYPO, MENDED = "MM319", "M319"
EVERYTHING, MATHML = "htmlAndMathml", "mathml"


class FormulaError(Exception):
    """What KaTeX says of a formula that it cannot set, in a sentence."""


@cache
def start_engine() -> MiniRacer:
    """Start V8 with KaTeX in it; it has to be closed, or the process would not end."""
    engine = MiniRacer()
    atexit.register(engine.close)
    engine.eval(KATEX.read_text(encoding="utf-8"))
    return engine


@cache
def typeset(tex: str, display: bool, output: str = EVERYTHING) -> str:
    """Set a formula as HTML; `display` gives it a line of its own. Raises FormulaError."""
    options = {"displayMode": display, "output": output, "strict": "error"}
    try:
        done = start_engine().eval(
            f"katex.renderToString({json.dumps(tex)}, {json.dumps(options)})")
    except JSEvalException as error:
        reason = str(error).partition("\n")[0].rpartition("Error: ")[2]
        raise FormulaError(f"KaTeX cannot set {tex[:200]!r}: {reason}") from None
    return str(done).replace(TYPO, MENDED)


def _set(node: nodes.Element, display: bool) -> str:
    """Set the formula of a node; as it is written, with a warning, where that fails."""
    try:
        return typeset(node.astext().strip(), display)
    except FormulaError as error:
        LOGGER.warning("%s", error, location=node)
        return f"<code>{html.escape(node.astext())}</code>"


def visitors() -> tuple[Any, Any]:
    """Visitors of a formula in a line and of one on lines of its own, numbered if it has one."""
    def inline(visitor: Any, node: nodes.math) -> None:
        shown = _set(node, False)
        visitor.body.append(f'<span class="math notranslate nohighlight">{shown}</span>')
        raise nodes.SkipNode

    def block(visitor: Any, node: nodes.math_block) -> None:
        visitor.body.append(visitor.starttag(node, "div", CLASS="math notranslate nohighlight"))
        if node.get("number"):
            visitor.body.append(f'<span class="eqno">({get_node_equation_number(visitor, node)})')
            visitor.add_permalink_ref(node, _("Link to this equation"))
            visitor.body.append("</span>")
        visitor.body.append(_set(node, True) + "</div>\n")
        raise nodes.SkipNode

    return inline, block


def styles(app: Sphinx, page: str, template: str, context: dict[str, Any],
            doctree: nodes.document | None) -> None:
    """Link KaTeX's styles on pages that have a formula."""
    if app.env.get_domain("math").has_equations(page):  # type: ignore[attr-defined]
        app.add_css_file(STYLES)


def setup(app: Sphinx) -> None:
    """Register the renderer."""
    inline, block = visitors()
    app.add_html_math_renderer("katex", (inline, None), (block, None))
    app.connect("html-page-context", styles)
