"""The signs of a search's answer, explained: only those that occur."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calc.commands.printing import spoken
from catalogue.messages import messages

if TYPE_CHECKING:
    from calc.searching.report import SearchReport

say = messages("calc/commands/deciding/legend")


def legend(report: SearchReport) -> list[str]:
    """Explain each sign of the rows of a report and of its usual layouts."""
    return [spoken(say("sign", name=name)) for name in dict.fromkeys(_signs(report))]


def _signs(report: SearchReport) -> Iterator[str]:
    """Names of the signs in the order in which they are explained."""
    choices = [choice for row in report.rows for choice in row.row.choices]
    cuts = [*(choice.cut for choice in choices), *(
        each.row.choice.cut if each.row else each.cut for each in report.usual)]
    wishes = report.answer.result.wishes
    occurs = {
        "tensor": True, "data": any(cut.joined > 1 for cut in cuts),
        "pipeline": any(cut.pipeline > 1 for cut in cuts),
        "context": any(cut.context > 1 for cut in cuts),
        "expert": any(cut.expert > 1 for cut in cuts), "spares": any(cut.spares for cut in cuts),
        "chunk": True, "micro_batches": any(choice.micro_batches > 1 for choice in choices),
        "drafts": any(cut.drafts for cut in cuts), "flight": True,
        "cost": "cost" in {*wishes.chosen, *wishes.limits},
        "draws": any(row.keeps is not None for row in report.rows), "interval": True}
    return (name for name, present in occurs.items() if present)
