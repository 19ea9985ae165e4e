"""What ``decide`` prints of numbers that are written down here: each in its place and unit."""

from types import SimpleNamespace as Made

import numpy as np
import pytest
from _options import printed

from calc.commands.deciding import decide as command
from calc.sensitivity.breakeven import BreakEven, Turn
from calc.sensitivity.elasticities import Elasticity
from calc.sensitivity.information import Information, Worth
from calc.sensitivity.probability import Doubt
from calc.sensitivity.sensitivity import Index, Sensitivity
from calc.sensitivity.tornado import Bar, Tornado
from catalogue import ParamsError


def shown(parts):
    """Lines of what is printed one after the other."""
    return printed(lambda screen: [screen.print(part, soft_wrap=isinstance(part, str),
                                                highlight=False) for part in parts])


def plan(label, room=True, room_there=True):
    """A deployment that has room as it is, and where a path has moved it."""
    return Made(label=label, inputs={"concurrency": 64.0},
                fits=lambda moves: np.array([room_there if moves else room]))


PATH = Made(name="users", unit="request", symbols=("concurrency",),
            moves=lambda _, values: {"concurrency": values})
ONE, POOLS = plan("one"), plan("two pools", room=False, room_there=False)


def test_where_the_better_one_changes():
    found = BreakEven("first", (Turn(100.0, "first", "second", "crossing", 0.0),
                                Turn(1234.0, "second", "equal", "step", 1.0)), 1.0, 4096.0, 1500)
    assert shown(command._told_breakeven(found, ONE, POOLS, PATH)) == [
        "users from 1 request to 4,096 requests: one is better at first,",
        "from 100 requests on two pools, where memory is too small for two pools.",
        "from 1,234 requests on both alike (a step), where memory is too small for two pools.",
        "Now 64 requests; 1,500 points tried.", "two pools does not fit its memory as it is."]
    short = plan("mine", room_there=False)
    both = shown(command._told_breakeven(found, short, POOLS, PATH))
    assert both[1].endswith("where memory is too small for mine and two pools.")


def test_who_is_better_throughout_and_no_more_than_a_dozen_changes():
    always = BreakEven("second", (), 1.0, 4096.0, 1500)
    assert shown(command._told_breakeven(always, ONE, plan("other"), PATH)) == [
        "users from 1 request to 4,096 requests: other throughout.",
        "Now 64 requests; 1,500 points tried."]
    for count, last in ((12, "from 12 requests on one (a step)."), (13, "... 1 further changes."),
                        (15, "... 3 further changes.")):
        turns = tuple(Turn(float(at), "second", "first", "step", 0.0)
                      for at in range(1, count + 1))
        told = shown(command._told_breakeven(BreakEven("neither", turns, 1.0, 99.0, 1500), ONE,
                                             plan("other"), PATH))
        assert told[0] == "users from 1 request to 99 requests: neither is better at first,"
        assert told[-2] == last
        assert len(told) == 2 + min(count, 12) + (count > 12)


@pytest.mark.parametrize(("ends", "turns"), [
    ((10.0, 20.0), "it turns from 10 requests to 20 requests (80% interval), "),
    ((None, None), "")])
def test_how_sure_it_is(ends, turns):
    assert command._told_doubt(Doubt(*ends, 0.25, 0.13, 256), ONE, POOLS, PATH) == (
        f"With all other inputs within their ranges {turns}one is better throughout in 25% of the "
        "cases and two pools in 13%.")


WORTHS = (Worth("gemm_efficiency.fp8", 0.4, 0.01, 0.2), Worth("own_error", 0.005, 0.01, 0.1))


