"""Run one notebook with Papermill and write the executed notebook, the same bytes every time.

The build calls ``run`` once per stale page, by way of ``workshop.py``. The source is a MyST
notebook, the output the ``.ipynb`` to write, the entry the identifier of a deployment, a device or
a model when the source is the template of such pages: ``scenario.md`` takes it as its parameter
``scenario``, and so on. Cells of the template tagged ``variant`` are repeated for each variant of a
scenario file, and those tagged ``family`` left out where there are none; a page may have cells of
its own after those of the template, in ``supplements/ENTRY.md`` beside the source. No cell runs
where the page is given as it was executed with the same code cells: it gets new words. If a
notebook stops, the reason, in a few lines, is in a file beside the output, ``.reason``.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from papermill.exceptions import PapermillExecutionError

LANGUAGES = ("en", "zh")
VARIANT = "variant"  # tag of cells that are repeated for each variant of a scenario file
FAMILY = "family"  # tag of cells that only a file with variants has
SUPPLEMENTS = "supplements"  # folder beside the templates: cells of single pages
VOLATILE = ("papermill", "execution", "jupytext")
REASON_LINES = 8
IDENTIFIER = re.compile(r"[\w.-]+(?<!\.yml)")  # of a file of the catalogue, not a path


def fill_placeholders(notebook: NotebookNode, titles: list[tuple[str, dict[str, str]]]) -> None:
    """Write the entry into the prose: ``@id@`` its identifier, ``@title@`` its title.

    `titles` are those of the entry and of its variants, by identifier and language; a cell tagged
    with a language gets the title in it. Cells tagged ``variant`` are repeated for each variant,
    ``@variant@`` is its identifier there. Labels built on an identifier are unique in the book,
    because identifiers are.
    """
    first, *variants = titles
    of_variants = [cell for cell in notebook.cells if VARIANT in cell.metadata.get("tags", [])]
    repeated = [_filled(copy.deepcopy(cell), entry, title)
                for entry, title in variants for cell in of_variants]
    cells = []
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if VARIANT in tags:
            cells += repeated if cell is of_variants[0] else []
        elif variants or FAMILY not in tags:
            cells.append(_filled(cell, *first))
    for index, cell in enumerate(cells):  # copies need names of their own
        cell.id = str(index)
    notebook.cells = cells


def _filled(cell: NotebookNode, entry: str, title: dict[str, str]) -> NotebookNode:
    """A cell with identifier and title in the place of their marks; code gets no title."""
    from catalogue.reading import words

    tags = cell.metadata.get("tags", [])
    language = next((tag for tag in tags if tag in LANGUAGES), LANGUAGES[0])
    is_prose = cell.cell_type == "markdown"
    if is_prose:
        cell.source = cell.source.replace("@title@", words.markdown(title[language]))
        cell.source = cell.source.replace("@id@", label(entry))
    if VARIANT in tags:
        name = label(entry) if is_prose else json.dumps(entry)[1:-1]  # inside a text in code
        cell.source = cell.source.replace("@variant@", name)
    cell.metadata["tags"] = [tag for tag in tags if tag not in (VARIANT, FAMILY)]
    return cell


def label(entry: str) -> str:
    """A label of Sphinx for an identifier; a reader's file may have any name."""
    return re.sub(r"[^\w.-]", "-", entry, flags=re.ASCII)


def titles_of(kind: str, entry: str) -> list[tuple[str, dict[str, str]]]:
    """Identifier and title of an entry, then of its variants, in both languages, as for a page.

    Raises catalogue.ParamsError if it cannot be loaded.
    """
    import catalogue
    from catalogue.reading import words

    with words.as_for_pages():
        if kind != "scenario":
            return [(entry, dict(catalogue.load(f"{kind}s", entry).name))]
        family = catalogue.load_family(entry)
    several = family.deployments if len(family.deployments) > 1 else ()
    variants = [(variant.id, dict(variant.title)) for variant in several]
    return [(family.id, dict(family.title)), *variants]


def make_reproducible(notebook: NotebookNode) -> None:
    """Drop what changes from run to run; name cells by position and source; hide parameters."""
    for key in VOLATILE:
        notebook.metadata.pop(key, None)
    for index, cell in enumerate(notebook.cells):
        for key in VOLATILE:
            cell.metadata.pop(key, None)
        cell.id = f"{index:03d}-{hashlib.sha256(cell.source.encode()).hexdigest()[:8]}"
        tags = cell.metadata.get("tags", [])
        if "injected-parameters" in tags and "remove-cell" not in tags:
            tags.append("remove-cell")
        if not tags:
            cell.metadata.pop("tags", None)


