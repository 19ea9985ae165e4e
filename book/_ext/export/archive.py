"""Pack the built site into a ZIP file: ``python -m _ext.export.archive``, from ``book``.

It contains the PDFs, where they exist, but not itself. Its pages open from the disk.
"""

from __future__ import annotations

import stat
import sys
import tempfile
import zipfile
from pathlib import Path

from .. import languages, pipeline
from . import edition

ROOT = Path(__file__).resolve().parents[3]
NAME = "will-it-fit-site"
READABLE = (stat.S_IFREG | 0o644) << 16  # for a ZIP, where the mode of a file stands


def pack(site: Path, root: Path = ROOT) -> Path:
    """Write the site as a ZIP file into its downloads, and link it from every page."""
    target = site / edition.DOWNLOADS / f"{NAME}.zip"
    target.parent.mkdir(exist_ok=True)
    target.unlink(missing_ok=True)
    edition.finish(site, root)  # pages of the file do not offer it
    with tempfile.TemporaryDirectory(prefix=pipeline.DRAFT, dir=target.parent) as folder:
        archive_path = Path(folder) / target.name
        with zipfile.ZipFile(archive_path, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(site.rglob("*")):
                if path.is_file() and not path.is_relative_to(folder):
                    entry = zipfile.ZipInfo(f"{NAME}/{path.relative_to(site).as_posix()}")
                    entry.external_attr = READABLE  # and of 1980, whenever it was written
                    archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
        archive_path.replace(target)
    edition.finish(site, root)
    return target


def main() -> None:
    """Pack the site that ``make book`` built."""
    site = ROOT / "_build" / "html"
    if not all((site / language["folder"] / "index.html").is_file()
               for language in languages.SITES):
        sys.exit("There is no built book in both languages: run make book first.")
    print(pack(site))


if __name__ == "__main__":
    main()
