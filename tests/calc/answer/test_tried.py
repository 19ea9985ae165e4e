"""What a search for what runs begins with, of real deployments: precisions, margin, memory."""

import numpy as np
import pytest

import catalogue
from calc.answer.nearest import HEADROOM, TOLD, Search
from calc.closed_form.evaluate import evaluate
from catalogue.deployments.admission.subject import Cut


def search(name="s2-910b1-awq", *settings):
    scenario = catalogue.load_scenario(name, overrides=settings)
    return Search(scenario, evaluate(scenario.inputs(), scenario.model.attention)), scenario


class TestBegins:
    def test_the_precision_asked_for_comes_first_and_none_twice(self):
        made, scenario = search()
        names = [each.id for each in made.precisions]
        assert made.asked
        assert made.precisions[0] is scenario.precision
        assert len(set(names)) == len(names) > 1

    def test_what_was_changed_in_it_holds(self):
        made, scenario = search("s2-910b1-awq", "precision.logit=fp16")
        assert made.precisions[0] is scenario.precision
        assert [each.id for each in made.precisions].count(scenario.precision.id) == 1

    def test_one_that_the_card_lacks_is_not_tried(self):
        made, scenario = search("s2-910b1-awq", "precision=fp8-block")
        assert not made.asked
        assert scenario.precision.id not in [each.id for each in made.precisions]

    def test_what_an_engine_may_reserve_at_most_is_left(self):
        made, scenario = search()
        reserve = scenario.device.runtime_reserve
        assert made.margin == float(reserve.high - reserve.value) > 0

    def test_stages_of_ranks_that_share_experts_are_tried_where_they_are_there(self):
        plain, _ = search()
        apart, _ = search("wide-lmsys-decode")
        assert not plain.subject.staged_groups
        assert apart.subject.staged_groups

    def test_cuts_keep_what_is_not_cut(self):
        made, scenario = search("wide-lmsys-decode")
        for cut in made.cuts:
            assert (cut.slices, cut.spares, cut.context, cut.shared_ranks, cut.drafts) == (
                made.cut.slices, made.cut.spares, made.cut.context, made.cut.shared_ranks,
                made.cut.drafts)
            assert cut.tensor * cut.pipeline * cut.data == scenario.devices
        assert made.cut in made.cuts


class TestMemory:
    CUTS = (Cut(8, 1, 1, 8), Cut(4, 1, 2, 8), Cut(2, 1, 4, 8))

    def test_of_each_cut_in_each_precision(self):
        made, scenario = search()
        tried = made.precisions[:2]
        found = made._grid(self.CUTS, tried)
        assert found[HEADROOM].shape == (2, 3)
        for row, precision in enumerate(tried):
            for column, cut in enumerate(self.CUTS):
                alone = evaluate(scenario.in_precision(precision).inputs() | {
                    "tensor_parallel": cut.tensor, "pipeline_parallel": cut.pipeline,
                    "data_parallel": cut.data, "expert_parallel": cut.expert}, "mla")
                for name in (HEADROOM, "max_concurrency"):
                    loads = found[HEADROOM][row, column] > -np.inf
                    expected = float(alone[name]) if loads else (
                        -np.inf if name == HEADROOM else 0)
                    assert found[name][row, column] == pytest.approx(expected, rel=1e-9)

    def test_what_no_engine_loads_has_none(self):
        made, _ = search("h200-r1-vllm-tp8")
        fp8 = [each for each in made.precisions if each.id == "fp8-block"]
        found = made._grid([Cut(16, 1, 2), Cut(32)], fp8)
        assert found[HEADROOM][0, 0] > -np.inf == found[HEADROOM][0, 1]
        assert found["max_concurrency"][0, 1] == 0

    def test_it_is_computed_once(self):
        made, _ = search()
        first = made._all()
        assert made._all() is first
        assert first[HEADROOM].shape == (len(made.precisions), len(made.cuts))


def test_a_change_is_told_with_what_the_runtime_gives_for_it():
    made, _ = search()
    settings = {"workload.concurrency": 7, "parallelism.tensor_parallel": 4,
                "parallelism.data_parallel": 2}
    told = made._told(settings)
    other = catalogue.load_scenario("s2-910b1-awq", overrides=[
        f"{key}={value}" for key, value in settings.items()])
    found = evaluate(other.inputs(), "mla")
    assert (told.settings, told.devices) == (settings, other.devices)
    assert told.quantities == {name: pytest.approx(float(found[name])) for name in TOLD}
    assert "7 requests at once" in told.text["en"]
    assert told.as_json()["quantities"] == told.quantities
