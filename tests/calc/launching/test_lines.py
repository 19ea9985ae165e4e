"""Whole command lines and environments, flag by flag, on the first and the last node of a pool.

They stand in ``lines.yml``, read through beside what the engines' documentation says of each flag:
sizes, ranks and ports follow from the layout (rank times cards of a node, 256 requests on each of
72 ranks), the others from the deployment's own settings.
"""

from pathlib import Path
from types import SimpleNamespace as Made

import _launch as plainest
import pytest
import yaml
from _door import sentence
from _launch import CASES

from calc.launching import sglang, vllm
from calc.launching.layout import Layout, Part, layout
from calc.launching.lengths import Longest
from calc.launching.scripts import pool_of
from calc.launching.settings import Variable, release_of
from calc.launching.vllm import ray
from catalogue import ParamsError, load_pools, load_scenario

LINES = yaml.safe_load(Path(__file__).with_name("lines.yml").read_text("utf-8"))


def written(case):
    """Role -> node -> its line, variables of the environment first."""
    name, overrides, engine = CASES[case]
    settings = [*overrides, *([f"engine={engine}"] if engine else [])]
    both = load_pools(name, overrides=settings)
    named = (dict(zip(("prefill", "decode"), both, strict=True)) if both
             else {"serve": load_scenario(name, overrides=settings)})
    lie = {role: layout(scenario) for role, scenario in named.items()}
    found = {}
    for role, scenario in named.items():
        pool = pool_of(role, scenario, release_of(*str(scenario.engine).split("@")),
                       [f"h{node}" for node in range(lie[role].nodes)],
                       Longest(4096, "of the test", 0.0), pools=lie if both else None)
        last = len(pool.flags) - 1
        found[role] = {"answers": ", ".join(pool.addresses)} | {at: " ".join([
            *(f"{each.name}={valued(each.value)}" for each in pool.variables[at]),
            *(word for each in pool.flags[at] for word in each.words)]) for at in {0, last}}
    return found


def valued(value):
    return f"${value.name}{value.after}" if isinstance(value, Variable) else value


@pytest.mark.parametrize("case", CASES)
def test_each_node_of_a_case_is_started_with_these_words(case):
    assert written(case) == LINES[case]


@pytest.mark.parametrize(("name", "why"), [
    ("h200-v32-sglang-dp8", "125 of each of 8 replicas"),
    ("h200-r1-sglang-tp8", "1000 requests, replicas: 1")])
def test_a_server_takes_the_requests_of_all_its_replicas(name, why):
    """Eight replicas that share experts are one server; both are asked a thousand at once."""
    scenario = load_scenario(name, overrides=["workload.concurrency=1000 request"])
    pool = pool_of("serve", scenario, release_of("sglang", "0.5.23"), ["h0"],
                   Longest(4096, "of the test", 0.0))
    (limit,) = (each for each in pool.flags[0] if each.name == "--max-running-requests")
    assert (limit.value, limit.why) == (1000, why)


def lies(tp, pp, joined=1, span=2):
    """A server over nodes of eight cards."""
    parts = tuple(Part(0, rank, rank, 0, 8, 8000) for rank in range(span))
    return Layout(tp, pp, joined, joined * tp, 1, 1, span, span, parts)


def test_only_a_replica_over_nodes_meets_in_ray_and_only_before_releases_span_nodes():
    """Replicas that each fill a node find each other without it."""
    old, new = release_of("vllm", "0.11.0"), release_of("vllm", "0.13.0")
    assert not ray(lies(8, 1, joined=2), old)
    assert not ray(lies(4, 2, joined=2), old)
    assert not ray(lies(8, 1, span=1), old)
    assert ray(lies(8, 2), old)
    assert ray(lies(9, 1), old)
    assert not ray(lies(8, 2), new)
    with pytest.raises(ParamsError, match="replicas of 16 cards that span nodes and share experts"):
        ray(lies(8, 2, joined=2, span=4), old)


