"""A changed deployment is its file with the same settings."""

import pytest

import catalogue
from calc.layouts.change import changed

LAYOUTS = (
    {"parallelism.tensor_parallel": 8, "parallelism.data_parallel": 1,
     "parallelism.expert_parallel": 8},
    {"parallelism.tensor_parallel": 1, "parallelism.data_parallel": 8,
     "parallelism.expert_parallel": 8},
    {"parallelism.tensor_parallel": 1, "parallelism.data_parallel": 8,
     "parallelism.expert_parallel": 8, "workload.max_num_batched_tokens": 2048},
)


@pytest.mark.parametrize("settings", LAYOUTS)
@pytest.mark.parametrize("engine", ["sglang", "sglang@0.5.3", "vllm", "vllm@0.11"])
@pytest.mark.parametrize("device", ["nvidia-h200-sxm", "nvidia-b200"])
@pytest.mark.parametrize("drafts", [0, 1])
def test_changes_are_those_of_the_command_line(settings, engine, device, drafts):
    settings = settings | {"workload.draft_tokens": drafts}
    asked = [f"engine={engine}", f"device={device}", "cluster.node=" + str(
        catalogue.load_device(device).node)]
    whole = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=asked)
    same = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        *asked, *(f"{path}={value}" for path, value in settings.items())])
    assert changed(whole, settings).inputs() == same.inputs()
