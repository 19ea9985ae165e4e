"""How entries, engines and files of the catalogue are listed, shown and told apart."""

from types import SimpleNamespace as Made

import pytest
from _options import lines_of

import catalogue
from calc.commands import check, engines, listing
from catalogue import ParamsError
from catalogue.engines.history import Entry, State
from catalogue.entries.calibrations import Growth
from catalogue.reading.values import Value


@pytest.fixture
def told(capsys, monkeypatch):
    """Lines that are printed by what is called with the arguments behind it."""
    monkeypatch.setenv("COLUMNS", "240")

    def call(part, *args):
        part(*args)
        return lines_of(capsys.readouterr().out)

    return call


def value(number, written, source="nobody", **more):
    return Value(number, "B", written, source, "vendor", number, number, **more)


def test_a_cell_of_a_listing():
    assert listing._cell(value(1e9, "1 GB"), 1e9) == "1 GB"
    assert listing._cell(None, {"total": 1234567, "active": 5}) == "total 1,234,567\nactive 5"
    assert listing._cell(None, None) == "–"
    assert listing._cell(None, "gpu") == "gpu"


def test_a_card_is_listed_with_what_cards_are_compared_by():
    card = Made(id="card", name={"en": "A card", "zh": "卡"}, type="gpu", vendor="x",
                memory_capacity=value(5, "5 B"), memory_bandwidth=None)
    assert listing.summary("devices", card) == {
        "name": "A card", "type": "gpu", "memory_capacity": 5, "memory_bandwidth": None}
    plan = Made(title={"en": "A plan"}, model="m", device="d", precision="p", id="x")
    assert listing.summary("scenarios", plan) == {
        "title": "A plan", "model": "m", "device": "d", "precision": "p"}


def test_a_row_per_entry_and_none_of_nothing(told):
    card = Made(id="card", name={"en": "A card", "zh": "卡"}, type="gpu",
                memory_capacity=value(5, "5 B"), memory_bandwidth=None)
    assert told(listing.print_list, "devices", [card])[1:] == [
        "identifier | name | type | memory capacity | memory bandwidth",
        "card | A card | gpu | 5 B | –"]
    assert told(listing.print_list, "devices", [])[-1] == "identifier"


def test_every_value_of_an_entry_by_its_place():
    entry = Growth(down=0.1, up=0.3, inside=0.5, pairs=9, systems=2, without={"x": (0.1, 0.2)})
    assert listing._flatten("", entry) == [
        ("down", 0.1), ("up", 0.3), ("systems", 2), ("pairs", 9), ("inside", 0.5),
        ("without.x", (0.1, 0.2))]
    assert listing._flatten("a", {"b": {1: "c"}, "d": None}) == [("a.b.1", "c")]
    hidden = dict.fromkeys(("id", "name", "title", "note", "defaults", "documented"), "x")
    assert listing._flatten("", hidden) == list(hidden.items())  # keys of a group are its own
    card = catalogue.load("devices", "nvidia-h20")
    assert not {"id", "name", "note", "defaults"} & {name for name, _ in listing._flatten("", card)}


def test_a_value_is_cited_by_source_section_and_date():
    assert listing._citation(value(1, "1 B")) == "nobody"
    assert listing._citation(value(1, "1 B", section="1.2", date="2025")) == (
        "nobody, section 1.2, 2025")


def test_an_entry_is_shown_with_what_others_print_and_its_sources_once(told):
    card = catalogue.load("devices", "nvidia-h20")
    lines = told(listing.print_entry, "devices", card)
    assert lines[1] == "key | value | kind | source"
    rows = [line.split(" | ") for line in lines[2:] if " | " in line]
    every = listing._flatten("", card)
    others = sum(len(item.others) for _, item in every if isinstance(item, Value))
    assert len(rows) == len(every) + others
    assert sum(cells[0] == "also printed" for cells in rows) == others > 0
    cited = [line.partition(":")[0] for line in lines if " | " not in line][1:]
    assert len(cited) == len(set(cited))
    assert {item.source for _, item in every if isinstance(item, Value)} <= set(cited)


def test_the_parameters_of_a_model_are_counted_by_class_and_in_shares(told):
    model = catalogue.load("models", "deepseek-v3")
    lines = told(listing.print_entry, "models", model)
    shares = {cells[0]: cells[1:] for line in lines[-20:] if len(cells := line.split(" | ")) == 3}
    total = int(shares["total"][0].replace(",", ""))
    assert shares["total"][1] == "100.00%"
    routed = int(shares["routed expert"][0].replace(",", ""))
    assert shares["routed expert"][1] == f"{100 * routed / total:.2f}%"


# --- engines --------------------------------------------------------------------------------------

VERSIONS = ("1.0", "1.1", "1.2", "1.3")


def argument(*, until=None, releases=VERSIONS):
    states = {version: State(type="int", default=5 if version < "1.2" else 7)
              for version in releases}
    return Entry("--users", "arguments", releases[0], until, states,
                 {"1.2": ("default",)} if "1.2" in releases else {})


ENGINE = Made(versions=VERSIONS)


@pytest.mark.parametrize(("release", "states"), [
    (None, ["1.0", "1.2"]), ("1.1", ["1.1"]), ("1.2", ["1.2"]), ("1.3", ["1.3"])])
