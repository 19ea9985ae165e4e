"""A sweep is one deployment after the other, only faster; chunks, interruptions leave no trace."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import calc
import catalogue
from calc.many.fronts import front
from calc.sweeping import workers
from calc.sweeping.axes import axis
from calc.sweeping.chunks import ENDLESS, ROW, TOO_LARGE, TOO_LONG, TOO_MANY, computed
from calc.sweeping.definition import Sweep, read
from calc.sweeping.plan import PER_DEVICE, PLAIN, planned
from calc.sweeping.running import swept

PROJECT = Path(__file__).resolve().parents[3]
SCENARIO = "h200-r1-vllm-tp8"
CARDS = ("device+cluster.node+engine", "nvidia-h200-sxm+hgx-h200+vllm@0.11.0, "
         "nvidia-h20+hgx-h20+vllm@0.11.0, ascend-910b2+atlas-800i-a2+vllm@0.11.0")


def axes(**named):
    return tuple(axis(name.replace("__", "."), values, f"--axis {name}")
                 for name, values in named.items())


def one_by_one(sweep, plan):
    """Row -> quantities, and rows left out, by loading every deployment by itself."""
    told, out = {}, set()
    for row in range(plan.count):
        settings = plan.settings(row)
        try:
            scenario = catalogue.load_scenario(sweep.scenario, overrides=[
                *sweep.settings, *(f"{path}={text}" for path, text in settings.items())])
        except catalogue.ParamsError:
            out.add(row)
            continue
        found = calc.evaluate(scenario.inputs(), scenario.model.attention)
        if not calc.estimate(scenario).fits:
            out.add(row)
            continue
        told[row] = [float(found[PER_DEVICE.get(name, name)])
                     / (scenario.devices if name in PER_DEVICE else 1) for name in plan.names]
    return told, out


GRIDS = {
    "cards": Sweep(SCENARIO, (
        axis(*CARDS, ""), *axes(precision="fp8-block, w4a16-awq, w8a8-int8",
                                workload__concurrency="1, 64, 1024",
                                workload__input_tokens="219, 4000")),
        quantities=("tpot", "ttft", "max_concurrency", "steady_throughput_per_device")),
    "cuts": Sweep(SCENARIO, axes(
        parallelism__tensor_parallel="1, 2, 3, 4, 8, 16", parallelism__data_parallel="1, 2, 4",
        parallelism__expert_parallel="1, 8, 32", cluster__nodes="1, 2",
        parallelism__pipeline_parallel="1, 2"),
        ("precision=w4a16-awq",), quantities=("tpot", "steady_ttft", "headroom_per_device")),
    "lengths": Sweep(SCENARIO, axes(
        workload__input_tokens="1, 1000, 9000", workload__output_tokens="1, 400",
        workload__context_tokens="500, 2000, 20000", workload__memory_utilization="0.8, 0.95",
        workload__requests="100, 1000", workload__concurrency="50, 200"),
        quantities=("tpot", "e2e")),
    "only a context": Sweep("s0-scenario-1", axes(
        workload__context_tokens="1024, 8192", workload__concurrency="1, 8",
        precision="w8a8-int8, bf16"), quantities=("tpot", "kv_per_device")),
    "drafts and links": Sweep("h200-r1-vllm-tp8", axes(
        workload__draft_tokens="0, 1, 2", device__memory_bandwidth="3 TB/s, 4.8 TB/s",
        workload__block_size="16, 64", workload__max_num_batched_tokens="2048, 8192"),
        quantities=("tpot", "steady_tpot")),
}


class TestRows:
    @pytest.mark.one
    @pytest.mark.parametrize("name", GRIDS)
    def test_each_is_what_the_deployment_gives_by_itself(self, name):
        sweep = GRIDS[name]
        plan = planned(Sweep(**vars(sweep) | {"every": True}))
        rows, counted = computed(plan, 0)
        told, out = one_by_one(sweep, plan)
        assert rows[ROW].tolist() == sorted(told)
        assert sum(count for count, _ in counted.left.values()) == len(out)
        assert {first for _, first in counted.left.values()} <= out
        for i, row in enumerate(rows[ROW]):
            assert [rows[quantity][i] for quantity in plan.names] == pytest.approx(
                told[int(row)], rel=1e-12)

    def test_an_input_symbol_moves_itself_alone_and_cards_follow_a_cut(self):
        sweep = Sweep(SCENARIO, axes(hbm_efficiency="0.5, 1", tensor_parallel="8, 16",
                                     expert_parallel="1, 5"),
                      ("precision=w4a16-awq",), every=True, quantities=("tpot", "devices"))
        rows, counted = computed(planned(sweep), 0)
        inputs = catalogue.load_scenario(SCENARIO, overrides=sweep.settings).inputs()
        expected = [calc.evaluate(inputs | {
            "hbm_efficiency": share, "tensor_parallel": tp, "expert_parallel": 1}, "mla")["tpot"]
            for share in (0.5, 1) for tp in (8, 16)]
        assert rows["tpot"] == pytest.approx(expected, rel=1e-12)
        assert rows["devices"].tolist() == [8, 16, 8, 16]
        assert list(counted.left.values()) == [(4, 1)]

    def test_why_a_row_is_left_out(self):
        sweep = Sweep(SCENARIO, axes(
            workload__concurrency="1, 2000", workload__input_tokens="10, 30000",
            workload__context_tokens="1000, 100000"), every=True, quantities=("tpot",))
        _, counted = computed(planned(sweep), 0)
        assert counted.left.keys() <= {TOO_LONG, TOO_MANY, TOO_LARGE, ENDLESS}
        assert counted.left[TOO_MANY] == (4, 4)
        assert counted.left[TOO_LONG] == (1, 2)

    def test_nothing_that_is_not_a_number_is_told(self, monkeypatch):
        plan = planned(Sweep(SCENARIO, axes(workload__concurrency="1, 2"), every=True,
                             quantities=("tpot",)))
        monkeypatch.setattr("calc.sweeping.chunks.decode_sweep",
                            lambda *_, **__: {"tpot": np.array([np.inf, 1.0])})
        rows, counted = computed(plan, 0)
        assert rows[ROW].tolist() == [1]
        assert counted.left == {ENDLESS: (1, 0)}


WIDE = axes(precision="fp8-block, w4a16-awq", workload__concurrency="1..64:x2",
            workload__input_tokens="128..2048:+128", workload__output_tokens="64, 512",
            hbm_efficiency="0.6, 0.8")  # 896 rows


def stored(result):
    return {name: column.tobytes() for name, column in result.rows.items()}, vars(result.counted)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class TestReduced:
    def test_the_front_is_that_of_all_rows(self):
        every, _ = computed(planned(Sweep(SCENARIO, WIDE, every=True)), 0)
        result = swept(Sweep(SCENARIO, WIDE), workers=1)
        names = result.plan.objectives
        assert sorted(result.rows[ROW]) == every[ROW][front(every, names)].tolist()

    @pytest.mark.parametrize("kept", [{}, {"best": 7, "objectives": {"ttft": -1}},
                                      {"best": 9, "objectives": {"output_throughput": 1}}])
    def test_the_same_whatever_the_size_of_a_chunk(self, kept):
        whole = swept(Sweep(SCENARIO, WIDE, **kept), workers=1)
        for chunk in (7, 64, 895):
            assert stored(whole) == stored(
                swept(Sweep(SCENARIO, WIDE, chunk=chunk, **kept), workers=1))

    def test_the_same_whoever_computes_it(self, monkeypatch, tmp_path):
        monkeypatch.setattr(workers, "ALONE", 0)
        one = swept(Sweep(SCENARIO, WIDE, chunk=100), tmp_path / "one", workers=1)
        two = swept(Sweep(SCENARIO, WIDE, chunk=100), tmp_path / "two", workers=2)
        assert stored(one) == stored(two)
        assert contents(tmp_path / "one") == contents(tmp_path / "two")

    def test_a_process_that_is_killed_costs_no_row(self, monkeypatch):
        monkeypatch.setattr(workers, "ALONE", 0)
        sweep = Sweep(SCENARIO, WIDE, chunk=20)
        killed = []

        def told(done, _):
            if done == 3:
                import multiprocessing

                killed.append(multiprocessing.active_children()[0])
                killed[0].kill()

        assert stored(swept(sweep, workers=2, progress=told)) == stored(swept(sweep, workers=1))
        assert killed


class TestParts:
    SWEEP = Sweep(SCENARIO, WIDE, every=True, chunk=100, quantities=("tpot", "ttft"))

    def test_hold_every_deployment_that_fits_with_its_settings(self, tmp_path):
        result = swept(self.SWEEP, tmp_path, workers=1)
        table = pyarrow.concat_tables(parquet.read_table(path) for path in sorted(
            tmp_path.iterdir())).to_pydict()
        whole, counted = computed(planned(Sweep(**vars(self.SWEEP) | {"chunk": 1000})), 0)
        assert table[ROW] == whole[ROW].tolist()
        assert table["ttft"] == whole["ttft"].tolist()
        for i in (0, 100, len(table[ROW]) - 1):
            settings = result.plan.settings(table[ROW][i])
            assert str(table["precision"][i]) == settings["precision"]
            assert table["workload.concurrency"][i] == float(settings["workload.concurrency"])
        assert vars(result.counted) == vars(counted)

    @pytest.mark.parametrize("sweep", [SWEEP, Sweep(SCENARIO, WIDE, chunk=100)])
    def test_interrupted_and_resumed_they_are_the_same(self, tmp_path, sweep):
        whole = swept(sweep, tmp_path / "whole", workers=1)

        def interrupt(done, _):
            if done == 4:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            swept(sweep, tmp_path / "twice", workers=1, progress=interrupt)
        begun = contents(tmp_path / "twice")
        assert len(begun) == 4
        ages = {path: path.stat().st_mtime_ns for path in (tmp_path / "twice").iterdir()}
        told = []
        result = swept(sweep, tmp_path / "twice", workers=1,
                       progress=lambda done, of: told.append((done, of)))
        assert contents(tmp_path / "twice") == contents(tmp_path / "whole")
        assert all(path.stat().st_mtime_ns == age for path, age in ages.items())
        assert stored(result) == stored(whole)
        assert told[-1] == (9, 9)

    def test_from_a_terminal(self, tmp_path):
        command = f"-m calc sweep {SCENARIO} --chunk=200 -o {tmp_path / 'out'} --workers=2 " \
                  "--axis=workload.concurrency=1..1000 --axis=workload.input_tokens=100..400:+1"
        running = subprocess.Popen(  # which a shell's background would have ignore the signal
            [sys.executable, *command.split()], cwd=PROJECT, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        while len(list((tmp_path / "out").glob("*.parquet"))) < 3:
            time.sleep(0.02)
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=120)
        assert (running.returncode, said) == (
            130, "interrupted: finished parts are kept, the same command goes on from there.\n")
        assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".parquet"}

    def test_a_full_disk_is_a_sentence_and_finished_parts_are_kept(self, monkeypatch, tmp_path):
        whole = swept(self.SWEEP, tmp_path / "whole", workers=1)
        synced, sync = [], os.fsync

        def full(handle):
            synced.append(handle)
            if len(synced) > 3:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            sync(handle)

        monkeypatch.setattr("catalogue.reading.files.os.fsync", full)
        with pytest.raises(catalogue.ParamsError, match=(
                r"no space left on device\); 3 of 9 parts are finished and kept")):
            swept(self.SWEEP, tmp_path / "full", workers=1)
        monkeypatch.undo()
        assert len(contents(tmp_path / "full")) == 3  # and no draft
        assert stored(swept(self.SWEEP, tmp_path / "full", workers=1)) == stored(whole)
        assert contents(tmp_path / "full") == contents(tmp_path / "whole")

    def foreign(self, folder, name):
        """Makes of a folder with parts one with something else in it."""
        part = sorted(folder.glob("*.parquet"))[2]
        match name:
            case "cut off":
                part.write_bytes(part.read_bytes()[:-9])
            case "with a bit turned":
                whole = bytearray(part.read_bytes())
                whole[len(whole) // 3] ^= 1
                part.write_bytes(whole)
            case "a text":
                part.write_text("row,tpot\n")
            case "of another number":
                part.write_bytes(sorted(folder.glob("*.parquet"))[3].read_bytes())
            case "without our words":
                parquet.write_table(parquet.read_table(part).replace_schema_metadata(None), part)
            case "of other columns":
                parquet.write_table(parquet.read_table(part).drop_columns(["tpot"]), part)
            case "of another sweep":
                swept(Sweep(SCENARIO, WIDE[:2], every=True), folder.parent / "b", workers=1)
                other, = (folder.parent / "b").iterdir()
                other.rename(folder / other.name)
            case "somebody's":
                parquet.write_table(parquet.read_table(part), folder / "mine.parquet")

    @pytest.mark.parametrize("name", [
        "cut off", "with a bit turned", "a text", "of another number", "of another sweep",
        "without our words", "of other columns", "somebody's"])
    def test_one_that_is_not_ours_is_refused(self, tmp_path, name):
        swept(self.SWEEP, tmp_path / "a", workers=1)
        self.foreign(tmp_path / "a", name)
        before = contents(tmp_path / "a")
        with pytest.raises(catalogue.ParamsError, match=r"expected|remove it"):
            swept(self.SWEEP, tmp_path / "a", workers=1)
        assert contents(tmp_path / "a") == before

    def test_other_files_are_left_alone(self, tmp_path):
        (tmp_path / "notes.txt").write_text("mine")
        swept(self.SWEEP, tmp_path, workers=1)
        assert (tmp_path / "notes.txt").read_text() == "mine"

    def test_the_key_is_of_the_numbers(self, tmp_path, monkeypatch):
        """Not of how the same values are written, or where; but of all that a part follows from."""
        def key(**changed):
            return planned(Sweep(**vars(self.SWEEP) | changed)).key

        assert key() == key(axes=tuple(axis(a.name, [",".join(v) for v in a.values], "elsewhere")
                                       for a in WIDE))
        others = [key(chunk=99), key(quantities=("tpot",)), key(axes=WIDE[1:]), key(every=False),
                  key(settings=("device.memory_bandwidth=4 TB/s",))]
        monkeypatch.setattr("calc.sweeping.plan.program", lambda: "other formulas")
        assert len({key(), *others}) == 6


class TestDefinition:
    FILE = """
