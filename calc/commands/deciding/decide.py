"""``decide``: what a decision hangs on: elasticities, tornado, break-even, value of measuring."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from calc.commands.printing import OK, console, print_json
from calc.sensitivity.breakeven import FIRST, SECOND, TIE, BreakEven, breakeven
from calc.sensitivity.elasticities import Elasticity, answers_of
from calc.sensitivity.information import DRAWS, RATE, Information, between, to_buy
from calc.sensitivity.paths import Path, path_of
from calc.sensitivity.plans import (
    CARD_HOURS,
    REQUESTS,
    Limit,
    Plan,
    against,
    check_quantity,
    plan_of,
    quantity_label,
    signed,
    unit_of,
)
from calc.sensitivity.probability import Doubt, doubt
from calc.sensitivity.sensitivity import MOST, Sensitivity, sensitivity
from calc.sensitivity.tornado import OWN, Tornado, tornado
from catalogue import ParamsError, load_prices, symbols
from catalogue.reading import units
from catalogue.reading.amounts import human, plain, span

TOLD = 12  # rows of a table
FEW = 3  # inputs of a sentence
USED = "utilisation"  # a path of its own: share of the throughput that is used
CURRENCIES = ("USD", "CNY")
WAYS = ("elasticities", "tornado", "sensitivity", "information", "breakeven")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``decide`` takes, besides ``--json``."""
    command.add_argument("scenario", help="identifier or path of a scenario file")
    command.add_argument("--set", action="append", default=[], metavar="PATH=VALUE",
                         dest="settings", help="override as of estimate")
    command.add_argument("--quantity", default=None, metavar="NAME",
                         help="what is decided by: tpot (unless told), ttft, output_throughput, "
                              "card_hours, throughput_per_card, headroom_per_device, ...")
    command.add_argument("--elasticities", action="store_true",
                         help="change in per cent for a per cent of each input")
    command.add_argument("--tornado", action="store_true",
                         help="each input at either end of its range, alone")
    command.add_argument("--sensitivity", action="store_true",
                         help="Sobol indices: share of the variance that each input explains")
    command.add_argument("--samples", metavar="N",
                         help="of the design of --sensitivity, or draws of --information")
    command.add_argument("--breakeven", metavar="PATH",
                         help="at which values of PATH the deployment and --against are equal; "
                              "utilisation, from which it is cheaper than a service")
    command.add_argument("--against", metavar="KEY=VALUE,...",
                         help="the same with changes, another deployment, or 'pools': prefill and "
                              "decode on cards of their own; beside utilisation a service's "
                              "prices, e.g. deepseek-api")
    command.add_argument("--between", metavar="LOW,HIGH", help="range of PATH that is searched")
    command.add_argument("--margin", default="0", metavar="SHARE",
                         help="by how much --against has to be better, e.g. 0.1")
    command.add_argument("--limit", metavar="NAME=VALUE",
                         help="deployments serve as many requests as this lets them, e.g. "
                              "'tpot=50 ms'")
    command.add_argument("--information", action="store_true",
                         help="which input is worth measuring before one chooses (--against) or "
                              "buys (--demand)")
    command.add_argument("--demand", metavar="RATE",
                         help="output tokens per second to buy for, e.g. '50000 token/s', or, "
                              "with --limit tpot=..., users at once: '512 request'")
    command.add_argument("--late", metavar="FACTOR",
                         help="price of a card that turns out to be missing, over today's")
    command.add_argument("--price", metavar="MONEY",
                         help="of a card (--demand), or of a card-hour, e.g. '2.5 USD'")


def run(args: argparse.Namespace) -> int:
    """Print what a deployment's quantity hangs on.

    Raises ParamsError for a deployment, a path or a combination that cannot be used.
    """
    if (args.against is None) != (args.breakeven is None) and not (
            args.information and args.breakeven is None):
        raise ParamsError("--breakeven: expected --against beside it." if args.breakeven else
                          "--against: expected --breakeven PATH or --information beside it.")
    name = args.quantity or (CARD_HOURS if args.information else "tpot")
    plan = plan_of(args.scenario, args.settings, "")
    check_quantity(plan, name)
    ways = [way for way in WAYS if getattr(args, way)] or ["tornado", "elasticities"]
    done = {way: DO[way](args, plan, name) for way in ways}
    if args.json:
        print_json({"scenario": plan.scenario.id, "quantity": name, "unit": unit_of(name),
                    **{way: found[0] for way, found in done.items()}})
        return OK
    screen = console()
    screen.print(_heading(plan, name), soft_wrap=True, highlight=False)
    for _, shown in done.values():
        for part in shown:
            screen.print(part, soft_wrap=isinstance(part, str), highlight=False)
    return OK


