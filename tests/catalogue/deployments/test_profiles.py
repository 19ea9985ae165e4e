"""Engine profiles: which statement holds, by release, card, model and format; fits."""

import pytest
from _door import sentence, spoilt, values

import catalogue
from catalogue import library
from catalogue.deployments.profiles import (
    drafts_in_stages,
    load_profile,
    running,
)
from catalogue.engine import AT, load_engine, releases
from catalogue.entries.formulas import inputs_of
from catalogue.entries.profiles import in_order

NAMES = catalogue.names("profiles")
SERVER = "h200-r1-vllm-tp8"
H200, QWEN = catalogue.load_device("nvidia-h200-sxm"), catalogue.load_model("qwen3-8b")
V3, V32 = catalogue.load_model("deepseek-v3"), catalogue.load_model("deepseek-v3.2")
SAID = "source: Their source, kind: vendor"
PROFILE = f"""name: {{en: Mine, zh: 我的}}
stacks: [cuda]
source: Their packages
releases: {{1.0.0: 2026-01, 1.1.0: 2026-02, 1.2.0rc1: 2026-03}}
statements:
  - scheduling: {{value: prefill-first, {SAID}}}
    graphs: {{value: false, {SAID}}}
    starts: {{wide_replicas: true, spares: true, {SAID}}}
    workload: {{block_size: {{value: 16 token, {SAID}}}}}
    mechanisms: {{host_gap_per_step: {{value: 1 ms, {SAID}}}}}
  - since: 1.1.0
    scheduling: {{value: mixed, {SAID}}}
    prefill_coordination: {{value: delay, {SAID}}}
    graphs: {{value: true, {SAID}}}
    starts: {{spares: false, dealt_cache: true, {SAID}}}
    staged_drafts: {{value: true, {SAID}}}
    workload:
      block_size: {{value: 32 token, {SAID}}}
      stream_interval: {{value: 3 token, {SAID}}}
  - attention: sparse
    mechanisms: {{host_gap_per_step: {{value: 2 ms, {SAID}}}}}
  - drafts: true
    mechanisms: {{host_gap_per_step: {{value: 3 ms, {SAID}}}}}
  - gathered: true
    mechanisms: {{request_overhead: {{value: 4 ms, {SAID}}}}}
  - exchange: normal
    mechanisms: {{request_overhead: {{value: 5 ms, {SAID}}}}}
  - experts: [fp8-block128]
    mechanisms: {{kernel_boundary: {{value: 6 us, {SAID}}}}}
  - cards: [nvidia-h20]
    mechanisms: {{kernel_boundary: {{value: 7 us, {SAID}}}}}
"""


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.yml"
    path.write_text(PROFILE, encoding="utf-8")
    return path


def load(*overrides: str, name: str = SERVER):
    return catalogue.load_scenario(name, overrides=overrides)


def knob(scenario, name: str):
    return next(item.value for item in scenario.every_knob() if item.name == name)


def test_the_later_statement_wins(mine):
    old, new = (running(f"{mine}@{release}", H200, QWEN, drafts=False)
                for release in ("1.0.0", "1.1.0"))
    assert (old.scheduling.value, new.scheduling.value) == ("prefill-first", "mixed")
    assert (old.coordination, new.coordination.value) == (None, "delay")
    assert (old.graphs, new.graphs) == (False, True)
    assert (old.staged_drafts, new.staged_drafts) == (False, True)
    assert old.starts == {"wide_replicas": True, "spares": True}
    assert new.starts == {"wide_replicas": True, "spares": False, "dealt_cache": True}
    assert not drafts_in_stages(H200, V3, f"{mine}@1.0.0")
    assert drafts_in_stages(H200, V3, f"{mine}@1.1.0")
    assert {name: value.value for name, value in old.workload.items()} == {"block_size": 16}
    assert {name: value.value for name, value in new.workload.items()} == {
        "block_size": 32, "stream_interval": 3}


@pytest.mark.parametrize(("model", "drafts", "precision", "device", "gap", "boundary"), [
    (QWEN, False, None, "nvidia-h200-sxm", 1e-3, None),
    (V32, False, None, "nvidia-h200-sxm", 2e-3, None),
    (V32, True, None, "nvidia-h200-sxm", 3e-3, None),
    (V3, False, "bf16", "nvidia-h200-sxm", 1e-3, None),
    (V3, True, "fp8-block", "nvidia-h200-sxm", 3e-3, 6e-6),
    (V3, True, "fp8-block", "nvidia-h20", 3e-3, 7e-6)])
def test_statements_apply_to_their_models_drafts_formats_and_cards(
        mine, model, drafts, precision, device, gap, boundary):
    stored = precision and catalogue.load_precision(precision)
    by_way = running(f"{mine}@1.0.0", catalogue.load_device(device), model, drafts,
                     precision=stored).mechanisms
    assert {way: given["host_gap_per_step"].value for way, given in by_way.items()} == {
        "own": gap, "gathered": gap, "low_latency": gap, "normal": gap}
    overhead = {way: given.get("request_overhead") for way, given in by_way.items()}
    assert {way: value and value.value for way, value in overhead.items()} == {
        "own": 4e-3, "gathered": 4e-3, "low_latency": None, "normal": 5e-3}
    kernel = by_way["gathered"].get("kernel_boundary")
    assert (kernel and kernel.value) == boundary


@pytest.mark.parametrize(("written", "release", "asked"), [
    ("vllm@0.11", "0.11.0", None), ("sglang@0.5.6", "0.5.6.post2", None),
    (" vllm @ 0.9 ", "0.9.2", None), ("tensorrt-llm@1.2.0", "1.2.0rc5", None),
    ("vllm@0.2.7", "0.8.5.post1", "0.2.7"),
    ("sglang@0.5.1", "0.4.10.post2", "0.5.1")])  # 0.5.10 and 0.5.15 are no releases of 0.5.1
