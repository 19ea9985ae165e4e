"""An engine gives a deployment what it does not state: by release, by card, and in that order."""

import re
import shutil
from pathlib import Path

import pytest
from _door import sentence, values

import catalogue
from calc.closed_form.evaluate import evaluate
from calc.commands.estimate import engine_line
from catalogue.deployments.profiles import load_fits, load_profile, running
from catalogue.deployments.resolved import DELAY_STEPS
from catalogue.engines.engine import load_engine
from catalogue.engines.released import AT, fitting, releases
from catalogue.entries.formulas import switches
from catalogue.entries.profiles import in_order

NAMES = catalogue.names("profiles")
SERVER = "h200-r1-vllm-tp8"
ALL = [(name, path, value) for name in NAMES
       for path, value in values(catalogue.load("profiles", name))]
FITS = {name: catalogue.load("fits", name) for name in catalogue.names("fits")}


def load(*overrides: str, name: str = SERVER):
    return catalogue.load_scenario(name, overrides=overrides)


def knob(scenario, name: str):
    return next(item.value for item in scenario.every_knob() if item.name == name)


class TestAttention:
    def test_what_is_said_of_sparse_attention_holds_of_models_with_an_indexer_alone(self):
        sparse, dense = (load(name=name) for name in ("h200-v32-trtllm-ep8", "h200-r1-trtllm-ep8"))
        share = "sparse_prefill_efficiency"
        assert knob(sparse, share).value != knob(sparse, "sparse_attention_efficiency").value
        assert share not in {item.name for item in dense.every_knob()}
        assert (knob(sparse, "latent_core_latency").value
                > knob(dense, "latent_core_latency").value)


class TestReleases:
    def test_a_candidate_comes_before_its_release_and_a_post_after_it(self):
        assert sorted(["1.2", "1.2.0rc5", "1.2.0.post1", "0.10.2", "0.9.2"], key=in_order) == [
            "0.9.2", "0.10.2", "1.2.0rc5", "1.2", "1.2.0.post1"]

    @pytest.mark.parametrize("name", NAMES)
    def test_those_of_the_flags_are_known_and_sorted(self, name):
        profile, known = load_profile(name), releases(load_profile(name))
        assert known == sorted(known, key=in_order)
        assert known
        if profile.flags:
            assert set(known) <= set(load_engine(profile.flags).versions) | set(profile.releases)

    @pytest.mark.parametrize(("written", "meant"), [
        ("vllm@0.11.0", "vllm@0.11.0"), ("vllm@0.11", "vllm@0.11.0"),
        ("sglang@0.5.6", "sglang@0.5.6.post2"), (" vllm @ 0.9 ", "vllm@0.9.2"),
        ("tensorrt-llm@1.2.0", "tensorrt-llm@1.2.0rc5")])
    def test_the_newest_that_begins_so_is_meant(self, written, meant):
        assert load(f"engine={written}").engine == meant

    @pytest.mark.parametrize(("written", "taken"), [
        ("sglang@0.5.1", "0.4.10.post2"), ("sglang@0.5.7", "0.5.6.post2"),
        ("sglang@0.4.0", "0.4.6.post5"), ("vllm@0.2.7", "0.8.5.post1")])
    def test_of_one_that_is_not_known_the_next_older_stands_or_the_oldest(self, written, taken):
        """0.5.10 and 0.5.15 are no releases of 0.5.1."""
        scenario, version = load(f"engine={written}"), written.partition(AT)[2]
        assert (scenario.running.release, scenario.running.asked) == (taken, version)
        assert f"the nearest release that is known to {version}" in engine_line(scenario)
        assert load("engine=sglang@0.5.9").running.asked is None

    @pytest.mark.parametrize("name", NAMES)
    def test_without_a_release_the_newest_that_is_no_candidate(self, name):
        profile = load_profile(name)
        server = SERVER if "cuda" in profile.stacks else "s0-scenario-1"
        finals = [version for version in releases(profile) if "rc" not in version]
        assert load(f"engine={name}", name=server).engine == f"{name}{AT}{finals[-1]}"


