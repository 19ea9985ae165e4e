"""A search tries all that a goal allows: its front is that of brute force, whatever the chunks."""

import itertools
import os
import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import catalogue
from calc.closed_form.evaluate import evaluate
from calc.layouts.choice import scenario
from calc.layouts.space import AXES, Space, choice_at
from calc.many.fronts import front
from calc.searching import search as module
from calc.searching.candidates import STEADY, CandidateCells, as_asked
from calc.searching.goal import wishes
from calc.searching.left_out import COUNTED
from calc.searching.load_goal import load_goal
from calc.searching.search import search

SMALL = ("space.chunks=2048,8192", "space.drafts=0,1", "space.spares=none,per-rank")
DEVICES = ("nvidia-h20", "nvidia-h200-sxm", "ascend-910b2", "nvidia-b200", "ascend-910c-die")
DRAWN = 10  # kinds of each base, one deployment of each: 200 in all
SOME = ("tensor_parallel", "pipeline_parallel", "data_parallel", "expert_parallel")


def random_settings(seed):
    """A small goal of one or two devices, with or without limits, users, objectives."""
    draw = random.Random(seed)
    devices = draw.sample(DEVICES, draw.choice((1, 1, 2)))
    most = draw.choice((8, 16, 32))
    settings = [*SMALL, f"devices={','.join(devices)}", "cards.fewest=1", f"cards.most={most}",
                f"precisions={draw.choice(('w8a8-int8', 'fp8-block,w8a8-int8', 'w4a16-awq'))}",
                f"demand.input_tokens={draw.choice((256, 2048, 8192))}",
                f"demand.output_tokens={draw.choice((1, 64, 1024))}",
                "space.memory_utilization=0.9"]
    kind = draw.choice(("users", "users", "full", "rate", "thinking"))
    users = draw.choice((1, 7, 64))
    settings += {"users": [f"demand.users={users}"], "full": ["space.batches=1,3,16,40"],
                 "rate": ["demand.arrival_rate=0.3 request/s", "space.batches=1,2,4,8,32"],
                 "thinking": [f"demand.users={users}", "demand.think_time=10s",
                              "space.batches=1,2,4,8,32"]}[kind]
    if draw.random() < 0.6:
        settings.append(f"limits.tpot={draw.choice((20, 50, 100))}ms")
    if draw.random() < 0.4:
        settings.append(f"limits.ttft={draw.choice((1, 5))}s")
    settings.append("objectives=" + ",".join(draw.sample(
        ("throughput_per_card", "tpot", "ttft", "cards", "throughput"), draw.choice((1, 2, 3)))))
    return kind, settings


def goal_of(kind, settings):
    """The stored goal with other settings; without users where it has none of its own."""
    if kind not in ("users", "thinking"):
        settings = [*settings, "demand.users=null"]
    return load_goal("r1-64-users-8xh20", settings)


def brute(goal):
    """Every deployment with every number of requests, computed whole without any bound."""
    space = Space(goal)
    asked = wishes(space)
    names, rows = list(asked.objectives), []
    demand = goal.demand
    alone = demand.users is not None and not demand.think_time
    wanted = None if alone else demand.arrival_rate or demand.users
    reached = "steady_users" if demand.arrival_rate is None else "steady_request_throughput"
    for base in space.bases():
        for cells in space.cells(base):
            first = space.first(base, cells)
            tried = CandidateCells(first.inputs(), first.model.attention, demand)
            listed = np.array([demand.users] if alone else goal.space.batches)
            every = {name: np.repeat(cells[name], len(listed)) for name in AXES}
            every["concurrency"] = np.tile(listed, len(cells["data"])) * (
                1 if alone else every["data"])
            seen = tried.served(every, (reached,))
            keep = tried.spare(every) >= 0
            if wanted is not None:
                enough = (keep & (seen[reached] >= wanted)).reshape(-1, len(listed))
                keep = (enough & (np.cumsum(enough, axis=1) == 1)).reshape(-1)
            if wanted is not None:
                seen = as_asked(demand, seen)
            columns = asked.with_derived({**every, **seen}, base.device)
            for excess in asked.excess(columns).values():
                keep &= excess <= 0
            rows.append(np.stack([columns[name][keep] for name in names]))
    every = np.concatenate(rows, axis=1) if rows else np.empty((len(names), 0))
    best = front(dict(zip(names, every, strict=True)), asked.objectives) if every.size else []
    return {tuple(every[:, place].tolist()) for place in best}


