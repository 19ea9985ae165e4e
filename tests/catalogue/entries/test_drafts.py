"""What is stated of drafts: a length or a list of chances, and one sentence for what is neither."""

import pytest
from _door import sentence

import calc
import catalogue
from catalogue.entries.deployments import MOST_DRAFTS

NAME = "h200-r1-sglang-mtp"


def written(tmp_path, *lines, drafts=2):
    """A deployment with so many drafts and further lines of its workload."""
    text = (catalogue.ROOT / "scenarios" / f"{NAME}.yml").read_text(encoding="utf-8")
    own = [line for line in text.splitlines() if "draft_tokens:" not in line]
    at = own.index("workload:") + 1
    path = tmp_path / "mine.yml"
    path.write_text("\n".join([*own[:at], *(
        [f"  draft_tokens: {drafts}"] if drafts else []), *(f"  {line}" for line in lines),
        *own[at:], ""]), encoding="utf-8")
    return path, at + 1 + bool(drafts)


def yielded(path, **changes):
    inputs = catalogue.load_scenario(path).inputs() | changes
    return float(calc.evaluate(inputs, "mla")["tokens_per_step"])


class TestWhatCounts:
    def test_a_length_is_taken_as_it_is(self, tmp_path):
        path, _ = written(tmp_path, "accepted_length: 2.4")
        assert yielded(path) == 2.4
        assert yielded(path, mtp_acceptance=0.1, acceptance_decay=0.1) == 2.4

    def test_a_step_yields_its_own_token_and_the_drafts_that_count(self, tmp_path):
        path, _ = written(tmp_path, "acceptance: [0.9, 0.7]")
        assert yielded(path) == pytest.approx(2.6)

    def test_chances_as_the_acceptance_has_them_change_nothing(self, tmp_path):
        first, decay = 0.8, 0.9
        path, _ = written(tmp_path)
        by_acceptance = yielded(path, mtp_acceptance=first, acceptance_decay=decay)
        chances = [first, first**2 * decay]
        path, _ = written(tmp_path, f"acceptance: {chances}")
        assert yielded(path) == pytest.approx(by_acceptance)

    @pytest.mark.parametrize(("drafts", "expected"), [(0, 1), (1, 2), (2, 2.4), (3, 2.4)])
    def test_no_more_than_is_checked(self, tmp_path, drafts, expected):
        """Where drafts are swept, a stated length ends at what the step checks."""
        path, _ = written(tmp_path, "accepted_length: 2.4")
        assert yielded(path, draft_tokens=drafts) == expected

    def test_a_longer_step_is_quicker_per_token(self, tmp_path):
        tpot = []
        for length in (1, 1.5, 2, 3):
            path, _ = written(tmp_path, f"accepted_length: {length}")
            tpot.append(calc.evaluate(catalogue.load_scenario(path).inputs(), "mla")["tpot"])
        assert tpot == sorted(tpot, reverse=True)

    def test_a_range_of_chances_is_one_of_the_length(self, tmp_path):
        path, _ = written(tmp_path, "acceptance:",
                          "  - {value: 0.9, range: [0.8, 0.95]}", "  - 0.5")
        knob = next(knob for knob in catalogue.load_scenario(path).knobs()
                    if knob.name == "accepted_length")
        assert (knob.value.low, knob.value.value, knob.value.high) == pytest.approx(
            (2.3, 2.4, 2.45))


class TestBadInput:
    @pytest.mark.parametrize(("lines", "says"), [
        (["accepted_length: 3.5"], "'3.5' tokens, but checks 2 drafts, expected 1 to 3"),
        (["accepted_length: {value: 2.9, range: [2, 3.1]}"], "expected 1 to 3"),
        (["accepted_length: 0.5"], "at least 1"),
        (["accepted_length: -2"], "at least 1"),
        (["acceptance: [0.9, 1.2]"], "at most 1"),
        (["acceptance: [0.9, -0.1]"], "at least 0"),
        (["acceptance: [0.9]"], "1 acceptances of 2 drafts, expected one for each"),
        (["acceptance: [0.9, 0.8, 0.7]"], "3 acceptances of 2 drafts, expected one for each"),
        (["acceptance: []"], "0 acceptances of 2 drafts"),
        (["acceptance: [0.7, 0.9]"], "draft 2 counts with '0.9', more often than the one before"),
        (["acceptance: 0.9"], "list"),
    ])
    def test_is_one_sentence_at_its_line(self, tmp_path, lines, says):
        path, line = written(tmp_path, *lines)
        message = sentence(catalogue.load_scenario, path)
        assert message.startswith(f"{path}:{line}: ")
        assert says in message

    def test_two_statements_of_the_same(self, tmp_path):
        path, line = written(tmp_path, "accepted_length: 2", "acceptance: [0.9, 0.8]")
        message = sentence(catalogue.load_scenario, path)
        assert message.startswith(f"{path}:{line + 1}: ")
        assert "expected one of them" in message

    @pytest.mark.parametrize("line", ["accepted_length: 1.9", "acceptance: [0.9]"])
    def test_nothing_is_accepted_where_nothing_is_drafted(self, tmp_path, line):
        path, at = written(tmp_path, line, drafts=None)
        message = sentence(catalogue.load_scenario, path)
        assert message.startswith(f"{path}:{at}: ")
        assert "expected 'draft_tokens' beside it" in message

    @pytest.mark.parametrize(("drafts", "says"), [
        (-1, "at least 0"), (1.5, "not a whole number"),
        (MOST_DRAFTS + 1, f"at most {MOST_DRAFTS}"),
    ])
    def test_drafts_that_no_step_has(self, tmp_path, drafts, says):
        path, line = written(tmp_path, drafts=drafts)
        message = sentence(catalogue.load_scenario, path)
        assert message.startswith(f"{path}:{line - 1}: ")
        assert says in message
