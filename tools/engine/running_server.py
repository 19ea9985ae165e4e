"""A deployment's directory, and its server: started by its script, measured by its own bench."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import catalogue
from tools.engine.environment import CACHE, KV_GIB, Environment

HOST = "127.0.0.1"
# the one override: what a processor lacks, and weights that nobody has
OVERRIDE = ("--load-format", "dummy", "--enforce-eager")
STATED = " ".join((f"{CACHE}={KV_GIB}", *OVERRIDE))  # with the memory of the cache
STARTS, MEASURES, ENDS, ANSWERS = 900.0, 1800.0, 60.0, 300.0  # s, at most
TURN = 1.0  # s between two polls


@dataclass(frozen=True)
class Plan:
    """A directory that ``deploy`` wrote, and the checkpoint that it serves."""

    folder: Path
    checkpoint: Path

    @property
    def data(self) -> dict[str, Any]:
        """Contents of ``deployment.json``."""
        return json.loads((self.folder / "deployment.json").read_text(encoding="utf-8"))

    @property
    def address(self) -> str:
        """Address of the server."""
        return f"http://{self.data['pools']['serve']['servers'][0]}"

    @property
    def runs(self) -> list[dict[str, Any]]:
        """Runs of the benchmark plan."""
        text = (self.folder / "bench" / "plan.json").read_text(encoding="utf-8")
        return json.loads(text)["runs"]


def calc(python: Path, *arguments: object) -> str:
    """Output of ``python -m calc``. Raises RuntimeError with its message if it refuses."""
    done = subprocess.run([python, "-m", "calc", *map(str, arguments)], text=True,
                          cwd=catalogue.ROOT.parent, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"python -m calc {arguments[0]}: {done.stderr.strip()[-500:]}")
    return done.stdout


def ask(url: str, body: dict[str, Any] | None = None, seconds: float = ANSWERS) -> str:
    """Return the response of a server. Raises OSError if there is none."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=seconds) as answer:
        return answer.read().decode()


def is_healthy(url: str) -> bool:
    """Whether a server answers at once."""
    try:
        ask(url, seconds=TURN)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def process(command: list[Any], log: Path, variables: dict[str, str]
            ) -> Iterator[subprocess.Popen[bytes]]:
    """A process with all of its children, which end with it."""
    with log.open("wb") as out:
        started = subprocess.Popen([str(word) for word in command], stdout=out, stderr=out,
                                   env=variables, start_new_session=True)
    try:
        yield started
    finally:
        stop(started)


def stop(started: subprocess.Popen[bytes]) -> None:
    """Terminate a process, then kill it and its children."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(ENDS)


def serve(environment: Environment, plan: Plan, log: Path, *more: str
          ) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """The server of a plan, started by its script with the override.

    Raises RuntimeError if another process listens at its address.
    """
    host, _, port = plan.address.removeprefix("http://").partition(":")
    with socket.socket() as probe:
        if probe.connect_ex((host, int(port))) == 0:
            raise RuntimeError(f"{plan.address} is taken, expected a free port for the server.")
    script = next((plan.folder / "nodes").glob("*.sh"))
    return process(["bash", script, *OVERRIDE, *more], log,
                   environment.variables | {"MODEL": str(plan.checkpoint)})


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Whether a condition becomes true before a time is over."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        if condition():
            return True
        time.sleep(TURN)
    return False


def startup_time(started: subprocess.Popen[bytes], url: str) -> float | None:
    """Seconds until a server is healthy; None if it ends or takes too long."""
    begun = time.monotonic()
    within(STARTS, lambda: is_healthy(url) or started.poll() is not None)
    return time.monotonic() - begun if is_healthy(url) else None


def completion(plan: Plan, prompt: int, answer: int) -> int:
    """Ask for a completion; return its number of tokens.

    Args:
        plan: whose server is asked.
        prompt: tokens of the prompt.
        answer: tokens that are asked for.
    """
    name = next(setting["value"] for setting in plan.data["pools"]["serve"]["settings"]
                if setting["name"] == "--served-model-name")
    body = {"model": name, "prompt": list(range(3, 3 + prompt)), "max_tokens": answer,
            "ignore_eos": True}
    response = json.loads(ask(f"{plan.address}/v1/completions", body))
    return int(response["usage"]["completion_tokens"])


@contextlib.contextmanager
def load(plan: Plan, users: int, prompt: int, answer: int) -> Iterator[list[int]]:
    """Users who send one request after the other; yields the tokens of each answer so far."""
    done, ended = [], threading.Event()

    def user() -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError):  # the server may be stopped while it is asked
                done.append(completion(plan, prompt, answer))

    threads = [threading.Thread(target=user, daemon=True) for _ in range(users)]
    for thread in threads:
        thread.start()
    try:
        yield done
    finally:
        ended.set()
        for thread in threads:
            thread.join(ANSWERS)


def bench(environment: Environment, plan: Plan, log: Path, *names: str) -> dict[str, Any]:
    """Run the bench of a plan; return its results by run.

    Args:
        environment: of the engine.
        plan: the directory that was written.
        log: file for its output.
        names: of runs (default: all).

    Raises subprocess.CalledProcessError if it fails.
    """
    with log.open("wb") as out:
        subprocess.run(["bash", plan.folder / "bench" / "run.sh", *names], check=True, stdout=out,
                       stderr=out, timeout=MEASURES,
                       env=environment.variables | {"MODEL": str(plan.checkpoint)})
    return {path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted((plan.folder / "bench" / "results").glob("*.json"))}
