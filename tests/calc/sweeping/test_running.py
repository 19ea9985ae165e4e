"""A sweep equals one deployment after the other; chunks and interruptions leave no trace."""

import os
from collections.abc import Iterator
from dataclasses import replace
from unittest import mock

import distributed
import pyarrow
import pytest
from pyarrow import parquet

import calc
import catalogue
from calc.many.fronts import front
from calc.sweeping.plan import PER_DEVICE, Sweep, planned
from calc.sweeping.run import ANY_PORT, ENDLESS, ROW, TOO_LARGE, TOO_LONG, TOO_MANY, computed, swept

SCENARIO = "h200-r1-vllm-tp8"
CARDS = {"device+cluster.node+engine": ("nvidia-h200-sxm+hgx-h200+vllm@0.11.0, "
         "nvidia-h20+hgx-h20+vllm@0.11.0, ascend-910b2+atlas-800i-a2+vllm@0.11.0")}


def axes(**named):
    return {name.replace("__", "."): values for name, values in named.items()}


def grid(quantities, fixed=(), scenario=SCENARIO, cards=None, **named):
    return Sweep(scenario=scenario, axes=(cards or {}) | axes(**named), settings=fixed,
                 quantities=quantities.split())


GRIDS = {
    "cards": grid(
        "tpot ttft max_concurrency steady_throughput_per_device", cards=CARDS,
        precision="fp8-block, w4a16-awq, w8a8-int8", concurrency="1, 1024", input_tokens="219"),
    "layouts": grid(
        "tpot steady_ttft headroom_per_device", ["precision=w4a16-awq"],
        parallelism__tensor_parallel="1, 3, 8, 16", parallelism__data_parallel="1, 2",
        parallelism__expert_parallel="1, 32", cluster__nodes="1, 2",
        parallelism__pipeline_parallel="1, 2"),
    "lengths": grid(
        "tpot e2e", input_tokens="1, 9000", output_tokens="1, 400", context_tokens="500, 20000",
        memory_utilization="0.8, 0.95", workload__requests="100, 1000", concurrency="50, 200"),
    "only a context": grid(
        "tpot kv_per_device", scenario="s0-scenario-1", context_tokens="1024, 8192",
        concurrency="1, 8", precision="w8a8-int8, bf16"),
    "drafts and links": grid(
        "tpot steady_tpot", workload__draft_tokens="0, 2", block_size="16, 64",
        device__memory_bandwidth="3 TB/s, 4.8 TB/s", max_num_batched_tokens="2048")}


@pytest.mark.parametrize("name", GRIDS)
def test_each_row_equals_its_deployment_by_itself(name):
    sweep = GRIDS[name]
    plan = planned(replace(sweep, every=True))
    _, rows, left = computed(plan, 0)
    quantities, out = {}, set()
    for row in range(plan.count):
        try:
            scenario = catalogue.load_scenario(sweep.scenario, overrides=[*sweep.settings, *(
                f"{path}={text}" for path, text in plan.settings(row).items())])
        except catalogue.ParamsError:
            out.add(row)
            continue
        alone = calc.evaluate(scenario.inputs(), scenario.model.attention)
        if alone["headroom_per_device"] < 0:
            out.add(row)
            continue
        quantities[row] = [float(alone[PER_DEVICE.get(each, each)])
                           / (scenario.devices if each in PER_DEVICE else 1) for each in plan.names]
    assert rows[ROW].tolist() == sorted(quantities)
    assert sum(count for _, count, _ in left) == len(out)
    assert {first for *_, first in left} <= out
    for i, row in enumerate(rows[ROW]):
        assert [rows[each][i] for each in plan.names] == pytest.approx(
            quantities[int(row)], rel=1e-12)


def test_an_input_symbol_moves_alone():
    sweep = Sweep(scenario=SCENARIO, axes=axes(hbm_efficiency="0.5, 1"), every=True,
                  quantities=["tpot", "devices"])
    _, rows, _ = computed(planned(sweep), 0)
    inputs = catalogue.load_scenario(SCENARIO).inputs()
    expected = [calc.evaluate(inputs | {"hbm_efficiency": share}, "mla")["steady_tpot"]
                for share in (0.5, 1)]
    assert rows["steady_tpot"] == pytest.approx(expected, rel=1e-12)  # what users see
    assert rows["devices"].tolist() == [8, 8]


def test_rows_left_out_by_reason():
    sweep = Sweep(scenario=SCENARIO, axes=axes(
        workload__concurrency="1, 2000", workload__input_tokens="10, 30000",
        workload__context_tokens="1000, 100000"), every=True, quantities=["tpot"])
    left = {reason: numbers for reason, *numbers in computed(planned(sweep), 0)[2]}
    assert left.keys() <= {TOO_LONG, TOO_MANY, TOO_LARGE, ENDLESS}
    assert (left[TOO_MANY], left[TOO_LONG]) == ([4, 4], [1, 2])


WIDE = axes(precision="fp8-block, w4a16-awq", workload__concurrency="1..64:x2",
            workload__input_tokens="128..1024:+128", workload__output_tokens="64, 512",
            hbm_efficiency="0.6, 0.8")  # 448 rows
ALL = Sweep(scenario=SCENARIO, axes=WIDE, every=True, chunk=50, quantities=["tpot", "ttft"])


