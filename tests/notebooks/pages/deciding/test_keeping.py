"""Caches between turns: the hits from which a replica is spared."""

import pytest

from calc.capacity.day import Replica
from notebooks.pages.deciding.capacity import days, keeping


@pytest.fixture(scope="module")
def page():
    return days.day_plan("h200-r1-vllm-tp8", [
        "workload.input_tokens=2000 token", "workload.output_tokens=500 token",
        "workload.concurrency=64 request", "workload.requests=64 request"],
        "azure-conversation", 40000, 20, 2.0, 0.05, 300.0)


def most(page, hits):
    replica = Replica(page.scenario, {"prefix_hit_share": hits})
    return replica.most(page.limits, float(page.load.variation.value))


def test_from_those_hits_on_a_replica_takes_the_rate_and_below_it_does_not(page):
    rate = 1.2 * most(page, 0.0)
    hits = keeping.hits_for(page, rate)
    assert most(page, hits) >= rate
    assert most(page, hits - 2 * keeping.MOST_FOUND / 2**keeping.HALVINGS) < rate


def test_no_hits_suffice_for_more_than_nearly_all_of_them_give(page):
    assert keeping.hits_for(page, 2 * most(page, keeping.MOST_FOUND)) is None
