"""Change the runtime for the worse, one line at a time, and run the tests that should see it.

    python -m tools.mutants [ROOM ...] [--count N] [--seed S] [--workers W] [--out FILE]
                            [--lines FILE [--first SECONDS]]
    python -m tools.mutants --again --out FILE [--workers W]

A mutant is a copy of the project with one change (``sites``). With a record of which test runs
which line (``lines``), those that run the changed one begin, the quickest first, within
``SECONDS``. If none fails, or nothing is recorded, the tests that import the changed module run,
the nearest first: a tenth of every series within ``SECONDS``, then whole series within ``MORE``:
a value in a cache is computed by one test and read by others. A mutant that no test sees has
survived: a law is missing, or nothing that anybody sees is changed. The tests of the house hold how
code is written and not what it does, so they are left out. Whatever sees a mutant must pass on the
project as it is. Times of tests are those that ``make test-all`` recorded. With ``--first`` only
tests that run the line begin, as many as take so many seconds: what they see is seen, what is left
may yet be. What ``--out`` holds of the same draw is not judged again, so a long run can be ended
and taken up.

``--again`` puts those that survived into the project as it is by now, and adds to each which test
sees it since (``seen_since``). One whose line is gone is left as it is.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tools import records
from tools.changed import RECORD, ROOT, Project, select
from tools.mutants.lines import tests_of
from tools.mutants.sites import Mutant, placed, sample

ROOMS = ("calc", "catalogue/deployments", "catalogue/planning", "catalogue/kernels")
SECONDS, MORE = 40.0, 240.0  # of tests, by the times recorded: at first, and of what is left
SLOWER = 4.0  # times as much of a processor a run may take before it counts as seen
START = 60.0  # seconds to begin, however little runs
WAITING = 20.0  # times as long it may take by the clock: others work on the machine too
MEMORY = 8 * 2**30  # bytes that a mutant may ask for
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
RUNNING: set[subprocess.Popen[str]] = set()  # tests that run now
ENDED = threading.Event()  # whether somebody ended this program
HOUSE = "tests/house/"
COLLECTION, TIME = "collection", "time"  # what saw a mutant beside a test
# exit codes of pytest: a test failed; one could not be collected; one that was named is not there
TESTED, INTERRUPTED, UNKNOWN = 1, 2, 4


def concerned(project: Project, path: Path, seconds: float) -> list[str]:
    """Files of tests of a changed file, the nearest first."""
    chosen = select([path], project.near([path]), project.recorded, seconds).chosen
    return [test for test in chosen if not test.startswith(HOUSE)]


def copy_project(folder: Path) -> None:
    """What git knows of the project or would take up, and the times of its tests."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
                            capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / RECORD).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(ROOT / RECORD, folder / RECORD)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)


