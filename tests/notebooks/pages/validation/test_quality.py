"""What long runs left is read without trust and told the worst first; what was not done says so."""

import ast
import json
from pathlib import Path

import _project
import pytest

from _ext import inputs, pipeline
from catalogue import ParamsError
from catalogue.reading import record as recording
from notebooks.pages.validation.quality import laws, mutants, page, records, runs
from notebooks.pages.validation.quality.records import (
    Door,
    Environment,
    Identical,
    Kills,
    Law,
    Mutants,
    Packages,
    Tried,
)
from notebooks.show.columns import cells, pipe_table
from tools.faults.victims import VICTIMS
from tools.fuzzing.doors import DOORS

DAY = "2026-01-02"
SEEN, UNSEEN = "tests/test_a.py::test_b", None


def mutant(path, seen_by, before="a + b", after="a - b", line=3):
    return {"path": path, "line": line, "kind": "arithmetic", "before": before, "after": after,
            "seen_by": seen_by, "seconds": 5}


def drawn(*of):
    return Mutants.model_validate({"date": DAY, "rooms": ["calc"], "seed": 0, "mutants": of})


def explaining(folder: Path, *entries: str) -> Path:
    path = folder / "survivors.yml"
    path.write_text("survivors:\n" + "".join(entries))
    return path


def entry(path="calc/a/b.py", why='{en: "Nothing changes.", zh: "没有变化。"}'):
    return f'  - path: {path}\n    before: "a + b"\n    after: "a - b"\n    why: {why}\n'


@pytest.fixture
def shown(monkeypatch):
    """Rows and titles of the tables, and sentences, in English."""
    found = []

    def table(rows, columns, folded=None, **options):
        found.append((folded and folded[0], pipe_table(*cells(rows, columns), 0)))

    for module in (page, mutants, runs):
        monkeypatch.setattr(module, "table", table)
    for module in (page, runs):
        monkeypatch.setattr(module, "show", lambda en, zh: found.append((None, en)))
    return found


class TestRecords:
    def test_one_that_is_missing_is_none_and_counts_as_read(self, tmp_path, monkeypatch):
        noted = []
        monkeypatch.setattr(records, "record", noted.append)
        assert records.read(tmp_path / "none.json", Mutants) is None
        assert noted == [tmp_path / "none.json"]

    @pytest.mark.parametrize(("text", "problem"), [
        ("[", "not valid JSON"), ("[]", "expected a JSON object"),
        ('{\n "a": {"date": "2026-01-02", "deployments": 3}}', ":2: a.broken: field required."),
        ('{\n\n "a": {"date": "soon", "deployments": 3}}', ":3: a.date: 'soon' is not a date"),
        ('{"a": 3}', ":1: a: input should be")])
    def test_one_that_is_none_is_refused_in_a_sentence(self, tmp_path, text, problem):
        path = tmp_path / "laws.json"
        path.write_text(text)
        with pytest.raises(ParamsError) as refused:
            records.read(path, dict[str, Law])
        assert problem in str(refused.value)
        assert str(refused.value).endswith(".")

    def test_those_of_the_project_are_what_their_programs_write(self):
        kept = records.load()
        for name, of in zip(kept._fields, kept, strict=True):
            assert of is not None or name == "identical", name
        assert kept.newest is not None

    def test_every_record_is_one_that_the_build_follows(self, monkeypatch, tmp_path):
        """By the name under which it is noted, the page is stale when it changes or appears."""
        followed = inputs.Inputs(records.PROJECT)
        monkeypatch.setenv("PARAMS_RECORD", str(tmp_path / "read"))
        monkeypatch.setattr(recording, "_noted", set())
        monkeypatch.setattr(recording, "_kept", set())
        records.load()
        noted = set((tmp_path / "read").read_text().splitlines())
        assert noted >= {path.relative_to(records.PROJECT).as_posix() for path in (
            records.MUTANTS, records.SURVIVORS, records.LAWS, records.DOORS, records.KILLS,
            records.IDENTICAL, records.PACKAGES)}
        assert {name for name in noted if (records.PROJECT / name).is_file()
                and followed._state(name) == "absent"} == set()

    def test_one_that_a_page_took_makes_it_stale_when_it_appears_or_changes(self, tmp_path):
        project = _project.make(tmp_path)
        path = project / "tools/kept.json"
        of = next(each for each in pipeline.pages(project) if each.name == "derivation")

        def key(*taken):
            return inputs.Inputs(project).key(of, taken)

        absent, others = key("tools/kept.json"), key()
        path.parent.mkdir()
        path.write_text("{}")
        first = key("tools/kept.json")
        path.write_text('{"found": 1}')
        assert len({absent, first, key("tools/kept.json")}) == 3
        assert key() == others


