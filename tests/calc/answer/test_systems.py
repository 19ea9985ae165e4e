"""A deployment as it is simulated: its engines, their limits, lengths, and what saturates them."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
from _engines import limits

import catalogue
from calc.answer import simulated
from calc.answer.simulated import Lengths, System, _held, _longest, saturation, system_of
from calc.closed_form.evaluate import evaluate
from calc.serving.simulation import Pool

INPUTS = {"input_tokens": 300.0, "output_tokens": 40.0, "prefix_hit_share": 0.25}


class TestLengths:
    def test_in_words(self):
        assert str(Lengths("constant", 0.0, 0.0, True)) == "all equal"
        assert str(Lengths("exponential", 1.0, 1.0, True)) == (
            "exponential, standard deviation over mean 1 of prompts and 1 of answers, as stated")
        assert str(Lengths("lognormal", 0.5, 2.0, False)).endswith(
            "0.5 of prompts and 2 of answers, as in azure-conversation; nothing is stated")

    def test_equal_ones_are_all_of_their_mean(self):
        assert Lengths("constant", 0.0, 0.0, True).shapes(INPUTS) == ((300, 40, 75),)
        assert Lengths("constant", 0.0, 0.0, True).shapes(INPUTS, 320) == ((300, 20, 75),)

    def test_prompts_and_answers_have_their_own_spread(self):
        shapes = Lengths("lognormal", 0.2, 0.8, True).shapes(INPUTS | {"output_tokens": 4000.0})
        for place, mean, spread in ((0, 300, 0.2), (1, 4000, 0.8)):
            values = [shape[place] for shape in shapes]
            assert sum(values) / len(values) == pytest.approx(mean, rel=0.01)
            assert math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)) == (
                pytest.approx(spread * mean, rel=0.1))

    @pytest.mark.parametrize(("context", "room", "longest"), [
        (340.0, 1000, 1000), (341.0, 1000, 341.0), (341.0, 200, 200), (0.0, 1000, 1000)])
    def test_a_request_is_as_long_as_context_and_cache_allow(self, context, room, longest):
        """A context of no more than the mean request says nothing of the longest."""
        assert _longest(INPUTS | {"context_tokens": context}, room) == longest

    @pytest.mark.parametrize(("blocks", "most", "held"), [
        (50, 64, 5), (49, 64, 4), (9, 64, 1), (50, 3, 3), (None, 3, 1)])
    def test_an_engine_holds_as_many_as_its_blocks_and_its_places(self, blocks, most, held):
        """Of 100 + 28 tokens a request has eight blocks of 16 and two of its state."""
        some = limits(seqs=most, kv_blocks=blocks, block_size=16, state_blocks_per_request=2)
        assert _held(some, (100, 28, 5)) == held


def pooled(name, *settings, **given):
    """A deployment's engines, its inputs and its quantities in closed form."""
    scenario = catalogue.load_scenario(name, overrides=settings)
    inputs = scenario.inputs() | given.get("found", {})
    return system_of(scenario, **given), inputs, evaluate(inputs, scenario.model.attention)