class TestWhatItGives:
    def test_its_own_statement_holds_before_the_engines_and_that_before_the_cards(self):
        card = catalogue.load("mechanisms", "nvidia-h200")
        stated = knob(load("engine=vllm@0.16.0"), "host_gap_per_step")
        assert stated.value < card.host_gap_per_step.value  # asynchronous from there on
        assert knob(load("engine=vllm@0.11.0"), "host_gap_per_step") == card.host_gap_per_step

    def test_a_deployment_that_states_a_mechanism_keeps_it(self, tmp_path):
        text = (catalogue.ROOT / "scenarios" / f"{SERVER}.yml").read_text("utf-8")
        own = ("mechanisms:\n  sliced_gemm_efficiency.fp8: {value: 0.5, source: arithmetic, "
               "kind: assumed}\n  host_gap_per_step: {value: 2 ms, source: arithmetic, "
               "kind: assumed}\n")
        path = tmp_path / "mine.yml"
        path.write_text(text + own, encoding="utf-8")
        scenario = catalogue.load_scenario(path, overrides=["engine=vllm@0.33.0"])
        assert knob(scenario, "sliced_gemm_efficiency.fp8").value == 0.5
        assert knob(scenario, "host_gap_per_step").value == 2e-3

    def test_what_it_states_of_whole_experts_holds_of_slices_before_the_engine(self, tmp_path):
        text = (catalogue.ROOT / "scenarios" / f"{SERVER}.yml").read_text("utf-8")
        path = tmp_path / "mine.yml"
        path.write_text(text + "mechanisms:\n  grouped_gemm_efficiency.fp8: {value: 0.5, "
                        "source: arithmetic, kind: assumed}\n", encoding="utf-8")
        assert knob(catalogue.load_scenario(path), "sliced_gemm_efficiency.fp8").value == 0.5

    def test_a_default_of_a_flag_is_read_from_the_release(self):
        catalogue_of_flags = load_engine("vllm")
        for version in ("0.11.0", "0.33.0"):
            share = load(f"engine=vllm@{version}").file.workload.memory_utilization
            state = catalogue_of_flags.state("--gpu-memory-utilization", version)
            assert share.value == state.default
            assert version in share.note["en"]

    @pytest.mark.parametrize("version", ["0.18.0", "0.20.2rc1", "0.23.0.post1", "0.30.0rc2"])
    def test_the_plug_in_for_ascend_has_the_share_of_vllm_of_its_number(self, version):
        card, model = catalogue.load_device("ascend-910b2"), catalogue.load_model("deepseek-v3")
        share = running(f"vllm-ascend@{version}", card, model, drafts=False).workload
        older = [each for each in load_engine("vllm").versions
                 if in_order(each) <= in_order(version.partition("rc")[0])]
        state = load_engine("vllm").state("--gpu-memory-utilization", older[-1])
        assert share["memory_utilization"].value == state.default

    def test_scheduling_is_the_engines_unless_stated(self, tmp_path):
        assert load("engine=sglang@0.5.6").file.scheduling == "prefill-first"
        assert load("engine=vllm@0.11.0").file.scheduling == "mixed"
        text = (catalogue.ROOT / "scenarios" / f"{SERVER}.yml").read_text("utf-8")
        path = tmp_path / "mine.yml"
        path.write_text(f"{text}scheduling: mixed\n", encoding="utf-8")
        mine = catalogue.load_scenario(path, overrides=["engine=sglang@0.5.6"])
        assert mine.file.scheduling == "mixed"

    def test_whether_ranks_wait_for_prompts_is_the_engines_unless_stated(self, tmp_path):
        """SGLang's prefill delayer, which is off unless asked for."""
        flag = load_engine("sglang").state("--enable-prefill-delayer", "0.5.9")
        assert flag.default is False
        assert load("engine=sglang@0.5.9").file.prefill_coordination == "eager"
        profile = (catalogue.ROOT / "profiles" / "sglang.yml").read_text("utf-8")
        waits = "prefill_coordination:\n      value: "
        assert f"{waits}eager" in profile
        (tmp_path / "waiting.yml").write_text(
            profile.replace(f"{waits}eager", f"{waits}delay"), encoding="utf-8")
        text = (catalogue.ROOT / "scenarios" / "h200-v32-sglang-dp8.yml").read_text("utf-8")
        text = re.sub("^engine: sglang", "engine: waiting.yml", text, flags=re.MULTILINE)
        mine, own = tmp_path / "mine.yml", tmp_path / "own.yml"
        mine.write_text(text, encoding="utf-8")
        own.write_text(f"{text}prefill_coordination: eager\n", encoding="utf-8")
        waiting, eager = catalogue.load_scenario(mine), catalogue.load_scenario(own)
        assert waiting.file.prefill_coordination == "delay"
        assert waiting.inputs()["prefill_delay_steps"] == DELAY_STEPS
        assert eager.inputs()["prefill_delay_steps"] == 0
        slower, sooner = (evaluate(each.inputs(), each.model.attention)["hold_wait"]
                          for each in (waiting, eager))
        assert slower > sooner == 0

    def test_what_is_drafted_is_not_scheduled_beside_the_step_in_sglang(self):
        drafting = load(name="h200-r1-sglang-mtp")
        prior = catalogue.load("mechanisms", "nvidia-h200").host_gap_per_step
        assert knob(drafting, "host_gap_per_step") == prior
        assert knob(load("engine=sglang@0.5.3"), "host_gap_per_step").value < prior.value

    def test_another_card_has_other_kernels(self):
        """Statements hold of the classes of cards that they name, not of those like them."""
        for card, given in (("nvidia-h200-sxm", True), ("nvidia-h20", False)):
            scenario = load("engine=sglang@0.5.6", f"device={card}")
            assert ("mla_compute_efficiency" in scenario.given) == given

    @pytest.mark.parametrize("name", ["s0-scenario-1", "s2-910b1-awq", "kt-4090-v03"])
    def test_a_deployment_that_names_none_gets_nothing(self, name):
        scenario = catalogue.load_scenario(name)
        assert scenario.engine is None
        assert scenario.given == {}
        assert scenario.mechanisms == scenario.file.mechanisms


