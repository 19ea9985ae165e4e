"""Owning, renting and an API: parts, limits, and what lies on either side of a crossover."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.costing.affordable import _servers_for, cards_within
from calc.costing.owning import (
    YEAR,
    annuity,
    bill,
    net_present_value,
    payback,
    return_on,
    server_price,
)
from calc.costing.power import around_of, site_power
from calc.costing.rates import card_hour, prices_of, stated
from calc.costing.ways import (
    api_request,
    best_base,
    crossover_of_ways,
    crossover_utilisation,
    units_needed,
    utilisation,
    ways,
)
from calc.uncertainty.amount import Amount
from catalogue import ParamsError

ONE = {"servers": 2.0, "cards": 16.0, "server": 1e5, "network": 1e3, "racks": 500.0, "storage": 7e3,
       "spares": 0.1, "upkeep": 0.05, "residual": 0.2, "discount": 0.1, "years": 4.0,
       "people": 1e-3, "hosting": 5e-8, "electricity": 3e-8, "kept_power": 2e4, "mean_power": 1e4}
SHARES = st.floats(0.01, 0.9)
PRICES = st.floats(0.1, 10)


class TestBill:
    def test_parts_sum_to_the_whole(self):
        found = bill(ONE)
        assert found.capital == pytest.approx(1.1 * 2e5 + 16e3 + 1e3 + 7e3)
        assert found.nominal == pytest.approx(
            found.capital + 4 * (found.energy + found.hosting + found.upkeep + found.people)
            - found.residual)

    def test_each_part_by_hand(self):
        """A year of 365 days has 31,536,000 s; four payments of 1 at 10% are worth 3.169865 now."""
        found = bill(ONE)
        assert (found.hardware, found.around) == (pytest.approx(220e3), 16e3 + 2 * 500 + 7e3)
        assert found.energy == pytest.approx(31_536_000 * 3e-8 * 1e4)
        assert found.hosting == pytest.approx(31_536_000 * 5e-8 * 2e4)
        assert (found.upkeep, found.people) == pytest.approx((11e3, 63_072))
        assert found.residual == pytest.approx(44e3)
        assert found.yearly == pytest.approx(9_460.8 + 31_536 + 11e3 + 63_072)
        assert found.present == pytest.approx(244e3 + 3.1698654 * 115_068.8 - 44e3 / 1.4641)
        assert found.second == pytest.approx(found.present / 3.1698654 / 31_536_000)

    def test_discounting_by_nothing_is_no_discounting(self):
        found = bill(ONE | {"discount": 0.0})
        assert found.present == pytest.approx(found.nominal)
        assert bill(ONE | {"discount": 1e-9}).present == pytest.approx(found.present)

    def test_paid_evenly_it_is_worth_what_it_costs(self):
        found = bill(ONE)
        assert net_present_value(found, found.second * YEAR, 0.1, 4.0) == pytest.approx(0, abs=1e-6)

    @given(st.sampled_from([name for name in ONE if name not in ("residual", "discount", "years",
                                                                 "cards", "servers")]), SHARES)
    def test_whatever_costs_more_makes_the_whole_cost_more(self, name, share):
        assert bill(ONE | {name: ONE[name] * (1 + share)}).present > bill(ONE).present

    def test_years_bring_the_hour_down_and_the_total_up(self):
        years = np.array([2.0, 4.0, 6.0])
        found = bill(ONE | {"years": years})
        assert (np.diff(found.present) > 0).all()
        assert (np.diff(found.second) < 0).all()


class TestMoneyThroughTime:
    @given(SHARES, st.integers(1, 10))
    def test_an_annuity_is_a_sum(self, discount, years):
        assert float(annuity(discount, years)) == pytest.approx(
            sum((1 + discount) ** -year for year in range(1, years + 1)))

    @given(PRICES, PRICES, SHARES)
    def test_after_its_payback_a_deployment_is_worth_nothing_more_or_less(self, capital, surplus,
                                                                          discount):
        years = float(payback(capital, surplus, discount))
        if math.isinf(years):
            assert surplus <= discount * capital * (1 + 1e-9)
        else:
            assert float(annuity(discount, years)) * surplus == pytest.approx(capital)

    def test_one_that_earns_nothing_is_never_paid_back(self):
        assert payback(np.array([1.0, 1.0]), np.array([0.0, -1.0])).tolist() == [math.inf] * 2

    def test_the_return_is_that_of_the_surplus_over_the_capital(self):
        assert return_on(734000, 2904787, 3) == pytest.approx(10.8725, abs=1e-4)


class TestWays:
    @given(st.lists(st.integers(0, 9), min_size=1, max_size=24), PRICES, PRICES)
    def test_the_best_base_is_the_cheapest_of_all_bases(self, hours, always, by_hour):
        needed = np.array(hours)
        costs = [always * base + by_hour * np.maximum(needed - base, 0).mean()
                 for base in range(11)]
        base = best_base(needed, always, by_hour)
        assert costs[base] == pytest.approx(min(costs))

    @given(st.lists(st.integers(0, 9), min_size=1, max_size=24), PRICES, PRICES, PRICES)
    def test_a_mixture_is_no_dearer_than_either(self, hours, own, always, by_hour):
        found = ways(np.array(hours), own, always, by_hour)
        assert found["own and by the hour"] <= min(found["own"], found["rent-by-hour"]) + 1e-9
        assert found["rent and by the hour"] <= min(found["rent-always"],
                                                    found["rent-by-hour"]) + 1e-9

    def test_ways_without_a_price_are_left_out(self):
        assert set(ways(np.array([1, 2]), None, 1.0, None)) == {"rent-always"}

    @given(st.floats(0.1, 5), st.floats(5.1, 20), st.floats(0.01, 1))
    def test_owning_beats_renting_above_the_crossover_and_not_below(self, own, by_hour, used):
        crossover = crossover_of_ways(own, by_hour)
        hours = np.zeros(1000)
        hours[: round(used * 1000)] = 1
        found = ways(hours, own, None, by_hour)
        share = hours.mean()
        if abs(share - crossover) > 1e-9:
            assert (found["own"] < found["rent-by-hour"]) == (share > crossover)

    @given(PRICES, PRICES, st.floats(0.001, 10), st.floats(0, 0.0005))
    def test_a_deployment_beats_the_api_above_the_crossover_and_not_below(
            self, per_second, requests, api, energy):
        crossover = crossover_utilisation(per_second, requests, api, energy)
        for used in (0.5 * crossover, 2 * crossover):
            own = per_second / (used * requests) + energy
            assert (own < api) == (used > crossover)

    def test_an_api_cheaper_than_the_energy_alone_is_never_beaten(self):
        assert crossover_utilisation(1.0, 1.0, 0.1, 0.2) == math.inf

    def test_a_cached_prompt_costs_what_the_service_says(self):
        assert api_request(2.0, 3.0, 10, 10, 0.5, 1.0) == 45.0
        assert api_request(2.0, 3.0, 10, 10) == 50.0

    def test_the_busiest_hour_fills_what_it_needs(self):
        load = catalogue.load("loads", "azure-conversation")
        rates = load.rates(1e6)
        needed = units_needed(rates, max(rates))
        assert needed.max() == 1
        assert utilisation(rates, max(rates), 1) == pytest.approx(1 / load.peak)


class TestLimits:
    def test_a_megawatt_feeds_servers_at_full_load_and_not_one_more(self):
        device, node = catalogue.load_device("nvidia-h200-sxm"), catalogue.load_node("hgx-h200")
        found = cards_within(device.id, node.id, power=1e6)
        rest = around_of(device, node, prices_of(device.id))
        each = float(site_power(8 * 700.0, 8, rest))
        assert found.cards % 8 == 0
        assert found.cards / 8 * each <= 1e6 < (found.cards / 8 + 1) * each

    def test_a_budget_pays_for_cards_and_not_for_one_more(self):
        hour = card_hour("nvidia-b200", "rent-always").value
        found = cards_within("nvidia-b200", "hgx-b200", rent=stated("100 USD/h"),
                             ownership="rent-always")
        assert found.cards * hour <= 100 / 3600 < (found.cards + 1) * hour

    def test_a_capital_buys_servers_with_their_racks_and_network_after_storage(self):
        """Of 230 a server with its racks and the network of eight cards, after 50 for storage."""
        card, node = catalogue.load_device("nvidia-h200-sxm"), catalogue.load_node("hgx-h200")
        stated_of = {"server": 100.0, "racks": 50.0, "network": 10.0, "storage": 50.0}
        prices = catalogue.load_prices("common")
        owning = prices.owning.model_copy(update={
            name: Amount(value, value, value, "USD") for name, value in stated_of.items()})
        known = prices.model_copy(update={"owning": owning})
        with mock.patch.object(Amount, "stated", lambda amount: amount):
            for capital, servers in ((50, 0), (279, 0), (280, 1), (509, 1), (510, 2)):
                assert _servers_for(Amount(capital, capital, capital, "USD"), card, node,
                                    known) == servers

    def test_of_several_limits_the_least_binds(self):
        found = cards_within("nvidia-h200-sxm", "hgx-h200", power=1e6, capital=stated(
            "5000000 USD", "USD"))
        assert found.binds == "capital"
        assert found.cards == min(found.each.values())

    def test_whoever_has_more_gets_no_less(self):
        found = [cards_within("nvidia-h20", "hgx-h20", capital=stated(f"{amount} CNY", "CNY")).cards
                 for amount in (1, 2_000_000, 4_000_000, 9_000_000)]
        assert found == sorted(found)
        assert found[0] == 0

    @pytest.mark.parametrize(("device", "node", "limits", "says"), [
        ("nvidia-h200-sxm", "hgx-h200", {}, "no limit is given"),
        ("ascend-910b2", "atlas-800t-a2", {"rent": stated("9 USD/h")}, "no price of an hour"),
        ("nvidia-rtx-4090", "xeon-6454s-rtx-4090", {"power": 1e6}, "nobody says what a server"),
    ])
    def test_what_nobody_says_gets_one_sentence(self, device, node, limits, says):
        with pytest.raises(ParamsError, match=says):
            cards_within(device, node, **limits)

    def test_a_server_costs_what_is_printed_of_it_or_its_parts(self):
        device, node = catalogue.load_device("nvidia-h200-sxm"), catalogue.load_node("hgx-h200")
        prices = prices_of(device.id)
        found = server_price(device, node, prices, "USD")
        assert found.value == prices.owning.chassis.value + 8 * device.price.usd.value
        h20, hgx = catalogue.load_device("nvidia-h20"), catalogue.load_node("hgx-h20")
        assert server_price(h20, hgx, prices_of(h20.id), "CNY").value == 1_400_000
