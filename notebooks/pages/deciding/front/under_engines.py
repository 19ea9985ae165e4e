"""The standard question's deployments of R1 under one engine and another, as it starts them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from calc.answer.estimate import Estimate, estimate
from calc.layouts.layout import contents
from calc.searching.goal import load_goal
from catalogue import Scenario, made_scenario
from catalogue.engine import AT, CANDIDATE, load_engine
from catalogue.messages import messages
from notebooks.pages.deciding.front.standard import R1, Served, question, serve
from notebooks.pages.deciding.goals import device_label, so_many
from notebooks.pages.deciding.matrix import GOAL
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/deciding/front/under-engines")

RUN = {"nvidia-h200-sxm": ("vllm", "sglang"), "nvidia-b200": ("vllm", "sglang"),
       "ascend-910b2": ("vllm-ascend", "sglang")}  # on cards that each of two engines starts R1 on
EXAMPLE = "nvidia-h200-sxm"
UNMEASURED, ITS_CARD = "mindie", "ascend-910b2"  # of whose kernels nothing is published
MILLI = 1e3


@dataclass(frozen=True)
class Run:
    """The standard question's deployment on a card, under an engine's own profile.

    Attributes:
        served: the deployment as the question has it, under no engine's profile.
        engine: with its release.
        answer: what it comes to.
    """

    served: Served
    engine: str
    answer: Estimate

    def points(self, name: str) -> tuple[float, float, float]:
        """A quantity: value, ends of its 80% interval (SI)."""
        value, low, high = map(float, self.answer.quantities[name].points)
        return value, low, high


def released(engine: str) -> str:
    """The newest release of an engine whose flags are known, candidates left out."""
    return f"{engine}{AT}" + [version for version in load_engine(engine).versions
                              if CANDIDATE not in version][-1]


def under(served: Served, engine: str) -> Scenario:
    """A deployment under an engine, given with its release."""
    goal = load_goal(GOAL, [f"demand.users={question().users}"])
    return made_scenario(contents(goal, served.choice) | {"engine": engine}, Path(f"{GOAL}.yml"))


def runs() -> list[Run]:
    """Each card of ``RUN`` under each of its engines, in the newest release."""
    return list(_runs())


def _runs() -> Iterator[Run]:
    for device, engines in RUN.items():
        served = serve(R1, device)
        assert served is not None
        for engine in map(released, engines):
            answer = estimate(under(served, engine))
            assert answer.fits, f"R1 on {device} does not fit under {engine}."
            yield Run(served, engine, answer)


def beside() -> None:
    """A row per card and engine: time per token, first token, throughput; and the example."""
    found, asked = runs(), question()
    table(found, [
        Column(lambda run: device_label(run.served.device), common("card")),
        Column(lambda run: so_many(run.served.choice.devices, run.served.device, column=True),
               common("number-of-cards")),
        Column(lambda run: run.served.layout, common("layout")),
        Column(lambda run: run.engine, common("engine")),
        Column(lambda run: _milli(run, "steady_tpot"), common("ms-per-token")),
        Column(lambda run: _milli(run, "steady_ttft"), say("first-token-ms")),
        Column(lambda run: _spread(*map(fmt_sig, run.points("steady_throughput"), repeat(2))),
               say("tokens-per-second"))], wide=True)
    numbers({"engines-users": asked.users, "engines-input": asked.demand.input_tokens,
             "engines-output": asked.demand.output_tokens})
    first, other = (run for run in found if run.served.device == EXAMPLE)
    ascend = next(run for run in found if run.served.device == ITS_CARD)
    unmeasured = Run(ascend.served, UNMEASURED, estimate(under(ascend.served, UNMEASURED)))
    number("engines-cards", first.served.choice.devices)
    number("engines-ascend-cards", ascend.served.choice.devices)
    for name, run in {"first": first, "other": other, "ascend": ascend,
                      UNMEASURED: unmeasured}.items():
        value, low, high = run.points("steady_tpot")
        numbers({f"engines-{name}-tpot": value, f"engines-{name}-low": low,
                 f"engines-{name}-high": high}, fmt_time)
    for one, two in zip(found[::2], found[1::2], strict=True):
        ends = [run.points("steady_tpot")[1:] for run in (one, two)]
        assert max(low for low, _ in ends) < min(high for _, high in ends), (
            "On each card the intervals of the two engines overlap.")


def _milli(run: Run, name: str) -> str:
    return _spread(*(fmt_fixed(MILLI * point, 0) for point in run.points(name)))


def _spread(value: str, low: str, high: str) -> str:
    return f"{value} ({low}–{high})"