def test_what_knowing_is_worth():
    bought = Information(("8 cards", "16 cards"), (3.0, 2.0), 1, 0.5, 0.3, WORTHS, 4096, 0.015,
                         (8.0, 16.4, 31.6))
    assert shown(command._told_information(bought, "cards")) == [
        "Now one would take 16 cards: expected 2 cards. In 30% of the cases another choice turns "
        "out better.",
        "Knowing everything first would save 0.5 cards.",
        "Cards needed: 16, in 80% of the cases 8 to 32.",
        "In 1.5% of the cases no number of requests keeps the limit, so that no purchase helps; "
        "they are left out.",
        "What knowing it is worth", "measured first | saves (cards) | changes the choice",
        "gemm efficiency of fp8 | 0.4 | 20%",
        "4,096 draws; below 0.01 nothing is told apart from nothing."]
    chosen = Information(("one", "two pools"), (1.0, 2.0), 0, 0.5, 0.3, WORTHS[:1] * 14, 4096)
    told = shown(command._told_information(chosen, "h"))
    assert told[0].startswith("Now one would take one: expected 1 h. ")
    assert not any("Cards needed" in line or "no purchase" in line for line in told)
    assert sum(line.startswith("gemm") for line in told) == 12


def test_elasticities_in_per_cent_or_in_their_unit():
    relative = [Elasticity("memory_bandwidth", ("memory_bandwidth",), 1.6e12, -0.75),
                Elasticity("concurrency", ("concurrency",), 64.0, 0.5, arc=True)]
    assert shown(command._told_elasticities(relative, "tpot"))[1:4] == [
        "input | value | % per 1%", "memory bandwidth | 1.6 TB/s | -0.750",
        "concurrency | 64 requests | +0.500 (arc)"]
    room = [Elasticity("memory_utilization", ("memory_utilization",), 0.9, 5e9)]
    assert shown(command._told_elasticities(room * 13, "headroom_per_device"))[1:-1] == [
        "input | value | per 1% (B)", *["memory utilization | 0.9 | 50 MB"] * 12]


def test_indices_of_the_variance():
    index = Index("own_error", 0.5, 0.6, 0.01, 0.02)
    assert shown(command._told_indices(Sensitivity((index,), 1024, 12288, 0.1234, True))) == [
        "Share of the variance (Sobol)", "input | alone | in company",
        "the formulas' own error | 0.500 ± 0.010 | 0.600 ± 0.020",
        "12,288 evaluations of a design of 1,024; standard deviation 12.3%; 95% confidence."]
    many = shown(command._told_indices(Sensitivity((index,) * 14, 1024, 12288, 0.1234, False)))
    assert many[-1] == "12,288 evaluations of a design of 1,024; 95% confidence."
    assert len(many) == 2 + 12 + 1


def test_what_decides_is_named_unless_nobody_knows_it():
    own = Bar("own_error", 1.0, 0.9, 1.2, 0.04, 0.07)
    names = ("memory_bandwidth", "gemm_efficiency.fp8", "routing_skew", "kv_imbalance")
    bars = tuple(Bar(name, 1.0, 0.5, 1.5, 0.05, 0.06) for name in names)
    three = "memory bandwidth, gemm efficiency of fp8, routing skew"
    assert command._deciding(Tornado(0.05, (*bars, own))) == f"What decides: {three}."
    assert command._deciding(Tornado(0.05, (own, *bars))).startswith(
        f"What decides: {three}; more than each of them does what no input moves")
    assert command._deciding(Tornado(0.05, (own,))) == "No range of an input moves it."


def test_options_that_are_numbers():
    assert command._demand("5 request", Made()) == (5.0, "concurrency")
    assert command._demand("5 token/s", None) == (5.0, "output_throughput")
    assert (command._money(None), command._money("2.5 CNY")) == ((1.0, ""), (2.5, "CNY"))
    assert (command._samples(None), command._samples("64")) == ([], [64])
    assert (command._share("0"), command._share("0.999")) == (0.0, 0.999)


@pytest.mark.parametrize(("option", "text", "says"), [
    (command._share, "1", "--margin"), (command._share, "-0.1", "--margin"),
    (command._money, "0 USD", "--price"), (command._money, "2 EUR", "--price"),
    (lambda text: command._demand(text, None), "0 token/s", "--demand"),
    (lambda text: command._demand(text, None), "5 request", "--limit")])