def test_releases_by_prefix_or_next_older(written, release, asked):
    engine = running(written, H200, QWEN, drafts=False)
    assert (engine.release, engine.requested) == (release, asked)


@pytest.mark.parametrize("name", NAMES)
def test_profile_is_valid(name):
    """Releases in order and known to its flags; mechanisms within ranges, explained, of a dtype."""
    profile = load_profile(name)
    known = releases(profile)
    assert known == sorted(known, key=in_order)
    if profile.flags:
        assert set(known) <= set(load_engine(profile.flags).versions) | set(profile.releases)
    server = SERVER if "cuda" in profile.stacks else "s0-scenario-1"
    finals = [version for version in known if "rc" not in version]
    assert load(f"engine={name}", name=server).engine == f"{name}{AT}{finals[-1]}"
    assert not [path for path, value in values(library.load("profiles", name))
                if ".mechanisms." in path and path.rpartition(".")[2] not in inputs_of("switch")
                and (value.note is None or not value.low < value.value < value.high)]
    assert not [key for statement in profile.statements for key in statement.mechanisms
                if key.endswith("gemm_efficiency") and not statement.experts]


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_fits_miss_judged_rows_by_less_than_a_quarter(engine):
    own = library.load("profiles", engine).statements
    for name in (name for name in library.names("fits") if name.startswith(f"{engine}-")):
        fits = library.load("fits", name)
        card = name.removeprefix(f"{engine}-")
        assert load_profile(engine, card=card).statements == [*own, *fits.statements]
        assert all(value.low <= value.value <= value.high for _, value in values(fits))
        measured = [each for statement in fits.statements for each in statement.measured]
        assert all(each.judged.rows > 0 for each in measured)
        assert all(each.judged.median <= 0.25 for each in measured if each.fitted)


def test_deployment_overrides_engine_overrides_card(tmp_path):
    card = catalogue.load("mechanisms", "nvidia-h200")
    assert knob(load("engine=vllm@0.11.0"), "host_gap_per_step") == card.host_gap_per_step
    asynchronous = knob(load("engine=vllm@0.16.0"), "host_gap_per_step")
    assert asynchronous.value < card.host_gap_per_step.value
    path = spoilt(tmp_path / "mine.yml", f"scenarios/{SERVER}", "\nworkload:\n", """
scheduling: mixed
mechanisms:
  grouped_gemm_efficiency.fp8: {value: 0.5, source: arithmetic, kind: assumed}
  host_gap_per_step: {value: 2 ms, source: arithmetic, kind: assumed}
workload:
""")
    own = catalogue.load_scenario(path, overrides=["engine=sglang@0.5.6"])
    assert own.file.scheduling == "mixed"
    assert knob(own, "host_gap_per_step").value == 2e-3
    assert knob(own, "sliced_gemm_efficiency.fp8").value == 0.5  # of whole experts: slices too
    assert load("engine=sglang@0.5.6").file.scheduling == "prefill-first"
    assert load("engine=vllm@0.11.0").file.scheduling == "mixed"


@pytest.mark.parametrize(("engine", "device"), [
    ("vllm", "kunpeng-920-7263z"), ("vllm", "ascend-910b2"),
    ("vllm-ascend", "nvidia-h20"), ("nobody", "nvidia-h20"), ("vllm@next", "nvidia-h20")])
def test_engines_do_not_run_everywhere(engine, device):
    sentence(load, f"engine={engine}", f"device={device}")


@pytest.mark.parametrize(("engine", "asked", "means", "steps"), [
    ("tensorrt-llm@1.2.0rc5", ("balance",), "delay", 50),  # its enable_balance, timeout_iters
    ("tensorrt-llm@1.2.0rc5", ("balance", 60), "delay", 60),
    ("tensorrt-llm@1.2.0rc5", (), "eager", 0), ("sglang@0.5.10.post1", ("delay",), "delay", 30),
    ("sglang@0.5.10.post1", (), "delay", 30), ("sglang@0.5.6.post2", (), "eager", 0)])
def test_ranks_wait_for_prompts_as_their_engine_means_it(engine, asked, means, steps, tmp_path):
    shipped = library.locate("scenarios", "h200-r1-trtllm-ep8").read_text("utf-8")
    lines = [line for line in shipped.splitlines() if not line.startswith(("engine:", "prefill_"))]
    keys = ("prefill_coordination", "prefill_delay_steps")
    path = tmp_path / "mine.yml"
    path.write_text("\n".join([*lines, f"engine: {engine}", *(
        f"{key}: {value}" for key, value in zip(keys, asked, strict=False))]), "utf-8")
    scenario = catalogue.load_scenario(path)
    assert scenario.file.prefill_coordination == means
    assert scenario.inputs()["prefill_delay_steps"] == steps


@pytest.mark.parametrize(("engine", "stated", "chunk"), [
    ("sglang@0.5.15.post1", None, 8192 // 8),  # of the server, dealt among its ranks
    ("sglang@0.5.15.post1", 3000, 3000), ("tensorrt-llm@1.2.0rc5", None, 8192)])
def test_ranks_of_a_server_share_the_default_of_a_step(engine, stated, chunk):
    said = [f"workload.max_num_batched_tokens={stated}"] if stated else []
    shared = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        f"engine={engine}", "parallelism.tensor_parallel=1", "parallelism.data_parallel=8",
        "parallelism.expert_parallel=8", *said])
    assert shared.inputs()["max_num_batched_tokens"] == chunk
