"""Write the ``.ipynb`` of the parameterised notebooks: ``python -m notebooks.derive.sync``.

``papermill notebooks/scenario.ipynb`` must work on a fresh clone, so each template is kept as a
notebook too, without outputs. Cell identifiers come from position and source, so that the file
changes only when the text does. The book's placeholders have no meaning outside of it: the title
becomes a general one, and the labels of headings are left out, as are the cells that only a file
with variants has. Where ``_config.yml`` sets the repository's address, a first cell installs the
project on Colab and Binder.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import jupytext
import nbformat
import yaml

from catalogue.messages import by_language, messages
from catalogue.reading.files import write_whole

say = messages("derive/sync")

NOTEBOOKS = Path(__file__).resolve().parents[1]
TITLES = {
    "scenario": say("deployment"), "device": say("device"), "model": say("model"),
    "document": say("document-claim-by-claim"), "search": say("search-from-goal-to-best"),
    "service": say("start-and-watch-from-plan"), "decide": say("sensitivity-which-inputs-decide"),
    "day": say("capacity-replicas-for-day-of"), "scale": say("scaling-from-eight-to-cards")}
SETUP = '''\
# on Colab or Binder: the project and what it requires
import importlib.util, subprocess, sys
from pathlib import Path

if importlib.util.find_spec("notebooks") is None:
    root = Path.cwd().parent
    if not (root / "calc").is_dir():
        root = Path("will-it-fit").resolve()
        subprocess.run(["git", "clone", "--depth=1", "{address}", str(root)], check=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "-r",
                    str(root / "requirements.txt")], check=True)
    sys.path.insert(0, str(root))'''
OF_VARIANTS = {"family", "variant"}
_LABEL = re.compile(r"^\([\w@-]+\)=\n", re.MULTILINE)


def repository() -> str:
    """Address of the repository, empty where none is set."""
    settings = yaml.safe_load((NOTEBOOKS.parent / "_config.yml").read_text(encoding="utf-8"))
    return str(settings["repository"]["url"])


def rendered(source: Path, address: str) -> str:
    """The notebook's JSON, the same for the same source and address of the repository."""
    titles = by_language(TITLES[source.stem])
    notebook = jupytext.read(source)
    notebook.cells = [cell for cell in notebook.cells
                      if not OF_VARIANTS & set(cell.metadata.get("tags", []))]
    if address:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(SETUP.format(address=address)))
    for position, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            lang = next(tag for tag in cell.metadata.tags if tag in titles)
            cell.source = _LABEL.sub("", cell.source).replace("@title@", titles[lang])
        digest = hashlib.sha256(f"{position}\n{cell.source}".encode()).hexdigest()
        cell["id"] = digest[:12]
    notebook.metadata.pop("jupytext", None)
    notebook.metadata["language_info"] = {"name": "python"}
    return nbformat.writes(notebook) + "\n"


def main() -> None:
    """Write the notebooks beside their sources; an unchanged file is left alone."""
    for stem in TITLES:
        source = NOTEBOOKS / f"{stem}.md"
        target = source.with_suffix(".ipynb")
        write_whole(target, rendered(source, repository()).encode())
        print(f"{target.name} is in step with {source.name}")


if __name__ == "__main__":
    main()
