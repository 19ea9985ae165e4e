"""Steady states: what users see at each load, in closed form, simulated and measured.

The systems are those of which one length was measured at five numbers of users or more.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import calc
import catalogue
from calc.answer.simulated_load import MEANS, simulate_load
from calc.answer.steady_state import steady_state
from calc.evidence.systems import system
from calc.serving.evaluate import NEAR, doubt_words
from catalogue import Scenario
from catalogue.messages import LANGUAGES, Pair, join, messages, pair
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/engineering/steady")

SYSTEMS = {"s2-910b1-awq": 1024, "s3-hybrid-910b4": 128}  # and the prompts shown of each [token]
VARIATION = 0.5  # of lengths, log-normal: standard deviation over mean
TIMES = {"ttft": say("time-to-first-token-s"), "tpot": say("time-per-token-s")}
SAID = {"closed": say("closed-form"), "simulated": common("simulated"),
        "burst": say("burst"), "measured": common("measured")}
LINES = {"closed": "-", "simulated": "--", "burst": ":"}
FULL = "h200-r1-vllm-tp8"  # whose cache is full of so many users
PROMPT, ANSWER = 2048, 512  # of a request, mean [token]
SIMULATED = (1, 16, 128, 512, 4096)  # users
TICKS = [1, 16, 256, 4096]
MOST, POINTS = max(SIMULATED), 49
ASKED = {"throughput": say("output-throughput-token-s"), **TIMES}
RECORDED = Path(__file__).resolve().parents[3] / "benchmarks/results.json"


@dataclass(frozen=True, eq=False)
class Curve:
    """A measured system at each number of users, shape (n,) each.

    Attributes:
        scenario: of the system.
        users: who each wait for an answer and ask again.
        closed, simulated, measured: TTFT and TPOT [s], by name.
        burst: what all of them see who begin at once, in closed form.
    """

    scenario: Scenario
    users: np.ndarray
    closed: dict[str, np.ndarray]
    simulated: dict[str, np.ndarray]
    burst: dict[str, np.ndarray]
    measured: dict[str, np.ndarray]

    def off(self, of: str, name: str) -> np.ndarray:
        """How far the closed form of a steady state is from another, relative [1], shape (n,)."""
        return np.asarray(self.closed[name] / getattr(self, of)[name] - 1)


def _asked(name: str, prompt: float, answer: float, users: int) -> Scenario:
    settings = {"input_tokens": f"{prompt:.0f} token", "output_tokens": f"{answer:.0f} token",
                "length_distribution": "lognormal", "length_variation": VARIATION,
                **dict.fromkeys(("concurrency", "requests"), users)}
    return catalogue.load_scenario(name, overrides=[
        f"workload.{key}={value}" for key, value in settings.items()])


@cache
def curve(name: str) -> Curve:
    """The load curve of a measured system, users of lengths that vary."""
    rows = system(catalogue.load_scenario(name)).rows
    kept = np.flatnonzero(rows["input_tokens"] == SYSTEMS[name])
    seen: dict[str, list[dict[str, float]]] = {"closed": [], "simulated": [], "burst": []}
    for row in kept:
        deployed = _asked(name, rows["input_tokens"][row], rows["output_tokens"][row],
                          int(rows["concurrency"][row]))
        closed = calc.evaluate(deployed.inputs(), deployed.model.attention)
        simulated = simulate_load(deployed, wanted=MEANS)
        seen["closed"].append({each: float(closed[f"steady_{each}"]) for each in TIMES})
        seen["burst"].append({each: float(closed[each]) for each in TIMES})
        seen["simulated"].append({each: getattr(simulated.summary, each).mean for each in TIMES})
    return Curve(catalogue.load_scenario(name), rows["concurrency"][kept],
                 measured={each: rows[each][kept] for each in TIMES},
                 **{of: {each: np.array([time[each] for time in times]) for each in TIMES}
                    for of, times in seen.items()})


def answer() -> None:
    """How far closed form, simulation and measurement are apart, in sentences and a table."""
    rows, curves = [], [curve(name) for name in SYSTEMS]
    numbers({f"st-{each}": max(np.abs(found.off("simulated", each)).max() for found in curves)
             for each in TIMES}, fmt_percent)
    apart = np.concatenate([found.off("measured", "tpot") for found in curves])
    numbers({"st-below": -apart.min(), "st-above": apart.max()}, fmt_percent, digits=0)
    for name, found in zip(SYSTEMS, curves, strict=True):
        key = f"st-{name.partition('-')[0]}"
        waits = found.measured["ttft"] / found.closed["ttft"]
        numbers({f"{key}-first": waits[0], f"{key}-last": waits[-1]}, fmt_fixed, digits=1)
        number(f"{key}-prompt", SYSTEMS[name])
        rows += [(found, at) for at in range(len(found.users))]
    number("st-variation", VARIATION, fmt_fixed, digits=1)

    def time(each: str, of: str, said: Pair) -> Column:
        name = each.upper()
        heading = (say("measured-said", time=name, said=said) if of == "measured"
                   else say("time-said", time=name, said=said))
        return Column(lambda row: getattr(row[0], of)[each][row[1]], heading, fmt_time)

    for each in TIMES:
        table(rows, [Column(lambda row: cards(row[0].scenario), common("system")),
                     Column(lambda row: row[0].users[row[1]], common("users"), fmt_int),
                     *(time(each, of, said) for of, said in SAID.items())])


def picture(lang: str) -> Figure:
    """Both times of both systems against users."""
    at = LANGUAGES.index(lang)
    drawing, panels = figures.panels(5.4, len(TIMES), len(SYSTEMS), sharex="col")
    for column, name in enumerate(SYSTEMS):
        found = curve(name)
        for axes, (each, label) in zip(panels[:, column], TIMES.items(), strict=True):
            for which, (of, line) in enumerate(LINES.items()):
                axes.plot(found.users, getattr(found, of)[each], line,
                          color=figures.PALETTE[which], label=SAID[of][at])
            axes.plot(found.users, found.measured[each], "o", ms=4, color=figures.INK,
                      label=SAID["measured"][at])
            axes.set(xscale="log", ylabel=label[at] if column == 0 else "")
            axes.set_ylim(bottom=0)
            figures.ticks(axes.xaxis, found.users.tolist())
        panels[0][column].set_title(cards(found.scenario)[at], fontsize=9)
        panels[-1][column].set_xlabel(common("users-at-once")[at])
    panels[0][0].legend(fontsize=8)
    return drawing


@cache
def crowd() -> dict[str, np.ndarray]:
    """Quantities of a closed loop in closed form, by name, against users, shape (n,)."""
    deployed = _asked(FULL, PROMPT, ANSWER, MOST)
    counts = np.unique(np.geomspace(1, MOST, POINTS).round())
    found = calc.evaluate({**deployed.inputs(), "concurrency": counts}, deployed.model.attention)
    return {"users": counts, **{name: np.broadcast_to(found[f"steady_{name}"], counts.shape)
                                for name in ASKED},
            **{name: np.broadcast_to(found[name], counts.shape)
               for name in ("served_requests", "place_wait")}}


@cache
def crowd_simulated() -> dict[str, np.ndarray]:
    """The same of a simulation, for the numbers of users that are simulated."""
    runs = [simulate_load(_asked(FULL, PROMPT, ANSWER, users), wanted=MEANS) for users in SIMULATED]
    return {"throughput": np.array([run.summary.output_throughput / run.share for run in runs]),
            **{each: np.array([getattr(run.summary, each).mean for run in runs]) for each in TIMES}}


def full_cache() -> None:
    """How many users the cache holds, what the others wait, and how far both codings of the loop
    are apart, in sentences."""
    closed, simulated = crowd(), crowd_simulated()
    apart = [np.abs(np.interp(SIMULATED, closed["users"], closed[name]) / simulated[name] - 1).max()
             for name in ASKED]
    numbers({"st-most": MOST, "st-full-prompt": PROMPT, "st-full-answer": ANSWER,
             "st-served": closed["served_requests"][-1]}, fmt_int)
    number("st-full-wait", closed["place_wait"][-1], fmt_time)
    number("st-full-tpot", closed["tpot"][-1], fmt_time)
    number("st-full-apart", max(apart), fmt_percent, digits=0)


def full_cache_picture(lang: str) -> Figure:
    """Throughput and both times against users, up to many more than the cache holds."""
    at = LANGUAGES.index(lang)
    closed, simulated = crowd(), crowd_simulated()
    drawing, panels = figures.panels(2.8, 1, len(ASKED))
    for axes, (name, label) in zip(np.ravel(panels), ASKED.items(), strict=True):
        axes.plot(closed["users"], closed[name], "-", color=figures.PALETTE[0],
                  label=SAID["closed"][at])
        axes.plot(SIMULATED, simulated[name], "o", ms=4, color=figures.INK,
                  label=SAID["simulated"][at])
        axes.set(xscale="log", ylabel=label[at], xlabel=common("users")[at],
                 yscale="log" if name == "ttft" else "linear")
        if name != "ttft":
            axes.set_ylim(bottom=0)
        figures.ticks(axes.xaxis, TICKS)
    np.ravel(panels)[0].legend(fontsize=8)
    return drawing


def cards(scenario: Scenario) -> Pair:
    """How many of which a system has."""
    return join((" × ", " × "), [(f"{scenario.devices}",) * 2, pair(scenario.device.name)])


def limits() -> None:
    """Where the closed form does not hold, and which shipped deployments that concerns."""
    asked = {name: doubted(scenario) for name in catalogue.deployment_names()
             if (scenario := catalogue.load_scenario(name)).file.workload.output_tokens is not None}
    numbers({f"st-near-{name}": most for name, most in NEAR.items()}, fmt_percent, digits=0)
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    numbers({f"st-{name}-within": recorded[f"steady_{name}_within"]["value"] for name in NEAR},
            fmt_percent, digits=0)
    numbers({"st-asked": len(asked), "st-doubted": sum(map(bool, asked.values()))})
    table(doubt_words(), [
        Column(doubt_words().get, common("why")),
        Column(lambda doubt: ", ".join(f"`{name}`" for name, doubts in asked.items()
                                       if doubt in doubts) or None, say("shipped-deployments"))])


def doubted(scenario: Scenario) -> tuple[str, ...]:
    """Why the closed form does not hold for a deployment, by name."""
    inputs = scenario.inputs()
    return steady_state(scenario, inputs, calc.evaluate(inputs, scenario.model.attention)).doubts
