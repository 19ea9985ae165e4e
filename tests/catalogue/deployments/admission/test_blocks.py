"""A scale cannot be cut: slices of quantised matrices hold whole blocks, or nothing loads them."""

import re

import pytest

import catalogue
from catalogue import ParamsError
from catalogue.deployments.admission.cuts import cut_problem
from catalogue.deployments.admission.scale_blocks import _slices, block_problem
from catalogue.deployments.admission.subject import Cut, Subject
from catalogue.deployments.scenario import model_inputs

V3, QWEN = "deepseek-v3", "qwen3-235b-a22b"


def subject(model, precision):
    entry = catalogue.load_model(model)
    return Subject(entry, catalogue.load_precision(precision),
                   catalogue.load_device("nvidia-h200-sxm"), catalogue.load_node("hgx-h200"),
                   model_inputs(entry))


def problem(model, precision, tensor, expert=1, data=1, slices=0):
    found = block_problem(subject(model, precision), Cut(tensor, 1, data, expert, slices))
    assert found is None or (found.kind, found.text["zh"][-1] != "。") == ("blocks", True)
    return found and found.text["en"]


@pytest.mark.parametrize("tensor", [1, 2, 4, 8, 16])
def test_v3_in_fp8_blocks_loads_up_to_sixteen(tensor):
    assert problem(V3, "fp8-block", tensor) is None


@pytest.mark.parametrize(("tensor", "width"), [(32, 576), (64, 288)])
def test_v3_in_fp8_blocks_does_not_load_beyond(tensor, width):
    told = problem(V3, "fp8-block", tensor)
    assert f"intermediate_size 18432 of '{V3}' into slices of {width}" in told
    assert "blocks of 128 of 'fp8-block128'" in told
    assert told.endswith("the nearest that loads is tensor_parallel of 16")


def test_whole_experts_are_not_cut():
    told = problem(QWEN, "fp8-block", 8)
    assert "moe_intermediate_size 1536" in told
    assert "slices of 192" in told
    assert told.endswith("tensor_parallel of 4 or expert_parallel of 8")
    assert problem(QWEN, "fp8-block", 8, expert=8) is None
    assert problem(QWEN, "fp8-block", 4) is None


@pytest.mark.parametrize("precision", ["bf16", "w8a8-int8"])
@pytest.mark.parametrize("tensor", [8, 32, 64])
def test_what_has_no_blocks_is_cut_anywhere(precision, tensor):
    assert problem(V3, precision, tensor) is None
    assert problem(QWEN, precision, min(tensor, 8)) is None


def test_kernels_of_experts_divide_a_group_that_other_layers_keep_whole():
    # 768 / 8 = 96 of a group of 128: three parts of 32; the dense layers of V3 have no such kernel
    assert problem("qwen3-30b-a3b", "w4a16-group128", 8) is None
    assert "18432" in problem(V3, "w4a16-group128", 32)


def test_the_nearest_cut_loads():
    for tensor in (32, 64, 128):
        told = problem(V3, "fp8-block", tensor)
        nearest = int(re.search(r"tensor_parallel of (\d+)$", told).group(1))
        assert problem(V3, "fp8-block", nearest) is None


def test_what_is_told_instead_divides_the_model_too():
    # of 24 ranks 12 hold whole blocks, but do not share 8 heads of keys, nor 24 of them 160 experts
    told = problem("glm-4.5", "fp8-block", 24)
    assert told.endswith("slices of 64, which are not whole blocks of 128 of 'fp8-block128', "
                         "so no engine loads it; the nearest that loads is tensor_parallel of 4")


def test_the_nearest_cut_keeps_the_ranks():
    for tensor, data in ((32, 1), (32, 2), (128, 4)):
        told = problem(V3, "fp8-block", tensor, data=data)
        nearest = int(re.search(r"tensor_parallel of (\d+)$", told).group(1))
        cut = Cut(nearest, 1, tensor * data // nearest)
        assert cut_problem(subject(V3, "fp8-block"), cut) is None


def test_a_deployment_that_no_engine_loads_is_refused_with_its_key():
    with pytest.raises(ParamsError, match=r"^--set parallelism.tensor_parallel: .* 576"):
        catalogue.load_scenario("h200-r1-vllm-tp8", overrides=(
            "parallelism.tensor_parallel=32", "cluster.nodes=4"))


def test_slices_that_are_asked_for_hold_whole_blocks_too():
    """2,048 columns of an expert of V3 are sixteen blocks of 128, wherever their ranks are."""
    assert problem(V3, "fp8-block", 1, data=16, slices=16) is None
    assert problem(V3, "fp8-block", 1, expert=2, data=32, slices=16) is None
    told = problem(V3, "fp8-block", 1, data=32, slices=32)
    assert told.startswith("expert_tensor_parallel of 32 cuts moe_intermediate_size 2048")
    assert "slices of 64" in told
    # sixteen ranks of thirty-two would share experts, and as many again have the same ones
    assert told.endswith("the nearest that loads is expert_tensor_parallel of 16")


def test_slices_are_refused_with_their_key():
    with pytest.raises(ParamsError, match=r"^--set parallelism.expert_tensor_parallel: .* 192"):
        catalogue.load_scenario("h200-v32-sglang-dp8", overrides=(
            "model=qwen3-235b-a22b", "parallelism.expert_parallel=1",
            "parallelism.expert_tensor_parallel=8"))


@pytest.mark.parametrize(("model", "cut", "widths"), [
    # 128 heads with keys of 128 + 64 and values of 128; 18432 dense, 2048 of an expert
    (V3, Cut(8), {"q_proj": (24576, 3072), "kv_b_proj": (32768, 4096), "o_proj": (16384, 2048),
                  "intermediate_size": (18432, 2304), "the shared experts' width": (2048, 256),
                  "moe_intermediate_size": (2048, 256)}),
    # 64 heads of 128, of whose four of keys and values each of eight ranks keeps one
    (QWEN, Cut(8, expert=8), {"q_proj": (8192, 1024), "k_proj and v_proj": (512, 128),
                              "o_proj": (8192, 1024), "moe_intermediate_size": (1536, 1536)}),
    (QWEN, Cut(2, 1, 2, slices=4), {"q_proj": (8192, 4096), "k_proj and v_proj": (512, 256),
                                    "o_proj": (8192, 4096), "moe_intermediate_size": (1536, 384)}),
    ("qwen3-8b", Cut(4), {"q_proj": (4096, 1024), "k_proj and v_proj": (1024, 256),
                          "o_proj": (4096, 1024), "intermediate_size": (12288, 3072)}),
])
def test_what_a_rank_holds_of_each_matrix(model, cut, widths):
    """By the counts of the models' published configurations."""
    found = list(_slices(subject(model, "bf16"), cut))
    assert {piece.name: (piece.whole, piece.width) for piece in found} == widths
    sides = {(piece.name, piece.side) for piece in found}
    assert {side for name, side in sides if name == "o_proj"} == {"inputs"}
    assert {side for name, side in sides if name == "q_proj"} == {"outputs"}
    assert {side for name, side in sides if name.endswith("size")} == {"inputs", "outputs"}
