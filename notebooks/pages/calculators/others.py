"""What public calculators say of one deployment, from the formulas that they publish."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import calc
from calc.answer.estimate import Estimate
from catalogue import Scenario, formulas, load, load_scenario, symbols
from catalogue.entries.formulas import Calculator
from catalogue.messages import Pair, messages
from notebooks.derive.formulas.treelatex import tree_latex
from notebooks.pages.calculators import scripts
from notebooks.pages.calculators.offers import deployed
from notebooks.show.display import cited, number, numbers, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_int, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/calculators/others")

MEMORY = "memory"
ONE = "one-request"
WIDE_BYTES = 2  # of an element of a cache that is not quantised, as they count it
CARD_OF_80_GB = 80e9  # bytes, of the cards that the calculator counts in


@functools.cache
def base_scenario() -> Scenario:
    """R1 as published, where the calculators of this book begin."""
    return deployed(scripts.start())


@functools.cache
def inputs_and_quantities(users: int | None = None) -> Mapping[str, Any]:
    """Inputs and quantities of it, for so many requests at once."""
    inputs = base_scenario().inputs() | ({"concurrency": users} if users else {})
    return inputs | calc.evaluate(inputs, base_scenario().model.attention)


@functools.cache
def one_request() -> tuple[Scenario, Estimate]:
    """The deployment of the book's question on one request, and its answer."""
    question = load("questions", ONE)
    made = load_scenario(question.scenario, overrides=question.settings)
    return made, calc.estimate(made)


def _ours(of: str) -> float:
    """The same of this book: memory of all cards [B], or a token of its one request [s]."""
    return (float(inputs_and_quantities()["memory_per_device"]) * base_scenario().devices
            if of == MEMORY else one_request()[1].quantities["tpot"].value)


def _steps() -> dict[str, Pair]:
    """Which step goes wrong for this model, by calculator, and what it comes to."""
    q, cards = inputs_and_quantities(), base_scenario().devices
    weights = float(q["weights_per_device"]) * cards
    pair = 2 * WIDE_BYTES * q["num_hidden_layers"]
    step, read = (float(one_request()[1].everything[name])
                  for name in ("decode_step_time", "tpot_floor"))
    rest = fmt_bytes(_ours(MEMORY) - weights, digits=0)
    mla = fmt_bytes(float(q["kv_bytes_per_token"]), "MB", 3)
    return {
        "bentoml-handbook": say("handbook", weights=fmt_bytes(weights, digits=0), rest=rest),
        "llm-vram-estimator": say("estimator-of-vram", mha=fmt_bytes(
            pair * q["num_key_value_heads"] * q["v_head_dim"], "MB"), mla=mla),
        "llm-resource-estimator": say(
            "estimator-of-resources", wide=fmt_bytes(pair * q["hidden_size"], "MB"), mla=mla,
            copies=fmt_int(q["tensor_parallel"])),
        "moe-size-calculator": say(
            "calculator-of-size",
            rest=fmt_bytes(_ours(MEMORY) - float(q["total_parameters"]), digits=0),
            card=fmt_bytes(CARD_OF_80_GB, digits=0),
            count=fmt_int(-(-float(q["total_parameters"]) // CARD_OF_80_GB))),
        "bandwidth-napkin": say(
            "napkin", read=fmt_time(read), step=fmt_time(step), users=fmt_int(q["concurrency"]),
            experts=fmt_fixed(float(q["distinct_experts"]), 0),
            all=fmt_int(q["n_routed_experts"]), picked=fmt_int(q["num_experts_per_tok"]))}


def compared() -> None:
    """Every calculator beside this book: its formula, what it says, what ours says, and why."""
    known = symbols()
    letters = {name: entry.latex for name, entry in known.items()}
    rows, memory = [], dict[str, float]()
    for name, step in _steps().items():
        other: Calculator = load("calculators", name)
        said = float(formulas.evaluate(other.formula, inputs_and_quantities()))
        ours = _ours(other.of)
        fmt = functools.partial(fmt_bytes, digits=0) if other.of == MEMORY else fmt_time
        memory |= {name: said} if other.of == MEMORY else {}
        rows.append({"formula": f"{cited(other.source)}:<br>${tree_latex(other.formula, letters)}$",
                     "said": fmt(said), "ours": fmt(ours), "ratio": f"{fmt_sig(said / ours, 2)}×",
                     "step": step})
    table(rows, {"formula": say("calculator-and-formula"),
                 "said": say("it-says"), "ours": say("this-book"),
                 "ratio": common("ratio"), "step": say("step")}, wide=True)
    number("compared-cards", base_scenario().devices)
    number("compared-tensor", inputs_and_quantities()["tensor_parallel"])
    number("compared-engine", one_request()[0].engine, str)
    number("compared-users", inputs_and_quantities()["concurrency"])
    number("compared-input", inputs_and_quantities()["input_tokens"])
    number("compared-output", inputs_and_quantities()["output_tokens"])
    numbers({"compared-low": min(memory.values()), "compared-high": max(memory.values()),
             "compared-wide": memory["bentoml-handbook"], "compared-ours": _ours(MEMORY)},
            fmt_bytes, digits=0)
