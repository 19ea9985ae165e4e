"""A sweep on a Dask cluster of this process: the same result, and a scheduler that goes away."""

import distributed
import pytest

import catalogue
from calc.sweeping.plan import Sweep
from calc.sweeping.run import ANY_PORT, swept

SWEEP = Sweep(scenario="h200-r1-vllm-tp8", chunk=5, axes={
    "precision": "fp8-block, w4a16-awq", "workload.concurrency": "1..40"})
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def stored(result):
    return {name: column.tobytes() for name, column in result.rows.items()}, result.left


def test_a_cluster_gives_the_same_and_may_go_away(tmp_path):
    here = swept(SWEEP, tmp_path / "here", workers=1)

    def stop(done, _):
        if done == 5:
            cluster.close()

    with distributed.LocalCluster(2, threads_per_worker=1, processes=False,
                                  dashboard_address=ANY_PORT) as cluster:
        address = cluster.scheduler_address
        there = swept(SWEEP, tmp_path / "there", scheduler=address)
        assert stored(there) == stored(here)
        assert contents(tmp_path / "there") == contents(tmp_path / "here")
        with pytest.raises(catalogue.ParamsError, match="the scheduler went away; with a folder"):
            swept(SWEEP, tmp_path / "gone", scheduler=address, progress=stop)
    finished = contents(tmp_path / "gone")
    assert len(finished) >= 5
    assert finished.items() < contents(tmp_path / "here").items()
    assert stored(swept(SWEEP, tmp_path / "gone", workers=1)) == stored(here)
    assert contents(tmp_path / "gone") == contents(tmp_path / "here")
