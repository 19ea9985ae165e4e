"""A newcomer finds a thing by the names of folders: what holds the rooms of the code in order."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = ("catalogue", "calc", "notebooks", "book/_ext", "tools", "benchmarks",
            "tests/reference", "tests/laws")
ROOMS = sorted(init.parent for package in PACKAGES
               for init in (PROJECT / package).rglob("__init__.py"))
MODULES = sorted({path for package in (*PACKAGES, "tests")
                  for path in (PROJECT / package).rglob("*.py")})
MOST_MODULES = 12
MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60
WIDTH = 100


def relative(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def test_no_room_imports_what_stands_above_it_and_no_module_what_imports_it():
    """The contracts of ``pyproject.toml``."""
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([tool, "--no-cache"], cwd=PROJECT, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def purpose(room: Path) -> str:
    """The first line of what a room says of itself."""
    return (ast.get_docstring(ast.parse((room / "__init__.py").read_text("utf-8"))) or "").split(
        "\n")[0]


@pytest.mark.parametrize("room", ROOMS, ids=relative)
def test_a_room_says_in_one_line_what_belongs_in_it_and_what_does_not(room):
    line = purpose(room)
    belongs, _, excluded = line.partition("; ")
    assert belongs
    assert excluded.endswith(".")
    assert len(line) <= WIDTH


def test_the_map_for_contributors_has_every_room_with_its_line():
    guide = (PROJECT / "CONTRIBUTING.md").read_text("utf-8")
    lines = {" ".join(line.split()) for line in guide.splitlines()}
    missing = [line for room in ROOMS
               if (line := f"{room.name}/ {purpose(room)}")
               not in lines]
    assert missing == []


def test_no_folder_holds_more_modules_than_the_eye_takes_in():
    count = Counter(path.parent for path in MODULES if path.name != "__init__.py")
    assert {relative(folder): n for folder, n in count.items() if n > MOST_MODULES} == {}


def test_no_file_is_longer_than_a_reader_scrolls():
    lines = {path: path.read_text("utf-8").count("\n") for path in MODULES}
    assert {relative(path): n for path, n in lines.items() if n > MOST_LINES} == {}


def test_no_function_is_longer_than_a_screen():
    long = [f"{relative(path)}:{node.name}" for path in MODULES
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.FunctionDef) and node.end_lineno
            and node.end_lineno - node.lineno >= MOST_LINES_OF_A_FUNCTION]
    assert long == []


def test_data_and_code_stand_apart():
    assert list((PROJECT / "params").rglob("*.py")) == []
    assert [relative(path) for package in PACKAGES for path in (PROJECT / package).rglob("*.yml")
            ] == []


def test_a_room_of_tests_mirrors_a_room_of_code():
    rooms = {relative(room).replace("book/_ext", "book")
             for room in ROOMS}
    own = {"house", "laws", "support"}  # rules and laws of the whole, and what the tests share
    for folder in {path.parent for path in (PROJECT / "tests").rglob("test_*.py")}:
        name = folder.relative_to(PROJECT / "tests").as_posix()
        assert name in rooms | own, name
