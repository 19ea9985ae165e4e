"""What an engine prints of its cache when it starts, predicted, in the engine's own words.

Source: notebooks/memory.md, section What an engine allocates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calc.answer.estimate import predicted, whole_counts
from calc.answer.request_lengths import longest
from calc.physics.kv_cache import beside_tokens
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue import ParamsError, Scenario
from catalogue.deployments.admission import longest_request, positions, too_long
from catalogue.messages import Pair, messages
from catalogue.reading.units import factor, human

say = messages("calc/answer/startup-line")

GIB = factor("GiB")
FORMS = {
    "vllm": "GPU KV cache size: {tokens:,.0f} tokens, maximum concurrency for {length:,} tokens "
            "per request: {requests:.2f}x",
    "sglang": "max_total_num_tokens={tokens:.0f}, context_len={length}",
    "tensorrt-llm": "Allocated {memory:.2f} GiB for max tokens in paged KV cache ({tokens:.0f})"}
FORMS["vllm-ascend"] = FORMS["vllm"]
"""Engine -> the line that it prints, of one replica."""
POOLS = ("prefill", "decode")  # of two pools, in the order in which a request meets them
NOTABLE = 0.01  # of the memory for the cache, from which on a prompt's further blocks are told
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
        least, most = (f"{end:,.2f}" for end in self.requests.ends)
        if not self.starts:
            return say("does-not-start", engine=self.engine, pool=pool, low=low, high=high,
                       tokens=f"{self.tokens.value:,.0f}", length=f"{self.length:,}")
        return say("engine-prints", engine=self.engine, pool=pool, line=self.text, low=low,
                   high=high, least=least, most=most, rule=self.rule)

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
                       beside_tokens(everything), everything["block_tokens"])
        length, rule = most.tokens, most.words
    except ParamsError:  # the cache holds none
        length, starts = int(inputs["context_tokens"]), False
    of = predicted(scenario, OF_LINE, inputs=inputs | {"context_tokens": length})
    tokens, requests, memory = whole_counts(of[OF_LINE[0]]), *(of[name] for name in OF_LINE[1:])
    return StartupLine(scenario.running.stated if scenario.running else "", form.format(
        tokens=tokens.value, requests=requests.value, length=length,
        memory=memory.value / GIB), tokens, requests, length, rule, starts)


def startup_lines(pools: Mapping[str, Scenario]) -> dict[str, Any]:
    """Return the lines of pools by their names, plain data; without those not known."""
    lines = {name: startup_line(pool) for name, pool in pools.items()}
    return {name: line.as_json() for name, line in lines.items() if line}


def engine_words(scenario: Scenario, pool: str = "none") -> list[Pair]:
    """Return the line that the engine prints of its cache, and what tokens in a step take of it.

    Args:
        scenario: the deployment, or one of two pools.
        pool: ``prefill`` or ``decode`` of two, ``none`` of one.
    """
    line = startup_line(scenario)
    if line is None:
        return []
    shorter = _shorter_steps(scenario, line.length)
    return [line.words(pool), *([shorter] if shorter else [])]


def _shorter_steps(scenario: Scenario, length: int) -> Pair | None:
    """Return what windows and states of a prompt in work take, and what shorter steps save.

    Args:
        scenario: the deployment.
        length: of its longest request [token].

    Returns None where that is not worth a sentence.
    """
    inputs = scenario.inputs() | {"context_tokens": length}
    attention = scenario.model.attention
    half = int(inputs["max_num_batched_tokens"] // 2)

    def of(quantities: Mapping[str, Any]) -> float:
        return float(quantities["prompt_blocks"] * quantities["stage_block_bytes"].max())

    everything = evaluate(inputs, attention, decode=False)
    taken = of(everything)
    saved = taken - of(evaluate(
        inputs | {"max_num_batched_tokens": half}, attention, decode=False))
    if saved <= NOTABLE * float(everything["free_for_kv_per_device"]):
        return None
    return say("prompt-blocks", taken=human(taken, "B"), saved=human(saved, "B"),
               tokens=f"{half:,}", step=f"{inputs['max_num_batched_tokens']:,.0f}")
