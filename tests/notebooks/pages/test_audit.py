"""Pages of the audit: counts sum to the claims, verdicts are the runtime's, commands reproduce."""

from __future__ import annotations

import shlex

import pytest

import calc
import catalogue
from calc.auditing.truths import deployment
from notebooks.pages.audit import document, findings, first_screen
from notebooks.pages.audit.words import GROUPS, everything, group
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.card import command
from notebooks.show.numbers import fmt_bytes

DOCUMENTS = ("s0", "s1", "s2", "s3")
VERDICTS = {True: "runs as written", False: "does not run"}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_recommended_plans_run_if_their_memory_suffices(cell, name):
    page = document.Page(name)
    first_screen.answer(page)
    lines = [line for line in cell.texts("en")[0].splitlines() if "](#" in line]
    plans = [plan for _, _, plan in findings.recommended(page.document)]
    assert plans
    for plan, line in zip(plans, lines, strict=True):
        spare = float(deployment(plan.id).quantities["headroom_per_device"])
        assert f"](#{plan.id})" in line
        assert VERDICTS[spare >= 0] in line
        assert fmt_bytes(abs(spare), digits=0) in line


def test_every_claim_holds_does_not_or_cannot_be_decided():
    assert {group(row) for row in everything().rows} == set(GROUPS)


def test_searched_replacement_of_a_plan_is_what_its_command_computes():
    plans = {plan.id: plan for _, plan in findings.plans_of("s1")}
    best = findings.searched(plans["s1-plan-c"])
    program, *words = shlex.split(
        command(Deployed(plans["s1-plan-c"]), best.settings).replace("\\\n", ""))
    assert [program, *words[:2]] == ["will-it-fit", "estimate", "s1-plan-c"]
    again = calc.estimate(catalogue.load_scenario(words[1], overrides=words[3::2]))
    assert again.fits
    assert float(again.everything["output_throughput"]) == pytest.approx(
        best.quantities["output_throughput"])
    assert findings.searched(plans["s1-overlap-tp4-75"]) is None  # states no throughput to aim at
