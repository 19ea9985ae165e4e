"""What the chapter on the choice of a deployment says of goals: the best, the sure, the published.

The goals of ``GOALS`` are told together; a reader's own goal is told alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import catalogue
from calc.evidence.classes import axis_label, stand_ins
from calc.launching import starting
from calc.layouts.feasible import MEMORY
from calc.layouts.layout import UTILIZATION, Choice, Row, scenario
from calc.many.sweeps import latency
from calc.physics.step import bottleneck
from calc.searching.goal import HOLDS
from calc.searching.ranking import SURE, SampledRow, keeps, ranked, sample_rows
from calc.searching.selection import OF_EACH, Selection
from calc.serving.evaluate import DECODE_NAMES
from catalogue.deployments.admission import announced, marked
from catalogue.engine import AT
from catalogue.entries.models import OWN_LAYER
from catalogue.kernels import kernel_of, quality
from catalogue.messages import Pair, join, messages, pair
from catalogue.planning import OBJECTIVES, UNITS, Goal
from catalogue.reading.units import human
from notebooks.pages.catalogue.tables.deployments import RESOURCES
from notebooks.pages.catalogue.tables.hardware import dies_of
from notebooks.show.columns import Column
from notebooks.show.display import markdown, number, table
from notebooks.show.numbers import fmt_int, fmt_percent, fmt_quantity, fmt_sig

common = messages("common")
say = messages("pages/deciding/goals")

GOALS = ("v4-flash-200-users-128k", "r1-80-users-910b", "r1-80-users-h20", "tokens-50000",
         "r1-64-users-8xh20", "million-tokens")
LIMITS: dict[str, Pair] = {
    "ttft": ("TTFT", "TTFT"), "tpot": ("TPOT", "TPOT"), "e2e": common("end-to-end-latency"),
    "throughput": common("throughput"), "cost": common("cost"), "power": say("power"),
    MEMORY: common("memory-capacity")}
BEST: dict[str, Pair] = {  # what an objective wants
    "throughput_per_card": say("most-tokens-per-card"),
    "throughput": say("most-tokens"), "tpot": say("least-tpot"),
    "ttft": say("least-ttft"), "e2e": say("least-latency"),
    "cards": say("fewest-cards"), "cost": say("least-cost-per-token"),
    "energy": say("least-energy-per-token"),
    "power": say("least-power"), "longest_context": say("longest-context")}
NOT_DRAWN = ("cards", "longest_context")  # what a deployment has in every draw
TOLD = ("tpot", "ttft", "throughput_per_card")
DRAWN = 1000  # deployments, the best at central values first
SHARES = (0.5, 0.8, 0.9, 0.95)  # of draws, that are asked in turn
POOLS: dict[str, Pair] = {
    "prefill": say("prefill-pool"), "decode": say("decode-pool"),
    "transfer": say("transfer-of-cache")}


@dataclass(frozen=True)
class Page:
    """Goals that are told, and the one whose front is drawn.

    Attributes:
        answers: of all of them.
        main: of the one.
    """

    answers: list[Selection]
    main: Selection


def page_of(goal: str) -> Page:
    """The answers to a goal of a reader's, or to all of ``GOALS`` where it is one of them.

    Args:
        goal: identifier, or path of a goal's file.

    Raises ParamsError for one that cannot be used, or contradicts itself.
    """
    names = GOALS if goal in GOALS else (goal,)
    answers = [starting.select(name) for name in names]
    return Page(answers, answers[names.index(goal)])


def goal_of(answer: Selection) -> Goal:
    """What an answer answers."""
    return answer.result.wishes.goal


def plan(choice: Choice) -> Pair:
    """Weights, cut and what else is chosen: ```fp8-block`, 2 replicas of TP8/EP8+8, 3 drafts``."""
    parts = [(f"`{choice.precision}`",) * 2, pair(choice.layouts)]
    if choice.drafts:
        parts.append(say("number-of-drafts", drafts=choice.drafts,
                         method=choice.draft_method or OWN_LAYER))
    if choice.prefill_context:
        parts.append(say("prompts-dealt"))
    if choice.micro_batches > 1:
        parts.append(say("two-micro-batches"))
    if choice.utilization != UTILIZATION:
        parts.append(say("memory-share", share=f"{choice.utilization}%"))
    return join((", ", "，"), parts)


@cache
def device_label(device: str) -> Pair:
    """A device by its name in both languages, marked where it is only announced."""
    card = catalogue.load_device(device)
    return marked(card, pair(card.name))


def so_many(devices: int, device: str, column: bool = False, brief: bool = False) -> Pair:
    """How many cards, and of dies how many of those: ``8 cards``, ``16 dies (8 cards)``.

    Args:
        devices: as software counts them.
        device: by the name of its file.
        column: below a heading that says cards: ``8``.
        brief: where there is little room: ``16 dies``.
    """
    if (dies := dies_of(device)) > 1:
        return say("so-many-dies", dies=devices, cards=math.ceil(devices / dies),
                   brief="yes" if brief else "no")
    return (fmt_int(devices),) * 2 if column else common("cards-2", cards=fmt_int(devices))


def cards(choice: Choice) -> Pair:
    """How many of which: ``8 × Ascend 910B1``."""
    return join((" × ", " × "), ((fmt_int(choice.devices),) * 2, device_label(choice.device)))


def binding(answer: Selection, row: Row) -> str:
    """The resource that binds the largest part of a decode step."""
    deployed = scenario(goal_of(answer), row.choice)
    inputs = deployed.inputs()
    return bottleneck(inputs, latency(inputs, deployed.model.attention, DECODE_NAMES))


def limited(answer: Selection, row: Row) -> Pair:
    """The limit nearest to a deployment, if there is any, and what binds its decode steps."""
    at, resource = answer.result.wishes.binds(row), RESOURCES[binding(answer, row)]
    return join(("; ", "；"), (LIMITS[at], resource)) if at else resource


def best_of(answer: Selection, rows: Sequence[Row]) -> Row | None:
    """The first of some deployments by what they can stand for, of those that a release starts."""
    objectives = answer.result.wishes.objectives
    some = first = sorted(rows, key=lambda row: row.worth(objectives), reverse=True)[:OF_EACH]
    while some:
        best = ranked(answer.result, sample_rows(answer.result, some), 1)[0][0].row
        if answer.offers(best):
            return best
        some = [row for row in some if row.kind != best.kind]
    return next(iter(first), None)


def of_bases(answer: Selection, name: str) -> dict[str, list[Row]]:
    """The best rows in one pool by ``device`` or ``precision``."""
    rows: dict[str, list[Row]] = {}
    for base, kept in zip(answer.result.bases, answer.result.of_bases, strict=True):
        if kept.front.rows:
            rows.setdefault(getattr(base, name), []).extend(
                answer.result.rows(kept.front, OF_EACH))
    return rows


def best_on_devices(answer: Selection) -> list[Row]:
    """The best of each device, the best first; without a cost, where it counts, the last."""
    tops = (best_of(answer, rows) for rows in of_bases(answer, "device").values())
    return sorted((row for row in tops if row), reverse=True,
                  key=lambda row: row.worth(answer.result.wishes.objectives))


def official(answer: Selection) -> SampledRow | None:
    """The best in the published weights, under the same draws; None where there is none."""
    name = answer.official_precision or ""
    paired = answer.result.pairs.rows() if answer.result.pairs else []
    row = best_of(answer, of_bases(answer, "precision").get(name, []) + [
        row for row in paired if row.choice.precision == name])
    return sample_rows(answer.result, [row])[0] if row else None


def cell(each: SampledRow, name: str) -> str:
    """A quantity with its 80% interval: ``47.9 ms (44.1–87.3)``."""
    if name not in each.amounts:
        return "–"
    told = each.amounts[name]
    if name == "cost":  # in the currency of the heading
        return f"{fmt_sig(told.value)} ({'–'.join(fmt_sig(end) for end in told.ends)})"
    if told.exact:
        return told.text
    # value and ends have one unit, which stands before the ends
    return f"{told.text} ({told.reach.removesuffix(' ' + told.text.rpartition(' ')[2])})"


def summary(page: Page) -> None:
    """The answer to each goal: the best, the first that is sure, the published weights."""
    for place, answer in enumerate(page.answers, 1):
        markdown(*headed(answer, f"{place}. " if len(page.answers) > 1 else ""))
        lines = _lines(answer)
        costed = any("cost" in line for line in lines)
        table(lines, [
            Column("which", say("which")),
            Column(lambda line: _stacked(*map(line.get, (
                "cards", "plan", "quality", "starts", "near", "stand_ins", "announced"))),
                common("deployment")),
            Column(lambda line: _stacked(*(f"{name.upper()} {line[name]}" for name in (
                "tpot", "ttft") if name in line)), say("time-per-token-first-token")),
            Column(lambda line: _stacked(line.get("throughput_per_card"), line.get("cost")),
                   say("per-card-and-cost", currency=currency_of(page)) if costed
                   else common("per-card-interval")),
            Column(lambda line: _stacked(line.get("limited"), "kept" in line and say(
                "all-kept-in-of-draws", kept=line["kept"])), say("nearest-limit-what-binds"))],
            wide=True)
    number("which-kept", _kept(page), str)
    number("which-sure", goal_of(page.main).limits.sure or SURE, fmt_percent, digits=0)
    number("which-tried", sum(answer.result.funnel.deployments for answer in page.answers))


def headed(answer: Selection, first: str = "") -> Pair:
    """The title of a goal with its limits, its lengths, and what is best."""
    goal, limits = goal_of(answer), answer.result.wishes.limits
    first_of, *others = answer.result.wishes.chosen
    signs = [say("limit", name=LIMITS[name], sign="≤" if OBJECTIVES[name] < 0 else "≥",
                 limit=human(limit, UNITS[name]) if name in UNITS else fmt_sig(limit))
             for name, limit in limits.items()]
    wanted = say("lengths-and-best", taken=fmt_int(goal.demand.input_tokens),
                 given=fmt_int(goal.demand.output_tokens), best=BEST[first_of], share=fmt_percent(
                     HOLDS, 0), drawn=first_of not in NOT_DRAWN, more=bool(others),
                 then=join((", ", "、"), [BEST[name] for name in others]))
    return say("headed", first=first, title=pair(goal.title),
               told=join(("; ", "；"), [*([join((", ", "，"), signs)] if signs else []), wanted]))


def _kept(page: Page) -> str:
    """In which share of draws the best of goals with a surer one beside it keep all limits."""
    told = [answer for answer in page.answers if answer.result.front.rows and answer.front]
    beside = [answer for answer in told if surer_best(answer)]
    shares = [share for answer in beside or told
              if (share := answer.keeps(answer.front[0][0])) is not None]
    return "–".join(sorted({fmt_percent(end(shares), 0) for end in (min, max) if shares}) or "–")


def surer_best(answer: Selection) -> SampledRow | None:
    """The first row that keeps all limits in ``SURE`` of the draws, where the best does not."""
    leaders = (group[0] for group in answer.front)
    sure = next((each for each in leaders if (answer.keeps(each) or 0.0) >= SURE), None)
    return sure if sure and sure.row.choices != answer.front[0][0].row.choices else None


def certainty(page: Page) -> None:
    """What being sure takes: of a goal with limits the best deployment by the share of draws in
    which it keeps them."""
    answer = next((each for each in (page.main, *page.answers) if each.result.wishes.limits
                   and each.result.front.rows), None)
    if answer is None:
        markdown(*say("no-goal-here-has-limits"))
        return
    goal, found = goal_of(answer), answer.result
    drawn = sample_rows(found, [row for row in answer.candidates if row.prefill is None][:DRAWN])
    rows = [(share, next((each for each in drawn if (keeps(found, each) or 0.0) >= share), None))
            for share in SHARES]

    def best(of: Callable[[SampledRow], Any], heading: Pair) -> Column:
        return Column(lambda row: of(row[1]) if row[1] else "", heading)

    markdown(*(f"**{title}**" for title in pair(goal.title)))
    table(rows, [
        Column(0, say("asked-of-draws"), fmt_percent, digits=0),
        Column(lambda row: cards(row[1].row.choice) if row[1] else say("none"), common("cards")),
        best(lambda each: plan(each.row.choice), common("weights-and-layout")),
        best(lambda each: cell(each, "tpot"), common("tpot")),
        best(lambda each: cell(each, "ttft"), common("ttft")),
        best(lambda each: fmt_percent(keeps(found, each) or 0.0, 0), common("limits-kept"))],
        wide=True)
    markdown(*say("most-drawn", drawn=fmt_int(len(drawn))))


def _stacked(*texts: Any) -> Pair:
    """What belongs together in a cell, one above the other."""
    return join(("<br>", "<br>"), (text if isinstance(text, tuple) else (text, text)
                                   for text in texts if text))


def currency_of(page: Page) -> str:
    """The currency of costs."""
    return goal_of(page.main).currency


def _lines(answer: Selection) -> list[dict[str, Any]]:
    """Rows of one goal; of one that nothing meets, its nearest miss."""
    if not answer.result.front.rows and not answer.met:
        return [_missed(answer)]
    if not answer.met and answer.recommended:
        return [_line(answer, answer.recommended[0][0], say("nothing-is-so-sure-surest"))]
    if not answer.met:
        return _simulated(answer)
    best, published = answer.front[0][0], official(answer)
    lines = [_line(answer, best, say("best"))]
    if surer := surer_best(answer):
        lines.append(_line(answer, surer, say("best-that-is-sure")))
    if published is None:
        lines.append({"which": common("published-weights"), "plan": _unpublished(answer)})
    elif published.row.choices == best.row.choices:
        lines[0]["which"] = say("best-in-published-weights")
    else:
        lines.append(_line(answer, published, common("published-weights")))
    if (layouts := len({each.row.layout for each in answer.front[0]})) > 1:
        lines[0]["which"] = _stacked(lines[0]["which"], say("plainest-of-alike", count=layouts))
    return lines


def _unpublished(answer: Selection) -> Pair:
    """Why there is no deployment in the published weights."""
    weights, asked = answer.official_precision, goal_of(answer).precisions
    if weights is None:
        return say("none-are-known-of-this")
    if weights in {base.precision for base in answer.result.bases}:
        return say("nothing-meets-goal", weights=weights)
    if asked and weights not in asked:
        return say("not-asked-for", weights=weights)
    return say("these-cards-do-not-multiply", weights=weights)


def _simulated(answer: Selection) -> list[dict[str, Any]]:
    """The first of what keeps its limits in closed form, where nothing does so simulated."""
    first = answer.missed[0]
    seen = [f"{name.upper()} {at} {human(value, 's')}" for name, stated in first.seen.items()
            for at, value in stated.items()]
    return [{"which": say("nothing-keeps-it-simulated-first"),
             "cards": cards_of(first.row), "plan": plan_of(first.row),
             "limited": say("simulated", seen=(", ".join(seen), "，".join(seen)))}]


def cards_of(row: Row) -> Pair:
    """How many cards of which, of two pools of each."""
    return join((" + ", " + "), map(cards, row.choices))


def plan_of(row: Row) -> Pair:
    """Weights and cut, of two pools of each."""
    return join(("; ", "；"), map(plan, row.choices))


def nearest_measured(answer: Selection, row: Row) -> Pair:
    """What was measured nearest, and on which axes a deployment lies outside of it."""
    near = answer.near(row)
    if near.nearest is None:
        return say("nothing-was-measured-of-its")
    outside = [axis_label(axis.name) for axis in near.outside]
    if not outside:
        return say("inside-of-what-was-measured", nearest=near.nearest)
    return say("outside-of-what-was-measured", outside=join((", ", "、"), outside))


def starts(answer: Selection, row: Row) -> Pair:
    """Which release of an engine starts a deployment, and with which kernel of its experts."""
    start = answer.start(row)
    if start is None:
        return "", ""
    if start.engine is None:
        return say("no-release-starts-it")
    kernels = join(("; ", "；"), _kernels(answer, row, *start.engine.split(AT)))
    return say("starts-under-kernel", engine=start.engine, kernels=kernels)


def _kernels(answer: Selection, row: Row, engine: str, release: str) -> list[Pair]:
    """Kernels of the experts' format in a release, one of each pool where they differ."""
    model = catalogue.load_model(answer.result.wishes.goal.model)
    found = [kernel_of(catalogue.load_precision(choice.precision),
                       catalogue.load_device(choice.device), engine, release, model)
             for choice in row.choices]
    return list(dict.fromkeys(each.kernel for each in found if each is not None))


