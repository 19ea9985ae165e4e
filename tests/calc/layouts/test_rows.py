"""A deployment as plain data and as a change of another: what differs, what is written of it."""

from dataclasses import replace

import pytest
from _middle import PLAIN

import catalogue
from calc.layouts.change import changed, set_line
from calc.layouts.choice import Row, Start, changes, contents, distance
from calc.searching.load_goal import load_goal

HAVE = catalogue.load_scenario("h200-r1-vllm-tp8")


def test_a_choice_as_plain_data_has_all_that_is_known():
    data = PLAIN.as_json()
    assert not {"engine", "pool"} & data.keys()
    assert (data["spares"], data["drafts"], data["devices"], len(data)) == (0, 0, 16, 16)
    pool = replace(PLAIN, engine="vllm@0.33.0", pool="decode").as_json()
    assert (pool["engine"], pool["pool"], len(pool)) == ("vllm@0.33.0", "decode", 18)


@pytest.mark.parametrize(("devices", "nodes"), [(1, 1), (8, 1), (9, 2), (16, 2), (17, 3)])
def test_servers_are_as_many_as_hold_the_cards(devices, nodes):
    assert replace(PLAIN, devices=devices).nodes == nodes


def test_how_a_deployment_starts_is_said():
    assert Start("vllm@0.33.0").text == "start with: deploy --engine vllm@0.33.0"
    none = Start(None, "no such kernel")
    assert none.text == "NO RELEASE STARTS IT: no such kernel"
    assert none.as_json() == {"engine": None, "why": "no such kernel"}


def test_a_row_as_plain_data_names_each_of_two_pools():
    one = Row(PLAIN, {"tpot": .05})
    assert one.as_json() == {"choice": PLAIN.as_json(), "set": set_line(PLAIN.settings()),
                             "quantities": {"tpot": .05}}
    over = Row(PLAIN, {}, over={"tpot": .2}).as_json()
    assert over["over"] == {"tpot": .2}
    first = replace(PLAIN, devices=8)
    pair = Row(PLAIN, {}, prefill=first, binds="transfer").as_json()
    assert pair == {"prefill": first.as_json(), "decode": PLAIN.as_json(),
                    "binds_pools": "transfer", "quantities": {}}


@pytest.mark.parametrize(("moved", "extras"), [
    ({}, 0), ({"spares": 8}, 1), ({"micro_batches": 2}, 1), ({"slices": 2}, 1), ({"slices": 1}, 0),
    ({"pipeline": 2}, 1), ({"drafts": 1}, 1), ({"drafts": 3, "spares": 1}, 2), ({"context": 2}, 0)])
def test_each_thing_that_a_plain_deployment_does_not_do_is_one(moved, extras):
    row = Row(replace(PLAIN, **moved), {})
    assert row.extras == extras
    assert Row(PLAIN, {}, prefill=row.choice).extras == extras + 1


def test_an_unknown_objective_is_the_worst_and_those_after_it_decide():
    known = Row(PLAIN, {"throughput": 5.0})
    objectives = {"cost": -1, "throughput": 1, "cards": -1}
    assert known.worth(objectives) == (-float("inf"), 5, -16)
    assert Row(PLAIN, {}).worth({"throughput": 1}) == (-float("inf"),)


def test_a_file_states_the_title_in_both_languages_and_what_is_promised():
    goal = load_goal("r1-80-users-h20", ["limits.ttft=null", "limits.tpot=50 ms"])
    file = contents(goal, PLAIN)
    assert file["title"] == {"en": f"{goal.title['en']}: 16 × nvidia-h20",
                             "zh": f"{goal.title['zh']}：16 × nvidia-h20"}
    assert file["limits"] == {"tpot": {"mean": "0.05 s"}}
    assert (file["model"], file["device"], file["precision"]) == (
        goal.model, "nvidia-h20", "fp8-block")
    assert file["cluster"] == {"node": "hgx-h20", "nodes": 2}
    free = load_goal("r1-80-users-h20", ["limits.ttft=null", "limits.tpot=null"])
    assert "limits" not in contents(free, PLAIN)
    assert contents(free, replace(PLAIN, device="ascend-910b2"))["workload"]["block_size"] == 128
    assert contents(free, replace(PLAIN, micro_batches=2))["mechanisms"] == {"micro_batches": 2}
    prefill = contents(free, replace(PLAIN, pool="prefill", expert=16))
    assert prefill["workload"]["output_tokens"] == 1
    assert prefill["mechanisms"] == {"exchange_normal": 1}


