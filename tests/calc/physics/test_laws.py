"""Laws of the physics that hold for any deployment, whatever the numbers.

Each law is tried on a hundred random shapes and cuts at once (``_fleet``), with rates, latencies,
shares and lengths that hypothesis draws anew for every example.
"""

import numpy as np
import pytest
from _fleet import ALPHAS, ATTENTIONS, EFFICIENCIES, RATES, fleet, run, sampled, where
from hypothesis import given, settings
from hypothesis import strategies as st

from calc.closed_form.evaluate import PHASES
from calc.physics.breakdown import CLASSES, DEVICE, bound_by, parts, token_parts
from laws.order import FASTER, RATES_OUT, SLOWER, TIMES

ROUNDING = 1e-9  # relative: sums of a dozen numbers in floating point
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=20)
both = pytest.mark.parametrize("attention", ATTENTIONS)
phases = pytest.mark.parametrize("phase", PHASES)


def at_most(less, more, scale=None):
    """Where one is greater than the other by more than rounding (of what it was computed from)."""
    return less > more + ROUNDING * np.abs(more if scale is None else scale)


def assert_never(wrong, *shown):
    assert not where(wrong, *shown), where(wrong, *shown)


def assert_close(left, right):
    assert_never(np.abs(left - right) > ROUNDING * np.maximum(np.abs(left), np.abs(right)),
                 left, right)


