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
FILES = {language: sorted(path.relative_to(FOLDER / language).with_suffix("").as_posix()
                          for path in (FOLDER / language).rglob("*.ftl"))
         for language in LANGUAGES}
COMMON = "common"  # pairs that several modules say
ENGINE = ("calc/", "catalogue/")  # their English is in the code
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
def entries(name, language):
    text = (FOLDER / language / f"{name}.ftl").read_text("utf-8")
    resource = FluentParser().parse(text)
    assert not [entry.content for entry in resource.body if isinstance(entry, ftl.Junk)], name
    return {entry.id.name: entry for entry in resource.body if isinstance(entry, ftl.Message)}


def every_entry():
    for language, names in FILES.items():
        for name in names:
            for key, entry in entries(name, language).items():
                yield f"{language}/{name}: {key}", entry


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


def test_every_message_has_its_languages():
    assert set(FILES["en"]) == {name for name in FILES["zh"] if not name.startswith(ENGINE)}
    for name in FILES["en"]:  # in the same order
        english = entries(name, "en")
        assert [*english] == [key for key in entries(name, "zh") if key in english], name


def test_both_languages_have_the_same_variables():
    for name in FILES["en"]:
        for key in entries(name, "en"):
            en, zh = (entries(name, language)[key].value for language in LANGUAGES)
            assert not variables(en) - selectors(en) - variables(zh), (name, key)
            assert not variables(zh) - selectors(zh) - variables(en), (name, key)


def test_numbers_are_handed_over():
    """One that belongs to a name has a comment that begins with ``number:``."""
    assert [(name, numbers) for name, entry in every_entry()
            if not entry.comment or not entry.comment.content.startswith("number:")
            if (numbers := NUMBER.findall(MATH_AND_CODE.sub("", "".join(
                part.value for part in below(entry.value)
                if isinstance(part, ftl.TextElement)))))] == []


def test_every_call_has_a_message_with_its_variables():
    wrong = []
    for call in calls():
        asked = [entries(call.file, language).get(call.key) for language in call.languages
                 if call.file in FILES[language]] or [None]
        needed = None not in asked and set().union(*(variables(entry.value) for entry in asked))
        if needed != call.values:
            wrong.append((call.where, call.key, needed))
    assert wrong == []


def test_every_message_is_used_by_the_module_of_its_file():
    asked = {f"{language}/{call.file}: {call.key}"
             for call in calls() for language in call.languages}
    assert [name for name, _ in every_entry() if name not in asked] == []
    for path, tree in trees().items():
        own = path.removesuffix(".py").removeprefix("notebooks/").replace("_", "-")
        assert {file for file, _ in bound(tree).values()} <= {own, COMMON}, path