def _heading(plan: Plan, name: str) -> str:
    value = float(plan.at({}, name)[0])
    short = "" if plan.fits({})[0] else (" It does not fit its memory; all of this is of the same "
                                         "cut on cards with enough of it.")
    return f"{plan.label}: {quantity_label(name)[0]} {human(value, unit_of(name))}.{short}"


# --- one deployment -------------------------------------------------------------------------------


def _elasticities(args: argparse.Namespace, plan: Plan, name: str) -> tuple[Any, list[Any]]:
    found = answers_of(plan, name)
    return [vars(one) for one in found], _told_elasticities(found, name)


def _told_elasticities(found: Sequence[Elasticity], name: str) -> list[Any]:
    per = f"per 1% ({unit_of(name)})" if signed(name) else "% per 1%"
    table = Table("input", "value", per, title="Elasticities")
    for one in found[:TOLD]:
        size = human(one.elasticity / 100, unit_of(name)) if signed(name) else (
            f"{one.elasticity:+.3f}")
        table.add_row(_said(one.name), human(one.value, symbols()[one.symbols[0]].unit),
                      f"{size}{' (arc)' if one.arc else ''}")
    return [table, "Slopes of the piece that holds: ceilings stand still, of a maximum the larger "
                   "side counts. An arc is the mean between half of a count and twice."]


def _tornado(args: argparse.Namespace, plan: Plan, name: str) -> tuple[Any, list[Any]]:
    found = tornado(plan, name)
    table = Table("input", "range", quantity_label(name)[0], "swing", title="Each input alone")
    unit = unit_of(name)
    for bar in found.bars[:TOLD]:
        ends = human(bar.at_low, unit), human(bar.at_high, unit)
        table.add_row(_said(bar.name), span(bar.low, bar.high, bar.unit), " – ".join(ends),
                      human(bar.swing, unit))
    return found.as_json(), [_deciding(found), table]


def _deciding(found: Tornado) -> str:
    inputs = [_said(bar.name) for bar in found.bars if bar.name != OWN][:FEW]
    if not inputs:
        return "No range of an input moves it."
    own = any(bar.name == OWN for bar in found.bars[:1])
    return (f"What decides: {', '.join(inputs)}" + (
        "; more than each of them does what no input moves, the formulas' own error, which only "
        "running the deployment tells." if own else "."))


def _sensitivity(args: argparse.Namespace, plan: Plan, name: str) -> tuple[Any, list[Any]]:
    found = sensitivity(plan, name, *_samples(args.samples))
    return found.as_json(), _told_indices(found)


def _told_indices(found: Sensitivity) -> list[Any]:
    table = Table("input", "alone", "in company", title="Share of the variance (Sobol)")
    for index in found.indices[:TOLD]:
        table.add_row(_said(index.name), f"{index.first:.3f} ± {index.first_error:.3f}",
                      f"{index.total:.3f} ± {index.total_error:.3f}")
    spread = (f"; standard deviation {found.deviation:.1%}" if found.in_log else "")
    return [table, f"{found.evaluations:,} evaluations of a design of {found.samples:,}{spread}; "
                   "95% confidence."]


# --- two deployments, or how many -----------------------------------------------------------------


def _breakeven(args: argparse.Namespace, plan: Plan, name: str) -> tuple[Any, list[Any]]:
    if args.breakeven == USED:
        return _against_service(args, plan)
    other = against(plan, args.scenario, args.settings, args.against)
    path = path_of(plan, args.breakeven, args.between)
    check_quantity(other, name)
    found = breakeven(plan, other, path, name, margin=_share(args.margin),
                      limit=_limit(args.limit, plan))
    unsure = None if args.limit or signed(name) else doubt(plan, other, path, name,
                                                           _share(args.margin))
    data = found.as_json() | {
        "path": path.name, "unit": path.unit, "first": plan.label, "second": other.label,
        "now": float(plan.inputs[path.symbols[0]]), "doubt": unsure.as_json() if unsure else None}
    return data, [*_told_breakeven(found, plan, other, path),
                  *([_told_doubt(unsure, plan, other, path)] if unsure else [])]