def failure(error: PapermillExecutionError, texts: dict[str, str], code: str) -> str:
    """Say which cell stopped, at which line of the file, and why.

    `texts` are the source files by name and `code` the source of the cell, found in them by its
    text; a file beside the first is named. An error of the parameters is its own sentence, anything
    else keeps its type.
    """
    where = f"cell {error.cell_index + 1}"
    trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
    in_cell = re.findall(r"^Cell In\[\d+\], line (\d+)", trace, flags=re.MULTILINE)
    name, text = next(((name, text) for name, text in texts.items() if code and code in text),
                      ("", ""))
    where += f" of {name}" * (name in list(texts)[1:])
    position = text.find(code) if text else -1
    shown = ""
    if in_cell and int(in_cell[0]) <= len(code.splitlines()):
        number = int(in_cell[0])
        shown = f"\n    {code.splitlines()[number - 1].strip()}"
        if position >= 0:
            where += f", line {text[:position].count(chr(10)) + number}"
    reason = error.evalue if error.ename == "ParamsError" else f"{error.ename}: {error.evalue}"
    lines = reason.rstrip().splitlines() or [error.ename]
    if len(lines) > REASON_LINES:
        lines = [*lines[:REASON_LINES], "…"]
    return f"stopped in {where}:{shown}\n    " + "\n    ".join(lines)


def prepare(source: Path, entry: str | None) -> tuple[NotebookNode, dict[str, str]]:
    """Read a notebook, as the page of `entry` if it is a template, and the texts it is made of.

    Raises catalogue.ParamsError if the entry cannot be loaded.
    """
    import jupytext

    texts = {source.name: source.read_text(encoding="utf-8")}
    notebook = jupytext.reads(texts[source.name], fmt="md:myst")
    if entry is not None:
        own = source.parent / SUPPLEMENTS / f"{entry}.md"
        if IDENTIFIER.fullmatch(entry) and own.is_file():
            name = own.relative_to(source.parent).as_posix()
            texts[name] = own.read_text(encoding="utf-8")
            notebook.cells += jupytext.reads(texts[name], fmt="md:myst").cells
        fill_placeholders(notebook, titles_of(source.stem, entry))
    return notebook, texts


def execute(notebook: NotebookNode, parameters: dict[str, Any], folder: Path) -> NotebookNode:
    """Run the cells in `folder`, in this process, and return the executed notebook.

    Raises papermill's PapermillExecutionError where a cell stops.
    """
    import in_process
    import nbformat
    import papermill

    papermill.engines.papermill_engines.register(in_process.NAME, in_process.InProcess)
    done = papermill.execute_notebook(
        notebook, None, parameters, engine_name=in_process.NAME, kernel_name="python3",
        language="python", progress_bar=False, cwd=str(folder))
    make_reproducible(done)
    nbformat.validate(done)
    return done


def retold(notebook: NotebookNode, executed: Path) -> NotebookNode:
    """An executed notebook with the prose of `notebook`, which has the same code cells."""
    import nbformat

    done = nbformat.read(executed, as_version=4)
    ran = [cell for cell in done.cells if cell.cell_type == "code"]
    cells = []
    for cell in notebook.cells:
        cells.append(cell if cell.cell_type != "code" else ran.pop(0))
        while ran and "injected-parameters" in ran[0].metadata.get("tags", []):
            cells.append(ran.pop(0))
    done.cells = cells
    make_reproducible(done)
    nbformat.validate(done)
    return done


def run(source: Path, output: Path, entry: str | None, executed: Path | None) -> int:
    """Execute `source` into `output`, or retell it; return the exit code."""
    import nbformat
    from papermill.exceptions import PapermillExecutionError

    import catalogue

    try:
        notebook, texts = prepare(source, entry)
        done = retold(notebook, executed) if executed else execute(
            notebook, {} if entry is None else {source.stem: entry}, source.parent)
        output.write_text(nbformat.writes(done, indent=1, ensure_ascii=False) + "\n",
                          encoding="utf-8")
        return 0
    except catalogue.ParamsError as error:
        reason = f"stopped before its first cell:\n    {error}"
    except PapermillExecutionError as error:
        reason = failure(error, texts, error.source)
    except Exception as error:  # a file that is no notebook
        reason = f"could not be run:\n    {type(error).__name__}: {error}"
    output.with_suffix(".reason").write_text(reason, encoding="utf-8")
    return 1
