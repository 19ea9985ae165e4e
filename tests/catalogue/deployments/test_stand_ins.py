"""A card of one's own with a dtype that nobody has measured, or with mechanisms not its own."""

from itertools import product

import pytest

import calc
import catalogue
from catalogue.deployments.precision_support import peak_of
from catalogue.deployments.stand_ins import BITS, efficiency, lacking, nearest_known
from catalogue.entries.mechanisms import ShareByDtype

CARD = """name: {{en: Mine, zh: 我的卡}}
like: {like}
mechanisms: {mechanisms}
sparse_peak: null
matrix_peak:
  {dtype}: {{value: {peak} TFLOPS, source: "A data sheet, https://example.org", kind: vendor}}
"""
PRIORS = {name: catalogue.load("mechanisms", name) for name in catalogue.names("mechanisms")}
OF_CARDS = sorted(name for name, priors in PRIORS.items() if not priors.is_host)
OF_HOSTS = sorted(name for name, priors in PRIORS.items() if priors.is_host)
PRECISIONS = {"fp4": "nvfp4", "fp8": "fp8-block", "int8": "w8a8-int8", "bf16": "bf16"}


@pytest.fixture
def card(tmp_path):
    def write(like="nvidia-h200-sxm", mechanisms="nvidia-h200", dtype="fp4", peak=4000):
        path = tmp_path / "mine.yml"
        path.write_text(CARD.format(like=like, mechanisms=mechanisms, dtype=dtype, peak=peak),
                        "utf-8")
        return path
    return write


@pytest.mark.parametrize(("name", "dtype"), [*product(OF_CARDS, PRECISIONS)])
def test_every_dtype_on_every_class_of_cards_has_an_answer(card, name, dtype):
    path = card(mechanisms=name, dtype=dtype)
    scenario = catalogue.load_scenario(
        "h200-r1-sglang-mtp", device=path, overrides=[f"precision={PRECISIONS[dtype]}"])
    assert calc.estimate(scenario).quantities["tpot"].value > 0


def guesses():
    """Every prior of a narrow dtype, and what would stand in for it from wider ones alone."""
    devices = [*map(catalogue.load_device, catalogue.names("devices"))]
    for name, table, dtype in product(
            OF_CARDS, ("gemm_efficiency", "grouped_gemm_efficiency"), ("fp8", "fp4")):
        shares = getattr(PRIORS[name], table)
        device = next((device for device in devices
                       if device.mechanisms == name and peak_of(device, dtype)), None)
        if device and getattr(shares, dtype):
            wider = shares.model_copy(update={
                narrow: None for narrow in BITS if BITS[narrow] <= BITS[dtype]})
            yield (name, table, dtype), getattr(shares, dtype), efficiency(wider, dtype, device)


def test_what_is_known_of_narrow_dtypes_lies_in_what_would_stand_in_for_it():
    contained = {key: guess.low <= prior.value <= guess.high for key, prior, guess in guesses()}
    assert len(contained) > 10
    assert [key for key, inside in contained.items() if not inside] == []
    assert all(guess.kind == "assumed" and guess.note for *_, guess in guesses())


def test_the_bounds_of_a_stand_in(card):
    """At best the same share, at worst no faster than the dtype it is taken from."""
    device = catalogue.load_device(card(peak=4000))
    table = PRIORS["nvidia-h200"].gemm_efficiency
    guess, near = efficiency(table, "fp4", device), table.fp8
    faster = peak_of(device, "fp4").value / peak_of(device, "fp8").value
    assert nearest_known(table, "fp4") == "fp8"
    assert (guess.low, guess.high) == (near.low / faster, near.high)
    assert guess.low < guess.value < near.value
    assert efficiency(table, "fp8", device) is near


def test_a_stand_in_for_a_wider_dtype_is_no_slip_of_the_bounds(card):
    """A peak that is lower than the known one leaves the share as it is."""
    device = catalogue.load_device(card(dtype="bf16", peak=100))
    guess = efficiency(ShareByDtype.model_construct(fp8=PRIORS["nvidia-h200"].gemm_efficiency.fp8),
                       "bf16", device)
    assert guess.value == PRIORS["nvidia-h200"].gemm_efficiency.fp8.value


def test_check_says_what_stands_in(card, cli):
    code, out, _ = cli("check", str(card()))
    assert code == 0
    assert "mine.yml:6: matrix_peak.fp4: 'nvidia-h200' has no efficiency of fp4, that of fp8" in out
    assert list(lacking(catalogue.load_device("nvidia-h200-sxm"), PRIORS["nvidia-h200"])) == []


@pytest.mark.parametrize(("like", "mechanisms", "says"), [
    ("nvidia-h200-sxm", OF_HOSTS[0], "are those of host processors, expected those of an acc"),
    ("ascend-910b2", OF_HOSTS[-1], "are those of host processors, expected those of an acc"),
    ("amd-epyc-9654", OF_CARDS[0], "are those of accelerators, expected those of host processors"),
])
def test_the_mechanisms_of_another_type_of_device_are_refused(card, cli, like, mechanisms, says):
    code, _, err = cli("check", str(card(like=like, mechanisms=mechanisms, dtype="bf16",
                                      peak=100)))
    assert code == 2
    assert f"mine.yml:3: mechanisms: '{mechanisms}' {says}" in err
