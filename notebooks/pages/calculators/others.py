"""What public calculators say of one deployment, from the formulas that they publish."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import calc
from calc.physics.breakdown import token_parts
from catalogue import Scenario, load, symbols, trees
from catalogue.entries.formulas import Calculator
from notebooks.derive.formulas.treelatex import tree_latex
from notebooks.pages.calculators import scripts
from notebooks.pages.calculators.offers import deployed
from notebooks.show.display import cited, number, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_int, fmt_sig, fmt_time

Text = tuple[str, str]
MEMORY, PACE = "memory", "pace"
WIDE_BYTES = 2  # of an element of a cache that is not quantised, as they count it
# which step goes wrong for this model, by calculator; numbers in braces
STEPS: dict[str, Text] = {
    "bentoml-handbook": (
        "Sixteen bits and a fifth on top, as in its own example; the published weights have eight "
        "bits and come to {weights}. The fifth knows neither requests nor lengths: the rest is "
        "{rest} here and grows with both.",
        "按其示例用 16 bit 再加两成；官方权重是 8 bit，共 {weights}。两成既不看请求数也不看长度："
        "此处其余部分是 {rest}，并随二者增长。"),
    "llm-vram-estimator": (
        "The cache has keys and values of every head, {mha} a token; MLA leaves {mla}. Activations "
        "are kept of all layers and tokens, although a step has one layer at a time. It divides by "
        "1024³: what it prints are GiB.",
        "KV 缓存按每个头的键和值计，每 token {mha}；MLA 只留 {mla}。激活按所有层、所有 token "
        "都保留计，而一步中同时只有一层。结果除以 1024³，单位其实是 GiB。"),
    "llm-resource-estimator": (
        "The cache has twice the hidden size a layer, {wide} a token against {mla}: right for no "
        "model with shared or latent keys. That every rank keeps a copy of the latent, {copies} of "
        "it here, is left out.",
        "KV 缓存按每层两倍隐藏维度计，每 token {wide}，实际 {mla}：对共享键值或潜向量的模型都不对。"
        "每个 rank 各存一份潜向量（此处 {copies} 份）则没有计入。"),
    "moe-size-calculator": (
        "Weights alone: cache, activations, copies and the engine's own take {rest} more. It "
        "divides by the memory of a card and rounds up, {count} cards of 80 GB; experts and "
        "heads cannot be cut into {count}.",
        "只有权重：KV 缓存、激活、副本和引擎自身另占 {rest}。它用单卡显存去除再取整，得 80 GB "
        "卡 {count} 张；而专家和注意力头都不能切成 {count} 份。"),
    "bandwidth-napkin": (
        "Nothing but bytes of active parameters at the full bandwidth: a lower bound. Launches, "
        "communication and the host take {fixed} of a step whatever is read. And it holds for "
        "one request: {users} of them read {experts} of {all} experts a layer, not {picked}.",
        "只算以满带宽读取激活参数的时间，这是下界。算子启动、通信和主机无论读多少都要 {fixed}。"
        "而且只适用于单个请求：{users} 个请求一步会读每层 {all} 个专家中的 {experts} 个，而不是 "
        "{picked} 个。"),
}
CARD_OF_80_GB = 80e9  # bytes, of the cards that the calculator counts in


@functools.cache
def asked() -> Scenario:
    """R1 as published, where the calculators of this book begin."""
    return deployed(scripts.start())


@functools.cache
def found(users: int | None = None) -> Mapping[str, Any]:
    """Inputs and quantities of it, for so many requests at once."""
    inputs = asked().inputs() | ({"concurrency": users} if users else {})
    return inputs | calc.evaluate(inputs, asked().model.attention)


def _ours(of: str) -> float:
    """The same of this book: memory of all cards [B], or a token of a single request [s]."""
    return (float(found()["memory_per_device"]) * asked().devices if of == MEMORY
            else float(found(1)["tpot"]))


def _values() -> dict[str, str]:
    """What the steps that go wrong come to."""
    q, cards = found(), asked().devices
    weights = float(q["weights_per_device"]) * cards
    pair = 2 * WIDE_BYTES * q["num_hidden_layers"]
    single = token_parts(found(1), found(1))
    fixed = sum(float(single[name]) for name in (
        "boundary", "host", "host_gap", "all_reduce", "exchange", "pipeline"))
    return {
        "weights": fmt_bytes(weights, digits=0), "users": fmt_int(q["concurrency"]),
        "rest": fmt_bytes(_ours(MEMORY) - weights, digits=0),
        "mha": fmt_bytes(pair * q["num_key_value_heads"] * q["v_head_dim"], "MB"),
        "wide": fmt_bytes(pair * q["hidden_size"], "MB"),
        "mla": fmt_bytes(float(q["kv_bytes_per_token"]), "MB", 3),
        "copies": fmt_int(q["tensor_parallel"]),
        "count": fmt_int(-(-float(q["total_parameters"]) // CARD_OF_80_GB)),
        "fixed": fmt_time(fixed), "all": fmt_int(q["n_routed_experts"]),
        "experts": fmt_fixed(float(q["distinct_experts"]), 0),
        "picked": fmt_int(q["num_experts_per_tok"])}


def compared() -> None:
    """Every calculator beside this book: its formula, what it says, what ours says, and why."""
    known, values = symbols(), _values()
    letters = {name: entry.latex for name, entry in known.items()}
    rows, memory = [], []
    for name, step in STEPS.items():
        other: Calculator = load("calculators", name)
        said, ours = float(trees.evaluate(other.formula, found())), _ours(other.of)
        fmt = functools.partial(fmt_bytes, digits=0) if other.of == MEMORY else fmt_time
        memory += [said] if other.of == MEMORY else []
        en, zh = (text.format(**values) for text in step)
        rows.append({"formula": f"{cited(other.source)}:<br>${tree_latex(other.formula, letters)}$",
                     "said": fmt(said), "ours": fmt(ours), "ratio": f"{fmt_sig(said / ours, 2)}×",
                     "step": (en, zh)})
    table(rows, {"formula": ("calculator and formula", "计算器与公式"),
                 "said": ("it says", "它给出"), "ours": ("this book", "本书"),
                 "ratio": ("ratio", "比值"), "step": ("the step", "出错的一步")}, wide=True)
    number("compared-cards", asked().devices)
    number("compared-users", found()["concurrency"])
    number("compared-input", found()["input_tokens"])
    number("compared-output", found()["output_tokens"])
    number("compared-low", min(memory), fmt_bytes, digits=0)
    number("compared-high", max(memory), fmt_bytes, digits=0)
    number("compared-ours", _ours(MEMORY), fmt_bytes, digits=0)
