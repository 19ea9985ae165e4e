"""What the documents recommend on precision, experts and pools, beside what follows of it.

Each function shows the advice of one chapter; which card is for which use stands in ``uses``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import calc
import catalogue
from calc.evidence.systems import measured_system
from calc.sensitivity.plans import Plan, plan_of
from calc.serving.evaluate import evaluate
from catalogue.messages import Pair, join, messages, pair
from catalogue.reading.units import HOUR
from notebooks.pages import proportions
from notebooks.pages.deciding.goals import device_label
from notebooks.pages.derivations.choices.documents import advised
from notebooks.pages.engineering.layouts import CHUNK, LIMIT, PACE, most_users, plan
from notebooks.pages.engineering.precision import CARDS, POINTS, SCORES, SHARES
from notebooks.pages.engineering.separation import STATED
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

say = messages("pages/engineering/advice")

AWQ, W4A8, FP8 = "w4a16-awq", "w4a8-int8", "fp8-block"
NARROW = {"ascend-910b2": "int8-latent48", "nvidia-h20": "fp8-latent128",
          "nvidia-h200-sxm": "fp8-latent128"}  # of the cache, that an engine has for a card
ROOMS = (("ascend-910b2", "w8a8-int8", 2), ("ascend-910b2", W4A8, 1), ("nvidia-h20", FP8, 2),
         ("nvidia-h200-sxm", FP8, 1))
MEASURED, HYBRID = "s2-910b1-awq", "s3-hybrid-910b4"
USERS = 32
FEW = (1, 8, USERS)
MANY = 16  # requests of the hybrid system
CHUNKS = (2048, 4096, CHUNK)
HALF = 0.5  # of each prompt in the prefix cache
EXAMPLE = ("ascend-910b2", W4A8, 1)  # a server of S0's pools, in weights that fit
DAY = 24 * HOUR


def found_of(made: Plan, **moves: float) -> dict[str, Any]:
    """All quantities of a deployment, some inputs moved."""
    return evaluate({**made.inputs, **moves}, made.scenario.model.attention)


def cached(case: tuple[str, str, int]) -> tuple[int, int]:
    """Users within the promise with a cache of 16 bits, and with the narrower one of a card.

    Of a pool that only decodes: on a 910B no other has the narrower one.
    """
    made = plan(*case, pool="decode")
    width = float(catalogue.load_format(NARROW[case[0]]).bytes_per_element)
    narrow = replace(made, inputs={**made.inputs, "kv_cache_element_bytes": width})
    return most_users(made), most_users(narrow)


def precision() -> None:
    """On the cache, on eight-bit activations, and on INT4 by channel."""
    advised({"s0/quantised-cache": _cache(), "s2/wide-activations": _activations(),
             "s3/int4-by-channel": _channels()})


def _cache() -> Pair:
    made = plan(*ROOMS[0])
    sizes = {name: fmt_bytes(found_of(made, kv_cache_element_bytes=float(
        catalogue.load_format(name).bytes_per_element))["kv_bytes_per_token"], "kB", 1)
        for name in ("bf16", *dict.fromkeys(NARROW.values()))}
    plain, *narrow_sizes = (say("size-in", size=size, name=pair(catalogue.load_format(name).name))
                            for name, size in sizes.items())
    able = [device_label(card) for card in CARDS if catalogue.load_device(card).peak("fp8")]
    rooms = {case: cached(case) for case in ROOMS}
    users = [say("users-with-narrower", cards=int(plan(*case).cards), card=device_label(case[0]),
                 precision=case[1], wide=fmt_int(wide), narrow=fmt_int(narrow))
             for case, (wide, narrow) in rooms.items()]
    return say("quantised-cache", plain=plain, int8=narrow_sizes[0],
               fp8=narrow_sizes[1], able=join((" and ", "、"), able),
               limit=fmt_time(LIMIT), users=join(("; ", "；"), users))


def _activations() -> Pair:
    scores = catalogue.load("accuracies", SCORES)
    shown = 0
    for key, benchmark in scores.benchmarks.items():
        ours, other = (scores.score(system, key) for system in ("w4a16", "w4a8"))
        assert ours is not None
        assert other is not None
        gap = (ours.solved.value - other.solved.value) / 100
        shown += gap >= proportions.detectable_gap(ours.solved.value / 100,
                                                   int(benchmark.problems.value))
    paces = [fmt_time(plan("ascend-910b1", name, 1, USERS).median(USERS, PACE))
             for name in (AWQ, W4A8)]
    published = catalogue.load_precision(FP8).multiply.routed_expert
    assert published == "fp8"
    return say("wide-activations", published=published, shown=fmt_int(shown),
               count=fmt_int(len(scores.benchmarks)), users=USERS, awq=AWQ, w4a8=W4A8,
               awq_pace=paces[0], w4a8_pace=paces[1])


def test_time() -> float:
    """How long S3's system takes for the problems that tell a point [s], with its own answers."""
    system = measured_system(HYBRID)
    problems = proportions.needed(SHARES[0], POINTS[0])
    return float(problems * system.inputs["output_tokens"]
                 / system.rows["output_throughput"].max())


