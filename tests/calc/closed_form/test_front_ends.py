"""A server has a front end of its own: k equal servers let in k times what one does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.answer.simulated import saturation, system_of
from calc.answer.two_pools import combine_pools
from calc.answer.users import UserLoad, users_see
from calc.closed_form.evaluate import evaluate
from calc.closed_form.waves import front_ends_rate
from calc.physics.arrays import Inputs
from calc.serving.replay import serve_all
from calc.serving.step_times import Clock

NAME, SLOW, USERS = "h200-r1-vllm-tp8", 2.0, 400  # request/s of a front end; request
SHORT = ["workload.input_tokens=64 token", "workload.output_tokens=16 token"]


@pytest.fixture(scope="module")
def scenario():
    return catalogue.load_scenario(NAME, overrides=SHORT)


def servers(count, **given):
    """That many of the deployment's, whose front ends are slow."""
    return {"data_parallel": count, "front_end_rate": SLOW, **given}


@given(tensor=st.sampled_from([1, 2, 8]), ranks=st.integers(1, 64), count=st.integers(1, 48))
def test_ranks_that_share_experts_have_one_and_others_one_each(tensor, ranks, count):
    q = Inputs({"front_end_rate": SLOW, "data_parallel": ranks * count, "tensor_parallel": tensor,
                "expert_parallel": tensor * ranks, "expert_tensor_parallel": 0})
    assert front_ends_rate(q) == pytest.approx(SLOW * count)


@pytest.mark.parametrize("count", [2, 8, 48])
@pytest.mark.parametrize("given", [{"open_arrivals": 1}, {}])
def test_servers_that_wait_for_their_front_ends_give_as_many_times_as_one(scenario, count, given):
    def rate(count):
        inputs = scenario.inputs() | servers(count, concurrency=USERS * count, **given)
        return float(evaluate(inputs, scenario.model.attention)["steady_request_throughput"])

    assert rate(1) == pytest.approx(SLOW, rel=2 / USERS)
    assert rate(count) == pytest.approx(count * rate(1), rel=2 / USERS)


def test_so_they_do_in_the_simulation(scenario):
    one, three = (system_of(scenario, found=servers(count)) for count in (1, 3))
    assert saturation(three)[0] == pytest.approx(3 * saturation(one)[0]) == 3 * SLOW
    seen = [users_see(scenario, UserLoad(users=30 * count), system=system)
            for count, system in ((1, one), (3, three))]
    assert seen[1].ttft.mean == pytest.approx(seen[0].ttft.mean, rel=0.05)
    assert seen[1].tpot.mean == pytest.approx(seen[0].tpot.mean, rel=0.05)


@pytest.mark.parametrize("count", [2, 5])
def test_as_many_times_the_requests_at_once_are_served_in_the_same_time(scenario, count):
    def replayed(count):
        clock = Clock(scenario.inputs() | servers(count), scenario.model.attention)
        row = {"requests": 16.0 * count, "concurrency": 16.0 * count, "input_tokens": 64.0,
               "output_tokens": 16.0}
        return serve_all(clock, row, 4000.0, lengths="equal")

    one, many = replayed(1), replayed(count)
    assert many.pop("output_throughput") == pytest.approx(count * one.pop("output_throughput"))
    assert many == pytest.approx(one)


@pytest.mark.parametrize("slow", ["prefill", "decode"])
def test_two_pools_finish_no_more_than_the_front_ends_of_either_let_in(slow):
    pools = catalogue.load_family("s0-scenario-3").pools
    least = SLOW / 1000

    def with_front_ends(pool, rate):
        return pool if rate is None else catalogue.load_scenario(
            pool.id, overrides=[f"mechanisms.front_end_rate={rate} request/s"])

    prefill, decode = (with_front_ends(pool, least if name == slow else None)
                       for name, pool in zip(("prefill", "decode"), pools, strict=True))
    found = combine_pools(prefill, decode)
    of = {"prefill": prefill, "decode": decode}[slow].inputs()
    let_in = float(front_ends_rate(Inputs(of)))
    assert found.rate == pytest.approx(let_in)
    assert found.loop.rate <= let_in * found.loop.users / (found.loop.users - 1) * (1 + 1e-9)
    assert found.binds == slow