class TestRefused:
    @pytest.mark.parametrize(("engine", "says"), [
        ("vlm@0.11", "there is no engine 'vlm', expected one of cann-recipes, ktransformers"),
        ("vllm@0.99", "vllm has no release '0.99', expected one of 0.8.5.post1, 0.9.2"),
        ("vllm@", "vllm has no release ''"),
        ("vllm-ascend", "vllm-ascend does not run on 'nvidia-h200-sxm', expected one of "
                        "ktransformers, rtp-llm, sglang")])
    def test_what_nobody_has_is_told_with_its_line(self, tmp_path, engine, says):
        text = (catalogue.ROOT / "scenarios" / f"{SERVER}.yml").read_text("utf-8")
        path = tmp_path / "mine.yml"
        path.write_text(re.sub("^engine: .*", f"engine: {engine}", text, flags=re.MULTILINE),
                        encoding="utf-8")
        line = text[:text.index("\nengine:") + 1].count("\n") + 1
        message = sentence(catalogue.load_scenario, path)
        assert f"mine.yml:{line}: engine: {says}" in message
        assert sentence(load, f"engine={engine}").startswith(f"--set engine: {says}")

    def test_a_host_processor_is_no_card_of_an_engine_whatever_reaches_it(self, tmp_path):
        text = (catalogue.ROOT / "devices" / "kunpeng-920-7263z.yml").read_text("utf-8")
        path = tmp_path / "host.yml"
        path.write_text(f"{text}stack: cuda\n", encoding="utf-8")
        for device in (path, "kunpeng-920-7263z"):
            said = sentence(load, f"device={device}")
            assert said.startswith("--set device: ")
            assert said.endswith("is a host processor, expected an accelerator.")

    def test_an_engine_of_the_readers_own(self, tmp_path: Path):
        path = tmp_path / "mine.yml"
        path.write_text((catalogue.ROOT / "profiles" / "vllm.yml").read_text("utf-8"), "utf-8")
        assert load(f"engine={path}@0.11").engine == "mine@0.11.0"

    def test_the_name_of_a_readers_file_is_no_markup(self, tmp_path: Path):
        path = tmp_path / "*a* <b> [c](d).yml"
        path.write_text((catalogue.ROOT / "profiles" / "vllm.yml").read_text("utf-8"), "utf-8")
        found = load(f"engine={path}@0.11").engine
        assert re.fullmatch(r"[\w.-]+@0\.11\.0", found)


