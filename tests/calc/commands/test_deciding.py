"""``decide``, ``cost``, ``capacity`` and ``search``: laws between the numbers that they answer."""

import json

import pytest

from calc.commands.main import main

R1 = "h200-r1-vllm-tp8"
LENGTHS = ("workload.input_tokens=2000", "workload.output_tokens=200", "workload.concurrency=64",
           "workload.requests=64")
DAY = ("capacity", R1, *(f"--set={setting}" for setting in LENGTHS), "--load=azure-conversation",
       "--ttft=1 s", "--tpot=60 ms")


@pytest.fixture
def answer(capsys):
    def call(*args, code=0):
        assert main((*args, "--json")) == code
        said = capsys.readouterr()
        assert said.err == ""
        return json.loads(said.out)

    return call


@pytest.mark.parametrize("requests", [40_000, 3_000_000])
def test_tokens_of_a_day_cost_what_its_deployments_cost(answer, requests):
    found = answer("cost", R1, *(f"--set={setting}" for setting in LENGTHS), "--price=2 USD/h",
                   f"--daily-requests={requests}")
    price = found["amounts"]["per_million_output_whole"]["value"]
    assert price * requests * 200 / 1e6 == pytest.approx(
        found["fleet"]["deployments"]["most"] * 24 * found["devices"] * 2, rel=1e-9)


def test_users_ask_as_often_as_their_requests(answer):
    found = answer(*DAY, "--daily-requests=200000", "--think-time=60 s", "--availability=0.99")
    assert found["failures"]["share_low"] < found["failures"]["share"] <= 1
    users = answer(*DAY, "--daily-users=10000", "--requests-per-user=20")
    assert users["day"]["requests"] == 200_000
    assert users["day"]["replicas"] == found["day"]["replicas"]


UNMET = [
    ("limits.tpot=1ms", "space.pools=one", "tpot"), ("limits.tpot=1ms", "space.pools=two", "tpot"),
    ("limits.power=100 W", "space.pools=one", "power"),
    ("demand.users=100000", "space.pools=one", "memory_capacity"),
    ("demand.input_tokens=900000", "space.pools=one", None)]


@pytest.mark.parametrize(("limit", "pools", "binds"), UNMET)
def test_goal_that_nothing_meets_says_why(answer, limit, pools, binds):
    settings = ("precisions=fp8-block", "space.chunks=4096", "space.drafts=0", "cards.most=16",
                limit, pools)
    found = answer("search", "r1-64-users-8xh20", "--workers=1", *(
        f"--set={setting}" for setting in settings), code=3)
    assert found["why"]
    assert (found["nearest_miss"] or {}).get("binds") == binds
