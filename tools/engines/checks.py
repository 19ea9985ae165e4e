"""Find in which releases the checks are that ``params/engines/assertions/`` names.

A check is a place where the configuration of a release raises an error, with the conditions under
which it is reached. For each pinned release they are read and counted; the check that an assertion
names is looked up among them. An assertion whose check no release has is refused: something moved.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from catalogue.assertions import Assertion, assertions
from tools.engines.extract import ENGINES
from tools.engines.source import ExtractError, Fetch, find, load

CONFIGURATION = {
    "vllm": ("vllm/config/", "vllm/config.py", "vllm/engine/arg_utils.py"),
    "vllm-ascend": ("vllm_ascend/ascend_config.py", "vllm_ascend/platform.py",
                    "vllm_ascend/utils.py"),
    "sglang": ("sglang/srt/server_args.py", "sglang/srt/arg_groups/")}
"""Engine -> where its releases check what they are started with."""
_OWNER = re.compile(r"\b(?:[A-Za-z_]\w*(?:\([^()]*\))?\.)+(?=[A-Za-z_])")
RAISED = ("ValueError", "AssertionError", "NotImplementedError", "RuntimeError", "TypeError")


@dataclass(frozen=True)
class Check:
    """A place where a release refuses its configuration.

    Attributes:
        file: path in the release.
        line: of the statement.
        guards: conditions under which it is reached, the outermost first.
        fails: condition under which it refuses; of an ``assert`` the negation of what it asserts.
    """

    file: str
    line: int
    guards: tuple[str, ...]
    fails: str


def checks(path: str, text: str) -> list[Check]:
    """The checks of a file, in its order."""
    return list(block_checks(ast.parse(text).body, path, ()))


def block_checks(body: list[ast.stmt], path: str, guards: tuple[str, ...]) -> Iterator[Check]:
    """The checks of a block; what returns or raises before guards what follows."""
    for statement in body:
        match statement:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from block_checks(statement.body, path, ())
            case ast.If():
                test = ast.unparse(statement.test)
                yield from block_checks(statement.body, path, (*guards, test))
                yield from block_checks(statement.orelse, path, (*guards, f"not ({test})"))
                if isinstance(statement.body[-1], ast.Return | ast.Raise | ast.Continue):
                    guards = (*guards, f"not ({test})")
            case ast.Assert():
                yield Check(path, statement.lineno, guards,
                            f"not ({ast.unparse(statement.test)})")
            case ast.Raise(ast.Name(name) | ast.Call(ast.Name(name))) if guards and name in RAISED:
                yield Check(path, statement.lineno, guards[:-1], guards[-1])
            case ast.For() | ast.While() | ast.With():
                yield from block_checks(statement.body, path, guards)
            case ast.Try():
                for part in (statement.body, statement.orelse, statement.finalbody):
                    yield from block_checks(part, path, guards)


@functools.cache
def plainly(condition: str) -> str:
    """A condition without whose attributes its names are, as that moves from release to release.

    >>> plainly("not (self.parallel_config.tp % resolved_view(self).dp == 0)")
    'not tp % dp == 0'
    """
    return ast.unparse(ast.parse(_OWNER.sub("", condition), mode="eval"))


def location(assertion: Assertion, available: Sequence[Check], configuration: Sequence[str]
             ) -> str | None:
    """File and line of the check that an assertion names; None where a release has none."""
    wanted = set(map(plainly, assertion.checks))
    places = (assertion.file,) if assertion.file else configuration
    for check in available:
        if any(part in check.file for part in places) and plainly(check.fails) in wanted and (
                not assertion.within or plainly(assertion.within) in map(plainly, check.guards)):
            return f"{check.file}:{check.line}"
    return None


def checks_text(name: str, path: Path, cache: Path | None, get: Fetch) -> str:
    """The file of one engine: how many checks each release has, and where named ones are.

    All releases are read again where an assertion is new to the file.

    Raises ExtractError, one sentence, for a release that cannot be read, and for an assertion whose
    check stands in none.
    """
    engine, configuration = ENGINES[name], CONFIGURATION[name]
    named = [assertion for assertion in assertions(name) if assertion.checks]
    places = (*configuration, *(assertion.file for assertion in named if assertion.file))
    data = yaml.safe_load(path.read_text("utf-8")) if path.exists() else {"stands": {}}
    if data["stands"].keys() != {assertion.name for assertion in named}:
        data = {"read": {}, "stands": {assertion.name: {} for assertion in named}}
    for release in find(engine.package or name, [
            version for version in engine.releases if version not in data["read"]], get):
        files = load(release, cache, get, engine.root)
        available = [check for file in sorted(files) if any(part in file for part in places)
                     for check in checks(file, files[file])]
        data["read"][release.version] = sum(any(part in check.file for part in configuration)
                                            for check in available)
        for assertion in named:
            if line := location(assertion, available, configuration):
                data["stands"][assertion.name][release.version] = line
        print(f"{name} {release.version}: {data['read'][release.version]} checks")
    if lost := [assertion for assertion, lines in data["stands"].items() if not lines]:
        raise ExtractError(f"{name}: no release has the check of {', '.join(lost)}.")
    return (
        "# Written by python -m tools.engines checks: how many checks the configuration of a "
        "release has,\n# and where the check of an assertion stands.\n"
        + yaml.safe_dump(data, sort_keys=False, width=100))
