"""A sweep on a real Dask cluster of this machine: workers and schedulers that are killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import catalogue
from calc.sweeping import workers
from calc.sweeping.axes import axis
from calc.sweeping.definition import Sweep
from calc.sweeping.running import swept

PROJECT = Path(__file__).resolve().parents[3]
SWEEP = Sweep("h200-r1-vllm-tp8", (
    axis("precision", "fp8-block, w4a16-awq", ""), axis("workload.concurrency", "1..200", ""),
    axis("workload.input_tokens", "128..8192:+128", "")), chunk=500)
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


class Cluster:
    """A scheduler and two workers, a process each."""

    def __init__(self, folder, count=2):
        self.folder, self.file, self.processes = folder, folder / "scheduler.json", []
        self.scheduler = self.start("scheduler", "--port=0", "--host=127.0.0.1",
                                    f"--scheduler-file={self.file}")
        until = time.monotonic() + 30
        while not self.file.exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        self.address = json.loads(self.file.read_text())["address"]
        self.workers = [self.start("worker", self.address, "--nthreads=1", "--no-nanny",
                                   f"--local-directory={folder}") for _ in range(count)]

    def start(self, kind, *arguments):
        environment = os.environ | {"PYTHONPATH": str(PROJECT)}
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *arguments],
            cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def stop(self):
        for process in self.processes:
            with contextlib.suppress(OSError):
                process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    (tmp_path / "cluster").mkdir()
    running = Cluster(tmp_path / "cluster")
    yield running
    running.stop()


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def stored(result):
    return {name: column.tobytes() for name, column in result.rows.items()}, vars(result.counted)


@pytest.mark.slow
def test_a_worker_that_is_killed_in_the_middle_costs_no_row(cluster, tmp_path):
    here = swept(SWEEP, tmp_path / "here", workers=1)

    def told(done, _):
        if done == 5:
            cluster.workers[0].kill()

    there = swept(SWEEP, tmp_path / "there", scheduler=cluster.address, progress=told)
    assert cluster.workers[0].wait() != 0
    assert stored(there) == stored(here)
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert stored(swept(SWEEP, scheduler=cluster.address)) == stored(here)


def test_a_scheduler_that_goes_away_is_a_sentence_and_parts_are_kept(cluster, tmp_path, caplog,
                                                                     capfd):
    here = swept(SWEEP, tmp_path / "here", workers=1)

    def told(done, _):
        if done == 5:
            cluster.scheduler.kill()

    with pytest.raises(catalogue.ParamsError, match="the scheduler went away; finished parts are"):
        swept(SWEEP, tmp_path / "there", scheduler=cluster.address, progress=told)
    kept = contents(tmp_path / "there")
    assert len(kept) >= 5
    assert kept.items() < contents(tmp_path / "here").items()
    assert stored(swept(SWEEP, tmp_path / "there", workers=1)) == stored(here)
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert "Traceback" not in caplog.text + "".join(capfd.readouterr())


def test_a_scheduler_that_hangs_is_a_sentence_too(cluster, monkeypatch, tmp_path):
    monkeypatch.setattr(workers, "JOINING", 2)
    monkeypatch.setattr(workers, "ANSWER", 2)

    def told(done, _):
        if done == 1:
            cluster.scheduler.send_signal(signal.SIGSTOP)

    with pytest.raises(catalogue.ParamsError, match="the scheduler went away; finished parts are"):
        swept(replace(SWEEP, chunk=100), tmp_path, scheduler=cluster.address, progress=told)


def test_one_without_workers_and_one_of_another_state_are_sentences(cluster, monkeypatch):
    monkeypatch.setattr(workers, "program", lambda: "other formulas")
    with pytest.raises(catalogue.ParamsError, match="another state of this program"):
        swept(SWEEP, scheduler=cluster.address)
    for worker in cluster.workers:
        worker.kill()
        worker.wait()
    monkeypatch.setattr(workers, "JOINING", 1)
    with pytest.raises(catalogue.ParamsError, match=r"no worker has joined|workers went away"):
        swept(SWEEP, scheduler=cluster.address)
