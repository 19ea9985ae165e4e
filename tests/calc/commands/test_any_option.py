"""Whatever is typed for an option ends in an answer or in one sentence, never in a traceback."""

from itertools import product

import pytest
from _options import ABSURD, ended_well, finite

SIMULATED = ("--duration", "--requests", "--think-time", "--ramp", "--ttft", "--tpot",
             "--max-num-seqs", "--seed", "--prefix-tokens", "--prefix-groups", "--turns")
NEEDS = {"--prefix-groups": ["--prefix-tokens=64"], "--turns": ["--users=1"]}
NUMBERS = ("workload.concurrency", "workload.input_tokens", "workload.output_tokens",
           "workload.context_tokens", "workload.block_size", "workload.max_num_batched_tokens",
           "workload.memory_utilization", "workload.draft_tokens", "cluster.nodes",
           "cluster.devices", "parallelism.tensor_parallel", "parallelism.pipeline_parallel",
           "parallelism.data_parallel", "parallelism.expert_parallel",
           "device.memory_capacity", "device.memory_bandwidth", "device.hbm_efficiency")


@pytest.mark.parametrize(("option", "value"), [
    *product(("--rate", "--users"), ABSURD),
    *((option, value) for option, value in product(SIMULATED, ABSURD))])
def test_an_option_of_a_simulation(cli, option, value):
    others = [*NEEDS.get(option, [])]
    others += [] if option in ("--rate", "--users", "--turns") else ["--rate=1"]
    others += [] if option in ("--duration", "--requests") else ["--requests=4"]
    assert ended_well(cli("simulate", "s2-910b1-awq", f"{option}={value}", *others, "--json"))


@pytest.mark.parametrize(("key", "value"), [*product(NUMBERS, (*ABSURD, "0", "1"))])
def test_a_number_that_is_set(cli, key, value):
    assert ended_well(cli("estimate", "s0-scenario-1", "--set", f"{key}={value}", "--json"))


@pytest.mark.parametrize("value", [
    *ABSURD, "@", "vllm@", "@0.11.0", "vllm@@", "../vllm", "vllm@1.yml"])
def test_an_engine_that_is_set(cli, value):
    assert ended_well(cli("estimate", "h200-r1-vllm-tp8", "--set", f"engine={value}", "--json"))
    assert ended_well(cli("estimate", "h200-r1-vllm-tp8", f"--engines=vllm,{value}", "--json"))


def test_an_advice_leaves_something_to_do(cli):
    """No context of no tokens: what is proposed runs."""
    code, out, _ = cli("estimate", "s0-scenario-1", "--set", "workload.context_tokens=1", "--json")
    assert code == 0
    answer = finite(out)
    changes = [answer["nearest"], *answer["alternatives"]]
    settings = [setting for change in changes for setting in change["settings"].values()]
    assert settings
    assert not {0, "0"} & set(settings)
