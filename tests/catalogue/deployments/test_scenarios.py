"""A deployment, resolved: what is refused, with its place; what an override does."""

import pytest
from _door import DEVICE, sentence

import catalogue
from catalogue import library, naming
from catalogue.deployments import family


class TestScenarios:
    """A deployment that cannot be laid out is refused; overrides are checked like files."""

    @pytest.mark.parametrize(("setting", "says"), [
        ("parallelism.tensor_parallel=7", "14 devices, but the cluster has 16"),
        ("parallelism.data_parallel=3", "24 devices, but the cluster has 16"),
        ("parallelism.expert_parallel=3", "expert_parallel of 3"),
        ("parallelism.decode_context_parallel=3", "3 does not divide tensor_parallel 8"),
        ("parallelism.decode_context_parallel=16", "16 exceeds tensor_parallel 8"),
        ("parallelism.decode_context_parallel=0", "out of range"),
        ("parallelism.tensor_parallel=0", "out of range"),
        ("parallelism.tensor_parallel=8.5", "not a whole number"),
        ("device=ascend-910b22", "nearest names are ascend-910b2"),
        ("device=kunpeng-920", "host processor"),
        ("device.memory_bandwidth=400 GB", "wrong unit"),
        ("device.memory_bandwith=1 TB/s", "unknown key"),
        ("precision.weights.head=fp9", "fp9"),
        ("workload.concurrency=nan", "not a quantity"),
        ("workload.concurrency=1e300", "out of range"),
        ("workload=3", "is a section"),
        ("nothing.here=3", "rooted at one of"),
        ("workload.prefix_hit_share=0.5", "'workload' has no 'prefix_hit_share', expected "
         "mechanisms.prefix_hit_share=0.5"),
        ("mechanisms.tensor_parallel=4", "expected parallelism.tensor_parallel=4"),
        ("workload.concurrency", "expected PATH=VALUE"),
        ("model.num_attention_heads.x=3", "holds no keys"),
    ])
    def test_overrides(self, setting, says):
        assert says in sentence(catalogue.load_scenario, "s0-scenario-1", overrides=[setting])

    @pytest.mark.parametrize(("deployment", "settings", "says"), [
        ("h20-qwen3-8b", ["cluster.devices=2", "parallelism.tensor_parallel=2"],
         "of 8 num_key_value_heads of 'qwen3-8b' 2 tensor-parallel ranks keep 1"),
        ("h200-v32-vllm-tp8", [], "2 of a model with an indexer is not derived"),
    ])
    def test_a_cache_that_cannot_be_dealt(self, deployment, settings, says):
        """Of grouped-query attention only copies are dealt; keys of an indexer are whole."""
        message = sentence(catalogue.load_scenario, deployment, overrides=[
            *settings, "parallelism.decode_context_parallel=2"])
        assert message.startswith("--set parallelism.decode_context_parallel:")
        assert says in message

    def test_heads_that_do_not_divide(self):
        settings = ["cluster.nodes=3", "parallelism.tensor_parallel=24",
                    "parallelism.data_parallel=1"]
        message = sentence(catalogue.load_scenario, "s0-scenario-1", overrides=settings)
        assert "does not divide num_attention_heads 128" in message
        assert message.startswith("--set parallelism.tensor_parallel:")

    @pytest.mark.parametrize(("ranks", "copies"), [
        (48, 32), (72, 32), (96, 32), (144, 32), (320, 64), (64, 0), (128, 128)])
    def test_experts_and_copies_are_dealt_out_together(self, ranks, copies):
        settings = ["parallelism.tensor_parallel=1", f"parallelism.data_parallel={ranks}",
                    f"parallelism.expert_parallel={ranks}", f"cluster.nodes={ranks // 8}"]
        asked = [*settings, f"parallelism.redundant_experts={copies}"]
        inputs = catalogue.load_scenario("s0-scenario-1", overrides=asked).inputs()
        assert inputs["redundant_experts"] == copies
        if 256 % ranks:  # without them, the sentence says how many it takes
            says = sentence(catalogue.load_scenario, "s0-scenario-1", overrides=settings)
            assert f"redundant_experts of {copies} would" in says

    def test_no_copies_unless_asked_for(self):
        assert catalogue.load_scenario("s0-scenario-1").inputs()["redundant_experts"] == 0

    def test_what_a_share_covers_is_the_engine_s(self):
        """vLLM's covers everything, SGLang's weights and cache."""
        covers = {name: catalogue.load_scenario(name).inputs()["activations_in_share"]
                  for name in ("h200-r1-vllm-tp8", "h200-r1-sglang-tp8")}
        assert covers == {"h200-r1-vllm-tp8": 1, "h200-r1-sglang-tp8": 0}

    @pytest.mark.parametrize(("settings", "says"), [
        (["model=llama-3.1-70b", "parallelism.redundant_experts=8"], "has no experts, expected 0"),
        (["parallelism.expert_parallel=16", "parallelism.redundant_experts=3"],
         "256 routed and 3 redundant experts of 'deepseek-v3', redundant_experts of 16 would"),
        (["parallelism.pipeline_parallel=64", "parallelism.tensor_parallel=1",
          "parallelism.data_parallel=1", "cluster.nodes=8"], "exceeds the 61 layers"),
        (["parallelism.expert_parallel=16", "model.n_routed_experts=250"],
         "expert_parallel of 16 does not divide n_routed_experts 250"),
        (["model.moe_intermediate_size=2052"], "does not divide moe_intermediate_size 2052"),
        (["model.intermediate_size=18436"], "does not divide intermediate_size 18436"),
        (["model=llama-3.1-70b", "parallelism.expert_parallel=2"], "has no experts"),
        (["model=llama-3.1-70b", "parallelism.expert_tensor_parallel=8"], "expected none"),
        (["parallelism.expert_parallel=16", "parallelism.expert_tensor_parallel=4"],
         "expert_tensor_parallel of 4 times expert_parallel of 16 does not fit tensor x data "
         "parallel = 8 x 2, expected a product that divides 16 and is a multiple of 8"),
        (["parallelism.expert_tensor_parallel=4"], "is a multiple of 8"),
        (["parallelism.expert_tensor_parallel=-1"], "expected"),
        (["parallelism.tensor_parallel=1", "parallelism.data_parallel=16",
          "parallelism.expert_tensor_parallel=16", "model.moe_intermediate_size=2052"],
         "expert_tensor_parallel of 16 does not divide moe_intermediate_size 2052"),
        (["model=llama-3.1-70b", "model.num_key_value_heads=32", "model.num_attention_heads=96",
          "parallelism.tensor_parallel=48", "parallelism.data_parallel=1", "cluster.nodes=6",
          "model.intermediate_size=28704"], "neither divides nor is a multiple"),
        (["workload.input_tokens=4000", "workload.output_tokens=512"], "is less than"),
        (["workload.input_tokens=4000"], "together or not at all"),
    ])
    def test_what_cannot_be_laid_out(self, settings, says):
        assert says in sentence(catalogue.load_scenario, "s0-scenario-1", overrides=settings)

    @pytest.mark.parametrize(("name", "expert", "says"), [
        ("wide-cloudmatrix-decode", 160, "2 with shared_expert_ranks is not derived, expected 1"),
        ("wide-lmsys-prefill", 16, "has all tokens gathered, expected 1 with exchange_normal")])
    def test_what_slices_do_not_go_with(self, name, expert, says):
        assert says in sentence(catalogue.load_scenario, name, overrides=[
            f"parallelism.expert_parallel={expert}", "parallelism.expert_tensor_parallel=2"])

    @pytest.mark.parametrize(("tied", "separate"), [("true", 0), ("false", 1)])
    def test_a_tied_embedding_has_no_head_of_its_own(self, tied, separate):
        scenario = catalogue.load_scenario("s0-scenario-1",
                                        overrides=[f"model.tie_word_embeddings={tied}"])
        assert scenario.inputs()["separate_head"] == separate

    def test_a_dense_model_stays_dense_throughout(self):
        settings = ["model=llama-3.1-70b", "model.first_k_dense_replace=0"]
        assert "has no routed experts" in sentence(catalogue.load_scenario, "s0-scenario-1",
                                                   overrides=settings)

    def test_an_override_is_known_as_such(self):
        scenario = catalogue.load_scenario("s0-scenario-1",
                                        overrides=["device.memory_bandwidth=2 TB/s"])
        value = scenario.device.memory_bandwidth
        assert (value.value, value.kind, value.source) == (
            2 * 10**12, "assumed", library.COMMAND_LINE)

    def test_a_card_of_the_readers_own(self, tmp_path, monkeypatch):
        (tmp_path / "mine.yml").write_text(DEVICE, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        scenario = catalogue.load_scenario("params/scenarios/s0-scenario-1.yml", device="mine.yml")
        assert scenario.inputs()["memory_bandwidth"] == 1_600_000_000_000

    def test_a_scenario_names_files_beside_it(self, tmp_path):
        (tmp_path / "card.yml").write_text(DEVICE, encoding="utf-8")
        own = (catalogue.ROOT / "scenarios" / "s0-scenario-1.yml").read_text(encoding="utf-8")
        path = tmp_path / "mine.yml"
        path.write_text(own.replace("device: ascend-910b2", "device: card.yml"), encoding="utf-8")
        assert catalogue.load_scenario(path).device.name["en"] == "Card"

    def test_a_prefill_pool_ends_with_the_first_token(self):
        pools = [name for name in catalogue.deployment_names() if "-prefill" in name]
        assert pools
        for name in pools:
            assert catalogue.load_scenario(name).inputs()["output_tokens"] == 1, name

    def test_lengths(self):
        inputs = catalogue.load_scenario("s2-910b1-awq").inputs()
        assert (inputs["input_tokens"], inputs["output_tokens"]) == (128, 512)
        assert inputs["context_tokens"] == 128 + 512
        only_context = catalogue.load_scenario("s0-scenario-1").inputs()
        assert only_context["input_tokens"] + only_context["output_tokens"] == 4096


FAMILY = """
variants:
  "24":
    title: {en: 24 cards, zh: 24 卡}
    cluster: {nodes: 3}
    parallelism:
      data_parallel: {value: 3, source: s1, kind: documented}
    documented:
      claims:
        - quantity: output_throughput
          label: {en: throughput, zh: 吞吐}
          value: {value: 38400 token/s, source: s1, kind: documented}
  replica-4.1:
    title: {en: 32 cards, zh: 32 卡}
    workload: {concurrency: {value: 64 request, source: s1, kind: documented}}
    documented:
      claims:
        - quantity: max_concurrency
          of: replica
          label: {en: requests, zh: 请求}
          value: {value: 4054 request, source: s1, kind: documented}
"""


class TestFamilies:
    """A file of several deployments: what they share, and what each states otherwise."""

    @pytest.fixture
    def path(self, tmp_path):
        own = (catalogue.ROOT / "scenarios" / "s1-plan-c.yml").read_text(encoding="utf-8")
        (tmp_path / "mine.yml").write_text(own + FAMILY, encoding="utf-8")
        return tmp_path / "mine.yml"

    def test_each_variant_is_a_deployment(self, path):
        family = catalogue.load_family(path)
        first, second = family.deployments
        assert (first.id, second.id) == ("mine-24", "mine-replica-4.1")
        assert (first.devices, second.devices) == (24, 32)
        assert (first.inputs()["concurrency"], second.inputs()["concurrency"]) == (80, 64)
        assert first.inputs()["tensor_parallel"] == second.inputs()["tensor_parallel"] == 8
        assert second.heading["en"] == f"{family.title['en']}: 32 cards"
        assert catalogue.variants(path) == [f"{path}#24", f"{path}#replica-4.1"]

    def test_the_file_stands_for_its_first_variant(self, path):
        assert catalogue.load_scenario(path).id == "mine-24"
        assert catalogue.load_scenario(f"{path}#replica-4.1").devices == 32

    def test_claims_are_not_handed_down_and_inputs_are(self, path):
        family = catalogue.load_family(path)
        assert len(family.documented.claims) == len(
            catalogue.load_scenario("s1-plan-c").documented.claims)
        for deployment in family.deployments:
            assert len(deployment.documented.claims) == 1
            assert deployment.documented.inputs == family.documented.inputs

    def test_a_claim_of_one_replica_is_held_against_one(self, path):
        import calc

        scenario = catalogue.load_scenario(f"{path}#replica-4.1")
        found = calc.estimate(scenario)
        assert found.documented[0].derived == found.everything["max_concurrency"] / 4

    def test_an_override_goes_over_a_variant(self, path):
        scenario = catalogue.load_scenario(f"{path}#24", overrides=["workload.concurrency=7"])
        assert (scenario.devices, scenario.inputs()["concurrency"]) == (24, 7)

    def test_in_the_catalogue_a_variant_has_a_name(self, path, monkeypatch, tmp_path):
        monkeypatch.setattr(naming, "ROOT", tmp_path)
        (tmp_path / "scenarios").mkdir()
        path.rename(tmp_path / "scenarios" / "s1-mine.yml")
        assert catalogue.deployment_names() == ["s1-mine-24", "s1-mine-replica-4.1"]
        found, key = family.find("s1-mine-replica-4.1")
        assert (found.stem, key) == ("s1-mine", "replica-4.1")

    @pytest.mark.parametrize(("old", "new", "says"), [
        ("cluster: {nodes: 3}", "cluster: {nodes: 0}", "out of range"),
        ("64 request", "64 token", "wrong unit"),
        ("64 request", "-64 request", "out of range"),
        ("    title: {en: 24 cards, zh: 24 卡}\n", "", "the key 'title' is missing"),
        ("replica-4.1:", "Replica:", "is not a key"),
        ("  replica-4.1:", "  b: {title: {en: b, zh: b}, variants: {}}\n  c:", "at the top"),
        ("quantity: max_concurrency", "quantity: most", "not a quantity of"),
        ("of: replica", "of: rack", "of"),
        ("    workload:", "    workloads:", "unknown key 'workloads', did you mean 'workload'"),
        ("variants:", "pools: [a, b]\nvariants:", "expected two of the variants"),
        ("variants:", "pools: [[a], a]\nvariants:", "expected two of the variants"),
    ])
    def test_a_mistake_is_told_with_the_line_of_the_variant(self, path, old, new, says):
        text = path.read_text(encoding="utf-8")
        at = text.index(old, text.index("variants:"))
        path.write_text(text[:at] + new + text[at + len(old):], encoding="utf-8")
        message = sentence(catalogue.load_family, path)
        assert says in message
        line = int(message.split("mine.yml:")[1].partition(":")[0])
        assert abs(line - (text[:at].count("\n") + 1)) <= 1

    def test_a_cut_that_a_variant_makes_impossible(self, path):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("nodes: 3}", "nodes: 5}"), encoding="utf-8")
        assert "24 devices, but the cluster has 40" in sentence(catalogue.load_family, path)

    def test_an_unknown_variant(self, path):
        assert "expected one of 24, replica-4.1" in sentence(catalogue.load_scenario, f"{path}#48")
        assert "describes one deployment" in sentence(catalogue.load_scenario, "s1-plan-c#48")


