"""The command ``cost``: amounts with ends, prices of a reader's own, one sentence for bad input."""

from __future__ import annotations

import functools

import pytest
from _options import ABSURD, ended_well, finite

import catalogue
from calc.answer import estimate
from calc.costing import rates as price_list
from calc.costing.answer import price_of_request

ESTIMATE = estimate.estimate

OPTIONS = ("--price", "--utilisation", "--user-requests", "--day-requests", "--load", "--api",
           "--prices")
OF_PRICES = ("years", "pue", "discount", "electricity", "exchange", "hour.own", "owning.server",
             "owning.spares", "around.host", "like", "nothing", "owning.chassis")


def asked(cli, *options: str, scenario: str = "h200-r1-vllm-tp8"):
    code, out, err = cli("cost", scenario, "--json", *options)
    assert code == 0, err
    return finite(out)


@pytest.fixture(autouse=True)
def _estimated_once(monkeypatch):
    """An estimate of the same deployment is made once for all cases."""
    monkeypatch.setattr(estimate, "estimate", _estimate)


@functools.cache
def _of(path: str) -> estimate.Estimate:
    return ESTIMATE(catalogue.load_scenario(path))


def _estimate(scenario):
    return _of(scenario.id)


@pytest.mark.parametrize("option", OPTIONS)
def test_any_option_ends_well(cli, option):
    for value in ABSURD:
        assert ended_well(cli("cost", "h200-r1-vllm-tp8", f"{option}={value}", "--json")), value


@pytest.mark.parametrize("key", OF_PRICES)
def test_any_price_that_is_set_ends_well(cli, key):
    for value in (*ABSURD, "0", "1"):
        setting = f"prices.{key}={value}"
        assert ended_well(cli("cost", "h200-r1-vllm-tp8", "--set", setting, "--json")), value


def test_every_amount_lies_between_its_ends(cli):
    answer = asked(cli)
    assert answer["currency"] == "USD"
    assert answer["hour"]["source"] == "inferencex-tco"
    for name, amount in answer["amounts"].items():
        if None not in amount.values():
            assert amount["low"] <= amount["value"] <= amount["high"], name


def test_an_ascend_has_no_price_and_says_so_until_a_reader_sets_one(cli):
    without = asked(cli, scenario="s2-910b1-awq")
    assert without["hour"] is None
    assert "per_million_output" not in without["amounts"]
    assert without["amounts"]["energy_per_token"]["value"] > 0
    code, out, _ = cli("cost", "s2-910b1-awq")
    assert code == 0
    assert "no price of an hour of 'ascend-910b1'" in " ".join(out.split())
    theirs = asked(cli, "--price=5..9 CNY/h", scenario="s2-910b1-awq")
    assert theirs["currency"] == "CNY"
    assert theirs["amounts"]["per_million_output"]["value"] > 0


def test_half_the_use_is_twice_the_cost_and_a_dearer_hour_a_dearer_token(cli):
    whole, half = (asked(cli, f"--utilisation={share}")["amounts"] for share in (1, 0.5))
    for name in ("per_million_input", "per_million_output", "per_request", "per_user_month"):
        assert half[name]["value"] == pytest.approx(2 * whole[name]["value"])
    assert half["crossover"] == whole["crossover"]
    assert half["energy_per_token"]["value"] > whole["energy_per_token"]["value"]
    dear = asked(cli, "--price=9 USD/h")["amounts"]
    assert dear["crossover"]["value"] > whole["crossover"]["value"]


def test_a_reader_s_file_and_settings_take_the_place_of_the_catalogue_s(cli, tmp_path):
    path = tmp_path / "mine.yml"
    path.write_text("name: {en: mine, zh: 我的}\nlike: nvidia-h200-sxm\nhour: {own: {value: 3.16 "
                    "USD/h, source: my own, kind: assumed, date: 2026-03, "
                    "range: [3 USD/h, 4 USD/h]}}\n",
                    encoding="utf-8")
    mine, theirs = asked(cli, f"--prices={path}"), asked(cli)
    assert mine["amounts"]["per_request"]["central"] == pytest.approx(
        2 * theirs["amounts"]["per_request"]["central"])
    longer = asked(cli, "--set", "prices.years=6 year")["amounts"]
    assert longer["tco"]["value"] > theirs["amounts"]["tco"]["value"]


def test_a_day_s_requests_say_how_many_deployments_and_the_cheapest_way(cli):
    fleet = asked(cli, "--day-requests=30000000")["fleet"]
    assert fleet["deployments"]["most"] >= fleet["deployments"]["mean"] >= 1
    assert 0 < fleet["utilisation"] <= 1
    hours = fleet["per_hour"]
    assert hours["own and by the hour"] <= min(hours["own"], hours["rent-by-hour"])
    assert hours["own"] < hours["rent-by-hour"]


@pytest.mark.parametrize(("options", "says"), [
    (["s1-plan-c"], "not how long they are"),
    (["h200-r1-vllm-tp8", "--api=common"], "sells no tokens"),
    (["h200-r1-vllm-tp8", "--prices=amd-mi300x"], "its prices are those of 'amd-mi300x'"),
    (["h200-r1-vllm-tp8", "--set", "prices.pue"], "expected PATH=VALUE"),
    (["h200-r1-vllm-tp8", "--utilisation=1.5"], "from 0.001 to 1"),
])
def test_bad_input_gets_one_sentence(cli, options, says):
    code, out, err = cli("cost", *options)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1


def test_energy_is_validated_with_every_row(cli):
    code, out, _ = cli("validate", "--energy", "--json")
    assert code == 0
    found = finite(out)
    assert found["summary"]["energy_per_token"]["rows"] == 22
    assert cli("validate", "--energy", "--system=s2-910b1-awq")[0] == 2


def test_each_price_list_of_a_service_has_its_crossover(cli):
    """Inversely proportional to what a list takes; those that hold are told from the others."""
    lists = asked(cli)["lists"]
    service = catalogue.load_prices("deepseek-api")
    assert list(lists) == list(service.sold)
    assert {name for name, told in lists.items() if told["holds"]} == set(service.holding)
    first = next(iter(service.holding))
    assert lists[first]["value"] == asked(cli)["amounts"]["crossover"]["value"]
    assert lists["v4.1-flash"]["value"] == pytest.approx(2 * lists["v4.1-flash-peak"]["value"])
    for name in ("r1", "v3.2"):
        assert asked(cli, f"--api=deepseek-api:{name}")["amounts"]["crossover"][
            "value"] == pytest.approx(lists[name]["value"])


def test_what_a_prefix_cache_finds_is_cheaper_at_the_service_too(cli):
    """Prompts that are found cost the service's price of its cache."""
    sold = catalogue.load_prices("deepseek-api").sold["v3.2"]
    inputs = catalogue.load_scenario("h200-r1-vllm-tp8").inputs()
    prices = price_list.prices_of("nvidia-h200-sxm")

    def price(share):
        return price_of_request(inputs | {"prefix_hit_share": share}, sold, prices, "USD")

    saved = inputs["input_tokens"] * (sold.input.value - sold.cached_input.value)
    assert price(0) - price(0.5) == pytest.approx(0.5 * saved)


@pytest.mark.parametrize(("api", "said"), [
    ("deepseek-api:v9", "there is no such price list, expected one of r1"),
    ("nvidia-h200-sxm", "it sells no tokens")])
def test_a_service_without_such_a_list_is_a_sentence(cli, api, said):
    code, _, err = cli("cost", "h200-r1-vllm-tp8", "--api", api)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
