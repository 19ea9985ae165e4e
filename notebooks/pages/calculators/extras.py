"""What a state may set besides its fields: mechanisms, and how an engine works, by key of a file.

A number is a triple of value, low and high end in SI units; one of a few ways is a text. Names are
those of a scenario file, in which each stands in one section.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from catalogue import symbols
from catalogue.deployments.physics_inputs import (
    COMPUTING,
    ELSE,
    FETCHING,
    OF_VECTORS,
    STATED,
    mechanism_units,
    rule_of,
)
from catalogue.entries.deployments import Parallelism
from catalogue.entries.formulas import inputs_of
from catalogue.messages import Pair, by_language, messages
from catalogue.reading.values import Unit
from catalogue.reading.yamlfile import scalar

common = messages("common")
say = messages("pages/calculators/extras")

Triple = tuple[float, float, float]
MECHANISMS, PARALLELISM, WORKLOAD, ROOT = "mechanisms", "parallelism", "workload", ""
MOST = 64  # of a state
CONTEXT_ONLY = "context_only"
# what moves several inputs, or takes ranges away: by section the ways besides the usual one
WAYS: dict[str, tuple[str, tuple[str, ...]]] = {
    CONTEXT_ONLY: (WORKLOAD, ("true",)),
    "scheduling": (ROOT, ("mixed", "prefill-first")), "graphs": (ROOT, ("false", "true")),
    "balancing": (PARALLELISM, ("periodic", "ideal")),
    "separate_pools": (MECHANISMS, ("1",)), "exchange_normal": (MECHANISMS, ("1",)),
    "exchange_gathered": (MECHANISMS, ("1",))}
COPIES, APART = "redundant_experts", "shared_expert_ranks"
# of a host, and one whose statement takes another one away
_LEFT_OUT = {*COMPUTING, *FETCHING, *STATED, *OF_VECTORS.values(), "device_hit_share",
             "host_hit_share", "host_prefix_share", "exchange_alpha"}
NAMED: dict[str, Pair] = {  # where no single symbol has the name
    "gemm_efficiency": say("share-of-peak-of-matmuls"),
    "grouped_gemm_efficiency": say("share-of-peak-of-whole"),
    "sliced_gemm_efficiency": say("share-of-peak-of-slices"),
    "matmul_latency": common("time-of-matmul-whatever-its"),
    "depth_latency": say("time-of-matmul-per-input"),
    "activation_traffic": common("bytes-moved-by-quantising-element"),
    CONTEXT_ONLY: say("only-longest-context-is-known"),
    "scheduling": say("how-steps-are-filled"),
    "graphs": say("decode-runs-as-captured-graph"),
    "balancing": say("how-experts-are-placed")}
SAID: dict[str, Pair] = {
    "mixed": say("prompts-and-decodes-mixed"),
    "prefill-first": say("prompts-first"),
    "true": common("yes-plain"), "1": common("yes-plain"),
    "false": common("no-plain"), "periodic": say("by-measured-load"),
    "ideal": say("equal-shares")}


@dataclass(frozen=True)
class Extra:
    """One thing that a state may set.

    Attributes:
        section: of a scenario file; empty for its top level.
        words: its name in both languages.
        rule: which numbers it takes; None for one of a few ways.
        ways: those ways.
        knob: whether it was measured of a card or an engine, and means nothing for another.
    """

    section: str
    words: Pair
    rule: Unit | None = None
    ways: tuple[str, ...] = ()
    knob: bool = False

    def as_json(self) -> dict[str, Any]:
        """Plain data for the page."""
        plain: dict[str, Any] = {"section": self.section, "en": self.words[0], "zh": self.words[1]}
        if self.rule is None:
            return plain | {"of": {way: by_language(SAID[way])
                                   for way in self.ways}}
        rule = self.rule
        return plain | {"unit": "" if rule.unit == "1" else rule.unit, "low": rule.minimum,
                        **({"high": rule.maximum} if rule.maximum is not None else {}),
                        **({"more": 1} if rule.exclusive else {}),
                        **({"step": 1} if rule.integer else {}),
                        **({"knob": 1} if self.knob else {})}


@functools.cache
def extras() -> dict[str, Extra]:
    """Everything that a state may set besides its fields, by name."""
    found = {name: Extra(section, _words(name), ways=ways)
             for name, (section, ways) in WAYS.items()}
    found |= {name: Extra(PARALLELISM, _words(name), rule_of(Parallelism, name))
              for name in (COPIES, APART)}
    switches = inputs_of("switch")
    return found | {name: Extra(MECHANISMS, _words(name), rule, knob=name not in switches)
                    for name, rule in mechanism_units().items()
                    if name not in found and name not in _LEFT_OUT}


def _words(name: str) -> Pair:
    table, _, dtype = name.partition(".")
    if table in NAMED:
        name_of = NAMED[table]
        return say("of-type", name=name_of, type=dtype.upper()) if dtype else name_of
    symbol, truth = symbols()[table], say("truth")
    return symbol.en.removesuffix(truth[0]).rstrip(), symbol.zh.removesuffix(truth[1])


def otherwise() -> dict[str, str]:
    """The knob whose statement holds where none is made of another, by that one's name."""
    tables = {name: name.partition(".") for name in extras()}
    return {name: f"{ELSE[table]}{dot}{dtype}" for name, (table, dot, dtype) in tables.items()
            if table in ELSE}


def written(name: str, value: Triple | str) -> Any:
    """What a scenario file says of one, as plain data."""
    if isinstance(value, str):
        return scalar(value)
    rule = extras()[name].rule
    assert rule is not None
    middle, low, high = (_quantity(number, rule) for number in value)
    return middle if value[1] == value[2] else {"value": middle, "range": [low, high]}


def _quantity(number: float, rule: Unit) -> int | float | str:
    plain = int(number) if float(number).is_integer() else float(number)
    return plain if rule.unit == "1" else f"{plain!r} {rule.unit}"
