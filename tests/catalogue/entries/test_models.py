"""The models: counted from shapes, held against what is published, in both codings."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calc
import catalogue
from calc.answer import published
from calc.physics.cache import cache
from calc.physics.decode_floor import mean_attended, mean_context
from calc.physics.shapes import count_parameters
from notebooks.derive.formulas.exported import computable, evaluate_all, load_formulas, select
from notebooks.derive.formulas.samples import random_inputs

MODELS = [name for name in catalogue.names("models") if name[:2] not in ("s0", "s1", "s2", "s3")]
FORMULAS = load_formulas()


class Count(NamedTuple):
    """What a model's shapes come to: whole model, one token, all routed experts."""

    total: int
    active: int
    routed: int


COUNTED = {
    "deepseek-v2-lite": Count(15_706_484_224, 2_451_435_008, 14_394_851_328),
    "deepseek-v3": Count(671_026_419_200, 36_625_618_432, 653_908_770_816),
    "deepseek-v3.1": Count(671_026_419_200, 36_625_618_432, 653_908_770_816),
    "deepseek-v3.2": Count(671_877_944_064, 37_477_143_296, 653_908_770_816),
    "deepseek-v4-flash": Count(284_332_241_239, 13_270_102_359, 277_025_390_592),
    "deepseek-v4.1-flash": Count(551_596_964_085, 15_846_717_685, 543_581_798_400),
    "deepseek-v4-pro": Count(1_572_997_202_915, 48_852_403_171, 1_547_396_186_112),
    "glm-5": Count(743_911_218_432, 40_833_146_112, 724_775_731_200),
    "glm-5.2": Count(743_377_019_904, 40_298_947_584, 724_775_731_200),
    "glm-5.3-flash": Count(313_321_104_707, 16_736_625_987, 304_405_807_104),
    "glm-4.5": Count(352_797_829_024, 32_856_319_904, 335_963_750_400),
    "gpt-oss-120b": Count(116_829_156_672, 5_132_849_472, 114_701_598_720),
    "kimi-k2": Count(1_026_408_232_448, 31_687_095_808, 1_014_686_023_680),
    "kimi-k2.5": Count(1_026_408_232_448, 31_687_095_808, 1_014_686_023_680),
    "llama-3.1-70b": Count(70_553_706_496, 69_503_033_344, 0),
    "llama-3.1-8b": Count(8_030_261_248, 7_504_924_672, 0),
    "minimax-m2.5": Count(228_689_336_320, 10_415_527_936, 224_680_476_672),
    "mixtral-8x7b": Count(46_702_792_704, 12_748_853_248, 45_097_156_608),
    "qwen2.5-72b": Count(72_706_203_648, 71_460_495_360, 0),
    "qwen3-235b-a22b": Count(235_093_634_560, 21_568_433_664, 227_096_395_776),
    "qwen3-30b-a3b": Count(30_532_122_624, 3_041_867_776, 28_991_029_248),
    "kimi-k3": Count(2_779_481_465_440, 104_186_602_080, 2_722_740_830_208),
    "minimax-m3": Count(426_174_558_336, 24_733_266_048, 413_122_166_784),
    "qwen3.5-397b-a17b": Count(396_346_104_576, 16_331_676_416, 386_547_056_640),
    "qwen3.6-35b-a3b": Count(34_660_528_768, 2_946_347_648, 32_212_254_720),
    "qwen3.8-2.4t-a95b": Count(2_419_803_944_320, 93_252_875_648, 2_370_821_947_392),
    "qwen3-8b": Count(8_190_735_360, 7_568_405_504, 0),
}
# Of which printed active parameters leave out the output head as well.
WITHOUT_HEAD = ("glm-5.2", "minimax-m2.5")
# Of which printed active parameters are with the layer that drafts.
WITH_MTP = ("glm-5.3-flash",)
# Of which every printed total is with a vision encoder that is not counted.
WITH_VISION = ("minimax-m3", "qwen3.5-397b-a17b")
INDEXED = ("deepseek-v3.2", "deepseek-v4-flash", "deepseek-v4-pro", "deepseek-v4.1-flash",
           "glm-5", "glm-5.1", "glm-5.2", "glm-5.3-flash", "minimax-m3")
STATEFUL = ("glm-5.3-flash", "kimi-k3", "qwen3.5-397b-a17b", "qwen3.6-35b-a3b", "qwen3.8-2.4t-a95b")
WINDOWED = ("deepseek-v4-flash", "deepseek-v4-pro", "deepseek-v4.1-flash", "gpt-oss-120b")

