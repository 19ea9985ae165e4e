"""Which chunk and how many requests at once keep a promised time per token, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass

import catalogue
from catalogue.messages import Pair, join, messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations.choices import documents
from notebooks.pages.derivations.choices.layouts import A2, H20_LARGE, H200, Layout
from notebooks.pages.derivations.throughput import Inputs, quantities
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_int, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/derivations/choices/serving")

LAYOUTS = {"h20": Layout(H20_LARGE, 1, 8), "h200": Layout(H200, 1, 8), "910b": Layout(A2, 2, 8)}
PROMPT, ANSWER = 4096, 512
CHUNKS = (256, 512, 1024, PROMPT)
LIMIT, GAP = 0.05, 0.2  # promised time per token on average, and between two tokens at most [s]
MOST = 128  # requests that are tried
HIT, HIT_USERS = 0.5, 16  # share of a prompt in the prefix cache, users who have it
HYBRID, HYBRID_CHUNK, LONGEST = "s3-hybrid-910b4", 8192, 40960  # its chunk, its longest prompt
MIXES = ((128, 512), (8192, 512), (32768, 512), (32768, 32))  # prompts and answers
MULTIPLE = 64  # tokens of which a chunk that is sought is a multiple


@dataclass(frozen=True)
class ChunkCapacity:
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

    def at(self, chunk: int, requests: int) -> ChunkCapacity | None:
        """A chunk with so many requests; None where they do not fit or the pace is too slow."""
        found = quantities(self.derivation, self.inputs, concurrency=requests,
                           max_num_batched_tokens=chunk)
        if found["max_concurrency"] < requests or found["steady_tpot"] > LIMIT:
            return None
        return ChunkCapacity(chunk, requests, float(found["steady_throughput"]),
                             float(found["steady_ttft"]),
                             float(found["prefill_step_time"] + found["riding_time"]))

    def capacity_with(self, chunk: int) -> ChunkCapacity | None:
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
        found = {chunk: system.capacity_with(chunk) for chunk in CHUNKS}
        best = max(kept.rate for kept in found.values() if kept)
        rows += [{"system": tuple(f"{layout.cards} × {name}" for name in layout.name),
                  "chunk": fmt_int(chunk), "requests": fmt_int(kept.requests),
                  "rate": fmt_int(round(kept.rate)), "share": fmt_percent(kept.rate / best, 0),
                  "first": fmt_time(kept.first), "gap": fmt_time(kept.gap)}
                 for chunk, kept in found.items() if kept]
        whole, half = found[PROMPT], found[CHUNKS[1]]
        assert whole
        assert half
        sought = system.capacity_with(system.longest(GAP, whole.requests))
        assert sought
        numbers({f"choice-cards-{key}": layout.cards, f"choice-most-{key}": whole.requests,
                 f"choice-chunk-{key}": sought.chunk})
        numbers({f"choice-loss-{key}": 1 - half.rate / whole.rate,
                 f"choice-costs-{key}": 1 - sought.rate / whole.rate}, fmt_percent, digits=0)
        number(f"choice-first-{key}", sought.first / whole.first, fmt_fixed, digits=1)
        if key == "h200" and (small := found[CHUNKS[0]]):
            number("choice-wait", small.first, fmt_time)
    table(rows, {"system": common("deepseek-v3-on"), "chunk": "$T$",
                 "requests": say("requests-at-once"),
                 "rate": ("token/s", "token/s"), "share": say("of-best"),
                 "first": ("TTFT", "TTFT"), "gap": say("longest-gap")})
    numbers({"choice-prompt": PROMPT, "choice-answer": ANSWER, "choice-half": CHUNKS[1],
             "choice-least": CHUNKS[0]})
    numbers({"choice-limit": LIMIT, "choice-longest": GAP}, fmt_time)


def advice(derivation: Derivation) -> None:
    """What the documents write of chunks and prefixes, beside what they do.

    Args:
        derivation: of all quantities.
    """
    documents.advised({"s0/chunks-shorten": _shorter(derivation),
                       "s0/prefix-of-repeats": _repeated(derivation),
                       "s3/chunks-of-8192": _hybrid(derivation),
                       "s0/long-and-short": _shares(derivation)})


def _shorter(derivation: Derivation) -> Pair:
    """One prompt alone, in one chunk and in many small ones."""
    waits = {}
    for key, layout in LAYOUTS.items():
        inputs = layout.inputs(PROMPT, ANSWER)
        waits[key] = [float(quantities(derivation, inputs, concurrency=1,
                                       max_num_batched_tokens=chunk)["ttft"])
                      for chunk in (PROMPT, CHUNKS[1])]
    return say("prompt-in-chunks", prompt=fmt_int(PROMPT), chunks=fmt_int(CHUNKS[1]), waits=join(
        ("; ", "；"), (say("waits-of-layout", layout=LAYOUTS[key].name, first=fmt_time(first),
                          last=fmt_time(last)) for key, (first, last) in waits.items())))


def _repeated(derivation: Derivation) -> Pair:
    """What a hit on half of each prompt gives."""
    gains = []
    for layout in LAYOUTS.values():
        inputs = layout.inputs(PROMPT, ANSWER)
        none, half = (quantities(derivation, inputs, concurrency=HIT_USERS,
                                 prefix_hit_share=share) for share in (0, HIT))
        first = float(half["steady_ttft"] / none["steady_ttft"])
        more = float(half["steady_throughput"] / none["steady_throughput"]) - 1
        gains.append(say("gains-of-layout", layout=layout.name, first=fmt_fixed(first),
                         more=fmt_percent(more, 0)))
    return say("half-of-prompt-found", users=HIT_USERS, gains=join(("; ", "；"), gains))


def _hybrid(derivation: Derivation) -> Pair:
    """S3's longest prompt in its chunks, in smaller ones and whole."""
    found = {}
    for chunk in (CHUNKS[1], HYBRID_CHUNK, LONGEST):
        inputs = catalogue.load_scenario(HYBRID, overrides=[
            "workload.concurrency=1 request", f"workload.input_tokens={LONGEST} token",
            f"workload.max_num_batched_tokens={chunk} token"]).inputs()
        found[chunk] = quantities(derivation, inputs)
    peak, whole = (fmt_bytes(float(found[chunk]["activations_per_device"]), digits=1)
                   for chunk in (HYBRID_CHUNK, LONGEST))
    spare = fmt_bytes(float(found[LONGEST]["headroom_per_device"]), digits=0)
    in_small, in_own, at_once = (fmt_time(float(each["ttft"])) for each in found.values())
    return say("activations-of-chunks", prompt=fmt_int(LONGEST), peak=peak, whole=whole,
               spare=spare, chunk=fmt_int(CHUNKS[1]), wait_in_small=in_small, wait_in_own=in_own,
               wait_whole=at_once)


def _shares(derivation: Derivation) -> Pair:
    """The share of a lone request that is prefill, by lengths."""
    inputs = LAYOUTS["910b"].inputs(PROMPT, ANSWER)
    said = []
    for prompt, answer in MIXES:
        found = quantities(derivation, inputs, concurrency=1, input_tokens=prompt,
                           output_tokens=answer, context_tokens=prompt + answer)
        said.append(f"{fmt_int(prompt)} / {fmt_int(answer)} → "
                    f"{fmt_percent(float(found['prefill_time'] / found['e2e']), 0)}")
    return say("share-of-prefill", shares=("; ".join(said), "；".join(said)))
