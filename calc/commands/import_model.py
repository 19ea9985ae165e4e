"""``import-model``: a model file from the ``config.json`` of a Hugging Face model."""

from __future__ import annotations

from pathlib import Path

import click

from calc.answer.model_sizes import parameters
from calc.commands.options import cli_command, output_option
from calc.commands.view import View, joined
from catalogue import ROOT
from catalogue.models.huggingface import Published, import_config
from catalogue.reading.files import ParamsError, display_path, store
from catalogue.shipped import first_line

FIELDS = {"used": "used", "implied": "not stated as such, see the comments",
          "ignored": "known to change no count",
          "beside": "beside the language model, not counted", "unknown": "unknown, not used"}
"""What becomes of a field, in words."""


@cli_command("import-model", "config.json -o model.yml", table=False)
@click.argument("config")
@output_option("Write to FILE (default: standard output).")
@click.option("--name", metavar="NAME", help="Name (default: from the configuration or path).")
@click.option("--source", metavar="KEY|TEXT",
              help="Source of the configuration (default: model name and file date).")
@click.option("--family", metavar="FILE", help="Model family file (default: chosen by model_type).")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def command(config: str, output: str | None, name: str | None, source: str | None,
            family: str | None, force: bool) -> View:
    """Write a model file from the config.json of a Hugging Face model.

    Nothing is downloaded. A report on how each field was used goes to standard error.
    """
    result = import_config(Path(config), name, source, family)
    counted = parameters(result.model)
    verdict = result.text.rstrip("\n")
    if output is not None:
        verdict = f"{write_model(Path(output), result.text, force)} written."
    data = {"model": result.data, "used": result.used, "ignored": result.ignored,
            "unknown": result.unknown, "beside": result.beside, "implied": result.comments,
            "parameters": counted, "format": result.published._asdict()}
    return View(verdict, data, problems=[
        f"model_type {result.model_type}: {counted['total']:,} parameters, {counted['active']:,} "
        f"active, {counted['routed']:,} in routed experts.", *format_line(result.published),
        *(f"{words}: {joined(data[name])}" for name, words in FIELDS.items()
          if data[name])])


def format_line(published: Published) -> list[str]:
    """The published format of the weights, and what to do where it is not recognised."""
    advice = (f"taken as precision {published.precision}" if published.precision else
              "not recognised; name a precision or a file of your own under weights:")
    return [f"published weights: {published.stated}, {advice}."] if published.stated else []


def write_model(target: Path, text: str, force: bool) -> str:
    """Write a model file; return its name.

    Raises ParamsError saying why it cannot be written.
    """
    name = display_path(target)
    if target.suffix not in (".yml", ".yaml") or not target.name.isprintable():
        raise ParamsError(f"{name}: not the name of a model file, expected one that ends in .yml.")
    if target.resolve().parent == ROOT / "models":
        text = f"{first_line('models')}\n{text}"
    store(target, text, replace=force, name=name)
    return name
