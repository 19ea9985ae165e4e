"""Agents as a load: cost of a task, kept histories, the file of a searched deployment."""

from dataclasses import replace

import pytest
import yaml

from calc.answer.estimate import estimate
from calc.capacity.tiers import Talk
from calc.costing.cost import CostOptions, cost
from calc.costing.ownership import MILLION, prices_of
from calc.layouts.layout import Choice, scenario, text
from calc.searching.goal import load_goal
from catalogue import load_deployment
from catalogue.entries.deployments import BLOCK, Agent, turn_load

GOAL = load_goal("v4-flash-agents-8xh200")
LAYOUT = Choice("nvidia-h200-sxm", "hgx-h200", None, "fp8-mxfp4", 8, 8, 1, 1, 1, 0, 0, 1, 8192, 1,
                1, 90, 40)
SMALL_CACHE = ["model=deepseek-v3", "demand.agent.pause=60 s"]


def test_conversation_of_the_same_turns_finds_the_same_share():
    """A tool's output takes the place of the next question."""
    agent = Agent(turns=7, first_prompt=1500, shared_prefix=600, answer=130, tool_output=900)
    talk = Talk(1500, 130, 7, 10.0, 600, BLOCK)
    load = turn_load(agent)
    assert load["input_tokens"] == pytest.approx(talk.prompts.mean())
    assert load["prefix_hit_share"] == pytest.approx(talk.hit_share(1.0))


def test_task_costs_its_turns_and_a_processed_token_its_share_of_a_request():
    deployed = scenario(GOAL, LAYOUT)
    answer = estimate(deployed)
    amounts = cost(deployed, answer.everything, answer.seen.throughput,
                   prices_of(deployed.device), CostOptions(utilisation=0.5)).amounts
    turns, tokens = GOAL.demand.agent.turns, GOAL.demand.input_tokens + GOAL.demand.output_tokens
    for end in ("value", "low", "high"):
        request = getattr(amounts["per_request"], end)
        assert getattr(amounts["per_task"], end) == pytest.approx(turns * request)
        assert getattr(amounts["per_million_processed"], end) == pytest.approx(
            MILLION * request / tokens)


def test_histories_that_a_cache_has_no_room_for_are_prefilled_again():
    """The cache of R1 on eight H200 has room for about 14 of these agents."""
    def ttft(agents):
        goal = load_goal("v4-flash-agents-8xh200", [*SMALL_CACHE, f"demand.users={agents}"])
        few = replace(LAYOUT, precision="fp8-block", concurrency=agents, drafts=0)
        return estimate(scenario(goal, few)).seen.ttft.value

    assert ttft(10) < 1.5 * ttft(5)
    assert ttft(20) > 4 * ttft(10)


def test_written_file_states_the_agent_and_loads_as_the_goal_asks(tmp_path):
    path = tmp_path / "agents.yml"
    path.write_text(text(GOAL, LAYOUT), encoding="utf-8")
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["workload"].keys().isdisjoint(
        turn_load(GOAL.demand.agent))
    workload = load_deployment(path)[0].file.workload
    assert workload.agent == GOAL.demand.agent
    assert workload.concurrency.value == GOAL.demand.users
