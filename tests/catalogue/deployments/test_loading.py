"""What a deployment may be set to, what it may name, and what a file that is none is told."""

from copy import deepcopy
from dataclasses import replace

import pytest
from _door import sentence
from _plain import plain

import catalogue
from catalogue import LayoutError
from catalogue.deployments.layout import mechanism_problems, mechanism_units, rule_of
from catalogue.deployments.loading import _check_hardware, made_scenario, read_scenario
from catalogue.entries.mechanisms import Mechanisms
from catalogue.reading.values import Value

BASE, HOSTED, NAME = "h200-r1-vllm-tp8", "kt-4090d-v02", "s2-910b1-awq"


def data_of(name):
    return plain((catalogue.ROOT / "scenarios" / f"{name}.yml").read_text("utf-8"))


FILES = {name: data_of(name) for name in (BASE, HOSTED, "s1-plan-c")}


def made(name=BASE, **changed):
    """A deployment out of the data of a shipped one, groups merged."""
    data = deepcopy(FILES[name])
    for key, value in changed.items():
        data[key] = {**data.get(key, {}), **value} if isinstance(value, dict) else value
    return made_scenario(data, catalogue.ROOT / "scenarios" / "mine.yml")


@pytest.mark.parametrize(("setting", "says"), [
    ("parallelism=3", "--set parallelism=3: 'parallelism' is a section, expected a key in it."),
    ("limits=3", "'limits' is a section"),
    ("mechanisms.concurrency=4", "'mechanisms' has no 'concurrency', expected "
                                 "workload.concurrency=4."),
    ("cluster.tensor_parallel=4", "'cluster' has no 'tensor_parallel', expected "
                                  "parallelism.tensor_parallel=4."),
    ("workload.concurrency=", "expected PATH=VALUE"), ("users=4", "expected PATH=VALUE"),
    ("pp=2", "such as parallelism.pipeline_parallel=2."),
    ("EP=2", "such as parallelism.expert_parallel=2."),
    ("tensor_paralel=4", "such as parallelism.tensor_parallel=4."),
    ("device.memory_bandwidth:=4 TB/s", "unknown key 'memory_bandwidth:'"),
    ("workload.concurrency=[1", "--set workload.concurrency: "),
])
def test_a_setting_that_is_none_is_told(setting, says):
    assert says in sentence(catalogue.load_scenario, BASE, overrides=[setting])


def test_a_device_that_is_given_stands_for_that_of_the_file():
    assert catalogue.load_scenario(BASE, "nvidia-h20").device.id == "nvidia-h20"
    assert catalogue.load_family(BASE, "nvidia-h20").deployments[0].device.id == "nvidia-h20"
    variant = catalogue.load_family("s1-scale", "ascend-910b1")
    assert {one.device.id for one in variant.deployments} == {"ascend-910b1"}
    assert sentence(catalogue.load_scenario, BASE, "nothing").startswith("device: ")
    assert catalogue.load_scenario(BASE, overrides=["model=deepseek-v3"]).model.id == "deepseek-v3"


def test_a_deployment_is_remembered_as_its_file_has_it():
    assert catalogue.load_scenario(BASE) is catalogue.load_scenario(BASE)
    other = catalogue.load_scenario(BASE, overrides=["workload.concurrency=7 request"])
    assert other.inputs()["concurrency"] == 7
    assert catalogue.load_scenario(BASE).inputs()["concurrency"] != 7


def test_a_text_and_its_data_are_the_deployment_that_its_file_is():
    path = catalogue.ROOT / "scenarios" / f"{BASE}.yml"
    one = catalogue.load_scenario(BASE)
    assert read_scenario(path.read_text("utf-8"), path).inputs() == one.inputs()
    assert made().inputs() == one.inputs()
    assert (made().id, made().family) == ("mine", None)


def test_ranks_are_as_many_as_the_devices_and_only_asked_for_where_a_cut_is():
    settings = ["parallelism.pipeline_parallel=3", "parallelism.data_parallel=5"]
    with pytest.raises(LayoutError, match=r"^--set parallelism\.tensor_parallel: tensor x"):
        catalogue.load_scenario(BASE, overrides=["parallelism.tensor_parallel=4"])
    with pytest.raises(LayoutError, match=(
            r"tensor x pipeline x data parallel = 8 x 3 x 5 = 120 devices, but the cluster has "
            r"8\.")):
        catalogue.load_scenario(BASE, overrides=settings)
    assert catalogue.load_scenario(BASE, overrides=settings, cut=False).replicas == 5
    with pytest.raises(LayoutError, match="does not divide moe_intermediate_size 2052"):
        catalogue.load_scenario(BASE, overrides=["model.moe_intermediate_size=2052"])


