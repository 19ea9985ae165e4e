"""Command lines of engines: what a deployment states sets the flags that say it."""

from __future__ import annotations

import functools
import json

import pytest
from _door import sentence
from _launch import CASES, S0_POOLS
from _plain import plain

from calc.answer.request_lengths import Longest
from calc.launching.launch import deployment, scripts, started_pools
from calc.launching.server import check_settings, layout, layouts, release_of
from calc.launching.starting import ENGINES, check_start, pool_of
from catalogue import ROOT, ParamsError, deployment_names, load_pools, load_scenario
from catalogue.engine import fitting, load_engine

ANY = Longest(4096, ("of the test", ""), 0.0)
R1, EP, ABSENT = "h200-r1-vllm-tp8", "--enable-expert-parallel", "absent"
SPOKEN = {"--tokenizer-mode": "deepseek_v4", "--tool-call-parser": "deepseek_v4",
          "--reasoning-parser": "deepseek_v4", "--enable-auto-tool-choice": None}
PUBLISHED = [  # deployment, and flags of the recipe that its authors publish
    ("v4-flash-8xh20", {  # vLLM, single_node_tep
        "--kv-cache-dtype": "fp8", "--block-size": 256, "--tensor-parallel-size": 8, EP: None,
        "--moe-backend": ABSENT, **SPOKEN}),
    ("v4-flash-8xh200", {  # SGLang, H200, FP4, balanced
        "--tp-size": 4, "--moe-runner-backend": "flashinfer_mxfp4",
        "--speculative-algorithm": "EAGLE", "--speculative-num-steps": 1,
        "--speculative-eagle-topk": 1, "--speculative-num-draft-tokens": 2,
        "--reasoning-parser": "deepseek-v4", "--tool-call-parser": "deepseekv4",
        "--page-size": 256, "--kv-cache-dtype": "fp8_e4m3"}),
    ("v4-flash-8x910b2", {  # vLLM Ascend, A2
        "--max-num-batched-tokens": 8192, "--gpu-memory-utilization": 0.9, "--max-num-seqs": 32,
        "--tensor-parallel-size": 8, EP: None, "--quantization": "ascend", "--block-size": 128,
        "--compilation-config": {"cudagraph_mode": "FULL_DECODE_ONLY"},
        "--speculative-config": {"method": "mtp", "num_speculative_tokens": 1,
                                 "enforce_eager": True},
        "--additional-config": {"enable_dsa_cp": True,
                                "multistream_overlap_shared_expert": True}, **SPOKEN}),
    ("v4-pro-8xb300", {  # vLLM, eight B300
        "--kv-cache-dtype": "fp8", "--block-size": 256, "--data-parallel-size": 8, EP: None,
        "--moe-backend": "deep_gemm_mega_moe", "--all2all-backend": ABSENT, **SPOKEN}),
    ("glm-5.2-16x910c", {  # vLLM Ascend, two servers of A3
        "--data-parallel-size": 8, "--data-parallel-size-local": 4, "--tensor-parallel-size": 4,
        EP: None, "--max-num-seqs": 6, "--max-num-batched-tokens": 4096,
        "--gpu-memory-utilization": 0.92, "--quantization": "ascend",
        "--speculative-config": {"method": "deepseek_mtp", "num_speculative_tokens": 3,
                                 "enforce_eager": True},
        "--additional-config": {"enable_dsa_cp": True, "multistream_overlap_shared_expert": True,
                                "enable_sparse_sfa_c8": True, "enable_sparse_li_c8": True},
        "--tool-call-parser": "glm47", "--reasoning-parser": "glm45"}),
    ("qwen3.5-397b-8xh200", {"--data-parallel-size": 8, EP: None,
                             "--reasoning-parser": "qwen3"})]
VLLM, SGLANG = "vllm@0.33.0", "sglang@0.5.23"
TP1, WIDE = "parallelism.tensor_parallel=1", (
    "parallelism.tensor_parallel=1", "parallelism.data_parallel=8", "parallelism.expert_parallel=8")
