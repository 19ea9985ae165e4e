"""What is told of a plan with so many users, and the most users whom it serves within a limit."""

import numpy as np
import pytest

import calc
from calc.sensitivity.plans import BATCHES, Limit, plan_of
from catalogue import load_scenario

EACH = np.arange(1.0, 513)


@pytest.mark.parametrize("tried", [EACH, BATCHES])
@pytest.mark.parametrize(("name", "limit"), [
    ("s2-910b1-awq", 0.03), ("s2-910b1-awq", 0.5), ("h200-r1-sglang-tp8", 0.02)])
def test_one_number_more_than_the_most_breaks_the_limit_or_the_memory(name, limit, tried):
    plan = plan_of(name)
    most = plan.most_users(tried, Limit("tpot", limit))
    inside, outside = tried[tried <= most], tried[tried > most]
    assert inside[-1] == most
    assert plan.fits({"concurrency": inside}).all()
    assert (plan.medians(inside, "tpot") <= limit).all()
    assert not plan.fits({"concurrency": outside[:1]})[0] or plan.median(
        outside[0], "tpot") > limit


def test_nobody_is_served_within_a_limit_that_one_user_breaks():
    plan = plan_of("s2-910b1-awq")
    assert plan.most_users(EACH, Limit("tpot", plan.median(1, "tpot") * (1 - 1e-9))) == 0


@pytest.mark.parametrize("name", ["tpot", "output_throughput"])
def test_the_median_is_that_of_an_estimate_with_as_many_users(name):
    told = calc.estimate(load_scenario(
        "s2-910b1-awq", overrides=["workload.concurrency=24"])).quantities[name]
    plan = plan_of("s2-910b1-awq")
    assert plan.median(24, name) == pytest.approx(told.value)
    assert plan.at({"concurrency": np.array([24.0])}, name)[0] == pytest.approx(told.central)
    assert plan.medians(np.array([1.0, 24.0]), name)[1] == pytest.approx(told.value)
