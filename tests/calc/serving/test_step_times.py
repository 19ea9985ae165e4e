"""Times of scheduler steps: each composition counted by hand, cores of requests that decode beside
prompts, ranks that step together, drafts, and a timeline of the step (``reference.timeline``).
"""

from collections.abc import Iterator

import numpy as np
import pytest
from _fleet import ATTENTIONS, one
from _fleet import alike as sampled
from _fleet import fleet_alike as fleet

import catalogue
from calc.serving.evaluate import evaluate
from calc.serving.requests import Step
from calc.serving.simulation import IDLE
from calc.serving.step_times import Clock, ranks_in_step
from catalogue.deployments.physics_inputs import DENSE
from reference.steps import answers, chunks, inputs_of, timed

ROUNDING = 1e-9  # relative, of sums of a dozen numbers in floating point
UNDIVIDED = {
    **{f"{name}_depth_latency": 0 for name in DENSE}, "load_overlap": 0, "micro_batches": 1,
    "shared_expert_ranks": 0, "single_batch_overlap": 0, "overlap_efficiency": 0,
    "host_overlap": 0, "draft_tokens": 0, "host_time_per_operator": 0}
CORES = ("core_time", "index_time", "context_exchange_time")
ALONE, DRAFTS, SHARED = "h200-r1-vllm-tp8", "h200-r1-sglang-mtp", "a3-glm51-vllm-tp4"
SHARING = [SHARED, "h200-v32-sglang-dp8", "wide-ant-ep32"]
SHIPPED = [name for file in catalogue.names("scenarios")
           for name in (catalogue.variants(file) or [file])[:1]
           if catalogue.load_scenario(name).file.workload.output_tokens is not None]
STEPS = [Step(((2048, 0),), ()), Step((), (1500,) * 24), Step(((700, 64), (80, 0)), (900,) * 5)]

both = pytest.mark.parametrize("attention", ATTENTIONS)
divided = pytest.mark.parametrize("halves", [1, 2])


def drawn(attention, ways, count=12) -> Iterator[tuple[dict[str, float], Step]]:
    """Single deployments of every shape and cut, and a step of prompts and answers of each."""
    rng = np.random.default_rng(0)
    for index in range(count):
        inputs = one(sampled(attention) if index % 2 else fleet(attention, index), index)
        prompts = tuple((int(new), int(cached)) for new, cached in zip(
            rng.integers(1, 4096, 2), rng.integers(0, 2048, 2), strict=True))
        contexts = tuple(map(int, rng.integers(1, 8192, rng.integers(1, 64))))
        yield inputs | ways, Step(prompts, contexts)


def clock(name, drafting=False, expected=(), **changed):
    scenario = catalogue.load_scenario(name)
    return Clock(scenario.inputs() | changed, scenario.model.attention, drafting, expected)


def without_gap(inputs, attention, composition):
    """Time of a step until the host's gap before the next one [s]."""
    return timed(inputs, attention, composition).step_time - inputs["host_gap_per_step"]