class TestValues:
    def test_every_mechanism_lies_inside_its_range_and_has_a_note(self):
        """Switches, 0 or 1, and defaults are known exactly."""
        assert not [f"{name} {path}" for name, path, value in ALL if ".mechanisms." in path
                    and path.rpartition(".")[2] not in switches()
                    and (value.note is None or not value.low < value.value < value.high)]

    def test_what_was_fitted_lies_inside_its_range_and_says_how_far_it_is_off(self):
        """No law stands here that misses by a quarter in the median of the rows that judge it; what
        was judged without a fit may."""
        for name, fits in FITS.items():
            assert not [path for path, value in values(fits)
                        if not value.low <= value.value <= value.high], name
            measured = [each for statement in fits.statements for each in statement.measured]
            assert all(each.judged.rows > 0 for each in measured), name
            assert all(each.judged.median <= 0.25 for each in measured if each.parameters), name
            assert all(each.parameters or not each.fitted for each in measured), name

    def test_an_engine_holds_what_was_fitted_after_what_its_profile_says(self):
        for fits in FITS.values():
            own = catalogue.load("profiles", fits.engine).statements
            after = load_profile(fits.engine).statements[len(own):]
            assert all(one in after for one in fits.statements)

    def test_a_file_of_fits_that_its_engine_would_not_read_is_refused(self, tmp_path):
        other = tmp_path / "vllm-nvidia-hopper.yml"
        shutil.copy(catalogue.ROOT / "fits" / "sglang-nvidia-hopper.yml", other)
        assert sentence(load_fits, str(other)).endswith(
            "engine: 'sglang' reads no file of this name, expected 'sglang-nvidia-hopper'.")

    def test_fits_say_nothing_that_stands_in_a_profile(self, tmp_path):
        """Which layouts an engine starts is read from its profile alone."""
        fits = (catalogue.ROOT / "fits" / "vllm-nvidia-h200.yml").read_text("utf-8")
        other = tmp_path / "vllm-nvidia-h200.yml"
        other.write_text(fits.replace("\n  - ", "\n  - graphs: {value: true, source: x y, "
                                      "kind: vendor}\n    ", 1), "utf-8")
        assert sentence(load_fits, str(other)).endswith(
            "'graphs' is said in the profile of 'vllm', expected mechanisms alone.")

    def test_nothing_rests_on_an_end_to_end_result(self):
        """No measured system of the book is a source of what an engine does."""
        systems = {value.source for name in catalogue.names("measurements")
                   for _, value in values(catalogue.load("measurements", name))}
        systems |= {catalogue.load("measurements", name).source
                    for name in catalogue.names("measurements")}
        assert not {value.source for _, path, value in ALL if ".mechanisms." in path} & systems

    @pytest.mark.parametrize("name", NAMES)
    def test_a_share_of_a_peak_names_its_dtype(self, name):
        for statement in load_profile(name).statements:
            assert not [key for key in statement.mechanisms
                        if key.endswith("gemm_efficiency")]

    def test_every_card_whose_architecture_is_known_has_an_engine(self):
        """Those of a Gaudi or a TPU are plugins of their makers, none of the catalogue."""
        for device in map(catalogue.load_device, catalogue.names("devices")):
            if device.type != "host":
                assert bool(fitting(device)) == (device.software not in ("hpu", "xla")), device.id


class TestGraphs:
    @pytest.mark.parametrize(("engine", "captured"), [
        ("rtp-llm@0.2.0", False), ("ktransformers@0.2.1", True), ("sglang@0.5.6", True)])
    def test_decode_is_captured_as_its_engine_does(self, engine, captured):
        assert load(f"engine={engine}").file.graphs is captured

    def test_what_is_stated_holds_before_that(self):
        scenario = load(name="wide-rtp-decode")
        assert scenario.engine == "rtp-llm@0.2.0"
        assert scenario.file.graphs

    @pytest.mark.parametrize(("engine", "tokens"), [
        ("ktransformers@0.2.3", 1), ("ktransformers@0.2.4", 256), ("ktransformers@0.3", 1),
        ("sglang@0.4.10", 256)])
    def test_the_largest_graph_is_that_of_its_release(self, engine, tokens):
        assert load(f"engine={engine}").inputs()["largest_graph"] == tokens
