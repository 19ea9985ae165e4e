"""What a wish leaves unsaid, which way is better, and where what contradicts itself is told."""

from typing import Annotated, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from catalogue.planning import goals
from catalogue.planning.goals import CardRange, Demand, Goal, Limits, Offer, Space
from catalogue.planning.questions import Question
from catalogue.reading.values import Misplaced

ASKED = {"input_tokens": 3000, "output_tokens": 200}
RATE = "2 request/s"


def refused(made, **data):
    """What is told of data that contradict themselves, and at which key."""
    with pytest.raises(ValidationError) as caught:
        made(**data)
    problem = caught.value.errors()[0]["ctx"]["error"]
    return str(problem), getattr(problem, "keys", ())


def taken(kind, raw):
    return TypeAdapter(getattr(goals, kind)).validate_python(raw)


def test_more_tokens_are_better_and_so_is_a_longer_context_all_else_is_better_small():
    assert {name for name, sign in goals.OBJECTIVES.items() if sign > 0} == {
        "throughput_per_card", "throughput", "context"}
    assert set(goals.OBJECTIVES.values()) == {1, -1}
    assert set(goals.OBJECTIVES) == set(get_args(goals.Objective))


def test_what_is_not_said_is_as_usual():
    space, demand = Space(), Demand(**ASKED)
    assert (space.any_engine, space.staged_groups, space.staged_drafts) == (False, False, None)
    assert (space.micro_batches, space.pools) == ([1, 2], ["one", "two"])
    assert space.spares == ["none", "fewest", "per-rank"]
    assert (demand.prefix_hit_share, demand.users, CardRange().fewest) == (0.0, None, 1)
    assert CardRange().most is None
    assert Limits().times == {}


@pytest.mark.parametrize(("kind", "least", "below"), [
    ("Seconds", "0.5 s", "0 s"), ("SecondsOrZero", "0 s", "-0.5 s"), ("Watts", "0.5 W", "0 W"),
    ("TokenRate", "0.5 token/s", "0 token/s"), ("RequestRate", "0.5 request/s", "0 request/s"),
    ("Ratio", 0, -0.5), ("Money", 0, -0.5), ("Part", 0, -0.5), ("Tokens", 1, 0), ("Users", 1, 0),
    ("Cards", 1, 0), ("Degree", 1, 0), ("DegreeOrZero", 0, -1), ("Percent", 0.01, 0.009)])
def test_an_amount_is_asked_down_to_its_least(kind, least, below):
    number = float(least.split()[0]) if isinstance(least, str) else least
    assert taken(kind, least) == (1 if kind == "Percent" else number)
    with pytest.raises(ValidationError, match="out of range"):
        taken(kind, below)


@pytest.mark.parametrize(("kind", "most", "above"), [
    ("Part", 1, 1.001), ("Cards", 16384, 16385), ("Percent", 1, 1.01), ("Money", 1e12, 1.01e12),
    ("Users", 10**12, 10**12 + 1)])
def test_an_amount_is_asked_up_to_its_most(kind, most, above):
    assert taken(kind, most) == (100 if kind == "Percent" else most)
    with pytest.raises(ValidationError, match="out of range"):
        taken(kind, above)


@pytest.mark.parametrize(("kind", "raw"), [
    ("Users", 1.5), ("Seconds", True), ("Seconds", None), ("Cards", False), ("Percent", 0.905),
    ("Points", "much"), ("Points", True), ("Points", -0.5), ("Times", {}), ("Times", "soon")])
def test_what_is_no_amount_is_refused(kind, raw):
    with pytest.raises(ValidationError):
        taken(kind, raw)


@pytest.mark.parametrize(("raw", "points"), [
    ("1 point", 1), ("2.5 points", 2.5), (" 3 points", 3), (0, 0), ("published", "published")])
def test_a_bound_on_quality_is_in_points_or_the_published_weights(raw, points):
    assert taken("Points", raw) == points


def test_times_by_percentile_rise_and_the_one_that_does_not_is_told():
    assert taken("Times", {"mean": "3 s", "p50": "1 s", "p90": "2 s", "p99": "2 s"}) == {
        "mean": 3, "p50": 1, "p90": 2, "p99": 2}
    assert Limits(tpot="50 ms", e2e={"p90": "9 s"}).times == {
        "tpot": {"mean": 0.05}, "e2e": {"p90": 9}}
    said, keys = refused(Limits, ttft={"p99": "1 s", "p50": "3 s", "p90": "2 s"})
    assert keys == ("p90",)
    assert said.startswith("2 s is less than the 3 s of p50")
    for name in ("p0", "p100", "median", "a90"):
        assert refused(Limits, ttft={"p90": "2 s", name: "3 s"})[1] == (name,)
    said, keys = refused(Limits, ttft={"p90": "2 GB"})
    assert keys == ("p90",)
    assert "unit" in said
    said, keys = refused(Limits, ttft={"q" * 50: "1 s"})
    assert keys == ("q" * 50,)
    assert said.startswith(f"'{'q' * 40}' is no percentile")


def test_a_bound_that_is_none_is_quoted_in_part():
    assert f"'{'w' * 40}' is no bound" in refused(Limits, quality="w" * 50)[0]


