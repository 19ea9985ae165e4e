"""Efficiencies of dtypes that nobody measured: bounds from the nearest known dtype."""

from itertools import product

import pytest

import calc
import catalogue
from catalogue.deployments.physics_inputs import (
    BITS,
    efficiency,
    latency,
    nearest_known,
)
from catalogue.entries.hardware import Peaks, ShareByDtype, TimeByDtype
from catalogue.reading.values import Value

CARD = """name: {{en: Mine, zh: 我的卡}}
like: {like}
mechanisms: {mechanisms}
sparse_peak: null
matrix_peak:
  {dtype}: {{value: {peak} TFLOPS, source: "A data sheet, https://example.org", kind: vendor}}
"""
H200 = catalogue.load_device("nvidia-h200-sxm")
PRIORS = {name: catalogue.load("mechanisms", name) for name in catalogue.names("mechanisms")}
OF_CARDS = sorted(name for name, priors in PRIORS.items() if not priors.is_host)
PRECISIONS = {"fp4": "nvfp4", "fp8": "fp8-block", "int8": "w8a8-int8", "bf16": "bf16"}


def number(value, low=None, high=None):
    return Value(value, "1", str(value), "arithmetic", "assumed",
                 value if low is None else low, value if high is None else high)


def table(cls, **values):
    """Numbers by dtype; a tuple is a number with its range."""
    return cls.model_construct(**dict.fromkeys(cls.model_fields) | {
        name: number(*each) if isinstance(each, tuple) else number(each)
        for name, each in values.items()})


def card(**peaks):
    """A card that multiplies some dtypes."""
    return H200.model_copy(update={"matrix_peak": table(Peaks, **peaks), "vector_peak": None})


@pytest.fixture
def path(tmp_path):
    def write(like="nvidia-h200-sxm", mechanisms="nvidia-h200", dtype="fp4", peak=4000):
        (tmp_path / "mine.yml").write_text(
            CARD.format(like=like, mechanisms=mechanisms, dtype=dtype, peak=peak), "utf-8")
        return tmp_path / "mine.yml"
    return write


@pytest.mark.parametrize(("name", "dtype"), [
    *product(["nvidia-hopper", "ascend-910a"], PRECISIONS), ("amd-mi300x", "fp4"),
    ("intel-gaudi-3", "int8")])
def test_every_dtype_on_a_class_of_cards_has_an_answer(path, name, dtype):
    scenario = catalogue.load_scenario(
        "h200-r1-sglang-mtp", device=path(mechanisms=name, dtype=dtype),
        overrides=[f"precision={PRECISIONS[dtype]}"])
    assert calc.estimate(scenario).quantities["tpot"].value > 0


def test_efficiency_bounds_contain_measured_narrow_dtypes():
    devices, checked = [*map(catalogue.load_device, catalogue.names("devices"))], 0
    for name, kind, dtype in product(
            OF_CARDS, ("gemm_efficiency", "grouped_gemm_efficiency"), ("fp8", "fp4")):
        shares = getattr(PRIORS[name], kind)
        device = next((device for device in devices
                       if device.mechanisms == name and device.peak(dtype)), None)
        if device and (prior := getattr(shares, dtype)):
            wider = shares.model_copy(update={
                narrow: None for narrow in BITS if BITS[narrow] <= BITS[dtype]})
            guess = efficiency(wider, dtype, device)
            assert guess.low <= prior.value <= guess.high, (name, kind, dtype)
            assert guess.note
            checked += 1
    assert checked > 10


@pytest.mark.parametrize(("known", "dtype", "near"), [
    (("fp4", "fp8"), "int8", "fp8"), (("fp4", "bf16"), "fp8", "bf16"), (("int8",), "fp4", "int8"),
    (("fp4", "bf16"), "fp4", "fp4"), (("fp4", "fp8"), "bf16", "fp8")])
def test_of_two_dtypes_as_near_in_width_the_wider_stands_in(known, dtype, near):
    assert nearest_known(table(ShareByDtype, **dict.fromkeys(known, 0.5)), dtype) == near
    assert latency(table(TimeByDtype, **{near: 7}), dtype).value == 7


@pytest.mark.parametrize(("peaks", "dtype", "ends"), [
    # four times as fast: half of the share, between a quarter of its least and its most
    ({"fp8": 10, "fp4": 40}, "fp4", (0.1, 0.3, 0.8)),
    ({"fp8": 10}, "fp4", (0.2, 0.424, 0.8)),  # by the bits, twice: 0.6 / 1.41421
    ({"fp8": 10, "int8": 5}, "int8", (0.4, 0.6, 0.8)), ({"fp8": 10}, "bf16", (0.4, 0.6, 0.8)),
    ({"fp8": 10}, "fp8", (0.4, 0.6, 0.8))])
def test_a_stand_in_is_no_slower_and_reaches_no_larger_share(peaks, dtype, ends):
    guess = efficiency(table(ShareByDtype, fp8=(0.6, 0.4, 0.8)), dtype, card(**peaks))
    assert (guess.low, guess.value, guess.high) == pytest.approx(ends, rel=1e-12)
