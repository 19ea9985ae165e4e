"""Precisions: what they store to the last byte, what they multiply, and which card can."""

from fractions import Fraction

import pytest
from _models import weight_bytes

import calc
import catalogue
from catalogue.deployments.physics_inputs import missing_dtypes, nearest
from catalogue.kernels import expert_bytes, kernel_of

GB, GIB = 10**9, 2**30
PRECISIONS = catalogue.names("precisions")
EXPERT, CHANNELS = 3 * 7168 * 2048, 2 * 2048 + 7168  # of DeepSeek-V3: elements, output channels
OUTPUT, LATENT = 16_384 * 7168, 187_107_328  # output projection, all attention weights of a layer
KV_B = 61 * 512 * 128 * (128 + 128)  # up-projection of the latent, all layers
MTP_COPIES = 2 * 129_280 * 7168  # embedding and head, stored again with the prediction layer
WIDTHS = {"fp32": 32, "tf32": 19, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "fp4": 4}


def evaluated(*overrides):
    scenario = catalogue.load_scenario("s0-scenario-1", overrides=overrides)
    return calc.evaluate(scenario.inputs(), "mla")


def missing(precision, device, classes=None):
    return missing_dtypes(
        catalogue.load_precision(precision), catalogue.load_device(device), classes)


@pytest.mark.parametrize(("name", "expected"), [
    ("bf16", 16), ("fp8", 8), ("int4-group64", Fraction(20, 64) + 4),
    ("int4-group32-sym", Fraction(9, 2)), ("nvfp4", Fraction(9, 2)), ("mxfp4", Fraction(17, 4)),
    ("q4-k", Fraction(144 * 8, 256)),  # sizeof(block_q4_K) = 144
    ("q6-k", Fraction(210 * 8, 256)),  # sizeof(block_q6_K) = 210
    ("int4-channel", 4 + Fraction(32 * CHANNELS, EXPERT)),
    # INT64 scale, FP32 offset, FP32 bias per output channel, as it is loaded
    ("int4-channel-ascend", 4 + Fraction((64 + 32 + 32) * CHANNELS, EXPERT)),
    ("nvfp4-output", (Fraction(9, 2) * OUTPUT + 16 * (LATENT - OUTPUT)) / LATENT),
    ("int8-latent48", Fraction(48 * 8 + 13 * 16, 61))])
def test_bits_of_an_element_with_its_share_of_scales(name, expected):
    assert catalogue.load_format(name).bytes_per_element == pytest.approx(
        float(expected) / 8, rel=0, abs=1e-15)


