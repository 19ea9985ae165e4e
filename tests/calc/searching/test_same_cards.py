"""What else runs on the same cards, wider limits, and the best inside of what was measured."""

from dataclasses import replace
from types import SimpleNamespace as Made

import pytest
from _middle import BASE, PLAIN

import catalogue
from calc.launching import starting
from calc.layouts.choice import Row
from calc.searching import same_cards as module
from calc.searching.goal import Wishes
from calc.searching.load_goal import load_goal
from calc.searching.same_cards import Advice, Alternatives, Relaxed, inside, relaxed

SCENARIO = catalogue.load_scenario("h200-r1-vllm-tp8")
OWN = {name: SCENARIO.inputs()[name] for name in (
    "max_num_batched_tokens", "input_tokens", "output_tokens", "draft_tokens", "micro_batches")}


def test_the_goal_of_a_deployment_asks_the_most_for_its_own_requests_on_its_own_cards():
    goal = module._goal(SCENARIO)
    assert (goal.cards.fewest, goal.cards.most) == (8, 8)
    assert (goal.demand.input_tokens, goal.demand.output_tokens, goal.demand.arrivals) == (
        OWN["input_tokens"], OWN["output_tokens"], "burst")
    assert goal.demand.users == SCENARIO.file.workload.concurrency.value
    assert goal.objectives == ["throughput", "ttft"]
    space = goal.space
    assert space.chunks == sorted({2048, 8192, int(OWN["max_num_batched_tokens"])})
    assert (space.spares, space.pools, space.decode_context) == (["none", "fewest"], ["one"], [1])
    assert (space.drafts, space.micro_batches) == ([OWN["draft_tokens"]], [OWN["micro_batches"]])
    assert space.memory_utilization == [round(100 * SCENARIO.inputs()["memory_utilization"])]
    assert space.staged_drafts is None
    offer, = goal.devices
    assert (offer.device, offer.node) == (SCENARIO.device.id, SCENARIO.node.id)
    staged = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        "parallelism.pipeline_parallel=2", "parallelism.tensor_parallel=4"])
    assert module._goal(staged).space.staged_drafts is True


def test_settings_of_a_choice_are_those_that_are_not_the_deployment_s_own():
    own = replace(PLAIN, device=SCENARIO.device.id, node=SCENARIO.node.id, devices=8, data=1,
                  precision=SCENARIO.precision.id, expert=int(SCENARIO.inputs()["expert_parallel"]),
                  chunk=int(OWN["max_num_batched_tokens"]))
    assert module._settings(SCENARIO, own) == {}
    moved = replace(own, tensor=4, data=2, chunk=1024, precision="bf16", concurrency=7)
    assert module._settings(SCENARIO, moved) == {
        "parallelism.tensor_parallel": 4, "parallelism.data_parallel": 2, "precision": "bf16",
        "workload.max_num_batched_tokens": 1024}
    sliced = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        "parallelism.decode_context_parallel=2"])
    assert module._settings(sliced, own) == {"parallelism.decode_context_parallel": 1}


def advice(rate):
    return Advice({}, "fp8-block", {"output_throughput": rate}) if rate else None


@pytest.mark.parametrize(("found", "own", "itself", "best"), [
    (9, 5, 7, (9, 7)), (9, 8, 7, (9, 8)), (None, None, 7, (7, 7)), (3, 2, None, (3, 2)),
    (None, None, None, (None, None)), (6, 6, 7, (7, 7))])
def test_a_deployment_that_is_the_best_is_its_own_best(found, own, itself, best, monkeypatch):
    of = iter([advice(found), advice(own), advice(4)])
    monkeypatch.setattr(module, "_advice", lambda *_: next(of))
    monkeypatch.setattr(module, "_as_it_is", lambda _: advice(itself))
    monkeypatch.setattr(module, "search", lambda *_, **__: None)
    asked = []
    monkeypatch.setattr(module, "Answer", lambda _: Made(
        central=1, central_of=asked.append, official_precision="fp8-block",
        result=Made(funnel=Made(deployments=77))))
    told = module.alternatives(SCENARIO)
    assert tuple(each and each.quantities["output_throughput"] for each in (
        told.best, told.own)) == best
    assert (told.official.quantities["output_throughput"], told.tried) == (4, 77)
    assert asked == [SCENARIO.precision.id, "fp8-block"]
    assert told.as_json()["tried"] == 77
    hosted = Made(file=Made(offload=1))
    assert module.alternatives(hosted) == Alternatives(None, None, None, None, 0)


