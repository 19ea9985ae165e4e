"""Where a file can be changed for the worse, and the text of it with one such change.

Changes are those of Cosmic Ray (https://cosmic-ray.readthedocs.io), of which the ones are left out
that any run would notice (a shift of floats, ``is`` for ``==``) or none can (a cache taken away),
and two neighbouring arguments that change places. What differs in annotations or documentation
alone is no change.
"""

from __future__ import annotations

import ast
import itertools
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

ARITHMETIC = "Add|Sub|Mul|Div|FloorDiv|Mod|Pow"
ORDER = "Eq|NotEq|Lt|LtE|Gt|GtE"
KINDS = {  # name of an operator -> what is said of its changes
    rf"ReplaceBinaryOperator_({ARITHMETIC})_({ARITHMETIC})": "arithmetic",
    r"ReplaceBinaryOperator_(BitOr_BitAnd|BitAnd_BitOr)": "logic",
    rf"ReplaceComparisonOperator_({ORDER})_({ORDER})": "comparison",
    r"ReplaceComparisonOperator_(Is_IsNot|IsNot_Is)": "comparison",
    r"ReplaceUnaryOperator_(USub_UAdd|Delete_USub|Delete_Not|Delete_Invert)": "sign",
    r"AddNot|Replace(And|Or)With(And|Or)|Replace(True|False)With(True|False)": "logic",
    r"Replace(Break|Continue)With(Break|Continue)|ZeroIterationForLoop": "loop",
    r"ExceptionReplacer": "exception",
    r"NumberReplacer": "number",
}
SWAPPED = "arguments"
EITHER_WAY = re.compile(r"\b(max|min|maximum|minimum|hypot|gcd|lcm|isclose|allclose|array_equal)$")
PLUGIN = "core/"


class SwapArguments(Operator):
    """Two neighbouring arguments without names change places."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Positions of the second of each pair of arguments that differ."""
        for _, later in self._pairs(node):
            yield later.start_pos, later.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """The list of arguments with a pair in the other order."""
        one, other = list(self._pairs(node))[index]
        first, second = node.children.index(one), node.children.index(other)
        node.children[first], node.children[second] = other, one
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        """None beside the tests."""
        return ()

    @staticmethod
    def _pairs(node: Any) -> Iterator[tuple[Any, Any]]:
        if node.type != "arglist" or EITHER_WAY.search(
                node.parent.parent.get_code().partition("(")[0]):
            return
        given = [each for each in node.children if each.type != "operator"]
        for one, other in itertools.pairwise(given):
            if "argument" not in (one.type, other.type) and (
                    one.get_code().strip() != other.get_code().strip()):
                yield one, other


@dataclass(frozen=True)
class Mutant:
    """A file with one change: path, line, kind of change, and that line before and after."""

    path: str
    line: int
    kind: str
    before: str
    after: str
    text: str


@cache
def _operators() -> tuple[tuple[str, Any], ...]:
    """Kind and operator of every change that is tried."""
    found = [(kind, get_operator(name)()) for name in sorted(operator_names())
             for pattern, kind in KINDS.items()
             if re.fullmatch(f"{PLUGIN}({pattern})", name)]
    return *found, (SWAPPED, SwapArguments())


def meaning(text: str) -> str:
    """What a file does, without annotations, documentation, and what only refuses to be changed.

    >>> meaning("def f(a: int | None) -> int:\\n    'Say.'\\n    return a") == meaning(
    ...     "def f(a):\\n    return a")
    True
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant("")
        if isinstance(node, ast.keyword) and node.arg == "frozen":
            node.value = ast.Constant(value=True)
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and isinstance(
                body[0].value, ast.Constant):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.dump(tree)


def places(text: str) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Line and column -> operators that can change what begins there, each with its occurrence."""
    found: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    counts: Counter[int] = Counter()
    for node in ast_nodes(get_ast(text)):
        for which, (_, operator) in enumerate(_operators()):
            for begin, _ in operator.mutation_positions(node):
                found[begin].append((which, counts[which]))
                counts[which] += 1
    return found


def mutant(path: str, text: str, line: int, which: int, occurrence: int) -> Mutant | None:
    """The file with one change; None if it does the same as before, or is no Python."""
    kind, operator = _operators()[which]
    changed = mutate_code(text, operator, occurrence)
    try:
        if not changed or meaning(changed) == meaning(text):
            return None
    except SyntaxError:
        return None
    before, after = text.splitlines(), changed.splitlines()
    return Mutant(path, line, kind, before[line - 1].strip(), after[line - 1].strip(), changed)


def sample(root: Path, files: Iterable[Path], count: int, seed: int) -> list[Mutant]:
    """So many mutants, at places that are drawn evenly, one of those possible at each."""
    draw, texts = random.Random(seed), {}
    every = []
    for path in sorted(files):
        name = path.relative_to(root).as_posix()
        texts[name] = path.read_text(encoding="utf-8")
        every += [(name, *begin, tuple(ways))
                  for begin, ways in sorted(places(texts[name]).items())]
    draw.shuffle(every)
    found: list[Mutant] = []
    for name, line, _, ways in every:
        if len(found) == count:
            break
        for which, occurrence in draw.sample(ways, len(ways)):
            if made := mutant(name, texts[name], line, which, occurrence):
                found.append(made)
                break
    return found


def placed(root: Path, told: Mapping[str, Any]) -> Mutant | None:
    """A mutant that is written down, where its line stands by now; None if it is gone.

    Of several such lines it is the nearest to where the line stood.
    """
    path = root / told["path"]
    lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
    places = [at for at, line in enumerate(lines) if line.strip() == told["before"]]
    if not places:
        return None
    at = min(places, key=lambda place: abs(place + 1 - told["line"]))
    lines[at] = lines[at].replace(told["before"], told["after"])
    return Mutant(told["path"], at + 1, told["kind"], told["before"], told["after"],
                  "\n".join(lines))
