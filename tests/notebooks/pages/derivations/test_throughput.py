"""What a batch gains and how many requests a limit allows."""

import pytest

from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations import throughput as page

STORED = Derivation("of-no-notebook")  # so that every formula is as stored


def points(rates):
    return [page.Point(2 ** place, experts=1, expert_share=0, memory=rate, compute=10, links=10,
                       estimate=1, step=1) for place, rate in enumerate(rates)]


def test_the_worst_doubling_is_of_the_first_half_and_the_best_comes_after_it():
    ratios, worst, best = page.gains(points([1, 1.9, 2, 3.8, 4]))
    assert ratios == pytest.approx([1.9, 2 / 1.9, 1.9, 4 / 3.8])
    assert (worst, best) == (1, 2)  # not the last one, though it gains as little


def test_compute_takes_over_where_it_allows_less():
    assert page.crossing(points([5, 10, 11, 20])) == 4


@pytest.mark.parametrize("limit", [0.03, 0.05])
def test_one_request_more_than_the_largest_number_breaks_the_limit(limit):
    inputs = page.h20().inputs
    most = page.largest(STORED, inputs, "tpot", limit)
    within, beyond = (page.quantities(STORED, inputs, concurrency=count)["tpot"]
                      for count in (most, most + 1))
    assert within <= limit < beyond


def test_no_request_keeps_to_a_limit_that_none_can():
    assert page.largest(STORED, page.h20().inputs, "tpot", 0) == 0


@pytest.mark.parametrize("name", page.LAYOUTS)
def test_a_layout_is_of_sixteen_cards(name):
    for replica in (page.h800(name), page.ascend(name)):
        assert replica.inputs["tensor_parallel"] * replica.inputs["pipeline_parallel"] == 16


@pytest.mark.parametrize("replica", [page.h20(), page.h800("TP16"), page.ascend(page.STAGES)])
def test_tables_obey_the_law_that_the_page_states(replica):
    """Prefill and decode share the cards, so users, both times, length and rate fit together."""
    of = page.quantities(STORED, replica.inputs, concurrency=32)
    rate = 32 * page.ANSWER / (of["ttft"] + (page.ANSWER - 1) * of["tpot"])
    assert of["output_throughput"] == pytest.approx(rate, rel=1e-9)