def test_a_wider_limit_lets_in_what_is_over_it_by_no_more_than_that(monkeypatch):
    """1% and 10%: 50 ms are 50.5 and 55, a floor of 1010 tokens a second is 1000 and 918."""
    given = []
    rows = [Row(replace(PLAIN, devices=devices), {"tpot": tpot, "throughput": rate, "ttft": 1.0})
            for devices, tpot, rate in ((32, .049, 1010.), (24, .0504, 1020.), (16, .054, 1015.),
                                        (8, .0499, 1001.), (4, .03, 917.))]

    def search(goal, **more):
        given.append((goal.limits, more))
        return Made(wishes=Wishes(goal, {"cards": -1}, 1, {}, ()), front=None, rows=lambda _: rows)

    monkeypatch.setattr(module, "search", search)
    goal = load_goal("r1-80-users-h20", ["limits.ttft=null", "limits.throughput=1010 token/s"])
    told = {(each.limit, each.factor): each for each in relaxed(goal, workers=3)}
    assert {key: each.row and each.row.devices for key, each in told.items()} == {
        ("tpot", 1.01): 24, ("tpot", 1.1): 16, ("throughput", 1.01): 8, ("throughput", 1.1): 8}
    assert told["tpot", 1.1].to == pytest.approx(.055)
    assert told["throughput", 1.01].to == pytest.approx(1000)
    (limits, more), = given
    assert (limits.tpot, limits.throughput, limits.sure) == (
        pytest.approx(.055), pytest.approx(1010 / 1.1), 0)
    assert more == {"workers": 3, "paired": False}
    rows[:] = rows[-1:]
    assert all(each.row is None for each in relaxed(goal))
    none = Relaxed("tpot", 1.1, .055, None).as_json()
    assert none == {"limit": "tpot", "factor": 1.1, "to": .055, "best": None}


def replicas(count, rate, per_rank=4, **moved):
    return Row(replace(PLAIN, devices=8 * count, data=count, concurrency=8 * count * per_rank,
                       **moved), {"throughput_per_card": rate})


def test_of_replicas_the_fewest_are_told_unless_more_are_better_by_half_a_percent():
    kept = module._smallest([replicas(4, 1006.), replicas(2, 1004.), replicas(1, 1000.)],
                            {"throughput_per_card": 1})
    assert [row.devices for row in kept] == [32]
    kept = module._smallest([replicas(2, 1004.), replicas(1, 1000.)], {"throughput_per_card": 1})
    assert [row.devices for row in kept] == [8]
    other = [replicas(1, 1000.), replicas(2, 900., per_rank=5), replicas(2, 900., chunk=1)]
    assert len(module._smallest(other, {"throughput_per_card": 1})) == 3


COVERED = {"requests": (2, 6), "tensor": (4, 8), "expert": (8, 8), "drafts": (0, 1),
           "pipeline": (1, 2)}


def goals(*settings, covered=COVERED):
    goal = load_goal("r1-80-users-h20", ["space.drafts=0,1,2", *settings])
    return list(module._within(goal, BASE, covered))


def test_a_goal_is_searched_again_within_what_was_measured():
    """80 users at 6 a card take 14 cards at least."""
    one, = goals("devices=nvidia-h20-141gb,nvidia-h20")
    assert (one.cards.fewest, one.cards.most, one.precisions) == (14, 64, ["fp8-block"])
    assert [offer.device for offer in one.devices] == ["nvidia-h20"]
    space = one.space
    assert (space.tensor, space.pipeline, space.expert, space.drafts, space.pools) == (
        [4, 5, 6, 7, 8], [1, 2], [8], [0, 1], ["one"])
    stated, = goals("space.tensor=2,4,8,16", "space.pipeline=2,4", "space.expert=1,8",
                    "cards.fewest=20")
    assert (stated.space.tensor, stated.space.pipeline, stated.cards.fewest) == ([4, 8], [2], 20)
    assert [one.cards.fewest for one in goals("cards.most=14")] == [14]
    assert goals("cards.most=13") == []
    for name in ("tensor", "pipeline", "expert", "drafts"):
        assert goals(f"space.{name}=3") == [] or name == "tensor"
    assert goals("space.tensor=3") == []


def test_without_users_each_replica_has_the_requests_that_were_measured_a_card():
    each = goals("demand.users=null", "space.tensor=4,8", "space.batches=1,24,25,48,96,97",
                 "space.pipeline=1,2")
    assert [(one.space.tensor, one.space.pipeline, one.space.batches) for one in each] == [
        ([4], [1], [1, 24]), ([4], [2], [1, 24, 25, 48]), ([8], [1], [1, 24, 25, 48]),
        ([8], [2], [1, 24, 25, 48, 96])]
    assert {one.cards.fewest for one in each} == {1}
    assert goals("demand.users=null", "space.tensor=4", "space.batches=97") == []


