"""What runs side by side: micro-batches in turns, in a stream each, experts within one batch.

And a whole step against a timeline of it, in which nothing is added up (``reference.timeline``).
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from _fleet import ATTENTIONS, compositions, namespace, one, run, tables, where
from _fleet import alike as sampled
from _fleet import fleet_alike as fleet

import catalogue
from calc.closed_form.evaluate import PHASES, evaluate
from calc.physics.breakdown import Busy, hidden_time
from catalogue.deployments.knobs import DENSE
from reference.layers import CARD, LINKS, Experts, Layers, Piece, layers
from reference.timeline import Way, length

ROUNDING = 1e-9  # relative, of sums of a dozen numbers in floating point
ALL_HIDDEN = {"overlap_efficiency": 1, "host_overlap": 0, "single_token_path": 0,
              "shared_expert_ranks": 0}
IN_TURNS = ALL_HIDDEN | {"micro_batches": 2, "unequal_streams": 0}
IN_STREAMS = IN_TURNS | {"unequal_streams": 1}
UNDIVIDED = ALL_HIDDEN | {"micro_batches": 1, "single_batch_overlap": 0}
WITHIN = UNDIVIDED | {"single_batch_overlap": 1}

both = pytest.mark.parametrize("attention", ATTENTIONS)
phases = pytest.mark.parametrize("phase", PHASES)


def at_most(less, more):
    assert not where(less > more * (1 + ROUNDING), less, more)


def step(inputs, attention, phase, ways):
    """Quantities of a step, without the phase in their names."""
    return {name.removeprefix(f"{phase}_"): value
            for name, value in run(inputs, attention, **ways).items()}


def experts(found):
    """What the stream of the experts computes in two micro-batches [s]."""
    return 2 * sum(found[f"{name}_time"] for name in ("router", "shared_expert", "routed_expert"))


@both
@phases
class TestStreams:

    def test_no_step_is_shorter_than_a_stream(self, attention, phase):
        found = step(sampled(attention), attention, phase, IN_STREAMS)
        busy = found["compute_time"] + found["communication_time"]
        at_experts = experts(found) + 2 * found["exchange_time"]
        for stream in (at_experts, busy - at_experts, found["communication_time"]):
            at_most(stream, found["device_time"])

    def test_turns_are_never_slower(self, attention, phase):
        inputs = sampled(attention)
        turns, streams = (step(inputs, attention, phase, ways)["device_time"]
                          for ways in (IN_TURNS, IN_STREAMS))
        at_most(turns, streams)
        assert where(turns < streams * (1 - ROUNDING), turns)  # and some are faster

    def test_turns_are_as_fast_where_streams_are_short(self, attention, phase):
        inputs = sampled(attention)
        found, turns = (step(inputs, attention, phase, ways) for ways in (IN_STREAMS, IN_TURNS))
        hosted = 2 * (found["offload_time"] + found["fetch_time"])
        own, links = found["compute_time"] - hosted, found["communication_time"]
        at_experts = experts(found) + 2 * found["exchange_time"]
        short = np.minimum(at_experts, own + links - at_experts) >= np.minimum(own, links)
        assert short.any()
        np.testing.assert_allclose(found["device_time"][short], turns["device_time"][short],
                                   rtol=ROUNDING)

    @pytest.mark.parametrize(("ways", "switch"), [
        (UNDIVIDED, "unequal_streams"), (IN_TURNS, "single_batch_overlap")],
        ids=["a batch that is not split has no streams", "halves hide in their own way"])
    def test_a_switch_of_the_other_way_changes_nothing(self, attention, phase, ways, switch):
        inputs = sampled(attention)
        off, on = (step(inputs, attention, phase, ways | {switch: kind}) for kind in (0, 1))
        np.testing.assert_array_equal(off["step_time"], on["step_time"])


@both
@phases
class TestWithinABatch:

    def test_what_is_hidden(self, attention, phase):
        """Shared experts beside the dispatch, a third of the routed ones beside the combine."""
        found = step(sampled(attention), attention, phase, WITHIN)
        combine = found["exchange_time"] - found["dispatch_time"]
        expected = (np.minimum(found["shared_expert_time"], found["dispatch_time"])
                    + np.minimum(found["routed_expert_time"] / 3, combine))
        np.testing.assert_allclose(found["hidden_time"], expected, rtol=ROUNDING, atol=1e-15)
        assert (found["hidden_time"] > 0).any()

    def test_nothing_is_hidden_where_nothing_is_exchanged(self, attention, phase):
        found = step(sampled(attention), attention, phase, WITHIN | {
            "expert_parallel": 1, "expert_tensor_parallel": 0})
        assert (found["hidden_time"] == 0).all()


@both
@phases
def test_there_and_back_is_the_exchange(attention, phase):
    """As long either way, where a token is as wide both ways."""
    inputs = sampled(attention)
    wide = {"dispatch_element_bytes": inputs["activation_element_bytes"], "exchange_gathered": 0}
    found = step(inputs, attention, phase, wide)
    np.testing.assert_allclose(found["exchange_time"], 2 * found["dispatch_time"], rtol=ROUNDING)
    narrow = step(inputs, attention, phase, wide | {
        "dispatch_element_bytes": inputs["activation_element_bytes"] / 2})
    at_most(narrow["dispatch_time"], found["dispatch_time"])


def test_ranks_add_what_keeps_them_busy():
    one, other = Busy(*range(1, 9)), Busy(*range(10, 90, 10))
    assert one + other == Busy(*(11 * part for part in range(1, 9)))
    assert (one + other) - other == one


NOTHING_HIDDEN = {"overlap_efficiency": 0, "host_overlap": 0, "single_token_path": 0,
                  "host_time_per_operator": 0, "captured": 0}
PLAIN = {f"{name}_depth_latency": 0 for name in DENSE}  # nothing waits along the depth
LINEAR = PLAIN | {"load_overlap": 0}  # operations and bytes of a class add up as of its matmuls
AT_HOME = {"offloaded_share": 0, "fetched_share": 0}


def deployments(attention):
    """Single deployments of every shape and cut, half of them with all rates drawn anew."""
    for index in range(40):
        yield one(sampled(attention) if index % 2 else fleet(attention, index), index)


def phases_in_time(inputs, attention):
    """Of each phase: inputs as attributes, the step layer by layer, what the runtime says of it."""
    found, table, q = evaluate(inputs, attention), tables(inputs, attention), namespace(inputs)
    for phase, composition in compositions(inputs, attention).items():
        own = {name.removeprefix(f"{phase}_"): float(value) for name, value in found.items()
               if np.ndim(value) == 0}
        yield q, layers(q, table[phase], composition.part(q.micro_batches), own), own


def in_time(attention, ways):
    """The same of many deployments that run in some way."""
    for inputs in deployments(attention):
        for q, made, found in phases_in_time(inputs | ways, attention):
            if q.shared_expert_ranks == 0 or q.n_shared_experts <= 1:
                # of several on a rank of their own a class counts the fixed costs of one
                yield q, made, found


def longest_chain(made):
    """All pieces one after another [s]."""
    return length(made, Way())


def ordered(*times):
    for less, more in itertools.pairwise(times):
        assert less <= more * (1 + ROUNDING)


@both
class TestInTime:
    """The closed form of a step against a timeline of it: pieces, machines, who waits for whom."""

    def test_what_runs_one_after_another_takes_the_sum(self, attention):
        for _, made, found in in_time(attention, UNDIVIDED | NOTHING_HIDDEN | LINEAR):
            assert longest_chain(made) == pytest.approx(found["device_time"], rel=ROUNDING)

    def test_a_class_at_once_takes_no_longer_than_matmul_by_matmul(self, attention):
        """The longer of two sums is at most the sum of the longer ones, that at most both sums."""
        for ways in (PLAIN, {}):
            both_of_all = in_time(attention, UNDIVIDED | NOTHING_HIDDEN | LINEAR)
            for (_, made, found), (*_, serial) in zip(
                    in_time(attention, UNDIVIDED | NOTHING_HIDDEN | ways), both_of_all,
                    strict=True):
                ordered(found["device_time"], longest_chain(made))
                if ways:
                    ordered(longest_chain(made), serial["device_time"])

    def test_a_single_batch_hides_what_the_closed_form_says(self, attention):
        hidden = 0
        for q, made, found in in_time(attention, WITHIN | NOTHING_HIDDEN | LINEAR
                                      | {"overlap_efficiency": 1}):
            taken = length(made, Way(beside_exchange=True), q.shared_expert_ranks > 0)
            assert taken == pytest.approx(found["device_time"], rel=ROUNDING)
            hidden += found["hidden_time"] > 0
        assert hidden

    def test_a_host_awaited_a_layer_later_is_hidden_but_at_the_ends(self, attention):
        """It has nothing to do until the first layer with experts, nor after the last."""
        for q, made, found in in_time(attention, UNDIVIDED | NOTHING_HIDDEN | LINEAR
                                      | {"host_overlap": 1}):
            taken = length(made, Way(deferred=True), q.shared_expert_ranks > 0)
            on_host = made.moe_layers * made.experts.on_host.time
            of_card = longest_chain(made) - on_host
            ends = of_card - (made.moe_layers - 1) * of_layer(made) if made.moe_layers else 0
            ordered(found["device_time"], taken, found["device_time"] + min(on_host, ends))

    def test_halves_in_turns_hide_at_most_the_shorter(self, attention):
        for q, made, found in in_time(attention, IN_TURNS | NOTHING_HIDDEN | LINEAR | AT_HOME
                                      | {"overlap_efficiency": 1}):
            taken = length(made, Way(halves=2), q.shared_expert_ranks > 0)
            ordered(found["device_time"], taken, 2 * longest_chain(made))

    def test_streams_take_as_long_as_each_has_to_do(self, attention):
        """The closed form counts with attention's stream what is around layers and experts."""
        for q, made, found in in_time(attention, IN_STREAMS | NOTHING_HIDDEN | LINEAR | AT_HOME
                                      | {"overlap_efficiency": 1}):
            taken = length(made, Way(halves=2, streams=True), q.shared_expert_ranks > 0)
            experts = made.experts
            moved = around(made) - found["router_time"] + made.moe_layers * (
                experts.choosing.time + experts.summed.time)
            ordered(found["device_time"], taken + 2 * moved)
            ordered(taken, 2 * longest_chain(made))

    @pytest.mark.parametrize("launch", [1e-6, 1e-5, 1e-4])
    def test_a_host_that_launches_ahead_is_seldom_waited_for(self, attention, launch):
        """Nowhere, if all layers are alike; else where slow ones to launch precede others."""
        for _, made, found in in_time(attention, UNDIVIDED | NOTHING_HIDDEN | LINEAR
                                      | {"host_time_per_operator": launch}):
            taken = length(made, Way(launch=launch))
            longer = max(found["device_time"], found["host_time"])
            ordered(longer, taken, found["device_time"] + found["host_time"])
            if min(made.dense_layers, made.moe_layers) == 0:
                a_layer = longer / (made.dense_layers + made.moe_layers)
                ordered(taken, longer + around(made) + a_layer)


