"""``decide``: what a decision hangs on: elasticities, tornado, break-even, value of measuring."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.table import Table

from calc.commands.arguments import add_scenario, add_settings, quantity, refuse_too_long
from calc.commands.printing import (
    INTERRUPTED,
    OK,
    amount,
    console,
    input_name,
    listing,
    print_json,
    spoken,
    tell,
)
from calc.commands.printing import interval as span
from calc.commands.progress import progress
from calc.many.processes import OnProgress
from calc.sensitivity.break_even import FIRST, SECOND, TIE, BreakEven, breakeven, doubt
from calc.sensitivity.information import CARDS, DRAWS, Information, between, to_buy
from calc.sensitivity.paths import Path, path_of
from calc.sensitivity.plans import (
    CARD_HOURS,
    Plan,
    against,
    check_quantity,
    plan_of,
    quantity_label,
    signed,
    unit_of,
)
from calc.sensitivity.sobol import MOST, SAMPLES, sensitivity
from calc.sensitivity.tornado import OWN, answers_of, tornado
from catalogue import ParamsError, symbols
from catalogue.deployments.admission import longest_request
from catalogue.messages import Pair, messages
from catalogue.reading import units
from catalogue.reading.units import plain

common = messages("common")
say = messages("calc/commands/deciding/decide")

ROWS = 12  # rows of a table
FEW = 3  # inputs of a sentence
CURRENCIES = ("USD", "CNY")
Shown = tuple[Any, list[Any]]  # an answer as plain data, and as lines and tables
WAYS = ("elasticities", "tornado", "sensitivity", "information", "breakeven")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``decide`` takes, besides ``--json``."""
    add_scenario(command)
    add_settings(command, say("help-set"))
    command.add_argument("--quantity", default=None, metavar="NAME",
                         help=spoken(say("help-quantity")))
    for way, meaning in (("elasticities", say("help-elasticities")),
                         ("tornado", say("help-tornado")),
                         ("sensitivity", say("help-sensitivity"))):
        command.add_argument(f"--{way}", action="store_true", help=spoken(meaning))
    command.add_argument("--samples", metavar="N", help=spoken(say("help-samples")))
    command.add_argument("--breakeven", metavar="PATH", help=spoken(say("help-breakeven")))
    command.add_argument("--against", metavar="KEY=VALUE,...", help=spoken(say("help-against")))
    command.add_argument("--between", metavar="LOW,HIGH", help=spoken(say("help-between")))
    command.add_argument("--margin", default="0", metavar="SHARE",
                         help=spoken(say("help-margin")))
    command.add_argument("--information", action="store_true",
                         help=spoken(say("help-information")))
    command.add_argument("--demand", metavar="RATE", help=spoken(say("help-demand")))
    command.add_argument("--late", metavar="FACTOR", help=spoken(say("help-late")))
    command.add_argument("--price", metavar="MONEY", help=spoken(say("help-price")))


def run(args: argparse.Namespace) -> int:
    """Print what a deployment's quantity hangs on.

    Raises ParamsError for a deployment, a path or a combination that cannot be used.
    """
    if (args.against is None) != (args.breakeven is None) and not (
            args.information and args.breakeven is None):
        raise ParamsError(spoken(say("expected-against") if args.breakeven
                                 else say("expected-breakeven")))
    name = args.quantity or (CARD_HOURS if args.information else "tpot")
    plan = plan_of(args.scenario, args.settings, "")
    refuse_too_long(plan.scenario.id, plan.scenario.model, longest_request(plan.scenario))
    check_quantity(plan, name)
    ways = [way for way in WAYS if getattr(args, way)] or ["tornado", "elasticities"]
    done: dict[str, Shown] = {}
    stopped = False
    with progress() as report:
        try:
            for way in ways:
                report(spoken(say("working", way=way)), 0, 0)
                done[way] = DO[way](args, plan, name, lambda _, some, of: report(
                    spoken(say("working", way="sensitivity")), some, of))
        except KeyboardInterrupt:
            if not done:
                raise
            stopped = True
    code = INTERRUPTED if stopped else OK
    if args.json:
        print_json({"scenario": plan.scenario.id, "quantity": name, "unit": unit_of(name),
                    **{way: shown[0] for way, shown in done.items()},
                    **({"interrupted": way} if stopped else {})})
        return code
    screen = console()
    tell(screen, heading_line(plan, name))
    for _, shown in done.values():
        for part in shown:
            tell(screen, part)
    if stopped:
        tell(screen, spoken(say("interrupted", way=way)))
    return code


def heading_line(plan: Plan, name: str) -> str:
    """The deployment and the value of the quantity."""
    value = float(plan.at({}, name)[0])
    return spoken(say("heading", label=_called(plan.label), quantity=quantity_label(name),
                      value=amount(value, unit_of(name)), fits=bool(plan.fits({})[0])))


