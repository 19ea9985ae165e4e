"""What the commands that decide take as options: numbers at either end, and what needs what."""

import math
import re
from types import SimpleNamespace as Made

import pytest

from calc.commands import compared
from calc.commands.deciding import capacity, cost, decide, search, sweep
from calc.commands.evidence import audit, stale
from calc.sensitivity import paths
from calc.sensitivity.information import Information, Worth
from calc.sensitivity.paths import Path, path_of
from calc.sensitivity.plans import Limit, check_quantity
from catalogue import ParamsError
from reference.plans import law

# --- capacity -------------------------------------------------------------------------------------

USUAL = dict.fromkeys(("requests", "users", "questions", "think_time", "ttft", "tpot", "promise",
                       "turns", "host_memory", "late", "load", "price")) | {
    "spares": "0", "storage": "0 B", "seed": "0", "percentile": "99", "growth": "0.7,1,1.5",
    "regret": False}


def given(**options):
    return capacity._given(Made(**(USUAL | options)))


DAY = {"load": "mine", "requests": "9"}


def test_what_a_day_is_asked_unless_told():
    assert given() == {
        "requests": None, "users": None, "questions": None, "think_time": None, "ttft": math.inf,
        "tpot": math.inf, "spares": 0, "promise": None, "turns": None, "host_memory": None,
        "storage": 0, "late": None, "seed": 0, "share": 0.99,
        "growth": {"low": 0.7, "central": 1, "high": 1.5}}
    assert given(percentile="mean")["share"] is None


def test_users_who_ask_so_often_are_so_many_requests():
    assert given(users="7", questions="2.5", load="mine")["requests"] == 17.5


@pytest.mark.parametrize(("name", "text", "number"), [
    ("requests", "1", 1.0), ("requests", "1e12", 1e12), ("think_time", "0 s", 0.0),
    ("ttft", "1 ms", 0.001), ("tpot", "20 ms", 0.02), ("spares", "4096", 4096),
    ("promise", "0.999999999", 1 - 1e-9), ("turns", "2", 2), ("turns", "1000", 1000),
    ("host_memory", "0 B", 0.0), ("storage", "4 TB", 4e12), ("late", "1", 1.0),
    ("seed", "2147483648", 2**31)])
def test_a_number_of_a_day_may_lie_at_either_end(name, text, number):
    found = given(**(DAY | {"think_time": "5 s"} | {name: text}))[name]
    assert (found, type(found)) == (pytest.approx(number, rel=1e-12), type(number))


@pytest.mark.parametrize(("name", "text", "said"), [
    ("requests", "0.9", "at least 1 and at most 1e\\+12"), ("requests", "1.01e12", "at most 1e"),
    ("users", "0", "--users 0"), ("users", "1.01e12", "--users"), ("questions", "0", "above 0"),
    ("ttft", "0 s", "above 0"), ("tpot", "0 s", "above 0"), ("think_time", "-1 s", "at least 0"),
    ("spares", "4097", "at most 4096"), ("spares", "1.5", "whole"), ("promise", "0", "above 0"),
    ("promise", "0.9999999999", "at most 1"), ("turns", "1", "at least 2"),
    ("turns", "1001", "at most 1000"), ("turns", "2.5", "whole"), ("late", "0.99", "at least 1"),
    ("seed", "2147483649", "at most"), ("host_memory", "-1 B", "--host-memory -1 B"),
    ("storage", "2e18 B", "--storage"), ("late", "2 s", "--late 2 s")])
def test_a_number_of_a_day_that_cannot_be(name, text, said):
    with pytest.raises(ParamsError, match=said):
        given(**(DAY | {"think_time": "5 s"} | {name: text}))


@pytest.mark.parametrize(("options", "said"), [
    ({"users": "3", "load": "x"}, "--users and --questions together"),
    ({"questions": "3", "load": "x"}, "--users and --questions together"),
    ({"requests": "3"}, "--load"), ({"load": "x"}, "--load"),
    (DAY | {"turns": "2"}, "--turns: expected --think-time"),
    ({"turns": "2", "think_time": "1 s"}, "--turns: expected --requests"),
    ({"promise": "0.9"}, "--promise: expected --requests"),
    ({"late": "2"}, "--late: expected --requests"),
    (DAY | {"price": "2 USD/h"}, "--price: expected --regret"),
    ({"regret": True}, "--regret: expected")])
