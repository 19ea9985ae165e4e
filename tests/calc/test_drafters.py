"""Drafters apart from their model: memory, time, what a search tries, and flags."""

from dataclasses import replace

import pytest

import catalogue
from calc.launching.launch import deployed
from calc.launching.starting import start
from calc.layouts.layout import Choice, Row, scenario
from calc.layouts.space import Space
from calc.searching.goal import load_goal
from calc.searching.selection import select, started_pools
from calc.serving.evaluate import evaluate
from catalogue import ParamsError
from catalogue.entries.models import DRAFTERS

KIMI, V4 = "kimi-k2.5-8xh200", "v4-flash-8xh200"
VLLM, SGLANG = "vllm@0.33.0", "sglang@0.5.23"
EAGLE = ("workload.draft_tokens=3", "workload.draft_method=eagle3")
GOAL = ("model=gpt-oss-120b", "devices=nvidia-h200-sxm", "cards.most=8", "cards.fewest=8",
        "limits.tpot=null", "limits.ttft=5s", "demand.users=32", "precisions=mxfp4-w4a16",
        f"engines={SGLANG}", "space.pools=one", "space.tensor=4,8", "space.chunks=8192",
        "space.spares=none", "objectives=tpot")
OSS = Choice("nvidia-h200-sxm", "hgx-h200", SGLANG, "mxfp4-w4a16", 8, 4, 1, 2, 8, 0, 0, 1, 8192, 1,
              3, 90, 32, drafter=1)


def kimi(*settings):
    return catalogue.load_scenario(KIMI, overrides=settings)


def oss(**moved):
    return scenario(goal(), replace(OSS, **moved)).inputs()


def goal(*settings):
    return load_goal("r1-80-users-h20", [*GOAL, *settings])


def cells(*settings, engine=SGLANG):
    space = Space(goal(f"engines={engine}", *settings))
    base, = space.bases()
    return space, [(int(drafter), int(count)) for kind in space.cells(base)
                   for drafter, count in zip(kind["drafter"], kind["drafts"], strict=True)]


@pytest.mark.parametrize("count", [1, 3])
def test_drafts_that_are_never_accepted_only_cost(count):
    plain, drafting = kimi().inputs(), kimi(*EAGLE, f"workload.draft_tokens={count}").inputs()
    plain, found = (evaluate(inputs, "mla") for inputs in (
        plain, drafting | {"mtp_acceptance": 0.0}))
    assert found["tokens_per_step"] == 1
    assert found["steady_tpot"] > plain["steady_tpot"]
    assert found["weights_per_device"] == plain["weights_per_device"]
    assert found["headroom_per_device"] < plain["headroom_per_device"]