def moved(engine, name, **changed):
    """Flags that a change adds or moves, and those that it takes away."""
    before, after = plainest.flags(engine, name), plainest.flags(engine, name, **changed)
    return ({key: value for key, value in after.items() if before.get(key, "absent") != value},
            set(before) - set(after))


def test_the_plainest_deployment_is_started_with_these_words():
    """A hundred requests on three replicas are 34 of each."""
    answers = {"--served-model-name": "m", "--host": "0.0.0.0", "--port": 8001}
    assert plainest.flags(vllm, "vllm") == {
        "--tensor-parallel-size": 4, "--pipeline-parallel-size": 1, "--dtype": "bfloat16",
        "--quantization": "fp8", "--max-model-len": 5000, "--max-num-seqs": 34,
        "--max-num-batched-tokens": 2048, "--block-size": 16, "--gpu-memory-utilization": 0.9,
        "--enable-chunked-prefill": None, "--enable-prefix-caching": None, **answers}
    assert plainest.flags(sglang, "sglang") == {
        "--tp-size": 4, "--base-gpu-id": 4, "--dtype": "bfloat16", "--quantization": "fp8",
        "--context-length": 5000, "--max-running-requests": 34, "--chunked-prefill-size": 2048,
        "--page-size": 16, "--mem-fraction-static": 0.9, "--enable-mixed-chunk": None,
        "--enable-metrics": None, **answers}


WIDE = plainest.layout(joined=2, experts=8)
EP, DP, EPLB = "--enable-expert-parallel", "--data-parallel-size", "--enable-eplb"
DRAFTS = "--speculative-config"


@pytest.mark.parametrize(("changed", "more"), [
    ({"of": plainest.layout(experts=2)}, {EP: None}), ({"of": plainest.layout(joined=2)}, {DP: 2}),
    ({"of": plainest.layout(pp=2)}, {"--pipeline-parallel-size": 2}),
    ({"of": WIDE}, {EP: None, DP: 2, "--all2all-backend": "deepep_low_latency"}),
    ({"of": WIDE, "exchange_normal": 1.0},
     {EP: None, DP: 2, "--all2all-backend": "deepep_high_throughput"}),
    ({"of": WIDE, "exchange_gathered": 1.0},
     {EP: None, DP: 2, "--all2all-backend": "allgather_reducescatter"}),
    ({"of": WIDE, "lacks": ["--all2all-backend"]}, {EP: None, DP: 2}),
    ({"balancing": "periodic"}, {EPLB: None}), ({"balancing": "static"}, {}),
    ({"redundant_experts": 4}, {EPLB: None, "--eplb-config": {"num_redundant_experts": 4}}),
    ({"redundant_experts": 4, "lacks": ["--eplb-config"]},
     {EPLB: None, "--num-redundant-experts": 4}), ({"redundant_experts": 0}, {}),
    ({"micro_batches": 2.0}, {"--enable-dbo": None}),
    ({"decode_context_parallel": 2}, {"--decode-context-parallel-size": 2}),
    ({"decode_context_parallel": 1}, {}), ({"activation": "fp16"}, {"--dtype": "float16"}),
    ({"routed_expert": "int8-channel"}, {"--quantization": "compressed-tensors"}),
    ({"dense_mlp": "mxfp4"}, {}), ({"kv_cache": "fp8"}, {"--kv-cache-dtype": "fp8"}),
    ({"kv_cache": "fp16"}, {}), ({"kv_cache": "fp8-latent128", "index_topk": 2048},
                                 {"--kv-cache-dtype": "fp8_ds_mla"}),
    ({"attention": "csa", "kv_cache": "fp8-row56"}, {"--kv-cache-dtype": "fp8"}),
    ({"attention": "csa", "routed_expert": "mxfp4"}, {"--quantization": "deepseek_v4_fp8"}),
    ({"stream_interval": 1}, {}), ({"stream_interval": 3}, {"--stream-interval": 3}),
    ({"scheduler_recv_interval": 1}, {}), ({"graphs": False}, {"--enforce-eager": None}),
    ({"largest": 512.0}, {"--max-cudagraph-capture-size": 512}),
    ({"largest": 512.0, "lacks": ["--max-cudagraph-capture-size"]}, {}),
    ({"largest": 512.0, "graphs": False}, {"--enforce-eager": None}), ({"draft_tokens": 0}, {}),
    ({"draft_tokens": 2}, {DRAFTS: {"method": "mtp", "num_speculative_tokens": 2}}),
    ({"draft_tokens": 2, "attention": "mla"},
     {DRAFTS: {"method": "deepseek_mtp", "num_speculative_tokens": 2}}),
    ({"draft_tokens": 2, "draft_block": 1},
     {DRAFTS: {"method": "mtp", "num_speculative_tokens": 2}}),
    ({"draft_tokens": 2, "draft_block": 2, "attention": "mla"},
     {DRAFTS: {"method": "dspark", "num_speculative_tokens": 2}}),
    ({"role": "decode"}, {"--kv-transfer-config": {
        "kv_connector": "NixlConnector", "kv_role": "kv_both"}}),
    ({"prefill_coordination": "balance"}, {}),
    ({"family": "minimax-m2"}, {"--tool-call-parser": "minimax_m2", "--enable-auto-tool-choice":
                                None, "--reasoning-parser": "minimax_m2"})])
