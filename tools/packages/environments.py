"""Environments that are made for a while, by uv, and what runs in them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")
SHOWN = 300  # signs of a reason


class EndedError(Exception):
    """A command ended with an error; the message is the end of what it says."""


def run(*words: str | Path) -> str:
    """What a command prints. Raises EndedError."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8",
                   "UV_LINK_MODE": "copy", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(words, cwd=ROOT, env=environment, text=True, capture_output=True,
                          check=False)
    if done.returncode:
        said = " ".join(done.stderr.split())[-SHOWN:]
        raise EndedError(said or f"exit code {done.returncode}, and nothing was said")
    return done.stdout


def made(folder: Path, python: str, *wanted: str) -> Path:
    """The interpreter of a new environment in `folder`, with what uv is told to install. Raises
    EndedError."""
    run(UV, "venv", "--quiet", "--python", python, folder)
    found = folder / "bin" / "python"
    run(UV, "pip", "install", "--quiet", "--python", found, *wanted)
    return found
