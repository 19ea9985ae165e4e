"""How the checks of a release are read, and how an assertion finds its own among them."""

import pytest

from catalogue.engines.assertions import assertions
from tools.engines.assertions import CONFIGURATION, plainly, stands
from tools.engines.checks import checks

SOURCE = '''
class Config:
    def verify(self):
        if not self.enable:
            return
        if self.tp % self.dp != 0:
            raise ValueError("no")
        elif self.mode == "a":
            assert self.dp > 1, "no"
        for item in self.items:
            if item < 0:
                raise MyOwn("not one of the configuration's")
        try:
            if self.late:
                raise RuntimeError
        except ValueError:
            raise
'''


def test_a_check_has_the_conditions_under_which_it_is_reached():
    found = checks("a/config.py", SOURCE)
    assert [(each.function, each.guards, each.fails) for each in found] == [
        ("Config.verify", ("not (not self.enable)",), "self.tp % self.dp != 0"),
        ("Config.verify", ("not (not self.enable)", "not (self.tp % self.dp != 0)",
                           "self.mode == 'a'"), "not (self.dp > 1)"),
        ("Config.verify", ("not (not self.enable)", "not (self.tp % self.dp != 0)"), "self.late")]


def test_a_file_that_cannot_be_parsed_has_none():
    assert checks("a.py", "def broken(:") == []


@pytest.mark.parametrize(("one", "other"), [
    ("self.tp % self.dp != 0", "cfg.tp % resolved_view(server_args).dp != 0"),
    ("not (a == b)", "not a == b")])
def test_a_condition_is_the_same_whoever_holds_its_names(one, other):
    assert plainly(one) == plainly(other)


def test_an_assertion_is_found_by_its_condition_within_the_case_that_it_names():
    of = {each.name: each for each in assertions("vllm")}["balancing-of-whole-experts"]
    text = ("class C:\n  def f(self):\n    if self.enable_{}:\n"
            "      if not self.enable_expert_parallel:\n        raise ValueError\n")
    path, places = "vllm/config/parallel.py", CONFIGURATION["vllm"]
    assert stands(of, checks(path, text.format("eplb")), places) == f"{path}:5"
    assert stands(of, checks(path, text.format("other")), places) is None
    assert stands(of, checks("vllm/worker.py", text.format("eplb")), places) is None
