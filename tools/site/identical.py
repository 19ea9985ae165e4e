"""Two clean builds of the book, byte for byte: ``python -m tools.site.identical``.

What is committed is cloned into two empty folders and built in each, one after the other. All that
may not matter differs: where the project and its packages lie, the seed of hashes, the umask, time
zone and language. Each file that differs is printed, the exit code is 1 if one does, and what came
out is kept in ``identical.json`` beside this file. ``python -m tools.site.identical ONE OTHER``
compares two sites that are built already, and keeps nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.records import keep
from tools.site import building, printed

RECORD = Path(__file__).with_name("identical.json")
AROUND = 60  # bytes that are shown of where two files part


class Place(NamedTuple):
    """Where one of the builds is made, and what is said to it."""

    folder: str
    packages: str
    umask: int
    told: dict[str, str]


PLACES = (
    Place("one", ".venv", 0o022, {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"}),
    Place("other/below", "packages", 0o077,
          {"PYTHONHASHSEED": "2", "TZ": "Asia/Shanghai", "LC_ALL": "zh_CN.UTF-8"}),
)


def files(site: Path) -> dict[str, Path]:
    """Every file of a site by its path in it."""
    return {path.relative_to(site).as_posix(): path for path in sorted(site.rglob("*"))
            if path.is_file()}


def differing(one: Path, other: Path) -> Iterator[tuple[str, str]]:
    """Each file that is not the same in two sites, and how it differs."""
    here, there = files(one), files(other)
    for name in sorted(here.keys() | there.keys()):
        if name not in there or name not in here:
            yield name, f"only in {one if name in here else other}"
        elif (first := here[name].read_bytes()) != (second := there[name].read_bytes()):
            yield name, _parted(first, second)


def _parted(first: bytes, second: bytes) -> str:
    """Where two contents part, with what stands there."""
    at = next((place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
              min(len(first), len(second)))
    shown = (content[max(0, at - AROUND // 2):at + AROUND // 2] for content in (first, second))
    return f"from byte {at}: {next(shown)!r}, {next(shown)!r}"


def built(place: Place, root: Path, scratch: Path) -> Path:
    """Clone what is committed of the project at `root`, build its book, return the site."""
    tree, packages = scratch / place.folder / "tree", scratch / place.folder / place.packages
    done = subprocess.run(["git", "clone", "--quiet", "--shared", root, tree],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{root} is not cloned: {done.stderr.strip()}")
    packages.symlink_to(sys.prefix)
    python = packages / Path(sys.executable).relative_to(sys.prefix)
    seconds = building.build(tree, python, place.told, place.umask)
    print(f"built in {place.folder}: {seconds:.0f} s", flush=True)
    return tree / "_build" / "html"


def _keep(site: Path, found: list[tuple[str, str]]) -> None:
    """Write what came out of two builds, with the commit and the date."""
    commit = subprocess.run(["git", "-C", site, "rev-parse", "HEAD"], capture_output=True,
                            text=True, check=True).stdout.strip()
    held = files(site).values()
    keep(RECORD, commit=commit, files=len(held), bytes=sum(path.stat().st_size for path in held),
         different=[name for name, _ in found])


def main(argv: list[str] | None = None) -> int:
    """Print what differs; 1 if anything does, or nothing was there to compare."""
    parser = argparse.ArgumentParser(prog="python -m tools.site.identical",
                                     description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sites", nargs="*", type=Path, metavar="SITE", help="two built sites")
    sites = parser.parse_args(argv).sites
    if len(sites) not in (0, 2) or not all(files(site) for site in sites):
        parser.error("expected the folders html/ of two builds, or nothing")
    with tempfile.TemporaryDirectory() as scratch:
        one, other = sites or (built(place, printed.ROOT, Path(scratch)) for place in PLACES)
        found = list(differing(one, other))
        if not sites:
            _keep(one, found)
        for name, how in found:
            print(f"{name}: {how}")
        print(f"{len(files(one))} files compared, {len(found)} differ")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