@pytest.mark.parametrize("seed", range(50 if "EXPLORE" in os.environ else 24))
def test_the_front_is_that_of_brute_force(seed):
    kind, settings = random_settings(seed)
    goal = goal_of(kind, [*settings, *(["space.tensor=1,4,8"] if seed % 2 else []),
                          *(["space.expert_slices=1,2,8"] if seed % 5 == 0 else [])])
    found = search(goal)
    columns = found.front.rows
    names = list(found.wishes.objectives)
    ours = (set(zip(*(columns[name].tolist() for name in names), strict=True))
            if columns else set())
    assert ours == brute(goal)


@pytest.mark.parametrize("goal", ["r1-64-users-8xh20"])
def test_the_answer_depends_on_neither_chunks_nor_processes(goal, monkeypatch):
    monkeypatch.setattr("calc.searching.search.WORTH_IT", 0)
    loaded = load_goal(goal, ["devices=nvidia-h20,ascend-910b2", "cards.most=16", "cards.fewest=1",
                              *SMALL, "precisions=w8a8-int8,w4a16-awq"])
    fronts = [search(loaded, workers=workers, slab=slab)
              for workers, slab in ((1, 1 << 18), (2, 1 << 18), (2, 777), (1, 5000))]
    first = fronts[0]
    for other in fronts[1:]:
        assert other.funnel == first.funnel
        for name, column in first.front.rows.items():
            assert (column == other.front.rows[name]).all(), name


@pytest.mark.parametrize(("bases", "shares"), [(1, 2), (7, 2), (8, 1), (9, 1)])
def test_fewer_than_four_bases_of_each_of_two_processes_are_divided(monkeypatch, bases, shares):
    """Else those that end first would wait for the last; every share of every base is one task."""
    monkeypatch.setattr(module, "_part", lambda task: task)
    small = SimpleNamespace(size=lambda base: 0, resolve=None)
    assert list(module._done(small, None, ["base"] * bases, 2, 1)) == [
        (number, share, shares) for number in range(bases) for share in range(shares)]


def test_every_deployment_is_counted_once():
    found = search(load_goal("r1-80-users-910b", ["devices=ascend-910b2", "cards.most=16",
                                                  "precisions=w8a8-int8"]))
    space = Space(found.wishes.goal)
    cells = sum(len(cells["data"]) for base in space.bases() for cells in space.cells(base))
    assert found.funnel.deployments == cells
    assert all(found.funnel.counts[name] >= 0 for name in COUNTED)


@pytest.mark.one
@pytest.mark.parametrize("sliced", [(), ("space.expert_slices=1,4,16",)])
@pytest.mark.parametrize("device", DEVICES)
def test_what_is_searched_is_what_a_scenario_of_it_gives(device, sliced):
    """Inputs are resolved once per kind of layouts; each layout resolved by itself is the same."""
    goal = load_goal("r1-80-users-910b", [f"devices={device}", "cards.most=64", *SMALL,
                                          *sliced])
    space, draw = Space(goal), random.Random(device)
    for base in itertools.islice(space.bases(), 2):
        kinds = list(space.cells(base))
        for cells in draw.sample(kinds, min(DRAWN, len(kinds))):
            first = space.first(base, cells)
            tried = CandidateCells(first.inputs(), first.model.attention, goal.demand)
            rows = [draw.randrange(len(cells["data"]))]
            some = {name: cells[name][rows] for name in AXES}
            at = some | {"concurrency": np.full(len(rows), goal.demand.users)}
            seen, spare = tried.served(at), tried.spare(at)
            own = scenario(goal, choice_at(base, some, 0, goal.demand.users))
            quantities = evaluate(own.inputs(), own.model.attention)
            for name, symbol in STEADY.items():
                assert seen[name][0] == pytest.approx(float(quantities[symbol]), rel=1e-9)
            assert spare[0] == pytest.approx(float(quantities["headroom_per_device"]), rel=1e-9)