def stored(result):
    return {name: column.tobytes() for name, column in result.rows.items()}, result.left


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """All parts of a sweep without an interruption, and the result."""
    folder = tmp_path_factory.mktemp("sweep") / "complete"
    return contents((result := swept(ALL, folder, workers=1)).folder), stored(result)


class TestReduced:
    def test_the_front_is_that_of_all_rows(self):
        _, every, _ = computed(planned(Sweep(scenario=SCENARIO, axes=WIDE, every=True)), 0)
        result = swept(Sweep(scenario=SCENARIO, axes=WIDE), workers=1)
        names = result.plan.objectives
        assert sorted(result.rows[ROW]) == every[ROW][front(every, names)].tolist()
        answer = result.as_json()
        assert (answer["kept"], answer["rows"]) == ("front", 448)
        assert answer["deployments"][0] == {"settings": result.settings(0), **{
            name: column[0] for name, column in result.rows.items() if name != ROW}}

    @pytest.mark.parametrize("kept", [{}, {"best": 7, "objectives": {"ttft": -1}},
                                      {"best": 9, "objectives": {"output_throughput": +1}}])
    def test_the_same_whatever_the_size_of_a_chunk(self, kept):
        one = swept(Sweep(scenario=SCENARIO, axes=WIDE, **kept), workers=1)
        assert len(one.rows[ROW]) == kept.get("best", len(one.rows[ROW]))
        for chunk in (37, 447):
            assert stored(one) == stored(
                swept(Sweep(scenario=SCENARIO, axes=WIDE, chunk=chunk, **kept), workers=1))

    def test_a_killed_process_costs_no_row(self, tmp_path, complete):
        """Parts are the same by one process, by two, and where one of these is killed."""
        from multiprocessing import active_children

        def kill(done, _):
            if done == 2:
                active_children()[0].kill()

        result = swept(ALL, tmp_path, workers=2, progress=kill)
        assert (contents(tmp_path), stored(result)) == complete


    @pytest.mark.filterwarnings("ignore::ResourceWarning")
    def test_a_cluster_gives_the_same_and_its_scheduler_may_go_away(self, tmp_path, complete):
        def stop(done, _):
            if done == 5:
                cluster.close()

        with distributed.LocalCluster(2, threads_per_worker=1, processes=False,
                                      dashboard_address=ANY_PORT) as cluster:
            address = cluster.scheduler_address
            there = swept(ALL, tmp_path / "there", scheduler=address)
            assert (contents(tmp_path / "there"), stored(there)) == complete
            with pytest.raises(catalogue.ParamsError, match="scheduler went away; with a folder"):
                swept(ALL, tmp_path / "gone", scheduler=address, progress=stop)
        finished = contents(tmp_path / "gone")
        assert len(finished) >= 5
        assert finished.items() <= complete[0].items()
        resumed = swept(ALL, tmp_path / "gone", workers=1)
        assert (contents(tmp_path / "gone"), stored(resumed)) == complete


class TestParts:
    def test_parts_hold_every_deployment_that_fits_with_its_settings(self, tmp_path):
        result = swept(ALL, tmp_path, workers=1)
        table = pyarrow.concat_tables(parquet.read_table(path) for path in sorted(
            tmp_path.iterdir())).to_pydict()
        _, rows, left = computed(planned(replace(ALL, chunk=1000)), 0)
        assert table[ROW] == rows[ROW].tolist()
        assert table["steady_ttft"] == rows["steady_ttft"].tolist()
        settings = result.plan.settings(table[ROW][100])
        assert table["precision"][100] == settings["precision"]
        assert table["workload.concurrency"][100] == float(settings["workload.concurrency"])
        assert result.left == {reason: tuple(numbers) for reason, *numbers in left}

    def test_interrupted_and_resumed_parts_are_the_same(self, tmp_path, complete):
        def interrupt(done, _):
            if done == 4:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            swept(ALL, tmp_path, workers=1, progress=interrupt)
        assert len(contents(tmp_path)) == 4
        ages = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
        steps = []
        result = swept(ALL, tmp_path, workers=1, progress=lambda *step: steps.append(step))
        assert (contents(tmp_path), stored(result)) == complete
        assert all(path.stat().st_mtime_ns == age for path, age in ages.items())
        assert steps == [(done, 9) for done in range(1, 10)]

    def test_a_full_disk_keeps_finished_parts(self, tmp_path, complete):
        results: Iterator = iter([None, None, None, OSError(28, os.strerror(28))])
        with mock.patch("os.fsync", side_effect=results), pytest.raises(
                catalogue.ParamsError, match=r"\(no space left on device\); finished parts are"):
            swept(ALL, tmp_path, workers=1)
        finished = contents(tmp_path)
        assert 0 < len(finished) < 9
        assert finished.items() < complete[0].items()

    @pytest.mark.parametrize("other", ["no table", "another part", "another name"])
    def test_parts_of_something_else_are_refused(self, tmp_path, other):
        swept(ALL, tmp_path, workers=1)
        first, second = sorted(tmp_path.iterdir())[:2]
        if other == "another name":
            first.rename(tmp_path / "mine.parquet")
        else:
            first.write_bytes(second.read_bytes() if other == "another part" else b"text")
        before = contents(tmp_path)
        with pytest.raises(catalogue.ParamsError, match=r"expected|remove it"):
            swept(ALL, tmp_path, workers=1)
        assert contents(tmp_path) == before
