"""Random deployments that can be laid out, for tests: any shape, any parallelism, many edges."""

from __future__ import annotations

import random

from catalogue.entries.formulas import Symbol, symbols
from catalogue.reading.units import YEAR
from notebooks.derive.formulas.exported import COST, load_formulas, of_notebook

Number = int | float
CSA = "csa"
_POWERS = (1, 2, 4, 8, 16)
# of experts, and how many of them a token picks
GROUPS = ((1, 1), (1, 1), (8, 4), (8, 1), (4, 2), (3, 2), (16, 8), (6, 6))
_NO_STATE = dict.fromkeys(
    ("linear_mamba", "linear_layers", "linear_num_key_heads", "linear_num_value_heads",
     "linear_key_head_dim", "linear_value_head_dim", "linear_conv_kernel_dim",
     "linear_decay_rank", "linear_gate_rank"), 0)


def random_inputs(seed: int, attention: str, alike: bool = False) -> dict[str, Number]:
    """Every input symbol (SI) of a random valid deployment, the same for the same seed.

    Dense and MoE; experts over fewer and more ranks than tensor parallelism; more ranks than key
    and value heads; uneven pipelines; tied heads; biases, norms of queries and keys, sinks and
    indexers; picks and windows that are met before, on, during and after decode, or never; and,
    every other time, quotients that are whole, so that ceil and floor are met on their edges.

    Args:
        seed: of the deployment.
        attention: ``mla``, ``gqa`` or ``csa``.
        alike: whether all layers attend alike, and experts are as wide outside as the model.
    """
    def stream(name: str) -> random.Random:
        return random.Random(f"{name} {attention} {seed}")

    draw, edge = random.Random(f"{attention} {seed}"), bool(seed % 2)
    inputs: dict[str, Number] = {
        name: stream(name).choice(known.samples)
        for name, known in symbols().items() if known.kind and known.samples}
    inputs |= _model(draw, attention)
    inputs |= _networks(stream("networks"), inputs, alike) | _tower(stream("tower"))
    t = inputs["tensor_parallel"] = draw.choice(_POWERS)
    heads = inputs["num_attention_heads"] = t * draw.choice((1, 2) if edge else (1, 2, 3))
    inputs["num_key_value_heads"] = draw.choice(_divisors(heads, t))
    inputs |= _window_heads(stream("heads"), inputs, attention, alike or edge)
    inputs["intermediate_size"] = t * draw.randint(1, 400)
    inputs["moe_intermediate_size"] *= t
    data = inputs["data_parallel"] = draw.choice((1, 2, 3, 4))
    inputs["pipeline_parallel"] = draw.randint(1, min(int(inputs["num_hidden_layers"]), 12))
    _experts(draw, inputs, int(t * data))
    inputs |= {
        "concurrency": data * draw.randint(1, 64) if edge else draw.randint(1, 256),
        "context_tokens": inputs["block_size"] * draw.randint(1, 99) if edge
        else draw.randint(1, 20_000),
        "decode_context_parallel": _context(stream("context"), inputs, attention),
        **dict(zip(("n_group", "topk_group"), draw.choice(GROUPS), strict=True))}
    inputs |= _apart(stream("apart"), inputs)
    inputs |= _sliced(stream("sliced"), inputs)
    return inputs | _of_layers(stream("layers"), inputs, attention, alike)


def _divisors(count: int, ranks: int) -> list[int]:
    """Divisors of a count that are divisors or multiples of so many ranks."""
    return [n for n in range(1, count + 1)
            if count % n == 0 and (n % ranks == 0 or ranks % n == 0)]


