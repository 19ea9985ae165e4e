"""The command line of what writes files from released source: which engines, and what stops it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from catalogue.reading.errors import ParamsError
from tools.engines.source import ExtractError, Fetch

Write = Callable[[str, Path, Path | None, Fetch], object]


def run(module: str, doc: str | None, names: Iterable[str], write: Write,
        argv: Sequence[str] | None, target: Path, get: Fetch) -> int:
    """Write the files of all engines, or of the one that is asked for.

    Args:
        module: whose command it is.
        doc: what it says of itself; the first line is told.
        names: of the engines.
        write: writes one of them, from its name, the folder, the cache and what downloads.
        argv: arguments; those of the process, if absent.
        target: folder that is written.
        get: downloads.

    Returns 0, or 1 after one sentence that says what stopped it.
    """
    names = list(names)
    parser = argparse.ArgumentParser(prog=f"python -m {module}",
                                     description=(doc or "").split("\n", 1)[0])
    parser.add_argument("--only", choices=sorted(names), help="one engine instead of all")
    parser.add_argument("--cache", type=Path, help="folder that keeps what was downloaded")
    args = parser.parse_args(argv)
    for name in [args.only] if args.only else names:
        try:
            write(name, target, args.cache, get)
        except (ExtractError, ParamsError) as error:
            print(error, file=sys.stderr)
            return 1
        except OSError as error:
            print(f"{error.filename or target}: cannot be written or read "
                  f"({(error.strerror or 'unknown reason').lower()}).", file=sys.stderr)
            return 1
    return 0
