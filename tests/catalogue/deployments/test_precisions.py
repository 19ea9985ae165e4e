"""Efficiencies of dtypes that nobody measured: bounds from the nearest known dtype."""

from itertools import product

import pytest
from _door import number

import catalogue
from catalogue.deployments.physics_inputs import (
    BITS,
    efficiency,
    latency,
    nearest_known,
)
from catalogue.entries.hardware import Peaks, ShareByDtype, TimeByDtype

H200 = catalogue.load_device("nvidia-h200-sxm")
PRIORS = {name: catalogue.load("mechanisms", name) for name in catalogue.names("mechanisms")}
OF_CARDS = sorted(name for name, priors in PRIORS.items() if not priors.is_host)


def table(cls, **values):
    """Numbers by dtype; a tuple is a number with its range."""
    return cls.model_construct(**dict.fromkeys(cls.model_fields) | {
        name: number(*each) if isinstance(each, tuple) else number(each)
        for name, each in values.items()})


def card(**peaks):
    """A card that multiplies some dtypes."""
    return H200.model_copy(update={"matrix_peak": table(Peaks, **peaks), "vector_peak": None})


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
