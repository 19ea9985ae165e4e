"""The edition of the book in the footer of each page, and the wheel in the site.

Footers are filled in after both languages are written, so that a commit rebuilds no page.
"""

from __future__ import annotations

import html
import shutil
import subprocess
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from .. import pipeline
from . import build, repository, scripts

BEGIN, END = "<!--edition-->", "<!--/edition-->"
BESIDE = ("docs/sbom.cdx.json",)
ENGINE = "engine"
DOWNLOADS = "downloads"  # what `make pdf` and `make zip` leave in the site
LAUNCHERS = {"colab": "Colab", "binder": "Binder"}
WORDS = {
    "en": {"edition": "Version {}", "commit": "commit {}", "data": "data as of {}",
           "source": "source", "issues": "issues", **LAUNCHERS,
           "whl": "engine", "zip": "the site as one file", "pdf": "PDF"},
    "zh": {"edition": "版本 {}", "commit": "提交 {}", "data": "数据截至 {}",
           "source": "源码", "issues": "问题反馈", **LAUNCHERS,
           "whl": "引擎", "zip": "整站打包", "pdf": "PDF"},
}


@dataclass(frozen=True)
class Edition:
    """Edition of the book.

    Attributes:
        version: of the package.
        commit: abbreviated, with a sign where files differ from it; empty without git.
        data: ISO date of the last change of ``params/``; empty without git.
        address: of the repository; empty where none is set.
        notebooks: stems of the committed notebooks.
    """

    version: str
    commit: str = ""
    data: str = ""
    address: str = ""
    notebooks: frozenset[str] = frozenset()


def git(root: Path, *words: str) -> str:
    """Output of git; empty without git or a repository."""
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True,
                              encoding="utf-8", check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def edition(root: Path) -> Edition:
    """Return the edition of the project at `root`, from its package and git."""
    return Edition(version("will-it-fit"),
                   git(root, "describe", "--always", "--dirty=+", "--exclude=*"),
                   git(root, "log", "-1", "--format=%cs", "--", "params"),
                   repository.address(root),
                   frozenset(path.stem for path in (root / "notebooks").glob("*.ipynb")))


def to_root(page: Path) -> str:
    """Relative address of the site's root from a page."""
    return "../" * (len(page.parts) - 1)


def notebook_of(page: Path, notebooks: frozenset[str]) -> str:
    """Stem of the committed notebook of a page of the site; empty for a page without one."""
    of_kind = {kind: stem for stem, kind in pipeline.TEMPLATES.items()}
    stem = of_kind.get(page.parent.name, page.stem)
    return stem if stem in notebooks else ""


def footer(shown: Edition, page: Path, site: Path) -> str:
    """Return the footer of a page: edition, links to the repository, downloads."""
    tag = "zh" if page.parts[0] == "zh" else "en"
    words = WORDS[tag]
    parts = [html.escape(words[name].format(value)) for name, value in (
        ("edition", shown.version), ("commit", shown.commit), ("data", shown.data)) if value]
    files = sorted((site / ENGINE).glob("*.whl"))
    files += sorted(path for path in (site / DOWNLOADS).glob("*")
                    if path.suffix == ".zip" or path.stem.endswith(f"-{tag}"))
    links = [(words[path.suffix[1:]], f"{to_root(page)}{path.relative_to(site).as_posix()}")
             for path in files]
    links += [(words[name], address) for name, address in repository.links(
        shown.address, notebook_of(page, shown.notebooks)).items()]
    return " · ".join([*parts, *(f'<a href="{html.escape(address)}">{html.escape(name)}</a>'
                                 for name, address in links)])


def stamp(site: Path, shown: Edition, since: int = 0) -> None:
    """Write the edition into every page of the built site; move scripts out of new pages.

    New pages are those written after `since` [ns].
    """
    for path in sorted(site.rglob("*.html")):
        inside = path.relative_to(site)
        text = path.read_text(encoding="utf-8")
        before, begin, rest = text.partition(BEGIN)
        _, end, after = rest.partition(END)
        line = footer(shown, inside, site) if end else ""
        finished = f"{before}{begin}{line}{end}{after}"
        if path.stat().st_mtime_ns >= since:
            finished = scripts.outward(finished, site, to_root(inside))
        if finished != text:
            pipeline.put(path, finished.encode())


def package(root: Path, site: Path) -> Path:
    """Write the wheel into the site, with its bill of materials beside it; return its path.

    It is built again only after a file that it is built from has changed.
    """
    beside = [root / name for name in BESIDE]
    made_from = pipeline.digest(*(part for path in [*build.sources(root), *beside] for part in
                                  (path.relative_to(root).as_posix(), path.read_bytes())))
    folder, mark = site / ENGINE, site.parent / ".engine"
    if mark.is_file() and mark.read_text() == made_from and (ready := sorted(folder.glob("*.whl"))):
        return ready[0]
    shutil.rmtree(folder, ignore_errors=True)
    wheel = build.build(root, folder)
    for path in beside:
        shutil.copyfile(path, folder / path.name)
    mark.write_text(made_from)
    return wheel


def finish(site: Path, root: Path, since: int = 0) -> None:
    """Write the wheel into the site and the edition into its pages.

    New pages are those written after `since` [ns]. A project without a package has no wheel.
    """
    if (root / "pyproject.toml").is_file():
        package(root, site)
    stamp(site, edition(root), since)
