"""Steps with prompts and answers: what their requests do side by side, and what a host delays.
And steps of fewer answers, which are as much shorter as the card has less to do.

Beside a timeline of such a step, in which nothing is added up (``reference.timeline``).
"""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from _fleet import ATTENTIONS, namespace, one, run
from _fleet import alike as sampled
from _fleet import fleet_alike as fleet
from hypothesis import given, settings
from hypothesis import strategies as st

from calc.closed_form.steady import _lighter
from calc.physics.cache import cache
from calc.physics.timing.matmuls import slowest_clock
from calc.serving.requests import Step
from calc.serving.step_times import IDLE, Clock, ranks_in_step
from calc.serving.step_times import ROUNDING as BLOCK
from catalogue.deployments.knobs import DENSE
from reference.layers import layers
from reference.operators import operator_table
from reference.timeline import Way, length

ROUNDING = 1e-9  # relative, of sums of a dozen numbers in floating point
UNDIVIDED = {
    **{f"{name}_depth_latency": 0 for name in DENSE}, "load_overlap": 0, "micro_batches": 1,
    "shared_expert_ranks": 0, "single_batch_overlap": 0, "overlap_efficiency": 0,
    "host_overlap": 0, "draft_tokens": 0, "host_time_per_operator": 0}
HIDING = {"single_batch_overlap": 1, "overlap_efficiency": 1}
AT_HOME = {"offloaded_share": 0, "fetched_share": 0}
IN_TURNS = AT_HOME | {"micro_batches": 2, "overlap_efficiency": 1, "unequal_streams": 0}
MIXED = {"mixed_steps": 1, "separate_pools": 0, "input_tokens": 2000, "prefix_hit_share": 0,
         "kv_imbalance": 1}  # of prompts and answers, every rank's as long
SLOW_HOST = {"offloaded_share": 1, "host_overlap": 1, "host_peak": 1e3}
ALIKE = 0.01  # relative, of contexts that are rounded
LONG = 1 << 24  # tokens of a context, by far the most of a step
FIXED = 0.05  # relative, of what a step takes besides
ABOUT = 0.25  # relative, of how many experts are hit where some ranks have the most of them
AT_ONCE = {"host_peak": 1e40, "host_memory_bandwidth": 1e40, "host_link_bandwidth": 1e40,
           "host_sync": 0}
CORES = ("core_time", "index_time", "context_exchange_time")
LAUNCHES = [1e-6, 1e-5, 1e-4, 1e-2]  # of an operator [s]

both = pytest.mark.parametrize("attention", ATTENTIONS)
launched = pytest.mark.parametrize("launch", LAUNCHES)
divided = pytest.mark.parametrize("halves", [1, 2, 3])


def drawn(attention, ways) -> Iterator[tuple[dict[str, float], Step]]:
    """Single deployments of every shape and cut, and a step of prompts and answers of each."""
    rng = np.random.default_rng(0)
    for index in range(40):
        inputs = one(sampled(attention) if index % 2 else fleet(attention, index), index)
        prompts = tuple((int(new), int(cached)) for new, cached in zip(
            rng.integers(1, 4096, 2), rng.integers(0, 2048, 2), strict=True))
        answers = tuple(map(int, rng.integers(1, 8192, rng.integers(1, 64))))
        yield inputs | ways, Step(prompts, answers)


def chunks_of(clock, step):
    return clock._chunks(*np.array(step.prefill, float).T, float(len(step.decode)))


def in_time(attention, inputs, step, way, cores=True):
    """A step with prompts and answers as pieces in time [s], and those pieces of a micro-batch.

    All its tokens pass the operators of prompts; the cores of those who decode are their own.
    """
    clock, q = Clock(inputs, attention), namespace(inputs)
    chunks = chunks_of(clock, step)
    found = vars(clock._timed(chunks)) | {"slowest_clock": slowest_clock(q)}
    count, blocks = clock._rounded(step)
    riding = clock._timed(clock._answers(count, blocks * BLOCK))
    for name in CORES if cores else ():
        found[name] = found[name] + getattr(riding, name)
    made = layers(q, operator_table(attention, q, cache(attention, q), chunks),
                  chunks.part(q.micro_batches), found)
    return length(made, way), made


def riding_along(attention, ways):
    """Single deployments, those who decode along by the closed form, and a step of so many."""
    for inputs, _ in drawn(attention, UNDIVIDED | MIXED | ways):
        if inputs["num_hidden_layers"] < 2 * inputs["pipeline_parallel"]:
            continue  # a stage would have no layer
        found = run(inputs, attention)
        if riding := float(found["replica_others"]) / ranks_in_step(inputs):
            context = round(found["fullest_cache"] * found["decode_context_tokens"])
            prompt = round(found["prefill_tokens"]), round(found["prefill_cached"])
            yield inputs, found, riding / found["decode_batch"], Step(
                (prompt,), (context,) * int(found["decode_batch"]))


