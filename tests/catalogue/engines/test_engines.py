"""The engine catalogue: what a reader may ask of it, and what it says."""

import re
from pathlib import Path

import pytest
from _door import sentence, spoilt

from catalogue.engines.engine import (
    ROOT,
    engine_names,
    engine_of,
    launch_blocks,
    load_engine,
    load_tool,
    plain,
    tool_names,
)
from catalogue.engines.successors import refusal, successors, successors_of
from catalogue.reading import files, yamlfile
from tools.engines import extract

FOLDER = Path(ROOT) / "engines"

GOOD = """title: Engine
releases:
  1.0: {date: '2024-01-01', sha256: aa, url: 'https://example.org/1'}
  2.0: {date: '2024-02-01', sha256: bb, url: 'https://example.org/2'}
arguments:
  --size: {type: int, default: 1, since: 1.0, changes: [{release: 2.0, aliases: [--width]}]}
  --mode: {type: str, default: a, choices: [a, b], since: 1.0, until: 1.0}
  --fast: {type: bool, default: false, negatable: true, deprecated: true, since: 2.0}
variables:
  ENGINE_HOME: {type: str, default: null, since: 1.0}
metrics:
  engine:tokens_total: {type: counter, since: 1.0}
  engine:seconds: {type: histogram, since: 1.0}
"""


@pytest.fixture
def engine(tmp_path):
    path = tmp_path / "engine.yml"
    path.write_text(GOOD, encoding="utf-8")
    return engine_of(yamlfile.read(path))


class TestLoader:
    """What a reader of the catalogue may ask."""

    @pytest.mark.parametrize(("name", "entry"), [
        ("--size", "--size"), ("size", "--size"), ("--width", "--size"), ("--size=3", "--size"),
        ("--no-fast", "--fast"), ("--no_fast", "--fast"), ("ENGINE_HOME", "ENGINE_HOME"),
        ("engine:tokens", "engine:tokens_total"), ("engine_tokens_total", "engine:tokens_total"),
        ("engine:seconds_bucket", "engine:seconds"), ("engine_seconds_sum", "engine:seconds"),
    ])
    def test_every_spelling_leads_to_the_entry(self, engine, name, entry):
        assert engine.lookup(name).name == entry

    def test_existence_is_of_a_name_in_a_release(self, engine):
        assert engine.exists("--size", "1.0")
        assert not engine.exists("--width", "1.0")
        assert engine.exists("--width", "2.0")
        assert not engine.exists("--mode", "2.0")
        assert not engine.exists("--fast", "1.0")
        assert not engine.exists("--never", "2.0")

    @pytest.mark.parametrize(("name", "value", "release", "verdict"), [
        ("--size", 8, "1.0", "accepted"), ("--size", "8", "1.0", "accepted"),
        ("--size", "many", "1.0", "type"), ("--mode", "b", "1.0", "accepted"),
        ("--mode", "c", "1.0", "choice"), ("--mode", "b", "2.0", "unknown"),
        ("--fast", True, "2.0", "deprecated"), ("--never", 1, "1.0", "unknown"),
        ("--size", True, "1.0", "type"), ("engine:seconds", None, "2.0", "accepted"),
    ])
    def test_a_setting_is_judged(self, engine, name, value, release, verdict):
        assert engine.judge(name, value, release) == verdict

    def test_an_unknown_name_is_one_sentence_with_the_nearest(self, engine):
        assert sentence(engine.lookup, "--sizes") == (
            "engine: no pinned release has '--sizes'; the nearest names are --size.")
        assert "engine:tokens_total" in sentence(engine.lookup, "engine_token_total")
        assert "--size" in sentence(engine.lookup, "ENGINE_SIZE")  # the argument it is named after

    @pytest.mark.parametrize("text", ["", " ", "-", "--", "=", "\n--x", "\x00", "中文", "_", ":",
                                      "x" * 100_000, "--" + "-" * 5000, "VLLM_" * 5000])
    def test_any_text_is_answered_in_one_short_sentence(self, engine, text):
        assert len(sentence(engine.lookup, text)) < 300
        assert len(sentence(engine.exists, "--size", text)) < 300
        assert len(sentence(load_engine, text)) < 300
        assert not engine.exists(text, "1.0")

    def test_an_entry_as_data(self, engine):
        assert plain(engine.lookup("--mode")) == {
            "name": "--mode", "kind": "argument", "since": "1.0", "until": "1.0", "changed": {},
            "releases": {"1.0": {"type": "str", "default": "a", "choices": ("a", "b")}}}

    def test_an_unknown_release_and_engine_are_one_sentence(self, engine):
        assert "is not pinned, expected one of 1.0, 2.0" in sentence(engine.exists, "--size", "3.0")
        assert "expected one of sglang, vllm, vllm-ascend" in sentence(load_engine, "tgi")
        assert "expected one of s0, s1, s2, s3" in sentence(launch_blocks, "s9")

    @pytest.mark.parametrize(("old", "new", "line", "says"), [
        ("type: int, default: 1", "typ: int, default: 1", 6, "unknown key 'typ', did you mean"),
        ("since: 1.0, until", "until", 7, "the key 'since' is missing"),
        ("until: 1.0", "until: 1.5", 7, "names the release '1.5', which is not among"),
        ("{release: 2.0, al", "{release: 2.0, sinc: 1, al", 6, "unknown key 'sinc'"),
        ("sha256: aa, ", "", 3, "the key 'sha256' is missing"),
        ("metrics:", "metric:", 11, "unknown key 'metric', did you mean 'metrics'"),
        ("{type: str, default: null, since: 1.0}", "none", 10, "is not a mapping"),
        ("type: int, default: 1", "gaps: 5, type: int, default: 1", 6, "is not an entry as the"),
        ("type: int, default: 1", "aliases: 5, type: int, default: 1", 6, "is not an entry as the"),
        ("until: 1.0", "gaps: [x]", 7, "names the release 'x'"),
    ])
    def test_bad_files_are_one_sentence_with_the_line(self, tmp_path, old, new, line, says):
        path = spoilt(tmp_path / "engine.yml", GOOD, old, new)
        message = sentence(lambda: engine_of(yamlfile.read(path)))
        assert says in message
        assert f"engine.yml:{line}:" in message


