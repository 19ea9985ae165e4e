"""The command line in Chinese: nothing of it is English, and English is what it was."""

import json

import pytest
from _options import english

import catalogue

DEPLOYMENTS = ("h200-r1-vllm-tp8", "h200-v32-sglang-dp8", "s0-scenario-1", "s3-hybrid-910b4")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """A place that says nothing of its language."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")  # a table that is wrapped parts "all-reduce"


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_an_estimate_has_no_english_word(cli, name):
    code, out, err = cli("--lang", "zh", "estimate", name)
    title = catalogue.load_scenario(name).heading["zh"]
    assert (code, err) == (0, "")
    assert english(out.replace(title, ""), but=["preface"]) == set()


def test_the_environment_chooses_and_the_option_overrides_it(cli, monkeypatch):
    english_answer = cli("estimate", DEPLOYMENTS[0])
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    chinese = cli("estimate", DEPLOYMENTS[0])
    assert "放得下" in chinese[1]
    assert cli("estimate", DEPLOYMENTS[0], "--lang", "en") == english_answer
    monkeypatch.setenv("LC_ALL", "C")
    assert cli("estimate", DEPLOYMENTS[0]) == english_answer
    assert cli("estimate", DEPLOYMENTS[0], "--lang", "zh") == chinese


def test_json_is_the_same_in_both(cli):
    answers = [json.loads(cli("--lang", lang, "estimate", DEPLOYMENTS[2], "--json")[1])
               for lang in ("en", "zh")]
    for answer in answers:
        answer.pop("asked")
    assert answers[0] == answers[1]
