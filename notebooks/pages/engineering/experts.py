"""Expert parallelism: how wide, how many spares, micro-batches, experts off the cards or not.

What decodes has cards of its own, for in one pool a prompt on any rank holds up all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import calc
from calc.evidence.systems import measured_system
from calc.many.sweeps import decode_sweep
from calc.sensitivity.break_even import SECOND, BreakEven, solve
from calc.sensitivity.plans import Plan, plan_of
from calc.serving.evaluate import evaluate
from catalogue.deployments.admission import cut_of
from catalogue.deployments.cuts import one_server
from catalogue.messages import LANGUAGES, Pair, messages
from notebooks.pages.deciding.goals import device_label
from notebooks.pages.engineering.claims import select_claims
from notebooks.pages.engineering.layouts import LIMIT, PACE, RATE, Case, best_within, plan, titled
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_int, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/engineering/experts")

CASES: tuple[Case, ...] = (("ascend-910b2", "w8a8-int8", 2), ("nvidia-h20", "fp8-block", 2),
                           ("nvidia-h200-sxm", "fp8-block", 1))
WIDTHS = (8, 16, 32, 64, 128)
TENSORS = (1, 2, 4)  # of attention, that are tried
PER_NODE = 8
PER_RANK = np.unique(np.r_[1:65, np.geomspace(64, 512, 32).round()])  # requests that are tried
EVERY = np.arange(1.0, 257)  # of a narrow replica, whose ranks are few
RANDOM, PLACED, SPARE, HALVES = "random", "placed", "spare", "halves"
MODES: dict[str, Pair] = {
    RANDOM: say("placed-at-random"), PLACED: say("placed-by-load"),
    SPARE: say("and-one-spare-rank"), HALVES: say("and-micro-batches")}
SHORT: dict[str, Pair] = {RANDOM: say("random"), PLACED: common("by-load"),
                          SPARE: say("spares"), HALVES: say("spares-micro-batches")}
SEEN = 64  # width of the table of spares
OF_CARD = 16  # requests of a card in that of the slowest rank
SPARES = (0, 1, 2)  # of a rank
TIERS, ON_CARDS = "s1-expert-tiers-one-request", "s1-expert-tiers-on-cards"
POPULAR = "s1-expert-tiers-popular"
REQUESTS = (1, 2, 4, 8, 20)  # of a replica
HIT = "device_hit_share"
KEPT = "S1-150"  # share of the experts that S1 keeps on the cards
APART = {"separate_pools": 1.0}
MEASURED = ("wide-ant-ep16", "wide-ant-ep32", "wide-rtp-decode", "wide-lmsys-decode",
            "wide-vllm-decode-ep32", "wide-vllm-decode-ep96", "wide-cloudmatrix-decode")
MILLI = 1e3
PROMISES = (0.02, 0.1)  # s, where wide and narrow are compared


@dataclass(frozen=True)
class Yield:
    """What a card of a pool that decodes yields, by requests of a rank.

    Attributes:
        plan: the deployment.
        requests: of all of it.
        rates: output tokens per second of a card.
        paces: time per token [s].
    """

    plan: Plan
    requests: np.ndarray
    rates: np.ndarray
    paces: np.ndarray

    def best(self, limit: float) -> int | None:
        """Where it yields most within a promise; None where it keeps it for nobody."""
        return best_within(self.rates, self.paces, limit)

    def rate(self, limit: float) -> float:
        """That most [token/s]; 0 where it keeps the promise for nobody."""
        place = self.best(limit)
        return 0.0 if place is None else float(self.rates[place])


def _yield(made: Plan, moves: Mapping[str, float], tried: np.ndarray = PER_RANK) -> Yield:
    ranks = float(made.inputs["data_parallel"] * made.inputs["pipeline_parallel"])
    asked = {**moves, **APART, "concurrency": tried * ranks}
    fits = made.fits(asked)
    found = decode_sweep({**made.inputs, **asked}, made.scenario.model.attention,
                         ("output_throughput", "tpot"))
    return Yield(made, tried[fits] * ranks,
                 found["output_throughput"][fits] / made.cards, found["tpot"][fits])


@cache
def narrow(case: Case) -> Yield:
    """Tensor parallelism in a server, a pipeline stage per server, every expert cut.

    Args:
        case: card, precision and servers of a replica.
    """
    return _yield(plan(*case), {}, EVERY)


def sharded(case: Case) -> str:
    """The layout of :func:`narrow`: ``TP8×PP2``."""
    return one_server(cut_of(narrow(case).plan.scenario))


@cache
def _wide(case: Case, width: int, tensor: int, users: int = 1, pool: str | None = None,
          of_rank: int = 1) -> Plan:
    """Experts over so many cards, placed by load, with so many spares for each rank."""
    return plan(case[0], case[1], width // PER_NODE, users, tensor=tensor, pipeline=1,
                expert=width, spares=of_rank * width, pool=pool)


def moved(made: Plan, mode: str, of_rank: int = 1) -> dict[str, float]:
    """The inputs of a mode: how experts are placed, copies of them, micro-batches.

    Args:
        made: a plan with spares, placed by load.
        mode: of :data:`MODES`.
        of_rank: spares of a rank, where there are any.
    """
    spares = float(of_rank * made.inputs["expert_parallel"])
    if mode == RANDOM:
        return {"balanced_placement": 0.0, "placement_residual": 0.0, "redundant_experts": 0.0}
    if mode == PLACED:
        return {"redundant_experts": 0.0}
    return {"redundant_experts": spares} | ({"micro_batches": 2.0} if mode == HALVES else {})


def wide(case: Case, width: int, mode: str, of_rank: int = 1, limit: float = LIMIT) -> Yield:
    """Experts over so many cards, attention cut as is best within a promise.

    Args:
        case: card, precision and servers of a narrow replica.
        width: cards that share the experts.
        mode, of_rank: as for :func:`moved`.
        limit: of the time per token [s].
    """
    return max((_yielded(case, width, tensor, mode, of_rank) for tensor in TENSORS),
               key=lambda each: each.rate(limit))


def turn(case: Case, width: int) -> BreakEven:
    """Promises at which wide yields more than narrow, second, or less [s].

    Args:
        case: card, precision and servers of a narrow replica.
        width: cards that share the experts, placed by load with a spare a rank.
    """
    def difference(limits: np.ndarray) -> np.ndarray:
        pairs = [(wide(case, width, SPARE, limit=each).rate(each), narrow(case).rate(each))
                 for each in limits]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.array([np.nan if not max(pair) else np.log(pair[0] / pair[1])
                             if min(pair) else np.inf * (pair[0] - pair[1]) for pair in pairs])

    return solve(difference, *PROMISES, most=512)


@cache
def _yielded(case: Case, width: int, tensor: int, mode: str, of_rank: int) -> Yield:
    made = _wide(case, width, tensor)
    return _yield(made, moved(made, mode, of_rank))


def _sure(case: Case, width: int, mode: str = SPARE) -> tuple[float, float]:
    """The 80% interval of what a card yields within the promise [token/s]."""
    found = wide(case, width, mode)
    place = found.best(LIMIT)
    assert place is not None
    made = _wide(case, width, int(found.plan.inputs["tensor_parallel"]),
                 int(found.requests[place]), "decode", int(mode == SPARE))
    quantity = calc.estimate(made.scenario).quantities["output_throughput"]
    return quantity.low / made.cards, quantity.high / made.cards


def answer() -> None:
    """The numbers of the first paragraph."""
    whole = partial(numbers, fmt=fmt_fixed, digits=0)
    number("ex-limit", LIMIT, fmt_time)
    for key, case, width, mode in (("b2", CASES[0], 64, SPARE), ("h20", CASES[1], 32, SPARE),
                                   ("h200", CASES[2], 8, PLACED)):
        low, high = _sure(case, width, mode)
        whole({f"ex-{key}-low": low, f"ex-{key}-high": high})
    for key, case in zip(("b2", "h20", "h200"), CASES, strict=True):
        whole({f"ex-{key}-narrow": narrow(case).rate(LIMIT)})
        number(f"ex-{key}-sharded", sharded(case), str)
        for width in WIDTHS[1:]:
            whole({f"ex-{key}-{width}": wide(case, width, SPARE).rate(LIMIT),
                   f"ex-{key}-{width}-random": wide(case, width, RANDOM).rate(LIMIT)})
        spare, halves = (wide(case, 64, mode).rate(LIMIT) for mode in (SPARE, HALVES))
        number(f"ex-{key}-halves", halves / spare - 1, fmt_percent, digits=0)
    whole({"ex-h200-8": wide(CASES[2], 8, PLACED).rate(LIMIT),
           "ex-pool-narrow": _within(plan(*CASES[1])),
           "ex-pool-wide": max(_within(_wide(CASES[1], 32, tensor)) for tensor in (*TENSORS, 8))})


def _within(made: Plan) -> float:
    """What a card of one pool that does both yields within the promise [token/s]."""
    ranks = float(made.inputs["data_parallel"] * made.inputs["pipeline_parallel"])
    moves = {"concurrency": PER_RANK * ranks}
    kept = made.fits(moves) & (made.at(moves, PACE) <= LIMIT)
    return float(np.where(kept, made.at(moves, RATE), 0).max()) / made.cards


def picture(lang: str) -> Figure:
    """Tokens of a card against width, a line per placement, a panel per card."""
    place = LANGUAGES.index(lang)
    drawing, panels = figures.panels(3.3, 1, len(CASES))
    for axes, case in zip(panels, CASES, strict=True):
        for colour, (mode, title) in zip(figures.PALETTE, MODES.items(), strict=False):
            axes.plot(WIDTHS, [wide(case, width, mode).rate(LIMIT) or np.nan for width in WIDTHS],
                      "o-", ms=4, lw=1.7, color=colour, label=title[place])
        axes.axhline(narrow(case).rate(LIMIT), color=figures.INK, lw=1.2, ls="--",
                     label=say("experts-sharded")[place])
        axes.set(xscale="log", ylim=(0, None))
        axes.set_title(f"{device_label(case[0])[place]}\n{case[1]}", fontsize=9.5)
        axes.set_xticks(WIDTHS, [str(width) for width in WIDTHS])
        axes.set_xlabel(say("cards-that-share-experts")[place], fontsize=9)
    drawing.axes[0].set_ylabel(say("token-s-of-card")[place])
    drawing.axes[1].legend(fontsize=7, loc="lower center", handlelength=1.4)
    return drawing


def decision() -> None:
    """By card: narrow, each width with what it needs, and the promise from which it is better."""
    # as the text has it
    assert all(_wide(case, 64, 1).inputs["draft_tokens"] == 1 for case in CASES)

    def best(width: int, case: Case) -> Pair | None:
        mode = max(MODES, key=lambda name: wide(case, width, name).rate(LIMIT))
        found = wide(case, width, mode)
        return say("rate-cut-and-way", rate=fmt_fixed(found.rate(LIMIT), 0), way=SHORT[mode],
                   tensor=int(found.plan.inputs["tensor_parallel"])
                   ) if found.rate(LIMIT) else None

    def better(case: Case) -> str | Pair:
        turns = [each.at for each in turn(case, 32).turns if each.after == SECOND]
        return f"{fmt_fixed(MILLI * turns[-1], 0)} ms" if turns else say("always")

    table(CASES, [
        Column(titled, say("token-s-of-card-at-best")),
        Column(lambda case: f"**{fmt_fixed(narrow(case).rate(LIMIT), 0)}**<br>{sharded(case)}",
               say("experts-sharded")),
        *(Column(partial(best, width), f"EP{width}") for width in WIDTHS),
        Column(better, say("ep32-better-from"))])


def slowest() -> None:
    """Experts of a rank, those that a step hits, and the load of the fullest rank."""
    def seen(mode: str, width: int) -> tuple[float, float]:
        made = _wide(CASES[1], width, 1)
        return _balance(made, moved(made, mode))

    def fullest(mode: str) -> Column:
        return Column(lambda width: f"+{fmt_percent(seen(mode, width)[1], 0)}",
                      say("fullest-over-mean", mode=MODES[mode]))

    table(WIDTHS, [
        Column(int, "EP"),
        Column(lambda width: _wide(CASES[1], width, 1).inputs["n_routed_experts"] / width,
               say("experts-of-rank"), fmt_int),
        Column(lambda width: seen(RANDOM, width)[0] / width, say("of-these-hit-by-step"),
               fmt_fixed, digits=1),
        *map(fullest, (RANDOM, PLACED, SPARE))])
    number("ex-of-card", OF_CARD)


def _balance(made: Plan, moves: Mapping[str, float]) -> tuple[float, float]:
    found = evaluate({**made.inputs, **moves, **APART, "concurrency": float(OF_CARD * made.cards)},
                     made.scenario.model.attention)
    return float(found["decode_distinct_experts"]), float(found["decode_rank_imbalance"])


def spares() -> None:
    """What copies of the most popular experts cost and yield, by their number."""
    def yielded(heading: Pair, *mode: Any) -> Column:
        return Column(lambda case: wide(case, SEEN, *mode).rate(LIMIT), heading, fmt_fixed,
                      digits=0)

    def memory(case: Case) -> float:
        made = _wide(case, SEEN, 1)
        return float(evaluate(made.inputs, made.scenario.model.attention)[
            "redundant_weights_per_device"])

    table(CASES, [
        Column(titled, say("token-s-of-card-ep", width=SEEN)), yielded(MODES[RANDOM], RANDOM),
        *(yielded(say("spares-of-rank", count=count), SPARE, count) for count in SPARES),
        Column(memory, say("memory-of-one"), fmt_bytes, digits=1)])


def measured() -> None:
    """Pools of wide expert parallelism that were measured, beside what is predicted of them."""
    rows = []
    for name in MEASURED:
        system = measured_system(name)
        which = system.measured("output_throughput")
        rows.append((name, system, system.predict("output_throughput", which)
                     / system.rows["output_throughput"][which]))
    table(rows, [
        Column(lambda row: say("device-and-width", width=int(row[1].inputs["expert_parallel"]),
                               device=device_label(row[1].scenario.device.id)),
               say("measured-decode-pool")),
        Column(lambda row: f"`{row[0]}`", common("system")),
        Column(lambda row: len(row[2]), say("measurements")),
        Column(lambda row: " – ".join(dict.fromkeys(fmt_fixed(float(end)) for end in (
            row[2].min(), row[2].max()))), say("predicted-over-measured"))],
        folded=say("where-it-was-measured-predicted"))


def needed(requests: int) -> BreakEven:
    """Hit rates at which experts that are fetched keep the promise, second, or do not.

    Args:
        requests: of a replica of S1's plan, whose cards keep a quarter of the experts.
    """
    made = tiers(requests)

    def difference(shares: np.ndarray) -> np.ndarray:
        return np.log(LIMIT / made.at({HIT: shares}, "tpot"))

    return solve(difference, 1e-6, 1 - 1e-6, most=256)


@cache
def tiers(requests: int) -> Plan:
    """S1's plan with experts in host memory, for so many requests of each replica."""
    made = plan_of(TIERS)
    return plan_of(TIERS, [
        f"workload.concurrency={requests * int(made.inputs['data_parallel'])} request"])


