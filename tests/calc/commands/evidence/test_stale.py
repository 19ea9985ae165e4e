"""``stale``: what it prints of old statements, and what it refuses."""

from __future__ import annotations

import json

import pytest


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
