"""A deployment as it is simulated: its engines, their limits, lengths, and what saturates them."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest

import catalogue
from calc.answer.request_lengths import Lengths, lengths_of
from calc.answer.service import combine_pools
from calc.answer.simulated_load import saturation, system_of
from calc.serving.evaluate import evaluate

R1, SHARED = "h200-r1-vllm-tp8", "h200-v32-sglang-dp8"
INPUTS = {"input_tokens": 300.0, "output_tokens": 4000.0, "prefix_hit_share": 0.25}
APART = {"separate_pools": 1.0}


@functools.cache
def loaded(name, *settings):
    return catalogue.load_scenario(name, overrides=settings)


def pooled(name, *settings, **given):
    """A deployment's engines, its inputs and its quantities in closed form."""
    scenario = loaded(name, *settings)
    inputs = scenario.inputs() | given.get("given", {})
    return system_of(scenario, **given), inputs, evaluate(inputs, scenario.model.attention)


def held(system, pool):
    """Requests of the mean shape that an engine's blocks and places hold."""
    limits = pool.limits
    blocks = -(-sum(system.shape[:2]) // limits.block_size) + limits.state_blocks_per_request
    return max(1, min(limits.max_num_seqs, limits.kv_blocks // blocks))


@pytest.mark.parametrize(("distribution", "prompts", "answers"), [
    ("constant", 0.0, 0.0), ("exponential", 1.0, 1.0), ("lognormal", 0.5, 0.5), (None, 0.96, 0.77)])
def test_lengths_have_their_stated_spread_or_that_of_public_traffic(distribution, prompts, answers):
    settings = [f"workload.length_distribution={distribution}"] if distribution else []
    settings += ["workload.length_variation=0.5"] if distribution == "lognormal" else []
    scenario = loaded("s2-910b1-awq", *settings, "workload.output_tokens=4000")
    assert lengths_of(scenario) == Lengths(
        distribution or "lognormal", prompts, answers, distribution is not None)
    shapes = np.array(lengths_of(scenario).shapes(INPUTS))
    for place, mean, spread in ((0, 300, prompts), (1, 4000, answers)):
        assert shapes[:, place].mean() == pytest.approx(mean, rel=0.02)
        assert shapes[:, place].std() == pytest.approx(spread * mean, rel=0.1)
    assert Lengths("constant", 0.0, 0.0, True).shapes(INPUTS, 320) == ((300, 20, 75),)


class TestEngines:
    def test_stages_of_a_pipeline_share_the_blocks_and_places_of_a_replica(self):
        system, inputs, found = pooled(
            R1, "cluster.nodes=8", "parallelism.pipeline_parallel=4", "parallelism.data_parallel=2",
            max_num_seqs=1003, given={
                "scheduler_recv_interval": 7.0, "steps_ahead": 1.0, "block_size": 32.0,
                "host_gap_per_step": 0.125, "max_num_batched_tokens": 1234.0})
        engine = system.pool.limits
        assert (engine.kv_blocks, engine.max_num_seqs) == (int(found["kv_blocks"]) // 4, 250)
        assert (engine.block_size, engine.max_num_batched_tokens) == (32, 1234)
        assert (engine.recv_interval, engine.steps_ahead, engine.policy) == (7, 1, "mixed")
        assert (system.pool.replicas, system.pool.ranks, system.decode) == (8, 1, None)
        assert system.pool.gap == 0.125
        assert system.overhead == inputs["request_overhead"]
        assert system.front_end_rate == pytest.approx(2 * inputs["front_end_rate"])
        assert system.shape[:2] == (inputs["input_tokens"], inputs["output_tokens"])
        assert system.at_once == held(system, system.pool)

    @pytest.mark.parametrize(("seqs", "at_once"), [(5, 5), (0, 1), (1024, None)])
    def test_replica_holds_its_places_or_its_blocks(self, seqs, at_once):
        system, inputs, _ = pooled(R1, max_num_seqs=seqs, given={"decode_context_parallel": 2.0})
        assert system.pool.limits.block_size == 2 * inputs["block_size"]
        assert system.at_once == held(system, system.pool) == (at_once or system.at_once)
        full = evaluate(inputs | {"concurrency": system.at_once}, "mla")
        assert system.closed_form == pytest.approx(float(full["request_throughput"]))

    def test_as_many_prefill_as_keep_up_with_those_that_decode(self):
        prefill, decode = catalogue.load_pools("wide-lmsys")
        system, inputs, found = pooled("wide-lmsys-decode", given=APART)
        ranks = system.pool.ranks
        groups = float(found["pool_ratio"]) * inputs["data_parallel"] / ranks
        assert system.pool.replicas == math.ceil(groups) * ranks
        assert system.decode.replicas == inputs["data_parallel"]
        stated = system_of(decode, given=APART, prefill=prefill)
        assert stated.pool.replicas == prefill.inputs()["data_parallel"]
        assert stated.longest <= min(stated.pool.limits.longest, stated.decode.limits.longest)
        assert stated.at_once == held(stated, stated.decode)

    @pytest.mark.parametrize("faster", [0.01, 1.0, 100.0])
    def test_slower_ports_and_smaller_front_ends_of_two_pools_count(self, faster):
        prefill, decode = catalogue.load_pools("wide-lmsys")
        own = decode.inputs()
        given = APART | {name: faster * own[name]
                         for name in ("front_end_rate", "network_bandwidth")}
        both = system_of(decode, given=given, prefill=prefill)
        asked = prefill.inputs() | {"separate_pools": 0, "output_tokens": 1}
        sent, received = (evaluate(inputs, "mla") for inputs in (asked, own | given))
        assert both.transfer * own["input_tokens"] == pytest.approx(max(
            float(sent["kv_port_time"]), float(received["kv_port_time"])))
        rates = [inputs["front_end_rate"] * inputs["data_parallel"] / pool.ranks
                 for inputs, pool in ((asked, both.pool), (own | given, both.decode))]
        assert both.front_end_rate == pytest.approx(min(rates))

    @pytest.mark.parametrize(("name", "found", "message"), [
        (R1, {"input_tokens": 1e9}, "'h200-r1-vllm-tp8' cannot be simulated: "),
        ("s0-recommended", {}, "not how long they are")])
    def test_what_cannot_be_simulated_is_refused(self, name, found, message):
        with pytest.raises(catalogue.ParamsError, match=message):
            pooled(name, given=found)


class TestSaturation:
    SHORT = ("workload.input_tokens=500 token", "workload.output_tokens=20 token",
             "workload.length_distribution=constant")

    @pytest.mark.parametrize(("name", "low"), [("s2-910b1-awq", 0.9), (SHARED, 0.4)])
    def test_simulated_rate_is_below_the_closed_form_and_front_ends(self, name, low):
        """Ranks that step together do not all prefill at the same time."""
        system, *_ = pooled(name, *self.SHORT, max_num_seqs=8)
        rate, how = saturation(system)
        assert how == "simulation"
        assert low * system.closed_form < rate < 1.2 * system.closed_form
        assert saturation(replace(system, front_end_rate=rate / 2)) == (rate / 2, how)
        more = replace(system, front_end_rate=math.inf, pool=replace(
            system.pool, replicas=3 * system.pool.replicas))
        assert name == SHARED or saturation(more)[0] == pytest.approx(3 * rate)

    def test_two_pools_are_in_closed_form(self):
        apart = pooled("wide-lmsys-decode", given=APART)[0]
        for rate in (math.inf, 9.0):
            assert saturation(replace(apart, front_end_rate=rate)) == (
                min(rate, apart.closed_form), "closed form")

    def test_two_pools_finish_no_more_than_the_stated_prefill_pool(self):
        """Half of its cards prefill at half of the rate."""
        prefill, decode = catalogue.load_family("a3-glm51-pd-tp4").pools
        for number in (2, 4):
            slow = catalogue.load_scenario(prefill.id, overrides=[
                f"parallelism.data_parallel={number}", f"cluster.devices={8 * number}",
                f"parallelism.expert_parallel={8 * number}"])
            assert saturation(system_of(decode, prefill=slow))[0] == pytest.approx(
                combine_pools(slow, decode).rates["prefill"])