CHANGED = [  # release, overrides of DeepSeek-R1 on eight H200, flags
    # of eight replicas, which exchange tokens of experts
    (VLLM, WIDE, {"--tensor-parallel-size": 1, "--data-parallel-size": 8, EP: None,
                  "--max-num-seqs": 125, "--all2all-backend": "deepep_low_latency"}),
    (VLLM, (*WIDE, "parallelism.balancing=periodic", "parallelism.redundant_experts=8"), {
        "--enable-eplb": None, "--eplb-config": {"num_redundant_experts": 8}}),
    # requests and chunks are those of all replicas of the server
    (SGLANG, WIDE, {"--tp-size": 8, "--attn-dp-size": 8, "--ep-size": 8,
                    "--moe-a2a-backend": "deepep", "--deepep-mode": "auto",
                    "--max-running-requests": 1000,
                    "--chunked-prefill-size": 8192, "--moe-dense-tp-size": 1,
                    "--mem-fraction-static": 0.736}),  # less 37,888 MiB
    (SGLANG, ("workload.draft_tokens=2",), {
        "--speculative-algorithm": "EAGLE", "--speculative-num-steps": 2,
        "--speculative-eagle-topk": 1, "--speculative-num-draft-tokens": 3}),
    (SGLANG, ("precision=fp8-block-fp8-cache",), {  # which FlashMLA reads as it is
        "--kv-cache-dtype": "fp8_e4m3", "--attention-backend": "flashmla", "--page-size": 64})]
HCCL = {"HCCL_OP_EXPANSION_MODE": "AIV", "HCCL_BUFFSIZE": 512}  # the library's, in no table
HOSTED = ("workload.host_cache=512 GB",)  # of eight cards, 64 GB each
CHANGED += [
    (VLLM, HOSTED, {"--kv-offloading-backend": "native", "--kv-offloading-size": 476.837}),
    (VLLM, (*WIDE, *HOSTED), {"--kv-offloading-size": 59.605}),  # of each replica
    (SGLANG, (*WIDE, *HOSTED), {"--hicache-size": 64})]
STATED = [  # release, key of a scenario's file, flags or refusal
    (VLLM, {"graphs": False}, {"--enforce-eager": None}),
    (SGLANG, {"graphs": False}, {"--cuda-graph-backend-decode": "disabled"}),
    (SGLANG, {"scheduling": "prefill-first"}, {"--enable-mixed-chunk": ABSENT}),
    (SGLANG, {"prefill_coordination": "delay"}, {"--enable-prefill-delayer": None}),
    (VLLM, {"scheduling": "prefill-first"}, "no flag for scheduling: prefill-first"),
    (VLLM, {"precision": "mxfp4-w4a8"}, "no --quantization reads weights in 'mxfp4'"),
    (VLLM, {"prefill_coordination": "delay"}, "has no 'delay', expected one of eager"),
    (SGLANG, {"prefill_coordination": "balance"}, "has no 'balance', expected one of eager, delay")]


def pools(name, engine=None, overrides=()):
    """Pools of a deployment as they are written; nothing is estimated of them."""
    settings = [*overrides, *([f"engine={engine}"] if engine else [])]
    both = load_pools(name, overrides=settings)
    named = (dict(zip(("prefill", "decode"), both, strict=True)) if both
             else {"serve": load_scenario(name, overrides=settings)})
    release = release_of(*(engine or str(next(iter(named.values())).engine)).split("@"))
    return [pool_of(role, named, release, [f"h{node}" for node in range(of.nodes)], ANY)
            for role, of in layouts(named).items()]


@functools.cache
def started(name, engine=None, overrides=()):
    """Flags and variables of the first server, by name."""
    pool, = pools(name, engine, overrides)
    return tuple({each.name: each.value for each in its[0]}
                 for its in (pool.flags, pool.variables))


@pytest.mark.parametrize(("name", "expected"), PUBLISHED)
def test_launch_has_what_the_published_recipe_starts_with(name, expected):
    flags, _ = started(name)
    assert {flag: flags.get(flag, ABSENT) for flag in expected} == expected


@pytest.mark.parametrize(("engine", "overrides", "expected"), CHANGED)
def test_flags_follow_the_deployment(engine, overrides, expected):
    flags, _ = started(R1, engine, overrides)
    assert {flag: flags.get(flag, ABSENT) for flag in expected} == expected


