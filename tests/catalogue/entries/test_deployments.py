"""Agents as a load: the mean request of a task by hand, and what may not be stated together."""

import json

import pytest
from _door import sentence

from calc.searching.goal import load_goal
from catalogue import ParamsError, load_scenario
from catalogue.entries.deployments import BLOCK, Agent, turn_load

GOAL = "v4-flash-agents-8xh200"
THREE = {"turns": 3, "first_prompt": 5 * BLOCK, "answer": 56, "tool_output": 200,
         "pause": "10 s", "shared_prefix": 2 * BLOCK}
SCENARIO = """
title: {en: Agents, zh: Agents}
defaults: {source: our plan, kind: assumed}
model: deepseek-v3
device: nvidia-h200-sxm
engine: sglang
cluster: {node: hgx-h200, nodes: 1}
precision: fp8-block
parallelism: {tensor_parallel: 8, pipeline_parallel: 1, data_parallel: 1, expert_parallel: 8}
workload: {concurrency: 4, agent: AGENT}
"""


@pytest.fixture
def file(tmp_path):
    """A deployment for the agent of three turns."""
    path = tmp_path / "agents.yml"
    path.write_text(SCENARIO.replace("AGENT", json.dumps(THREE)), encoding="utf-8")
    return path


def test_mean_request_of_three_turns_by_hand():
    """An answer and a tool's output are a block: the prompts are 5, 6 and 7 blocks.

    The second one has all but 200 tokens of 6 blocks in the cache, which are 5 whole blocks.
    """
    assert turn_load(Agent(**THREE)) == pytest.approx({
        "input_tokens": 6 * BLOCK, "output_tokens": 56, "context_tokens": 7 * BLOCK + 56,
        "prefix_hit_share": (2 + 5 + 6) / (5 + 6 + 7), "think_time": 10})


@pytest.mark.parametrize("tool_output", [1, 199, 200, 1500])
def test_prefilled_tokens_are_never_understated(tool_output):
    agent = Agent(**THREE | {"tool_output": tool_output})
    load = turn_load(agent)
    new = (5 - 2) * BLOCK + 2 * tool_output
    prefilled = 3 * load["input_tokens"] * (1 - load["prefix_hit_share"])
    assert new - 1e-6 <= prefilled <= new + 3 * BLOCK


def test_demand_of_a_goal_has_what_follows_from_its_agent():
    demand = load_goal(GOAL, ["demand.agent.turns=3", "demand.agent.pause=4 s"]).demand
    assert {key: getattr(demand, key) for key in turn_load(demand.agent)} == turn_load(demand.agent)
    assert (demand.input_tokens, demand.context_tokens, demand.think_time) == (14100, 16800, 4)


@pytest.mark.parametrize(("setting", "message"), [
    ("demand.input_tokens=100", "'input_tokens' follows from the 'agent'"),
    ("demand.arrivals=burst", "'arrivals' follows from the 'agent'"),
    ("demand.agent.turns=null", "expected a plain number"),
    ("demand.agent.shared_prefix=12001", "expected at most 12000 token"),
    ("demand.agent.wait=1 s", "unknown key 'wait'"), ("demand.agent=many", "a group of keys"),
    ("demand.users=null", "expected 'users' beside it"),
    ("demand.agent=null", "'demand.input_tokens' is missing")])
def test_refused_in_one_sentence(setting, message):
    assert message in sentence(load_goal, GOAL, [setting])


def test_scenario_has_the_same_load_with_a_provenance(file):
    scenario = load_scenario(file)
    load = turn_load(scenario.file.workload.agent)
    inputs = scenario.inputs()
    assert {key: inputs[key] for key in load} == pytest.approx(load)
    assert scenario.file.workload.arrivals == "closed-loop"
    assert scenario.file.workload.input_tokens.kind == "derived"


@pytest.mark.parametrize("setting", ["workload.think_time=1 s", "mechanisms.prefix_hit_share=0.5"])
def test_scenario_refuses_in_one_sentence(file, setting):
    message = sentence(load_scenario, file, overrides=[setting])
    assert message.startswith(f"--set {setting.partition('=')[0]}: ")
    assert "follows from the 'agent'" in message


@pytest.mark.parametrize("group", ["mechanisms: []", "mechanisms: {prefix_hit_share: 0.5}",
                                   "workload: 3", "workload: {concurrency: 4, agent: 3}"])
def test_scenario_of_a_wrong_group_is_refused_at_its_line(file, group):
    kept = [line for line in file.read_text(encoding="utf-8").splitlines()
            if not line.startswith(group.partition(":")[0])]
    file.write_text("\n".join([*kept, group]), encoding="utf-8")
    with pytest.raises(ParamsError, match=rf"agents\.yml:{len(kept) + 1}: "):
        load_scenario(file)
