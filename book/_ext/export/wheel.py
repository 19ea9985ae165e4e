"""Commands of setuptools that build the wheel: all packages of the checkout below one.

setuptools loads this file by its path, without the book's extension.
"""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `_ext` itself needs Sphinx
bundle = importlib.import_module("export.bundle")
repository = importlib.import_module("export.repository")

DATA = ("params", "messages")


def gather(built: Path) -> None:
    """Move the built packages in a folder below one package."""
    package = built / bundle.PACKAGE
    for name in (*bundle.ROOMS, *DATA):
        shutil.rmtree(package / name, ignore_errors=True)
        (built / name).rename(package / name)
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if (changed := bundle.bundled(text)) != text:
            path.write_text(changed, encoding="utf-8")


class BuildPy(build_py):
    """Builds the packages of a wheel; an editable install uses those of the checkout."""

    def run(self) -> None:
        """Copy the packages as setuptools does, then gather them below one."""
        super().run()
        if not self.editable_mode:
            gather(Path(self.build_lib))


class EggInfo(egg_info):
    """Writes the metadata, with links to the repository where its address is set."""

    def finalize_options(self) -> None:
        """Add the links before the metadata is written."""
        url = repository.address(Path.cwd())
        self.distribution.metadata.project_urls = {
            name.capitalize(): link for name, link in repository.links(url, "scenario").items()}
        super().finalize_options()
