"""A burst and a steady state side by side: first tokens and pace of three deployments."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.chapters.serving import lengths
from workbench.chapters.throughput import Inputs, Text, quantities
from workbench.formulas.derivation import Derivation
from workbench.showing.display import number, show, table
from workbench.showing.numbers import fmt_time

IN_FLIGHT = 32
SHAPE = (2048, 512)


def beside_a_burst(derivation: Derivation, systems: Mapping[Text, Inputs]) -> None:
    """TTFT and TPOT of a burst and of a steady state, and the first system's in sentences.

    Args:
        derivation: of all quantities.
        systems: inputs by name.
    """
    found = {label: quantities(derivation, inputs | lengths(*SHAPE), concurrency=IN_FLIGHT)
             for label, inputs in systems.items()}
    names = ("ttft", "steady_ttft", "tpot", "steady_tpot")
    table([{"system": label} | {name: fmt_time(values[name]) for name in names}
           for label, values in found.items()],
          {"system": ("DeepSeek-V3 on", "DeepSeek-V3 部署于"),
           "ttft": ("TTFT, burst", "TTFT，突发"), "steady_ttft": ("TTFT, steady", "TTFT，稳态"),
           "tpot": ("TPOT, burst", "TPOT，突发"), "steady_tpot": ("TPOT, steady", "TPOT，稳态")})
    show(f"{IN_FLIGHT} requests of {SHAPE[0]:,} and {SHAPE[1]:,} tokens; every user asks again at "
         "once.",
         f"{IN_FLIGHT} 个请求，提示 {SHAPE[0]:,} token，回答 {SHAPE[1]:,} token；"
         "用户得到回答后立即再问。")
    first = next(iter(found.values()))
    number("steady-requests", IN_FLIGHT)
    for key, name in (("burst-ttft", "ttft"), ("ttft", "steady_ttft"),
                      ("burst-tpot", "tpot"), ("tpot", "steady_tpot")):
        number(f"steady-{key}", first[name], fmt_time)
