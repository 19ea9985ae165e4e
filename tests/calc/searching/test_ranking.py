"""What a search tells first: what can be stood for, keeps its limits, and was measured near."""

import itertools

import numpy as np
import pytest

from calc.closed_form.evaluate import evaluate
from calc.layouts.choice import scenario
from calc.searching.load_goal import load_goal
from calc.searching.robust import SPARE
from calc.searching.search import search


def test_what_is_told_keeps_its_limits_at_their_percentiles_simulated(cli):
    import json

    code, out, _ = cli("search", "r1-80-users-h20", "--json", "--cards", "16",
                       *itertools.chain(*(("--set", text) for text in (
                           "devices=nvidia-h20-141gb", "precisions=fp8-block",
                           "space.chunks=8192", "space.drafts=0", "space.spares=none",
                           "space.pools=one", "limits.ttft.p90=2s", "limits.tpot=80ms"))))
    answer = json.loads(out)
    assert code == 0
    for each, *_ in answer["front"]:
        seen = each["simulated"]["seen"]
        assert each["simulated"]["keeps"]
        assert seen["ttft"]["p90"] <= 2
        assert seen["tpot"]["mean"] <= 0.08
    assert not any(each["simulated"]["keeps"] for each in answer["missed"])


@pytest.fixture(scope="module")
def server():
    from calc.searching.result import Answer

    return Answer(search(load_goal("r1-64-users-8xh20", ["space.pools=one"])))


def test_what_cannot_be_told_apart_stands_together(server):
    from calc.searching.robust import apart

    for group in server.ranking:
        for each in group[1:]:
            assert each.row.layout == group[0].row.layout or not apart(
                group[0], each, server.result.wishes.chosen)
    for one, other in itertools.combinations([group[0] for group in server.ranking], 2):
        assert apart(one, other, server.result.wishes.chosen)


def test_the_ranking_is_the_same_in_whatever_order_and_by_two_processes(server):
    from calc.searching.result import Answer
    from calc.searching.robust import ranked, sample_rows

    def names(groups):
        return [[each.row.choices for each in group[:1]] for group in groups]

    turned = sample_rows(server.result, server.candidates[::-1])
    assert names(ranked(server.result, turned, 12)) == names(server.ranking)
    other = Answer(search(load_goal("r1-64-users-8xh20", ["space.pools=one"]), workers=2))
    assert names(other.ranking) == names(server.ranking)


def test_a_little_more_of_the_first_objective_does_not_beat_a_third_of_the_second():
    """And of what neither tells apart, the surest leads, then the plainest."""
    from dataclasses import replace

    from calc.searching.robust import ranked

    found = search(load_goal("r1-64-users-8xh20", [
        "space.pools=one", "objectives=throughput_per_card,tpot", "limits.tpot=100 ms"]))
    from calc.searching.robust import sample_rows

    one, = sample_rows(found, found.rows(found.front, 1))

    def like(batch, rate, pace, spares=0):
        choice = replace(one.row.choice, concurrency=batch, chunk=batch, spares=spares)
        wave = np.linspace(0.9, 1.1, 400)
        return replace(one, row=replace(one.row, choice=choice), scatter={
            "throughput_per_card": 0.05, "tpot": 0.05}, quantities={
            "throughput_per_card": rate * wave[::-1], "tpot": pace * wave})

    slow, fast = like(1, 178.4, 0.0978), like(2, 178.1, 0.0342)
    assert ranked(found, [slow, fast], 2)[0][0] is fast
    much = like(3, 300.0, 0.09)
    assert ranked(found, [slow, fast, much], 3)[0][0] is much
    extra = like(4, 178.1 * 1.02, 0.0342 / 1.02, spares=8)
    groups = ranked(found, [extra, fast], 2)
    assert groups[0] == [fast, extra]
    unsure = like(5, 400.0, 0.12)  # over its limit in most draws
    assert ranked(found, [unsure, fast], 2)[0][0] is fast


def test_what_holds_in_eight_of_ten_draws_decides_not_the_centre():
    from calc.layouts.choice import Row
    from calc.searching.robust import SampledRow

    row = Row(None, {"tpot": 1.0})
    wide = SampledRow(None, row, {"tpot": np.linspace(0.5, 3.0, 400)})
    narrow = SampledRow(None, row, {"tpot": np.linspace(1.1, 1.3, 400)})
    assert wide.stands_for("tpot", -1) == pytest.approx(-2.5, rel=0.01)
    assert narrow.stands_for("tpot", -1) > wide.stands_for("tpot", -1)


def test_an_answer_says_what_was_measured_near_it_and_what_the_goal_leaves_out(cli):
    import json

    arguments = ("search", "r1-64-users-8xh20", "--set", "space.pools=one", "--set",
                 "precisions=fp8-block")
    code, out, _ = cli(*arguments, "--json")
    answer = json.loads(out)
    assert code == 0
    assert "two pools" in answer["left_out"]
    assert "w8a8-int8" in answer["left_out"]
    for each, *_ in answer["front"]:
        axes = {axis["axis"]: axis for axis in each["near"]["axes"]}
        assert {"requests", "tensor", "expert", "pipeline", "drafts", "precision", "device",
                "pools"} == axes.keys()
        assert each["near"]["distance"] == pytest.approx(
            sum(axis["beyond"] for axis in axes.values()))
    code, out, _ = cli(*arguments)
    assert "Left out by the goal: " in out
    assert "Measured nearest: " in out


def test_the_longest_context_fits_and_one_token_more_does_not():
    found = search(load_goal("r1-longest-context-8x910b4", ["precisions=w4a8-int8"]))
    row = found.rows(found.front, 1)[0]
    deployed = scenario(found.wishes.goal, row.choice)
    longest = row.quantities["longest_context"]
    for tokens, fits in ((longest, True), (longest + 1, False)):
        room = evaluate(deployed.inputs() | {"context_tokens": tokens}, deployed.model.attention)
        assert (float(room["headroom_per_device"]) >= 0) is fits


def test_two_pools_take_limits_of_power_and_say_what_they_draw():
    found = search(load_goal("v3-16xh200", [
        "space.pools=two", "limits.power=25 kW", "space.chunks=8192", "space.batches=16,64"]))
    rows = found.pairs.rows()
    assert rows
    assert all(0 < row.quantities["power"] <= 25_000 for row in rows)


def test_margins_that_are_tried_grow_from_none_to_half_of_a_limit():
    assert (SPARE[0], SPARE[-1]) == (1, 2)
    assert list(SPARE) == sorted(set(SPARE))
