"""First answers to goals: whether ``deploy`` writes them, and their limits hold simulated.

Of every goal of the catalogue, and of goals drawn at random: models, cards, lengths, load, limits
and objectives vary, few cards and one pool. Those that nothing meets are counted apart. What the
catalogue's goals come to is kept in ``notebooks/pages/deciding/answers.json``, which the book
tells.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import catalogue
from calc.launching.deployment import deployment
from calc.launching.starting import search
from calc.layouts.choice import family, text
from calc.searching.load_goal import load_goal
from calc.searching.result import Answer
from catalogue import ParamsError
from catalogue.planning.goals import Goal

KEPT = catalogue.ROOT.parent / "notebooks/pages/deciding/answers.json"
TEMPLATES = ("r1-matrix",)  # is asked of each card by itself
COMPARED = ("v3-4x8-h800-pools",)  # asks whether two pools pay: beside the best in one pool
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
    """A goal that is drawn: the same for the same number."""
    draw = random.Random(SEED + number)
    prompt, answer = (int(2 ** draw.uniform(*ends)) for ends in ((8, 13), (6, 10.5)))
    cards = draw.choice((8, 16))
    return load_goal("r1-64-users-8xh20", [
        f"model={draw.choice(MODELS)}", f"devices={draw.choice(CARDS)}", f"cards.fewest={cards}",
        f"cards.most={cards}", f"demand.users={int(2 ** draw.uniform(2, 6))}",
        f"demand.input_tokens={prompt}", f"demand.output_tokens={answer}",
        f"demand.length_variation={draw.choice((0.3, 0.6, 0.9))}",
        f"objectives={draw.choice(OBJECTIVES)}", *draw.choice(LIMITS), *SMALL])


def judged(answer: Answer) -> dict[str, Any]:
    """What becomes of the first answer: its engine, how many files, what its users see.

    Raises ParamsError where ``deploy`` refuses what the answer says starts.
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
    return {"row": answer.beside(row), "files": files, "share": answer.keeps(group[0]),
            "simulated": seen.as_json() if seen else None, "refused": len(answer.refused),
            "missed": len(answer.missed)}


def passes(found: dict[str, Any]) -> bool:
    """Whether a first answer is written by ``deploy``, and its limits hold simulated."""
    kept = found["simulated"] is None or found["simulated"]["keeps"]
    return bool(found["row"]["start"]["engine"] and found["files"] and kept)


def catalogue_goals() -> list[str]:
    """Goals of the catalogue that are asked as they stand."""
    return [name for name in catalogue.names("goals") if name not in TEMPLATES]


def measure() -> dict:
    """How many first answers start and keep their limits, of the catalogue and of drawn goals."""
    return of_catalogue() | of_drawn()


def of_catalogue() -> dict:
    """Of the goals of the catalogue; what they come to is kept."""
    kept = {}
    for name in catalogue_goals():
        answer = search(name)
        kept[name] = judged(answer) if answer.met else None
        if name in COMPARED:
            kept[name]["one_pool"] = in_one_pool(name)
    return counted(kept)


def in_one_pool(name: str) -> dict[str, Any]:
    """Tokens per card [token/s] of the best answer to a goal in one pool, and its weights."""
    best = search(name, ["space.pools=one"]).front[0][0]
    return {"precision": best.row.choice.precision,
            "throughput_per_card": best.amounts["throughput_per_card"].as_json()}


def counted(kept: dict[str, Any]) -> dict:
    """Keep first answers to the goals of the catalogue, and count those that pass."""
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True) + "\n",
                    encoding="utf-8")
    met = [each for each in kept.values() if each]
    return {"answers_catalogue": (len(kept), "goals"), "answers_catalogue_met": (len(met), "goals"),
            "answers_catalogue_pass": (sum(map(passes, met)), "goals",
                                       "deploy writes the first answer, limits kept simulated")}


def of_drawn() -> dict:
    """Of goals that are drawn at random; one that cannot be asked, or is refused, is named."""
    wrong, met, passed = [], 0, 0
    for number in range(DRAWN):
        try:
            answer = search(goal_of(number))
            found = judged(answer) if answer.met else None
        except ParamsError as error:
            wrong.append(f"{number}: {error}")
            continue
        met += found is not None
        passed += found is not None and passes(found)
    return {"answers_drawn": (DRAWN, "goals", "; ".join(wrong) or "small ones, at random"),
            "answers_drawn_met": (met, "goals"), "answers_drawn_pass": (passed, "goals")}
