"""The page of a model: parameters, weights and cache, counted from its shapes.

What the runtime counts is handed in, so that the page can hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Mapping

import catalogue
from catalogue.deployments.admission import underived
from catalogue.entries.formulas import Number
from catalogue.entries.models import Model
from catalogue.messages import Pair, join, messages
from catalogue.reading.values import Value
from notebooks.derive.formulas.exported import DerivationError
from notebooks.pages.catalogue.dated import as_of
from notebooks.pages.catalogue.tables.models import derived, parameters_in_files
from notebooks.show.display import citation, markdown, sourced, table
from notebooks.show.numbers import fmt_bytes, fmt_count, fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/catalogue/model")

Counts = Mapping[str, int]
GIGA = 1e9
LATENT_FP8 = "fp8-latent128"
ONE_BY_ONE = 5e-6  # relative difference below which parameters are counted one by one
STORED: dict[str, Pair] = {
    "bf16": say("all-of-16-bits"),
    "fp8": say("all-of-8-bits"),
    LATENT_FP8: say("latent-fp8-rotary-16-bits")}  # the last of MLA alone
CLASSES: dict[str, Pair] = {
    "embedding": common("embedding"),
    "attention_divided": say("attention-cut-by-heads"),
    "attention_kv": say("attention-keys-and-values"),
    "attention_replicated": say("attention-on-every-rank"),
    "compressor": say("compressors-of-the-cache"), "hyper": say("hyper-connections"),
    "norm": say("norms"),
    "dense_mlp": common("dense-mlp"),
    "router": common("router"),
    "shared_expert": common("shared-experts"),
    "routed_expert": common("routed-experts"),
    "head": common("output-head")}
GROUPS: dict[str, Pair] = {
    "experts": common("routed-experts"), "attention": common("attention"),
    "rest": say("everything-else")}
NAMES: dict[str, Pair] = {
    "num_nextn_predict_layers": say("layers-for-multi-token-prediction"),
    "max_position_embeddings": common("longest-context")}
FLAGS: dict[str, Pair] = {
    "router_bias": say("bias-per-expert-in-router"),
    "expert_bias": say("biases-in-experts"),
    "attention_bias": say("biases-of-queries-keys-values"),
    "attention_output_bias": say("bias-of-attention-output"),
    "qk_norm": say("norms-of-queries-and-keys"),
    "attention_output_gate": say("gate-of-attention-output"),
    "attention_sinks": say("attention-sinks"),
    "linear_mamba": say("mamba-2-in-linear-layers"),
    "value_from_key": say("keys-that-serve-as-values"),
    "tie_word_embeddings": say("one-matrix-for-embedding-and-head")}


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
    """The model in a sentence: parameters, those a token uses, its cache; how old its data are."""
    cache = cache_bytes(model)
    kv = f"{fmt_int(min(cache.values()))}–{fmt_int(max(cache.values()))}"
    total, active = fmt_count(counted["total"]), fmt_count(counted["active"])
    if model.is_moe:
        used = fmt_percent(counted["active"] / counted["total"])
        stored = say("parameters-of-which-some-are-used", total=total, active=active, used=used)
    else:
        stored = say("parameters-all-used", total=total)
    # an engine may keep the window alone
    left = say("bytes-in-the-cache", kv=kv, at_most=model.sliding_window is not None)
    markdown(*join((" ", ""), (stored, left)))
    if model.note:
        markdown(model.note["en"], model.note["zh"])
    if told := underived([model]):
        markdown(*told)
    as_of(model)


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
    total = {"class": common("total-bold"), "count": f"**{fmt_int(counted['total'])}**",
             "share": "100%", "used": f"**{fmt_int(counted['active'])}**"}
    table([*rows, total],
          {"class": common("tensors"), "count": common("parameters"),
           "share": common("share"), "used": common("used-by-one-token")})


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
    table(rows, {"precision": common("precision"), **GROUPS, "sum": common("sum")})


def cache(model: Model) -> None:
    """What a token, and a request of the longest context, leaves in the cache."""
    longest = model.max_position_embeddings
    table([{"format": STORED[name], "token": fmt_int(size),
            "request": fmt_bytes(size * longest.value) if longest else "–"}
           for name, size in cache_bytes(model).items()],
          {"format": say("stored-as"), "token": say("bytes-per-token"),
           "request": say("one-request-of-tokens", longest=fmt_int(longest.value)) if longest
           else say("longest-request")})


def published(model: Model, counted: Counts) -> None:
    """What was counted beside every number that is published."""
    besides = model.published and model.published.uncounted
    stored = parameters_in_files(model, derived(model)) + (besides.value if besides else 0)
    ours = {"total": (say("total"), counted["total"]), "stored": (common("in-files"), stored),
            "active": (common("active"), counted["active"])}
    printed = [(*ours[name], value) for name in ours if model.published
               and (first := getattr(model.published, f"{name}_parameters"))
               for value in (first, *first.others)]
    if not printed:
        markdown(*say("no-total-is-published"))
        return
    if model.num_nextn_predict_layers and model.num_nextn_predict_layers.value:
        copies = model.published is None or model.published.copies
        markdown(*(say("files-hold-prediction-layer") if copies
               else say("files-hold-layer-without-copies")))
    table([{"what": what, "ours": fmt_int(count), "theirs": fmt_int(value.value),
            "difference": _difference(count, value.value), "source": citation(value)}
           for what, count, value in printed],
          {"what": common("quantity"), "ours": say("counted-here"),
           "theirs": common("published"), "difference": say("difference"),
           "source": say("source-and-what-is-included")}, wide=True)


def _difference(ours: Number, theirs: Number) -> str:
    """What was counted over what is published; a few parameters are counted one by one."""
    part = float(ours / theirs - 1)
    return fmt_int(ours - theirs) if abs(part) < ONE_BY_ONE else fmt_percent(part, 3)


def shapes(model: Model) -> None:
    """Its shapes with their sources, and what else it has."""
    symbols, fields = catalogue.symbols(), list(type(model).model_fields)

    def label(name: str) -> Pair:
        symbol = symbols.get(name)
        en, zh = NAMES.get(name) or ((symbol.en, symbol.zh) if symbol else (name, name))
        return say("named", name=(en, zh), key=name)

    sourced((label(name), value) for name in fields
            if isinstance(value := getattr(model, name), Value))
    flags = [name for name in fields if getattr(model, name) is True]
    if flags:
        named = (say("named", name=FLAGS[name], key=name) for name in flags)
        markdown(*say("it-also-has", flags=join((", ", "、"), named)))
