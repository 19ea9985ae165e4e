"""What runs side by side: two micro-batches in turns or in streams, experts within one batch.

And a whole step against a timeline of it, in which nothing is added up (``reference.timeline``).
"""

import functools
import itertools

import numpy as np
import pytest
from _fleet import ATTENTIONS, compositions, fleet_alike, one, tables
from _fleet import alike as sampled

from calc.closed_form.evaluate import evaluate
from calc.physics.arrays import Inputs
from calc.physics.breakdown import Busy, hidden_time
from catalogue.deployments.physics_inputs import DENSE
from reference.layers import CARD, LINKS, Experts, Layers, Piece, layers
from reference.steps import inputs_of
from reference.timeline import Way, length

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
    for phase, composition in compositions(inputs, attention).items():
        own = {name.removeprefix(f"{phase}_"): float(value) for name, value in found.items()
               if np.ndim(value) == 0}
        yield q, layers(q, table[phase], composition.part(q.micro_batches), own), own


def in_time(attention, ways):
    """The same of single deployments of every shape and layout, half of them with other rates."""
    for index in range(24):
        inputs = one(sampled(attention) if index % 2 else fleet_alike(attention, index), index)
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
