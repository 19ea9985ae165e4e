"""What an estimate is put together from, by hand: counts, kinds, verdicts, claims beside ours."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from _answers import estimated

import catalogue
from calc.answer import estimate as estimates
from calc.answer.estimate import (
    QUANTITIES,
    Comparison,
    Estimate,
    counted_of,
    kinds,
    parameters,
    parameters_by_class,
    spare_of,
)
from calc.answer.steady_state import STEADY, Lasting
from calc.closed_form.validity import doubt_words
from calc.uncertainty.amount import EXACT, LOWER_BOUND, UPPER_BOUND, Amount

COUNTED = SimpleNamespace(
    total_parameters=1000.0, active_parameters=300.0, routed_parameters=500.0,
    embedding_parameters=2.0, head_parameters=3.0, attention_divided_parameters=5.0,
    attention_kv_parameters=7.0, attention_replicated_parameters=11.0, compressor_parameters=0.5,
    hyper_parameters=13.0, hyper_head_parameters=17.0, norm_parameters=19.0,
    dense_mlp_parameters=23.0, moe_layers=6, router_parameters=29.0, shared_expert_parameters=31.0)


class TestParameters:
    @pytest.fixture(autouse=True)
    def counted(self, monkeypatch):
        """Ten layers, of which four are dense; 100 wide."""
        monkeypatch.setattr(estimates, "model_inputs", lambda model: {
            "num_hidden_layers": 10, "first_k_dense_replace": 4, "hidden_size": 100})
        monkeypatch.setattr(estimates, "count_parameters", lambda attention, shapes: COUNTED)

    def test_of_a_whole_model(self):
        assert parameters(SimpleNamespace(attention="gqa")) == {
            "total": 1000, "active": 300, "routed": 500}

    def test_by_class_of_every_layer_of_its_kind(self):
        assert parameters_by_class(SimpleNamespace(attention="gqa")) == {
            "embedding": 2, "head": 3, "attention_divided": 50, "attention_kv": 70,
            "attention_replicated": 110, "compressor": 5, "hyper": 147, "norm": 290,
            "dense_mlp": 92, "router": 174, "shared_expert": 186, "routed_expert": 500}


@pytest.mark.parametrize(("value", "central", "told"), [
    (5.0, 3.0, 5.0), (-5.0, -3.0, -5.0), (-5.0, 3.0, 3.0), (5.0, -3.0, -3.0), (0.0, 3.0, 0.0),
    (0.0, -3.0, -3.0), (-5.0, 0.0, 0.0)])
def test_what_is_to_spare_is_on_the_side_of_the_verdict(value, central, told):
    assert spare_of(Amount(value, -9.0, 9.0, "B", central=central)) == told


class TestKinds:
    INPUTS = {"full_attention_layers": 2, "num_hidden_layers": 8, "sliding_window": 128,  # noqa: RUF012
              "context_tokens": 4096, "window_blocks_freed": 1.0, "state_blocks": 0.0}

    @pytest.mark.parametrize(("changed", "token", "device"), [
        ({}, UPPER_BOUND, "estimate"), ({"full_attention_layers": 8}, EXACT, EXACT),
        ({"sliding_window": 4096}, EXACT, EXACT), ({"sliding_window": 4095}, UPPER_BOUND,
                                                   "estimate"),
        ({"window_blocks_freed": 0.0}, EXACT, EXACT),
        ({"window_blocks_freed": 0.0, "state_blocks": 3.0}, EXACT, "estimate"),
        ({"full_attention_layers": 8, "state_blocks": 3.0}, EXACT, "estimate")])
    def test_a_cache_is_counted_but_where_windows_free_blocks_or_a_state_has_some(
            self, changed, token, device):
        found = kinds(self.INPUTS | changed)
        assert (found["kv_bytes_per_token"], found["kv_per_device"]) == (token, device)
        rest = {"kv_bytes_per_token", "kv_per_device"}
        assert {name: kind for name, kind in found.items() if name not in rest} == {
            name: kind for name, kind in QUANTITIES.items() if name not in rest}

    def test_bounds_are_called_bounds(self):
        found = kinds(self.INPUTS)
        assert (found["tpot_floor"], found["throughput_ceiling"]) == (LOWER_BOUND, UPPER_BOUND)
        assert {found[name] for name in STEADY} == {"estimate"}


def test_what_is_counted_is_whole_and_not_negative():
    one = Amount(7.9, -2.5, 9.0, "request", central=8.0)
    found = estimates._counted(one)
    assert (found.value, found.low, found.high, found.central) == (7, 0, 9, 8)
    seconds = estimates._counted(Amount(7.9, -2.5, 9.0, "s"))
    assert (seconds.value, seconds.low, seconds.high) == (7.9, -2.5, 9)
    assert isinstance(seconds.high, int)


def test_a_steady_state_has_the_error_of_a_burst():
    found = estimates._with_steady({"ttft": "one", "tpot": "two", "weights": "three"})
    assert found == {"ttft": "one", "tpot": "two", "weights": "three", "steady_ttft": "one",
                     "steady_tpot": "two", "bench_ttft": "one"}


@pytest.mark.parametrize(("arrivals", "throughput"), [
    ("poisson", (40.0, 40.0, 40.0, 40.0)), ("closed-loop", (20.0, 10.0, 80.0, 40.0))])
def test_quantities_move_to_the_requests_in_flight(arrivals, throughput):
    """Of independent arrivals comes out what is asked; the rest moves by what inputs give."""
    bounds = {name: Amount(2.0, 1.0, 8.0, central=4.0)
              for name in ("steady_ttft", "steady_throughput")}
    estimates._at_arrivals(Lasting(arrivals, 3.0, {"steady_ttft": 6.0, "steady_throughput": 40.0},
                                   {}), bounds)
    assert [(each.value, each.low, each.high, each.central) for each in bounds.values()] == [
        (3.0, 1.5, 12.0, 6.0), throughput]


class TestClaims:
    SCENARIO = SimpleNamespace(
        replicas=2, devices=16, model=SimpleNamespace(num_hidden_layers=SimpleNamespace(value=61)))

    @pytest.mark.parametrize(("part", "count"), [
        ("deployment", 1), ("replica", 2), ("device", 16), ("layer", 61)])
    def test_of_what_a_claim_speaks(self, part, count):
        assert counted_of(self.SCENARIO, part) == count
        assert estimates.unit_count(self.SCENARIO, SimpleNamespace(of=part)) == count

    def test_ours_stands_beside_what_is_printed_where_it_is_comparable(self):
        claims = [SimpleNamespace(
            quantity=name, of=part, comparable=comparable,
            value=SimpleNamespace(unit="s", section="4.1", value=7.5)) for name, part, comparable in
            (("tpot", "replica", True), ("tpot", "deployment", False), ("other", "device", True))]
        self.SCENARIO.documented = SimpleNamespace(claims=claims, recomputed=lambda claim: 7)
        assert estimates._comparisons(self.SCENARIO, {"tpot": 9.0}) == tuple(
            Comparison(name, "s", "4.1", 7.5, 7, ours)
            for name, ours in (("tpot", 4.5), ("tpot", None), ("other", None)))
        self.SCENARIO.documented = None
        assert estimates._comparisons(self.SCENARIO, {"tpot": 9.0}) == ()


class TestSteadily:
    """What lacks room for all requests at their longest may hold all of them on average."""

    def answer(self, **changed):
        given = {"fits": False, "varied": True, "kinds": ["memory_capacity"], "blocks": 10.0,
                 "request": 10.0, "occupied": 0.99, "arrivals": "burst"} | changed
        cache = {} if given["occupied"] is None else {"cache_occupied": given["occupied"]}
        return Estimate(
            "one", given["fits"], {}, {}, {}, (), {
                "kv_blocks": given["blocks"], "request_blocks": given["request"]},
            tuple(SimpleNamespace(kind=kind) for kind in given["kinds"]),
            lasting=Lasting(given["arrivals"], 3.0, {}, cache), varied=given["varied"])

    @pytest.mark.parametrize(("changed", "suffices"), [
        ({}, True), ({"fits": True}, False), ({"occupied": None}, False),
        ({"occupied": 1.0}, False), ({"request": 10.1}, False), ({"varied": False}, False),
        ({"varied": False, "arrivals": "closed-loop"}, True),
        ({"varied": False, "arrivals": "poisson"}, True),
        ({"kinds": ["memory_capacity", "dtype"]}, False)])
    def test_where_requests_differ_or_come_one_by_one(self, changed, suffices):
        assert self.answer(**changed).suffices_steadily is suffices

    def test_without_a_steady_state_nothing_does(self):
        assert not Estimate("one", False, {}, {}, {}, (), {}).suffices_steadily

    def test_the_nearest_change_is_the_first(self):
        some = Estimate("one", False, {}, {}, {}, (), {}, changes=("first", "second"))
        assert some.nearest == "first"
        assert self.answer().nearest is None


def test_what_a_deployment_has_no_answer_to_is_not_told():
    absent = {"ttft", "e2e", "bench_ttft", *STEADY}
    assert not absent & estimated("s0-scenario-1").quantities.keys()
    assert estimated("s2-910b1-awq").quantities.keys() >= absent
    some = Estimate("one", True, {}, {"a": 1, "b": 2}, {}, (), {}, unasked=frozenset({"b"}))
    assert some.reported == {"a": 1}


def told(name):
    """Something that says its name as plain data."""
    return SimpleNamespace(as_json=lambda: name)


class TestPlainData:
    ANSWER = Estimate(
        "one", True, {"decode": "links"}, {"a": told("A"), "b": told("B")},
        {"a": {"x": 1.0}, "b": {"y": 2.0}}, (Comparison("a", "s", None, 1, 2, 3),), {},
        unasked=frozenset({"b"}), engine="vllm", fits_in=0.5)

    def test_what_runs(self):
        assert self.ANSWER.as_json() == {
            "scenario": "one", "engine": "vllm", "fits": True, "fits_in": 0.5,
            "bottleneck": {"decode": "links"}, "quantities": {"a": "A"}, "parts": {"a": {"x": 1.0}},
            "documented": [{"quantity": "a", "unit": "s", "section": None, "printed": 1,
                            "recomputed": 2, "derived": 3}]}

    def test_what_does_not_run_has_reasons_and_changes_the_nearest_apart(self):
        short = replace(self.ANSWER, fits=False, reasons=(told("why"),),
                        changes=(told("first"), told("second"), told("third")))
        found = short.as_json()
        assert (found["reasons"], found["nearest"], found["alternatives"]) == (
            ["why"], "first", ["second", "third"])
        none = replace(short, changes=()).as_json()
        assert (none["nearest"], none["alternatives"]) == (None, [])

    def test_a_steady_state_is_told_with_what_may_be_wrong_with_it(self):
        doubt = next(iter(doubt_words()))
        steady = Lasting("poisson", 3.0, {"steady_ttft": 1.0}, {"cache_occupied": 0.25}, (doubt,))
        found = replace(self.ANSWER, lasting=steady, seen=told("seen"),
                        applied=told("fitted")).as_json()
        assert found["calibration"] == "fitted"
        assert found["arrivals"] == {
            "named": "poisson", "steady_in_flight": 3.0, "keeps_up": True, "cache_occupied": 0.25,
            "suffices_steadily": False, "closed_form_holds": False,
            "doubts": {doubt: doubt_words()[doubt][0]}, "simulated": "seen"}
        sure = replace(self.ANSWER, lasting=replace(steady, doubts=(), values={})).as_json()
        assert (sure["arrivals"]["closed_form_holds"], sure["arrivals"]["keeps_up"],
                sure["arrivals"]["simulated"]) == (True, False, None)


@pytest.mark.parametrize(("variations", "varied"), [
    ((0.5, 0.0), True), ((0.0, 0.5), True), ((0.0, 0.0), False)])
def test_prompts_or_answers_of_many_lengths_vary(monkeypatch, variations, varied):
    monkeypatch.setattr(estimates, "simulated", lambda *_: None)
    scenario = replace(catalogue.load_scenario("s2-910b1-awq"), variations=variations)
    assert estimates.estimate(scenario).varied is varied


def test_what_does_not_fit_is_not_simulated(monkeypatch):
    asked = []
    monkeypatch.setattr(estimates, "simulated", lambda scenario, *_: asked.append(scenario.id))
    for users in (32, 300):
        estimates.estimate(catalogue.load_scenario("s2-910b1-awq", overrides=[
            f"workload.concurrency={users}"]))
    assert asked == ["s2-910b1-awq"]
