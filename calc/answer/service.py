"""A deployment of one pool or of two as its users see it: whether it runs, latency and throughput;
which of two pools binds, and their best ratio; what its engine prints of the cache when it starts.

Source of the printed line: notebooks/memory.md, section What an engine allocates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from calc.answer.estimate import (
    Estimate,
    ServiceLevel,
    estimate,
    fits_words,
    predicted,
    whole_counts,
)
from calc.answer.request_lengths import longest
from calc.evidence.classes import (
    REPORTED,
    axis_label,
    both,
    inside_words,
    near,
    outside_words,
)
from calc.physics.arrays import Inputs
from calc.physics.experts import ranks_in_step
from calc.serving.burst import first_held, front_ends_rate
from calc.serving.evaluate import evaluate
from calc.serving.steady import pool_queue
from calc.uncertainty import Amount
from catalogue import ParamsError, Scenario
from catalogue.deployments.admission import longest_request, positions, too_long
from catalogue.messages import Pair, join, sentences
from catalogue.reading.units import factor, human

say = sentences("calc/answer/service")

ROUNDING = 1e-9  # relative tolerance when served and requested rates are compared
POOLS = ("prefill", "decode")  # in the order in which a request meets them
HALVINGS = 60  # of the requests that decode, until the loop closes
POINTS = 200  # numbers of requests for which a step is evaluated


@dataclass(frozen=True)
class Loop:
    """The steady state of both pools under the load that the one that decodes states.

    Attributes:
        users: who ask again and again; of requests that come by themselves those in flight
            [request].
        decoding: requests that decode, on average [request].
        rate: that comes out [request/s].
        ttft, tpot, e2e: as users see them, from a request's arrival on [s]; the first and the last
            infinite where requests come by themselves, and faster than they can leave.
        in_flight: requests in either pool, by Little's law [request].
        keeps_up: whether the queue has a bound: requests are served no slower than they arrive.
    """

    users: float
    decoding: float
    rate: float
    ttft: float
    tpot: float
    e2e: float
    in_flight: float
    keeps_up: bool


@dataclass(frozen=True)
class Pools:
    """Two pools of one deployment.

    Attributes:
        prompt, answer: of a request [token].
        prefill_devices, decode_devices: cards of each [1].
        rates: requests per second that prefill and decode let in and finish, and that transfers
            deliver.
        binds: the least of them, ``prefill``, ``decode`` or ``transfer``.
        rate: of both together [request/s].
        transfer_time: of a request's cache [s].
        best_prefill_devices: of the same number of cards, how many prefill in balance [1].
        best_rate: of both in balance, whatever front ends let in [request/s].
        whole: groups of ranks that prefill and that decode, the best that as many cards hold.
        whole_rate: of those [request/s].
        loop: the steady state.
    """

    prompt: float
    answer: float
    prefill_devices: int
    decode_devices: int
    rates: dict[str, float]
    binds: str
    rate: float
    transfer_time: float
    best_prefill_devices: float
    best_rate: float
    whole: tuple[int, int]
    whole_rate: float
    loop: Loop

    @property
    def devices(self) -> int:
        """Cards of both."""
        return self.prefill_devices + self.decode_devices

    @property
    def lines(self) -> list[str]:
        """Lines on the pool that limits throughput and on the optimal prefill-to-decode ratio."""
        rates = ", ".join(f"{name} {human(rate, 'request/s')}" for name, rate in self.rates.items())
        now, best, in_groups = (human(rate * self.answer, "token/s")
                                for rate in (self.rate, self.best_rate, self.whole_rate))
        return [f"Limited by {self.binds}: {rates}; {now}.",
                f"Balanced with {human(self.best_prefill_devices)} of {self.devices} cards for "
                f"prefill: {best}; in whole groups {self.whole[0]} prefill and {self.whole[1]} "
                f"decode: {in_groups}."]

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        loop = {name: value if math.isfinite(value) else None
                for name, value in vars(self.loop).items() if name not in ("in_flight", "keeps_up")}
        return asdict(self) | {"loop": loop}


MOST_BUSY = 0.99  # of a prefill pool, where no TTFT is asked for
Columns = Mapping[str, np.ndarray]


def balanced(prefill: Columns, decode: Columns, answer: float, ttft: float | None = None,
             users: float | None = None, think: float = 0.0, arrivals: float | None = None
             ) -> dict[str, np.ndarray]:
    """Pairs of pools in a steady state: what both finish together, and what users see of it.

    A replica of the prefill pool works on one prompt after the other, so a prompt waits for the
    rest of those before it (Pollaczek-Khinchine); the pool may be as busy as the limit on the TTFT
    leaves it. The decode pool finishes as much as it does with the requests that it is asked to
    hold. The pair finishes the least of both and of what the ports receive, or what is asked:
    of so many users who ask again, rate x (TTFT + answer + thinking) is their number (Little).

    Args:
        prefill: ``rate`` that a pool finishes at most [request/s]; ``residual``: what is left, on
            average, of a prompt that another one finds at work on its replica, ``alone``: TTFT
            without waiting, ``port``: time through its ports [s]; shape (n,) each.
        decode: ``rate`` [request/s], ``tpot`` and ``port`` [s], ``received``: what its ports take
            [request/s]; shape (n,) each.
        answer: tokens of an answer [token].
        ttft: limit on its mean [s]; None without one.
        users, think: who ask again, so long after an answer [request], [s].
        arrivals: independent requests [request/s]; in place of users.

    Returns ``ttft``, ``tpot``, ``e2e`` [s], ``throughput`` [token/s], ``users`` that this is
    [request], ``prefill_busy`` [1], and the three rates; a throughput of 0 where a pair does not
    serve what is asked.

    Source: notebooks/serving.md, sections Two pools in balance and A steady state.
    """
    waits = prefill["residual"]
    before = prefill["alone"] + np.maximum(prefill["port"], decode["port"])
    after = (answer - 1) * decode["tpot"]
    spare = np.maximum((np.inf if ttft is None else ttft) - before, 0.0)
    most = MOST_BUSY if ttft is None else np.minimum(MOST_BUSY, spare / (spare + waits))
    rates = {"prefill": most * prefill["rate"], "decode": decode["rate"],
             "transfer": decode["received"]}
    rate = np.minimum.reduce(list(rates.values()))

    def waiting(busy: np.ndarray) -> np.ndarray:
        return busy / (1 - busy) * waits

    wanted = rate
    if arrivals is not None:
        wanted = np.full(rate.shape, arrivals)
    elif users is not None:
        unqueued = prefill["rate"] * (before + after + think)  # users without waiting, all busy
        both, queued = unqueued + users, prefill["rate"] * waits
        busy = 2 * users / (both + np.sqrt(both * both - 4 * (unqueued - queued) * users))
        wanted = busy * prefill["rate"]
    serves = (wanted <= rate * (1 + ROUNDING)) & (spare > 0)
    rate = np.where(serves, np.minimum(wanted, rate), 0.0)
    busy = rate / prefill["rate"]
    first = before + waiting(busy)
    e2e = first + after
    return {"ttft": first, "tpot": decode["tpot"], "e2e": e2e, "throughput": rate * answer,
            "users": rate * (e2e + think), "prefill_busy": busy,
            **{f"{name} rate": value for name, value in rates.items()}}


def combine_pools(prefill: Scenario, decode: Scenario, *, users: float | None = None) -> Pools:
    """What two pools give for the requests of the one that decodes.

    >>> import catalogue
    >>> pools = combine_pools(*catalogue.load_family("s0-scenario-3").pools)
    >>> pools.binds, round(pools.rate / pools.rates["decode"], 9)
    ('decode', 1.0)

    Args:
        prefill, decode: the pools, as ``catalogue.load_family`` has them.
        users: who ask again, at once or after the decode pool's think time; as many as that pool
            states, if absent [request].

    Source: notebooks/serving.md, sections Two pools in balance and A steady state.
    """
    attention = decode.model.attention
    inputs = decode.inputs() | {"separate_pools": 1}
    first = prefill.inputs() | {"separate_pools": 0, "output_tokens": 1}
    prompts = evaluate(first, attention)
    sending = float(prompts["kv_port_time"])
    sent = prefill.replicas / sending
    given = min(float(prompts["request_throughput"]), sent)
    inputs |= {"prefill_pool_rate": given, "prefill_pool_devices": prefill.devices,
              "prefill_pool_port_time": sending}
    quantities = evaluate(inputs, attention)
    let_in = [float(front_ends_rate(Inputs(pool))) for pool in (first, inputs)]
    rates = {"prefill": min(float(prompts["request_throughput"]), let_in[0]),
             "decode": min(float(quantities["request_throughput"]), let_in[1]),
             "transfer": min(sent, decode.replicas / float(quantities["kv_port_time"]))}
    # a pool grows by whole groups of ranks that step together
    groups = [int(pool["data_parallel"]) // int(ranks_in_step(Inputs(pool)))
              for pool in (first, inputs)]
    best_groups, whole_rate = whole_groups(
        prefill.devices + decode.devices,
        [pool.devices // count for pool, count in zip((prefill, decode), groups, strict=True)],
        [min(given, let_in[0]) / groups[0], rates["decode"] / groups[1]])
    return Pools(
        float(inputs["input_tokens"]), float(inputs["output_tokens"]), prefill.devices,
        decode.devices, rates, min(rates, key=lambda name: rates[name]),
        min(float(quantities["pools_rate"]), *let_in), float(quantities["kv_transfer_time"]),
        float(quantities["best_prefill_devices"]), float(quantities["best_pools_rate"]),
        best_groups, whole_rate,
        loop_of_pools(decode, inputs, float(prompts["cache_load_wait"] + prompts["prefill_time"]),
              quantities,
              first["data_parallel"] / given * (1 + first["prompt_variation"] ** 2), users,
              min(let_in)))


def whole_groups(devices: int, sizes: list[int], rates: list[float]
                  ) -> tuple[tuple[int, int], float]:
    """Groups of each pool that as many cards hold and that together finish most.

    Args:
        devices: cards of both pools [1].
        sizes: cards of a group that prefills, and of one that decodes [1].
        rates: requests per second of each.
    """
    pairs = [(first, (devices - first * sizes[0]) // sizes[1])
             for first in range(1, (devices - sizes[1]) // sizes[0] + 1)]
    best = max(pairs, key=lambda pair: min(
        count * rate for count, rate in zip(pair, rates, strict=True)))
    return best, min(count * rate for count, rate in zip(best, rates, strict=True))


def loop_of_pools(decode: Scenario, inputs: Mapping[str, Any], prefill_time: float,
                  quantities: Mapping[str, Any], service: float, asking: float | None, let_in: float
                  ) -> Loop:
    """Both pools under the load of the one that decodes, of whose requests only some decode.

    Args:
        decode: the pool, for what its workload says of arrivals.
        inputs: its own, with what the prefill pool finishes.
        prefill_time: of a prompt alone in the prefill pool, loads of its cache included [s].
        quantities: quantities of the decode pool.
        service: of a prefill replica, per prompt: second moment over mean [s].
        asking: users; as many as the decode pool states, if None [request].
        let_in: by the front ends of either pool at most [request/s].
    """
    stated = decode.file.workload.arrival_rate
    arrivals = float(stated.value) if stated and asking is None else 0.0
    users = float(inputs["concurrency"] if asking is None else asking)
    most = max(users, float(quantities["max_concurrency"])) if arrivals else users
    counts = np.unique(np.geomspace(1, most, POINTS).round())
    steps = evaluate({**inputs, "concurrency": counts}, decode.model.attention)
    paces, served = (np.broadcast_to(steps[name], counts.shape)
                     for name in ("tpot", "served_requests"))
    after, think = float(inputs["output_tokens"]) - 1, float(inputs["think_time"])
    before = float(inputs["request_overhead"] + prefill_time + quantities["kv_transfer_time"])
    finished = float(inputs["prefill_pool_rate"])

    def pace(decoding: float) -> float:
        return float(np.interp(decoding, counts, paces))

    def wait(decoding: float) -> float:
        """For a prefill replica [s]."""
        if arrivals:  # Pollaczek and Khinchine: of independent arrivals
            spare = max(0.0, finished - arrivals)
            return arrivals * service / (2 * spare) if spare else np.inf
        return float(pool_queue((users - 1) / finished, service,
                                before + after * pace(decoding) + think))

    def coming(decoding: float) -> float:
        """Arrival rate with ``decoding`` requests in the decode pool [request/s]."""
        return arrivals if arrivals else users / (
            before + wait(decoding) + after * pace(decoding) + think)

    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        more = coming(middle) * after * pace(middle) > middle
        low, high = (middle, high) if more else (low, middle)
    high = min(high, float(served[-1]))  # who finds no place in the cache waits for one
    rate = min(coming(high), let_in, high / (after * pace(high)) if after else np.inf)
    first = before + wait(high)
    if not arrivals:
        first = users / rate - think - after * pace(high)  # what comes too fast waits
    elif rate < arrivals * (1 - ROUNDING):
        first = np.inf
    # where the engine sends it so, the first token comes with the decode pool's first piece
    delay = float(first_held(Inputs({**inputs, "separate_pools": 0.0}), pace(high)))
    ttft, tpot = first + delay, pace(high) - delay / max(1.0, after)
    e2e = ttft + after * tpot
    return Loop(rate * e2e if arrivals else users, high, rate, ttft, tpot, e2e, rate * e2e,
                math.isfinite(e2e))


@dataclass(frozen=True)
class Service:
    """A deployment with the answer of each of its pools.

    Attributes:
        pools: one, or those that prefill and that decode.
        answers: of each pool.
        pair: of two pools what they give together; None of one.
        last: the pool that states the load: the only one, or the one that decodes.
        devices: cards of all pools [1].
        fits: whether every pool fits in memory and its engine starts it with the given settings.
        seen: latency and throughput as users measure them; None where answer lengths are not
            stated, or where requests arrive faster than they are served.
    """

    pools: tuple[Scenario, ...]
    answers: tuple[Estimate, ...]
    pair: Pools | None
    last: Scenario
    devices: int
    fits: bool
    seen: ServiceLevel | None

    @property
    def keeps_up(self) -> bool:
        """Whether the service rate is at least the arrival rate."""
        return self.pair.loop.keeps_up if self.pair else self.answers[0].keeps_up

    @property
    def outcome(self) -> Pair:
        """Verdict in a few words; that of the worse pool if one does not fit."""
        if self.fits:
            return fits_words(self.seen, self.keeps_up)
        return min(self.answers, key=lambda answer: (answer.fits, answer.spare)).outcome

    def as_json(self) -> dict[str, Any]:
        """Plain data of two pools, SI units."""
        assert self.pair is not None
        named = dict(zip(POOLS, self.pools, strict=True))
        return {"fits": self.fits, "devices": self.devices,
                "seen": self.seen and self.seen.as_json(),
                "pools": self.pair.as_json() | {
                    name: answer.as_json() for name, answer in zip(POOLS, self.answers, strict=True)
                } | {"startup_lines": startup_lines(named)}}


def estimate_service(pools: Sequence[Scenario], answers: Sequence[Estimate] | None = None
                     ) -> Service:
    """Estimate a deployment of one pool or two.

    >>> import catalogue
    >>> deployed = estimate_service(catalogue.load_deployment("a3-v4-vllm"))
    >>> len(deployed.pools), deployed.devices
    (2, 32)

    Args:
        pools: as ``catalogue.load_deployment`` has them.
        answers: of each pool; estimated if absent.
    """
    answers = tuple(map(estimate, pools) if answers is None else answers)
    pair = combine_pools(*pools) if len(pools) > 1 else None
    return Service(tuple(pools), answers, pair, pools[-1], sum(pool.devices for pool in pools),
                   all(answer.fits for answer in answers),
                   answers[0].seen if pair is None else
                   service_level_of_pools(pools[0], pools[-1], pair))


def service_level_of_pools(prefill: Scenario, decode: Scenario, pair: Pools | None = None
                           ) -> ServiceLevel | None:
    """What users measure of two pools, each time with the relative interval of the pool that it is
    spent in; None where requests arrive faster than they are served.

    Args:
        prefill, decode: the pools.
        pair: ``combine_pools`` of them, where it is at hand.
    """
    pair = pair or combine_pools(prefill, decode)
    loop = pair.loop
    if not loop.keeps_up:
        return None
    alone = predicted(unloaded(prefill), ("ttft", "request_throughput"))
    decoded = predicted(decode, ("tpot", "output_throughput"))
    rate = (alone["request_throughput"] if pair.binds == "prefill"
            else decoded["output_throughput"])
    ttft, tpot = around(loop.ttft, alone["ttft"]), around(loop.tpot, decoded["tpot"])
    low, high = (first + (pair.answer - 1) * second
                 for first, second in zip(ttft.ends, tpot.ends, strict=True))
    return ServiceLevel(ttft, tpot, replace(ttft, value=loop.e2e, low=low, high=high),
                around(loop.rate * pair.answer, rate, "token/s"), loop.in_flight, False,
                decode.file.latency_limits)


def unloaded(prefill: Scenario) -> Scenario:
    """A pool that prefills with one prompt on each replica, none of which waits."""
    from calc.layouts.layout import changed  # two pools alone need it

    return changed(prefill, {"workload.concurrency": prefill.replicas})


def around(value: float, of: Amount, unit: str | None = None) -> Amount:
    """An amount as far about its value as another is about its own."""
    return of.scaled(value / of.value, unit)


def measured_evidence(pools: Sequence[Scenario], answers: Sequence[Estimate]) -> Pair | None:
    """Measured runs that say how sure TPOT, TTFT and throughput of a deployment are, in sentences;
    None where none of these has an error of the formulas' own.

    Args:
        pools, answers: one of each, or those of two pools, which answer different quantities.
    """
    own = {name: amount.own_error for answer in answers for name, amount in answer.reported.items()
           if name in REPORTED and amount.own_error}
    outside = reduce(both, map(near, pools)).outside
    axes = [outside_words(axis_label(axis.name) for axis in outside)] if outside else []
    return join((" ", ""), [inside_words(own), *axes]) if own else None


GIB = factor("GiB")
FORMS = {
    "vllm": "GPU KV cache size: {tokens:,.0f} tokens, maximum concurrency for {length:,} tokens "
            "per request: {requests:.2f}x",
    "sglang": "max_total_num_tokens={tokens:.0f}, context_len={length}",
    "tensorrt-llm": "Allocated {memory:.2f} GiB for max tokens in paged KV cache ({tokens:.0f})"}
FORMS["vllm-ascend"] = FORMS["vllm"]
"""Engine -> the line that it prints, of one replica."""
OF_LINE = ("cache_tokens", "longest_requests", "free_for_kv_per_device")


@dataclass(frozen=True)
class StartupLine:
    """The line of one replica.

    Attributes:
        engine: that prints it, with its release.
        text: as the engine prints it.
        tokens: of the cache, with the 80% interval [token].
        requests: of the longest length that it holds, not a whole number, likewise [request].
        length: tokens of the longest request, as ``deploy`` tells the engine [token].
        rule: what the length follows from, in words.
        starts: whether the cache holds one request of that length; else the engine stops.
    """

    engine: str
    text: str
    tokens: Amount
    requests: Amount
    length: int
    rule: Pair
    starts: bool

    def words(self, pool: str = "none") -> Pair:
        """Return the line in a sentence.

        Args:
            pool: ``prefill`` or ``decode`` of two, ``none`` of one.
        """
        low, high = (f"{end:,.0f}" for end in self.tokens.ends)
        where = f" in the {pool} pool" if pool in ("prefill", "decode") else ""
        if not self.starts:
            tokens, length = f"{self.tokens.value:,.0f}", f"{self.length:,}"
            return say("does-not-start",
                       f"{self.engine} stops when it starts{where}: the cache of a DP rank holds "
                       f"{tokens} tokens (80% interval {low} to {high}), less than one request of "
                       f"{length} tokens.",
                       engine=self.engine, pool=pool, low=low, high=high, tokens=tokens,
                       length=length)
        least, most = (f"{end:,.2f}" for end in self.requests.ends)
        return say("engine-prints",
                   f"{self.engine} prints {self.text}{where} (on each DP rank; 80%: {low} to "
                   f"{high} tokens, {least} to {most} requests of that length, {self.rule[0]}).",
                   engine=self.engine, pool=pool, line=self.text, low=low, high=high, least=least,
                   most=most, rule=self.rule)

    def as_json(self) -> dict[str, Any]:
        """Return plain data, SI units."""
        return {"engine": self.engine, "text": self.text if self.starts else None,
                "tokens": self.tokens.as_json(), "requests": self.requests.as_json(),
                "length": self.length, "rule": self.rule[0], "starts": self.starts}


def startup_line(scenario: Scenario) -> StartupLine | None:
    """Return the line that a deployment's engine prints of a replica when it starts.

    The longest request is that of ``--max-model-len`` and ``--context-length`` as ``deploy``
    writes them.

    >>> import catalogue
    >>> startup_line(catalogue.load_scenario("h200-r1-vllm-tp8")).length
    163840

    Args:
        scenario: the deployment, or one of two pools.

    Returns None where the engine's words are not known, and where it takes no such requests.
    """
    form = FORMS.get(scenario.running.profile.id) if scenario.running else None
    longest_stated = longest_request(scenario)
    if form is None or (longest_stated is not None
                        and too_long(longest_stated, positions(scenario.model))):
        return None
    inputs, starts, rule = scenario.inputs(), True, ("", "")
    everything = evaluate(inputs, scenario.model.attention, decode=False)
    try:
        most = longest(scenario, whole_counts(predicted(scenario, ["kv_blocks"])["kv_blocks"]),
                       everything)
        length, rule = most.tokens, most.rule
    except ParamsError:  # the cache holds none
        length, starts = int(inputs["context_tokens"]), False
    of = predicted(scenario, OF_LINE, inputs=inputs | {"context_tokens": length})
    tokens, requests, memory = whole_counts(of[OF_LINE[0]]), *(of[name] for name in OF_LINE[1:])
    return StartupLine(scenario.running.name if scenario.running else "", form.format(
        tokens=tokens.value, requests=requests.value, length=length,
        memory=memory.value / GIB), tokens, requests, length, rule, starts)


def startup_lines(pools: Mapping[str, Scenario]) -> dict[str, Any]:
    """Return the lines of pools by their names, plain data; without those not known."""
    lines = {name: startup_line(pool) for name, pool in pools.items()}
    return {name: line.as_json() for name, line in lines.items() if line}


def engine_words(scenario: Scenario, pool: str = "none") -> list[Pair]:
    """Return the line that the engine prints of its cache, in a sentence; none where not known.

    Args:
        scenario: the deployment, or one of two pools.
        pool: ``prefill`` or ``decode`` of two, ``none`` of one.
    """
    line = startup_line(scenario)
    return [line.words(pool)] if line else []