def test_options_that_are_none(option, text, says):
    with pytest.raises(ParamsError, match=says):
        option(text)


# --- against a service, and one break-even --------------------------------------------------------


def against_service(monkeypatch, found, doubt, price="3.6 USD"):
    """What is told, and what a card costs by the second."""
    asked = []
    monkeypatch.setattr(command, "load_prices", lambda name: Made(
        name={"en": "their service", "zh": "服务"}))
    monkeypatch.setattr("calc.sensitivity.against_service.utilisation", lambda plan, hour, service:
                        asked.append(hour) or (found, doubt))
    mine = Made(label="mine", scenario=Made(device=Made(id="card")))
    data, lines = command._against_service(Made(against="x", price=price), mine)
    assert (data["path"], data["first"], data["second"]) == ("utilisation", "mine", "their service")
    assert data["card_hour"] == pytest.approx([3.6, 3.6, 3.6])
    assert asked[0].value == pytest.approx(0.001)
    return lines


EVEN = BreakEven("second", (Turn(0.1234, "second", "first", "crossing", 0.0),), 0.001, 1.0, 9)


@pytest.mark.parametrize(("found", "doubt", "told"), [
    (EVEN, Doubt(0.1, 0.456, 0.0, 0.13, 256),
     "mine from 12.3% on (80% interval 10% to 46%)."),
    (EVEN, Doubt(None, None, 0.0, 0.13, 256), "mine from 12.3% on."),
    (BreakEven("second", (), 0.001, 1.0, 9), Doubt(None, None, 0.0, 0.13, 256),
     "their service throughout."),
    (BreakEven("first", (), 0.001, 1.0, 9), Doubt(0.0, 0.25, 0.0, 0.13, 256),
     "mine throughout (80% interval 0% to 25%).")])
@pytest.mark.parametrize("price", ["3.6 USD", "3.6 USD/h"])
def test_from_which_use_a_card_is_cheaper_than_a_service(monkeypatch, found, doubt, told, price):
    assert against_service(monkeypatch, found, doubt, price) == [
        f"Utilisation from 0% to 100%, a card-hour at 3.6 USD, against their service: {told}",
        "In 13% of the cases the service is cheaper even at full use."]


@pytest.mark.parametrize(("options", "name", "doubted"), [
    ({}, "tpot", True), ({"limit": "tpot=50 ms"}, "tpot", False),
    ({}, "headroom_per_device", False)])
def test_how_sure_a_break_even_is_is_told_where_it_can_be_drawn(
        monkeypatch, options, name, doubted):
    """Not under a limit, nor of what may be negative."""
    asked = []
    monkeypatch.setattr(command, "against", lambda *given: POOLS)
    monkeypatch.setattr(command, "path_of", lambda *given: PATH)
    monkeypatch.setattr(command, "check_quantity", lambda plan, name: None)
    monkeypatch.setattr(command, "breakeven", lambda *given, **more: asked.append(
        more) or BreakEven("first", (), 1.0, 9.0, 5))
    monkeypatch.setattr(command, "doubt", lambda first, second, path, name, margin: asked.append(
        margin) or Doubt(None, None, 0.5, 0.5, 256))
    args = Made(**({"breakeven": "users", "scenario": "x", "settings": (), "against": "pools",
                    "between": None, "margin": "0.25", "limit": None} | options))
    data, lines = command._breakeven(args, ONE, name)
    assert (data["first"], data["second"], data["now"], data["unit"]) == (
        "one", "two pools", 64, "request")
    assert asked[0]["margin"] == 0.25
    assert (asked[0]["limit"] is not None) == bool(options)
    assert (data["doubt"] is not None, asked[1:]) == (doubted, [0.25] * doubted)
    assert any("within their ranges" in line for line in lines) is doubted
