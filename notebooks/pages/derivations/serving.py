"""What users of three deployments wait for: chunks, prefixes, drafts, pools and queues.

Times are in seconds, lengths in tokens. Formulas are handed in, or asked of the derivation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sympy
from matplotlib.figure import Figure

from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations import throughput
from notebooks.pages.derivations.throughput import Inputs, Text, Values, quantities
from notebooks.show import figures
from notebooks.show.display import figure, number, show, table
from notebooks.show.numbers import fmt_fixed, fmt_percent, fmt_time

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
RATES = (0.25, 0.5, 0.75, 1.0, 1.25)
SAID = 1.0  # that sentences speak of


@dataclass(frozen=True)
class Chunk:
    """Time of a mean chunk [s], and rate of prefill [token/s]."""

    time: float
    rate: float


@dataclass(frozen=True)
class Drafted:
    """Break-even acceptance of one draft, and speed-up by one and by three, of a batch [1]."""

    batch: int
    even: float
    by_one: float
    by_three: float


def lengths(prompt: int, answer: int) -> Inputs:
    """Inputs that set the tokens of prompt and answer."""
    return {"input_tokens": prompt, "output_tokens": answer, "context_tokens": prompt + answer}


def systems() -> dict[Text, Inputs]:
    """Inputs of the deployments by name, each with prompts of 8,192 tokens."""
    replicas = {
        ("8 × H20 141 GB, FP8", "8 × H20 141 GB，FP8"): throughput.h20(),
        ("16 × H800, FP8, TP16", "16 × H800，FP8，TP16"): throughput.h800("TP16"),
        ("16 × 910B2, W8A8, TP16", "16 × 910B2，W8A8，TP16"): throughput.ascend("TP16"),
    }
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
    table([{"m": m, "r": r, "exact": fmt_fixed(float(exact(m, r))),
            "short": fmt_fixed(float(short(m, r))),
            "off": fmt_percent(float(short(m, r) / exact(m, r) - 1))}
           for m, r in (*BURSTS, (chunks, prompts))],
          {"m": ("chunks $m$", "分块数 $m$"), "r": ("prompts $r$", "提示数 $r$"),
           "exact": ("exact mean", "精确平均"), "short": ("formula", "公式"),
           "off": ("off by", "偏差")},
          folded=("Exact mean and formula beside each other", "精确平均与公式对照"))


def cases_of_a_burst() -> None:
    """What the TTFT of a burst is for prompts that fill a chunk, share one, or are alone."""
    table([{"case": ("each prompt fills a chunk", "每条提示恰好一块"),
            "value": "$\\frac{c_D + 1}{2} \\, S$"},
           {"case": ("all others share one chunk", "其余提示同在一块"),
            "value": "$\\left(2 - \\frac{1}{c_D}\\right) S$"},
           {"case": ("$c_D = 1$", "$c_D = 1$"), "value": "$S$"}],
          {"case": ("case, chunks of $S$", "情形，每块用时 $S$"), "value": "$\\tau_1$"})


def policies() -> None:
    """Mean time after the first token and longest gap, prefill first and mixed."""
    table([{"what": ("mean time after the first token", "首 token 之后的平均用时"),
            "first": "$(n-1) \\, d + \\frac{c_D-1}{2} \\, S$",
            "mixed": "$(n-1) \\, d + \\frac{c_D-1}{2} \\, (S + \\delta - d)$"},
           {"what": ("longest gap between two tokens", "相邻两个 token 的最长间隔"),
            "first": "$(c_D - 1) \\, S + d$", "mixed": "$S + \\delta$"}],
          {"what": "", "first": ("prefill first", "预填充优先"), "mixed": ("mixed", "混合")})


def chunk_sizes(derivation: Derivation, systems: Mapping[Text, Inputs]
                ) -> dict[Text, dict[int, Chunk]]:
    """Chunk and rate of prefill by the size of a chunk [token], of each system."""
    def chunk(inputs: Inputs, size: int) -> Chunk:
        values = quantities(derivation, inputs, concurrency=1, max_num_batched_tokens=size)
        return Chunk(values["prefill_step_time"], values["new_tokens"] / values["prefill_time"])

    by_size = {label: {size: chunk(inputs, size) for size in SIZES}
               for label, inputs in systems.items()}
    table([{"system": label} | {str(size): f"{fmt_time(of.time)}, {of.rate:,.0f}"
                                for size, of in chunks.items()}
           for label, chunks in by_size.items()],
          {"system": ("DeepSeek-V3 on", "DeepSeek-V3 部署于")}
          | {str(size): f"$T = {size:,}$" for size in SIZES}, wide=True)
    show(f"Time of a chunk and prefill rate (token/s) for a prompt of {PROMPT:,} tokens, one at a "
         "time.",
         f"单条 {PROMPT:,} token 提示的每块时间与预填充速率（token/s）。")
    smallest, *_, largest = next(iter(by_size.values())).values()
    number("mixed-small", SIZES[0])
    number("mixed-loss", 1 - smallest.rate / largest.rate, fmt_percent, digits=0)
    return by_size


def prefix_hits(derivation: Derivation, systems: Mapping[Text, Inputs]
                ) -> dict[Text, dict[float, float]]:
    """Time of prefill [s] of one prompt by the share of it that is cached, of each system."""
    by_share: dict[Text, dict[float, float]] = {
        label: {share: quantities(derivation, inputs, concurrency=1,
                                  prefix_hit_share=share)["prefill_time"] for share in SHARES}
        for label, inputs in systems.items()}
    table([{"system": label} | {str(share): fmt_time(time) for share, time in times.items()}
           for label, times in by_share.items()],
          {"system": ("$\\tau_p$ of one prompt on", "单条提示的 $\\tau_p$")}
          | {str(share): f"$\\chi = {share}$" for share in SHARES})
    first = next(iter(by_share.values()))
    number("prefix-share", SHARE, fmt_percent, digits=0)
    number("prefix-left", first[SHARE] / first[0], fmt_percent, digits=0)
    number("prefix-new", 1 - SHARE, fmt_percent, digits=0)
    return by_share


def when_a_draft_pays() -> None:
    """The acceptance from which one draft pays, in a sentence."""
    show("One draft pays if its acceptance exceeds the share by which it prolongs the step, "
         "$\\rho^{*} = (\\tau^d_1 + \\tau_q)/\\tau^d_0 - 1$, where a step takes $\\tau^d_0$ "
         "without the draft and $\\tau^d_1$ with it:",
         "接受率超过一步因草稿而变长的比例 $\\rho^{*} = (\\tau^d_1 + \\tau_q)/\\tau^d_0 - 1$，"
         "一个草稿 token 才划算；$\\tau^d_0$、$\\tau^d_1$ 为不带与带草稿的一步：")


def drafts(derivation: Derivation, systems: Mapping[Text, Inputs]) -> dict[Text, list[Drafted]]:
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


def break_even(of_systems: Mapping[Text, list[Drafted]], acceptance: float) -> None:
    """The acceptance from which one draft pays, by batch, and the dearest batch of the first.

    Args:
        of_systems: what ``drafts`` gives.
        acceptance: that is assumed for the gains [1].
    """
    table([{"system": label} | {str(row.batch): fmt_percent(row.even, 0) for row in rows}
           for label, rows in of_systems.items()],
          {"system": ("break-even acceptance on", "盈亏平衡接受率")}
          | {str(batch): f"$B = {batch}$" for batch in BATCHES})
    show("Empty where the batch does not fit.", "空格表示显存放不下该批次。")
    first = next(iter(of_systems.values()))
    dearest = max(first, key=lambda row: row.even)
    number("draft-acceptance", acceptance, fmt_percent, digits=0)
    number("draft-alone", first[0].even, fmt_percent, digits=0)
    number("draft-dear", dearest.even, fmt_percent, digits=0)
    number("draft-dear-batch", dearest.batch)


def speed_up(of_systems: Mapping[Text, list[Drafted]]) -> None:
    """Speed-up of decode by one draft and by three, over the batch."""
    def draw(lang: str) -> Figure:
        drawing, axes = figures.axes(height=3.6)
        for (label, rows), colour in zip(of_systems.items(), figures.PALETTE, strict=False):
            batches = [row.batch for row in rows]
            axes.plot(batches, [row.by_one for row in rows], ls="-", marker="o", ms=4,
                      color=colour, label=label[lang == "zh"])
            axes.plot(batches, [row.by_three for row in rows], ls=(0, (4, 3)), marker="s", ms=4,
                      color=colour)
        axes.axhline(1, color=figures.INK, lw=1, ls=(0, (1, 3)))
        figures.doubling(axes, BATCHES)
        axes.set_xlabel({"en": "requests in a batch", "zh": "批次中的请求数"}[lang])
        axes.set_ylabel({"en": "speed-up of decode", "zh": "解码加速比"}[lang])
        one, three = {"en": ("one draft", "three"), "zh": ("一个草稿", "三个")}[lang]
        figures.legend(axes, {one: {"marker": "o", "ms": 4},
                              three: {"marker": "s", "ms": 4, "ls": (0, (4, 3))}},
                       loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3)
        return drawing

    figure("draft-speedup", draw)


def pools(derivation: Derivation, systems: Mapping[Text, Inputs]
          ) -> dict[Text, dict[Shape, Values]]:
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


def balance(of_systems: Mapping[Text, Mapping[Shape, Values]]) -> None:
    """Prefill replicas per decode replica, and transfer of the cache, by the shape of requests."""
    _by_shape(of_systems, ("$\\lambda_p$, requests that decode", "$\\lambda_p$，解码请求数"),
              lambda values: f"{fmt_fixed(values['pool_ratio'])}, {int(values['concurrency'])}")
    show(f"Input and output tokens in the headings; {EACH} requests on a decode replica or as many "
         "as fit, replicas of the same cards for both.",
         f"表头为输入与输出 token 数；解码副本上有 {EACH} 个请求，放不下时取能放下的个数；"
         "两个池使用同样的副本。")
    _by_shape(of_systems, ("transfer of the cache, share of $\\tau_p$",
                           "缓存传输，占 $\\tau_p$ 的比例"),
              lambda values: f"{fmt_time(values['kv_transfer_time'])}, "
                             f"{fmt_percent(transfer_share(values), 1)}",
              folded=("The transfer of the cache", "缓存传输"))
    first = next(iter(of_systems.values()))
    number("pool-answers", first[1024, 1024]["pool_ratio"], fmt_fixed)
    number("pool-prompts", first[8192, 128]["pool_ratio"], fmt_fixed)
    number("pool-transfer", max(transfer_share(values) for shapes in of_systems.values()
                                for values in shapes.values()), fmt_percent, digits=1)


def _by_shape(of_systems: Mapping[Text, Mapping[Shape, Values]], heading: Text,
              cell: Callable[[Values], str], folded: Text | None = None) -> None:
    """A table with a row per system and a column per shape of requests."""
    table([{"system": label} | {f"{n}/{m}": cell(values) for (n, m), values in shapes.items()}
           for label, shapes in of_systems.items()],
          {"system": heading} | {f"{n}/{m}": f"{n:,} / {m:,}" for n, m in SHAPES},
          folded=folded)


def queues() -> None:
    """The mean wait of a server by how its service times vary."""
    table([{"case": ("constant times (M/D/1)", "服务时间固定（M/D/1）"),
            "value": "$W = \\dfrac{\\rho_u}{2 (1 - \\rho_u)} \\, \\tau_w$"},
           {"case": ("times that deviate by $\\delta_w$ of their mean (M/G/1)",
                     "服务时间的变异系数为 $\\delta_w$（M/G/1）"),
            "value": "$W = \\dfrac{\\rho_u \\, (1 + \\delta_w^2)}{2 (1 - \\rho_u)} \\, \\tau_w$"},
           {"case": ("exponential times (M/M/1)", "服务时间呈指数分布（M/M/1）"),
            "value": "$W = \\dfrac{\\rho_u}{1 - \\rho_u} \\, \\tau_w$"},
           {"case": ("$\\rho_u \\to 1$, constant times", "$\\rho_u \\to 1$，服务时间固定"),
            "value": "$W \\to \\dfrac{\\tau_w}{2 (1 - \\rho_u)}$"}],
          {"case": ("case", "情形"), "value": ("mean wait", "平均等待")})


def waits(constant: sympy.Expr, exponential: sympy.Expr) -> None:
    """The mean wait over the service time by how busy the server is.

    Args:
        constant, exponential: that ratio, for service times of either kind, in the share of time
            that the server works.
    """
    table([{"case": case} | {str(share): fmt_fixed(_at(ratio, share)) for share in LEVELS}
           for case, ratio in ((("constant", "固定"), constant),
                               (("exponential", "指数"), exponential))],
          {"case": "$W / \\tau_w$"} | {str(u): f"$\\rho_u = {u}$" for u in LEVELS})


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
    number("queue-busy", BUSY, fmt_percent, digits=0)
    number("queue-wait", _at(constant, BUSY), fmt_fixed, digits=1)
    number("queue-equal", float(equal), fmt_percent, digits=0)
    number("queue-service", service, fmt_time)
    number("queue-rate", float(equal) / service, fmt_fixed)
    number("queue-most", 1 / service, fmt_fixed)


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
    values = quantities(derivation, replica.inputs | lengths(4096, 1024),
                        concurrency=RANKS * ON_EACH)
    chunk, step = values["prefill_step_time"], values["decode_step_time"]
    share = values["prefill_routed_expert_time"] / chunk
    single = _of(alone, at_once=chunk, phi=share, g=RANKS)
    rows = {("independent", "互不等待"): (chunk, RANKS),
            ("in step", "同步前进"): (single, 1)}
    paces = {label: {rate: _of(pace, **{"tau": step, "tau_Delta": stop - step,
                                           "lambda": rate / among})
                     for rate in RATES} for label, (stop, among) in rows.items()}
    table([{"case": label} | {str(rate): fmt_time(time) for rate, time in times.items()}
           for label, times in paces.items()],
          {"case": ("TPOT, ranks", "TPOT，各 rank")}
          | {str(rate): f"$\\lambda = {rate}$/s" for rate in RATES})
    show(f"DeepSeek-V3 in FP8 on {RANKS} H200, DP{RANKS} EP{RANKS}, prompts of 4,096 tokens, "
         f"{ON_EACH} requests per rank.",
         f"{RANKS} 张 H200 上的 FP8 版 DeepSeek-V3，DP{RANKS} EP{RANKS}，提示 4,096 token，"
         f"每个 rank {ON_EACH} 个请求。")
    number("ranks-count", RANKS)
    number("ranks-together", chunk, fmt_time)
    number("ranks-alone", single, fmt_time)
    number("ranks-experts", share, fmt_percent, digits=0)
    number("ranks-turns", RANKS * single / chunk, fmt_fixed, digits=1)
    number("ranks-rate", SAID, fmt_fixed, digits=0)
    apart, joint = (times[SAID] for times in paces.values())
    number("ranks-apart", apart, fmt_time)
    number("ranks-joint", joint, fmt_time)


def _of(expression: sympy.Expr, **values: float) -> float:
    return float(expression.subs({symbol: values[symbol.name]
                                  for symbol in expression.free_symbols}))


def exercises(exact: Callable[[int, int], sympy.Rational],
              short: Callable[[int, int], sympy.Rational], quarter: sympy.Rational) -> None:
    """The numbers of the exercises.

    Args:
        exact, short: as for ``last_chunks``.
        quarter: share of time at which the mean wait is a quarter of the service time [1].
    """
    prompts, length, budget, step, acceptance = 16, 3000, 8192, 1.25, 0.6
    others = prompts - 1
    chunks = math.ceil(others * length / budget)
    number("exercise-prompts", prompts)
    number("exercise-length", length)
    number("exercise-filled", chunks)
    for key, mean in (("exercise-mean", exact), ("exercise-short", short)):
        number(key, 1 + others / prompts * float(mean(chunks, others)), fmt_fixed, digits=1)
    number("exercise-rule", (prompts + 1) / 2, fmt_fixed, digits=1)
    number("exercise-step", step, fmt_fixed)
    number("exercise-even", step - 1, fmt_percent, digits=0)
    number("exercise-acceptance", acceptance, fmt_percent, digits=0)
    number("exercise-gain", (1 + acceptance) / step, fmt_fixed)
    number("exercise-quarter", float(quarter), fmt_percent, digits=0)
