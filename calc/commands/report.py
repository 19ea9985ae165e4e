"""``report``: one HTML page about a deployment, which the book makes in a process."""

from __future__ import annotations

import subprocess
import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path

import click

import catalogue
from calc.commands import BAD_INPUT
from calc.commands.options import cli_command, output_option, scenario_argument
from calc.commands.view import View
from catalogue import ParamsError

PROGRAM = Path("book", "_ext", "report.py")
NEEDED = ("sphinx", "myst_nb", "papermill", "jupytext", "matplotlib", "sympy")


@cli_command("report", "plan.yml", "plan.yml -o plan.html --open",
             "h200-r1-vllm-tp8 --device nvidia-h20 --lang zh", table=False)
@scenario_argument
@output_option("HTML file to write.", default="report.html", show_default=True)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@click.option("--device", default="", metavar="CARD", help=(
    "Card in place of the deployment's: a name or a file of your own."))
@click.option("--lang", default="en", show_default=True, metavar="en|zh",
              help="Language of the page.")
@click.option("--book", default="", metavar="ADDRESS|DIR", help=(
    "A built book, for links to its chapters (default: no links)."))
def command(scenario: str, output: str, opens: bool, device: str, lang: str, book: str) -> View:
    """Write one HTML page about a deployment: verdict, numbers, derivations, sources.

    DEPLOYMENT is a name of the catalogue (`will-it-fit list scenarios`) or a file of your own. The
    page needs no network.
    """
    for library in NEEDED:
        if find_spec(library) is None:
            raise ModuleNotFoundError(f"No module named {library!r}", name=library)
    program = catalogue.ROOT.parent / PROGRAM
    with subprocess.Popen(
            [sys.executable, str(program), f"--device={device}", f"--lang={lang}",
             f"--out={output}", f"--book={book}", "--", scenario],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            printed, errors = running.communicate()
        except BaseException:  # it ends with this process, and clears up first
            running.terminate()
            running.wait()
            raise
    if running.returncode == BAD_INPUT:
        raise ParamsError(errors.strip())
    if running.returncode:
        lines = errors.strip().splitlines() or ["no reason"]
        raise ParamsError(f"{scenario}: the page could not be made: {lines[-1].rstrip('.')}.")
    written = printed.strip()
    if opens:
        webbrowser.open(Path(written).absolute().as_uri())
    return View(f"Written: {written}", {"files": [written]})
