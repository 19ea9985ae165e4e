"""A deployment that a search chooses: its settings, its file, how far it is from another."""

from dataclasses import replace

import pytest
import yaml

import catalogue
from calc.layouts.choice import (
    Choice,
    Row,
    changes,
    contents,
    distance,
    family,
    of_pool,
    scenario,
)
from calc.searching.load_goal import load_goal

PLAIN = Choice("nvidia-h20", "hgx-h20", None, "fp8-block", 16, 8, 1, 2, 8, 0, 0, 1, 8192, 1, 0, 90,
               1024)
GOAL = load_goal("r1-80-users-h20", ["demand.input_tokens=3000 token",
                                     "demand.output_tokens=200 token"])
AS_SET = {"device": "nvidia-h20", "cluster.node": "hgx-h20", "cluster.nodes": 2,
          "precision": "fp8-block", "parallelism.tensor_parallel": 8,
          "parallelism.pipeline_parallel": 1, "parallelism.data_parallel": 2,
          "parallelism.expert_parallel": 8, "workload.concurrency": 1024,
          "workload.max_num_batched_tokens": 8192, "workload.memory_utilization": "0.9"}


@pytest.mark.parametrize(("moved", "more"), [
    ({}, {}), ({"engine": "vllm@0.33.0"}, {"engine": "vllm@0.33.0"}),
    ({"devices": 12}, {"cluster.devices": 12}), ({"devices": 8}, {"cluster.nodes": 1}),
    ({"devices": 17}, {"cluster.nodes": 3, "cluster.devices": 17}),
    ({"slices": 1}, {"parallelism.expert_tensor_parallel": 1}),
    ({"spares": 1}, {"parallelism.redundant_experts": 1, "parallelism.balancing": "periodic"}),
    ({"context": 2}, {"parallelism.decode_context_parallel": 2}),
    ({"drafts": 1}, {"workload.draft_tokens": 1}),
    ({"utilization": 85}, {"workload.memory_utilization": "0.85"}),
])
def test_what_is_set_is_what_differs_from_a_plain_deployment(moved, more):
    assert replace(PLAIN, **moved).settings() == AS_SET | more


def test_what_makes_a_pool_one():
    """Only whole experts on more ranks than cut the attention are sent to in the normal mode."""
    assert of_pool(PLAIN, 3000) == {}
    assert of_pool(replace(PLAIN, pool="decode"), 3000) == {"mechanisms.separate_pools": 1}
    alone = {"workload.output_tokens": 1, "workload.context_tokens": 3001}
    prefill = replace(PLAIN, pool="prefill")
    assert of_pool(prefill, 3000) == alone
    wide = alone | {"mechanisms.exchange_normal": 1}
    assert of_pool(replace(prefill, expert=16), 3000) == wide
    assert of_pool(replace(prefill, expert=16, slices=1), 3000) == wide
    assert of_pool(replace(prefill, expert=16, slices=2), 3000) == alone


def test_a_file_of_a_choice_is_that_deployment():
    deployed = scenario(GOAL, replace(PLAIN, micro_batches=2, drafts=1, expert=16))
    inputs = deployed.inputs()
    for name, value in {"tensor_parallel": 8, "data_parallel": 2, "expert_parallel": 16,
                        "concurrency": 1024, "max_num_batched_tokens": 8192, "input_tokens": 3000,
                        "output_tokens": 200, "micro_batches": 2, "draft_tokens": 1,
                        "block_size": 64}.items():
        assert inputs[name] == value, name
    assert deployed.devices == 16
    assert contents(GOAL, PLAIN).get("mechanisms") is None
    small = load_goal("r1-80-users-h20", ["space.block_size=32", "demand.prefix_hit_share=0.5"])
    assert contents(small, PLAIN)["workload"]["block_size"] == 32
    assert contents(small, PLAIN)["mechanisms"] == {"prefix_hit_share": 0.5}
    assert "block_size" not in contents(GOAL, replace(PLAIN, engine="vllm@0.33.0"))["workload"]