@pytest.mark.parametrize(("engine", "keys", "expected"), STATED)
def test_flags_follow_the_file_of_a_scenario(tmp_path, engine, keys, expected):
    data = plain((ROOT / "scenarios" / f"{R1}.yml").read_text("utf-8")) | keys
    data.pop("measured")
    path = tmp_path / "mine.yml"
    path.write_text(json.dumps(data), encoding="utf-8")
    if isinstance(expected, str):
        assert expected in sentence(pools, str(path), engine)
        return
    flags, _ = started(str(path), engine)
    assert {flag: flags.get(flag, ABSENT) for flag in expected} == expected


@pytest.mark.parametrize("case", CASES)
def test_command_of_every_case(case):
    """Degrees and requests are those of the scenario; the release takes each flag and what they
    are together."""
    name, overrides, engine = CASES[case]
    for pool in pools(name, engine, overrides):
        inputs, lie = pool.scenario.inputs(), pool.layout
        assert lie.tp * lie.pp * lie.joined * lie.servers == pool.scenario.devices
        assert lie.joined * lie.servers == inputs["data_parallel"]
        sending = any(each.name.startswith("VLLM_NIXL") for each in pool.variables[0])
        assert sending == (pool.release.name == "vllm" and pool.role != "both")
        for flags, variables in zip(pool.flags, pool.variables, strict=True):
            told = {each.name: each.value for each in flags}
            assert len(told) == len(flags)
            assert all(pool.release.has(each.name, each.value)
                       or each.value == HCCL.get(each.name) for each in (*flags, *variables))
            if "--max-num-seqs" in told:  # of one replica
                assert told["--max-num-seqs"] == -(-inputs["concurrency"] // inputs[
                    "data_parallel"])
            elif "--max-running-requests" in told:  # of one server
                assert told["--max-running-requests"] >= inputs["concurrency"] / lie.servers
                assert ("--device" in told) == (pool.scenario.device.type == "npu")
            check_settings(pool.scenario, pool.release, flags, variables)


@pytest.mark.nightly
def test_every_shipped_deployment_under_every_release():
    """Of two thousand pairs, what is refused for its settings together says which."""
    written = 0
    for name in deployment_names():
        for engine in set(fitting((load_pools(name) or (load_scenario(name),))[0].device)) & set(
                ENGINES):
            for version in load_engine(engine).versions:
                try:
                    written += bool(pools(name, f"{engine}@{version}"))
                except ParamsError:
                    continue
    assert written > 1000


@pytest.mark.parametrize(("case", "without", "message"), [
    ("sglang-pools-router", "--moe-dense-tp-size", "--moe-dense-tp-size 1"),
    ("sglang-pools-router", "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK", "has room for"),
    ("vllm-wide", EP, "whole blocks of scales")])
def test_release_refuses_settings_that_need_each_other(case, without, message):
    name, overrides, engine = CASES[case]
    refused = []
    for pool in pools(name, engine, overrides):
        for flags, variables in zip(pool.flags, pool.variables, strict=True):
            try:
                check_settings(pool.scenario, pool.release, *(
                    [each for each in of if each.name != without] for of in (flags, variables)))
            except ParamsError as error:
                refused.append(str(error))
    assert refused
    assert all(message in each for each in refused)


def test_operators_flags_are_checked_with_the_others():
    assert "--enable-eplb" in sentence(deployment, R1, flags=["--enable-eplb"])
    made = deployment(R1, flags=["--served-model-name=ours"])
    assert "--served-model-name ours" in made.files["bench/run.sh"]


# --- nodes and pools ------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "overrides", "sizes", "servers", "span", "ports"), [
    # four servers of two cards fill a node, the fifth begins the next; each has its own port
    ("h20-qwen3-8b", ("cluster.devices=10", "parallelism.tensor_parallel=2",
                      "parallelism.data_parallel=5"), (2, 1, 1), 5, 1,
     [8000, 8020, 8040, 8060, 8000]),
    (R1, ("cluster.nodes=4", "parallelism.pipeline_parallel=2", "parallelism.data_parallel=2"),
     (8, 2, 1), 2, 2, [8000] * 4),
    # sixteen replicas of one card share experts: they are one server
    (R1, ("cluster.nodes=2", TP1, "parallelism.data_parallel=16",
          "parallelism.expert_parallel=16"), (1, 1, 16), 1, 2, [8000] * 2),
    (R1, ("cluster.nodes=2", "parallelism.data_parallel=2"), (8, 1, 1), 2, 1, [8000] * 2)])
