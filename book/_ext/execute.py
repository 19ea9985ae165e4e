"""Run one notebook with Papermill and write the executed notebook, the same bytes every time.

The build calls it, by way of ``workshop.py``, once per stale page; as a process of its own it is

    python execute.py SOURCE OUTPUT [ENTRY]

SOURCE is a MyST notebook, OUTPUT the ``.ipynb`` to write, ENTRY the identifier of a deployment, a
device or a model when SOURCE is the template of such pages: ``scenario.md`` takes it as its
parameter ``scenario``, and so on. A notebook that stops ends the process
with exit code 1; the reason, in a few lines, is then in a file beside OUTPUT, ``.reason``.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lifeline

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from papermill.exceptions import PapermillExecutionError

LANGUAGES = ("en", "zh")
VOLATILE = ("papermill", "execution", "jupytext")
REASON_LINES = 8


def fill_placeholders(notebook: NotebookNode, entry: str, titles: dict[str, str]) -> None:
    """Write the entry into the prose: ``@id@`` its identifier, ``@title@`` its title.

    `titles` maps a language to the title; a cell tagged with a language gets the title in it.
    Labels built on the identifier are unique in the book, because identifiers are.
    """
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        tags = cell.metadata.get("tags", [])
        language = next((tag for tag in tags if tag in LANGUAGES), LANGUAGES[0])
        source = cell.source.replace("@id@", entry)
        cell.source = source.replace("@title@", titles[language])


def title_of(kind: str, entry: str) -> dict[str, str]:
    """The title of an entry in both languages; raises params.ParamsError if it cannot be loaded."""
    import params

    if kind == "scenario":
        return dict(params.load_scenario(entry).title)
    return dict(params.load(f"{kind}s", entry).name)


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


def failure(error: PapermillExecutionError, text: str, code: str) -> str:
    """Say which cell stopped, at which line of the file, and why.

    `text` is the source file and `code` the source of the cell, found in it by its text. An
    error of the parameters is its own sentence, anything else keeps its type.
    """
    where = f"cell {error.cell_index + 1}"
    trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
    in_cell = re.findall(r"^Cell In\[\d+\], line (\d+)", trace, flags=re.MULTILINE)
    position = text.find(code) if code else -1
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


def run(source: Path, output: Path, entry: str | None) -> str | None:
    """Execute `source` into `output`; return None, or the reason why it stopped."""
    import jupytext
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    text = source.read_text(encoding="utf-8")
    notebook = jupytext.reads(text, fmt="md:myst")
    parameters: dict[str, Any] = {}
    if entry is not None:
        import params

        try:
            fill_placeholders(notebook, entry, title_of(source.stem, entry))
        except params.ParamsError as error:
            return f"stopped before its first cell:\n    {error}"
        parameters[source.stem] = entry
    try:
        done = papermill.execute_notebook(
            notebook, None, parameters, kernel_name="python3", language="python",
            progress_bar=False, cwd=str(source.parent),
            shutdown_kernel="immediate",  # a kernel asked politely sometimes takes 3 s to go
        )
    except PapermillExecutionError as error:
        return failure(error, text, error.source)
    make_reproducible(done)
    nbformat.validate(done)
    output.write_text(nbformat.writes(done, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return None


def main(arguments: list[str]) -> int:
    """Run the notebook named by the arguments; return the exit code."""
    source, output, *rest = arguments
    try:
        reason = run(Path(source), Path(output), rest[0] if rest else None)
    except Exception as error:  # a kernel that died, a file that is no notebook: say it, once
        reason = f"could not be run:\n    {type(error).__name__}: {error}"
    if reason:
        Path(output).with_suffix(".reason").write_text(reason, encoding="utf-8")
    return 1 if reason else 0


if __name__ == "__main__":
    lifeline.hold()
    sys.exit(main(sys.argv[1:]))
