"""What a goal lets a search try: offers, formats, servers, card counts, layouts, inputs."""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest

from calc.costing.ownership import cards_within, stated
from calc.layouts.layout import scenario
from calc.layouts.space import AXES, CHUNKS, DRAFTS, Base, Space, choice_at
from calc.searching.candidates import CandidateCells
from calc.searching.goal import load_goal
from catalogue.planning import MOST_CARDS

VLLM, SGLANG = "vllm@0.33.0", "sglang@0.5.23"  # the newest
H20 = Base("nvidia-h20", "hgx-h20", VLLM, "fp8-block")
SMALL = ("space.chunks=2048,8192", "space.drafts=0,1", "space.spares=none,per-rank")


def space(*settings, engine=VLLM):
    return Space(load_goal("r1-80-users-h20", [
        "devices=nvidia-h20", *([f"engines={engine}"] if engine else []), *settings]))


def joined(kinds):
    return {name: np.concatenate([part[name] for part in kinds]) for name in AXES}


@pytest.mark.parametrize(("model", "ranks", "tried"), [
    ("deepseek-v3", 48, [0, 5, 32, 80]), ("deepseek-v3", 64, [0, 5, 64]), ("deepseek-v3", 1, [0]),
    ("deepseek-v3", 256, [0, 5, 256]), ("llama-3.1-70b", 48, [0])])
def test_redundant_experts_fill_the_ranks_or_add_one_to_each(model, ranks, tried):
    """256 experts on 48 ranks are 6 each with 32 to spare, or 7 with 80."""
    some = space(f"model={model}", "space.spares=none,fewest,per-rank,5", f"cards.fewest={ranks}",
                 f"cards.most={max(8, ranks)}")
    rows = some.layouts(H20)
    own = rows["spares"][rows["expert"] == ranks]
    assert own[:len(tried)].tolist() == tried
    assert set(own.tolist()) == set(tried)


LIMITS = ("limits.rent=60 USD/h", "limits.budget=1000000 USD", "limits.power=60 kW")
AMOUNTS = {"rent": stated("60 USD/h"), "capital": stated("1000000 USD", "USD"), "power": 60e3}


@pytest.mark.parametrize(("settings", "names", "most"), [
    ((), (), 64), (("cards.most=24",), (), 24), (LIMITS[:1], ("rent",), 64), (LIMITS[2:], (), 64),
    (LIMITS[1:2], ("capital",), 64), ((LIMITS[2], "cards.most=null"), ("power",), MOST_CARDS),
    ((*LIMITS, "cards.most=null"), tuple(AMOUNTS), MOST_CARDS),
    ((LIMITS[0], "cards.most=12"), ("rent",), 12)])
def test_most_cards_are_stated_bought_rented_or_powered(settings, names, most):
    """A power limits the count only where nothing states it."""
    some = Space(load_goal("r1-80-users-h20", ["devices=nvidia-h200-sxm", *settings]))
    base = Base("nvidia-h200-sxm", "hgx-h200", None, "fp8-block")
    within = [cards_within(base.device, base.node, **{name: AMOUNTS[name]}) for name in names]
    assert all(8 < count < 64 for count in within)
    assert some.most(base) == min(most, *within, MOST_CARDS)


@pytest.mark.parametrize(("settings", "chunks", "drafts", "slices"), [
    ((), list(CHUNKS), list(DRAFTS), [0]),
    (("space.chunks=512,99", "space.drafts=0,2", "space.expert_slices=1,4"), [512, 99], [0, 2],
     [1, 4]),
    (("model=kimi-k2",), list(CHUNKS), [0], [0]), (("model=qwen3-8b",), list(CHUNKS), [0], [0]),
    (("model=llama-3.1-70b", "space.expert_slices=1,4"), list(CHUNKS), [0], [0])])
def test_sizes_tried_unless_stated(settings, chunks, drafts, slices):
    """Only models with a layer that predicts draft, only those with experts cut them."""
    some, base = space(*settings, "cards.most=16"), Base("nvidia-h20", "hgx-h20", None, "fp8-block")
    counts = [count for drafter, count in some.drafting(base) if not drafter]
    assert (some.chunks(), counts) == (chunks, drafts)
    assert sorted(set(some.layouts(base)["slices"].tolist())) == slices
    assert [then / one for one, then in itertools.pairwise(CHUNKS)] == [2] * (len(CHUNKS) - 1)
    assert CHUNKS[0] == 2**10


def test_bases_are_engines_and_formats_that_run_on_the_card():
    engines = space("engines=vllm@0.33.0,vllm-ascend,sglang", "precisions=fp8-block").bases()
    assert [base.engine for base in engines] == ["vllm@0.33.0", "sglang"]
    tried = space("precisions=fp8-block,w4a8-int8,bf16")
    assert tried.bases() == [replace(H20, precision=name) for name in ("fp8-block", "bf16")]
    assert sum(tried.dropped.values()) == 1
    usual = space("precisions=fp8-block", engine=None).bases()
    assert {base.engine for base in usual} == {VLLM, SGLANG}
    lifted = space("precisions=fp8-block", "space.any_engine=true", engine=None).bases()
    assert [base.engine for base in lifted] == [None]


def test_formats_are_those_in_which_an_engine_is_shown_to_start_the_model():
    """A checkpoint in W4AFP8 that SGLang starts is none that vLLM does."""
    for engine, shown in ((SGLANG, True), (VLLM, False)):
        names = {base.precision for base in space(f"engines={engine}").bases()}
        assert ("w4afp8" in names) is shown
        assert "fp8-block" in names


