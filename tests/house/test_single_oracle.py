"""One judge decides what is loaded, and one enumeration makes layouts; nobody else does either."""

import ast
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = ("catalogue", "calc", "notebooks")
JUDGE, LAYOUTS = "calc/layouts/feasible.py", "calc/layouts/enumerate.py"
RULES = "catalogue/deployments/admission/"
HEADROOM = "headroom_per_device"
ASKED_OF_RULES = {"cut_problem", "block_problem", "context_problem", "server_problem",
                  "engine_problem", "draft_problem", "dtype_problem", "length_problem",
                  "kernel_problem", "missing_dtypes", "drafts_in_stages", "staged_problem"}
SHOWN = {  # what a card multiplies, or an engine does, as the subject of a page: no deployment
    "notebooks/pages/catalogue/tables/formats.py": {"missing_dtypes"},
    "notebooks/pages/engineering/operating/settings.py": {"missing_dtypes"},
    "notebooks/pages/engineering/operating/around.py": {"drafts_in_stages"},
    "catalogue/deployments/precision_support.py": {"missing_dtypes"},
    "catalogue/kernels/releases.py": {"kernel_problem"},
    "catalogue/kernels/__init__.py": {"kernel_problem"},
    "catalogue/deployments/profiles.py": {"drafts_in_stages"},
    "calc/launching/layout.py": {"server_problem"},  # of a layout that it lays on nodes
}
DIVISORS = {LAYOUTS, JUDGE, "calc/answer/nearest.py"}


@cache
def trees():
    """Every module as a tree, by its path in the project."""
    return {path.relative_to(PROJECT).as_posix(): ast.parse(path.read_text("utf-8"))
            for package in PACKAGES for path in sorted((PROJECT / package).rglob("*.py"))}


def compared(tree):
    """Texts in the comparisons of a module with zero or a margin."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(isinstance(operator, ast.GtE | ast.Lt | ast.Gt)
                                                 for operator in node.ops):
            yield from (part.value for part in ast.walk(node)
                        if isinstance(part, ast.Constant) and isinstance(part.value, str))


def called(tree):
    """Names of functions that a module calls or imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            yield function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)


def test_headroom_is_compared_by_the_judge_alone():
    assert [path for path, tree in trees().items() if path.startswith("calc/") and path != JUDGE
            and HEADROOM in set(compared(tree))] == []


def test_rules_are_called_by_the_judge_alone():
    found = {path: names for path, tree in trees().items() if not path.startswith(RULES)
             and (names := set(called(tree)) & ASKED_OF_RULES - SHOWN.get(path, set()))}
    assert found == {}


def test_layouts_are_enumerated_in_one_module():
    assert [path for path, tree in trees().items() if path.startswith("calc/")
            and path not in DIVISORS and "divisors" in set(called(tree))] == []


def test_exceptions_are_used():
    for path, names in SHOWN.items():
        defined = {node.name for node in ast.walk(trees()[path])
                   if isinstance(node, ast.FunctionDef)}
        assert names <= set(called(trees()[path])) | defined, path