class TestSurvivors:
    UNSEEN = (mutant("calc/a/b.py", UNSEEN), mutant("calc/a/c.py", SEEN))

    def test_one_that_is_explained_has_its_reason(self, tmp_path):
        path = explaining(tmp_path, entry())
        assert records.explained(drawn(*self.UNSEEN), path) == {
            ("calc/a/b.py", "a + b", "a - b"): ("Nothing changes.", "没有变化。")}

    @pytest.mark.parametrize(("entries", "problem"), [
        ([entry("calc/a/c.py")], ":2: 'a + b' changed to 'a - b' in calc/a/c.py is no survivor"),
        ([entry("calc/none.py")], "is no survivor of mutants.json, expected"),
        ([entry(), entry()], ":6: 'a + b' changed to 'a - b' in calc/a/b.py stands twice"),
        ([entry(why='{en: "Nothing."}')], ":5: survivors.0.why: expected a text in both"),
        ([entry(why='{en: "", zh: "没有。"}')], ":5: survivors.0.why: expected a text in both"),
        (["  - {path: a, before: b, after: c}\n"], "survivors.0.why: field required")])
    def test_one_that_is_not_in_the_record_or_has_no_reason_is_refused(self, tmp_path, entries,
                                                                        problem):
        with pytest.raises(ParamsError) as refused:
            records.explained(drawn(*self.UNSEEN), explaining(tmp_path, *entries))
        assert problem in str(refused.value)

    def test_without_a_file_none_is(self, tmp_path):
        assert records.explained(drawn(*self.UNSEEN), tmp_path / "none.yml") == {}

    def test_those_of_the_project_are_explained(self):
        kept = records.load()
        assert kept.why.keys() <= {
            each.change for each in kept.mutants.mutants if each.seen_by is None}


