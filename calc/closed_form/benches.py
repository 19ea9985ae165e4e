"""What a benchmark measures that sends its first requests together: its means.

A client that keeps ``concurrency`` requests in flight begins with all of them at once: a burst.
Each further one is sent when an answer ends, so that what follows is a steady state as far as
answers do not end together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calc.closed_form.steady import Steady
from calc.closed_form.waves import Prompts, Serving, token_pace
from calc.physics.arrays import Number, maximum, minimum, plus, select
from calc.physics.experts import ranks_in_step
from calc.physics.step import Step

WAVES = 4  # times the requests in flight that a benchmark sends, where it stays short
LARGEST_RUN = 4**3 * 5**6  # output tokens of one: a million
FEWEST = 4**2  # requests of one user
UNIFORM = 2 * 3**0.5  # width of a uniform distribution over its standard deviation


@dataclass(frozen=True)
class Benched:
    """A benchmark: its requests [request], and mean times as its client reports them [s].

    Attributes:
        bench_count: of which as many as are in flight begin together.
        wave_ttft: time to first token of those.
        later_ttft: of all others.
        bench_ttft: of all of them.
        bench_tpot: time per token after the first, of all of them.
        bench_throughput: output tokens over its duration [token/s].
    """

    bench_count: Number
    wave_ttft: Number
    later_ttft: Number
    bench_ttft: Number
    bench_tpot: Number
    bench_throughput: Number


def bench_count(q: Any, flight: Number) -> Number:
    """Requests of a benchmark [request]: those that are stated, a few waves, or one long one.

    Args:
        q: input symbols as attributes.
        flight: requests in flight, those that wait for a place in the cache included [request].

    Source: notebooks/serving.md, section A benchmark that starts with a burst.
    """
    several = WAVES * flight
    planned = select(several * q.output_tokens <= LARGEST_RUN, several, flight)
    return maximum(flight, select(
        q.bench_requests > 0, q.bench_requests, maximum(FEWEST, planned)))


def benched(q: Any, p: Prompts, waiting: Number, served: Serving, lasting: Steady, decode: Step,
            burst: Step) -> Benched:
    """Means of a benchmark [s].

    On ranks that take their steps together the first request's chunk is a step that all others
    wait for. Answers of one length end together after a burst whose prompts all went first, so that
    the next ones are a burst again; with mixed steps they end chunk by chunk, and each prompt waits
    for a full one. The more lengths vary, the fewer end in one step.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        waiting: requests that wait for a place in the cache [request].
        served: what a burst sees.
        lasting: the steady state.
        decode, burst: the decode step, and a full chunk.

    Source: notebooks/serving.md, section A benchmark that starts with a burst.
    """
    apart, stages = q.separate_pools > 0, q.pipeline_parallel
    first = plus(q.concurrency, waiting)
    count = bench_count(q, first)
    chunk = lasting.prompt_work * stages / p.prompt_chunks
    shared = (ranks_in_step(q) > 1) & ~apart
    wave = served.ttft + select(shared, (first - 1) / first * chunk, 0)
    mixed = (q.mixed_steps > 0) & ~apart
    again = select(mixed, minimum(
        wave, (1 + maximum(1, lasting.prompt_span)) * burst.step_time), wave)
    *_, pace = token_pace(q, decode)
    spread = UNIFORM * q.answer_variation * maximum(1, q.output_tokens - 1)
    together = select(q.open_arrivals > 0, 0, 1 / (1 + spread + q.think_time / pace))
    steady = lasting.steady_ttft
    later = steady + together * maximum(0, again - steady)
    begun = select(q.open_arrivals > 0, 0, first / count)
    ttft = begun * wave + (1 - begun) * later
    tpot = lasting.steady_tpot + (begun + (1 - begun) * together) * (
        served.tpot - lasting.steady_tpot)
    cycle = ttft + (q.output_tokens - 1) * tpot + q.think_time
    rate = select(q.open_arrivals > 0, lasting.steady_throughput, first * q.output_tokens / cycle)
    return Benched(count, wave, later, ttft, tpot, rate)