# --- one deployment -------------------------------------------------------------------------------


def elasticities_answer(args: argparse.Namespace, plan: Plan, name: str, _: OnProgress) -> Shown:
    """Elasticities of the inputs."""
    result = answers_of(plan, name)
    table = Table(*map(spoken, (common("input"), common("value-2"), say(
        "per-cent", signed=signed(name), unit=unit_of(name)))),
        title=spoken(say("elasticities")))
    for one in result[:ROWS]:
        size = amount(one.elasticity / 100, unit_of(name)) if signed(name) else (
            f"{one.elasticity:+.3f}")
        table.add_row(input_words(one.name), amount(one.value, symbols()[one.symbols[0]].unit),
                      spoken(say("arc", size=size, arc=one.arc)))
    return [vars(one) for one in result], [table, spoken(say("slopes"))]


def tornado_answer(args: argparse.Namespace, plan: Plan, name: str, _: OnProgress) -> Shown:
    """The tornado, and the inputs that decide."""
    result = tornado(plan, name)
    table = Table(*map(spoken, (common("input"), common("range"), quantity_label(name),
                                say("swing"))), title=spoken(say("each-alone")))
    unit = unit_of(name)
    for bar in result.bars[:ROWS]:
        ends = amount(bar.at_low, unit), amount(bar.at_high, unit)
        table.add_row(input_words(bar.name), span(bar.low, bar.high, bar.unit), " – ".join(ends),
                      amount(bar.swing, unit))
    inputs = [input_words(bar.name) for bar in result.bars if bar.name != OWN][:FEW]
    line = say("decides", inputs=listing(inputs), own=result.bars[0].name == OWN) if inputs else (
        say("nothing-moves"))
    bars = [asdict(bar) | {"swing": bar.swing} for bar in result.bars]
    return {"value": result.value, "bars": bars}, [spoken(line), table]


def sensitivity_answer(args: argparse.Namespace, plan: Plan, name: str, report: OnProgress
                       ) -> Shown:
    """Sobol indices of the inputs."""
    result = sensitivity(plan, name, _samples(args.samples, SAMPLES), report)
    table = Table(*map(spoken, (common("input"), common("alone"), say("in-company"))),
                  title=spoken(say("share-of-variance")))
    for index in result.indices[:ROWS]:
        table.add_row(input_words(index.name), f"{index.first:.3f} ± {index.first_error:.3f}",
                      f"{index.total:.3f} ± {index.total_error:.3f}")
    return asdict(result), [table, spoken(say(
        "evaluations", count=f"{result.evaluations:,}", samples=f"{result.samples:,}",
        log=result.in_log, deviation=f"{result.deviation:.1%}"))]


# --- two deployments, or how many -----------------------------------------------------------------


def break_even_answer(args: argparse.Namespace, plan: Plan, name: str, _: OnProgress) -> Shown:
    """Where one of two deployments stops being the better one."""
    other = against(args.scenario, args.settings, args.against)
    path = path_of(plan, args.breakeven, args.between)
    check_quantity(other, name)
    margin = _share(args.margin)
    result = breakeven(plan, other, path, name, margin)
    unsure = None if signed(name) else doubt(plan, other, path, name, margin)
    data = asdict(result) | {
        "path": path.name, "unit": path.unit, "first": plan.label, "second": other.label,
        "now": float(plan.inputs[path.symbols[0]]), "doubt": asdict(unsure) if unsure else None}
    return data, [*break_even_lines(result, plan, other, path),
                  *([spoken(say(
                      "doubt", turns=unsure.low is not None and unsure.high is not None,
                      low=amount(unsure.low, path.unit), high=amount(unsure.high, path.unit),
                      first=_called(plan.label), share=f"{unsure.first:.0%}",
                      second=_called(other.label), other=f"{unsure.second:.0%}"))]
                    if unsure else [])]


