"""What weights take: of a rank, in each precision, with copies, to be loaded, of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sympy
from matplotlib.figure import Figure

import catalogue
from catalogue.deployments.physics_inputs import DEGREES
from catalogue.entries.formulas import neutral
from catalogue.messages import Pair, messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.derive.formulas.symbols import latex, latex_of_numbers
from notebooks.pages.catalogue.tables.formats import entry_label, supported
from notebooks.show import figures
from notebooks.show.arithmetic import in_latex
from notebooks.show.columns import Column
from notebooks.show.display import markdown, number, numbers, short_table, source, table
from notebooks.show.numbers import fmt_bytes, fmt_count, fmt_fixed, fmt_in, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/derivations/memory-weights")

Experts = Callable[[float], float]  # distinct experts among so many tokens
Values = Mapping[str, Any]  # quantities and inputs by name (SI)
GB, GIB = 1e9, 2**30
MODEL, ATTENTION, DRIVE = "deepseek-v3", "mla", "nvme-gen4"
BF16, FP8, W8A8 = "bf16", "fp8-block", "w8a8-int8"
ONE_RANK = {**neutral(), **dict.fromkeys(DEGREES, 1), "devices_per_node": 8, "captured": 1}
RANKS = (1, 2, 4, 8, 16, 32, 64)
SEEN = ("bf16", "fp8-block", "w8a8-int8", "w4a16-awq")  # precisions shown first
LISTED = (1, 8, 16, 64)  # ranks whose budgets are listed
DRAWN = ("bf16", "fp8-block", "w4a16-awq")
DRAWN_CARDS = ("nvidia-h20", "nvidia-h800", "ascend-910b2", "ascend-910b4")
SIDES = ("bottom", "center", "top", "center")  # of their lines, on which their names stand
PRECISIONS = ("bf16", "fp8-block", "w8a8-int8", "w4a8-int8", "nvfp4", "mxfp4-w4a4", "w4a16-awq",
              "w4a16-group128")
ISSUES = "https://github.com/vllm-project/vllm-ascend/issues"
# layout; what "Loading model weights took" prints: it says GB and divides by 2^30; issue; date
LOGGED = (
    ({"tensor_parallel": 8, "pipeline_parallel": 2}, 40.7763, "1127", "2025-06"),
    ({"tensor_parallel": 4, "data_parallel": 4, "expert_parallel": 16}, 44.1591, "2191", "2025-08"))
PLANS: tuple[tuple[Pair, str, str, dict[str, int]], ...] = (
    (say("h20-fp8"), FP8, "hgx-h20", {"tensor_parallel": 8}),
    (say("ascend-w8a8-per-node"), W8A8, "atlas-800t-a2",
     {"tensor_parallel": 4, "data_parallel": 4, "expert_parallel": 16}),
    (say("ascend-w4a16"), "w4a16-awq", "atlas-800t-a2", {"tensor_parallel": 8}))


class Loader(NamedTuple):
    """Seconds until the last of eight H200 had DeepSeek-R1 (TP8 with EP8), by where it lay."""

    name: str
    storage: float
    memory: float


MARKED = (8, 32, 128)  # tokens whose distinct experts are named
CASE = {"case": common("case"), "value": common("result")}
LOADERS = (Loader("safetensors", 160, 22.6), Loader("fastsafetensors", 75.8, 63.4),
           Loader("Run:ai Model Streamer", 101, 79.8), Loader("InstantTensor", 15.3, 12.1))
STORAGE = 50e9  # of the same machine [B/s]
LOADERS_SOURCE = ("https://github.com/scitix/InstantTensor/blob/"
                  "48b635350d2a998001d9b56a4ac7b911f0458406/docs/benchmark.md")


def bf16_bytes() -> float:
    """Bytes of an element in BF16."""
    return float(catalogue.load_format("bf16").bytes_per_element)


def printed_parameters() -> int:
    """Parameters of DeepSeek-V3 as they are published."""
    return int(catalogue.load_model(MODEL).published.total_parameters.value)


def deployed(precision: str, model: Any = None, **layout: float) -> dict[str, Any]:
    """Inputs (SI) of a model in a precision, on one rank unless a layout says otherwise.

    The model is DeepSeek-V3 if none is named.
    """
    return {**catalogue.model_inputs(model or catalogue.load_model(MODEL)),
            **catalogue.precision_inputs(catalogue.load_precision(precision)), **ONE_RANK, **layout}


def rank(derivation: Derivation, tensor_parallel: int, precision: str = BF16) -> Values:
    """Quantities of a rank of one replica of DeepSeek-V3, by name (SI)."""
    return derivation.quantities(deployed(precision, tensor_parallel=tensor_parallel), ATTENTION)


def budget(derivation: Derivation) -> None:
    """What a rank holds beside the parameters divided by the number of ranks, in BF16."""
    whole = bf16_bytes() * rank(derivation, 1)["total_parameters"]

    table([rank(derivation, ranks) for ranks in LISTED], [
        Column("tensor_parallel", "$t$"),
        Column(lambda of: whole / of["tensor_parallel"], say("divided-by"), fmt_bytes),
        Column("weights_per_device", say("rank-holds"), fmt_bytes),
        Column("replicated_weights_per_device", say("replicated"), fmt_bytes),
        Column(lambda of: of["weights_per_device"] / (whole / of["tensor_parallel"]) - 1,
               say("excess"), fmt_percent)])
    eight = rank(derivation, 8)
    numbers({"naive": printed_parameters() * bf16_bytes() / 8,
             "rank-weights": eight["weights_per_device"],
             "rank-replicated": eight["replicated_weights_per_device"]}, fmt_bytes)
    markdown(*say("how-ranks-are-cut"))


def draw_ranks(derivation: Derivation, lang: str) -> Figure:
    """Weights of a rank over the number of ranks, in three precisions, beside four cards."""
    figure, axes = figures.axes(height=4.0)
    for precision in map(catalogue.load_precision, DRAWN):
        axes.plot(RANKS, [rank(derivation, ranks, precision.id)["weights_per_device"] / GB
                          for ranks in RANKS], "o-", ms=4, label=precision.name[lang])
    for card, side in zip(map(catalogue.load_device, DRAWN_CARDS), SIDES, strict=True):
        capacity = card.memory_capacity.value / GB
        axes.axhline(capacity, color=figures.INK, lw=1, ls=(0, (4, 3)))
        axes.annotate(f"{card.name[lang]}  {capacity:.0f} GB", (1, capacity), xytext=(6, 0),
                      xycoords=axes.get_yaxis_transform(), textcoords="offset points", va=side)
    figures.doubling(axes, RANKS)
    axes.set_yscale("log", base=2)
    ticks = [8, 16, 32, 64, 128, 256, 512, 1024]
    axes.set_yticks(ticks, [f"{size:,}" for size in ticks])
    axes.set(xlabel=say("tensor-parallel-size")[lang == "zh"],
             ylabel=say("weights-on-rank-gb")[lang == "zh"])
    axes.legend(loc="upper right")
    return figure


def precisions(of_rank: Mapping[str, float]) -> None:
    """What a rank of eight holds in each precision, and what cards lack to multiply in it.

    Args:
        of_rank: weights of a rank by precision [B].
    """
    stored = [catalogue.load_precision(name)
              for name in (*SEEN, *(name for name in of_rank if name not in SEEN))]
    short_table(stored, [
        Column(entry_label, common("precision")),
        Column(lambda of: catalogue.precision_inputs(of)["routed_expert_weight_bytes"],
               say("bytes-per-expert-weight"), fmt_sig, digits=5),
        Column(lambda of: of_rank[of.id], say("one-of-eight-ranks-gb"), fmt_in, unit="GB"),
        Column(lambda of: of_rank[of.id], "GiB", fmt_in, unit="GiB"),
        Column(lambda of: of_rank[of.id] / of_rank[BF16], say("of-bf16"), fmt_percent)],
                first=len(SEEN), rest=say("other-four-bit-formats"))
    supported(stored)
    awq, w8a8 = of_rank["w4a16-awq"], of_rank[W8A8]
    numbers({"precision-awq-rank": awq, "precision-w8a8-rank": w8a8,
             "precision-w4a8-rank": of_rank["w4a8-int8"]}, fmt_bytes)
    number("precision-awq-share", awq / of_rank[BF16], fmt_percent)


@dataclass(frozen=True)
class Loaded:
    """The fullest rank in W8A8, as an engine logged it and as it is counted [GiB].

    Attributes:
        layout: how the model was cut.
        logged, counted, copied: by the engine, here, and here with what the engine copies.
        largest: the same as counted, by the formula for all stages.
        issue, date: where it was logged.
    """

    layout: Mapping[str, int]
    logged: float
    counted: float
    copied: float
    largest: float
    issue: str
    date: str

    @property
    def off(self) -> float:
        """Error of what is counted [1]."""
        return self.counted / self.logged - 1

    @property
    def copied_off(self) -> float:
        """The same with copies [1]."""
        return self.copied / self.logged - 1


def copied_bytes() -> float:
    """What an engine keeps of an absorbed weight beyond W8A8: as loaded, and in two halves [B]."""
    stored = catalogue.precision_inputs(catalogue.load_precision(W8A8))["attention_weight_bytes"]
    return float(2 * bf16_bytes() - stored)


def logged(derivation: Derivation, absorbed: int) -> list[Loaded]:
    """The ranks that engines logged, with copies of so many absorbed parameters counted."""
    ranks = []
    for layout, printed, issue, date in LOGGED:
        inputs = deployed(W8A8, **layout)
        fullest = max((derivation.quantities(inputs, ATTENTION, stage)
                       for stage in range(inputs["pipeline_parallel"])),
                      key=lambda values: values["stage_weights"])
        share = (fullest["stage_layers"] / inputs["num_hidden_layers"] / inputs["tensor_parallel"])
        counted = fullest["stage_weights"]
        copied = counted + copied_bytes() * absorbed * share
        ranks.append(Loaded(layout, printed, counted / GIB, copied / GIB,
                            fullest["weights_per_device"] / GIB, issue, date))
    return ranks


def copies(ranks: Sequence[Loaded], absorbed: int) -> None:
    """Logged ranks beside what is counted; what copies of so many absorbed parameters take."""
    table(ranks, [
        Column(lambda of: " × ".join(f"{name[0].upper()}P{size}"
                                     for name, size in of.layout.items()),
               say("layout-of-sixteen-cards")),
        Column("logged", say("logged-gib"), fmt_fixed),
        Column("counted", say("counted-gib"), fmt_fixed),
        Column("off", common("off-by"), fmt_percent),
        Column("copied", say("with-copies-gib"), fmt_fixed),
        Column("copied_off", common("off-by"), fmt_percent),
        Column(lambda of: f"[{of.issue}]({ISSUES}/{of.issue}) ({of.date})",
               ("issue of vllm-ascend", "vllm-ascend issue"))])
    number("copies-parameters", absorbed, fmt_count)
    number("copies-all", copied_bytes() * absorbed, fmt_bytes)
    number("copies-worst", max(abs(of.off) for of in ranks), fmt_percent)
    number("copies-worst-with", max(abs(of.copied_off) for of in ranks), fmt_percent)


def distinct(experts: Experts, law: sympy.Expr, first: sympy.Expr, many: sympy.Expr) -> None:
    """Distinct experts of some tokens, and their limits, for one token and for many.

    Args:
        experts: expected number among so many tokens.
        law: the same in the book's symbols.
        first, many: its limits.
    """
    sizes = catalogue.model_inputs(catalogue.load_model(MODEL))
    filled = latex_of_numbers(law, {symbol.name: in_latex(sizes.get(symbol.name, MARKED[1]))
                                    for symbol in law.free_symbols})
    found = fmt_fixed(experts(MARKED[1]), 0)
    markdown(*say("distinct-experts-of-tokens", tokens=MARKED[1], filled=filled, found=found))
    table([{"case": "$E(1)$", "value": f"${latex(first)}$"},
           {"case": "$\\lim_{B_e \\to \\infty} E(B_e)$", "value": f"${latex(many)}$"},
           {"case": "$E(B_e + 1) - E(B_e)$",
            "value": "$N \\left(1 - \\tfrac{k}{N}\\right)^{B_e} \\tfrac{k}{N} \\ge 0$"}], CASE,
          folded=say("limits"))
    numbers({"experts-one": experts(1)} | {f"experts-{n}": experts(n) for n in MARKED},
            fmt_fixed, digits=0)
    number("experts-all", sizes["n_routed_experts"])


def draw_distinct(experts: Experts, lang: str) -> Figure:
    """Distinct experts over the tokens that share them, beside what so many tokens choose."""
    sizes = catalogue.model_inputs(catalogue.load_model(MODEL))
    count, chosen = sizes["n_routed_experts"], sizes["num_experts_per_tok"]
    figure, axes = figures.axes(height=3.6)
    batches = [2 ** (n / 8) for n in range(73)]
    axes.plot(batches, [min(chosen * batch, count) for batch in batches], color=figures.INK, lw=1,
              ls=(0, (4, 3)))
    axes.plot(batches, [experts(batch) for batch in batches], color=figures.PALETTE[0])
    for batch in (1, *MARKED):
        axes.plot(batch, experts(batch), "o", ms=5, color=figures.PALETTE[1])
        axes.annotate(f"{experts(batch):.0f}", (batch, experts(batch)), xytext=(6, -12),
                      textcoords="offset points", color=figures.PALETTE[1])
    axes.annotate(common("upper-bound")[lang == "zh"], (16, chosen * 16), xytext=(-8, 0),
                  textcoords="offset points", ha="right")
    figures.doubling(axes, [2**n for n in range(10)])
    axes.set(xlabel=common("tokens-that-share-experts")[lang == "zh"],
             ylabel=common("distinct-experts-per-layer")[lang == "zh"])
    return figure


@dataclass(frozen=True)
class Read:
    """What a node reads to load its weights [B], and how long that takes from one drive [s].

    Attributes:
        least: if every tensor is read once for all ranks that hold it.
        formula: by the formula.
        of_ranks: if every rank reads what it holds.
        most: if every rank reads all files.
        time: by the formula.
    """

    least: float
    formula: float
    of_ranks: float
    most: float
    time: float


def loading(derivation: Derivation) -> dict[Pair, Read]:
    """What nodes read for DeepSeek-V3, for some ways to cut it."""
    return {label: _read(derivation, precision, node, layout)
            for label, precision, node, layout in PLANS}


def _read(derivation: Derivation, precision: str, node: str, layout: Mapping[str, int]) -> Read:
    drive = catalogue.load_link(DRIVE).device_bandwidth.value
    inputs = deployed(precision, **layout, offloaded_weight_bytes=1, storage_bandwidth=drive,
                      devices_per_node=catalogue.load_node(node).devices_per_node.value)
    values = derivation.quantities(inputs, ATTENTION)
    tensor = inputs["tensor_parallel"]
    here = min(inputs["devices_per_node"], tensor * inputs["data_parallel"])
    inside = min(here, tensor)  # devices of one replica in the node
    routed = (inputs["routed_expert_weight_bytes"] * values["routed_parameters"]
              / max(inputs["expert_parallel"], tensor))
    weights, whole = values["weights_per_device"], values["replicated_weights_per_device"]
    return Read(least=here * routed + inside * (weights - routed - whole) + whole,
                formula=values["loading_time"] * drive, of_ranks=here * weights,
                most=here * rank(derivation, 1, precision)["weights_per_device"],
                time=values["loading_time"])


def plans(read: Mapping[Pair, Read]) -> None:
    """What nodes read, and from one drive how long."""
    drive = catalogue.load_link(DRIVE).device_bandwidth
    table([{"plan": label, **vars(plan)} for label, plan in read.items()], [
        Column("plan", "DeepSeek-V3"),
        Column("least", say("at-least-gb"), fmt_in, unit="GB", digits=1),
        Column("formula", say("formula-gb"), fmt_in, unit="GB", digits=1),
        Column("most", say("at-most-gb"), fmt_in, unit="GB", digits=1),
        Column("time", say("from-one-drive-min"), fmt_in, unit="min", digits=1)])
    markdown(*say("one-drive", rate=drive.written, origin=source(drive)))


def checkpoint() -> float:
    """Bytes of the published files of DeepSeek-R1 in FP8."""
    return float(catalogue.load_precision(FP8).checkpoints[0].size.value)


def loaders() -> None:
    """What loaders were measured at, and the numbers of the section."""
    size = checkpoint()
    table(LOADERS, [
        Column("name", say("loader")),
        Column("storage", say("from-storage-s"), fmt_fixed, digits=1),
        Column(lambda loader: size / loader.storage, "GB/s", fmt_in, unit="GB/s", digits=1),
        Column("memory", say("from-memory-s"), fmt_fixed, digits=1),
        Column(lambda loader: size / loader.memory, "GB/s", fmt_in, unit="GB/s", digits=1)])
    markdown(*say("how-loaders-were-measured", storage=f"{STORAGE / GB:.0f}",
              size=fmt_bytes(size, digits=1), source=LOADERS_SOURCE))
    default, best = LOADERS[0], LOADERS[-1]
    numbers({"loading-bound": size / STORAGE, "loading-rate": size / default.storage / GB,
             "loading-cached": default.memory, "loading-best": best.storage}, fmt_fixed, digits=1)
    numbers({"loading-default": default.storage,
             "loading-storage": STORAGE / GB}, fmt_fixed, digits=0)
