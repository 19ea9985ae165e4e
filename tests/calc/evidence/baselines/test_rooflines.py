"""The plain baselines, a step of them by hand."""

import pytest

from calc.evidence.baselines import rooflines

PHASES = ("decode", "prefill", "burst")


def step_of_ones(**changed):
    """Inputs and quantities of a step in which everything is one, but for what is changed."""
    inputs = dict.fromkeys(("memory_bandwidth", "offloaded_share", "offloaded_weight_bytes",
                            "multiply_add_flops", "num_experts_per_tok", "host_memory_bandwidth",
                            "host_peak"), 1.0) | {f"{name}_peak": 1.0 for name in rooflines.CLASSES}
    step = {"moe_layers": 1.0, "routed_expert_parameters": 1.0}
    for phase in PHASES:
        step |= {f"{phase}_distinct_experts": 1.0, f"{phase}_group_tokens": 1.0}
        step |= {f"{phase}_{name}_{what}": 1.0 for name in rooflines.CLASSES
                 for what in ("bytes", "flops")}
    return ({name: changed.get(name, value) for name, value in inputs.items()},
            {name: changed.get(name, value) for name, value in step.items()})


@pytest.mark.parametrize("phase", PHASES)
class TestRooflineOfAStep:
    """By hand: the card's longer time, and then the host's longer time."""

    count = len(rooflines.CLASSES)

    @pytest.mark.parametrize(("changed", "on_host"), [
        ({}, 1), ({"host_peak": 0.25}, 4), ({"host_peak": 4.0}, 1),
        ({"host_memory_bandwidth": 0.2}, 5), ({"host_memory_bandwidth": 4.0}, 1),
        ({"host_peak": 4.0, "host_memory_bandwidth": 2.0}, 0.5),
        ({"offloaded_share": 0.5}, 0.5), ({"offloaded_share": 0.0}, 0),
        ({"multiply_add_flops": 2.0}, 2), ({"num_experts_per_tok": 8.0}, 8),
        ({"offloaded_weight_bytes": 3.0}, 3),
    ])
    def test_the_host_takes_the_longer_of_loading_and_multiplying(self, phase, changed, on_host):
        time = rooflines.roofline_time(*step_of_ones(**changed), phase)
        assert float(time) == pytest.approx(self.count + on_host)

    @pytest.mark.parametrize(("changed", "on_card"), [
        ({"memory_bandwidth": 0.5}, 2), ({"memory_bandwidth": 2.0}, 1),
        ({f"{name}_peak": 0.5 for name in rooflines.CLASSES}, 2),
    ])
    def test_the_card_takes_the_longer_of_reading_and_multiplying(self, phase, changed, on_card):
        time = rooflines.roofline_time(*step_of_ones(**changed, offloaded_share=0.0), phase)
        assert float(time) == pytest.approx(self.count * on_card)

    def test_the_core_counts_where_it_is_asked_for(self, phase):
        without = rooflines.roofline_time(*step_of_ones(offloaded_share=0.0), phase, core=False)
        of_attention = 2  # the core, and the scores of an indexer
        assert float(without) == pytest.approx(self.count - of_attention)

    def test_another_phase_does_not_count(self, phase):
        others = {f"{other}_{name}_bytes": 100.0 for other in PHASES if other != phase
                  for name in rooflines.CLASSES}
        assert (rooflines.roofline_time(*step_of_ones(**others), phase)
                == rooflines.roofline_time(*step_of_ones(), phase))
