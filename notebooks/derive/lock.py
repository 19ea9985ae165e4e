"""``python -m notebooks.derive.lock``: derive every formula again and rewrite ``formulas.json``."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import jupytext
import nbclient

from notebooks.derive.formulas.derivation import LOCK
from notebooks.derive.formulas.exported import FORMULAS, load_formulas, save_formulas

NOTEBOOKS = Path(__file__).resolve().parents[1]
_COLOURS, _MARKED = re.compile(r"\x1b\[[0-9;]*m"), re.compile(r"^-+> *\d+ (.*)$", re.MULTILINE)
_DERIVES = re.compile(r"""\bDerivation\(["'](\w+)["']\)""")


def derivations(folder: Path = NOTEBOOKS) -> list[Path]:
    """The notebooks that export formulas, in the order in which they build on each other."""
    notebooks = [path for path in folder.glob("*.md") if _DERIVES.search(path.read_text("utf-8"))]
    return sorted(notebooks, key=lambda path: (path.stem != "architecture", path.stem))


def execute(path: Path) -> None:
    """Run a text notebook. Raises nbclient.exceptions.CellExecutionError if a cell fails."""
    notebook = jupytext.read(path)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3",
                            resources={"metadata": {"path": str(path.parent)}}).execute()


def _failing(traceback: str) -> str:
    """The line of the cell at which it stopped, which an assertion alone does not tell."""
    marked = _MARKED.search(_COLOURS.sub("", traceback))
    return f" in the line '{marked[1].strip()}'" if marked else ""


def main() -> int:
    """Rewrite the lock file; 1 and the reason if a derivation fails."""
    os.environ[LOCK] = "write"
    paths = derivations()
    for path in paths:
        print(f"deriving {path.stem}", flush=True)
        try:
            execute(path)
        except nbclient.exceptions.CellExecutionError as error:
            print(f"{path.name}: {error.ename}: {error.evalue}{_failing(error.traceback)}",
                  file=sys.stderr)
            return 1
    stems = {path.stem for path in paths}
    formulas = load_formulas()
    save_formulas(f for f in formulas.values() if f.notebook in stems)
    print(f"{len(load_formulas())} formulas in {FORMULAS.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
