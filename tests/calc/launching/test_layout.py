"""How a deployment lies on its nodes, what these are told, and how long a request may be."""

from types import SimpleNamespace as Made

import _launch as plainest
import pytest
from _door import sentence

from calc.launching import lengths, sglang, vllm
from calc.launching.deployment import _pools
from calc.launching.layout import MOST_NODES, Layout, Part, _limited, layout
from calc.launching.lengths import Longest, longest
from calc.launching.settings import Variable, release_of
from calc.uncertainty.amount import Amount
from catalogue import load_pools, load_scenario

R1 = "h200-r1-vllm-tp8"  # nodes of eight cards


def lies(name, *overrides):
    return layout(load_scenario(name, overrides=overrides))


def test_small_servers_stand_beside_each_other_on_a_node():
    """Four of two cards fill a node, the fifth begins the next; each has a port of its own."""
    found = lies("h20-qwen3-8b", "cluster.devices=10",
                 "parallelism.tensor_parallel=2", "parallelism.data_parallel=5")
    assert (found.tp, found.pp, found.joined, found.servers, found.span, found.nodes) == (
        2, 1, 1, 5, 1, 2)
    assert found.parts == (
        Part(0, 0, 0, 0, 2, 8000), Part(1, 0, 0, 2, 2, 8001), Part(2, 0, 0, 4, 2, 8002),
        Part(3, 0, 0, 6, 2, 8003), Part(4, 0, 1, 0, 2, 8000))
    assert found.heads == list(found.parts)
    assert (found.of_node(0), found.of_node(1)) == (list(found.parts[:4]), [found.parts[4]])


@pytest.mark.parametrize(("overrides", "sizes", "servers", "span"), [
    (("parallelism.tensor_parallel=8", "parallelism.pipeline_parallel=2",
      "parallelism.data_parallel=2"), (8, 2, 1, 1, 8), 2, 2),
    # sixteen replicas of one card share experts: they are one server
    (("parallelism.tensor_parallel=1", "parallelism.data_parallel=16",
      "parallelism.expert_parallel=16"), (1, 1, 16, 16, 1), 1, 2),
    (("parallelism.tensor_parallel=1", "parallelism.data_parallel=32",
      "parallelism.expert_parallel=16"), (1, 1, 16, 16, 1), 2, 2),
    (("parallelism.tensor_parallel=8", "parallelism.data_parallel=4",
      "parallelism.expert_parallel=32"), (8, 1, 4, 32, 1), 1, 4)])
def test_a_server_over_nodes_takes_whole_ones(overrides, sizes, servers, span):
    found = lies(R1, f"cluster.nodes={servers * span}", *overrides)
    assert (found.tp, found.pp, found.joined, found.experts, found.slices) == sizes
    assert (found.servers, found.span, found.nodes) == (servers, span, servers * span)
    assert found.parts == tuple(Part(server, rank, server * span + rank, 0, 8, 8000)
                                for server in range(servers) for rank in range(span))
    assert found.heads == [part for part in found.parts if part.node % span == 0]


def test_a_server_that_fills_a_node_is_not_over_nodes():
    found = lies(R1, "cluster.nodes=2", "parallelism.data_parallel=2")
    assert (found.span, found.parts) == (1, (Part(0, 0, 0, 0, 8, 8000), Part(1, 0, 1, 0, 8, 8000)))


def test_no_more_scripts_are_written_than_somebody_starts():
    most, more = Made(nodes=MOST_NODES), Made(nodes=MOST_NODES + 1)
    assert _limited(Made(id="x"), most) is most
    assert sentence(_limited, Made(id="x"), more) == (
        "'x': 257 nodes, expected at most 256 scripts.")


def deployment(context=None, output=400.0, positions=None, ranks=2.0):
    """Prompts of 3,000 tokens, answers of 400, and blocks of 8 tokens on each of two ranks."""
    def told(value):
        return None if value is None else Made(value=value)
    return Made(id="x", inputs=lambda: {
        "input_tokens": 3000.0, "output_tokens": 400.0, "block_size": 8.0,
        "decode_context_parallel": ranks}, model=Made(max_position_embeddings=told(positions)),
        file=Made(workload=Made(context_tokens=told(context), output_tokens=told(output))))


