"""A step taken apart by hand: its parts, what binds each of them, what runs beside something else.

Times are whole numbers of seconds, different ones of every part.
"""

from types import SimpleNamespace

import pytest

from calc.physics.breakdown import (
    CLASSES,
    DEVICE,
    Busy,
    added_time,
    bottleneck,
    bound_by,
    busy,
    busy_in,
    cores_in,
    hidden_time,
    parts,
    token_parts,
)

HALVES = 2
TIMES = {name: 3.0 + at for at, name in enumerate(DEVICE)}  # of a micro-batch: 3, 4, 5, ...
BANDWIDTH, PEAK = 5.0, 35.0  # 7 operations to a byte
COMPUTING = ("core", "router")  # classes of 8 operations to a byte; the others have 7
INPUTS = {"micro_batches": HALVES, "host_gap_per_step": 0.25, "draft_tokens": 2,
          "memory_bandwidth": BANDWIDTH, **{f"{name}_peak": PEAK for name in CLASSES}}


def quantities(phase="decode", device=400.0, host=410.0):
    """Of a step in which the host takes ten seconds longer than the card."""
    return {**{f"{phase}_{name}_time": time for name, time in TIMES.items()},
            **{f"{phase}_{name}_bytes": 11.0 for name in CLASSES},
            **{f"{phase}_{name}_flops": 88.0 if name in COMPUTING else 77.0 for name in CLASSES},
            f"{phase}_device_time": device, f"{phase}_host_time": host,
            f"{phase}_hidden_time": 17.0, f"{phase}_saved_time": 0.5,
            f"{phase}_draft_pass_time": 6.0,
            "tokens_per_step": 4.0, "draft_time": 9.0, "decode_stall": 1.5}


class TestParts:
    def test_a_step_of_decode(self):
        assert parts(INPUTS, quantities()) == {
            **{name: 2 * time for name, time in TIMES.items()}, "overlap": -17.0,
            "single_token_path": -0.5, "host": 10.0, "host_gap": 0.25}

    @pytest.mark.parametrize("phase", ["prefill", "burst"])
    @pytest.mark.parametrize(("drafts", "drafted"), [(0, 0), (0.5, 6), (1, 6), (2, 6)])
    def test_prompts_pass_the_layer_that_drafts_once_if_there_is_one(self, phase, drafts, drafted):
        found = parts(INPUTS | {"draft_tokens": drafts}, quantities(phase), phase)
        assert found == parts(INPUTS, quantities()) | {"draft": drafted}

    def test_a_host_that_is_quicker_takes_nothing(self):
        assert parts(INPUTS, quantities(device=410.0, host=400.0))["host"] == 0

    def test_a_token_has_a_share_of_the_step_and_its_stall(self):
        """Four tokens a step, whose drafting takes nine seconds."""
        found = token_parts(INPUTS, quantities())
        of_step = {name: time / 4 for name, time in parts(INPUTS, quantities()).items()}
        assert found == of_step | {"draft": 9 / 4, "stall": 1.5}


class TestWhatBinds:
    def test_a_class_by_its_operations_for_a_byte(self):
        """At seven, as many as the card multiplies for a byte that it reads, both take as long."""
        twice = {name: 2 * time for name, time in TIMES.items()}
        computed = sum(twice[name] for name in COMPUTING)
        assert bound_by(INPUTS, quantities()) == pytest.approx({
            "memory_bandwidth": sum(twice[name] for name in CLASSES) - computed + twice["vector"],
            "l2_bandwidth": twice["dequantisation"], "compute": computed,
            "communication": sum(twice[name] for name in (
                "all_reduce", "exchange", "pipeline", "context_exchange")),
            "host": 10 + twice["offload"] + twice["fetch"],
            "fixed_costs": twice["boundary"] + 0.25})

    def test_the_layer_that_drafts_is_bound_like_the_others(self):
        plain = bound_by(INPUTS, quantities())
        drafting = bound_by(INPUTS, quantities("prefill"), "prefill")
        whole = sum(plain.values())
        assert drafting == pytest.approx(
            {name: time * (whole + 6) / whole for name, time in plain.items()})

    @pytest.mark.parametrize(("name", "resource"), [
        ("core", "compute"), ("head", "memory_bandwidth"), ("vector", "memory_bandwidth"),
        ("dequantisation", "l2_bandwidth"), ("pipeline", "communication"), ("fetch", "host"),
        ("offload", "host"), ("boundary", "fixed_costs"), ("exchange", "communication")])
    @pytest.mark.parametrize("phase", ["decode", "burst"])
    def test_the_bottleneck_is_what_takes_longest(self, phase, name, resource):
        assert bottleneck(INPUTS, quantities(phase) | {f"{phase}_{name}_time": 1000.0},
                          phase) == resource


