"""Parameters of models: tensors and their shapes, counts beside published ones, where they sit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from matplotlib.figure import Figure

import catalogue
from catalogue.entries.formulas import Number
from catalogue.entries.models import Model, PublishedTotals
from catalogue.messages import Pair, messages
from catalogue.reading.values import Value
from notebooks.derive.formulas.derivation import Derivation
from notebooks.derive.formulas.symbols import latex, sym
from notebooks.derive.steps.rows import Tensor
from notebooks.pages.catalogue.tables.formats import entry_label
from notebooks.pages.catalogue.tables.models import parameters_in_files
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import figure, markdown, number, numbers, short_table, source, table
from notebooks.show.numbers import fmt_count, fmt_fixed, fmt_int, fmt_percent

common = messages("common")
say = messages("pages/derivations/architecture")

OF_DOCUMENTS = ("s0-", "s1-", "s2-", "s3-")
ROUNDED = 5e-6  # relative difference below which three decimals of a percentage show nothing
CUTS: dict[str, Pair] = {
    "heads": say("by-heads"), "kv": say("by-key-value-heads"),
    "whole": say("on-every-rank"), "norm": say("on-every-rank")}
TENSOR_SHAPE = Column("latex", say("shape"))
TENSOR_CUT = Column(lambda tensor: CUTS[tensor.cut], say("tensor-parallelism"))
CASES: dict[str, Pair] = {
    "all chosen": say("experts-unused-where-all-are-chosen"),
    "none": say("experts-unused-without-moe-layers"),
    "own keys": say("attention-with-keys-per-head"),
    "biases": say("biases-less-one-more-row")}


@dataclass(frozen=True)
class Count:
    """A model with its inputs and every quantity derived from them."""

    model: Model
    inputs: dict[str, int | float]
    values: dict[str, Number]

    @property
    def name(self) -> Pair:
        """The model's name."""
        return entry_label(self.model)

    @property
    def published(self) -> PublishedTotals:
        """What is published of its parameters; a document's model has it too."""
        assert self.model.published
        return self.model.published

    @property
    def total(self) -> Number:
        """Parameters of the model [1]."""
        return self.values["total_parameters"]

    @property
    def in_files(self) -> Number:
        """Parameters of its published files [1]."""
        return parameters_in_files(self.model, self.values)

    @property
    def attention(self) -> Number:
        """Parameters of the attention of all layers [1]."""
        return self.inputs["num_hidden_layers"] * (
            self.values["attention_divided_parameters"]
            + self.values["attention_replicated_parameters"])

    @property
    def used(self) -> Number:
        """Parameters of the routed experts that one token uses [1]."""
        return (self.values["moe_layers"] * self.inputs["num_experts_per_tok"]
                * self.values["routed_expert_parameters"])


@dataclass(frozen=True)
class TensorCount:
    """A tensor as numbers: its extents, and how many layers have one."""

    tensor: Tensor
    shape: tuple[int, ...]
    size: int
    layers: int

    @property
    def parameters(self) -> int:
        """Of all layers [1]."""
        return self.size * self.layers


def count(derivation: Derivation, name: str) -> Count:
    """A model of the catalogue, counted with the formulas that are derived so far."""
    model = catalogue.load_model(name)
    inputs = catalogue.model_inputs(model)
    return Count(model, inputs, derivation.values(inputs, model.attention))


def every_model(derivation: Derivation) -> dict[str, Count]:
    """All models of the catalogue, counted."""
    return {name: count(derivation, name) for name in catalogue.names("models")}


def matrices(mla: Sequence[Tensor], gqa: Sequence[Tensor]) -> None:
    """The matrices of both kinds of attention, with shape and cut."""
    short_table((*mla, *gqa), [
        Column(lambda tensor: "MLA" if tensor in mla else "GQA", common("attention")),
        Column("name", say("matrix")), TENSOR_SHAPE, TENSOR_CUT],
                first=len(mla), rest=("GQA", "GQA"))


def vectors(tensors: Iterable[Tensor]) -> None:
    """The vectors of grouped-query attention, with size and cut."""
    table(tensors, [Column("name", say("vector")), Column("latex", common("size")), TENSOR_CUT])


def index_tensors(tensors: Iterable[Tensor]) -> None:
    """The tensors of an indexer, with shape and cut."""
    table(tensors, [Column("name", say("tensor")), TENSOR_SHAPE, TENSOR_CUT])


def picked() -> None:
    """How many positions the indexer of DeepSeek-V3.2 keeps."""
    kept = catalogue.load_model("deepseek-v3.2").index_topk
    assert kept
    number("index-topk", kept.value)