STATED = "the longest request, as the workload states it"
MODEL = "positions of the model; the workload sets no maximum length"
CACHE = ("one request in a cache at the lower end of its interval; the workload sets no maximum "
         "length")


@pytest.fixture(autouse=True)
def _requests(monkeypatch):
    """Requests of 3,399 to 3,403 tokens."""
    monkeypatch.setattr(lengths, "lengths_of", lambda scenario: Made(shapes=lambda inputs: [
        (inputs["input_tokens"], answer, 7.0) for answer in (399, 400, 401, 402, 403)]))


@pytest.mark.parametrize(("given", "blocks", "state", "found"), [
    # a cache of 16,000 tokens, 14,400 for sure
    ({"context": 9000.0}, (1000, 900), 0, Longest(9000, STATED, 0.0)),
    ({"context": 3401.0}, (1000, 900), 0, Longest(3401, STATED, 0.4)),
    ({"context": 16000.0}, (1000, 900), 0, Longest(16000, STATED, 0.0)),
    # no longer than the mean: that is no maximum, unless answers are not stated
    ({"context": 3400.0}, (1000, 900), 0, Longest(14400, CACHE, 0.0)),
    ({"context": 3400.0, "output": None}, (1000, 900), 0, Longest(3400, STATED, 0.6)),
    ({"positions": 12000.0}, (1000, 900), 0, Longest(12000, MODEL, 0.0)),
    ({"positions": 14400.0}, (1000, 900), 0, Longest(14400, MODEL, 0.0)),
    ({"positions": 14401.0}, (1000, 900), 0, Longest(14400, CACHE, 0.0)),
    ({"positions": 3000.0}, (1000, 900), 0, Longest(3400, CACHE, 0.6)),
    ({}, (1000, 900), 0, Longest(14400, CACHE, 0.0)),
    # what a request takes whatever its length, and parts of blocks, are not there for tokens
    ({}, (1000, 900), 10.5, Longest(889 * 16, CACHE, 0.0)),
    ({"ranks": 1.0}, (1000, 900), 0, Longest(7200, CACHE, 0.0)),
    ({"context": 9000.0}, (1000, 9), 10, Longest(9000, STATED, 0.0)),
    ({}, (1000, 9), 10, Longest(3400, CACHE, 0.6)),
    ({}, (213, 213), 0, Longest(3408, CACHE, 0.0))])
def test_the_longest_request_is_as_stated_or_as_model_and_cache_allow(given, blocks, state, found):
    assert longest(deployment(**given), Amount(blocks[0], blocks[1], blocks[0]), state) == found


@pytest.mark.parametrize(("given", "blocks", "state", "asked", "holds"), [
    ({}, 212.5, 0, "3,400", "3,392"), ({}, 213, 0.5, "3,400", "3,392"),
    ({"context": 16001.0}, 1000, 0, "16,001", "16,000"), ({}, 3, 10, "3,400", "0"),
    ({"context": 3000.0, "output": None}, 200, 0, "3,400", "3,200")])
def test_a_request_that_the_cache_does_not_hold_is_refused(given, blocks, state, asked, holds):
    told = sentence(longest, deployment(**given), Amount(blocks, 1, blocks), state)
    assert told == (f"'x': a request of {asked} tokens, and the cache of a replica holds {holds}: "
                    f"no engine starts so, expected a context_tokens of at most {holds}, or more "
                    "memory for the cache.")


THIRD = Part(2, 1, 5, 0, 8, 8000)  # the second node of the third server
FIRST = Part(0, 0, 0, 0, 8, 8000)
HEADS = Variable("MASTER_ADDR")


