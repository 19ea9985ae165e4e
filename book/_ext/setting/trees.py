"""Walking a page: docutils' ``findall``, for which pages are walked some eighty times each.

Most of those walks, of transforms of Sphinx and the extensions, look for what no page of the book
has, as citations and C++; they end before they begin. The others do not hand what they find up
through all levels of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.util.nodes import NodeMatcher

around = nodes.Node.findall  # of docutils, which also walks to what stands beside and above
made: set[type] = {nodes.Text}  # of which classes there are nodes in this process
_met: set[Any] = set()


def _note(cls: type, *args: Any, **attributes: Any) -> Any:
    """Make a node, also one that is copied or read from a file, and remember its class."""
    made.add(cls)
    return object.__new__(cls)


def _is_met(wanted: Any) -> bool:
    """Tell whether there are nodes of a class, or of one of several."""
    if wanted not in _met and any(issubclass(cls, wanted) for cls in made):
        _met.add(wanted)
    return wanted in _met


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
    if wanted is not object and not _is_met(wanted):
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
