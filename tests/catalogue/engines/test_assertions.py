"""Cross-flag assertions of engine releases: conditions, shipped tables, and what they refuse."""

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
INT8, INT4 = ({"weights": {"expert": f"int{bits}-channel", "expert_bits": bits}} for bits in (8, 4))
WIDE = {"--tp-size": 32, "--dp-size": 32, "--enable-dp-attention": None, "--ep-size": 32,
        "--moe-a2a-backend": "deepep"}
LOW_LATENCY = WIDE | {"--moe-dense-tp-size": 1, "--deepep-mode": "low_latency",
                      "--max-running-requests": 256 * 32}
BLOCKS = {"model": {"intermediate_size": 18432, "dense_layers": 3, "moe_intermediate_size": 2048,
                    "attention": "mla"}, "weights": {"dense_block": 128, "expert_block": 128}}
ROOM = "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK"
V3 = {"model": {"max_position_embeddings": 163_840, "moe": True, "attention": "mla",
                "num_attention_heads": 128}, "card": {"cuda": True}, "weights": {}}
A5 = INT8 | {"model": {"attention": "csa"}, "card": {"a2": False, "a5": True}}
A3 = A5 | {"card": {"a2": False, "a5": False}}
DBO = {"--enable-dbo": None, "--all2all-backend": "deepep_low_latency"}
CASES = [  # engine, release, flags, environment, model and card, part of what is refused
    ("vllm-ascend", "0.11.0", EPLB, {}, INT4, None),
    ("vllm-ascend", "0.13.0", EPLB, {}, INT8, "needs DYNAMIC_EPLB=true"),
    ("vllm-ascend", "0.13.0", EPLB, {"DYNAMIC_EPLB": "true"}, INT8, None),
    ("vllm-ascend", "0.18.0", EPLB, {"DYNAMIC_EPLB": "true"}, INT4, "W8A8 alone"),
    ("vllm-ascend", "0.26.0rc1", EPLB, {"DYNAMIC_EPLB": "true"}, INT4, "with fused MC2 alone"),
    ("vllm-ascend", "0.26.0rc1", {"--pipeline-parallel-size": 4}, {}, A5, "no pipeline stages"),
    ("vllm-ascend", "0.26.0rc1", {"--pipeline-parallel-size": 1}, {}, A5, None),
    ("vllm-ascend", "0.26.0rc1", {"--pipeline-parallel-size": 4}, {}, A3, None),
    ("sglang", "0.5.6.post2", WIDE, {}, BLOCKS, "--moe-dense-tp-size 1"),
    ("sglang", "0.5.6.post2", WIDE | {"--moe-dense-tp-size": 1}, {}, BLOCKS, None),
    ("sglang", "0.5.6.post2", LOW_LATENCY, {}, BLOCKS, "than low-latency DeepEP"),
    ("sglang", "0.5.6.post2", LOW_LATENCY, {ROOM: "256"}, BLOCKS, None),
    ("sglang", "0.5.6.post2", LOW_LATENCY, {ROOM: "2048"}, BLOCKS, "at most 1,024"),
    ("sglang", "0.5.6.post2", WIDE | {"--ep-size": 8}, {}, BLOCKS, "spreads experts"),
    ("vllm", "0.10.2", {"--enable-eplb": None}, {}, V3, "needs --enable-expert-parallel"),
    ("vllm", "0.18.1", {"--tensor-parallel-size": 8, "--decode-context-parallel-size": 3}, {}, V3,
     "multiple of"),
    ("vllm", "0.13.0", {"--tensor-parallel-size": 8, "--decode-context-parallel-size": 3}, {}, {},
     None),  # before that check
    ("vllm", "0.18.1", {"--nnodes": 3, "--tensor-parallel-size": 16}, {}, V3, "--nnodes divides"),
    ("vllm", "0.18.1", {"--max-num-batched-tokens": 64, "--max-num-seqs": 128}, {}, V3,
     "a token of each request"),
    ("vllm", "0.33.0", {"--max-model-len": 200_000}, {}, V3, "within the model's positions"),
    ("vllm", "0.33.0", DBO | {"--pipeline-parallel-size": 2}, {"VLLM_USE_V2_MODEL_RUNNER": "1"}, {},
     "beside drafts"),
    ("vllm", "0.33.0", DBO, {"VLLM_USE_V2_MODEL_RUNNER": "1"}, {}, None)]
