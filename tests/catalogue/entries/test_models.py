"""Models: counted from their shapes, compared with what is published, in both codings."""

import pytest
from _models import deployed, weight_bytes

import calc
import catalogue
from calc.answer import model_sizes
from notebooks.derive.formulas.exported import computable, evaluate_all, load_formulas, select

FORMULAS = load_formulas()
MODELS = [name for name in catalogue.names("models") if not name.startswith("s0-")]
WITHOUT_HEAD = ("glm-5.2", "minimax-m2.5")  # as their printed active parameters are
WITH_DRAFTS = ("glm-5.3-flash",)  # the same, with what a prediction layer activates
# every printed total, with an encoder or by a name that rounds down
WITH_VISION = ("minimax-m3", "qwen3.5-397b-a17b", "llama-4-scout", "kimi-linear-48b")
ACTIVE = [name for name in MODELS if catalogue.load_model(name).published.active_parameters]
GPT_OSS = 2 * 8 * 64 * 2  # of a token in one layer [B]
GIB = 2**30


def read(name, context, **changed):
    """Bytes of cache that a step reads for one request with so much context."""
    return deployed(name, **{"input_tokens": context - 1, "output_tokens": 1} | changed)[
        "decode_kv_bytes"]


@pytest.mark.parametrize("name", MODELS)
def test_parameters_in_both_codings_and_as_published(name):
    """Within a thousandth or the digits printed, or the difference is explained."""
    model = catalogue.load_model(name)
    counted = tuple(calc.parameters(model).values())
    assert sum(calc.parameters_by_class(model).values()) == counted[0]
    shapes = catalogue.model_inputs(model)
    derived = evaluate_all(computable(select(FORMULAS, model.attention), shapes), shapes)
    assert tuple(derived[f"{kind}_parameters"] for kind in ("total", "active", "routed")) == counted
    counts, caches = list(model_sizes.counts(model)), list(model_sizes.caches(model))
    for each in (*counts, *(each for _, each in model_sizes.files(model)),
                 *(each for _, *row in caches for each in row if each)):
        assert not each.theirs or not each.beyond or each.rounded or each.theirs.note, each
    assert name in WITH_VISION or any(
        each.theirs and (not each.beyond or each.rounded)
        for each in counts if each.name != "active")
    assert caches


@pytest.mark.parametrize("name", ACTIVE)
def test_printed_active_parameters_lie_between_the_two_ways_of_counting(name):
    """With the input embedding or without, to the digits printed (3% at two digits)."""
    model, counted = catalogue.load_model(name), deployed(name)
    low, high = counted["active_parameters"], counted["active_parameters_with_embedding"]
    low -= counted["head_parameters"] if name in WITHOUT_HEAD else 0
    if name in WITH_DRAFTS:
        high += counted["mtp_layer_parameters"] - counted["routed_expert_parameters"] * (
            model.n_routed_experts.value - model.num_experts_per_tok.value)
    assert 0.97 * low <= model.published.active_parameters.value <= 1.03 * high


@pytest.mark.parametrize(("context", "changed", "layers"), [
    (1, {}, 36), (127, {}, 36), (128, {}, 18), (100_000, {}, 18),
    (5000, {"sliding_window": 1, "full_attention_layers": 36}, 36),
    (5000, {"full_attention_layers": 0}, 0)])
def test_beyond_a_window_only_the_other_layers_read_more(context, changed, layers):
    more = (read("gpt-oss-120b", context + 1, **changed)
            - read("gpt-oss-120b", context, **changed))
    assert more == layers * GPT_OSS
    assert read("gpt-oss-120b", 5000, full_attention_layers=0) == 128 * 36 * GPT_OSS
    assert deployed("gpt-oss-120b")["kv_bytes_per_token"] == 36 * GPT_OSS  # blocks are given back


def as_published(name):
    """Quantities of a model in the precision of its published weights."""
    entry = catalogue.load_model(name)
    precision = catalogue.load_precision(entry.weights.precision)
    return deployed(name, block_size=64, **catalogue.precision_inputs(precision))


def test_v41_beside_sglang():
    """Four layers own the cache; tables of n-grams lie beside the weights, and are not counted.

    Published numbers are of AISimulate 0.13.0 (pypi.org/project/aisimulate), deepseek_v41.py.
    """
    model = catalogue.load_model("deepseek-v4.1-flash")
    found = as_published(model.id)
    assert found["total_parameters"] == pytest.approx(551_503_790_080, rel=1e-3)
    assert found["active_parameters"] == pytest.approx(15_753_543_680, rel=0.01)
    tables = (384_006_168 + 384_016_682) * (256 + 8)  # rows of FP8, a scale per 32
    assert weight_bytes(model.id, model.weights.precision) + tables == (
        pytest.approx(500_821_003_280, rel=1e-3))
    assert found["kv_bytes_per_token"] == 3 * (584 + 68) / 2 + 584 + 68
    window, gathered = 40 * 128 * 584, 2 * 2 * 2 * 2 * 5 * (512 + 128) * 4
    assert found["state_bytes_per_request"] == window + gathered


