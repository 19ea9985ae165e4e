"""Which chunk and how many requests at once keep a promised time per token, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.chapters.choices.layouts import A2, H20_LARGE, H200, Layout
from workbench.chapters.throughput import Inputs, quantities
from workbench.formulas.derivation import Derivation
from workbench.showing.display import number, table
from workbench.showing.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_time

LAYOUTS = {"h20": Layout(H20_LARGE, 1, 8), "h200": Layout(H200, 1, 8), "910b": Layout(A2, 2, 8)}
PROMPT, ANSWER = 4096, 512
CHUNKS = (256, 512, 1024, PROMPT)
LIMIT, GAP = 0.05, 0.2  # promised time per token on average, and between two tokens at most [s]
MOST = 128  # requests that are tried
MULTIPLE = 64  # tokens of which a chunk that is sought is a multiple


@dataclass(frozen=True)
class Kept:
    """A chunk and as many requests as keep the promise.

    Attributes:
        chunk: tokens of a step.
        requests: of the deployment.
        rate: output tokens per second.
        first: mean time to first token [s].
        gap: longest between two tokens of a request [s].
    """

    chunk: int
    requests: int
    rate: float
    first: float
    gap: float


class Chunks:
    """A deployment under mixed scheduling, by its chunk.

    Args:
        derivation: of all quantities.
        layout: of its cards.
    """

    def __init__(self, derivation: Derivation, layout: Layout) -> None:
        self.derivation = derivation
        self.inputs: Inputs = layout.inputs(PROMPT, ANSWER) | {"mixed_steps": 1}

    def at(self, chunk: int, requests: int) -> Kept | None:
        """A chunk with so many requests; None where they do not fit or the pace is too slow."""
        found = quantities(self.derivation, self.inputs, concurrency=requests,
                           max_num_batched_tokens=chunk)
        if found["max_concurrency"] < requests or found["steady_tpot"] > LIMIT:
            return None
        return Kept(chunk, requests, float(found["steady_throughput"]),
                    float(found["steady_ttft"]),
                    float(found["prefill_step_time"] + found["riding_time"]))

    def kept(self, chunk: int) -> Kept | None:
        """A chunk with the most requests that keep the promise; None if not one does."""
        best, low, high = self.at(chunk, 1), 1, MOST
        while best and high - low > 1:
            middle = (low + high) // 2
            found = self.at(chunk, middle)
            low, high, best = (middle, high, found) if found else (low, middle, best)
        return best

    def longest(self, gap: float, requests: int) -> int:
        """The longest chunk that, among so many requests, keeps the gap between two tokens."""
        low, high = 1, PROMPT // MULTIPLE + 1
        while high - low > 1:
            middle = (low + high) // 2
            found = quantities(self.derivation, self.inputs, concurrency=requests,
                               max_num_batched_tokens=MULTIPLE * middle)
            fits = found["prefill_step_time"] + found["riding_time"] <= gap
            low, high = (middle, high) if fits else (low, middle)
        return MULTIPLE * low


def chunks(derivation: Derivation) -> None:
    """By card and chunk: requests that keep the promise, what they yield, first token and gap."""
    rows = []
    for key, layout in LAYOUTS.items():
        system = Chunks(derivation, layout)
        found = {chunk: system.kept(chunk) for chunk in CHUNKS}
        best = max(kept.rate for kept in found.values() if kept)
        rows += [{"system": tuple(f"{layout.cards} × {name}" for name in layout.name),
                  "chunk": fmt_int(chunk), "requests": fmt_int(kept.requests),
                  "rate": fmt_int(round(kept.rate)), "share": fmt_percent(kept.rate / best, 0),
                  "first": fmt_time(kept.first), "gap": fmt_time(kept.gap, 0)}
                 for chunk, kept in found.items() if kept]
        whole, half = found[PROMPT], found[CHUNKS[1]]
        assert whole
        assert half
        sought = system.kept(system.longest(GAP, whole.requests))
        assert sought
        number(f"choice-most-{key}", whole.requests)
        number(f"choice-loss-{key}", 1 - half.rate / whole.rate, fmt_percent, digits=0)
        number(f"choice-gap-{key}", whole.gap, fmt_time, digits=0)
        number(f"choice-chunk-{key}", sought.chunk)
        number(f"choice-costs-{key}", 1 - sought.rate / whole.rate, fmt_percent, digits=0)
        number(f"choice-first-{key}", sought.first / whole.first, fmt_fixed, digits=1)
    table(rows, {"system": ("DeepSeek-V3 on", "DeepSeek-V3 部署于"), "chunk": "$T$",
                 "requests": ("requests at once", "同时处理的请求数"),
                 "rate": ("token/s", "token/s"), "share": ("of the best", "相对最好"),
                 "first": ("TTFT", "TTFT"), "gap": ("longest gap", "最长间隔")})
    number("choice-prompt", PROMPT)
    number("choice-answer", ANSWER)
    number("choice-limit", LIMIT, fmt_time, digits=0)
    number("choice-longest", GAP, fmt_time, digits=0)
    number("choice-half", CHUNKS[1])
    number("choice-least", CHUNKS[0])