def model(name, **changed):
    """Every parameter count of a model of the catalogue, some of its shapes changed."""
    entry = catalogue.load_model(name)
    return count_parameters(entry.attention,
                            SimpleNamespace(**catalogue.model_inputs(entry) | changed))


def printing(name):
    """Models of which a published number exists."""
    return [each for each in MODELS if getattr(catalogue.load_model(each).published, name, None)]


class TestTheCatalogue:
    """Models, each of which a reader may look up by its name."""

    @pytest.mark.parametrize("name", COUNTED)
    def test_counts(self, name):
        counted = model(name)
        assert Count(counted.total_parameters, counted.active_parameters,
                     counted.routed_parameters) == COUNTED[name]

    @pytest.mark.parametrize("name", MODELS)
    def test_the_derivation_counts_the_same(self, name):
        entry = catalogue.load_model(name)
        wanted = ("total_parameters", "active_parameters", "routed_parameters",
                  "mtp_layer_parameters")
        shapes = catalogue.model_inputs(entry)
        derived = evaluate_all(
            computable(select(FORMULAS, entry.attention), shapes), shapes)
        counted = model(name)
        for quantity in wanted:
            assert derived[quantity] == getattr(counted, quantity), quantity

    @pytest.mark.parametrize("name", catalogue.names("models"))
    def test_what_differs_from_what_is_published_is_explained(self, name):
        """Beyond its bar a difference is one of the digits printed, or has a sentence."""
        for each in published.all_of(catalogue.load_model(name)):
            assert not each.beyond or each.rounded or each.theirs.note, each

    @pytest.mark.parametrize("name", MODELS)
    def test_every_model_is_held_against_a_count_and_an_engine(self, name):
        """Within a thousandth, or to the digits printed; its cache as some engine keeps it."""
        entry = catalogue.load_model(name)
        held = [each for each in published.counts(entry)
                if each.name != "active" and each.theirs]
        assert any(not each.beyond or each.rounded for each in held) or name in WITH_VISION
        assert list(published.caches(entry))

    @pytest.mark.parametrize("name", printing("stored_parameters"))
    def test_what_the_files_hold_is_counted_to_the_digit_printed(self, name):
        (stored,) = (each for each in published.counts(catalogue.load_model(name))
                     if each.name == "stored")
        assert stored.ours == stored.theirs.value or stored.rounded

    def test_digits_that_are_printed_decide_what_is_rounded(self):
        def beside(ours, **written):
            value = catalogue.load_model("deepseek-v3").published.total_parameters
            return published.Beside("bytes", "", ours, replace(value, **written))

        assert beside(671.4e9, value=671e9, written="671e9").rounded
        assert not beside(671.6e9, value=671e9, written="671e9").rounded
        assert beside(65.24e9, value=65.2e9, written="65.2 GB").rounded
        assert not beside(65.26e9, value=65.2e9, written="65.2 GB").rounded
        assert beside(65.9e9, value=65.2e9, written="65.2 GB").beyond

    def test_files_of_deepseek_v4_hold_the_layer_that_drafts(self):
        """160 GB and 865 GB, of which the main model is 156.0 and 850.7."""
        for name, main in (("deepseek-v4-flash", 156.0e9), ("deepseek-v4-pro", 850.7e9)):
            entry = catalogue.load_model(name)
            checkpoint, held = next(published.files(entry))
            without = checkpoint.model_copy(update={"drafts": False})
            assert held.rounded
            assert published.stored_bytes(entry, without, held.name) == pytest.approx(
                main, rel=1e-3)

    @pytest.mark.parametrize("name", printing("active_parameters"))
    def test_printed_active_counts_lie_about_the_two_ways_of_counting(self, name):
        """With the input embedding or without, to the digits printed (3% at two digits)."""
        printed = catalogue.load_model(name).published.active_parameters
        counted = model(name)
        low, high = counted.active_parameters, counted.active_parameters_with_embedding
        low -= counted.head_parameters if name in WITHOUT_HEAD else 0
        assert 0.97 * low <= printed.value <= (1.04 if name in WITH_MTP else 1.03) * high

    @pytest.mark.parametrize("name", MODELS)
    def test_classes_sum_to_the_total(self, name):
        by_class = calc.parameters_by_class(catalogue.load_model(name))
        assert sum(by_class.values()) == model(name).total_parameters

    def test_the_published_size_of_a_prediction_layer(self):
        """DeepSeek prints 11.5e9 of its own, without embedding and head."""
        assert model("deepseek-v3").mtp_layer_parameters == 11_610_068_224
        assert model("deepseek-v3").mtp_layer_parameters == pytest.approx(11.5e9, rel=0.01)

    def test_deepseek_v31_has_the_shapes_of_v3(self):
        old, new = (catalogue.model_inputs(catalogue.load_model(f"deepseek-v3{dot}"))
                    for dot in ("", ".1"))
        assert old == new


