"""A goal as it is asked: its file, with what flags say in place of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from calc.many.processes import Told, silent
from calc.searching.result import Answer, Starts
from calc.searching.search import search as found_of
from catalogue import ParamsError, load
from catalogue.library import Override
from catalogue.planning.goals import ANY, MEAN, Goal
from catalogue.reading import yamlfile

LISTS = ("devices", "precisions", "engines", "objectives")
TIMES = ("limits.ttft", "limits.tpot", "limits.e2e")
LISTS_OF = "space."  # whose keys are lists, but for one
SINGLE = ("space.block_size", "space.staged_groups", "space.staged_drafts", "space.any_format",
          "space.any_engine")


def load_goal(reference: str | Path, settings: Iterable[str] = ()) -> Goal:
    """A goal with overrides.

    >>> load_goal("r1-64-users-8xh20", ["demand.users=32", "devices=nvidia-h20,nvidia-h200-sxm"]
    ...           ).demand.users
    32

    Args:
        reference: identifier, or path of a goal's file.
        settings: ``KEY=VALUE`` with dotted keys; parts of a list stand with commas between them.

    Raises ParamsError, one sentence, for what cannot be used.
    """
    found: dict[str, Override] = {}
    for key, override in map(_setting, settings):
        limit, _, at = key.rpartition(".")
        if key in TIMES:
            limit, at = key, MEAN
        if limit in TIMES:  # with those of other percentiles, not with the file's own
            before = found[limit].raw if limit in found else {}
            now = override.raw if isinstance(override.raw, dict) else {at: override.raw}
            if key == limit and override.raw is None:  # what stands before is taken away
                before, now = {}, {}
            found[limit] = Override({**before, **now}, override.origin)
        else:
            found[key] = override
    for limit in TIMES:  # alone it is told as it was given
        if limit in found and not {*found[limit].raw} - {MEAN}:
            found[limit] = Override(found[limit].raw.get(MEAN), found[limit].origin)
    goal: Goal = load("goals", reference, found)
    return goal


def search(goal: Goal | str | Path, settings: Iterable[str] = (), workers: int = 1,
           starts: Starts | None = None, told: Told = silent) -> Answer:
    """What meets a goal: every deployment that it allows is tried.

    >>> answer = search("r1-64-users-8xh20", ["devices=nvidia-h20", "precisions=fp8-block"])
    >>> answer.met
    True

    Args:
        goal: one that is loaded, its identifier, or the path of its file.
        settings: ``KEY=VALUE`` with dotted keys, for a goal that is not loaded.
        workers: processes that share the work; the answer is the same.
        starts: which release starts a deployment; None to tell also what none starts.
        told: how far the search is, as ``calc.searching.search`` has it.

    Raises ParamsError, one sentence, for a goal that cannot be used, or contradicts itself.
    """
    asked = goal if isinstance(goal, Goal) else load_goal(goal, settings)
    return Answer(found_of(asked, workers=workers, told=told), starts=starts)


def _setting(text: str) -> tuple[str, Override]:
    key, equals, raw = (part.strip() for part in text.partition("="))
    if not (key and equals and raw):
        plain = unicodedata.normalize("NFKC", text)
        raise ParamsError(f"--set {text}: expected KEY=VALUE, such as "
                          f"{plain if '=' in plain and plain != text else 'limits.tpot=50ms'}.")
    origin = f"--set {key}"
    if key in TIMES and raw.startswith("{"):
        return key, Override(_percentiles(key, raw), origin)
    listed = (key in LISTS or key.startswith(LISTS_OF)) and key not in SINGLE and raw != ANY
    if listed and raw.startswith("[") and raw.endswith("]"):
        raw = raw[1:-1]
    try:
        value: Any = ([yamlfile.scalar(part.strip()) for part in raw.split(",")] if listed
                      else yamlfile.scalar(raw))
    except ValueError as error:
        raise ParamsError(f"{origin}: {error}.") from None
    return key, Override(value, origin)


def _percentiles(key: str, raw: str) -> dict[str, str]:
    """Times by percentile, written as a goal's file has them: ``{p90: 2 s, p99: 5 s}``."""
    parts = [part.partition(":") for part in raw.strip("{} ").split(",")]
    found = {name.strip(): time.strip() for name, _, time in parts}
    if not raw.endswith("}") or not all(found) or not all(found.values()):
        raise ParamsError(f"--set {key}: '{raw[:60]}' is no time and no times by percentile, "
                          f"expected {key}.p90=2s, or {key}={{p90: 2 s}}.")
    return found
