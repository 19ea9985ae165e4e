"""The deployments of one scenario file side by side: a table, a picture, a pair of pools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import catalogue
from calc.answer.estimate import counted
from calc.answer.two_pools import together as evaluated
from catalogue.deployments.admission.notation import written
from catalogue.deployments.admission.rules import cut_of
from catalogue.deployments.loading import Family
from catalogue.deployments.scenario import Scenario
from notebooks.pages.catalogue.tables.deployments import named
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.verdicts import RATES
from notebooks.pages.deployments.views import OF, derived, pair, printed
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_quantity, fmt_sig

Text = tuple[str, str]


def cut(scenario: Scenario) -> Text:
    """How a deployment is cut: ``4 servers of TP8``."""
    text = written(cut_of(scenario))
    return text["en"], text["zh"]


def one_replica(scenario: Scenario) -> str:
    """How titles write a cut: ``TP8×DP4``, with what is larger than one."""
    degrees = zip(("TP", "PP", "DP", "EP"), cut_of(scenario).degrees, strict=True)
    return "×".join(f"{name}{size}" for name, size in degrees if size > 1 or name == "TP")


def stored(scenario: Scenario) -> Text:
    """The precision of a deployment by its name, without what stands in brackets."""
    name = scenario.precision.name
    return name["en"].partition(" (")[0], name["zh"].partition("（")[0]


def quantity(family: Sequence[Deployed]) -> str:
    """The quantity by which a family is compared: what is printed of most of its deployments.

    Of several, the first of ``RATES``, by which it is compared where nothing is printed; a prefill
    and a decode pool, which share none of them, by requests per second.
    """
    counts = Counter(name for deployed in family for name in _claimed(deployed))
    common = [name for name in RATES if all(name in member.questions for member in family)]
    if not common:
        return "request_throughput"
    most = max(counts.values(), default=0)
    chosen = [name for name in (*common, *counts) if counts[name] == most]
    return next(iter(chosen))


def _claimed(deployed: Deployed) -> set[str]:
    """What is printed of a deployment that we derive too."""
    documented = deployed.scenario.documented
    return {claim.quantity for claim in (documented.claims if documented else ())
            if derived(deployed, claim.quantity) is not None}


def rows(family: Sequence[Deployed], title: Callable[[Deployed], Text]) -> list[dict[str, Any]]:
    """One row per deployment: whether it fits, and the compared quantity in both views."""
    name = quantity(family)
    lines = []
    for deployed in family:
        fits = deployed.headroom >= 0
        size = fmt_bytes(deployed.headroom, digits=1)
        row: dict[str, Any] = {
            "what": title(deployed), "cards": fmt_int(deployed.scenario.devices),
            "cut": cut(deployed.scenario), "precision": stored(deployed.scenario),
            "asked": fmt_int(deployed.inputs["concurrency"]),
            "fits": (f"{'fits' if fits else '**does not fit**'}, {size}",
                     f"{'装得下' if fits else '**装不下**'}，{size}"),
            "room": fmt_quantity(deployed.room, "request")}
        ours = derived(deployed, name)
        if ours is not None:
            row["ours"] = ours.text if ours.exact else f"{ours.text} ({ours.reach})"
        if claims := of(deployed, name):
            row["printed"] = tuple("<br>".join(
                printed(claim) + (OF[claim.of][lang] if claim.of != "deployment" else "")
                for claim in claims) for lang in range(2))
            if ours is not None and ours.value > 0:
                row["ratio"] = "<br>".join(fmt_sig(value / ours.value)
                                           for value in values(deployed, name))
        lines.append(row)
    return lines


def columns(family: Sequence[Deployed]) -> dict[str, Text]:
    """Headings of the table; without anything printed, without the document's columns."""
    name = named(quantity(family))
    claimed = any(of(deployed, quantity(family)) for deployed in family)
    document = {"printed": ("documented", "文档"), "ratio": ("documented / derived", "文档 / 推导")}
    many = len({deployed.inputs["concurrency"] for deployed in family}) > 1
    return {"what": ("deployment", "部署"), "cards": ("cards", "卡数"), "cut": ("cut", "切分"),
            "precision": ("precision", "精度"),
            **({"asked": ("requests at once", "并发请求数")} if many else {}),
            "fits": ("verdict, headroom", "结论与余量"),
            "room": ("requests that fit", "可容纳请求数"),
            "ours": (f"{name[0]}, derived (80%)", f"{name[1]}，推导（80% 区间）"),
            **(document if claimed else {})}


