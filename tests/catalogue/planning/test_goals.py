"""Goals: limits of what may be asked, defaults, and what belongs together."""


import pytest
from pydantic import TypeAdapter, ValidationError

from calc.searching.goal import load_goal
from catalogue import planning
from catalogue.planning import MOST_CARDS, Demand, Limits

NAME = "r1-80-users-h20"
LENGTHS = {"input_tokens": 3000, "output_tokens": 200}
RATE = "2 request/s"


def take(kind, raw):
    return TypeAdapter(getattr(planning, kind)).validate_python(raw)


@pytest.mark.parametrize(("setting", "value"), [
    (f"cards.most={MOST_CARDS}", 16384), ("limits.tpot=50 ms", {"mean": 0.05}),
    ("limits.power=1 MW", 1e6),
    ("limits.quality=1 point", 1), ("limits.quality=published", "published"),
    ("space.memory_utilization=0.01,1", [1, 100]), ("space.spares=0,none", [0, "none"]),
    ("space.drafts=0,1", [0, 1]), ("engines=vllm@0.13.0,sglang", ["vllm@0.13.0", "sglang"]),
    ("devices=any", [])])
def test_settings_of_a_goal(setting, value):
    found = load_goal(NAME, [setting])
    for key in setting.partition("=")[0].split("."):
        found = getattr(found, key)
    assert found == value


@pytest.mark.parametrize(("kind", "taken", "refused"), [
    ("Seconds", "0.5 s", "0 s"), ("SecondsOrZero", "0 s", "-0.5 s"), ("MoneyLimit", 0, -0.5),
    ("MoneyLimit", 1e12, 1.01e12), ("Part", 1, 1.001), ("Cards", 1, 0), ("Cards", 16384, 16385)])
def test_least_and_largest_amounts(kind, taken, refused):
    assert take(kind, taken) == float(str(taken).split()[0])
    with pytest.raises(ValidationError, match="out of range"):
        take(kind, refused)


@pytest.mark.parametrize(("kind", "raw"), [
    ("Users", 1.5), ("Seconds", True), ("Seconds", None), ("Cards", False), ("Percent", 0.905),
    ("Percent", 1.01), ("Percent", 0.009), ("Points", "much"), ("Points", -0.5), ("Times", {}),
    ("Times", "soon"), ("EngineName", "e" * 61)])
def test_what_is_no_amount(kind, raw):
    with pytest.raises(ValidationError):
        take(kind, raw)


@pytest.mark.parametrize(("made", "data", "valid"), [
    (Demand, LENGTHS | {"users": 3, "arrival_rate": RATE}, False),
    (Demand, LENGTHS | {"think_time": "2 s"}, False),
    (Demand, LENGTHS | {"context_tokens": 3200}, True),
    (Demand, LENGTHS | {"context_tokens": 3199}, False),
    (Demand, LENGTHS | {"arrivals": "poisson"}, False),
    (Demand, LENGTHS | {"arrival_rate": RATE, "arrivals": "poisson"}, True),
    (Demand, LENGTHS | {"arrival_rate": RATE, "arrivals": "closed-loop"}, False),
    (Demand, LENGTHS | {"length_distribution": "lognormal"}, False),
    (Demand, LENGTHS | {"length_distribution": "lognormal", "length_variation": 0}, True),
    (Demand, LENGTHS | {"length_variation": 0.5}, False),
    (Limits, {"sure": 0.9, "quality": 1}, False), (Limits, {"sure": 0.9, "ttft": "2 s"}, True)])
def test_what_belongs_together(made, data, valid):
    if valid:
        assert made(**data).model_fields_set == set(data)
    else:
        with pytest.raises(ValidationError):
            made(**data)