def test_the_history_of_a_flag_is_where_it_began_and_changed_or_a_release_that_is_asked_for(
        release, states):
    found = engines._history(ENGINE, argument(), release)
    assert list(found["states"]) == states
    assert found["releases"] == list(VERSIONS)


def test_a_release_before_it_began_has_no_state():
    late = argument(releases=VERSIONS[1:])
    assert list(engines._history(ENGINE, late, None)["states"]) == ["1.1", "1.2"]
    assert engines._history(ENGINE, late, "1.0")["states"] == {}


def test_a_history_ends_with_whether_it_is_still_there(told):
    data = {entry.until or "now": engines._history(ENGINE, entry, None) for entry in (
        argument(), argument(until="1.1", releases=VERSIONS[:2]))}
    lines = told(lambda: engines.console().print(engines._history_table(data)))
    assert [line.split(" | ")[:2] for line in lines[1:]] == [
        ["now", "1.0"], ["", "1.2"], ["", "1.3"], ["1.1", "1.0"], ["", "1.1"]]
    assert lines[3].endswith("still there")
    assert lines[5].endswith("the last pinned release that has it")
    assert "default 5" in lines[1]
    assert "default 7" in lines[2]


def test_names_are_told_with_when_they_came_and_went(told):
    data = {"--users": engines._history(ENGINE, argument(until="1.1", releases=VERSIONS[:2]), None),
            "--more": engines._history(ENGINE, argument(), None)}
    assert [line.split(" | ") for line in told(
        lambda: engines.console().print(engines._names_table(data)))[1:]] == [
        ["--users", "argument", "1.0", "1.1"], ["--more", "argument", "1.0", ""]]


def test_engines_are_told_with_their_first_and_last_release(told):
    kinds = {kind: number for number, kind in enumerate(engines.KINDS, 3)}
    data = {"mine": {"releases": dict.fromkeys(VERSIONS, ""), "entries": kinds}}
    assert told(lambda: engines.console().print(engines._engines_table(data)))[1] == (
        "mine | 4, 1.0 to 1.3 | " + " | ".join(map(str, kinds.values())))


# --- check ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "kind"), [
    (keys[-1], kind) for kind, keys in check._TELLING_KEYS.items()])
def test_a_file_of_ones_own_is_known_by_a_telling_key(tmp_path, key, kind):
    path = tmp_path / "mine.yml"
    path.write_text(f"name: {{en: a, zh: b}}\n{key}: {{}}\n", "utf-8")
    assert check.kind_of(str(path)) == kind


def test_a_folder_tells_its_kind_and_one_of_the_same_name_elsewhere_too(tmp_path):
    (tmp_path / "devices").mkdir()
    assert check.kind_of(str(tmp_path / "devices" / "x.yml")) == "devices"
    root = catalogue.ROOT
    assert check.kind_of(str(root / "symbols.yml")) == "symbols.yml"
    assert check.kind_of(str(root / "engines" / "x.yml")) == "engines"
    assert check.kind_of(str(root / "engines" / "tools" / "x.yml")) == "tools"
    shared = tmp_path / "symbols.yml"  # of a reader, who may call a file so
    shared.write_text("topology: {}\n", "utf-8")
    assert check.kind_of(str(shared)) == "links"
    shared.write_text("a: 1\n", "utf-8")
    with pytest.raises(ParamsError, match="not recognised as any of"):
        check.kind_of(str(shared))


@pytest.mark.parametrize(("left", "told"), [(0, 10), (1, 11), (2, 11)])
def test_ten_problems_are_told_and_how_many_are_left(left, told):
    lines = check.told([f"{number} is wrong." for number in range(10 + left)])
    assert len(lines) == told
    assert lines[9] == "9 is wrong."
    if left:
        assert lines[10].startswith(f"{left} more problems")


def test_files_are_counted_and_their_problems_told_once(capsys, monkeypatch):
    """Two of three have a problem, of which one is the same; an error that is told ends with 2."""
    def checked(file, notes):
        notes.append(f"a note of {file}")
        if file != "good":
            raise ParamsError("both.")

    monkeypatch.setattr(check, "_check_file", checked)
    assert check.run(Made(files=["bad", "good", "worse"], json=False)) == 2
    out, err = capsys.readouterr()
    assert err == "both.\n"
    assert out.splitlines()[-1] == "3 files checked, 2 with a problem."
    assert check.run(Made(files=["good"], json=False)) == 0
    assert capsys.readouterr().out == "a note of good\n1 file checked, 0 with a problem.\n"


def test_a_dtype_that_nobody_has_measured_is_noted_with_what_stands_in_for_it(monkeypatch):
    path = str(catalogue.ROOT / "devices" / "nvidia-h20.yml")
    monkeypatch.setattr(check, "lacking", lambda device, priors: [("fp8", "bf16")])
    note, = check._stand_ins(path)
    assert "nvidia-h20.yml:" in note
    assert "has no efficiency of fp8, that of bf16 stands in" in note
    host = next(name for name in catalogue.names("devices")
                if catalogue.load("devices", name).type == "host")
    assert check._stand_ins(str(catalogue.ROOT / "devices" / f"{host}.yml")) == []