class TestMutants:
    def test_rooms_come_worst_first(self):
        record = drawn(mutant("calc/a/b.py", SEEN), mutant("calc/a/d/e.py", UNSEEN),
                       mutant("calc/z/b.py", UNSEEN), mutant("calc/z/b.py", UNSEEN, after="c"),
                       mutant("catalogue/y/b.py", SEEN), mutant("calc/f.py", SEEN))
        why = {("calc/z/b.py", "a + b", "c"): ("Nothing.", "没有。")}
        found = mutants.rooms(record, why)
        assert [(room.name, room.seen, room.explained, room.unexplained) for room in found] == [
            ("calc/a", 1, 0, 1), ("calc/z", 0, 1, 1), ("calc", 1, 0, 0), ("catalogue/y", 1, 0, 0)]
        assert [each.path for each in mutants.unexplained(record, why)] == [
            "calc/a/d/e.py", "calc/z/b.py"]

    def test_one_that_a_recorded_answer_alone_sees_is_told_apart(self):
        answer = "tests/tools/answers/test_recorded.py::test_an_answer_is_the_one_recorded[check]"
        room, = mutants.rooms(drawn(mutant("calc/a/b.py", SEEN), mutant("calc/a/b.py", answer)), {})
        assert (room.seen, room.recorded, room.mutants) == (1, 1, 2)

    def test_one_that_a_test_written_since_sees_is_told_apart(self):
        later = mutant("calc/a/b.py", UNSEEN) | {"seen_since": SEEN}
        record = drawn(later, mutant("calc/a/b.py", SEEN), mutant("calc/a/c.py", UNSEEN))
        room, = mutants.rooms(record, {})
        assert (room.seen, room.since, room.unexplained, room.mutants) == (1, 1, 1, 3)
        assert [each.path for each in mutants.unexplained(record, {})] == ["calc/a/c.py"]
        line = mutants.tried(record, {})
        assert (line.tried, line.found) == (3, 1)
        assert line.told[0].startswith("2 seen by no test at first; 1 of these")

    @pytest.mark.parametrize("text", [
        "a | b", "`x` <b>*no*</b> {glue}", "``", "$a$ & [x](y)", "a\n  b"])
    def test_a_line_of_code_is_literal_text(self, shown, text):
        from markdown_it import MarkdownIt

        mutants.shown(drawn(mutant("calc/a/b.py", UNSEEN, text, text + "!")), {})
        title, lines = shown[1]
        assert title == "Changed lines that no test saw and nobody has explained"
        row = MarkdownIt("commonmark").enable("table").parse(lines)
        codes = [part.content for token in row for part in token.children or ()
                 if part.type == "code_inline"]
        plain = " ".join(text.split())
        assert codes == ["calc/a/b.py:3", plain, f"{plain}!"]

    def test_a_picture_has_a_bar_of_each_kind_for_every_room(self):
        record = drawn(mutant("calc/a/b.py", SEEN), mutant("calc/z/b.py", UNSEEN))
        axes, = mutants.picture(record, {}, "en").axes
        assert [label.get_text() for label in axes.get_yticklabels()] == ["calc/z", "calc/a"]
        assert len(axes.patches) == 2 * len(mutants.PARTS)

    def test_a_picture_of_few_counts_whole_ones(self):
        axes, = mutants.picture(drawn(mutant("calc/a/b.py", SEEN)), {}, "en").axes
        assert [float(place) for place in axes.get_xticks() if place % 1] == []


class TestLaws:
    def test_every_law_of_the_record_has_words_in_both_languages(self):
        for told in records.load().laws:
            assert all(laws.WORDS[laws.law_of(told)])

    def test_those_with_words_are_those_that_are_held(self):
        held, mostly = set(), set()
        for path in (records.PROJECT / "tests/laws").glob("test_*.py"):
            for node in ast.parse(path.read_text("utf-8")).body:
                for each in getattr(node, "decorator_list", ()):
                    name, law = ast.unparse(each), node.name.removeprefix("test_").replace("_", " ")
                    held |= {law} if name == "law" or name.startswith("mostly(") else set()
                    mostly |= {law} if name.startswith("mostly(") else set()
        assert held == laws.WORDS.keys()
        assert mostly == laws.INEXACT.keys()

    def test_one_without_words_is_refused(self):
        with pytest.raises(ParamsError, match=r"laws.json: the law 'pigs fly' has no words"):
            laws.counted({"pigs fly": Law(date=DAY, deployments=1, broken=0, left_out=0)})

    def test_inputs_are_put_together_and_the_worst_comes_first(self):
        def law(deployments, broken, left_out):
            return Law(date=DAY, deployments=deployments, broken=broken, left_out=left_out)

        names = list(laws.WORDS)
        found = laws.counted({
            names[0]: law(10, 0, 0), names[1]: law(10, 0, 5),
            "a little more moves nothing by much tokens": law(10, 1, 0),
            "a little more moves nothing by much users": law(30, 0, 8), names[2]: law(10, 2, 0)})
        assert [each.name for each in found] == [
            names[2], "a little more moves nothing by much", names[1], names[0]]
        assert found[1][1:5] == (2, 40, 1, 8)


