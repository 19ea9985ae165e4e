"""What would run instead of a deployment that does not, as the runtime found it by trying."""

from __future__ import annotations

from typing import Any

from calc.choosing.advice import changed
from deployment_pages.answers import Deployed
from deployment_pages.verdicts import result
from workbench.entries.deployments import named
from workbench.showing.numbers import fmt_bytes, fmt_int, fmt_quantity

Text = tuple[str, str]
TOLD = ("ttft", "tpot", "output_throughput")
WORDS: dict[str, Text] = {
    "precision": ("precision", "精度"), "cluster.nodes": ("servers", "服务器数"),
    "cluster.devices": ("cards", "卡数"),
    "workload.concurrency": ("requests at once", "并发请求数"),
    "workload.context_tokens": ("context", "上下文"),
    "workload.max_num_batched_tokens": ("prompt chunk", "预填充分块"),
    "parallelism.tensor_parallel": ("TP", "TP"), "parallelism.pipeline_parallel": ("PP", "PP"),
    "parallelism.data_parallel": ("DP", "DP"), "parallelism.expert_parallel": ("EP", "EP"),
    "parallelism.expert_tensor_parallel": ("slices of an expert", "专家切片数"),
    "parallelism.redundant_experts": ("redundant experts", "冗余专家"),
    "parallelism.shared_expert_ranks": ("ranks for shared experts", "共享专家独占 rank"),
    "parallelism.decode_context_parallel": ("DCP", "DCP")}


def rows(deployed: Deployed) -> list[dict[str, Any]]:
    """One row per change that makes it run, nearest first, with what it gives."""
    found = []
    for change in deployed.answer.changes:
        found.append({"change": tuple(_settings(change.settings, lang) for lang in range(2)),
                      "cards": fmt_int(change.devices), **_gives(deployed, change.settings)})
    return found


def searched(deployed: Deployed) -> list[dict[str, Any]]:
    """What a search over the same cards found best: in its precision, in any, in the published."""
    found = deployed.alternatives
    kinds = ((("its own precision", "原有精度"), found.own),
             (("any precision", "任意精度"), found.best),
             ((f"published weights, `{found.official_precision}`",
               f"官方权重 `{found.official_precision}`"), found.official))
    return [{"kind": kind,
             "change": tuple(_settings(advice.settings, lang) or ("as it is", "不变")[lang]
                             for lang in range(2)),
             **_gives(deployed, advice.settings)}
            for kind, advice in kinds if advice is not None]


def _gives(deployed: Deployed, settings: dict[str, str | int]) -> dict[str, Any]:
    """What a deployment gives with other settings."""
    other = Deployed(changed(deployed.scenario, settings))
    row: dict[str, Any] = {
        "spare": fmt_bytes(other.headroom),
        "room": fmt_quantity(float(other.quantities["max_concurrency"]), "request")}
    for name in TOLD:
        if name in other.answers:
            answer = other.answers[name]
            row[name] = f"{answer.text} ({answer.reach})"
    return row


def columns(deployed: Deployed, first: str = "change") -> dict[str, Text]:
    """Headings of the table; of one that was searched, with its kind first."""
    if first == "kind":
        kept = columns(deployed)
        return {"kind": ("best in", "最优方案")} | {
            name: text for name, text in kept.items() if name != "cards"}
    return {"change": ("change", "改动"), "cards": ("cards", "卡数"), "spare": ("spare", "余量"),
            "room": ("requests that fit", "可容纳请求数")} | {
        name: named(name) for name in TOLD if name in deployed.questions}


def _settings(settings: dict[str, str | int], lang: int) -> str:
    """Settings of a change as text: ``precision `w8a8-int8`; TP 16``."""
    texts = []
    for path, value in settings.items():
        if path == "parallelism.balancing":  # as redundant experts are for
            continue
        text = f"`{value}`" if path == "precision" else fmt_int(int(value))
        texts.append(f"{WORDS[path][lang]} {text}")
    return ("; ", "；")[lang].join(texts)


def full(deployed: Deployed) -> Text:
    """What it gives with as many requests as fit, where a document promises more than it gives.

    Empty where it does not fit, where nothing is promised, or where it is full already.
    """
    most, gap = int(deployed.quantities["max_concurrency"]), result(deployed)
    if (deployed.headroom < 0 or gap is None or gap.claim.value.kind == "measured" or gap.ratio <= 1
            or most <= deployed.inputs["concurrency"] or "tpot" not in deployed.answers):
        return "", ""
    other = Deployed(changed(deployed.scenario, {"workload.concurrency": most}))
    rate, pace = other.answers["output_throughput"], other.answers["tpot"]
    return (f"Filled with all the {fmt_int(most)} requests that fit, it would give **{rate.text}** "
            f"({rate.reach}), a token every {pace.text} to each.",
            f"若把能放下的 {fmt_int(most)} 个请求全部放满，可得 **{rate.text}**（{rate.reach}），"
            f"每个请求每 {pace.text}得到一个 token。")
