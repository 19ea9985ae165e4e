"""The page of a model: parameters, weights and cache, counted from its shapes.

What the runtime counts is handed in, so that the page can hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Mapping

import catalogue
from catalogue.entries.models import Model
from catalogue.entries.trees import Number
from catalogue.reading.values import Value
from notebooks.derive.formulas.errors import DerivationError
from notebooks.pages.catalogue.tables.models import derived, parameters_in_files
from notebooks.show.display import citation, show, sourced, table
from notebooks.show.numbers import (
    fmt_bytes,
    fmt_count,
    fmt_fixed,
    fmt_int,
    fmt_percent,
    fmt_sig,
)

Text = tuple[str, str]
Counts = Mapping[str, int]
GIGA = 1e9
LATENT_FP8 = "fp8-latent128"
ONE_BY_ONE = 5e-6  # relative difference below which parameters are counted one by one
STORED: dict[str, Text] = {
    "bf16": ("16 bits throughout", "全部 16 比特"),
    "fp8": ("8 bits (FP8 or INT8)", "8 比特（FP8 或 INT8）"),
    LATENT_FP8: ("FP8 latent with scales, 16-bit rotary key",
                 "潜向量 FP8 带缩放因子，旋转键 16 比特")}  # the last of MLA alone
CLASSES: dict[str, Text] = {
    "embedding": ("embedding", "嵌入"),
    "attention_divided": ("attention, cut by heads", "注意力（按头切分）"),
    "attention_kv": ("attention, keys and values", "注意力（键值投影）"),
    "attention_replicated": ("attention, on every rank", "注意力（每卡一份）"),
    "norm": ("norms", "归一化"),
    "dense_mlp": ("dense MLP", "稠密 MLP"),
    "router": ("router", "路由器"),
    "shared_expert": ("shared experts", "共享专家"),
    "routed_expert": ("routed experts", "路由专家"),
    "head": ("output head", "输出头")}
GROUPS: dict[str, Text] = {
    "experts": ("routed experts", "路由专家"), "attention": ("attention", "注意力"),
    "rest": ("everything else", "其余")}
NAMES: dict[str, Text] = {
    "num_nextn_predict_layers": ("layers for multi-token prediction", "多 token 预测层数"),
    "max_position_embeddings": ("longest context", "最长上下文")}
FLAGS: dict[str, Text] = {
    "router_bias": ("a bias per expert in the router", "路由器中每个专家的偏置"),
    "expert_bias": ("biases in the experts", "专家中的偏置"),
    "attention_bias": ("biases of queries, keys and values", "查询、键、值投影的偏置"),
    "attention_output_bias": ("a bias of the attention output", "注意力输出投影的偏置"),
    "qk_norm": ("norms of queries and keys", "查询与键的归一化"),
    "attention_sinks": ("attention sinks", "注意力汇聚项"),
    "tie_word_embeddings": ("one matrix for embedding and head", "嵌入与输出头共用一个矩阵")}


def agree(model: Model, counted: Counts) -> None:
    """Hold the derived numbers of parameters against those that the runtime counted.

    Raises DerivationError where they differ.
    """
    quantities = derived(model)
    for name, count in counted.items():
        if quantities[f"{name}_parameters"] != count:
            raise DerivationError(f"{name} parameters: {quantities[f'{name}_parameters']} derived, "
                                  f"{count} counted by the runtime.")


def cache_bytes(model: Model) -> dict[str, Number]:
    """Bytes that a token leaves in the cache, by the format that it is stored in."""
    bits = catalogue.precision_inputs(catalogue.load_precision("bf16"))
    sizes = {}
    for name in STORED:
        if name == LATENT_FP8 and model.attention != "mla":
            continue
        width = catalogue.load_format(name).bytes_per_element
        rope = bits["kv_rope_element_bytes"] if name == LATENT_FP8 else width
        formats = bits | {"kv_cache_element_bytes": width, "kv_rope_element_bytes": rope}
        sizes[name] = derived(model, formats)["kv_bytes_per_token"]
    return sizes


def at_a_glance(model: Model, counted: Counts) -> None:
    """The model in a sentence: parameters, those a token uses, what it leaves in the cache."""
    cache = cache_bytes(model)
    kv = f"{fmt_int(min(cache.values()))}–{fmt_int(max(cache.values()))}"
    # an engine may keep the window alone
    most = ("at most ", "至多") if model.sliding_window else ("", "")
    total, active = fmt_count(counted["total"]), fmt_count(counted["active"])
    if model.is_moe:
        used = fmt_percent(counted["active"] / counted["total"])
        show(f"**{total}** parameters are stored, of which one token uses **{active}** ({used}). "
             f"Each token leaves {most[0]}**{kv} bytes** in the KV cache, depending on how the "
             "cache is stored.",
             f"存储 **{total}** 个参数，单个 token 用到 **{active}** 个（{used}）。每个 token 在 "
             f"KV 缓存中{most[1]}占 **{kv} 字节**，取决于缓存的存储格式。")
    else:
        show(f"**{total}** parameters, all of which every token uses, but for the input embedding. "
             f"Each token leaves {most[0]}**{kv} bytes** in the KV cache, depending on how the "
             "cache is stored.",
             f"共 **{total}** 个参数，除输入嵌入外每个 token 全部用到。每个 token 在 KV "
             f"缓存中{most[1]}占 **{kv} 字节**，取决于缓存的存储格式。")
    if model.note:
        show(model.note["en"], model.note["zh"])


def parameters(model: Model, counted: Counts, classes: Counts) -> None:
    """Parameters by class of tensors, and those of each that one token uses."""
    assert set(classes) == set(CLASSES)
    separate = catalogue.model_inputs(model)["separate_head"]
    embedding = classes["embedding"] if separate else 0  # looked up, not multiplied
    idle = {"embedding": embedding,
            "routed_expert": counted["total"] - counted["active"] - embedding}
    counts = {name: (classes[name], classes[name] - idle.get(name, 0))
              for name in CLASSES if classes[name]}
    assert tuple(map(sum, zip(*counts.values(), strict=True))) == (
        counted["total"], counted["active"])
    rows = [{"class": CLASSES[name], "count": count,
             "share": f"{fmt_sig(100 * count / counted['total'])}%", "used": used}
            for name, (count, used) in counts.items()]
    total = {"class": ("**total**", "**合计**"), "count": f"**{fmt_int(counted['total'])}**",
             "share": "100%", "used": f"**{fmt_int(counted['active'])}**"}
    table([*rows, total],
          {"class": ("tensors", "张量"), "count": ("parameters", "参数量"),
           "share": ("share", "占比"), "used": ("used by one token", "单个 token 用到")})


def weights(classes: Counts) -> None:
    """What the weights weigh in each precision, routed experts and attention apart."""
    def group(name: str) -> str:
        if name == "routed_expert":
            return "experts"
        return "attention" if name.startswith("attention") else "rest"

    rows = []
    for key in catalogue.names("precisions"):
        precision = catalogue.load_precision(key)
        formats = catalogue.precision_inputs(precision)
        sizes: dict[str, Number] = dict.fromkeys(GROUPS, 0)
        for name, count in classes.items():
            stored_as = "attention" if name.startswith("attention") else name
            sizes[group(name)] += count * formats[f"{stored_as}_weight_bytes"]
        rows.append({"precision": (precision.name["en"], precision.name["zh"]),
                     **{name: fmt_fixed(size / GIGA) for name, size in sizes.items()},
                     "sum": fmt_fixed(sum(sizes.values()) / GIGA)})
    table(rows, {"precision": ("precision", "精度"), **GROUPS, "sum": ("sum", "合计")})


def cache(model: Model) -> None:
    """What a token, and a request of the longest context, leaves in the cache."""
    longest = model.max_position_embeddings
    table([{"format": STORED[name], "token": fmt_int(size),
            "request": fmt_bytes(size * longest.value) if longest else "–"}
           for name, size in cache_bytes(model).items()],
          {"format": ("stored as", "存储格式"), "token": ("bytes per token", "每 token 字节数"),
           "request": (f"one request of {fmt_int(longest.value)} tokens",
                       f"一个 {fmt_int(longest.value)} token 的请求") if longest
           else ("longest request", "最长请求")})


def published(model: Model, counted: Counts) -> None:
    """What was counted beside every number that is published."""
    ours = {"total": (("total", "总量"), counted["total"]),
            "stored": (("in the files", "权重文件"), parameters_in_files(model, derived(model))),
            "active": (("active", "激活量"), counted["active"])}
    printed = [(*ours[name], value) for name in ours if model.published
               and (first := getattr(model.published, f"{name}_parameters"))
               for value in (first, *first.others)]
    if not printed:
        show("No total is published for it.", "未见公开的总量。")
        return
    if model.num_nextn_predict_layers and model.num_nextn_predict_layers.value:
        show("The files hold the main model, its layer for multi-token prediction (MTP) and that "
             "layer's copies of embedding and head.",
             "权重文件包含主模型、多 token 预测（MTP）层，以及该层另存的嵌入与输出头副本。")
    table([{"what": what, "ours": fmt_int(count), "theirs": fmt_int(value.value),
            "difference": _difference(count, value.value), "source": citation(value)}
           for what, count, value in printed],
          {"what": ("quantity", "量"), "ours": ("counted here", "本书计数"),
           "theirs": ("published", "公开值"), "difference": ("difference", "相差"),
           "source": ("source, and what it includes", "来源与口径")}, wide=True)


def _difference(ours: Number, theirs: Number) -> str:
    """What was counted over what is published; a few parameters are counted one by one."""
    part = float(ours / theirs - 1)
    return fmt_int(ours - theirs) if abs(part) < ONE_BY_ONE else fmt_percent(part, 3)


def shapes(model: Model) -> None:
    """Its shapes with their sources, and what else it has."""
    symbols, fields = catalogue.symbols(), list(type(model).model_fields)

    def label(name: str) -> Text:
        symbol = symbols.get(name)
        en, zh = NAMES.get(name) or ((symbol.en, symbol.zh) if symbol else (name, name))
        return f"{en} (`{name}`)", f"{zh}（`{name}`）"

    sourced((label(name), value) for name in fields
            if isinstance(value := getattr(model, name), Value))
    flags = [name for name in fields if getattr(model, name) is True]
    if flags:
        show(f"It also has: {', '.join(f'{FLAGS[name][0]} (`{name}`)' for name in flags)}.",
             f"另有：{'、'.join(f'{FLAGS[name][1]}（`{name}`）' for name in flags)}。")
