"""``dev kernels``: tables of measured operators, and laws fitted to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calc.commands.options import cli_command, output_option
from calc.commands.view import SHARE, Block, Table, View
from catalogue import library, names
from catalogue.deployments.measured import refuse_fitting
from catalogue.reading.files import ParamsError, store
from catalogue.tables import shelf

if TYPE_CHECKING:
    from kernels.writing import FittedTable


def table_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the tables, and which of their rows."""
    for name, text in (("engine", "Engine of the rows, e.g. vllm@0.24.0."),
                       ("card", "Card of the rows, e.g. nvidia-h200-sxm."),
                       ("operator", "Only this operator.")):
        function = click.option(f"--{name}", metavar="NAME", help=text)(function)
    return click.option("--tables", required=True, metavar="PATH", help=(
        "CSV or Parquet tables of measured kernels (template: `will-it-fit new kernels`), or the "
        "folder systems/data of NVIDIA's aiconfigurator."))(function)


@cli_command("dev kernels list", "--tables params/templates/kernels.csv")
@table_options
def list_command(tables: str, operator: str | None, card: str | None, engine: str | None) -> View:
    """List operators, cards, engines and row counts of tables."""
    refuse_fitting(tables)
    parts = shelf(tables)
    rows = parts.parts(operator, card, engine)
    data = [{"operator": part.operator, "card": part.card, "in_catalogue": part.card in names(
        "devices"), "engine": part.engine, "rows": part.rows} for part in rows]
    return View(f"{sum(part.rows for part in rows):,} rows in {parts.root}", {
        "tables": str(parts.root), "rows": data}, body=[
            Table.of(data, "operator", "card", "in_catalogue", "engine", "rows")])


@cli_command("dev kernels fit", "--tables params/templates/example-h100-table.csv --card "
             "nvidia-h100-sxm --engine pytorch")
@table_options
@output_option("Write the fitted models to FILE. Requires --source and --date.")
@click.option("--source", metavar="KEY", help="Catalogue source to cite for the tables.")
@click.option("--date", metavar="DATE", help="Date of the tables, e.g. 2026-10.")
@click.option("--description", "of", metavar="TEXT", help="What was measured (default: the path).")
def fit_command(tables: str, operator: str | None, card: str | None, engine: str | None,
                output: str | None, source: str | None, date: str | None, of: str | None) -> View:
    """Fit kernel performance models; test them on held-out rows.

    Fits on half of the rows of each kernel and tests on the other half. Requires --card and
    --engine. Run the example in a source checkout.
    """
    from kernels.rejection import checked
    from kernels.releases import fitted_tables  # SciPy is loaded only where something is fitted

    refuse_fitting(tables)
    parts = shelf(tables)
    if card is None or engine is None:
        raise ParamsError("a fit is of one card and one engine, expected --card and --engine.")
    if output and not (source and date):
        raise ParamsError("a file of fits cites its tables, expected --source and --date.")
    engine = engine.partition("@")[0]
    entry = library.load("devices", card)
    fits = checked(list(fitted_tables(parts, card, engine)), entry,
                   library.load("mechanisms", str(entry.mechanisms)))
    if not fits:
        raise ParamsError(f"no table of {engine} on {card} has a law.")
    data: list[dict[str, Any]] = [{
        "release": table.release, "operator": table.operator, "cut": table.cut,
        "kernel": table.kernel, "dtype": table.dtype, "fitted": table.fit.fitted,
        "parameters": {name: dict(zip(("value", "low", "high"), (value, *table.fit.ranges[name]),
                                      strict=True)) for name, value in table.fit.values.items()},
        "judged": vars(table.fit.errors),
        "regions": {str(least): vars(errors) for least, errors in table.fit.regions.items()}}
        for table in fits]
    body: list[Block] = [Table.of(
        [fit | fit["judged"] for fit in data], "release", "operator", "cut", "dtype", "kernel",
        "rows", "median", "most", "leaning", median=SHARE, most=SHARE, leaning=SHARE)]
    if output:
        write_fits(Path(output), entry, engine, of or str(parts.root), source, date, fits)
        body.append(f"{output} written.")
    return View(f"{len(fits)} laws of {engine} on {card}", {
        "tables": str(parts.root), "fits": data}, body=body)


def write_fits(path: Path, card: Any, engine: str, of: str, source: Any, date: Any,
               fits: list[FittedTable]) -> None:
    """Write the file of an engine on a class of cards, and read it again as a check."""
    from kernels.writing import text

    profile = library.load("profiles", engine)
    title = {language: f"{words}, {card.name[language]}"
             for language, words in profile.name.items()}
    store(path, text(engine, str(card.mechanisms), title, of, source, date, fits))
    library.load("fits", path.absolute())


command = click.Group("kernels", commands={"list": list_command, "fit": fit_command},
                      help="List tables of measured kernels, or fit models to them.")
