"""One deployment under several engines: what differs, and what makes it."""

import json
import re
from types import SimpleNamespace

import pytest

import calc
import catalogue
from calc.answer import compare_engines
from calc.answer.compare_engines import COMPARED, NOTHING, Replaced, differences
from calc.answer.estimate import estimate
from calc.commands.estimate import engine_line
from calc.commands.main import main

SERVER = "h200-r1-vllm-tp8"
ENGINES = ("vllm@0.11.0", "sglang@0.5.6.post2", "tensorrt-llm@1.0.0")


@pytest.fixture(scope="module")
def servers():
    return [catalogue.load_scenario(SERVER, overrides=[f"engine={name}"]) for name in ENGINES]


class TestDifferences:
    def test_an_engine_and_itself_differ_in_nothing(self, servers):
        alone = differences([servers[0], servers[0]])[0]
        assert alone.replaced == ()
        assert set(alone.together.values()) == {1.0}

    def test_all_together_is_the_other_engine(self, servers):
        """Each value alone is one of the two deployments' own, all of them make the other."""
        quantities = [calc.evaluate(item.inputs(), "mla") for item in servers]
        for other, found in zip(quantities[1:], differences(servers), strict=True):
            for name in COMPARED:
                assert found.together[name] == pytest.approx(other[name] / quantities[0][name])

    def test_one_value_at_a_time_nearly_multiplies_to_the_whole(self, servers):
        """They act little on one another: the whole is within a tenth of the product."""
        for found in differences(servers):
            for name in ("tpot", "ttft"):
                product = 1.0
                for item in found.replaced:
                    product *= item.effects[name]
                assert product == pytest.approx(found.together[name], rel=0.1)

    def test_the_largest_comes_first_and_what_has_no_effect_is_left_out(self, servers):
        for found in differences(servers):
            sizes = [max(abs(effect - 1) for effect in item.effects.values())
                     for item in found.replaced]
            assert sizes == sorted(sizes, reverse=True)
            assert all(size > 0 for size in sizes)

    def test_rows_of_slices_of_experts_are_what_makes_tensorrt_llm_slower_here(self, servers):
        assert differences([servers[0], servers[2]])[0].replaced[0].name == "sliced_row_traffic"


class TestByHand:
    """A time per token that is the product of its inputs, and nothing else of the deployment."""

    @pytest.fixture(autouse=True)
    def product(self, monkeypatch):
        def evaluate(inputs, attention):
            pace = inputs["a"] * inputs["b"] * inputs["c"] * inputs["mixed_steps"]
            return dict.fromkeys(COMPARED, 0.0) | {"tpot": pace}

        monkeypatch.setattr(compare_engines, "evaluate", evaluate)

    def under(self, engine=None, **inputs):
        """``a`` and ``b`` belong to one mechanism, which has a source."""
        given = {"a": 2.0, "b": 3.0, "c": 5.0, "mixed_steps": 1.0} | inputs
        knob = SimpleNamespace(name="pair", symbols=["a", "b"], value=SimpleNamespace(source="doc"))
        return SimpleNamespace(inputs=lambda: given, engine=engine, every_knob=lambda: [knob],
                               model=SimpleNamespace(attention="gqa"))

    def test_each_value_alone_the_largest_effect_first(self):
        found, = differences([self.under("one"), self.under("two", b=6.0, c=1.0, mixed_steps=3.0)])
        none = dict.fromkeys(COMPARED, 1.0)  # of what there is none before
        assert (found.first, found.other) == ("one", "two")
        assert found.replaced == (
            Replaced("scheduling", "mixed_steps", 1.0, 3.0, None, none | {"tpot": 3.0}),
            Replaced("pair", "b", 3.0, 6.0, "doc", none | {"tpot": 2.0}),
            Replaced("c", "c", 5.0, 1.0, None, none | {"tpot": 0.2}))
        assert found.together == none | {"tpot": pytest.approx(1.2)}

    @pytest.mark.parametrize("change", [-1, 1])
    def test_what_is_not_printed_has_no_effect(self, change):
        for share, told in ((0.99, 0), (1.01, 1)):
            other = self.under(c=5.0 * (1 + change * share * NOTHING))
            found, = differences([self.under(), other])
            assert len(found.replaced) == told
            assert (found.first, found.other) == ("", "")


class TestEstimate:
    def test_it_names_the_engine_or_says_that_none_is_named(self, servers):
        assert estimate(servers[0]).as_json()["engine"] == ENGINES[0]
        assert engine_line(servers[0]) == f"Engine: {ENGINES[0]}."
        without = catalogue.load_scenario("s0-scenario-1")
        assert estimate(without).as_json()["engine"] is None
        assert engine_line(without) == ("No engine named: values between those of "
                                        "cann-recipes, mindie, sglang, vllm-ascend.")


class TestCommand:
    def test_the_answers_beside_each_other(self, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", "200")
        assert main(["estimate", SERVER, "--engines", ",".join(ENGINES)]) == 0
        printed = capsys.readouterr().out
        assert all(re.search(re.escape(name), printed) for name in ENGINES)
        assert printed.count("all together") == len(ENGINES) - 1

    def test_as_data(self, capsys):
        assert main(["estimate", SERVER, "--engines", "vllm@0.11,sglang@0.5.6", "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert [item["engine"] for item in data["engines"]] == list(ENGINES[:2])
        assert data["differences"][0]["replaced"][0]["effects"].keys() == set(COMPARED)

    @pytest.mark.parametrize(("arguments", "says"), [
        (["--engines", "vllm"], "expected two engines or more"),
        (["--engines", "vllm@0.11,vllm@9"], "vllm has no release '9'"),
        (["--engines", "vllm,sglang", "--documented"], "neither --documented"),
        (["--engines", "vllm,"], "expected two engines or more")])
    def test_what_cannot_be_compared(self, capsys, arguments, says):
        assert main(["estimate", SERVER, *arguments]) == 2
        message = capsys.readouterr().err
        assert says in message
        assert message.count("\n") == 1
