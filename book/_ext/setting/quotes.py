"""Quotation marks: Sphinx looks for them only in paragraphs that have some.

It puts every text of a page into its place again, whether or not that has a mark to be set.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms import SphinxSmartQuotes

DASHES = frozenset("dDi")  # of the setting: marks that are looked for here are those of the others
MARKED = re.compile(r"""["'`\\]|\.\.\.|\. \. \.|&\#""")  # what Sphinx replaces, or takes for itself


class _Unmarked(type):
    def __instancecheck__(cls, node: Any) -> bool:
        return isinstance(node, nodes.TextElement) and not MARKED.search(node.astext())


class Unmarked(metaclass=_Unmarked):
    """What every text without a mark is an instance of: `SmartQuotes` names classes to skip."""


def _skip(app: Sphinx, config: Config) -> None:
    skipped = SphinxSmartQuotes.nodes_to_skip
    if Unmarked not in skipped and not DASHES & set(config.smartquotes_action):
        SphinxSmartQuotes.nodes_to_skip = (*skipped, Unmarked)


def setup(app: Sphinx) -> None:
    """Connect the handler."""
    app.connect("config-inited", _skip)
