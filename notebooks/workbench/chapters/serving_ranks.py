"""What ranks with shared experts cost one another, on eight H200: prefill alone, pace of decode.

Times are in seconds. Formulas are handed in, or asked of the derivation.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from workbench.chapters import throughput
from workbench.chapters.serving import lengths
from workbench.formulas.derivation import Derivation
from workbench.showing.display import number, show, table
from workbench.showing.numbers import fmt_fixed, fmt_percent, fmt_time

RANKS, EACH = 8, 16
RATES = (0.25, 0.5, 0.75, 1.0, 1.25)
SAID = 1.0  # rate that sentences speak of
PROMPT, ANSWER = 4096, 1024


@dataclass(frozen=True)
class Shared:
    """Eight ranks that share experts.

    Attributes:
        together: a chunk of every rank [s].
        experts: the share of it that routed experts take [1].
        step: a decode step of every rank [s].
    """

    together: float
    experts: float
    step: float


def shared(derivation: Derivation) -> Shared:
    """DeepSeek-V3 in FP8 on eight H200, attention data-parallel, 16 requests a rank."""
    sizes = {"tensor": 1, "pipeline": 1, "data": RANKS, "expert": RANKS}
    replica = throughput.deployment(
        throughput.PLAN, *throughput.FP8, "cluster.node=hgx-h200", "cluster.nodes=1",
        *(f"parallelism.{name}_parallel={size}" for name, size in sizes.items()),
        device="nvidia-h200-sxm")
    values = throughput.quantities(derivation, replica.inputs | lengths(PROMPT, ANSWER),
                                   concurrency=RANKS * EACH)
    chunk = float(values["prefill_step_time"])
    return Shared(chunk, float(values["prefill_routed_expert_time"]) / chunk,
                  float(values["decode_step_time"]))


def costs(of: Shared, alone: sympy.Expr, pace: sympy.Expr) -> None:
    """Prefill of one rank alone, and the pace of decode by the rate of requests, apart and joint.

    Args:
        of: the system.
        alone: prefill of one rank, in the time of all at once, the experts' share and the ranks.
        pace: time per token, in the step, the interruption and the rate.
    """
    named = {symbol.name: symbol for symbol in alone.free_symbols | pace.free_symbols}
    single = float(alone.subs({named["D_g"]: of.together, named["phi"]: of.experts,
                               named["g"]: RANKS}))

    def per_token(rate: float, interruption: float) -> float:
        return float(pace.subs({named["tau"]: of.step, named["D"]: interruption - of.step,
                                named["lambda"]: rate}))

    apart = {rate: per_token(rate / RANKS, of.together) for rate in RATES}
    joint = {rate: per_token(rate, single) for rate in RATES}
    table([{"case": case} | {str(rate): fmt_time(time, 0) for rate, time in times.items()}
           for case, times in ((("each rank with a clock of its own", "各 rank 各走各的"), apart),
                               (("all ranks step together", "所有 rank 同步前进"), joint))],
          {"case": ("TPOT", "TPOT")} | {str(rate): f"$\\lambda = {rate}$/s" for rate in RATES})
    show(f"DeepSeek-V3 in FP8 on eight H200, DP8 EP8; prompts of {PROMPT:,} tokens, step of {EACH} "
         "requests a rank.",
         f"八张 H200 上的 FP8 版 DeepSeek-V3，DP8 EP8；提示 {PROMPT:,} token，每 rank {EACH} "
         "个请求的一步。")
    number("ranks-together", of.together, fmt_time)
    number("ranks-alone", single, fmt_time)
    number("ranks-experts", of.experts, fmt_percent, digits=0)
    number("ranks-turns", RANKS * single / of.together, fmt_fixed, digits=1)
    number("ranks-rate", SAID, fmt_fixed, digits=0)
    number("ranks-apart", apart[SAID], fmt_time)
    number("ranks-joint", joint[SAID], fmt_time)