def same():
    """The reader's own deployment as a choice."""
    here = HAVE.inputs()
    return replace(PLAIN, device=HAVE.device.id, node=HAVE.node.id, devices=8, data=1,
                   precision=HAVE.precision.id, expert=int(here["expert_parallel"]),
                   chunk=int(here["max_num_batched_tokens"]),
                   concurrency=int(here["concurrency"]), drafts=int(here["draft_tokens"]))


def test_what_a_reader_s_deployment_has_and_another_has_not_is_taken_away():
    assert not set(changes(HAVE, same())) - {"engine"}
    dealt = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        "parallelism.decode_context_parallel=2"])
    assert changes(dealt, same())["parallelism.decode_context_parallel"] == 1
    assert "parallelism.decode_context_parallel" not in changes(dealt, replace(same(), context=2))
    sliced = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        "parallelism.expert_tensor_parallel=8"])
    assert changes(sliced, replace(same(), slices=0))["parallelism.expert_tensor_parallel"] == 0
    assert "parallelism.expert_tensor_parallel" not in changes(sliced, replace(same(), slices=8))
    other = changes(HAVE, replace(same(), data=2, concurrency=7))
    assert other == {"parallelism.data_parallel": 2, "workload.concurrency": 7}
    assert changes(HAVE, replace(same(), utilization=70)) == changes(HAVE, same())


@pytest.mark.parametrize(("moved", "far"), [
    ({}, (False, False, 0, 0)), ({"devices": 16}, (False, True, 1, .9175378)),
    ({"precision": "bf16"}, (False, False, 1, 0)), ({"device": "nvidia-h20"}, (True, False, 1, 0)),
    ({"tensor": 17}, (False, False, 1, 1)), ({"data": 7}, (False, False, 1, 2)),
    ({"data": 0}, (False, False, 1, 1)), ({"chunk": 1, "concurrency": 9}, None)])
def test_a_deployment_is_the_farther_the_more_moves_by_the_more_doublings(moved, far):
    """Each size counts one more than it is: from 8 to 17 it doubles, from 1 to 0 it halves."""
    told = distance(HAVE, Row(replace(same(), **moved), {}))
    if far is None:
        assert told[2] == 1  # requests are no part of it
        return
    assert told[:3] == far[:3]
    assert told[3] == pytest.approx(far[3])


def test_what_is_changed_of_a_deployment_keeps_where_it_comes_from():
    moved = changed(HAVE, {"parallelism.tensor_parallel": 4, "parallelism.data_parallel": "2",
                           "workload.max_num_batched_tokens": 512, "precision": "bf16",
                           "parallelism.balancing": "periodic"})
    before, after = HAVE.file.parallelism, moved.file.parallelism
    size = after.tensor_parallel
    assert (size.value, size.low, size.high, size.written) == (4, 4, 4, "4")
    assert (size.note, size.others, size.source) == (None, (), before.tensor_parallel.source)
    assert (after.data_parallel.value, after.balancing) == (2, "periodic")
    assert after.expert_parallel == before.expert_parallel
    assert moved.file.workload.max_num_batched_tokens.value == 512
    assert moved.file.workload.input_tokens == HAVE.file.workload.input_tokens
    assert moved.precision.id == "bf16"
    assert moved.inputs()["tensor_parallel"] == 4
    assert HAVE.file.parallelism.tensor_parallel.value == 8
    assert changed(HAVE, {}) == HAVE


def test_settings_stand_on_a_line_that_a_shell_takes_apart_again():
    assert set_line({"a.b": 3, "device": "my card; rm -rf x.yml"}) == (
        "--set a.b=3 --set 'device=my card; rm -rf x.yml'")
    assert set_line({}) == ""