@pytest.mark.parametrize("name", tool_names())
def test_a_tool_covers_its_pinned_releases(name):
    tool = load_tool(name)
    assert tool.versions == extract.ENGINES[name].releases
    assert all(len(release.sha256) == 64 for release in tool.releases)


def test_a_tool_that_there_is_not_is_told_those_there_are():
    assert "vllm-bench" in sentence(load_tool, "nginx")


@pytest.mark.parametrize(("engine", "name", "release", "says"), [
    ("vllm", "--use-v2-block-manager", "0.11.0", "is 0.9.2; nothing has to be set in its place"),
    ("vllm", "use_v2_block_manager", "0.13.0", "is 0.9.2; nothing has to be set in its place"),
    ("vllm", "--max-chunked-prefill-tokens", "0.9.2", "any pinned release; use --max-num-batched"),
    ("vllm", "--worker-use-ray", "0.7.3", "is 0.6.6.post1; use --distributed-executor-backend"),
    ("vllm", "--nnodes", "0.9.2", "it comes with 0.13.0"),
    ("vllm", "vllm:gpu_cache_usage_perc", "0.13.0", "is 0.11.0; use vllm:kv_cache_usage_perc"),
    ("vllm", "VLLM_SWAP_SPACE", "0.11.0", "use --kv-offloading-size (from 0.13.0 on)"),
    ("sglang", "--enable-deepep-moe", "0.5.9", "release that has it is 0.5.3.post3"),
    ("sglang", "--no-such\x1b[31m", "0.5.9", "nor has any pinned release"),
])
def test_a_setting_that_a_release_lacks_is_told_its_successor(engine, name, release, says):
    told = refusal(load_engine(engine), name, release)
    assert says in told
    assert told.isprintable()
    assert told.endswith(".")


@pytest.mark.parametrize("engine", engine_names())
def test_a_successor_is_itself_known(engine):
    """Names that a table gives are flags, variables or metrics that some release has."""
    known = load_engine(engine)
    for name, successor in successors(engine).items():
        for use in successor.use:
            spelt = re.findall(r"--[a-z0-9-]+|[a-z]+:[a-z_]+", use)
            assert spelt, (name, use)
            assert [each for each in spelt if known.find(each) is None] == [], name


@pytest.mark.parametrize(("text", "says"), [
    ("--a: {use: [], note: {en: a, zh: b}}", "expected use, note and source"),
    ("--a: {use: x, note: {en: a, zh: b}, source: vllm-releases}", "expected a list of names"),
    ("--a: {use: [], note: a, source: vllm-releases}", "expected a note in en and zh"),
    ("--a: {use: [], note: {en: a, zh: b}, source: nobody}", "there is no source 'nobody'"),
])
def test_a_table_of_successors_that_is_none_is_one_sentence(tmp_path, text, says):
    path = tmp_path / "vllm.yml"
    path.write_text(f"{text}\n", encoding="utf-8")
    assert says in sentence(lambda: successors_of(yamlfile.read(path)))