def _channels() -> Pair:
    found = calc.parameters(catalogue.load_model(plan_of(HYBRID).scenario.model.id))
    return say("int4-by-channel", share=fmt_percent(found["routed"] / found["total"], 0),
               right=fmt_percent(SHARES[0], 0),
               problems=fmt_int(proportions.needed(SHARES[0], POINTS[0])),
               days=fmt_sig(test_time() / DAY, 2))


@cache
def grouped(users: int, expert: int) -> dict[str, Any]:
    """S2's server with so many requests, experts cut or whole."""
    return found_of(plan_of(MEASURED, [f"workload.concurrency={users} request",
                                       f"parallelism.expert_parallel={expert}"]))


def experts() -> None:
    """On TP8 that is balanced, on its tail, and on experts whose results are deferred."""
    cards = int(plan_of(MEASURED).cards)

    def times_of(name: str, users: int) -> list[Any]:
        return [grouped(users, expert)[name] for expert in (1, cards)]

    def balanced(users: int) -> Pair:
        cut, whole = map(fmt_time, times_of(PACE, users))
        return say("times-of", users=users, cut=cut, whole=whole)

    least, most = (fmt_percent(grouped(users, cards)["decode_rank_imbalance"], 0)
                   for users in (FEW[0], FEW[-1]))
    sent_cut, sent_whole = map(fmt_time, times_of("decode_communication_time", USERS))
    sent = (say("sends-alike", users=USERS, time=sent_cut) if sent_cut == sent_whole else
            say("sends-apart", users=USERS, cut=sent_cut, whole=sent_whole))
    advised({
        "s2/tensor-is-balanced": say(
            "tensor-is-balanced", cards=cards, times=join(("; ", "；"), map(balanced, FEW)),
            least=least, most=most, sent=sent),
        "s2/no-long-tail": say(
            "no-long-tail", users=USERS, tokens=fmt_int(STATED[0]), gap=fmt_time(_gap()),
            step=fmt_time(grouped(USERS, 1)["decode_step_time"])),
        "s3/deferred-experts": _deferred()})


def _gap() -> float:
    """How long a prompt holds up those who decode on S2's server [s]."""
    return float(found_of(plan_of(MEASURED),
                          input_tokens=float(STATED[0]))["prefill_step_time"])


@cache
def deferred(users: int) -> tuple[float, float]:
    """S3's time per token if deferral hides nothing, and if it hides all that it can [s]."""
    made = plan_of(HYBRID, [f"workload.concurrency={users} request"])
    none, most = (float(found_of(made, host_overlap=share)["tpot"])
                  for share in (0.0, 1.0))  # of the shorter of card and host work
    return none, most


def _deferred() -> Pair:
    none, every, none_many, every_many = (
        fmt_time(each) for users in (1, MANY) for each in deferred(users))
    return say("deferred-experts", none=none, every=every, many=MANY, none_many=none_many,
               every_many=every_many)


def separation() -> None:
    """On the way of the cache through a store, and on chunks and prefixes of either pool."""
    advised({"s0/cache-through-redis": _store(), "s0/chunks-of-prefill-pool": _prefill_chunks(),
             "s0/prefix-of-decode-pool": _decode_prefix()})


@cache
def prefilled(chunk: int = CHUNK, hit: float = 0.0) -> tuple[float, float, float]:
    """A server of S0's prefill pool: prompts per second, a prompt's time alone [s], its cache [B].

    Args:
        chunk: tokens of a step.
        hit: share of each prompt in the prefix cache [1].
    """
    made = plan(*EXAMPLE, users=int(USERS), prompt=STATED[0], answer=STATED[1])
    found = found_of(made, separate_pools=1.0, max_num_batched_tokens=float(chunk),
                     prefix_hit_share=hit)
    rate = found["prefill_throughput"] / (STATED[0] * (1 - hit))
    return float(rate), float(found["prefill_time"]), float(
        found["kv_bytes_per_token"] * STATED[0])


def _store() -> Pair:
    rate, time, size = prefilled()
    made = plan(*EXAMPLE, prompt=STATED[0], answer=STATED[1])
    port = found_of(made, separate_pools=1.0)["kv_port_time"]
    stated = catalogue.load_scenario("s0-scenario-3-prefill").documented
    assert stated
    printed = next(claim.value.value for claim in stated.claims
                   if claim.quantity == "request_throughput")
    return say("cache-through-store", tokens=fmt_int(STATED[0]),
               size=fmt_bytes(size, "MB", 0), even=fmt_bytes(2 * size / time, "GB", 1),
               time=fmt_time(time), port=fmt_time(port), printed=fmt_int(printed),
               for_printed=fmt_bytes(2 * size * printed, "GB", 0), rate=fmt_fixed(rate, 1),
               for_rate=fmt_bytes(2 * size * rate, "GB", 1))


def _prefill_chunks() -> Pair:
    told = [f"{fmt_int(chunk)} → {fmt_fixed(prefilled(chunk)[0], 1)}" for chunk in CHUNKS]
    return say("chunks-of-prefill-pool", tokens=fmt_int(STATED[0]),
               rates=join(("; ", "；"), zip(told, told, strict=True)))


def _decode_prefix() -> Pair:
    whole, half = prefilled()[0], prefilled(hit=HALF)[0]
    users = int(catalogue.load_scenario("s0-config-4.3-decode").inputs()["concurrency"])
    return say("prefix-of-decode-pool", times=fmt_sig(half / whole, 2),
               users=fmt_int(users))