class TestTerms:
    """What each thing that a model may have adds to a layer."""

    @given(st.integers(0, 200))
    @settings(max_examples=40)
    def test_biases_of_queries_keys_and_values_are_one_number_per_output(self, seed):
        q = random_inputs(seed, "gqa", alike=True) | {"attention_bias": 0}
        without, with_bias = (count_parameters("gqa", SimpleNamespace(**q | {"attention_bias": on}))
                              for on in (0, 1))
        per_head = q["head_dim"]
        assert (with_bias.attention_divided_parameters - without.attention_divided_parameters
                == q["num_attention_heads"] * per_head)
        assert (with_bias.attention_kv_parameters - without.attention_kv_parameters
                == 2 * q["num_key_value_heads"] * per_head)
        assert with_bias.attention_replicated_parameters == without.attention_replicated_parameters

    @pytest.mark.parametrize(("switch", "of_layer", "more"), [
        ("attention_output_bias", "attention_replicated_parameters", 4096),
        ("qk_norm", "norm_parameters", 2 * 128),
        ("attention_sinks", "attention_divided_parameters", 32),
    ])
    def test_a_switch_adds_to_one_class_of_every_layer(self, switch, of_layer, more):
        """Llama 3.1 8B: width 4,096, 32 heads of 128, 32 layers."""
        off, on = (model("llama-3.1-8b", **{switch: value}) for value in (0, 1))
        assert getattr(on, of_layer) - getattr(off, of_layer) == more
        assert on.total_parameters - off.total_parameters == 32 * more

    def test_biases_of_experts_are_one_number_per_output_of_three_matrices(self):
        off, on = (model("mixtral-8x7b", expert_bias=value) for value in (0, 1))
        more = 14_336 + 14_336 + 4096
        assert on.routed_expert_parameters - off.routed_expert_parameters == more
        assert on.total_parameters - off.total_parameters == 32 * 8 * more
        assert on.active_parameters - off.active_parameters == 32 * 2 * more

    def test_shared_experts_have_no_biases(self):
        off, on = (model("deepseek-v3", expert_bias=value) for value in (0, 1))
        assert on.shared_expert_parameters == off.shared_expert_parameters

    def test_an_indexer_adds_four_tensors_on_every_rank(self):
        """[1536, 64·128], [7168, 128], [7168, 64] and a norm's weight and bias of 128."""
        plain, sparse = model("deepseek-v3"), model("deepseek-v3.2")
        assert (sparse.attention_replicated_parameters - plain.attention_replicated_parameters
                == 1536 * 64 * 128 + 7168 * 128 + 7168 * 64)
        assert sparse.norm_parameters - plain.norm_parameters == 2 * 128
        assert sparse.attention_divided_parameters == plain.attention_divided_parameters
        assert sparse.total_parameters - plain.total_parameters == 61 * 13_959_424

    def test_an_index_key_takes_132_bytes_per_token_and_layer(self):
        bytes_per_element = {
            "kv_cache_element_bytes": 2, "kv_rope_element_bytes": 2,
            "kv_index_element_bytes": catalogue.load_format("fp8-index128").bytes_per_element,
            "state_element_bytes": 4, "activation_element_bytes": 2, "tensor_parallel": 1,
            "block_size": 16, "state_blocks": 0}
        layer = [cache("mla", SimpleNamespace(
            **catalogue.model_inputs(catalogue.load_model(name)), **bytes_per_element)
        ).kv_layer_bytes_per_token for name in ("deepseek-v3", "deepseek-v3.2")]
        assert layer == [1152, 1152 + 132]

    def test_index_keys_are_on_every_rank(self):
        scenario = catalogue.load_scenario("s0-scenario-1", overrides=["model=deepseek-v3.2"])
        held = [calc.evaluate(scenario.inputs() | {"tensor_parallel": t}, "mla")
                ["kv_layer_bytes_per_token_per_device"] for t in (1, 8)]
        assert held[0] == held[1]

    def test_index_keys_are_stored_as_the_cache_is_unless_a_precision_says_otherwise(self):
        numbers = catalogue.precision_inputs(catalogue.load_precision("bf16"))
        assert numbers["kv_index_element_bytes"] == numbers["kv_cache_element_bytes"]

    def test_windows_do_not_lower_what_a_token_leaves(self):
        """gpt-oss: every layer is counted, as the memory page says; requests give blocks back."""
        scenario = catalogue.load_scenario("s0-scenario-1", overrides=[
            "model=gpt-oss-120b", "parallelism.tensor_parallel=8",
            "parallelism.expert_parallel=8"])
        found = calc.evaluate(scenario.inputs(), "gqa")
        assert found["kv_bytes_per_token"] == 36 * 2 * 8 * 64 * 2


