"""What ``sweep`` prints of a result that is written down here: what was left out, what is kept."""

from types import SimpleNamespace as Made

import numpy as np
import pytest
from _options import lines_of

from calc.commands.deciding import sweep as command
from calc.sweeping.chunks import ROW, TOO_LARGE
from catalogue import ParamsError


@pytest.fixture
def told(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "240")

    def call(rows, folder=None, **plan):
        along = [Made(values=[1, 2], paths=["workload.concurrency"]), Made(values=[1], paths=["x"])]
        made = Made(**{"settings": lambda first: {"at": f"{first}"}, "chunks": 1234, "key": "k1",
                       "every": False, "axes": along, "best": None,
                       "objectives": {"tpot": -1, "output_throughput_per_device": 1},
                       "names": ["tpot", "output_throughput_per_device"]} | plan)
        command._print(Made(
            plan=made, counted=Made(rows=12345, left={TOO_LARGE: (5, 2), "odd": (345, 7)}),
            folder=folder, settings=lambda row: {"workload.concurrency": f"{row}"},
            rows={ROW: np.arange(rows), "tpot": np.full(rows, 0.05),
                  "output_throughput_per_device": np.full(rows, 123.4)}))
        return lines_of(capsys.readouterr().out)

    return call


BEGIN = ["12,345 deployments, 11,995 can be laid out and fit.",
         "left out 345: odd (first: at=7)", "left out 5: does not fit in memory (first: at=2)"]


def test_a_front(told):
    lines = told(2)
    assert lines[:3] == BEGIN
    assert " ".join(lines[3:-3]) == ("the front: 2 that no other beats in tpot (small), "
                                     "output_throughput_per_device (large)")
    assert lines[-3:] == ["concurrency | tpot | output throughput per device",
                          "0 | 50 ms | 123 token/s", "1 | 50 ms | 123 token/s"]


@pytest.mark.parametrize(("kept", "shown", "last"), [
    (40, 40, "39 | 50 ms | 123 token/s"), (41, 40, "1 more: --json tells all of them."),
    (1240, 40, "1,200 more: --json tells all of them.")])
def test_the_best_and_no_more_than_a_screen_of_them(told, kept, shown, last):
    lines = told(kept, best=kept)
    assert f"the best {kept:,} by tpot (small)" in lines[3]
    assert sum(" | 50 ms | " in line for line in lines) == shown
    assert lines[-1] == last


def test_what_is_written_as_files_is_not_tabulated(told):
    assert told(2, folder="out", every=True) == [*BEGIN, "1,234 parts of sweep k1 in out"]
    assert len(told(2, folder="out")) > 4


def test_units_are_those_of_what_is_divided():
    assert command._unit("output_throughput_per_device") == "token/s"
    assert (command._unit("tpot"), command._unit("nothing")) == ("s", "1")


@pytest.mark.parametrize(("every", "out", "workers", "said"), [
    (True, None, None, "--all"), (False, None, 0, "--workers 0"), (False, "x", -1, "--workers -1")])
def test_all_are_written_as_files_by_one_worker_or_more(monkeypatch, every, out, workers, said):
    monkeypatch.setattr(command, "_asked", lambda args: Made(every=every))
    with pytest.raises(ParamsError, match=said):
        command.run(Made(out=out, workers=workers))


def test_a_sweep_is_run_as_it_was_asked_for(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(command, "_asked", lambda args: Made(every=True))
    monkeypatch.setattr(command, "swept", lambda *given: asked.append(given[1:4]) or Made(
        as_json=lambda: {"kept": 3}))
    args = Made(out="x", workers=1, scheduler="tcp://here", json=True)
    assert command.run(args) == 0
    assert asked == [("x", 1, "tcp://here")]
    assert '"kept": 3' in capsys.readouterr().out

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "swept", interrupted)
    assert command.run(args) == 130
    assert "interrupted" in capsys.readouterr().err
