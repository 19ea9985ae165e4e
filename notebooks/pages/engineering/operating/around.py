"""Around the flags: the first paragraph, drafts never switched on, links, clocks, scripts.

The deployments are those of ``notebooks.pages.engineering.operating.settings``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import calc
import catalogue
from catalogue.deployments.profiles import drafts_in_stages, running
from catalogue.engine import load_engine
from catalogue.messages import Pair, join, messages
from notebooks.pages.catalogue.stated import state_count, stated
from notebooks.pages.engineering.operating.settings import (
    ALPHA,
    FIRST,
    GIGA,
    MILLI,
    PACE,
    RATE,
    ROOM,
    SENT,
    SMALL,
    STEP,
    SUMMED,
    Case,
    answered,
    bases,
    default,
    lacking,
    scenario_with,
    signed,
    worths,
)
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_percent, fmt_quantity, fmt_time

common = messages("common")
say = messages("pages/engineering/operating/around")

USERS = {"s1": (4, 20, 80), "s0": (4, 16, 64)}
DRAFTED = 1  # the model's own layer, once
ENDLESS = 1e9  # times as fast: what then takes no time
LATENCIES = (ALPHA, "second_round_alpha", "gather_alpha", "gather_step_alpha", "network_alpha",
             "exchange_alpha", "exchange_network_alpha", "exchange_expert_time",
             "exchange_token_time")
LINKS = ("device_link_bandwidth", "pair_bandwidth", "network_bandwidth")
NAMES: dict[str, Pair] = {"s1": say("s1-h20"), "s0": say("s0-ascend")}
PRINTED = "S1-353"  # the claim on the highest clock
SINGLE = "s1-launch-single"  # eight cards, as the script for profiling has them


def answer() -> None:
    """The numbers of the text above the tables."""
    for key in bases():
        scenario, found = scenario_with(key), answered(key)
        inputs = scenario.inputs()
        numbers({f"se-{key}-{name}": value for name, value in {
            "cards": scenario.devices, "users": inputs["concurrency"],
            "prompt": inputs["input_tokens"], "answer": inputs["output_tokens"]}.items()})
        numbers({f"se-{key}-pace": found[PACE], f"se-{key}-first": found[FIRST]}, fmt_time)
        number(f"se-{key}-room", found[ROOM], fmt_quantity, unit="B")
    rows, engine = list(worths("s1")), load_engine(bases()["s1"].flags)
    moved = [each.pace for each in rows if each.pace is not None]
    numbers({"se-s1-all": len(rows),
             "se-s1-lost": sum(lacking(engine, each.name) is not None for each in rows),
             "se-s1-changing": sum(abs(pace) > SMALL for pace in moved),
             "se-s1-faster": sum(pace < -SMALL for pace in moved)})
    number("se-s1-reads", len(stated("communication")))
    numbers({f"se-{key}": state_count("communication", state) for key, state in (
        ("unused", "unread"), ("stops", "stops"), ("usual", "usual"))})


def _claim(name: str) -> float:
    """The number of a claim: what is right where that is known, else what is printed [SI]."""
    each = next(each for file in catalogue.names("claims")
                for each in catalogue.load("claims", file).claims if each.id == name)
    if each.known is not None:
        return float(each.known.value)
    assert each.printed is not None
    return float(each.printed.low)


def drafts_table() -> None:
    """What one draft token per step gives at numbers of users, on both documents' cards."""
    rows = []
    for key, counts in USERS.items():
        for users in counts:
            off, on = (answered(key, Case((f"workload.concurrency={users} request", *drafts)))
                       for drafts in ((), (f"workload.draft_tokens={DRAFTED}",)))
            rows.append((key, users, off, on))
    table(rows, [
        Column(lambda row: NAMES[row[0]], common("cards")), Column(1, common("users")),
        Column(lambda row: MILLI * row[2][PACE], say("ms-per-token-without"), fmt_fixed, digits=1),
        Column(lambda row: MILLI * row[3][PACE], say("ms-per-token-with-draft"), fmt_fixed,
               digits=1),
        Column(lambda row: row[3][RATE] / row[2][RATE] - 1, say("more-token-s"), fmt_percent),
        Column(lambda row: row[3][ROOM] - row[2][ROOM], say("gb-of-card"), signed, scale=1 / GIGA,
               digits=2),
        Column(lambda row: _fits(row[0], row[3][ROOM]), say("runs"))])
    most = f"workload.concurrency={USERS['s1'][-1]} request"
    off, on = (answered("s1", Case((most, f"workload.draft_tokens={count}")))
               for count in (0, DRAFTED))
    number("se-s1-drafts", on[RATE] / off[RATE] - 1, fmt_percent, digits=0)