def _against_service(args: argparse.Namespace, plan: Plan) -> tuple[Any, list[Any]]:
    """From which utilisation cards are cheaper than a service that is paid by the token."""
    from calc.costing.rates import card_hour, stated, unpriced, way_of
    from calc.sensitivity.against_service import utilisation

    service = load_prices(args.against)
    device = plan.scenario.device
    hour = (card_hour(device, way_of(device)) if args.price is None else
            stated(args.price if "/" in args.price else f"{args.price}/h"))
    if hour is None:
        raise ParamsError(unpriced(device.id, "own"))
    found, unsure = utilisation(plan, hour, service)
    names = plan.label, service.name["en"]
    low, high = (f"{end:.0%}" for end in (found.low, found.high))
    told = (f"{names[1]} throughout" if found.always == SECOND else
            f"{plan.label} from {found.turns[0].at:.1%} on" if found.turns else
            f"{plan.label} throughout")
    ends = ("" if unsure.low is None or unsure.high is None else
            f" (80% interval {unsure.low:.0%} to {unsure.high:.0%})")
    data = found.as_json() | {"path": USED, "unit": "1", "first": names[0], "second": names[1],
                              "card_hour": hour.per(f"{hour.currency}/h"),
                              "doubt": unsure.as_json()}
    return data, [
        f"Utilisation from {low} to {high}, a card-hour at "
        f"{human(hour.per(f'{hour.currency}/h')[0], hour.currency)}, against {names[1]}: "
        f"{told}{ends}.",
        f"In {unsure.second:.0%} of the cases the service is cheaper even at full use."]


def _told_breakeven(found: BreakEven, plan: Plan, other: Plan, path: Path) -> Iterable[str]:
    who = {FIRST: plan.label, SECOND: other.label, TIE: "both alike"}
    ends = f"{human(found.low, path.unit)} to {human(found.high, path.unit)}"
    if found.always:
        yield f"{path.name} from {ends}: {who.get(found.always, 'neither')} throughout."
    else:
        yield f"{path.name} from {ends}: {who.get(found.start, 'neither')} is better at first,"
        for turn in found.turns[:TOLD]:
            how = "" if turn.kind == "crossing" else " (a step)"
            moved = np.array([turn.at])
            short = [each.label for each in (plan, other) if not each.fits(
                path.moves(each, moved))[0]]
            room = f", where memory is too small for {' and '.join(short)}" if short else ""
            yield (f"  from {human(turn.at, path.unit)} on "
                   f"{who.get(turn.after, 'neither')}{how}{room}.")
        if len(found.turns) > TOLD:
            yield f"  ... {len(found.turns) - TOLD} further changes."
    yield (f"Now {human(float(plan.inputs[path.symbols[0]]), path.unit)}; "
           f"{found.tried:,} points tried.")
    for each in (plan, other):
        if not each.fits({})[0]:
            yield f"{each.label} does not fit its memory as it is."


def _told_doubt(found: Doubt, plan: Plan, other: Plan, path: Path) -> str:
    where = ("" if found.low is None or found.high is None else
             f"it turns from {human(found.low, path.unit)} to {human(found.high, path.unit)} (80% "
             "interval), ")
    return (f"With all other inputs within their ranges {where}{plan.label} is better throughout "
            f"in {found.first:.0%} of the cases and {other.label} in {found.second:.0%}.")


def _information(args: argparse.Namespace, plan: Plan, name: str) -> tuple[Any, list[Any]]:
    draws = _samples(args.samples)
    price, currency = _money(args.price)
    if args.demand is not None:
        if args.late is None or args.against is not None or name != CARD_HOURS:
            raise ParamsError("--demand: expected --late FACTOR beside it, and neither --against "
                              "nor --quantity.")
        limit = _limit(args.limit, plan)
        if limit and limit.name != "tpot":
            raise ParamsError(f"--limit {limit.name}: what is bought is sized by the time per "
                              "token, expected tpot.")
        demand, of = _demand(args.demand, limit)
        found = to_buy(plan, demand, _number("--late", args.late), price,
                       (draws or [DRAWS])[0], limit, of)
        unit = currency or "cards"
    elif args.against is not None:
        other = against(plan, args.scenario, args.settings, args.against)
        check_quantity(other, name)
        if currency and name != CARD_HOURS:
            raise ParamsError(f"--price: has no place beside {name}, expected card_hours.")
        found = between(plan, other, name, price, *draws)
        unit = (f"{currency or 'card-hours'} per million tokens" if name == CARD_HOURS
                else unit_of(name))
    else:
        raise ParamsError("--information: expected a choice, --against, or a purchase, --demand.")
    return found.as_json() | {"unit_of_losses": unit}, _told_information(found, unit)


