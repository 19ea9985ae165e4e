"""Pages of deployments: answers of the runtime, verdicts from numbers, changes that run."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import calc
import catalogue
from calc.answer.service import estimate_service
from calc.layouts.layout import changed
from notebooks.pages.deployments import alternatives, findings, summary, views
from notebooks.pages.deployments.answers import Deployed

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


@pytest.mark.parametrize(("right", "wrong"), [
    ("256 GiB ", "256 GiB/s "), ("kind: vendor", "kind: vender"),
    ("memory_bandwidth", "memory_bandwith"), ("like: amd-mi300x", "like: amd-mi30x")])
def test_mistakes_in_a_card_file_are_refused_with_their_line(right, wrong, tmp_path):
    text = (catalogue.ROOT / "templates" / "example-card.yml").read_text(encoding="utf-8")
    assert right in text
    card = tmp_path / "my-card.yml"
    card.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(catalogue.ParamsError, match=r"my-card\.yml:\d+"):
        catalogue.load_device(card)