scenario: h200-r1-vllm-tp8
set: {precision: w4a16-awq}
axes:
  workload.concurrency: [1, "8..32:x2"]
  workload.input_tokens: 100..400:+100
minimise: [tpot, ttft]
maximise: output_throughput
"""

    def test_a_file_says_what_flags_say(self, cli, tmp_path):
        path = tmp_path / "sweep.yml"
        path.write_text(self.FILE)
        flags = ["--axis", "workload.concurrency=1,8..32:x2", "--axis",
                 "workload.input_tokens=100..400:+100", "--set", "precision=w4a16-awq",
                 "--min=tpot", "--min=ttft", "--max=output_throughput"]
        said = cli("sweep", str(path), "--json")[1]
        told, by_flags = json.loads(said), json.loads(cli("sweep", SCENARIO, *flags, "--json")[1])
        assert by_flags | {"asked": told["asked"]} == told
        code, other, _ = cli("sweep", str(path), "--axis", "workload.concurrency=2", "--json")
        found = json.loads(other)
        assert (code, found["rows"]) == (0, 4)
        assert {row["settings"]["workload.concurrency"] for row in found["deployments"]} == {"2"}

    @pytest.mark.parametrize(("change", "said"), [
        (("scenario: h200", "scenari: h200"), "sweep.yml:2: unknown key 'scenari'"),
        (("  workload.concurrency: [1, \"8..32:x2\"]", "  workload.concurrency: [1, 0]"),
         "sweep.yml:5: workload.concurrency: workload.concurrency: '0' is out of range"),
        (("100..400:+100", "400..100"), "sweep.yml:6: workload.input_tokens: '400..100' is not"),
        (("minimise: [tpot, ttft]", "minimise: 3"), "sweep.yml:7: minimise: expected names"),
        (("{precision: w4a16-awq}", "[1]"), "sweep.yml:3: set: expected a group"),
    ])
    def test_what_a_file_cannot_hold_is_told_with_its_line(self, cli, tmp_path, change, said):
        path = tmp_path / "sweep.yml"
        path.write_text(self.FILE.replace(*change))
        code, out, err = cli("sweep", str(path))
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1

    @pytest.mark.parametrize(("flags", "said"), [
        ([], "needs an axis"),
        (["--axis=workload.concurrency"], "expected PATH=VALUES"),
        (["--axis=workload.concurency=1,2"], "nearest names are concurrency"),
        (["--axis=device=nvidia-h2O"], "nvidia-h20"),
        (["--axis=workload.concurrency=1..9:x1"], "is not a range"),
        (["--axis=workload.concurrency=1,1"], "given twice"),
        (["--axis=concurrency=1", "--axis=workload.concurrency=2"], "moves 'concurrency'"),
        (["--axis=hbm_efficiency=1.5"], "out of range"),
        (["--axis=workload.concurrency=1", "--set=workload.concurrency=2"], "given twice"),
        (["--axis=workload.concurrency=1", "--min=tpto"], "nearest names are tpot"),
        (["--axis=workload.concurrency=1", "--min=tpot", "--max=tpot"], "the opposite"),
        (["--axis=workload.concurrency=1", "--best=3"], "by one objective"),
        (["--axis=workload.concurrency=1", "--best=0", "--min=tpot"], "out of range"),
        (["--axis=workload.concurrency=1", "--all"], "expected -o FOLDER"),
        (["--axis=workload.concurrency=1", "--chunk=-1"], "out of range"),
        (["--axis=workload.concurrency=1", "--workers=0"], "expected 1 or more"),
        (["--axis=workload.concurrency=1..999999999"], "more than 100,000 values"),
        (["--axis=workload.concurrency=1", "-o", "/dev/null/x"], "no folder"),
        (["--axis=device.memory_capacity=1..90000:+1 GB"], "is not a range"),
        (["--axis=workload.concurrency=1", "--scheduler=tcp://127.0.0.1:9"], "no Dask scheduler"),
        (["--axis=workload.concurrency=1", "--scheduler=nonsense://x"], "no Dask scheduler"),
    ])
    def test_what_cannot_be_asked_is_one_sentence(self, cli, monkeypatch, flags, said):
        monkeypatch.setattr(workers, "ANSWER", 0.5)
        code, out, err = cli("sweep", SCENARIO, *flags)
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1

    def test_a_plain_path_of_the_workload_and_its_symbol_are_the_same(self):
        for name in PLAIN:
            values = {"memory_utilization": "0.8, 0.9", "context_tokens": "20000, 30000"}.get(
                name, "16, 32")
            keys = [planned(Sweep(SCENARIO, (axis(path, values, ""),))).key
                    for path in (name, f"workload.{name}")]
            assert keys[0] == keys[1]

    def test_reads_the_scenario_beside_the_file(self, tmp_path):
        (tmp_path / "mine.yml").write_text(
            (PROJECT / "params/scenarios/h200-r1-vllm-tp8.yml").read_text())
        (tmp_path / "sweep.yml").write_text(self.FILE.replace("h200-r1-vllm-tp8", "mine.yml"))
        assert swept(read(tmp_path / "sweep.yml"), workers=1).counted.rows == 16


def test_a_table_says_what_was_left_out(cli):
    code, out, err = cli("sweep", SCENARIO, "--axis", "precision=fp8-block,w4a16-awq",
                         "--axis", "workload.concurrency=1,1000", "--axis",
                         "workload.input_tokens=200,60000")
    assert (code, err) == (0, "")
    assert "8 deployments" in out
    assert "does not fit in memory (first: " in out
    assert "steady_tpot (small)" in out
