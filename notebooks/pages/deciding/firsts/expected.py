"""Eight questions: what an earlier edition answered, what is expected by hand, and what is now.

The last is computed: by ``python -m benchmarks answers``, which searches every goal of the
catalogue, writes the first answer with ``deploy`` and simulates it, and by ``make engine``.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import calc
import catalogue
from calc.layouts.choice import Choice, Row
from catalogue.reading import amounts
from notebooks.pages.deciding.goals import Text, cards_of, plan_of
from notebooks.show.display import number, table
from notebooks.show.numbers import fmt_percent, fmt_quantity, fmt_sig

HERE = Path(__file__).parents[1]
KEPT, ENGINE = HERE / "answers.json", HERE / "engine.json"
ENGINES = {"vllm": "answers", "sglang": "sglang-answers", "ascend": "ascend-answers"}
DRAFTING = "h200-r1-sglang-mtp"  # the deployment of which drafts are asked
TEXTS: dict[str, Text] = {"random": ("random tokens", "随机 token"), "chat": ("chat", "对话"),
                          "code": ("code", "代码")}
QUESTIONS: dict[str, tuple[Text, Text, Text]] = {  # goal -> question, before, expected by hand
    "r1-500-users-h200": (
        ("500 users on H200 at the least cost", "H200 上以最低成本服务 500 个用户"),
        ("24 cards in W4A8-INT8, which no engine loads there",
         "24 张卡，W4A8-INT8，没有引擎能在这种卡上加载"),
        ("about 40 cards in FP8, one or two pools, or W4AFP8 with its score",
         "FP8 约 40 张卡，一个或两个池；或 W4AFP8 并给出分数")),
    "r1-million-requests-910c": (
        ("a million requests a day on 910C", "910C 上每天 100 万个请求"),
        ("2,096 or 128 dies; 48 in two pools, not tried unless asked",
         "2096 或 128 个 die；两个池只需 48 个，但不指定就不尝试"),
        ("W8A8 in two pools, spare servers besides", "W8A8，两个池，另加备用服务器")),
    "r1-16xh20-throughput": (
        ("most tokens from 2×8 H20 within 60 ms", "2×8 张 H20 在 60 ms 内的最高吞吐"),
        ("W4A8-INT8", "W4A8-INT8"),
        ("FP8 over TP16, or two servers of TP8 in W4AFP8",
         "FP8 用 TP16，或 W4AFP8 的两台 TP8 服务器")),
    "r1-longest-context-8x910b4": (
        ("longest context for 8 users on 8×910B4", "8×910B4 上 8 个用户的最长上下文"),
        ("no objective asked it", "没有对应的目标项"),
        ("four-bit weights; the cache dealt over ranks where an engine does",
         "4 bit 权重；若引擎支持则把缓存分到各 rank")),
    "drafts": (
        ("are drafts worth it", "起草是否值得"),
        ("worth it from 0.28 of drafts accepted on", "接受率 0.28 以上即值得"),
        ("keep one draft; how much it wins depends on the text",
         "保留一个草稿；收益取决于文本种类")),
    "v3-4x8-h800-pools": (
        ("one pool or two on 4×8 H800", "4×8 张 H800：一个池还是两个池"),
        ("no pair found", "没有找到任何组合"),
        ("two pools, about 2.6 times one, with ratio and first token",
         "两个池，约为一个池的 2.6 倍，给出配比与首 token 时间")),
    "agents-128k-h200": (
        ("40 coding agents, 128k tokens, 90% cached, on H200",
         "H200 上 40 个编码智能体，128k token、九成命中"),
        ("TP2×PP20", "TP2×PP20"),
        ("data-parallel attention over two servers, or two pools",
         "跨两台服务器的数据并行注意力，或两个池")),
    "v32-16x910c": (
        ("V3.2 on 16 packages of 910C", "16 颗 910C 上的 V3.2"),
        ("32 dies, an interval 6.6 times wide", "32 个 die，区间上下相差 6.6 倍"),
        ("dies and packages named, an interval that decides",
         "分别写明 die 与封装数，区间足以决策"))}


@cache
def kept() -> dict[str, Any]:
    """First answers to the goals of the catalogue, as they were computed last."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def row_of(kept_row: dict[str, Any]) -> Row:
    """A kept deployment."""
    def choice(name: str) -> Choice:
        return Choice(**({"engine": None} | kept_row[name]))

    if "choice" in kept_row:
        return Row(choice("choice"), kept_row["quantities"])
    return Row(choice("decode"), kept_row["quantities"], prefill=choice("prefill"),
               binds=kept_row["binds_pools"])


