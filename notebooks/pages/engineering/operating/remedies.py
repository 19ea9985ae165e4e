"""What the documents say tells a bottleneck and helps against it, tried on what of theirs runs.

A remedy is a change of one deployment. It helps if the quantity that its symptom complains of gets
better by more than a change is called one, harms if worse, and does nothing between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import catalogue
from calc.auditing.costs import LENGTHS
from calc.serving.evaluate import evaluate
from catalogue.ledger import DocumentReference, Symptom
from catalogue.messages import Pair, join, messages, pair
from notebooks.pages.deciding.service import RUNS
from notebooks.pages.derivations.choices.documents import place
from notebooks.pages.engineering import claims
from notebooks.pages.engineering.operating.monitoring import LIVELY
from notebooks.show.columns import Column
from notebooks.show.display import number, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_int, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/engineering/operating/remedies")

Inputs = Mapping[str, Any]
Change = Callable[[Inputs], dict[str, Any]]
PLANS: dict[str, tuple[str, tuple[str, ...]]] = {
    "s0": RUNS["s0"][:2], "s0-printed": ("s0-scenario-1", ()),
    "s1": RUNS["s1"][:2], "s1-one": ("s1-launch-single", LENGTHS),
    "s1-lone": ("s1-launch-awq", (*LENGTHS, "workload.concurrency=1 request"))}
HELPS, SHORT_OF, NOTHING, HARMS, UNFIT = "helps", "not-enough", "nothing", "harms", "unfit"
VERDICTS: dict[str, Pair] = {
    HELPS: say("helps"), SHORT_OF: say("not-enough"), NOTHING: say("does-nothing"),
    HARMS: say("harms"), UNFIT: say("no-longer-fits")}
ENDLESS = 1e9  # times the rate of links, at which sending takes no time
FEW = 4  # requests in flight of a deployment that is hardly used


@dataclass(frozen=True)
class State:
    """What a deployment comes to with as many requests in flight.

    Attributes:
        ttft, tpot: means [s].
        rate: of output tokens [token/s].
        short: memory that a card lacks [B]; below 0 it has as much left.
        places: requests at their longest that the cache holds [1].
    """

    ttft: float
    tpot: float
    rate: float
    short: float
    places: float


@dataclass(frozen=True)
class Trial:
    """A remedy as it is tried.

    Attributes:
        of: which deployment, a key of ``PLANS``.
        sign: what the symptom complains of, an attribute of :class:`State`.
        what: what is done.
        overrides: of the scenario.
        change: of its inputs.
        scenario: another one that has it.
    """

    of: str
    sign: str
    what: Pair
    overrides: tuple[str, ...] = ()
    change: Change = lambda of: {}
    scenario: str | None = None


def _most() -> float:
    """Requests at their longest that the cache of S0's deployment holds [1]."""
    return state("s0").places


def _times(*names: str, by: float) -> Change:
    return lambda of: {name: of[name] * by for name in names}