def fetched() -> None:
    """What fetching takes by requests and hit rate, and the hit rate that keeps the promise."""
    kept = 1 - tiers(1).inputs["fetched_share"]
    few, many = REQUESTS[0], REQUESTS[-1]
    popular = {few: plan_of(TIERS).inputs[HIT], many: plan_of(POPULAR).inputs[HIT]}
    on_cards = plan_of(ON_CARDS)

    def suffices(count: int) -> float | Pair:
        return next((each.at for each in needed(count).turns if each.after == SECOND),
                    say("none-suffices"))

    def pace(made: Plan, name: str, value: float) -> float:
        return float(made.at({name: np.array([value])}, "tpot")[0])

    table(REQUESTS, [
        Column(int, say("requests-of-replica")),
        Column(suffices, say("hit-rate-needed", limit=fmt_time(LIMIT)), fmt_percent, digits=0),
        Column(popular.get, say("most-popular-kept", few=few, many=many), fmt_percent, digits=0),
        Column(lambda count: pace(tiers(count), HIT, kept), say("tpot-kept-at-random"), fmt_time),
        Column(lambda count: pace(tiers(count), HIT, 1.0), say("tpot-best-there-is"), fmt_time),
        Column(lambda count: pace(on_cards, "concurrency", tiers(count).inputs["concurrency"]),
               say("tpot-all-on-cards"), fmt_time)])
    [asked] = select_claims(KEPT)
    assert asked.case.printed is not None
    numbers({"ex-kept": kept, "ex-kept-printed": asked.case.printed.value}, fmt_percent, digits=0)