@pytest.mark.parametrize(("device", "inside"), [("nvidia-h20", False), ("nvidia-l20", True)])
def test_stages_are_whole_servers_where_cards_are_joined_faster_than_by_pcie(device, inside):
    some = space(f"devices={device}", "cards.most=16")
    base = some.bases()[0]
    rows = some.layouts(base)
    staged = rows["pipeline"] > 1
    partly = staged & (np.maximum(rows["tensor"], rows["expert"]) % 8 > 0)
    assert staged.any()
    assert partly.any() == inside
    rows = space(f"devices={device}", "cards.most=16", "space.pipeline=1,2").layouts(base)
    assert ((rows["pipeline"] == 2) & (rows["tensor"] == 4)).any()


def test_offers_of_any_card_are_accelerators_with_a_server():
    names = {offer.device for offer in Space(load_goal("million-tokens")).offers}
    assert {"nvidia-h200-sxm", "ascend-910b2", "ascend-910c-die"} <= names
    assert not {"ascend-910c-package", "kunpeng-920", "ascend-910a"} & names
    assert [offer.device for offer in space().offers] == ["nvidia-h20"]


def test_quality_keeps_formats_that_lose_no_more():
    """Published scores of R1 in NVFP4 and W8A8 are no lower; BF16 holds every FP8 number."""
    def tried(*settings):
        some = Space(load_goal("r1-64-users-8xh20", [f"engines={SGLANG}", *settings]))
        return {base.precision for base in some.bases()}, some.dropped["quality"]

    every, none = tried()
    assert none == 0
    for asked, kept in (("published", {"fp8-block"}), ("0 points", {
            "fp8-block", "bf16", "nvfp4-w4a16", "nvfp4-fp8-cache", "w8a8-int8"})):
        found, left_out = tried(f"limits.quality={asked}")
        assert found == kept < every
        assert left_out == len(every - kept)


@pytest.mark.parametrize(("settings", "staged"), [
    (["engines=sglang", "space.staged_drafts=true"], True), (["engines=vllm@0.29.0"], False),
    (["engines=vllm@0.33.0"], True), (["engines=sglang"], False),
    (["engines=vllm@0.33.0", "space.staged_drafts=false"], False)])
def test_drafts_in_pipeline_stages_where_the_release_has_them(settings, staged):
    some = space("cards.most=16", "precisions=w8a8-int8", *SMALL, *settings)
    base, = some.bases()
    cells = joined(some.cells(base))
    across = (cells["pipeline"] > 1) & (cells["drafts"] > 0)
    assert across.any() == staged
    assert (cells["drafts"] > 0).any()
    assert ((cells["pipeline"] > 1) & (cells["drafts"] == 0)).any()


def test_every_layout_has_every_value_of_the_other_axes():
    """Two micro-batches are tried where experts are exchanged beyond a replica."""
    some = space("precisions=fp8-block", "space.chunks=1024,8192", "space.drafts=0,1",
                 "space.micro_batches=1,2", "space.tensor=8", "space.pipeline=1",
                 "space.spares=none", "cards.fewest=16", "cards.most=16",
                 "space.decode_context=1", "space.memory_utilization=0.8,0.95")
    base, = some.bases()
    cells, layouts = joined(some.cells(base)), some.layouts(base)
    others = ("chunk", "drafts", "micro_batches", "utilization")
    for expert, count in ((16, 16), (8, 8)):
        own = {name: column[cells["expert"] == expert] for name, column in cells.items()}
        assert len(set(zip(*(own[name].tolist() for name in others), strict=True))) == len(
            own["data"]) == count
    assert some.size(base) == len(layouts["data"]) * 16


def test_left_out_layouts_and_tried_ones_are_all():
    some = space("precisions=fp8-block", "cards.most=24", "space.chunks=8192", "space.drafts=0",
                 "space.spares=none", "space.micro_batches=1")
    base, = some.bases()
    left, tried = some.left_out(base), len(joined(some.cells(base))["data"])
    assert left.total() - left["pipeline"] == len(some.layouts(base)["data"]) - tried > 0
    none = space("precisions=fp8-block", "cards.fewest=1", "cards.most=8", "space.tensor=7")
    assert none.cells(base) == []


@functools.cache
def two_servers():
    some = space("precisions=fp8-block", "cards.fewest=4", "cards.most=24", *SMALL,
                 "space.micro_batches=1,2", "space.expert_slices=1,2",
                 "space.memory_utilization=0.9,0.95")
    base, = some.bases()
    return some, base, some.cells(base)


@pytest.mark.parametrize("pool", [None, "prefill", "decode"])
def test_inputs_of_a_kind_are_those_of_each_of_its_files(pool):
    """What cells share and what each sets are together the inputs of its scenario file."""
    some, base, kinds = two_servers()
    first, inputs = some.inputs(base, kinds, pool)
    assert some.inputs(base, [], pool)[0] is first
    assert first.inputs() == some.first(base, kinds[0], pool).inputs()
    assert np.ndim(inputs["hidden_size"]) == 0
    found = CandidateCells(inputs, "mla", some.goal.demand)
    for number, cells in enumerate(kinds):
        for name, least in (("data", 1), ("spares", 0), ("drafts", 0), ("slices", 1)):
            assert len(set((cells[name] > least).tolist())) == 1
        for row in (0, len(cells["data"]) - 1):
            choice = choice_at(base, cells, row, 48)
            one = {name: column[row:row + 1] for name, column in cells.items()}
            columns = found.columns(one | {"kind": np.array([number]),
                                           "concurrency": np.array([48])})
            own = scenario(some.goal, replace(choice, pool=pool)).inputs()
            assert {name: float(np.ravel(value)[0]) for name, value in columns.items()} == (
                pytest.approx(own))
