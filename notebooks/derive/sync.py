"""Write the ``.ipynb`` of the parameterised notebooks: ``python -m notebooks.derive.sync``.

``papermill notebooks/scenario.ipynb`` must work on a fresh clone, so each template is kept as a
notebook too, without outputs. Cell identifiers come from position and source, so that the file
changes only when the text does. The book's placeholders have no meaning outside of it: the title
becomes a general one, and the labels of headings are left out, as are the cells that only a file
with variants has.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import jupytext
import nbformat

from catalogue.reading.files import write_whole

NOTEBOOKS = Path(__file__).resolve().parents[1]
TITLES = {
    "scenario": {"en": "A deployment", "zh": "一个部署"},
    "device": {"en": "A device", "zh": "一张卡"},
    "model": {"en": "A model", "zh": "一个模型"},
    "document": {"en": "A document, claim by claim", "zh": "一份文档，逐条审计"},
    "search": {"en": "Search: from a goal to the best deployment",
               "zh": "搜索：从目标到最优部署"},
    "service": {"en": "Start and watch: from a plan to a service",
                "zh": "启动与告警：从部署方案到上线服务"},
    "decide": {"en": "Sensitivity: which inputs decide", "zh": "敏感性：结果取决于哪些输入"},
    "day": {"en": "Capacity: replicas for a day of users", "zh": "容量规划：一天的用户要几个副本"},
    "scale": {"en": "Scaling: from 8 to 384 cards", "zh": "扩展：从 8 卡到 384 卡"},
}
OF_VARIANTS = {"family", "variant"}
_LABEL = re.compile(r"^\([\w@-]+\)=\n", re.MULTILINE)


def rendered(source: Path) -> str:
    """The notebook's JSON, the same for the same source."""
    titles = TITLES[source.stem]
    notebook = jupytext.read(source)
    notebook.cells = [cell for cell in notebook.cells
                      if not OF_VARIANTS & set(cell.metadata.get("tags", []))]
    for position, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            lang = next(tag for tag in cell.metadata.tags if tag in titles)
            cell.source = _LABEL.sub("", cell.source).replace("@title@", titles[lang])
        digest = hashlib.sha256(f"{position}\n{cell.source}".encode()).hexdigest()
        cell["id"] = digest[:12]
    notebook.metadata.pop("jupytext", None)
    notebook.metadata["language_info"] = {"name": "python"}
    return nbformat.writes(notebook) + "\n"


def main() -> int:
    """Write the notebooks beside their sources; an unchanged file is left alone."""
    for stem in TITLES:
        source = NOTEBOOKS / f"{stem}.md"
        target = source.with_suffix(".ipynb")
        write_whole(target, rendered(source).encode())
        print(f"{target.name} is in step with {source.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
