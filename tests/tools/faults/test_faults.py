"""Commands that are killed leave no process and nothing half-written: some of ``make faults``."""

import signal
import time
from random import Random

import pytest

from catalogue.reading.files import BEGINNING
from tools.faults.killing import Place, killed, undisturbed
from tools.faults.victims import VICTIMS, Victim

KILLS = 3  # of each of the commands that write at once


@pytest.mark.one
@pytest.mark.parametrize("name", ["deploy", "import-model", "calibrate"])
def test_a_kill_leaves_nothing_and_the_same_command_goes_on(tmp_path, name):
    lasts, whole = undisturbed(VICTIMS[name], tmp_path)
    left = [killed(VICTIMS[name], tmp_path, Random(f"{name} {number}"), lasts, whole)
            for number in range(KILLS)]
    assert [(each.processes, each.files, each.unclear) for each in left] == [(0, (), "")] * KILLS


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_report_ends_with_the_command_that_makes_it(tmp_path, number):
    """Its kernel too, and what it has of temporary files goes."""
    place = Place(tmp_path, VICTIMS["report"])
    process = place.start()
    while not any((tmp_path / "tmp").glob(f"{BEGINNING}*/*")):  # its kernel has begun
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(number)
    process.communicate()
    assert place.lasting() == 0
    assert place.lying({}) == ()


def test_what_lives_on_and_what_lies_about_is_counted(tmp_path, monkeypatch):
    code = ("import pathlib, subprocess, sys, time; pathlib.Path('OUT/half').write_text('a'); "
            "subprocess.Popen(['sleep', '600'], stderr=subprocess.DEVNULL); time.sleep(600)")
    careless = Victim([code])
    monkeypatch.setattr(Victim, "command", lambda self, out: [
        "python3", "-c", self.words[0].replace("OUT", str(out))])
    monkeypatch.setattr(Victim, "begun", property(lambda self: lambda _, out: any(out.iterdir())))
    monkeypatch.setattr("tools.faults.killing.LASTING", 0.5)
    monkeypatch.setattr("tools.faults.killing.SIGNALS", [signal.SIGTERM])
    left = killed(careless, tmp_path, Random(0), 0.1, {})
    assert left.processes == 1
    assert left.files == ("half",)