@pytest.mark.parametrize("name", engine_names())
class TestCatalogue:
    """The committed files."""

    def test_it_covers_its_pinned_releases(self, name):
        engine = load_engine(name)
        assert engine.versions == extract.ENGINES[name].releases
        for release in engine.releases:
            assert len(release.sha256) == 64
            assert release.url.startswith("https://files.pythonhosted.org/")
            assert release.sha256 == release.sha256.lower()

    def test_every_entry_stands_somewhere_and_is_sorted(self, name):
        engine = load_engine(name)
        for group in engine.entries.values():
            keys = list(group)
            assert keys == sorted(keys, key=lambda key: (key.lstrip("-").lower(), key))
            for entry in group.values():
                assert entry.states
                assert entry.at(entry.since) is not None
                for state in entry.states.values():
                    assert not (state.dynamic and state.default is not None)
                    assert state.type or state.dynamic or entry.kind in ("options", "variables")

    def test_it_is_small(self, name):
        assert (FOLDER / f"{name}.yml").stat().st_size < files.MAX_BYTES // 2


@pytest.mark.parametrize("document", ["s0", "s1", "s2", "s3"])
def test_launch_blocks_name_engines_that_exist(document):
    blocks = launch_blocks(document)
    assert blocks
    assert {block.engine for block in blocks} <= {None, *engine_names()}
    assert all(block.settings for block in blocks)


class TestFacts:
    """Checked by hand in the released source."""

    @pytest.mark.parametrize(("engine", "name", "since", "until"), [
        ("vllm", "--worker-use-ray", "0.2.7", "0.6.6.post1"),
        ("vllm", "--use-v2-block-manager", "0.4.2", "0.9.2"),
        ("vllm", "--scheduler-delay-factor", "0.4.2", "0.10.2"),
        ("vllm", "--swap-space", "0.2.7", "0.16.0"),
        ("vllm", "--max-paddings", "0.2.7", "0.3.3"),
        ("vllm", "vllm:avg_generation_throughput_toks_per_s", "0.2.7", "0.6.6.post1"),
        ("vllm", "vllm:gpu_cache_usage_perc", "0.2.7", "0.11.0"),
        ("vllm", "VLLM_USE_MODELSCOPE", "0.2.7", None),
        ("vllm", "--port", "0.2.7", None),
        ("sglang", "--chunked-prefill-size", "0.2.15", None),
    ])
    def test_from_when_to_when(self, engine, name, since, until):
        entry = load_engine(engine).lookup(name)
        assert (entry.since, entry.until) == (since, until)

    @pytest.mark.parametrize(("engine", "name", "release", "default"), [
        ("vllm", "--gpu-memory-utilization", "0.18.1", 0.9),
        ("vllm", "--gpu-memory-utilization", "0.20.2", 0.92),
        ("vllm", "--max-num-seqs", "0.4.2", 256),
        ("vllm", "--max-num-seqs", "0.33.0", None),
        ("vllm", "VLLM_WORKER_MULTIPROC_METHOD", "0.4.2", "spawn"),
        ("vllm", "VLLM_WORKER_MULTIPROC_METHOD", "0.5.4", "fork"),
        ("sglang", "--tensor-parallel-size", "0.5.23", 1),
    ])
    def test_defaults(self, engine, name, release, default):
        assert load_engine(engine).state(name, release).default == default

    @pytest.mark.parametrize("name", ["--max-chunked-prefill-tokens", "VLLM_SWAP_SPACE",
                                      "VLLM_GPU_MEMORY_UTILIZATION", "vllm_tokens_per_second"])
    def test_what_never_existed(self, name):
        assert load_engine("vllm").find(name) is None

    def test_an_underscore_is_read_as_a_hyphen_or_as_written(self):
        vllm = load_engine("vllm")
        assert vllm.exists("--max_model_len", "0.33.0")
        assert vllm.exists("--max-seq_len-to-capture", "0.4.2")  # so written in that release

    def test_the_argument_a_variable_is_mistaken_for(self):
        assert load_engine("vllm").near("VLLM_SWAP_SPACE")[0] == "--swap-space"

    def test_values(self):
        vllm, ascend, sglang = map(load_engine, ("vllm", "vllm-ascend", "sglang"))
        assert vllm.judge("kv_cache_dtype", "float16", "0.10.2") == "choice"
        assert vllm.judge("kv_cache_dtype", "float16", "0.18.1") == "accepted"
        assert vllm.judge("--quantization", "None", "0.3.3") == "choice"
        assert vllm.judge("--worker-use-ray", True, "0.6.6.post1") == "deprecated"
        assert ascend.judge("quantization", "fp8", "0.11.0") == "choice"
        assert sglang.judge("--attention-backend", "ascend", "0.4.6.post5") == "choice"
        assert sglang.judge("--attention-backend", "ascend", "0.4.10.post2") == "accepted"

    def test_a_hidden_metric_and_what_replaces_it(self):
        state = load_engine("vllm").state("vllm:gpu_cache_usage_perc", "0.11.0")
        assert state.hidden
        assert state.use == "vllm:kv_cache_usage_perc"