def around(made):
    """What is before, between and after the layers [s]."""
    return (sum(piece.time for piece in (*made.before, *made.after))
            + (made.stages - 1) * made.passed_on.time)


def of_layer(made):
    """The card and its links in a layer with experts [s]."""
    experts = made.experts
    return sum(piece.time for piece in (
        *made.attention, experts.choosing, experts.shared, experts.dispatch, experts.routed,
        experts.combine, experts.summed))


@pytest.mark.parametrize("layers_alike", [1, 10, 1000])
@pytest.mark.parametrize(("card", "links"), [(3.0, 2.0), (2.0, 3.0), (1.0, 1.0)])
def test_many_layers_hide_all_that_can_be(layers_alike, card, links):
    """Of one piece on either machine a layer, all but the first or the last one is hidden."""
    nothing = Piece(CARD, 0.0)
    made = Layers([], [Piece(CARD, card), Piece(LINKS, links)], [], Experts(*[nothing] * 7), [],
                  nothing, layers_alike, 0, 1)
    own, sent = 2 * layers_alike * card, 2 * layers_alike * links
    q = SimpleNamespace(unequal_streams=0, shared_expert_ranks=0, single_batch_overlap=0,
                        overlap_efficiency=1, micro_batches=2, host_overlap=0)
    hidden = hidden_time(q, Busy(own, sent, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert own + sent - length(made, Way(halves=2)) == pytest.approx(hidden - min(card, links))


def test_every_deployment_of_the_catalogue_runs_as_its_closed_form_says():
    """What is idealised: classes at once, layers alike, all that may hide; none is worth more.

    A timeline has layers that attend alike, so models with linear attention in some are left out.
    """
    worth = {"classes": 1.0, "launching": 1.0, "host": 1.0}
    shares = []
    for name in catalogue.deployment_names():
        scenario = catalogue.load_scenario(name)
        attention, inputs = scenario.model.attention, scenario.inputs()
        if inputs["linear_layers"]:
            continue
        launch = inputs["host_time_per_operator"]
        for q, made, found in phases_in_time(inputs | NOTHING_HIDDEN | {
                "host_time_per_operator": launch}, attention):
            apart, halves = q.shared_expert_ranks > 0, int(q.micro_batches)
            serial = halves * longest_chain(made)
            ordered(found["device_time"], serial)
            worth["classes"] = max(worth["classes"], serial / found["device_time"])
            launched = halves * length(made, Way(launch=launch))
            worth["launching"] = max(worth["launching"],
                                     launched / max(serial, found["host_time"]))
            if halves > 1:
                streams = bool(q.unequal_streams)
                taken = length(made, Way(halves=2, streams=streams), apart)
                shorter = min(found["compute_time"], found["communication_time"])
                ordered(0, serial - taken, shorter + serial - found["device_time"])
                shares += [] if streams else [(serial - taken) / shorter]
            if made.experts.on_host.time:
                on_host = halves * made.moe_layers * made.experts.on_host.time
                taken = length(made, Way(halves, deferred=True), apart)
                worth["host"] = max(worth["host"], taken / max(on_host, serial - on_host))
    assert all(excess < 1.07 for excess in worth.values()), worth
    assert worth["classes"] < 1.04
    assert 0.4 < min(shares) < 0.7 < max(shares) < 1  # the prior's range, about
    assert 0.7 < np.median(shares) < 0.9