@pytest.mark.parametrize("tensor", [2, 4])
def test_memory_of_a_drafter_by_hand(tensor):
    """Its layer and its head are cut, the matrix that joins hidden states is not; 16 bits."""
    cut, joined, head = 190_586_880, 3 * 2880**2, 32_000 * 2880
    found = evaluate(oss(tensor=tensor, data=8 // tensor), "gqa")["mtp_weights"]
    assert found == 2 * ((cut + head) / tensor + joined)
    shared = evaluate(oss(tensor=tensor, data=8 // tensor) | {"drafter_head_parameters": 0}, "gqa")
    assert found - shared["mtp_weights"] == 2 * head / tensor


def test_a_pass_is_never_faster_than_its_bytes_nor_slower_with_a_smaller_vocabulary():
    inputs = oss()
    found = evaluate(inputs, "gqa")
    weights = 2 * (inputs["drafter_parameters"] / 4 + inputs["drafter_whole_parameters"])
    cache = found["decode_batch"] * found["decode_context_tokens"] * found["kv_entry_bytes"]
    floor = (weights + cache) / inputs["memory_bandwidth"]
    assert found["decode_draft_pass_time"] > floor
    whole = evaluate(inputs | {"drafter_vocab_size": inputs["vocab_size"]}, "gqa")
    assert whole["decode_draft_pass_time"] > found["decode_draft_pass_time"]
    longer = evaluate(inputs | {"input_tokens": 2 * inputs["input_tokens"],
                                "context_tokens": 2 * inputs["context_tokens"]}, "gqa")
    assert longer["decode_drafter_core_time"] > found["decode_drafter_core_time"]


def v4(*settings):
    return catalogue.load_scenario(V4, overrides=settings)


def test_a_block_passes_all_layers_of_a_module_once():
    """DSpark of DeepSeek-V4: three layers in memory and with a cache, five drafts in one pass."""
    own, module = (evaluate(v4(*more).inputs(), "csa") for more in (
        ["workload.draft_tokens=1"], ["workload.draft_tokens=5", "workload.draft_method=dspark"]))
    plain = evaluate(v4("workload.draft_tokens=0").inputs(), "csa")
    assert module["mtp_weights"] == pytest.approx(3 * own["mtp_weights"])
    layers = (found["stage_cache_layers"][-1] for found in (plain, own, module))
    first, *more = layers
    assert [float(count - first) for count in more] == [1, 3]
    assert module["draft_time"] == module["decode_draft_pass_time"]
    inputs = v4("workload.draft_tokens=5", "workload.draft_method=dspark").inputs()
    alone = evaluate(inputs | {"num_nextn_predict_layers": 1}, "csa")
    longer = max(float(alone[f"decode_{name}_time"]) for name in ("device", "host"))
    head = 2 * inputs["micro_batches"] * alone["decode_head_time"]
    assert module["draft_time"] - alone["draft_time"] == pytest.approx(
        (2 * longer - head) / inputs["num_hidden_layers"])


def test_what_is_tried_is_what_an_engine_is_shown_to_start():
    space, shown = cells()
    drafter = space.model.drafters["eagle3"]
    most = int(drafter.draft_tokens.value)
    assert set(shown) == {(0, 0), *((1, count) for count in range(1, most + 1))}
    assert set(cells(engine=VLLM)[1]) == {(0, 0)}
    assert set(cells("space.any_engine=true", engine=VLLM)[1]) == set(shown)
    assert set(cells("space.drafters=own")[1]) == {(0, 0)}
    assert set(cells("space.drafters=eagle3", "space.drafts=2")[1]) == {(1, 2)}
    assert set(cells("space.drafts=0,2")[1]) == {(0, 0), (1, 2)}


@pytest.mark.parametrize(("settings", "word"), [
    ((*EAGLE, "model=kimi-k2"), "kimi-k2"), (EAGLE[1:], "draft_tokens")])
def test_deployments_that_cannot_draft_so_are_refused(settings, word):
    with pytest.raises(ParamsError, match=word):
        kimi(*settings)


def test_a_drafter_that_a_model_lacks_is_refused():
    with pytest.raises(ParamsError, match=r"space\.drafters"):
        cells("model=deepseek-v3", "space.drafters=eagle3")


def test_rows_of_a_search_are_estimates_of_their_files():
    answer = select("r1-80-users-h20", GOAL)
    row = answer.best
    assert (row.choice.draft_method, row.choice.drafts) == ("eagle3", 3)
    assert row.extras >= 1
    found = evaluate(scenario(goal(), row.choice).inputs(), "gqa")
    for name, quantity in (("tpot", "steady_tpot"), ("ttft", "steady_ttft")):
        assert row.quantities[name] == pytest.approx(float(found[quantity]), rel=1e-9)


def of_speculation(wanted, engine, row):
    """Flags of drafts, which the tables of the release take."""
    pool, = deployed(started_pools(wanted, row, engine), ("plan.yml", ())).pools
    return {each.name: each.value for each in pool.flags[0]
            if each.name.startswith("--speculative")}


def test_flags_of_a_module_in_the_checkpoint():
    wanted = goal("model=deepseek-v4-flash", "precisions=fp8-mxfp4")
    row = Row(replace(OSS, precision="fp8-mxfp4", tensor=1, data=8, drafts=5,
                      drafter=DRAFTERS.index("dspark")), {})
    assert "equal to --tp-size" in start(wanted, replace(
        row, choice=replace(row.choice, tensor=4, data=2))).why
    for drafts in (5, 1):  # a whole block, and a part of one
        fewer = replace(row, choice=replace(row.choice, drafts=drafts))
        assert of_speculation(wanted, SGLANG, fewer) == {
            "--speculative-algorithm": "DSPARK", "--speculative-dspark-block-size": drafts,
            "--speculative-num-draft-tokens": drafts + 1}
    of_vllm = replace(row, choice=replace(row.choice, engine=VLLM))
    assert of_speculation(wanted, VLLM, of_vllm) == {
        "--speculative-config": {"method": "dspark", "num_speculative_tokens": 5}}
    for found in (row, of_vllm):
        checkpoint = start(wanted, found).checkpoint
        assert checkpoint in ("deepseek-ai/DeepSeek-V4-Flash-0731",
                              "deepseek-ai/DeepSeek-V4-Flash-DSpark")