def compressed() -> None:
    """The layers of V4-Flash, and what each of its rows stands for."""
    sizes = catalogue.model_inputs(catalogue.load_model("deepseek-v4-flash"))
    numbers({f"csa-{name}": sizes[symbol] for name, symbol in (
        ("layers", "num_hidden_layers"), ("picking", "compressed_layers"),
        ("ratio", "compress_ratio"), ("picked", "index_topk"), ("heavy", "heavy_layers"),
        ("heavy-ratio", "heavy_compress_ratio"), ("window", "sliding_window"))})


def special_cases(results: Mapping[str, sympy.Expr | int]) -> None:
    """What the formulas come to in special cases, by their keys in ``CASES``."""
    table([{"case": CASES[case], "value": f"${latex(result)}$"}
           for case, result in results.items()],
          {"case": common("case"), "value": common("result")})


def in_numbers(tensors: Iterable[tuple[Tensor, sympy.Expr | int]],
               model: Count) -> list[TensorCount]:
    """Tensors, each with the number of its layers, by the shapes of a model."""
    values = {getattr(sym, name): value for name, value in model.inputs.items()}

    def exact(expr: sympy.Expr | int) -> int:
        return int((sympy.S.Zero + expr).subs(values))

    return [TensorCount(tensor, tuple(map(exact, tensor.shape)), exact(tensor.size), exact(layers))
            for tensor, layers in tensors]


def count_table(tensors: Sequence[TensorCount], model: Count) -> None:
    """Every tensor of a model with its share of all parameters, and where the shapes are from."""
    table([{"tensor": row.tensor.name, "shape": " × ".join(map(str, row.shape)),
            "layers": row.layers, "parameters": row.parameters,
            "share": fmt_percent(row.parameters / model.total, 3)} for row in tensors]
          + [{"tensor": common("total-bold"), "parameters": f"**{model.total:,}**",
              "share": fmt_percent(1, 3)}],
          {"tensor": common("tensors"), "shape": say("shape"), "layers": say("layers"),
           "parameters": common("parameters"), "share": common("share")})
    values = model.values
    numbers({"v3-total": model.total, "v3-experts-used": model.inputs["num_experts_per_tok"],
             "v3-experts": model.inputs["n_routed_experts"]})
    numbers({"v3-active": values["active_parameters"],
             "v3-active-embedding": values["active_parameters_with_embedding"],
             "v3-mtp": values["mtp_layer_parameters"]}, fmt_count)
    number("v3-routed", values["routed_parameters"], fmt_count, digits=1)
    numbers({"v3-routed-share": values["routed_parameters"] / model.total,
             "v3-used-share": values["active_parameters"] / model.total}, fmt_percent)
    markdown(*say("origin-of-shapes", origin=source(model.model.hidden_size)))


def _classes(model: Count) -> list[tuple[Pair, Number, Number]]:
    """Classes of tensors of a model: name, parameters, and those that one token uses."""
    values, dense = model.values, model.inputs["first_k_dense_replace"]
    moe = values["moe_layers"]
    return [
        (common("routed-experts"), values["routed_parameters"], model.used),
        (common("attention"), *2 * (model.attention,)),
        (common("shared-experts"), *2 * (moe * values["shared_expert_parameters"],)),
        (common("dense-mlp"), *2 * (dense * values["dense_mlp_parameters"],)),
        (common("output-head"), *2 * (values["head_parameters"],)),
        (common("embedding"), values["embedding_parameters"], 0),
        (common("router"), *2 * (moe * values["router_parameters"],))]


def where_parameters_sit(model: Count) -> None:
    """Stored parameters by class, and those of them that one token uses."""
    classes = _classes(model)
    blue, orange, *_ = figures.PALETTE
    ring: dict[str, Any] = {"ms": 9, "mfc": "none", "mew": 1.8, "color": blue}
    dot: dict[str, Any] = {"ms": 5, "color": orange}

    def draw(lang: str) -> Figure:
        index = ("en", "zh").index(lang)
        drawing, axes = figures.axes(height=3.4)
        for place, (_, stored, used) in enumerate(classes):
            axes.plot([used or stored, stored], [place, place], color=figures.INK, lw=1.2)
            axes.plot(stored, place, "o", **ring)
            label = f"{stored / 1e9:,.1f}"
            if used:
                axes.plot(used, place, "o", **dot)
            if used not in (0, stored):
                label += f" → {used / 1e9:,.1f}"
            axes.annotate(label, (stored, place), xytext=(10, 0), textcoords="offset points",
                          va="center", fontsize=9)
        axes.set_yticks(range(len(classes)), [name[index] for name, _, _ in classes])
        axes.invert_yaxis()
        axes.set(xscale="log", xlim=(5e7, 4e12),
                 xlabel=say("parameters-in-thousand-millions")[index])
        axes.plot([], [], "o", **ring, label=say("stored")[index])
        axes.plot([], [], "o", **dot, label=common("used-by-one-token")[index])
        axes.legend(loc="lower right")
        return drawing

    figure("where-parameters-sit", draw)


