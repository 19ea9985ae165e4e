"""Pages of deployments: answers of the runtime, verdicts from numbers, changes that run."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import calc
import catalogue
from calc.answer.service import estimate_service
from calc.layouts.layout import changed
from notebooks.pages.deployments import (
    alternatives,
    findings,
    own_hardware,
    summary,
    verdicts,
    views,
)
from notebooks.pages.deployments.answers import Deployed
from notebooks.show.numbers import fmt_sig

DOCUMENTED = [name for name in catalogue.deployment_names()
              if catalogue.load_scenario(name).file.document]


@cache
def deployed(name: str) -> Deployed:
    return Deployed(catalogue.load_scenario(name))


@pytest.mark.parametrize("name", DOCUMENTED[::6])
def test_deployments_fit_if_no_memory_is_missing_and_intervals_contain_the_factor(name):
    one = deployed(name)
    assert (summary.verdict(one) == "short") == (one.headroom < 0) == (summary.needed(one) > 1)
    for speed in summary.speeds(one):
        assert 0 < speed.low <= speed.factor * (1 + 1e-12)
        assert speed.factor <= speed.high * (1 + 1e-12)


@pytest.mark.parametrize(("name", "verdict"), [
    ("s0-cards-910b2", "holds"), ("s1-launch-awq", "fits"), ("s1-expert-tiers-uniform", "slow"),
    ("s2-910b1-awq", "predicted"), ("s2-other-engine", "missed")])
def test_verdicts_of_deployments_that_fit(name, verdict):
    assert summary.verdict(deployed(name)) == verdict


@pytest.mark.parametrize(("tokens", "fits"), [(163_840, True), (163_841, False)])
def test_requests_beyond_the_positions_of_the_model_do_not_fit(tokens, fits):
    one = Deployed(catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        "workload.concurrency=1", "workload.requests=1", f"workload.context_tokens={tokens}"]))
    lead = verdicts.lead(one)
    assert one.headroom > 0
    assert one.has_room is fits
    assert ("It fits" in lead[0], "装得下" in lead[1]) == (fits, fits)
    assert ("163,841 token" in lead[0], "163,841 token" in lead[1]) == (not fits, not fits)


@pytest.mark.parametrize("name", ["s2-other-engine", "h200-r1-trtllm-ep8", "kt-4090-v021"])
def test_leads_name_what_was_measured_outside_its_interval(name):
    """By how many times at most, for each metric; nothing if all is inside."""
    one = deployed(name)
    lead, unmeasured = verdicts.lead(one), verdicts.lead(Deployed(one.scenario, own=False))
    ratios = []
    for of in one.predictions.values():
        outside = (of.measured < of.low) | (of.measured > of.high)
        ratios += [max((of.measured / of.predicted)[outside], key=lambda ratio: abs(
            np.log(ratio)))] if outside.any() else []
    assert bool(ratios) == (name != "kt-4090-v021")
    for text, plain in zip(lead, unmeasured, strict=True):
        said = text.removeprefix(plain)
        assert all(fmt_sig(float(ratio), 2) in said for ratio in ratios)
        assert bool(said) == bool(ratios)


def test_replacements_of_a_plan_that_does_not_fit_run():
    two = deployed("s0-scenario-1")
    fewest, narrower = findings.fewest(two), changed(two.scenario, findings.narrower(two).settings)
    assert fewest.devices == 32
    assert narrower.devices == two.scenario.devices
    for scenario in (changed(two.scenario, fewest.settings), narrower):
        assert Deployed(scenario).headroom > 0
    rows = alternatives.rows(two)
    assert len(rows) == len(two.answer.changes) > 1
    assert all(not row["spare"].startswith("−") for row in rows)


def test_arithmetic_bounds_the_rate_of_any_number_of_requests():
    plan = deployed("s1-plan-c")
    bound = findings.arithmetic_bound(plan)
    inputs = plan.questions["tpot"] | {"concurrency": 4 * np.geomspace(1, 1e6, 50).round()}
    assert calc.evaluate(inputs, plan.attention)["output_throughput"].max() < bound
    active = calc.parameters(plan.scenario.model)["active"]
    assert bound < plan.scenario.devices * plan.scenario.device.matrix_peak.fp16.value / (
        2 * active)


def test_pools_together_are_what_is_estimated_of_both():
    pools = catalogue.load_family("s0-scenario-3").pools
    together, seen = views.together(pools), estimate_service(pools).seen
    assert together.points == seen.throughput.points
    rates = [deployed(pool.id).quantity("request_throughput").value for pool in pools]
    assert together.value <= min(rates) * pools[1].inputs()["output_tokens"] * (1 + 1e-9)


def test_mistakes_in_a_card_file_are_refused_with_their_line(cell):
    own_hardware.mistakes()
    rows = cell.rows("en")
    assert len(rows) == len(own_hardware.MISTAKES)
    assert all("my-card.yml:" in row[-1] for row in rows)
