"""Rules of the code: import contracts, short functions, data apart, one oracle."""

import ast
import subprocess
import sys
from pathlib import Path

from tests.house.trees import PROJECT, nodes, trees

LONGEST_FUNCTION = 60  # lines
JUDGE, LAYOUTS = "calc/layouts/feasible.py", "calc/layouts/layout.py"
ADMISSION = ("catalogue/deployments/admission.py", "catalogue/deployments/cuts.py")
RULES = {"cut_problem", "block_problem", "context_problem", "server_problem", "engine_problem",
         "draft_problem", "length_problem", "refused_problem", "missing_dtypes",
         "drafts_in_stages", "staged_problem"}
EXCEPTIONS = {  # what a card multiplies, or an engine does, as the subject of a page
    "notebooks/pages/catalogue/tables/formats.py": {"missing_dtypes"},
    "notebooks/pages/calculators/offers.py": {"missing_dtypes"},
    "notebooks/pages/engineering/operating/settings.py": {"missing_dtypes"},
    "notebooks/pages/engineering/operating/around.py": {"drafts_in_stages"},
    "catalogue/deployments/physics_inputs.py": {"missing_dtypes"},
    "catalogue/deployments/profiles.py": {"drafts_in_stages"},
    "calc/launching/server.py": {"server_problem"}}  # of a layout that it lays on nodes


def every(*kinds, within=("calc/", "catalogue/", "kernels/", "notebooks/")):
    """Nodes of some kinds, with the path of their module."""
    for path in trees():
        if path.startswith(within):
            yield from ((path, node) for node in nodes(path) if isinstance(node, kinds))


def called(path):
    """Names of functions that a module calls or imports."""
    for node in nodes(path):
        if isinstance(node, ast.Call):
            yield getattr(node.func, "id", getattr(node.func, "attr", ""))
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)


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


def test_headroom_is_compared_by_the_judge_alone():
    assert {path for path, node in every(ast.Compare, within="calc/") if path != JUDGE
            and any(isinstance(operator, ast.GtE | ast.Lt | ast.Gt) for operator in node.ops)
            and any(isinstance(part, ast.Constant) and part.value == "headroom_per_device"
                    for part in ast.walk(node))} == set()


def test_admission_rules_are_asked_by_the_judge_alone():
    paths = [path for path in trees() if path.startswith(("calc/", "catalogue/", "notebooks/"))]
    assert {path: names for path in paths if path not in ADMISSION and (
        names := set(called(path)) & RULES - EXCEPTIONS.get(path, set()))} == {}
    for path, names in EXCEPTIONS.items():
        defined = {node.name for node in nodes(path) if isinstance(node, ast.FunctionDef)}
        assert names <= set(called(path)) | defined, path


def test_layouts_are_enumerated_in_one_module():
    assert {path for path in trees() if path.startswith("calc/") and "divisors" in set(called(path))
            } <= {LAYOUTS, JUDGE, "calc/answer/nearest.py"}
