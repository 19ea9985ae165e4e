"""Deployments that differ in one setting: whole servers of a card, compared on several pages."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

import catalogue
from calc.answer.service import whole_groups
from calc.layouts.layout import UTILIZATION, Choice, scenario
from calc.searching.goal import load_goal
from calc.sensitivity.plans import Plan
from calc.serving.evaluate import evaluate
from catalogue import Scenario
from catalogue.deployments.admission import cut_of, problems, subject_of
from catalogue.engine import fitting
from catalogue.messages import Pair
from catalogue.planning import Goal
from notebooks.pages.deciding.goals import device_label

Case = tuple[str, str, int]  # card, precision, servers
GOAL = "r1-matrix"  # its model and the lengths of its requests
CHUNK = 8192  # prompt tokens of a step
PACE = "steady_tpot"
RATE = "steady_throughput"
LIMIT = 0.05  # s, of a token to each user: what the documents and the goals of this book promise
MOST = 512  # users that are tried
QUEUED = 32  # prompts of a replica that prefills: enough for full chunks


@cache
def goal(prompt: int = 0, answer: int = 0) -> Goal:
    """The goal whose requests are served, with its own lengths unless others are given [token]."""
    return load_goal(GOAL, [f"demand.{name}={length} token" for name, length in (
        ("input_tokens", prompt), ("output_tokens", answer)) if length])


@cache
def plan(device: str, precision: str, servers: int, users: int = 1, *, tensor: int = 0,
         pipeline: int = 0, expert: int = 1, spares: int = 0, drafts: int = 1,
         halves: int = 1, prompt: int = 0, answer: int = 0, pool: str | None = None) -> Plan:
    """Whole servers of a card; replicas take what tensor and pipeline parallelism leave.

    Args:
        device, precision: entries of the catalogue.
        servers: whole ones.
        users: at once.
        tensor, pipeline: parallel sizes; over the cards of a server, and a stage per server.
        expert, spares: expert-parallel size, redundant experts.
        drafts: tokens drafted a step, none where no engine drafts in these stages.
        halves: micro-batches of a step.
        prompt, answer: of a request, the goal's own unless given [token].
        pool: ``decode`` for cards that do nothing else.
    """
    node = catalogue.load_device(device).node
    assert node
    per_node = int(catalogue.load_node(node).devices_per_node.value)
    cards, tensor, pipeline = servers * per_node, tensor or per_node, pipeline or servers
    choice = Choice(
        device=device, node=node, engine=None, precision=precision, devices=cards, tensor=tensor,
        pipeline=pipeline, data=cards // (tensor * pipeline), expert=expert, slices=0,
        spares=spares, context=1, chunk=CHUNK, micro_batches=halves, drafts=drafts,
        utilization=UTILIZATION, concurrency=users, pool=pool)
    made = scenario(goal(prompt, answer), choice)
    if drafts and not _some_engine_drafts(made):
        made = scenario(goal(prompt, answer), replace(choice, drafts=0))
    return Plan(precision, made, made.inputs(), tuple(made.knobs()))


def _some_engine_drafts(made: Scenario) -> bool:
    """Whether an engine for the card drafts where the deployment has it do so: in its stages."""
    subject, cut = subject_of(made), cut_of(made)
    return any(not list(problems(replace(subject, engine=name), cut, ("drafts",)))
               for name in fitting(made.device))


def titled(case: Case) -> Pair:
    """Card and precision of a case."""
    en, zh = device_label(case[0])
    return f"{en}, `{case[1]}`", f"{zh}，`{case[1]}`"


def most_users(made: Plan, limit: float = LIMIT) -> int:
    """The most users at once within memory and a median time per token [1]; 0 if not even one.

    Args:
        made: the deployment.
        limit: of the time per token [s].
    """
    return made.most_users(np.arange(1.0, MOST + 1), PACE, limit)


def at(made: Plan, users: float, name: str) -> float:
    """A quantity of a deployment with so many users, at the inputs' values."""
    return float(made.at({"concurrency": np.array([float(users)])}, name)[0])


def best_within(rates: np.ndarray, paces: np.ndarray, limit: float) -> int | None:
    """Where most is yielded within a time per token [s]; None where it is kept nowhere."""
    kept = paces <= limit
    return int(np.where(kept, rates, 0).argmax()) if kept.any() else None


class Split(NamedTuple):
    """Replicas of one layout in two pools.

    Attributes:
        prefill, decode: replicas of either pool [1].
        gain: throughput over that of as many replicas in one pool [1].
        one_pool: output throughput of all replicas in one pool [token/s].
    """

    prefill: int
    decode: int
    gain: float
    one_pool: float


def split_replicas(case: Case, replicas: int, *, prompt: int = 0, answer: int = 0) -> Split:
    """The best split of replicas of one layout into two pools, with as many users as yield most.

    Args:
        case: card, precision and servers of a replica.
        replicas: of both pools.
        prompt, answer: of a request, the goal's own unless given [token].
    """
    one = plan(*case, prompt=prompt, answer=answer)
    users = np.arange(1.0, MOST + 1)
    users = users[one.fits({"concurrency": users})]
    apart, kind = {**one.inputs, "separate_pools": 1.0}, one.scenario.model.attention
    decode = evaluate({**apart, "concurrency": users}, kind)
    prefill = evaluate({**apart, "concurrency": float(QUEUED)}, kind)
    length, hits, tokens = (float(one.inputs[name]) for name in (
        "input_tokens", "prefix_hit_share", "output_tokens"))
    # a request takes of each pool the time of one of its replicas; both are busy all the time
    taken = (max(1.0, length * (1 - hits)) / decode["prefill_throughput"]
             + 1 / decode["request_throughput"])
    moves = {"concurrency": users}
    alone = best_within(one.at(moves, RATE), one.at(moves, PACE), LIMIT)
    paired = best_within(1 / taken, np.asarray(decode[PACE]), LIMIT)
    assert alone is not None
    assert paired is not None
    groups, rate = whole_groups(replicas, [1, 1], [
        float(prefill["prefill_throughput"]) / length, float(decode["request_throughput"][paired])])
    one_pool = replicas * float(one.at(moves, RATE)[alone])
    return Split(*groups, rate * tokens / one_pool, one_pool)
