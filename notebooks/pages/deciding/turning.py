"""Where one plan stops being the better one, for documented deployments; choices between two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import catalogue
from calc.sensitivity.break_even import (
    FIRST,
    SECOND,
    BreakEven,
    Doubt,
    breakeven,
    doubt,
)
from calc.sensitivity.information import between
from calc.sensitivity.paths import Path, path_of
from calc.sensitivity.plans import Plan, against, plan_of
from calc.sensitivity.tornado import OWN
from catalogue.messages import Pair, join, messages
from catalogue.reading.units import human
from notebooks.pages.deciding.deciding import label, with_note
from notebooks.show.columns import Column
from notebooks.show.display import table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/deciding/turning")

TP16 = "parallelism.tensor_parallel=16,parallelism.data_parallel=1"
ON_CARDS = "s1-expert-tiers-on-cards,parallelism.expert_parallel=32"
FITTING = ("precision=w8a8-int8", "parallelism.expert_parallel=16", "workload.concurrency=32")
TENTH, QUARTER = 0.1, 0.25
OPEN = 6  # questions that are not folded


@dataclass(frozen=True)
class Case:
    """A question of a documented deployment, and the two plans it is about.

    Attributes:
        question: what is asked.
        reference, settings, other: as of the command ``decide``.
        path: what moves.
        quantity: that decides.
        names: of both plans.
        margin, span: as of the command.
    """

    question: Pair
    reference: str
    settings: tuple[str, ...]
    other: str
    path: str
    quantity: str
    names: tuple[Pair, Pair]
    margin: float = 0.0
    span: str | None = None


DRAFTS = (say("one-draft"), say("none"))
NARROW = (("TP8×DP2", "TP8×DP2"), ("TP16", "TP16"))
HOSTED = (say("two-cards-and-host"), common("eight-cards"))
SAVED = (say("less-than-that"), say("that-or-more"))
CASES = (
    Case(say("link-rate-for-tp16"), "s0-scenario-1", (), TP16, "all_links", "tpot", NARROW),
    Case(say("link-rate-for-tp16-in-w8a8"),
         "s0-scenario-1", FITTING, TP16, "all_links", "tpot", NARROW),
    Case(say("network-latency-for-tp16"),
         "s0-scenario-1", FITTING, TP16, "network_alpha", "tpot", NARROW),
    Case(say("hit-rate-for-fetched-experts"),
         "s1-expert-tiers-one-request", (), f"{ON_CARDS},workload.concurrency=4",
         "device_hit_share", "tpot", (say("fetched"), say("all-on-cards"))),
    Case(say("hit-rate-with-more-requests"),
         "s1-expert-tiers-popular", (), ON_CARDS, "device_hit_share", "tpot",
         (say("fetched"), say("all-on-cards"))),
    Case(say("requests-for-eight-cards"),
         "s3-hybrid-910b4", (), "s3-eight-cards", "concurrency", "card_hours", HOSTED),
    Case(say("batch-for-wide-ep"),
         "h200-v32-vllm-tp8", (), "h200-v32-vllm-dp8", "concurrency", "throughput_per_card",
         (("TP8", "TP8"), say("dp8-with-ep8"))),
    Case(say("requests-for-ep96"),
         "wide-vllm-decode-ep32", (), "wide-vllm-decode-ep96", "requests_per_card",
         "throughput_per_card", (("EP32", "EP32"), ("EP96", "EP96"))),
    Case(say("acceptance-for-draft"),
         "h200-r1-sglang-mtp", (), "workload.draft_tokens=0", "mtp_acceptance", "tpot", DRAFTS),
    Case(say("acceptance-for-draft-ep72"),
         "wide-lmsys-decode-mtp", (), "workload.draft_tokens=0", "mtp_acceptance", "tpot", DRAFTS),
    Case(say("context-for-w8a8-quarter"),
         "s0-scenario-1", (), "precision=w8a8-int8", "workload.context_tokens", "tpot", SAVED,
         margin=QUARTER, span="2,1000000"),
    Case(say("context-for-w8a8-tenth"),
         "s0-scenario-1", (), "precision=w8a8-int8", "workload.context_tokens", "tpot", SAVED,
         margin=TENTH, span="2,1000000"),
)
CHOICES = (
    Case(say("two-servers-of-910b2"), "s0-scenario-1",
         FITTING, TP16, "", "card_hours", NARROW),
    Case(say("eight-h200"), "h200-v32-vllm-tp8",
         ("workload.concurrency=100",), "h200-v32-vllm-dp8,workload.concurrency=100", "",
         "card_hours", (("TP8", "TP8"), say("dp8-with-ep8"))),
    Case(say("r1-for-one-request-at", few=HOSTED[0], many=HOSTED[1]), "s3-hybrid-910b4",
         ("workload.concurrency=1",), "s3-eight-cards", "", "card_hours", HOSTED),
    Case(say("draft-on-h100"), "wide-lmsys-decode-mtp", (),
         "workload.draft_tokens=0", "", "card_hours", DRAFTS),
)
RARE = 0.005  # share of the cases that is not told
MEASURED = 2  # inputs that are named of each choice


def solved(case: Case) -> tuple[BreakEven, Plan, Plan, Path]:
    """The break-even of a case, with the plans and the path that it is of."""
    first = plan_of(case.reference, case.settings)
    second = against(case.reference, case.settings, case.other)
    path = path_of(first, case.path, case.span)
    return (breakeven(first, second, path, case.quantity, case.margin),
            first, second, path)


def turns(cases: Sequence[Case] = CASES) -> None:
    """Every case: where the better plan changes, and where the deployment stands now."""
    rows: list[tuple[Any, ...]] = []
    for case in cases:
        found, first, second, path = solved(case)
        sure = doubt(first, second, path, case.quantity, case.margin)
        rows.append((case, _now(first, path), _answer(case, found, first, second, path),
                     _doubted(sure, case, path)))
    table(rows, [
        Column(lambda row: row[0].question, say("question")),
        Column(lambda row: catalogue.load_scenario(row[0].reference).heading, common("deployment")),
        Column(1, say("now")), Column(2, common("answer")), Column(3, common("interval"))],
        wide=True, folded=say("other-questions"), first=OPEN)


def choices(cases: Sequence[Case] = CHOICES) -> None:
    """What it is worth to know more before choosing between two plans, in card-hours."""
    rows = []
    for case in cases:
        first = plan_of(case.reference, case.settings)
        second = against(case.reference, case.settings, case.other)
        found = between(first, second, case.quantity)
        told = [with_note(label(worth.name, first if any(
            knob.name == worth.name for knob in first.knobs) else second), fmt_sig(worth.value, 2))
            for worth in found.worths if not worth.name.startswith(OWN)
            and worth.value > worth.scatter][:MEASURED]
        rows.append((case, found, found.losses[found.taken], join(("; ", "；"), told)))
    table(rows, [
        Column(lambda row: row[0].question, say("choice")),
        Column(lambda row: row[0].names[row[1].taken], say("taken-now")),
        Column(2, say("card-hours"), fmt_fixed),
        Column(lambda row: f"{fmt_sig(row[1].perfect, 2)} "
                           f"({fmt_percent(row[1].perfect / row[2], 0)})",
               say("knowing-all-saves")),
        Column(lambda row: max((worth.value for worth in row[1].worths
                                if worth.name.startswith(OWN)), default=0),
               say("running-one-first"), fmt_sig, digits=2),
        Column(lambda row: row[3] if any(row[3]) else common("none"), say("measuring-input"))],
        wide=True)


def _now(plan: Plan, path: Path) -> str:
    value = float(plan.inputs[path.symbols[0]])
    return _said(value / plan.cards if path.name == "requests_per_card" else value, path)


def _said(value: float, path: Path) -> str:
    """A value of a path as readers have it; counts by themselves."""
    if path.unit == "1":
        return fmt_percent(value, 0) if value < 1 else fmt_sig(value)
    if path.integer:
        return fmt_int(round(value))
    return human(value, path.unit).replace(" us", " µs")


def _doubted(found: Doubt, case: Case, path: Path) -> Pair:
    """The interval of a break-even point, and how often there is none."""
    told = []
    if found.low is not None and found.high is not None:
        told.append((f"{_said(found.low, path)} – {_said(found.high, path)}",) * 2)
    told += [say("throughout-in", plan=name, share=fmt_percent(share, 0))
             for share, name in zip((found.first, found.second), case.names, strict=True)
             if share >= RARE]
    return join(("; ", "；"), told)


def _answer(case: Case, found: BreakEven, first: Plan, second: Plan, path: Path) -> Pair:
    who = dict(zip((FIRST, SECOND), case.names, strict=True))
    neither = say("neither")
    if found.always:
        return say("never-throughout", plan=who.get(found.always, neither))
    turn, last = found.turns[0], found.turns[-1]
    short = sum(not plan.fits(path.moves(plan, np.array([turn.at])))[0]
                for plan in (first, second))
    return say("below-from-there", value=_said(turn.at, path), before=who.get(turn.before, neither),
               after=who.get(turn.after, neither), more=len(found.turns) - 1,
               last=_said(last.at, path), final=who.get(last.after, neither), short=short)
