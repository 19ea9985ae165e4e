"""What a model's shapes come to beside what is published of it: counts, files, cache.

Each pair has the bar within which both should agree; beyond it the published value says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from calc.physics.arrays import Inputs
from calc.physics.kv_cache import cache
from calc.physics.parameters import Parameters, count_parameters
from catalogue import library
from catalogue.deployments.scenario import model_inputs, precision_inputs
from catalogue.entries.models import Checkpoint, Model, PublishedCache
from catalogue.reading import units
from catalogue.reading.values import Value

PARAMETERS, BYTES, TOKEN, REQUEST = "parameters", "bytes", "token", "request"
BARS = {PARAMETERS: 1e-3, BYTES: 1e-2, TOKEN: 1e-3, REQUEST: 2e-2}
"""How far what is counted may lie from what is published, of what is published [1]."""


@dataclass(frozen=True)
class Beside:
    """One quantity of a model as it is counted here, beside what is published of it.

    Attributes:
        quantity: a key of ``BARS``.
        name: of the count, as fields of ``PublishedTotals`` have it, or of precision or engine.
        ours: what the shapes come to, in the unit of ``theirs``.
        theirs: what is published; None where nothing is.
    """

    quantity: str
    name: str
    ours: float
    theirs: Value | None

    @property
    def difference(self) -> float:
        """Ours over theirs, less one [1]; 0 where nothing is published."""
        return self.ours / self.theirs.value - 1 if self.theirs else 0.0

    @property
    def beyond(self) -> bool:
        """Whether it lies beyond its bar."""
        return abs(self.difference) > BARS[self.quantity]

    @property
    def rounded(self) -> bool:
        """Whether what is published has too few digits to differ."""
        if self.theirs is None:
            return False
        number, unit = units.split(self.theirs.written)
        mantissa, _, exponent = number.lower().partition("e")
        digits = len(mantissa.partition(".")[2])
        last = 10.0 ** (int(exponent or 0) - digits) * units.factor(unit)
        return bool(abs(self.ours - self.theirs.value) <= last / 2)


def parameters(model: Model) -> dict[str, int]:
    """Total, active and routed parameters of a model [1], counted from its shapes.

    >>> import catalogue
    >>> parameters(catalogue.load_model("deepseek-v3"))
    {'total': 671026419200, 'active': 36625618432, 'routed': 653908770816}
    """
    counted = count_parameters(model.attention, Inputs(model_inputs(model)))
    return {"total": int(counted.total_parameters), "active": int(counted.active_parameters),
            "routed": int(counted.routed_parameters)}


def parameters_by_class(model: Model) -> dict[str, int]:
    """Parameters of a whole model [1] by class of tensors; the values sum to its total.

    >>> import catalogue
    >>> model = catalogue.load_model("deepseek-v3")
    >>> sum(parameters_by_class(model).values()) == parameters(model)["total"]
    True
    """
    shapes = model_inputs(model)
    counted = count_parameters(model.attention, Inputs(shapes))
    layers, dense = shapes["num_hidden_layers"], shapes["first_k_dense_replace"]
    parts = {
        "embedding": counted.embedding_parameters,
        "head": counted.head_parameters,
        "attention_divided": layers * counted.attention_divided_parameters,
        "attention_kv": layers * counted.attention_kv_parameters,
        "attention_replicated": layers * counted.attention_replicated_parameters,
        "compressor": layers * counted.compressor_parameters,
        "hyper": layers * counted.hyper_parameters + counted.hyper_head_parameters,
        "norm": layers * counted.norm_parameters + shapes["hidden_size"],
        "dense_mlp": dense * counted.dense_mlp_parameters,
        "router": counted.moe_layers * counted.router_parameters,
        "shared_expert": counted.moe_layers * counted.shared_expert_parameters,
        "routed_expert": counted.routed_parameters,
    }
    # what differs from layer to layer is counted by its mean
    return {name: round(count) for name, count in parts.items()}


def stored_parameters(model: Model) -> int:
    """Numbers that the published files hold [1]: prediction layers, and what is no parameter.

    A prediction layer brings copies of embedding and head, unless the model says otherwise.
    """
    counted, layers = _counted(model), _prediction_layers(model)
    copies = _copies(model) * (counted.embedding_parameters + counted.head_parameters)
    besides = model.published and model.published.uncounted
    # what differs from layer to layer is counted by its mean
    return round(counted.total_parameters + layers * (counted.mtp_layer_parameters + copies)
               + (besides.value if besides else 0))


def stored_bytes(model: Model, checkpoint: Checkpoint, precision: str) -> float:
    """Bytes of a checkpoint's tensors [B], with the prediction layers that it holds.

    Args:
        model: of the catalogue.
        checkpoint: of the model.
        precision: that it is published in.
    """
    width = {name.removesuffix("_weight_bytes"): size for name, size in precision_inputs(
        library.load("precisions", precision)).items() if name.endswith("_weight_bytes")}
    main = sum(count * width["attention" if name.startswith("attention") else name]
               for name, count in parameters_by_class(model).items())
    layers = _prediction_layers(model) if checkpoint.drafts else 0
    return float(main + layers * prediction_layer_bytes(model, width))


def prediction_layer_bytes(model: Model, width: dict[str, float]) -> float:
    """Its classes as those of the model; the matrix that joins its inputs is as wide as norms."""
    n, routed = _counted(model), model.n_routed_experts
    classes = {
        "attention": (n.attention_divided_parameters + n.attention_kv_parameters
                      + n.attention_replicated_parameters),
        "compressor": n.compressor_parameters, "hyper": n.hyper_parameters,
        "router": n.router_parameters, "shared_expert": n.shared_expert_parameters,
        "routed_expert": (routed.value if routed else 0) * n.routed_expert_parameters}
    rest = n.mtp_layer_parameters - sum(classes.values())
    copies = _copies(model) * (n.embedding_parameters * width["embedding"]
                               + n.head_parameters * width["head"])
    return float(sum(count * width[name] for name, count in classes.items())
                 + rest * width["norm"] + copies)


def allocated(model: Model, published: PublishedCache) -> tuple[float, float]:
    """What an engine keeps of a token [B/token] and of a request whatever its length [B/request].

    Of a model whose layers differ in what they attend to, those with a window keep that alone.
    """
    precision = library.load("precisions", published.precision)
    shapes = model_inputs(model)
    cached = cache(model.attention, Inputs(
        shapes | precision_inputs(precision), tensor_parallel=1, decode_context_parallel=1,
        index_replicated=0, index_every_layer=0))
    token, state = float(cached.kv_bytes_per_token), float(cached.state_bytes_per_request)
    if model.attention == "gqa" and shapes["sliding_window"]:
        full = shapes["full_attention_layers"]
        windowed = shapes["num_hidden_layers"] - shapes["linear_layers"] - full
        return full * float(cached.kv_entry_bytes), state + windowed * shapes["sliding_window"] * (
            float(cached.kv_window_entry_bytes))
    return token, state


def counts(model: Model) -> Iterator[Beside]:
    """Parameters of a model beside those that are published."""
    counted, published = parameters(model), model.published
    for name, ours in (("total", counted["total"]), ("active", counted["active"]),
                       ("stored", stored_parameters(model))):
        theirs = getattr(published, f"{name}_parameters") if published else None
        yield Beside(PARAMETERS, name, ours, theirs)


def files(model: Model) -> Iterator[tuple[Checkpoint, Beside]]:
    """Each checkpoint of a model whose size is published."""
    for name in library.names("precisions"):
        for checkpoint in library.load("precisions", name).checkpoints:
            if checkpoint.model == model.id and checkpoint.size is not None:
                yield checkpoint, Beside(BYTES, name, stored_bytes(model, checkpoint, name),
                                         checkpoint.size)


def caches(model: Model) -> Iterator[tuple[PublishedCache, Beside, Beside | None]]:
    """What engines keep of a token and, where anything, of a request beside the catalogue's."""
    for published in model.published.caches if model.published else []:
        token, request = allocated(model, published)
        yield (published, Beside(TOKEN, published.engine, token, published.token),
               Beside(REQUEST, published.engine, request, published.request)
               if request or published.request else None)


def _counted(model: Model) -> Parameters:
    return count_parameters(model.attention, Inputs(model_inputs(model)))


def _prediction_layers(model: Model) -> int:
    return int(model.num_nextn_predict_layers.value) if model.num_nextn_predict_layers else 0


def _copies(model: Model) -> bool:
    return model.published is None or model.published.copies