class TestCounts:
    def test_doors_and_commands_are_those_that_are_tried(self):
        assert runs.DOORS.keys() == DOORS.keys()
        assert runs.VICTIMS.keys() == VICTIMS.keys()

    def test_what_was_not_tried_comes_before_what_ended_badly(self, shown):
        def door(cases, traceback):
            return Door(date=DAY, cases=cases, answered=cases - traceback, refused=0,
                        traceback=traceback, endless=0, unclear=0)

        runs.doors({name: door(100, bad) for name, bad in zip(
            list(runs.DOORS)[1:], (0, 7, *(0,) * 10), strict=True)})
        lines = shown[0][1].splitlines()
        first, second = lines[2:4]
        assert first.startswith(f"| {next(iter(runs.DOORS.values()))[0]} | not tried |")
        assert " | 7 | " in second
        assert len(lines) == 2 + len(runs.DOORS)

    def test_environments_come_worst_first(self, shown):
        ways = {"2": {"same": True, "largest": 0.0}, "1": {"same": True, "largest": 1e-12},
                "0": {"same": False, "largest": 0.5}, "8": {"same": False, "failed": ""}, "9": {}}
        runs.packages(Packages(date=DAY, tolerance=1e-9, questions=3, runs=tuple(
            Environment(python=f"3.{name}", packages="oldest", **way)
            for name, way in ways.items())))
        rows = [line.split(" | ") for line in shown[1][1].splitlines()[2:]]
        assert [(row[0].strip("| "), row[-1].strip("| ")) for row in rows] == [
            ("3.9", "**not run**"), ("3.8", "**no answer**"), ("3.0", "**other numbers**"),
            ("3.1", "the same"), ("3.2", "the same")]


class TestFirstTable:
    def test_what_was_not_done_comes_first_then_what_was_found_per_case(self):
        def line(name, tried, found):
            return Tried((name, name), name, tried, found, ("", ""), ("", ""), ("", ""))

        found = records.worst_first([line("few", 1000, 1), line("none", 10, 0), line("all", 0, 0),
                                     line("half", 2, 1), line("more", 99, 0)])
        assert [each.section for each in found] == ["all", "half", "few", "none", "more"]

    def test_each_record_that_is_missing_is_told(self, shown, monkeypatch):
        monkeypatch.setattr(page, "_blind", lambda predicted: Tried(
            ("Blind", "盲测"), "quality-blind", 5, 1, ("", ""), ("", ""), ("", "")))
        none = records.Records(None, {}, None, None, None, None, None)
        page.answer(none, ())
        rows = shown.pop()[1].splitlines()[2:]
        assert ["not done" in row for row in rows] == [True] * 6 + [False]
        page.section(None, lambda record: pytest.fail("nothing to show"))
        assert shown == [(None, "**This was not done yet**: no run has been kept.")]
        assert none.newest is None

    def test_a_line_leads_to_a_section_of_the_page(self):
        text = (records.PROJECT / "notebooks/quality.md").read_text("utf-8")
        kept = records.load()
        for line in (mutants.tried(kept.mutants, kept.why), laws.tried(kept.laws),
                     runs.tried_doors(kept.doors), runs.tried_kills(kept.kills),
                     runs.tried_builds(None), runs.tried_packages(kept.packages)):
            for title in line.title:
                assert f"({line.section})=\n## {title}\n" in text

    def test_counts_are_sums_of_the_record(self):
        kill = {"date": DAY, "kills": 10}
        line = runs.tried_kills({"a": Kills(**kill, processes=1, files=2, unclear=0),
                                 "b": Kills(**kill | {"date": "2025-12-31"}, processes=0, files=0,
                                            unclear=1)})
        assert (line.tried, line.found, line.share) == (20, 4, 0.2)
        assert line.when[0] == f"2025-12-31 to {DAY}"
        same = Identical(date=DAY, commit="abc", files=4, bytes=10, different=("a.html",))
        assert runs.tried_builds(same).share == 0.25


def test_the_record_of_mutants_is_as_the_program_keeps_it():
    """Each with what tells it apart, what saw it and how long that took."""
    told = json.loads(records.MUTANTS.read_text("utf-8"))
    assert told.keys() >= {"date", "rooms", "seed", "mutants"}
    first = ("path", "line", "kind", "before", "after", "seen_by", "seconds")
    assert {tuple(each) for each in told["mutants"]} <= {first, (*first, "seen_since")}
    assert all(each["seen_by"] is None for each in told["mutants"] if "seen_since" in each)
