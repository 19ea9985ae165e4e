"""``report``: one HTML page about a deployment, for those who decide on it."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from calc.commands.options import cli_command, output_option, scenario_argument
from calc.commands.view import View
from catalogue import ParamsError
from catalogue.messages import LANGUAGES
from catalogue.reading.files import is_file, store

WRITTEN_BY = b'<meta name="generator" content="will-it-fit">'


@cli_command("report", "plan.yml", "plan.yml -o plan.html --open",
             "h200-r1-vllm-tp8 --card h20 --lang zh", table=False)
@scenario_argument
@output_option("HTML file to write.", default="report.html")
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@click.option("--card", "device", metavar="NAME|FILE",
              help="Use this card instead of the deployment's.")
@click.option("--lang", default="en", type=click.Choice(LANGUAGES), help="Language of the page.")
def command(scenario: str, output: str, opens: bool, device: str | None, lang: str) -> View:
    """Write a report on a deployment: a single HTML page that works offline.

    The page has the results of `estimate`, load curves, the launch command, comparable measurements
    and all inputs. DEPLOYMENT is a catalogue name (`will-it-fit list deployments`) or your own
    file.
    """
    path = Path(output)
    if path.suffix != ".html":
        raise ParamsError(f"-o {output[:200]}: expected a file that ends in .html.")
    if is_file(path) and WRITTEN_BY not in path.read_bytes():
        raise ParamsError(f"-o {output[:200]}: the file exists and is no report, expected a new "
                          "name or an earlier report.")
    from calc.reporting.page import report  # loads Matplotlib

    store(path, report(scenario, lang, device or ""))
    if opens:
        webbrowser.open(path.absolute().as_uri())
    return View(f"WRITTEN: {output}", {"files": [output]})
