"""Caches in host memory: hits and their price, in a deployment, under users who think, in a search.
"""

from functools import cache

import numpy as np
import pytest

from calc.answer.steady_state import STEADY, steady_state
from calc.launching.starting import start
from calc.layouts.layout import scenario, text
from calc.searching.goal import load_goal
from calc.searching.selection import select
from calc.serving.evaluate import evaluate
from catalogue import ParamsError, load_scenario

R1 = "h200-r1-sglang-mtp"
LOAD = ("workload.concurrency=400", "workload.input_tokens=30000 token",
        "workload.output_tokens=500 token", "workload.context_tokens=40000 token",
        "mechanisms.prefix_hit_share=0.9")
THINKING = ("workload.arrivals=closed-loop", "workload.think_time=300 s",
            "workload.concurrency=60")
SIZES = np.linspace(0, 1.5e11, 31)  # of a card [B]
AGENTS = ("model=deepseek-v3", "precisions=fp8-block-fp8-cache", "engines=sglang@0.5.23",
          "demand.users=700", "demand.agent.pause=300 s", "limits.tpot=200 ms",
          "limits.ttft=20 s", "objectives=throughput_per_card,ttft", "space.tensor=1,8")


def quantities(*settings, **inputs):
    deployed = load_scenario(R1, overrides=[*LOAD, *settings])
    return evaluate(deployed.inputs() | inputs, deployed.model.attention)


def steady(*settings, everything=None, **inputs):
    """A steady state of users who think; quantities in place of its own."""
    deployed = load_scenario(R1, overrides=[*LOAD, *THINKING, *settings])
    own = deployed.inputs() | inputs
    found = evaluate(own, deployed.model.attention) | (everything or {})
    return steady_state(deployed, own, found)


class TestHits:
    def test_more_host_memory_never_finds_less(self):
        found = quantities(host_cache_memory=SIZES)
        share, loaded = found["found_hit_share"], found["loaded_hit_share"]
        assert (np.diff(share) >= 0).all()
        assert share[0] < share[-1] <= 0.9
        assert (loaded <= share).all()
        assert loaded[0] == 0 < loaded[-1]

    def test_what_is_on_the_cards_does_not_depend_on_the_host(self):
        found = quantities(host_cache_memory=SIZES)
        on_cards = found["found_hit_share"] - found["loaded_hit_share"]
        assert on_cards == pytest.approx(on_cards[0])

    def test_memory_smaller_than_the_cache_of_the_cards_adds_nothing(self):
        found = quantities(host_cache_memory=SIZES)
        less = found["host_requests"] <= found["mean_requests"]
        assert 1 < less.sum() < len(SIZES)
        assert (found["loaded_hit_share"][less] == 0).all()

    @pytest.mark.parametrize("thinks", [(), THINKING])
    def test_no_memory_is_no_cache(self, thinks):
        none, zero = (quantities(*thinks, *size) for size in ((), ("workload.host_cache=0 GB",)))
        for name, value in none.items():
            assert np.array_equal(value, zero[name]), name

    def test_an_endless_link_is_a_larger_cache_on_the_cards(self):
        size = 1.2e11
        held = float(quantities(*THINKING, host_cache_memory=size)["host_requests"])
        on_host = steady(host_cache_memory=size, host_link_bandwidth=1e30)
        on_cards = steady(everything={"mean_requests": held})
        assert held > float(quantities(*THINKING)["mean_requests"])
        for name in STEADY:
            assert on_host.values[name] == pytest.approx(on_cards.values[name], rel=1e-9)
        assert on_host.values["steady_ttft"] < steady().values["steady_ttft"]


class TestLoads:
    def test_time_of_a_load_by_hand(self):
        """Every card of eight has the whole latent of all 61 layers."""
        found = quantities(host_cache_memory=1e11)
        inputs = load_scenario(R1, overrides=LOAD).inputs()
        size = (found["loaded_hit_share"] * inputs["input_tokens"]
                * inputs["num_hidden_layers"] * found["kv_layer_bytes_per_token_per_device"])
        assert found["cache_load_time"] == pytest.approx(size / inputs["host_link_bandwidth"])

    def test_a_load_in_layers_waits_less_and_both_no_longer_than_one_after_the_other(self):
        links = np.geomspace(1e8, 1e12, 40)
        whole, layered = (quantities(host_cache_memory=1e11, host_link_bandwidth=links,
                                     layered_loads=switch) for switch in (0, 1))
        assert whole["cache_load_wait"] == pytest.approx(whole["cache_load_time"])
        assert (layered["cache_load_wait"] < whole["cache_load_wait"]).all()
        unhidden = layered["cache_load_time"] - layered["prefill_step_time"]
        assert (layered["cache_load_wait"] >= np.maximum(0, unhidden)).all()
        assert (np.diff(layered["steady_ttft"]) <= 0).all()

    def test_a_slow_link_bounds_the_rate(self):
        inputs = load_scenario(R1, overrides=LOAD).inputs()
        slow = quantities(host_cache_memory=1e11, host_link_bandwidth=1e8)
        most = inputs["data_parallel"] / slow["cache_load_time"]
        assert slow["steady_request_throughput"] <= most * (1 + 1e-9)