def test_options_of_a_day_that_need_others(options, said):
    with pytest.raises(ParamsError, match=said):
        given(**options)
    assert given(**DAY, price="2 USD/h", regret=True, late="2", promise="0.9", turns="2",
                 think_time="1 s")["late"] == 2


# --- decide ---------------------------------------------------------------------------------------


def told(capsys, monkeypatch, **options):
    """Which ways are asked for, with which quantity."""
    seen = []
    monkeypatch.setattr(decide, "plan_of", lambda *asked: law({}, tpot=lambda at: 1.0))
    monkeypatch.setattr(decide, "check_quantity", lambda plan, name: None)
    monkeypatch.setattr(decide, "DO", {way: lambda args, plan, name, way=way: seen.append(
        (way, name)) or (f"{way} found", []) for way in decide.WAYS})
    asked = dict.fromkeys(("against", "breakeven", "quantity", "scenario")) | dict.fromkeys(
        decide.WAYS[:4], False) | {"settings": (), "json": True} | options
    assert decide.run(Made(**asked)) == 0
    capsys.readouterr()
    return seen


@pytest.mark.parametrize(("options", "ways"), [
    ({}, [("tornado", "tpot"), ("elasticities", "tpot")]),
    ({"sensitivity": True}, [("sensitivity", "tpot")]),
    ({"information": True}, [("information", "card_hours")]),
    ({"information": True, "quantity": "e2e"}, [("information", "e2e")]),
    ({"information": True, "against": "x"}, [("information", "card_hours")]),
    ({"breakeven": "x", "against": "y", "tornado": True}, [("tornado", "tpot"),
                                                           ("breakeven", "tpot")]),
    ({"breakeven": "x", "against": "y", "information": True}, [("information", "card_hours"),
                                                               ("breakeven", "card_hours")])])
def test_what_is_decided_by_unless_told(capsys, monkeypatch, options, ways):
    assert told(capsys, monkeypatch, **options) == ways


@pytest.mark.parametrize(("options", "said"), [
    ({"breakeven": "x"}, "expected --against"), ({"against": "x"}, "expected --breakeven PATH"),
    ({"breakeven": "x", "information": True}, "expected --against")])
def test_a_break_even_is_against_another(capsys, monkeypatch, options, said):
    with pytest.raises(ParamsError, match=said):
        told(capsys, monkeypatch, **options)


def test_a_limit_is_a_quantity_and_its_most():
    plan = law({})
    assert decide._limit(None, plan) is None
    assert decide._limit(" tpot = 50 ms", plan) == Limit("tpot", 0.05)
    for text, said in (("tpot", "--limit"), ("tpot=", "--limit tpot"), ("speed=5", "no such"),
                       ("tpot=5 B", "--limit tpot")):
        with pytest.raises(ParamsError, match=said):
            decide._limit(text, plan)


BOUGHT = Information(("8 cards",), (1.0,), 0, 0.0, 0.0, (Worth("x", 0, 0, 0),), 1024)


def information(monkeypatch, name="card_hours", **options):
    """What is asked of a purchase or a choice, and the unit in which it is told."""
    seen = {}
    monkeypatch.setattr(decide, "to_buy", lambda *asked: seen.update(buy=asked) or BOUGHT)
    monkeypatch.setattr(decide, "between", lambda *asked: seen.update(choice=asked) or BOUGHT)
    monkeypatch.setattr(decide, "against", lambda *asked: law({}, label="other"))
    asked = dict.fromkeys(("samples", "price", "demand", "late", "limit", "against")) | {
        "scenario": "x", "settings": ()} | options
    plan = law({})
    data, _ = decide._information(Made(**asked), plan, name)
    return data["unit_of_losses"], *(list(asked)[1:] for asked in seen.values())


def test_a_purchase_is_asked_for_with_what_was_said(monkeypatch):
    assert information(monkeypatch, demand="500 token/s", late="1.5") == (
        "cards", [500, 1.5, 1, 16384, None, "output_throughput"])
    assert information(monkeypatch, demand="12 request", late="3", limit="tpot=50 ms",
                       price="9 USD", samples="2048") == (
        "USD", [12, 3, 9, 2048, Limit("tpot", 0.05), "concurrency"])


