"""What users see at a load: laws, and that percentiles are known as well as is said."""

import math
from types import SimpleNamespace

import pytest

import catalogue
from calc.answer import steady_state, users
from calc.answer.estimate import estimate
from calc.answer.simulated import USUAL_LENGTHS, lengths_of, system_of
from calc.answer.users import EVERY, FEWEST, PRECISION, SHARES, UserLoad, asked_of, users_see

SETTINGS = ["workload.input_tokens=500 token", "workload.output_tokens=60 token"]


@pytest.fixture(autouse=True, scope="module")
def shorter():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(users, "DEAREST", 0.6)
        yield


@pytest.fixture(scope="module")
def scenario():
    return catalogue.load_scenario("s2-910b1-awq", overrides=SETTINGS)


@pytest.fixture(scope="module")
def seen(scenario):
    return users_see(scenario, UserLoad(users=16, think_time=2.0))


class TestSeen:
    def test_little_holds_between_the_numbers(self, seen):
        assert seen.summary.steady
        found = seen.summary.request_throughput * (seen.e2e.mean + 2.0)
        assert found == pytest.approx(16, rel=0.02)

    def test_percentiles_lie_in_their_intervals_and_in_order(self, seen):
        assert seen.summary.requests >= FEWEST
        for times in (seen.ttft, seen.tpot, seen.e2e):
            found = [times.at(share) for share in SHARES]
            assert [each.value for each in found] == [times.p50, times.p90, times.p99]
            assert all(each.low <= each.value <= each.high for each in found)

    def test_a_run_is_as_long_as_its_percentiles_need(self, scenario):
        found = users_see(scenario, UserLoad(users=16, think_time=2.0),
                          wanted=dict.fromkeys(EVERY, (0.9,)))
        assert found.precise
        for times in (found.ttft, found.tpot, found.e2e):
            assert times.at(0.9).error <= PRECISION
        harder = users_see(scenario, UserLoad(users=16, think_time=2.0),
                           wanted=dict.fromkeys(EVERY, (0.9, 0.999)))
        assert harder.summary.requests > found.summary.requests

    def test_a_mean_needs_fewer_requests_than_a_percentile(self, scenario, seen):
        found = users_see(scenario, UserLoad(users=16, think_time=2.0), wanted={"tpot": (None,)})
        assert found.precise
        assert found.tpot.half_width <= PRECISION * found.tpot.mean
        assert found.summary.requests < seen.summary.requests

    def test_another_seed_lies_within_the_intervals(self, scenario, seen):
        other = users_see(scenario, UserLoad(users=16, think_time=2.0), seed=1)
        for name in ("ttft", "tpot", "e2e"):
            one, two = (getattr(each, name).at(0.9) for each in (seen, other))
            assert one.low <= two.high
            assert two.low <= one.high

    def test_the_same_seed_gives_the_same(self, scenario, seen):
        again = users_see(scenario, UserLoad(users=16, think_time=2.0))
        assert again.summary == seen.summary

    def test_more_users_wait_longer(self, scenario):
        waits = [users_see(scenario, UserLoad(users=each)).ttft.p90 for each in (4, 16, 64)]
        assert waits == sorted(waits)

    def test_a_rate_beyond_capacity_does_not_keep_up(self, scenario):
        assert users_see(scenario, UserLoad(rate=0.5)).keeps_up
        assert not users_see(scenario, UserLoad(rate=500.0)).keeps_up

    def test_a_burst_is_counted_whole(self, scenario):
        found = users_see(scenario, UserLoad(30, together=True, requests=30))
        assert (found.summary.requests, found.summary.steady) == (30, False)
        assert found.ttft.p99 > 2 * users_see(scenario, UserLoad(30)).ttft.p50

    def test_of_equal_replicas_a_part_stands_for_all(self):
        many = catalogue.load_scenario("s2-910b1-awq", overrides=[
            *SETTINGS, "parallelism.data_parallel=8", "cluster.nodes=8",
            "workload.concurrency=4000 request", "workload.requests=4000 request"])
        found = users_see(many)
        assert found.share < 1
        one = users_see(catalogue.load_scenario("s2-910b1-awq", overrides=[
            *SETTINGS, "workload.concurrency=500 request", "workload.requests=500 request"]))
        assert found.tpot.mean == pytest.approx(one.tpot.mean, rel=0.03)