def test_what_a_deployment_states_moves_the_flags_of_vllm_that_say_it_and_no_other(changed, more):
    assert moved(vllm, "vllm", **changed) == (more, set())


@pytest.mark.parametrize(("engine", "changed", "gone"), [
    ((vllm, "vllm"), {"routed_expert": "bf16"}, {"--quantization"}),
    ((vllm, "vllm"), {"is_moe": False}, {"--quantization"}),
    ((sglang, "sglang"), {"activation": "fp8"}, {"--dtype"}),
    ((sglang, "sglang"), {"scheduling": "prefill-first"}, {"--enable-mixed-chunk"})])
def test_what_is_as_the_engine_has_it_is_not_told(engine, changed, gone):
    assert moved(*engine, **changed) == ({}, gone)


PLUG = "--additional-config"
BESIDE = {"multistream_overlap_shared_expert": True}
DECODE_ALONE = {"--compilation-config": {"cudagraph_mode": "FULL_DECODE_ONLY"}}


@pytest.mark.parametrize(("changed", "more"), [
    ({"of": WIDE}, {EP: None, DP: 2}), ({"micro_batches": 2.0}, {}), ({"role": "decode"}, {}),
    ({"redundant_experts": 4, "lacks": ["dynamic_eplb"]}, {PLUG: {"eplb_config": {
        "dynamic_eplb": True, "num_redundant_experts": 4}}}),
    ({"redundant_experts": 4}, {PLUG: {"dynamic_eplb": True, "init_redundancy_expert": 4}}),
    ({"balancing": "periodic", "lacks": ["eplb_config"]},
     {PLUG: {"dynamic_eplb": True, "init_redundancy_expert": 0}}),
    ({"family": "glm-5"}, {
        PLUG: BESIDE, **DECODE_ALONE, "--tool-call-parser": "glm47",
        "--enable-auto-tool-choice": None, "--reasoning-parser": "glm45"}),
    ({"attention": "csa", "lacks": [*BESIDE]}, DECODE_ALONE),
    ({"attention": "csa", "graphs": False}, {PLUG: BESIDE, "--enforce-eager": None}),
    ({"attention": "csa", "draft_tokens": 1}, {PLUG: BESIDE, **DECODE_ALONE, DRAFTS: {
        "method": "mtp", "num_speculative_tokens": 1, "enforce_eager": True}}),
    ({"prefill_context_parallel": 1.0}, {PLUG: {"enable_dsa_cp": True}}),
    ({"prefill_context_parallel": 1.0, "tensor_parallel": 1.0}, {}),
    ({"kv_cache": "int8", "role": "decode"}, {}),
    ({"index_topk": 2048, "kv_cache": "int8-latent128"}, {PLUG: {"enable_sparse_sfa_c8": True}}),
    ({"index_topk": 2048, "kv_index": "int8-index128"}, {PLUG: {"enable_sparse_li_c8": True}})])
