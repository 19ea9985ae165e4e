"""Random states of the calculators that can be laid out, and those on edges; for tests."""

from __future__ import annotations

import random
from typing import Any

from catalogue import load_model
from catalogue.deployments.admission import LAID_OUT, positions, problems
from catalogue.deployments.cuts import Cut
from catalogue.deployments.loading import DEALT_PROMPTS
from catalogue.deployments.physics_inputs import GATHERED, NORMAL
from notebooks.pages.calculators.extras import (
    APART,
    CONTEXT_ONLY,
    COPIES,
    MOST,
    Extra,
    Triple,
    extras,
)
from notebooks.pages.calculators.offers import (
    MODELS,
    SIZES,
    cards,
    engines,
    of_experts,
    precisions,
    subject,
)
from notebooks.pages.calculators.offers import drafts as drafting
from notebooks.pages.calculators.scripts import BLOCKS, CHUNKS, DRAFTS

MOST_DEVICES, MOST_USERS, MOST_PROMPT = 1024, 32768, 2**20


def layout(draw: random.Random, model: str, precision: str) -> dict[str, int]:
    """Parallel sizes that divide the model, and that engines load."""
    asked = subject(cards()[0], model, precision)
    layers = int(load_model(model).num_hidden_layers.value)
    while True:
        tp, dp, ep = (draw.choice(SIZES) for _ in range(3))
        if not any(problems(asked, Cut(tp, 1, dp, ep), LAID_OUT)):
            pp = draw.choice([size for size in SIZES
                              if size <= layers and size * tp * dp <= MOST_DEVICES] or [1])
            return {"tp": tp, "pp": pp, "dp": dp, "ep": ep}


def shared_cache(model: str, tensor: int) -> list[int]:
    """Over how many ranks the cache of a request may be sharded."""
    asked = subject(cards()[0], model)
    return [size for size in SIZES
            if not any(problems(asked, Cut(tensor=tensor, context=size), ("dealt",)))]


def _number(draw: random.Random, extra: Extra) -> Triple:
    """A value of an extra, most with a range."""
    rule = extra.rule
    assert rule is not None
    high = rule.maximum if rule.maximum is not None else 2000.0 if rule.unit != "s" else 1e-4
    if rule.integer:
        value = draw.randint(int(rule.minimum) + rule.exclusive, int(high))
        return value, value, value
    ends = sorted(rule.minimum + draw.uniform(0.02, 1) * (high - rule.minimum) for _ in range(3))
    return (ends[1], ends[0], ends[2]) if draw.random() < 0.7 else (ends[1], ends[1], ends[1])


def settings(draw: random.Random, model: str, cut: dict[str, int]) -> dict[str, Triple | str]:
    """What else a state sets, at random: nothing, little or as much as it may."""
    entry = load_model(model)
    apart = {COPIES, APART, *(() if entry.index_topk and not entry.linear_layers
                              else (DEALT_PROMPTS,))}
    known = {name: extra for name, extra in extras().items() if name not in apart}
    chosen = draw.sample(sorted(known), draw.choice((0, 1, 4, MOST - 1)))
    found: dict[str, Triple | str] = {
        name: draw.choice(known[name].ways) if known[name].ways else _number(draw, known[name])
        for name in chosen}
    if GATHERED in found:  # nothing is sent then, in any mode
        found.pop(NORMAL, None)
    copies = draw.choice((cut["ep"], 2 * cut["ep"]))
    if of_experts(entry) and draw.random() < 0.5:
        found[COPIES] = (copies, copies, copies)
    return found


def state(seed: int, edge: bool = False) -> dict[str, Any]:
    """A state, the same for the same seed.

    On edges contexts end with a block and chunks with a prompt, ranks have equally many requests,
    and a request is as short as can be.
    """
    draw = random.Random(f"{'edge' if edge else 'state'} {seed}")
    model = draw.choice(MODELS)
    card = draw.choice([card for card in cards() if precisions(card, model)])
    precision = draw.choice(precisions(card, model))
    found: dict[str, Any] = layout(draw, model, precision)
    told = settings(draw, model, found)
    block, chunk = draw.choice(BLOCKS), draw.choice(CHUNKS)
    if edge:
        of_rank = draw.choice((1, 2, 8, 64))
        lengths = draw.choice(((1, 1), (chunk, 1), (chunk, block), (2 * chunk, 2 * block - 1),
                               (chunk + 1, block - 1 or 1), (block, block)))
        users = max(1, of_rank * found["dp"] + draw.choice((-1, 0, 1)))
    else:
        lengths = round(2 ** draw.uniform(0, 20)), round(2 ** draw.uniform(0, 15))
        users = round(2 ** draw.uniform(0, 12))
    output = 1 if CONTEXT_ONLY in told else lengths[1]
    most = min(MOST_PROMPT, positions(load_model(model)) - output)
    return found | {
        "card": card, "model": model, "precision": precision,
        "engine": draw.choice(engines(card)), "users": min(users, MOST_USERS),
        "input": min(lengths[0], int(most)), "output": output,
        "dcp": draw.choice(shared_cache(model, found["tp"])),
        "vary": 0 if CONTEXT_ONLY in told else draw.choice((0, 0, 0.5, 0.9)), "pace": 50,
        "drafts": draw.choice(DRAFTS) if drafting(load_model(model)) else 0,
        "chunk": chunk, "block": block, "share": draw.choice((50, 85, 90, 92, 95, 100)),
        "way": "yours", "price": draw.choice((0.5, 2, 7.25)), "use": draw.choice((1, 30, 100)),
        "set": told}
