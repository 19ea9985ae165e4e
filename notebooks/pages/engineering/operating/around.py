"""Around the flags: the first paragraph, drafts never switched on, links, clocks, scripts.

The deployments are those of ``notebooks.pages.engineering.operating.settings``.
"""

from __future__ import annotations

from collections.abc import Mapping

import calc
import catalogue
from catalogue.deployments.profiles import drafts_in_stages, running
from catalogue.engines.engine import load_engine
from catalogue.ledger.rows import Claims
from catalogue.messages import Pair, join, messages
from notebooks.pages.catalogue.stated import state_count, stated
from notebooks.pages.engineering.operating.settings import (
    ALPHA,
    FIRST,
    GIGA,
    MILLI,
    MOVED,
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
from notebooks.show.display import number, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity

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
LONGEST = "S1-027"  # the claim on the model's context
SINGLE = "s1-launch-single"  # eight cards, as the script for profiling has them
NOTHING = "–"


def answer() -> None:
    """The numbers of the text above the tables."""
    for key in bases():
        scenario, found = scenario_with(key), answered(key)
        inputs = scenario.inputs()
        number(f"se-{key}-cards", scenario.devices)
        number(f"se-{key}-users", int(inputs["concurrency"]))
        number(f"se-{key}-prompt", int(inputs["input_tokens"]))
        number(f"se-{key}-answer", int(inputs["output_tokens"]))
        number(f"se-{key}-pace", found[PACE], fmt_quantity, unit="s")
        number(f"se-{key}-first", found[FIRST], fmt_quantity, unit="s")
        number(f"se-{key}-room", found[ROOM], fmt_quantity, unit="B")
        rows = list(worths(key))
        lost = [each for each in rows
                if lacking(load_engine(bases()[key].flags), each.name) is not None]
        number(f"se-{key}-all", len(rows))
        number(f"se-{key}-lost", len(lost))
        number(f"se-{key}-changing", sum(
            each.pace is not None and abs(each.pace) > SMALL for each in rows))
        number(f"se-{key}-faster", sum(
            each.pace is not None and each.pace < -SMALL for each in rows))
    number("se-s1-reads", len(stated("communication")))
    number("se-unused", state_count("communication", "unread"))
    number("se-stops", state_count("communication", "stops"))
    number("se-usual", state_count("communication", "usual"))


def _claim(name: str) -> float:
    """The number of a claim: what is right where that is known, else what is printed [SI]."""
    for file in catalogue.names("claims"):
        claims: Claims = catalogue.load("claims", file)
        for each in claims.claims:
            if each.id == name:
                if each.known is not None:
                    return float(each.known.value)
                assert each.printed is not None
                return float(each.printed.low)
    raise KeyError(name)


def drafts_table() -> None:
    """What one draft token per step gives at numbers of users, on both documents' cards."""
    rows = []
    for key, counts in USERS.items():
        for users in counts:
            at = f"workload.concurrency={users} request"
            off = answered(key, Case((at,)))
            on = answered(key, Case((at, f"workload.draft_tokens={DRAFTED}")))
            rows.append({
                "name": NAMES[key], "users": users, "off": fmt_fixed(MILLI * off[PACE], 1),
                "on": fmt_fixed(MILLI * on[PACE], 1), "rate": fmt_percent(on[RATE] / off[RATE] - 1),
                "room": signed(on[ROOM] - off[ROOM], 1 / GIGA, 2),
                "fits": _fits(key, on[ROOM])})
    table(rows, {"name": common("cards"), "users": common("users"),
                 "off": say("ms-per-token-without"),
                 "on": say("ms-per-token-with-draft"),
                 "rate": say("more-token-s"), "room": say("gb-of-card"),
                 "fits": say("runs")})
    for key in USERS:
        most = f"workload.concurrency={USERS[key][-1]} request"
        off, on = (answered(key, Case((most, f"workload.draft_tokens={count}")))
                   for count in (0, DRAFTED))
        number(f"se-{key}-drafts", on[RATE] / off[RATE] - 1, fmt_percent, digits=0)


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
    rows = []
    for key in USERS:
        found = at_most(key)
        base, free = found["as"], found["free"]
        rows.append({
            "name": NAMES[key], "pace": fmt_fixed(MILLI * base[PACE], 1),
            "step": fmt_fixed(MILLI * base[STEP], 1), "sent": fmt_fixed(MILLI * base[SENT], 2),
            "summed": fmt_fixed(MILLI * base[SUMMED], 2),
            "least": fmt_fixed(MILLI * free[PACE], 1), "first": fmt_fixed(
                MILLI * (base[FIRST] - free[FIRST]), 0)})
        number(f"se-{key}-most", base[PACE] - free[PACE], fmt_quantity, unit="s")
    table(rows, {"name": common("cards"), "pace": common("ms-per-token"),
                 "step": say("ms-of-decode-step"),
                 "sent": say("of-it-communication"),
                 "summed": say("all-reduces-within-server"),
                 "least": say("ms-per-token-if-links"),
                 "first": say("ms-less-to-first-token")})
    own, library = answered("s1"), answered("s1", MOVED["disable_custom_all_reduce"]("s1", True))
    number("se-library", library[PACE] - own[PACE], fmt_quantity, unit="s")


def clocks() -> None:
    """The numbers of the clock that S1 sets, were it taken."""
    scenario = scenario_with("s1")
    clock = scenario.device.clock
    assert clock
    printed = _claim(PRINTED)
    inputs, base = scenario.inputs(), answered("s1")
    slow = answered("s1", Case(moves={
        "clock_factor": inputs["clock_factor"] * printed / clock.value}))
    number("se-clock", clock.value / GIGA, fmt_fixed)
    number("se-clock-printed", printed / GIGA, fmt_fixed)
    number("se-clock-slower", slow[PACE] / base[PACE] - 1, fmt_percent)
    number("se-clock-first", slow[FIRST] / base[FIRST] - 1, fmt_percent)
    repeated = _claim("S1-335")
    hit = answered("s1", Case(moves={"prefix_hit_share": repeated}))
    number("se-hit", repeated, fmt_percent, digits=0)
    number("se-hit-pace", hit[PACE], fmt_quantity, unit="s")
    number("se-hit-first", hit[FIRST], fmt_quantity, unit="s")


def scripts() -> None:
    """The numbers of the scripts: what a server leaves free, and how long a request has room."""
    single = catalogue.load_scenario(SINGLE, overrides=[
        "workload.concurrency=1 request",
        f"workload.max_num_batched_tokens={default('s1', 'max_num_batched_tokens')} token"])
    found = calc.evaluate(single.inputs(), single.model.attention)
    capacity, cards = float(single.inputs()["memory_capacity"]), single.devices
    share = float(single.inputs()["memory_utilization"])
    number("se-left", cards * capacity * (1 - share), fmt_quantity, unit="B")
    number("se-weights", cards * float(found["weights_per_device"]), fmt_quantity, unit="B")
    blocks = float(found["kv_blocks"])
    number("se-profiled", fmt_int(blocks * single.inputs()["block_size"]), str)
    number("se-longest", _claim(LONGEST))
