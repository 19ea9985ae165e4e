"""What layers hold and move, by hand: linear attention and streams, of odd sizes that differ."""

from types import SimpleNamespace

import pytest

from calc.physics.layers.compressed import hyper_connections, residual_widths
from calc.physics.layers.linear import (
    LinearWidths,
    linear_attention,
    linear_bytes,
    linear_flops,
    linear_state,
    linear_widths,
    state_passes,
)

# two key heads of 3 are 6 elements, six value heads of 5 are 30; both and queries are 42
LINEAR = {"hidden_size": 7, "linear_num_key_heads": 2, "linear_num_value_heads": 6,
          "linear_key_head_dim": 3, "linear_value_head_dim": 5, "linear_conv_kernel_dim": 4,
          "linear_decay_rank": 0, "linear_gate_rank": 0, "linear_layers": 9,
          "state_element_bytes": 4, "activation_element_bytes": 2, "multiply_add_flops": 2,
          "tensor_parallel": 2, "linear_chunk_tokens": 64, "draft_tokens": 2}
MATRICES, TAPS = 42 * 7, 42 * 4
STATE = 9 * (4 * 30 * 3 + 2 * 3 * 42)  # keys by values, and three tokens of the convolution


def linear(**changed):
    return SimpleNamespace(**LINEAR | changed)


def step(decoding, tokens=12, rows=5):
    return SimpleNamespace(decoding=decoding, tokens=tokens, logit_rows=rows)


class TestLinearAttention:
    @pytest.mark.parametrize(("decay", "gate", "own", "whole"), [
        (0, 0, (7 + 2) * 6 + 7 * 30, 0),  # a number, a rate and a bias of a value head
        (1, 0, 6 + 6 + 2 + 7 * 30, 7),
        (0, 1, (7 + 2) * 6 + 30, 7),
        (11, 13, 11 * 6 + 6 + 2 + 13 * 30, 7 * 24)])
    def test_parameters(self, decay, gate, own, whole):
        found = linear_attention(linear(linear_decay_rank=decay, linear_gate_rank=gate))
        assert found.divided == MATRICES + TAPS + own + 7 * 6 + 30 * 7
        assert (found.replicated, found.kv, found.compressor) == (whole, 0, 0)
        assert found.norm == 7 + 7 + 5

    def test_elements_that_a_token_moves(self):
        inside = 42 + 42 + (42 + 30) + (30 + 30 + 30)
        assert linear_widths(linear()) == LinearWidths(projected=42 + 30 + 30, inside=inside)

    @pytest.mark.parametrize(("taps", "tokens"), [(0, 0), (1, 0), (2, 1), (4, 3)])
    def test_a_state_and_the_tokens_of_the_convolution_before_the_next(self, taps, tokens):
        assert linear_state(linear(linear_conv_kernel_dim=taps)) == 9 * (
            4 * 30 * 3 + 2 * tokens * 42)

    def test_operations(self):
        """Three heads of the rank; within a chunk tokens meet in pairs besides."""
        assert linear_flops(linear(), step(decoding=True)) == 2 * 9 * 12 * 3 * (3 * 3 * 5)
        assert linear_flops(linear(), step(decoding=False)) == 2 * 9 * 12 * 3 * (
            3 * 3 * 5 + 64 * (3 + 5))

    @pytest.mark.parametrize(("decoding", "rows", "states"), [
        (True, 5, 4 * 12 / 3),  # four requests: read once, kept after a token and two drafts
        (False, 5, 2 * 5), (False, 1, 2), (False, 0.25, 2)])
    def test_bytes(self, decoding, rows, states):
        moved = 9 * 12 * 246 * 2 / 2
        assert linear_bytes(linear(), step(decoding, rows=rows)) == moved + states * STATE / 2

    @pytest.mark.parametrize("drafts", [0, 1, 5])
    def test_a_state_is_read_once_and_kept_after_every_token(self, drafts):
        assert state_passes(linear(draft_tokens=drafts)) == 1 + 1 + drafts


@pytest.mark.parametrize(("streams", "widths", "layer", "head"), [
    (1, 4, 0, 0),
    (2, 10, 2 * (8 * (2 * 7 + 1) + 3), 2 * (2 * 7 + 1) + 1),
    (4, 18, 2 * (24 * (4 * 7 + 1) + 3), 4 * (4 * 7 + 1) + 1)])
def test_streams_beside_each_other(streams, widths, layer, head):
    """A weight in, one out and one for each pair of streams, from all of them at once."""
    q = SimpleNamespace(hc_mult=streams, hidden_size=7)
    assert hyper_connections(q) == (layer, head)
    assert residual_widths(q) == widths
