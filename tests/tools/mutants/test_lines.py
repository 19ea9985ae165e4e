"""Which tests run a line: those of its statement, the quickest first, within the time."""

from pathlib import Path

import pytest

pytest.importorskip("coverage", reason="make lines installs it")

import coverage

from tools.mutants import lines

TEXT = '''def rate(tokens, seconds):
    if (tokens
            and seconds):
        return (tokens
                / seconds)
    return 0
'''


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Two tests ran the division, a third the last line alone."""
    data = coverage.CoverageData(tmp_path / "record")
    for test, ran in (("t.py::slow", [2, 4, 5]), ("t.py::quick", [2, 4]), ("t.py::zero", [2, 6])):
        data.set_context(f"{test}|run")
        data.add_lines({"calc/rate.py": ran})
    data.set_context("")  # on import
    data.add_lines({"calc/rate.py": [1]})
    data.write()
    return tmp_path / "record"


@pytest.mark.parametrize(("line", "found"), [(1, [1]), (2, [2, 3]), (3, [2, 3]), (5, [4, 5]),
                                             (6, [6])])
def test_a_line_belongs_to_its_statement_or_to_the_head_of_it(line, found):
    assert list(lines.statement(TEXT, line)) == found


def test_the_quickest_first_as_many_as_fit(record: Path):
    seconds = {"t.py::slow": 5.0, "t.py::quick": 0.1}
    def of(line, most):
        return lines.tests_of(record, "calc/rate.py", TEXT, line, seconds, most)
    assert of(5, 10) == ["t.py::quick", "t.py::slow"]
    assert of(5, 2) == ["t.py::quick"]
    assert of(6, 10) == ["t.py::zero"]
    assert of(1, 10) == []


def test_recorded_answers_come_last_in_a_quarter_of_the_time(record: Path):
    answers = [f"{lines.ANSWERS}test_a.py::test[{name}]" for name in "ab"]
    data = coverage.CoverageData(record)
    data.read()
    for answer in answers:
        data.set_context(f"{answer}|run")
        data.add_lines({"calc/rate.py": [6]})
    data.write()
    lines.contexts.cache_clear()
    seconds = {"t.py::zero": 9.0, answers[0]: 0.1, answers[1]: 2.4}
    def of(most):
        return lines.tests_of(record, "calc/rate.py", TEXT, 6, seconds, most)
    assert of(10) == ["t.py::zero", *answers]
    assert of(9) == ["t.py::zero", answers[0]]


def test_a_file_that_is_not_in_the_record_has_none(record: Path):
    assert lines.tests_of(record, "calc/other.py", TEXT, 5, {}, 10) == []