def cores_in_time(attention, inputs, step, way):
    """What the cores of those who decode add to a step in time, and on the clock [s]."""
    taken, less = (in_time(attention, inputs, step, way, cores)[0] for cores in (True, False))
    clock = Clock(inputs, attention)
    chunks = clock._part(chunks_of(clock, step))
    told, alone = (clock._joined(chunks, besides, decoding=False)
                   for besides in (clock._riding(step), IDLE))
    return taken - less, told - alone


def ends(made):
    """What is before, between and after the layers, and the longer of the layers [s]."""
    def of(*pieces):
        return sum(piece.time for piece in pieces)

    experts = made.experts
    return (of(*made.before, *made.after) + (made.stages - 1) * made.passed_on.time
            + of(*made.attention) + max(of(*made.dense), of(*vars(experts).values())))


@both
class TestInTime:
    @divided
    def test_without_launches_the_card_does_one_thing_after_another(self, attention, halves):
        for inputs, step in drawn(attention, UNDIVIDED | {"micro_batches": halves}):
            taken, _ = in_time(attention, inputs, step, Way())
            assert Clock(inputs, attention)(step) == pytest.approx(halves * taken, rel=ROUNDING)

    def test_halves_in_turns_hide_at_most_the_shorter(self, attention):
        for inputs, step in drawn(attention, UNDIVIDED | IN_TURNS):
            told = Clock(inputs, attention)(step)
            taken, serial = (in_time(attention, inputs, step, way)[0]
                             for way in (Way(halves=2), Way()))
            assert told <= taken * (1 + ROUNDING)
            assert taken <= 2 * serial * (1 + ROUNDING)

    def test_a_host_awaited_a_layer_later_is_hidden_but_at_the_ends(self, attention):
        for inputs, step in drawn(attention, UNDIVIDED | {"host_overlap": 1}):
            told = Clock(inputs, attention)(step)
            taken, made = in_time(attention, inputs, step, Way(deferred=True))
            assert told <= taken * (1 + ROUNDING)
            if made.dense_layers == 0:
                assert taken <= (told + ends(made)) * (1 + ROUNDING)

    def test_experts_run_beside_their_exchange_as_in_any_step(self, attention):
        for inputs, step in drawn(attention, UNDIVIDED | HIDING):
            taken, _ = in_time(attention, inputs, step, Way(beside_exchange=True))
            assert Clock(inputs, attention)(step) == pytest.approx(taken, rel=ROUNDING)

    @launched
    def test_a_host_that_launches_ahead_delays_but_the_ends(self, attention, launch):
        for inputs, step in drawn(attention, UNDIVIDED | {"host_time_per_operator": launch}):
            taken, made = in_time(attention, inputs, step, Way(launch=launch))
            told = Clock(inputs, attention)(step)
            assert told <= taken * (1 + ROUNDING)
            if min(made.dense_layers, made.moe_layers) == 0:  # layers are alike
                assert taken <= (told + ends(made)) * (1 + ROUNDING)


@both
@launched
def test_no_less_than_either_part_and_no_more_than_both(attention, launch):
    for inputs, step in drawn(attention, UNDIVIDED | {"host_time_per_operator": launch}):
        clock = Clock(inputs, attention)
        prompts, answers = clock(Step(step.prefill, ())), clock(Step((), step.decode))
        assert max(prompts, answers) <= clock(step) * (1 + ROUNDING)
        assert clock(step) <= (prompts + answers) * (1 + ROUNDING)


