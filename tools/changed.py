"""Run the tests that a change concerns, the nearest first, within seconds.

    python -m tools.changed [--list] [argument of pytest ...]

What counts as changed is everything that differs from the commit at which this branch left
``main``, uncommitted and new files included. A test file is concerned if it was changed itself,
mirrors the room of a changed module, or imports one, directly or through any number of modules of
any package; the fewer the steps, the sooner its turn. What ran earlier in ``make test`` has its
time in pytest's cache, and as many tests run as fit into ``SECONDS`` of it: the shortest of the
nearest files, of long series a tenth. A test that takes long may be the one that fails: run it by
its name, or ``make test``.
Before the first such run those run that import the change directly. Files that are not imported
concern the tests that read them (``READERS``). What is left to ``make test`` is printed.

Imports, because measuring which lines a test runs leaves too much unseen here: a value in a cache
is computed by one test and read by hundreds, kernels and commands are processes of their own.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
FOLDERS = SETTINGS["pytest"]["ini_options"]["pythonpath"]  # from which packages are imported
PACKAGES = (*SETTINGS["importlinter"]["root_packages"], "_ext")
SUPPORT = Path("tests/support")
RECORD = Path(".pytest_cache/v/seconds")  # test -> of processors, as tests/conftest.py leaves it
SECONDS = 15.0  # that the tests of a change may take, beside starting and collecting them
CLOSE = 1  # steps, within which tests run before any time is known
# what every change is held against: the rooms, and derivations and runtime against each other
ALWAYS = ("tests/house/test_rooms.py", "tests/notebooks/derive/test_derivations.py")
READERS = {  # of files that are not imported: the tests that read them
    "messages/": ("tests/house/test_messages.py",),
    "params/": ("tests/catalogue", "tests/house/test_traps_of_data.py"),
    "notebooks/": ("tests/book/test_parity.py",),
    "book/": ("tests/book/test_pipeline.py", "tests/book/test_parity.py"),
    "pyproject.toml": ("tests/house/test_contracts.py",),
    "Makefile": ("tests/house/test_contracts.py",),
    "requirements": ("tests/house/test_contracts.py", "tests/tools/packages"),
    "docs/": ("tests/tools/packages",),
}


@dataclass(frozen=True)
class Selection:
    """Paths to give to pytest in their order, the concerned files left out, files nobody reads."""

    chosen: tuple[str, ...]
    left_out: tuple[str, ...]
    unread: tuple[str, ...]


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
    for folder in FOLDERS:
        parts = (path.relative_to(folder).with_suffix("").parts
                 if path.suffix == ".py" and path.is_relative_to(folder) else ())
        if parts and parts[0] in PACKAGES:
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


def imports_of_tests(root: Path = ROOT) -> dict[str, set[str]]:
    """Test file -> what it imports, itself or by way of the helpers of ``tests/support``."""
    helpers = {path.stem: imports_of(path) for path in (root / SUPPORT).glob("*.py")}

    def with_helpers(names: set[str]) -> set[str]:
        known: set[str] = set()
        while names - known:
            known, names = known | names, names.union(*(helpers.get(name, ()) for name in names))
        return known

    return {test.relative_to(root).as_posix(): with_helpers(imports_of(test))
            for test in sorted((root / "tests").rglob("test_*.py"))}


def mirror(module: str) -> Path:
    """The folder of tests of the room that a module lies in."""
    folder = Path("tests")
    for part in module.split("."):
        if not (ROOT / folder / part).is_dir():
            break
        folder /= part
    return folder


def steps(modules: Iterable[str], graph: grimp.ImportGraph) -> dict[str, int]:
    """Module -> how many imports lie between it and the nearest of the changed modules."""
    far: dict[str, int] = {}
    edge = set(modules)
    while edge:
        far |= dict.fromkeys(edge, 0 if not far else max(far.values()) + 1)
        edge = {user for module in edge if module in graph.modules
                for user in graph.find_modules_that_directly_import(module)} - far.keys()
    return far


def nearness(changed: Iterable[Path], far: Mapping[str, int], tests: Mapping[str, set[str]]
             ) -> dict[str, int]:
    """Concerned test file -> steps to the change.

    Args:
        changed: files, relative to the project.
        far: module -> steps to the nearest changed one.
        tests: test file -> modules that it imports.
    """
    near = {test: min(far[name] for name in names & far.keys())
            for test, names in tests.items() if names & far.keys()}
    zero = [path.as_posix() for path in changed]
    zero += [mirror(module).as_posix() for module, count in far.items() if not count]
    zero += [reader for path in changed if not module_of(path)
             for start, readers in READERS.items() if path.as_posix().startswith(start)
             for reader in readers]
    helpers = {path.stem for path in changed if path.parent == SUPPORT}
    return near | {test: 0 for test, names in tests.items()
                   if names & helpers or Path(test).as_posix() in zero
                   or Path(test).parent.as_posix() in zero}


def select(changed: list[Path], near: Mapping[str, int], recorded: Mapping[str, float],
           seconds: float = SECONDS) -> Selection:
    """Choose test files, the nearest first.

    Args:
        changed: files, relative to the project.
        near: concerned test file -> steps to the change.
        recorded: test -> seconds that it took; empty before the first run.
        seconds: that the tests may take.
    """
    took: dict[str, float] = defaultdict(float)
    for name, seconds in recorded.items():
        took[name.partition("::")[0]] += seconds
    # a series counts here in full, of which a tenth will run: three times the time is looked at
    room, chosen = 3 * seconds, []
    for test in sorted(near, key=lambda test: (near[test], took[test])):
        if near[test] == 0 or (room > 0 if recorded else near[test] <= CLOSE):
            chosen.append(test)
            room -= took[test]
    doctests = [path.as_posix() for path in changed if module_of(path) and (ROOT / path).is_file()]
    unread = [path.as_posix() for path in changed if not module_of(path)
              and not path.as_posix().startswith((*READERS, f"{SUPPORT}/", *near))]
    return Selection(tuple(dict.fromkeys([*doctests, *ALWAYS, *chosen])),
                     tuple(test for test in near if test not in chosen), tuple(unread))


@dataclass(frozen=True)
class Project:
    """What imports what, by module and by test file, and the seconds of tests when last run."""

    graph: grimp.ImportGraph
    tests: Mapping[str, set[str]]
    recorded: Mapping[str, float]

    @classmethod
    def now(cls) -> Project:
        """As the project stands."""
        sys.path[:0] = [str(ROOT / folder) for folder in FOLDERS]
        record = ROOT / RECORD
        return cls(grimp.build_graph(*PACKAGES, cache_dir=None), imports_of_tests(),
                   json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {})

    def near(self, changed: Iterable[Path]) -> dict[str, int]:
        """Concerned test file -> steps to the change."""
        changed = list(changed)
        modules = {module for path in changed if (module := module_of(path))}
        return nearness(changed, steps(modules, self.graph), self.tests)


def main(arguments: list[str]) -> int:
    """Choose, run pytest and say what is left out; return its exit code."""
    changed = changed_files()
    if not changed:
        print("tests: nothing differs from main")
        return 0
    project = Project.now()
    near = project.near(changed)
    selection = select(changed, near, project.recorded)
    print(f"tests: {len(changed)} changed files concern {len(near)} files of tests")
    if not project.recorded:
        print("tests: make test has not run here yet, so no times are known: only the nearest run")
    code = 0
    if "--list" in arguments:
        print("\n".join(selection.chosen))
    else:
        code = subprocess.run([sys.executable, "-m", "pytest", "-q", "--short", "--seconds",
                               str(SECONDS), *arguments, *selection.chosen],
                              cwd=ROOT, check=False).returncode
    print("left to make test-all: the pages of the book, and what is deselected above")
    for what, names in (("further away", selection.left_out),
                        ("no test is known to read", selection.unread)):
        if names:
            print(f"left to make test, {what}, {len(names)} files: {', '.join(names)}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
