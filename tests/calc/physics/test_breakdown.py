"""Parts of a step, what binds it and what of it overlaps."""

import functools
import itertools

import numpy as np
import pytest
from _fleet import ATTENTIONS, alike, compositions, fleet_alike, one, tables

from calc.physics.arrays import Inputs
from calc.physics.step import (
    CLASSES,
    DEVICE,
    Busy,
    bound_by,
    hidden_time,
)
from calc.serving.evaluate import evaluate
from catalogue.deployments.physics_inputs import DENSE
from reference.layers import CARD, LINKS, Experts, Layers, Piece, layers
from reference.steps import inputs_of
from reference.timeline import Way, length

TIMES = {name: 3.0 + at for at, name in enumerate(DEVICE)}  # of a micro-batch: 3, 4, 5, ...
TWICE = {name: 2 * time for name, time in TIMES.items()}
COMPUTING = ("core", "router")  # classes of 8 operations to a byte; the others, like the card, 7
INPUTS = {"micro_batches": 2, "host_gap_per_step": 0.25, "memory_bandwidth": 5.0,
          **{f"{name}_peak": 35.0 for name in CLASSES}}


def test_resources_that_bind():
    """At seven operations a byte, as many as the card multiplies, reading binds.

    The host takes ten seconds longer than the card.
    """
    found = {**{f"decode_{name}_time": time for name, time in TIMES.items()},
             **{f"decode_{name}_bytes": 11.0 for name in CLASSES},
             **{f"decode_{name}_flops": 88.0 if name in COMPUTING else 77.0 for name in CLASSES},
             "decode_device_time": 400.0, "decode_host_time": 410.0,
             "decode_hidden_time": 17.0, "decode_saved_time": 0.5}
    computed = sum(TWICE[name] for name in COMPUTING)
    assert bound_by(INPUTS, found) == pytest.approx({
        "memory_bandwidth": sum(TWICE[name] for name in CLASSES) - computed + TWICE["vector"],
        "l2_bandwidth": TWICE["dequantisation"], "compute": computed,
        "communication": sum(TWICE[name] for name in (
            "all_reduce", "exchange", "pipeline", "context_exchange")),
        "host": 10 + TWICE["offload"] + TWICE["fetch"],
        "fixed_costs": TWICE["boundary"] + 0.25})


# two micro-batches: 100 less 16 of the host and 2 saved; experts 2 (1 + 6 + 9)
KEPT = Busy(own=82.0, links=40.0, on_host=16.0, router=2.0, routed=18.0, shared=12.0,
            exchange=28.0, dispatch=8.0)
WAYS = {"micro_batches": 1, "unequal_streams": 0, "shared_expert_ranks": 0,
        "single_batch_overlap": 0, "overlap_efficiency": 1, "host_overlap": 0,
        "second_stream_tokens": 0, "mlp_matrices": 3}


def hidden(kept=KEPT, **ways):
    return hidden_time(Inputs(WAYS | ways), kept)


@pytest.mark.parametrize(("ways", "time"), [
    ({}, 0),
    ({"single_batch_overlap": 1}, 8 + 18 / 3),  # shared ones beside dispatch, a third of routed
    ({"single_batch_overlap": 1, "overlap_efficiency": 0.5}, 7),
    ({"single_batch_overlap": 1, "shared_expert_ranks": 1}, (18 + 12) / 3),  # nothing is ready
    ({"micro_batches": 2}, 40),  # all of the links
    ({"micro_batches": 2, "single_batch_overlap": 1}, 40),
    ({"micro_batches": 2, "unequal_streams": 1}, 40),  # of experts 60, of attention 62
    ({"micro_batches": 2, "overlap_efficiency": 0.25}, 10),
    ({"host_overlap": 1}, 16), ({"host_overlap": 0.5}, 8),
    ({"micro_batches": 2, "host_overlap": 0.5}, 40 + 8)])
def test_hidden_time_by_hand(ways, time):
    assert hidden(**ways) == pytest.approx(time)


ROUNDING = 1e-9  # relative, of sums of a dozen numbers in floating point
ALL_HIDDEN = {"overlap_efficiency": 1, "host_overlap": 0, "single_token_path": 0,
              "shared_expert_ranks": 0, "second_stream_tokens": 0}
IN_TURNS = ALL_HIDDEN | {"micro_batches": 2, "unequal_streams": 0}
IN_STREAMS = IN_TURNS | {"unequal_streams": 1}
UNDIVIDED = ALL_HIDDEN | {"micro_batches": 1, "single_batch_overlap": 0}
WITHIN = UNDIVIDED | {"single_batch_overlap": 1}
both = pytest.mark.parametrize("attention", ATTENTIONS)

NOTHING_HIDDEN = {"overlap_efficiency": 0, "host_overlap": 0, "single_token_path": 0,
                  "second_stream_tokens": 0,
                  "host_time_per_operator": 0, "captured": 0}
PLAIN = {f"{name}_depth_latency": 0 for name in DENSE}  # nothing waits along the depth
SUMS = PLAIN | {"load_overlap": 0}  # operations and bytes of a class add up as of its matmuls
AT_HOME = {"offloaded_share": 0, "fetched_share": 0}


