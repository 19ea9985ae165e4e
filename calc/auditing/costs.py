"""How the plans of a document can run, and what one costs then, over the document's own years."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import catalogue
from calc.answer.estimate import estimate
from calc.costing.cost import Cost, CostOptions, cost
from calc.costing.ownership import MILLION, converted, prices_of
from calc.uncertainty import Amount, propagate_uncertainty
from catalogue import ParamsError
from catalogue.entries.formulas import DocumentFormula
from catalogue.reading.units import YEAR

PLAN, DAY = "s1-plan-c", "azure-conversation"
# The plan as it can run: FP8, in the cut of these cards that a search finds best for it, chunks
# that fit, its context of 2,048 tokens halved between prompt and answer, 80 users for each of its
# four replicas (the larger of its two readings, and that of its launch scripts).
STEADY = ("workload.max_num_batched_tokens=8192 token", "workload.input_tokens=1024 token",
          "workload.output_tokens=1024 token", "workload.arrivals=closed-loop")
RUNS = ("precision=fp8-block", "parallelism.pipeline_parallel=4", "parallelism.data_parallel=1",
        "parallelism.expert_parallel=1", "workload.concurrency=320 request", *STEADY)
# Its other plans likewise, by format and stages of eight cards. Twelve cards are no whole servers,
# so plan A has all cards of the two that it takes; the 910B2 multiplies no FP8.
OTHERS = {"s1-plan-a": ("fp8-block", 2, "cluster.devices=16"), "s1-plan-b": ("fp8-block", 3),
          "s1-plan-d": ("fp8-block", 4), "s1-scale-48": ("fp8-block", 6),
          "s1-scale-64": ("fp8-block", 8), "s1-h20-vs-910b2-910b2": ("fp16", 4)}
SAME_CARDS = (PLAN, "s1-overlap-none", "s1-overlap-mla", "s1-h20-vs-910b2-h20")  # as plan C
USERS = 80  # of a replica, in every plan
LENGTHS = ("workload.input_tokens=1536 token", "workload.output_tokens=512 token")
AS_RUN: dict[str, tuple[tuple[str, ...], str]] = {
    "s0-scenario-1": (("precision=w8a8-int8", "parallelism.tensor_parallel=4",
                       "parallelism.pipeline_parallel=4", "parallelism.data_parallel=1",
                       *LENGTHS), "vllm-ascend@0.18.0"),
    "s1-plan-c": (("precision=fp8-block", "parallelism.expert_parallel=32",
                   "workload.max_num_batched_tokens=8192 token", *LENGTHS), "vllm@0.13.0")}
"""Deployment -> settings with which it runs, and the engine's release that a reader would take."""
TOKEN = 1e-3  # thousand tokens, by which the document prices
EXAMPLES = (("hardware", "s1-f50"), ("yearly", "s1-f54"), ("tco", "s1-f55"),
            ("per_rate", "s1-f56"), ("revenue", "s1-f60"), ("payback", "s1-f62"),
            ("roi", "s1-f63"), ("electricity", "s1-f51"), ("tokens", "s1-f58"),
            ("price", "s1-f59"))  # of the formulas that arrive at each
UNITS = {"rate": "token/s", "roi": "1", "payback": "s"}  # the others are money, or money per rate


@dataclass(frozen=True)
class Plan:
    """The document's own numbers and what they come to here.

    Attributes:
        inputs: what the document puts in, by symbol.
        printed, recomputed: by name of ``EXAMPLES``, and ``rate`` and ``per_million``.
        corrected: with sourced inputs.
        rate: tokens per second that the plan reaches as it can run.
        users: at once, in that rate.
    """

    inputs: Mapping[str, float]
    printed: Mapping[str, float]
    recomputed: Mapping[str, float]
    corrected: Cost
    rate: Amount
    users: int

    def amounts(self) -> dict[str, Amount]:
        """The corrected amounts, by the same names."""
        amounts, used = self.corrected.amounts, 1 / catalogue.load("loads", DAY).peak
        total = amounts["tco_undiscounted"]
        years = YEAR * self.inputs["years"]
        ratios = propagate_uncertainty(lambda q: {"per_rate": q["tco"] / q["rate"],
                                                  "per_million": MILLION * q["tco"] / (
                                                      years * used * q["rate"])},
                                       {"tco": total, "rate": self.rate})
        return {"hardware": amounts["capital"], "yearly": amounts["yearly"], "tco": total,
                "rate": self.rate, **ratios, "revenue": amounts["revenue"],
                "roi": amounts["roi"], "payback": amounts["payback"]}


