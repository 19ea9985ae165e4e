"""Messages in ``messages/``: both languages, every one used, and given what it takes.

The engine has its English in the code and only the Chinese in its files.
"""

import ast
import re
from functools import cache
from typing import NamedTuple

from fluent.syntax import FluentParser
from fluent.syntax import ast as ftl

from catalogue.messages import LANGUAGES
from tests.house.trees import PROJECT, nodes, trees

FOLDER = PROJECT / "messages"
FILES = sorted(path.relative_to(FOLDER).with_suffix("").as_posix()
               for path in FOLDER.rglob("*.ftl"))
COMMON = "common"  # pairs that several modules say
ENGINE, COMMANDS = ("calc/", "catalogue/"), "calc/commands/"
NUMBER = re.compile(r"(?<![\w.,$^_{}×/+–-])\d[\d.,]*(?:%|(?![\w^_×/+-]| bits?\b| 比特| 位))")
MATH_AND_CODE = re.compile(r"\$[^$]*\$|`[^`]*`")


class Call(NamedTuple):
    """A call that asks for a message: where, of which file, in which languages of it, with which
    values."""

    where: str
    file: str
    languages: tuple[str, ...]
    key: str | None
    values: frozenset[str | None]


def bound(tree):
    """Names of a module that say messages: of which file, and in which languages of it."""
    languages = {"messages": LANGUAGES, "sentences": LANGUAGES[1:]}
    return {ast.unparse(node.targets[0]): (str(node.value.args[0].value), languages[kind])
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            and (kind := ast.unparse(node.value.func)) in languages
            and isinstance(node.value.args[0], ast.Constant)}


@cache
def calls():
    found = []
    for path, tree in trees().items():
        files = bound(tree)
        for node in nodes(path) if files else ():
            if isinstance(node, ast.Call) and (name := getattr(node.func, "id", None)) in files:
                file, languages = files[name]
                written = (len(node.args) == 1 + (languages != LANGUAGES)
                           and isinstance(node.args[0], ast.Constant))
                found.append(Call(f"{path}:{node.lineno}", file, languages,
                                  node.args[0].value if written else None,
                                  frozenset(each.arg for each in node.keywords)))
    return tuple(found)


@cache
def entries(name):
    resource = FluentParser().parse((FOLDER / f"{name}.ftl").read_text("utf-8"))
    assert not [entry.content for entry in resource.body if isinstance(entry, ftl.Junk)], name
    return {entry.id.name: entry for entry in resource.body if isinstance(entry, ftl.Message)}


def every_entry():
    for name in FILES:
        for key, entry in entries(name).items():
            yield f"{name}: {key}", entry


def below(node):
    yield node
    for value in vars(node).values():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ftl.BaseNode):
                yield from below(each)


def variables(node):
    return {each.id.name for each in below(node) if isinstance(each, ftl.VariableReference)}


def selectors(node):
    """Variables that choose between words: what one language tells apart another need not."""
    return {name for each in below(node) if isinstance(each, ftl.SelectExpression)
            for name in variables(each.selector)}


def notes(entry, beginning):
    lines = ((entry.comment.content or "") if entry.comment else "").splitlines()
    return [line.removeprefix(beginning).strip() for line in lines if line.startswith(beginning)]


def languages_of(name):
    return LANGUAGES[name.startswith(ENGINE) and not name.startswith(COMMANDS):]


def test_every_message_has_its_languages():
    assert [name for name, entry in every_entry() if tuple(
        each.id.name for each in entry.attributes) != languages_of(name)] == []


def test_both_languages_have_the_same_variables():
    """What is meant to differ says so in a comment."""
    wrong = []
    for name, entry in every_entry():
        if languages_of(name) != LANGUAGES:
            continue
        (en, zh), (en_words, zh_words) = (
            [found(each.value) for each in entry.attributes] for found in (variables, selectors))
        meant = {word.lstrip("$") for language in LANGUAGES
                 for word in notes(entry, f"only in .{language}:")}
        if odd := ((en - en_words - zh) | (zh - zh_words - en)) - meant:
            wrong.append((name, sorted(odd)))
    assert wrong == []


def test_numbers_are_handed_over():
    """One that belongs to a name has a comment that begins with ``number:``."""
    assert [(name, found) for name, entry in every_entry() if not any(notes(entry, "number:"))
            for each in entry.attributes if (found := NUMBER.findall(MATH_AND_CODE.sub("", "".join(
                part.value for part in below(each.value) if isinstance(part, ftl.TextElement)))))
            ] == []


def test_every_call_has_a_message_with_its_variables():
    wrong = []
    for call in calls():
        entry = entries(call.file).get(call.key) if call.file in FILES else None
        needed = entry and set().union(*(variables(each.value) for each in entry.attributes
                                         if each.id.name in call.languages))
        if call.key is None or entry is None or needed != call.values:
            wrong.append((call.where, call.key, needed and sorted(needed)))
    assert wrong == []


def test_every_message_is_used_by_the_module_of_its_file():
    asked = {f"{call.file}: {call.key}" for call in calls()}
    assert [name for name, _ in every_entry() if name not in asked] == []
    for path, tree in trees().items():
        own = path.removesuffix(".py").removeprefix("notebooks/").replace("_", "-")
        assert {file for file, _ in bound(tree).values()} <= {own, COMMON}, path
