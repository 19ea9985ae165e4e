"""``stale``: what it prints of old statements, and what it refuses."""

from __future__ import annotations

import json
import re

import pytest
from _project import ROOT as PROJECT

from calc.commands.evidence import stale
from catalogue import ageing


def asked(cli, *arguments):
    code, out, _ = cli("stale", "--as-of", "2026-11-25", *arguments, "--json")
    assert code == 0
    return json.loads(out)


def test_totals_count_what_is_listed(cli):
    answer = asked(cli, "--kind", "prices")
    of = answer["totals"]["prices"]
    assert of["old"] == len(answer["old"]) < of["dated"]
    assert of["superseded"] == len(answer["superseded"])
    assert all(row["age"] >= answer["older"] for row in answer["old"])
    every = asked(cli, "--kind", "prices", "--older", "0")
    assert len(every["old"]) == of["dated"]


def test_engines_are_told_by_their_newest_release(cli):
    releases = [row["file"] for row in asked(cli, "--kind", "engines")["releases"]]
    assert "params/engines/vllm.yml" in releases
    assert len(releases) == len(set(releases))


@pytest.mark.parametrize("wrong", [("--older", "-1"), ("--older", "a"), ("--as-of", "2026-02-30")])
def test_what_is_no_number_and_no_date_is_refused_in_a_sentence(cli, wrong):
    code, _, err = cli("stale", f"{wrong[0]}={wrong[1]}")
    assert code == 2
    assert wrong[1] in err
    assert err.count("\n") == 1


def test_each_kind_has_a_recipe_of_its_own_or_that_of_another():
    own = [kind for kind in ageing.DATED if kind not in stale.RECIPES]
    assert set(stale.RECIPES.values()) <= set(own)
    for texts in zip(*map(stale.recipe, own), strict=True):
        assert len(set(texts)) == len(own)


@pytest.mark.parametrize("kind", ageing.DATED)
def test_a_recipe_names_what_there_is(cli, kind):
    """Its folders and files, modules, commands and targets of the Makefile exist."""
    for text in stale.recipe(kind):
        for path in re.findall(r"(?:params|tools|tests)/[\w/.-]*[\w/]", text):
            place = path if not re.search(r"[A-Z]{2}", path) else path.rpartition("/")[0]
            assert (PROJECT / place).exists(), path
        for module in re.findall(r"python -m (tools\.[\w.]*\w)", text):
            assert (PROJECT / f"{module.replace('.', '/')}.py").exists()
        for command in re.findall(r"python -m calc ([a-z-]+)", text):
            with pytest.raises(SystemExit) as ended:
                cli(command, "--help")
            assert not ended.value.code
        for target in re.findall(r"make ([a-z-]+)", text):
            assert f"\n{target}:" in (PROJECT / "Makefile").read_text("utf-8")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_of_one_kind_it_is_said_how_it_is_renewed(cli, language):
    code, out, _ = cli("--lang", language, "stale", "--kind", "prices")
    assert code == 0
    assert stale.recipe("prices")[language == "zh"] in out
    code, out, _ = cli("--lang", language, "stale", "--older", "100000")
    assert code == 0
    assert "--kind" in out.splitlines()[-1]


def test_the_answer_for_programs_has_the_recipe_of_each_kind_that_was_asked(cli):
    assert list(asked(cli, "--kind", "engines")["renewing"]) == ["engines"]
    assert list(asked(cli)["renewing"]) == list(ageing.DATED)