GOOD = "when: enable_eplb\n  needs: enable_expert_parallel\n  checks: [x]\n  says: {en: a, zh: b}"
BAD = [
    (GOOD.replace("enable_eplb", "open('x')"),
     "'open('x')' is nothing that a condition may say, expected names, numbers, texts, "
     "comparisons, and, or, not."),
    (GOOD.replace(", zh: b", ""), "expected what it says in en and zh."),
    (GOOD.replace("[x]", "x"),
     "expected either a list of checks of the released source, or a source."),
    (GOOD.replace("checks: [x]", "source: nobody"),
     "there is no source 'nobody' in params/sources/.")]


@given(TRUTHS, TRUTHS)
def test_kleene_logic(one, other):
    """A conjunction is false with a false part, true only with two true ones."""
    known = {"one": one, "other": other}
    both, either = Condition("one and other")(known), Condition("one or other")(known)
    assert (both is False) == (one is False or other is False)
    assert (both is True) == (one is True and other is True)
    assert (either is True) == (one is True or other is True)
    assert (either is False) == (one is False and other is False)


@given(TRUTHS, TRUTHS, st.sampled_from(["one and other", "one or not other", "not one"]))
def test_a_decision_holds_however_the_unknown_turns_out(one, other, text):
    decided = Condition(text)({"one": one, "other": other})
    for first in ([one] if one is not UNKNOWN else [True, False]):
        for second in ([other] if other is not UNKNOWN else [True, False]):
            assert decided is UNKNOWN or (
                Condition(text)({"one": first, "other": second}) is decided)


@pytest.mark.parametrize("text", [
    "__import__('os').system('touch pwned')", "(lambda: 1)()", "[x for x in y]", "open('x')",
    "a if b else c", "x := 1", "f'{a}'", "a[0]", "", "a b", "1" * 5000, "(" * 300])
def test_conditions_run_no_code(text):
    with pytest.raises(ValueError, match="condition"):
        Condition(text)


@pytest.mark.parametrize("engine", asserting())
def test_shipped_assertions(engine):
    """Of known releases and names; every pinned release was read."""
    versions, coverage = load_engine(engine).versions, assertion_coverage(engine)
    known = {"env", "model", "card", "weights"} | {
        name.lstrip("-").replace("-", "_") for host in {engine, "vllm"}
        for entry in load_engine(host).entries["arguments"].values()
        for name in (entry.name, *(alias for state in entry.states.values()
                                   for alias in state.aliases))}
    for each in assertions(engine):
        assert each.releases
        assert set(each.releases) <= set(versions), each.name
        assert all(each.says[lang] for lang in ("en", "zh"))
        assert each.needs.names | (each.when.names if each.when else frozenset()) <= known
    assert tuple(coverage.read) == versions
    assert min(coverage.read.values()) > 0
    assert set(coverage.stands) == {each.name for each in assertions(engine) if each.checks}


@pytest.mark.parametrize(("engine", "release", "flags", "environment", "about", "part"), CASES)
def test_refused_settings(engine, release, flags, environment, about, part):
    found = problems(engine, release, flags, environment, about)
    assert bool(found) == (part is not None), found
    assert part is None or any(part in each for each in found), found


@pytest.mark.parametrize(("text", "message"), BAD)
def test_errors_of_a_table(tmp_path, text, message):
    path = tmp_path / "vllm.yml"
    path.write_text(f"mine:\n  {text}\n", encoding="utf-8")
    found = sentence(assertions_of, yamlfile.read(path), AssertionCoverage({}, {}))
    assert found == f"{path}:1: 'mine': {message}"