def _told_information(found: Information, unit: str) -> list[Any]:
    lines: list[Any] = [
        f"Now one would take {found.options[found.taken]}: expected "
        f"{human(found.losses[found.taken], unit)}. In {found.wrong:.0%} of the cases another "
        "choice turns out better.",
        f"Knowing everything first would save {human(found.perfect, unit)}."]
    if any(found.needed):
        few, half, most = ("none" if each is None else human(round(each)) for each in found.needed)
        lines.append(f"Cards needed: {half}, in 80% of the cases {few} to {most}.")
    table = Table("measured first", f"saves ({unit})", "changes the choice",
                  title="What knowing it is worth")
    for worth in [one for one in found.worths if one.value > one.scatter][:TOLD]:
        table.add_row(_said(worth.name), plain(worth.value), f"{worth.changes:.0%}")
    if found.unmet:
        lines.append(f"In {found.unmet:.1%} of the cases no number of requests keeps the limit, so "
                     "that no purchase helps; they are left out.")
    return [*lines, table, f"{found.draws:,} draws; below {plain(found.worths[0].scatter)} nothing "
                           "is told apart from nothing."]


# --- words and numbers ----------------------------------------------------------------------------


def _said(name: str) -> str:
    """A name for people; what no input moves is a measurement of the deployment."""
    plain = name.replace(OWN, "the formulas' own error")
    return plain if "=" in plain else plain.replace("_", " ")


def _samples(text: str | None) -> list[int]:
    """The number of samples, if one is given; what is not a whole number is no power of two."""
    return [] if text is None else [int(min(_number("--samples", text), MOST))]


def _number(option: str, text: str) -> float:
    try:
        return float(units.parse(text, units.DIMENSIONLESS))
    except ValueError as error:
        raise ParamsError(f"{option}: {error}.") from None


def _share(text: str) -> float:
    share = _number("--margin", text)
    if not 0 <= share < 1:
        raise ParamsError(f"--margin {text}: expected a share from 0 to below 1.")
    return share


def _limit(text: str | None, plan: Plan) -> Limit | None:
    if text is None:
        return None
    name, equals, written = (part.strip() for part in text.partition("="))
    if not equals:
        raise ParamsError(f"--limit {text[:60]}: expected NAME=VALUE such as 'tpot=50 ms'.")
    check_quantity(plan, name)
    try:
        return Limit(name, float(units.parse(written, unit_of(name))))
    except ValueError as error:
        raise ParamsError(f"--limit {name}: {error}.") from None


def _demand(text: str, limit: Limit | None) -> tuple[float, str]:
    """What is to be bought for: tokens per second, or users at once where a limit says how many
    of them a deployment can have.
    """
    try:
        users = units.unit_of(text) == "request"
        demand = float(units.parse(text, "request" if users else "token/s"))
    except ValueError as error:
        raise ParamsError(f"--demand: {error}.") from None
    if demand <= 0:
        raise ParamsError(f"--demand {text}: expected more than none.")
    if users and limit is None:
        raise ParamsError(f"--demand {text}: how many of them a deployment can have is said by a "
                          "limit, expected --limit tpot=VALUE beside it.")
    return demand, REQUESTS if users else RATE


def _money(text: str | None) -> tuple[float, str]:
    """Price and currency; a price of one, in what is paid for, without."""
    if text is None:
        return 1.0, ""
    try:
        number, unit = units.split(text)
    except ValueError as error:
        raise ParamsError(f"--price: {error}.") from None
    if unit not in CURRENCIES or float(number) <= 0:
        raise ParamsError(f"--price {text[:60]}: expected an amount such as '2.5 USD', in "
                          f"{' or '.join(CURRENCIES)}.")
    return float(number), unit


DO = {"elasticities": _elasticities, "tornado": _tornado, "sensitivity": _sensitivity,
      "breakeven": _breakeven, "information": _information}
