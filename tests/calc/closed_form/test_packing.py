"""How long a chunk is a prompt's own, where several prompts share it."""

from types import SimpleNamespace

import pytest

from calc.closed_form.bunches import packed_time

BUDGET, TIME = 8000, 0.8  # tokens of a chunk at most, and what the known chunk takes [s]


@pytest.mark.parametrize(("prompt", "requests", "chunks", "own"), [
    (1000, 4, 1, 1 / 4),  # all four fit, of which the known chunk has three
    (2500, 4, 1, 2500 / 8000),  # three have 7500 tokens: full, the chunk takes 8000/7500 as long
    (6000, 2, 1, 6000 / 8000),
    (4000, 5, 2, 4000 / 8000),  # four fill two chunks
])
def test_prompts_share_a_chunk_evenly_and_a_full_one_by_their_tokens(
        prompt, requests, chunks, own):
    """The known chunks have the prompts of all requests but the first.

    Of one that is not full with all of them each has an equal part; of a full one a prompt has as
    large a part as its tokens are of the budget.
    """
    cut = SimpleNamespace(new_tokens=prompt, burst_chunks=chunks,
                          burst_tokens=(requests - 1) * prompt / chunks)
    found = packed_time(SimpleNamespace(max_num_batched_tokens=BUDGET), cut, requests,
                        SimpleNamespace(step_time=TIME))
    assert found == pytest.approx(TIME * own)
