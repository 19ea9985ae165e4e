"""What releases assert of settings together: the data, the conditions, and what they refuse."""

import pytest
from _door import sentence
from hypothesis import given
from hypothesis import strategies as st

from catalogue.engines.assertions import (
    AssertionCoverage,
    asserting,
    assertion_coverage,
    assertions,
    assertions_of,
    problems,
)
from catalogue.engines.conditions import UNKNOWN, Condition
from catalogue.engines.engine import load_engine
from catalogue.reading import yamlfile

TRUTHS = st.sampled_from([True, False, UNKNOWN])
EPLB = {"--additional-config": {"eplb_config": {"dynamic_eplb": True}}}
INT8, INT4 = ({"weights": {"expert": "int8-channel", "expert_bits": 8}},
              {"weights": {"expert": "int4-channel", "expert_bits": 4}})
WIDE = {"--tp-size": 32, "--dp-size": 32, "--enable-dp-attention": None, "--ep-size": 32,
        "--moe-a2a-backend": "deepep"}
BLOCKS = {"model": {"intermediate_size": 18432, "dense_layers": 3, "moe_intermediate_size": 2048,
                    "attention": "mla"}, "weights": {"dense_block": 128, "expert_block": 128}}
ROOM = "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK"


@given(TRUTHS, TRUTHS)
def test_what_is_not_known_decides_nothing(one, other):
    """Kleene's logic: a conjunction is false with a false part, true only with two true ones."""
    known = {"one": one, "other": other}
    both, either = Condition("one and other")(known), Condition("one or other")(known)
    assert (both is False) == (one is False or other is False)
    assert (both is True) == (one is True and other is True)
    assert (either is True) == (one is True or other is True)
    assert (either is False) == (one is False and other is False)


@given(TRUTHS, TRUTHS, st.sampled_from(["one and other", "one or not other", "not one"]))
def test_what_is_decided_stays_so_however_the_unknown_turns_out(one, other, text):
    known = {"one": one, "other": other}
    found = Condition(text)(known)
    if found is not UNKNOWN:
        for first in ([one] if one is not UNKNOWN else [True, False]):
            for second in ([other] if other is not UNKNOWN else [True, False]):
                assert Condition(text)({"one": first, "other": second}) is found


@pytest.mark.parametrize("text", [
    "__import__('os').system('touch pwned')", "(lambda: 1)()", "[x for x in y]", "open('x')",
    "a if b else c", "x := 1", "f'{a}'", "a[0]", "", "a b", "1" * 5000, "(" * 300])
def test_a_condition_says_nothing_else(text):
    with pytest.raises(ValueError, match="condition"):
        Condition(text)


@pytest.mark.parametrize("engine", asserting())
def test_each_assertion_stands_in_a_release_and_says_so_in_both_languages(engine):
    versions = load_engine(engine).versions
    for each in assertions(engine):
        assert each.releases, each.name
        assert set(each.releases) <= set(versions), each.name
        assert all(each.says[lang] for lang in ("en", "zh"))
        known = {"env", "model", "card", "weights"} | {
            name.lstrip("-").replace("-", "_") for host in {engine, "vllm"}
            for entry in load_engine(host).entries["arguments"].values()
            for name in (entry.name, *(alias for state in entry.states.values()
                                       for alias in state.aliases))}
        assert each.needs.names | (each.when.names if each.when else frozenset()) <= known


@pytest.mark.parametrize("engine", asserting())
def test_every_pinned_release_was_read_and_nothing_stands_that_is_not_asked(engine):
    of = assertion_coverage(engine)
    assert tuple(of.read) == load_engine(engine).versions
    assert min(of.read.values()) > 0
    assert set(of.stands) == {each.name for each in assertions(engine) if each.checks}


@pytest.mark.parametrize(("release", "about", "environment", "says"), [
    ("0.11.0", INT4, {}, None),
    ("0.13.0", INT8, {}, "needs DYNAMIC_EPLB=true"),
    ("0.13.0", INT8, {"DYNAMIC_EPLB": "true"}, None),
    ("0.18.0", INT8, {"EXPERT_MAP_RECORD": "true"}, None),
    ("0.18.0", INT4, {"DYNAMIC_EPLB": "true"}, "W8A8 alone"),
    ("0.26.0rc1", INT4, {"DYNAMIC_EPLB": "true"}, "with fused MC2 alone"),
    ("0.26.0rc1", INT4, {"DYNAMIC_EPLB": "true", "VLLM_ASCEND_ENABLE_FUSED_MC2": "1"}, None),
    ("0.30.0rc2", INT8, {"DYNAMIC_EPLB": "true", "VLLM_USE_V2_MODEL_RUNNER": "1"},
     "not DYNAMIC_EPLB")])
def test_vllm_ascend_balances_experts_only_when_it_is_unlocked(release, about, environment, says):
    found = problems("vllm-ascend", release, EPLB, environment, about)
    assert bool(found) == (says is not None)
    assert says is None or any(says in each for each in found)


@pytest.mark.parametrize(("attention", "a5", "stages", "refused"), [
    ("csa", True, 4, True), ("csa", True, 1, False), ("csa", False, 4, False),
    ("mla", True, 4, False)])
