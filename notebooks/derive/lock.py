"""``python -m notebooks.derive.lock``: derive every formula again and rewrite ``formulas.json``."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import jupytext
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from notebooks.derive.formulas.derivation import LOCK
from notebooks.derive.formulas.exported import FORMULAS, load_formulas, save_formulas

NOTEBOOKS = Path(__file__).resolve().parents[1]
_DERIVES = re.compile(r"""\bDerivation\(["'](\w+)["']\)""")


def derivations(folder: Path = NOTEBOOKS) -> list[Path]:
    """The notebooks that export formulas, in the order in which they build on each other."""
    notebooks = [path for path in folder.glob("*.md") if _DERIVES.search(path.read_text("utf-8"))]
    return sorted(notebooks, key=lambda path: (path.stem != "architecture", path.stem))


def execute(path: Path) -> None:
    """Run a text notebook. Raises CellExecutionError, which shows the cell and what failed."""
    NotebookClient(jupytext.read(path), resources={"metadata": {"path": str(path.parent)}}
                   ).execute()


def main() -> None:
    """Rewrite the lock file; exit with the reason if a derivation fails."""
    os.environ[LOCK] = "write"
    paths = derivations()
    for path in paths:
        print(f"deriving {path.stem}", flush=True)
        try:
            execute(path)
        except CellExecutionError as error:
            sys.exit(f"{path.name}: {error}")
    stems = {path.stem for path in paths}
    save_formulas(f for f in load_formulas().values() if f.notebook in stems)
    print(f"{len(load_formulas())} formulas in {FORMULAS.name}")


if __name__ == "__main__":
    main()