STEP = {"compute": 100.0, "communication": 40.0, "saved": 2.0, "offload": 3.0, "fetch": 5.0,
        "router": 1.0, "shared_expert": 6.0, "routed_expert": 9.0, "exchange": 14.0,
        "dispatch": 4.0}
# two micro-batches: 100 less 16 of the host and 2 saved; experts 2 (1 + 6 + 9)
KEPT = Busy(own=82.0, links=40.0, on_host=16.0, experts=32.0, routed=18.0, shared=12.0,
            exchange=28.0, dispatch=8.0)
WAYS = {"micro_batches": 1, "unequal_streams": 0, "shared_expert_ranks": 0,
        "single_batch_overlap": 0, "overlap_efficiency": 1, "host_overlap": 0}


def hidden(kept=KEPT, **ways):
    return hidden_time(SimpleNamespace(**WAYS | ways), kept)


def of_step(**ways):
    """The same step as an object, and inputs of two micro-batches in turns."""
    times = {f"{name}_time": time for name, time in STEP.items()}
    own = {"hidden_time": 40.0, "core_time": 7.0, "index_time": 11.0, "context_exchange_time": 0.5}
    return SimpleNamespace(**WAYS | {"micro_batches": 2} | ways), SimpleNamespace(**times | own)


class TestBusy:
    def test_what_keeps_card_links_and_host_busy(self):
        assert busy(2, STEP) == KEPT
        assert busy_in(*of_step()) == KEPT

    def test_cores_and_what_is_sent_for_them_of_all_micro_batches(self):
        assert cores_in(*of_step()) == Busy(own=36.0, links=1.0)

    def test_nothing_is_busy_unless_it_is_said(self):
        assert set(vars(Busy()).values()) == {0}

    def test_times_and_differences_part_by_part(self):
        assert KEPT * 3 == KEPT + KEPT + KEPT
        assert KEPT - KEPT * 0.5 == KEPT * 0.5


@pytest.mark.parametrize(("ways", "time"), [
    ({}, 0),
    ({"single_batch_overlap": 1}, 8 + 18 / 3),  # shared ones beside dispatch, a third of routed
    ({"single_batch_overlap": 1, "overlap_efficiency": 0.5}, 7),
    ({"single_batch_overlap": 1, "shared_expert_ranks": 1}, (18 + 12) / 3),  # nothing is ready
    ({"micro_batches": 2}, 40),  # all of the links
    ({"micro_batches": 2, "single_batch_overlap": 1}, 40),
    ({"micro_batches": 2, "unequal_streams": 1}, 40),  # of experts 60, of attention 62
    ({"micro_batches": 2, "overlap_efficiency": 0.25}, 10),
    ({"host_overlap": 1}, 16),
    ({"host_overlap": 0.5}, 8),
    ({"micro_batches": 2, "host_overlap": 0.5}, 40 + 8),
])
def test_what_runs_beside_something_longer(ways, time):
    assert hidden(**ways) == pytest.approx(time)


@pytest.mark.parametrize(("own", "links", "experts", "exchange", "on_host", "time"), [
    (50, 80, 32, 28, 0, 50),  # the card is the shorter one
    (82, 40, 20, 10, 0, 30),  # the stream of the experts is
    (82, 40, 80, 35, 0, 7),  # that of attention is
    (82, 40, 32, 28, 90, 40 + 82),  # a host that takes longer than all else hides all else
])
def test_no_more_is_hidden_than_the_shorter_stream_has(own, links, experts, exchange, on_host,
                                                        time):
    kept = Busy(own=own, links=links, on_host=on_host, experts=experts, exchange=exchange)
    assert hidden(kept, micro_batches=2, unequal_streams=1, host_overlap=1) == time


@pytest.mark.parametrize(("dispatch", "shared", "routed", "time"), [
    (8, 5, 18, 5 + 6), (8, 12, 66, 8 + 20), (28, 30, 66, 28)])
def test_within_a_batch_each_hides_beside_its_own_way(dispatch, shared, routed, time):
    """Shared experts beside the way there, routed ones beside the 28 seconds less that."""
    kept = Busy(own=82, links=40, routed=routed, shared=shared, exchange=28, dispatch=dispatch)
    assert hidden(kept, single_batch_overlap=1) == time


@pytest.mark.parametrize(("more", "ways", "longer"), [
    (Busy(own=5), {}, 5),  # the links are hidden already
    (Busy(links=5), {}, 0),  # beside 82 of the card
    (Busy(links=50), {}, 50 - 42),
    (Busy(on_host=5), {}, 5),
    (Busy(on_host=5), {"host_overlap": 1}, 5 - 5 - 16),  # 16 of the host were not hidden before
    (Busy(own=-50), {}, -50 + 8),  # of 32 left to the card 40 cannot be hidden
])
def test_what_more_work_adds_is_less_what_of_it_is_hidden(more, ways, longer):
    assert added_time(*of_step(**ways), more) == pytest.approx(longer)
