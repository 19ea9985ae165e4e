"""What a release asserts about its settings together, from ``params/engines/assertions/``.

An assertion names the check in the released source that it stands for; in which releases that check
exists is found by ``python -m tools.engines checks``, which writes ``params/engines/checks/``.
Conditions are in Python's words and decided without running them; an unknown value makes a
condition neither true nor false, as in Kleene's logic: ``False and x`` is false whatever ``x`` is.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

from catalogue.engine import Both, Engine, bare, load_engine
from catalogue.entries.entry import Entry
from catalogue.library import names, parsed
from catalogue.reading import yamlfile
from catalogue.reading.files import ROOT, ParamsError
from catalogue.reading.values import SourceKey

LONGEST = 400


class Unknown:
    """A value that nobody states."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda value, listed: value in listed,
    ast.NotIn: lambda value, listed: value not in listed}
_COMPUTED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}


class Condition:
    """A condition over names: comparisons, ``and``, ``or``, ``not``, lists and whole numbers.

    ``and`` and ``or`` give truth values, not one of their operands as Python has it.

    >>> even = Condition("tp % dp == 0 or not dp")
    >>> even({"tp": 8, "dp": 2}), even({"tp": 8, "dp": UNKNOWN}), even({"tp": 8, "dp": 0})
    (True, UNKNOWN, True)

    Args:
        text: of it.

    Raises ValueError, a clause, for a text that says anything else.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > LONGEST:
            raise ValueError(f"a condition of {len(text)} signs, expected at most {LONGEST}")
        try:
            self._body = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError(f"'{text[:60]}' is no condition") from None
        for node in ast.walk(self._body):
            if not isinstance(node, _ALLOWED):
                raise ValueError(f"'{ast.unparse(node)[:60]}' is nothing that a condition may say, "
                                 "expected names, numbers, texts, comparisons, and, or, not")

    @property
    def names(self) -> frozenset[str]:
        """The names that it asks for, of a dotted one the first part."""
        return frozenset(node.id for node in ast.walk(self._body) if isinstance(node, ast.Name))

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """True, False, or UNKNOWN.

        Args:
            values: values by name; a name that is missing is unknown. Of a mapping, and of None,
                an attribute that is missing is None.
        """
        return _truth(self._body, values)


_ALLOWED = (ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.BinOp,
            ast.Name, ast.Load, ast.Attribute, ast.Constant, ast.List, ast.Tuple,
            *_COMPARED, *_COMPUTED)


def _truth(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """True, False or UNKNOWN; of two values that do not go together nothing is known."""
    try:
        return bool(_value(node, values))
    except (LookupError, AttributeError, TypeError, ZeroDivisionError):
        return UNKNOWN


def _value(node: ast.expr, settings: Mapping[str, Any]) -> Any:
    """Raises LookupError for one that is not known, and what operators raise."""
    result: Any = UNKNOWN
    match node:
        case ast.Constant(value=result):
            pass
        case ast.Name(id=name):
            result = settings.get(name, UNKNOWN)
        case ast.Attribute(value=owner, attr=name):
            of = _value(owner, settings)
            result = None if of is None else of.get(name)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            result = [_value(item, settings) for item in items]
        case ast.BoolOp(op=op, values=parts):
            truths, every = [_truth(part, settings) for part in parts], isinstance(op, ast.And)
            decided = (not every) in truths  # whatever the others are
            result = not every if decided else UNKNOWN if UNKNOWN in truths else every
        case ast.UnaryOp(op=op, operand=operand):
            act = operator.not_ if isinstance(op, ast.Not) else operator.neg
            result = act(_value(operand, settings))
        case ast.BinOp(left=left, op=op, right=right):
            result = _COMPUTED[type(op)](_value(left, settings), _value(right, settings))
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [_value(term, settings) for term in (left, *others)]
            result = all(_COMPARED[type(op)](*pair) for op, pair in zip(
                ops, pairwise(values), strict=True))
    if isinstance(result, Unknown):
        raise LookupError
    return result


Server = tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Mapping[str, Any]]]
Stated = Annotated[Condition, BeforeValidator(lambda raw: Condition(str(raw)))]


class Assertion(Entry):
    """What must hold of a release's settings.

    Attributes:
        name: of it.
        when: the case in which it is asked; None, in all.
        needs: what must hold then.
        says: one clause, in both languages: what is needed.
        checks: of the released source, the condition of refusal in the source's words, a spelling
            for each way in which releases have it; empty where ``source`` is not one that is
            parsed.
        within: of them, a case that the source asks for before; empty, any.
        file: a part of the path of the file that they stand in; empty, one of the configuration.
        source: of ``params/sources/``; None where the source is the released package.
        since, until: releases between which a source has it.
        releases: in which it holds, with the file and line of the check.

    Conditions name flags of a server, or those of a pair as ``prefill.NAME`` and ``decode.NAME``.
    """

    name: str = ""
    when: Stated | None = None
    needs: Stated
    says: Both
    checks: tuple[str, ...] = ()
    within: str = ""
    file: str = ""
    source: SourceKey | None = None
    since: str | None = None
    until: str | None = None
    releases: Mapping[str, str] = {}

    @model_validator(mode="after")
    def _sourced(self) -> Assertion:
        if bool(self.checks) == (self.source is not None):
            raise ValueError("expected either 'checks' of the released source, or a 'source'")
        return self

    def broken(self, values: Mapping[str, Any]) -> bool:
        """Whether settings are refused; where something is not known, they are not."""
        applies = True if self.when is None else self.when(values)
        return applies is True and self.needs(values) is False


def problems(engine: str, release: str, flags: Mapping[str, Any], environment: Mapping[str, Any],
             about: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What a release refuses of settings that it takes one by one; a clause for each assertion.

    >>> problems("sglang", "0.5.9", {"--tp-size": 8, "--dp-size": 3,
    ...                              "--enable-dp-attention": True}, {}, {})
    ['--tp-size is a multiple of --dp-size']

    Args:
        engine: of ``params/engines/``.
        release: pinned, of it.
        flags: values by name; None or True for a switch.
        environment: variables of the server.
        about: what else is known: ``model`` by shapes, ``card`` and ``weights``.

    Raises ParamsError for an engine or a release that has no catalogue.
    """
    settings = _settings(load_engine(engine), release, flags, environment, about)
    return _broken(engine, release, settings)