def test_the_plug_in_for_ascend_is_told_the_rest_in_one_flag(changed, more):
    before = plainest.flags(vllm, "vllm-ascend")
    assert before == plainest.flags(vllm, "vllm") | {"--quantization": "ascend"}
    assert moved(vllm, "vllm-ascend", **changed) == (more, set())


@pytest.mark.parametrize(("engine", "changed", "says"), [
    ((vllm, "vllm"), {"scheduling": "prefill-first"}, "no flag for scheduling: prefill-first"),
    ((vllm, "vllm"), {"prefill_coordination": "delay"}, "prefill_coordination: delay"),
    ((vllm, "vllm"), {"prefill_coordination": "balance",
                      "lacks": ["VLLM_ASCEND_BALANCE_SCHEDULING"]}, "coordination: balance"),
    ((vllm, "vllm"), {"scheduler_recv_interval": 2}, "scheduler_recv_interval: 2"),
    ((vllm, "vllm"), {"draft_tokens": 1, "num_nextn_predict_layers": None}, "no layer that drafts"),
    ((vllm, "vllm"), {"draft_tokens": 1, "num_nextn_predict_layers": 0}, "no layer that drafts"),
    ((vllm, "vllm"), {"routed_expert": "odd"}, "no --quantization reads weights in 'odd'"),
    ((vllm, "vllm"), {"kv_cache": "int8"}, "no --kv-cache-dtype stores 'int8'"),
    ((vllm, "vllm"), {"kv_cache": "int8", "role": "decode"}, "stores 'int8'"),
    ((vllm, "vllm-ascend"), {"kv_cache": "int8", "role": "prefill"}, "stores 'int8'"),
    ((vllm, "vllm"), {"index_topk": 2048, "kv_cache": "int8-latent128"}, "'int8-latent128'"),
    ((vllm, "vllm"), {"prefill_context_parallel": 1.0}, "no flag deals prompts"),
    ((sglang, "sglang"), {"prefill_coordination": "balance"}, "expected delay or eager"),
    ((sglang, "sglang"), {"routed_expert": "odd"}, "reads weights in 'odd'"),
    ((sglang, "sglang"), {"kv_cache": "fp8-latent128"}, "stores 'fp8-latent128'")])
def test_what_a_release_has_no_flag_for_is_refused(engine, changed, says):
    assert says in sentence(plainest.flags, *engine, **changed)


SENT = {"--moe-a2a-backend": "deepep", "--deepep-mode": "low_latency"}
TWO = {"--tp-size": 8, "--attn-dp-size": 2, "--max-running-requests": 68,
       "--chunked-prefill-size": 4096}  # of both replicas of the server
EAGLE = {"--speculative-algorithm": "EAGLE", "--speculative-num-steps": 2,
         "--speculative-eagle-topk": 1, "--speculative-num-draft-tokens": 3}
ROUNDED = {"--moe-runner-backend": "flashinfer_mxfp4"}
MXFP4 = {"routed_expert": "mxfp4", "multiplied": "fp8"}
DEALT = {"--enable-prefill-cp": None, "--attn-cp-size": 4, "--cp-strategy": "interleave",
         "--nsa-prefill-cp-mode": "round-robin-split"}
NPU = {"--device": "npu", "--attention-backend": "ascend"}
OWN_GRAPHS = "--cuda-graph-max-bs-decode"


