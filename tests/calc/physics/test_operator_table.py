"""The operator table of the runtime: its rows sum to the step's classes, whatever the deployment.

``calc.physics.work`` has closed forms, ``reference.operators`` has rows; a mistake in one shows
against the other. (Both against the table of the book: ``test_operators.py``.) And what matmuls
take however few their rows: how many there are, and how deep. At the end what a step is made of, by
hand: its micro-batches, a rank's own part, and tokens of ranks together.
"""

from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest
from _fleet import ATTENTIONS, compositions, fleet, namespace, one, run, sampled, tables

import calc
import catalogue
from calc.closed_form.evaluate import PHASES, evaluate
from calc.physics.breakdown import CLASSES
from calc.physics.communication import exchange
from calc.physics.experts import fullest_receiver
from calc.physics.timing.collectives import all_gather, all_reduce, group, reduce_scatter
from calc.physics.timing.matmuls import operator_time
from calc.physics.work import Composition, Routed
from catalogue.deployments.knobs import DENSE
from reference.operators import LINK, MATRIX, VECTOR

BYTES = ("weight_bytes", "activation_bytes", "kv_bytes")
SEEDS = range(60)


def total(rows, *columns):
    return sum(float(row.total(column)) for row in rows for column in columns)


def by_class(table):
    """Operations and bytes of each class; what norms weigh streams with the projections."""
    vector = [row for row in table if row.group == "vector"]
    layers = [row for row in vector if row.layer != "outside"]
    outside = [row for row in vector if row.layer == "outside"]
    found = {}
    for name in CLASSES:
        rows = [row for row in table if row.group == name]
        found[f"{name}_flops"] = total(rows, "flops")
        found[f"{name}_bytes"] = total(rows, *BYTES)
    found["attention_bytes"] += total(layers, "weight_bytes")
    found["vector_bytes"] = (total(vector, "activation_bytes") + total(outside, "weight_bytes"))
    return found


def assert_same(inputs, attention):
    found = calc.evaluate(inputs, attention)
    for phase, table in tables(inputs, attention).items():
        sums = by_class(table)
        closed = {name: float(found[f"{phase}_{name}"]) for name in sums}
        assert closed == pytest.approx(sums, rel=1e-9, abs=1e-6), phase


@pytest.mark.parametrize("attention", ATTENTIONS)
class TestRandom:
    """Sixty deployments of every shape and cut."""

    def test_rows_sum_to_the_classes(self, attention):
        for seed in SEEDS:
            assert_same(one(sampled(attention), seed), attention)

    def test_rows_sum_to_the_classes_for_any_length_and_mechanism(self, attention):
        drawn = fleet(attention, 11)
        for index in SEEDS:
            assert_same(one(drawn, index), attention)

    def test_payloads_are_those_that_take_the_time(self, attention):
        """Each row's collective over its group, as often as it is counted, is the whole time."""
        for seed in SEEDS:
            inputs = one(sampled(attention), seed)
            q, found = namespace(inputs), calc.evaluate(inputs, attention)
            ranks = group(q, q.tensor_parallel)
            gathered = {"all-gather": all_gather, "reduce-scatter": reduce_scatter}
            experts = group(q, q.expert_parallel * found["expert_slices"])
            steps = compositions(inputs, attention)
            for phase, table in tables(inputs, attention).items():
                sent = steps[phase].tokens / q.micro_batches / q.tensor_parallel
                times = {"all_reduce": 0.0, "exchange": 0.0}
                for row in (row for row in table if row.unit == LINK):
                    if row.collective == "all-reduce":
                        taken = all_reduce(q, ranks, row.payload)
                    elif row.collective in gathered:
                        taken = gathered[row.collective](q, ranks, row.payload)
                    elif q.exchange_gathered or found["expert_slices"] > 1:
                        taken = (all_gather if row.collective == "dispatch" else reduce_scatter)(
                            q, experts, row.payload)
                    else:
                        rank, node = (1 + found[f"{phase}_{name}_imbalance"]
                                      for name in ("rank", "node"))
                        taken = exchange(q, experts, sent, row.payload / sent,
                                         fullest_receiver(q, rank), node)
                    times[row.group] += float(row.count * taken)
                for name, taken in times.items():
                    assert taken == pytest.approx(float(found[f"{phase}_{name}_time"]), rel=1e-9)

    def test_rows_are_what_they_say(self, attention):
        for seed in SEEDS:
            for table in tables(one(sampled(attention), seed), attention).values():
                names = [(row.name, row.layer) for row in table]
                assert len(names) == len(set(names))
                for row in table:
                    amounts = [row.flops, row.payload, *(getattr(row, name) for name in BYTES)]
                    assert all(np.isfinite(amount) and amount >= 0 for amount in amounts), row
                    # samples also draw an indexer without a layer that it serves
                    assert row.count > 0 or row.name.startswith("index_"), row
                    assert (row.unit == LINK) == (row.collective is not None), row
                    if row.unit == LINK:
                        assert row.flops + total([row], *BYTES) == 0, row
                    assert (row.unit == MATRIX) == (row.group in CLASSES), row
                    assert (row.unit == VECTOR) == (row.group == "vector"), row