def pair_problems(engine: str, release: str, servers: Mapping[str, Server]) -> list[str]:
    """What a release refuses of a prefill and a decode server together, as :func:`problems`.

    >>> both = {name: ({"--page-size": page}, {}, {}) for name, page in (
    ...     ("prefill", 64), ("decode", 1))}
    >>> pair_problems("sglang", "0.5.23", both)
    ['both pools have one --page-size']

    Args:
        engine: of ``params/engines/``.
        release: pinned, of it.
        servers: ``prefill`` and ``decode``, each by its flags, environment and what else is known.
    """
    return _broken(engine, release, {name: _settings(load_engine(engine), release, *server)
                                     for name, server in servers.items()})


def _broken(engine: str, release: str, values: Mapping[str, Any]) -> list[str]:
    version = load_engine(engine).release(release).version
    return [assertion.says["en"] for assertion in assertions(engine)
            if version in assertion.releases and assertion.broken(values)]


def _settings(catalogue: Engine, release: str, flags: Mapping[str, Any],
           environment: Mapping[str, Any], about: Mapping[str, Mapping[str, Any]]
           ) -> dict[str, Any]:
    """Values by the names that conditions use: as given, else as they are by default."""
    version = catalogue.release(release).version
    defaults, variables = default_settings(catalogue.name, version)
    given = dict(defaults)
    for name, value in flags.items():
        entry = catalogue.find(name)
        names = entry.names(version) if entry else ()
        given |= dict.fromkeys(map(bare, (name, *names)),
                               True if value is None else _plain(value))
    return given | dict(about) | {"env": variables | {
        name: _plain(value) for name, value in environment.items()}}


@functools.cache
def default_settings(engine: str, version: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Default flags and environment variables of a release, by the names that conditions use."""
    entries, flags = load_engine(engine).entries, dict[str, Any]()
    for entry in entries.get("arguments", {}).values():
        state, names = entry.at(version), entry.names(version) or (entry.name,)
        default = None if state is None else UNKNOWN if state.dynamic else _plain(state.default)
        flags |= dict.fromkeys(map(bare, names), default)
    return flags, {name: _plain(state.default) for name, entry in entries.get(
        "variables", {}).items() if (state := entry.at(version)) is not None and not state.dynamic}


def _plain(value: Any) -> Any:
    """A value as the source compares it: numbers as numbers, switches as truth values."""
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        return value


def assertions(engine: str) -> tuple[Assertion, ...]:
    """What the releases of an engine assert; nothing where none is known.

    Raises ParamsError, one sentence with file and line, for a file that is not such a table.
    """
    path = ROOT / "engines" / "assertions" / f"{engine}.yml"

    def read() -> tuple[Assertion, ...]:
        file, versions = yamlfile.read(path), load_engine(engine).versions
        result = []
        for name in file.data:
            assertion = parsed(Assertion, file, name)
            releases = assertion_coverage(engine)["stands"].get(name, {})
            if assertion.source:
                try:
                    first, last = map(versions.index, (assertion.since or versions[0],
                                                       assertion.until or versions[-1]))
                except ValueError:
                    raise ParamsError(f"{file.where((name,))}: '{name[:60]}': a release is not "
                                      f"pinned, expected one of {', '.join(versions)}.") from None
                releases = dict.fromkeys(versions[first:last + 1], assertion.source)
            result.append(assertion.model_copy(update={"name": name, "releases": releases}))
        return tuple(result)

    return yamlfile.remembered("assertions", path, read) if engine in asserting() else ()


def asserting() -> tuple[str, ...]:
    """Engines whose assertions are held."""
    return tuple(names("engines/assertions"))


@functools.cache
def assertion_coverage(engine: str) -> dict[str, Any]:
    """What ``python -m tools.engines checks`` found of an engine.

    ``read``: release -> number of checks of its configuration; ``stands``: assertion -> release ->
    file and line of its check.
    """
    path = ROOT / "engines" / "checks" / f"{engine}.yml"
    return yamlfile.read(path).data if path.is_file() else {"read": {}, "stands": {}}


def unread(engine: str) -> tuple[str, ...]:
    """Pinned releases of an engine of whose checks ``assertion_coverage`` tells nothing."""
    read = assertion_coverage(engine)["read"]
    return tuple(release for release in load_engine(engine).versions if release not in read)