class TestScenarios:
    @pytest.mark.parametrize(("settings", "problem"), [
        (("workload.host_cache=90 TB",), "more than the 2048 GiB"),
        (("workload.host_cache=100 GB", "mechanisms.separate_pools=1"), "only decodes"),
        (("mechanisms.host_prefix_share=0.95",), "more than the 0.9"),
        (("workload.host_cache=100 GB", "device=amd-mi308x", "cluster.node=mi308x-8gpu"),
         "host_memory")])
    def test_what_no_server_can_hold_is_refused(self, settings, problem):
        with pytest.raises(ParamsError, match=problem):
            load_scenario(R1, overrides=[*LOAD, *settings])

    def test_a_server_divides_its_cache_among_its_cards(self):
        deployed = load_scenario(R1, overrides=[*LOAD, "workload.host_cache=512 GB"])
        assert deployed.inputs()["host_cache_memory"] == 64e9


@cache
def searched(*settings):
    return select("v4-flash-agents-8xh200", [*AGENTS, *settings])


class TestSearch:
    def test_a_row_is_what_an_estimate_of_its_file_says(self):
        answer = searched()
        row = answer.result.rows(answer.result.front)[0]
        assert row.choice.host_cache > 0
        assert 0 < row.choice.loaded < row.choice.hits
        own = scenario(answer.result.wishes.goal, row.choice)
        found = evaluate(own.inputs(), own.model.attention)
        assert row.quantities["ttft"] == pytest.approx(float(found["steady_ttft"]), rel=1e-9)
        assert row.quantities["tpot"] == pytest.approx(float(found["steady_tpot"]), rel=1e-9)

    def test_its_file_states_all_users_and_keeps_as_much(self, tmp_path):
        answer = searched()
        row, goal = answer.result.rows(answer.result.front)[0], answer.result.wishes.goal
        (tmp_path / "agents.yml").write_text(text(goal, row.choice), encoding="utf-8")
        loaded = load_scenario(tmp_path / "agents.yml")
        inputs = loaded.inputs()
        found = steady_state(loaded, inputs, evaluate(inputs, loaded.model.attention))
        assert inputs["concurrency"] == 700
        assert inputs["host_cache_memory"] == row.choice.host_cache * 1e9 / 8
        assert 0.8 * row.choice.concurrency < found.in_flight <= row.choice.concurrency * 1.001
        assert found.values["steady_ttft"] == pytest.approx(row.quantities["ttft"], rel=0.1)

    def test_it_starts_where_those_in_flight_have_room(self):
        """Not all users at once, each at the longest: most of them think."""
        answer = searched()
        row = answer.result.rows(answer.result.front)[0]
        assert start(answer.result.wishes.goal, row).engine == "sglang@0.5.23"

    def test_without_it_fewer_are_served(self):
        without = searched("space.host_cache=0")
        rows = without.result.rows(without.result.front)
        assert all(row.choice.host_cache is None for row in rows)
        best = max((row.quantities["throughput"] for row in rows), default=0.0)
        with_it = searched()
        assert max(row.quantities["throughput"] for row in with_it.result.rows(
            with_it.result.front)) > best

    def test_a_size_is_taken_as_it_is_stated(self):
        answer = searched("space.host_cache=1200 GB")
        sizes = {row.choice.host_cache for row in answer.result.rows(answer.result.front)}
        assert sizes <= {None, 1200}
        assert 1200 in sizes

    @pytest.mark.parametrize("settings", [
        ("demand.users=5",), ("engines=vllm@0.31.0",), ("demand.agent.pause=0 s",)])
    def test_it_is_tried_only_where_it_can_matter(self, settings):
        answer = searched(*settings)
        assert all(not row.choice.host_cache
                   for row in answer.result.rows(answer.result.front))


def test_a_prefill_pool_computes_answers_again():
    """Of a prompt it finds the one before, not the answer to it, which is with the other pool."""
    demand = load_goal("v4-flash-agents-8xh200").demand
    agent, turns = demand.agent, demand.agent.turns
    again = demand.input_tokens * (demand.prefix_hit_share - demand.prefill_hit_share) * turns
    assert again == pytest.approx((turns - 1) * agent.answer, rel=0.05)  # but for whole blocks
    plain = load_goal("agents-128k-h200").demand
    assert plain.prefill_hit_share == plain.prefix_hit_share