def _of_layers(draw: random.Random, inputs: dict[str, Number], attention: str,
               alike: bool) -> dict[str, Number]:
    """What some layers have: an indexer, compressed entries; and streams of the residual."""
    layers, index = int(inputs["num_hidden_layers"]), bool(inputs["index_n_heads"])
    found: dict[str, Number] = {
        "indexer_layers": draw.choice((layers, draw.randint(1, layers))) if index else 0,
        "compress_ratio": 1, "heavy_compress_ratio": 1, "compressed_layers": 0, "heavy_layers": 0,
        "o_groups": 0, "o_lora_rank": 0, "hc_mult": draw.choice((1, 1, 2, 4))}
    own = random.Random(f"kinds of layers {attention} {draw.random()}")
    narrow = own.choice((1, 1, 2)) if inputs["n_routed_experts"] else 1
    found |= {"attention_output_gate": own.randint(0, 1) if attention != CSA else 0,
              "routed_expert_hidden_size": int(inputs["hidden_size"]) // narrow}
    if attention == "gqa" and not alike and own.random() < 0.4:  # blocks are picked, by tokens
        index = True
        found |= {"index_n_heads": own.choice((2, 4)), "index_head_dim": own.choice((32, 128)),
                  "index_topk": own.choice((64, 300, 4100)), "indexer_layers": layers,
                  "selection_traffic": own.choice((0, 12)), "decode_context_parallel": 1}
    found |= _linear(own, inputs | found, attention)
    full = int(found.get("full_attention_layers", inputs["full_attention_layers"]))
    found["sparse_layers"] = own.choice((full, own.randint(0, full))) if index else full
    if alike:
        found |= _NO_STATE | {
            "attention_output_gate": 0, "routed_expert_hidden_size": inputs["hidden_size"],
            "sparse_layers": inputs["full_attention_layers"],
            "full_attention_layers": inputs["full_attention_layers"]}
    if attention != CSA:
        return found
    picked = draw.randint(1, layers)
    t = int(inputs["tensor_parallel"])
    return found | {
        "indexer_layers": draw.randint(1, picked), "compressed_layers": picked,
        "selection_traffic": draw.choice((0, 12)),
        "heavy_layers": draw.randint(0, layers - picked), "full_attention_layers": layers,
        "window_num_key_value_heads": 1,
        "sparse_layers": layers,
        "compress_ratio": draw.choice((2, 4)), "heavy_compress_ratio": draw.choice((8, 128)),
        "o_groups": t * draw.randint(1, 2), "o_lora_rank": draw.choice((16, 64)),
        "q_lora_rank": draw.choice((192, 1536)), "qk_rope_head_dim": 16,
        "head_dim": draw.choice((64, 128)), "num_key_value_heads": 1,
        "index_n_heads": draw.choice((4, 64)), "index_head_dim": draw.choice((32, 128)),
        "index_topk": draw.choice((1, 64, 300)), "sliding_window": draw.choice((9, 127)),
        "attention_sinks": draw.randint(0, 1), "decode_context_parallel": 1,
        "window_blocks_freed": 0}


def _linear(draw: random.Random, inputs: dict[str, Number], attention: str) -> dict[str, Number]:
    """Linear attention in some of the layers, or in none; what is left attends to a cache."""
    layers, t = int(inputs["num_hidden_layers"]), int(inputs["tensor_parallel"])
    if attention == CSA or layers < 2 or draw.random() < 0.6:
        return dict(_NO_STATE)
    linear = draw.randint(1, layers - 1)
    indexed = int(inputs.get("indexer_layers", 0))
    mamba = int(random.Random(f"mamba {attention} {layers} {linear} {t}").random() >= 0.5)
    found: dict[str, Number] = {
        "linear_layers": linear, "linear_num_key_heads": t * draw.randint(1, 2),
        "linear_num_value_heads": t * draw.randint(1, 4),
        "linear_key_head_dim": draw.choice((64, 128)),
        "linear_value_head_dim": draw.choice((64, 128)),
        "linear_conv_kernel_dim": draw.choice((2, 4)),
        "linear_decay_rank": draw.choice((0, 64)), "linear_gate_rank": draw.choice((0, 64)),
        "full_attention_layers": min(int(inputs["full_attention_layers"]), layers - linear),
        **({"indexer_layers": min(indexed, layers - linear)} if indexed else {}),
        "linear_mamba": mamba}
    if mamba:  # Mamba-2 has matrices of full rank
        found |= {"linear_decay_rank": 0, "linear_gate_rank": 0}
    return found


def _networks(draw: random.Random, inputs: dict[str, Number], alike: bool) -> dict[str, Number]:
    """Feed-forward networks without a gate in some models, and layers without any network."""
    found: dict[str, Number] = {"mlp_matrices": draw.choice((3, 3, 2)), "layers_without_mlp": 0}
    layers, dense = int(inputs["num_hidden_layers"]), int(inputs["first_k_dense_replace"])
    if alike or draw.random() < 0.6:
        return found
    if not inputs["n_routed_experts"]:
        found["layers_without_mlp"] = draw.randint(0, layers // 2)
        return found | {"first_k_dense_replace": layers - found["layers_without_mlp"]}
    return found | {"layers_without_mlp": draw.randint(0, (layers - dense) // 2)}


def _window_heads(draw: random.Random, inputs: dict[str, Number], attention: str, same: bool
                  ) -> dict[str, Number]:
    """Values of another width than keys, and other heads in layers with a window, in some models.

    The same heads where parts of a block have to be exact.
    """
    names = ("num_attention_heads", "num_key_value_heads", "head_dim", "v_head_dim")
    own: dict[str, Number] = {"value_from_key": 0}
    if attention == "gqa":
        keys = int(inputs["head_dim"])
        own["v_head_dim"] = draw.choice((keys, keys, keys // 2))
    heads = own | {f"window_{name}": own.get(name, inputs[name]) for name in names}
    if attention != "gqa" or same or draw.random() < 0.4:
        return heads
    t = int(inputs["tensor_parallel"])
    query = t * draw.choice((1, 2, 4))
    return heads | {
        "value_from_key": draw.randint(0, 1), "window_num_attention_heads": query,
        "window_num_key_value_heads": draw.choice(_divisors(query, t)),
        "window_head_dim": draw.choice((32, 64, 192)),
        "window_v_head_dim": draw.choice((32, 64, 128))}


def _context(draw: random.Random, inputs: dict[str, Number], attention: str) -> int:
    """Over how many ranks a cache is dealt: of MLA any that divides, of GQA those with copies."""
    if inputs["index_n_heads"] and attention != "mla":
        return 1
    t = int(inputs["tensor_parallel"])
    kv = max(int(inputs[f"{kind}num_key_value_heads"]) for kind in ("", "window_"))
    copies = t if attention == "mla" else max(1, t // kv)
    return draw.choice([n for n in range(1, copies + 1) if copies % n == 0])


def _apart(draw: random.Random, inputs: dict[str, Number]) -> dict[str, Number]:
    """Shared experts on ranks of their own, in some layouts that can be cut so, or none."""
    ranks, routed = inputs["tensor_parallel"] * inputs["data_parallel"], inputs["n_routed_experts"]
    if not routed or not inputs["n_shared_experts"] or ranks < 2 or draw.random() < 0.5:
        return {"shared_expert_ranks": 0}
    shared = draw.randint(1, int(ranks) - 1)
    copies = -routed % (ranks - shared) + draw.choice((0, ranks - shared))
    return {"tensor_parallel": 1, "data_parallel": ranks, "expert_parallel": ranks,
            "decode_context_parallel": 1, "redundant_experts": copies, "exchange_normal": 0,
            "exchange_gathered": 0, "shared_expert_ranks": shared}


def _sliced(draw: random.Random, inputs: dict[str, Number]) -> dict[str, Number]:
    """Slices of experts that are asked for, over data-parallel ranks too, in some layouts, or none.

    Expert parallelism is a divisor of what it was, so that experts can still be dealt out; the
    ranks are a power of two: bytes are the same numbers in whatever order they are divided.
    """
    t, data = int(inputs["tensor_parallel"]), int(inputs["data_parallel"])
    if not inputs["n_routed_experts"] or inputs["shared_expert_ranks"] or draw.random() < 0.6:
        return {"expert_tensor_parallel": 0}
    ranks, before = t * data, int(inputs["expert_parallel"])
    cuts = [(e, group // e) for group in range(t, ranks + 1, t)
            if ranks % group == 0 and group.bit_count() == 1
            for e in range(1, before + 1) if before % e == 0 and group % e == 0]
    e, slices = draw.choice(cuts)
    found = {"expert_parallel": e, "expert_tensor_parallel": slices,
             "moe_intermediate_size": inputs["moe_intermediate_size"] * e * slices // t}
    return found | ({"exchange_normal": 0} if slices > 1 and e * slices > t else {})


def _model(draw: random.Random, attention: str) -> dict[str, Number]:
    """Shapes of a model; an indexer goes with a query latent, a window is in some or all layers."""
    layers, lengths = draw.randint(1, 40), (1, 64, 128, 129, 130, 300, 4100, 4608, 9000)
    switches = ("attention_bias", "attention_output_bias", "qk_norm", "attention_sinks")
    inputs: dict[str, Number] = {
        "num_hidden_layers": layers, "hidden_size": 64 * draw.randint(1, 64),
        "vocab_size": draw.randint(100, 50_000), "router_bias": draw.randint(0, 1),
        "separate_head": draw.randint(0, 1), "first_k_dense_replace": layers,
        "full_attention_layers": layers, **dict.fromkeys((
            *switches, "n_routed_experts", "n_shared_experts", "num_experts_per_tok",
            "moe_intermediate_size", "head_dim", "q_lora_rank", "kv_lora_rank",
            "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "index_n_heads",
            "index_head_dim", "selection_traffic", "index_topk", "sliding_window"), 0)}
    if attention == "gqa":
        inputs["head_dim"] = draw.choice((32, 64, 128))
    elif attention != CSA:
        inputs |= {"q_lora_rank": draw.choice((0, 192, 1536)), "kv_lora_rank": 128,
                   "qk_nope_head_dim": 32, "qk_rope_head_dim": 16,
                   "v_head_dim": draw.choice((32, 48))}
    if draw.random() < 0.7:
        inputs |= {"first_k_dense_replace": draw.randint(0, layers),
                   "n_shared_experts": draw.randint(0, 2),
                   "moe_intermediate_size": 16 * draw.randint(1, 16),
                   "n_routed_experts": -1}  # chosen once the parallelism is
    inputs["expert_bias"] = draw.randint(0, 1)
    if attention == "gqa":
        inputs |= {name: draw.randint(0, 1) for name in switches}
    elif attention != CSA and draw.random() < 0.5:
        inputs |= {"q_lora_rank": draw.choice((192, 1536)), "index_n_heads": draw.choice((4, 64)),
                   "index_head_dim": draw.choice((32, 128)),
                   "selection_traffic": draw.choice((0, 12)), "index_topk": draw.choice(lengths)}
    if draw.random() < 0.5:
        inputs |= {"sliding_window": draw.choice(lengths),
                   "full_attention_layers": draw.randint(0, layers)}
    return inputs


def _tower(draw: random.Random) -> dict[str, Number]:
    """The vision tower that some models have."""
    has = draw.random() < 0.4
    return {"vision_parameters": has * draw.randint(10, 500) * 1000,
            "vision_whole_parameters": has * draw.randint(0, 9) * 1000,
            "vision_heads": has * draw.choice((12, 16))}


def _experts(draw: random.Random, inputs: dict[str, Number], ranks: int) -> None:
    """Number of experts and expert parallelism; both are multiples that can be laid out."""
    inputs |= {"expert_parallel": 1, "redundant_experts": 0}
    if not inputs["n_routed_experts"]:
        return
    t = int(inputs["tensor_parallel"])
    e = inputs["expert_parallel"] = draw.choice(_divisors(ranks, t))
    physical = e * draw.randint(1, 32)
    copies = inputs["redundant_experts"] = draw.choice((0, 0, draw.randint(0, physical - 1)))
    inputs["n_routed_experts"] = physical - copies
    inputs["num_experts_per_tok"] = draw.randint(1, min(8, int(inputs["n_routed_experts"])))


SERVER_CARDS, MOST_SERVERS = 8, 9
# of any length, where a step's formulas are checked at a few
COST_LENGTHS = {"output_tokens": (1, 4000), "input_tokens": (1, 9000)}


def random_costs(seed: int) -> dict[str, float]:
    """What the formulas of the chapter on cost start from, of a random deployment, in SI units.

    Args:
        seed: of the deployment, which is paid back some day.
    """
    formulas = of_notebook(load_formulas(), COST)
    names = frozenset().union(*(formula.needs for formula in formulas.values())) - formulas.keys()
    draw = random.Random(f"costs {seed}")
    servers = draw.randint(1, MOST_SERVERS)
    capital, rate = draw.uniform(1e4, 1e7), draw.uniform(0.01, 0.2)
    fixed = {
        "tensor_parallel": draw.choice((1, SERVER_CARDS)), "own_cards": SERVER_CARDS * servers,
        "servers": servers, "discount_rate": rate, "cost_capital": capital, "year_time": YEAR,
        "price_residual": draw.uniform(0, capital),
        "money_surplus": capital * rate * draw.uniform(1.1, 9),
        **{name: draw.randint(*ends) for name, ends in COST_LENGTHS.items()}}
    return fixed | {name: _cost_sample(random.Random(f"{name} {seed}"), symbols()[name])
                    for name in sorted(names - fixed.keys())}


def _cost_sample(draw: random.Random, symbol: Symbol) -> float:
    if symbol.range is None:
        return draw.choice(symbol.samples)
    low, high = symbol.range
    return draw.randint(int(low), int(high)) if symbol.whole else draw.uniform(low, high)
