"""What a knob is worth within its range, and which products share one, on a card made for it."""

from types import SimpleNamespace

import numpy as np
import pytest

import catalogue
from catalogue.deployments.knobs import NORMAL_90, Knob, by_dtype, multiplied, on_card
from catalogue.deployments.stand_ins import (
    efficiency,
    lacking,
    latency,
    nearest_known,
    widened_experts,
)
from catalogue.entries.hardware import Peaks
from catalogue.entries.mechanisms import BytesByDtype, ShareByDtype, TimeByDtype
from catalogue.reading.values import Value


def number(value, low=None, high=None):
    return Value(value, "1", str(value), "arithmetic", "assumed",
                 value if low is None else low, value if high is None else high)


def table(cls, **values):
    """Numbers by dtype; a pair is a number with what it may be at least and at most."""
    made = {name: number(*each) if isinstance(each, tuple) else number(each)
            for name, each in values.items()}
    return cls.model_construct(**dict.fromkeys(cls.model_fields) | made)


def card(**peaks):
    """A card that multiplies some dtypes."""
    return SimpleNamespace(matrix_peak=table(Peaks, **peaks), vector_peak=None, type="gpu")


@pytest.mark.parametrize(("low", "points"), [
    # from 10 up to 40 it doubles twice, down to 5 it halves once: in logarithms
    (5, {0: 10, NORMAL_90: 40, 2 * NORMAL_90: 160, NORMAL_90 / 2: 20, -NORMAL_90: 5,
         -2 * NORMAL_90: 2.5}),
    # from zero on it goes in equal steps, and not below
    (0, {0: 10, NORMAL_90: 40, 2 * NORMAL_90: 70, NORMAL_90 / 2: 25, -NORMAL_90: 0,
         -NORMAL_90 / 2: 5, -3 * NORMAL_90: 0}),
])
def test_a_range_holds_eighty_percent_on_either_side_of_its_median(low, points):
    knob = Knob("k", number(10, low, 40), ("k",))
    for score, value in points.items():
        assert knob.at(score) == pytest.approx(value, abs=1e-12)
    assert knob.at(np.array([*points])) == pytest.approx([*points.values()], abs=1e-12)


@pytest.mark.parametrize(("peaks", "asked", "found"), [
    ({"fp8": 9, "bf16": 5, "fp16": 5}, "fp8", "fp8"), ({"bf16": 5, "fp16": 5}, "fp8", "bf16"),
    ({"fp16": 5, "int8": 9}, "fp8", "fp16"), ({"int8": 9}, "fp8", "bf16")])
def test_what_a_card_does_not_multiply_is_widened_to_the_16_bits_that_it_has(peaks, asked, found):
    assert on_card(card(**peaks), asked) == found


PRIORS = SimpleNamespace(
    gemm_efficiency=table(ShareByDtype, bf16=0.7, fp8=0.5),
    grouped_gemm_efficiency=table(ShareByDtype, bf16=0.6, fp8=0.4),
    sliced_gemm_efficiency=table(ShareByDtype, bf16=0.3),
    matmul_latency=table(TimeByDtype, bf16=7, fp8=11),
    depth_latency=table(TimeByDtype, bf16=13),
    activation_traffic=table(BytesByDtype, fp8=17))
STORED = {"attention": "bf16", "dense_mlp": "bf16", "shared_expert": "bf16",
          "routed_expert": "fp8-block128", "router": "bf16", "head": "bf16"}


def scenario(device, mechanisms=(), **dtypes):
    """A deployment whose classes multiply BF16 but for some."""
    asked = dict.fromkeys((*STORED, "core"), "bf16") | dtypes
    multiply = SimpleNamespace(dtypes=asked, index=dtypes.get("index"), core=asked["core"])
    return SimpleNamespace(device=device, mechanisms=dict(mechanisms), precision=SimpleNamespace(
        multiply=multiply))


def test_one_knob_moves_all_classes_that_multiply_a_dtype():
    found = by_dtype(scenario(card(bf16=5, fp8=10), attention="fp8", head="fp8"), PRIORS)
    assert {knob.name: (knob.value.value, knob.symbols) for knob in found} == {
        "gemm_efficiency.fp8": (0.5, ("attention_gemm_efficiency", "head_gemm_efficiency")),
        "gemm_efficiency.bf16": (0.7, (
            "dense_mlp_gemm_efficiency", "shared_expert_gemm_efficiency",
            "router_gemm_efficiency")),
        "grouped_gemm_efficiency.bf16": (0.6, ("routed_expert_gemm_efficiency",)),
        "matmul_latency.fp8": (11, ("attention_matmul_latency", "head_matmul_latency")),
        "matmul_latency.bf16": (7, (
            "dense_mlp_matmul_latency", "shared_expert_matmul_latency", "router_matmul_latency")),
        "depth_latency.fp8": (13, ("attention_depth_latency", "head_depth_latency")),
        "depth_latency.bf16": (13, (
            "dense_mlp_depth_latency", "shared_expert_depth_latency", "router_depth_latency")),
        "activation_traffic.fp8": (17, ("attention_activation_traffic",
                                        "head_activation_traffic")),
        "sliced_gemm_efficiency.bf16": (0.3, ("sliced_expert_gemm_efficiency",))}


