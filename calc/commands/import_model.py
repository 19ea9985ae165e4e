"""``import-model``: a model file from the ``config.json`` of a Hugging Face model."""

from __future__ import annotations

import os
from pathlib import Path

import click

from calc.answer.model_sizes import parameters
from calc.commands.options import cli_command, output_option
from calc.commands.view import View, joined
from catalogue import ROOT
from catalogue.models.huggingface import Imported, import_config
from catalogue.reading.files import ParamsError, write_whole
from catalogue.reading.jsonfile import json_excerpt
from catalogue.reading.yamlfile import display_path
from catalogue.shipped import first_line

FIELDS = {"used": "used", "implied": "not stated as such",
          "ignored": "known to change no count",
          "beside": "beside the language model, not counted", "unknown": "unknown, not used"}
"""What becomes of a field, in words."""


@cli_command("import-model", "config.json -o model.yml", table=False)
@click.argument("config")
@output_option("Write the model file there, NAME.yml (default: print it).")
@click.option("--name", metavar="NAME", help=(
    "Name of the model (default: of the configuration, its folder or its file)."))
@click.option("--source", metavar="WORDS", help=(
    "Where the configuration was read (default: the model's name and the day of the file)."))
@click.option("--family", metavar="FILE", help=(
    "Description of the architecture, as in params/families/ (default: by model_type)."))
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def command(config: str, output: str | None, name: str | None, source: str | None,
            family: str | None, force: bool) -> View:
    """Write a model file from the config.json of a Hugging Face model.

    Nothing is downloaded. Standard error says what became of every field of the configuration.
    """
    result = import_config(Path(config), name, source, family)
    counted = parameters(result.model)
    lines = report(result, counted)
    verdict = result.text.rstrip("\n")
    if output is not None:
        write_model(Path(output), result.text, Path(config), force)
        verdict = f"{display_path(Path(output))} written."
    return View(verdict, {
        "model": result.data, "used": result.used, "ignored": result.ignored,
        "unknown": result.unknown, "beside": result.beside, "implied": result.comments,
        "parameters": counted, "format": result.published._asdict()}, problems=lines)


def report(result: Imported, counted: dict[str, int]) -> list[str]:
    """What became of every field, and the parameters counted from the shapes [1]."""
    total, active, routed = (f"{counted[name]:,}" for name in ("total", "active", "routed"))
    lines = [f"model_type {result.model_type}: {total} parameters, {active} active, {routed} in "
             "routed experts."]
    published = result.published
    if published.stated:
        advice = (f"taken as precision {published.precision}" if published.precision else
                  "which fits none of `will-it-fit list precisions`; describe it in a file of your "
                  "own and name it under weights: in the model file"
                  if published.quantized else
                  "and no quantization is stated; where the files hold that type, add weights: "
                  "with precision: bf16 or fp16, source: and kind: to the model file")
        lines.append(f"published weights: {published.stated}, {advice}.")
    implied = [f"{field} ({why})" for field, why in result.comments.items()]
    fields = {"used": result.used, "implied": implied, "ignored": result.ignored,
              "beside": result.beside, "unknown": result.unknown}
    return lines + [f"{FIELDS[what]}: " + joined(
        name if name.isprintable() else json_excerpt(name) for name in names)
        for what, names in fields.items() if names]


def write_model(target: Path, text: str, config: Path, force: bool) -> None:
    """Write a file at once or not at all; never over another one unless told to.

    Raises ParamsError saying why it cannot be written.
    """
    name = display_path(target)
    exists = f"{name}: the file exists, --force overwrites it."
    if target.suffix not in (".yml", ".yaml") or not target.name.isprintable():
        raise ParamsError(f"{name}: not the name of a model file, expected one that ends in .yml.")
    try:
        if os.path.lexists(target):
            if target.exists() and target.samefile(config):
                raise ParamsError(f"{name}: the configuration itself, expected another file.")
            if not force:
                raise ParamsError(exists)
        if target.resolve().parent == ROOT / "models":
            text = f"{first_line('models')}\n{text}"
        write_whole(target, text.encode(), replace=force)
    except FileExistsError:
        raise ParamsError(exists) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ParamsError(f"{name}: cannot be written ({reason.lower()}).") from None

