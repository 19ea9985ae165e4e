"""The course of a build: notebooks first, then both languages at once, strictly.

The build that the reader starts is the English one. It runs the notebooks before the table of
contents is read, starts the Chinese pass as a process of its own, and waits for it at the end; its
warnings become warnings of this build. Any warning fails the build, and a build that failed or was
interrupted leaves a marker, so that the next one starts afresh and mends what is on disk.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

from docutils import nodes
from myst_nb.ext.glue.crossref import PendingGlueReference
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from . import pipeline
from .export import edition

LOGGER = logging.getLogger(__name__)
FIRST = "en"
SECOND = "zh_CN"
FOLDERS = ("templates_path", "html_static_path")  # settings that name folders
PASTES = "pastes"  # in the metadata of a page that shows numbers of another
NOT_BUILT = "The book was not built"
WARNING = re.compile(r"(WARNING|ERROR|CRITICAL): ")


def second_pass(app: Sphinx, fresh: bool) -> subprocess.Popen[str]:
    """Start the Chinese pass, a process that writes into ``zh/`` of the published site.

    `fresh` makes it forget what it knew of the pages.
    """
    doctrees, source = second_doctrees(app), Path(app.srcdir)
    if fresh:
        shutil.rmtree(doctrees, ignore_errors=True)
    configs = [folder / "_config.yml" for folder in (source, *source.parents)]
    settings = {
        "sourcedir": str(source), "outputdir": str(Path(app.outdir) / "zh"),
        "doctreedir": str(doctrees),
        "path_config": str(next(path for path in configs if path.is_file())),
        "external_toc_path": app.config.external_toc_path,
        "nitpicky": bool(app.config.nitpicky), "language": SECOND,
    }
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("second_pass.py")), json.dumps(settings)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        encoding="utf-8")
    atexit.register(process.kill)
    return process


def warnings_of(process: subprocess.Popen[str]) -> list[str]:
    """Wait for a pass; return its warnings, at least one if it failed."""
    errors = process.communicate()[1]
    messages: list[str] = []
    for line in errors.splitlines():
        if WARNING.search(line):
            messages.append(line)
        elif messages:
            messages[-1] += f"\n{line}"
        elif process.returncode:
            messages.append(line)
    if process.returncode and not messages:
        messages.append(f"the pass ended with exit code {process.returncode}")
    return messages


_locks: list[IO[str]] = []
_second: list[subprocess.Popen[str]] = []
_changed: list[str] = []
_before: list[str] = []


def second_doctrees(app: Sphinx) -> Path:
    """Name the folder in which the Chinese pass keeps what it knows of the pages."""
    return Path(app.outdir).parent / ".doctrees-zh"


def _marker(app: Sphinx) -> Path:
    """Name the file that is there while the site on disk may be wrong."""
    return Path(app.outdir).parent / ".unfinished"


def hold_alone(folder: Path) -> None:
    """Hold this folder's lock until the process ends; leave if another build holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / ".lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise SystemExit(f"{NOT_BUILT}: another build of it is running.") from None
    _locks.append(lock)  # closing it, or ending in whatever way, gives the lock back


def begin(app: Sphinx, config: Config) -> None:
    """Make the build strict and, in the first pass, bring the notebooks up to date."""
    app.warningiserror, app.keep_going = False, True
    if config.language != FIRST:
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    marker = _marker(app)
    hold_alone(marker.parent)
    if marker.exists():
        for folder in (Path(app.doctreedir), second_doctrees(app)):
            shutil.rmtree(folder, ignore_errors=True)
    marker.touch()
    for draft in list(Path(app.outdir).rglob(f"{pipeline.DRAFT}*")):
        draft.unlink() if draft.is_file() else shutil.rmtree(draft, ignore_errors=True)
    try:
        pipeline.build(Path(app.srcdir).parent, LOGGER.info)
    except pipeline.NotebookError as error:
        raise SystemExit(f"{NOT_BUILT}.\n{error}") from None


def prepare(app: Sphinx) -> None:
    """Give each language its own folder for figures; note what pages show of each other."""
    figures = Path(app.doctreedir).with_name(f"figures-{app.config.language}")
    notebooks: Any = app.env  # myst-nb keeps its settings there
    notebooks.mystnb_config = notebooks.mystnb_config.copy(output_folder=str(figures))
    _before.append(shown_elsewhere(app.env))
    forget_places(app)


