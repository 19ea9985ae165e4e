"""The wait for a replica that prefills: the equation that it solves, and its ends."""

import pytest

from calc.closed_form.steady import pool_queue


@pytest.mark.parametrize(("load", "service", "base"), [
    (0.3, 0.7, 11.0), (5.0, 0.25, 4.0), (40.0, 3.0, 7.0), (2.0, 3.0, 2.0)])
def test_as_much_work_is_found_as_is_brought(load, service, base):
    """Those who wait find half of a service of the load: W (A + W - κ) = κ S / 2."""
    wait = pool_queue(load, service, base)
    assert wait > 0
    assert wait * (base + wait - load) == pytest.approx(load * service / 2)


def test_nobody_waits_for_nobody_and_a_queue_that_is_never_empty_has_the_load_less_the_rest():
    assert pool_queue(0.0, 0.5, 3.0) == 0
    assert pool_queue(1e6, 0.5, 100.0) == pytest.approx(1e6 - 100, rel=1e-5)
