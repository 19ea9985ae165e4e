"""What a goal may ask, at the ends of what may be asked, and how what may not is refused."""

import pytest
from _door import sentence

from calc.searching.load_goal import load_goal
from catalogue.planning.goals import MOST_CARDS, percentile

NAME = "r1-80-users-h20"


def asked(*settings):
    return load_goal(NAME, settings)


@pytest.mark.parametrize(("setting", "path", "value"), [
    ("cards.most=1", "cards.most", 1), (f"cards.most={MOST_CARDS}", "cards.most", 16384),
    ("limits.tpot=50 ms", "limits.tpot", 0.05), ("limits.sure=1", "limits.sure", 1),
    ("limits.sure=0", "limits.sure", 0), ("limits.power=1 MW", "limits.power", 1e6),
    ("limits.cost=0", "limits.cost", 0), ("limits.quality=0 points", "limits.quality", 0),
    ("limits.quality=1 point", "limits.quality", 1), ("limits.quality=2.5", "limits.quality", 2.5),
    ("limits.quality=published", "limits.quality", "published"),
    ("limits.throughput=1000 token/s", "limits.throughput", 1000),
    ("demand.users=1", "demand.users", 1), ("demand.think_time=0 s", "demand.think_time", 0),
    ("demand.prefix_hit_share=1", "demand.prefix_hit_share", 1),
    ("demand.input_tokens=1", "demand.input_tokens", 1),
    ("space.memory_utilization=0.01,1", "space.memory_utilization", [1, 100]),
    ("space.memory_utilization=0.9", "space.memory_utilization", [90]),
    ("space.drafts=0,1", "space.drafts", [0, 1]), ("space.chunks=1", "space.chunks", [1]),
    ("space.spares=0,none", "space.spares", [0, "none"]), ("space.tensor=1", "space.tensor", [1]),
    ("engines=vllm@0.13.0,sglang", "engines", ["vllm@0.13.0", "sglang"]),
])
def test_what_may_be_asked(setting, path, value):
    found = asked(setting)
    for key in path.split("."):
        found = getattr(found, key)
    assert found == value


@pytest.mark.parametrize(("setting", "says"), [
    ("cards.most=0", "at least 1"), (f"cards.most={MOST_CARDS + 1}", "at most 16384"),
    ("cards.most=1.5", "not a whole number"), ("limits.tpot=0 s", "more than 0"),
    ("limits.tpot=true", "a quantity such as"), ("limits.tpot=5 GB", "unit"),
    ("limits.sure=1.01", "at most 1"), ("limits.power=0 W", "more than 0"),
    ("limits.cost=-1", "at least 0"), ("limits.quality=-1 point", "no bound on quality"),
    ("demand.users=0", "at least 1"), ("demand.prefix_hit_share=1.1", "at most 1"),
    ("demand.input_tokens=0", "at least 1"), ("space.memory_utilization=0.009", "0.01 to 1"),
    ("space.memory_utilization=1.01", "0.01 to 1"), ("space.memory_utilization=0.905", "percents"),
    ("space.drafts=-1", "at least 0"), ("space.chunks=0", "at least 1"),
    ("engines=vllm 0.13", "not the name of an engine"), ("limits.ttft.p0=1 s", "no percentile"),
    ("limits.ttft.p100=1 s", "no percentile"),
])
def test_what_may_not_be_asked_is_told_with_its_range(setting, says):
    message = sentence(asked, setting)
    assert message.startswith(f"--set {setting.partition('=')[0]}")
    assert says in message


@pytest.mark.parametrize(("settings", "says"), [
    (("cards.fewest=9", "cards.most=8"), "the fewest cards (9) are more than the most (8)"),
    (("demand.arrival_rate=2 request/s",), "expected one"),
    (("demand.users=null", "demand.think_time=2 s"), "expected 'users' beside it"),
    (("demand.length_distribution=lognormal", "demand.length_variation=null"),
     "given with a lognormal"),
    (("demand.length_distribution=constant", "demand.length_variation=0.5"),
     "given with a lognormal"),
    (("demand.input_tokens=3000", "demand.output_tokens=200", "demand.context_tokens=3199"),
     "expected at least 3200"),
    (("demand.arrivals=poisson",), "need an 'arrival_rate'"),
    (("demand.users=null", "demand.arrival_rate=2 request/s", "demand.arrivals=burst"),
     "expected 'poisson'"),
    (("limits.tpot=null", "limits.ttft=null", "limits.sure=0.9"), "no limit is stated"),
    (("cards.most=null",), "nothing says how many cards"),
])
def test_what_contradicts_itself(settings, says):
    assert says in sentence(asked, *settings)


def test_what_goes_together_at_its_end():
    one = asked("cards.fewest=8", "cards.most=8", "demand.input_tokens=3000",
                "demand.output_tokens=200", "demand.context_tokens=3200",
                "demand.length_distribution=lognormal", "demand.length_variation=0.5")
    assert (one.cards.fewest, one.demand.context_tokens) == (8, 3200)
    assert asked("cards.most=null", "limits.power=1 MW").cards.most is None
    independent = asked("demand.users=null", "demand.arrival_rate=2 request/s",
                        "demand.arrivals=poisson")
    assert independent.demand.arrival_rate == 2


@pytest.mark.parametrize(("name", "share"), [("p1", 0.01), ("p99.99", 0.9999), ("p50", 0.5)])
def test_a_percentile_is_a_share_of_requests(name, share):
    assert percentile(name) == pytest.approx(share, rel=1e-12)


def test_a_higher_percentile_waits_at_least_as_long():
    even = asked("limits.ttft.p90=2 s", "limits.ttft.p99=2 s").limits.times["ttft"]
    assert even["p90"] == even["p99"] == 2.0
    message = sentence(asked, "limits.ttft.p90=2 s", "limits.ttft.p99=1 s")
    assert "1 s is less than the 2 s of p90" in message


def test_devices_are_names_offers_or_any():
    assert asked("devices=any").devices == []
    assert [offer.device for offer in asked("devices=nvidia-h20,nvidia-b200").devices] == [
        "nvidia-h20", "nvidia-b200"]
