"""What Sphinx looks at of a page when it numbers the figures of the book.

Whenever a page changes, figures are numbered over all pages, and Sphinx reads each of them from
disk for that, the longest part of a build in which little has changed. It looks only at sections,
tables of contents and what has a number, so those are kept of every page, and shown in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

OUTLINES = "book_outlines"  # of the environment, which is kept from build to build
SHOWN = (nodes.caption, nodes.title, nodes.literal_block)  # children by which a number is given


def outline(env: BuildEnvironment, page: nodes.Element) -> nodes.Element:
    """A page with nothing in it but what takes part in the numbering."""
    return nodes.Element("", *_parts(env, page))


def _parts(env: BuildEnvironment, parent: nodes.Element) -> Iterator[nodes.Element]:
    for child in parent.children:
        if not isinstance(child, nodes.Element):
            continue
        numbered = child["ids"] and any(domain.get_enumerable_node_type(child)
                                        for domain in env.domains.values())
        if isinstance(child, addnodes.toctree):
            yield child.copy()
        elif numbered or isinstance(child, nodes.section):
            shown = [own for own in child.children if numbered and isinstance(own, SHOWN)]
            part = child.copy()
            part += [type(own)("", own.astext()) for own in shown]
            part += list(_parts(env, child))
            yield part
        else:
            yield from _parts(env, child)


def _outlines(env: BuildEnvironment) -> dict[str, nodes.Element]:
    if not hasattr(env, OUTLINES):
        setattr(env, OUTLINES, {})
    kept: dict[str, nodes.Element] = getattr(env, OUTLINES)
    return kept


def _keep(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the outline of a page that was read."""
    _outlines(app.env)[app.env.docname] = outline(app.env, doctree)


def _forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _outlines(env).pop(docname, None)


def _merge(app: Sphinx, env: BuildEnvironment, docnames: list[str],
           other: BuildEnvironment) -> None:
    """Take the outlines of pages that another process has read."""
    _outlines(env).update({name: _outlines(other)[name] for name in docnames})


def _show(app: Sphinx, env: Any) -> list[str]:
    """Have outlines taken for pages while figures are numbered."""
    env.get_doctree = _outlines(env).__getitem__
    return []


def _hide(app: Sphinx, env: Any) -> list[str]:
    del env.get_doctree
    return []


def setup(app: Sphinx) -> None:
    """Connect the handlers; figures are numbered at priority 500 of ``env-get-updated``."""
    app.connect("doctree-read", _keep, priority=999)  # after tables of contents came in
    app.connect("env-purge-doc", _forget)
    app.connect("env-merge-info", _merge)
    app.connect("env-get-updated", _show, priority=1)
    app.connect("env-get-updated", _hide, priority=600)
