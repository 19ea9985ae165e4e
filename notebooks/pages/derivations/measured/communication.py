"""Measured collectives and exchanges beside what comes out here: every run, and the errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import catalogue
from catalogue.entries.hardware import Collective, ExpertExchange
from catalogue.messages import Pair, messages
from notebooks.pages.derivations import communication_groups as groups
from notebooks.pages.derivations import communication_steps as steps
from notebooks.pages.derivations.communication_groups import A2, Inputs, Time
from notebooks.pages.derivations.communication_steps import MODES, SCALED, WAYS, dispatched
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_percent

common = messages("common")
say = messages("pages/derivations/measured/communication")

KINDS: dict[str, Pair] = {
    "all-reduce": ("all-reduce", "all-reduce"), "all-gather": ("all-gather", "all-gather"),
    "low-latency": say("dispatch-and-combine-low-latency"),
    "normal": say("dispatch-and-combine-normal")}
PHASES: dict[str, Pair] = {"dispatch": common("dispatch"), "combine": common("combine"),
                           "both": say("both-ways")}
EXPERTS = 256  # of a layer of DeepSeek-V3, whose exchanges are measured
PCIE = "nvidia-rtx-pro-6000"  # mechanisms of the one card with such tables that has no other links
MANY = 2**40  # payload where none is stated: latencies do not count [B]


@dataclass(frozen=True)
class Run:
    """A measured collective or exchange beside what comes out here.

    Attributes:
        card, kind, what, library: where, and what was run by which library or in which mode.
        ranks, nodes, size: of the group, and the payload as it is printed.
        time, modelled, copied: measured, here, and if each copy were forwarded [s].
        bus: bytes over which bus bandwidth is defined, of a collective.
        stated: whether a payload was; else time is that of a large one.
        fitted: whether its source gave a latency or share of the formula.
    """

    card: str
    kind: str
    what: Pair
    library: str
    ranks: int
    nodes: int
    size: str | Pair
    time: float
    modelled: float
    copied: float = 0.0
    bus: float = 0.0
    stated: bool = True
    fitted: bool = False

    @property
    def error(self) -> float:
        """Of the time here [1]."""
        return self.modelled / self.time - 1

    def shown(self, time: float) -> str:
        """A time of the run, or the rate where no payload is stated."""
        if not self.stated:
            return groups.rate_text(self.bus / time)
        return groups.microseconds(time, 1 if time < 1e-3 else 0)


def _collective(card: str, links: Inputs, run: Collective, times: Mapping[str, Time]) -> Run:
    adding = run.operation == "all-reduce"
    size = MANY if run.payload is None else run.payload.value
    bus = (2 if adding else 1) * (run.ranks - 1) / run.ranks * size
    values, told = groups.collective_values(card), run.time or run.bus_bandwidth
    modelled = times[run.operation](links | groups.plain(values), run.ranks,
                                    run.ranks // run.nodes, Q=size if adding else size / run.ranks)
    time = run.time.value if run.time else bus / groups.rate_of(run)
    return Run(card, run.operation, (run.operation, run.operation), run.algorithm or "–",
               run.ranks, run.nodes, "–" if run.payload is None else run.payload.written,
               time, modelled, bus=bus, stated=run.payload is not None,
               fitted=told is not None and told.source in groups.fitted_to(values, run.nodes > 1))


def _exchange(card: str, links: Inputs, run: ExpertExchange, times: Mapping[str, Time]) -> Run:
    nodes = run.nodes or 1
    sent_as = (dispatched(card), "bf16") if run.phase == "both" else (str(run.dtype),)
    mode = run.mode.replace("-", "_")
    inputs = links | steps.exchange_inputs(card, mode, nodes > 1) | {
        "exchange_normal": MODES[mode], "num_experts_per_tok": run.experts_per_token,
        "n_routed_experts": EXPERTS}
    assert run.time  # those with a bandwidth alone are left out
    assert run.hidden_size
    sizes = [run.hidden_size * SCALED[dtype] for dtype in sent_as]
    modelled, copied = (
        sum((times[key](inputs, run.ranks, run.ranks // nodes, U=run.tokens, z=size)
             for size in sizes), start=0.0) for key in ("exchange", "copies"))
    return Run(card, run.mode, PHASES[run.phase], run.mode, run.ranks, nodes,
               groups.tokens_text(run.tokens), run.time.value, modelled, copied,
               fitted=run.time.source in groups.fitted_to(
                   steps.exchange_values(card, mode), nodes > 1))


def measured(times: Mapping[str, Time]) -> list[Run]:
    """Every measured collective and exchange for which there is a formula, and a server.

    Args:
        times: by ``all-reduce``, ``all-gather``, ``exchange``, and ``copies``, which is an
            exchange in normal mode if each copy were forwarded.
    """
    server_of, runs = groups.servers(), []
    for name in catalogue.names("microbenchmarks"):
        entry = catalogue.load("microbenchmarks", name)
        if entry.device not in server_of:
            continue
        links = groups.link_inputs(server_of[entry.device])
        runs += [_collective(entry.device, links, run, times) for run in entry.collectives
                 if run.operation in times and run.algorithm != "NVLS"]
        runs += [_exchange(entry.device, links, run, times) for run in entry.expert_exchange
                 if run.time and (run.phase == "both" or run.dtype)]
    return runs


def signed(error: float) -> str:
    """A deviation in whole percent, without a negative zero."""
    return fmt_percent(round(error, 2) + 0.0, 0)


def compared(runs: Sequence[Run]) -> None:
    """Every run, and the errors of each kind."""
    table(runs, [
        Column(lambda run: groups.card_name(run.card), common("card")),
        Column("what", common("operation")),
        Column(lambda run: WAYS.get(run.library, run.library), say("library-or-mode")),
        Column("ranks", common("ranks")), Column("nodes", say("nodes")),
        Column("size", common("payload")),
        Column(lambda run: run.shown(run.time), common("measured")),
        Column(lambda run: run.shown(run.modelled), say("here")),
        Column("error", common("off-by"), signed),
        Column(lambda run: "✓" if run.fitted else "", say("fitted"))],
          wide=True, folded=say("all-comparisons", runs=len(runs)))
    errors = {kind: (label, [run.error for run in runs if run.kind == kind])
              for kind, label in KINDS.items()}
    errors["each"] = (say("normal-if-each-copy-were"),
                      [run.copied / run.time - 1 for run in runs if run.kind == "normal"])
    for kind, (_, of_kind) in errors.items():
        number(f"measured-{kind}", median(map(abs, of_kind)), signed)
        number(f"measured-{kind}-worst", _worst(of_kind), signed)
    table([{"kind": label, "count": len(of_kind), "median": signed(median(map(abs, of_kind))),
            "half": signed(median(of_kind)), "worst": signed(_worst(of_kind))}
           for label, of_kind in errors.values()],
          {"kind": say("what"), "count": say("comparisons"), "median": say("median-size-of-error"),
           "half": say("median-error"), "worst": say("worst-by-ratio")})


def _worst(errors: Sequence[float]) -> float:
    """The error of the largest factor."""
    return max(errors, key=lambda error: abs(math.log(1 + error)))


def measured_numbers(runs: Sequence[Run]) -> None:
    """Numbers of the list below the tables."""
    calls = [run.error for run in runs
             if (run.kind, run.library, run.nodes) == ("all-reduce", "NCCL", 1)
             and run.time < 1e-4]
    on_h200 = [run for run in runs if run.card == groups.H200 and run.kind == "all-reduce"
               and run.ranks == groups.NODE and run.time > 1e-3]
    large = [run for run in on_h200 if run.library in ("NCCL", "SGLang")]
    around = [run.error for run in on_h200 if run.library == "ring"]
    switched = min((run for run in runs if run.card == groups.B200 and run.library == "SGLang"),
                   key=lambda run: run.error)
    low_latency = [run.ranks for run in runs if run.kind == "low-latency"]
    both, *parts = sorted((run.time for run in runs if (run.card, run.kind) == (
        A2, "low-latency")), reverse=True)
    numbers({"measured-both": both, "measured-parts": sum(parts)}, groups.microseconds, digits=0)
    numbers({"measured-calls-low": 1 / (1 + max(calls)),
             "measured-calls-high": 1 / (1 + min(calls))}, fmt_fixed, digits=1)
    numbers({"measured-large": _worst([run.error for run in large]),
             "measured-ring": _worst(around)}, signed)
    numbers({"measured-large-from": min(large, key=lambda run: run.time).size,
             "switch-size": switched.size}, str)
    number("switch-factor", switched.time / switched.modelled, fmt_fixed, digits=1)
    numbers({"measured-low-least": min(low_latency), "measured-low-most": max(low_latency)})


def fitted_tables() -> None:
    """How far the law is off in tables of all-reduces that engines' kernels were fitted to."""
    judged = [(fits.card, table.judged) for name in catalogue.names("fits")
              for fits in [catalogue.load("fits", name)] for statement in fits.statements
              for table in statement.measured if table.operator == "all_reduce"]
    for name in ("median", "most"):
        of_links, over_pcie = ([getattr(errors, name) for card, errors in judged
                                if (card == PCIE) == slow] for slow in (False, True))
        numbers({f"fits-{name}-least": min(of_links), f"fits-{name}-most": max(of_links),
                 f"fits-{name}-pcie": max(over_pcie)}, fmt_percent, digits=0)
