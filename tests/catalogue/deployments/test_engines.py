"""What an engine's statements come to, the later over the earlier, and a file laid over them."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from _door import sentence

import catalogue
from catalogue import library
from catalogue.deployments.profiles import (
    Running,
    Starts,
    drafts_in_stages,
    load_profile,
    refuse_host,
    running,
    running_engine,
    starting,
    underlaid,
)
from catalogue.engines.engine import load_engine
from catalogue.entries.profiles import Coordination, Scheduling
from catalogue.reading.yamlfile import YamlFile

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


def test_of_two_statements_the_later_holds_where_both_do(mine):
    old, new = (running(f"{mine}@{release}", H200, QWEN, drafts=False)
                for release in ("1.0.0", "1.1.0"))
    assert (old.name, new.name) == ("mine@1.0.0", "mine@1.1.0")
    assert (old.scheduling.value, new.scheduling.value) == ("prefill-first", "mixed")
    assert (old.coordination, new.coordination.value) == (None, "delay")
    assert (old.graphs, new.graphs) == (False, True)
    assert (old.starts, old.staged_drafts) == ({"wide_replicas": True, "spares": True}, False)
    assert (new.starts, new.staged_drafts) == (
        {"wide_replicas": True, "spares": False, "dealt_cache": True}, True)
    assert {name: value.value for name, value in old.workload.items()} == {"block_size": 16}
    assert {name: value.value for name, value in new.workload.items()} == {
        "block_size": 32, "stream_interval": 3}


@pytest.mark.parametrize(("model", "drafts", "precision", "gap", "boundary"), [
    (QWEN, False, None, 1e-3, None), (V32, False, None, 2e-3, None), (V32, True, None, 3e-3, None),
    (V3, False, "fp8-block", 1e-3, 6e-6), (V3, False, "bf16", 1e-3, None),
    (V3, True, "fp8-block", 3e-3, 6e-6)])
def test_a_statement_holds_of_the_models_drafts_and_formats_that_it_names(
        mine, model, drafts, precision, gap, boundary):
    stored = precision and catalogue.load_precision(precision)
    found = running(f"{mine}@1.0.0", H200, model, drafts, precision=stored).mechanisms
    assert {way: values["host_gap_per_step"].value for way, values in found.items()} == {
        "gathered": gap, "low_latency": gap, "normal": gap}
    assert {way: values.get("request_overhead") and values["request_overhead"].value
            for way, values in found.items()} == {
                "gathered": 4e-3, "low_latency": None, "normal": 5e-3}
    kernel = found["gathered"].get("kernel_boundary")
    assert (kernel and kernel.value) == boundary


def test_an_engine_that_is_named_by_a_beginning_of_its_release_is_known(mine):
    for written, release, asked in (("@1.0.0", "1.0.0", None), ("@1.1", "1.1.0", None),
                                    ("", "1.1.0", None), ("@1.2.0", "1.2.0rc1", None),
                                    ("@1", "1.1.0", None), ("@1.0.5", "1.0.0", "1.0.5"),
                                    ("@0.9", "1.0.0", "0.9")):
        one = running(f"{mine}{written}", H200, QWEN, drafts=False)
        assert (one.release, one.asked) == (release, asked), written


def test_what_an_engine_starts_is_read_without_what_its_kernels_reach(mine):
    one = starting(f" {mine} @ 1.1.0", H200, QWEN, drafts=False)
    assert (one.name, one.starts, one.staged_drafts) == (
        "mine@1.1.0", {"wide_replicas": True, "spares": False, "dealt_cache": True}, True)
    assert isinstance(one, Starts)
    assert not isinstance(one, Running)


def test_a_model_drafts_in_stages_where_the_engine_does_or_all_of_a_card_do(mine):
    assert not drafts_in_stages(H200, V3, f"{mine}@1.0.0")
    assert drafts_in_stages(H200, V3, f"{mine}@1.1.0")
    assert drafts_in_stages(H200, V3, None) == all(
        starting(name, H200, V3, drafts=True).staged_drafts for name in library.names("profiles")
        if "cuda" in library.load("profiles", name).stacks)


def laid(data, engine, **lines):
    return underlaid(YamlFile(Path("mine.yml"), data, lines), engine).data


def does(**changed):
    """An engine that does what is said, and else nothing."""
    known = {"workload": {"block_size": 16, "memory_utilization": 0.9}, "scheduling": None,
             "coordination": None, "graphs": None} | changed
    return SimpleNamespace(**known)


def test_a_file_lies_over_what_its_engine_does():
    mixed = Scheduling.model_construct(value="mixed")
    delays = Coordination.model_construct(value="delay")
    engine = does(scheduling=mixed, coordination=delays, graphs=False)
    assert laid({"workload": {"block_size": 64, "concurrency": 3}}, engine) == {
        "workload": {"block_size": 64, "memory_utilization": 0.9, "concurrency": 3},
        "scheduling": "mixed", "prefill_coordination": "delay", "graphs": False}
    own = {"workload": {}, "scheduling": "prefill-first", "prefill_coordination": "eager",
           "graphs": True}
    assert laid(own, engine) == own | {"workload": engine.workload}
    assert laid({}, does()) == {"workload": does().workload}
    assert laid({"workload": [1]}, does()) == {"workload": [1]}


def named(**data):
    return running_engine(YamlFile(Path("mine.yml"), data, {("engine",): 3, ("device",): 5}))


KNOWN = {"engine": "vllm@0.11.0", "device": "nvidia-h200-sxm", "model": "qwen3-8b"}


def test_an_engine_is_known_where_card_and_model_are():
    assert named(**KNOWN).name == "vllm@0.11.0"
    for key in KNOWN:
        assert named(**{name: value for name, value in KNOWN.items() if name != key}) is None
    for changed in ({"device": "nothing"}, {"model": "nothing"}, {"precision": "nothing"}):
        assert named(**KNOWN | changed) is None
    assert named(**KNOWN, precision=3).name == "vllm@0.11.0"
    assert sentence(named, **KNOWN | {"engine": "vlm"}).startswith(
        "mine.yml:3: engine: there is no engine 'vlm'")
    assert sentence(named, **KNOWN | {"device": "intel-xeon-6454s"}) == (
        "mine.yml:5: 'intel-xeon-6454s' is a host processor, expected an accelerator.")


def test_tokens_are_drafted_where_the_file_says_so_unless_it_is_set_otherwise(mine):
    def gap(workload, **set_):
        file = YamlFile(Path("mine.yml"), KNOWN | {"engine": str(mine)} | workload, {})
        given = {name.replace("__", "."): library.Override(value, "--set")
                 for name, value in set_.items()}
        return running_engine(file, given).mechanisms["normal"]["host_gap_per_step"].value

    drafts = {"workload": {"draft_tokens": 1}}
    assert [gap({}), gap(drafts), gap({"workload": {}}), gap({"workload": 3})] == [
        1e-3, 3e-3, 1e-3, 1e-3]
    assert [gap(drafts, workload__draft_tokens=0), gap({}, workload__draft_tokens=2)] == [
        1e-3, 3e-3]


def test_a_host_processor_is_refused_as_a_card_and_a_card_is_not():
    refuse_host(H200, "here")
    assert sentence(refuse_host, catalogue.load_device("intel-xeon-6454s"), "here") == (
        "here: 'intel-xeon-6454s' is a host processor, expected an accelerator.")


@pytest.mark.parametrize(("old", "new", "line", "says"), [
    ("host_gap_per_step: {value: 1 ms", "host_gap_per_stop: {value: 1 ms", 10,
     "mechanisms: there is no mechanism 'host_gap_per_stop', did you mean 'host_gap_per_step'."),
    ("value: 2 ms", "value: 2 token", 21, "mechanisms: '2 token' has the wrong unit"),
    ("source: Their packages", "source: Their packages\nflags: vlm", 4, "flags: there is no"),
])
def test_what_no_mechanism_can_be_is_told_at_its_line_in_the_profile(mine, old, new, line, says):
    mine.write_text(PROFILE.replace(old, new), encoding="utf-8")
    told = sentence(load_profile, str(mine))
    assert told.startswith(f"{mine}:{line}: ") or f"mine.yml:{line}: " in told
    assert says in told


def test_a_name_that_is_no_engine_is_quoted_in_part():
    assert f"there is no engine '{'e' * 60}', expected" in sentence(load_profile, "e" * 70)


def test_a_default_of_a_flag_is_a_value_of_its_release():
    found = running("vllm@0.11.0", H200, QWEN, drafts=False).workload
    share, block = found["memory_utilization"], found["block_size"]
    assert (share.value, share.unit, share.written, share.low, share.high) == (
        0.9, "1", "0.9", 0.9, 0.9)
    assert (block.unit, block.written) == ("token", f"{block.value} token")
    assert (share.kind, share.source) == ("vendor", load_profile("vllm").source)
    assert share.date == load_engine("vllm").release("0.11.0").date
    assert share.note["en"] != share.note["zh"]


def test_of_what_was_fitted_an_engine_holds_that_of_its_card_or_all_of_it():
    for engine in ("vllm", "sglang"):
        own = len(library.load("profiles", engine).statements)
        fits = {name.removeprefix(f"{engine}-"): len(library.load("fits", name).statements)
                for name in library.names("fits") if name.startswith(f"{engine}-")
                and library.load("fits", name).engine == engine}
        assert fits
        assert len(load_profile(engine).statements) == own + sum(fits.values())
        assert len(load_profile(engine, card="nobody").statements) == own
        for card, count in fits.items():
            assert len(load_profile(engine, card=card).statements) == own + count


@pytest.mark.parametrize(("device", "says"), [
    ("ascend-910b2", "vllm does not run on 'ascend-910b2', expected one of cann-recipes, "),
    ("intel-gaudi-3", "vllm does not run on 'intel-gaudi-3', nor is any other engine of the "
                      "catalogue known to.")])
def test_an_engine_that_does_not_reach_a_card_is_told_with_those_that_do(device, says):
    assert says in sentence(running, "vllm", catalogue.load_device(device), QWEN, drafts=False)
