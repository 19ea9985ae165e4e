"""Eight questions: what is expected by hand, and what is computed.

The latter is computed by ``python -m benchmarks answers``, which searches every goal of the
catalogue, writes the first answer with ``deploy`` and simulates it, and by ``make engine``.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import calc
import catalogue
from calc.layouts.layout import Choice, Row
from calc.uncertainty import Amount
from catalogue.messages import Pair, join, messages
from catalogue.reading import units
from notebooks.pages.deciding.goals import cards_of, plan_of
from notebooks.show.columns import Column
from notebooks.show.display import numbers, table
from notebooks.show.numbers import fmt_percent, fmt_quantity, fmt_sig

common = messages("common")
say = messages("pages/deciding/firsts/expected")

KEPT = Path(__file__).parents[1] / "answers.json"
DRAFTING = "h200-r1-sglang-mtp"  # the deployment of which drafts are asked
TEXTS: dict[str, Pair] = {"random": say("random-tokens"), "chat": say("chat"), "code": say("code")}
QUESTIONS: dict[str, tuple[Pair, Pair]] = {  # goal -> question, expected by hand
    "r1-500-users-h200": (say("h200-users"), say("h200-users-expected")),
    "r1-million-requests-910c": (say("million-requests"), say("million-requests-expected")),
    "r1-16xh20-throughput": (say("h20-throughput"), say("h20-throughput-expected")),
    "r1-longest-context-8x910b4": (say("longest-context"), say("longest-context-expected")),
    "drafts": (say("drafts"), say("drafts-expected")),
    "v3-4x8-h800-pools": (say("pools"), say("pools-expected")),
    "agents-128k-h200": (say("agents"), say("agents-expected")),
    "v32-16x910c": (say("packages"), say("packages-expected"))}


@cache
def stored_answers() -> dict[str, Any]:
    """First answers to the goals of the catalogue, as they were computed last."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def row_of(kept_row: dict[str, Any]) -> Row:
    """A kept deployment."""
    def choice(name: str) -> Choice:
        return Choice.from_json(kept_row[name])

    if "choice" in kept_row:
        return Row(choice("choice"), kept_row["quantities"])
    return Row(choice("decode"), kept_row["quantities"], prefill=choice("prefill"),
               binds=kept_row["binds_pools"])


def eight() -> None:
    """The table of the eight, and how many goals have first answers that start and keep limits."""
    table(QUESTIONS, [
        Column(lambda name: QUESTIONS[name][0], say("asked")),
        Column(lambda name: QUESTIONS[name][1], say("expected-by-hand")),
        Column(lambda name: _drafts() if name == "drafts" else _now(name), say("computed-now"))],
        wide=True)
    found = stored_answers()
    assert all(each and each["files"] and (each["simulated"] is None or each["simulated"]["keeps"])
               for each in found.values())  # the sentence says so
    numbers({"firsts-goals": len(found)})


def _now(name: str) -> Pair:
    """The first answer to a goal: cards, plan, what it comes to, how it starts, what is kept."""
    found = stored_answers()[name]
    if found is None:
        return say("nothing-was-found-that-starts")
    row = row_of(found["row"])
    seen, told = found["row"]["amounts"], [cards_of(row), plan_of(row)]
    for key, unit in (("longest_context", "token"), ("tpot", "s"), ("ttft", "s"),
                      ("throughput_per_card", "token/s")):
        en, zh = NAMES[key]
        if key in seen:
            of = Amount(**seen[key])
            told.append((f"{en} {of.formatted('en')}", f"{zh} {of.formatted('zh')}"))
        elif key in row.quantities:
            value = row.quantities[key]
            told.append((f"{en} {units.human(value, unit)}",
                         f"{zh} {units.human(value, unit, 'zh')}"))
    if one := found.get("one_pool"):
        rate = Amount(**one["throughput_per_card"])
        times = Amount(**seen["throughput_per_card"]).value / rate.value
        told.append(say("one-pool-yields", rate=rate.texts, precision=one["precision"],
                        times=fmt_sig(times, 2)))
    engine = found["row"]["start"]["engine"]
    told.append(common("starts-under", engine=f"`{engine}`") if engine
                else say("no-release-starts-it"))
    if found["simulated"]:
        seen = [say("time-simulated", name=name.upper(), at=at, time=fmt_quantity(value, "s"))
                for name, stated in found["simulated"]["seen"].items()
                for at, value in stated.items()]
        told.append(say("simulated", seen=join((", ", "、"), seen),
                        kept=found["simulated"]["keeps"]))
    if found["share"] is not None:
        told.append(say("all-limits-in-draws", share=fmt_percent(found["share"], 0)))
    return join(("<br>", "<br>"), told)


NAMES: dict[str, Pair] = {
    "longest_context": common("longest-context"), "tpot": ("TPOT", "TPOT"),
    "ttft": ("TTFT", "TTFT"), "throughput_per_card": common("per-card")}


def _drafts() -> Pair:
    """How many times the time per token without drafts is that with one, by kind of text."""
    def pace(*overrides: str) -> float:
        scenario = catalogue.load_scenario(DRAFTING, overrides=list(overrides))
        return float(calc.estimate(scenario).quantities["tpot"].value)

    without = pace("workload.draft_tokens=0")
    gains = {text: without / pace("workload.draft_tokens=1", f"workload.text={text}")
             for text in TEXTS}
    told = [(f"{TEXTS[text][0]} {fmt_sig(gain)}", f"{TEXTS[text][1]} {fmt_sig(gain)}")
            for text, gain in gains.items()]
    return say("one-draft-gains-times", deployment=DRAFTING, gains=join((", ", "、"), told))
