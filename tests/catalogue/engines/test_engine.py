"""The engine catalogue: spellings, releases, values, successors, and facts read in the source."""

import re

import pytest
from _door import sentence

from catalogue.engine import (
    engine_names,
    engine_of,
    launch_blocks,
    load_engine,
    refusal,
    successors,
)
from catalogue.reading import files, yamlfile
from catalogue.reading.files import ROOT
from tools.engines import extract

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
BAD = [  # text, what it becomes, line and what is there
    ("type: int, default: 1", "typ: int, default: 1", "6: arguments.--size"),
    ("since: 1.0, until", "until", "7: arguments.--mode"),
    ("until: 1.0", "until: 1.5", "7: arguments.--mode"),
    ("sha256: aa, ", "", "2: 'releases'"),
    ("{type: str, default: null, since: 1.0}", "none", "10: variables.ENGINE_HOME")]


@pytest.fixture
def engine(tmp_path):
    def load(text=GOOD):
        (tmp_path / "engine.yml").write_text(text, encoding="utf-8")
        return engine_of(yamlfile.read(tmp_path / "engine.yml"))
    return load


@pytest.mark.parametrize(("name", "entry"), [
    ("--size", "--size"), ("size", "--size"), ("--width", "--size"), ("--size=3", "--size"),
    ("--no_fast", "--fast"), ("ENGINE_HOME", "ENGINE_HOME"),
    ("engine_tokens_total", "engine:tokens_total"), ("engine:seconds_bucket", "engine:seconds"),
    ("engine_seconds_sum", "engine:seconds")])
def test_spellings(engine, name, entry):
    assert engine().lookup(name).name == entry


@pytest.mark.parametrize(("name", "value", "release", "verdict"), [
    ("--size", "8", "1.0", "accepted"), ("--size", "many", "1.0", "type"),
    ("--size", True, "1.0", "type"), ("--width", 3, "1.0", "unknown"),
    ("--width", 3, "2.0", "accepted"), ("--mode", "b", "1.0", "accepted"),
    ("--mode", "c", "1.0", "choice"), ("--mode", "b", "2.0", "unknown"),
    ("--fast", True, "2.0", "deprecated"), ("--fast", True, "1.0", "unknown"),
    ("--never", 1, "1.0", "unknown"), ("engine:seconds", None, "2.0", "accepted")])
def test_values_in_a_release(engine, name, value, release, verdict):
    assert engine().judge(name, value, release) == verdict
    assert engine().exists(name, release) == (verdict != "unknown")


@pytest.mark.parametrize("text", ["", "--", "\n--x", "\x00", "中文", "x" * 100_000, "VLLM_" * 5000])
def test_unknown_names_are_refused_in_one_short_sentence(engine, text):
    known = engine()
    assert "--size" in sentence(known.lookup, "--sizes")
    assert "--size" in sentence(known.lookup, "ENGINE_SIZE")  # the argument it is named after
    for action, *arguments in ((known.lookup,), (known.exists, "--size"), (load_engine,),
                               (launch_blocks,)):
        assert len(sentence(action, *arguments, text)) < 300


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_errors_of_an_engine(engine, tmp_path, old, new, message):
    assert old in GOOD
    assert sentence(engine, GOOD.replace(old, new)).startswith(f"{tmp_path}/engine.yml:{message}")


@pytest.mark.parametrize(("engine_", "name", "release", "use"), [
    ("vllm", "--max-chunked-prefill-tokens", "0.9.2", "use --max-num-batched-tokens"),
    ("vllm", "--worker-use-ray", "0.7.3", "use --distributed-executor-backend"),
    ("vllm", "vllm:gpu_cache_usage_perc", "0.13.0", "use vllm:kv_cache_usage_perc"),
    ("sglang", "--enable-deepep-moe", "0.5.9", "0.5.3.post3"),
    ("sglang", "--no-such\x1b[31m", "0.5.9", "--no-such")])
def test_the_successor_of_a_setting_that_a_release_lacks(engine_, name, release, use):
    text = refusal(load_engine(engine_), name, release)
    assert use in text
    assert text.isprintable()


@pytest.mark.parametrize("name", engine_names())
def test_shipped_engine(name):
    """Pinned releases, sorted entries that stand in one of them, and known successors."""
    engine = load_engine(name)
    assert engine.versions == extract.ENGINES[name].releases
    for release in engine.releases:
        assert re.fullmatch("[0-9a-f]{64}", release.sha256)
        assert release.url.startswith("https://files.pythonhosted.org/")
    for group in engine.entries.values():
        assert list(group) == sorted(group, key=lambda key: (key.lstrip("-").lower(), key))
        for entry in group.values():
            assert entry.at(entry.since) is not None
            assert not any(state.dynamic and state.default is not None
                           for state in entry.states.values())
    for use in (use for successor in successors(name).values() for use in successor.use):
        spelt = re.findall(r"--[a-z0-9-]+|[a-z]+:[a-z_]+", use)
        assert spelt
        assert [each for each in spelt if engine.find(each) is None] == []
    assert (ROOT / "engines" / f"{name}.yml").stat().st_size < files.MAX_BYTES // 2
