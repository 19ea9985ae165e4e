"""Where parameters of laws may lie: shares below one, times that a kernel can take, whole tiles."""

from __future__ import annotations

import pytest

from calc.kernels import blocks, communication, cores, matmuls
from calc.kernels.fitting import REGIONS
from calc.kernels.rows.of_every_operator import FORMATS
from catalogue import library

LAWS = (*matmuls.LAWS, *cores.LAWS, *communication.LAWS, blocks.DECODE_BETWEEN,
        blocks.DECODE_BLOCK, blocks.SPARSE_BLOCK)
BOUNDS = [(name, bounds) for law in LAWS for name, bounds in (
    *law.parameters.items(), *law.fixed.items())]
SLOWEST = 1e-3  # seconds that no kernel takes with nothing to do


@pytest.mark.parametrize(("name", "bounds"), BOUNDS)
def test_a_parameter_begins_between_its_ends(name, bounds):
    start, low, high = bounds
    assert 0 < low < start < high
    if name.endswith(("efficiency", "overlap")):
        assert high <= 1
    if name.endswith(("latency", "alpha", "fill", "time")):
        assert high <= SLOWEST
    if name.startswith("largest"):
        assert {value.bit_count() for value in map(int, bounds)} == {1}  # tiles are powers of two
    if name.endswith("traffic"):
        assert low <= 1 <= start  # what is moved once is the least


def test_a_place_where_a_fit_begins_as_well_lies_within_the_bounds():
    for law in LAWS:
        for values in law.begins:
            for name, value in values.items():
                assert law.parameters[name].low < value < law.parameters[name].high


def test_what_lies_between_the_kernels_of_a_block_is_more_than_what_it_does_not_hold():
    """Of a layer's attention a block leaves out the norm before and the sum after; its core is
    split and joined again; a kernel more than these at least is its projections'."""
    least = blocks.DECODE_BETWEEN.parameters["attention_operators"].low
    assert least == 2 + 2 + 1


@pytest.mark.parametrize("name", FORMATS)
def test_bytes_of_a_weight_are_those_of_its_format(name):
    """But for scales of blocks of 128 by 128, a quarter of a thousandth."""
    _, stored, formats = FORMATS[name]
    sizes = {each: library.load("formats", each).bytes_per_element for each in formats}
    assert min(abs(size / stored - 1) for size in sizes.values()) < 3e-4, sizes


def test_regions_of_tokens_are_powers_of_four_from_sixteen_on():
    assert (1, *(4**power for power in range(2, 7))) == REGIONS
