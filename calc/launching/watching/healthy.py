"""The metrics of a service that is as predicted, as series of a unit test."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from calc.launching.scripts import Pool
from calc.launching.watching.alerts import METRICS, engine_of
from calc.launching.watching.predictions import RAREST, Predicted
from calc.launching.watching.signals import STEPS, Series

DOUBLINGS, FINE = 12, 4  # of bounds of a histogram from an eighth of its mean on; bounds of each


def healthy(pool: Pool, of: Predicted, step: float,
            seen: Mapping[str, np.ndarray] | None = None) -> Series:
    """Counters, gauges and histograms in the predicted steady state, one sample every ``step``.

    What is promised at a percentile is as simulated. Other first tokens wait as an exponential
    variable with the predicted mean: of all with that mean it assumes least. Tokens come at the
    predicted pace, and nothing is preempted or waits beyond what is predicted.

    Args:
        pool: that is watched.
        of: what is predicted of it.
        step: seconds between samples.
        seen: times of simulated requests, by quantity [s].
    """
    engine, numbers = METRICS[engine_of(pool.release)], pool.scenario.inputs()
    rate, answers = of.requests.value, max(0.0, of.answer - 1)
    drafted = rate * of.answer / max(1.0, numbers["accepted_length"] or 1.0)
    counters = {
        "generated": rate * of.answer, "prompted": rate * of.prompt, "counted": rate,
        "asked": rate * of.prompt, "hits": rate * of.prompt * numbers["prefix_hit_share"],
        "drafts": drafted, "accepted": rate * of.answer - drafted,
        "preempted": (of.overflow * pool.scenario.replicas / of.tpot.value
                      if of.overflow >= RAREST else 0.0)}
    gauges = {"running": of.in_flight, "waiting": 0.0,
              "occupied": of.occupied.value if of.occupied else 0.0}
    observed = {"ttft": (rate, of.ttft.value, True), "e2e": (rate, of.e2e.value, False),
                "pace": (rate, of.tpot.value, False), "prompts": (rate, of.prompt, False),
                "answers": (rate, of.answer, False),
                "decoded": (rate, answers * of.tpot.value, False),
                "between": (rate * answers, of.tpot.value, False)}
    if engine_of(pool.release) == "sglang":  # a gauge of the length, not a counter
        gauges["accepted"] = numbers["accepted_length"] or 1.0
        del counters["accepted"]
    found: Series = []
    for key, names in engine.items():
        if not pool.release.exports(*names):
            continue
        name = pool.release.metric(*names)
        if key in counters:
            found.append((f'{name}{{job="{pool.name}"}}', _ramp(counters[key] * step)))
        elif key in gauges:
            found.append((f'{name}{{job="{pool.name}"}}', f"{gauges[key]:.9g}+0x{STEPS}"))
        else:
            values = (seen or {}).get({"pace": "tpot"}.get(key, key))
            found += _histogram(name, pool.name, step, *observed[key], values)
    return found


def _ramp(slope: float) -> str:
    return f"0+{slope:.9g}x{STEPS}"


def _histogram(name: str, job: str, step: float, rate: float, mean: float, spread: bool,
               values: np.ndarray | None = None) -> Series:
    """What a histogram counts: of given values, of an exponential variable, or all at the mean."""
    mean = mean if values is None else float(values.mean())
    bounds = mean / 8 * 2 ** (np.arange(FINE * DOUBLINGS) / FINE)
    below = ((bounds[:, None] >= values).mean(axis=1) if values is not None
             else 1 - np.exp(-bounds / mean) if spread else (bounds >= mean).astype(float))
    found = [(f'{name}_bucket{{job="{job}",le="{bound:.9g}"}}', _ramp(rate * share * step))
             for bound, share in zip(bounds, below, strict=True)]
    return [*found, (f'{name}_bucket{{job="{job}",le="+Inf"}}', _ramp(rate * step)),
            (f'{name}_sum{{job="{job}"}}', _ramp(rate * mean * step)),
            (f'{name}_count{{job="{job}"}}', _ramp(rate * step))]