def test_each_pool_of_a_file_has_its_name_in_both_languages():
    written = yaml.safe_load(family(GOAL, replace(PLAIN, pool="prefill"),
                                    replace(PLAIN, pool="decode")))
    assert {name: part["title"] for name, part in written["variants"].items()} == {
        "prefill": {"en": "Prefill pool", "zh": "预填充池"},
        "decode": {"en": "Decode pool", "zh": "解码池"}}


def test_a_file_of_two_pools_has_what_they_share_once_and_what_differs_twice():
    pools = {"prefill": replace(PLAIN, pool="prefill", chunk=4096, data=1, devices=8),
             "decode": replace(PLAIN, pool="decode")}
    written = yaml.safe_load(family(GOAL, pools["prefill"], pools["decode"]))
    shared = {key: value for key, value in written.items() if key not in ("variants", "title")}
    first, second = written["variants"].values()
    assert {key for key in first if key in second and first[key] == second[key]} <= {"device"}
    assert shared.keys() & (first.keys() | second.keys()) <= {"device"}
    for name, choice in pools.items():
        own = yaml.safe_load(yaml.safe_dump(contents(GOAL, choice)))
        whole = shared | written["variants"][name]
        assert {key: whole[key] for key in own if key != "title"} == {
            key: value for key, value in own.items() if key != "title"}


def test_how_requests_arrive_stands_in_the_file():
    def arrivals(*settings):
        workload = contents(load_goal("r1-80-users-h20", settings), PLAIN)["workload"]
        return {key: workload[key] for key in ("arrivals", "arrival_rate", "think_time")
                if key in workload}

    assert arrivals() == {"arrivals": "closed-loop"}
    assert arrivals("demand.think_time=5 s") == {"arrivals": "closed-loop", "think_time": "5.0 s"}
    assert arrivals("demand.arrivals=burst") == {"arrivals": "burst"}
    assert arrivals("demand.users=null", "demand.arrival_rate=2 request/s") == {
        "arrivals": "poisson", "arrival_rate": "2.0 request/s"}


def test_a_deployment_is_as_far_as_what_moves():
    """Another card comes before other sizes; sizes count by their doublings, of one more each."""
    have = catalogue.load_scenario("h200-r1-vllm-tp8")
    here = have.inputs()
    same = replace(PLAIN, device=have.device.id, node=have.node.id, devices=have.devices, data=1,
                   expert=int(here["expert_parallel"]), precision=have.precision.id,
                   slices=int(here["expert_tensor_parallel"]), drafts=int(here["draft_tokens"]),
                   chunk=int(here["max_num_batched_tokens"]),
                   concurrency=int(here["concurrency"]))
    assert distance(have, Row(same, {})) == (False, False, 0, 0)
    assert set(changes(have, same)) <= {"engine"}
    moved = replace(same, data=3, drafts=1)
    assert distance(have, Row(moved, {})) == (False, False, 2, 2.0)  # 2 to 4, and 1 to 2
    other = replace(same, device="nvidia-b200", precision="nvfp4", devices=16)
    assert distance(have, Row(other, {})) == (True, True, 3, pytest.approx(0.9175378))
    assert changes(have, replace(same, chunk=1024))["workload.max_num_batched_tokens"] == 1024


def test_two_pools_are_told_apart_by_what_they_do():
    pair = Row(replace(PLAIN, drafts=1, spares=8, pipeline=2, slices=2, micro_batches=2), {},
               prefill=replace(PLAIN, devices=8, concurrency=4))
    assert (pair.devices, pair.extras, Row(PLAIN, {}).extras) == (24, 6, 0)
    assert Row(replace(PLAIN, slices=1, pipeline=1, micro_batches=1), {}).extras == 0
    assert [choice.concurrency for choice in pair.layout] == [0, 0]
    assert pair.choices == (pair.prefill, pair.choice)
    assert {(each.chunk, each.utilization, each.concurrency) for each in pair.kind} == {(0, 0, 0)}
    cheap = Row(PLAIN, {"tpot": 0.5})
    assert cheap.worth({"cards": -1, "tpot": -1}) == (-16.0, -0.5)
    assert cheap.worth({"cost": -1, "throughput": 1}) == (-float("inf"), -float("inf"))
