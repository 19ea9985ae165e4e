"""Switches that source names are found in the fits, on a page as anywhere else."""

import pytest

import catalogue
from catalogue.reading.words import hidden
from notebooks.pages.engineering.missed.named import KNOWN

MISSED = [measured for name in catalogue.names("fits")
          for statement in catalogue.load("fits", name).statements
          for measured in statement.measured if measured.missed]


@pytest.mark.parametrize("named", KNOWN, ids=lambda named: named.where)
def test_every_switch_with_a_name_is_that_of_a_table(named):
    assert any(named.is_of(measured, switch) for measured in MISSED
               for switch in measured.missed.switches)


@pytest.mark.parametrize("named", KNOWN, ids=lambda named: named.where)
def test_a_kernel_whose_signs_are_hidden_is_the_same(named):
    for measured in MISSED:
        on_page = measured.model_copy(update={"kernel": hidden(measured.kernel)})
        for switch in measured.missed.switches:
            assert named.is_of(on_page, switch) == named.is_of(measured, switch)