@pytest.mark.parametrize("name", catalogue.deployment_names())
def test_rows_sum_to_the_classes_in_every_scenario(name):
    scenario = catalogue.load_scenario(name)
    assert_same(scenario.inputs(), scenario.model.attention)


def test_phases_are_those_of_the_step():
    inputs = catalogue.load_scenario("s0-scenario-1").inputs()
    assert tuple(tables(inputs, "mla")) == PHASES


NONE = {f"{name}_{kind}_latency": 0.0 for name in DENSE for kind in ("matmul", "depth")}
V3 = {"decode": 3, "prefill": 4, "burst": 4}  # of a layer: keys and values absorbed, or expanded


def taken(inputs, attention, **latencies):
    """What latencies add to the classes of a decode step and of chunks [s], by phase and class."""
    before, after = (run(inputs, attention, **ways) for ways in (NONE, NONE | latencies))
    return {phase: {name: after[f"{phase}_{name}_time"] - before[f"{phase}_{name}_time"]
                    for name in DENSE} for phase in PHASES}


def of_scenario(name, kind, *overrides):
    """Matmuls, or their inputs, of a deployment by phase and class: a second for each of them."""
    scenario = catalogue.load_scenario(name, overrides=overrides)
    inputs = scenario.inputs() | NONE
    charged = inputs | {f"{cls}_{kind}_latency": 1.0 for cls in DENSE}
    before, after = (evaluate(ways, scenario.model.attention) for ways in (inputs, charged))
    return {phase: {cls: round(after[f"{phase}_{cls}_time"] - before[f"{phase}_{cls}_time"])
                    for cls in DENSE} for phase in PHASES}


@pytest.mark.parametrize("phase", PHASES)
def test_matmuls_of_deepseek_v3(phase):
    found = of_scenario("h200-r1-sglang-tp8", "matmul")[phase]
    assert found == {"attention": 61 * V3[phase], "dense_mlp": 3 * 2, "shared_expert": 58 * 2,
                     "router": 58, "head": 1}