def test_fp8_of_deepseek_v3_to_the_byte():
    """Besides the main model: the MTP layer (its joining matrix in BF16) with its copies, router
    biases in FP32, and whole blocks where 576 rows are not a multiple of 128.
    """
    n, fp8 = evaluated(), 1 + 4 / 16384
    attention = n["attention_divided_parameters"] + n["attention_replicated_parameters"]
    wide = n["mtp_layer_parameters"] - attention - 257 * EXPERT  # router, norms, joining matrix
    mtp = (attention + 257 * EXPERT) * fp8 + 2 * wide + 2 * MTP_COPIES
    biases, whole_blocks = (58 + 1) * 256 * (4 - 2), 62 * (5 - 4.5) * (7168 // 128) * 4
    tensors = weight_bytes("deepseek-v3", "fp8-block") + mtp + biases + whole_blocks
    assert tensors == 688_574_839_360


def test_gpt_oss_to_the_byte():
    """65.2 GB; biases of experts are BF16 in the file and MXFP4 in the count."""
    biases = 36 * 128 * (2 * 2880 + 2880)
    exact = weight_bytes("gpt-oss-120b", "mxfp4-w4a16") + biases * (
        2 - catalogue.load_format("mxfp4").bytes_per_element)
    assert exact == 65_248_815_744


@pytest.mark.parametrize(("layout", "share", "ours", "logged"), [
    (("tensor_parallel=8", "pipeline_parallel=2", "data_parallel=1"), 30 / 61 / 8, 40.87, 40.7763),
    (("tensor_parallel=4", "data_parallel=4", "expert_parallel=16"), 1 / 4, 43.30, 44.1591)])
def test_w8a8_on_a_rank_of_16_cards(layout, share, ours, logged):
    """GiB that vllm-ascend logged after loading, in its issues 1127 and 2191.

    The engine keeps kv_b_proj in BF16 and beside it two rearranged halves, so three bytes per
    element more than are counted.
    """
    weights = evaluated("precision=w8a8-int8", *(f"parallelism.{part}" for part in layout))[
        "weights_per_device"]
    assert round(weights / GIB, 2) == ours
    assert (weights + 3 * KV_B * share) / GIB == pytest.approx(logged, rel=0.007)


def test_every_class_is_multiplied_in_at_least_its_bits():
    for entry in map(catalogue.load_precision, PRECISIONS):
        for kind, dtype in entry.multiply.dtypes.items():
            if stored := getattr(entry.weights, kind, None):
                assert WIDTHS[dtype] >= catalogue.load_format(stored).bits.value, (entry.id, kind)


@pytest.mark.parametrize(("settings", "latent"), [
    ((), 1152), (("precision.kv_cache=fp8-latent128",), 512 + 512 // 128 * 4 + 64 * 2),
    (("precision.kv_cache=fp8", "precision.kv_rope=fp8"), 576),
    (("precision.kv_cache=int8",), 512 + 128),
    (("precision.kv_cache=int8-latent48",), 512 * 592 / 61 / 8 + 128),
    (("precision=fp8-block", "precision.kv_cache=fp8-latent128"), 656),
    (("precision=w4a8-int8",), 1152)])
def test_bytes_of_a_latent(settings, latent):
    assert evaluated(*settings)["kv_layer_bytes_per_token"] == pytest.approx(latent, rel=1e-15)


@pytest.mark.parametrize(("precision", "device", "classes", "dtypes"), [
    ("fp8-block", "ascend-910b2", None, {"fp8"}), ("nvfp4", "nvidia-h20", None, {"fp4"}),
    ("w8a8-int8", "ascend-910a", None, {"bf16"}), ("w8a8-int8", "ascend-910b2", None, set()),
    ("fp8-block", "nvidia-h20", None, set()), ("w4a16-awq", "ascend-910a", None, set()),
    ("fp8-block", "ascend-910b2", ["router", "head", "core"], set()),
    ("q4-k-m", "nvidia-h20", ["router"], set()),  # FP32, left to the vector unit
    ("w8a8-int4-cpu", "intel-xeon-8480plus", ["routed_expert"], set()),
    ("fp16", "kunpeng-920", None, set()), ("bf16", "kunpeng-920", None, {"bf16"})])
def test_dtypes_that_a_card_lacks(precision, device, classes, dtypes):
    assert {dtype for _, dtype in missing(precision, device, classes)} == dtypes


@pytest.mark.parametrize(("device", "wanted", "first"), [
    ("ascend-910b2", "fp8-block", "w8a8-int8"), ("nvidia-h20", "fp8-block", "fp8-block"),
    ("nvidia-a100-sxm-80gb", "fp8-block", "fp8-block")])  # weights alone, widened
def test_possible_precisions_by_bytes_of_experts_or_nearest_first(device, wanted, first):
    card = catalogue.load_device(device)
    assert nearest(card, catalogue.load_precision(wanted))[0].id == first
    possible = nearest(card)
    sizes = [expert_bytes(entry) for entry in possible]
    assert sizes == sorted(sizes)
    assert all(kernel_of(entry, card) for entry in possible)
    assert {entry.id for entry in nearest(card, any_engine=True)} <= {
        name for name in PRECISIONS if not missing(name, device)}