def forget_places(app: Sphinx) -> None:
    """Hash of the settings, for ``.buildinfo``, what does not say where packages are installed.

    The theme and extensions add folders of their own to them, as absolute paths.
    """
    builder: Any = app.builder
    if not hasattr(builder, "create_build_info"):
        return
    folders = {name: getattr(app.config, name) for name in FOLDERS}
    for name, paths in folders.items():
        setattr(app.config, name, [Path(path).name for path in paths])
    builder.build_info = builder.create_build_info()
    for name, paths in folders.items():
        setattr(app.config, name, paths)


def _is_site(app: Sphinx) -> bool:
    """Tell whether this is the pass that leads, and what it makes is the site."""
    return app.config.language == FIRST and app.builder.name == "html"


def _publish(app: Sphinx) -> None:
    """Put the engine into the site, and the edition onto the pages of both languages."""
    edition.finish(Path(app.outdir), Path(app.srcdir).parent, _marker(app).stat().st_mtime_ns)


def shown_elsewhere(env: BuildEnvironment) -> str:
    """Hash what pages show of other pages: titles, sections, captions, labels, and numbers."""
    labels, equations = env.domaindata["std"], env.domaindata["math"]
    slugs = {name: {slug: entry[1:] for slug, entry in data.get("myst_slugs", {}).items()}
             for name, data in env.metadata.items()}  # without the line, which moves
    parts = [{name: title.astext() for name, title in env.titles.items()},
             {name: toc.pformat() for name, toc in env.tocs.items()}, env.toctree_includes,
             labels["labels"], labels["anonlabels"], equations["objects"], slugs,
             env.toc_secnumbers, env.toc_fignumbers]
    return pipeline.digest(*(repr(sorted(part.items())) for part in parts))


def is_complete_build(app: Sphinx) -> bool:
    """Tell whether every page is there, in both languages, and none has lost its source."""
    pages = [Path(app.outdir) / "zh" / f"{name}.html" for name in app.env.found_docs]
    return (shown_elsewhere(app.env) == _before[-1] and all(page.is_file() for page in pages)
            and not any(app.builder.get_outdated_docs()))


def begin_reading(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Start the Chinese pass of an HTML build, or end the build where nothing has changed."""
    _changed.extend(docnames)
    if not _is_site(app):
        return
    if not docnames and is_complete_build(app):
        _publish(app)
        _marker(app).unlink()
        LOGGER.info("The book is up to date.")
        raise SystemExit(0)
    _second.append(second_pass(app, fresh=not env.all_docs))


def note_pasting(app: Sphinx, doctree: nodes.document) -> None:
    """Remember of a page that it pastes numbers which others have computed."""
    if any(True for _ in doctree.findall(PendingGlueReference)):
        app.env.metadata[app.env.docname][PASTES] = True


def write_others(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages to write besides those that were read anew.

    These are all, where something changed that others show, else those that paste numbers.
    """
    if shown_elsewhere(env) != _before[-1]:
        return sorted(env.found_docs)
    return sorted(name for name in env.found_docs if _changed and PASTES in env.metadata[name])


def remove_orphans(outdir: Path, wanted: set[str]) -> None:
    """Delete pages, and their downloads, of notebooks that are not in the book any more."""
    for page in sorted((outdir / "chapters").rglob("*.html")):
        docname = page.relative_to(outdir).with_suffix("").as_posix()
        if docname not in wanted:
            page.unlink()
            (outdir / "_sources" / f"{docname}.ipynb").unlink(missing_ok=True)


def finish_build(app: Sphinx, exception: Exception | None) -> None:
    """Wait for the Chinese pass, report its warnings, and put the edition onto the pages."""
    if exception:
        return
    while _second:  # a warning that raises has this called again
        for message in warnings_of(_second.pop()):
            LOGGER.warning("%s", f"[{SECOND}] {message}")
    if app.builder.name == "html":
        remove_orphans(Path(app.outdir), set(app.env.found_docs))
    if _is_site(app):
        _publish(app)


def close(app: Sphinx, exception: Exception | None) -> None:
    """Note that a build had no warning, the last thing that it does."""
    if exception is None and app.config.language == FIRST and not app._warncount:
        _marker(app).unlink(missing_ok=True)
    gc.freeze()  # or the process, before it ends, looks through all pages once more


def setup(app: Sphinx) -> None:
    """Connect the handlers; the table of contents is read at priority 900."""
    gc.disable()  # pages are large and stay until the end: looking through them finds nothing
    app.connect("config-inited", begin, priority=100)
    app.connect("builder-inited", prepare, priority=900)
    app.connect("env-before-read-docs", begin_reading)
    app.connect("doctree-read", note_pasting)
    app.connect("env-get-updated", write_others, priority=900)  # after figures got their numbers
    app.connect("build-finished", finish_build, priority=900)
    app.connect("build-finished", close, priority=1000)