def test_slices_of_a_dtype_that_nobody_measured_are_multiplied_as_whole_experts_are():
    of_fp8 = scenario(card(bf16=5, fp8=10), {"activation_traffic.bf16": number(19)},
                      routed_expert="fp8")
    found = {knob.name: knob for knob in by_dtype(of_fp8, PRIORS)}
    assert found["sliced_gemm_efficiency.fp8"].value.value == 0.4
    assert found["grouped_gemm_efficiency.fp8"].symbols == ("routed_expert_gemm_efficiency",)
    assert found["activation_traffic.bf16"].value.value == 19  # as its engine gives it
    assert not {"gemm_efficiency.fp8", "matmul_latency.fp8", "grouped_gemm_efficiency.bf16",
                "activation_traffic.fp8"} & set(found)


def test_an_indexer_scores_as_the_core_multiplies_unless_stated():
    of = card(bf16=5, fp8=10, int8=10)
    assert multiplied(scenario(of, core="fp8"))["index"] == "fp8"
    assert multiplied(scenario(of, core="fp8", index="int8"))["index"] == "int8"
    assert multiplied(scenario(of, core="fp4", index="fp4")) == dict.fromkeys(
        (*STORED, "core", "index"), "bf16")


@pytest.mark.parametrize(("known", "dtype", "near"), [
    (("fp4", "fp8"), "int8", "fp8"), (("fp4", "bf16"), "fp8", "bf16"), (("int8",), "fp4", "int8"),
    (("fp4", "bf16"), "fp4", "fp4"), (("fp4", "fp8"), "bf16", "fp8"), (("fp8", "fp16"), "fp4",
                                                                      "fp8")])
def test_of_two_dtypes_as_near_in_width_the_wider_stands_in(known, dtype, near):
    assert nearest_known(table(ShareByDtype, **dict.fromkeys(known, 0.5)), dtype) == near
    assert latency(table(TimeByDtype, **{near: 7}), dtype).value == 7


@pytest.mark.parametrize(("peaks", "dtype", "ends"), [
    # four times as fast: half of the share, between a quarter of its least and its most
    ({"fp8": 10, "fp4": 40}, "fp4", (0.1, 0.3, 0.8)),
    ({"fp8": 10}, "fp4", (0.2, 0.424, 0.8)),  # by the bits, twice: 0.6 / 1.41421
    ({"fp4": 40}, "fp4", (0.2, 0.424, 0.8)), ({"fp8": 10, "int8": 5}, "int8", (0.4, 0.6, 0.8)),
    ({"fp8": 10, "bf16": 5}, "bf16", (0.4, 0.6, 0.8)), ({"fp8": 10}, "bf16", (0.4, 0.6, 0.8))])
def test_a_stand_in_is_no_slower_and_reaches_no_larger_share_than_what_it_is_taken_from(
        peaks, dtype, ends):
    guess = efficiency(table(ShareByDtype, fp8=(0.6, 0.4, 0.8)), dtype, card(**peaks))
    assert (guess.low, guess.value, guess.high) == pytest.approx(ends, rel=1e-12)
    assert (guess.unit, guess.source, guess.kind) == ("1", "arithmetic", "assumed")
    assert (guess.written, "FP8" in guess.note["en"], dtype.upper() in guess.note["en"]) == (
        f"{ends[1]:g}", True, True)


def test_a_stand_in_lies_in_its_own_range_where_it_is_rounded():
    one = table(ShareByDtype, fp8=(0.7777, 0.7777, 0.7777))
    guess = efficiency(one, "int8", card(fp8=10, int8=10))
    assert (guess.low, guess.value, guess.high) == (0.7777, 0.778, 0.778)
    guess = efficiency(table(ShareByDtype, fp8=(0.7774, 0.7774, 0.7774)), "int8", card(fp8=9))
    assert (guess.low, guess.value, guess.high) == (0.777, 0.777, 0.7774)


def test_a_card_lacks_priors_of_what_it_multiplies_and_nobody_measured():
    priors = SimpleNamespace(gemm_efficiency=table(ShareByDtype, bf16=0.7, fp8=0.5))
    of = card(bf16=5, fp16=5, int8=10, fp4=20, tf32=2)
    assert list(lacking(of, priors)) == [("fp16", "bf16"), ("int8", "fp8"), ("fp4", "fp8")]
    assert list(lacking(of, SimpleNamespace(gemm_efficiency=None))) == []


NARROW = {"narrow_streaming_efficiency": 0.3, "sliced_narrow_streaming_efficiency": 0.7,
          "narrow_expert_latency": 11}


@pytest.mark.parametrize(("stored", "multiply", "known", "found"), [
    ("int4-group64-sym", "bf16", NARROW, {
        "expert_streaming_efficiency": 0.3, "sliced_streaming_efficiency": 0.7,
        "routed_expert_latency": 11, "sliced_expert_latency": 11}),
    ("int4-group64-sym", "bf16", NARROW | {"narrow_expert_latency": None}, {
        "expert_streaming_efficiency": 0.3, "sliced_streaming_efficiency": 0.7}),
    ("int4-group64-sym", "int8", NARROW, {}),  # multiplied as they are stored
    ("fp8-block128", "bf16", NARROW, {}),  # widened, but not of few bits
])
def test_experts_of_few_bits_are_read_otherwise_where_they_are_widened(
        stored, multiply, known, found):
    priors = SimpleNamespace(**{name: value and number(value) for name, value in known.items()})
    entry = catalogue.load_precision("bf16")
    precision = entry.model_copy(update={"weights": entry.weights.model_copy(
        update={"routed_expert": stored})})
    moved = widened_experts(priors, precision, {"routed_expert": multiply})
    assert {name: value.value for name, value in moved.items()} == found
