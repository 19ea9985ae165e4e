"""What runs on the cards of a deployment: its engine's defaults follow each candidate."""

import pytest
from _seen import told_of

import catalogue
from calc.layouts.layout import changed
from calc.layouts.space import Space, choice_at
from calc.searching.alternatives import alternatives, default_share, goal_of
from catalogue.planning import CardRange

CUT = ("parallelism.", "workload.max_num_batched_tokens")


@pytest.mark.parametrize("engine", ["sglang@0.5.3", "sglang@0.5.23"])
def test_default_share_of_each_candidate_is_that_of_its_deployment(engine):
    scenario = catalogue.load_scenario("h200-r1-sglang-tp8", overrides=[f"engine={engine}"])

    def resolve(choice):
        return changed(scenario, {key: value for key, value in choice.settings().items()
                                  if key.startswith(CUT)})

    goal = goal_of(scenario, {"chunks": [2048, 16384], "drafts": [0], "pools": ["one"]},
                   cards=CardRange.model_construct(fewest=8, most=8), precisions=["fp8-block"])
    space = Space(goal, resolve=resolve, share=default_share(scenario))
    base, = space.bases()
    shares = {}
    for cells in space.cells(base):
        for row, share in enumerate(cells["utilization"]):
            choice = choice_at(base, cells, row, 64)
            shares[choice] = share / 100
            assert resolve(choice).share.value == pytest.approx(share / 100, abs=1e-12)
    assert len(set(shares.values())) > 3


@pytest.mark.parametrize("name", ["s1-plan-c", "s0-config-4.1", "s2-910b1-awq",
                                  "h200-r1-sglang-tp8", "b200-energy-gpqa"])
def test_advice_is_what_its_command_gives(name):
    scenario = catalogue.load_scenario(name)
    found = alternatives(scenario)
    for advice in filter(None, (found.best, found.own, found.official)):
        asked = [f"{path}={value}" for path, value in advice.settings.items()]
        made = catalogue.load_scenario(name, overrides=asked)
        assert made.devices == scenario.devices
        assert advice.quantities == pytest.approx(told_of(made), rel=1e-9)
        assert advice.quantities["headroom_per_device"] >= 0
        assert advice.quantities["output_throughput"] <= found.best.quantities["output_throughput"]