@both
@phases
class TestWholeAndParts:
    """Busy times add up; what a user waits for lies between the longest part and their sum."""

    @FEW
    @given(SEEDS)
    def test_busy_parts_sum_to_the_busy_whole(self, attention, phase, seed):
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        busy = {name: inputs["micro_batches"] * found[f"{phase}_{name}_time"] for name in DEVICE}
        across = ("all_reduce", "exchange", "pipeline", "context_exchange")
        assert_close(sum(busy[name] for name in across), found[f"{phase}_communication_time"])
        assert_close(sum(busy[name] for name in busy if name not in across),
                     found[f"{phase}_compute_time"])

    @FEW
    @given(SEEDS)
    def test_exposed_parts_sum_to_the_step(self, attention, phase, seed):
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        pieces = parts(inputs, found, phase)
        step = found[f"{phase}_step_time"]
        busy = sum(abs(piece) for piece in pieces.values())
        assert_never(abs(sum(pieces.values()) - step) > ROUNDING * busy, step)
        # by what binds: nothing is hidden there, so it sums to the step and what hides
        hides = found[f"{phase}_hidden_time"] + found[f"{phase}_saved_time"]
        assert_close(sum(bound_by(inputs, found, phase).values()), step + hides)

    @FEW
    @given(SEEDS)
    def test_between_the_longest_part_and_the_sum(self, attention, phase, seed):
        """max(parts) ≤ exposed (+ saved) ≤ sum(parts) + gap.

        Parts: the device's own work, the work of the host's cores for it or the loading of experts,
        communication, and the host's launches. The path for one token replaces work, so what it
        saves is given back before the comparison; what micro-batches and deferred experts hide is
        not.
        """
        inputs = fleet(attention, seed)
        found = {name.removeprefix(f"{phase}_"): value
                 for name, value in run(inputs, attention).items()}
        beside = inputs["micro_batches"] * (found["offload_time"] + found["fetch_time"])
        pieces = [found["compute_time"] - beside, beside, found["communication_time"],
                  found["host_time"]]
        gap = parts(inputs, run(inputs, attention), phase)["host_gap"]
        gap = gap + (phase != "decode") * (inputs["draft_tokens"] > 0) * found["draft_pass_time"]
        exposed = found["step_time"] - gap + found["saved_time"]
        assert_never(at_most(np.maximum.reduce(pieces), exposed), *pieces, exposed)
        assert_never(at_most(found["step_time"], sum(pieces) + gap), found["step_time"], *pieces)
        for share in ("hidden_time", "saved_time", "host_time", "device_time"):
            assert_never(found[share] < 0, found[share])

    @FEW
    @given(SEEDS)
    def test_bytes_and_operations_take_their_time(self, attention, phase, seed):
        """No step beats the whole bandwidth, or the whole peak of its classes."""
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        halves = inputs["micro_batches"]
        moved = sum(found[f"{phase}_{name}_bytes"] for name in (*CLASSES, "vector"))
        least = halves * moved / inputs["memory_bandwidth"]
        multiplied = halves * sum(found[f"{phase}_{name}_flops"] / inputs[f"{name}_peak"]
                                  for name in CLASSES)
        device = found[f"{phase}_device_time"] + found[f"{phase}_saved_time"]
        assert_never(at_most(least, device), least, device)
        assert_never(at_most(multiplied, device), multiplied, device)

    @FEW
    @given(SEEDS)
    def test_a_rank_alone_communicates_nothing(self, attention, phase, seed):
        found = run(fleet(attention, seed), attention, tensor_parallel=1, expert_parallel=1,
                    pipeline_parallel=1, decode_context_parallel=1, shared_expert_ranks=0,
                    expert_tensor_parallel=0)
        assert (found[f"{phase}_communication_time"] == 0).all()

    @FEW
    @given(SEEDS)
    def test_what_is_paid_per_kernel_and_per_hop(self, attention, phase, seed):
        """Every kernel of every part has a boundary and a launch, every stage but one a hop."""
        inputs = fleet(attention, seed)
        found = {name.removeprefix(f"{phase}_"): value
                 for name, value in run(inputs, attention).items()}
        dense = inputs["first_k_dense_replace"]
        routed = inputs["routed_expert_operators"]
        shared = (inputs["n_shared_experts"] > 0) * inputs["shared_expert_operators"]
        experts = np.where(inputs["shared_expert_ranks"] > 0, np.maximum(routed, shared),
                           routed + shared)  # of the rank that has more of them
        kernels = inputs["operators_per_layer"] / inputs["reference_operators"] * (
            inputs["num_hidden_layers"] * (inputs["attention_operators"] + inputs[
                "hyper_operators"] * (inputs["hc_mult"] > 1))
            + inputs["indexer_layers"] * inputs["indexer_operators"]
            + dense * inputs["dense_mlp_operators"]
            + (inputs["num_hidden_layers"] - dense) * experts)
        assert_close(found["boundary_time"], kernels * inputs["kernel_boundary"])
        tokens = found["group_tokens"] * inputs["tensor_parallel"] / (
            inputs["expert_parallel"] * found["expert_slices"])
        graph = inputs["captured"] * (tokens <= inputs["largest_graph"]) * (phase == "decode")
        assert_close(found["host_time"], (1 - graph) * inputs["micro_batches"] * kernels
                     * inputs["host_time_per_operator"])
        sent = tokens * inputs["hidden_size"] * inputs["hc_mult"] * inputs[
            "activation_element_bytes"]
        hop = inputs["network_alpha"] + sent / inputs["tensor_parallel"] / (
            inputs["network_bandwidth"] * inputs["network_efficiency"])
        assert_close(found["pipeline_time"], (inputs["pipeline_parallel"] - 1) * hop)