@both
class TestCompositions:
    @pytest.mark.parametrize("ways", [
        {}, {"draft_tokens": 1},
        UNDIVIDED | {"index_topk": 512, "dense_prefill_tokens": 3000, "whole_selection": 0},
        UNDIVIDED | {"index_topk": 512, "dense_prefill_tokens": 0, "whole_selection": 1},
        UNDIVIDED | {"index_topk": 0, "score_traffic": 32.0},
        UNDIVIDED | {"index_topk": 0, "score_traffic": 0, "absorbed_prefix_tokens": 2000},
        UNDIVIDED | {"prefill_tile_rows": 2048}], ids=range(7))
    def test_prompts_alone_and_answers_alone(self, attention, ways):
        for index, (inputs, step) in enumerate(drawn(attention, ways, count=8)):
            q, prompts = inputs_of(inputs), Step(step.prefill[:2 - index % 3 // 2], ())
            for only, counted in ((prompts, chunks(q, prompts)),
                                  (Step((), step.decode), answers(q, step.decode))):
                assert Clock(inputs, attention)(only) == pytest.approx(
                    without_gap(inputs, attention, counted), rel=ROUNDING)

    @divided
    def test_cores_of_requests_that_decode_beside_prompts_are_added(self, attention, halves):
        for inputs, step in drawn(attention, UNDIVIDED | {"micro_batches": halves}):
            q = inputs_of(inputs)
            riding = timed(inputs, attention, answers(q, step.decode))
            cores = halves * sum(getattr(riding, name) for name in CORES)
            assert Clock(inputs, attention)(step) == pytest.approx(
                without_gap(inputs, attention, chunks(q, step)) + cores, rel=ROUNDING)


class TestAnswers:
    @pytest.mark.parametrize(("contexts", "blocks"), [
        ((1,), 1), ((16,), 1), ((17,), 2), ((15, 17), 1), ((16, 17), 2), ((1, 63), 2)])
    def test_mean_contexts_are_rounded_up(self, contexts, blocks):
        taken = clock(ALONE)
        assert taken(Step((), contexts)) == taken(Step((), (16 * blocks,) * len(contexts)))
        assert taken(Step((), ())) == 0

    @pytest.mark.parametrize("drafts", [1.0, 3.0])
    def test_drafting_adds_a_pass_for_each_block_of_drafts(self, drafts):
        without, drafting = (clock(DRAFTS, on, draft_tokens=drafts) for on in (False, True))
        step = Step((), (1600,) * 5)
        found = timed(without.inputs, "mla", answers(inputs_of(without.inputs), step.decode))
        passes = np.ceil(drafts / without.inputs["draft_block"])
        assert drafting(step) - without(step) == pytest.approx(
            passes * found.draft_pass_time, rel=1e-6)


class TestPrompts:
    PROMPTS = ((1000, 0), (300, 64))

    @pytest.mark.parametrize("name", [ALONE, SHARED, "h200-v32-vllm-tp8"])
    @pytest.mark.parametrize("beside", [0, 1, 8, 9])
    def test_expected_prompts_take_what_others_take(self, name, beside):
        expected, fresh = clock(name, expected=self.PROMPTS * 2), clock(name)
        for prompt in (*self.PROMPTS, (1000, 64)):
            step = Step((prompt,), (700,) * beside)
            assert expected(step) == pytest.approx(fresh(step), rel=1e-12)
            assert expected.together([step]) == pytest.approx(fresh.together([step]), rel=1e-12)


@pytest.mark.parametrize("name", SHARING)
class TestRanks:
    @pytest.mark.parametrize("drafting", [False, True])
    def test_equal_ranks_take_what_one_of_them_takes(self, name, drafting):
        taken = clock(name, drafting)
        ranks = ranks_in_step(taken.inputs)
        assert ranks > 1
        for step in STEPS:
            assert taken.together([step] * ranks) == pytest.approx(taken(step), rel=ROUNDING)

    def test_unequal_ranks_in_any_order_take_no_less_than_each_alone(self, name):
        taken = clock(name)
        ranks = ranks_in_step(taken.inputs)
        mixed = [STEPS[number % len(STEPS)] for number in range(ranks)]
        idle = [IDLE] * (ranks - 1)
        assert taken.together(mixed) >= max(taken.together([step, *idle]) for step in mixed)
        assert taken.together(mixed) == taken.together(mixed[::-1])
        # a rank that prefills alone has no experts of others to wait for
        assert taken.together([STEPS[0], *idle]) < taken(STEPS[0])


@pytest.mark.parametrize("name", SHIPPED)
def test_a_step_of_a_shipped_deployment_takes_what_the_formulas_say(name):
    """All requests midway through their answers, as many as there are; caches equally full."""
    scenario = catalogue.load_scenario(name)
    inputs = scenario.inputs() | {"kv_imbalance": 1, "draft_tokens": 0}
    found = evaluate(inputs, scenario.model.attention)
    batch = max(1, round(float(found["decode_tokens"])))
    found = evaluate(inputs | {"concurrency": inputs["concurrency"] * batch
                               / found["decode_tokens"]}, scenario.model.attention)
    context = round(inputs["input_tokens"] + inputs["output_tokens"] / 2)
    taken = Clock(inputs, scenario.model.attention)(Step((), (context,) * batch))
    assert taken + inputs["host_gap_per_step"] == pytest.approx(
        float(found["decode_step_time"]), rel=0.02)
