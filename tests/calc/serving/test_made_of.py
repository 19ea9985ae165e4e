"""What a scheduler's step is made of, counted token by token: chunks of prompts, and answers."""

from types import SimpleNamespace

import numpy as np
import pytest

from calc.serving.step_times import Clock

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
