"""Formulas as JavaScript: the trees of the lock file as functions of plain numbers, for a browser.

What a browser computes is generated, never written a second time. It works in double precision, so
the form counts where a formula steps: a negative power is a division and a fraction a numerator
over a denominator, since ``7 * x / 100`` is whole wherever it should be and ``0.07 * x`` is not; a
logarithm over that of two is ``Math.log2``, which is exact at powers of two; a sum or maximum over
an index is a loop. What stands several times in a formula is computed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from notebooks.derive.formulas.exported import DerivationError

Node = Any  # a number, a name, or (operator, argument, ...): hashable, divisions made plain
Slot = Callable[[str], str]

_MANY = {"min": "Math.min", "max": "Math.max"}
_UNARY = {"ceil": "Math.ceil", "floor": "Math.floor", "log": "Math.log", "exp": "Math.exp",
          "log2": "Math.log2"}
_OVER = {"max_over": "maxOver", "min_over": "minOver", "sum_over": "sumOver"}
_COMPARE = {"eq": "===", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_LOG_OF_TWO = ("log", 2)
HELPERS = """\
const maxOver = (count, body) => {
  let found = -Infinity;
  for (let index = 0; index < count; index += 1) found = Math.max(found, body(index));
  return found;
};
const minOver = (count, body) => -maxOver(count, (index) => -body(index));
const sumOver = (count, body) => {
  let found = 0;
  for (let index = 0; index < count; index += 1) found += body(index);
  return found;
};"""


def plain(tree: Any) -> Node:
    """A tree with its divisions made plain: ``("ratio", factors above, factors below)``.

    >>> plain(["multiply", ["rational", 7, 100], "a", ["power", "b", -1]])
    ('ratio', (7, 'a'), (100, 'b'))

    Raises DerivationError for an operator that is not one.
    """
    if not isinstance(tree, list):
        return tree
    operator, *args = tree
    if operator == "piecewise":
        *branches, default = args
        return ("piecewise", *((compared[0], plain(compared[1]), plain(compared[2]), plain(value))
                               for compared, value in branches), plain(default))
    if operator in _OVER:
        return operator, args[0], plain(args[1]), plain(args[2])
    if operator in ("multiply", "divide", "rational", "power"):
        return _ratio(tree)
    if operator == "subtract":
        first, second = map(plain, args)
        return "add", first, ("ratio", (-1, second), ())
    if operator not in {"add", *_MANY, *_UNARY}:
        raise DerivationError(f"'{operator}' is not an operator of formulas.")
    return operator, *map(plain, args)


def _ratio(tree: Any) -> Node:
    above: list[Node] = []
    below: list[Node] = []
    _gather(tree, above, below)
    while _LOG_OF_TWO in below:
        logarithm = next((part for part in above if isinstance(part, tuple) and part[0] == "log"),
                         None)
        if logarithm is None:
            break
        below.remove(_LOG_OF_TWO)
        above[above.index(logarithm)] = "log2", logarithm[1]
    return above[0] if len(above) == 1 and not below else ("ratio", tuple(above), tuple(below))


def _gather(tree: Any, above: list[Node], below: list[Node]) -> None:
    """Factors of a product, above and below the line."""
    operator, *args = tree if isinstance(tree, list) else ("", tree)
    if operator == "multiply":
        for arg in args:
            _gather(arg, above, below)
    elif operator in ("divide", "rational"):
        _gather(args[0], above, below)
        _gather(args[1], below, above)
    elif operator == "power" and isinstance(args[1], int):
        base, exponent = plain(args[0]), args[1]
        side = above if exponent > 0 else below
        side += [base] * abs(exponent) if abs(exponent) <= 2 else [("power", base, abs(exponent))]
    elif operator == "power":
        above.append(("power", plain(args[0]), plain(args[1])))
    else:
        above.append(plain(tree))


def _inside(node: Node) -> Iterable[Node]:
    """The nodes right below a node."""
    if not isinstance(node, tuple):
        return ()
    operator, *args = node
    if operator == "ratio":
        return (*args[0], *args[1])
    if operator == "piecewise":
        *branches, default = args
        return (*(part for branch in branches for part in branch[1:]), default)
    return args[1:] if operator in _OVER else args


class _Block:
    """One body of a function: what is computed first, and the names that this has.

    Args:
        slot: where the value of a symbol is found, as JavaScript.
        around: the body that this one stands in, for the body of a loop.
        index: name that the loop runs over.
    """

    def __init__(self, slot: Slot, around: _Block | None = None, index: str = "") -> None:
        self.slot, self.around, self.index = slot, around, index
        self.lines: list[str] = []
        self.known: dict[Node, str] = {}
        self.often: Counter[Node] = Counter()
        self.depth: int = around.depth + 1 if around else 0

    def count(self, node: Node) -> None:
        """Count how often each node stands here."""
        if not isinstance(node, tuple):
            return
        self.often[node] += 1
        if self.often[node] == 1:
            for part in _inside(node):
                self.count(part)

    def holder(self, node: Node) -> _Block:
        """The body that a node is computed in: outside of a loop that it does not depend on."""
        if self.around is None or _has(node, self.index):
            return self
        return self.around.holder(node)

    def write(self, node: Node) -> str:
        """JavaScript of a node, in parentheses where it needs them."""
        if isinstance(node, (int, float)):
            return f"({node})" if node < 0 else str(node)
        if isinstance(node, str):
            block: _Block | None = self
            while block is not None and block.index != node:
                block = block.around
            return f"i{block.depth}" if block is not None else self.slot(node)
        block = self.holder(node)
        if node in block.known:
            return block.known[node]
        text = block.form(node)
        if self.often[node] < 2 and block.often[node] < 2 and block is self:
            return text
        name = block.known[node] = f"{'abcdefg'[block.depth]}{len(block.lines)}"
        block.lines.append(f"const {name} = {text};")
        return name

    def form(self, node: Node) -> str:
        """JavaScript of a node by its operator."""
        operator, *args = node
        if operator == "ratio":
            return self.ratio(*args)
        if operator == "add":
            return f"({' + '.join(map(self.write, args))})"
        if operator == "power":
            return f"Math.pow({self.write(args[0])}, {self.write(args[1])})"
        if operator == "piecewise":
            *branches, default = args
            text = self.write(default)
            for how, left, right, value in reversed(branches):
                text = (f"({self.write(left)} {_COMPARE[how]} {self.write(right)} ? "
                        f"{self.write(value)} : {text})")
            return text
        if operator in _OVER:
            inner = _Block(self.slot, self, args[0])
            inner.count(args[2])
            result = inner.write(args[2])
            body = "".join(f"{line} " for line in inner.lines)
            return (f"{_OVER[operator]}({self.write(args[1])}, (i{inner.depth}) => "
                    f"{{ {body}return {result}; }})")
        name = _MANY.get(operator) or _UNARY[operator]
        return f"{name}({', '.join(map(self.write, args))})"

    def ratio(self, above: tuple[Node, ...], below: tuple[Node, ...]) -> str:
        """A product over a product; factors of -1 are a sign."""
        rest = [part for part in above if part != -1]
        sign = "-" if (len(above) - len(rest)) % 2 else ""
        top = " * ".join(map(self.write, rest)) or "1"
        bottom = " * ".join(map(self.write, below))
        if len(below) > 1:
            bottom = f"({bottom})"
        text = f"{top} / {bottom}" if below else top
        return f"({sign}{text})" if sign or below or len(rest) > 1 else f"({text})"


def _has(node: Node, name: str) -> bool:
    """Whether a name stands in a node."""
    return node == name or any(_has(part, name) for part in _inside(node))


def function(tree: Any, slot: Slot) -> str:
    """A tree as a JavaScript function of ``v``.

    >>> function(["ceil", ["multiply", ["rational", 7, 100], "tokens"]], "v.{}".format)
    '(v) => Math.ceil((7 * v.tokens / 100))'

    Args:
        tree: of the operators of ``catalogue.entries.trees``.
        slot: where the value of a symbol is found, as JavaScript.
    """
    node = plain(tree)
    block = _Block(slot)
    block.count(node)
    result = block.write(node)
    if not block.lines:
        return f"(v) => {result}"
    return "(v) => {{ {} return {}; }}".format(" ".join(block.lines), result)


def needed(trees: Mapping[str, Any], wanted: Iterable[str],
           needs: Callable[[Any], Iterable[str]]) -> list[str]:
    """Those of the formulas that some quantities take, each after those that it uses.

    Args:
        trees: formulas by name.
        wanted: quantities.
        needs: symbols of a tree.
    """
    done: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in trees and name not in done:
            for other in sorted(needs(trees[name])):
                visit(other)
            done[name] = None

    for name in wanted:
        visit(name)
    return list(done)