def break_even_lines(result: BreakEven, plan: Plan, other: Plan, path: Path) -> Iterable[str]:
    """Who is better along a path, in sentences."""
    who: dict[str, Pair] = {FIRST: _called(plan.label), SECOND: _called(other.label),
                                  TIE: say("both-alike")}
    low, high = amount(result.low, path.unit), amount(result.high, path.unit)
    yield spoken(say("path-throughout", path=path.name, low=low, high=high,
                     who=who.get(result.always, say("neither"))) if result.always else
                 say("path-at-first", path=path.name, low=low, high=high,
                     who=who.get(result.start, say("neither"))))
    for turn in () if result.always else result.turns[:ROWS]:
        moved = np.array([turn.at])
        short = [spoken(_called(one.label)) for one in (plan, other) if not one.fits(
            path.moves(one, moved))[0]]
        yield spoken(say(
            "turn", at=amount(turn.at, path.unit), who=who.get(turn.after, say("neither")),
            crossing=turn.kind == "crossing", room=bool(short),
            short=spoken((" and ", "、")).join(short)))
    if not result.always and len(result.turns) > ROWS:
        yield spoken(say("more-turns", count=len(result.turns) - ROWS))
    yield spoken(say("now", value=amount(float(plan.inputs[path.symbols[0]]), path.unit),
                     tried=f"{result.tried:,}"))
    for one in (plan, other):
        if not one.fits({})[0]:
            yield spoken(say("does-not-fit", label=_called(one.label)))


def information_answer(args: argparse.Namespace, plan: Plan, name: str, _: OnProgress) -> Shown:
    """The value of knowing each input before a choice or a purchase."""
    draws = _samples(args.samples, DRAWS)
    price, currency = money_of(args.price)
    if args.demand is not None:
        if args.late is None or args.against or name != CARD_HOURS:
            raise ParamsError(spoken(say("demand-needs")))
        demand = float(quantity("--demand", args.demand, "token/s"))
        if demand <= 0:
            raise ParamsError(spoken(say("no-demand", text=args.demand)))
        result = to_buy(plan, demand, quantity("--late", args.late, "1"), price, draws)
        unit, words = currency or CARDS, currency or spoken(say("cards"))
    elif args.against is not None:
        other = against(args.scenario, args.settings, args.against)
        check_quantity(other, name)
        if currency and name != CARD_HOURS:
            raise ParamsError(spoken(say("price-no-place", quantity=name)))
        result = between(plan, other, name, price, draws)
        unit = words = unit_of(name)
        if name == CARD_HOURS:
            per = say("per-million", hours=not currency, currency=currency)
            unit, words = per[0], spoken(per)
    else:
        raise ParamsError(spoken(say("information-needs")))
    return result.as_json() | {"unit_of_losses": unit}, information_lines(result, words)


def information_lines(result: Information, unit: str) -> list[Any]:
    """A decision and what each measurement would save, as lines and a table."""
    lines: list[Any] = [
        spoken(say("would-take", option=_called(result.options[result.taken]),
                   loss=amount(result.losses[result.taken], unit), share=f"{result.wrong:.0%}")),
        spoken(say("perfect", saved=amount(result.perfect, unit)))]
    if result.needed:
        few, half, most = (amount(round(cards)) for cards in result.needed)
        lines.append(spoken(say("cards-needed", half=half, few=few, most=most)))
    table = Table(*map(spoken, (say("measured-first"), say("saves", unit=unit),
                                say("changes-choice"))), title=spoken(say("worth")))
    for worth in [one for one in result.worths if one.value > one.scatter][:ROWS]:
        table.add_row(input_words(worth.name), plain(worth.value), f"{worth.changes:.0%}")
    return [*lines, table, spoken(say("draws", count=f"{result.draws:,}",
                                      scatter=plain(result.worths[0].scatter)))]


# --- words and numbers ----------------------------------------------------------------------------


def _called(label: str) -> Pair:
    """A deployment or a choice by its label."""
    count, _, what = label.partition(" ")
    if what == CARDS:
        return common("cards-2", cards=count)
    return label, label


def input_words(name: str) -> str:
    """A name for people; what no input moves is a measurement of the deployment."""
    plain = name.replace(OWN, "the formulas' own error")
    return input_name(name, plain if "=" in plain else
                      plain.replace("_", " ").replace(".", " of "))


def _samples(text: str | None, usual: int) -> int:
    """The number of samples; what is not a whole number is no power of two."""
    return usual if text is None else int(min(quantity("--samples", text, "1"), MOST))


def _share(text: str) -> float:
    share = quantity("--margin", text, "1")
    if not 0 <= share < 1:
        raise ParamsError(spoken(say("no-share", text=text)))
    return share


def money_of(text: str | None) -> tuple[float, str]:
    """Price and currency; a price of one, in what is paid for, without."""
    if text is None:
        return 1.0, ""
    try:
        number, unit = units.split(text)
    except ValueError as error:
        raise ParamsError(spoken(common("problem", option="--price", why=str(error)))) from None
    if unit not in CURRENCIES or float(number) <= 0:
        raise ParamsError(spoken(say("no-money", text=text[:60], first=CURRENCIES[0],
                                     second=CURRENCIES[1])))
    return float(number), unit


DO = {"elasticities": elasticities_answer, "tornado": tornado_answer,
      "sensitivity": sensitivity_answer, "breakeven": break_even_answer,
      "information": information_answer}
