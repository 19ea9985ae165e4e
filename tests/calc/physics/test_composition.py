"""What a step is made of: its micro-batches, a rank's own part, and tokens of ranks together."""

from dataclasses import fields, replace
from types import SimpleNamespace

import pytest

from calc.physics.work import Composition, Routed

KINDS = ("absorbed", "decoding", "dealt")  # what a part of a step has like the whole
CHUNK = Composition(
    tokens=60.0, logit_rows=6.0, attended=120.0, in_window=36.0, indexed=48.0, read=18.0,
    read_in_window=12.0, read_keys=24.0, expanded=30.0, absorbed=0, decoding=False,
    core_missing=42.0, group_tokens=84.0, busiest_tokens=66.0)
# three replicas of four tensor ranks share the experts
Q = {"tensor_parallel": 4, "expert_parallel": 12, "expert_tensor_parallel": 0,
     "shared_expert_ranks": 0, "decode_context_parallel": 2, "prefill_context_parallel": 1,
     "index_topk": 2048, "linear_layers": 0}


def q(**changed):
    return SimpleNamespace(**Q | changed)


@pytest.mark.parametrize("parts", [2, 3])
def test_a_micro_batch_has_its_part_of_all_that_is_counted(parts):
    part, whole = vars(CHUNK.part(parts)), vars(CHUNK)
    assert part == {name: value if name in KINDS else value / parts
                    for name, value in whole.items()}
    assert CHUNK.part(1) is CHUNK


def test_what_is_not_known_of_a_group_stays_unknown_of_a_part():
    alone = replace(CHUNK, group_tokens=None, busiest_tokens=None).part(2)
    assert alone.group_tokens is alone.busiest_tokens is None
    assert alone.tokens == 30


def test_ranks_that_deal_a_prompt_have_a_quarter_each_and_expand_the_rest_too():
    """Tokens and what they meet are dealt; rows of logits, and what is read, are everybody's."""
    own = vars(CHUNK.own(q()))
    dealt = ("tokens", "attended", "in_window", "indexed", "core_missing")
    assert own == vars(CHUNK) | {name: vars(CHUNK)[name] / 4 for name in dealt} | {
        "expanded": 30 + (60 - 15), "dealt": 4}
    assert replace(CHUNK, absorbed=1).own(q()).expanded == 30


@pytest.mark.parametrize("changed", [
    {"prefill_context_parallel": 0}, {"index_topk": 0}, {"linear_layers": 1},
    {"tensor_parallel": 1}])
def test_nothing_is_dealt_by_ranks_that_each_have_all_tokens(changed):
    assert CHUNK.own(q(**changed)) is CHUNK


def test_a_decode_step_is_not_dealt():
    step = replace(CHUNK, decoding=True)
    assert step.own(q()) is step
    assert step.sharing_ranks(q()) == 2
    assert CHUNK.sharing_ranks(q()) == 1


def test_tokens_of_a_group_are_those_that_are_told_or_as_many_of_each():
    assert CHUNK.together(q()) == 84
    alone = replace(CHUNK, group_tokens=None)
    assert alone.together(q()) == 60 * 12 / 4
    assert CHUNK.of_shared(q()) == alone.of_shared(q()) == 60
    assert CHUNK.of_shared(q(shared_expert_ranks=3)) == 84 / 3
    assert alone.of_shared(q(shared_expert_ranks=3)) == 180 / 3


def test_a_port_carries_the_tokens_of_the_busiest_rank_if_that_is_told():
    assert CHUNK.exchanged() == 66
    assert replace(CHUNK, busiest_tokens=None).exchanged() == 60


def test_unless_more_is_said_a_rank_is_one_of_equals():
    told = {one.name for one in fields(Composition)} - {
        "core_missing", "group_tokens", "busiest_tokens", "dealt"}
    plain = Composition(**{name: getattr(CHUNK, name) for name in told})
    assert (plain.core_missing, plain.group_tokens, plain.busiest_tokens, plain.dealt) == (
        0, None, None, 1)


@pytest.mark.parametrize(("read", "rows"), [(0.5, 1.5 * 60 * 8), (1, 1.5 * 60 * 8), (16, 45)])
def test_rows_of_an_expert_are_those_of_the_slowest_rank_over_what_it_reads(read, rows):
    routed = Routed(flops=2.0, bytes=3.0, tokens=60.0, hit=5.0, read=read, rows=7.0, inside=11.0,
                    weights=13.0, slowest=1.5)
    assert routed.rows_of_one(SimpleNamespace(num_experts_per_tok=8)) == rows