def run_tests(folder: Path, tests: Iterable[str], seconds: float | None, *options: str
              ) -> tuple[int, str]:
    """Exit code of pytest in a copy, and what it printed; what takes far too long has failed."""
    if ENDED.is_set():
        raise SystemExit
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", *options, *tests],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        preexec_fn=lambda: _limit(seconds))
    RUNNING.add(process)
    try:
        printed, _ = process.communicate(timeout=None if seconds is None else WAITING * seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        printed, _ = process.communicate()
    finally:
        RUNNING.discard(process)
    if ENDED.is_set():
        raise SystemExit
    if process.returncode < 0:
        return TESTED, f"FAILED {TIME} - far more than is usual"
    return process.returncode, printed


def _limit(seconds: float | None) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if seconds is not None:
        most = round(START + SLOWER * seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _ended(number: int, _: Any) -> None:
    raise SystemExit(128 + number)


def seen_by(folder: Path, mutant: Mutant, project: Project, record: Path | None,
            first: float | None = None) -> str | None:
    """The first test that fails on a mutant; None if none does, of all or in so many seconds."""
    path = folder / mutant.path
    original = path.read_bytes()
    running = tests_of(record, mutant.path, original.decode(), mutant.line, project.recorded,
                       first or SECONDS) if record else []
    path.write_text(mutant.text, encoding="utf-8")
    try:
        stages = ((SECONDS, None), (SECONDS, "--short"), (MORE, "--whole"))
        for seconds, series in stages[:1 if first else None]:
            if series is None and not running:
                continue
            tests = concerned(project, Path(mutant.path), seconds) if series else running
            code, printed = run_tests(folder, tests, seconds, "-x", *(
                (series, "--seconds", str(seconds)) if series else ()))
            if code == UNKNOWN:
                raise SystemExit("mutants: tests that ran these lines are gone; make lines anew")
            if code in (TESTED, INTERRUPTED):
                found = FAILED.search(printed)
                return found[1] if found else COLLECTION
    finally:
        path.write_bytes(original)
    return None


def named(mutant: Mutant) -> dict[str, Any]:
    """Which change it is, as it is written down."""
    return {"path": mutant.path, "line": mutant.line, "kind": mutant.kind,
            "before": mutant.before, "after": mutant.after}


def judge(mutants: Sequence[Mutant], found: Collection[dict[str, Any]], workers: int,
          record: Path | None, tell: Callable[[Mutant, str | None, float], None],
          first: float | None = None) -> None:
    """Tell of every mutant which test saw it and in how many seconds, as soon as it is known.

    Whatever saw one of those that are ``found`` in the end is then run on the project as it is.
    """
    project = Project.now()
    if not project.recorded:
        raise SystemExit("mutants: no times of tests are recorded; run `make test-all` first")
    with tempfile.TemporaryDirectory(prefix="mutants-") as base:
        copies: SimpleQueue[Path] = SimpleQueue()
        for place in range(workers):
            folder = Path(base, str(place))
            folder.mkdir()
            copy_project(folder)
            copies.put(folder)

        def one(mutant: Mutant) -> None:
            folder, began = copies.get(), time.monotonic()
            try:
                test = seen_by(folder, mutant, project, record, first)
            finally:
                copies.put(folder)
            took = time.monotonic() - began
            print(f"{'survived' if test is None else 'killed':8} {took:4.0f} s  "
                  f"{mutant.path}:{mutant.line}  {mutant.before}  ->  {mutant.after}"
                  f"{f'  ({test})' if test else ''}", flush=True)
            tell(mutant, test, took)

        with ThreadPoolExecutor(workers) as pool:
            try:
                for _ in pool.map(one, mutants):
                    pass
            except BaseException:  # whoever ends this program ends its tests
                pool.shutdown(wait=False, cancel_futures=True)
                ENDED.set()
                for process in list(RUNNING):
                    _end(process)
                raise
        _check(found, copies.get())


def _check(found: Iterable[dict[str, Any]], folder: Path) -> None:
    """Whatever saw a mutant has to pass on the project as it is."""
    seen = {each.get("seen_since") or each["seen_by"] for each in found}
    tests = sorted(seen - {None, COLLECTION, TIME})
    code, printed = run_tests(folder, tests, None) if tests else (0, "")
    if code:
        raise SystemExit(f"mutants: mend these first, they fail on the project as it is: "
                         f"{', '.join(FAILED.findall(printed)) or printed[-1000:]}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw mutants, judge them, write what was found, and tell how many were seen."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", default=ROOMS, metavar="ROOM",
                        help=f"folders or files; {', '.join(ROOMS)} unless told")
    parser.add_argument("--count", type=int, default=20, help="of mutants, 20 unless told")
    parser.add_argument("--seed", type=int, default=0, help="of the draw, 0 unless told")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1,
                        help="that run at once, one per core unless told")
    parser.add_argument("--out", type=Path, help="a JSON file for what was found")
    parser.add_argument("--lines", type=Path,
                        help="which test runs which line, as make lines records it")
    parser.add_argument("--first", type=float, metavar="SECONDS",
                        help="of tests that run the line, and no others")
    parser.add_argument("--again", action="store_true", help="judge those of --out that survived")
    given = parser.parse_args(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _ended)
    if given.again:
        if given.out is None or not given.out.exists():
            parser.error("--again needs --out FILE with what was found")
        return again(given.out, given.workers)
    if given.first and not given.lines:
        parser.error("--first needs --lines FILE")
    files = [path for room in given.rooms for path in (
        sorted((ROOT / room).rglob("*.py")) if (ROOT / room).is_dir() else [ROOT / room])]
    if missing := [path for path in files if not path.is_file()]:
        parser.error(f"there is no {missing[0].relative_to(ROOT)}")
    drawn = sample(ROOT, files, given.count, given.seed)
    found = kept(given.out, drawn)

    def tell(mutant: Mutant, test: str | None, took: float) -> None:
        found.append(named(mutant) | {"seen_by": test, "seconds": round(took)})
        if given.out:
            records.keep(given.out, rooms=list(given.rooms), seed=given.seed, mutants=found)

    judge([each for each in drawn if not any(is_of(each, one) for one in found)],
          found, given.workers, given.lines, tell, given.first)
    killed = sum(each["seen_by"] is not None for each in found)
    print(f"{killed} of {len(found)} mutants were seen")
    return 0


def again(path: Path, workers: int) -> int:
    """Judge what a record says survived, and add the tests that see it since."""
    told = json.loads(path.read_text(encoding="utf-8"))
    left = {mutant: one for one in told["mutants"]
            if one["seen_by"] is None and not one.get("seen_since")
            and (mutant := placed(ROOT, one))}

    def tell(mutant: Mutant, test: str | None, _: float) -> None:
        if test:
            left[mutant]["seen_since"] = test
            records.keep(path, **{name: told[name] for name in ("rooms", "seed", "mutants")})

    judge(list(left), left.values(), workers, None, tell)
    print(f"{sum('seen_since' in one for one in left.values())} of {len(left)} are seen since")
    return 0


def kept(path: Path | None, drawn: Iterable[Mutant]) -> list[dict[str, Any]]:
    """What a file already tells of the mutants drawn."""
    if path is None or not path.exists():
        return []
    told = json.loads(path.read_text(encoding="utf-8"))["mutants"]
    return [one for one in told if any(is_of(each, one) for each in drawn)]


def is_of(mutant: Mutant, told: dict[str, Any]) -> bool:
    """Whether something written down is about a mutant."""
    return named(mutant).items() <= told.items()


if __name__ == "__main__":
    sys.exit(main())
