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

import catalogue
from catalogue import ParamsError
from catalogue.reading.files import drafted, write_whole

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "notebooks" / "scenario.md"
PAGE = "report"
SPHINX_LANGUAGES = {"en": "en", "zh": "zh_CN"}
USAGE = ("usage: make report SCENARIO=mine.yml [DEVICE=card.yml] [BOOK_LANG=en|zh] "
         "[OUT=report.html] [BOOK=address or folder of a built book]")
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


def options(arguments: list[str]) -> argparse.Namespace:
    """Read and check the command line; raise ParamsError.

    An option that is given empty counts as left out, as ``make`` gives what a reader left out.
    """
    parser = argparse.ArgumentParser(prog="report", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("scenario", nargs="?", default="")
    for name in ("device", "lang", "out", "book"):
        parser.add_argument(f"--{name}", default="")
    chosen = parser.parse_args(arguments)
    chosen.lang, chosen.out = chosen.lang or "en", chosen.out or "report.html"
    out, web = Path(chosen.out), "://" in chosen.book
    checks = (
        (chosen.scenario, USAGE),
        (chosen.lang in languages.TAGS, f"BOOK_LANG: expected {' or '.join(languages.TAGS)}, "
                                        f"not {chosen.lang[:40]!a}."),
        (out.suffix == ".html", f"OUT: {chosen.out[:200]}: expected a file that ends in .html."),
        (not out.is_dir() and out.parent.is_dir(),
         f"OUT: {chosen.out[:200]}: expected a file in a folder that exists."),
        (not web or chosen.book.startswith(("http://", "https://")),
         f"BOOK: {chosen.book[:200]!a}: expected an address that begins with https:// or http://, "
         "or the folder of a built book."),
        (web or not chosen.book or (Path(chosen.book) / "index.html").is_file(),
         f"BOOK: {chosen.book[:200]}: there is no built book."))
    for is_right, sentence in checks:
        if not is_right:
            raise ParamsError(sentence)
    if chosen.book and not web:
        chosen.book = os.path.relpath(chosen.book, out.parent)
    return chosen


def executed(scenario: str, device: str, lang: str) -> str:
    """Run the template for a deployment; return the notebook as JSON.

    Raises ParamsError for bad input, with the sentence that says what is wrong with it.
    """
    import nbformat
    from papermill.exceptions import PapermillExecutionError

    family = catalogue.load_family(scenario, device or None)  # before a kernel is started
    notebook, texts = execute.prepare(TEMPLATE, scenario)
    try:
        done = execute.execute(
            notebook, {"scenario": scenario, "device": device, "lang": lang}, Path.cwd())
    except PapermillExecutionError as error:
        raise ParamsError(error.evalue if error.ename == "ParamsError" else
                          execute.failure(error, texts, error.source)) from None
    return nbformat.writes(done).replace(f"](#{family.id}", f"](#{execute.label(family.id)}")


def rendered(notebook: str, chosen: argparse.Namespace) -> str:
    """Have Sphinx set an executed notebook as one page of HTML, its figures in it."""
    from sphinx.application import Sphinx

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
        return IMAGE.sub(lambda match: '<img alt="" src="data:image/svg+xml;base64,'
                         + base64.b64encode((out / match[1]).read_bytes()).decode() + '"', page)


def main(arguments: list[str]) -> int:
    """Make the report that the arguments ask for; return the exit code."""
    try:
        chosen = options(arguments)
        with drafted() as work:  # kernels keep their history there, and where they listen
            tempfile.tempdir = str(work)
            os.environ |= {"IPYTHONDIR": str(work), "TMPDIR": str(work), QUIET: "1"}
            if chosen.book:
                os.environ["BOOK_PAGE"] = "1"  # links to other pages of the book hold
            page = rendered(executed(chosen.scenario, chosen.device, chosen.lang), chosen)
            write_whole(Path(chosen.out), page.encode())
    except ParamsError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:  # of the temporary files, or of the report
        print(f"The report was not made: {error}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted.", file=sys.stderr)
        return 130
    print(chosen.out)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    lifeline.hold(signal.SIGTERM)
    sys.exit(main(sys.argv[1:]))
