"""Processes of a build end with those that they came from."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import _project
import psutil
import pytest

from _ext import pipeline


def test_a_page_and_its_kernel_end_with_the_process_that_forked_them(tmp_path: Path) -> None:
    project = _project.make(tmp_path)
    started = project / "started"
    slow = (f"import os, pathlib, time\npathlib.Path({str(started)!r}).write_text(str(os.getpid()))"
            "\ntime.sleep(600)")
    (project / "notebooks" / "derivation.md").write_text(
        _project.notebook("derivation", "D", "推", slow))

    def kill() -> None:
        while not (started.exists() and started.read_text()):
            time.sleep(0.05)
        kernel = psutil.Process(int(started.read_text()))
        killed.extend([kernel, kernel.parent()])
        killed[1].parent().kill()

    killed: list[psutil.Process] = []
    killing = threading.Thread(target=kill)
    killing.start()
    with pytest.raises(pipeline.NotebookError, match="was interrupted"):
        pipeline.build(project, report=lambda line: None)
    killing.join()
    assert psutil.wait_procs(killed, timeout=60)[1] == []