class TestPeaks:
    """What multiplies, and what it is told of cards that do not say."""

    @pytest.mark.parametrize(("device", "expected"), [
        ("nvidia-h20", set()),
        ("ascend-910b2", {"attention", "dense_mlp", "shared_expert", "routed_expert"}),
    ])
    def test_weights_of_a_dtype_that_the_card_lacks_are_widened(self, device, expected):
        inputs = catalogue.load_scenario("s1-plan-c", device=device,
                                      overrides=["precision=fp8-block"]).inputs()
        assert {name for name in ("attention", "dense_mlp", "shared_expert", "routed_expert")
                if inputs[f"{name}_dequantised"]} == expected

    def test_a_card_without_the_peaks_that_it_takes_is_refused(self, tmp_path):
        """Nothing to multiply with, and nothing to widen to."""
        card = tmp_path / "bare.yml"
        card.write_text("like: nvidia-h20\nname: {en: bare, zh: bare}\n"
                        "matrix_peak: {bf16: null, fp16: null}\n", encoding="utf-8")
        assert "'bare' states no matrix_peak of a dtype that 'fp16' multiplies" in sentence(
            catalogue.load_scenario, "s1-plan-c", card)

    def test_a_processor_that_computes_experts_states_a_peak(self, tmp_path):
        (tmp_path / "bare.yml").write_text(
            "like: intel-xeon-6454s\nname: {en: bare, zh: bare}\n"
            "matrix_peak: null\nvector_peak: null\n", encoding="utf-8")
        text = library.locate("scenarios", "kt-4090-v03").read_text("utf-8")
        assert text.count("offload:\n") == 1
        path = tmp_path / "mine.yml"
        path.write_text(text.replace("offload:\n", "offload:\n  host: bare.yml\n"), "utf-8")
        line = text[:text.index("offload:\n")].count("\n") + 1
        assert sentence(catalogue.load_scenario, path).endswith(
            f"mine.yml:{line}: 'bare' computes the experts and states no peak of int8, bf16, fp16 "
            "or fp32.")
        path.write_text(text.replace("offload:\n", "offload:\n  host: bare.yml\n"
                                     "  fetched: true\n"), "utf-8")
        assert catalogue.load_scenario(path).inputs()["host_peak"] == 1  # it only holds them

    def test_blocks_of_few_bits_are_multiplied_on_the_vector_unit(self):
        """The same processor: GGUF blocks in vector registers, INT8 on its matrix unit."""
        host = catalogue.load("devices", "intel-xeon-6454s")
        priors = catalogue.load("mechanisms", "host-xeon")
        blocks, whole = (catalogue.load_scenario(name).inputs()
                         for name in ("kt-4090d-v02", "kt-4090-v03"))
        assert blocks["host_peak"] == 2 * host.vector_peak.int8.value
        assert whole["host_peak"] == 2 * host.matrix_peak.int8.value
        assert blocks["host_gemm_efficiency"] == priors.host_vector_efficiency.value
        assert whole["host_gemm_efficiency"] == priors.host_gemm_efficiency.value
        eighth = host.vector_peak.int8.value  # AVX-512 has an eighth of AMX
        assert host.matrix_peak.int8.value == pytest.approx(8 * eighth, rel=1e-3)

    def test_fetched_experts_are_in_no_groups(self, tmp_path):
        text = library.locate("scenarios", "kt-4090d-v02").read_text("utf-8")
        path = tmp_path / "mine.yml"
        path.write_text(text.replace("offload:\n", "offload:\n  fetched: true\n"), "utf-8")
        assert "no kernel of the host takes tokens in groups" in sentence(
            catalogue.load_scenario, path)
