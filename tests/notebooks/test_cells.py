"""Code cells of the pages."""

import ast
import importlib
import re

import pytest

from tests.house.trees import PROJECT

PAGES = sorted([*(PROJECT / "notebooks").glob("*.md"),
                *(PROJECT / "notebooks" / "supplements").glob("*.md")])
CELL = re.compile(r"^```\{code-cell\}.*\n(?::.*\n)*((?s:.*?))^```$", re.MULTILINE)


def stands(module, name):
    """Whether a module has a name, or a module below it."""
    try:
        return hasattr(importlib.import_module(module), name) or bool(
            importlib.import_module(f"{module}.{name}"))
    except ImportError:
        return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_cell_imports_exists(page):
    imports = [(node.module, alias.name) for code in CELL.findall(page.read_text("utf-8"))
               for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)
               for alias in node.names]
    assert [each for each in imports if not stands(*each)] == []