def eight() -> None:
    """The table of the eight, and how many of all first answers start and keep their limits."""
    rows = []
    for name, (question, before, expected) in QUESTIONS.items():
        now = _drafts() if name == "drafts" else _now(name)
        rows.append({"question": question, "before": before, "expected": expected, "now": now})
    table(rows, {"question": ("asked", "问题"), "before": ("an earlier edition", "早先的版本"),
                 "expected": ("expected by hand", "手工预期"),
                 "now": ("computed now", "现在的计算")}, wide=True)
    met = [each for each in kept().values() if each]
    number("firsts-goals", len(kept()))
    number("firsts-met", len(met))
    number("firsts-started", sum(bool(each["files"]) for each in met))
    number("firsts-kept", sum(each["simulated"] is None or each["simulated"]["keeps"]
                              for each in met))
    told = json.loads(ENGINE.read_text(encoding="utf-8"))
    for name, part in ENGINES.items():
        parsed = next(row["numbers"] for row in told[part] if row["key"] == "parsed")
        number(f"firsts-{name}-lines", parsed["lines"])
        number(f"firsts-{name}-parsed", parsed["parsed"])


def _now(name: str) -> Text:
    """The first answer to a goal: cards, plan, what it comes to, how it starts, what is kept."""
    found = kept()[name]
    if found is None:
        return ("nothing was found that starts and keeps its limits when simulated",
                "没有找到既能启动、又在模拟中守住限制的部署")
    row = row_of(found["row"])
    seen, told = found["row"]["amounts"], [cards_of(row), plan_of(row)]
    for key, unit in (("longest_context", "token"), ("tpot", "s"), ("ttft", "s"),
                      ("throughput_per_card", "token/s")):
        en, zh = NAMES[key]
        if key in seen:
            value = fmt_quantity(seen[key]["value"], unit)
            reach = [amounts.span(seen[key]["low"], seen[key]["high"], unit, lang)
                     for lang in ("en", "zh")]
            told.append((f"{en} {value} ({reach[0]})", f"{zh} {value}（{reach[1]}）"))
        elif key in row.quantities:
            value = fmt_quantity(row.quantities[key], unit)
            told.append((f"{en} {value}", f"{zh} {value}"))
    engine = found["row"]["start"]["engine"]
    told.append((f"starts under `{engine}`", f"可用 `{engine}` 启动") if engine else
                ("no release starts it", "没有引擎版本能启动"))
    if found["simulated"]:
        kept_all = found["simulated"]["keeps"]
        seen = [(f"{name.upper()} {{{at}}} " if at == MEAN else f"{name.upper()} {at} ")
                + fmt_quantity(value, "s") for name, stated in found["simulated"]["seen"].items()
                for at, value in stated.items()]
        shown = [mark.join(seen).replace(f"{{{MEAN}}}", mean)
                 for mark, mean in ((", ", "mean"), ("、", "均值"))]
        told.append((f"simulated {shown[0]}: {'kept' if kept_all else 'not kept'}",
                     f"模拟 {shown[1]}：{'守住' if kept_all else '未守住'}"))
    if found["share"] is not None:
        share = fmt_percent(found["share"], 0)
        told.append((f"all limits in {share} of draws", f"{share} 的抽样守住全部限制"))
    return "<br>".join(each[0] for each in told), "<br>".join(each[1] for each in told)


MEAN = "mean"  # in place of a percentile
NAMES: dict[str, Text] = {
    "longest_context": ("longest context", "最长上下文"), "tpot": ("TPOT", "TPOT"),
    "ttft": ("TTFT", "TTFT"), "throughput_per_card": ("per card", "每卡")}


def _drafts() -> Text:
    """How many times the time per token without drafts is that with one, by kind of text."""
    def pace(*overrides: str) -> float:
        scenario = catalogue.load_scenario(DRAFTING, overrides=list(overrides))
        return float(calc.estimate(scenario).quantities["tpot"].central)

    without = pace("workload.draft_tokens=0")
    gains = {text: without / pace("workload.draft_tokens=1", f"workload.text={text}")
             for text in TEXTS}
    en, zh = (", ".join(f"{TEXTS[text][lang]} {fmt_sig(gain)}" for text, gain in gains.items())
              for lang in range(2))
    return (f"one draft gains, `{DRAFTING}`: {en} times",
            f"一个草稿的收益（`{DRAFTING}`）：{zh} 倍")
