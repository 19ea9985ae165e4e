"""The section on a processor measured end to end: its table, what was predicted, what came."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from statistics import mean
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import catalogue
from calc.launching.bench import Bench, of_closed_loop
from calc.physics.arrays import Inputs
from calc.physics.experts import distinct_experts
from calc.physics.operators import (
    Matmuls,
    expert_latency,
    matmul_time,
    tiles_of_experts,
    whole_tiles,
)
from calc.physics.work import Work
from calc.uncertainty import Amount
from catalogue.messages import messages
from catalogue.tables import Table, shelf
from notebooks.pages.deployments.answers import Deployed
from notebooks.show import figures
from notebooks.show.columns import crossed
from notebooks.show.display import draw, number, numbers, table
from notebooks.show.numbers import fmt_int, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/deployments/own-processor")

PLAN = catalogue.ROOT / "templates" / "example-processor-plan.yml"
ENGINE = "device=example-processor-vllm.yml"  # beside the plan
TABLES = {"pytorch": ("example-processor-table.csv", ()),
          "vllm": ("example-processor-vllm-table.csv", (ENGINE,))}
SEEN = Path(__file__).parents[1] / "deciding" / "engine.json"  # written by make engine
LOADS, STEPS = "users-", "step-"  # keys of its rows
PHASES = {"decode-1": say("decode-in-flight"), "decode-16": say("decode-in-flight-2"),
          "prefill-1": say("prefill-of-one-prompt")}
BETWEEN, COUNT, CORE = "between", "operators", "core"
ALIKE = 100  # skew of routing that sends all tokens to about the same experts
EXAMPLE = 16  # tokens
KEPT = ("ttft", "tpot")
NINE_IN_TEN = 0.9
Column: TypeAlias = NDArray[np.float64]
# classes of the engine's profile -> terms of a step that they stand beside
TERMS: dict[str, tuple[tuple[str, str], tuple[str, ...]]] = {
    "routed_experts": (common("routed-experts"), ("routed_expert",)),
    "matmuls": (say("other-matmuls"),
                ("attention", "dense_mlp", "shared_expert", "router", "head")),
    CORE: (common("attention-core"), (CORE,)),
    "others": (say("all-other-operators"), ("vector", "boundary")),
    BETWEEN: (say("between-operators-and-steps"), ())}


@cache
def engine_numbers() -> dict[str, dict[str, Any]]:
    """Numbers of the part of ``make engine``, by key."""
    rows = json.loads(SEEN.read_text(encoding="utf-8"))["own"]
    return {row["key"]: row["numbers"] for row in rows}


def loads() -> list[dict[str, float]]:
    """Measured loads beside what was predicted before, fewest users first."""
    return [numbers for key, numbers in engine_numbers().items() if key.startswith(LOADS)]


def stages() -> list[tuple[tuple[str, str], dict[str, str]]]:
    """Causes of the misses one after the other, as overrides: counted, or of the profile."""
    layers = Deployed(catalogue.load_scenario(PLAN)).inputs["num_hidden_layers"]
    step = engine_numbers()["step-decode-1"]
    return [
        (say("engine-own-kernels-on-one"), dict([ENGINE.split("=")])),
        (say("random-weights-send-all-tokens"), {"mechanisms.routing_skew": str(ALIKE)}),
        (say("as-many-operators-as-profile"),
         {"mechanisms.operators_per_layer": str(step[COUNT] / layers)}),
        (say("time-between-operators-and-steps"),
         {"mechanisms.host_gap_per_step": f"{step[BETWEEN]} s"})]


@cache
def explained(causes: int | None = None) -> list[dict[str, float]]:
    """Every load predicted with the first causes in place [s]: not blind, and not fitted to it."""
    found, q = [], Deployed(catalogue.load_scenario(PLAN)).inputs
    settings = [f"{name}={value}" for _, of in stages()[:causes] for name, value in of.items()]
    for of in loads():
        users = int(of["users"])
        scenario = catalogue.load_scenario(PLAN, overrides=[
            *settings, f"workload.concurrency={users} request"])
        made = of_closed_loop(scenario, Bench("", "", users, int(q["input_tokens"]),
                                              int(q["output_tokens"]), int(of["requests"])))
        found.append({metric: made[metric].value for metric in KEPT})
    return found


def by_cause() -> None:
    """Mean error of all loads, with one cause after the other in place."""
    blind = [{metric: of[f"{metric}_predicted"] for metric in KEPT} for of in loads()]
    steps = [(say("as-predicted"), blind)] + [
        (words, explained(at + 1)) for at, (words, _) in enumerate(stages())]
    table(*crossed(say("with-one-after-other"), {
        words: {metric: _mean(made, metric) for metric in KEPT} for words, made in steps},
        {"tpot": say("tpot-mean-error"), "ttft": say("ttft-mean-error")},
        partial(fmt_percent, digits=0)))
    numbers({f"processor-{metric}-left": _mean(explained(), metric) for metric in KEPT},
            fmt_percent, digits=0)
    number("processor-ttft-kernels", _mean(explained(1), "ttft"), fmt_percent, digits=0)


def _mean(made: list[dict[str, float]], metric: str) -> float:
    """Mean size of the errors."""
    return float(np.mean([abs(each[metric] / of[metric] - 1)
                          for each, of in zip(made, loads(), strict=True)]))


def met_by(tokens: int) -> int:
    """Experts that random weights give to some tokens, of one layer.

    The engine draws every weight, norms and the experts' biases included, uniformly below a
    thousandth: the bias decides, whatever the token.
    """
    q, draws = Deployed(catalogue.load_scenario(PLAN)).inputs, np.random.default_rng(0)
    width, count, top = (int(q[name]) for name in (
        "hidden_size", "n_routed_experts", "num_experts_per_tok"))
    norm, gate, bias = (draws.uniform(-1e-3, 1e-3, shape) for shape in (
        width, (width, count), count))
    scores = 1 / (1 + np.exp(-(draws.standard_normal((tokens, width)) * norm) @ gate)) + bias
    return len(np.unique(np.argsort(scores)[:, -top:]))


def measured_table() -> None:
    """Predicted and measured, by requests in flight, and predicted with the causes in place."""
    for metric in reversed(KEPT):
        loaded = [(int(of["users"]), of[metric], then[metric], *(of[f"{metric}_{key}"] for key in (
            "predicted", "low", "high"))) for of, then in zip(loads(), explained(), strict=True)]
        table([{"users": fmt_int(users), "seen": fmt_time(seen),
                "here": Amount(here, low, high, "s").formatted("en"),
                "error": _signed(here / seen - 1), "after": _signed(then / seen - 1)}
               for users, seen, then, here, low, high in loaded],
              {"users": common("in-flight"), "here": say("predicted", name=metric.upper()),
               "seen": common("measured"), "error": common("error"),
               "after": say("error-with-causes")})
        errors = [abs(here / seen - 1) for _, seen, _, here, _, _ in loaded]
        numbers({f"processor-{metric}-mean": mean(errors),
                 f"processor-{metric}-worst": max(errors)}, fmt_percent, digits=0)
        number(f"processor-{metric}-inside",
               sum(low <= seen <= high for _, seen, _, _, low, high in loaded))
    numbers({"processor-loads": len(loads()), "processor-met": met_by(EXAMPLE),
             "processor-example": EXAMPLE,
             "processor-operators": round(engine_numbers()["step-decode-1"][COUNT])})


def _signed(error: float) -> str:
    return f"{error:+.0%}".replace("-", "−")


def picture() -> None:
    """Time per output token over the requests in flight."""
    draw(_picture)


def _picture(lang: str) -> Figure:
    figure, axis = figures.axes(height=2.8)
    choice = ("en", "zh").index(lang)
    users = [of["users"] for of in loads()]
    milliseconds = {name: [1e3 * of[name] for of in loads()] for name in (
        "tpot", "tpot_predicted", "tpot_low", "tpot_high")}
    axis.fill_between(users, milliseconds["tpot_low"], milliseconds["tpot_high"],
                      color=figures.PALETTE[0], alpha=0.15, linewidth=0)
    axis.plot(users, milliseconds["tpot_predicted"], color=figures.PALETTE[0],
              label=say("predicted-interval")[choice])
    axis.plot(users, milliseconds["tpot"], "o", color=figures.PALETTE[1],
              label=common("measured")[choice])
    axis.plot(users, [1e3 * of["tpot"] for of in explained()], "--", color=figures.PALETTE[7],
              label=say("with-causes-in-place")[choice])
    figures.doubling(axis, users)
    axis.set(yscale="log", xlabel=say("requests-in-flight")[choice], ylabel=say("tpot-ms")[choice])
    figures.log_ticks(axis.yaxis, min(milliseconds["tpot_low"]), max(milliseconds["tpot_high"]))
    axis.legend(loc="upper left")
    return figure


def by_kernel() -> None:
    """Steps by class of kernels: as predicted, and as the engine's profiler saw them."""
    steps = {key.removeprefix(STEPS): of for key, of in engine_numbers().items()
             if key.startswith(STEPS)}
    made = {name: Deployed(catalogue.load_scenario(PLAN, overrides=[
        f"workload.concurrency={name.partition('-')[2]} request"])) for name in steps}
    rows = []
    for kind, (words, terms) in TERMS.items():
        row: dict[str, Any] = {"what": words}
        for name, of in steps.items():
            phase = name.partition("-")[0]
            if phase == "prefill" and kind in (BETWEEN, CORE):
                continue  # the client between two prompts; a core made of matmuls, counted there
            if phase == "prefill" and kind == "matmuls":
                terms = (*terms, CORE)
            predicted = sum(float(made[name].quantities[f"{phase}_{term}_time"])
                            for term in terms) or float(made[name].inputs["host_gap_per_step"])
            row |= {f"p{name}": fmt_time(predicted), f"m{name}": fmt_time(of[kind])}
            numbers({f"processor-{kind}-{name}": of[kind],
                     f"processor-{kind}-{name}-predicted": predicted}, fmt_time)
        rows.append(row)
    columns = {"what": say("part-of-step")}
    for name in steps:
        columns |= {f"p{name}": say("predicted-2", phases=PHASES[name]),
                    f"m{name}": say("profiled")}
    table(rows, columns, wide=True)