def test_glm_53_flash_beside_vllm():
    """States in three of four layers, index keys of four tokens in the others."""
    model = catalogue.load_model("glm-5.3-flash")
    found = as_published(model.id)
    total, drafts = found["total_parameters"], found["mtp_layer_parameters"]
    assert total + drafts == pytest.approx(321e9, rel=1e-3)  # printed, as the next
    idle = (model.n_routed_experts.value - model.num_experts_per_tok.value) * 3 * 4096 * 2048
    assert found["active_parameters"] + found["embedding_parameters"] + drafts - idle == (
        pytest.approx(18e9, abs=0.5e9))
    assert 298 < weight_bytes(model.id, model.weights.precision) / GIB < 299
    assert found["kv_bytes_per_token"] == pytest.approx(11 * (512 + 16 + 132 / 4), rel=1e-12)
    assert found["state_bytes_per_request"] == 34 * (64 * 128 * 128 * 4 + 3 * 8192 * 3 * 2)


RUNS = """layers:
  - {attention: mamba, mlp: dense}
  - {times: 2, group: [{attention: mamba, mlp: experts, times: 2}, {attention: full, mlp: none}]}
  - {attention: window, mlp: experts}
"""
MIXED = {  # of those runs: 1 + 2 * 3 + 1 layers, of which 1 + 2 * 2 keep a state
    "num_hidden_layers": 8, "linear_layers": 5, "full_attention_layers": 2, "layers_without_mlp": 2,
    "first_k_dense_replace": 1}


@pytest.fixture
def mixed(tmp_path):
    """A model of runs of layers: its file with lines changed or added."""
    def write(runs=RUNS, **stated):
        fields = {
            "name": "{en: Mine, zh: 我的}", "defaults": "{source: s0, kind: assumed}",
            "attention": "gqa", "hidden_size": 64, "vocab_size": 100, "num_attention_heads": 4,
            "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 128,
            "moe_intermediate_size": 32, "n_routed_experts": 4, "n_shared_experts": 0,
            "num_experts_per_tok": 2, "sliding_window": 8, "linear_mamba": "true",
            "linear_num_key_heads": 1, "linear_num_value_heads": 4, "linear_key_head_dim": 16,
            "linear_value_head_dim": 16, "linear_conv_kernel_dim": 4} | stated
        path = tmp_path / "mine.yml"
        lines = [f"{name}: {value}\n" for name, value in fields.items() if value is not None]
        path.write_text("".join(lines) + runs, "utf-8")
        return path
    return write


def test_runs_of_layers_add_up_to_the_counts(mixed):
    model = catalogue.load_model(mixed())
    assert {name: getattr(model, name).value for name in MIXED} == MIXED
    assert catalogue.model_inputs(catalogue.load_model(mixed(**MIXED))) == (
        catalogue.model_inputs(model))


@pytest.mark.parametrize("name", MIXED)
def test_a_count_that_contradicts_the_runs_is_refused_at_its_line(mixed, name):
    path = mixed(**{name: MIXED[name] + 1})
    line = 1 + path.read_text("utf-8").splitlines().index(f"{name}: {MIXED[name] + 1}")
    with pytest.raises(catalogue.ParamsError, match=f"^{path}:{line}: '{name}' is "):
        catalogue.load_model(path)


@pytest.mark.parametrize(("runs", "changed", "key"), [
    ("layers: [{attention: mamba, mlp: dense}, {attention: mla, mlp: dense}]\n", {}, "layers"),
    ("layers: [{attention: linear, mlp: dense}, {attention: full, mlp: dense}]\n", {},
     "linear_mamba"),
    ("layers: [{attention: fall, mlp: dense}]\n", {}, "layers.0.attention"),
    ("layers: [{attention: full}]\n", {}, "mlp"), (RUNS, {"sliding_window": None},
                                                   "sliding_window"),
    ("layers: [{times: 0, attention: full, mlp: dense}]\n", {}, "layers.0.times")])
def test_runs_that_are_no_layers_of_the_model(mixed, runs, changed, key):
    with pytest.raises(catalogue.ParamsError, match=key):
        catalogue.load_model(mixed(runs, **changed))
