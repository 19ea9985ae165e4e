"""Both codings of every formula agree where nothing divides evenly, and at the ends of ranges.

Widths of published models divide by every number of ranks, so that whole parts and quotients are
the same there; and deployments that are drawn seldom stand at the least of a number.
"""

import pytest
from _fleet import ATTENTIONS

from notebooks.derive.crosscheck import TOLERANCE, crosscheck
from notebooks.derive.formulas.samples import random_inputs

WIDTHS = ("hidden_size", "intermediate_size", "moe_intermediate_size", "routed_expert_hidden_size",
          "head_dim", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim",
          "v_head_dim", "index_head_dim", "linear_key_head_dim", "linear_value_head_dim",
          "o_lora_rank", "vocab_size", "input_tokens", "output_tokens")
LEAST = {  # what a law is at the least, or at the most, of what there can be
    "an answer of one token": {"output_tokens": 1, "think_time": 0.5},
    "a user alone": {"concurrency": 1, "input_tokens": 3},
    "users who never stop": {"open_arrivals": 1, "output_tokens": 7.5, "stream_interval": 1},
    "pools of their own": {"separate_pools": 1, "open_arrivals": 1, "concurrency": 97},
    "prompts that are held": {"prefill_delay_steps": 1, "separate_pools": 0, "concurrency": 53},
    "a token in a chunk": {"max_num_batched_tokens": 1, "input_tokens": 2, "prefix_hit_share": 0.5},
}
FIRST, COUNT = 100, 6  # of the deployments that are drawn


def uneven(seed, attention):
    """A random deployment of fractions of elements, a different one of every width."""
    inputs = random_inputs(seed, attention)
    return inputs | {name: inputs[name] + eighths / 8 for eighths, name in enumerate(WIDTHS, 2)
                     if inputs[name] > 1}


@pytest.mark.parametrize("attention", ATTENTIONS)
class TestTheTwoCodingsAgree:
    @pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
    def test_where_nothing_divides_evenly(self, attention, seed):
        assert crosscheck(uneven(seed, attention), attention).worst <= TOLERANCE

    @pytest.mark.parametrize("name", LEAST)
    def test_at_the_ends(self, attention, name):
        for seed in range(FIRST + COUNT, FIRST + COUNT + 2):
            inputs = uneven(seed, attention) | LEAST[name]
            assert crosscheck(inputs, attention).worst <= TOLERANCE