def test_a_choice_is_asked_for_in_what_it_is_paid_in(monkeypatch):
    unit, (other, *asked) = information(monkeypatch, against="x")
    assert (other.label, asked) == ("other", ["card_hours", 1, 16384])
    assert "hour" in unit
    unit, (_, *asked) = information(monkeypatch, against="x", price="2 USD", samples="1024")
    assert (asked, "USD" in unit, "hour" in unit) == (["card_hours", 2, 1024], True, False)
    assert information(monkeypatch, "tpot", against="x")[0] == "s"


@pytest.mark.parametrize(("options", "said"), [
    ({}, "expected a choice, --against, or a purchase, --demand"),
    ({"demand": "1 token/s"}, "--late"), ({"demand": "1 token/s", "late": "2", "against": "x"},
                                          "--late"),
    ({"demand": "1 token/s", "late": "2", "name": "tpot"}, "--late"),
    ({"demand": "1 token/s", "late": "2", "limit": "e2e=5 s"}, "e2e"),
    ({"against": "x", "price": "2 USD", "name": "tpot"}, "has no place beside tpot")])
def test_what_is_worth_knowing_needs_a_purchase_or_a_choice(monkeypatch, options, said):
    with pytest.raises(ParamsError, match=said):
        information(monkeypatch, **options)


@pytest.mark.parametrize(("text", "number"), [("1024", 1024), ("65536", 65536), ("1e9", 65536),
                                              ("63.9", 63)])
def test_samples_are_whole_and_no_more_than_a_design_has(text, number):
    assert decide._samples(text) == [number]


# --- sweep ----------------------------------------------------------------------------------------


def swept(**options):
    usual = {"axes": [], "settings": [], "min": [], "max": [], "best": None, "all": False,
             "quantities": [], "chunk": None, "scenario": "h200-r1-vllm-tp8"}
    return sweep._asked(Made(**(usual | options)))


def test_a_sweep_is_what_the_flags_say():
    users = [" workload.concurrency =1,2"]
    found = swept(axes=users, settings=["precision=x"], min=["tpot"],
                  max=["output_throughput", "ttft"], quantities=["e2e"], chunk=7)
    assert (found.scenario, found.settings, found.objectives, found.best, found.every,
            found.quantities, found.chunk) == (
        "h200-r1-vllm-tp8", ("precision=x",), {"tpot": -1, "output_throughput": 1, "ttft": 1},
        None, False, ("e2e",), 7)
    assert [along.paths for along in found.axes] == [("workload.concurrency",)]
    assert swept(axes=users, min=["tpot"], best=3).best == 3
    assert swept(axes=users, all=True).every


@pytest.mark.parametrize(("options", "said"), [
    ({"axes": ["workload.concurrency"]}, "workload.concurrency"), ({"axes": ["=1,2"]}, "=1,2"),
    ({"min": ["e2e", "tpot"], "max": ["ttft", "tpot"]}, "tpot")])
def test_a_sweep_that_cannot_be(options, said):
    with pytest.raises(ParamsError, match=said):
        swept(**options)


# --- cost -----------------------------------------------------------------------------------------


def service(monkeypatch, text, sold, holding):
    of = Made(sold=sold and dict.fromkeys(sold, "list"), holding={name: name for name in holding})
    monkeypatch.setattr(cost, "load_prices", lambda name: of)
    if of.sold:
        of.sold = {name: name for name in sold}
    found, chosen = cost._service(text)
    assert found is of
    return chosen


def test_a_price_list_is_the_first_that_holds_today_or_the_one_that_is_named(monkeypatch):
    lists = ("old", "day", "night")
    assert service(monkeypatch, "mine", lists, ["day", "night"]) == "day"
    assert service(monkeypatch, "mine:night", lists, ["day", "night"]) == "night"
    assert service(monkeypatch, "mine:old", lists, []) == "old"


@pytest.mark.parametrize(("text", "lists", "holding", "said"), [
    ("mine", None, [], "mine"), ("mine:x", ("a", "b"), ["a"], "a, b"),
    ("mine", ("a", "b"), [], "mine:b")])
