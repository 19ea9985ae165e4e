"""Sums are carried out message by message; what a line and a run are made of."""

import pytest

from notebooks.pages.derivations import communication_groups as groups
from notebooks.pages.derivations import communication_steps as steps
from notebooks.pages.derivations.measured import communication as exchanges


@pytest.mark.parametrize("algorithm", groups.SCHEDULES)
def test_every_algorithm_sums(algorithm):
    assert groups.carry_out(algorithm, 4).sums


@pytest.mark.parametrize("algorithm", groups.SCHEDULES)
def test_a_schedule_that_ends_early_does_not_sum(algorithm, monkeypatch):
    schedule = groups.SCHEDULES[algorithm]
    monkeypatch.setitem(groups.SCHEDULES, algorithm, lambda ranks: schedule(ranks)[:-1])
    assert not groups.carry_out(algorithm, 4).sums


@pytest.mark.parametrize("again", [False, True])
def test_a_part_that_is_added_twice_is_no_sum(again, monkeypatch):
    """Rank 2 has what rank 0 had by way of rank 1; from rank 0 it comes again."""
    order = [(0, 1), (1, 2), *[(0, 2)] * again, (2, 0), (2, 1)]
    schedule = [[(rank, to, block) for block in range(3)] for rank, to in order]
    monkeypatch.setitem(groups.SCHEDULES, "by-hand", lambda ranks: schedule)
    assert groups.carry_out("by-hand", 3).sums is not again


def test_the_busiest_port_and_pair_count():
    carried = groups.carry_out("one-shot", 8)
    assert (carried.steps, carried.port, carried.pair) == (1, 7, 1)


def test_a_line_is_that_of_the_times():
    latency, each = 3e-5, 2e-7

    def times(card, tokens, tensor, expert, mode):
        return {"exchange_time": steps.moe_layers() * (latency + each * tokens)}

    assert steps.line(times, groups.A2, 16, "normal") == pytest.approx((latency, each))


def test_a_run_without_a_payload_is_shown_as_a_rate():
    run = exchanges.Run(groups.A2, "all-reduce", ("all-reduce", "all-reduce"), "HCCL", 8, 1, "–",
                    time=2.0, modelled=1.0, bus=100e9, stated=False)
    assert run.shown(run.time) == "50 GB/s"
    assert run.error == -0.5


def test_a_card_without_fp8_dispatches_int8():
    """Both ways are then what one way and the other were measured at, added up."""
    assert (steps.dispatched(groups.A2), steps.dispatched("nvidia-h800")) == ("int8", "fp8")


def test_only_what_was_derived_from_a_source_counts_as_fitted_to_it():
    inside, across = (groups.fitted_to(steps.exchange_values(groups.A2, "low_latency"), nodes)
                      for nodes in (False, True))
    assert inside == {"sgl-kernel-npu-176"}
    assert across == inside  # what crosses the network is assumed
