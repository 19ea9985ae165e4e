"""What a page is made from, as the key that is stored beside it.

The key is the hash of the code cells of the notebook, the modules of `notebooks/` that they reach
by imports, all code of the runtime, the exported formulas, the pinned dependencies, and those
parameter files, files of messages and records of long runs that the notebook read when it last ran.
A changed scenario therefore makes its own page stale and every page that read it, and nothing else.
Where nothing is recorded, all parameter files and messages are in the key.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath

from .execute import SUPPLEMENTS
from .export.statements import statements

CHAPTERS = "book/chapters"  # folder of executed notebooks
CELL = re.compile(r"(?ms)^(```\{code-cell\}[^\n]*\n(?:---\n.*?^---\n|(?::[^\n]*\n)*))(.*?)^```$")
CODE_FOLDERS = ("calc", "catalogue", "kernels", "notebooks/derive", "notebooks/show",
                "notebooks/pages")
CODE_FILES = ("notebooks/derive/formulas/formulas.json", "notebooks/derive/formulas/loops.js",
              "notebooks/show/figures.mplstyle", "requirements.txt",
              "benchmarks/results.json")  # which the chapter on the steady state tells
TAKEN = ("params", "messages")
"""Folders whose files pages read one by one."""
NOTEBOOKS = "notebooks"  # folder of the code of which a page counts what it imports
HEAD = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)  # it names the kernel
ALL = ["*"]  # recorded for a page whose files are not known: it takes every one


@dataclass(frozen=True)
class Page:
    """One page made from a notebook: its name under ``chapters/`` and its source.

    A page of a template has an ``entry`` too, the identifier of what it is about.
    """

    name: str
    source: Path
    entry: str | None = None

    @property
    def output(self) -> Path:
        """The executed notebook."""
        return self.source.parents[1] / CHAPTERS / f"{self.name}.ipynb"

    @property
    def key(self) -> Path:
        """The file that says what the executed notebook was made from."""
        return self.source.parents[1] / CHAPTERS / ".keys" / f"{self.name}.json"


def digest(*parts: bytes | str) -> str:
    """Hash the parts in order; the lengths are hashed too, so that parts do not run together."""
    result = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        result.update(b"%d:" % len(data) + data)
    return result.hexdigest()


def files_below(folder: Path, pattern: str = "*") -> list[Path]:
    """List the files below `folder` in a fixed order, without what Python caches."""
    return sorted(path for path in folder.rglob(pattern)
                  if path.is_file() and "__pycache__" not in path.parts
                  and not any(part.endswith(".egg-info") for part in path.parts))


def code_of(notebook: str) -> str:
    """The Python of the code cells of a MyST notebook."""
    return "\n".join(code for _, code in CELL.findall(notebook))


def imported(code: str, package: str = "") -> Iterator[str]:
    """Modules that Python code imports, anywhere in it; of ``from a import b`` ``a`` and ``a.b``.

    `package` is what relative imports begin from. Nothing of code that cannot be parsed: what runs
    it says so.
    """
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return
    for node in statements(tree.body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (package or not node.level):
            name = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            yield name
            yield from (f"{name}.{alias.name}" for alias in node.names)


class Inputs:
    """What the notebooks are made from, read once, before the first of them runs."""

    def __init__(self, root: Path) -> None:
        """Read the code and every parameter file and all messages of the project at `root`."""
        code = [path for folder in CODE_FOLDERS for path in files_below(root / folder)]
        code += [root / name for name in CODE_FILES if (root / name).is_file()]
        code += [Path(__file__).with_name(name) for name in ("execute.py", "workshop.py")]
        inside = root / NOTEBOOKS
        own = {path: path.read_text(encoding="utf-8") for path in code
               if path.suffix == ".py" and path.is_relative_to(inside)}
        self._code = digest(*(part for path in code if path not in own
                              for part in (path.name, path.read_bytes())))
        names = {path: ".".join(path.relative_to(root).with_suffix("").parts) for path in own}
        self._modules = {names[path].removesuffix(".__init__"): digest(text)
                         for path, text in own.items()}
        self._imports = {
            names[path].removesuffix(".__init__"): self._own(
                imported(text, names[path].rpartition(".")[0]))
            for path, text in own.items()}
        files = {path.relative_to(root).as_posix().removeprefix("params/"):
                 digest(path.read_bytes()) for folder in TAKEN
                 for path in files_below(root / folder)}
        below = defaultdict(list)
        for name in files:
            for folder in PurePosixPath(name).parents:
                below[f"{folder}/"].append(name)
        # by what a page records: a file by its hash, a folder ('links/') by its names
        self._states = files | {folder: digest(*listed) for folder, listed in below.items()}
        self._states |= dict.fromkeys(ALL, digest(*chain.from_iterable(files.items())))
        self._sources = {path: path.read_text(encoding="utf-8")
                         for path in files_below(inside, "*.md")}

    def _reached(self, code: str) -> str:
        """Hash the modules of `notebooks/` that some code imports, and what these import."""
        reached: set[str] = set()
        waiting = self._own(imported(code))
        while waiting:
            if (name := waiting.pop()) not in reached:
                reached.add(name)
                waiting += self._imports[name]
        return digest(*(part for name in sorted(reached) for part in (name, self._modules[name])))

    def _own(self, names: Iterable[str]) -> list[str]:
        """The modules of `notebooks/` among some modules and the packages that these are in."""
        inside = {name for name in names if name.partition(".")[0] == NOTEBOOKS}
        return [own for name in inside for end in range(1, name.count(".") + 2)
                if (own := ".".join(name.split(".")[:end])) in self._modules]

    def _parts(self, page: Page) -> list[str]:
        """The notebook of a page, and the cells of its own if it has any."""
        own = page.source.parent / SUPPLEMENTS / f"{page.entry}.md"
        return [self._sources[page.source], self._sources.get(own, "")]

    def key(self, page: Page, recorded: Iterable[str]) -> str:
        """Hash what the cells of `page` came from, given the parameter files that they load."""
        states = [part for entry in recorded
                  for part in (entry, self._states.get(entry, "absent"))]
        parts = self._parts(page)
        cells = ["".join(cell[0] for cell in (*HEAD.finditer(text), *CELL.finditer(text)))
                 for text in parts]
        code = self._reached("\n".join(map(code_of, parts)))
        return digest(*cells, page.entry or "", self._code, code, *states)

    def words(self, page: Page) -> str:
        """Hash the notebook of `page` as it is, prose and all."""
        return digest(*self._parts(page))