def difference(counted: Number, printed: Number) -> str:
    """Relative difference; equal numbers are told from those that round to zero."""
    if counted == printed:
        return "0"
    share = counted / printed - 1
    text = fmt_percent(share, 3) if abs(share) >= ROUNDED else "< 0.001%"
    return ("+" if share >= ROUNDED else "") + text


def totals(models: Mapping[str, Count]) -> None:
    """Counted and published parameters, of models and of their files; not those of documents."""
    rows = []
    for name, model in models.items():
        if not name.startswith(OF_DOCUMENTS):
            with_layer = f"{model.name[0]} + MTP", f"{model.name[1]} + MTP"
            rows += _total(model.name, model.total, model.published.total_parameters)
            rows += _total(with_layer, model.in_files, model.published.stored_parameters)
    rows.sort(key=lambda row: "deepseek-v3" not in str(row["model"]).lower())  # the book's example
    short_table(rows, {"model": common("model"), "counted": say("counted"),
                       "printed": common("published"), "off": common("difference")},
                first=6, rest=say("other-models"))


def _total(name: Pair, counted: Number, printed: Value | None) -> list[dict[str, str | Pair]]:
    """A row, if a number was published."""
    if printed is None:
        return []
    digits, rounded, _ = printed.written.partition("e")
    return [{"model": name, "counted": fmt_int(counted),
             "printed": fmt_count(printed.value, len(digits.partition(".")[2])) if rounded
             else fmt_int(printed.value),
             "off": difference(counted, printed.value)}]


def differences_explained(models: Mapping[str, Count]) -> None:
    """What files hold besides parameters, and what an indexer adds."""
    v3, v32, k2, glm, m25 = (models[name] for name in (
        "deepseek-v3", "deepseek-v3.2", "kimi-k2", "glm-4.5", "minimax-m2.5"))
    numbers({"v3-scales": published_files(v3) - v3.in_files,
             "k2-frequencies": published_total(k2) - k2.total,
             "m25-norms": published_total(m25) - m25.total})
    number("glm-printed", published_total(glm), fmt_count, digits=0)
    number("v32-more", v32.total - v3.total, fmt_count)


def published_total(model: Count) -> Number:
    """Parameters that are published of a model [1]."""
    assert model.published.total_parameters
    return model.published.total_parameters.value


def published_files(model: Count) -> Number:
    """Parameters that are published of a model's files [1]."""
    assert model.published.stored_parameters
    return model.published.stored_parameters.value


def active_parameters(models: Mapping[str, Count]) -> None:
    """Active parameters of mixtures of experts, counted and published; not those of documents."""
    table([{"model": model.name, "active": fmt_fixed(model.values["active_parameters"] / 1e9),
            "with": fmt_fixed(model.values["active_parameters_with_embedding"] / 1e9),
            "printed": fmt_fixed(printed.value / 1e9, 1)
            if (printed := model.published.active_parameters) else "–",
            "share": fmt_percent(model.values["active_parameters"] / model.total)}
           for name, model in models.items()
           if model.model.is_moe and not name.startswith(OF_DOCUMENTS)],
          {"model": common("model"), "active": say("active-in-thousand-millions"),
           "with": say("with-embedding"), "printed": common("published"),
           "share": say("active-of-total")}, folded=say("active-parameters-counted-and-published"))


def of_the_document(stated: Count) -> None:
    """What the shapes of a document come to, beside the total that it states."""
    shapes = stated.inputs
    number("s0-total", stated.total, fmt_count)
    number("s0-stated", published_total(stated), fmt_count, digits=0)
    number("s0-ratio", stated.total / published_total(stated), fmt_fixed, digits=1)
    numbers({"s0-layers": shapes["num_hidden_layers"], "s0-experts": shapes["n_routed_experts"],
             "s0-width": shapes["moe_intermediate_size"], "s0-hidden": shapes["hidden_size"]})


def exercises(derivation: Derivation, model: Count) -> None:
    """The numbers of the exercises: a scaled total, plain attention."""
    inputs, values = model.inputs, model.values
    scaled = model.total * inputs["num_experts_per_tok"] / inputs["n_routed_experts"]
    number("exercise-scaled", scaled, fmt_count)
    number("exercise-always", values["active_parameters"] - model.used, fmt_count)
    number("exercise-used", model.used, fmt_count)
    square = {"num_key_value_heads": inputs["num_attention_heads"],
              "head_dim": inputs["v_head_dim"]}  # values are as wide as they are
    plain = derivation.values(inputs | square, "gqa")
    layer = plain["attention_divided_parameters"] + plain["attention_kv_parameters"]
    layers = inputs["num_hidden_layers"]
    numbers({"exercise-mha": layer, "exercise-mla": model.attention // layers})
    number("exercise-mha-ratio", layer * layers / model.attention, fmt_fixed, digits=2)
