"""What a file of a model may hold (to add a model: params/models/): its shapes, and the totals
that its authors print."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from catalogue.entries.entry import (
    AcceptanceName,
    Called,
    CatalogueEntry,
    DeviceName,
    Entry,
    FileEntry,
    ModelName,
    PrecisionName,
    Problem,
    ProfileName,
    Sourced,
    given,
    just_one,
    ordered,
    together,
)
from catalogue.entries.hardware import Architecture
from catalogue.entries.profiles import Version
from catalogue.reading.values import (
    Bytes,
    Count,
    CountOrZero,
    Date,
    Flag,
    Positive,
    Share,
    SourceKey,
    Text,
    Unit,
    Value,
    Words,
)

CSA = "csa"  # attention to a window, and to entries of the cache that are compressed
GROUPS = ("n_group", "topk_group")  # of experts: how many there are, how many a token picks
MOST_GROUPS = 8  # that a token picks: the sum over them is written out
Total = Annotated[Value, Unit("1", spread=False)]  # may exceed what a single count may be


LINEAR = ("linear_layers", "linear_num_key_heads", "linear_num_value_heads",
          "linear_key_head_dim", "linear_value_head_dim", "linear_conv_kernel_dim")
WINDOW_HEADS = ("window_num_attention_heads", "window_num_key_value_heads", "window_head_dim",
                "window_v_head_dim")
_INDEXER = ("index_n_heads", "index_head_dim", "index_topk")
_COMPRESSED = ("compressed_layers", "heavy_compress_ratio", "heavy_layers", "o_groups",
               "o_lora_rank")
_ROUTED = ("moe_intermediate_size", "n_routed_experts", "num_experts_per_tok")
_EXPERTS = (*_ROUTED, "n_shared_experts", "first_k_dense_replace")
_NEEDED: dict[str, tuple[str, ...]] = {  # fields that a model has, by attention or network
    "mla": ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"),
    "gqa": ("head_dim",),
    CSA: ("head_dim", "qk_rope_head_dim", "q_lora_rank", *_INDEXER, "indexer_layers",
          "compress_ratio", *_COMPRESSED, "sliding_window"),
    "mixture-of-experts": _EXPERTS}
_NEEDS = {"window": "sliding_window", "sparse": "index_topk", "shared": "index_topk",
          "experts": "n_routed_experts"}  # kinds of layers -> a field without which there are none
_TOGETHER = (GROUPS, _INDEXER, LINEAR,
             ("vision_parameters", "vision_whole_parameters", "vision_heads"))
_BESIDE = {  # fields -> one without which they mean nothing
    **dict.fromkeys((*WINDOW_HEADS, "full_attention_layers"), "sliding_window"),
    **dict.fromkeys(("indexer_layers", "compress_ratio"), "index_topk"),
    "linear_mamba": "linear_layers"}
_ONLY: dict[str, tuple[str, ...]] = {  # fields -> attention of the models that may have them
    **dict.fromkeys(_COMPRESSED, (CSA,)), **dict.fromkeys(LINEAR, ("gqa", "mla")),
    **dict.fromkeys((*WINDOW_HEADS, "value_from_key", "attention_bias", "attention_output_bias",
                     "qk_norm"), ("gqa",)), "attention_sinks": ("gqa", CSA)}
_AT_MOST = (
    ("num_experts_per_tok", "n_routed_experts"), ("topk_group", "n_group"),
    ("vision_whole_parameters", "vision_parameters"),
    *((name, "num_hidden_layers") for name in (
        "first_k_dense_replace", "indexer_layers", "compressed_layers", "heavy_layers",
        "sparse_layers", "linear_layers", "full_attention_layers")))

DraftMethod = Literal["eagle3", "dspark"]
EAGLE3 = "eagle3"  # a head trained apart from its model
DSPARK = "dspark"  # a module in checkpoints of its model, which drafts a block in one pass
OWN_LAYER = "own"  # the prediction layer that a model is published with
DRAFTERS: tuple[str, ...] = (OWN_LAYER, *get_args(DraftMethod))  # as numbers in arrays say them


class Served(Sourced):
    """An engine that is shown to start a checkpoint: a recipe, a cookbook, a benchmark, a log.

    Attributes:
        engine: of ``params/profiles/``.
        cards: architectures that it is shown on.
        source, kind, date: where.
    """

    engine: ProfileName
    cards: Annotated[list[Architecture], Field(min_length=1)]


class Checkpoint(Entry):
    """A published checkpoint of a model in a precision, and the size of its weight files [B].

    Attributes:
        repository: where it is published, as people call it.
        size: of its weight files, where that is known.
        of: the model whose weights these are, where the entry speaks of several or it is a sister
            of the same shape; None for the entry's own.
        preview: whether an official release of the same weights' model supersedes it.
        drafts: whether its files hold the model's prediction layer.
        drafters: modules that draft in its files, of those of the model.
        served: engines that start it.
    """

    model: ModelName
    size: Bytes | None = None
    repository: Words | None = None
    of: Words | None = None
    preview: Flag = False
    drafts: Flag = True
    drafters: list[DraftMethod] = []
    served: list[Served] = []

    def violations(self) -> Iterator[Problem]:
        """Somebody says that it is published, and what is served."""
        if self.size is None and not self.served:
            yield "'size' or 'served' is missing, who says that it is published?"
        if self.served and self.repository is None:
            yield "'repository' is missing, what is served?"


class PublishedCache(Entry):
    """What an engine keeps of a model's cache, all layers, as printed or as its code allocates it.

    Attributes:
        engine: a profile, on a card of the catalogue and in a precision.
        token: of a token [B].
        request: of a request whatever its length [B].
    """

    engine: ProfileName
    device: DeviceName
    precision: PrecisionName
    token: Bytes
    request: Bytes | None = None


class PublishedTotals(Entry):
    """Totals that the model's authors (or a document) print, to be held against the count.

    ``total_parameters`` is of the main model; ``stored_parameters`` of all that the published files
    hold, prediction layers (MTP) and, in a quantised checkpoint, scales included.

    Attributes:
        uncounted: numbers of those files that are no parameters: scales, rotary frequencies [1].
        copies: whether they hold copies of embedding and head with a prediction layer.
        caches: what engines keep of its cache.
    """

    total_parameters: Total | None = None
    active_parameters: Total | None = None
    stored_parameters: Total | None = None
    uncounted: Count | None = None
    copies: Flag = True
    caches: list[PublishedCache] = []


TextKind = Literal["chat", "code", "reasoning", "random"]
Parameters = Annotated[Value, Unit("1")]


class ServedDrafter(Sourced):
    """An engine that is shown to draft with a drafter: a recipe, a model card.

    Attributes:
        engine: of ``params/profiles/``.
        since: its first release that does; absent, any.
    """

    engine: ProfileName
    since: Version | None = None


class Drafter(Entry):
    """What drafts besides the prediction layer that a model is published with.

    A drafter published apart from it is one dense layer in 16 bits, which attends to every position
    with heads and cache as its model's layers without a window. A module in checkpoints of the
    model, which say so, has layers like those of the model and drafts a block in one pass.

    Attributes:
        repository: where it is published apart from its model.
        layers: of a module, like those of the model.
        draft_tokens: that those who publish or start it let it draft in a step [token].
        draft_block: of those, in one pass; absent, one [token].
        parameters: matrices of its layer that are cut over tensor-parallel ranks [1].
        whole_parameters: matrices that every rank has whole: of the hidden states that it joins,
            and down-projections of MLA [1].
        vocab_size: tokens that it chooses among [1].
        shares_head: whether engines give it the model's output head.
        acceptance: how often its drafts are right, an entry of ``params/acceptances/``.
        served: engines that draft with it; none of one for other weights than the model's.
    """

    repository: Words | None = None
    layers: Count | None = None
    draft_tokens: Count
    draft_block: Count | None = None
    parameters: Parameters | None = None
    whole_parameters: Parameters | None = None
    vocab_size: Count | None = None
    shares_head: Flag = False
    acceptance: AcceptanceName
    served: list[ServedDrafter] = []

    def violations(self) -> Iterator[Problem]:
        """It is a module of its model, or has shapes of its own."""
        apart = ("repository", "parameters", "whole_parameters", "vocab_size")
        stated = given(self, apart)
        if self.layers is not None and stated:
            yield f"'{stated[0]}' is given beside 'layers' of a module of the model"
        if self.layers is None:
            yield from (f"'{name}' is missing, or 'layers' of a module of the model"
                        for name in apart if name not in stated)


class Acceptance(CatalogueEntry):
    """How often the drafts of one kind of layer are right, by the text that is answered.

    Attributes:
        any: probability that the first draft is accepted, where the text is not stated [1].
        chat, code, reasoning: of conversations, of programs, of answers that think first [1].
        random: of benchmarks whose prompts are random tokens [1].
        decay: acceptance of a draft over that of the one before it [1].
    """

    any: Share
    chat: Share
    code: Share
    reasoning: Share
    random: Share
    decay: Share


class PublishedWeights(Sourced):
    """The format that a model is published in, an entry of ``params/precisions/``."""

    precision: PrecisionName


class Overflow(Sourced):
    """That activations of a model exceed what FP16 holds, and who says so."""

    note: Text


AttentionKind = Literal["full", "window", "mla", "sparse", "shared", "compressed", "heavy",
                        "linear", "mamba"]
NetworkKind = Literal["dense", "experts", "none"]
ATTENTION_KINDS: tuple[str, ...] = get_args(AttentionKind)
NETWORK_KINDS: tuple[str, ...] = get_args(NetworkKind)
PICKING = ("sparse", "shared")  # layers that attend to what an indexer picks
RECURRENT = ("linear", "mamba")  # layers that keep a state instead of a cache
OF_MODEL = {  # kinds of attention -> the models whose layers have them
    "full": ("gqa",), "window": ("gqa", CSA), "mla": ("mla",), "sparse": ("gqa", "mla"),
    "shared": ("gqa", "mla"), "compressed": (CSA,), "heavy": (CSA,), "linear": ("gqa", "mla"),
    "mamba": ("gqa", "mla")}


class LayerRun(Entry):
    """A run of equal layers, or a group of runs that repeats.

    Attributes:
        attention: full; window, of ``sliding_window``; mla; sparse, to what an indexer picks;
            shared, to what the indexer of an earlier layer picked; compressed and heavy, to entries
            of ``compress_ratio`` and ``heavy_compress_ratio`` tokens; linear or mamba, a state.
        mlp: the feed-forward network that follows: dense, experts or none.
        times: how often the layer, or the group, comes one after the other.
        group: runs that repeat together, in order.
    """

    attention: AttentionKind | None = None
    mlp: NetworkKind | None = None
    times: Positive = 1
    group: "list[LayerRun] | None" = None

    def violations(self) -> Iterator[Problem]:
        """It is a layer or a group of layers."""
        if self.group is not None and (self.attention or self.mlp):
            yield from just_one(self, "group", "attention" if self.attention else "mlp")
        if self.group is None and not (self.attention and self.mlp):
            yield f"'{'mlp' if self.attention else 'attention'}' is missing, of a run of layers"
        if any(run.group is not None for run in self.group or ()):
            yield "'group' holds a group, expected runs of layers"


def layer_counts(layers: list[Any], attention: Any, is_moe: bool
                 ) -> tuple[dict[str, int], dict[str, int]] | None:
    """Counts that runs of layers add up to, by the name of the model's field [1]: those without
    which a model with such layers would be another, and those that it may state besides.

    None for runs that are not as a file may hold them.

    Args:
        layers: runs as a file holds them, not checked yet.
        attention: of the model.
        is_moe: whether it has routed experts.
    """
    of: Counter[str] = Counter()
    try:
        for run in map(LayerRun.model_validate, layers):
            for part in run.group or [run]:
                times = run.times * (part.times if run.group else 1)
                of.update({str(part.attention): times, str(part.mlp): times})
    except ValidationError:
        return None
    total = sum(of[name] for name in ATTENTION_KINDS)
    recurrent, picking = (sum(of[name] for name in names) for names in (RECURRENT, PICKING))
    cached = total - recurrent
    needed, others = {"num_hidden_layers": total}, {
        "linear_layers": recurrent, "layers_without_mlp": of["none"], "sparse_layers": picking}
    if attention == CSA:
        needed |= {"indexer_layers": of["compressed"], "compressed_layers": of["compressed"],
                   "heavy_layers": of["heavy"]}
    else:
        others |= {"indexer_layers": of["sparse"], "full_attention_layers": cached - of["window"]}
    if is_moe:
        needed["first_k_dense_replace"] = of["dense"]
    for name, present in (("full_attention_layers", of["window"]), ("indexer_layers", picking),
                          ("sparse_layers", 0 < picking < cached), ("linear_layers", recurrent),
                          ("layers_without_mlp", of["none"])):
        if present and name in others:
            needed[name] = others.pop(name)
    return needed, others


class Model(Called):
    """A transformer by its shapes, under the names of Hugging Face configurations.

    Attributes:
        layers: runs of layers in their order, where a count alone does not say which they are; the
            counts of layers follow, and those that are stated besides must agree.
        first_k_dense_replace: layers with a dense network, wherever they are.
        missing: what of its architecture no formula has; every answer carries it.
        compress_ratio: tokens of a compressed entry that an indexer picks; beside mla and gqa those
            of an index key, the cache holds all, and ``index_topk`` counts keys.
        model_class: of ``architectures`` in its configuration, by which engines know it.
        linear_mamba: whether the linear layers are Mamba-2: a state that is written and read, not
            corrected; ``linear_num_key_heads`` are its groups, ``linear_key_head_dim`` its state
            size, ``linear_num_value_heads`` and ``linear_value_head_dim`` its heads.
        layers_without_mlp: of ``num_hidden_layers``, those of which no feed-forward network follows
            the attention or state.
        mlp_matrices: of a feed-forward network, 3 with a gate (absent) or 2 without.
        v_head_dim: of values; absent, with gqa that of keys.
        value_from_key: layers without a window make no values of their own: keys serve as such.
        window_num_attention_heads, window_num_key_value_heads, window_head_dim, window_v_head_dim:
            of layers with a window; absent, those of the others.
        family: models of one architecture, whose scores in a format are those of relatives.
        weights: the format that it is published in; absent, none is known.
        fp16_overflow: stated of a model whose activations exceed FP16.
        draft_acceptance: of which kind its layer is that drafts; absent, one that was trained to
            draft a single token.
        drafters: published apart from it, by how they draft.
    """

    family: Words | None = None
    model_class: Words | None = None
    missing: Text | None = None
    weights: PublishedWeights | None = None
    fp16_overflow: Overflow | None = None
    attention: Literal["mla", "gqa", "csa"]
    num_hidden_layers: Count
    layers: list[LayerRun] | None = None
    hidden_size: Count
    vocab_size: Count
    num_attention_heads: Count
    num_key_value_heads: Count
    head_dim: Count | None = None
    q_lora_rank: CountOrZero | None = None
    kv_lora_rank: Count | None = None
    qk_nope_head_dim: Count | None = None
    qk_rope_head_dim: CountOrZero | None = None
    v_head_dim: Count | None = None
    intermediate_size: Count
    first_k_dense_replace: CountOrZero | None = None
    moe_intermediate_size: Count | None = None
    n_routed_experts: Count | None = None
    n_shared_experts: CountOrZero | None = None
    num_experts_per_tok: Count | None = None
    n_group: Count | None = None
    topk_group: Count | None = None
    router_bias: Flag = False
    router_scoring: Literal["sigmoid", "softmax", "sqrtsoftplus"] | None = None
    expert_bias: Flag = False
    attention_bias: Flag = False
    attention_output_bias: Flag = False
    qk_norm: Flag = False
    attention_sinks: Flag = False
    attention_output_gate: Flag = False
    index_n_heads: Count | None = None
    index_head_dim: Count | None = None
    index_topk: Count | None = None
    indexer_layers: Count | None = None
    sparse_layers: Count | None = None
    linear_layers: CountOrZero | None = None
    linear_num_key_heads: Count | None = None
    linear_num_value_heads: Count | None = None
    linear_key_head_dim: Count | None = None
    linear_value_head_dim: Count | None = None
    linear_conv_kernel_dim: Count | None = None
    linear_decay_rank: Count | None = None
    linear_gate_rank: Count | None = None
    linear_mamba: Flag = False
    layers_without_mlp: CountOrZero | None = None
    mlp_matrices: Count | None = None
    value_from_key: Flag = False
    window_num_attention_heads: Count | None = None
    window_num_key_value_heads: Count | None = None
    window_head_dim: Count | None = None
    window_v_head_dim: Count | None = None
    routed_expert_hidden_size: Count | None = None
    vision_parameters: Count | None = None
    vision_whole_parameters: CountOrZero | None = None
    vision_heads: Count | None = None
    compress_ratio: Count | None = None
    compressed_layers: CountOrZero | None = None
    heavy_compress_ratio: Count | None = None
    heavy_layers: CountOrZero | None = None
    o_groups: Count | None = None
    o_lora_rank: Count | None = None
    hc_mult: Count | None = None
    num_hash_layers: CountOrZero | None = None
    sliding_window: Count | None = None
    full_attention_layers: CountOrZero | None = None
    num_nextn_predict_layers: CountOrZero | None = None
    draft_acceptance: AcceptanceName | None = None
    drafters: dict[DraftMethod, Drafter] = {}
    tie_word_embeddings: Flag = False
    max_position_embeddings: Count | None = None
    published: PublishedTotals | None = None

    @model_validator(mode="before")
    @classmethod
    def _counted(cls, raw: Any) -> Any:
        """Take the counts of layers from their runs; refuse a stated one that contradicts."""
        if not isinstance(raw, dict) or not isinstance(raw.get("layers"), list):
            return raw
        counts = layer_counts(raw["layers"], raw.get("attention"), any(
            raw.get(name) is not None for name in _ROUTED))
        if counts is None:  # each run is checked with the fields
            return raw | {"num_hidden_layers": raw.get("num_hidden_layers", 1)}
        needed, others = counts
        for name, count in (needed | others).items():
            stated = raw.get(name)
            written = stated.get("value") if isinstance(stated, dict) else stated
            if stated is not None and str(written) != str(count):
                raise ValueError(f"'{name}' is {str(written)[:40]}, but 'layers' adds up to "
                                 f"{count}: write {count}, or leave the key out")
        return raw | {name: {"value": count, "kind": "derived"}
                      for name, count in needed.items() if raw.get(name) is None}

    def violations(self) -> Iterator[Problem]:
        """Fields that contradict one another, or lack others."""
        for kind in (self.attention, *(["mixture-of-experts"] if self.is_moe else [])):
            for name in _NEEDED[kind]:
                if getattr(self, name) is None:
                    yield f"'{name}' is missing, a model with {kind} needs it"
        if not self.is_moe and (extra := [name for name in (
                *_EXPERTS, *GROUPS, "router_bias", "expert_bias") if getattr(self, name)]):
            yield f"'{extra[0]}' is given, but the model has no routed experts"
        for names in _TOGETHER:
            yield from together(self, *names)
        for name, other in _BESIDE.items():
            if getattr(self, name) and getattr(self, other) is None:
                yield f"'{name}' is given without '{other}'"
        for name, kinds in _ONLY.items():
            if getattr(self, name) and self.attention not in kinds:
                yield f"'{name}' is given, but only {' or '.join(kinds)} attention has it"
        for pair in _AT_MOST:
            yield from ordered(self, *pair)
        yield from self._violations_of_layers()
        yield from self._violations_of_shapes()

    def _violations_of_layers(self) -> Iterator[Problem]:
        """Runs of layers are of kinds that the other fields describe, and leave room."""
        runs = [part for run in self.layers or () for part in run.group or [run]]
        for run in runs:
            if self.attention not in OF_MODEL[str(run.attention)]:
                yield f"'layers' has {run.attention} attention, in a model with {self.attention}"
            for kind, name in _NEEDS.items():
                if kind in (run.attention, run.mlp) and getattr(self, name) is None:
                    yield f"'{name}' is missing, 'layers' has {kind} ones"
        kinds = {run.attention for run in runs} & {*RECURRENT}
        if len(kinds) > 1 or (kinds and ("mamba" in kinds) != self.linear_mamba):
            yield "'linear_mamba' says that layers are mamba or linear, 'layers' other ones"
        dense, bare, linear = (
            0 if count is None else count.value
            for count in (self.first_k_dense_replace, self.layers_without_mlp, self.linear_layers))
        if dense + bare > self.num_hidden_layers.value:
            yield "'layers_without_mlp' and 'first_k_dense_replace' exceed 'num_hidden_layers'"
        if linear >= self.num_hidden_layers.value:
            yield "'linear_layers' leaves no layer with a cache, which is not modelled"

    def _violations_of_shapes(self) -> Iterator[Problem]:
        """Heads, groups of experts, drafters and what an indexer picks from."""
        yield from _divides(self, "num_key_value_heads", "num_attention_heads")
        if self.window_num_key_value_heads or self.window_num_attention_heads:
            yield from _divides(self, *(
                f"window_{name}" if getattr(self, f"window_{name}") else name
                for name in ("num_key_value_heads", "num_attention_heads")))
        if self.n_group and self.topk_group and self.n_routed_experts and self.num_experts_per_tok:
            share = self.topk_group.value / self.n_group.value
            if self.topk_group.value > MOST_GROUPS:
                yield f"'topk_group' exceeds {MOST_GROUPS}, more are not modelled"
            if self.num_experts_per_tok.value > share * self.n_routed_experts.value:
                yield "'num_experts_per_tok' exceeds the experts of 'topk_group' groups"
        if self.mlp_matrices is not None and self.mlp_matrices.value not in (2, 3):
            yield f"'mlp_matrices' is '{self.mlp_matrices.written}', expected 3, or 2 without gate"
        if self.linear_mamba and (self.linear_decay_rank or self.linear_gate_rank):
            yield "'linear_mamba' has no 'linear_decay_rank' or 'linear_gate_rank'"
        if self.index_topk and self.attention != "gqa" and not (
                self.q_lora_rank and self.q_lora_rank.value):
            yield "'q_lora_rank' is missing, an indexer's queries come from that latent"
        if self.index_topk and self.sliding_window is not None and self.attention != CSA:
            yield "'sliding_window' is given, but a model with an indexer has no window"
        for drafter in self.drafters.values():
            if self.attention == CSA and drafter.layers is None:
                yield "'drafters' attend to every position, which csa attention does not"
            if drafter.vocab_size and drafter.vocab_size.value > self.vocab_size.value:
                yield "'vocab_size' of a drafter exceeds that of the model"

    @property
    def drafts(self) -> bool:
        """Whether a layer that drafts is published with it."""
        layers = self.num_nextn_predict_layers
        return layers is not None and layers.value > 0

    def drafter(self, method: str | None) -> Drafter | None:
        """The drafter of a method; None where it has none such, or its own layer is meant."""
        return next((item for name, item in self.drafters.items() if name == method), None)

    @property
    def is_moe(self) -> bool:
        """Whether any layer routes tokens to experts."""
        return any(getattr(self, name) is not None for name in _ROUTED)


LayerKind = Literal["full", "window", "mla", "sparse", "shared", "compressed", "heavy", "linear",
                    "mamba", "dense", "experts", "none"]
_REQUIRED = {  # fields that every model has, those of each attention, of experts and of rules
    "": ("hidden_size", "vocab_size", "num_attention_heads", "intermediate_size"),
    "mla": ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"),
    CSA: ("num_key_value_heads", "head_dim", "qk_rope_head_dim", "o_groups", "num_hash_layers",
          "sliding_window"),
    "experts": ("n_routed_experts", "num_experts_per_tok", "moe_intermediate_size"),
    "kimi_gates": ("linear_key_head_dim",), "pooled_keys": ("index_topk",), "linear": LINEAR[1:]}
Rule = Literal["kimi_gates", "pooled_keys", "picked_blocks"]


FieldName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]{1,80}$")]
Word = Annotated[str, Field(max_length=40)]  # one of a list in a configuration


def _divides(model: Model, part: str, number: str) -> Iterator[Problem]:
    """A count that has to divide another."""
    divisor, count = getattr(model, part).value, getattr(model, number).value
    if count % divisor:
        listed = ", ".join(str(other) for other in range(1, count + 1) if count % other == 0)
        yield (f"'{part}' is {divisor}, which does not divide '{number}', {count}: expected one "
               f"of {listed}")


def _listed(raw: Any) -> Any:
    return raw if isinstance(raw, list) else [raw]


def _plain(raw: Any) -> Any:
    """A value as JSON may hold it: a text, a number, a truth value, null or a list of such."""
    if not all(part is None or isinstance(part, (str, int, float)) for part in _listed(raw)):
        raise ValueError("expected a text, a number, true, false, null or a list of them")
    return raw


def _model_field(name: str) -> str:
    if name not in Model.model_fields:
        raise ValueError(f"'{name[:60]}' is no field of a model file, expected one of those "
                         "that `will-it-fit new model` prints")
    return name


ModelField = Annotated[FieldName, AfterValidator(_model_field)]
ModelFields = Annotated[list[ModelField], BeforeValidator(_listed), Field(min_length=1)]
Names = Annotated[list[FieldName], BeforeValidator(_listed), Field(min_length=1), WithJsonSchema(
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]})]
Plain = Annotated[Any, AfterValidator(_plain)]


class Implied(Entry):
    """What the modelling code has and no field of the configuration states.

    Attributes:
        value: of the model's field.
        why: stands as a comment in the model file.
    """

    value: int | bool | str
    why: Words = ""


class LayerField(Entry):
    """How one field of the configuration says what layers are.

    Without ``field`` it applies where no other says anything. Several that are stated must agree.

    Attributes:
        by: each, a word, a number or a letter per layer; blocks, the same, where mixers and
            networks are blocks of their own; numbers, a list of the layers; period, every so many
            layers; first, so many layers; switch, all layers where it is true; all, every layer.
        field: of the configuration.
        kinds: of each and blocks, what a word or letter means; null, nothing.
        kind: of the others, what a layer is that is meant.
        others: what the other layers are; absent, nothing is said of them.
        rest: a field that lists the other layers, if one does.
        offset: a field that says at which layer a period begins.
        start: the number of the first layer in a list.
        every: so many layers, of a period that no field states.
    """

    by: Literal["each", "blocks", "numbers", "period", "first", "switch", "all"]
    field: FieldName | None = None
    kinds: dict[Word, LayerKind | None] = {}
    kind: LayerKind | None = None
    others: LayerKind | None = None
    rest: FieldName | None = None
    offset: FieldName | None = None
    start: Annotated[int, Field(ge=0, le=1)] = 0
    every: Annotated[int, Field(ge=1, le=1000)] | None = None

    def violations(self) -> Iterator[Problem]:
        """What layers are is said in one way, of one kind."""
        listed = self.by in ("each", "blocks")
        if listed != bool(self.kinds) or listed == (self.kind is not None):
            yield f"'by' is {self.by}, expected {'kinds' if listed else 'kind'} alone beside it"
        if self.field is None and self.by != "all" and self.every is None:
            yield f"'field' is missing, a layer by {self.by} needs one"
        if len({kind in NETWORK_KINDS for kind in self.says}) > 1 and self.by != "blocks":
            yield "'kinds' mixes attention and networks, expected one of them or by: blocks"

    @property
    def says(self) -> list[str]:
        """Kinds of layers that it can name."""
        return [kind for kind in (*self.kinds.values(), self.kind, self.others) if kind]

    @property
    def of_networks(self) -> bool:
        """Whether it is about feed-forward networks; else about attention."""
        return all(kind in NETWORK_KINDS for kind in self.says) and bool(self.says)


class WindowOf(Entry):
    """Which fields say how far back layers with a window look.

    Attributes:
        fields: of the size; several that are stated must agree.
        switch: a field without which there is no window.
        comment: stands beside the size in the model file.
    """

    fields: Names
    switch: FieldName | None = None
    comment: Words = ""


class Lacking(Entry):
    """What no formula has of models of the family.

    Attributes:
        field: with which it is so, where it is stated; absent, always.
        value: of that field; absent, any but zero.
        text: both languages; ``{value}`` stands for the value of the field.
    """

    field: FieldName | None = None
    value: Plain = None
    text: Text


class Family(FileEntry):
    """How one ``model_type`` names what a model file holds.

    Attributes:
        like: another family, of which this one has what it does not say itself.
        also: further values of ``model_type`` that are the same.
        source, date: of the modelling code.
        code: its file.
        architectures: classes of ``architectures`` that are understood; none, any.
        attention: of the model file.
        fields: the model's field -> its names in the configuration, one of which must be stated;
            several that are stated must agree.
        experts: the same, of fields that only models with routed experts have.
        optional: the same, of fields that may be absent or null.
        shared_width: a field of the width of all shared experts together, a multiple of that of a
            routed one.
        may_be_zero, null_is_zero: of the model's fields.
        switches: field of the configuration -> the model's fields that it turns on.
        default_values: what the configuration class takes where a field is absent.
        same_as: field of the configuration -> that whose value it has where it is absent or null.
        implied: what the modelling code has and no field states.
        accepted: field of the configuration -> the values that are modelled; null among them: it
            may also be absent or null.
        groups: fields of the groups that a router picks experts from.
        prediction: fields that say how many layers predict further tokens; the first one stated.
        parts: objects in the configuration whose fields are read as OBJECT.FIELD; of each the
            fields that change no count.
        beside: parts of the configuration that are no part of the language model.
        ignored: fields that change no count.
        layers: what says what each layer is.
        window: what says how far back a window looks.
        rules: what takes code, by its name.
        missing: what no formula has.
    """

    like: FieldName | None = None
    also: list[FieldName] = []
    source: SourceKey
    date: Date | None = None
    code: Annotated[str, Field(pattern=r"^[\w./-]{1,120}$")]
    architectures: list[FieldName] = []
    attention: Literal["mla", "gqa", "csa"]
    fields: dict[ModelField, Names] = {}
    experts: dict[ModelField, Names] = {}
    optional: dict[ModelField, Names] = {}
    shared_width: FieldName | None = None
    may_be_zero: list[FieldName] = []
    null_is_zero: list[FieldName] = []
    switches: dict[FieldName, ModelFields] = {}
    default_values: dict[FieldName, Plain] = {}
    same_as: dict[FieldName, FieldName] = {}
    implied: dict[ModelField, Implied] = {}
    accepted: dict[FieldName, list[Plain]] = {}
    groups: list[FieldName] = []
    prediction: list[FieldName] = []
    parts: dict[FieldName, list[FieldName]] = {}
    beside: list[FieldName] = []
    ignored: list[FieldName] = []
    layers: list[LayerField] = []
    window: WindowOf | None = None
    rules: list[Rule] = []
    missing: list[Lacking] = []

    def violations(self) -> Iterator[Problem]:
        """Fields without which no model file can be written, and kinds of layers of the model."""
        for name, switched in self.switches.items():
            if lost := [ours for ours in switched
                        if Model.model_fields[ours].annotation is not bool]:
                yield f"'{lost[0]}' is no switch of a model file", "switches", name
        for name in self.implied:
            if name in self.fields:
                yield f"'{name}' is given under 'fields' too", "implied", name
        for name, other in self.same_as.items():
            if other in self.same_as:
                yield f"'{other}' is in turn that of another field", "same_as", name
        if len(self.groups) not in (0, 2):
            yield "'groups' names the groups and how many are picked, expected both"
        says = {kind for rule in self.layers for kind in rule.says}
        wanted = ["", self.attention, *self.rules, *(["linear"] if says & {*RECURRENT} else [])]
        needed = [name for key in wanted for name in _REQUIRED.get(key, ())]
        if not any(rule.by == "blocks" for rule in self.layers):
            needed.append("num_hidden_layers")
        for group, names in (("fields", needed),
                             ("experts", _REQUIRED["experts"] if self.experts else ())):
            if lacking := [name for name in names if name not in getattr(self, group)]:
                yield f"'{group}' lacks {lacking[0]}, which every model of the family has"
        for kind in says - {*NETWORK_KINDS}:
            if self.attention not in OF_MODEL[kind]:
                yield f"'layers' has {kind} attention, in a model with {self.attention}"
        if "experts" in says and not self.experts:
            yield "'experts' is missing, 'layers' names layers with experts"
        if "window" in says and self.window is None and self.attention != CSA:
            yield "'window' is missing, 'layers' names layers with one"

    @property
    def recognised(self) -> frozenset[str]:
        """Fields of the configuration that the family reads or knows."""
        fields = [self.shared_width, *self.switches, *self.default_values, *self.accepted,
                  *self.groups, *self.prediction]
        for names in (self.fields, self.experts, self.optional):
            fields += [name for group in names.values() for name in group]
        for rule in self.layers:
            fields += [rule.field, rule.rest, rule.offset]
        if self.window:
            fields += [*self.window.fields, self.window.switch]
        return frozenset(name for name in fields if name)