@pytest.mark.parametrize(("made", "data", "key", "says"), [
    (CardRange, {"fewest": 9, "most": 8}, "fewest", "the fewest cards (9) are more than the most"),
    (Demand, ASKED | {"users": 3, "arrival_rate": RATE}, "arrival_rate", "expected one"),
    (Demand, ASKED | {"think_time": "2 s"}, "think_time", "expected 'users' beside it"),
    (Demand, ASKED | {"context_tokens": 3199}, "context_tokens", "expected at least 3200"),
    (Demand, ASKED | {"arrivals": "poisson"}, "arrivals", "need an 'arrival_rate'"),
    (Demand, ASKED | {"arrivals": "burst", "arrival_rate": RATE}, "arrivals", "expected 'poisson'"),
    (Demand, ASKED | {"arrivals": "closed-loop", "arrival_rate": RATE}, "arrivals", "come"),
    (Limits, {"sure": 0.9}, "sure", "no limit is stated"),
    (Limits, {"sure": 0.9, "quality": 1, "budget": "5 USD"}, "sure", "no limit is stated"),
    (Demand, ASKED | {"length_distribution": "lognormal"}, None, "and only with it"),
    (Demand, ASKED | {"length_variation": 0.5}, None, "and only with it"),
])
def test_what_contradicts_itself_is_told_at_its_key(made, data, key, says):
    said, keys = refused(made, **data)
    assert says in said
    assert keys == (() if key is None else (key,))


@pytest.mark.parametrize(("made", "data"), [
    (CardRange, {"fewest": 8, "most": 8}), (CardRange, {"fewest": 9}), (Demand, ASKED),
    (Demand, ASKED | {"context_tokens": 3200}), (Demand, ASKED | {"users": 3, "think_time": "0 s"}),
    (Demand, ASKED | {"users": 3, "arrivals": "burst"}),
    (Demand, ASKED | {"arrival_rate": RATE, "arrivals": "poisson"}),
    (Demand, ASKED | {"arrival_rate": RATE}), (Demand, ASKED | {"arrivals": "closed-loop"}),
    (Demand, ASKED | {"length_distribution": "lognormal", "length_variation": 0}),
    (Demand, ASKED | {"length_distribution": "exponential"}),
    *((Limits, {"sure": 0.9, name: f"2 {unit}".strip()}) for name, unit in (
        ("ttft", "s"), ("tpot", "s"), ("e2e", "s"), ("throughput", "token/s"), ("cost", ""),
        ("power", "W"))),
])
def test_what_goes_together_is_taken(made, data):
    assert made(**data).model_fields_set == set(data)


def goal(**data):
    """A goal of a model, whose name nobody looks up here."""
    unnamed = Goal.model_construct(**{"limits": Limits(), "cards": CardRange()} | data)
    return unnamed._bounded()


@pytest.mark.parametrize("limits", [
    {"power": "9 W"}, {"budget": "9 USD"}, {"rent": "9 USD/h"}, {"power": "9 W", "budget": "9 USD"},
])
def test_a_number_of_cards_follows_from_any_of_what_they_cost(limits):
    assert goal(limits=Limits(**limits)).cards.most is None


def test_without_a_number_of_cards_or_what_bounds_it_nothing_can_be_searched():
    for limits in (Limits(), Limits(cost=9, tpot="1 s")):
        with pytest.raises(ValueError, match="nothing says how many cards there may be"):
            goal(limits=limits)
        assert goal(limits=limits, cards=CardRange(most=3)).cards.most == 3


@pytest.mark.parametrize(("raw", "offers"), [
    ("any", []), ("a", [{"device": "a"}]), (["a", {"device": "b", "node": "n"}],
                                            [{"device": "a"}, {"device": "b", "node": "n"}]),
    ({"device": "b"}, [{"device": "b"}])])
def test_cards_are_offered_by_name_as_offers_or_all_there_are(raw, offers):
    assert Goal._offers(raw) == offers


@pytest.mark.parametrize("raw", [None, []])
def test_no_cards_at_all_are_no_offer(raw):
    with pytest.raises(ValueError, match="no device is named"):
        Goal._offers(raw)
    assert Offer.model_fields["node"].default is None


@pytest.mark.parametrize(("name", "engine"), [
    ("vllm", True), ("vllm@0.13.0", True), ("e" * 60, True), ("e" * 61, False), ("vllm@", False),
    ("vllm 0.13", False), (f"vllm@{'1' * 40}", True), (f"vllm@{'1' * 41}", False)])
def test_an_engine_is_named_with_or_without_its_release(name, engine):
    check = TypeAdapter(Annotated[goals.EngineName, None]).validate_python
    if engine:
        assert check(name) == name
    else:
        with pytest.raises(ValidationError, match="not the name of an engine"):
            check(name)


@pytest.mark.parametrize(("more", "told"), [
    ({}, []), ({"length_distribution": "exponential"}, ["length_distribution=exponential"]),
    ({"length_distribution": "lognormal", "length_variation": 0.0},
     ["length_distribution=lognormal", "length_variation=0.0"])])
def test_a_question_sets_the_load_of_a_deployment(more, told):
    question = Question.model_construct(demand=Demand(**ASKED, users=7, **more))
    assert question.users == 7
    assert question.settings == [f"workload.{each}" for each in (
        "concurrency=7 request", "arrivals=closed-loop", "input_tokens=3000 token",
        "output_tokens=200 token", *told)]


def test_a_misplaced_value_names_its_key():
    assert Misplaced("much", "a", 3).keys == ("a", 3)
