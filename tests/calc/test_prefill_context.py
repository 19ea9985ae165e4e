"""Prompts dealt over tensor-parallel ranks: where a search tries it, its rows and its flags."""

from dataclasses import replace

import numpy as np
import pytest

from calc.launching.launch import deployed
from calc.layouts.layout import Choice, Row
from calc.layouts.space import Base, Space
from calc.searching.goal import load_goal
from calc.searching.selection import started_pools
from catalogue import ParamsError

SGLANG, ASCEND = "sglang@0.5.23", "vllm-ascend@0.23.0.post1"
GOAL = ("model=deepseek-v3.2", "devices=nvidia-h200-sxm", "cards.most=16", "cards.fewest=8",
        "limits.tpot=null", "limits.ttft=60s", "demand.users=4", "demand.input_tokens=16384",
        "demand.output_tokens=256", "precisions=fp8-block", f"engines={SGLANG}",
        "space.pools=one", "space.chunks=8192", "space.drafts=0", "space.spares=none",
        "objectives=ttft", "space.prefill_context=0,1")
H200 = Base("nvidia-h200-sxm", "hgx-h200", SGLANG, "fp8-block")
NPU = Base("ascend-910c-die", "atlas-800i-a3", ASCEND, "w8a8-int8")
DEALT = Choice("nvidia-h200-sxm", "hgx-h200", SGLANG, "fp8-block", 8, 8, 1, 1, 1, 0, 0, 1, 8192, 1,
               0, 90, 4, prefill_context=1)


def space(*settings):
    return Space(load_goal("r1-80-users-h20", [*GOAL, *settings]))


@pytest.mark.parametrize(("settings", "base", "tried"), [
    ((), NPU, [0, 1]), (("demand.input_tokens=2048",), NPU, [0]),
    (("demand.input_tokens=2049",), NPU, [0, 1]), (("space.prefill_context=0",), NPU, [0]),
    (("model=deepseek-v3",), NPU, [0]), ((), replace(NPU, engine="vllm-ascend@0.13.0"), [0]),
    ((), H200, [0]), (("space.prefill_context=0,1",), H200, [0, 1])])
def test_tried_where_tutorials_set_the_switch_and_prompts_are_long(settings, base, tried):
    asked = Space(load_goal("r1-80-users-h20", [*GOAL[:-1], *settings]))
    assert asked.prefill_context(base) == tried


def test_prompts_are_dealt_over_several_ranks_that_do_not_deal_the_cache():
    kinds = space().cells(H200)
    dealt = {name: np.concatenate([kind[name][kind["prefill_context"] > 0] for kind in kinds])
             for name in kinds[0]}
    assert len(dealt["tensor"])
    assert set(dealt["tensor"].tolist()) <= {2, 4, 8}
    assert set(dealt["context"].tolist()) == {1}
    assert (dealt["expert"] <= dealt["tensor"]).all()
    plain = np.concatenate([kind["prefill_context"] == 0 for kind in kinds])
    assert plain.sum() > len(dealt["tensor"])


def flags(choice, *settings):
    goal = load_goal("r1-80-users-h20", [*GOAL, *settings])
    made = deployed(started_pools(goal, Row(choice, {}), choice.engine), ("plan.yml", ()))
    return {each.name: each.value for each in made.pools[0].flags[0]}


def test_flags_deal_prompts():
    found = flags(DEALT)
    assert (found["--attn-cp-size"], found["--cp-strategy"]) == (8, "interleave")
    assert "--enable-prefill-cp" in found
    assert "--enable-prefill-cp" not in flags(replace(DEALT, prefill_context=0))
    npu = replace(DEALT, device="ascend-910c-die", node="atlas-800i-a3", engine=ASCEND,
                  precision="w8a8-int8", devices=16, tensor=16, expert=16)
    assert flags(npu)["--additional-config"]["enable_dsa_cp"] is True


@pytest.mark.parametrize(("moved", "settings"), [
    ({"devices": 16, "tensor": 16}, ()),
    ({"tensor": 4, "data": 2, "expert": 8, "precision": "fp8-mxfp4"},
     ("model=deepseek-v4-flash", "precisions=fp8-mxfp4"))])
def test_layouts_in_which_sglang_deals_no_prompts_are_refused(moved, settings):
    with pytest.raises(ParamsError, match="--enable-prefill-cp"):
        flags(replace(DEALT, **moved), *settings)