def test_a_service_without_a_list_says_which_there_are(monkeypatch, text, lists, holding, said):
    with pytest.raises(ParamsError, match=said):
        service(monkeypatch, text, lists, holding)


# --- what is wrong is repeated, as far as it helps ------------------------------------------------

LONG = "x" * 90


@pytest.mark.parametrize(("refusing", "signs"), [
    (lambda text: given(requests=text, load="x"), 40), (lambda text: given(percentile=text), 40),
    (lambda text: given(growth=text), 40), (lambda text: decide._limit(text, law({})), 60),
    (lambda text: decide._limit(f"{text}=5", law({})), 60),
    (lambda text: decide._money(f"5 {text}"), 58), (lambda text: swept(axes=[text]), 60),
    (lambda text: cost._apart([f"prices.{text}"]), 53),
    (lambda text: cost._number(text, "--x", 1e12), 40), (stale._days, 40),
    (lambda text: path_of(law({}), text), 60),
    (lambda text: path_of(law({}), f"{text}.tensor_parallel"), 60),
    (lambda text: paths._given(Path("x", ("x",), "1", 0, 0, False), text), 60),
    (lambda text: compared.run(Made(engines=text)), 60),
    (lambda text: check_quantity(law({}), text), 60),
    (lambda text: audit._known(Made(rows=[], causes=dict), Made(
        claim=text, verdict=None, cause=None), []), 40)])
def test_what_cannot_be_used_is_repeated_up_to_so_many_signs(refusing, signs):
    with pytest.raises(ParamsError) as refused:
        refusing(LONG)
    assert re.search(f"(?<!x)x{{{signs}}}(?!x)", str(refused.value))


# --- search ---------------------------------------------------------------------------------------


def searched(capsys, monkeypatch, goal=None, **options):
    """What a search is asked for; of a goal that nothing meets."""
    seen = []
    usual = Made(limits=Made(sure=None, times={"ttft": {"mean": 1.0}}), space=Made(pools=["one"]))
    answer = Made(met=[], as_json=dict, sure=None, missed=[1], refused=[])
    monkeypatch.setattr("calc.searching.load_goal.load_goal",
                        lambda name, settings: seen.append((name, settings)) or goal or usual)
    monkeypatch.setattr("calc.launching.starting.search",
                        lambda goal, workers: seen.append(workers) or answer)
    monkeypatch.setattr("calc.searching.same_cards.inside", lambda answer: None)
    monkeypatch.setattr("calc.searching.same_cards.relaxed",
                        lambda goal, workers: seen.append(("wider", workers)) or [])
    asked = dict.fromkeys(search.FLAGS) | {"goal": "mine", "settings": ["a=1"], "workers": 3,
                                           "any_engine": False, "relax": False, "json": True,
                                           "out": None} | options
    assert search.run(Made(**asked)) == search.UNMET == 3
    return seen, capsys.readouterr().out


def test_flags_of_a_search_are_settings_behind_those_that_are_set(capsys, monkeypatch):
    (asked, workers), _ = searched(capsys, monkeypatch, users="7", sure="0.9", any_engine=True)
    assert asked == ("mine", ["a=1", "demand.users=7", "limits.sure=0.9", "space.any_engine=true"])
    assert workers == 3
    (asked, *_, wider), out = searched(capsys, monkeypatch, relax=True)
    assert (asked, wider) == (("mine", ["a=1"]), ("wider", 3))
    assert '"relaxed": []' in out
    with pytest.raises(ParamsError, match="--workers 0"):
        searched(capsys, monkeypatch, workers=0)
    assert searched(capsys, monkeypatch, workers=1)[0][1] == 1


@pytest.mark.parametrize(("sure", "pools", "times"), [
    (0.9, ["one"], {}), (None, ["one", "two"], {}), (None, ["two"], {}),
    (None, ["one"], {"ttft": {"mean": 1.0}, "tpot": {"p90": 1.0}})])
def test_limits_are_widened_of_one_pool_in_the_mean_without_draws(
        capsys, monkeypatch, sure, pools, times):
    goal = Made(limits=Made(sure=sure, times=times), space=Made(pools=pools))
    with pytest.raises(ParamsError, match="--relax"):
        searched(capsys, monkeypatch, goal, relax=True)
    searched(capsys, monkeypatch, goal)
