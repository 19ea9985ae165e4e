"""Settings of a release: what its catalogue takes, words of a shell, lengths and limits."""

from __future__ import annotations

import shlex

import pytest
from _door import sentence
from hypothesis import given
from hypothesis import strategies as st

from calc.answer.request_lengths import longest
from calc.launching.server import (
    Setting,
    Variable,
    comment,
    extra_settings,
    nearest,
    nearest_releases,
    over,
    release_of,
    words,
)
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue import load_scenario
from catalogue.engine import load_engine

VLLM, OLD = release_of("vllm", "0.33.0"), release_of("vllm", "0.8.5.post1")
BETWEEN = release_of("vllm-ascend", "0.30.0rc2")
REFUSED = [
    ("-a", None, "--flag '-a': expected --name or --name=value."),
    ("--a b=3", None, "--flag '--a b=3': expected --name or --name=value."),
    (None, "NAME", "--env 'NAME': expected NAME=value."),
    (None, "1NAME=2", "--env '1NAME=2': expected NAME=value.")]


@pytest.mark.parametrize(("release", "flag", "value", "taken"), [
    (VLLM, "--max-model-len", 4096, True), (VLLM, "--max-model-len", "long", False),
    (VLLM, "--dtype", "bfloat16", True), (VLLM, "--dtype", "int3", False),
    (VLLM, "--no-such-flag", 1, False), (VLLM, "--enforce-eager", None, True),
    (VLLM, "--port", Variable("PORT"), True), (OLD, "--nnodes", 2, False),
    # a plug-in takes the flags of its host, of both releases that it lies between
    (BETWEEN, "--additional-config", {"a": 1}, True), (BETWEEN, "--no-such-flag", 1, False)])
def test_release_takes_a_setting(release, flag, value, taken):
    assert release.has(flag, value) is taken
    if taken:
        assert release.take(flag, value, "why") == Setting(flag, value, "why")
    else:
        assert flag in sentence(release.take, flag, value, "")


def test_plug_in_goes_with_the_releases_beside_it():
    assert [f"{engine.name} {version}" for engine, version in BETWEEN.by[1:]] == [
        "vllm 0.29.0", "vllm 0.31.0"]
    host = load_engine("vllm")
    assert nearest_releases(host, "0.11.0") == ("0.11.0",)
    assert nearest_releases(host, "0.30.0") == ("0.29.0", "0.31.0")
    assert nearest_releases(host, "99.0.0") == (host.versions[-1],)
    assert nearest("sglang-router", "1999-01-01").version < nearest(
        "sglang-router", "2099-01-01").version


def test_settings_of_the_operator():
    """Flags and variables with their values; a stronger one takes the place of its name."""
    flags, variables = extra_settings(
        VLLM, [" --enforce-eager ", "--served-model-name=x=y"], ["VLLM_HOST_IP=1=2"])
    assert [(each.name, each.value) for each in (*flags, *variables)] == [
        ("--enforce-eager", None), ("--served-model-name", "x=y"), ("VLLM_HOST_IP", "1=2")]
    one, two, three, strong = (Setting(name, value, "") for name, value in (
        ("--a", 1), ("--b", 1), ("--c", 1), ("--a", 2)))
    assert over([one, two], [three, strong]) == [strong, two, three]


@pytest.mark.parametrize(("flag", "variable", "message"), REFUSED)
def test_what_is_no_flag_or_variable(flag, variable, message):
    given = [flag] if flag else [], [variable] if variable else []
    assert sentence(extra_settings, VLLM, *given) == message


@given(st.text(alphabet=st.characters(blacklist_characters="\0", blacklist_categories=("Cs",))))
def test_text_is_one_word_or_one_comment_line(text):
    assert shlex.split(" ".join(words(Setting("--flag", text, "")))) == ["--flag", text]
    line = comment(text)
    assert line.isprintable()
    assert len(line.splitlines()) <= 1


# --- the longest request --------------------------------------------------------------------------


@pytest.mark.parametrize(("overrides", "blocks", "tokens"), [
    # 64 tokens a block: as stated, as many as the model's positions, or as the cache surely holds
    (("workload.context_tokens=9000 token",), (1e5, 9e4), 9000), ((), (1e5, 9e4), 163_840),
    ((), (1e3, 9e2), 900 * 64)])
def test_longest_request(overrides, blocks, tokens):
    lengths = ("workload.input_tokens=3000 token", "workload.output_tokens=400 token")
    scenario = load_scenario("h200-r1-vllm-tp8", overrides=[*lengths, *overrides])
    quantities = evaluate(scenario.inputs(), "mla")
    assert longest(scenario, Amount(blocks[0], blocks[1], blocks[0]), quantities).tokens == tokens
    message = sentence(longest, scenario, Amount(10.0, 9.0, 11.0), quantities)
    assert "holds 640:" in message