@pytest.mark.parametrize(("ranks", "times"), [(1, 1), (2, 4), (8, 4)])
def test_a_request_costs_its_part_of_the_steps_and_four_times_as_much_where_ranks_wait(
        ranks, times):
    """Of 8 users of two engines 4 are beside it, which share the 60 steps of an answer."""
    system = SimpleNamespace(pool=SimpleNamespace(replicas=2, ranks=ranks), decode=None, at_once=9,
                             shape=(500, 60))
    assert users.cost(system, UserLoad(8), 0.0) == pytest.approx(times * (
        users.OF_A_REQUEST + 4 * users.OF_THOSE_BESIDE + 15 * users.OF_A_STEP))


class TestAsked:
    def test_a_deployment_asks_what_its_workload_says(self):
        def of(*settings):
            return asked_of(catalogue.load_scenario("s2-910b1-awq", overrides=settings))

        assert of() == UserLoad(32)
        assert of("workload.arrivals=closed-loop", "workload.think_time=3 s") == UserLoad(32, 3.0)
        assert of("workload.arrivals=poisson", "workload.arrival_rate=0.2 request/s") == UserLoad(
            rate=0.2)
        assert of("workload.arrivals=burst") == UserLoad(32, together=True, requests=32)

    @pytest.mark.parametrize("given", [{}, {"users": 3, "rate": 1.0}])
    def test_users_or_a_rate(self, given):
        with pytest.raises(ValueError, match="expected one of them"):
            UserLoad(**given)


class TestLengths:
    def test_what_is_not_stated_varies_as_public_traffic_does(self, scenario):
        usual = catalogue.load("loads", USUAL_LENGTHS).lengths
        found = lengths_of(scenario)
        assert (found.distribution, found.stated) == ("lognormal", False)
        assert (found.prompts, found.answers) == (usual.prompts.value, usual.answers.value)
        assert usual.prompts.kind == "derived"
        assert USUAL_LENGTHS in str(found)

    @pytest.mark.parametrize(("distribution", "variation"), [
        ("constant", 0.0), ("exponential", 1.0), ("lognormal", 0.5)])
    def test_what_is_stated_holds(self, distribution, variation):
        stated = catalogue.load_scenario("s2-910b1-awq", overrides=[
            f"workload.length_distribution={distribution}",
            *([f"workload.length_variation={variation}"] if distribution == "lognormal" else [])])
        found = lengths_of(stated)
        assert (found.distribution, found.prompts, found.answers) == (
            distribution, variation, variation)
        assert found.stated
        shapes = system_of(stated).shapes
        mean = sum(shape[1] for shape in shapes) / len(shapes)
        spread = math.sqrt(sum((shape[1] - mean) ** 2 for shape in shapes) / len(shapes))
        assert spread / mean == pytest.approx(variation, rel=0.1, abs=1e-9)


@pytest.mark.parametrize(("chunk", "few"), [(2048, False), (256, False), (64, True)])
def test_where_prompts_are_cut_in_many_chunks_fewer_requests_are_simulated(monkeypatch, chunk, few):
    """2,048 tokens are 8 chunks of 256 and 32 of 64, each of them a step that is computed anew."""
    class Begun(BaseException):
        pass

    def begins(_system, _load, count, _ramp, _seed):
        raise Begun(count)

    monkeypatch.setattr(users, "_run", begins)
    asked = catalogue.load_scenario("r1-8x910b2", overrides=[
        f"workload.max_num_batched_tokens={chunk}"])
    with pytest.raises(Begun) as begun:
        users_see(asked, UserLoad(users=32))
    warm = users.CYCLES * 32
    assert begun.value.args[0] == warm + (FEWEST if few else users.COUNTED)


@pytest.mark.parametrize(("chunk", "told"), [(128, True), (4, False)])
def test_a_steady_state_of_prompts_in_hundreds_of_chunks_is_not_simulated(monkeypatch, chunk, told):
    """4,096 tokens are 32 chunks of 128 and 1,024 of 4: of 64 requests that would take minutes."""
    asked = []
    monkeypatch.setattr(users, "users_see", lambda *_, **__: asked.append(chunk) or SimpleNamespace(
        summary=SimpleNamespace(steady=False), keeps_up=True))
    steady_state._simulated.cache_clear()
    estimate(catalogue.load_scenario("v4-flash-8xrtx-pro-6000", overrides=[
        f"workload.max_num_batched_tokens={chunk}"]))
    steady_state._simulated.cache_clear()
    assert bool(asked) is told