def test_what_a_document_states_of_a_card_is_taken_where_there_is_one():
    plain_card, stated = (catalogue.load_scenario("s0-scenario-1", documented=documented).device
                          for documented in (False, True))
    assert stated.memory_bandwidth.value == 1.2e12
    assert plain_card.memory_bandwidth.value != stated.memory_bandwidth.value
    assert "is in none of the documents" in sentence(
        catalogue.load_scenario, BASE, documented=True)


def test_a_package_is_no_device_of_a_deployment_but_its_dies_are():
    package = next(name for name in catalogue.names("devices")
                   if catalogue.load_device(name).dies)
    entry = catalogue.load_device(package)
    assert sentence(catalogue.load_scenario, "s1-plan-c", package).endswith(
        f"'{package}' is a package that software sees as {entry.dies.value} devices, expected "
        f"'{entry.die}'.")


def test_experts_are_offloaded_to_processors_that_there_are():
    whole = made(HOSTED)
    two = whole.node.hosts_per_node.value
    assert whole.host.id == whole.node.host
    assert made(HOSTED, offload={"hosts": two}).file.offload.hosts.value == two
    assert f"{two + 1} processors, but the cluster has {two}." in sentence(
        made, HOSTED, offload={"hosts": two + 1})
    named = {"hosts": two + 1, "host": "amd-epyc-9654"}  # another server's, however many
    assert made(HOSTED, offload=named).host.id == "amd-epyc-9654"
    assert "is an accelerator, expected a host processor" in sentence(
        made, HOSTED, offload={"host": "nvidia-h20"})
    assert "has no experts to offload" in sentence(
        made, HOSTED, model="qwen3-8b", precision="bf16")
    assert made().host is None or made().host.id == made().node.host


@pytest.mark.parametrize(("old", "new", "at", "says"), [
    ("  hosts:\n    value: 2", "  hosts:\n    value: 3", "  hosts:", "but the cluster has 2."),
    ("offload:\n", "offload:\n  host: nvidia-h20\n", "  host: nvidia", "is an accelerator"),
    ("device: nvidia-rtx-4090d", "device: intel-xeon-6454s", "device:", "is a host processor"),
    ("model: deepseek-v3", "model: llama-3.1-8b", "offload:", "has no experts to offload"),
])
def test_a_host_that_cannot_be_is_told_at_its_line(old, new, at, says):
    path = catalogue.ROOT / "scenarios" / f"{HOSTED}.yml"
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    changed = text.replace(old, new)
    line = next(number for number, each in enumerate(changed.splitlines(), 1)
                if each.startswith(at))
    told = sentence(read_scenario, changed, path)
    assert f"{HOSTED}.yml:{line}: " in told
    assert says in told


def test_links_that_do_not_reach_are_told_at_the_server_that_has_them():
    one = catalogue.load_scenario("s1-plan-c")
    wide = replace(one, node=one.node.model_copy(update={
        "devices_per_node": amount(9), "device_link": "hccs-910b"}))  # a full mesh of eight
    assert sentence(_check_hardware, wide, lambda *keys: ".".join(keys)).startswith(
        f"cluster.node: '{one.node.id}' has 9 devices, but with 7 links of ")
    bare = one.device.model_copy(update={"matrix_peak": None})
    assert sentence(_check_hardware, replace(one, device=bare), lambda *keys: ".".join(keys)
                    ).startswith(f"device: '{bare.id}' states no matrix_peak")
    misused = replace(one, file=one.file.model_copy(update={
        "mechanisms": {"kv_imbalance": amount(0)}}))
    assert sentence(_check_hardware, misused, lambda *keys: ".".join(keys)).startswith(
        "mechanisms.kv_imbalance: '0' is out of range")