def of(deployed: Deployed, name: str) -> list[catalogue.entries.deployments.Claim]:
    """What a document claims of a quantity, at this workload."""
    documented = deployed.scenario.documented
    return [claim for claim in documented.claims
            if claim.quantity == name and claim.comparable] if documented else []


def values(deployed: Deployed, name: str) -> list[float]:
    """The claimed values of a quantity [SI], of the whole deployment."""
    return [float(claim.value.value) * counted(deployed.scenario, claim)
            for claim in of(deployed, name)]


def pools(family: Family, prefill: Deployed, decode: Deployed) -> Text:
    """What a pair of pools gives, which of them decides, what is printed of the pair, and the
    ratio of cards at which neither waits."""
    together = pair(prefill, decode)
    rates = [member.quantity("request_throughput") for member in (prefill, decode)]
    ends = [f"{fmt_sig(rate.low)}–{fmt_sig(rate.high)}" for rate in rates]
    each = [(f"{fmt_sig(rate.value)} ({end})", f"{fmt_sig(rate.value)} 个请求（{end}）")
            for rate, end in zip(rates, ends, strict=True)]
    slower = rates[0].value < rates[1].value
    short = any(member.headroom < 0 for member in (prefill, decode))
    claims = [claim for claim in (family.documented.claims if family.documented else ())
              if claim.quantity == together.name]
    en = (f"The prefill pool finishes {each[0][0]} requests per second and the decode pool "
          f"{each[1][0]}: {'prefill' if slower else 'decode'} decides, and the pair gives "
          f"**{together.text}** ({together.reach}){' if memory sufficed' * short}")
    zh = (f"预填充池每秒完成 {each[0][1]}，解码池每秒 {each[1][1]}："
          f"瓶颈在{'预填充' if slower else '解码'}，两池合计{'（假设显存足够）' * short}输出 "
          f"**{together.text}**（{together.reach}）")
    if claims:
        text = printed(claims[-1])
        en, zh = f"{en}; the document prints {text}", f"{zh}；文档写 {text}"
    balance = _balance(prefill.scenario, decode.scenario)
    return f"{en}. {balance[0]}", f"{zh}。{balance[1]}"


def _balance(prefill: Scenario, decode: Scenario) -> Text:
    """The best ratio of the cards of two pools, and a closed loop over both."""
    both = evaluated(prefill, decode)
    loop, cards = both.loop, (fmt_sig(both.best_prefill_devices), fmt_int(both.devices))
    lengths = fmt_int(both.prompt), fmt_int(both.answer)
    best, around = (fmt_quantity(rate * both.answer, "token/s")
                    for rate in (both.best_rate, loop.rate))
    sent, first, each = (fmt_quantity(time, "s")
                         for time in (both.transfer_time, loop.ttft, loop.tpot))
    users, groups = fmt_int(loop.users), both.whole
    return (f"For requests of {lengths[0]} and {lengths[1]} tokens the pools are in balance with "
            f"{cards[0]} of the {cards[1]} cards for prefill, which gives {best}; in whole groups "
            f"of ranks, {groups[0]} and {groups[1]} are best. The cache of a request is sent in "
            f"{sent}. {users} users in a closed loop get {around}, a first token after {first} and "
            f"then one every {each}.",
            f"请求为 {lengths[0]} 与 {lengths[1]} token 时，{cards[1]} 张卡中用 {cards[0]} 张"
            f"做预填充，两池平衡，输出 {best}；按整组 rank 分配，"
            f"以 {groups[0]} 组与 {groups[1]} 组为最佳。"
            f"一个请求的缓存传输用时 {sent}。闭环中 {users} 个用户合计得到 {around}，"
            f"首 token 延迟 {first}，其后每 token {each}。")
