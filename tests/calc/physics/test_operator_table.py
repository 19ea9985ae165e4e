"""The operator table of the runtime: its rows sum to the step's classes, whatever the deployment.

``calc.physics.work`` has closed forms, ``calc.physics.operators`` has rows; a mistake in one shows
against the other. (Both against the table of the book: ``test_operators.py``.)
"""

import numpy as np
import pytest
from _fleet import ATTENTIONS, compositions, fleet, namespace, one, sampled, tables

import calc
import catalogue
from calc.physics.breakdown import CLASSES
from calc.physics.communication import (
    all_gather,
    all_reduce,
    exchange,
    group,
    reduce_scatter,
)
from calc.physics.experts import fullest_receiver
from calc.physics.operators import LINK, MATRIX, VECTOR
from calc.quantities.everything import PHASES

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
            experts = group(q, q.expert_parallel)
            steps = compositions(inputs, attention)
            for phase, table in tables(inputs, attention).items():
                sent = steps[phase].tokens / q.micro_batches / q.tensor_parallel
                times = {"all_reduce": 0.0, "exchange": 0.0}
                for row in (row for row in table if row.unit == LINK):
                    if row.collective == "all-reduce":
                        taken = all_reduce(q, ranks, row.payload)
                    elif row.collective == "all-gather":
                        taken = all_gather(q, ranks, row.payload)
                    elif q.exchange_gathered:
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