def deployed(name, **changed):
    """Every quantity of a model on one rank, one request, 16 bits, some inputs changed."""
    entry = catalogue.load_model(name)
    inputs = (catalogue.load_scenario("s0-scenario-1").inputs() | catalogue.model_inputs(entry)
              | {"tensor_parallel": 1, "data_parallel": 1, "concurrency": 1} | changed)
    return calc.evaluate(inputs, entry.attention)


def read(name, context, **changed):
    """Bytes of cache that a step reads for one request with so much context."""
    return deployed(name, **{"input_tokens": context - 1, "output_tokens": 1} | changed)[
        "decode_kv_bytes"]


class TestReading:
    """What a step reads of the cache: all of it, what an indexer picks, or a window."""

    LATENTS, INDEX_KEYS = 61 * (512 + 64) * 2, 61 * 128 * 2  # bytes of a token, all layers
    GPT_OSS = 2 * 8 * 64 * 2  # bytes of a token, one layer

    @pytest.mark.parametrize("context", [1, 2, 2047, 2048])
    def test_while_all_tokens_are_picked_sparse_is_dense_and_the_index(self, context):
        assert read("deepseek-v3", context) == context * self.LATENTS
        assert (read("deepseek-v3.2", context)
                == read("deepseek-v3", context) + context * self.INDEX_KEYS)

    @pytest.mark.parametrize("context", [2048, 2049, 100_000])
    def test_beyond_the_pick_a_token_more_is_an_index_key_more(self, context):
        more = read("deepseek-v3.2", context + 1) - read("deepseek-v3.2", context)
        assert more == self.INDEX_KEYS

    @pytest.mark.parametrize("context", [1, 127, 128])
    def test_a_window_that_is_not_full_is_no_window(self, context):
        assert read("gpt-oss-120b", context) == context * 36 * self.GPT_OSS

    @pytest.mark.parametrize("context", [128, 129, 100_000])
    def test_beyond_the_window_only_the_other_layers_read_more(self, context):
        more = read("gpt-oss-120b", context + 1) - read("gpt-oss-120b", context)
        assert more == 18 * self.GPT_OSS

    @pytest.mark.parametrize("window", [0, 1, 128, 10**6])
    def test_if_every_layer_attends_to_everything_there_is_no_window(self, window):
        found = read("gpt-oss-120b", 5000, sliding_window=window, full_attention_layers=36)
        assert found == 5000 * 36 * self.GPT_OSS

    def test_if_every_layer_has_the_window_no_more_is_read(self):
        found = read("gpt-oss-120b", 5000, full_attention_layers=0)
        assert found == 128 * 36 * self.GPT_OSS

    @pytest.mark.parametrize("name", COUNTED)
    def test_a_model_without_either_reads_everything(self, name):
        entry = catalogue.load_model(name)
        numbers = catalogue.model_inputs(entry)
        assert (numbers["index_topk"] > 0) is (name in INDEXED)
        assert (numbers["sliding_window"] > 0) is (name in WINDOWED)
        layers = numbers["num_hidden_layers"] - numbers["linear_layers"]
        assert (numbers["linear_layers"] > 0) is (name in STATEFUL)
        assert numbers["full_attention_layers"] == (18 if name == "gpt-oss-120b" else layers)
        if name not in INDEXED + WINDOWED + STATEFUL:
            assert read(name, 5000) == 5000 * deployed(name)["kv_bytes_per_token"]

    @given(st.integers(1, 60), st.integers(0, 80), st.integers(1, 40))
    def test_the_mean_is_that_of_the_tokens_one_by_one(self, limit, prompt, output):
        seen = [min(prompt + i, limit) for i in range(1, output + 1)]
        found = mean_attended(limit, prompt, output)
        assert found == pytest.approx(sum(seen) / output, rel=1e-12)
        assert found <= min(limit, mean_context(prompt, output)) * (1 + 1e-12)
        assert mean_attended(0, prompt, output) == mean_context(prompt, output)

    def test_a_limit_met_on_the_way_holds_for_each_token_and_not_for_the_mean(self):
        assert mean_context(2, 4) == 4.5
        assert mean_attended(4, 2, 4) == (3 + 4 + 4 + 4) / 4

    @pytest.mark.parametrize("name", ["deepseek-v3", "deepseek-v3.2", "gpt-oss-120b"])
    @given(st.integers(0, 5000), st.integers(1, 300))
    @settings(max_examples=25, deadline=None)
    def test_a_longer_context_never_lowers_the_floor(self, name, prompt, output):
        base = deployed(name, input_tokens=prompt, output_tokens=output)["tpot"]
        for longer in ({"input_tokens": prompt + 1}, {"output_tokens": output + 1}):
            lengths = {"input_tokens": prompt, "output_tokens": output} | longer
            assert deployed(name, **lengths)["tpot"] >= base

    @pytest.mark.parametrize("name", ["deepseek-v3.2", "gpt-oss-120b"])
    def test_where_the_layers_lie_in_a_pipeline_makes_no_difference(self, name):
        assert len({read(name, 9000, pipeline_parallel=p) for p in (1, 2, 7, 36)}) == 1

    @pytest.mark.parametrize(("model", "context", "of_token", "of_requests"), [
        ("deepseek-v3", 4096, "exact", "exact"), ("deepseek-v3.2", 4096, "exact", "exact"),
        ("gpt-oss-120b", 128, "exact", "exact"),
        ("gpt-oss-120b", 129, "upper_bound", "estimate")])
    def test_what_a_token_leaves_is_a_bound_once_the_window_is_full(
            self, model, context, of_token, of_requests):
        answer = calc.estimate(catalogue.load_scenario("s0-scenario-1", overrides=[
            f"model={model}", f"workload.context_tokens={context}"])).quantities
        assert answer["kv_bytes_per_token"].kind == of_token
        assert answer["kv_per_device"].kind == of_requests
        assert answer["weights_per_device"].kind == "exact"
        assert answer["tpot_floor"].kind == "lower_bound"

    def test_a_window_without_a_number_of_full_layers_is_in_every_layer(self, tmp_path):
        text = (catalogue.ROOT / "models/gpt-oss-120b.yml").read_text("utf-8")
        file = tmp_path / "mine.yml"
        file.write_text("\n".join(line for line in text.splitlines()
                                  if not line.startswith("full_attention_layers")), "utf-8")
        assert catalogue.model_inputs(catalogue.load_model(str(file)))["full_attention_layers"] == 0


