"""What becomes of a setting, release by release, and of the whole command that it stands in."""

from __future__ import annotations

from types import SimpleNamespace as Made

import pytest

import catalogue
from calc.auditing import settings
from calc.auditing.settings import ASCEND, Ruling, ruling
from catalogue.engines.released import releases
from catalogue.ledger.rows import EngineSetting

STATES = {  # name -> state in the releases 1, 2 and 3
    "fine": ("accepted",) * 3, "new": ("unknown", "accepted", "accepted"),
    "old": ("accepted", "deprecated", "unknown"), "off": ("type", "choice", "unlisted"),
    "gone": ("unknown",) * 3, "first": ("unknown", "accepted", "accepted"),
    "later": ("accepted", "unknown", "unknown")}


class Engine:
    """An engine with three releases, and the values that it was asked of."""

    def __init__(self, name, versions=("1", "2", "3"), states=STATES):
        self.name, self.title, self.versions, self._states = name, name.upper(), versions, states
        self.asked = []

    def find(self, name):
        return self._states.get(name)

    def judge(self, name, value, version):
        self.asked.append(value)
        return self._states[name][("1", "2", "3").index(version)]


@pytest.fixture
def engines(monkeypatch):
    """Engines by name; the plug-in has two settings of its own, and a release less."""
    made = {"vllm": Engine("vllm"), "sglang": Engine("sglang"),
            "vllm-ascend": Engine("vllm-ascend", ("1", "2"), {
                "old": ("choice", "accepted", ""), "gone": ("accepted", "accepted", "")})}
    monkeypatch.setattr(settings, "load_engine", made.__getitem__)
    monkeypatch.setattr(settings, "_serving", lambda engine, versions: list(versions))
    monkeypatch.setattr(settings, "_blocks", lambda document: ())
    monkeypatch.setattr(settings, "_stated", dict)
    return made


def ruled(name, engine="vllm", value=1, **given):
    asked = EngineSetting(program="p", engine=engine, name=name, value=value)
    return ruling(asked, "S1-001", "s1", "2", **given)


@pytest.mark.parametrize(("name", "state", "since", "until"), [
    ("fine", "accepted", "1", "3"), ("new", "accepted", "2", "3"), ("old", "accepted", "1", "1"),
    ("off", "unlisted", "3", "3"), ("gone", "unknown", "1", "3")])
def test_a_setting_is_what_the_best_of_the_releases_makes_of_it(engines, name, state, since, until):
    """From the first to the last of those that make that of it."""
    assert ruled(name) == Ruling(state, since, until)


@pytest.mark.parametrize(("value", "given"), [(None, True), ("a b", "a b"), (0, 0), (False, False)])
def test_a_switch_is_given_as_true(engines, value, given):
    ruled("fine", value=value)
    assert engines["vllm"].asked == [given] * 3


@pytest.mark.parametrize(("engine", "name", "software", "state", "until"), [
    ("vllm", "old", ASCEND, "accepted", "2"), ("vllm", "gone", ASCEND, "accepted", "2"),
    ("vllm", "fine", ASCEND, "accepted", "3"), ("vllm", "gone", "cuda", "unknown", "3"),
    ("vllm", "gone", None, "unknown", "3"), ("vllm-ascend", "gone", None, "accepted", "2"),
    ("vllm-ascend", "gone", ASCEND, "accepted", "2"), ("sglang", "gone", ASCEND, "unknown", "3")])
def test_on_ascend_the_plug_in_is_asked_of_what_it_has(engines, engine, name, software, state,
                                                      until):
    found = ruled(name, engine, software=software)
    assert (found.state, found.until) == (state, until)


def test_what_a_person_found_holds_where_a_release_takes_the_setting(engines, monkeypatch):
    found = Made(state="misses")
    monkeypatch.setattr(settings, "_stated", lambda: {"S1-001": found})
    assert ruled("fine") == Ruling("misses", "1", "3", (), found)
    assert ruled("gone") == Ruling("unknown", "1", "3", (), found)
    assert ruled("off").state == "misses"
    assert ruled("any", engine=None, ran=True) == Ruling("misses", stated=found)


def test_of_a_program_without_a_catalogue_only_what_was_run_is_known(engines):
    assert ruled("any", engine=None, ran=True) == Ruling("ran")
    assert ruled("any", engine=None) == Ruling("no-catalogue")


def commands(monkeypatch, *blocks):
    monkeypatch.setattr(settings, "_blocks", lambda document: tuple(
        Made(section=section, program=program, settings=dict.fromkeys(names, 1))
        for section, program, names in blocks))
    settings._stops.cache_clear()


@pytest.mark.parametrize(("names", "beside"), [
    (("--fine", "new"), ()),  # the second release starts it
    (("--fine", "gone"), ("gone",)), (("gone", "fine", "new"), ("gone",)),
    # no release starts it, none of them because of the same: all that one refuses
    (("later", "fine", "first"), ("later", "first")), (("first", "fine", "later"),
                                                       ("first", "later")),
    (("first", "gone", "fine", "later"), ("gone",))])
def test_a_command_that_no_release_starts(engines, monkeypatch, names, beside):
    commands(monkeypatch, ("2", "VLLM", [name.lstrip("-") for name in names]))
    assert ruled("--fine".lstrip("-")).beside == beside


def test_a_setting_does_not_stand_beside_itself_however_it_is_spelled(engines, monkeypatch):
    commands(monkeypatch, ("2", "VLLM", ["gone", "fine"]))
    assert ruled("gone").beside == ()
    assert ruled("fine").beside == ("gone",)


@pytest.mark.parametrize("block", [
    ("3", "VLLM", ["fine", "gone"]), ("2", "SGLANG", ["fine", "gone"]),
    ("2", "VLLM", ["new", "gone"])])
def test_another_section_program_or_command_stops_nothing(engines, monkeypatch, block):
    commands(monkeypatch, block)
    assert ruled("fine").beside == ()


def test_of_several_commands_that_have_it_each_is_asked_and_each_name_told_once(
        engines, monkeypatch):
    commands(monkeypatch, ("2", "VLLM", ["fine", "gone"]), ("2", "VLLM", ["gone", "off", "fine"]),
             ("2", "VLLM", ["fine", "later", "first"]))
    assert ruled("fine").beside == ("gone", "later", "first")


def test_a_release_that_the_plug_in_does_not_have_is_asked_as_its_last(engines, monkeypatch):
    """On Ascend the third release of the engine runs on the second of the plug-in."""
    commands(monkeypatch, ("2", "VLLM", ["fine", "old"]))
    assert ruled("fine", software=ASCEND).beside == ()
    monkeypatch.setattr(engines["vllm-ascend"], "_states", {"old": ("choice", "choice", "")})
    settings._stops.cache_clear()
    assert ruled("fine", software=ASCEND).beside == ("old",)


def test_of_several_releases_of_the_plug_in_it_is_the_last_of_all(engines, monkeypatch):
    commands(monkeypatch, ("2", "VLLM", ["fine", "old"]))
    plugin = engines["vllm-ascend"]
    monkeypatch.setattr(plugin, "versions", ("0", "1", "2"))
    monkeypatch.setattr(plugin, "judge", lambda name, value, version: (
        "choice" if name == "old" and version == "2" else "accepted"))
    settings._stops.cache_clear()
    monkeypatch.setattr(engines["vllm"], "versions", ("3",))
    assert ruled("fine", software=ASCEND).beside == ("old",)


def test_only_releases_that_serve_the_models_of_the_documents_are_asked():
    known = releases(catalogue.load("profiles", "vllm"))
    assert settings._serving("vllm", ("0.0.1", *known)) == list(known)
