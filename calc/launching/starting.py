"""Which release of an engine starts what a search tells: what ``deploy`` says of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from calc.launching.deployed_pools import ENGINES, Overloaded, check_start
from calc.layouts.layout import Row, Start
from calc.many.processes import OnProgress, silent
from calc.searching import selection
from calc.searching.report import SearchReport
from calc.searching.search import Stopped
from calc.searching.selection import Selection, started_pools
from catalogue import ParamsError, load_device, load_model, load_precision
from catalogue.engine import AT, CANDIDATE, load_engine
from catalogue.entries.models import OWN_LAYER
from catalogue.kernels import checkpoint_for, checkpoint_words, kernels_of, tables
from catalogue.planning import Goal


def start(goal: Goal, row: Row) -> Start:
    """The newest release that starts a deployment, as ``deploy`` writes it for a file of it.

    Each release is asked in turn whether it runs the formats, loads the layout, takes every flag
    and asserts nothing against them together; candidates of a release after all others.

    Args:
        goal: whose requests it serves.
        row: the deployment, of one pool or two.
    """
    why = ""
    for engine in releases_for(goal, row):
        try:
            check_start(started_pools(goal, row, engine))
        except ParamsError as error:
            if isinstance(error, Overloaded) and not why:
                return Start(None, str(error).rstrip("."), overloaded=True)
            why = why or str(error).rstrip(".")
        else:
            key = (load_model(goal.model), load_precision(row.choice.precision),
                   engine.partition(AT)[0], load_device(row.choice.device),
                   row.choice.draft_method or (OWN_LAYER if row.choice.drafts else None))
            checkpoint = checkpoint_for(*key)
            return Start(engine, checkpoint=checkpoint.repository if checkpoint else None,
                         loads=checkpoint_words(*key))
    return Start(None, why or f"no engine whose flags are known runs {row.choice.precision} on "
                              f"'{row.choice.device}'")


def releases_for(goal: Goal, row: Row) -> Iterator[str]:
    """Releases that may start it: the one that it names, or those of each engine that have kernels
    of its formats, engines with native ones first, the newest release first."""
    if row.choice.engine is not None:
        yield row.choice.engine
        return
    model = load_model(goal.model)
    runs = [{tables()[kernel.engine].engine: kernel for kernel in kernels_of(
        load_precision(choice.precision), load_device(choice.device), model)}
        for choice in row.choices]
    for name in (name for name in runs[0] if name in ENGINES and all(name in of for of in runs)):
        versions = [version for version in load_engine(name).versions[::-1]
                    if all(of[name].holds(version) for of in runs)]
        yield from (f"{name}{AT}{version}" for version in sorted(
            versions, key=lambda version: CANDIDATE in version))


def select(goal: Goal | str | Path, settings: Iterable[str] = (), workers: int = 1,
           progress: OnProgress = silent) -> Selection:
    """Deployments that meet a goal and are started by a release, as
    ``calc.searching.selection.select``."""
    return selection.select(goal, settings, workers, start, progress)


def search(goal: Goal | str | Path, settings: Iterable[str] = (), workers: int = 1,
           progress: OnProgress = silent, everything: bool = False) -> SearchReport:
    """The finished answer to a goal, of deployments that a release starts.

    >>> report = search("r1-64-users-8xh20", ["devices=nvidia-h20", "precisions=fp8-block"])
    >>> report.rows[0].start.text
    'start with: deploy --engine vllm@0.33.0'

    Args:
        goal: one that is loaded, its identifier, or the path of its file.
        settings: ``KEY=VALUE`` with dotted keys, for a goal that is not loaded.
        workers: processes that share the work; the answer is the same.
        progress: of the search, then of the ranking, 0 of 0.
        everything: also the best of each format and card, and the best inside of what was measured.

    Raises ParamsError, one sentence, for a goal that cannot be used, or contradicts itself; Stopped
    when it is interrupted.
    """
    chosen = select(goal, settings, workers, progress)
    progress("ranking", 0, 0)
    try:
        return SearchReport.of(chosen, everything)
    except KeyboardInterrupt:
        raise Stopped(chosen.result, len(chosen.result.bases)) from None
