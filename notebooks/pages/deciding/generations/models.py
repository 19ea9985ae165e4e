"""What requests take of a model, and what one server of a card gives, model by model.

The server decodes alone; all requests are as long. Its cards are cut by tensor parallelism (TP8),
or each serves requests of its own and the experts are spread (DP8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import catalogue
from calc.layouts.feasible import has_room
from calc.layouts.layout import UTILIZATION, Choice, scenario
from calc.searching.goal import load_goal
from calc.sensitivity.plans import BATCHES, Plan
from calc.serving.evaluate import evaluate
from catalogue.deployments.physics_inputs import nearest

V3, V32, GLM, FLASH, PRO = MODELS = (
    "deepseek-v3", "deepseek-v3.2", "glm-5.2", "deepseek-v4-flash", "deepseek-v4-pro")
B300, B200, H200, H20, B2 = (
    "nvidia-b300", "nvidia-b200", "nvidia-h200-sxm", "nvidia-h20", "ascend-910b2")
SHORT, LONG = 2**12, 2**17  # token
WIDENED, EIGHT, EIGHT_BITS = "fp8-mxfp4-w4a16", "w8a8-int8", "fp8-block-e8m0"
FORMATS = ("fp8-mxfp4", WIDENED, EIGHT_BITS, EIGHT, "w4a8-int8")
# what runs where the published weights do not, or an engine widens them: the widest that fits
INSTEAD = {"ascend": (EIGHT, "w4a8-int8"), "hopper": (WIDENED,)}
KINDS = {H200: "hopper", H20: "hopper", B2: "ascend"}
GOAL = "r1-matrix"
ANSWER, CHUNK = 1024, 8192  # token
LIMIT = 0.05  # s, of a token to each user
USERS = 8  # one a card
SERVER = 8  # cards
WHOLE, CUT = 1, SERVER  # tensor parallelism of DP8 and of TP8
DECODE, PREFILL = "decode", "prefill"
OPERATORS = ("attention", "core", "index", "dense_mlp", "shared_expert", "routed_expert", "router",
             "head")


@cache
def plan(model: str, device: str, precision: str, tensor: int, context: int,
         users: int = USERS) -> Plan:
    """One server that decodes; requests end at a length.

    Args:
        model, device, precision: entries of the catalogue.
        tensor: parallel size; replicas take the other cards, experts all of them.
        context: prompt and answer of every request [token].
        users: requests at once.
    """
    goal = load_goal(GOAL, [f"model={model}", f"demand.input_tokens={context - ANSWER} token",
                            f"demand.output_tokens={ANSWER} token"])
    equal = goal.demand.model_copy(update={"length_distribution": None, "length_variation": None})
    node = catalogue.load_device(device).node
    assert node
    choice = Choice(
        device=device, node=node, engine=None, precision=precision, devices=SERVER, tensor=tensor,
        pipeline=1, data=SERVER // tensor, expert=SERVER if tensor < SERVER else 1, slices=0,
        spares=0, context=1, chunk=CHUNK, micro_batches=1, drafts=0, utilization=UTILIZATION,
        concurrency=users, pool=DECODE)
    made = scenario(goal.model_copy(update={"demand": equal}), choice)
    return Plan(precision, made, made.inputs(), tuple(made.knobs()))


def asked(made: Plan, moves: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """All quantities of a deployment, some inputs moved."""
    return evaluate({**made.inputs, **(moves or {})}, made.scenario.model.attention)


@cache
def published(model: str) -> str:
    """The precision that a model's weights are published in."""
    weights = catalogue.load_model(model).weights
    assert weights is not None
    return str(weights.precision)


@cache
def precision_on(model: str, device: str) -> str:
    """What a card multiplies of a model, as an engine runs it: as published where it can.

    On cards that cannot, the widest precision of which a server holds the weights and a request;
    the narrowest where it holds none.

    Args:
        model, device: entries of the catalogue.
    """
    runs = {entry.id for entry in nearest(catalogue.load_device(device),
                                          model=catalogue.load_model(model))}
    own = published(model)
    tried = [name for name in INSTEAD.get(KINDS.get(device, ""), ()) if name in runs]
    if own in runs and WIDENED not in tried:
        return own
    fitting = [name for name in tried for cut in (WHOLE, CUT)
               if fits(plan(model, device, name, cut, SHORT)) > 0]
    return fitting[0] if fitting else tried[-1] if tried else own


def fits(made: Plan) -> int:
    """Requests that the memory of a server holds at their longest [1]; 0 if not one."""
    return int(asked(made)["max_concurrency"])


@dataclass(frozen=True)
class Request:
    """What a request of a length takes of a model, whatever the cards.

    Attributes:
        model: of the catalogue.
        context: its length [token].
        per_token: cache of a token [B].
        state: what is kept of it whatever its length [B].
        read: of the cache in a decode step [B].
        operations: of a token by phase, of a prompt's the mean [FLOP].
    """

    model: str
    context: int
    per_token: float
    state: float
    read: float
    operations: Mapping[str, float]

    @property
    def cache(self) -> float:
        """All that it keeps [B]."""
        return self.per_token * self.context + self.state


@cache
def request(model: str, context: int) -> Request:
    """A request of a length, alone on a card that holds everything.

    Args:
        model: of the catalogue.
        context: its length [token].
    """
    made = plan(model, H200, published(model), WHOLE, context)
    alone = dict.fromkeys(("data_parallel", "expert_parallel", "concurrency"), 1.0) | {
        "context_tokens": context, "input_tokens": context - 1, "output_tokens": 1,
        "max_num_batched_tokens": context}  # the prompt in one chunk, then its last token
    found = asked(made, alone)

    def operations(phase: str) -> float:
        return sum(float(found[f"{phase}_{name}_flops"]) for name in OPERATORS)

    return Request(model, context, float(found["kv_bytes_per_token"]),
                   float(found["state_bytes_per_request"]), float(found["decode_kv_bytes"]),
                   {DECODE: operations(DECODE), PREFILL: operations(PREFILL) / (context - 1)})


def within_limit(made: Plan) -> tuple[float, int]:
    """The most tokens [token/s] that memory and limit allow, and its requests [1]; or zeros."""
    users = BATCHES * float(made.inputs["data_parallel"])
    found = asked(made, {"concurrency": users})
    kept = has_room(found["headroom_per_device"]) & (found["tpot"] <= LIMIT)
    given = np.where(kept, found["output_throughput"], 0)
    best = int(given.argmax())
    return (float(given[best]), int(users[best])) if kept.any() else (0.0, 0)