def costs(answer: Selection, row: Row) -> Pair:
    """What the formats of a deployment cost in quality."""
    formats = dict.fromkeys(choice.precision for choice in row.choices)
    return join(("; ", "；"), (quality(answer.result.space.model, name).words for name in formats))


def _line(answer: Selection, each: SampledRow, which: Pair) -> dict[str, Any]:
    share = answer.keeps(each)
    row = each.row
    pools = POOLS[row.binds] if row.binds else None
    return {"which": which, "cards": cards_of(row), "plan": plan_of(row),
            "near": nearest_measured(answer, row), "starts": starts(answer, row),
            "quality": costs(answer, row),
            "stand_ins": stand_ins(scenario(goal_of(answer), row.choice)),
            "announced": announced(choice.device for choice in row.choices),
            **{name: cell(each, name) for name in TOLD},
            "limited": pools or limited(answer, row),
            **({"cost": cell(each, "cost")} if "cost" in row.quantities else {}),
            **({"kept": fmt_percent(share, 0)} if share is not None else {})}


def _missed(answer: Selection) -> dict[str, Any]:
    """The nearest miss as a row."""
    row = answer.nearest_miss
    if row is None:
        return {"which": say("nothing-can-be-laid-out")}
    line = {"which": say("nothing-meets-it-nearest"),
            "cards": cards(row.choice), "plan": plan(row.choice), "limited": miss(answer, row)}
    return line | {name: human(row.quantities[name], UNITS[name]) for name in TOLD
                   if name in row.quantities}


def miss(answer: Selection, row: Row) -> Pair:
    """By how much a near miss misses: ``TPOT 12.1 ms, 21% over 10 ms``."""
    at = answer.result.wishes.binds(row)
    if at == MEMORY:
        return say("short-of-memory", short=fmt_quantity(row.quantities["short"], "B"))
    value, limit, unit = row.quantities[at], answer.result.wishes.limits[at], UNITS.get(at, "")
    seen, wanted = (human(amount, unit) for amount in (value, limit))
    name, times = LIMITS[at], fmt_sig(1 + row.over[at])
    return say("times-asked-for", name=name, seen=seen, times=times, wanted=wanted,
               too_little=OBJECTIVES[at] > 0)