@pytest.mark.parametrize(("changed", "more"), [
    ({"of": plainest.layout(pp=2)}, {"--pp-size": 2}), ({"of": plainest.layout(joined=2)}, TWO),
    ({"of": plainest.layout(joined=2), "lacks": ["--attn-dp-size"]}, {
        **{key: value for key, value in TWO.items() if key != "--attn-dp-size"},
        "--dp-size": 2, "--enable-dp-attention": None}),
    ({"of": plainest.layout(tp=1, joined=2)}, {
        **TWO, "--tp-size": 2, "--moe-dense-tp-size": 1}),
    ({"of": plainest.layout(tp=1)}, {"--tp-size": 1}),
    ({"of": plainest.layout(experts=2)}, {"--ep-size": 2}),
    ({"of": plainest.layout(experts=2), "lacks": ["--moe-a2a-backend"]},
     {"--ep-size": 2, "--enable-ep-moe": None}),
    ({"of": plainest.layout(experts=2, slices=2), "lacks": ["--moe-a2a-backend"]},
     {"--ep-size": 2}),
    ({"of": WIDE}, {**TWO, "--ep-size": 8, **SENT}),
    ({"of": WIDE, "exchange_normal": 1.0}, {**TWO, "--ep-size": 8, **SENT,
                                            "--deepep-mode": "normal"}),
    ({"of": WIDE, "exchange_gathered": 1.0}, {**TWO, "--ep-size": 8}),
    ({"of": WIDE, "lacks": ["--moe-a2a-backend"]}, {
        **TWO, "--ep-size": 8, "--enable-deepep-moe": None, "--deepep-mode": "low_latency"}),
    ({"of": plainest.layout(joined=2, experts=8, slices=2)}, {**TWO, "--ep-size": 8}),
    ({"balancing": "periodic"}, {"--enable-eplb": None}),
    ({"redundant_experts": 4}, {"--ep-num-redundant-experts": 4}), ({"redundant_experts": 0}, {}),
    ({"micro_batches": 2.0}, {"--enable-two-batch-overlap": None}),
    ({"single_batch_overlap": 1.0}, {"--enable-single-batch-overlap": None}),
    ({"decode_context_parallel": 2}, {"--dcp-size": 2}), ({"decode_context_parallel": 1}, {}),
    ({"prefill_context_parallel": 1.0}, DEALT),
    ({"prefill_context_parallel": 1.0, "lacks": ["--enable-prefill-cp", "--cp-strategy"]},
     {"--enable-nsa-prefill-context-parallel": None, "--attn-cp-size": 4,
      "--nsa-prefill-cp-mode": "round-robin-split"}),
    ({"routed_expert": "int8-channel"}, {"--quantization": "w8a8_int8"}),
    ({"routed_expert": "int8-channel", "type": "npu"}, {**NPU, "--quantization": "modelslim"}),
    ({"routed_expert": "int4-channel-ascend", "type": "npu"},
     {**NPU, "--quantization": "modelslim"}),
    ({"routed_expert": "int4-group64", "type": "npu"}, {**NPU, "--quantization": "awq"}),
    ({"routed_expert": "int8-channel", "type": "npu", "lacks": [
        "--quantization=modelslim"]},
     {**NPU, "--quantization": "w8a8_int8"}),
    (MXFP4, {"--quantization": "mxfp4", **ROUNDED, "--flashinfer-mxfp4-moe-precision": "fp8"}),
    ({**MXFP4, "multiplied": "bf16"}, {"--quantization": "mxfp4"}),
    ({**MXFP4, "multiplied": "bf16", "attention": "csa"}, ROUNDED),
    ({**MXFP4, "architecture": "sm_100"}, {"--quantization": "mxfp4"}),
    ({"kv_cache": "fp8"}, {"--kv-cache-dtype": "fp8_e4m3"}),
    ({"kv_cache": "fp8-latent128", "index_topk": 9}, {"--kv-cache-dtype": "fp8_e4m3"}),
    ({"kv_cache": "fp8-row56", "attention": "csa"}, {"--kv-cache-dtype": "fp8_e4m3"}),
    ({"prefill_coordination": "delay"}, {"--enable-prefill-delayer": None}),
    ({"prefill_coordination": "delay", "prefill_delay_steps": Made(value=7)},
     {"--enable-prefill-delayer": None, "--prefill-delayer-max-delay-passes": 7}),
    ({"stream_interval": 1, "scheduler_recv_interval": 1}, {}),
    ({"stream_interval": 2, "scheduler_recv_interval": 3},
     {"--stream-interval": 2, "--scheduler-recv-interval": 3}),
    ({"graphs": False}, {"--cuda-graph-backend-decode": "disabled"}),
    ({"graphs": False, "lacks": ["--cuda-graph-backend-decode"], "largest": 512.0},
     {"--disable-cuda-graph": None}),
    ({"largest": 512.0}, {OWN_GRAPHS: 512}),
    ({"largest": 512.0, "lacks": [OWN_GRAPHS]}, {"--cuda-graph-max-bs": 512}),
    ({"draft_tokens": 0}, {}), ({"draft_tokens": 2}, EAGLE),
    ({"draft_tokens": 2, "draft_block": 1}, EAGLE),
    ({"draft_tokens": 2, "draft_block": 2}, {
        "--speculative-algorithm": "DSPARK", "--speculative-dspark-block-size": 2,
        "--speculative-num-draft-tokens": 3}),
    ({"role": "prefill"}, {"--disaggregation-mode": "prefill",
                           "--disaggregation-bootstrap-port": 8999}),
    ({"role": "decode"}, {"--disaggregation-mode": "decode"}),
    ({"role": "decode", "of": plainest.layout(joined=2)}, {
        **TWO, "--disaggregation-mode": "decode", "--prefill-round-robin-balance": None}),
    ({"role": "decode", "of": plainest.layout(joined=2),
      "lacks": ["--prefill-round-robin-balance"]}, {**TWO, "--disaggregation-mode": "decode"}),
    ({"family": "deepseek-v4"}, {"--reasoning-parser": "deepseek-v4",
                                 "--tool-call-parser": "deepseekv4"})])