def test_an_offload_without_a_processor_is_refused():
    bare = next(name for name in catalogue.names("nodes") if not catalogue.load_node(name).host
                and catalogue.load_node(name).devices_per_node.value == 8)
    told = sentence(made, HOSTED, cluster={"node": bare})
    assert told.endswith(f"neither the offload nor the node '{bare}' names a host processor to "
                         "compute on.")
    assert made(cluster={"node": bare}).host is None


def claimed(**claim):
    """A deployment that a document states one number of."""
    data = {"quantity": "tensor_parallel", "label": {"en": "a", "zh": "甲"},
            "value": {"value": 8, "source": "s1", "kind": "documented"}} | claim
    return made("s1-plan-c", documented={"claims": [data]})


@pytest.mark.parametrize(("claim", "says"), [
    ({}, None), ({"quantity": "nothing"}, "'nothing' is not a quantity of params/symbols.yml."),
    ({"quantity": "tpot"}, "'8' has the wrong unit for 'tpot', expected a quantity in s."),
    ({"formula": ["multiply", "unheard_of", "unheard_of"]}, "unheard_of"),
])
def test_a_claim_is_of_a_known_quantity_in_its_unit(claim, says):
    if says is None:
        assert len(claimed(**claim).documented.claims) == 1
    else:
        assert says in sentence(claimed, **claim)


@pytest.mark.parametrize(("dealt", "indexer", "linear", "refused"), [
    (None, None, None, False), (0, None, None, False), (0, 3, 2, False), (1, 3, None, False),
    (1, 3, 2, True), (1, None, None, True), (1, None, 2, True)])
def test_prompts_are_dealt_over_ranks_of_sparse_attention_alone(dealt, indexer, linear, refused):
    one = catalogue.load_scenario(BASE)
    model = one.model.model_copy(update={
        "index_topk": indexer and amount(indexer), "linear_layers": linear and amount(linear)})
    stated = {} if dealt is None else {"prefill_context_parallel": amount(dealt)}
    asked = replace(one, model=model, file=one.file.model_copy(update={"mechanisms": stated}))
    if refused:
        assert sentence(_check_hardware, asked, lambda *keys: ".".join(keys)).startswith(
            "mechanisms.prefill_context_parallel: 'deepseek-v3' has no indexer or has linear")
    else:
        _check_hardware(asked, None)


def amount(value, low=None, high=None, unit="1"):
    return Value(value, unit, f"{value}", "somebody", "assumed",
                 value if low is None else low, value if high is None else high)


@pytest.mark.parametrize(("name", "value", "expected"), [
    ("exchange_normal", (0,), None), ("exchange_normal", (1,), None),
    ("exchange_normal", (2,), "0 or 1"), ("exchange_normal", (-1,), "0 or 1"),
    ("exchange_normal", (0.5,), "0 or 1"), ("micro_batches", (1,), None),
    ("micro_batches", (2,), None), ("micro_batches", (0,), "1 or 2"),
    ("micro_batches", (3,), "1 or 2"), ("micro_batches", (1.5,), "1 or 2"),
    ("core_tile_rows", (64,), None), ("core_tile_rows", (1.5,), "a whole number"),
    ("core_tile_rows", (0,), "more than 0"), ("absorbed_copies", (0,), None),
    ("absorbed_copies", (1,), None), ("absorbed_copies", (1.01,), "at most 1"),
    ("absorbed_copies", (-0.01,), "at least 0"), ("absorbed_copies", (0.5, -0.1), "at least 0"),
    ("absorbed_copies", (0.5, 0.4, 1.1), "at most 1"), ("kv_imbalance", (0,), "more than 0"),
    ("kv_imbalance", (7, 0), "more than 0"), ("kv_imbalance", (7, 1, 9), None),
    ("gemm_efficiency.fp8", (1,), None), ("gemm_efficiency.fp8", (1.1,), "at most 1"),
    ("sliced_gemm_efficiency.fp8", (0,), "more than 0"), ("mtp_acceptance", (1,), None),
    ("acceptance_decay", (1.1,), "at most 1"), ("host_vector_efficiency", (1.1,), "at most 1"),
])
def test_a_mechanism_lies_within_what_it_may_be_with_both_ends_of_its_range(name, value, expected):
    found = list(mechanism_problems({name: amount(*value)}))
    if expected is None:
        assert found == []
    else:
        assert found == [(name, f"'{value[0]}' is out of range for '{name}', expected {expected}")]