@both
class TestCoresOfThoseWhoDecodeAlong:
    """In closed form, on the clock and in time: of every micro-batch, of those on a stage."""

    @divided
    @pytest.mark.parametrize("stages", [1, 2, 4])
    def test_where_nothing_is_hidden_they_are_added(self, attention, halves, stages):
        ways = {"micro_batches": halves, "pipeline_parallel": stages}
        for inputs, found, share, step in riding_along(attention, ways):
            taken, told = cores_in_time(attention, inputs, step, Way())
            assert told == pytest.approx(halves * taken, rel=ALIKE)
            assert found["riding_cores"] == pytest.approx(share * told, rel=ALIKE)

    def test_beside_experts_on_a_slow_host_they_take_no_time(self, attention):
        """Until the first of its layers is done, it has nothing to do."""
        for inputs, found, _, step in riding_along(attention, SLOW_HOST):
            _, made = in_time(attention, inputs, step, Way())
            if not made.moe_layers:
                continue
            before = (made.dense_layers + 1) / (made.dense_layers + made.moe_layers)
            cores, _ = cores_in_time(attention, inputs, step, Way())
            taken, told = cores_in_time(attention, inputs, step, Way(deferred=True))
            size = ROUNDING * found["prefill_step_time"]
            assert taken == pytest.approx(before * cores, rel=ALIKE, abs=size)
            assert told == pytest.approx(0, abs=size)
            assert found["riding_cores"] == pytest.approx(0, abs=size)

    def test_beside_a_fast_host_they_are_added(self, attention):
        for inputs, found, share, step in riding_along(attention, {
                "offloaded_share": 1, "host_overlap": 1} | AT_ONCE):
            taken, told = cores_in_time(attention, inputs, step, Way(deferred=True))
            assert told == pytest.approx(taken, rel=ALIKE)
            assert found["riding_cores"] == pytest.approx(share * told, rel=ALIKE)

    def test_halves_hide_no_more_than_what_is_sent_and_computed(self, attention):
        """More cores never hide less, and some hide beside what the other half sends."""
        hidden = 0
        for inputs, found, share, step in riding_along(attention, IN_TURNS):
            told = cores_in_time(attention, inputs, step, Way())[1]
            cores = Clock(inputs, attention)._riding(step)
            assert -ROUNDING * found["prefill_step_time"] <= found["riding_cores"]
            assert found["riding_cores"] <= share * (cores.own + cores.links) * (1 + ALIKE)
            hidden += told < (cores.own + cores.links) * (1 - ALIKE)
        assert hidden


def of_fewer(attention, ways, share=0.25):
    """What a step of a share of the answers takes less, by the closed form and the clock; all [s].

    Without drafts, of one stage, with as many on every rank that shares its experts.
    """
    for inputs, step in drawn(attention, UNDIVIDED | ways):
        clock, ranks = Clock(inputs, attention), ranks_in_step(inputs)
        context, batch = LONG, 4 * len(step.decode)
        few = round(share * batch)
        decode = clock._timed(clock._answers(batch, context))
        lighter = _lighter(clock._q, batch * inputs["pipeline_parallel"],
                           few - (1 if ranks == 1 else 1 / ranks), decode, 1)
        all_of_them, some = (clock(Step((), (context,) * each)) for each in (batch, few))
        yield lighter, all_of_them - some, all_of_them


@both
class TestStepsOfFewer:

    @divided
    def test_where_cores_take_all_the_time_they_go_with_the_requests(self, attention, halves):
        ways = AT_HOME | {"micro_batches": halves, "index_topk": 0, "sliding_window": 0,
                          "single_token_path": 0}
        ratios = [lighter / told for lighter, told, _ in of_fewer(attention, ways)]
        assert np.median(ratios) == pytest.approx(1, rel=ALIKE)

    def test_where_launches_decide_they_are_as_long(self, attention):
        slow = {"host_time_per_operator": 1e6, "captured": 0}
        for lighter, told, step in of_fewer(attention, UNDIVIDED | slow):
            assert told == pytest.approx(0, abs=ROUNDING * step)
            assert lighter == 0

    def test_fewer_experts_on_a_slow_host_are_hit(self, attention):
        slow = {"offloaded_share": 1, "host_overlap": 0, "host_memory_bandwidth": 1e6}
        ratios = [lighter / told for lighter, told, step in of_fewer(attention, slow)
                  if told > FIXED * step]
        assert len(ratios) > 10
        assert np.median(ratios) == pytest.approx(1, rel=ABOUT)


@both
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_card_that_waits_for_its_host_has_time_for_those_who_decode(attention, seed):
    """In closed form: a chunk among others takes what its launches take."""
    inputs = fleet(attention, seed) | {
        "mixed_steps": 1, "separate_pools": 0, "host_time_per_operator": 1e6}
    found = run(inputs, attention)
    np.testing.assert_allclose(found["own_chunk"], found["prefill_step_time"], rtol=ROUNDING)
    assert (found["riding_time"] == 0).all()
    assert (run(inputs, attention, host_time_per_operator=0)["riding_time"] >= 0).all()


PLAIN = {"index_topk": 0, "compress_ratio": 1, "sliding_window": 0, "absorbed_prefix_tokens": 0,
         "dense_prefill_tokens": 0, "o_groups": 0, "score_traffic": 0, "whole_selection": 0,
         "prefill_tile_rows": 4, "draft_tokens": 1}
