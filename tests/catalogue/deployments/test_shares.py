"""Default shares of the memory: by hand from SGLang's rules, as its logs print them, as laws."""

import numpy as np
import pytest

import catalogue
from calc.layouts.feasible import has_room
from calc.serving.evaluate import evaluate
from catalogue.deployments.measured import startup_rows

SERVER = "h200-r1-sglang-tp8"  # states no share
H100 = ("device=nvidia-h100-sxm", "cluster.node=hgx-h100")
B200 = ("device=nvidia-b200", "cluster.node=hgx-b200")
QWEN = ("model=qwen3-8b", "precision=bf16")
ONE = ("cluster.devices=1", "parallelism.tensor_parallel=1")
DP8 = ("parallelism.tensor_parallel=1", "parallelism.data_parallel=8",
       "parallelism.expert_parallel=8")
GATHERED = "mechanisms.exchange_gathered=1"


def load(*overrides: str, name: str = SERVER):
    return catalogue.load_scenario(name, overrides=overrides)


@pytest.mark.parametrize(("settings", "mebibytes", "share"), [
    # by memory of the card: 9.5, 12 and 32 GiB, half a GiB per rank on the first two
    (("engine=sglang@0.4.10", *H100, *QWEN), (9.5 + 8 / 2) * 1024, 0.831),
    (("engine=sglang@0.4.10", *H100, *QWEN, *ONE), (9.5 + 1 / 2) * 1024, 0.874),
    (("engine=sglang@0.5.2",), (12 + 8 / 2) * 1024, 0.886),
    (("engine=sglang@0.5.2", *DP8, "workload.draft_tokens=1"), (16 + 2 + 4) * 1024, 0.843),
    (("engine=sglang@0.4.10", *B200), 32 * 1024, 0.821),
    # 512, 1.5 per token of the chunk, 2 per request of the largest graph, 1024 of eight ranks
    (("engine=sglang@0.5.3",), 512 + 12288 + 1024 + 1024, 0.897),
    (("engine=sglang@0.5.3", "workload.draft_tokens=1"), 14848 + 2048, 0.882),
    (("engine=sglang@0.5.3", "workload.max_num_batched_tokens=1024 token"),
     10 * 1024, 0.929),  # 512 + 3072 + 2048 are less than 10 GiB
    (("engine=sglang@0.5.3", *DP8), 14848 + 512 * 8 * (3 + 1.5), 0.769),
    (("engine=sglang@0.5.3", *DP8, "mechanisms.largest_graph=128 token"),
     512 + 12288 + 256 + 1024 + 128 * 8 * 3, 0.881),
    (("engine=sglang@0.5.10", "workload.draft_tokens=1"), 14848 + 4096, 0.868),
    (("engine=sglang@0.5.10",), 14848 + 1536, 0.886),
    (("engine=sglang@0.5.10", *H100, *QWEN), 14848 + 8 * 58, 0.812),
    (("engine=sglang@0.5.15",), 14848, 0.897),
    (("engine=sglang@0.5.15", *DP8, GATHERED), 33280, 0.769),
    (("engine=sglang@0.5.15", *DP8), 33280 + 2048, 0.754)])
def test_default_share_by_hand(settings, mebibytes, share):
    scenario = load(*settings)
    memory = scenario.inputs()["memory_capacity"] / 2**20
    assert share == round(1 - mebibytes / memory, 3)
    assert scenario.share.value == scenario.inputs()["memory_utilization"] == share
    assert f"{mebibytes:,.0f} MiB" in scenario.share.note["en"]


@pytest.mark.parametrize(("log", "share"), [("E17", 0.854), ("E37", 0.906)])
def test_default_share_is_the_one_that_start_up_logs_show(log, share):
    """Free memory after the cache is what is left of the share of free memory before loading."""
    row, = (row for row in startup_rows() if row.log.id == log and row.engine == "sglang")
    gib = {name: float(value.split()[0]) for name, value in row.log.printed.items()}
    assert row.scenario.share.value == share
    left = (gib["free_after_load"] - gib["cache"]) / gib["free_before_load"]
    assert 1 - left == pytest.approx(share, abs=5e-4)


def test_stated_share_and_engines_without_a_rule_are_kept():
    assert load("workload.memory_utilization=0.5").share.value == 0.5
    assert load("workload.memory_utilization=0.5").shares({}) == {}
    assert load("engine=sglang@0.4.6", *H100, *QWEN).share.value == 0.81
    assert load("engine=vllm@0.11.0").share.value == 0.9


def test_nothing_fits_where_more_is_set_aside_than_there_is():
    scenario = load(*DP8, "workload.max_num_batched_tokens=16384 token")  # of eight ranks each
    assert scenario.share.value == 0
    found = evaluate(scenario.inputs(), scenario.model.attention)
    assert not has_room(found["headroom_per_device"])


def test_share_falls_with_chunk_graphs_and_ranks():
    scenario = load("engine=sglang@0.5.10")
    for name, values in (("max_num_batched_tokens", [2048, 8192, 16384, 65536]),
                         ("tensor_parallel", [1, 2, 4, 8, 16]), ("pipeline_parallel", [2, 4, 8]),
                         ("expert_parallel", [16, 32, 64])):
        shares = scenario.shares({name: np.array(values)})["memory_utilization"]
        assert (np.diff(shares) <= 0).all(), name
        assert shares[-1] < shares[0], name
    graphs = [load(f"mechanisms.largest_graph={size} token").share.value
              for size in (64, 256, 512, 1024)]
    assert graphs == sorted(graphs, reverse=True)


def test_shares_of_many_layouts_are_those_of_each():
    scenario = load("engine=sglang@0.5.15")
    layouts = ((8, 1, 1), (1, 8, 8), (2, 4, 8), (4, 2, 2))
    columns = {"tensor_parallel": np.array([tensor for tensor, _, _ in layouts]),
               "expert_parallel": np.array([expert for _, _, expert in layouts])}
    each = [load("engine=sglang@0.5.15", f"parallelism.tensor_parallel={tensor}",
                 f"parallelism.data_parallel={data}", f"parallelism.expert_parallel={expert}",
                 "workload.max_num_batched_tokens=8192 token").share.value
            for tensor, data, expert in layouts]
    assert scenario.shares(columns)["memory_utilization"] == pytest.approx(each, abs=0)