def test_servers_on_nodes(name, overrides, sizes, servers, span, ports):
    lie = layout(load_scenario(name, overrides=list(overrides)))
    assert (lie.tp, lie.pp, lie.joined) == sizes
    assert (lie.servers, lie.span, [part.port for part in lie.parts]) == (servers, span, ports)
    assert [part.rank for part in lie.parts] == [rank for _ in range(servers)
                                                 for rank in range(span)]
    assert [part.server for part in lie.heads] == list(range(servers))
    per_node = {node: sum(part.cards for part in lie.of_node(node)) for node in range(lie.nodes)}
    assert max(per_node.values()) <= 8
    assert sum(per_node.values()) == sizes[0] * sizes[1] * sizes[2] * servers


def test_pools_on_ascend_name_each_other():
    """Caches go from the ranks of the one to as many of the other."""
    name, overrides, engine = CASES["ascend-pools"]
    made, ids = pools(name, engine, overrides), set()
    sizes = {pool.name: {"dp_size": pool.layout.joined, "tp_size": pool.layout.tp}
             for pool in made}
    for pool in made:
        for flags in pool.flags:
            config = next(each.value for each in flags if each.name == "--kv-transfer-config")
            assert config["kv_connector_extra_config"] == sizes
            assert config["kv_role"] == {"prefill": "kv_producer",
                                         "decode": "kv_consumer"}[pool.name]
            ids.add(config["engine_id"])
    assert len(ids) == sum(pool.layout.servers for pool in made)
    refusal = sentence(deployment, "s0-scenario-3", S0_POOLS, engine="vllm-ascend@0.9.1")
    assert "expected vllm-ascend@0.10.2rc1" in refusal


ASSUMED = {"source": "a test of deployments", "kind": "assumed"}
KINDS = {  # card, node, model, precision of small pools
    "v4": ("nvidia-h20", "hgx-h20", "deepseek-v4-flash", "fp8-mxfp4"),
    "r1": ("nvidia-h20", "hgx-h20", "deepseek-v3", "fp8-block"),
    "npu": ("ascend-910b2", "atlas-800i-a2", "deepseek-v3", "w8a8-int8")}
V4, NPU = {"block_size": 256}, {"block_size": 128}


