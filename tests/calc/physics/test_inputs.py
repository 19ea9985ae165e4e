"""Named inputs of formulas are symbols of the catalogue."""

import ast

from catalogue import ROOT
from catalogue.entries.formulas import input_symbols


def test_formulas_read_symbols_of_the_catalogue() -> None:
    """Inputs have the attributes that they are given: no formula may misspell one."""
    paths = [path for folder in ("physics", "serving")
             for path in (ROOT.parent / "calc" / folder).glob("*.py")]
    read = {(path.name, node.attr) for path in paths
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("q", "self._q")}
    assert len({name for _, name in read}) > 200
    assert sorted((path, name) for path, name in read if name not in input_symbols()) == []