def test_cards_without_a_price_come_last_in_the_order_of_what_else_is_asked():
    from calc.searching.result import Answer

    answer = Answer(search(load_goal("million-tokens", [
        "devices=nvidia-h20,nvidia-h200-sxm,ascend-910b2,ascend-910b4-1", "cards.most=16", *SMALL,
        "precisions=w8a8-int8", "objectives=cost,tpot,throughput_per_card", "space.batches=1,16",
        "limits.tpot=null"])))
    rows = answer.devices
    priced = ["cost" in row.quantities for row in rows]
    assert priced == sorted(priced, reverse=True)
    assert any(priced)
    unpriced = [row.quantities["tpot"] for row in rows if "cost" not in row.quantities]
    assert len(unpriced) > 1
    assert unpriced == sorted(unpriced)


def test_what_meets_the_goal_meets_it_as_a_deployment_of_its_own():
    found = search(load_goal("r1-80-users-910b", ["devices=ascend-910b2", "cards.most=32"]))
    goal = found.wishes.goal
    for row in found.rows(found.front):
        deployed = scenario(goal, row.choice)
        quantities = evaluate(deployed.inputs(), deployed.model.attention)
        assert quantities["headroom_per_device"] >= 0
        assert quantities["steady_tpot"] <= goal.limits.tpot
        assert quantities["steady_ttft"] <= goal.limits.ttft


def test_the_most_that_a_cell_holds_fits_and_one_more_of_each_rank_does_not():
    goal = load_goal("r1-80-users-910b", ["devices=nvidia-h20", "cards.most=32", *SMALL])
    space = Space(goal)
    for base in itertools.islice(space.bases(), 3):
        for cells in space.cells(base):
            first = space.first(base, cells)
            tried = CandidateCells(first.inputs(), first.model.attention, goal.demand)
            most = tried.holds(cells)
            some = np.flatnonzero(most > 0)
            at = {name: column[some] for name, column in cells.items()}
            if len(some):
                assert (tried.spare(at | {"concurrency": most[some]}) >= 0).all()
            assert (tried.spare(cells | {"concurrency": most + cells["data"]}) < 0).all()


def test_more_cards_to_choose_from_are_never_worse():
    few, many = (search(load_goal("r1-80-users-910b", [
        "devices=ascend-910b2", f"cards.most={most}", "precisions=w8a8-int8",
        "objectives=tpot", "limits.tpot=80ms"])) for most in (16, 32))
    assert (many.rows(many.front)[0].quantities["tpot"]
            <= few.rows(few.front)[0].quantities["tpot"])


@pytest.mark.parametrize(("settings", "told"), [
    (["limits.throughput=50000 token/s", "space.pools=one"], "1,600 token/s"),
    (["demand.users=null", "demand.arrival_rate=2 request/s", "limits.throughput=9000 token/s"],
     "2.05 ktoken/s|2,048 token/s"),
    (["objectives=cost"], "no price of ascend-910b1"),
    (["devices=nvidia-l20"], "no server of the catalogue holds 'nvidia-l20'"),
    (["devices=kunpeng-920"], "is a host processor"),
    (["devices=ascend-910c-package"], "expected 'ascend-910c-die'"),
    (["cards.fewest=200"], "are more than the most"),
    (["limits.tpot=5 GB"], "limits.tpot"),
    (["limits.ttft.p101=2 s"], "'p101' is no percentile"),
    (["limits.ttft.p0=2 s"], "'p0' is no percentile"),
    (["limits.ttft.p90=5 s", "limits.ttft.p99=2 s"],
     "2 s is less than the 5 s of p90, expected at least as much"),
    (["limits.ttft.p90=2 GB"], "p90"),
    (["objectives=speed"], "objectives"),
    (["demand.users=0"], "at least 1"),
    (["limts.tpot=50ms"], "limts"),
])
def test_a_goal_that_cannot_be_asked_gets_one_sentence(settings, told, cli):
    code, out, err = cli("search", "r1-80-users-910b",
                         *itertools.chain(*(("--set", text) for text in settings)))
    assert code == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert any(part in err for part in told.split("|")), err


