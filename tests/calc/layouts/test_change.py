"""A deployment with some settings changed, and the ``--set`` line that says so."""

import shlex

import catalogue
from calc.layouts.change import changed, set_line

HAVE = catalogue.load_scenario("h200-r1-vllm-tp8")
SETTINGS = {"parallelism.tensor_parallel": 4, "parallelism.data_parallel": "2",
            "workload.max_num_batched_tokens": 512, "precision": "bf16",
            "parallelism.balancing": "periodic", "mechanisms.kernel_boundary": 0,
            "cluster.devices": 8}


def test_changed_settings_keep_their_source():
    moved = changed(HAVE, SETTINGS)
    before, after = HAVE.file.parallelism, moved.file.parallelism
    size = after.tensor_parallel
    assert (size.value, size.low, size.high, size.written) == (4, 4, 4, "4")
    assert (size.note, size.others, size.source) == (None, (), before.tensor_parallel.source)
    assert (after.data_parallel.value, after.balancing) == (2, "periodic")
    assert after.expert_parallel == before.expert_parallel
    assert moved.file.workload.input_tokens == HAVE.file.workload.input_tokens
    assert (moved.precision.id, moved.file.cluster.devices.value) == ("bf16", 8)
    assert HAVE.file.parallelism.tensor_parallel.value == 8
    assert changed(HAVE, {}) == HAVE


def test_changed_deployment_equals_the_one_loaded_with_overrides():
    loaded = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        f"{key}={value}" for key, value in SETTINGS.items() if not key.startswith("mechanisms")])
    settings = {key: value for key, value in SETTINGS.items() if not key.startswith("mechanisms")}
    assert changed(HAVE, settings).inputs() == loaded.inputs()


def test_set_line_is_taken_apart_by_a_shell():
    settings = {"a.b": 3, "device": "my card; rm -rf x.yml"}
    assert shlex.split(set_line(settings)) == ["--set", "a.b=3", "--set",
                                               "device=my card; rm -rf x.yml"]
    assert set_line({}) == ""
