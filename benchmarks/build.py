"""The build in a fresh copy: from nothing, again, and after one scenario has changed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

PROJECT = Path(__file__).resolve().parents[1]


def _copy(target: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True,
                            check=True).stdout
    for name in filter(None, listed.split("\0")):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(PROJECT / name, target / name, follow_symlinks=False)


class _Peak(threading.Thread):
    """Highest resident memory of a process and all its descendants, sampled."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.process, self.peak, self.running = psutil.Process(pid), 0, True

    def run(self) -> None:
        """Sample until told to stop."""
        while self.running:
            total = 0
            try:
                for process in (self.process, *self.process.children(recursive=True)):
                    try:
                        total += process.memory_full_info().uss
                    except psutil.Error:
                        continue
            except psutil.Error:
                return
            self.peak = max(self.peak, total)
            time.sleep(0.1)


def _build(folder: Path) -> tuple[float, int, str]:
    """Seconds, peak bytes, and output of one ``jupyter-book build book/``."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("jupyter-book")), "build", "book/"], cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    watch = _Peak(process.pid)
    watch.start()
    output, _ = process.communicate()
    watch.running = False
    if process.returncode:
        raise RuntimeError(f"the build failed:\n{output[-2000:]}")
    return time.perf_counter() - start, watch.peak, output


def measure() -> dict[str, tuple[float, str]]:
    """Cold, unchanged and one-scenario builds of a copy of the tracked files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        _copy(folder)
        cold, peak, _ = _build(folder)
        again, _, _ = _build(folder)
        scenario = folder / "params" / "scenarios" / "s1-plan-c.yml"
        text = scenario.read_text(encoding="utf-8")
        if "80 request" not in text:
            raise RuntimeError(f"{scenario.name} has no 80 requests to change")
        scenario.write_text(text.replace("80 request", "81 request"), encoding="utf-8")
        one, _, output = _build(folder)
        rerun = re.findall(r"notebooks: \[\d+/\d+\] (\S+) ", output)
    return {
        "build_cold": (cold, "s"), "build_unchanged": (again, "s"),
        "build_one_scenario": (one, "s"), "pages_run_after_one_scenario": (len(rerun), "1"),
        "build_peak_memory": (peak / 2**30, "GiB"),
    }
