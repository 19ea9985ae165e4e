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
from calc.answer.steady_state import lasting
from calc.answer.users import MEANS, users_see
from calc.closed_form.validity import NEAR, doubt_words
from calc.evidence.systems import system
from catalogue import Scenario
from catalogue.messages import Pair, messages
from notebooks.show import figures
from notebooks.show.display import figure, number, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity

common = messages("common")
say = messages("pages/engineering/steady")

SYSTEMS = {"s2-910b1-awq": 1024, "s3-hybrid-910b4": 128}  # and the prompts shown of each [token]
VARIATION = 0.5  # of lengths, log-normal: standard deviation over mean
TIMES = {"ttft": say("time-to-first-token-s"), "tpot": say("time-per-token-s")}
SAID = {"closed": say("closed-form"), "simulated": common("simulated"),
        "burst": say("burst"), "measured": common("measured")}
LINES = {"closed": "-", "simulated": "--", "burst": ":"}
RECORDED = Path(__file__).resolve().parents[3] / "benchmarks/results.json"
SHORT = {"ttft": "TTFT", "tpot": "TPOT"}


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

    def off(self, of: str, name: str) -> float:
        """The most that the closed form is off, of a steady state or a burst, relative [1]."""
        said = self.burst if of == "burst" else self.closed
        ratio = said[name] / (self.measured if of == "burst" else getattr(self, of))[name]
        return float(np.exp(np.abs(np.log(ratio)).max()) - 1)


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
    found: dict[str, dict[str, list[float]]] = {
        of: {each: [] for each in TIMES} for of in ("closed", "simulated", "burst")}
    for row in kept:
        deployed = _asked(name, rows["input_tokens"][row], rows["output_tokens"][row],
                          int(rows["concurrency"][row]))
        closed = calc.evaluate(deployed.inputs(), deployed.model.attention)
        seen = users_see(deployed, wanted=MEANS)
        for each in TIMES:
            found["closed"][each].append(float(closed[f"steady_{each}"]))
            found["burst"][each].append(float(closed[each]))
            found["simulated"][each].append(getattr(seen, each).mean)
    closed_form, simulated, burst = ({each: np.array(times) for each, times in of.items()}
                                     for of in found.values())
    return Curve(catalogue.load_scenario(name), rows["concurrency"][kept], closed_form, simulated,
                 burst, {each: rows[each][kept] for each in TIMES})


def answer() -> None:
    """How far closed form, simulation and measurement are apart, in sentences and a table."""
    rows = []
    for name in SYSTEMS:
        found = curve(name)
        key = name.partition("-")[0]
        for each in TIMES:
            number(f"st-{key}-{each}", found.off("simulated", each), fmt_percent)
            number(f"st-{key}-{each}-measured", found.off("measured", each), fmt_percent, digits=0)
            number(f"st-{key}-{each}-burst", found.off("burst", each), fmt_percent, digits=0)
        first, last = (found.measured["ttft"][at] / found.closed["ttft"][at] for at in (0, -1))
        number(f"st-{key}-first", first, fmt_fixed, digits=1)
        number(f"st-{key}-last", last, fmt_fixed, digits=1)
        number(f"st-{key}-prompt", SYSTEMS[name], fmt_int)
        for at, users in enumerate(found.users):
            rows.append({
                "system": cards(found.scenario),
                "users": fmt_int(users),
                **{f"{each}-{of}": fmt_quantity(getattr(found, of)[each][at], "s")
                   for each in TIMES for of in SAID}})
    number("st-variation", VARIATION, fmt_fixed, digits=1)
    for each in TIMES:
        table(rows, {"system": common("system"), "users": common("users"), **{
            f"{each}-{of}": say("time-said", time=SHORT[each], said=said)
            for of, said in SAID.items()}})


def picture() -> None:
    """Both times of both systems against users."""
    figure("steady_curves", _drawn)


def _drawn(lang: str) -> Figure:
    at = int(lang == "zh")
    figures.style()
    drawing = Figure(figsize=(figures.WIDTH, 5.4))
    panels = drawing.subplots(len(TIMES), len(SYSTEMS), sharex="col")
    for column, name in enumerate(SYSTEMS):
        found = curve(name)
        for row, (each, label) in enumerate(TIMES.items()):
            axes = panels[row][column]
            for which, line in enumerate(LINES.items()):
                axes.plot(found.users, getattr(found, line[0])[each], line[1],
                          color=figures.PALETTE[which], label=SAID[line[0]][at])
            axes.plot(found.users, found.measured[each], "o", ms=4, color=figures.INK,
                      label=SAID["measured"][at])
            axes.set(xscale="log", ylabel=label[at] if column == 0 else "")
            axes.set_ylim(bottom=0)
            axes.set_xticks(found.users, [fmt_int(count) for count in found.users], minor=False)
            axes.minorticks_off()
        panels[0][column].set_title(cards(found.scenario)[at], fontsize=9)
        panels[-1][column].set_xlabel(common("users-at-once")[at])
    panels[0][0].legend(fontsize=8)
    return drawing


def cards(scenario: Scenario) -> Pair:
    """How many of which a system has."""
    en, zh = (f"{scenario.devices} × {scenario.device.name[lang]}" for lang in ("en", "zh"))
    return en, zh


def limits() -> None:
    """Where the closed form does not hold, and which shipped deployments that concerns."""
    concerned: dict[str, list[str]] = {name: [] for name in doubt_words()}
    asked = 0
    for name in catalogue.deployment_names():
        scenario = catalogue.load_scenario(name)
        if scenario.file.workload.output_tokens is None:
            continue
        asked += 1
        for doubt in doubted(scenario):
            concerned[doubt].append(name)
    for name, most in NEAR.items():
        number(f"st-near-{name}", most, fmt_percent, digits=0)
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    number("st-random", int("".join(filter(str.isdigit, recorded["steady_holds"]["note"]))))
    for name in ("holds", *(f"{each}_within{of}" for each in NEAR for of in ("", "_of_all"))):
        number(f"st-{name.replace('_', '-')}", recorded[f"steady_{name}"]["value"], fmt_percent,
               digits=0)
    number("st-beyond", sum(int(recorded[f"steady_{name}_beyond"]["value"]) for name in NEAR))
    number("st-asked", asked)
    number("st-doubted", len({name for names in concerned.values() for name in names}))
    table([{"why": text, "names": ", ".join(f"`{name}`" for name in concerned[doubt]) or "–"}
           for doubt, text in doubt_words().items()],
          {"why": common("why"), "names": say("shipped-deployments")})


def doubted(scenario: Scenario) -> tuple[str, ...]:
    """Why the closed form does not hold for a deployment, by name."""
    inputs = scenario.inputs()
    return lasting(scenario, inputs, calc.evaluate(inputs, scenario.model.attention)).doubts
