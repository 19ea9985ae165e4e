"""First answers to goals: whether ``deploy`` writes them, and whether they keep limits simulated.

Goals are those of the catalogue, and small random ones: models, cards, lengths, load, limits and
objectives vary. First answers to the catalogue's goals are stored in
``notebooks/pages/deciding/answers.json`` for the book.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import catalogue
from calc.launching.launch import deployment
from calc.launching.starting import select
from calc.layouts.layout import family, text
from calc.searching.goal import load_goal
from calc.searching.report import report_row
from calc.searching.selection import Selection
from catalogue import ParamsError
from catalogue.planning import Goal
from catalogue.reading.files import write_whole

STORED = catalogue.ROOT.parent / "notebooks/pages/deciding/answers.json"
TEMPLATES = ("r1-matrix",)  # of a question for each card
COMPARED = ("v3-4x8-h800-pools",)  # also searched in one pool: whether two pools pay
DRAWN = 60
SEED = 20_261_123
SMALL = ("space.pools=one", "space.chunks=8192", "space.drafts=0,1", "space.pipeline=1",
         "space.spares=none,fewest", "space.micro_batches=1")
MODELS = ("deepseek-v3", "deepseek-v3.2", "kimi-k2", "qwen3-235b-a22b", "glm-4.5")
CARDS = ("nvidia-h20", "nvidia-h20-141gb", "nvidia-h200-sxm", "nvidia-h800", "nvidia-b200",
         "ascend-910b1", "ascend-910b3", "ascend-910c-die")
OBJECTIVES = ("throughput_per_card,tpot", "cards,tpot", "tpot", "throughput,ttft", "ttft,tpot")
LIMITS = (("limits.tpot=60ms",), ("limits.tpot.p90=80ms",), ("limits.ttft.p90=5s",),
          ("limits.tpot=80ms", "limits.ttft.p90=4s"), ("limits.ttft=3s",), ())


def goal_of(number: int) -> Goal:
    """A random goal, the same for the same number."""
    draw = random.Random(SEED + number)
    prompt, answer = (int(2 ** draw.uniform(*ends)) for ends in ((8, 13), (6, 10.5)))
    cards = draw.choice((8, 16))
    return load_goal("r1-64-users-8xh20", [
        f"model={draw.choice(MODELS)}", f"devices={draw.choice(CARDS)}", f"cards.fewest={cards}",
        f"cards.most={cards}", f"demand.users={int(2 ** draw.uniform(2, 6))}",
        f"demand.input_tokens={prompt}", f"demand.output_tokens={answer}",
        f"demand.length_variation={draw.choice((0.3, 0.6, 0.9))}",
        f"objectives={draw.choice(OBJECTIVES)}", *draw.choice(LIMITS), *SMALL])


def judged(answer: Selection) -> dict[str, Any]:
    """Row, files of ``deploy``, sureness and simulation of the first deployment of an answer.

    Raises ParamsError if ``deploy`` refuses a deployment for which the answer names a release.
    """
    group = answer.front[0]
    row, goal = group[0].row, answer.result.wishes.goal
    start, seen = answer.start(row), answer.simulated(row)
    files = 0
    if start is not None and start.engine is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{goal.id}.yml"
            path.write_text(text(goal, row.choice) if row.prefill is None
                            else family(goal, row.prefill, row.choice), encoding="utf-8")
            files = len(deployment(str(path), engine=start.engine).files)
    return {"row": report_row(answer, group[0]).as_json(), "files": files,
            "share": answer.keeps(group[0]),
            "simulated": seen.as_json() if seen else None, "refused": len(answer.refused),
            "missed": len(answer.missed)}


def passes(result: dict[str, Any]) -> bool:
    """Whether ``deploy`` writes a first answer and its limits hold in the simulation."""
    simulated = result["simulated"] is None or result["simulated"]["keeps"]
    return bool(result["row"]["start"]["engine"] and result["files"] and simulated)


def catalogue_goals() -> list[str]:
    """Goals of the catalogue without templates."""
    return [name for name in catalogue.names("goals") if name not in TEMPLATES]


def measure() -> dict[str, tuple]:
    """Count first answers that pass, to goals of the catalogue, which are stored, and random ones.

    The note of ``answers_drawn`` names random goals that end in an error.
    """
    stored: dict[str, Any] = {name: _result(select(name)) for name in catalogue_goals()}
    for name in COMPARED:
        best = select(name, ["space.pools=one"]).front[0][0]
        stored[name]["one_pool"] = {
            "precision": best.row.choice.precision,
            "throughput_per_card": best.amounts["throughput_per_card"].as_json()}
    drawn, errors = [], []
    for number in range(DRAWN):
        try:
            drawn.append(_result(select(goal_of(number))))
        except ParamsError as error:
            errors.append(f"{number}: {error}")
    lines = json.dumps(stored, indent=1, ensure_ascii=False, sort_keys=True)
    write_whole(STORED, f"{lines}\n".encode())
    rows: dict[str, tuple] = {"answers_drawn": (DRAWN, "goals", "; ".join(errors) or "random"),
                              "answers_catalogue": (len(stored), "goals")}
    for kind, results in (("drawn", drawn), ("catalogue", [*stored.values()])):
        met = [result for result in results if result]
        rows |= {f"answers_{kind}_met": (len(met), "goals"),
                 f"answers_{kind}_pass": (sum(map(passes, met)), "goals")}
    return rows


def _result(answer: Selection) -> dict[str, Any] | None:
    return judged(answer) if answer.met else None
