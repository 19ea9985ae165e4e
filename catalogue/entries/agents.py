"""Agents as a load: tasks of several turns, in which each prompt is the whole history so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError, WithJsonSchema, model_validator

from catalogue.entries.entry import Entry
from catalogue.reading.values import Misplaced, Unit, si_number

BLOCK = 256  # tokens of the largest usual block of a prefix cache, of which whole ones are found
MOST_TURNS = 10_000
DERIVED = ("input_tokens", "output_tokens", "context_tokens", "prefix_hit_share", "think_time",
           "arrivals", "arrival_rate")
"""Keys of a load that follow from an agent, so that nobody may state them beside one."""


def _number(meant: str, rule: Unit) -> Any:
    """Annotations of a number that needs no source: it is the wish of whoever states it."""
    return BeforeValidator(lambda raw: si_number(raw, rule)), WithJsonSchema(
        {"type": ["number", "string"], "description": meant})


AgentTokens = Annotated[int, *_number("a number of tokens", Unit("token", integer=True))]
AgentTokensOrZero = Annotated[int, *_number("a number of tokens", Unit(
    "token", integer=True, exclusive=False))]
Turns = Annotated[int, *_number("requests of a task", Unit("1", integer=True, maximum=MOST_TURNS))]
Pause = Annotated[float, *_number("a time, such as '10 s'", Unit("s", exclusive=False))]


class Agent(Entry):
    """An agent that works on a task in turns, each a request whose prompt is the whole history.

    Attributes:
        turns: requests of a task [1].
        first_prompt: prompt of the first turn, ``shared_prefix`` included [token].
        answer: of each turn, such as a call of a tool [token].
        tool_output: what the tool appends to the history after an answer [token].
        pause: mean time from an answer to the next request, while the tool runs [s].
        shared_prefix: system prompt and tool definitions with which every task begins [token].
    """

    turns: Turns
    first_prompt: AgentTokens
    answer: AgentTokens
    tool_output: AgentTokens
    pause: Pause = 0.0
    shared_prefix: AgentTokensOrZero = 0

    @model_validator(mode="before")
    @classmethod
    def _of_turns(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and raw.get("turns") is None:
            raise ValueError("an agent without turns, expected how many requests a task takes, "
                             "such as 'turns: 30'")
        return raw

    @model_validator(mode="after")
    def _shared(self) -> Agent:
        if self.shared_prefix > self.first_prompt:
            raise Misplaced("longer than the first prompt, which it is a part of, expected at most "
                            f"{self.first_prompt} token", "shared_prefix")
        return self


def turn_load(agent: Agent, answers_cached: bool = True) -> dict[str, float]:
    """Mean request of an agent, by the keys of a goal's demand: lengths [token], the share of the
    prompts that a prefix cache can find [1], and the time between two requests [s].

    With p the first prompt, a the answer, o the tool's output and g the shared prefix, prompt k of
    T is P_k = p + (k - 1) (a + o): on average p + (T - 1) (a + o) / 2, here rounded up. The longest
    context is P_T + a. A cache that still has what the agent left finds g of the first prompt and
    P_(k-1) + a = P_k - o of any other, each rounded down to whole blocks of ``BLOCK`` tokens. Their
    sum over T mean prompts is the share, so that roundings only add to what is prefilled. It is the
    most that is found: what a full cache has dropped during the pauses,
    ``calc.physics.memory.kept_share`` takes off.

    >>> turn_load(Agent(turns=3, first_prompt=1280, answer=56, tool_output=200))
    {'input_tokens': 1536, 'output_tokens': 56, 'context_tokens': 1848, 'prefix_hit_share': \
0.6111111111111112, 'think_time': 0.0}

    A pool that only prefills has its own prompts, and computes the answers of the decode pool again
    when they come back: it finds P_(k-1) = P_k - a - o.

    Args:
        agent: its turns.
        answers_cached: whether the cache that prompts are looked up in has the answers, too.
    """
    new = agent.tool_output + (0 if answers_cached else agent.answer)
    prompts = range(agent.first_prompt,
                    agent.first_prompt + agent.turns * (agent.answer + agent.tool_output),
                    agent.answer + agent.tool_output)
    mean = -(-sum(prompts) // agent.turns)
    found = [min(agent.shared_prefix, agent.first_prompt - 1),
             *(prompt - new for prompt in prompts[1:])]
    hits = sum(tokens // BLOCK * BLOCK for tokens in found)
    return {"input_tokens": mean, "output_tokens": agent.answer,
            "context_tokens": prompts[-1] + agent.answer,
            "prefix_hit_share": hits / (agent.turns * mean), "think_time": agent.pause}


def load_of_agent(raw: Mapping[str, Any], *at: str) -> dict[str, Any]:
    """What follows from the agent of a group of keys, both as a file has them; empty where it has
    no agent.

    One token each stands in for the lengths of an agent that is refused where its own key is read.

    Args:
        raw: keys as a file has them.
        at: the group that they stand in, where its file is checked as a whole.

    Raises Misplaced where a key is stated that follows from the agent.
    """
    if raw.get("agent") is None:
        return {}
    for key in DERIVED:
        if raw.get(key) is not None:
            raise Misplaced(f"'{key}' follows from the 'agent', expected one of the two",
                            *at, key)
    try:
        load = turn_load(Agent.model_validate(raw["agent"]))
    except ValidationError:
        load = dict.fromkeys(("input_tokens", "output_tokens"), 1)
    units = {"prefix_hit_share": "", "think_time": " s"}
    return {key: f"{number}{units.get(key, ' token')}" for key, number in load.items()}