@both
class TestHiddenOnce:
    """Three mechanisms take time away, none of them what another has taken already."""

    def test_exposed_is_never_shorter_than_communication(self, attention):
        inputs = sampled(attention) | {"micro_batches": 2, "host_overlap": 1,
                                       "overlap_efficiency": 1, "single_token_path": 0}
        found = run(inputs, attention)
        assert_never(at_most(found["prefill_communication_time"], found["prefill_device_time"]))

    def test_more_host_bandwidth_is_never_slower(self, attention):
        inputs = sampled(attention) | {"micro_batches": 2, "host_overlap": 1,
                                       "overlap_efficiency": 1, "single_token_path": 0}
        before, after = (run(inputs, attention, host_memory_bandwidth=rate)["prefill_step_time"]
                         for rate in (3e11, 4e11))
        assert_never(at_most(after, before), before, after)

    def test_no_device_works_for_less_than_no_time(self, attention):
        found = run(sampled(attention), attention, concurrency=1, host_overlap=1, micro_batches=1,
                    single_token_path=1.0)
        assert_never(found["decode_device_time"] < 0, found["decode_device_time"])

    def test_one_token_is_never_faster_than_its_bytes(self, attention):
        inputs = sampled(attention) | {"host_overlap": 0, "micro_batches": 1}
        found = run(inputs, attention, concurrency=1, single_token_path=3e-3)
        moved = sum(found[f"decode_{name}_bytes"] for name in (*CLASSES, "vector"))
        assert_never(at_most(moved / inputs["memory_bandwidth"], found["decode_device_time"]))


@both
class TestMonotonic:
    """Better hardware never hurts, costs never help."""

    @pytest.mark.parametrize("name", FASTER)
    @settings(max_examples=3)
    @given(SEEDS, st.floats(1.001, 1e3))
    def test_more_is_never_slower(self, attention, name, seed, factor):
        inputs = fleet(attention, seed)
        better = inputs[name] * factor
        if name not in RATES:
            better = np.where(inputs[name] > 0, np.minimum(1, better), inputs[name])
        self.compare(attention, inputs, {name: better})

    @pytest.mark.parametrize("name", SLOWER)
    @settings(max_examples=3)
    @given(SEEDS, st.floats(1.001, 1e3))
    def test_more_is_never_faster(self, attention, name, seed, factor):
        inputs = fleet(attention, seed)
        less = inputs[name]
        if name in ALPHAS:  # from nothing too
            inputs[name] = less * factor + 1e-6
        elif name == "placement_residual":
            inputs[name] = less + factor / 100
        else:
            inputs[name] = less * factor
        self.compare(attention, inputs, {name: less})

    @settings(max_examples=10)
    @given(SEEDS, st.floats(1.001, 100))
    def test_everything_better_at_once(self, attention, seed, factor):
        inputs = fleet(attention, seed)
        better = {name: inputs[name] * factor for name in RATES}
        better |= {name: np.minimum(1, inputs[name] * factor) for name in EFFICIENCIES}
        better |= {name: inputs[name] / factor for name in ALPHAS}
        self.compare(attention, inputs, better)

    @staticmethod
    def compare(attention, inputs, better):
        before, after = run(inputs, attention), run(inputs, attention, **better)
        for name in TIMES:
            assert_never(at_most(after[name], before[name]), before[name], after[name])
        for name in RATES_OUT:
            assert_never(at_most(before[name], after[name]), before[name], after[name])

    @FEW
    @given(SEEDS, st.floats(1.001, 100))
    def test_a_longer_prompt_is_never_faster(self, attention, seed, factor):
        """Its prefill, that of the wave, and decode behind it, in one stage.

        Not so TTFT, nor a pipeline: cut in two chunks, a wave's first half has its tokens earlier,
        and the stages of a pipeline have something to do. Nor where a longer one is prefilled with
        another kernel.
        """
        inputs = fleet(attention, seed) | {"pipeline_parallel": 1, "dense_prefill_tokens": 0}
        longer = np.ceil(inputs["input_tokens"] * factor)
        before, after = (run(inputs, attention, input_tokens=n)
                         for n in (inputs["input_tokens"], longer))
        for name in ("prefill_time", "burst_time", "decode_step_time", "tpot_floor",
                     "kv_transfer_time"):
            assert_never(at_most(before[name], after[name]), before[name], after[name])

    @FEW
    @given(SEEDS, st.integers(1, 300))
    def test_a_step_of_more_requests_is_never_faster(self, attention, seed, batch):
        """And yields tokens no slower, save where a single token has a path of its own, or hits
        experts that the cards have in another proportion than more tokens can, or begins a group
        that reads its experts anew, or whose experts take larger tiles.

        The throughput of a whole wave may fall a little: ranks and chunks are whole numbers.
        """
        inputs = fleet(attention, seed)
        smaller, larger = (self.of_batch(attention, inputs, b) for b in (batch, batch + 1))
        assert_never(at_most(smaller, larger), smaller, larger)
        inputs |= {"single_token_path": 0.0, "host_group_tokens": 0.0, "largest_graph": 1e9,
                   "expert_tile_growth": 0.0, "sliced_tile_growth": 0.0}
        # a hit rate beyond what the cards keep of the chosen holds for few tokens only
        inputs["device_hit_share"] = 1 - inputs["fetched_share"]
        inputs["host_hit_share"] = 1 - inputs["stored_share"]
        smaller, larger = (self.of_batch(attention, inputs, b) for b in (batch, batch + 1))
        assert_never(at_most(batch / smaller, (batch + 1) / larger), smaller, larger)

    @staticmethod
    def of_batch(attention, inputs, batch):
        ranks = inputs["data_parallel"] * inputs["pipeline_parallel"]
        found = run(inputs, attention, concurrency=batch * ranks)
        assert (found["decode_batch"] == batch).all()
        return found["decode_step_time"]