@pytest.mark.parametrize(("part", "sizes", "more"), [
    (THIRD, {"tp": 4, "pp": 4, "span": 2}, {
        "--distributed-executor-backend": "mp", "--nnodes": 2, "--node-rank": 1,
        "--master-addr": HEADS, "--master-port": 29502, "--headless": None}),
    (FIRST, {"tp": 8, "pp": 2, "span": 2}, {
        "--distributed-executor-backend": "mp", "--nnodes": 2, "--node-rank": 0,
        "--master-addr": HEADS, "--master-port": 29500}),
    # two replicas of four cards on each of its nodes
    (THIRD, {"tp": 4, "joined": 6, "span": 3}, {
        "--data-parallel-size": 6, "--data-parallel-size-local": 2,
        "--data-parallel-address": HEADS,
        "--data-parallel-rpc-port": 13347, "--data-parallel-start-rank": 2, "--headless": None}),
    (FIRST, {"tp": 8, "joined": 3, "span": 3}, {
        "--data-parallel-size": 3, "--data-parallel-size-local": 1,
        "--data-parallel-address": HEADS,
        "--data-parallel-rpc-port": 13345})])
def test_nodes_of_a_server_of_vllm_find_each_other_at_its_first(part, sizes, more):
    found = plainest.flags(vllm, "vllm", plainest.layout(part, **sizes))
    own = {"--tensor-parallel-size", "--pipeline-parallel-size", "--port"}
    before = plainest.flags(vllm, "vllm")
    assert {key: value for key, value in found.items() if key not in own
            and before.get(key, "absent") != value} == more


def test_nodes_of_a_server_of_sglang_find_each_other_at_its_first():
    found = plainest.flags(sglang, "sglang", plainest.layout(THIRD, tp=8, pp=2, span=2))
    assert {name: found[name] for name in ("--nnodes", "--node-rank", "--dist-init-addr")} == {
        "--nnodes": 2, "--node-rank": 1, "--dist-init-addr": Variable("MASTER_ADDR", ":29502")}
    assert "--base-gpu-id" not in found


WIDE = plainest.layout(joined=2, experts=8)
BESIDES = Layout(4, 1, 1, 1, 1, 2, 1, 1, (Part(0, 0, 0, 4, 3, 8137), Part(1, 0, 0, 0, 4, 8000)))
OWN = Variable("NODE_ADDR")
NO_FLAG = {"lacks": ["--all2all-backend"], "of": WIDE}


@pytest.mark.parametrize(("name", "changed", "found"), [
    ("vllm", {}, {}), ("vllm-ascend", {}, {}),
    ("vllm", {"of": BESIDES}, {"CUDA_VISIBLE_DEVICES": "4,5,6"}),
    ("vllm-ascend", {"of": BESIDES}, {"ASCEND_RT_VISIBLE_DEVICES": "4,5,6"}),
    ("vllm", NO_FLAG, {"VLLM_ALL2ALL_BACKEND": "deepep_low_latency"}),
    ("vllm", {**NO_FLAG, "exchange_gathered": 1.0},
     {"VLLM_ALL2ALL_BACKEND": "allgather_reducescatter"}),
    ("vllm", {**NO_FLAG, "of": plainest.layout(joined=2)}, {}),
    ("vllm", {**NO_FLAG, "of": plainest.layout(experts=2)}, {}), ("vllm-ascend", NO_FLAG, {}),
    ("vllm", {"of": WIDE}, {}), ("vllm", {"micro_batches": 2.0}, {}),
    ("vllm-ascend", {"micro_batches": 2.0}, {"VLLM_ASCEND_ENABLE_DBO": 1}),
    ("vllm", {"balancing": "periodic"}, {}),
    ("vllm-ascend", {"balancing": "periodic"}, {"DYNAMIC_EPLB": "true"}),
    ("vllm-ascend", {"redundant_experts": 1}, {"DYNAMIC_EPLB": "true"}),
    ("vllm-ascend", {"redundant_experts": 1, "lacks": ["DYNAMIC_EPLB"]}, {}),
    ("vllm-ascend", {"prefill_coordination": "balance"}, {"VLLM_ASCEND_BALANCE_SCHEDULING": 1}),
    ("vllm", {"prefill_context_parallel": 1.0}, {}),
    ("vllm-ascend", {"prefill_context_parallel": 1.0}, {"VLLM_ASCEND_ENABLE_FLASHCOMM1": 1}),
    ("vllm-ascend", {"prefill_context_parallel": 1.0, "lacks": ["VLLM_ASCEND_ENABLE_FLASHCOMM1"]},
     {}), ("vllm", {"of": plainest.layout(span=2)}, {"VLLM_HOST_IP": OWN}),
    ("vllm-ascend", {"role": "prefill"}, {"VLLM_HOST_IP": OWN, "PHYSICAL_DEVICES": "4,5,6,7"}),
    ("vllm-ascend", {"role": "prefill", "lacks": ["PHYSICAL_DEVICES"]}, {"VLLM_HOST_IP": OWN}),
    ("vllm", {"role": "decode"}, {"VLLM_NIXL_SIDE_CHANNEL_HOST": OWN,
                                  "VLLM_NIXL_SIDE_CHANNEL_PORT": 5601}),
    ("vllm", {"role": "decode", "of": BESIDES}, {
        "CUDA_VISIBLE_DEVICES": "4,5,6", "VLLM_NIXL_SIDE_CHANNEL_HOST": OWN,
        "VLLM_NIXL_SIDE_CHANNEL_PORT": 5637})])
