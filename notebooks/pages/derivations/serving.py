"""What users of three deployments wait for: chunks, prefixes, drafts, pools and queues.

Times are in seconds, lengths in tokens. Formulas are handed in, or asked of the derivation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import sympy
from matplotlib.figure import Figure

from catalogue.messages import Pair, join, messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations import throughput
from notebooks.pages.derivations.throughput import Inputs, Values, quantities
from notebooks.show import figures
from notebooks.show.columns import Column, crossed
from notebooks.show.display import figure, markdown, number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_percent, fmt_quantity, fmt_time

common = messages("common")
say = messages("pages/derivations/serving")

Shape = tuple[int, int]
PROMPT, ANSWER = 8192, 512
BOUNDED = 60  # chunks and prompts up to which the formula without divisors is compared
BURSTS = ((1, 7), (2, 7), (4, 7), (7, 7), (10, 7), (14, 7))  # chunks and prompts
SIZES = (512, 1024, 2048, 4096, 8192)
SHARES = (0, 0.25, 0.5, 0.75, 0.9, 0.95)
SHARE = 0.9  # that sentences speak of
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)
DRAFTED_AT = (2048, ANSWER)
SHAPES: tuple[Shape, ...] = ((1024, 1024), (2048, 512), (8192, 512), (8192, 128), (32768, 512))
EACH = 32  # requests on a decode replica
LEVELS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
BUSY = 0.9  # that sentences speak of
RANKS, ON_EACH = 8, 16  # that share experts, and requests of each
SHARED = 4096, 1024  # tokens of their prompts and answers
RATES = (0.25, 0.5, 0.75, 1.0, 1.25)
SAID = 1.0  # that sentences speak of


class Chunk(NamedTuple):
    """Time of a mean chunk [s], and rate of prefill [token/s]."""

    time: float
    rate: float


class Drafted(NamedTuple):
    """Break-even acceptance of one draft, and speed-up by one and by three, of a batch [1]."""

    batch: int
    even: float
    by_one: float
    by_three: float


def lengths(prompt: int, answer: int) -> Inputs:
    """Inputs that set the tokens of prompt and answer."""
    return {"input_tokens": prompt, "output_tokens": answer, "context_tokens": prompt + answer}


def systems() -> dict[Pair, Inputs]:
    """Inputs of the deployments by name, each with prompts of 8,192 tokens."""
    replicas = {say("h20-fp8"): throughput.h20(), say("h800-fp8"): throughput.h800(),
                say("ascend-w8a8"): throughput.ascend()}
    return {label: replica.inputs | lengths(PROMPT, ANSWER) for label, replica in replicas.items()}


def last_chunks(exact: Callable[[int, int], sympy.Rational],
                short: Callable[[int, int], sympy.Rational]) -> None:
    """The mean chunk in which a prompt ends, exact and by the formula, and where it is worst off.

    Args:
        exact, short: the mean and the formula, of chunks and prompts.
    """
    counts = range(1, BOUNDED + 1)
    off, chunks, prompts = max((1 - short(m, r) / exact(m, r), m, r)
                               for m in counts for r in counts)
    number("burst-worst", float(off), fmt_percent, digits=0)
    table((*BURSTS, (chunks, prompts)), [
        Column(0, say("chunks")), Column(1, say("prompts")),
        Column(lambda burst: float(exact(*burst)), say("exact-mean"), fmt_fixed),
        Column(lambda burst: float(short(*burst)), common("formula"), fmt_fixed),
        Column(lambda burst: float(short(*burst) / exact(*burst) - 1), common("off-by"),
               fmt_percent)], folded=say("exact-mean-and-formula-beside"))


def cases_of_a_burst() -> None:
    """What the TTFT of a burst is for prompts that fill a chunk, share one, or are alone."""
    table([{"case": say("each-prompt-fills-chunk"), "value": "$\\frac{c_D + 1}{2} \\, S$"},
           {"case": say("all-others-share-one-chunk"),
            "value": "$\\left(2 - \\frac{1}{c_D}\\right) S$"},
           {"case": "$c_D = 1$", "value": "$S$"}],
          {"case": say("case-chunks-of"), "value": "$\\tau_1$"})


def chunk_sizes(derivation: Derivation, systems: Mapping[Pair, Inputs]
                ) -> dict[Pair, dict[int, Chunk]]:
    """Chunk and rate of prefill by the size of a chunk [token], of each system."""
    def chunk(inputs: Inputs, size: int) -> Chunk:
        values = quantities(derivation, inputs, concurrency=1, max_num_batched_tokens=size)
        return Chunk(values["prefill_step_time"], values["new_tokens"] / values["prefill_time"])

    by_size = {label: {size: chunk(inputs, size) for size in SIZES}
               for label, inputs in systems.items()}
    table(*crossed(common("deepseek-v3-on"), by_size, {size: f"$T = {size:,}$" for size in SIZES},
                   lambda of: f"{fmt_time(of.time)}, {of.rate:,.0f}"), wide=True)
    markdown(*say("time-of-chunk-and-prefill", prompt=f"{PROMPT:,}"))
    smallest, *_, largest = next(iter(by_size.values())).values()
    number("mixed-small", SIZES[0])
    number("mixed-loss", 1 - smallest.rate / largest.rate, fmt_percent, digits=0)
    return by_size


def prefix_hits(derivation: Derivation, systems: Mapping[Pair, Inputs]
                ) -> dict[Pair, dict[float, float]]:
    """Time of prefill [s] of one prompt by the share of it that is cached, of each system."""
    by_share: dict[Pair, dict[float, float]] = {
        label: {share: quantities(derivation, inputs, concurrency=1,
                                  prefix_hit_share=share)["prefill_time"] for share in SHARES}
        for label, inputs in systems.items()}
    table(*crossed(say("prefill-of-one-prompt"), by_share,
                   {share: f"$\\chi = {share}$" for share in SHARES}, fmt_time))
    first = next(iter(by_share.values()))
    numbers({"prefix-share": SHARE, "prefix-left": first[SHARE] / first[0],
             "prefix-new": 1 - SHARE}, fmt_percent, digits=0)
    return by_share


def drafts(derivation: Derivation, systems: Mapping[Pair, Inputs]) -> dict[Pair, list[Drafted]]:
    """What drafts cost and gain by batch, as far as batches fit, of each system."""
    def timed(inputs: Inputs, batch: int, count: int) -> tuple[float, float] | None:
        """Time of a step with so many drafts and tokens that it yields; none if it cannot be."""
        values = quantities(derivation, inputs | lengths(*DRAFTED_AT), concurrency=batch,
                            draft_tokens=count)
        if values["max_concurrency"] < batch:
            return None
        return values["decode_step_time"] + values["draft_time"], values["tokens_per_step"]

    def drafted(inputs: Inputs, batch: int) -> Drafted | None:
        steps = [step for count in (0, 1, 3) if (step := timed(inputs, batch, count))]
        if len(steps) < 3:
            return None
        (plain, _), (time_1, yields_1), (time_3, yields_3) = steps
        return Drafted(batch, even=time_1 / plain - 1, by_one=plain * yields_1 / time_1,
                       by_three=plain * yields_3 / time_3)

    return {label: [row for batch in BATCHES if (row := drafted(inputs, batch))]
            for label, inputs in systems.items()}


def break_even(of_systems: Mapping[Pair, list[Drafted]], acceptance: float) -> None:
    """The acceptance from which one draft pays, by batch, and the dearest batch of the first.

    Args:
        of_systems: what ``drafts`` gives.
        acceptance: that is assumed for the gains [1].
    """
    table(*crossed(say("break-even-acceptance-on"), {label: {row.batch: row.even for row in rows}
                                                     for label, rows in of_systems.items()},
                   {batch: f"$B = {batch}$" for batch in BATCHES}, partial(fmt_percent, digits=0)))
    markdown(*say("empty-where-batch-does-not-fit"))
    first = next(iter(of_systems.values()))
    dearest = max(first, key=lambda row: row.even)
    numbers({"draft-acceptance": acceptance, "draft-alone": first[0].even,
             "draft-dear": dearest.even}, fmt_percent, digits=0)
    number("draft-dear-batch", dearest.batch)


def speed_up(of_systems: Mapping[Pair, list[Drafted]]) -> None:
    """Speed-up of decode by one draft and by three, over the batch."""
    def draw(lang: str) -> Figure:
        drawing, axes = figures.axes(height=3.6)
        colours = figures.card_colours(label[0] for label in of_systems)
        for label, rows in of_systems.items():
            colour = colours[label[0]]
            batches = [row.batch for row in rows]
            axes.plot(batches, [row.by_one for row in rows], ls="-", marker="o", ms=4,
                      color=colour, label=label[lang == "zh"])
            axes.plot(batches, [row.by_three for row in rows], ls=(0, (4, 3)), marker="s", ms=4,
                      color=colour)
        axes.axhline(1, color=figures.INK, lw=1, ls=(0, (1, 3)))
        figures.doubling(axes, BATCHES)
        axes.set_xlabel(common("requests-in-batch")[lang == "zh"])
        axes.set_ylabel(say("speed-up-of-decode")[lang == "zh"])
        figures.legend(axes, {
            say("one-draft")[lang == "zh"]: {"marker": "o", "ms": 4},
            say("three-drafts")[lang == "zh"]: {"marker": "s", "ms": 4, "ls": (0, (4, 3))}},
                       loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3)
        return drawing

    figure("draft-speedup", draw)


def pools(derivation: Derivation, systems: Mapping[Pair, Inputs]
          ) -> dict[Pair, dict[Shape, Values]]:
    """Quantities of each system by tokens of prompt and answer, decode replicas well filled."""
    def filled(inputs: Inputs, shape: Shape) -> Values:
        inputs = inputs | lengths(*shape) | {"separate_pools": 1}
        most = int(quantities(derivation, inputs, concurrency=1)["max_concurrency"])
        return quantities(derivation, inputs, concurrency=min(EACH, most))

    return {label: {shape: filled(inputs, shape) for shape in SHAPES}
            for label, inputs in systems.items()}


def transfer_share(values: Values) -> float:
    """Time to transfer the cache over that of the prefill [1]."""
    return float(values["kv_transfer_time"] / values["prefill_time"])


def balance(of_systems: Mapping[Pair, Mapping[Shape, Values]]) -> None:
    """Prefill replicas per decode replica, and transfer of the cache, by the shape of requests."""
    _by_shape(of_systems, say("prefill-replicas-and-requests"),
              lambda values: f"{fmt_fixed(values['pool_ratio'])}, {int(values['concurrency'])}")
    markdown(*say("input-and-output-tokens-in", requests=EACH))
    _by_shape(of_systems, say("transfer-and-share"),
              lambda values: f"{fmt_time(values['kv_transfer_time'])}, "
                             f"{fmt_percent(transfer_share(values), 1)}",
              folded=say("transfer-of-cache"))
    markdown(*say("network-of-cards", cards=join(("; ", "；"), (
        say("network-of-card", cards=name, rate=fmt_quantity(
            shapes[PROMPT, ANSWER]["network_bandwidth"], "B/s"))
        for name, shapes in of_systems.items()))))
    first = next(iter(of_systems.values()))
    number("pool-answers", first[1024, 1024]["pool_ratio"], fmt_fixed)
    number("pool-prompts", first[8192, 128]["pool_ratio"], fmt_fixed)
    number("pool-transfer", max(transfer_share(values) for shapes in of_systems.values()
                                for values in shapes.values()), fmt_percent, digits=1)


def _by_shape(of_systems: Mapping[Pair, Mapping[Shape, Values]], heading: Pair,
              cell: Callable[[Values], str], folded: Pair | None = None) -> None:
    """A table with a row per system and a column per shape of requests."""
    table(*crossed(heading, of_systems, {(n, m): f"{n:,} / {m:,}" for n, m in SHAPES}, cell),
          folded=folded)


def queues() -> None:
    """The mean wait of a server by how its service times vary."""
    table([{"case": say("constant-times"),
            "value": "$W = \\dfrac{\\rho_u}{2 (1 - \\rho_u)} \\, \\tau_w$"},
           {"case": say("times-that-deviate"),
            "value": "$W = \\dfrac{\\rho_u \\, (1 + \\delta_w^2)}{2 (1 - \\rho_u)} \\, \\tau_w$"},
           {"case": say("exponential-times"),
            "value": "$W = \\dfrac{\\rho_u}{1 - \\rho_u} \\, \\tau_w$"},
           {"case": say("constant-times-near-saturation"),
            "value": "$W \\to \\dfrac{\\tau_w}{2 (1 - \\rho_u)}$"}],
          {"case": common("case"), "value": say("mean-wait")})


def waits(constant: sympy.Expr, exponential: sympy.Expr) -> None:
    """The mean wait over the service time by how busy the server is.

    Args:
        constant, exponential: that ratio, for service times of either kind, in the share of time
            that the server works.
    """
    table(*crossed("$W / \\tau_w$", {case: {share: _at(ratio, share) for share in LEVELS}
                                    for case, ratio in ((say("constant"), constant),
                                                        (say("exponential"), exponential))},
                   {share: f"$\\rho_u = {share}$" for share in LEVELS}, fmt_fixed))


def _at(ratio: sympy.Expr, share: float) -> float:
    (used,) = ratio.free_symbols
    return float(ratio.subs(used, share))


def queue_numbers(constant: sympy.Expr, equal: sympy.Rational, service: float) -> None:
    """How long a request waits, and what a replica can be given.

    Args:
        constant: as for ``waits``.
        equal: share of time at which a request waits as long as it is served [1].
        service: time to serve a request [s].
    """
    numbers({"queue-busy": BUSY, "queue-equal": float(equal)}, fmt_percent, digits=0)
    number("queue-wait", _at(constant, BUSY), fmt_fixed, digits=1)
    number("queue-service", service, fmt_time)
    numbers({"queue-rate": float(equal) / service, "queue-most": 1 / service}, fmt_fixed)


def ranks(derivation: Derivation, alone: sympy.Expr, pace: sympy.Expr) -> None:
    """Prefill of one of eight ranks, and the pace of decode by the rate of requests.

    Args:
        derivation: of all quantities.
        alone: prefill of one rank, in the time of all at once, the experts' share and the ranks.
        pace: time per token, in the step, the delay by a prefill and the rate.
    """
    cut = {"tensor": 1, "pipeline": 1, "data": RANKS, "expert": RANKS}
    replica = throughput.deployment(
        throughput.PLAN, *throughput.FP8, "cluster.node=hgx-h200", "cluster.nodes=1",
        *(f"parallelism.{name}_parallel={size}" for name, size in cut.items()),
        device="nvidia-h200-sxm")
    values = quantities(derivation, replica.inputs | lengths(*SHARED), concurrency=RANKS * ON_EACH)
    chunk, step = values["prefill_step_time"], values["decode_step_time"]
    share = values["prefill_routed_expert_time"] / chunk
    single = _of(alone, at_once=chunk, phi=share, g=RANKS)
    paces = {label: {rate: _of(pace, **{"tau": step, "tau_Delta": stop - step,
                                        "lambda": rate / among}) for rate in RATES}
             for label, stop, among in ((say("independent"), chunk, RANKS),
                                        (say("in-step"), single, 1))}
    table(*crossed(say("tpot-ranks"), paces, {rate: f"$\\lambda = {rate}$/s" for rate in RATES},
                   fmt_time))
    markdown(*say("how-ranks-are-placed", ranks=RANKS, prompt=f"{SHARED[0]:,}", requests=ON_EACH))
    number("ranks-count", RANKS)
    numbers({"ranks-together": chunk, "ranks-alone": single}, fmt_time)
    number("ranks-experts", share, fmt_percent, digits=0)
    number("ranks-turns", RANKS * single / chunk, fmt_fixed, digits=1)
    number("ranks-rate", SAID, fmt_fixed, digits=0)
    apart, joint = (times[SAID] for times in paces.values())
    numbers({"ranks-apart": apart, "ranks-joint": joint}, fmt_time)


def _of(expression: sympy.Expr, **values: float) -> float:
    return float(expression.subs({symbol: values[symbol.name]
                                  for symbol in expression.free_symbols}))


def exercises(exact: Callable[[int, int], sympy.Rational],
              short: Callable[[int, int], sympy.Rational]) -> None:
    """The numbers of the exercises.

    Args:
        exact, short: as for ``last_chunks``.
    """
    prompts, length, budget, step, acceptance = 16, 3000, 8192, 1.25, 0.6
    others = prompts - 1
    chunks = math.ceil(others * length / budget)
    numbers({"exercise-prompts": prompts, "exercise-length": length, "exercise-filled": chunks})
    for key, mean in (("exercise-mean", exact), ("exercise-short", short)):
        number(key, 1 + others / prompts * float(mean(chunks, others)), fmt_fixed, digits=1)
    number("exercise-rule", (prompts + 1) / 2, fmt_fixed, digits=1)
    numbers({"exercise-step": step, "exercise-gain": (1 + acceptance) / step}, fmt_fixed)
    numbers({"exercise-even": step - 1, "exercise-acceptance": acceptance}, fmt_percent, digits=0)
