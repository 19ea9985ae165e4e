"""Words stand in ``messages/``, in both languages, and every one of them is said."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from fluent.syntax import FluentParser, FluentSerializer
from fluent.syntax import ast as ftl

from benchmarks.size import chinese_strings
from catalogue.messages import LANGUAGES

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = PROJECT / "messages"
FILES = sorted(path.relative_to(FOLDER).with_suffix("").as_posix()
               for path in FOLDER.rglob("*.ftl"))
COMMON = "common"  # pairs that several modules say
IN_PYTHON = 36  # strings with Chinese in code, names among them: only ever fewer
AT_REST = 100
NUMBER = re.compile(r"(?<![\w.,$^_{}×/+–-])\d[\d.,]*(?:%|(?![\w^_×/+-]| bits?\b| 比特| 位))")
MATH_AND_CODE = re.compile(r"\$[^$]*\$|`[^`]*`")


class Said(NamedTuple):
    """A call that asks for a message: where it stands, of which file, with which values."""

    where: str
    file: str
    key: str | None
    values: frozenset[str | None]


@cache
def modules() -> tuple[tuple[Path, ast.Module], ...]:
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.py"],
                           cwd=PROJECT, capture_output=True, text=True, check=True).stdout.split()
    return tuple((Path(name), ast.parse((PROJECT / name).read_text("utf-8"))) for name in names
                 if not name.startswith("tests/") and (PROJECT / name).exists())


def bound(tree: ast.Module) -> dict[str, str]:
    """Names of a module that say messages, and of which file."""
    return {ast.unparse(node.targets[0]): str(node.value.args[0].value) for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) == "messages"
            and isinstance(node.value.args[0], ast.Constant)}


@cache
def calls() -> tuple[Said, ...]:
    def of(path: Path, tree: ast.Module) -> Iterator[Said]:
        files = bound(tree)
        for node in ast.walk(tree) if files else ():
            if isinstance(node, ast.Call) and (name := ast.unparse(node.func)) in files:
                key = node.args[0].value if len(node.args) == 1 and isinstance(
                    node.args[0], ast.Constant) else None
                yield Said(f"{path}:{node.lineno}", files[name], key,
                           frozenset(each.arg for each in node.keywords))
    return tuple(said for path, tree in modules() for said in of(path, tree))


@cache
def entries(name: str) -> dict[str, ftl.Message]:
    resource = FluentParser().parse((FOLDER / f"{name}.ftl").read_text("utf-8"))
    assert not [entry.content for entry in resource.body if isinstance(entry, ftl.Junk)], name
    return {entry.id.name: entry for entry in resource.body if isinstance(entry, ftl.Message)}


def below(node: ftl.BaseNode) -> Iterator[ftl.BaseNode]:
    yield node
    for value in vars(node).values():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ftl.BaseNode):
                yield from below(each)


def variables(node: ftl.BaseNode) -> set[str]:
    return {each.id.name for each in below(node) if isinstance(each, ftl.VariableReference)}


def selected_by(node: ftl.BaseNode) -> set[str]:
    """Variables that choose between words: what one language tells apart another need not."""
    return {name for each in below(node) if isinstance(each, ftl.SelectExpression)
            for name in variables(each.selector)}


def typed(node: ftl.BaseNode) -> str:
    return "".join(each.value for each in below(node) if isinstance(each, ftl.TextElement))


def written(entry: ftl.Message) -> tuple[str, ...]:
    writer = FluentSerializer()
    return tuple(writer.serialize_entry(ftl.Message(ftl.Identifier("x"), each.value))
                 for each in entry.attributes)


def notes(entry: ftl.Message, beginning: str) -> list[str]:
    lines = ((entry.comment.content or "") if entry.comment else "").splitlines()
    return [line.removeprefix(beginning).strip() for line in lines if line.startswith(beginning)]


@pytest.mark.parametrize("name", FILES)
def test_a_message_says_the_same_in_both_languages(name):
    """Each has the variables of the other; what is meant to differ says so in a comment."""
    wrong = []
    for key, entry in entries(name).items():
        assert tuple(each.id.name for each in entry.attributes) == LANGUAGES, key
        en, zh = (variables(each.value) - selected_by(each.value) for each in entry.attributes)
        both = [variables(each.value) for each in entry.attributes]
        meant = {word.lstrip("$") for language in LANGUAGES
                 for word in notes(entry, f"only in .{language}:")}
        if odd := ((en - both[1]) | (zh - both[0])) - meant:
            wrong.append((key, sorted(odd)))
    assert wrong == []


@pytest.mark.parametrize("name", FILES)
def test_no_number_is_typed_into_words(name):
    """It is handed over; one that belongs to a name has a comment that begins with ``number:``."""
    assert [(key, found) for key, entry in entries(name).items() if not any(notes(entry, "number:"))
            for each in entry.attributes
            if (found := NUMBER.findall(MATH_AND_CODE.sub("", typed(each.value))))] == []


def test_every_message_is_asked_for_by_a_key_that_is_written_out():
    assert [said.where for said in calls() if said.key is None or None in said.values] == []


def test_no_message_is_missing_and_each_is_given_what_it_takes():
    wrong = []
    for said in calls():
        entry = entries(said.file).get(said.key) if said.file in FILES else None
        if entry is None:
            wrong.append(f"{said.where}: messages/{said.file}.ftl has no '{said.key}'")
        elif variables(entry) != said.values:
            wrong.append(f"{said.where}: '{said.key}' takes {sorted(variables(entry))}")
    assert wrong == []


def test_no_message_is_left_unsaid():
    asked = {(said.file, said.key) for said in calls()}
    waiting = {COMMON} if chinese_in_python() > AT_REST else set()  # for modules yet to come
    assert [f"{name}: {key}" for name in FILES if name not in waiting for key in entries(name)
            if (name, key) not in asked] == []


def test_words_of_several_modules_stand_in_one_place():
    seen: dict[tuple[str, ...], str] = {}
    twice = []
    for name in FILES:
        for key, entry in entries(name).items():
            if written(entry) in seen:
                twice.append(f"{name}: {key} is {seen[written(entry)]}")
            seen[written(entry)] = f"{name}: {key}"
    assert twice == []


def test_a_module_says_the_words_of_its_own_file():
    for path, tree in modules():
        own = path.with_suffix("").as_posix().removeprefix("notebooks/").replace("_", "-")
        assert set(bound(tree).values()) <= {own, COMMON}, path


@cache
def chinese_in_python() -> int:
    return chinese_strings(tree for _, tree in modules())


def test_words_leave_the_code():
    assert chinese_in_python() <= IN_PYTHON
