"""Loading and the network: sizes by their parts, break-evens where both sides are equal."""

import numpy as np
import pytest

import calc
from notebooks.pages.engineering import layouts, loading


def test_two_servers_read_little_more_than_one_and_never_less() -> None:
    one, half = loading.read(*loading.PLANS[0]), loading.read(*loading.PLANS[1])
    assert one <= 2 * half < 1.1 * one


def test_a_store_in_common_is_as_fast_as_a_drive_each_at_its_break_even() -> None:
    rate = 25e9
    servers, size = loading.even_store(rate), loading.read(*loading.MAIN)
    drive = loading.stores()["drive"][1]
    assert servers * size / rate == pytest.approx(size / drive, rel=1e-12)


def test_where_reading_takes_as_long_as_the_start_the_restart_is_twice_that() -> None:
    start = loading.failures().start.value
    rate = loading.read(*loading.MAIN) / start
    made = loading.fleet(1, 1, loading.read(*loading.MAIN) / rate)
    assert made.restart == pytest.approx(2 * start)


def test_a_network_of_that_rate_slows_by_just_that_share() -> None:
    made = layouts.plan("nvidia-h20", "fp8-block", 2, 32, tensor=16, pipeline=1)
    rate = loading.network_for(made, "ttft")
    assert rate is not None
    here, endless = (float(calc.evaluate({**made.inputs, loading.NETWORK: each}, "mla")["ttft"])
                     for each in (rate, loading.ENDLESS))
    assert here == pytest.approx((1 + loading.SLOWER) * endless, rel=1e-9)


def test_wider_groups_take_more_network_and_a_pipeline_next_to_none() -> None:
    rates = []
    for cut in loading.CUTS.values():
        made = layouts.plan("nvidia-h20", "fp8-block", 2, 32, **cut)
        rates.append(loading.network_for(made, "tpot") or 0.0)
    assert rates == sorted(rates)
    assert rates[0] < loading.REACH[0] < rates[1]


def test_more_bits_are_more_bytes() -> None:
    sizes = {name: loading.weight_file_bytes(name) for name in loading.SIZES}
    assert sizes["bf16"] > sizes["fp8-block"] > sizes["w4a16-awq"] > sizes["w4a8-int8"]
    assert np.isclose(sizes["bf16"] / sizes["fp8-block"], 2, rtol=0.1)
