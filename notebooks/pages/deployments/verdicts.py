"""A deployment's answer in sentences: does it work, how far off is it, why, what a user gets."""

from __future__ import annotations

from dataclasses import dataclass

from calc.answer.estimate import counted
from calc.evidence.classes import stand_ins
from catalogue.entries.deployments import Claim
from notebooks.pages.catalogue.tables.deployments import RESOURCES
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

Text = tuple[str, str]
KINDS: dict[str, Text] = {
    "output_throughput": ("output throughput", "输出吞吐"),
    "input_throughput": ("prompt throughput", "提示吞吐"),
    "tpot": ("time per output token", "每输出 token 时间"),
    "ttft": ("time to first token", "首 token 延迟")}
SAME = 0.01  # relative difference below which no side is named
FRACTION = 0.1  # ratio below which a fraction says it better
TABLED = ("tpot", "ttft", "output_throughput")  # whose intervals stand in the table above
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
            if claim.comparable and claim.quantity == name in deployed.best:
                ours = deployed.best[name]
                theirs = claim.value.value * counted(deployed.scenario, claim)
                within = ours.low <= theirs <= ours.high
                kept = claim.bound is not None and (
                    ours.value <= theirs if claim.bound == "at_most" else ours.value >= theirs)
                found.append(Gap(claim, theirs / ours.value, not (within or kept)))
    return found


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


def lead(deployed: Deployed) -> Text:
    """The answer in one sentence: does it work, how far off is it, why."""
    fits, gives = _fits(deployed), _gives(deployed)
    return f"{fits[0]}{gives[0]}.", f"{fits[1]}{gives[1]}。"


def _fits(deployed: Deployed) -> Text:
    found, spare = deployed.quantities, fmt_bytes(abs(deployed.headroom))
    why = {reason.kind for reason in deployed.answer.reasons}
    lacks = "dtype" in why
    if deployed.headroom >= 0:
        if lacks:
            return ("**It fits, but this card cannot run it in the precision asked for**",
                    "**装得下，但这种卡不能按所要求的精度运行**")
        share = deployed.answer.fits_in
        often = "" if share is None else fmt_percent(share)
        unsure = share is not None
        return (f"**It fits**, with {spare} to spare on the fullest card"
                + f" (over the ranges of all inputs in {often} of the draws)" * unsure,
                f"**装得下**，最满的一张卡还余 {spare}"
                + f"（各输入在区间内取值时，{often} 的抽样装得下）" * unsure)
    usable = float(deployed.quantity("usable_memory").value)
    alone = float(found["weights_per_device"]) > usable
    needed = (float(found["weights_per_device"]) if alone else
              max(float(deployed.quantity("memory_per_device").value), usable - deployed.headroom))
    factor = fmt_sig(needed / usable, 2 if needed >= 1.05 * usable else 3)  # never 1.0 times
    also = (", nor can the card run it in this precision", "，这种卡也不能按此精度运行")
    weights = "weights alone come to" if alone else "a card would have to hold"
    return (f"**It does not fit**: {weights} {fmt_bytes(needed)}{' per card' * alone}, {factor} "
            f"times the {fmt_bytes(usable)} that an engine may use{also[0] * lacks}",
            f"**装不下**：{'单卡仅权重' if alone else '最满的一张卡'}就要占 {fmt_bytes(needed)}，"
            f"是引擎可用的 {fmt_bytes(usable)} 的 {factor} 倍{also[1] * lacks}")


def _gives(deployed: Deployed) -> Text:
    """What it gives beside what is printed of it, and what binds."""
    name = next((rate for rate in RATES if rate in deployed.best), None)
    if name is None:
        return "", ""
    gap = result(deployed)
    ours = deployed.best[gap.claim.quantity if gap else name]
    kinds = KINDS[ours.name]
    en = (f"; with enough memory the {kinds[0]} would be" if deployed.headroom < 0
          else f"; the {kinds[0]} is estimated at")
    zh = f"；{'若显存足够，' * (deployed.headroom < 0)}{kinds[1]}估计为"
    en += f" **{ours.text}** ({ours.reach})"
    zh += f" **{ours.text}**（{ours.reach}）"
    if gap:
        beside = _measured(gap) if gap.claim.value.kind == "measured" else _printed(gap)
        en, zh = en + beside[0], zh + beside[1]
    step = deployed.steps[0]
    kind = {"decode": ("decode", "解码"), "prefill": ("prefill", "预填充")}[step.phase]
    bound = RESOURCES[step.binding]
    space = " " * bound[1][0].isascii()
    return (f"{en}; {kind[0]} is bound by {bound[0]}",
            f"{zh}；{kind[1]}主要受限于{space}{bound[1]}")


def _printed(gap: Gap) -> Text:
    """What a document claims, and how many times ours it is."""
    text = printed(gap.claim).lstrip("≤≥ ")
    less = gap.ratio < FRACTION
    share = f"1/{fmt_int(round(1 / gap.ratio))}" if less else fmt_sig(float(f"{gap.ratio:.2g}"), 2)
    each = OF[gap.claim.of][0].lstrip(","), OF[gap.claim.of][1].strip("（）")
    aims = gap.claim.bound is not None
    return (f"; the document {'aims at' if aims else 'prints'} {text}{each[0]}, "
            f"{share}{' times' * (not less)} {'of ' * less}that",
            f"；文档{'的目标是' if aims else '写'}{each[1]} {text}，"
            f"{'仅为' if less else '是'}它的 {share}{' 倍' * (not less)}")