def side(kind, cut, work=None, precision=None):
    """A pool of a family: TP, PP and DP, whose experts are shared if there are replicas."""
    device, node, _, own = KINDS[kind]
    tensor, stages, data = cut
    count = tensor * stages * data
    return {"title": {"en": "Pool", "zh": "池"}, "device": device, "precision": precision or own,
            "cluster": {"node": node, "nodes": -(-count // 8),
                        "devices": count},
            "parallelism": {"tensor_parallel": tensor, "pipeline_parallel": stages,
                            "data_parallel": data,
                            "expert_parallel": 1 if data == 1 else tensor * data},
            "workload": {
                "concurrency": 8, "max_num_batched_tokens": 2048, "arrivals": "closed-loop",
                "memory_utilization": 0.9, "input_tokens": 1000, **(work or {})}}


def pair(folder, engine, prefill, decode):
    """Both pools as ``deploy`` takes them from a file."""
    file, title = folder / "pair.yml", {"en": "Two pools", "zh": "两池"}
    both = {"prefill": side(*prefill), "decode": side(*decode)}
    for part, tokens in zip(both.values(), (1, 200), strict=True):
        part["workload"]["output_tokens"] = tokens
    both["decode"]["mechanisms"] = {"separate_pools": 1}
    file.write_text(json.dumps({"title": title, "defaults": ASSUMED, "model": KINDS[decode[0]][2],
                                "device": both["decode"]["device"], "pools": list(both),
                                "variants": both}), encoding="utf-8")
    return dict(zip(both, load_pools(str(file), overrides=[f"engine={engine}"]), strict=True))


REFUSED_PAIRS = [  # engine, prefill, decode, what is said
    (SGLANG, ("npu", (8, 1, 2), NPU), ("r1", (8, 1, 2), NPU, "w8a8-int8"), "cards of one maker"),
    (SGLANG, ("v4", (1, 4, 1), V4), ("v4", (1, 2, 1), V4), "or as many as the prefill pool"),
    (SGLANG, ("r1", (8, 1, 1), {"block_size": 64}), ("r1", (8, 1, 1)), "one --page-size"),
    (SGLANG, ("r1", (8, 1, 1)), ("r1", (8, 1, 1), {"block_size": 64}, "fp8-block-fp8-cache"),
     "one --kv-cache-dtype"),
    (SGLANG, ("r1", (8, 1, 1), {"draft_tokens": 1}), ("r1", (8, 1, 1)), "both pools draft alike"),
    (SGLANG, ("v4", (4, 1, 1), {"block_size": 64}), ("v4", (4, 1, 1), V4), "block_size: 256"),
    (VLLM, ("v4", (4, 1, 1), V4), ("v4", (4, 1, 1), {"block_size": 64}), "block_size: 256"),
    (VLLM, ("v4", (1, 4, 1), V4), ("v4", (4, 1, 1), V4), "no caches of pipeline stages"),
    (VLLM, ("v4", (4, 1, 1), V4 | {"draft_tokens": 1}), ("v4", (4, 1, 1), V4), "by one method"),
    (VLLM, ("r1", (8, 1, 1)), ("r1", (8, 1, 1), {"draft_tokens": 1}), "too little memory"),
    (VLLM, ("r1", (8, 1, 1)), ("r1", (8, 1, 1), {}, "w4a16-awq"), "load one checkpoint")]


@pytest.mark.parametrize(("engine", "prefill", "decode", "message"), REFUSED_PAIRS)
def test_no_release_starts_pools_between_which_no_caches_pass(
        tmp_path, engine, prefill, decode, message):
    assert message in sentence(check_start, pair(tmp_path, engine, prefill, decode))


def launched(folder, engine, prefill, decode):
    """What each node of both pools runs, by the name of the pool."""
    both, _ = started_pools(pair(folder, engine, prefill, decode))
    return scripts(both), {pool.name: (
        pool, *({setting.name: setting.value for setting in settings[0]}
                for settings in (pool.flags, pool.variables))) for pool in both}


@pytest.mark.parametrize(("engine", "flag"), [
    (VLLM, "--speculative-config"), (SGLANG, "--speculative-algorithm")])
def test_prefill_pool_fills_the_cache_of_the_layer_that_drafts(tmp_path, engine, flag):
    _, made = launched(tmp_path, engine, ("v4", (4, 1, 1), V4),
                       ("v4", (4, 1, 1), V4 | {"draft_tokens": 2}))
    assert made["prefill"][1][flag] == made["decode"][1][flag]


@pytest.mark.parametrize(("engine", "variable"), [(VLLM, "CUDA_VISIBLE_DEVICES"), (SGLANG, None)])
def test_small_pools_share_a_node_but_no_card_and_no_port(tmp_path, engine, variable):
    files, made = launched(tmp_path, engine, ("v4", (4, 1, 1), V4), ("v4", (4, 1, 1), V4))
    (first, _, _), (then, flags, around) = made.values()
    assert first.hosts == then.hosts
    assert first.addresses != then.addresses
    assert around.get(variable, flags.get("--base-gpu-id")) in ("4,5,6,7", 4)
    assert all(address in files["router/router.sh"]
               for address in (*first.addresses, *then.addresses))


def test_pools_of_two_checkpoints_name_each(tmp_path):
    files, _ = launched(tmp_path, SGLANG, ("r1", (8, 1, 1)), ("r1", (8, 1, 1), {}, "w4afp8"))
    assert {line.partition("=")[0] for line in files["cluster.env"].splitlines()
            if not line.startswith("#")} == {"PREFILL_MODEL", "DECODE_MODEL", "IB_DEVICES"}
    for name in ("prefill", "decode"):
        assert f'--model-path "${name.upper()}_MODEL"' in files[f"nodes/{name}-0.sh"]


HOSTS = [
    (["a"], "--hosts: 1 names, expected 2, one per node."),
    (["a", "a"], "--hosts: a name stands twice, expected one per node."),
    *((["a", host], f"--hosts: {host!r} is no name of a host, expected letters, digits, '.' and "
       "'-'.") for host in ("$(id)", "a\nb", "é", "a-", "-b"))]


@pytest.mark.parametrize(("hosts", "message"), HOSTS)
def test_one_host_for_each_node(hosts, message):
    assert sentence(deployment, R1, ["cluster.nodes=2", "parallelism.data_parallel=2"],
                    hosts=hosts) == message