TRIALS: dict[str, Trial] = {
    "other-cut": Trial("s0", "rate", say("tp8-pp2-not-tp4-pp4"), (
        "parallelism.tensor_parallel=8", "parallelism.pipeline_parallel=2")),
    "shorter": Trial("s0", "rate", say("prompts-of-half-length"),
                     change=_times("input_tokens", by=0.5)),
    "smaller-batch": Trial("s0-printed", "short", say("as-printed-one-request-per"),
        ("workload.concurrency=2 request",)),
    "smaller-cache": Trial("s0-printed", "short", say("as-printed-half-as-many"),
        change=_times("kv_cache_element_bytes", "kv_rope_element_bytes", by=0.5)),
    "fewer-ranks": Trial("s0", "tpot", say("tp2-pp8-not-tp4-pp4"), (
        "parallelism.tensor_parallel=2", "parallelism.pipeline_parallel=8")),
    "less-traffic": Trial("s0", "tpot", say("sending-takes-no-time-at"),
                          change=_times("device_link_bandwidth", "pair_bandwidth",
                                        "network_bandwidth", by=ENDLESS)),
    "more-places": Trial("s0", "rate", say("as-many-requests-as-cache"),
                         change=lambda of: {"concurrency": _most()}),
    "more-memory": Trial("s0", "tpot", say("instead", new="0.95", old="0.85"),
                         ("workload.memory_utilization=0.95",)),
    "even-inputs": Trial("s0", "tpot", say("every-expert-as-often-as"),
                         change=lambda of: {"even_routing": 1.0}),
    "packing": Trial("s0", "places", say("no-block-is-left-half")),
    "less-memory": Trial("s1-one", "short", ("0.8", "0.8"), ("workload.memory_utilization=0.8",)),
    "fewer-places": Trial("s1-one", "short", ("40", "40"), ("workload.concurrency=40 request",)),
    "smaller-step": Trial("s1-one", "short", ("32,768", "32,768"),
                          ("workload.max_num_batched_tokens=32768 token",)),
    "host-memory": Trial("s1-one", "short", say("as-printed-alone"), (
        "workload.concurrency=80 request", "workload.max_num_batched_tokens=65536 token",
        "workload.memory_utilization=0.9"), scenario="s1-launch-remedies"),
    "four-bits": Trial("s1-one", "short", say("with-weights-that-were-quantised"),
                       scenario="s1-launch-awq"),
    "shorter-context": Trial("s1-one", "short", say("requests-have-tokens-as-before",
                                                 tokens=fmt_int(2048))),
    "prefixes": Trial("s1", "ttft", say("on-by-default-prompts-share")),
    "printed-cut": Trial("s1", "rate", say("experts-cut-along-tp-not", cards=32),
                         ("parallelism.expert_parallel=1",)),
    "larger-step": Trial("s1", "ttft", say("instead", new="65,536", old="8,192"),
                         ("workload.max_num_batched_tokens=65536 token",)),
    "eager": Trial("s1-lone", "tpot", say("one-server-four-bit-weights"),
                   change=lambda of: {"captured": 0.0})}
TELLS: dict[str, Pair] = {  # by the first remedy of a symptom
    "other-cut": say("ttft-more-than-tpot-kv"),
    "smaller-batch": say("preemptions-kv-share-before-start"),
    "fewer-ranks": say("ttft-more-than-tpot-card"),
    "more-places": say("requests-waiting-while-few-run"),
    "more-memory": say("preemptions-kv-share-near-one"),
    "even-inputs": say("tokens-by-rank-sglang-alone"),
    "packing": say("none-is-needed")}


@cache
def symptoms(document: str) -> tuple[Symptom, ...]:
    """Of a document, in its order."""
    return tuple(catalogue.load("documents", document).symptoms)


def remedies(document: str) -> Iterator[tuple[Symptom, str]]:
    """Each remedy with its symptom."""
    return ((symptom, name) for symptom in symptoms(document) for name in symptom.remedies)


@cache
def state(of: str, remedy: str | None = None) -> State:
    """A deployment, without a remedy or with one."""
    trial: Trial = TRIALS[remedy] if remedy else Trial(of, "", ("", ""))
    name, settings = PLANS[of]
    made = catalogue.load_scenario(trial.scenario or name, overrides=[*settings, *trial.overrides])
    given = made.inputs()
    found = evaluate({**given, **trial.change(given)}, made.model.attention)
    packed = 1 + wasted() if remedy == "packing" else 1.0
    return State(float(found["steady_ttft"]), float(found["steady_tpot"]),
                 float(found["steady_throughput"]),
                 float(found["memory_per_device"] - found["usable_memory"]),
                 float(found["max_concurrency"]) * packed)


@cache
def wasted() -> float:
    """Of what requests hold in the cache, the most that their last block leaves empty [1]."""
    name, settings = PLANS["s0"]
    given = catalogue.load_scenario(name, overrides=list(settings)).inputs()
    return float((given["block_size"] - 1) / given["input_tokens"])


def verdict(remedy: str) -> str:
    """What a remedy does to what its symptom complains of."""
    trial = TRIALS[remedy]
    before, after = state(trial.of), state(trial.of, remedy)
    if trial.sign == "short":
        if after.short <= 0:
            return HELPS
        gain = before.short / after.short
        return HARMS if gain * LIVELY <= 1 else SHORT_OF if gain >= LIVELY else NOTHING
    if after.short > 0 >= before.short:
        return UNFIT
    gain = getattr(after, trial.sign) / getattr(before, trial.sign)
    if trial.sign in ("ttft", "tpot"):
        gain = 1 / gain
    return HELPS if gain >= LIVELY else HARMS if gain * LIVELY <= 1 else NOTHING