class TestEngines:
    def test_stages_of_a_pipeline_share_the_blocks_and_the_places_of_a_replica(self):
        system, inputs, found = pooled(
            "h200-r1-vllm-tp8", "cluster.nodes=8", "parallelism.pipeline_parallel=4",
            "parallelism.data_parallel=2", max_num_seqs=1003, found={
                "scheduler_recv_interval": 7.0, "steps_ahead": 1.0, "block_size": 32.0,
                "host_gap_per_step": 0.125, "max_num_batched_tokens": 1234.0})
        engine = system.pool.limits
        assert (engine.kv_blocks, engine.max_num_seqs) == (int(found["kv_blocks"]) // 4, 250)
        assert (engine.block_size, engine.max_num_batched_tokens) == (32, 1234)
        assert (engine.recv_interval, engine.steps_ahead, engine.policy) == (7, 1, "mixed")
        assert (system.pool.replicas, system.pool.ranks, system.decode) == (8, 1, None)
        assert system.pool.step_time.gap == 0.125
        assert system.overhead == inputs["request_overhead"]
        assert system.front_end_rate == pytest.approx(2 * inputs["front_end_rate"])
        assert system.shape[:2] == (inputs["input_tokens"], inputs["output_tokens"])
        assert system.at_once == _held(engine, system.shape)
        assert system_of(catalogue.load_scenario("h200-r1-vllm-tp8"),
                         max_num_seqs=0).pool.limits.max_num_seqs == 1

    def test_what_is_asked_holds_before_what_is_stated(self):
        given = {"policy": "prefill-first", "coordination": "balance"}
        system, *_ = pooled("h200-v32-sglang-dp8", **given)
        assert (system.pool.limits.policy, system.pool.coordination) == (
            "prefill-first", "balance")
        assert (system.pool.ranks, system.pool.replicas) == (8, 8)
        assert system.pool.group_time == system.pool.step_time.together
        stated = catalogue.load_scenario("h200-v32-sglang-dp8").file
        plain = system_of(catalogue.load_scenario("h200-v32-sglang-dp8")).pool
        assert (plain.limits.policy, plain.coordination) == (
            stated.scheduling, stated.prefill_coordination)

    def test_ranks_that_share_a_cache_have_larger_blocks(self):
        system, inputs, _ = pooled("h200-r1-vllm-tp8", found={"decode_context_parallel": 2.0})
        assert system.pool.limits.block_size == 2 * inputs["block_size"]

    def test_the_closed_form_is_that_of_as_many_as_the_replicas_hold(self):
        system, inputs, _ = pooled("h200-r1-vllm-tp8", max_num_seqs=5)
        assert system.at_once == 5
        found = evaluate(inputs | {"concurrency": 5}, "mla")
        assert system.closed_form == pytest.approx(float(found["request_throughput"]))

    def test_as_many_prefill_as_keep_up_with_those_that_decode(self):
        prefill, decode = catalogue.load_pools("wide-lmsys")
        apart = {"separate_pools": 1.0}
        system, inputs, found = pooled("wide-lmsys-decode", found=apart)
        ranks = system.pool.ranks
        groups = float(found["pool_ratio"]) * inputs["data_parallel"] / ranks
        assert system.pool.replicas == math.ceil(groups) * ranks
        assert system.decode.replicas == inputs["data_parallel"]
        stated = system_of(decode, found=apart, prefill=prefill)
        assert stated.pool.replicas == prefill.inputs()["data_parallel"]
        assert stated.longest <= min(stated.pool.limits.longest, stated.decode.limits.longest)
        assert stated.at_once == _held(stated.decode.limits, stated.shape)

    def test_a_cache_that_does_not_hold_one_request_is_told(self):
        with pytest.raises(catalogue.ParamsError, match="'h200-r1-vllm-tp8' cannot be simulated: "):
            pooled("h200-r1-vllm-tp8", found={"input_tokens": 1e9})
        with pytest.raises(catalogue.ParamsError, match="not how long they are"):
            pooled("s0-recommended")


def system(decode=None, ranks=1, replicas=4, at_once=10, answer=40, front_end=math.inf):
    one = Pool(limits(seqs=at_once, kv_blocks=10**6), lambda step: 1.0, replicas=replicas,
               ranks=ranks)
    return System(one, decode and one, None, (20, answer, 0), ((20, answer, 0),), None, 99.0, 0.0,
                  front_end, 12.0, ())


class TestSaturation:
    @pytest.fixture(autouse=True)
    def simulated(self, monkeypatch):
        """One replica lets out 2 requests a second, a group of ranks 3."""
        self.seen = []

        def rate(pool, shapes):
            self.seen.append((pool.replicas, pool.limits.max_num_seqs))
            return 2.0

        def rate_of_ranks(pool, shapes, ceiling, waves):
            self.seen.append((pool.replicas, pool.limits.max_num_seqs, ceiling, waves))
            return 3.0

        monkeypatch.setattr(simulated, "saturation_rate", rate)
        monkeypatch.setattr(simulated, "saturation_of_ranks", rate_of_ranks)

    def test_one_of_equal_replicas_stands_for_all(self):
        assert saturation(system()) == (8.0, "simulation")
        assert saturation(system(front_end=7.5)) == (7.5, "simulation")
        assert self.seen == [(1, 10)] * 2

    def test_one_group_stands_for_all_below_its_closed_form(self):
        assert saturation(system(ranks=2)) == (6.0, "simulation")
        assert self.seen == [(2, 10, 6.0, 6)]

    def test_pools_apart_are_in_closed_form(self):
        assert saturation(system(decode=True)) == (12.0, "closed form")
        assert saturation(system(decode=True, front_end=9.0)) == (9.0, "closed form")
        assert self.seen == []

    @pytest.mark.parametrize(("ranks", "answer", "how"), [
        # ten waves of ten answers are two million tokens, six waves of twice ten four million
        (1, 20_000, "simulation"), (1, 20_001, "closed form"),
        (2, 33_333, "simulation"), (2, 33_334, "closed form")])
    def test_what_takes_too_long_is_in_closed_form(self, ranks, answer, how):
        assert saturation(system(ranks=ranks, answer=answer))[1] == how

    def test_a_replica_is_simulated_with_as_many_as_its_blocks_hold(self):
        some = system()
        few = replace(some, pool=replace(some.pool, limits=replace(
            some.pool.limits, kv_blocks=200)))
        assert few.at_once == 3
        saturation(few)
        assert self.seen == [(1, 3)]


def test_a_decode_pool_holds_what_is_asked():
    one, other = (SimpleNamespace(limits=limits(seqs=count, kv_blocks=10**6)) for count in (3, 7))
    both = System(one, other, None, (20, 40, 0), (), None, 99.0, 0.0, 1.0, 1.0, ())
    assert both.at_once == 7
    assert replace(both, decode=None).at_once == 3


@pytest.mark.parametrize("faster", [0.01, 1.0, 100.0])
def test_of_two_pools_the_slower_ports_and_the_smaller_of_caches_and_front_ends_count(faster):
    """A request's cache takes as long as the slower side needs, whichever that is."""
    prefill, decode = catalogue.load_pools("wide-lmsys")
    own = decode.inputs()
    given = {"separate_pools": 1.0} | {
        name: faster * own[name] for name in ("front_end_rate", "network_bandwidth")}
    both = system_of(decode, found=given, prefill=prefill)
    asked = prefill.inputs() | {"separate_pools": 0, "output_tokens": 1}
    sent, received = (evaluate(inputs, "mla") for inputs in (asked, own | given))
    prompt = int(own["input_tokens"])
    assert both.transfer.time(prompt) == pytest.approx(max(
        float(sent["kv_port_time"]), float(received["kv_port_time"])))
    rates = [inputs["front_end_rate"] * inputs["data_parallel"] / pool.ranks
             for inputs, pool in ((asked, both.pool), (own | given, both.decode))]
    assert both.front_end_rate == pytest.approx(min(rates))
    assert both.pool.replicas == asked["data_parallel"]