CHUNKS = ((5, 2), (3, 10))  # new tokens of each, and those cached before it
SEEN = [2 + token for token in range(1, 6)] + [10 + token for token in range(1, 4)]
CACHED = 12


def made(kind, *given, **changed):
    clock = Clock.__new__(Clock)
    clock._q = SimpleNamespace(**{
        name: np.float64(value) for name, value in (PLAIN | changed).items()})
    return {name: value if isinstance(value, bool) or value is None else float(np.ravel(value)[0])
            for name, value in vars(getattr(clock, kind)(*given)).items()}


def chunks(**changed):
    """Both, beside four requests that decode."""
    new, cached = np.array(CHUNKS, float).T
    return made("_chunks", new, cached, 4.0, **changed)


def within(limit):
    return sum(min(position, limit) for position in SEEN)


class TestChunks:
    def test_of_a_model_that_attends_to_all(self):
        found = chunks()
        assert found == {
            "tokens": 12, "logit_rows": 6, "attended": sum(SEEN), "in_window": sum(SEEN),
            "indexed": 0, "read": CACHED, "read_in_window": CACHED, "read_keys": 0,
            "expanded": CACHED, "absorbed": 0, "decoding": False, "core_missing": 1,
            "group_tokens": None, "busiest_tokens": None, "dealt": 1}

    def test_a_window_cuts_what_a_token_sees(self):
        assert chunks(sliding_window=4) == chunks() | {"in_window": within(4)}

    @pytest.mark.parametrize(("rows", "missing"), [(3, 0), (4, 1), (8, 3 + 5)])
    def test_tiles_are_filled_chunk_by_chunk(self, rows, missing):
        assert chunks(prefill_tile_rows=rows)["core_missing"] == missing

    @pytest.mark.parametrize(("tokens", "few"), [(12, False), (13, True)])
    def test_few_cached_tokens_are_not_expanded(self, tokens, few):
        found = chunks(absorbed_prefix_tokens=tokens)
        assert found == (chunks() if not few else chunks() | {
            "absorbed": 1, "indexed": sum(SEEN), "read_keys": CACHED, "expanded": 0})

    @pytest.mark.parametrize(("tokens", "sparse"), [(13, False), (12, True)])
    def test_an_indexer_picks_for_prompts_longer_than_it_is_told(self, tokens, sparse):
        """The longest has thirteen tokens; two entries of two tokens are picked."""
        given = {"index_topk": 2, "compress_ratio": 2, "dense_prefill_tokens": tokens}
        found = chunks(**given)
        assert found == (chunks() if not sparse else chunks() | {
            "absorbed": 1, "attended": within(4), "indexed": sum(SEEN), "read_keys": CACHED,
            "expanded": 0})
        assert chunks(**given, whole_selection=1)["attended"] == (8 * 4 if sparse else sum(SEEN))

    def test_scores_that_are_written_are_those_up_to_the_end_of_a_chunk(self):
        found = chunks(score_traffic=1)
        assert found == chunks() | {
            "absorbed": 1, "attended": 5 * 7 + 3 * 13, "indexed": sum(SEEN), "read_keys": CACHED,
            "expanded": 0}


class TestAnswers:
    """Three requests, each with its next token and a draft, which see as many positions."""

    @pytest.mark.parametrize(("changed", "context", "attended", "in_window", "indexed"), [
        ({}, 32, 32, 32, 0), ({"sliding_window": 16}, 32, 32, 16, 0),
        ({"sliding_window": 16}, 8, 8, 8, 0),
        ({"index_topk": 10, "compress_ratio": 2}, 32, 20, 32, 32),
        ({"index_topk": 10, "compress_ratio": 2}, 8, 8, 8, 8)])
    def test_a_token_sees_its_context_or_what_is_picked_of_it(
            self, changed, context, attended, in_window, indexed):
        assert made("_answers", 3.0, float(context), **changed) == {
            "tokens": 6, "logit_rows": 6, "attended": 6 * attended, "in_window": 6 * in_window,
            "indexed": 6 * indexed, "read": 3 * attended, "read_in_window": 3 * in_window,
            "read_keys": 3 * context, "expanded": 0, "absorbed": 1, "decoding": True,
            "core_missing": 0, "group_tokens": None, "busiest_tokens": None, "dealt": 1}

    def test_a_kernel_that_takes_a_fixed_number_takes_it_of_short_contexts_too(self):
        given = {"index_topk": 10, "compress_ratio": 2, "whole_selection": 1}
        found = made("_answers", 3.0, 8.0, **given)
        assert (found["attended"], found["read"]) == (6 * 20, 3 * 8)
