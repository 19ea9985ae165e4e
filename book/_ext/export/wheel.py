"""Commands of setuptools that build the wheel: all packages of the checkout below one.

setuptools loads this file by its path, without the book's extension. Templates and chapters that
a report needs are added.
"""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `_ext` itself needs Sphinx
bundle = importlib.import_module("export.bundle")
repository = importlib.import_module("export.repository")

DATA = ("params", "messages")
TEXTS = ("book/_ext/**/*", "book/_templates/*", "notebooks/supplements/*.md",
         "notebooks/derive/formulas/formulas.json", *bundle.CHAPTERS)


def gather(built: Path, root: Path) -> None:
    """Move the built packages below one package, and add the files of reports.

    Args:
        built: folder with copies of the packages.
        root: of the project.
    """
    package = built / bundle.PACKAGE
    for name in (*bundle.ROOMS, *DATA):
        shutil.rmtree(package / name, ignore_errors=True)
        (built / name).rename(package / name)
    for pattern in TEXTS:
        for path in root.glob(pattern):
            if path.is_file() and path.suffix != ".pyc":
                copy = package / path.relative_to(root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(bundle.needed(path, root))

    _rewrite(package, "*.py", bundle.bundled)
    _rewrite(package / "notebooks", "*.md", bundle.cells)


def _rewrite(folder: Path, pattern: str, change: Callable[[str], str]) -> None:
    for path in folder.rglob(pattern):
        text = path.read_text(encoding="utf-8")
        if (changed := change(text)) != text:
            path.write_text(changed, encoding="utf-8")


class BuildPy(build_py):
    """Builds the packages of a wheel; an editable install uses those of the checkout."""

    def run(self) -> None:
        """Copy the packages as setuptools does, then gather them below one."""
        super().run()
        if not self.editable_mode:
            gather(Path(self.build_lib), Path.cwd())


class EggInfo(egg_info):
    """Writes the metadata, with links to the repository where its address is set."""

    def finalize_options(self) -> None:
        """Add the links before the metadata is written."""
        url = repository.address(Path.cwd())
        self.distribution.metadata.project_urls = {
            name.capitalize(): link for name, link in repository.links(url, "scenario").items()}
        super().finalize_options()
