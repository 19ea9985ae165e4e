"""One deployment under several engines: which values differ, and what each of them changes."""

import pytest

import calc
import catalogue
from calc.answer.compare_engines import COMPARED, NOTHING, differences

ENGINES = ("vllm@0.11.0", "sglang@0.5.6.post2", "tensorrt-llm@1.0.0")


@pytest.fixture(scope="module")
def servers():
    return [catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[f"engine={name}"])
            for name in ENGINES]


@pytest.fixture(scope="module")
def found(servers):
    return differences(servers)


def test_all_values_together_are_the_other_engine(servers, found):
    first, *others = [calc.evaluate(item.inputs(), "mla") for item in servers]
    for other, difference in zip(others, found, strict=True):
        assert difference.together == pytest.approx({
            name: other[name] / first[name] for name in COMPARED})
    alone, = differences([servers[0], servers[0]])
    assert (alone.replaced, set(alone.together.values())) == ((), {1.0})


def test_each_value_alone_is_that_of_the_other_engine(servers, found):
    here = servers[0].inputs()
    before = calc.evaluate(here, "mla")
    for scenario, difference in zip(servers[1:], found, strict=True):
        there, knobs = scenario.inputs(), {knob.name: knob for knob in scenario.every_knob()}
        apart = {name for name in there if here[name] != there[name]}
        for item in difference.replaced:
            symbols = apart & set(knobs[item.name].symbols if item.name in knobs else [item.symbol])
            after = calc.evaluate(here | {name: there[name] for name in symbols}, "mla")
            assert item.effects == pytest.approx({
                name: after[name] / before[name] for name in COMPARED})
            assert (item.first, item.other) == (here[item.symbol], there[item.symbol])
            assert (item.source is not None) == (item.name in knobs)


def test_largest_effect_comes_first_and_none_is_without(found):
    """Together they act little on one another: the whole is within a tenth of the product."""
    for difference in found:
        sizes = [max(abs(effect - 1) for effect in item.effects.values())
                 for item in difference.replaced]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[-1] > NOTHING
        for name in ("tpot", "ttft"):
            product = 1.0
            for item in difference.replaced:
                product *= item.effects[name]
            assert product == pytest.approx(difference.together[name], rel=0.1)
    assert found[1].replaced[0].name == "sliced_row_traffic"
