"""The build in a fresh copy: from nothing, again, and after small changes; the tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from benchmarks.size import PROJECT, tracked

CORES = f"{os.cpu_count()} cores"
BETWEEN = 1  # s, between looks at the memory, each of which holds the processes up
CHANGED = "s1-plan-b"  # a scenario like most: its own page and lists of scenarios show it
CHAPTER, PAGE = "notebooks/loading.md", "notebooks/pages/engineering/loading.py"
SENTENCE = "Nothing faster", "Nothing quicker"  # of the chapter, as it is and changed


def _copy(target: Path) -> None:
    for name in tracked():
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
            time.sleep(BETWEEN)


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


def _timed(folder: Path, *arguments: str) -> float:
    """Seconds of a program of this Python in a folder; it must succeed."""
    imports = os.pathsep.join(str(folder / name) for name in (".", "book"))
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": imports})
    return time.perf_counter() - start


def _deployments(folder: Path, only: str = "*") -> float:
    """Seconds to run the notebooks of deployments anew, or some of them."""
    for page in (folder / "book" / "chapters" / "scenarios").glob(f"{only}.ipynb"):
        page.unlink()
    return _timed(folder, "-c", "import os, pathlib; from _ext import pipeline; "
                                "pipeline.build(pathlib.Path(os.getcwd()))")


def _changed(folder: Path, name: str, old: str, new: str) -> None:
    """Replace a text that a file of the copy has; RuntimeError if it does not."""
    path = folder / name
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise RuntimeError(f"{name} has no '{old}' to change")
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def measure() -> dict[str, tuple]:
    """Cold, unchanged and one-scenario builds of a copy of the tracked files; pages; a report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        _copy(folder)
        cold, peak, _ = _build(folder)
        again, _, _ = _build(folder)
        _changed(folder, CHAPTER, *SENTENCE)
        sentence, _, _ = _build(folder)
        _changed(folder, f"params/scenarios/{CHANGED}.yml", "80 request", "81 request")
        changed, _, output = _build(folder)  # before pages are run anew, which the book would show
        rerun = re.findall(r"notebooks: \[\d+/\d+\] (\S+) ", output)
        pages, none = _deployments(folder), _deployments(folder, "no such page")
        single = _deployments(folder, "s1-plan-a") - none
        report = ("book/_ext/report.py", "--out=report.html", "--", "s1-plan-a")
        _timed(folder, *report)
        warm = _timed(folder, *report)
    return {
        "build_cold": (cold, "s", CORES), "build_unchanged": (again, "s", CORES),
        "build_one_scenario": (changed, "s", CORES), "build_one_sentence": (sentence, "s", CORES),
        "pages_run_after_one_scenario": (len(rerun), "1", f"of {CHANGED}"),
        "build_peak_memory": (peak / 2**30, "GiB"), "pages_of_deployments": (pages, "s", CORES),
        "page_of_one_deployment": (single, "s"), "report": (warm, "s"),
    }


def _made(folder: Path, target: str) -> float:
    """Seconds of a target of the Makefile in a copy that has this project's environment."""
    start = time.perf_counter()
    done = subprocess.run(["make", "-o", ".venv/.ready-test", target], cwd=folder, check=False,
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"make {target} failed:\n{done.stdout[-2000:]}{done.stderr[-1000:]}")
    return time.perf_counter() - start


def measure_tests() -> dict[str, tuple]:
    """Short and whole suite on a fresh copy, then changes of a line checked."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        _copy(folder)
        (folder / ".venv").symlink_to(Path(sys.prefix))
        author = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")
        for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "copy")):
            subprocess.run(["git", *author, *command], cwd=folder, check=True)
        found = {"test": (_made(folder, "test"), "s", CORES),
                 "test_all": (_made(folder, "test-all"), "s", CORES)}
        for where, module in (("physics", "calc/physics/step.py"), ("a_page", PAGE)):
            _changed(folder, module, "\n\n\ndef ", "\n\n\nUNUSED = 0\n\n\ndef ")
            found[f"check_one_line_of_{where}"] = _made(folder, "check"), "s", CORES
            subprocess.run(["git", "checkout", "-q", module], cwd=folder, check=True)
        return found
