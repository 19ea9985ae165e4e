"""``import-model``: a model file from the ``config.json`` of a Hugging Face model."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from calc.answer.estimate import parameters
from calc.commands.printing import OK, print_json
from catalogue import ROOT
from catalogue.models.huggingface import Imported, import_config
from catalogue.reading.errors import ParamsError
from catalogue.reading.files import write_whole
from catalogue.reading.jsonfile import json_excerpt, shown_path
from catalogue.shipped import first_line


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``import-model`` takes, besides ``--json``."""
    command.add_argument("config", help="the config.json of a Hugging Face model")
    command.add_argument("-o", "--output", metavar="FILE",
                         help="write the model file there (NAME.yml) instead of printing it")
    command.add_argument("--name", help="the model's name; by default what the configuration, "
                                        "its folder or its file says")
    command.add_argument("--force", action="store_true", help="overwrite FILE where it exists")


def run(args: argparse.Namespace) -> int:
    """Print or write the model file, and say what became of every field.

    Raises ParamsError for a configuration that cannot be used and a file that cannot be written;
    nothing is written then.
    """
    config = Path(args.config)
    result = import_config(config, args.name)
    counted = parameters(result.model)
    if args.output is not None:
        _write(Path(args.output), result.text, config, args.force)
    if args.json:
        print_json({
            "model": result.data, "used": result.used, "ignored": result.ignored,
            "unknown": result.unknown, "implied": result.comments, "parameters": counted,
        })
        return OK
    if args.output is None:
        sys.stdout.write(result.text)
        sys.stdout.flush()
    for line in _report(result, counted):
        print(line, file=sys.stderr)
    if args.output is not None:
        print(f"written: {shown_path(Path(args.output))}", file=sys.stderr)
    return OK


def _report(result: Imported, counted: dict[str, int]) -> list[str]:
    """What became of every field, and the parameters counted from the shapes [1]."""
    implied = [f"{field} ({why})" for field, why in result.comments.items()]
    fields = {
        "used": list(result.used), "not stated as such": implied,
        "known to change no count": result.ignored, "unknown, not used": result.unknown,
    }
    lines = [f"model_type {result.model_type}: {counted['total']:,} parameters, "
             f"{counted['active']:,} active, {counted['routed']:,} in routed experts."]
    for title, names in fields.items():
        if names:
            lines.append(f"{title}: "
                         + ", ".join(name if name.isprintable() else json_excerpt(name)
                                     for name in names))
    return lines


def _write(target: Path, text: str, config: Path, force: bool) -> None:
    """Write a file at once or not at all; never over another one unless told to.

    Raises ParamsError saying why it cannot be written.
    """
    name = shown_path(target)
    if target.suffix not in (".yml", ".yaml") or not target.name.isprintable():
        raise ParamsError(f"{name}: not the name of a model file, expected one that ends in .yml.")
    try:
        if os.path.lexists(target):
            if target.exists() and target.samefile(config):
                raise ParamsError(f"{name}: the configuration itself, expected another file.")
            if not force:
                raise ParamsError(f"{name}: the file exists, --force overwrites it.")
        if target.resolve().parent == ROOT / "models":
            text = f"{first_line('models')}\n{text}"
        write_whole(target, text.encode(), replace=force)
    except FileExistsError:
        raise ParamsError(f"{name}: the file exists, --force overwrites it.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ParamsError(f"{name}: cannot be written ({reason.lower()}).") from None

