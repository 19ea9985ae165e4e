"""Walking a page: docutils' ``findall``, for which pages are walked some eighty times each.

Most of those walks, of transforms of Sphinx and the extensions, look for what the page has not, as
citations and C++; they end before they begin. The others do not hand what they find up through all
levels of the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from docutils import nodes
from sphinx.util.nodes import NodeMatcher

around = nodes.Node.findall  # of docutils, which also walks to what stands beside and above
_pages = 0  # how many this process has begun, from their sources or from what it keeps of them
_begun: WeakKeyDictionary[nodes.Node, int] = WeakKeyDictionary()  # page -> which of them it is
_last: dict[type, int] = {nodes.Text: sys.maxsize}  # class -> page at which a node was last made
_kinds: dict[Any, list[type]] = {}  # class, or several -> those of ``_last`` that are such


def _note(cls: type, *args: Any, **attributes: Any) -> Any:
    """Make a node, also one that is copied or read from a file, and remember its class."""
    global _pages
    node: Any = object.__new__(cls)
    if cls is nodes.document:
        _pages += 1
        _begun[node] = _pages
    if cls not in _last:
        _kinds.clear()
    _last[cls] = _pages
    return node


def may_hold(root: nodes.Node, wanted: Any) -> bool:
    """Tell whether nodes of a class, or of one of several, were made since the page was begun.

    What is in a page was made after it. In what is no page there may be nodes of any class.
    """
    if wanted not in _kinds:
        _kinds[wanted] = [cls for cls in _last if issubclass(cls, wanted)]
    begun = _begun.get(root, 0) if isinstance(root, nodes.document) else 0
    return any(_last[cls] >= begun for cls in _kinds[wanted])


def findall(self: nodes.Node, condition: Any = None, include_self: bool = True,
            descend: bool = True, siblings: bool = False, ascend: bool = False
            ) -> Iterator[nodes.Node]:
    """Nodes from this one on that meet the condition, as docutils finds them, and in its order.

    Children are looked up when the walk comes to them: what was found may be changed.
    """
    if siblings or ascend or not (include_self and descend):
        yield from around(self, condition, include_self, descend, siblings, ascend)
        return
    wanted: Any = object
    further = condition
    if isinstance(condition, type):
        wanted, further = condition, None
    elif isinstance(condition, NodeMatcher):
        wanted = condition.classes or object
    if wanted is not object and not may_hold(self, wanted):
        return
    leaf = nodes.Text if isinstance(wanted, type) and not issubclass(nodes.Text, wanted) else None
    levels: list[Iterator[nodes.Node]] = [iter((self,))]
    while levels:
        for node in levels[-1]:
            if isinstance(node, wanted) and (further is None or further(node)):
                yield node
            inner = node.children
            if inner and (len(inner) > 1 or type(inner[0]) is not leaf):  # most have but a text
                levels.append(iter(inner))
                break
        else:
            levels.pop()


def setup() -> None:
    """Have every walk of this process go this way."""
    nodes.Element.__new__ = staticmethod(_note)
    nodes.Node.findall = findall
