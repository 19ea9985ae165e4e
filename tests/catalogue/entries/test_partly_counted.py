"""Models that are not derived in full: what is counted of them beside what is published.

Published numbers are of ``params/models`` and of AISimulate 0.13.0 (pypi.org/project/aisimulate),
``aisimulate_core/sdk``: deepseek_v41.py after SGLang 1aa0e962, models/glm53flash.py after vLLM.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

import catalogue
from calc.physics.cache import cache
from calc.physics.shapes import count_parameters

GLM, V41 = "glm-5.3-flash", "deepseek-v4.1-flash"
GIB = 2**30
ENGRAM = (384_006_168 + 384_016_682) * (256 + 8)  # rows of FP8, a scale per 32 [B]
WINDOW = 40 * 128 * 584  # rows of all layers [B]


def inputs(name: str) -> SimpleNamespace:
    """A model in the format that it is published in, whole on one rank."""
    entry = catalogue.load_model(name)
    return SimpleNamespace(
        **catalogue.model_inputs(entry), tensor_parallel=1, block_size=64, state_blocks=0,
        **catalogue.precision_inputs(catalogue.load_precision(entry.weights.precision)))


def counted(name: str) -> SimpleNamespace:
    """Parameters of the whole model, and bytes of its weights and of its cache."""
    q, attention = inputs(name), catalogue.load_model(name).attention
    n, layers = count_parameters(attention, q), inputs(name).num_hidden_layers
    dense = q.first_k_dense_replace
    by_class = {
        "embedding": n.embedding_parameters, "head": n.head_parameters,
        "attention": layers * (n.attention_divided_parameters + n.attention_kv_parameters
                               + n.attention_replicated_parameters),
        "norm": layers * n.norm_parameters + q.hidden_size,
        "dense_mlp": dense * n.dense_mlp_parameters,
        "router": (layers - dense) * n.router_parameters,
        "shared_expert": (layers - dense) * n.shared_expert_parameters,
        "routed_expert": n.routed_parameters, "compressor": layers * n.compressor_parameters,
        "hyper": layers * n.hyper_parameters + n.hyper_head_parameters}
    assert sum(by_class.values()) == pytest.approx(n.total_parameters, rel=1e-12)
    held = cache(attention, q)
    return SimpleNamespace(
        total=n.total_parameters, active=n.active_parameters, mtp=n.mtp_layer_parameters,
        embedding=n.embedding_parameters, token=held.kv_bytes_per_token,
        request=held.state_bytes_per_request,
        weights=math.fsum(count * getattr(q, f"{name}_weight_bytes")
                          for name, count in by_class.items()))


@pytest.mark.parametrize("name", [GLM, V41])
def test_what_is_missing_is_said(name):
    missing = catalogue.load_model(name).missing
    assert all("not counted" in missing[each].lower() or "未计入" in missing[each]
               for each in ("en", "zh"))


class TestV41:
    """DeepSeek-V4.1-Flash: four layers own the cache; tables of n-grams lie beside the weights."""

    def test_parameters(self):
        """Of the main model without its tables; 16e9 a token, printed to two digits."""
        its = counted(V41)
        assert its.total == pytest.approx(551_503_790_080, rel=1e-3)
        assert its.active == pytest.approx(15_753_543_680, rel=0.01)

    def test_the_checkpoint_is_its_weights_and_the_tables(self):
        """500.8e9 bytes without vision and drafts; the tables are what `missing` says."""
        assert pytest.approx(202.758e9, rel=1e-5) == ENGRAM
        assert "203 GB" in catalogue.load_model(V41).missing["en"]
        assert counted(V41).weights + ENGRAM == pytest.approx(500_821_003_280, rel=1e-3)

    def test_cache_of_a_token_is_that_of_the_four_owners(self):
        """Rows of 584 and keys of 68 bytes, per 2, 2, 2 and 1 tokens."""
        assert counted(V41).token == 3 * (584 + 68) / 2 + 584 + 68

    def test_state_of_a_request_is_more_by_the_second_window_of_compressors(self):
        """6.0% more than 3,014,656: as in V4 two windows are gathered, index keys too, of five."""
        its = counted(V41).request
        engine = WINDOW + 3 * 2 * 2 * 512 * 4
        assert engine == 3_014_656
        gathered = 2 * 2 * 2 * 2 * 5 * (512 + 128) * 4
        assert its == WINDOW + gathered
        assert its / engine - 1 == pytest.approx(0.0598, abs=1e-4)


class TestGlm53Flash:
    """GLM-5.3-Flash: states in three of four layers, index keys of four tokens in the others."""

    def test_parameters(self):
        """Printed: 321e9 with the prediction layer, and 18e9 with what that activates."""
        its = counted(GLM)
        assert its.total + its.mtp == pytest.approx(321e9, rel=1e-3)
        q = inputs(GLM)
        idle = (q.n_routed_experts - q.num_experts_per_tok) * 3 * 4096 * 2048
        assert its.active + its.embedding + its.mtp - idle == pytest.approx(18e9, abs=0.5e9)

    def test_weights(self):
        """298 to 299 GiB without prediction layer and vision; the gates of pools are 12e6 bytes."""
        assert 298 < counted(GLM).weights / GIB < 299

    def test_cache_and_state_are_those_of_the_engine(self):
        """11 latents of 528 bytes and keys of 132 per four tokens; 34 states, FP32 and BF16."""
        its = counted(GLM)
        assert its.token == pytest.approx(11 * (512 + 16 + 132 / 4), rel=1e-12)
        assert its.request == 34 * (64 * 128 * 128 * 4 + 3 * 8192 * 3 * 2)
