"""Run the tests that a change concerns first: those of its rooms and of what imports it directly.

    python -m tools.changed [--list] [argument of pytest ...]

What counts as changed is everything that differs from the commit at which this branch left
``main``, uncommitted and new files included. Nothing is recorded from run to run: which module
imports which is read from the code. A test is chosen if it was changed itself, lies in the folder
that mirrors a changed module's room, or imports a changed module or one that imports a changed
module; doctests of changed modules run too. Pages of the book, and everything further away, are
left to ``make test``; the last line says how much that is.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {**dict.fromkeys(("catalogue", "calc", "tools", "notebooks"), "."), "reference": "tests"}
SUPPORT = Path("tests/support")
BOOK = Path("tests/book")  # needs kernels or a browser
SITE = "site"  # the fixture that builds the book: a file with a test that takes it
ALWAYS = ("tests/house/test_rooms.py",)
BESIDES = {  # for files that are not imported: the tests that read them
    "messages/": ("tests/house/test_messages.py",),
    "params/": ("tests/catalogue", "tests/house/test_traps_of_data.py"),
    "notebooks/": ("tests/book/test_parity.py",),
    "book/": ("tests/book/test_pipeline.py", "tests/book/test_parity.py"),
    "book/_ext/": ("tests/book/test_passes.py",),
    "pyproject.toml": ("tests/house/test_contracts.py",),
    "Makefile": ("tests/house/test_contracts.py",),
    "requirements": ("tests/house/test_contracts.py",),
}


@dataclass(frozen=True)
class Selection:
    """Paths to give to pytest, and the test files that would feel the change but are left out."""

    chosen: tuple[str, ...]
    left_out: tuple[str, ...]


def changed_files() -> list[Path]:
    """Files that differ from where this branch left ``main``, relative to the project."""
    fork = _git("merge-base", "HEAD", "main") or _git("merge-base", "HEAD", "origin/main")
    names = _git("diff", "--name-only", "--no-renames", *(fork or ["HEAD"]))
    return [Path(name) for name in names + _git("ls-files", "--others", "--exclude-standard")]


def _git(*arguments: str) -> list[str]:
    """Lines that git prints; none if it fails."""
    done = subprocess.run(["git", "-c", "core.quotePath=false", *arguments], cwd=ROOT,
                          capture_output=True, text=True, encoding="utf-8", check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def module_of(path: Path) -> str | None:
    """The module that a file is, None for one that nothing imports."""
    for package, folder in PACKAGES.items():
        if path.suffix == ".py" and path.is_relative_to(Path(folder) / package):
            parts = path.relative_to(folder).with_suffix("").parts
            return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return None


def imports_of(path: Path) -> set[str]:
    """Modules that a file names in its imports; of ``from a import b`` both ``a`` and ``a.b``."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def takes_the_site(path: Path) -> bool:
    """Whether a test of a file asks for the built book."""
    return any(isinstance(node, ast.arg) and node.arg == SITE
               for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def needs_of_tests(root: Path = ROOT) -> dict[str, set[str]]:
    """Test file -> what it imports, itself or by way of the helpers of ``tests/support``.

    ``site`` is among it where a test asks for the built book.
    """
    helpers = {path.stem: imports_of(path) for path in (root / SUPPORT).glob("*.py")}

    def with_helpers(names: set[str]) -> set[str]:
        known: set[str] = set()
        while names - known:
            known, names = known | names, names.union(*(helpers.get(name, ()) for name in names))
        return known

    tests = sorted((root / "tests").rglob("test_*.py"))
    return {test.relative_to(root).as_posix(): with_helpers(
        imports_of(test) | ({SITE} if takes_the_site(test) else set())) for test in tests}


def mirror(module: str) -> Path:
    """The folder of tests of the room that a module lies in."""
    package, *rest = module.split(".")
    folder = Path("tests") / package
    return folder / rest[0] if len(rest) > 1 and (ROOT / folder / rest[0]).is_dir() else folder


def select(changed: Iterable[Path], near: Mapping[str, set[str]], far: Mapping[str, set[str]],
           tests: Mapping[str, set[str]]) -> Selection:
    """Choose tests for changed files.

    Args:
        changed: files, relative to the project.
        near: changed module -> modules that import it directly.
        far: changed module -> modules that import it at all.
        tests: test file -> modules that it imports.
    """
    changed = list(changed)
    modules = {path: module for path in changed if (module := module_of(path))}
    close = set(modules.values()).union(*near.values())
    rooms = {mirror(module).as_posix() for module in modules.values()}
    helpers = {path.stem for path in changed if path.parent == SUPPORT}
    besides = {test for path in changed if path not in modules
               for beginning, names in BESIDES.items() if path.as_posix().startswith(beginning)
               for test in names}
    chosen = {path.as_posix() for path in changed if path.as_posix() in tests}
    chosen |= {test for test, names in tests.items() if names & helpers}
    slow = {test for test, names in tests.items()
            if SITE in names or Path(test).is_relative_to(BOOK)}
    chosen |= {test for test, names in tests.items() if test not in slow
               and (Path(test).parent.as_posix() in rooms or names & close)}
    reached = set(modules.values()).union(*far.values())
    felt = {test for test, names in tests.items()
            if modules and (names & reached or test in slow)}
    doctests = {path.as_posix() for path in modules if (ROOT / path).is_file()}
    paths = chosen | besides | doctests | set(ALWAYS)
    covered = {test for test in felt if any(Path(test).is_relative_to(path) for path in paths)}
    return Selection(tuple(sorted(paths)), tuple(sorted(felt - covered)))


def neighbours(changed: Iterable[Path]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Who imports each changed module directly, and who imports it at all."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    modules = {module for path in changed if (module := module_of(path)) in graph.modules}
    return ({module: graph.find_modules_that_directly_import(module) for module in modules},
            {module: graph.find_downstream_modules(module) for module in modules})


def main(arguments: list[str]) -> int:
    """Choose, say what is left out, and run pytest; return its exit code."""
    changed = changed_files()
    if not changed:
        print("tests: nothing differs from main")
        return 0
    for folder in dict.fromkeys(PACKAGES.values()):
        sys.path.insert(0, str(ROOT / folder))
    selection = select(changed, *neighbours(changed), needs_of_tests())
    print(f"tests: {len(changed)} changed files concern {', '.join(selection.chosen)}")
    if "--list" in arguments:
        code = 0
    else:
        code = subprocess.run([sys.executable, "-m", "pytest", "-q", *arguments,
                               *selection.chosen], cwd=ROOT, check=False).returncode
    if selection.left_out:
        print(f"tests: left to make test, {len(selection.left_out)} files further away: "
              f"{', '.join(selection.left_out)}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
