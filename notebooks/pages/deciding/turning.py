"""Where one plan stops being the better one, for documented deployments; choices between two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import catalogue
from calc.costing.rates import card_hour
from calc.sensitivity.against_service import utilisation
from calc.sensitivity.breakeven import FIRST, SECOND, BreakEven, breakeven
from calc.sensitivity.information import between
from calc.sensitivity.paths import Path, path_of
from calc.sensitivity.plans import Limit, Plan, against, plan_of
from calc.sensitivity.probability import Doubt, doubt
from calc.sensitivity.tornado import OWN
from catalogue.reading.amounts import human
from notebooks.pages.deciding.deciding import beside, label
from notebooks.show.display import show, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

Text = tuple[str, str]
PACE = Limit("tpot", 0.05)  # that pools and one pool both have to meet [s]
TP16 = "parallelism.tensor_parallel=16,parallelism.data_parallel=1"
ON_CARDS = "s1-expert-tiers-on-cards,parallelism.expert_parallel=32"
FITTING = ("precision=w8a8-int8", "parallelism.expert_parallel=16", "workload.concurrency=32")
TENTH, QUARTER = 0.1, 0.25
OPEN = 6  # questions that are not folded


USED = Path("utilisation", (), "1", 0.0, 1.0, False)


@dataclass(frozen=True)
class Case:
    """A question of a documented deployment, and the two plans it is about.

    Attributes:
        question: what is asked.
        reference, settings, other: as of the command ``decide``.
        path: what moves.
        quantity: that decides.
        names: of both plans.
        margin, limit, span: as of the command.
    """

    question: Text
    reference: str
    settings: tuple[str, ...]
    other: str
    path: str
    quantity: str
    names: tuple[Text, Text]
    margin: float = 0.0
    limit: Limit | None = None
    span: str | None = None


DRAFTS = (("one draft", "带一个草稿"), ("none", "不带草稿"))
NARROW = (("TP8×DP2", "TP8×DP2"), ("TP16", "TP16"))
POOLED = (("one pool", "单资源池"), ("two pools", "两个资源池"))
WIDTH = (("BF16", "BF16"), ("W8A8", "W8A8"))
CASES = (
    Case(("link rate at which TP16 beats TP8×DP2", "链路多快时 TP16 胜过 TP8×DP2"),
         "s0-scenario-1", (), TP16, "all_links", "tpot", NARROW),
    Case(("the same in W8A8 with EP16, 32 requests", "同上，W8A8 加 EP16，32 个请求"),
         "s0-scenario-1", FITTING, TP16, "all_links", "tpot", NARROW),
    Case(("network latency up to which it does there", "该情形下网络延迟多低时 TP16 胜出"),
         "s0-scenario-1", FITTING, TP16, "network_alpha", "tpot", NARROW),
    Case(("hit rate at which fetched experts are as fast as all on cards, one request",
          "命中率多高时从主机取专家与全部在卡上一样快（单请求）"),
         "s1-expert-tiers-one-request", (), f"{ON_CARDS},workload.concurrency=4",
         "device_hit_share", "tpot", (("fetched", "按需加载"), ("all on cards", "全部在卡上"))),
    Case(("the same, 20 requests a replica", "同上，每副本 20 个请求"),
         "s1-expert-tiers-popular", (), ON_CARDS, "device_hit_share", "tpot",
         (("fetched", "按需加载"), ("all on cards", "全部在卡上"))),
    Case(("requests from which eight cards take fewer card-hours than two with experts on the "
          "host, the host not counted", "从几个请求起八卡比两卡加主机更省卡时（不计主机）"),
         "s3-hybrid-910b4", (), "s3-eight-cards", "concurrency", "card_hours",
         (("2 cards and host", "2 卡加主机"), ("8 cards", "8 卡"))),
    Case(("batch at which wide EP pays on eight cards", "八卡上批量多大时宽 EP 划算"),
         "h200-v32-vllm-tp8", (), "h200-v32-vllm-dp8", "concurrency", "throughput_per_card",
         (("TP8", "TP8"), ("DP8 with EP8", "DP8 加 EP8"))),
    Case(("requests a card up to which EP96 yields more of a card than EP32",
          "每卡请求数在多少以内 EP96 的单卡吞吐高于 EP32"),
         "wide-vllm-decode-ep32", (), "wide-vllm-decode-ep96", "requests_per_card",
         "throughput_per_card", (("EP32", "EP32"), ("EP96", "EP96"))),
    Case(("prompt from which two pools pay, TPOT of 50 ms at most",
          "提示多长时两个资源池划算（TPOT 不超过 50 ms）"),
         "h200-r1-sglang-tp8", (), "pools", "input_tokens", "throughput_per_card", POOLED,
         limit=PACE),
    Case(("acceptance at which a draft pays", "接受率多高时草稿划算"),
         "h200-r1-sglang-mtp", (), "workload.draft_tokens=0", "mtp_acceptance", "tpot", DRAFTS),
    Case(("the same on 72 cards, EP72", "同上，72 卡 EP72"),
         "wide-lmsys-decode-mtp", (), "workload.draft_tokens=0", "mtp_acceptance", "tpot", DRAFTS),
    Case(("context up to which W8A8 is a quarter faster than BF16",
          "上下文多长以内 W8A8 比 BF16 快四分之一"),
         "s0-scenario-1", (), "precision=w8a8-int8", "workload.context_tokens", "tpot", WIDTH,
         margin=QUARTER, span="2,1000000"),
    Case(("context up to which it is a tenth faster", "上下文多长以内快十分之一"),
         "s0-scenario-1", (), "precision=w8a8-int8", "workload.context_tokens", "tpot", WIDTH,
         margin=TENTH, span="2,1000000"),
)
PRICED = (
    (("utilisation from which eight H200 are cheaper than DeepSeek's own service",
      "利用率多高时八张 H200 比 DeepSeek 官方 API 便宜"), "h200-r1-sglang-tp8"),
    (("the same, V3.2", "同上，V3.2"), "h200-v32-vllm-dp8"),
)
SERVICE = "deepseek-api"
CHOICES = (
    Case(("two servers of eight 910B2, W8A8, EP16", "两台 8×910B2，W8A8，EP16"), "s0-scenario-1",
         FITTING, TP16, "", "card_hours", NARROW),
    Case(("eight H200, V3.2, 100 users", "8×H200，V3.2，100 个用户"), "h200-v32-vllm-tp8",
         ("workload.concurrency=100",), "h200-v32-vllm-dp8,workload.concurrency=100", "",
         "card_hours", (("TP8", "TP8"), ("DP8 with EP8", "DP8 加 EP8"))),
    Case(("R1 for one request at a time", "R1，每次一个请求"), "s3-hybrid-910b4",
         ("workload.concurrency=1",), "s3-eight-cards", "", "card_hours",
         (("2 cards and host", "2 卡加主机"), ("8 cards", "8 卡"))),
    Case(("72 H100, one draft or none", "72×H100，一个草稿或不带"), "wide-lmsys-decode-mtp", (),
         "workload.draft_tokens=0", "", "card_hours", DRAFTS),
)
RARE = 0.005  # share of the cases that is not told
MEASURED = 2  # inputs that are named of each choice


def solved(case: Case) -> tuple[BreakEven, Plan, Plan, Path]:
    """The break-even of a case, with the plans and the path that it is of."""
    first = plan_of(case.reference, case.settings)
    second = against(first, case.reference, case.settings, case.other)
    path = path_of(first, case.path, case.span)
    return (breakeven(first, second, path, case.quantity, margin=case.margin, limit=case.limit),
            first, second, path)


def turns(cases: Sequence[Case] = CASES) -> None:
    """Every case: where the better plan changes, and where the deployment stands now."""
    rows: list[dict[str, Any]] = []
    never = 0
    for case in cases:
        found, first, second, path = solved(case)
        never += found.always is not None
        sure = None if case.limit else doubt(first, second, path, case.quantity, case.margin)
        rows.append({"question": case.question, "of": _titled(case.reference),
                     "now": _now(first, path), "answer": _answer(case, found, first, second, path),
                     "doubt": _doubted(sure, case, path)})
    for question, reference in PRICED:
        rows.append(_of_price(question, reference))
        never += rows[-1]["answer"][0].startswith("never")
    table(rows, {"question": ("question", "问题"), "of": ("deployment", "部署"),
                 "now": ("now", "现状"), "answer": ("answer", "答案"),
                 "doubt": ("80% interval", "80% 区间")}, wide=True,
          folded=("The other questions", "其余问题"), first=OPEN)
    show(f"{never} of {len(rows)} questions are answered *never*.",
         f"{len(rows)} 个问题中，有 {never} 个的答案是“没有”。")


def _titled(reference: str) -> Text:
    """A deployment by its title."""
    title = catalogue.load_scenario(reference).heading
    return title["en"], title["zh"]


def _of_price(question: Text, reference: str) -> dict[str, Any]:
    """The row of a deployment that is held against a service."""
    plan, service = plan_of(reference), catalogue.load_prices(SERVICE)
    hour = card_hour(plan.scenario.device)
    assert hour is not None
    found, sure = utilisation(plan, hour, service)
    price = f"{fmt_fixed(hour.per(f'{hour.currency}/h')[0])} {hour.currency}/h"
    owned, sold = ("owning", "自有"), ("the service", "官方 API")
    if found.always:
        en, zh = (owned, sold)[found.always == SECOND]
        answer: Text = (f"never: {en} throughout", f"没有：始终是“{zh}”")
    else:
        even = fmt_percent(found.turns[0].at, 0)
        answer = (f"**{even}**: {sold[0]} below, {owned[0]} from there",
                  f"**{even}**：低于此值选“{sold[1]}”，由此起选“{owned[1]}”")
    case = Case(question, reference, (), SERVICE, "", "", (owned, sold))
    return {"question": question, "of": _titled(reference), "now": price, "answer": answer,
            "doubt": _doubted(sure, case, USED)}


def choices(cases: Sequence[Case] = CHOICES) -> None:
    """What it is worth to know more before choosing between two plans, in card-hours."""
    rows = []
    for case in cases:
        first = plan_of(case.reference, case.settings)
        second = against(first, case.reference, case.settings, case.other)
        found = between(first, second, case.quantity)
        told: tuple[list[str], list[str]] = ([], [])
        for worth in [one for one in found.worths if not one.name.startswith(OWN)
                      and one.value > one.scatter][:MEASURED]:
            plan = first if any(knob.name == worth.name for knob in first.knobs) else second
            for lang, text in enumerate(beside(label(worth.name, plan), fmt_sig(worth.value, 2))):
                told[lang].append(text)
        own = max((worth.value for worth in found.worths if worth.name.startswith(OWN)), default=0)
        rows.append({
            "choice": case.question, "taken": case.names[found.taken],
            "cost": fmt_fixed(found.losses[found.taken]),
            "perfect": f"{fmt_sig(found.perfect, 2)} "
                       f"({fmt_percent(found.perfect / found.losses[found.taken], 0)})",
            "own": fmt_sig(own, 2), "inputs": ("; ".join(told[0]) or "none",
                                               "；".join(told[1]) or "无")})
    table(rows, {"choice": ("choice", "选择"), "taken": ("taken now", "当下所选"),
                 "cost": ("card-hours", "卡时"), "perfect": ("knowing all saves", "全部已知可省"),
                 "own": ("running one first", "先实测其一"),
                 "inputs": ("measuring an input", "先测某项输入")}, wide=True)


def _now(plan: Plan, path: Path) -> str:
    value = float(plan.inputs[path.symbols[0]])
    return _said(value / plan.cards if path.name == "requests_per_card" else value, path)


def _said(value: float, path: Path) -> str:
    """A value of a path as readers have it; counts by themselves."""
    if path.unit == "1":
        return fmt_percent(value, 0) if value < 1 else fmt_sig(value)
    if path.whole:
        return fmt_int(round(value))
    return human(value, path.unit).replace(" us", " µs")


def _doubted(found: Doubt | None, case: Case, path: Path) -> Text:
    """The interval of a break-even point, and how often there is none."""
    if found is None:
        return "–", "–"
    en, zh = [], []
    if found.low is not None and found.high is not None:
        ends = f"{_said(found.low, path)} – {_said(found.high, path)}"
        en, zh = [ends], [ends]
    for share, names in ((found.first, case.names[0]), (found.second, case.names[1])):
        if share >= RARE:
            en.append(f"{names[0]} throughout {fmt_percent(share, 0)}")
            zh.append(f"始终“{names[1]}”占 {fmt_percent(share, 0)}")
    return "; ".join(en), "；".join(zh)


def _answer(case: Case, found: BreakEven, first: Plan, second: Plan, path: Path) -> Text:
    who = dict(zip((FIRST, SECOND), case.names, strict=True))
    neither: Text = ("neither", "两者皆否")
    if found.always:
        at = who.get(found.always, neither)
        return f"never: {at[0]} throughout", f"没有：始终是“{at[1]}”"
    turn, more = found.turns[0], len(found.turns) - 1
    before, after = who.get(turn.before, neither), who.get(turn.after, neither)
    value = _said(turn.at, path)
    moved = np.array([turn.at])
    room = all(plan.fits(path.moves(plan, moved))[0] for plan in (first, second))
    again = ((f"; {more} more changes beyond", f"；此后还有 {more} 次反转") if more else ("", ""))
    short = ("", "") if room else ("; memory is too small there", "；该处显存不够")
    return (f"**{value}**: {before[0]} below, {after[0]} from there{again[0]}{short[0]}",
            f"**{value}**：低于此值选“{before[1]}”，由此起选“{after[1]}”{again[1]}{short[1]}")