def test_vllm_ascend_has_no_stages_of_v4_on_a5(attention, a5, stages, refused):
    about = INT8 | {"model": {"attention": attention}, "card": {"a2": False, "a5": a5}}
    found = problems("vllm-ascend", "0.26.0rc1", {"--pipeline-parallel-size": stages}, {}, about)
    assert any("no pipeline stages" in each for each in found) == refused


@pytest.mark.parametrize(("more", "environment", "says"), [
    ({}, {}, "--moe-dense-tp-size 1"),
    ({"--moe-dense-tp-size": 1}, {}, None),
    ({"--moe-dense-tp-size": 1, "--deepep-mode": "low_latency",
      "--max-running-requests": 256 * 32}, {}, "more tokens than low-latency DeepEP"),
    ({"--moe-dense-tp-size": 1, "--deepep-mode": "low_latency",
      "--max-running-requests": 256 * 32}, {ROOM: "256"}, None),
    ({"--moe-dense-tp-size": 1}, {ROOM: "2048"}, "at most 1,024"),
    ({"--moe-dense-tp-size": 1, "--ep-size": 8}, {}, "spreads experts over all ranks"),
    ({"--moe-dense-tp-size": 1, "--nnodes": 3}, {}, "--nnodes divides"),
    ({"--moe-dense-tp-size": 1, "--disaggregation-mode": "decode"}, {},
     "--prefill-round-robin-balance")])
def test_sglang_spreads_experts_as_it_can(more, environment, says):
    found = problems("sglang", "0.5.6.post2", WIDE | more, environment, BLOCKS)
    assert (found == []) if says is None else any(says in each for each in found), found


@pytest.mark.parametrize(("release", "flags", "says"), [
    ("0.10.2", {"--enable-eplb": None}, "needs --enable-expert-parallel"),
    ("0.33.0", {"--enable-eplb": None, "--enable-expert-parallel": None}, "more than one rank"),
    ("0.18.1", {"--tensor-parallel-size": 8, "--decode-context-parallel-size": 3}, "multiple of"),
    ("0.18.1", {"--nnodes": 3, "--tensor-parallel-size": 16}, "--nnodes divides"),
    ("0.18.1", {"--max-num-batched-tokens": 64, "--max-num-seqs": 128}, "a token of each request"),
    ("0.13.0", {"--enable-dbo": None}, "sent by --all2all-backend"),
    ("0.33.0", {"--max-model-len": 200_000}, "within the model's positions")])
def test_vllm_refuses_what_its_configuration_checks(release, flags, says):
    about = {"model": {"max_position_embeddings": 163_840, "moe": True, "attention": "mla",
                       "num_attention_heads": 128}, "card": {"cuda": True}, "weights": {}}
    assert any(says in each for each in problems("vllm", release, flags, {}, about))


@pytest.mark.parametrize(("release", "more", "runner", "refused"), [
    ("0.33.0", {}, "1", False), ("0.33.0", {"--pipeline-parallel-size": 2}, "1", True),
    ("0.33.0", {"--speculative-config": {"method": "deepseek_mtp"}}, "1", True),
    ("0.33.0", {"--speculative-config": {"method": "deepseek_mtp"}}, "0", False),
    ("0.29.0", {"--speculative-config": {"method": "deepseek_mtp"}}, "1", False)])
def test_the_second_runner_of_vllm_cuts_plain_steps_alone(release, more, runner, refused):
    flags = {"--enable-dbo": None, "--all2all-backend": "deepep_low_latency", **more}
    found = problems("vllm", release, flags, {"VLLM_USE_V2_MODEL_RUNNER": runner}, {})
    assert any("beside drafts" in each for each in found) == refused


def test_a_release_before_the_check_is_not_held_to_it():
    flags = {"--tensor-parallel-size": 8, "--decode-context-parallel-size": 3}
    assert problems("vllm", "0.13.0", flags, {}, {}) == []


GOOD = "when: enable_eplb\n  needs: enable_expert_parallel\n  checks: [x]\n  says: {en: a, zh: b}"


@pytest.mark.parametrize(("spoilt", "says"), [
    (GOOD.replace("needs", "need"), "expected needs, says"),
    (GOOD.replace("enable_eplb", "open('x')"), "nothing that a condition may say"),
    (GOOD.replace(", zh: b", ""), "in en and zh"),
    (GOOD.replace("[x]", "x"), "either a list of checks"),
    (GOOD + "\n  source: vllm-releases", "either a list of checks"),
    (GOOD.replace("checks: [x]", "source: nobody"), "there is no source 'nobody'"),
    (GOOD.replace("checks: [x]", "source: vllm-releases\n  since: 9.9"), "'9.9' is not pinned")])
def test_a_spoilt_table_is_one_sentence_with_its_line(tmp_path, spoilt, says):
    path = tmp_path / "vllm.yml"
    path.write_text(f"mine:\n  {spoilt}\n", encoding="utf-8")
    told = sentence(assertions_of, yamlfile.read(path), AssertionCoverage({}, {}))
    assert says in told
    assert "vllm.yml" in told


def test_a_table_of_an_engine_that_is_not_known_is_refused(tmp_path):
    path = tmp_path / "nobody.yml"
    path.write_text(f"mine:\n  {GOOD}\n", encoding="utf-8")
    assert "there is no engine 'nobody'" in sentence(assertions_of, yamlfile.read(path),
                                                     AssertionCoverage({}, {}))
