"""Layouts of a number of cards, their placement on servers, and the card counts tried."""

from itertools import product

import numpy as np
import pytest

import catalogue
from calc.layouts.enumerate import (
    AXES,
    MOST_STAGES,
    Sizes,
    at,
    card_counts,
    enumerate_layouts,
    iter_rows,
    placement,
)


def plain_loops(counts, contexts, spares):
    """Every layout whose sizes multiply to the cards, one after the other."""
    return [(devices, tp, pp, dp, ep, 0, each, context) for devices in counts
            for tp, pp, dp in product(range(1, devices + 1), repeat=3)
            if tp * pp * dp == devices and pp <= MOST_STAGES
            for ep in range(1, tp * dp + 1) if tp * dp % ep == 0 for each in spares(ep)
            for context in (contexts or range(1, tp + 1)) if tp % context == 0]


@pytest.mark.parametrize("contexts", [None, (1,), (1, 2)])
def test_layouts_are_complete_and_unique(contexts):
    def spares(ep):
        return (0, 3 * ep)

    rows, left = enumerate_layouts((6, 8, 16), Sizes(spares=spares, context=contexts))
    found = list(zip(*(rows[name].tolist() for name in AXES), strict=True))
    assert sorted(found) == sorted(plain_loops((6, 8, 16), contexts, spares))
    assert len(set(found)) == len(found)
    assert left == 1 + 1 + 5  # with more than four stages: of 6, 8 and 16 cards


@pytest.mark.parametrize(("devices", "left"), [(4, 0), (5, 1), (8, 1), (16, 5)])
def test_more_stages_are_counted_unless_asked_for(devices, left):
    """Of 16 cards 8 stages leave two, cut or copied, with one or two ranks of experts each."""
    assert enumerate_layouts((devices,), Sizes())[1] == left
    rows, none = enumerate_layouts((devices,), Sizes(pipeline=(1, devices)))
    assert (none, rows["pipeline"].max()) == (0, devices)


def test_listed_sizes_are_tried_where_they_divide():
    rows, _ = enumerate_layouts((12,), Sizes(tensor=(2, 5, 6), pipeline=(1, 3), data=(2, 6),
                                             expert=(4, 12), slices=(0, 2)))
    sizes = [(2, 1, 6, 4), (2, 1, 6, 12), (2, 3, 2, 4), (6, 1, 2, 4), (6, 1, 2, 12)]
    assert [tuple(row.values()) for row in iter_rows(rows)] == [
        (12, *size, slices, 0, 1) for size in sizes for slices in (0, 2)]
    assert list(next(iter_rows(rows))) == list(AXES)
    none, left = enumerate_layouts((), Sizes())
    assert (left, [len(column) for column in none.values()]) == (0, [0] * len(AXES))
    assert at(rows, np.array([1, 4]))["slices"].tolist() == [2, 0]


@pytest.mark.parametrize(("fewest", "most", "per_node", "tried"), [
    (1, 24, 8, [1, 2, 4, 8, 16, 24]), (2, 23, 8, [2, 4, 8, 16]), (4, 4, 8, [4]), (9, 15, 8, []),
    (1, 5, 1, [1, 2, 3, 4, 5]), (3, 12, 6, [3, 6, 12]), (16, 16, 16, [16])])
def test_card_counts_are_parts_of_a_server_then_whole_servers(fewest, most, per_node, tried):
    assert card_counts(fewest, most, per_node) == tried


@pytest.mark.parametrize(("node", "devices", "data", "expert", "slices", "expected"), [
    ("gb200-nvl72", 4, 1, 4, 0, (False, 0, False, False)),
    ("gb200-nvl72", 5, 2, 5, 0, (True, 1, True, True)),
    ("gb200-nvl72", 72, 1, 72, 2, (True, 1, False, True)),
    ("gb200-nvl72", 144, 2, 73, 0, (True, 2, True, True)),
    ("hgx-h200", 8, 1, 4, 2, (False, 0, False, True)),
    ("hgx-h200", 16, 4, 9, 1, (True, 2, True, True))])
def test_placement_on_servers_and_scale_up_domains(node, devices, data, expert, slices, expected):
    """Four cards to a server and 72 to a domain, or eight to both; attention is cut in four."""
    found = placement(catalogue.load_node(node), {
        "devices": devices, "data": data, "expert": expert, "tensor": 4, "slices": slices})
    assert found == expected
