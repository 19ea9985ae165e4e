"""A card as a document states it: its figures where it has any, of the section that asks."""

from dataclasses import replace

import pytest

import catalogue
from catalogue.deployments.documented import as_documented

CARD = catalogue.load_device("ascend-910b2")


@pytest.mark.parametrize(("section", "terabytes"), [
    ("3.2.3", 1.2), ("3.2.9", 1.2),  # the one that shares two parts of its number
    ("5.3", 2.0), ("5", 2.0), ("3.1.1", 0.4), ("2.5.2", 0.4), ("2.1", 0.4),
    ("3.1.9", 0.4), ("4.2.3", 0.4),  # of which no more than the end is shared
    (None, 0.4), ("9.9", 0.4),  # of none of its sections: what it states first
])
def test_of_several_figures_that_of_the_nearest_section_is_taken(section, terabytes):
    taken = as_documented(CARD, "s0", section).memory_bandwidth
    assert taken.value == terabytes * 1e12
    assert taken.source == "s0"


def test_only_what_it_documents_is_of_a_document():
    stated = CARD.memory_bandwidth
    ours = replace(stated, others=(replace(stated.others[-1], source="s0", kind="derived"),))
    card = CARD.model_copy(update={"memory_bandwidth": ours})
    assert as_documented(card, "s0").memory_bandwidth == ours


def test_figures_within_a_part_of_the_entry_are_taken_as_well():
    found = as_documented(CARD, "s0", "5.3")
    assert CARD.headline_peak.fp16.value == 376e12
    assert found.headline_peak.fp16.value == 320e12
    assert found.power.full.value == 310


def test_what_a_document_does_not_state_stays_as_it_was():
    found = as_documented(CARD, "s1", "2.4.1")
    assert found.memory_bandwidth == CARD.memory_bandwidth
    assert found.power.full.value == 310
    assert as_documented(CARD, "s2") == CARD


def test_the_sourced_figure_is_then_the_first_of_the_others_and_none_is_lost():
    taken = as_documented(CARD, "s0", "5.3").memory_bandwidth
    whole = CARD.memory_bandwidth
    assert (taken.others[0].value, taken.others[0].source) == (1.6e12, whole.source)
    assert taken.others[0].others == ()
    assert sorted(other.value for other in taken.others[1:]) == sorted(
        other.value for other in whole.others if other.value != taken.value)