def _measured(gap: Gap) -> Text:
    """What was measured, and by how much the estimate is off."""
    text, off = fmt_written(gap.claim.value.written), 1 / gap.ratio - 1
    size = fmt_percent(abs(off), 0)
    if abs(off) < SAME:
        return (f"; {text} were measured, within {fmt_percent(SAME, 0)} of it",
                f"；实测 {text}，相差不到 {fmt_percent(SAME, 0)}")
    return (f"; {text} were measured, so it is {size} too {'high' if off > 0 else 'low'}",
            f"；实测 {text}，估计偏{'高' if off > 0 else '低'} {size}")


def told(deployed: Deployed) -> Text:
    """Room, and what a user gets, in sentences; intervals are of 80%, once on a page."""
    scenario, inputs = deployed.scenario, deployed.inputs
    room = fmt_quantity(deployed.room, "request")
    length, many = fmt_int(inputs["context_tokens"]), fmt_int(inputs["concurrency"])
    single = inputs["concurrency"] == 1
    if deployed.headroom >= 0:
        en = (f"There is room for {room} requests of {length} tokens at once; {many} "
              f"{'is' if single else 'are'} asked for. ")
        zh = f"可同时容纳 {room} 个长 {length} token 的请求，要求是 {many} 个。"
    else:
        en = ("Times of this deployment are hypothetical: they assume the same cut on cards that "
              "differ only in having enough memory. ")
        zh = "这一部署的各项时间均为假想值：假设卡的显存足够，其余不变，切分照旧。"
    speed = _speed(deployed)
    if scenario.file.workload.output_tokens is None:
        prompt = fmt_int(inputs["input_tokens"])
        decoded = fmt_quantity(float(deployed.quantities["decode_context_tokens"]), "token")
        speed = (speed[0] + " Prompt and answer lengths are not stated: the first token follows a "
                 f"prompt of {prompt} tokens; decode is counted alone, at {decoded} tokens of "
                 "context and without stalls from other requests' prefill.",
                 speed[1] + f"提示与输出的长度未给出：首 token 按 {prompt} token 的提示计；"
                 f"此后只计解码，上下文恒取 {decoded} token，不含其他请求预填充造成的停顿。")
    taken = stand_ins(scenario) or ("", "")
    return (f"{en}{speed[0]}{_least(deployed)[0]} {taken[0]}".rstrip(),
            f"{zh}{speed[1]}{_least(deployed)[1]}{taken[1]}")


def _speed(deployed: Deployed) -> Text:
    best, count = deployed.best, deployed.inputs["concurrency"]
    requests, first, later, many = fmt_int(count), "ttft" in best, "tpot" in best, count > 1
    sent = deployed.scenario.file.workload.requests
    if deployed.replayed and sent and sent.value > count:
        en = (f"Of {fmt_int(sent.value)} requests sent at once, of which {requests} may run "
              "together, each")
        zh = f"{fmt_int(sent.value)} 个请求同时发出、至多 {requests} 个并行时，平均每个"
    elif first and many:
        en = f"Of {requests} requests that arrive at once, each"
        zh = f"{requests} 个请求同时到达时，平均每个"
    elif many:
        en, zh = f"Each of {requests} requests", f"{requests} 个请求各自"
    else:
        en, zh = "A single request", "单个请求"
    if first:
        en += f" waits {_value(deployed, 'ttft', 0)} for its first token{' on average' * many}"
        zh += f"要等 {_value(deployed, 'ttft', 1)}得到首 token"
    if later:
        en += (f"{' and' * first} gets {'a further one' if first else 'a token'} every "
               f"{_value(deployed, 'tpot', 0)}")
        zh += f"{'，此后' if first else ''}每 {_value(deployed, 'tpot', 1)}得到一个 token"
    rate = "output_throughput" if later else "input_throughput"
    en += (f"; together {_value(deployed, rate, 0)}{' of prompts' * (not later)}." if many
           else f": {_value(deployed, rate, 0)}.")
    zh += (f"；合计{'' if later else '处理提示'} {_value(deployed, rate, 1).rstrip()}。" if many
           else f"，即 {_value(deployed, rate, 1).rstrip()}。")
    return en, zh


def _value(deployed: Deployed, name: str, lang: int) -> str:
    answer = deployed.best[name]
    if name in TABLED:
        return f"**{answer.text}**{' ' * lang}"
    left, right = (" (", ")") if lang == 0 else ("（", "）")
    return f"**{answer.text}**{left}{answer.reach}{right}"


def _least(deployed: Deployed) -> Text:
    """The floor in a sentence, where there is a step of decode."""
    if "tpot" not in deployed.answers:
        return "", ""
    text = fmt_quantity(deployed.answer.quantities["tpot_floor"].value, "s")
    if deployed.inputs["offloaded_share"]:
        return (f" What the cards read takes at least {text} per token; the experts on the host "
                "come on top.", f"卡上的读取每个 token 至少要 {text}，主机上的专家另计。")
    return (f" Reading weights and cache alone takes at least {text} per token.",
            f"仅读取权重与缓存，每个 token 就至少要 {text}。")
