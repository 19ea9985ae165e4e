"""Build the wheel: ``python book/_ext/export/build.py FOLDER``; requires setuptools alone.

The same sources give the same bytes: setuptools runs in a copy of the packaged files, with fixed
dates and modes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("will_it_fit", "params", "messages", "catalogue", "calc", "kernels", "notebooks",
           "book/_ext", "book/_templates")
FILES = ("pyproject.toml", "_config.yml", "requirements-*.in", "requirements.in", "README.md",
         "LICENSE*", "book/*.md")
EPOCH = {"SOURCE_DATE_EPOCH": "315532800"}  # 1980, the earliest date of a ZIP entry
READABLE, UMASK = 0o644, 0o022
BACKEND = "from setuptools.build_meta import build_wheel; build_wheel('wheels')"


def sources(root: Path) -> Iterator[Path]:
    """Yield the files of the project at `root` that the wheel is built from, sorted."""
    for pattern in FILES:
        yield from sorted(root.glob(pattern))
    for folder in FOLDERS:
        yield from sorted(path for path in (root / folder).rglob("*")
                          if path.is_file() and "__pycache__" not in path.parts)


def build(root: Path, folder: Path) -> Path:
    """Write the wheel of the project at `root` into `folder` and return its path.

    Raises RuntimeError with the output of setuptools if the build fails.
    """
    with tempfile.TemporaryDirectory() as work:
        for path in sources(root):
            copy = Path(work) / path.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            copy.chmod(READABLE)
        done = subprocess.run([sys.executable, "-c", BACKEND], cwd=work, env=os.environ | EPOCH,
                              umask=UMASK, capture_output=True, text=True, check=False)
        wheels = list(Path(work, "wheels").glob("*.whl"))
        if done.returncode or not wheels:
            raise RuntimeError(f"the wheel was not built: {done.stderr.strip()}")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(wheels[0], folder / wheels[0].name))


if __name__ == "__main__":
    print(build(Path(__file__).resolve().parents[3], Path(sys.argv[1])))