def laws(kernels: str) -> dict[str, tuple[Column, Column]]:
    """Rows of a table and what the laws of a step give for each [s], by operator."""
    name, overrides = TABLES[kernels]
    q = Inputs(Deployed(catalogue.load_scenario(PLAN, overrides=overrides)).inputs)
    rows, found = shelf(PLAN.with_name(name)), {}
    for operator in LAWS.keys() & set(rows.operators()):
        of = rows.table(operator)
        found[operator] = (of["time"], np.asarray(LAWS[operator](q, of)) + q.kernel_boundary)
    return found


def _gemm(q: Inputs, of: Table) -> Any:
    rows, columns, depth = of["rows"], of["columns"], of["depth"]
    work = Work(2 * rows * columns * depth,
                q.activation_element_bytes * (columns * depth + rows * (columns + depth)))
    one = Matmuls(1, depth)
    worked = matmul_time(q, "head", work, whole_tiles(q.gemm_tile_rows, rows),
                         one.waiting(q, "head"))
    return one.time(q, "head", worked, rows)


def _experts(q: Inputs, of: Table) -> Any:
    ranks, top, count = of["expert_parallel"], of["num_experts_per_tok"], of["n_routed_experts"]
    read = distinct_experts(count, top, of["tokens"], 0) / ranks
    rows, inside = of["tokens"] * top / ranks, of["moe_intermediate_size"] / of["tensor_parallel"]
    weights = 3 * of["hidden_size"] * inside
    work = Work(2 * rows * weights, q.activation_element_bytes * (
        read * weights + rows * (2 * of["hidden_size"] + 3 * inside)))
    padded = tiles_of_experts(q.expert_tile_rows, rows / read)
    return matmul_time(q, "routed_expert", work, padded) + expert_latency(q)


