"""Cross-flag assertions of engine releases: conditions, shipped tables, and what they refuse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue.assertions import (
    UNKNOWN,
    Condition,
    asserting,
    assertion_coverage,
    assertions,
    problems,
)
from catalogue.engine import load_engine

TRUTHS = st.sampled_from([True, False, UNKNOWN])
EPLB = {"--additional-config": {"eplb_config": {"dynamic_eplb": True}}}
INT8, INT4 = ({"weights": {"expert": f"int{bits}-channel", "expert_bits": bits}} for bits in (8, 4))
WIDE = {"--tp-size": 32, "--dp-size": 32, "--enable-dp-attention": None, "--ep-size": 32,
        "--moe-a2a-backend": "deepep", "--moe-dense-tp-size": 1}
BLOCKS = {"model": {"intermediate_size": 18432, "dense_layers": 3, "moe_intermediate_size": 2048,
                    "attention": "mla"}, "weights": {"dense_block": 128, "expert_block": 128}}
V3 = {"model": {"max_position_embeddings": 163_840, "moe": True, "attention": "mla",
                "num_attention_heads": 128}, "card": {"cuda": True}, "weights": {}}
INDEXED = {"model": {"attention": "mla", "index_topk": 2048}, "card": {"software": "cuda"}}
DCP3 = {"--tensor-parallel-size": 8, "--decode-context-parallel-size": 3}
DCP4, SPARSE = DCP3 | {"--decode-context-parallel-size": 4}, {"model": {"index_topk": 2048}}
CASES = [  # engine, release, flags, environment, model and card, part of what is refused
    ("vllm-ascend", "0.11.0", EPLB, {}, INT4, None),
    ("vllm-ascend", "0.13.0", EPLB, {}, INT8, "needs DYNAMIC_EPLB=true"),
    ("vllm-ascend", "0.13.0", EPLB, {"DYNAMIC_EPLB": "true"}, INT8, None),
    ("vllm-ascend", "0.18.0", EPLB, {"DYNAMIC_EPLB": "true"}, INT4, "W8A8 alone"),
    ("sglang", "0.5.6.post2", WIDE | {"--moe-dense-tp-size": 32}, {}, BLOCKS, "--moe-dense-tp"),
    ("sglang", "0.5.6.post2", WIDE, {}, BLOCKS, None),
    ("sglang", "0.5.6.post2", WIDE | {"--ep-size": 8}, {}, BLOCKS, "spreads experts"),
    ("vllm", "0.10.2", {"--enable-eplb": None}, {}, V3, "needs --enable-expert-parallel"),
    ("vllm", "0.18.1", DCP3, {}, V3, "multiple of"), ("vllm", "0.13.0", DCP3, {}, {}, None),
    ("vllm-ascend", "0.26.0rc1", DCP4, {}, SPARSE, "is --tensor-parallel-size"),
    ("vllm-ascend", "0.26.0rc1", DCP4 | {"--tensor-parallel-size": 4}, {}, SPARSE, None),
    ("sglang", "0.5.23", {"--tp-size": 8, "--dcp-size": 8, "--disaggregation-mode": "decode"}, {},
     SPARSE, "prefill and decode"),
    ("vllm", "0.18.1", {"--block-size": 16}, {}, INDEXED, "multiple of 64"),
    ("vllm", "0.16.0", {"--block-size": 16}, {}, INDEXED, None),  # it takes 64 itself
    ("vllm", "0.33.0", {"--block-size": 128}, {}, INDEXED, None),
    ("vllm", "0.33.0", {"--max-model-len": 200_000}, {}, V3, "within the model's positions")]


@given(TRUTHS, TRUTHS)
def test_kleene_logic(one, other):
    """A conjunction is false with a false part, true only with two true ones."""
    known = {"one": one, "other": other}
    both, either = Condition("one and other")(known), Condition("one or other")(known)
    assert (both is False) == (one is False or other is False)
    assert (both is True) == (one is True and other is True)
    assert (either is True) == (one is True or other is True)
    assert (either is False) == (one is False and other is False)
    assert Condition("not one")(known) is (UNKNOWN if one is UNKNOWN else not one)


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
    known = {"env", "model", "card", "weights", "prefill", "decode"} | {
        name.lstrip("-").replace("-", "_") for host in {engine, "vllm"}
        for entry in load_engine(host).entries["arguments"].values()
        for name in (entry.name, *(alias for state in entry.states.values()
                                   for alias in state.aliases))}
    for each in assertions(engine):
        assert each.releases
        assert set(each.releases) <= set(versions), each.name
        assert all(each.says[lang] for lang in ("en", "zh"))
        assert each.needs.names | (each.when.names if each.when else frozenset()) <= known
    assert tuple(coverage["read"]) == versions
    assert min(coverage["read"].values()) > 0
    assert set(coverage["stands"]) == {each.name for each in assertions(engine) if each.checks}


@pytest.mark.parametrize(("engine", "release", "flags", "environment", "about", "part"), CASES)
def test_refused_settings(engine, release, flags, environment, about, part):
    found = problems(engine, release, flags, environment, about)
    assert bool(found) == (part is not None), found
    assert part is None or any(part in each for each in found), found
