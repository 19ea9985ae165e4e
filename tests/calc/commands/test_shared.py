"""What commands share: numbers and names in words, columns, the language, lengths, entries."""

import argparse
import json
from io import StringIO
from types import SimpleNamespace as Made

import pytest
from rich.console import Console
from rich.table import Table

import calc
import catalogue
from calc.commands import arguments, engines, lengths, listing, printing
from catalogue import ParamsError, load_scenario
from catalogue.engines.history import Entry, State
from catalogue.entries.calibrations import Growth
from catalogue.reading.values import Value


@pytest.fixture
def chinese():
    """Answers in Chinese, for a test."""
    printing.speak("zh")
    yield
    printing.speak("en")


@pytest.mark.parametrize(("seconds", "told"), [
    (119.0, "119 s"), (120.0, "2 min"), (7199.0, "120 min"), (7200.0, "2 h"),
    (2 * 86400.0 - 3600, "47 h"), (2 * 86400.0, "2 days"), (0.05, "50 ms"), (None, "–")])
def test_a_time_is_told_in_the_largest_unit_of_which_there_are_two(seconds, told):
    assert printing.lasting(seconds) == told


def test_columns_are_as_wide_as_what_stands_in_them(capsys):
    """Words begin at their column's left, numbers end at its right; a Chinese sign takes two."""
    printing.print_columns([("name", "of", "n"), ("longest", "中文", "10"), ("b", "c", "5")], 2)
    assert capsys.readouterr().out.split("\n") == [
        "name     of     n", "longest  中文  10", "b        c      5", ""]


@pytest.mark.parametrize(("name", "plain", "told"), [
    ("memory_bandwidth", "memory bandwidth", "memory bandwidth"),
    ("gemm_efficiency.fp8", "gemm efficiency of fp8", "gemm efficiency of fp8")])
def test_an_input_is_told_by_its_plain_name(name, plain, told):
    assert printing.input_name(name, plain) == told


@pytest.mark.usefixtures("chinese")
def test_in_chinese_what_has_a_name_is_told_by_it():
    assert printing.input_name("memory_bandwidth", "x") == printing.named("memory_bandwidth")
    assert printing.input_name("gemm_efficiency.fp8", "x") == "稠密矩阵乘效率（fp8）"
    assert printing.input_name("own_error of all", "x") == "公式自身的误差（all）"
    assert printing.input_name("own_error", "x") == "公式自身的误差"
    assert printing.input_name("nothing", "as it is") == "as it is"
    assert printing.metric_of("tpot") == printing.named("tpot") != "tpot"
    assert printing.listing(["a", "b"]) == "a、b"
    assert printing.translated({"en": "value", "zh": "取值"}) == "取值"


def test_in_english_a_quantity_is_told_by_its_symbol():
    assert printing.metric_of("tpot") == "tpot"


def test_a_value_as_data_has_what_it_has():
    other = Value(2, "B", "2 B", "nobody", "measured", 1, 3, date="2025")
    bare = printing.plain(Value(5, "s", "5 s", "nobody", "vendor", 5, 5, others=(other,)))
    assert bare == {"value": 5, "unit": "s", "written": "5 s", "source": "nobody", "kind": "vendor",
                    "others": [{"value": 2, "unit": "B", "written": "2 B", "source": "nobody",
                                "kind": "measured", "low": 1, "high": 3, "date": "2025"}]}
    source = next(iter(printing.sources()))
    found = printing.plain(Value(5, "s", "5 s", source, "vendor", 5, 5, section="1.2"))
    assert (found["section"], found["url"]) == ("1.2", printing.sources()[source].get("url"))
    entry = Growth(down=0.1, up=0.3, inside=0.5, pairs=9, systems=2, without={})
    assert printing.plain({1: entry, "x": (2, [other.value])}) == {
        "1": {name: value for name, value in vars(entry).items() if value is not None},
        "x": [2, [2]]}


def test_an_answer_begins_with_its_layout_and_an_error_is_told_programs_too(capsys):
    printing.begin(["cost", "x", "--json"])
    printing.print_json({"a": 1})
    printing.print_error("it is wrong")
    found = capsys.readouterr()
    answer, error = (json.loads(part) for part in (
        found.out[:found.out.index("}\n{") + 1], found.out[found.out.index("}\n{") + 2:]))
    head = {"version": calc.__version__, "asked": ["cost", "x", "--json"]}
    assert answer == {"schema": "will-it-fit/cost/1", **head, "a": 1}
    assert list(answer)[:3] == ["schema", "version", "asked"]
    assert error == {"schema": "will-it-fit/error/1", **head, "error": "it is wrong"}
    printing.begin(["cost"])
    printing.print_error("it is wrong")
    assert capsys.readouterr().out == ""
    printing.begin([])
    printing.print_entries({"x": 1})
    assert json.loads(capsys.readouterr().out)["schema"] == "will-it-fit/none/1"


def test_a_text_is_told_as_it_stands_and_a_table_as_wide_as_a_screen():
    """On a terminal, too: no number is coloured, no line is broken; brackets are text."""
    screen = Console(width=20, file=StringIO(), force_terminal=True, color_system="standard",
                     markup=False)
    line = "12.5 GB of [/a/path] are needed by each of 8 cards"
    printing.tell(screen, line)
    assert screen.file.getvalue() == f"{line}\n"
    narrow = Console(width=20, file=StringIO(), markup=False)
    printing.tell(narrow, Table(line))
    assert max(map(len, narrow.file.getvalue().splitlines())) == 20