def test_inputs_of_deepseek_v3():
    """The published shapes: hidden size 7168, latents of 1536 and 512, 128 heads of 128."""
    found = of_scenario("h200-r1-sglang-tp8", "depth")
    around = 7168 + 1536 + 128 * 128 // 8
    assert found["decode"] == {
        "attention": 61 * around, "dense_mlp": 3 * (7168 + 18432 // 8),
        "shared_expert": 58 * (7168 + 2048 // 8), "router": 58 * 7168, "head": 7168}
    assert found["prefill"]["attention"] == 61 * (around + 512)


def test_an_indexer_has_two_matmuls_of_its_own():
    """Queries from their latent vector, keys from the hidden state; its prefill is absorbed."""
    sparse, dense = (of_scenario(name, kind) for kind in ("matmul",)
                     for name in ("h200-v32-sglang-tp8", "h200-r1-sglang-tp8"))
    assert sparse["decode"]["attention"] == dense["decode"]["attention"] + 61 * 2


def test_grouped_queries_are_two_matmuls():
    found = of_scenario("h20-qwen3-8b", "matmul")["decode"]
    layers = catalogue.load_scenario("h20-qwen3-8b").inputs()["num_hidden_layers"]
    assert found["attention"] == 2 * layers
    assert found["dense_mlp"] == 2 * layers
    assert found["router"] == found["shared_expert"] == 0


def test_only_the_outputs_get_shallower_by_tensor_parallelism():
    one, eight = (of_scenario("h200-r1-sglang-tp8", "depth", f"parallelism.tensor_parallel={t}",
                              f"parallelism.data_parallel={8 // t}")["decode"] for t in (1, 8))
    assert one["attention"] - eight["attention"] == 61 * 128 * 128 * 7 // 8
    assert one["router"] == eight["router"]


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_rows_do_not_matter(attention):
    inputs = sampled(attention) | {"micro_batches": 1, "shared_expert_ranks": 0}
    latencies = {f"{name}_matmul_latency": 1e-3 for name in DENSE}
    few, many = (taken(inputs | {"concurrency": inputs["data_parallel"] * each}, attention,
                       **latencies)["decode"] for each in (1, 64))
    for name in DENSE:
        np.testing.assert_allclose(few[name], many[name], rtol=1e-9, atol=1e-12)


def test_arithmetic_takes_as_long_as_outputs_wait_for_their_inputs():
    """Of what is loaded meanwhile as much is hidden as beside any arithmetic."""
    inputs = catalogue.load_scenario("h200-r1-sglang-tp8").inputs() | NONE | {
        "attention_activation_traffic": 0}
    base = evaluate(inputs, "mla")
    rows = base["decode_tokens"] / inputs["micro_batches"]
    computed = (base["decode_attention_flops"] * max(1, inputs["gemm_tile_rows"] / rows)
                / (inputs["attention_peak"] * inputs["attention_gemm_efficiency"]
                   * base["slowest_clock"]))
    loaded = base["decode_attention_bytes"] / (
        inputs["memory_bandwidth"] * inputs["hbm_efficiency"])
    depth = 61 * (7168 + 1536 + 128 * 128 // 8)
    for waiting in (0.5 * computed, 2 * computed, 0.9 * loaded, 1.5 * loaded, 4 * loaded):
        found = evaluate(inputs | {"attention_depth_latency": waiting / depth}, "mla")
        assert found["decode_attention_time"] == pytest.approx(operator_time(
            max(computed, waiting), loaded, inputs["load_overlap"]), rel=1e-12)


KINDS = ("absorbed", "decoding", "dealt")  # what a part of a step has like the whole
CHUNK = Composition(
    tokens=60.0, logit_rows=6.0, attended=120.0, in_window=36.0, indexed=48.0, read=18.0,
    read_in_window=12.0, read_keys=24.0, expanded=30.0, absorbed=0, decoding=False,
    core_missing=42.0, group_tokens=84.0, busiest_tokens=66.0)
# three replicas of four tensor ranks share the experts
RANKS = {"tensor_parallel": 4, "expert_parallel": 12, "expert_tensor_parallel": 0,
         "shared_expert_ranks": 0, "decode_context_parallel": 2, "prefill_context_parallel": 1,
         "index_topk": 2048, "linear_layers": 0}


def ranks(**changed):
    return SimpleNamespace(**RANKS | changed)


@pytest.mark.parametrize("parts", [2, 3])
def test_a_micro_batch_has_its_part_of_all_that_is_counted(parts):
    part, whole = vars(CHUNK.part(parts)), vars(CHUNK)
    assert part == {name: value if name in KINDS else value / parts
                    for name, value in whole.items()}
    assert CHUNK.part(1) is CHUNK


def test_what_is_not_known_of_a_group_stays_unknown_of_a_part():
    alone = replace(CHUNK, group_tokens=None, busiest_tokens=None).part(2)
    assert alone.group_tokens is alone.busiest_tokens is None
    assert alone.tokens == 30


def test_ranks_that_deal_a_prompt_have_a_quarter_each_and_expand_the_rest_too():
    """Tokens and what they meet are dealt; rows of logits, and what is read, are everybody's."""
    own = vars(CHUNK.own(ranks()))
    dealt = ("tokens", "attended", "in_window", "indexed", "core_missing")
    assert own == vars(CHUNK) | {name: vars(CHUNK)[name] / 4 for name in dealt} | {
        "expanded": 30 + (60 - 15), "dealt": 4}
    assert replace(CHUNK, absorbed=1).own(ranks()).expanded == 30


@pytest.mark.parametrize("changed", [
    {"prefill_context_parallel": 0}, {"index_topk": 0}, {"linear_layers": 1},
    {"tensor_parallel": 1}])
def test_nothing_is_dealt_by_ranks_that_each_have_all_tokens(changed):
    assert CHUNK.own(ranks(**changed)) is CHUNK


def test_a_decode_step_is_not_dealt():
    step = replace(CHUNK, decoding=True)
    assert step.own(ranks()) is step
    assert step.sharing_ranks(ranks()) == 2
    assert CHUNK.sharing_ranks(ranks()) == 1


def test_tokens_of_a_group_are_those_that_are_told_or_as_many_of_each():
    assert CHUNK.together(ranks()) == 84
    alone = replace(CHUNK, group_tokens=None)
    assert alone.together(ranks()) == 60 * 12 / 4
    assert CHUNK.of_shared(ranks()) == alone.of_shared(ranks()) == 60
    assert CHUNK.of_shared(ranks(shared_expert_ranks=3)) == 84 / 3
    assert alone.of_shared(ranks(shared_expert_ranks=3)) == 180 / 3


def test_a_port_carries_the_tokens_of_the_busiest_rank_if_that_is_told():
    assert CHUNK.exchanged() == 66
    assert replace(CHUNK, busiest_tokens=None).exchanged() == 60


def test_unless_more_is_said_a_rank_is_one_of_equals():
    told = {one.name for one in fields(Composition)} - {
        "core_missing", "group_tokens", "busiest_tokens", "dealt"}
    plain = Composition(**{name: getattr(CHUNK, name) for name in told})
    assert (plain.core_missing, plain.group_tokens, plain.busiest_tokens, plain.dealt) == (
        0, None, None, 1)


@pytest.mark.parametrize(("read", "rows"), [(0.5, 1.5 * 60 * 8), (1, 1.5 * 60 * 8), (16, 45)])
def test_rows_of_an_expert_are_those_of_the_slowest_rank_over_what_it_reads(read, rows):
    routed = Routed(flops=2.0, bytes=3.0, tokens=60.0, hit=5.0, read=read, rows=7.0, inside=11.0,
                    weights=13.0, slowest=1.5)
    assert routed.rows_of_one(SimpleNamespace(num_experts_per_tok=8)) == rows
