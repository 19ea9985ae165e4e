"""Which release of an engine starts what a search tells: what ``deploy`` says of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from calc.answer.startup_line import POOLS
from calc.launching.pools import ENGINES, Overloaded, check_start
from calc.layouts.layout import Row, Start, as_asked
from calc.many.processes import Told, silent
from calc.searching import selection
from calc.searching.selection import Answer
from catalogue import ParamsError, Scenario, load_device, load_model, load_precision, made_scenario
from catalogue.deployments.admission import cut_of, problems, subject_of
from catalogue.engines.engine import load_engine
from catalogue.engines.released import AT, CANDIDATE
from catalogue.entries.models import OWN_LAYER
from catalogue.kernels import checkpoint_for, checkpoint_words, kernels_of, tables
from catalogue.planning.goals import Goal


def start(goal: Goal, row: Row) -> Start:
    """The newest release that starts a deployment, as ``deploy`` writes it for a file of it.

    Each release is asked in turn whether it runs the formats, loads the layout, takes every flag
    and asserts nothing against them together; candidates of a release after all others.

    Args:
        goal: whose requests it serves.
        row: the deployment, of one pool or two.
    """
    why = ""
    for engine in _releases(goal, row):
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


def started_pools(goal: Goal, row: Row, engine: str) -> dict[str, Scenario]:
    """Return the pools of a deployment under an engine that starts it, by their names.

    Args:
        goal: whose requests it serves.
        row: the deployment, of one pool or two.
        engine: with its release.
    """
    return dict(zip(POOLS if row.prefill else ("serve",), _scenarios(goal, row, engine),
                    strict=True))


def _scenarios(goal: Goal, row: Row, engine: str) -> Iterator[Scenario]:
    """Yield the pools under an engine. Raises ParamsError for what it is known not to load."""
    for choice in row.choices:
        scenario = made_scenario(as_asked(goal, choice) | {"engine": engine},
                                 Path(f"{goal.id}.yml"))
        for problem in problems(subject_of(scenario), cut_of(scenario)):
            raise ParamsError(f"{problem.text['en']}.")
        yield scenario


def _releases(goal: Goal, row: Row) -> Iterator[str]:
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


def search(goal: Goal | str | Path, settings: Iterable[str] = (), workers: int = 1,
           told: Told = silent) -> Answer:
    """What meets a goal and is started by a release: as ``calc.searching.selection.search_goal``.

    >>> answer = search("r1-64-users-8xh20", ["devices=nvidia-h20", "precisions=fp8-block"])
    >>> answer.start(answer.best).text
    'start with: deploy --engine vllm@0.33.0'
    """
    return selection.search_goal(goal, settings, workers, start, told)