def test_what_cannot_be_written_says_why(tmp_path):
    assert "no space left" in printing.cannot_be_written("x", OSError(28, "No space left"))
    assert "refused" in printing.cannot_be_written("x", OSError())
    with pytest.raises(ParamsError, match="nothing"):
        printing.store(tmp_path / "nothing" / "x.yml", "a")
    printing.store(tmp_path / "x.yml", "a")
    printing.store(tmp_path / "x.yml", "b")
    assert (tmp_path / "x.yml").read_text() == "b"


# --- the language ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "environment", "language"), [
    ([], {}, "en"), (["--lang", "zh"], {}, "zh"), (["x", "--lang=zh"], {}, "zh"),
    (["--lang"], {}, "en"), (["--lang", "fr"], {"LANG": "zh_CN"}, "zh"),
    (["--lang", "en"], {"LANG": "zh_CN"}, "en"), (["--long", "zh"], {}, "en"),
    (["--lang=en", "zh"], {}, "en"), ([], {"LC_ALL": "zh_CN.UTF-8", "LANG": "en"}, "zh"),
    ([], {"LC_ALL": "", "LC_MESSAGES": "zh", "LANG": "en"}, "zh"),
    ([], {"LC_ALL": "C", "LANG": "zh_CN"}, "en"), (["--lang", "zh", "--lang", "en"], {}, "zh")])
def test_the_language_is_that_of_the_option_else_of_the_environment(
        monkeypatch, asked, environment, language):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
        if name in environment:
            monkeypatch.setenv(name, environment[name])
    assert arguments.language(asked) == language


@pytest.mark.usefixtures("chinese")
def test_chinese_help_is_broken_by_its_width_and_no_mark_begins_a_line():
    lines = arguments._Formatter("x")._split_lines("每行四个字，以及 word 和 longer-word，完。", 8)
    assert lines == ["每行四个", "字，以及", "word 和", "longer-word，", "完。"]
    assert arguments._Formatter("x")._fill_text("每行四个字", 8, "  ") == "  每行四个\n  字"


def test_settings_may_be_given_any_number_of_times():
    parser = argparse.ArgumentParser()
    arguments.add_settings(parser)
    assert parser.parse_args(["--set", "a=1", "--set", "b=2"]).settings == ["a=1", "b=2"]
    assert parser.parse_args([]).settings == []


# --- lengths of requests --------------------------------------------------------------------------


def asked(path, variation=None):
    return lengths.lengths_of(Made(lengths=path and str(path), variation=variation))


def test_lengths_of_a_file_set_their_means_and_the_longest(tmp_path):
    """Means of (10, 20, 33) and (7, 1, 2), rounded; the longest is 33 + 2."""
    path = tmp_path / "lengths.csv"
    path.write_text("input_tokens, output_tokens\n10,7\n\n20 , 1\n33,2\n")
    assert lengths.read_lengths(path) == [(10, 7), (20, 1), (33, 2)]
    assert asked(path) == ([(10, 7), (20, 1), (33, 2)], [
        "workload.input_tokens=21 token", "workload.output_tokens=3 token",
        "workload.context_tokens=35 token"])
    path.write_text("1,1\n")  # a mean that rounds to nothing is one
    assert asked(path, "0.5")[1] == [
        "workload.length_variation=0.5", "workload.input_tokens=1 token",
        "workload.output_tokens=1 token", "workload.context_tokens=2 token"]


def test_the_means_together_may_be_longer_than_any_request(tmp_path):
    """Of 1 + 2 and 2 + 1 the means are 2 and 2, rounded."""
    path = tmp_path / "lengths.csv"
    path.write_text("1,2\n2,1\n")
    assert asked(path)[1][2] == "workload.context_tokens=4 token"


def test_a_distribution_is_a_setting_and_nothing_is_none():
    assert asked(None) == ([], [])
    assert asked(None, "2") == ([], ["workload.length_variation=2"])
    assert asked("lognormal", "2") == ([], ["workload.length_distribution=lognormal",
                                            "workload.length_variation=2"])


@pytest.mark.parametrize(("text", "line"), [
    ("1,2\n3\n", 2), ("1,2,3\n", 1), ("0,2\n", 1), ("2,0\n", 1),
    ("1,2\ninput_tokens,output_tokens", 2), ("1,1234567890\n", 1), ("a,2\n", 1), ("-1,2", 1),
    ("１,2", 1), ("1.5,2", 1)])
def test_a_line_that_is_no_request_is_refused(tmp_path, text, line):
    path = tmp_path / "lengths.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(ParamsError, match=f"lengths.csv:{line}: "):
        lengths.read_lengths(path)


def test_a_length_has_nine_digits_and_a_file_has_requests(tmp_path):
    path = tmp_path / "lengths.csv"
    path.write_text("999999999,1\n")
    assert lengths.read_lengths(path) == [(999_999_999, 1)]
    path.write_text("input_tokens,output_tokens\n\n")
    with pytest.raises(ParamsError, match="there are no requests"):
        lengths.read_lengths(path)


def test_listed_lengths_vary_by_their_deviation_over_their_mean():
    """1 and 3 deviate by 1 about 2; 10, 10 by nothing."""
    scenario = load_scenario("h200-r1-vllm-tp8")
    assert lengths.listed(scenario, [(1, 10), (3, 10)]).variations == (0.5, 0)
    assert lengths.listed(scenario, [(10, 4), (10, 12)]).variations == (0, 0.5)
    assert lengths.listed(scenario, []) is scenario


# --- entries --------------------------------------------------------------------------------------


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
