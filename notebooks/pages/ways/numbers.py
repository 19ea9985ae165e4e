"""Numbers to know: what today's models take, what the book's cards give, what a step is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import catalogue
from calc.serving.evaluate import evaluate
from catalogue.reading.units import HOUR
from notebooks.pages.deciding.generations import models
from notebooks.pages.deciding.generations.models import FLASH, GLM, LONG, PRO, V3
from notebooks.show.display import numbers
from notebooks.show.numbers import fmt_fixed, fmt_sig

MODELS = {"r1": V3, "pro": PRO, "flash": FLASH, "glm": GLM}
CARDS = {"b300": models.B300, "h200": models.H200, "h20": models.H20,
         "910c": "ascend-910c-die", "910b2": models.B2}
FEW, MANY = 1, 64  # requests of a step
CONTEXT = 4096  # tokens of each
MILLION, BILLION, GIGA, TERA, MILLI, KIBI = 1e6, 1e9, 1e9, 1e12, 1e3, 1024
RATE = 1000  # token/s, of the example of money
REDUCES = 2  # of a layer: after attention, and after its network
EXCHANGES = 2  # of a layer of experts: there and back


def answer() -> None:
    """Glue all numbers of the page."""
    of_models()
    of_cards()
    of_steps()
    numbers({"nu-gib": KIBI**3 / GIGA}, fmt_fixed, digits=3)
    numbers({"nu-rate": RATE, "nu-context": LONG, "nu-many": MANY, "nu-tokens": CONTEXT})
    numbers({"nu-million": MILLION / RATE / HOUR}, fmt_fixed, digits=2)


def of_models() -> None:
    """What each model stores, multiplies and caches, and what a step reads of its weights."""
    for key, model in MODELS.items():
        alone = {count: _asked(model, models.H200, models.published(model), models.WHOLE, count)
                 for count in (FEW, MANY)}
        of, context = alone[FEW], models.request(model, LONG)
        numbers({f"nu-{key}-total": of["total_parameters"] / BILLION,
                 f"nu-{key}-active": of["active_parameters"] / BILLION,
                 f"nu-{key}-flop": 2 * of["active_parameters"] / GIGA,
                 f"nu-{key}-weights": of["weights_per_device"] / GIGA,
                 f"nu-{key}-token": of["kv_bytes_per_token"]}, fmt_fixed, digits=0)
        numbers({f"nu-{key}-long": context.cache / GIGA}, fmt_fixed, digits=2)
        numbers({f"nu-{key}-read-{count}": _read(found) / GIGA
                 for count, found in alone.items()}, fmt_fixed, digits=0)


def _read(of: Mapping[str, Any]) -> float:
    """Bytes of weights that a decode step reads [B]."""
    return float(of["decode_dense_bytes"] + of["decode_expert_bytes"])


def _moved(of: Mapping[str, Any]) -> float:
    """Bytes that a rank reads in a decode step: weights and cache [B]."""
    return _read(of) + float(of["decode_kv_bytes"])


def of_cards() -> None:
    """Memory, ridge point, and what eight of each take for R1: reading, and all-reduces."""
    for key, device in CARDS.items():
        card = catalogue.load_device(device)
        assert card.matrix_peak
        assert card.matrix_peak.bf16
        size, speed = float(card.memory_capacity.value), float(card.memory_bandwidth.value)
        peak = float(card.matrix_peak.bf16.value)
        numbers({f"nu-{key}-gb": size / GIGA, f"nu-{key}-tflops": peak / TERA,
                 f"nu-{key}-ridge": peak / speed, f"nu-{key}-all": size / speed * MILLI},
                fmt_fixed, digits=0)
        numbers({f"nu-{key}-speed": speed / TERA}, fmt_sig, digits=3)
        precision = models.EIGHT if device.startswith("ascend") else models.published(V3)
        found = {count: _asked(V3, device, precision, models.CUT, count) for count in (FEW, MANY)}
        numbers({f"nu-{key}-floor-{count}": of["tpot_floor"] * MILLI
                 for count, of in found.items()}, fmt_sig, digits=2)
        reached = {count: _moved(of) / of["tpot_floor"] / TERA for count, of in found.items()}
        numbers({f"nu-{key}-reached": reached[FEW], f"nu-{key}-reached-{MANY}": reached[MANY]},
                fmt_sig, digits=3)
        if device == models.H200:  # all cards read as much, but for the scales of formats
            numbers({f"nu-rank-{count}": _moved(of) / GIGA for count, of in found.items()},
                    fmt_sig, digits=3)
        numbers({f"nu-{key}-reduces": found[FEW]["decode_all_reduce_time"] * MILLI}, fmt_sig,
                digits=2)


def of_steps() -> None:
    """Collectives of a step of R1, and what each sends for a token."""
    model = catalogue.load_model(V3)
    layers, hidden = int(model.num_hidden_layers.value), int(model.hidden_size.value)
    experts = int(_asked(V3, models.H200, models.published(V3), models.CUT, FEW)["moe_layers"])
    numbers({"nu-layers": layers, "nu-reduces": REDUCES * layers + 1,
             "nu-expert-layers": experts, "nu-exchanges": EXCHANGES * experts,
             "nu-hidden": hidden, "nu-message": 2 * hidden})


def _asked(model: str, device: str, precision: str, tensor: int, users: int) -> Mapping[str, Any]:
    """A decode step of so many requests: on one card that holds all, or on a server of TP8."""
    made = models.plan(model, device, precision, tensor, CONTEXT)
    alone = {"data_parallel": 1.0, "expert_parallel": 1.0} if tensor == models.WHOLE else {}
    return evaluate({**made.inputs, **alone, "concurrency": float(users)},
                    made.scenario.model.attention)