def test_a_goal_that_nothing_meets_tells_the_nearest_miss(cli):
    code, out, err = cli("search", "r1-80-users-910b", "--tpot", "2ms", "--cards", "16",
                         "--devices", "ascend-910b2")
    assert (code, err) == (3, "")
    assert "Nothing meets the goal." in out
    assert "the limit is 2 ms" in out


def test_scenario_files_that_are_written_give_what_was_told(tmp_path, cli):
    import json

    code, out, _ = cli("search", "r1-64-users-8xh20", "-o", str(tmp_path), "--json")
    answer = json.loads(out)
    assert code == 0
    told = [group[0] for group in answer["front"]]
    assert any("set" in each for each in told)
    assert [Path(path).name for path in answer["files"][len(told):]] == [
        "r1-64-users-8xh20-inside.yml"] * bool(answer["inside"])
    for path, each in zip(answer["files"], told, strict=False):
        if "set" not in each:  # two pools, which stand in one file
            continue
        deployed = catalogue.load_scenario(path)
        quantities = evaluate(deployed.inputs(), deployed.model.attention)
        assert float(quantities["steady_tpot"]) == pytest.approx(each["quantities"]["tpot"])
        low, high = (each["amounts"]["tpot"][end] for end in ("low", "high"))
        assert low <= each["quantities"]["tpot"] <= high


def test_another_file_of_the_same_name_is_not_overwritten(tmp_path, cli):
    (tmp_path / "r1-64-users-8xh20-1.yml").write_text("mine")
    code, _, err = cli("search", "r1-64-users-8xh20", "-o", str(tmp_path))
    assert code == 2
    assert "another file" in err
    assert (tmp_path / "r1-64-users-8xh20-1.yml").read_text() == "mine"


def test_a_power_a_rent_or_a_capital_says_how_many_cards_there_may_be():
    few, many = (load_goal("million-tokens", [
        "cards.most=null", f"limits.power={power} kW", "devices=nvidia-h200-sxm",
        "precisions=fp8-block", "space.batches=64"]) for power in (30, 60))
    most = []
    for goal in (few, many):
        answer, space = search(goal), Space(goal)
        rows = answer.rows(answer.front)
        assert rows
        assert all(row.quantities["power"] <= goal.limits.power for row in rows)
        most.append(space.most(next(iter(space.bases()))))
        assert all(row.choice.devices <= most[-1] for row in rows)
    assert most[0] < most[1]
    rented = Space(load_goal("million-tokens", [
        "cards.most=null", "limits.rent=60 USD/h", "devices=nvidia-h200-sxm"]))
    base = next(iter(rented.bases()))
    hour = wishes(rented).hours["nvidia-h200-sxm"].per("USD/h")[0]
    assert rented.most(base) == int(60 // hour)


def test_a_path_in_a_goal_reaches_no_shell_unquoted(tmp_path, cli):
    import shlex

    card = tmp_path / "my card; rm -rf x.yml"
    card.write_text((catalogue.ROOT / "templates" / "example-card.yml").read_text("utf-8"))
    code, out, err = cli("search", "r1-64-users-8xh20", "--cards", "8", "--set",
                         f"devices={card}", "--set", "space.memory_utilization=0.9", "--json")
    assert "Traceback" not in err
    if code == 0:
        import json

        line = json.loads(out)["front"][0][0]["set"]
        assert f"device={card}" in shlex.split(line)
    else:
        assert len(err.strip().splitlines()) <= 1


def test_advice_is_on_the_same_cards_and_fits():
    from calc.layouts.change import changed
    from calc.searching.same_cards import alternatives

    for name in ("s0-scenario-1", "s1-plan-c", "h200-r1-vllm-tp8"):
        deployed = catalogue.load_scenario(name)
        found = alternatives(deployed)
        for advice in (found.best, found.own, found.official):
            if advice is None:
                continue
            other = changed(deployed, advice.settings)
            assert other.devices == deployed.devices
            assert advice.quantities["headroom_per_device"] >= 0
            assert (advice.quantities["output_throughput"]
                    <= found.best.quantities["output_throughput"])
