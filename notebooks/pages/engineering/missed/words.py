"""Where a law misses a table and by how much, as a cell of a table on a page has it."""

from __future__ import annotations

from catalogue.entries.profiles import Missed, Shapes
from catalogue.messages import Pair, join, messages
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_sig

common = messages("common")
say = messages("pages/engineering/missed/words")

COLUMNS: dict[str, Pair] = {
    "rows": common("rows"), "columns": say("outputs"), "depth": say("inputs"),
    "weights": say("elements-of-weight"),
    "outputs": say("rows-outputs"), "tokens": common("tokens"),
    "hidden_size": say("hidden-size"),
    "moe_intermediate_size": say("expert-width"),
    "width": say("slice-width"), "n_routed_experts": say("experts"),
    "num_experts_per_tok": say("experts-per-token"),
    "tensor_parallel": say("slices"),
    "expert_parallel": say("ranks-of-experts"),
    "skew": say("unevenness-of-routing"),
    "rows_of_expert": common("rows-per-expert"),
    "rows_of_rank": say("rows-of-rank"), "heads": say("heads"),
    "batch": common("number-of-requests"), "context": say("context"),
    "element_bytes": say("bytes-of-cached-element"),
    "positions": say("positions"), "ranks": common("ranks"),
    "nodes": common("number-of-servers"), "bytes": say("bytes-of-rank"),
    "bytes_of_all": say("bytes-of-all-ranks"),
    "token_bytes": say("bytes-of-token"), "shape": say("shapes")}
OTHER = say("another-kernel")
# small weights stay in a cache from run to run of a table, which looks the same
WEIGHTS, KEPT = "weights", say("another-kernel-or-l2")
UNNAMED = say("too-few-rows-to-say")
MANY = 1000  # from which on a value that is not whole is shown as if it were


def why(missed: Missed | None) -> Pair:
    """Switches with their factors, and what is missed beside them.

    Args:
        missed: of a table that the law misses; None where nothing is said of it.
    """
    if missed is None:
        return UNNAMED
    parts = [say("switched", kernel=KEPT if each.column == WEIGHTS else OTHER, place=_place(each),
                 factor=_times(each.factor)) for each in missed.switches]
    if rest := missed.rest:
        parts.append(say("rest", how=rest.how, place=_place(rest), factor=_times(rest.factor)))
    return join(("; ", "；"), parts)


def _times(factor: float) -> str:
    return f"{fmt_fixed(factor, 2)}×"


def _place(shapes: Shapes) -> Pair:
    """A column with its ends, and of which shapes."""
    en, zh = COLUMNS.get(shapes.column, (shapes.column,) * 2)
    first, last = (None if end is None else _value(end) for end in (shapes.first, shapes.last))
    if first is None and last is None:
        ends = ""
    elif last is None:
        ends = f" ≥ {first}"
    elif first is None:
        ends = f" ≤ {last}"
    else:
        ends = f" {first}" if first == last else f" {first}–{last}"
    where = getattr(shapes, "where", None)
    return join((", ", "，"), [(en + ends, zh + ends), *([_place(where)] if where else [])])


def _value(value: float) -> str:
    """Of a column: whole, or to a few digits."""
    return fmt_int(round(value)) if value == round(value) or value >= MANY else fmt_sig(value)
