"""Write the committed ``.ipynb`` of the parameterised notebook: ``python -m workbench.sync``.

``papermill notebooks/scenario.ipynb`` must work on a fresh clone, so the template is kept as a
notebook too, without outputs. Cell identifiers come from position and source, so that the file
changes only when the text does. The book's placeholders have no meaning outside of it: the title
becomes a general one, and the labels of headings are left out.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import jupytext
import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1]
TEMPLATE = NOTEBOOKS / "scenario.md"
_LABEL = re.compile(r"^\(@scenario@[\w-]*\)=\n", re.MULTILINE)
_TITLES = {"en": "A deployment", "zh": "一个部署"}


def rendered(source: Path = TEMPLATE) -> str:
    """The notebook's JSON, the same for the same source."""
    notebook = jupytext.read(source)
    for position, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            lang = next(tag for tag in cell.metadata.tags if tag in _TITLES)
            cell.source = _LABEL.sub("", cell.source).replace("@title@", _TITLES[lang])
        digest = hashlib.sha256(f"{position}\n{cell.source}".encode()).hexdigest()
        cell["id"] = digest[:12]
    notebook.metadata.pop("jupytext", None)
    notebook.metadata["language_info"] = {"name": "python"}
    return nbformat.writes(notebook) + "\n"


def main() -> int:
    """Write the notebook beside its source; an unchanged file is left alone."""
    target = TEMPLATE.with_suffix(".ipynb")
    text = rendered()
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        draft = target.with_name(f".{target.name}.tmp")
        draft.write_text(text, encoding="utf-8")
        draft.replace(target)
    print(f"{target.name} is in step with {TEMPLATE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