@both
class TestServing:
    """What a wave of requests sees."""

    @FEW
    @given(SEEDS)
    def test_throughput_and_latency_are_one_law(self, attention, seed):
        """X (TTFT + (n - 1) TPOT) / n = c; in a decode pool of its own X TPOT = c.

        With one token each, a client that asks again waits for the whole wave of prompts.
        """
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        n, x = inputs["output_tokens"], found["output_throughput"]
        apart = inputs["separate_pools"] > 0
        wave = inputs["request_overhead"] + found["prefill_time"] + found["burst_time"]
        held = np.where(n == 1, wave, found["ttft"] + (n - 1) * found["tpot"])
        held = np.where(apart, n * found["tpot"], held)
        assert_close(x * held / n, inputs["concurrency"])
        assert_close(found["e2e"], found["ttft"] + (n - 1) * found["tpot"])
        assert_close(x, n * found["request_throughput"])
        assert_close(found["input_throughput"],
                     inputs["input_tokens"] * found["request_throughput"])

    @FEW
    @given(SEEDS)
    def test_parts_of_a_token_sum_to_tpot(self, attention, seed):
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        pieces = token_parts(inputs, found)
        busy = sum(abs(piece) for piece in pieces.values())
        assert_never(abs(sum(pieces.values()) - found["tpot"]) > ROUNDING * busy, found["tpot"])

    @FEW
    @given(SEEDS)
    def test_drafts_are_computed_whether_or_not_they_are_accepted(self, attention, seed):
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        each = 1 + inputs["draft_tokens"]
        assert_close(found["decode_tokens"], found["decode_batch"] * each)
        assert_never(at_most(1, found["tokens_per_step"]), found["tokens_per_step"])
        assert_never(at_most(found["tokens_per_step"], each), found["tokens_per_step"], each)
        none = run(inputs, attention, mtp_acceptance=0, accepted_length=0)
        assert (none["tokens_per_step"] == 1).all()
        assert (none["decode_step_time"] == found["decode_step_time"]).all()

    @FEW
    @given(SEEDS)
    def test_the_first_token_comes_between_its_own_prefill_and_everybodys(self, attention, seed):
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        sent = np.where(inputs["separate_pools"] > 0, found["kv_transfer_time"], 0)
        earliest = inputs["request_overhead"] + sent + found["prefill_time"]
        assert_never(at_most(earliest, found["ttft"]), earliest, found["ttft"])
        latest = earliest + found["burst_time"]
        assert_never(at_most(found["ttft"], latest), found["ttft"], latest)
        assert_never(found["decode_stall"] < -ROUNDING * found["tpot"], found["decode_stall"])

    @FEW
    @given(SEEDS)
    def test_order_moves_waiting_from_the_first_token_to_the_others(self, attention, seed):
        """Prompts prefilled together or in turn: another TTFT and TPOT, the same end."""
        inputs = fleet(attention, seed) | {"separate_pools": 0}
        inputs["output_tokens"] = np.maximum(2, inputs["output_tokens"])
        together, in_turn = (run(inputs, attention, prefill_together=flag) for flag in (1, 0))
        assert_close(together["e2e"], in_turn["e2e"])
        assert_never(at_most(in_turn["ttft"], together["ttft"]))
        assert_never(at_most(together["tpot"], in_turn["tpot"]))

    @FEW
    @given(SEEDS)
    def test_a_prompt_in_one_chunk_takes_one_step(self, attention, seed):
        """Through however many stages; and the second of two is prefilled like the first."""
        inputs = fleet(attention, seed)
        inputs["max_num_batched_tokens"] = inputs["input_tokens"] + 1
        found = run(inputs, attention, concurrency=2 * inputs["data_parallel"])
        assert (found["prompt_chunks"] == 1).all()
        assert_close(found["prefill_time"], found["prefill_step_time"])
        assert (found["burst_step_time"] == found["prefill_step_time"]).all()

    @FEW
    @given(SEEDS, st.integers(1, 500))
    def test_half_of_c_plus_1_prefills_where_each_prompt_fills_a_chunk(self, attention, seed, c):
        inputs = fleet(attention, seed) | {
            "pipeline_parallel": 1, "prefix_hit_share": 0, "prefill_together": 0,
            "separate_pools": 0, "output_tokens": 100}
        inputs["max_num_batched_tokens"] = inputs["input_tokens"]
        found = run(inputs, attention, concurrency=c * inputs["data_parallel"])
        waited = found["ttft"] - inputs["request_overhead"]
        assert_never(np.abs(waited - (c + 1) / 2 * found["prefill_time"])
                     > ROUNDING * found["ttft"], waited)
        assert_close(found["decode_stall"], (c - 1) / 2 * found["prefill_time"] / 99)

    @FEW
    @given(SEEDS, st.integers(1, 40))
    def test_cutting_a_prompt_changes_no_arithmetic(self, attention, seed, pieces):
        """Causal attention of all its chunks is half a square, however it is cut.

        Only the cached latents of earlier chunks are expanded again, once per chunk, and none
        where prefill is absorbed. Without a fused kernel all is multiplied.
        """
        inputs = fleet(attention, seed) | {"prefix_hit_share": 0, "micro_batches": 1,
                                           "even_routing": 1, "score_traffic": 0}
        n = inputs["input_tokens"] = pieces * np.ceil(inputs["input_tokens"] / pieces)
        whole = run(inputs, attention, max_num_batched_tokens=n)
        cut = run(inputs, attention, max_num_batched_tokens=n / pieces)
        assert (cut["prompt_chunks"] == pieces).all()
        again = pieces * cut["prefill_attention_flops"] - whole["prefill_attention_flops"]
        if attention == "gqa":
            assert_never(abs(again) > ROUNDING * whole["prefill_attention_flops"])
        else:
            heads = inputs["num_attention_heads"] * whole["prompt_ranks"]
            latent = inputs["kv_lora_rank"] * heads * (1 - whole["prefill_absorbed"]) * (
                inputs["qk_nope_head_dim"] + inputs["v_head_dim"]) / inputs["tensor_parallel"]
            layers = inputs["num_hidden_layers"] - inputs["linear_layers"]
            expected = (inputs["multiply_add_flops"] * layers * latent / 2
                        * whole["biased_new_tokens"] * (pieces - 1))
            assert_never(abs(again - expected) > ROUNDING * whole["prefill_attention_flops"])
        for name in set(CLASSES) - {"attention"}:
            assert_close(pieces * cut[f"prefill_{name}_flops"], whole[f"prefill_{name}_flops"])
