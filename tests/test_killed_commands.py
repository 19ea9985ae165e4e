"""Killed commands leave no orphaned process and no temporary file; interrupted ones tell what they
have."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MARK = "WILL_IT_FIT_KILLED"  # in the environment of a command and of all that it starts
LIMIT = 60.0  # seconds until a state is reached
SEARCH = ("search", "r1-80-users-910b", "--workers=2", "--set=cards.most=256")
SWEEP = ("sweep", "h200-r1-vllm-tp8", "--workers=2", "--chunk=20000", "--max=output_throughput",
         "--axis=workload.concurrency=1..1000", "--axis=workload.input_tokens=100..4000:+1",
         "-o", "parts")
LONGER = (*SWEEP, "--axis=workload.output_tokens=256,512,1024,2048")  # is not over when it is ended


def wait_until(reached: Callable[[], bool]) -> None:
    """Poll a state."""
    end = time.monotonic() + LIMIT
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.02)


def processes(mark: str) -> list[int]:
    """Live processes with a mark in their environment."""
    live = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (path / "environ").read_bytes():
                live.append(int(path.name))
    return live


def start(command: tuple[str, ...], folder: Path) -> subprocess.Popen[bytes]:
    """Start a command in `folder`, with a folder of its own for temporary files."""
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "calc", *command], cwd=folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=os.environ | {
            MARK: str(folder), "PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "tmp")})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("command", [SEARCH, SWEEP], ids=["search", "sweep"])
def test_no_process_and_no_file_is_left(command: tuple[str, ...], number: signal.Signals,
                                        tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    killed = start(LONGER if command is SWEEP and number == signal.SIGTERM else command, tmp_path)
    wait_until(lambda: len(processes(str(tmp_path))) >= 3 and (
        command is SEARCH or any(parts.glob("*.parquet"))))
    killed.send_signal(number)
    assert killed.wait() in (-number, 128 + number)
    wait_until(lambda: not processes(str(tmp_path)))
    if number == signal.SIGKILL and command is SWEEP:  # a draft may be left; the next run resumes
        assert start(command, tmp_path).wait() == 0
        return
    files = [path for path in tmp_path.rglob("*") if path.is_file() or path.name.startswith(".")]
    assert all(path.parent == parts and path.suffix == ".parquet" for path in files), files


def test_interrupted_capacity_prints_what_is_finished() -> None:
    """A terminal is shown what is under way from two seconds on."""
    reader, terminal = pty.openpty()
    begun = time.monotonic()
    command = ("capacity", "h200-v32-vllm-dp8", "--scaling", "--load=azure-conversation",
               "--daily-requests=3000000")
    with subprocess.Popen([sys.executable, "-m", "calc", *command], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, stderr=terminal) as running:
        os.close(terminal)
        shown = b""
        while b"layouts of more cards" not in shown:
            shown += os.read(reader, 4096)
        assert time.monotonic() - begun > 2
        running.send_signal(signal.SIGINT)
        answer, _ = running.communicate(timeout=LIMIT)
    assert running.returncode == 130
    assert "Interrupted: no answer on cards" in answer
