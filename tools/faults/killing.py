"""One kill: a command is started, ended by a signal after a while, and what is left is counted."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from random import Random

from catalogue.reading.files import BEGINNING
from tools.faults.victims import PROJECT, Victim

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CODES = {signal.SIGTERM: 128 + signal.SIGTERM, signal.SIGINT: 128 + signal.SIGINT}
MARK = "WILL_IT_FIT_FAULT"  # variable of the environment by which our processes are known
LASTING = 30.0  # s that a process may take to end after the one that started it
LATEST = 0.9  # of a run's time: the last moment at which it is killed
WITH_KERNELS = 8.0  # s: how long a build is let run after its first kernel
OWN = (".jupyter", ".config", ".cache")  # of libraries, in a home of its own: settings, not drafts


@dataclass(frozen=True)
class Left:
    """What a kill has left.

    Attributes:
        processes: that lived on.
        files: that lay about after the same command ran again, or that were not whole.
        unclear: why its end, or that of the run after it, is none that we want; empty where it is.
        late: whether the command had ended before.
    """

    processes: int
    files: tuple[str, ...]
    unclear: str
    late: bool = False


class Place:
    """A folder with a home, a folder for temporary files and one to write to, all empty."""

    def __init__(self, folder: Path, victim: Victim) -> None:
        self.victim, self.out = victim, folder / "out"
        self.own = [folder / "home", folder / "tmp"]
        self.mark = uuid.uuid4().hex
        for path in self.own:
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir(parents=True)
        victim.prepare(self.out)

    def start(self) -> subprocess.Popen[str]:
        """Start the command, as a terminal would: a group of its own that takes a Ctrl-C."""
        home, temporary = map(str, self.own)
        path = self.out if self.victim.builds else PROJECT
        return subprocess.Popen(
            self.victim.command(self.out), cwd=path, text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=os.environ | {MARK: self.mark, "HOME": home, "TMPDIR": temporary,
                              "PYTHONPATH": str(path), "LANG": "C.UTF-8"},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def begun(self, process: subprocess.Popen[str]) -> bool:
        """Wait until it can be killed; whether it can."""
        while process.poll() is None:
            with contextlib.suppress(OSError, IndexError):
                if self.victim.begun(process.pid, self.out):
                    return True
            time.sleep(0.002)
        return False

    def alive(self) -> list[int]:
        """Processes that live, of those that the command has started and itself."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in (path / "environ").read_bytes():
                    found.append(int(path.name))
        return found

    def lasting(self) -> int:
        """How many of them still live after a while, in which they may end; they are ended."""
        until = time.monotonic() + LASTING
        while (left := self.alive()) and time.monotonic() < until:
            time.sleep(0.05)
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        return len(left)

    def contents(self) -> dict[str, bytes]:
        """Path -> bytes of what is written."""
        return {path.relative_to(self.out).as_posix(): path.read_bytes()
                for path in self.out.rglob("*") if path.is_file()}

    def lying(self, whole: dict[str, bytes]) -> tuple[str, ...]:
        """Paths that nobody needs: temporary ones, drafts, and what is not as in a whole run."""
        own = [path.relative_to(folder).as_posix() for folder in self.own
               for path in folder.rglob("*")
               if path.is_file() and path.relative_to(folder).parts[0] not in OWN]
        return (*own, *(name for name, data in self.contents().items()
                        if whole.get(name) != data))


def undisturbed(victim: Victim, folder: Path) -> tuple[float, dict[str, bytes]]:
    """How long a command runs from where it can be killed [s], and all that it writes.

    Raises RuntimeError with what it says where it fails.
    """
    if victim.builds:
        return WITH_KERNELS / LATEST, {}
    place = Place(folder, victim)
    process = place.start()
    place.begun(process)
    start = time.monotonic()
    _, said = process.communicate()
    if process.returncode:
        raise RuntimeError(said)
    return time.monotonic() - start, place.contents()


def killed(victim: Victim, folder: Path, random: Random, lasts: float, whole: dict[str, bytes]
           ) -> Left:
    """Kill a command at a moment, by a signal, and have it run again where it writes.

    Args:
        victim: the command.
        folder: where it is run, emptied before.
        random: draws both.
        lasts: how long it runs when nobody kills it [s].
        whole: what it writes then.
    """
    place, number = Place(folder, victim), random.choice(SIGNALS)
    process = place.start()
    place.begun(process)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(random.uniform(0, LATEST * lasts))
    late = process.poll() is not None
    if number == signal.SIGINT and not late:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    processes = place.lasting()
    _, said = process.communicate()
    unclear = "" if late else _unclear(number, process.returncode, said)
    files = place.lying(whole) if number != signal.SIGKILL and not victim.builds else ()
    if victim.builds:
        return Left(processes, _of_next_build(place), unclear, late)
    if victim.writes:
        again = place.start()
        _, told = again.communicate()
        if again.returncode or place.contents() != whole:
            unclear = unclear or f"the run after it ends with {again.returncode}: {told}"
        files = files or place.lying(whole)
    elif number == signal.SIGKILL:
        files = place.lying(whole)
    return Left(processes, files, unclear, late)


def _unclear(number: int, code: int, said: str) -> str:
    """What is wrong with an end: another exit code, or more than one sentence."""
    if number == signal.SIGKILL or (code in (0, 3) and not said):  # it was about to end
        return ""
    lines = said.strip().splitlines()
    expected = CODES[signal.Signals(number)]
    if code not in (expected, -number if number == signal.SIGTERM else expected) or len(lines) > 1:
        return f"{signal.Signals(number).name} ends it with {code}: {said}"
    if number == signal.SIGINT and not lines:
        return "SIGINT ends it without a sentence"
    return ""


def _of_next_build(place: Place) -> tuple[str, ...]:
    """What a killed build has left that the next one has not cleared as soon as it runs pages."""
    before = set(place.out.glob("book/chapters/.work-*"))
    process = place.start()
    while process.poll() is None and not set(
            place.out.glob("book/chapters/.work-*/*.ipython")) - {
            path / name.name for path in before for name in path.glob("*.ipython")}:
        time.sleep(0.05)
    left = [path for path in before if path.exists()]
    process.send_signal(signal.SIGTERM)
    process.communicate()
    place.lasting()
    return (*(path.name for path in left), *(
        path.name for path in place.own[1].rglob(f"{BEGINNING}*")))
