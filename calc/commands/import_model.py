"""``import-model``: add a new model, a file as those of ``params/models/``, from the
``config.json`` of a Hugging Face model."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from calc.answer.model_sizes import parameters
from calc.commands.printing import OK, listing, print_json, spoken
from catalogue import ROOT
from catalogue.messages import messages
from catalogue.models.huggingface import Imported, import_config
from catalogue.reading.files import ParamsError, write_whole
from catalogue.reading.jsonfile import json_excerpt
from catalogue.reading.yamlfile import display_path
from catalogue.shipped import first_line

common = messages("common")
say = messages("calc/commands/import-model")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``import-model`` takes, besides ``--json``."""
    command.add_argument("config", help=spoken(say("help-config")))
    command.add_argument("-o", "--output", metavar="FILE", help=spoken(say("help-output")))
    command.add_argument("--name", help=spoken(say("help-name")))
    command.add_argument("--source", metavar="KEY", help=spoken(say("help-source")))
    command.add_argument("--family", metavar="FILE", help=spoken(say("help-family")))
    command.add_argument("--force", action="store_true", help=spoken(say("help-force")))


def run(args: argparse.Namespace) -> int:
    """Print or write the model file, and say what became of every field.

    Raises ParamsError for a configuration that cannot be used and a file that cannot be written;
    nothing is written then.
    """
    config = Path(args.config)
    result = import_config(config, args.name, args.source, args.family)
    counted = parameters(result.model)
    if args.output is not None:
        write_model(Path(args.output), result.text, config, args.force)
    if args.json:
        print_json({
            "model": result.data, "used": result.used, "ignored": result.ignored,
            "unknown": result.unknown, "beside": result.beside, "implied": result.comments,
            "parameters": counted, "format": result.published._asdict(),
        })
        return OK
    if args.output is None:
        sys.stdout.write(result.text)
        sys.stdout.flush()
    for line in report(result, counted):
        print(line, file=sys.stderr)
    if args.output is not None:
        print(spoken(say("written", path=display_path(Path(args.output)))), file=sys.stderr)
    return OK


def report(result: Imported, counted: dict[str, int]) -> list[str]:
    """What became of every field, and the parameters counted from the shapes [1]."""
    implied = [spoken(say("because", field=field, why=why))
               for field, why in result.comments.items()]
    fields = {"used": list(result.used), "implied": implied, "ignored": result.ignored,
              "beside": result.beside, "unknown": result.unknown}
    total, active, routed = (f"{counted[name]:,}" for name in ("total", "active", "routed"))
    lines = [say("parameters", type=str(result.model_type), total=total, active=active,
                 routed=routed)]
    published = result.published
    if published.stated:
        fits = "one" if published.precision else "none" if published.quantized else "unsaid"
        lines.append(say("format", stated=published.stated, precision=published.precision,
                         fits=fits))
    for what, names in fields.items():
        if names:
            lines.append(say("fields", what=what, names=listing(
                name if name.isprintable() else json_excerpt(name) for name in names)))
    return list(map(spoken, lines))


def write_model(target: Path, text: str, config: Path, force: bool) -> None:
    """Write a file at once or not at all; never over another one unless told to.

    Raises ParamsError saying why it cannot be written.
    """
    name = display_path(target)
    if target.suffix not in (".yml", ".yaml") or not target.name.isprintable():
        raise ParamsError(spoken(say("no-name", name=name)))
    try:
        if os.path.lexists(target):
            if target.exists() and target.samefile(config):
                raise ParamsError(spoken(say("configuration-itself", name=name)))
            if not force:
                raise ParamsError(spoken(say("exists", name=name)))
        if target.resolve().parent == ROOT / "models":
            text = f"{first_line('models')}\n{text}"
        write_whole(target, text.encode(), replace=force)
    except FileExistsError:
        raise ParamsError(spoken(say("exists", name=name))) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ParamsError(spoken(common("cannot-be-written", name=name,
                                        why=reason.lower()))) from None