def test_a_node_of_vllm_has_the_environment_that_it_needs(name, changed, found):
    assert plainest.variables(vllm, name, **changed) == found


ROOM = "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK"
SMALL = plainest.layout(tp=1, joined=2, experts=2)


@pytest.mark.parametrize(("changed", "found"), [
    # a third of the requests on each replica, and a step of its drafts, in powers of two
    ({"concurrency": 384.0, "of": SMALL}, {}), ({"concurrency": 385.0, "of": SMALL}, {ROOM: 256}),
    ({"concurrency": 768.0, "of": SMALL}, {ROOM: 256}),
    ({"concurrency": 769.0, "of": SMALL}, {ROOM: 512}),
    ({"concurrency": 384.0, "draft_tokens": 2.0, "of": SMALL}, {ROOM: 512}),
    ({"concurrency": 3073.0, "of": WIDE}, {ROOM: 512}), ({"concurrency": 1536.0, "of": WIDE}, {}),
    ({"concurrency": 769.0, "of": SMALL, "exchange_normal": 1.0}, {}),
    ({"concurrency": 769.0, "of": SMALL, "exchange_gathered": 1.0}, {}),
    ({"attention": "csa"}, {"SGLANG_DSV4_FP4_EXPERTS": 0}),
    ({"attention": "csa", "routed_expert": "mxfp4"}, {})])
def test_a_node_of_sglang_has_room_for_what_a_rank_sends_in_a_step(changed, found):
    assert plainest.variables(sglang, "sglang", **changed) == found


def hosted(hosts, engines=("vllm-ascend@0.26.0rc1",) * 2):
    """Hosts of two pools, of two nodes each."""
    named = dict(zip(("prefill", "decode"), load_pools("a3-glm51-pd-tp1"), strict=True))
    releases = dict(zip(named, (release_of(*each.split("@")) for each in engines), strict=True))
    most = dict.fromkeys(named, Longest(4096, "", 0.0))
    return [pool.hosts for pool in _pools(named, releases, hosts, most, ([], []))]


def test_hosts_are_taken_in_the_order_of_pools_and_made_up_where_none_are_given():
    assert hosted(["d", "c", "b", "a"]) == [("d", "c"), ("b", "a")]
    assert hosted([]) == [("prefill-0", "prefill-1"), ("decode-0", "decode-1")]


@pytest.mark.parametrize(("hosts", "says"), [
    ("a", "--hosts: 1 names, expected 4, one per node."),
    ("abc", "--hosts: 3 names, expected 4, one per node."),
    ("abcde", "--hosts: 5 names, expected 4, one per node."),
    ("abca", "--hosts: a name stands twice, expected one per node."),
    (["a", f"-{'b' * 70}"], f"--hosts: '-{'b' * 59}' is no name of a host, expected letters, "
                            "digits, '.' and '-'.")])
def test_a_name_for_each_node_and_none_twice(hosts, says):
    assert sentence(hosted, list(hosts)) == says


def test_two_pools_are_of_one_release():
    assert sentence(hosted, [], ("vllm-ascend@0.26.0rc1", "vllm-ascend@0.30.0rc2")) == (
        "the two pools name two engines, expected one for both.")