def _decode(q: Inputs, of: Table) -> Any:
    latent, positions = q.kv_lora_rank + q.qk_rope_head_dim, of["batch"] * of["context"]
    heads = np.ceil(of["heads"] / q.core_tile_rows) * q.core_tile_rows
    return np.maximum(
        2 * positions * heads * (latent + q.kv_lora_rank) / (
            q.core_peak * q.mla_compute_efficiency),
        positions * latent * q.activation_element_bytes / (q.memory_bandwidth * q.mla_efficiency))


def _prefill(q: Inputs, of: Table) -> Any:
    pairs = of["batch"] * of["heads"] * of["tokens"] * (of["tokens"] + 1) / 2
    widths = q.qk_nope_head_dim + q.qk_rope_head_dim + q.v_head_dim
    return 2 * pairs * widths / (q.core_peak * q.attention_efficiency)


LAWS: dict[str, Callable[[Any, Table], Any]] = {
    "gemm": _gemm, "experts": _experts, "mla_decode": _decode, "mla_prefill": _prefill}
NAMES = {"gemm": say("matmuls"), "experts": common("routed-experts"),
         "mla_decode": say("attention-core-decode"), "mla_prefill": say("attention-core-prefill")}


def law_table() -> None:
    """The laws beside both tables, on the rows that they were not fitted to."""
    made = {kernels: laws(kernels) for kernels in TABLES}
    rows = []
    for operator, words in NAMES.items():
        row: dict[str, Any] = {"what": words}
        for kernels, found in made.items():
            if operator in found:
                time, law = found[operator]
                error = np.abs(law / time - 1)[1::2]
                ends = (float(np.median(error)), float(np.quantile(error, NINE_IN_TEN)))
                row[kernels] = " / ".join(fmt_percent(each, digits=0) for each in ends)
                row[f"{kernels}_shapes"] = fmt_int(len(time))
        rows.append(row)
    columns = {"what": common("operator")}
    for kernels, text in (("pytorch", say("pytorch-two-cores")), ("vllm", say("vllm-one-core"))):
        columns |= {f"{kernels}_shapes": say("shapes", text=text), kernels: say("error-median-in")}
    table(rows, columns)
    number("processor-shapes", sum(len(time) for time, _ in made["pytorch"].values()))
