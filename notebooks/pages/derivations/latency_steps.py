"""Whole steps of deployments in the chapter on latency: where their time goes, what changes it.

Quantities of a step come from the formulas derived so far. Times are in seconds unless a heading
says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib.figure import Figure

import catalogue
from catalogue.messages import Pair, messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations.latency import MULTIPLY_ADD, signed
from notebooks.show import figures
from notebooks.show.columns import Column, crossed
from notebooks.show.display import LANGUAGES, figure, markdown, number, numbers, table
from notebooks.show.numbers import (
    fmt_bytes,
    fmt_fixed,
    fmt_in,
    fmt_percent,
    fmt_sig,
    fmt_time,
)

common = messages("common")
say = messages("pages/derivations/latency-steps")

Values = Mapping[str, Any]  # inputs and quantities of a deployment by name (SI)
Servers = Mapping[Pair, Values]
MILLISECONDS = 1e3  # of a second
milliseconds = partial(fmt_in, unit="ms", digits=1)
FEW_AND_MANY = (1, 32)  # requests
OF_MANY: Pair = say("same-for-requests", requests=FEW_AND_MANY[1])
SIZES = (1, 2, 4, 8, 16)
REQUESTS_OF_HALVES = (2, 8, 32, 64, 128, 256, 512)  # per card
ROOM_FOR_ALL = 1e15  # memory of a card on which no request waits for a place [B]
REQUESTS_WITH_DRAFTS = (1, 4, 16, 64)
REQUESTS_APART = (1, 8, 32)
WIDE_ENOUGH = 2.5  # of a bar, for its number [ms]
PLACES = {"expert_read_time": say("its-own-memory"),
          "expert_link_time": say("host-memory-over-links"),
          "expert_host_time": say("host-memory-at-read-rate"), "expert_storage_time": say("drive")}
KEPT = {"random": say("kept-at-random"), "popular": say("most-popular-kept"),
        "in-memory": say("same-none-only-on-drive"), "best": say("perfect-choice-on-cards-rest"),
        "home": say("all-experts-on-cards")}
SIXTEEN_BIT: Pair = say("ascend-bf16")
WAITING = say("host-waiting-and-gap")
BARS: dict[Pair, tuple[str, ...]] = {
    say("experts-reading-and-arithmetic"): ("routed_expert", "shared_expert"),
    common("dequantisation"): ("dequantisation",),
    common("attention-projections-dense-mlp"): ("attention", "dense_mlp"),
    common("attention-core"): ("core", "index"),
    common("router-output-head-norms-gates"): ("router", "head", "vector"),
    say("kernel-boundaries"): ("boundary",),
    common("communication"): ("all_reduce", "exchange", "pipeline", "context_exchange"),
    WAITING: ()}
KINDS = (figures.READ, figures.COMPUTE, figures.READ, figures.CACHE, figures.COMPUTE,
         figures.HOST, figures.LINKS, figures.HOST)  # what each part is, by which it is coloured


class Steps:
    """Every quantity of a deployment with MLA, some inputs changed (SI)."""

    def __init__(self, derivation: Derivation) -> None:
        """From the formulas that the chapter has derived when a deployment is asked for."""
        self._derivation = derivation

    def __call__(self, deployment: Values, **changed: float) -> Values:
        """Inputs and quantities by name, as they are read."""
        return self._derivation.quantities({**deployment, **changed}, "mla")


def experts_on_the_host(step: Steps, hybrid: Values) -> list[dict[str, Any]]:
    """Times of the host in steps of so many tokens, part by part; returns them [s]."""
    def row(label: Pair, tokens: int) -> dict[str, Any]:
        values = step(hybrid, draft_tokens=0, concurrency=tokens)
        each_expert = values["moe_layers"] * values["routed_expert_parameters"]
        read = each_expert * values["decode_distinct_experts"] * values["offloaded_weight_bytes"]
        flops = MULTIPLY_ADD * each_expert * tokens * values["num_experts_per_tok"]
        moved = (2 * values["moe_layers"] * tokens * values["hidden_size"]
                 * values["activation_element_bytes"])
        return {"label": label, "tokens": tokens,
                "read": read / (values["host_memory_bandwidth"] * values["host_stream_efficiency"]),
                "flops": flops / (values["host_peak"] * values["host_gemm_efficiency"]),
                "moved": moved / values["host_link_bandwidth"],
                "sync": values["moe_layers"] * values["host_sync"]}

    rows = [*(row(common("decode"), tokens) for tokens in (1, 4, 16)),
            *(row(common("prefill"), tokens) for tokens in (512, 8192))]
    table(rows, [Column("label", say("step")), Column("tokens", common("tokens")),
                 Column("read", say("reading-ms"), milliseconds),
                 Column("flops", say("arithmetic-ms"), milliseconds),
                 Column("moved", say("hidden-states-ms"), milliseconds),
                 Column("sync", say("hand-over-ms"), milliseconds)])
    return rows


def deployed(device: str, node: str, precision: str, *more: str) -> dict[str, Any]:
    """Inputs of the workload of document S2 on another server."""
    return catalogue.load_scenario("s2-910b1-awq", overrides=(
        f"device={device}", f"cluster.node={node}", f"precision={precision}", *more)).inputs()


def servers(base: Values) -> dict[Pair, Values]:
    """The server of document S2, whose inputs these are, and two others."""
    return {say("eight-ascend-w4a16"): base,
            say("eight-h800-fp8"): deployed("nvidia-h800", "hgx-h800", "fp8-block"),
            say("eight-h20-fp8"): deployed("nvidia-h20", "hgx-h20", "fp8-block")}


def with_and_without_graph(step: Steps, deployments: Servers) -> None:
    """A decode step in a captured graph, and operator by operator."""
    rows = [(label, *(step(deployment, concurrency=requests, captured=flag) for flag in (1, 0)))
            for label, deployment in deployments.items() for requests in FEW_AND_MANY]
    table(rows, [
        Column(0, say("server")),
        Column(lambda row: row[1]["concurrency"], common("number-of-requests")),
        Column(lambda row: row[2]["host_time_per_operator"], ("$h_o$ (µs)", "$h_o$（µs）"), fmt_in,
               unit="us", digits=0),
        Column(lambda row: row[1]["decode_device_time"], say("time-of-card-ms"), milliseconds),
        Column(lambda row: row[2]["decode_host_time"], say("time-of-host-ms"), milliseconds),
        Column(lambda row: row[1]["decode_step_time"], say("step-in-graph-ms"), milliseconds),
        Column(lambda row: row[2]["decode_step_time"], say("step-without-graph-ms"),
               milliseconds)])


def one_expert(level: Values, claims: Values) -> None:
    """Times of one expert from each place, beside those that document S1 claims."""
    table(PLACES, [
        Column(PLACES.get, say("one-expert-from")),
        Column(level.get, say("to-last-byte-us"), fmt_in, unit="us", digits=1),
        Column(lambda name: claims[name].value if name in claims else None,
               say("access-by-document-us"), fmt_in, unit="us", digits=0)])


def experts_on_three_levels(step: Steps, levels: Values, hot: float, warm: float
                            ) -> dict[str, Values]:
    """A step by which experts are kept; returns its quantities for each.

    Args:
        step: of a deployment.
        levels: inputs of the deployment.
        hot, warm: shares of what is chosen that the cards have, and of the rest the host [1].
    """
    nothing_on_drives: dict[str, float] = {"host_hit_share": 1, "stored_share": 0}
    changes: dict[str, dict[str, float]] = {
        "random": {}, "popular": {"device_hit_share": hot, "host_hit_share": warm},
        "in-memory": {"device_hit_share": hot} | nothing_on_drives,
        "best": {"device_hit_share": 1} | nothing_on_drives,
        "home": {"fetched_share": 0, "device_hit_share": 1}}
    steps = {key: step(levels, **changed) for key, changed in changes.items()}
    table([{"case": KEPT[key], **values} for key, values in steps.items()], [
        Column("case", say("one-step-of-replica-on")),
        Column("decode_missing_experts", say("loaded-per-layer"), fmt_fixed, digits=1),
        Column("decode_storage_experts", say("from-drives"), fmt_fixed, digits=1),
        Column("decode_step_time", common("decode-step"), fmt_time),
        Column(lambda row: levels["concurrency"] / row["decode_step_time"],
               say("tokens-s-of-all-replicas"), fmt_sig, digits=3)])
    return steps


def numbers_of_fetching(level: Values, steps: Mapping[str, Values], target: float, top: float,
                        hot: float) -> None:
    """What is loaded beside the target of document S1 [s; experts per layer].

    ``top`` of all experts are on the cards, ``hot`` of those chosen if they are the popular [1].
    """
    chosen, experts = level["decode_distinct_experts"], level["n_routed_experts"]
    number("fetch-requests", level["decode_batch"])
    numbers({"fetch-chosen": chosen, "fetch-kept": top * experts}, fmt_fixed, digits=0)
    for name in ("popular", "in-memory", "best", "home"):
        number(f"fetch-{name}", steps[name]["decode_step_time"], fmt_time)
    numbers({"fetch-target": target,
             "fetch-once": level["moe_layers"] * level["expert_storage_time"],
             "fetch-chunk": level["prefill_fetch_time"]}, fmt_time)
    numbers({"fetch-random-share": float(top), "fetch-popular-share": hot}, fmt_percent, digits=0)
    number("fetch-hot", float(top * level["routed_parameters"]
                              * level["routed_expert_weight_bytes"]), fmt_bytes, unit="GiB",
           digits=0)


@dataclass(frozen=True)
class Halves:
    """A decode step of so many requests per card, by how its work is laid side by side [s]."""

    requests: int
    compute: float
    link: float
    whole: float
    single: float
    split: float
    streams: float


def halves(step: Steps, spread: Values, requests: int) -> Halves:
    """A step of so many requests per card, without drafts."""
    ways = [step(spread, concurrency=requests * spread["data_parallel"], draft_tokens=0,
                 micro_batches=count, single_batch_overlap=within, unequal_streams=apart)
            for count, within, apart in ((1, 0, 0), (1, 1, 0), (2, 0, 0), (2, 0, 1))]
    return Halves(requests, ways[0]["decode_compute_time"], ways[0]["decode_communication_time"],
                  *(way["decode_step_time"] for way in ways))


def two_halves(step: Steps, spread: Values) -> list[Halves]:
    """Steps in one batch and in two halves, over the requests per card; returns them."""
    tried = [halves(step, spread, requests) for requests in REQUESTS_OF_HALVES]
    table(tried, [Column("requests", common("requests-per-card")),
                  Column("compute", say("computation-ms"), milliseconds),
                  Column("link", say("communication-ms"), milliseconds),
                  Column("whole", say("one-batch-ms"), milliseconds),
                  Column("single", say("overlap-within-ms"), milliseconds),
                  Column("streams", say("two-streams-ms"), milliseconds),
                  Column("split", say("two-halves-ms"), milliseconds),
                  Column(lambda row: row.split / row.whole - 1, say("change"), signed)])
    overlap = f"$\\eta_o$ = {fmt_fixed(spread['overlap_efficiency'], 2)}"
    markdown(*say("how-halves-are-placed", cards=int(spread["data_parallel"]),
              experts=int(spread["expert_parallel"]), overlap=overlap))
    return tried


def where_two_halves_pay(step: Steps, spread: Values) -> int:
    """Requests per card from which two halves are faster; StopIteration if at none of the table."""
    steps = (halves(step, spread, requests) for requests in range(2, REQUESTS_OF_HALVES[-1] + 2, 8))
    return next(row.requests for row in steps if row.split < row.whole)


def of_size(step: Steps, deployment: Values, cards: int, requests: int) -> Values:
    """A step of one tensor-parallel group of so many cards."""
    return step(deployment, tensor_parallel=cards, data_parallel=1, expert_parallel=1,
                concurrency=requests, draft_tokens=0)


def over_sizes(step: Steps, deployments: Servers) -> None:
    """Step times over the tensor-parallel sizes; those that do not fit in brackets."""
    def cell(values: Values) -> str:
        text = milliseconds(values["decode_step_time"])
        return text if values["headroom_per_device"] >= 0 else f"({text})"

    for requests, folded in zip(FEW_AND_MANY, (None, OF_MANY), strict=True):
        table([{"card": tuple(name.split("×")[-1] for name in label), "requests": requests}
               | {str(cards): cell(of_size(step, deployment, cards, requests)) for cards in SIZES}
               for label, deployment in deployments.items()],
              {"card": common("card"), "requests": common("number-of-requests")}
              | {str(cards): say("ranks-ms", cards=cards) for cards in SIZES}, folded=folded)


def acceptance_needed(step: Steps, deployments: Servers) -> list[list[float]]:
    """How much longer a step with one draft token per request takes, by server and requests."""
    def drafted(deployment: Values, requests: int) -> float:
        plain, checked = (step(deployment, concurrency=requests, draft_tokens=count,
                               memory_capacity=ROOM_FOR_ALL) for count in (0, 1))
        return float(checked["decode_step_time"] / plain["decode_step_time"] - 1)

    needed = [[drafted(deployment, requests) for requests in REQUESTS_WITH_DRAFTS]
              for deployment in deployments.values()]
    table(*crossed(say("acceptance-to-break-even"),
                   {label: dict(zip(REQUESTS_WITH_DRAFTS, shares, strict=True))
                    for label, shares in zip(deployments, needed, strict=True)},
                   {requests: say("requests", count=requests) for requests in REQUESTS_WITH_DRAFTS},
                   partial(fmt_percent, digits=0)))
    for place, share in enumerate(needed[0][:2]):
        number(f"draft-needed-{place}", share, fmt_percent, digits=0)
    return needed


@dataclass(frozen=True)
class Apart:
    """A decode step of so many requests, part by part [s]."""

    values: Values
    parts: Mapping[Pair, float]

    @property
    def time(self) -> float:
        """Of the whole step."""
        return float(self.values["decode_step_time"])

    def share(self, *places: int) -> float:
        """Of the step, what some of the bars take, by their place."""
        parts = list(self.parts.values())
        return sum(parts[place] for place in places) / self.time


def taken_apart(step: Steps, base: Values) -> dict[int, Apart]:
    """Steps by their number of requests, part by part."""
    def parts(values: Values) -> dict[Pair, float]:
        return {label: sum(values[f"decode_{name}_time"] for name in names)
                for label, names in BARS.items()} | {
            WAITING: values["decode_step_time"] - values["decode_device_time"]}

    steps = {requests: step(base, concurrency=requests) for requests in REQUESTS_APART}
    return {requests: Apart(values, parts(values)) for requests, values in steps.items()}


def measured_per_token(scenario: Any, input_tokens: int) -> dict[int, float]:
    """Times per output token that were measured at this length, by number of requests [ms]."""
    rows = [dict(zip(scenario.measured.columns, row, strict=True))
            for row in scenario.measured.rows]
    return {row["concurrency"]: row["tpot"] for row in rows if row["input_tokens"] == input_tokens}


def picture_of_steps(steps: Mapping[int, Apart], measured: Mapping[int, float]) -> None:
    """Steps as bars of their parts, beside the measured times per token [ms]."""
    def picture(lang: str) -> Figure:
        at = LANGUAGES.index(lang)
        fig, ax = figures.axes(height=3.9)
        left, places = [0.0] * len(steps), range(len(steps))
        for label, kind, tint in zip(BARS, KINDS, figures.tints(KINDS), strict=True):
            widths = [MILLISECONDS * apart.parts[label] for apart in steps.values()]
            ax.barh(places, widths, left=left, height=0.55, label=label[at],
                    color=figures.PALETTE[kind], alpha=tint)
            for place, (start, width) in enumerate(zip(left, widths, strict=True)):
                if width > WIDE_ENOUGH:
                    ax.text(start + width / 2, place, f"{width:.0f}", ha="center", va="center",
                            color="white", fontsize=8.5)
            left = [start + width for start, width in zip(left, widths, strict=True)]
        ax.vlines([measured[requests] for requests in steps], [place - 0.4 for place in places],
                  [place + 0.4 for place in places], color=figures.INK, lw=2.5,
                  label=say("measured-per-output-token")[at])
        ax.set_yticks(list(places), [say("requests", count=n)[at] for n in steps])
        ax.invert_yaxis()
        ax.grid(axis="y", visible=False)
        ax.set_xlabel(say("time-of-decode-step-ms")[at])
        ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.16), ncols=3, fontsize=8)
        return fig

    figure("step-apart", picture)


def what_if(step: Steps, base: Values, steps: Mapping[int, Apart]) -> dict[int, str]:
    """Steps with one input changed; returns, by requests, the input whose change saves most."""
    changes: dict[Pair, dict[str, float]] = {
        say("weights-widened-in-registers"): {"dequantisation_traffic": 0},
        say("all-of-shorter-hidden"): {"load_overlap": 1},
        say("no-boundaries"): {"kernel_boundary": 0},
        say("no-gap-between-steps"): {"host_gap_per_step": 0},
        say("no-latency-of-collectives"): {"collective_alpha": 0, "second_round_alpha": 0},
        say("memory-twice-as-fast"): {"memory_bandwidth": 2 * base["memory_bandwidth"]}}
    times = {label: {requests: step(base, concurrency=requests, **changed)["decode_step_time"]
                     for requests in steps} for label, changed in changes.items()}
    cells = {common("as-it-is"): {n: milliseconds(apart.time) for n, apart in steps.items()}} | {
        label: {n: f"{milliseconds(time)} ({signed(time / steps[n].time - 1)})"
                for n, time in by_requests.items()} for label, by_requests in times.items()}
    table(*crossed(say("what-if"), cells,
                   {n: say("requests-ms", requests=say("requests", count=n)) for n in steps}, str))
    return {n: next(iter(changes[min(times, key=lambda label: times[label][n])])) for n in steps}


def numbers_of_steps(step: Steps, base: Values, steps: Mapping[int, Apart],
                     measured: Mapping[int, float]) -> None:
    """Shares of the parts, what a faster memory saves, and times beside measured ones [ms]."""
    few, many = ends = (REQUESTS_APART[0], REQUESTS_APART[-1])
    number("apart-tokens", base["input_tokens"])
    number(f"apart-experts-{many}", steps[many].share(0, 1), fmt_percent, digits=0)
    number(f"apart-fixed-{few}", steps[few].share(5, 6, 7), fmt_percent, digits=0)
    for n in ends:
        faster = step(base, concurrency=n, memory_bandwidth=2 * base["memory_bandwidth"])
        number(f"apart-memory-{n}", 1 - faster["decode_step_time"] / steps[n].time, fmt_percent,
               digits=0)
    for n, apart in steps.items():
        numbers({f"apart-step-{n}": apart.time, f"apart-measured-{n}": measured[n] / MILLISECONDS},
                fmt_time)
        number(f"apart-floor-{n}", apart.values["tpot_floor"] / apart.time, fmt_percent, digits=0)