def test_a_mechanism_has_its_unit_and_one_that_there_is_not_is_told_with_the_nearest():
    seconds = amount(3, unit="s")
    assert list(mechanism_problems({"host_sync": seconds})) == []
    assert list(mechanism_problems({"host_sync": amount(3), "kv_imbalance": seconds})) == [
        ("host_sync", "'3' has the wrong unit for 'host_sync', expected a quantity in s"),
        ("kv_imbalance", "'3' has the wrong unit for 'kv_imbalance', expected a plain number")]
    assert list(mechanism_problems({"host_sink": seconds, "z" * 70: seconds})) == [
        ("host_sink", "there is no mechanism 'host_sink', did you mean 'host_sync'"),
        ("z" * 70, f"there is no mechanism '{'z' * 60}', expected a name of params/mechanisms/")]


def test_every_mechanism_that_may_be_stated_has_a_unit_and_what_is_in_groups_has_none():
    rules = mechanism_units()
    assert {"matmul_latency.fp4", "depth_latency.bf16", "activation_traffic.int8",
            "grouped_gemm_efficiency.fp16"} <= set(rules)
    assert (rules["matmul_latency.fp4"].unit, rules["activation_traffic.int8"].unit) == ("s", "B")
    assert not {"gemm_efficiency", "like", "operators", "all_to_all"} & set(rules)
    assert rule_of(Mechanisms, "all_to_all") is None
    assert rule_of(Mechanisms, "nothing") is None


def test_a_goal_is_told_from_a_deployment(tmp_path):
    text = (catalogue.ROOT / "goals" / "v3-16xh200.yml").read_text("utf-8")
    path = tmp_path / "mine.yml"
    path.write_text(text, "utf-8")
    line = text.splitlines().index("demand:") + 1
    assert sentence(catalogue.load_scenario, path) == (
        f"{path}:{line}: this is a goal, expected a scenario; the deployments that meet a goal are "
        f"found by: search {path}.")


@pytest.mark.parametrize("more", ["", "demand: {users: 3}\n"])
def test_a_deployment_is_none_for_all_that_it_states_of_users(tmp_path, more):
    """With a workload it is a deployment, with a key too many; without either it lacks one."""
    text = (catalogue.ROOT / "scenarios" / f"{NAME}.yml").read_text("utf-8")
    path = tmp_path / "mine.yml"
    start = text.index("workload:")
    if more:
        path.write_text(text + more, "utf-8")
        assert "'demand'" in sentence(catalogue.load_scenario, path)
    else:
        rest = text[start:].split("\n", 1)[1].splitlines(keepends=True)
        after = next(number for number, line in enumerate(rest) if line[:1].strip())
        path.write_text(text[:start] + "".join(rest[after:]), "utf-8")
        assert "'workload' is missing" in sentence(catalogue.load_scenario, path)


@pytest.mark.parametrize(("setting", "meant"), [
    ("device.memory_bandwidth＝4 TB/s", "device.memory_bandwidth=4 TB/s"),
    ("tp=4", "parallelism.tensor_parallel=4"), ("DP=2", "parallelism.data_parallel=2"),
    ("concurrency=4", "workload.concurrency=4"), ("concurency:=4", "workload.concurrency=4"),
    ("nodes=2", "cluster.nodes=2"), ("ttft=2 s", "limits.ttft=2 s"),
    ("kernel_boundary=2 us", "mechanisms.kernel_boundary=2 us"),
])
def test_a_setting_without_its_section_is_told_which_was_meant(setting, meant):
    assert sentence(catalogue.load_scenario, NAME, overrides=[setting]).endswith(
        f", such as {meant}.")


@pytest.mark.parametrize("setting", ["", "=4", "tp", "tp=", "xyzzy=4"])
def test_of_what_is_like_nothing_no_example_is_given(setting):
    message = sentence(catalogue.load_scenario, NAME, overrides=[setting])
    assert message.startswith(f"--set {setting}: expected PATH=VALUE")
    assert "such as" not in message


def test_a_file_of_one_deployment_is_told_as_that_deployment():
    """Its name, title, section and note are those of the only deployment in it."""
    only = catalogue.load_scenario(NAME)
    whole = catalogue.load_family(NAME)
    assert (whole.id, whole.title, whole.deployments) == (NAME, only.title, (only,))
    assert (whole.section, whole.note) == (only.file.section, only.file.note)