def phases_in_time(inputs, attention):
    """Of each phase: inputs as attributes, the step layer by layer, its quantities."""
    found, table, q = evaluate(inputs, attention), tables(inputs, attention), inputs_of(inputs)
    for phase, composition in compositions(inputs).items():
        own = {name.removeprefix(f"{phase}_"): float(value) for name, value in found.items()
               if np.ndim(value) == 0}
        yield q, layers(q, table[phase], composition.part(q.micro_batches), own), own


def in_time(attention, ways):
    """The same of single deployments of every shape and layout, half of them with other rates."""
    for index in range(24):
        inputs = one(alike(attention) if index % 2 else fleet_alike(attention, index), index)
        for q, pieces, found in phases_in_time(inputs | ways, attention):
            if q.shared_expert_ranks == 0 or q.n_shared_experts <= 1:
                # of several on a rank of their own a class counts the fixed costs of one
                yield q, pieces, found


@functools.cache
def serial(attention):
    """All pieces one after another."""
    return list(in_time(attention, UNDIVIDED | NOTHING_HIDDEN | SUMS))


def sum_of(pieces):
    """All pieces one after another [s]."""
    return length(pieces, Way())


def ordered(*times):
    for less, more in itertools.pairwise(times):
        assert less <= more * (1 + ROUNDING)


def around(pieces):
    """What is before, between and after the layers [s]."""
    return (sum(piece.time for piece in (*pieces.before, *pieces.after))
            + (pieces.stages - 1) * pieces.passed_on.time)


@both
class TestInTime:
    """The closed form of a step against a timeline of it: pieces, machines, who waits for whom."""

    def test_sums_of_pieces_and_of_classes(self, attention):
        """The longer of two sums is at most the sum of the longer ones, that at most both sums."""
        for _, pieces, found in serial(attention):
            assert sum_of(pieces) == pytest.approx(found["device_time"], rel=ROUNDING)
        for (_, pieces, found), (*_, slow) in zip(in_time(
                attention, UNDIVIDED | NOTHING_HIDDEN | PLAIN), serial(attention), strict=True):
            ordered(found["device_time"], sum_of(pieces), slow["device_time"])

    def test_a_single_batch_hides_as_in_closed_form(self, attention):
        hidden = 0
        for q, pieces, found in in_time(attention, WITHIN | NOTHING_HIDDEN | SUMS
                                        | {"overlap_efficiency": 1}):
            taken = length(pieces, Way(beside_exchange=True), q.shared_expert_ranks > 0)
            assert taken == pytest.approx(found["device_time"], rel=ROUNDING)
            hidden += found["hidden_time"] > 0
        assert hidden

    def test_halves_in_turns_and_in_streams_hide_at_most_the_shorter(self, attention):
        """The closed form counts with attention's stream what is around layers and experts."""
        for ways, streams in ((IN_TURNS, False), (IN_STREAMS, True)):
            for q, pieces, found in in_time(attention, ways | NOTHING_HIDDEN | SUMS | AT_HOME
                                            | {"overlap_efficiency": 1}):
                taken = length(pieces, Way(halves=2, streams=streams), q.shared_expert_ranks > 0)
                moved = around(pieces) - found["router_time"] + pieces.moe_layers * (
                    pieces.experts.choosing.time + pieces.experts.summed.time)
                ordered(found["device_time"], taken + 2 * moved * streams)
                ordered(taken, 2 * sum_of(pieces))

    @pytest.mark.parametrize("launch", [1e-6, 1e-4])
    def test_a_host_that_launches_ahead_is_seldom_waited_for(self, attention, launch):
        """Nowhere, if all layers are alike; else where slow ones to launch precede others."""
        for _, pieces, found in in_time(attention, UNDIVIDED | NOTHING_HIDDEN | SUMS
                                        | {"host_time_per_operator": launch}):
            taken = length(pieces, Way(launch=launch))
            longer = max(found["device_time"], found["host_time"])
            ordered(longer, taken, found["device_time"] + found["host_time"])
            if pieces.bare_layers + min(pieces.dense_layers, pieces.moe_layers) == 0:
                a_layer = longer / (pieces.dense_layers + pieces.moe_layers)
                ordered(taken, longer + around(pieces) + a_layer)


@pytest.mark.parametrize("layers_alike", [1, 10, 1000])
@pytest.mark.parametrize(("card", "links"), [(3.0, 2.0), (2.0, 3.0), (1.0, 1.0)])
def test_many_layers_hide_all_that_can_be(layers_alike, card, links):
    """Of one piece on either machine a layer, all but the first or the last one is hidden."""
    nothing = Piece(CARD, 0.0)
    pieces = Layers([], [Piece(CARD, card), Piece(LINKS, links)], [], Experts(*[nothing] * 7), [],
                    nothing, layers_alike, 0, 1)
    own, sent = 2 * layers_alike * card, 2 * layers_alike * links
    q = Inputs({"unequal_streams": 0, "shared_expert_ranks": 0, "single_batch_overlap": 0,
                "overlap_efficiency": 1, "micro_batches": 2, "host_overlap": 0,
                "second_stream_tokens": 0})
    hidden = hidden_time(q, Busy(own=own, links=sent))
    assert own + sent - length(pieces, Way(halves=2)) == pytest.approx(hidden - min(card, links))