@functools.cache
def plan() -> Plan:
    """S1's plan of 32 cards: as printed, as recomputed and as corrected."""
    formulas = {formula.id: formula for formula in catalogue.load("formulas", "s1").formulas}
    examples = {name: example_of(formulas[of]) for name, of in EXAMPLES}
    printed = {name: values[0] for name, values in examples.items()}
    recomputed = {name: values[1] for name, values in examples.items()}
    inputs = {key: value for _, _, given in examples.values() for key, value in given.items()}
    inputs["rate"] = recomputed["tokens"] / inputs["day_time"]
    years = YEAR * inputs["years"]
    for values in (printed, recomputed):
        values["rate"] = inputs["rate"]
        values["per_million"] = MILLION * values["tco"] / (years * inputs["rate"])
    scenario = catalogue.load_scenario(PLAN, overrides=list(RUNS))
    answer = estimate(scenario)
    reached = answer.quantities["steady_throughput"]
    prices, server = prices_of(scenario.device.id), scenario.node.price
    assert server is not None
    assert server.cny is not None
    stated = {  # the document's three years and its own price
        "server": converted(Amount.stated(server.cny), "USD", prices.exchange),
        "years": Amount.exactly(inputs["years"]), "residual": Amount.exactly(0.0),
        "sold_request": Amount.exactly(scenario.inputs()["output_tokens"]
                                       * inputs["thousand_price"] * TOKEN)}
    options = CostOptions(utilisation=1 / catalogue.load("loads", DAY).peak, changes=stated)
    return Plan(inputs, printed, recomputed,
                cost(scenario, answer.everything, reached, prices, options), reached,
                int(scenario.inputs()["concurrency"]))


def changes(name: str, how: str) -> tuple[str, ...]:
    """What is changed in a plan.

    Args:
        name: of its deployment.
        how: ``runs``, so that it runs; ``watched``, as the alerts of the book watch it; or
            ``full``, nothing but 80 users in each replica.

    Raises:
        ParamsError: there is no such change of it.
    """
    if how == "runs" and name.startswith(SAME_CARDS):
        return RUNS
    if how in ("runs", "watched") and name in AS_RUN:
        settings, engine = AS_RUN[name]
        return (*settings, f"engine={engine}")
    replicas = catalogue.load_scenario(name).inputs()["data_parallel"]
    users = f"workload.concurrency={int(replicas) * USERS} request"
    if how == "full":
        return (users,)
    if how != "runs" or name not in OTHERS:
        raise ParamsError(f"'{name}' has no variant '{how}'")
    precision, stages, *others = OTHERS[name]
    return (f"precision={precision}", "parallelism.tensor_parallel=8",
            f"parallelism.pipeline_parallel={stages}", "parallelism.data_parallel=1",
            "parallelism.expert_parallel=1", users, *STEADY, *map(str, others))


def example_of(formula: DocumentFormula, index: int = 0
               ) -> tuple[float, float, dict[str, Any]]:
    """Printed, recomputed, and what the document puts in.

    Args:
        formula: of ``params/formulas/``.
        index: of its examples, from 0.
    """
    example = formula.examples[index]
    return (float(example.printed.value), float(formula.recomputed(example)),
            {key: float(value.value) for key, value in example.inputs.items()})