REFUSED = [
    ("deepseek-v3.2", "index_topk: 2048\n", "", "'index_topk' is missing, an indexer needs it"),
    ("deepseek-v3.2", "q_lora_rank: 1536", "q_lora_rank: 0", "'q_lora_rank' is missing"),
    ("deepseek-v3", "router_scoring: sigmoid", "attention_bias: true",
     "'attention_bias' is true, but it is counted with gqa attention only"),
    ("deepseek-v3", "router_scoring: sigmoid", "qk_norm: true", "'qk_norm' is true"),
    ("llama-3.1-8b", "num_hidden_layers: 32", "num_hidden_layers: 32\nlinear_layers: 8",
     "linear attention needs it"),
    ("llama-3.1-8b", "router_bias: false", "expert_bias: true", "'expert_bias' is given"),
    ("llama-3.1-8b", "router_bias: false", "router_bias: true", "'router_bias' is given"),
    ("llama-3.1-8b", "router_bias: false", "router_scoring: cosine", "router_scoring"),
    ("deepseek-v3", "n_group: 8\n", "", "'n_group' is missing, it goes with 'topk_group'"),
    ("deepseek-v3", "topk_group: 4", "topk_group: 9", "'topk_group' exceeds 'n_group'"),
    ("deepseek-v3", "n_group: 8\ntopk_group: 4", "n_group: 64\ntopk_group: 1",
     "'num_experts_per_tok' exceeds the experts of 'topk_group' groups"),
    ("deepseek-v3", "n_group: 8\ntopk_group: 4", "n_group: 16\ntopk_group: 16",
     "'topk_group' exceeds 8, more are not modelled"),
    ("llama-3.1-8b", "router_bias: false", "n_group: 8\ntopk_group: 4", "'n_group' is given"),
    ("gpt-oss-120b", "sliding_window: 128\n", "",
     "'full_attention_layers' is given without 'sliding_window'"),
    ("gpt-oss-120b", "value: 18,", "value: 37,",
     "'full_attention_layers' exceeds 'num_hidden_layers'"),
]


@pytest.mark.parametrize(("name", "old", "new", "told"), REFUSED)
def test_a_model_that_cannot_be_is_one_sentence(tmp_path, name, old, new, told):
    text = (catalogue.ROOT / "models" / f"{name}.yml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    file = tmp_path / "mine.yml"
    file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(catalogue.ParamsError) as error:
        catalogue.load_model(str(file))
    assert told in str(error.value)
    assert "\n" not in str(error.value)
