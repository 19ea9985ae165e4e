"""What a user meets first: ``help(calc)`` lists it, and shows each in use."""

import pydoc

import pytest

import calc


def test_help_lists_everything_that_calc_offers():
    page = pydoc.plain(pydoc.render_doc(calc))
    summary = page.partition("PACKAGE CONTENTS")[0]
    assert [name for name in calc.__all__ if f"`{name}`" not in summary] == []


@pytest.mark.parametrize("name", calc.__all__)
def test_each_shows_its_use(name):
    """An example, which runs among the doctests."""
    assert ">>> " in pydoc.getdoc(getattr(calc, name)) or ">>> " in (getattr(calc, name).__doc__)
