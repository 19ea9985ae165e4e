"""A deployment, resolved: what is refused, with its place; what an override does."""

import pytest
from _door import DEVICE, sentence

import params
from params import catalogue


class TestScenarios:
    """A deployment that cannot be laid out is refused; overrides are checked like files."""

    @pytest.mark.parametrize(("setting", "says"), [
        ("parallelism.tensor_parallel=7", "14 devices, but the cluster has 16"),
        ("parallelism.data_parallel=3", "24 devices, but the cluster has 16"),
        ("parallelism.expert_parallel=3", "expert_parallel of 3"),
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
        ("workload.concurrency", "expected PATH=VALUE"),
        ("model.num_attention_heads.x=3", "holds no keys"),
    ])
    def test_overrides(self, setting, says):
        assert says in sentence(params.load_scenario, "s0-scenario-1", overrides=[setting])

    def test_heads_that_do_not_divide(self):
        settings = ["cluster.nodes=3", "parallelism.tensor_parallel=24",
                    "parallelism.data_parallel=1"]
        message = sentence(params.load_scenario, "s0-scenario-1", overrides=settings)
        assert "does not divide num_attention_heads 128" in message
        assert message.startswith("--set parallelism.tensor_parallel:")

    @pytest.mark.parametrize(("old", "new", "says"), [
        ("parallelism:\n  tensor_parallel: {value: 8,",
         "parallelism:\n  tensor_parallel: {value: 4,", "8 devices, but"),
        ("model: deepseek-v3", "model: deepseek-v4", "nearest names are deepseek-v3"),
        ("node: atlas-800i-a2", "node: atlas", "nearest names are atlas-"),
        ("precision: bf16", "precision: fp7", "nearest names are"),
        ("zh: S0 场景一", "de: S0 场景一", "both languages"),
        ("- quantity: ttft", "- quantity: tftt", "not a quantity of params/symbols.yml"),
        ("value: 120 ms", "value: 120 GB", "wrong unit for 'ttft'"),
        ("effective_compute]", "effective_computer]", "needs 'effective_computer'"),
        ("prompt], effective_compute]", "prompt], [subtract, prompt, prompt]]", "division by"),
        ("prompt], effective_compute]", "prompt], [exp, 99999]]", "too large"),
        ("prompt], effective_compute]", "prompt], [eval, 1]]", "unknown operator"),
    ])
    def test_a_file_with_an_error(self, tmp_path, old, new, says):
        text = (params.ROOT / "scenarios" / "s0-scenario-1.yml").read_text(encoding="utf-8")
        assert text.count(old) == 1
        path = tmp_path / "mine.yml"
        path.write_text(text.replace(old, new), encoding="utf-8")
        message = sentence(params.load_scenario, path)
        line = text[:text.index(old) + len(old)].count("\n") + 1
        assert f"mine.yml:{line}:" in message
        assert says in message

    @pytest.mark.parametrize(("settings", "says"), [
        (["parallelism.pipeline_parallel=64", "parallelism.tensor_parallel=1",
          "parallelism.data_parallel=1", "cluster.nodes=8"], "exceeds the 61 layers"),
        (["parallelism.expert_parallel=16", "model.n_routed_experts=250"],
         "expert_parallel of 16 does not divide n_routed_experts 250"),
        (["model.moe_intermediate_size=2052"], "does not divide moe_intermediate_size 2052"),
        (["model.intermediate_size=18436"], "does not divide intermediate_size 18436"),
        (["model=llama-3.1-70b", "parallelism.expert_parallel=2"], "has no experts"),
        (["model=llama-3.1-70b", "model.num_key_value_heads=32", "model.num_attention_heads=96",
          "parallelism.tensor_parallel=48", "parallelism.data_parallel=1", "cluster.nodes=6",
          "model.intermediate_size=28704"], "neither divides nor is a multiple"),
        (["workload.input_tokens=4000", "workload.output_tokens=512"], "is less than"),
        (["workload.input_tokens=4000"], "together or not at all"),
    ])
    def test_what_cannot_be_laid_out(self, settings, says):
        assert says in sentence(params.load_scenario, "s0-scenario-1", overrides=settings)

    @pytest.mark.parametrize(("tied", "separate"), [("true", 0), ("false", 1)])
    def test_a_tied_embedding_has_no_head_of_its_own(self, tied, separate):
        scenario = params.load_scenario("s0-scenario-1",
                                        overrides=[f"model.tie_word_embeddings={tied}"])
        assert scenario.inputs()["separate_head"] == separate

    def test_a_dense_model_stays_dense_throughout(self):
        settings = ["model=llama-3.1-70b", "model.first_k_dense_replace=0"]
        assert "has no routed experts" in sentence(params.load_scenario, "s0-scenario-1",
                                                   overrides=settings)

    def test_an_override_is_known_as_such(self):
        scenario = params.load_scenario("s0-scenario-1",
                                        overrides=["device.memory_bandwidth=2 TB/s"])
        value = scenario.device.memory_bandwidth
        assert (value.value, value.kind, value.source) == (
            2 * 10**12, "assumed", catalogue.COMMAND_LINE)

    def test_a_card_of_the_readers_own(self, tmp_path, monkeypatch):
        (tmp_path / "mine.yml").write_text(DEVICE, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        scenario = params.load_scenario("params/scenarios/s0-scenario-1.yml", device="mine.yml")
        assert scenario.inputs()["memory_bandwidth"] == 1_600_000_000_000

    def test_a_scenario_names_files_beside_it(self, tmp_path):
        (tmp_path / "card.yml").write_text(DEVICE, encoding="utf-8")
        own = (params.ROOT / "scenarios" / "s0-scenario-1.yml").read_text(encoding="utf-8")
        path = tmp_path / "mine.yml"
        path.write_text(own.replace("device: ascend-910b2", "device: card.yml"), encoding="utf-8")
        assert params.load_scenario(path).device.name["en"] == "Card"

    def test_lengths(self):
        inputs = params.load_scenario("s2-910b1-awq").inputs()
        assert (inputs["input_tokens"], inputs["output_tokens"]) == (128, 512)
        assert inputs["context_tokens"] == 128 + 512
        only_context = params.load_scenario("s0-scenario-1").inputs()
        assert only_context["input_tokens"] + only_context["output_tokens"] == 4096