def answer(*, outside=True, best=PLAIN, keeps=True, starts=True, covered=None, front=True,
           objectives=None, unpriced=(), limits=True):
    """An answer whose best lies outside of what was measured, in one base."""
    covered = {"device": (BASE.device,), "precision": (BASE.precision,), "pools": (1,),
               "requests": (2, 6)} | (covered or {})
    near = Made(outside=outside, axes=[Made(name=name, covered=each)
                                       for name, each in covered.items()])
    goal = load_goal("r1-80-users-h20", [] if limits else ["limits.tpot=null", "limits.ttft=null"])
    asked = Wishes(goal, objectives or {"throughput_per_card": 1}, 1, {}, unpriced)
    told = {}
    return Made(
        best=best and Row(best, {}), near=lambda row: near, told=told,
        offers=lambda row: starts, best_of=lambda rows: (told.setdefault("rows", []).append(
            [row.choice.chunk for row in rows]) or (rows[0] if rows else None)),
        simulated=lambda row: None if keeps is None else Made(
            keeps=keeps is True or row.choice.chunk == keeps),
        result=Made(wishes=asked, bases=[BASE], of_bases=[
            Made(front=Made(rows={"base": [0]} if front else {}))], rows=lambda front, most=None: [
                Row(PLAIN, {})][:most]))


def test_the_best_inside_keeps_its_limits_on_cards_and_formats_that_were_measured(monkeypatch):
    """Two to six requests a card: of 16 cards 32 to 96."""
    rows = [Row(replace(PLAIN, chunk=chunk, concurrency=count), {"throughput_per_card": 9.0})
            for chunk, count in ((1, 31), (2, 32), (3, 96), (4, 97))]
    monkeypatch.setattr(module, "_within", lambda goal, base, covered: [goal])
    monkeypatch.setattr(module, "search", lambda goal, paired: Made(
        front=None, rows=lambda _: [] if paired else rows))
    some = answer()
    assert inside(some).choice.chunk == 2
    assert some.told["rows"] == [[2, 3]]
    assert inside(answer(keeps=None)).choice.chunk == 2
    assert inside(answer(keeps=3)).choice.chunk == 3
    assert inside(answer(keeps=False)) is None
    assert inside(answer(starts=False)) is None
    assert inside(answer(outside=False)).choice == PLAIN
    assert inside(answer(best=None)) is None
    assert inside(answer(front=False)) is None
    for name, other in (("device", ("nvidia-b200",)), ("precision", ("bf16",)), ("pools", (2,))):
        assert inside(answer(covered={name: other})) is None
    cost = {"cost": -1}
    assert inside(answer(objectives=cost, unpriced=(BASE.device,))) is None
    assert inside(answer(objectives=cost)).choice.chunk == 2
    assert inside(answer(unpriced=(BASE.device,))).choice.chunk == 2
    few = answer(limits=False)
    rows[:] = [replicas(2, 9.0), replicas(1, 9.0)]
    assert inside(few).devices == 8


class TestInside:
    """The best of what was measured near, beside a best that lies outside of it."""

    def test_it_lies_inside_on_every_axis_and_keeps_the_limits_simulated(self):
        answer = starting.search("r1-64-users-8xh20")
        found = inside(answer)
        assert answer.near(answer.best).outside
        assert found is not None
        assert not answer.near(found).outside
        assert answer.offers(found)
        told = answer.simulated(found)
        assert told is None or told.keeps
        # nothing inside was passed over that the first search had found, and is surely better
        known = [row for kept in answer.result.of_bases for row in answer.result.rows(kept.front)
                 if not answer.near(row).outside]
        wanted = answer.result.wishes.chosen
        assert known
        assert all(found.worth(wanted)[0] >= 0.8 * row.worth(wanted)[0] for row in known)

    def test_a_best_that_lies_inside_is_the_answer(self):
        answer = starting.search("r1-64-users-8xh20", ["precisions=fp8-block", "space.drafts=0"])
        assert not answer.near(answer.best).outside
        assert inside(answer) == answer.best

    def test_where_nothing_was_measured_there_is_none(self):
        answer = starting.search("r1-64-users-8xh20", ["precisions=w4afp8"])
        assert answer.near(answer.best).outside
        assert inside(answer) is None
