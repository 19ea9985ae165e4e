"""An answer of ``search`` in words: a deployment, its quantities, what runs and starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalogue.planning.goals import UNITS
from catalogue.reading.amounts import human
from catalogue.reading.units import DIMENSIONLESS

if TYPE_CHECKING:
    from calc.layouts.choice import Choice, Row
    from calc.searching.result import Answer
    from calc.searching.robust import SampledRow

HEADS = {"throughput_per_card": "per card", "throughput": "throughput", "ttft": "TTFT",
         "tpot": "TPOT", "e2e": "latency", "cost": "cost per million",
         "power": "power", "energy": "energy", "longest_context": "longest context"}
AXES = {"requests": "requests a card", "tensor": "TP", "pipeline": "PP", "expert": "EP",
        "drafts": "drafts", "precision": "format", "device": "card", "pools": "pools"}


def row_label(row: Row) -> str:
    """A deployment, as engines are told it; of two pools each."""
    if row.prefill is not None:
        return (f"{row.devices} cards in two pools: prefill {_brief_pool(row.prefill)}; decode "
                f"{_brief_pool(row.choice)}, {row.choice.concurrency:,} in flight")
    return f"{_brief_pool(row.choice)}, {row.choice.concurrency:,} in flight"


def interval(each: SampledRow, name: str) -> str:
    """A quantity with its 80% interval, if it has one."""
    if name not in each.amounts:
        return f"{HEADS[name]} {amount(name, each.row.quantities[name])}"
    return f"{HEADS[name]} {each.amounts[name].said('en')}"


def brief(answer: Answer, row: Row) -> str:
    """A deployment beside the first: what it comes to, what its format costs, what starts it."""
    seen, pools = answer.amounts(row), " + ".join(
        f"{choice.devices} × {choice.device}, {choice.precision}, {choice.layout}"
        f"{steps(choice.drafts, choice.micro_batches)}" for choice in row.choices)
    cost = f", {seen['cost'].text} per million" if "cost" in seen else ""
    return (f"{pools}: TPOT {seen['tpot'].text}, TTFT {seen['ttft'].text}, "
            f"{seen['throughput_per_card'].text} per card{cost}; "
            f"{'; '.join([*qualities(answer, row), starts(answer, row)])}")


def starts(answer: Answer, row: Row, file: str = "") -> str:
    """Which release starts a deployment, and with which command if its file has a name."""
    start = answer.start(row)
    if start is None:
        return ""
    if start.engine is None:
        return f"no release starts it: {start.why}"
    return (f"start with: python -m calc deploy {file} --engine {start.engine} -o DIR" if file
            else f"starts under {start.engine}")


def steps(drafts: int, micro_batches: int) -> str:
    """How a step runs, where it drafts or is cut in two: ``, 1 draft, two half-batches``."""
    return (f", {drafts} draft{'s' * (drafts > 1)}" * (drafts > 0)
            + ", two half-batches" * (micro_batches > 1))


def qualities(answer: Answer, row: Row) -> list[str]:
    """What the format of a deployment costs in quality; of two pools in two formats each."""
    told = [known.told[0] for known in answer.quality(row)]
    names = list(dict.fromkeys(choice.precision for choice in row.choices))
    return told if len(names) == 1 else [
        f"{name}: {each}" for name, each in zip(names, told, strict=True)]


def _brief_pool(choice: Choice) -> str:
    engine = f" under {choice.engine}" if choice.engine else ""
    return (f"{choice.devices} × {choice.device}{engine}, {choice.precision}, {choice.layout}, "
            f"chunks of {choice.chunk:,}{steps(choice.drafts, choice.micro_batches)}")


def amount(name: str, value: float) -> str:
    """A quantity by its name, with its unit."""
    return human(value, UNITS.get(name, DIMENSIONLESS))


def runs(answer: Answer, row: Row) -> str:
    """Which engine runs a deployment, or why none does."""
    from calc.layouts.choice import unrun

    why = unrun(answer.found.wishes.goal, row)
    kernels = {choice.precision: kernel for choice, kernel in zip(
        row.choices, row.kernels(answer.found.space.model), strict=True) if kernel}
    told = [f"{'its format' if len(kernels) == 1 else name} {kernel.told}"
            for name, kernel in kernels.items()]
    return "; ".join(dict.fromkeys([f"NO ENGINE RUNS IT: {each}" for each in why] or told))


def near(answer: Answer, row: Row) -> str:
    """What was measured near a deployment, in one sentence."""
    found = answer.near(row)
    if found.nearest is None:
        return "Nothing was measured of its kind."
    inside = [AXES[axis.name] for axis in found.axes if axis.inside]
    outside = [f"{AXES[axis.name]} ({_amount_of(axis.value)}; measured "
               f"{_ends(axis)})" for axis in found.outside]
    said = f"outside of what was measured: {', '.join(outside)}" if outside else (
        "on every axis inside of what was measured")
    return (f"Measured nearest: {found.nearest}; {said}"
            + (f"; inside: {', '.join(inside)}" if outside and inside else "") + ".")


def stood_in(answer: Answer) -> list[str]:
    """What is taken of other cards for those that are told, a sentence for each."""
    rows = (group[0].row for group in answer.front)
    return list(dict.fromkeys(told[0] for row in rows if (told := answer.stand_ins(row))))


def _amount_of(value: Any) -> str:
    return human(value) if isinstance(value, float) else str(value)


def _ends(axis: Any) -> str:
    if axis.name in ("precision", "device", "pools"):
        return " ".join(map(str, axis.covered))
    return " to ".join(dict.fromkeys(_amount_of(each) for each in axis.covered))
