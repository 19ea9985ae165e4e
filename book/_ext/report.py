"""One deployment as one file: ``make report SCENARIO=mine.yml``.

The page that the book has of a deployment of the catalogue, for a file of a reader's own: the same
notebook, run by Papermill, and the same filter of languages, set by Sphinx on a single page. What
comes out is one HTML file in one language that needs no network, no script and no other file:
figures are in it, and formulas are MathML.

    python report.py [--device=CARD] [--lang=en|zh] [--out=report.html] [--book=BOOK] SCENARIO

BOOK is the address or the folder of a built book; references to its chapters become links then,
and without it plain text. Bad input is one sentence and exit code 2. The file appears whole or not
at all, and nothing that a reader wrote is written to.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import re
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import execute
import languages
import lifeline

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "notebooks" / "scenario.md"
PAGE = "report"
SPHINX_LANGUAGES = {"en": "en", "zh": "zh_CN"}
USAGE = ("usage: make report SCENARIO=mine.yml [DEVICE=card.yml] [BOOK_LANG=en|zh] "
         "[OUT=report.html] [BOOK=address or folder of a built book]")
ENDING = (signal.SIGINT, signal.SIGTERM)
QUIET = "PYDEVD_DISABLE_FILE_VALIDATION"
IMAGE = re.compile(r'<img alt="[^"]*" src="(_images/[^"]+\.svg)"')
SETTINGS: dict[str, Any] = {
    "root_doc": PAGE, "extensions": ["myst_nb", "sphinx_design", "single_page"],
    "nb_execution_mode": "off", "nb_render_markdown_format": "myst", "nb_remove_code_source": True,
    "nb_merge_streams": True, "nb_mime_priority_overrides": [["singlehtml", "image/svg+xml", 5]],
    "myst_enable_extensions": ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"],
    "html_theme": "basic", "html_math_renderer": "mathml", "html_permalinks": False,
    "smartquotes_action": "qe", "templates_path": [str(ROOT / "book" / "_templates")],
}


class ReportError(Exception):
    """What keeps a report from being made, in one sentence."""


def options(arguments: list[str]) -> argparse.Namespace:
    """Read and check the command line; raise ReportError.

    An option that is given empty counts as left out, as ``make`` gives what a reader left out.
    """
    parser = argparse.ArgumentParser(prog="report", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("scenario", nargs="?", default="")
    for name in ("device", "lang", "out", "book"):
        parser.add_argument(f"--{name}", default="")
    chosen = parser.parse_args(arguments)
    chosen.lang, chosen.out = chosen.lang or "en", chosen.out or "report.html"
    if not chosen.scenario:
        raise ReportError(USAGE)
    if chosen.lang not in languages.TAGS:
        raise ReportError(f"BOOK_LANG: expected {' or '.join(languages.TAGS)}, "
                          f"not {chosen.lang[:40]!a}.")
    out = Path(chosen.out)
    if out.suffix != ".html":
        raise ReportError(f"OUT: {chosen.out[:200]}: expected a file that ends in .html.")
    if out.is_dir() or not out.parent.is_dir():
        raise ReportError(f"OUT: {chosen.out[:200]}: expected a file in a folder that exists.")
    if "://" in chosen.book and not chosen.book.startswith(("http://", "https://")):
        raise ReportError(f"BOOK: {chosen.book[:200]!a}: expected an address that begins with "
                          "https:// or http://, or the folder of a built book.")
    if chosen.book and "://" not in chosen.book:
        if not (Path(chosen.book) / "index.html").is_file():
            raise ReportError(f"BOOK: {chosen.book[:200]}: there is no built book.")
        chosen.book = os.path.relpath(chosen.book, out.parent)
    return chosen


def executed(scenario: str, device: str, lang: str) -> str:
    """Run the template for a deployment; return the notebook as JSON.

    Raises ReportError for bad input, with the sentence that says what is wrong with it.
    """
    import nbformat
    from papermill.exceptions import PapermillExecutionError

    import catalogue

    try:
        family = catalogue.load_family(scenario, device or None)  # before a kernel is started
        notebook, texts = execute.prepare(TEMPLATE, scenario)
        done = execute.execute(
            notebook, {"scenario": scenario, "device": device, "lang": lang}, Path.cwd())
    except catalogue.ParamsError as error:
        raise ReportError(str(error)) from None
    except PapermillExecutionError as error:
        if error.ename == "ParamsError":
            raise ReportError(error.evalue) from None
        raise ReportError(execute.failure(error, texts, error.source)) from None
    return nbformat.writes(done).replace(f"](#{family.id}", f"](#{execute.label(family.id)}")


def rendered(notebook: str, chosen: argparse.Namespace) -> str:
    """Have Sphinx set an executed notebook as one page of HTML, its figures in it."""
    from sphinx.application import Sphinx

    from catalogue.reading.files import drafted

    settings = SETTINGS | {
        "language": SPHINX_LANGUAGES[chosen.lang], "report_book": chosen.book,
        "report_files": [Path(name).name for name in (chosen.scenario, chosen.device) if name]}
    with drafted() as work:
        source, out = work / "source", work / "out"
        source.mkdir()
        (source / f"{PAGE}.ipynb").write_text(languages.filter_notebook(notebook, chosen.lang),
                                              encoding="utf-8")
        Sphinx(source, None, out, work / "doctrees", "singlehtml", settings,
               status=None, warning=io.StringIO()).build()
        page = (out / f"{PAGE}.html").read_text(encoding="utf-8")
        return IMAGE.sub(lambda found: '<img alt="" src="data:image/svg+xml;base64,'
                         + base64.b64encode((out / found[1]).read_bytes()).decode() + '"', page)


def report(chosen: argparse.Namespace) -> None:
    """Make the report; raise ReportError if the input is bad or the file cannot be written."""
    from catalogue.reading.files import write_whole

    notebook = executed(chosen.scenario, chosen.device, chosen.lang)
    page = rendered(notebook, chosen)
    try:
        write_whole(Path(chosen.out), page.encode())
    except OSError as error:
        reason = (error.strerror or "refused").lower()
        raise ReportError(f"OUT: {chosen.out}: cannot be written ({reason}).") from None


def main(arguments: list[str]) -> int:
    """Make the report that the arguments ask for; return the exit code."""
    from catalogue.reading.files import drafted

    try:
        chosen = options(arguments)
        with drafted() as work:  # kernels keep their history there, and where they listen
            tempfile.tempdir = str(work)
            os.environ |= {"IPYTHONDIR": str(work), "TMPDIR": str(work), QUIET: "1"}
            if chosen.book:
                os.environ["BOOK_PAGE"] = "1"  # links to other pages of the book hold
            report(chosen)
    except ReportError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:  # of the temporary files
        print(f"The report was not made: {(error.strerror or 'refused').lower()}.",
              file=sys.stderr)
        return 2
    print(chosen.out)
    return 0


def _end(number: int, _: Any) -> None:
    """End, once, and remove what is not finished; nothing more is written into that."""
    import psutil

    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    for kernel in psutil.Process().children(recursive=True):
        kernel.kill()
    if number == signal.SIGINT:
        print("interrupted.", file=sys.stderr)
    raise SystemExit(128 + number)


if __name__ == "__main__":
    for ending in ENDING:
        signal.signal(ending, _end)
    lifeline.hold(signal.SIGTERM)
    sys.exit(main(sys.argv[1:]))
