"""Rules of the code: import contracts, short functions, data apart, one oracle."""

import ast
import subprocess
import sys
from pathlib import Path

from tests.house.trees import PROJECT, nodes, trees

LONGEST_FUNCTION = 60  # lines


def every(*kinds, within=("calc/", "catalogue/", "kernels/", "notebooks/")):
    """Nodes of some kinds, with the path of their module."""
    for path in trees():
        if path.startswith(within):
            yield from ((path, node) for node in nodes(path) if isinstance(node, kinds))


def test_import_contracts():
    """The contracts of ``pyproject.toml``."""
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([tool, "--no-cache"], cwd=PROJECT, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_functions_are_short():
    assert [f"{path}:{node.name}" for path, node in every(
        ast.FunctionDef, ast.AsyncFunctionDef, within="")
        if node.end_lineno - node.lineno >= LONGEST_FUNCTION] == []


def test_physics_holds_no_shape_of_a_model():
    """No number above nine: counts, not constants."""
    assert [(path, node.value) for path, node in every(ast.Constant, within="calc/physics/")
            if isinstance(node.value, int | float)
            and (abs(node.value) > 9 or 0 < abs(node.value) < 1e-2)] == []