def _said(remedy: str) -> Pair:
    """The verdict in words; of what only makes or takes room, that it does."""
    found, trial = verdict(remedy), TRIALS[remedy]
    more = state(trial.of, remedy).places - state(trial.of).places
    if found != NOTHING or trial.sign not in ("ttft", "tpot") or not more:
        return VERDICTS[found]
    return say("only-more-places") if more > 0 else say("only-fewer-places")


def _planned(of: str) -> int:
    """Requests in flight of a deployment."""
    name, settings = PLANS[of]
    return int(catalogue.load_scenario(name, overrides=list(settings)).inputs()["concurrency"])


def outcome(remedy: str) -> Pair:
    """What changes, in numbers."""
    trial = TRIALS[remedy]
    before, after = state(trial.of), state(trial.of, remedy)
    if trial.sign == "short":
        lacks = fmt_bytes(before.short)
        if after.short <= 0:
            return say("short-by-card-left-tpot", lacks=lacks, left=fmt_bytes(-after.short),
                       tpot=fmt_time(after.tpot))
        return say("short-by-card", lacks=lacks, still=fmt_bytes(after.short))
    if trial.sign == "places":
        return say("at-most-more-requests", change=fmt_percent(after.places / before.places - 1))
    parts = [f"{title} ×{fmt_fixed(getattr(after, sign) / getattr(before, sign))}"
             for title, sign in (("TTFT", "ttft"), ("TPOT", "tpot"), ("token/s", "rate"))]
    found = join((", ", "，"), zip(parts, parts, strict=True))
    if after.places != before.places:
        return say("places", found=found, before=fmt_int(before.places),
                   after=fmt_int(after.places))
    return found


def _single(symptom: Symptom, name: str) -> DocumentReference:
    """Where a remedy is printed, with the claim on it alone."""
    each = len(symptom.claims) == len(symptom.remedies) > 1
    claims_ = [symptom.claims[list(symptom.remedies).index(name)]] if each else []
    return DocumentReference(section=symptom.section, line=symptom.line, claims=claims_)


def _usual(symptom: Symptom) -> Pair:
    """What the sign of a symptom shows while nothing is wrong."""
    if symptom.claims:
        row = claims.select_claims(symptom.claims[0])[0]
        assert row.case.truth
        assert row.case.printed
        text = row.case.printed.like(row.case.truth.three.value)
        return text, text
    name, settings = PLANS["s0"]
    made = catalogue.load_scenario(name, overrides=list(settings))
    given = made.inputs()

    def busy(users: float) -> str:
        """Share of a step in which the card works."""
        step = float(evaluate({**given, "concurrency": users}, made.model.attention)[
            "decode_device_time"])
        return fmt_percent(step / (step + given["host_gap_per_step"]), 0)

    planned = given["concurrency"]
    return {
        "more-places": say("busy-with-requests", busy=busy(planned), few=FEW,
                           then=busy(FEW)),
        "more-memory": say("whatever-load", share=fmt_percent(given["memory_utilization"], 0)),
        "even-inputs": say("no-rank-holds-experts-of"),
        "packing": say("at-most", share=fmt_percent(wasted())),
    }[next(iter(symptom.remedies))]


def signs() -> None:
    """Every symptom of S0: what its sign shows while nothing is wrong, and what tells instead."""
    table(symptoms("s0"), [
        Column(lambda symptom: place("s0", symptom), common("section-line")),
        Column(lambda symptom: join((" → ", " → "), [pair(symptom.symptom), pair(symptom.cause)]),
               say("symptom-cause")),
        Column(_usual, say("sign-with-nothing-wrong")),
        Column(lambda symptom: TELLS[next(iter(symptom.remedies))], say("what-tells-it"))],
        wide=True)


def remedy_table() -> None:
    """Every remedy: what was tried, what came of it; those of S1 folded."""
    def said(document: str) -> Column:
        return Column(lambda row: place(document, _single(*row)), common("section-line"))

    for document, folded in (("s0", None), ("s1", say("remedies-of-s1-tried"))):
        table(remedies(document), [
            said(document),
            Column(lambda row: row[0].remedies[row[1]], say("remedy")),
            Column(lambda row: TRIALS[row[1]].what, say("tried")),
            Column(lambda row: outcome(row[1]), say("outcome")),
            Column(lambda row: _said(row[1]), say("so-it"))], wide=True, folded=folded)
    number("mo-s0-users", _planned("s0"))
