"""Write ``params/engines/`` from the released source of engines.

    python -m tools.engines [arguments] [checks] [classes] [--only vllm] [--cache DIR]

``arguments`` are options, variables and metrics of engines and their tools, ``checks`` the places
of the checks that ``params/engines/assertions/`` names, ``classes`` the classes of models that
releases register (default: all three). Source distributions (or wheels) are read from the package
index and checked against its SHA-256; their text is parsed and never run. Only releases that a file
lacks are read: what older releases wrote in other ways is in the files, and no longer understood.
A file is written as a whole or not at all. To add a release, add its version to
``tools/engines/engines.yml``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from catalogue.assertions import asserting
from catalogue.reading.files import ROOT, ParamsError, write_whole
from tools.engines.checks import checks_text
from tools.engines.extract import ENGINES, engine_text
from tools.engines.model_classes import READERS, classes_text
from tools.engines.source import ExtractError, Fetch, fetch

TARGET = ROOT / "engines"
PARTS = {  # part -> text of the file of an engine, and engine -> folder of the file
    "arguments": (engine_text, {name: engine.folder for name, engine in ENGINES.items()}),
    "checks": (checks_text, dict.fromkeys(asserting(), "checks")),
    "classes": (classes_text, dict.fromkeys(READERS, "models"))}


def main(argv: Sequence[str] | None = None, target: Path = TARGET, get: Fetch = fetch) -> int:
    """Write the files. Returns 0, or 1 after one sentence that says what stopped it."""
    parser = argparse.ArgumentParser(prog="python -m tools.engines",
                                     description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--only", choices=sorted(ENGINES), help="one engine instead of all")
    parser.add_argument("--cache", type=Path, help="folder that keeps what was downloaded")
    args = parser.parse_args(argv)
    try:
        for text, folders in map(PARTS.__getitem__, args.parts or PARTS):
            for name, folder in folders.items():
                if args.only in (None, name):
                    path = target / folder / f"{name}.yml"
                    write_whole(path, text(name, path, args.cache, get).encode())
    except (ExtractError, ParamsError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