def _fits(key: str, room: float) -> Pair:
    """Whether drafting runs: memory holds it, and the newest release drafts across stages."""
    scenario, profile = scenario_with(key), bases()[key].profile
    newest = running(profile, scenario.device, scenario.model, drafts=True)
    short = fmt_quantity(-room, "B")
    against = [] if room >= 0 else [say("short", short=short)]
    if (scenario.inputs()["pipeline_parallel"] > 1
            and not drafts_in_stages(scenario.device, scenario.model, profile)):
        against.append(say("not-across-stages-in", release=newest.name))
    if not against:
        return common("yes-it-can")
    return say("does-not-run", against=join((", ", "，"), against))


def at_most(key: str) -> Mapping[str, Mapping[str, float]]:
    """A base as it is, and with links that take no time."""
    inputs = scenario_with(key).inputs()
    free = {name: 0.0 for name in LATENCIES if name in inputs}
    free |= {name: inputs[name] * ENDLESS for name in LINKS if name in inputs}
    return {"as": answered(key), "free": answered(key, Case(moves=free))}


def communication_table() -> None:
    """How much of a token communication is, and the most that any variable could give."""
    def milli(of: Callable[[Any], float], heading: Pair, digits: int) -> Column:
        return Column(lambda found: MILLI * of(found), heading, fmt_fixed, digits=digits)

    table([{"key": key, **at_most(key)} for key in USERS], [
        Column(lambda found: NAMES[found["key"]], common("cards")),
        milli(lambda found: found["as"][PACE], common("ms-per-token"), 1),
        milli(lambda found: found["as"][STEP], say("ms-of-decode-step"), 1),
        milli(lambda found: found["as"][SENT], say("of-it-communication"), 2),
        milli(lambda found: found["as"][SUMMED], say("all-reduces-within-server"), 2),
        milli(lambda found: found["free"][PACE], say("ms-per-token-if-links"), 1),
        milli(lambda found: found["as"][FIRST] - found["free"][FIRST],
              say("ms-less-to-first-token"), 0)])
    found = at_most("s1")
    number("se-s1-most", found["as"][PACE] - found["free"][PACE], fmt_time)


def clocks() -> None:
    """The numbers of the clock that S1 sets, were it taken."""
    scenario = scenario_with("s1")
    clock = scenario.device.clock
    assert clock
    printed, repeated, base = _claim(PRINTED), _claim("S1-335"), answered("s1")
    slow, hit = (answered("s1", Case(moves=moves)) for moves in (
        {"clock_factor": scenario.inputs()["clock_factor"] * printed / clock.value},
        {"prefix_hit_share": repeated}))
    numbers({"se-clock": clock.value / GIGA, "se-clock-printed": printed / GIGA}, fmt_fixed)
    numbers({"se-clock-slower": slow[PACE] / base[PACE] - 1,
             "se-clock-first": slow[FIRST] / base[FIRST] - 1}, fmt_percent)
    number("se-hit", repeated, fmt_percent, digits=0)
    numbers({"se-hit-pace": hit[PACE], "se-hit-first": hit[FIRST]}, fmt_time)


def scripts() -> None:
    """The numbers of the scripts: what one loads, and what a server leaves free."""
    single = catalogue.load_scenario(SINGLE, overrides=[
        "workload.concurrency=1 request",
        f"workload.max_num_batched_tokens={default('s1', 'max_num_batched_tokens')} token"])
    inputs, cards = single.inputs(), single.devices
    found = calc.evaluate(inputs, single.model.attention)
    numbers({"se-left": cards * inputs["memory_capacity"] * (1 - inputs["memory_utilization"]),
             "se-weights": cards * float(found["weights_per_device"])}, fmt_quantity, unit="B")
