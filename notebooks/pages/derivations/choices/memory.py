"""What block, share and dtype of the cache are worth, and what pages save over reserving."""

from __future__ import annotations

from collections.abc import Callable

import catalogue
from catalogue.engine import load_engine
from catalogue.messages import messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations.choices.layouts import A2, H20, Layout
from notebooks.pages.derivations.memory_requests import Cache, Waste
from notebooks.pages.derivations.throughput import Inputs, quantities
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/derivations/choices/memory")

Within = Callable[[Inputs], tuple[int, int]]  # requests of a replica: reserved, and in pages
LAYOUTS = {"h20": Layout(H20, 2, 4, whole=True), "910b": Layout(A2, 2, 4, whole=True)}
NARROW = {"h20": "fp8-latent128", "910b": "int8-latent48"}
PROMPT, ANSWER, CONTEXT, LONGEST = 2048, 512, 4096, 32768
SHARES, USUAL = (0.85, 0.9, 0.95), 0.9
SMALL, LARGE = 16, 128
ENGINE, FLAG = "vllm", "--gpu-memory-utilization"


def block_sizes() -> dict[int, list[str]]:
    """Blocks that engines take by default or for the MLA kernels of a card, and which do."""
    found: dict[int, list[str]] = {}
    for name in catalogue.names("profiles"):
        for statement in catalogue.load("profiles", name).statements:
            block = statement.workload and statement.workload.block_size
            if block and name not in found.setdefault(int(block.value), []):
                found[int(block.value)].append(name)
    return dict(sorted(found.items()))


def blocks(expected: Waste, cache: Cache) -> None:
    """By block: what stays empty, how long the table gets, what an entry of it might weigh.

    Args:
        expected: mean share of empty places by mean context and block [1].
        cache: of a token.
    """
    mean = PROMPT + ANSWER // 2
    rows = []
    for block, engines in block_sizes().items():
        empty = (block - 1) / 2 * cache.token
        rows.append({
            "block": fmt_int(block), "engines": ", ".join(f"`{name}`" for name in engines),
            "waste": fmt_percent(expected(mean, block)), "bytes": fmt_bytes(empty, "MB", 1),
            "entries": fmt_int(-(-LONGEST // block)),
            "even": fmt_bytes(empty / (LONGEST / block), "kB", 1) if empty else "–"})
    table(rows, {"block": "$g$", "engines": say("default-or-kernels-of"),
                 "waste": say("left-empty"), "bytes": say("empty-per-request"),
                 "entries": say("entries-at-tokens", tokens=fmt_int(LONGEST)),
                 "even": say("entry-size-that-would-equal")})
    numbers({"choice-mean": mean, "choice-longest": LONGEST, "choice-block-small": SMALL,
             "choice-block-large": LARGE})
    numbers({"choice-waste-small": expected(mean, SMALL),
             "choice-waste-large": expected(mean, LARGE)}, fmt_percent)


def shares(derivation: Derivation, within: Within) -> None:
    """Requests by share and dtype of the cache; what pages hold beside what reserving does.

    Args:
        derivation: of all quantities.
        within: requests of a replica, reserved at their longest and given out in pages.
    """
    rows = []
    for key, layout in LAYOUTS.items():
        inputs = layout.inputs(PROMPT, ANSWER, CONTEXT)
        narrow = catalogue.load_format(NARROW[key])
        most: dict[tuple[str, float], float] = {}
        for dtype, width in (("bf16", inputs["kv_cache_element_bytes"]),
                             (narrow.id, narrow.bytes_per_element)):
            for share in SHARES:
                found = quantities(derivation, inputs, memory_utilization=share,
                                   kv_cache_element_bytes=width)
                most[dtype, share] = float(found["max_concurrency"])
            rows.append({"layout": layout.name, "cache": f"`{dtype}`", **{
                str(share): fmt_int(most[dtype, share]) for share in SHARES}})
        _said(key, layout, inputs, most)
        full = quantities(derivation, inputs, concurrency=most["bf16", USUAL])
        number(f"choice-full-{key}", full["decode_step_time"], fmt_time)
        long = layout.inputs(PROMPT, ANSWER, LONGEST) | {"prompt_variation": 1,
                                                         "answer_variation": 1}
        reserved, paged = within(long)
        numbers({f"choice-reserved-{key}": reserved * long["data_parallel"],
                 f"choice-paged-{key}": paged * long["data_parallel"]})
    table(rows, {"layout": say("sixteen-cards"), "cache": common("cache"), **{
        str(share): f"$u = {fmt_fixed(share, 2)}$" for share in SHARES}})
    numbers({"choice-least": SHARES[0], "choice-most": SHARES[-1]}, fmt_fixed, digits=2)
    numbers({"choice-context": CONTEXT, "choice-prompt": PROMPT, "choice-answer": ANSWER})
    _defaults()


def _defaults() -> None:
    """The share that an engine takes by itself, before and since the release that changed it."""
    entry = load_engine(ENGINE).lookup(FLAG)
    [release] = [name for name, what in entry.changed.items() if "default" in what]
    numbers({"choice-default-old": entry.states[entry.since].default,
             "choice-default-new": entry.states[release].default}, str)
    number("choice-default-release", release, str)


def _said(key: str, layout: Layout, inputs: Inputs, most: dict[tuple[str, float], float]) -> None:
    """Numbers of the sentences on one card."""
    card = catalogue.load_device(layout.card)
    first, last = SHARES[0], SHARES[-1]
    per_percent = (most["bf16", last] - most["bf16", first]) / (100 * (last - first))
    number(f"choice-percent-{key}", per_percent, fmt_fixed, digits=0)
    number(f"choice-gain-{key}", most["bf16", last] / most["bf16", first] - 1, fmt_percent,
           digits=0)
    number(f"choice-narrow-{key}", most[NARROW[key], USUAL] / most["bf16", USUAL], fmt_sig,
           digits=2)
    reserve = card.runtime_reserve
    assert reserve
    visible = inputs["memory_capacity"] - inputs["system_reserve"]
    number(f"choice-bears-{key}", 1 - (reserve.high - reserve.value) / visible, fmt_percent,
           digits=0)
