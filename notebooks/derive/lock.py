"""``python -m notebooks.derive.lock``: derive every formula again and rewrite ``formulas.json``."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import jupytext
import nbclient

from notebooks.derive.formulas.derivation import LOCK
from notebooks.derive.formulas.exported import FORMULAS, load_formulas, save_formulas

NOTEBOOKS = Path(__file__).resolve().parents[1]
_DERIVES = re.compile(r"""\bDerivation\(["'](\w+)["']\)""")


def derivations(folder: Path = NOTEBOOKS) -> list[Path]:
    """The notebooks that export formulas, in the order in which they build on each other."""
    notebooks = [path for path in folder.glob("*.md") if _DERIVES.search(path.read_text("utf-8"))]
    return sorted(notebooks, key=lambda path: (path.stem != "architecture", path.stem))


def execute(path: Path) -> None:
    """Run a text notebook.

    Raises nbclient.exceptions.CellExecutionError if a cell fails, with a note of where.
    """
    notebook = jupytext.read(path)
    client = nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3",
                                     resources={"metadata": {"path": str(path.parent)}})
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        error.add_note(_place(path, notebook.cells))
        raise


def _place(path: Path, cells: list[Any]) -> str:
    """File, cell and line of what failed: ``latency.md, cell 14, line 318``."""
    number, cell, output = next(
        (number, cell, output) for number, cell in enumerate(cells, 1)
        for output in cell.get("outputs", ()) if output.output_type == "error")
    trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output.traceback))
    inside = re.search(r"^Cell In\[\d+\], line (\d+)", trace, re.MULTILINE)
    before = path.read_text(encoding="utf-8").partition(cell.source)[0].count("\n")
    return f"{path.name}, cell {number}, line {before + (int(inside[1]) if inside else 1)}"


def main() -> int:
    """Rewrite the lock file; 1 and the reason if a derivation fails."""
    os.environ[LOCK] = "write"
    paths = derivations()
    for path in paths:
        print(f"deriving {path.stem}", flush=True)
        try:
            execute(path)
        except nbclient.exceptions.CellExecutionError as error:
            print(f"{error.__notes__[0]}: {error.ename}: {error.evalue}", file=sys.stderr)
            return 1
    stems = {path.stem for path in paths}
    formulas = load_formulas()
    save_formulas(f for f in formulas.values() if f.notebook in stems)
    print(f"{len(load_formulas())} formulas in {FORMULAS.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