def test_what_a_deployment_states_moves_the_flags_of_sglang_that_say_it_and_no_other(changed, more):
    assert moved(sglang, "sglang", **changed) == (more, set())


FUSED = {"attention": "csa", "routed_expert": "mxfp4", "architecture": "sm_100",
         "of": plainest.layout(experts=2)}
KERNEL = {"--moe-backend": "deep_gemm_mega_moe"}


@pytest.mark.parametrize(("changed", "fused"), [
    ({}, True), ({"architecture": "sm_103"}, True), ({"architecture": "sm_90"}, False),
    ({"attention": "gqa"}, False), ({"of": plainest.layout()}, False),
    ({"of": plainest.layout(experts=2, span=2)}, False), ({"multiplied": "bf16"}, False),
    ({"routed_expert": "fp8"}, False)])
def test_one_kernel_runs_whole_published_experts_within_a_node_of_blackwell(changed, fused):
    found = plainest.flags(vllm, "vllm", **FUSED | changed)
    assert (found.items() >= KERNEL.items()) == fused
    assert ("--moe-backend" in found) == fused


def test_where_one_kernel_sends_and_multiplies_no_exchange_is_chosen():
    wide = FUSED | {"of": plainest.layout(joined=2, experts=2)}
    assert "--all2all-backend" not in plainest.flags(vllm, "vllm", **wide)
    lacking = wide | {"lacks": ["--all2all-backend"]}
    assert plainest.variables(vllm, "vllm", **lacking) == {}
    assert plainest.variables(vllm, "vllm", **lacking | {"multiplied": "bf16"}) == {
        "VLLM_ALL2ALL_BACKEND": "deepep_low_latency"}
