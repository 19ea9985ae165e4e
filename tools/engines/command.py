"""The command line of what writes files from released source: which engines, and what stops it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from catalogue.reading.files import ParamsError, write_whole
from tools.engines.source import ExtractError, Fetch

Text = Callable[[str, Path | None, Fetch], str]


def run(module: str, doc: str | None, files: Mapping[str, Path], text: Text,
        argv: Sequence[str] | None, get: Fetch) -> int:
    """Write the files of all engines, or of the one that is asked for.

    Args:
        module: whose command it is.
        doc: what it says of itself; the first line is told.
        files: by engine.
        text: of the file of an engine, from its name, the cache and what downloads.
        argv: arguments; those of the process, if absent.
        get: downloads.

    Returns 0, or 1 after one sentence that says what stopped it.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}",
                                     description=(doc or "").split("\n", 1)[0])
    parser.add_argument("--only", choices=sorted(files), help="one engine instead of all")
    parser.add_argument("--cache", type=Path, help="folder that keeps what was downloaded")
    args = parser.parse_args(argv)
    for name in [args.only] if args.only else files:
        try:
            content = text(name, args.cache, get)
            files[name].parent.mkdir(parents=True, exist_ok=True)
            write_whole(files[name], content.encode())
        except (ExtractError, ParamsError) as error:
            print(error, file=sys.stderr)
            return 1
        except OSError as error:
            print(f"{error.filename or files[name]}: cannot be written or read "
                  f"({(error.strerror or 'unknown reason').lower()}).", file=sys.stderr)
            return 1
    return 0
