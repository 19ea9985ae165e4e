"""A file or a setting that is no deployment is told what it is, or what was meant."""

import pytest
from _door import sentence

import catalogue

NAME = "s2-910b1-awq"


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
