"""Run: the commands that start the standard question's deployments of R1, and what they promise."""

from __future__ import annotations

from functools import cache

from calc.answer.estimate import estimate
from calc.answer.steady_state import SEEN_STEADILY
from calc.launching.launch import Launch, deployed
from catalogue import Scenario
from catalogue.engine import load_engine
from notebooks.pages.deciding.front.standard import R1, Served, question, serve
from notebooks.pages.deciding.front.under_engines import released, under
from notebooks.pages.deciding.matrix import GOAL
from notebooks.pages.deciding.service import text_of
from notebooks.show.display import number, numbers
from notebooks.show.numbers import fmt_time

PLANS = {"910b": ("ascend-910b2", "vllm-ascend"), "h200": ("nvidia-h200-sxm", "vllm")}
SCRIPT, COMMAND = "nodes/serve-0.sh", "server_0=("  # of the first server, and where it begins


@cache
def plan(key: str) -> tuple[Served, Scenario, Launch]:
    """The standard question's deployment on a card of ``PLANS``, the same under its engine, and
    what starts it."""
    device, engine = PLANS[key]
    found = serve(R1, device)
    assert found is not None
    scenario = under(found, released(engine))
    return found, scenario, deployed({"serve": scenario}, (GOAL, ()))


def answer() -> None:
    """Glue what each plan is and gives."""
    asked = question()
    numbers({"ru-users": asked.users, "ru-input": asked.demand.input_tokens,
             "ru-output": asked.demand.output_tokens})
    number("ru-torchair", load_engine("vllm-ascend").lookup("torchair_graph_config").until, str)
    for key, (_, engine) in PLANS.items():
        found, scenario, made = plan(key)
        told = estimate(scenario).quantities
        number(f"ru-{key}-servers", found.choice.nodes)
        number(f"ru-{key}-sizes", found.sizes, str)
        number(f"ru-{key}-release", released(engine), str)
        for name in ("tpot", "ttft"):
            value, low, high = told[SEEN_STEADILY[name]].points
            numbers({f"ru-{key}-{name}": value, f"ru-{key}-{name}-low": low,
                     f"ru-{key}-{name}-high": high}, fmt_time)
        number(f"ru-{key}-files", len(made.files) + 1)


def command(key: str) -> None:
    """Show how a plan's first server starts, every flag with its reason."""
    _, _, made = plan(key)
    lines = made.files[SCRIPT].split("\n")
    text_of(made, SCRIPT, lines.index(COMMAND))
