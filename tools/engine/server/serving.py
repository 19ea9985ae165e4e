"""A server started by its script, asked, measured by its own client, and stopped."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tools.engine.environment import CACHE, KV_GIB, Environment
from tools.engine.plan import Plan

# the one override: what a processor lacks, and weights that nobody has
OVERRIDE = ("--load-format", "dummy", "--enforce-eager")
STATED = " ".join((f"{CACHE}={KV_GIB}", *OVERRIDE))  # and how much memory the cache may take
STARTS, MEASURES, ENDS, ANSWERS = 900.0, 1800.0, 60.0, 300.0  # s, at most
TURN = 1.0  # s between two looks


def ask(url: str, body: dict[str, Any] | None = None, seconds: float = ANSWERS) -> str:
    """What a server answers. Raises OSError where it does not."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=seconds) as answer:
        return answer.read().decode()


def answers(url: str) -> bool:
    """Whether a server is there and well."""
    try:
        ask(url, seconds=TURN)
    except OSError:
        return False
    return True


def free(address: str) -> bool:
    """Whether nothing listens at ``http://host:port``."""
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) != 0


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
    """End a process; then its children and what does not listen, by force."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(ENDS)


def serve(environment: Environment, plan: Plan, log: Path, *more: str
          ) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """The server of a plan, started by the script as it is written, the override after it.

    Raises RuntimeError where something listens at its address.
    """
    if not free(plan.address):
        raise RuntimeError(f"{plan.address} is taken, expected a free port for the server.")
    script = next((plan.folder / "nodes").glob("*.sh"))
    return process(["bash", script, *OVERRIDE, *more], log,
                   environment.variables | {"MODEL": str(plan.checkpoint)})


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Whether a condition comes true before a while is over."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        if condition():
            return True
        time.sleep(TURN)
    return False


def up(started: subprocess.Popen[bytes], url: str, most: float = STARTS) -> float | None:
    """Seconds until a server is well; None where it ends or takes too long."""
    begun = time.monotonic()
    within(most, lambda: answers(url) or started.poll() is not None)
    return time.monotonic() - begun if answers(url) else None


def completion(plan: Plan, prompt: int, answer: int) -> int:
    """Ask for a completion of as many tokens; returns how many came."""
    body = {"model": plan.served, "prompt": list(range(3, 3 + prompt)), "max_tokens": answer,
            "ignore_eos": True}
    return int(json.loads(ask(f"{plan.address}/v1/completions", body))["usage"][
        "completion_tokens"])


@contextlib.contextmanager
def load(plan: Plan, users: int, prompt: int, answer: int) -> Iterator[list[int]]:
    """Users who ask one request after the other; the tokens of each answer, as they come."""
    done, ended = [], threading.Event()

    def user() -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError):  # the server may be stopped while it is asked
                done.append(completion(plan, prompt, answer))

    threads = [threading.Thread(target=user, daemon=True) for _ in range(users)]
    for each in threads:
        each.start()
    try:
        yield done
    finally:
        ended.set()
        for each in threads:
            each.join(ANSWERS)


def bench(environment: Environment, plan: Plan, log: Path, *names: str) -> dict[str, Any]:
    """Run the bench as it is written; its results by run.

    Args:
        environment: of the engine.
        plan: the directory that was written.
        log: for what it prints.
        names: of runs; all without any.

    Raises subprocess.CalledProcessError where it fails.
    """
    with log.open("wb") as out:
        subprocess.run(["bash", plan.folder / "bench" / "run.sh", *names], check=True, stdout=out,
                       stderr=out, timeout=MEASURES,
                       env=environment.variables | {"MODEL": str(plan.checkpoint)})
    return {path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted((plan.folder / "bench" / "results").glob("*.json"))}
