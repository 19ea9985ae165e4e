"""A deployment's answer in sentences: does it work, how far off is it, why, what a user gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calc.answer.estimate import part_count
from calc.evidence.classes import stand_ins
from calc.uncertainty import Amount
from catalogue.deployments.admission import KERNEL, caveats
from catalogue.entries.deployments import Claim
from catalogue.messages import Pair, join, messages
from notebooks.pages.catalogue.tables.deployments import RESOURCES, quantity_label
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.views import OF, printed
from notebooks.show.numbers import (
    fmt_bytes,
    fmt_int,
    fmt_percent,
    fmt_quantity,
    fmt_sig,
    fmt_written,
)

common = messages("common")
say = messages("pages/deployments/verdicts")

KINDS: dict[str, Pair] = {
    "output_throughput": common("output-throughput"),
    "input_throughput": say("prompt-throughput"),
    "tpot": common("time-per-output-token"),
    "ttft": common("time-to-first-token")}
SAME = 0.01  # relative difference below which no side is named
FRACTION = 0.1  # ratio below which a fraction says it better
RATES = ("output_throughput", "input_throughput", "tpot", "ttft")  # the first that both know


@dataclass(frozen=True)
class Gap:
    """A printed speed beside ours.

    Attributes:
        claim: what the document prints.
        ratio: printed over derived [1].
        outside: whether it lies outside of the 80% interval.
    """

    claim: Claim
    ratio: float
    outside: bool


def gaps(deployed: Deployed) -> list[Gap]:
    """Every printed time or rate beside ours, in the order of ``RATES``; replicas are added up."""
    documented, found = deployed.scenario.documented, []
    for name in RATES:
        for claim in documented.claims if documented else ():
            if claim.comparable and claim.quantity == name in deployed.answers:
                ours = compared(deployed, claim)
                theirs = claim.value.value * part_count(deployed.scenario, claim.of)
                within = ours.low <= theirs <= ours.high
                kept = claim.bound is not None and (
                    ours.value <= theirs if claim.bound == "at_most" else ours.value >= theirs)
                found.append(Gap(claim, theirs / ours.value, not (within or kept)))
    return found


def compared(deployed: Deployed, claim: Claim) -> Amount:
    """Ours of what a document claims: of what was measured, in the run that was made."""
    as_run = deployed.as_measured if claim.value.kind == "measured" else {}
    return as_run.get(claim.quantity) or deployed.answers[claim.quantity]


def result(deployed: Deployed, name: str | None = None) -> Gap | None:
    """What the document arrives at: its last number of the rate, or else time, of the whole.

    A document's numbers stand in its own order; None where it prints none.

    Args:
        deployed: the deployment.
        name: quantity of ``RATES``; the first of them that is printed if it is left out.
    """
    printed = gaps(deployed)
    first = [gap for gap in printed if gap.claim.quantity == (name or printed[0].claim.quantity)]
    whole = [gap for gap in first if gap.claim.of == "deployment"]
    return (whole or first)[-1] if first else None


def lead(deployed: Deployed) -> Pair:
    """The answer in one sentence: does it work, how far off is it, why; and what was measured
    outside of its interval."""
    fits, gives = _fits(deployed), _gives(deployed)
    return join((" ", ""), [(f"{fits[0]}{gives[0]}.", f"{fits[1]}{gives[1]}。"),
                            *_outside(deployed)])


def _outside(deployed: Deployed) -> list[Pair]:
    """How many measured values lie outside of their predicted intervals, and how far at most."""
    told = []
    for name, of in deployed.predictions.items():
        outside = (of.measured < of.low) | (of.measured > of.high)
        if outside.any():
            ratios = (of.measured / of.predicted)[outside]
            ratio = float(ratios[np.abs(np.log(ratios)).argmax()])
            told.append(say("measured-outside-interval", kind=quantity_label(name),
                            outside=fmt_int(int(outside.sum())), rows=fmt_int(len(outside)),
                            ratio=fmt_sig(ratio, 2), above=ratio > 1, single=len(outside) == 1))
    return [say("measured-values-lie-outside", told=join(("; ", "；"), told))] if told else []


def _fits(deployed: Deployed) -> Pair:
    found, spare = deployed.quantities, fmt_bytes(abs(deployed.headroom))
    if deployed.refusal is not None:
        return say("it-does-not-run", why=deployed.refusal)
    why = {reason.kind for reason in deployed.answer.reasons}
    lacks = KERNEL in why
    if deployed.has_room:
        if lacks:
            return say("it-fits-but-this-card")
        share = deployed.answer.fits_in
        return say("it-fits-with-to-spare", spare=spare, unsure=share is not None,
                   often="" if share is None else fmt_percent(share))
    usable = float(deployed.quantity("usable_memory").value)
    alone = float(found["weights_per_device"]) > usable
    needed = (float(found["weights_per_device"]) if alone else
              max(float(deployed.quantity("memory_per_device").value), usable - deployed.headroom))
    factor = fmt_sig(needed / usable, 2 if needed >= 1.05 * usable else 3)  # never 1.0 times
    return say("it-does-not-fit-times", needed=fmt_bytes(needed), factor=factor,
               usable=fmt_bytes(usable), also=say("nor-can-card-run-it") if lacks else "",
               alone=alone)


def _gives(deployed: Deployed) -> Pair:
    """What it gives beside what is printed of it, and what binds."""
    name = next((rate for rate in RATES if rate in deployed.answers), None)
    if name is None or deployed.refusal is not None:
        return "", ""
    gap = result(deployed)
    ours = deployed.answers[gap.claim.quantity if gap else name]
    given = [say("estimated-at", short=not deployed.has_room, kind=KINDS[ours.name],
                 value=ours.texts, reach=ours.reach)]
    if gap:
        given.append(_measured(gap, compared(deployed, gap.claim))
                     if gap.claim.value.kind == "measured" else _printed(gap))
    step = deployed.steps[0]
    kind = {"decode": common("decode"), "prefill": common("prefill")}[step.phase]
    en, zh = RESOURCES[step.binding]
    bound = en, " " * zh[0].isascii() + zh
    return join(("", ""), [*given, say("is-bound-by", kind=kind, bound=bound)])


def _printed(gap: Gap) -> Pair:
    """What a document claims, and how many times ours it is."""
    text = printed(gap.claim).lstrip("≤≥ ")
    less = gap.ratio < FRACTION
    share = f"1/{fmt_int(round(1 / gap.ratio))}" if less else fmt_sig(float(f"{gap.ratio:.2g}"), 2)
    each = OF[gap.claim.of][0].lstrip(","), OF[gap.claim.of][1].strip("（）")
    aims = gap.claim.bound is not None
    return say("document-prints-times-that", text=text, share=share, each=each, aims=aims,
               less=less)


def _measured(gap: Gap, ours: Amount) -> Pair:
    """What was measured, and by how much the estimate for that run is off."""
    text, off = fmt_written(gap.claim.value.written), 1 / gap.ratio - 1
    size = fmt_percent(abs(off), 0)
    if abs(off) < SAME:
        return say("were-measured-within-of-it", text=text, same=fmt_percent(SAME, 0))
    return say("were-measured-so-it-is", text=text, ours=ours.texts, size=size, off_above=off > 0,
               outside=gap.outside)


def verdict_text(deployed: Deployed) -> Pair:
    """Room, and what a user gets, in sentences; intervals are of 80%, once on a page."""
    scenario, inputs = deployed.scenario, deployed.inputs
    room = fmt_quantity(deployed.room, "request")
    length, many = fmt_int(inputs["context_tokens"]), fmt_int(inputs["concurrency"])
    single = inputs["concurrency"] == 1
    first = (say("there-is-room-for-requests", room=room, length=length, many=many, single=single)
             if deployed.has_room else say("times-are-hypothetical"))
    taken = [*filter(None, [stand_ins(scenario)]), *caveats([scenario]).values()]
    if deployed.refusal is not None:
        return join((" ", ""), taken)
    speed = _speed(deployed)
    if scenario.file.workload.output_tokens is None:
        prompt = fmt_int(inputs["input_tokens"])
        decoded = fmt_quantity(float(deployed.quantities["decode_context_tokens"]), "token")
        speed = say("prompt-and-answer-lengths-are", prompt=prompt, decoded=decoded, speed=speed)
    return join((" ", ""), [first, speed, *_least(deployed), *taken])


def _speed(deployed: Deployed) -> Pair:
    """What its users see; if that is a steady state, what a burst and a benchmark give besides."""
    count, steadily = deployed.inputs["concurrency"], not deployed.answer.burst
    who = (say("of-requests-in-flight", requests=fmt_sig(deployed.in_flight))
           if steadily and count > 1 else
           say("of-requests-that-arrive-at", requests=fmt_int(count))
           if "ttft" in deployed.answers and count > 1 else
           say("each-of-requests", requests=fmt_int(count)) if count > 1 else say("single-request"))
    told = [_gets(deployed.answers, who, count > 1)]
    if steadily and count > 1:
        told.append(_gets(deployed.burst, say("sent-at-once"), True))
        if any(amount.text != deployed.burst[name].text
               for name, amount in deployed.bench.items()):
            told.append(_gets(deployed.bench, say("in-a-benchmark", requests=fmt_int(count)), True))
    return join((" ", ""), told)


def _gets(amounts: Mapping[str, Amount], who: Pair, many: bool) -> Pair:
    """How long somebody waits for a first token and for each further one, and all together get."""
    said, first, later = [who], "ttft" in amounts, "tpot" in amounts
    if first:
        said.append(say("waits-for-first-token", value=_value(amounts["ttft"]), many=many))
    if later:
        said.append(say("gets-token-every", first=first, value=_value(amounts["tpot"])))
    en, zh = _value(amounts["output_throughput" if later else "input_throughput"])
    rate = en, zh.rstrip()
    end = say("together", value=rate, output=later) if many else say("that-is", value=rate)
    return join(("", ""), [join((" ", ""), said), end])


def _value(answer: Amount) -> Pair:
    en, zh = (f"**{text}**" for text in answer.texts)
    return ((en, f"{zh} ") if answer.name != "input_throughput" else
            (f"{en} ({answer.reach})", f"{zh}（{answer.reach}）"))


def _least(deployed: Deployed) -> list[Pair]:
    """The floor in a sentence, where there is a step of decode."""
    if "tpot" not in deployed.answers:
        return []
    text = fmt_quantity(deployed.answer.quantities["tpot_floor"].value, "s")
    return [say("reading-weights-and-cache-alone", text=text)]
