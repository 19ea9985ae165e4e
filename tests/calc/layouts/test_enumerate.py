"""Which cuts of so many cards there are, how they lie on servers, and which cards are tried."""

from itertools import product
from types import SimpleNamespace as Made

import numpy as np
import pytest

from calc.layouts import enumerate as module
from calc.layouts.enumerate import (
    AXES,
    MOST_STAGES,
    Sizes,
    at,
    card_counts,
    divisors,
    enumerate_layouts,
    iter_rows,
    placement,
)


def plain_loops(counts, contexts, spares):
    """Every cut whose sizes multiply to the cards, one after the other."""
    found = []
    for devices in counts:
        sizes = range(1, devices + 1)
        for tp, pp, dp in product(sizes, sizes, sizes):
            if tp * pp * dp == devices and pp <= MOST_STAGES:
                found += [(devices, tp, pp, dp, ep, 0, each, context)
                          for ep in range(1, tp * dp + 1) if tp * dp % ep == 0
                          for each in spares(ep)
                          for context in (range(1, tp + 1) if contexts is None else contexts)
                          if tp % context == 0]
    return found


@pytest.mark.parametrize("contexts", [None, (1,), (1, 2)])
def test_cuts_are_all_whose_sizes_multiply_to_the_cards(contexts):
    def spares(ep):
        return (0, 3 * ep)

    rows, left = enumerate_layouts((6, 8, 16), Sizes(spares=spares, context=contexts))
    found = list(zip(*(rows[name].tolist() for name in AXES), strict=True))
    assert sorted(found) == sorted(plain_loops((6, 8, 16), contexts, spares))
    assert len(set(found)) == len(found)
    assert left == 1 + 1 + 5  # more stages than four, of 6, 8 and 16 cards


@pytest.mark.parametrize(("devices", "left"), [(4, 0), (5, 1), (6, 1), (8, 1), (16, 5)])
def test_cuts_of_more_than_four_stages_are_counted_unless_they_are_asked_for(devices, left):
    """Of 16 cards 8 stages leave two, cut or copied, with one or two ranks of experts each."""
    assert enumerate_layouts((devices,), Sizes())[1] == left
    rows, none = enumerate_layouts((devices,), Sizes(pipeline=(1, devices)))
    assert none == 0
    assert rows["pipeline"].max() == devices


def test_what_is_listed_is_tried_where_it_divides():
    rows, _ = enumerate_layouts((12,), Sizes(tensor=(2, 5, 6), pipeline=(1, 3), data=(2, 6),
                                             expert=(4, 12), slices=(0, 2)))
    assert [tuple(row.values()) for row in iter_rows(rows)] == [
        (12, 2, 1, 6, 4, 0, 0, 1), (12, 2, 1, 6, 4, 2, 0, 1), (12, 2, 1, 6, 12, 0, 0, 1),
        (12, 2, 1, 6, 12, 2, 0, 1), (12, 2, 3, 2, 4, 0, 0, 1), (12, 2, 3, 2, 4, 2, 0, 1),
        (12, 6, 1, 2, 4, 0, 0, 1), (12, 6, 1, 2, 4, 2, 0, 1), (12, 6, 1, 2, 12, 0, 0, 1),
        (12, 6, 1, 2, 12, 2, 0, 1)]
    none, left = enumerate_layouts((), Sizes())
    assert (left, [len(column) for column in none.values()]) == (0, [0] * len(AXES))
    assert at(rows, np.array([1, 4]))["slices"].tolist() == [2, 0]


@pytest.mark.parametrize(("fewest", "most", "per_node", "tried"), [
    (1, 24, 8, [1, 2, 4, 8, 16, 24]), (2, 23, 8, [2, 4, 8, 16]), (4, 4, 8, [4]), (9, 15, 8, []),
    (8, 8, 8, [8]), (1, 5, 1, [1, 2, 3, 4, 5]), (3, 12, 6, [3, 6, 12]), (16, 16, 16, [16])])
def test_cards_are_parts_of_a_server_that_divide_it_then_whole_ones(fewest, most, per_node, tried):
    assert card_counts(fewest, most, per_node) == tried


def test_divisors_are_those_that_leave_nothing():
    assert [divisors(number) for number in (1, 2, 7, 16)] == [
        (1,), (1, 2), (1, 7), (1, 2, 4, 8, 16)]


@pytest.mark.parametrize(("devices", "data", "expert", "told"), [
    (8, 1, 8, (False, 0, False)), (9, 2, 9, (True, 1, True)), (64, 2, 32, (True, 1, True)),
    (64, 1, 33, (True, 2, False))])
def test_an_exchange_leaves_the_server_and_then_the_domain(devices, data, expert, told,
                                                           monkeypatch):
    """Servers of 8 cards, of which four share a fast fabric."""
    monkeypatch.setattr(module, "scale_up_domain", lambda node: 4 * node.devices_per_node.value)
    monkeypatch.setattr(module, "leaves_replica", lambda *given: given)
    node = Made(devices_per_node=Made(value=8))
    found = placement(node, {"devices": devices, "data": data, "expert": expert, "tensor": 5,
                             "slices": 3})
    assert found == (*told, (5, expert, 3))
