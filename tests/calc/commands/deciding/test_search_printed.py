"""What ``search`` prints and writes of an answer that is written down here."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace as Made

import pytest
from _options import printed

from calc.commands.deciding import answered
from calc.commands.deciding import search as command
from calc.layouts import choice as choices
from calc.layouts.choice import Choice, Row, Start
from calc.searching.left_out import COUNTED
from calc.searching.same_cards import Relaxed
from calc.uncertainty.amount import Amount
from catalogue import ParamsError

CHOICE = Choice("nvidia-h20", "hgx-h20", None, "fp8-block", 16, 8, 1, 2, 8, 0, 0, 1, 8192, 1, 0, 90,
                1024)
OTHER = replace(CHOICE, engine="vllm@1.0")
LAYOUT = "16 × nvidia-h20, fp8-block, 2 replicas of TP8/EP8"
LABEL = f"{LAYOUT}, chunks of 8,192, 1,024 in flight"
NAMED = LABEL.replace("h20,", "h20 under vllm@1.0,")
UNITS = {"tpot": "s", "ttft": "s", "throughput_per_card": "token/s", "cost": "USD"}
SERVED = "lossless; starts under vllm@1.0"


def row(choice=CHOICE, **quantities):
    return Row(choice, quantities)


def drawn(of, keeps=1.0):
    return Made(row=of, keeps=keeps)


def answer(**own):
    """An answer with what a part of it asks for; of two objectives and a limit."""
    goal = Made(id="goal", limits=Made(times={"ttft": {"p90": 2.0}}), space=Made(batches=None),
                demand=Made(users=None, think_time=None))
    wishes = Made(chosen={"tpot": -1}, limits={"tpot": 0.05}, goal=goal, unpriced=[],
                  objectives={"tpot": -1, "cost": -1})
    funnel = Made(deployments=0, counts=dict.fromkeys((*COUNTED, "drafts"), 0))
    return Made(**{
        "central": row(tpot=0.05), "sure": None, "first_sure": None, "surer": None,
        "left_out": [], "met": True,
        "result": Made(wishes=wishes, space=Made(model=Made(drafts=True, id="v3")), pairs=None,
                       funnel=funnel),
        "official": None, "official_precision": None, "runner_up": None, "least_change": None,
        "best": None, "precisions": [], "devices": [], "front": [[drawn(row())]],
        "quality": lambda _: [Made(words=("lossless", "无损"))],
        "start": lambda _: Start("vllm@1.0"), "keeps": lambda each: each.keeps,
        "amounts": lambda of: {name: Amount.exactly(value, UNITS[name])
                               for name, value in of.quantities.items()}} | own)


@pytest.mark.parametrize(("found", "central", "told"), [
    (0.04, 0.05, "TPOT 40 ms, -20.0%, with "), (0.06, 0.05, "TPOT 60 ms, +20.0%, with "),
    (0.05, 0.05, "TPOT 50 ms, as before, with "), (0.05, None, "TPOT 50 ms, with ")])
def test_what_a_wider_limit_changes(found, central, told):
    asked = answer(central=None if central is None else row(tpot=central))
    said = command._relaxed(asked, Relaxed("ttft", 1.1, 2.2, row(tpot=found)))
    assert said == f"TTFT limit 10% wider (2.2 s): {told}{LABEL}."
    assert command._relaxed(asked, Relaxed("ttft", 1.01, 2.02, None)) == (
        "TTFT limit 1% wider (2.02 s): still nothing.")


@pytest.mark.parametrize(("share", "told"), [(0.876, "88%"), (0.0, "0%"), (None, "0%")])
def test_the_surest_where_nothing_is_sure(share, told):
    found = printed(command._print_unsure, answer(sure=Made(share=0.9, tried=40)),
                    drawn(row(OTHER), share))
    assert found == [
        f"Nothing keeps its limits in 90% of draws. The surest of 40 drawn: {NAMED}: {told}.",
        "--set device=nvidia-h20 --set cluster.node=hgx-h20 --set cluster.nodes=2 --set "
        "precision=fp8-block --set engine=vllm@1.0 --set parallelism.tensor_parallel=8 --set "
        "parallelism.pipeline_parallel=1 --set parallelism.data_parallel=2 --set "
        "parallelism.expert_parallel=8 --set workload.concurrency=1024 --set "
        "workload.max_num_batched_tokens=8192 --set workload.memory_utilization=0.9"]


def test_which_deployment_is_sure():
    sure = printed(command._print_sure, answer(sure=Made(share=0.8, tried=40, surest=None)))
    assert sure[0].startswith("40 deployments drawn of the fronts")
    assert "in at least 80% of draws" in sure[0]
    none, = printed(command._print_sure, answer())
    assert none == ("None of these keeps its limits in 90% of draws from the ranges of all inputs; "
                    "--sure 0.9 looks further.")
    assert printed(command._print_sure, answer(first_sure=drawn(row()))) == []
    for share, told in ((0.974, "97%"), (None, "0%")):
        surer = drawn(row(OTHER), share)
        other, = printed(command._print_sure, answer(first_sure=surer, surer=surer))
        assert other == f"First in 90% of draws: {NAMED} ({told}); --sure 0.9 looks further."
    unlimited = answer()
    unlimited.result.wishes.limits = {}
    assert printed(command._print_sure, unlimited) == []


def test_what_was_left_out_and_tried_and_written():
    asked = answer(left_out=["one", "w4afp8"])
    asked.result.pairs = Made(tried=(1234, 5, 678))
    asked.result.funnel.deployments = 12345
    asked.result.funnel.counts |= {COUNTED[0]: 1234, COUNTED[1]: 5, "drafts": 7000}
    asked.result.wishes.unpriced = ["ascend-910b2"]
    wider = Relaxed("ttft", 1.1, 2.2, None)
    lines = command._after(asked, [], [wider])
    assert lines[:3] == [
        "Left out by the goal: one pool, w4afp8.",
        "Two pools: 1,234 that prefill and 5 that decode fit, of which 678 pairs were compared.",
        command._relaxed(asked, wider)]
    assert lines[3].startswith("Of 12,345 deployments, all of them tried: 1,234 do not fit the "
                               "memory, 5 decode steps alone already break a limit. Of requests in "
                               "flight 8 numbers to a doubling. ")
    assert "7,000 layouts" in lines[4]
    assert "staged_drafts" in lines[4]
    assert lines[5].startswith("No price: ascend-910b2; ")
    assert lines[6:] == ["-o DIR writes the files."]
    asked.result.wishes.goal.demand.users, asked.result.space.model.drafts = 8, False
    written = command._after(asked, ["a.yml", "b.yml"], [])
    assert "to a doubling" not in written[2]
    assert "7,000 layouts): no layer that drafts is published with 'v3'" in written[3]
    assert written[5:] == ["wrote a.yml", "wrote b.yml"]
    asked.result.wishes.goal.demand.think_time = 5.0
    assert "to a doubling" in command._after(asked, [], [])[2]
    asked.met = False
    assert command._after(asked, [], [])[-1].startswith("No price")


def test_nothing_keeps_its_limits_or_is_started():
    missed = [Made(row=row(), seen={"ttft": {"p90": 3.0}}), None]
    assert printed(command._print_missed, answer(missed=missed)) == [
        "Nothing keeps its limits in a simulation; 2 were simulated that do in the mean of the "
        f"closed form. The first: {LABEL}: TTFT p90 3 s, the limit is 2 s."]
    refused = answer(refused=[row(), row(OTHER)], start=lambda _: Start(None, "no flag"))
    assert printed(command._print_refused, refused) == [
        "Nothing that meets the goal is started by a release of an engine. The first: "
        f"{LABEL}: no flag. --any-engine tells it all the same."]


def brief(pace, rate="100 token/s"):
    return f"{LAYOUT}: TPOT {pace}, TTFT 1.5 s, {rate} per card; {SERVED}"


def test_what_stands_beside_the_first():
    one, two = (row(tpot=tpot, ttft=1.5, throughput_per_card=100.0) for tpot in (0.02, 0.04))
    inside = Made(outside=["x"], nearest="theirs (row 3)")
    asked = answer(best=one, near=lambda _: inside, runner_up=two, precisions=[one, two],
                   least_change=(one, {"precision": "bf16"}), devices=[one],
                   official_precision="fp8-block")
    assert printed(command._print_others, asked, None, []) == [
        "Inside of what was measured: nothing that meets the goal.",
        "Published weights (fp8-block): none of these deployments meets the goal in them.",
        f"Another layout: {brief('40 ms')}", f"Least change: {brief('20 ms')}",
        "--set precision=bf16", "By precision:", brief("20 ms"), brief("40 ms")]
    asked.official, asked.devices, asked.precisions = two, [two, one], [one]
    asked.result.wishes.unpriced = ["ascend-910b2"]
    found = printed(command._print_others, asked, two, ["a.yml", "b.yml"])
    assert found[:3] == [
        f"Inside of what was measured: {brief('40 ms')}; nearest theirs (row 3)",
        "start with: python -m calc deploy b.yml --engine vllm@1.0 -o DIR",
        f"Published weights: {brief('40 ms')}"]
    assert found[-3:] == ["By device, those without a price last, by TPOT:", brief("40 ms"),
                          brief("20 ms")]
    assert "deploy goal-inside.yml " in printed(command._print_others, asked, two, [])[1]
    asked.result.wishes.objectives = {"tpot": -1}
    assert "By device:" in printed(command._print_others, asked, None, [])
    inside.outside, asked.official_precision, asked.runner_up = [], None, None
    assert printed(command._print_others, asked, None, [])[0] == (
        "Published weights: none is known of this model that these cards multiply.")


def test_a_deployment_of_two_pools_names_both_and_what_they_do():
    pair = Row(replace(OTHER, drafts=2, micro_batches=2, spares=8), {}, prefill=replace(
        CHOICE, devices=8, data=1))
    assert answered.row_label(pair) == (
        "24 cards in two pools: prefill 8 × nvidia-h20, fp8-block, TP8/EP8, chunks of 8,192; "
        "decode 16 × nvidia-h20 under vllm@1.0, fp8-block, 2 replicas of TP8/EP8+8, chunks of "
        "8,192, 2 MTP tokens, two micro-batches, 1,024 in flight")
    assert answered.row_label(row()) == LABEL
    assert answered.steps(1, 1)[0] == ", 1 MTP token"
    assert answered.steps(0, 1)[0] == ""


def test_a_priced_deployment_tells_its_cost_and_one_that_nothing_starts_why():
    dear = row(tpot=0.02, ttft=1.5, throughput_per_card=100.0, cost=2.5)
    assert "100 token/s per card, 2.5 USD per million; lossless" in answered.brief(answer(), dear)
    none = answer(start=lambda _: Start(None, "no flag"))
    assert "no flag" in answered.starts(none, dear, "a.yml")
    assert answered.starts(answer(start=lambda _: None), dear) == ""


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def texts(monkeypatch):
    monkeypatch.setattr(choices, "text", lambda goal, choice: f"one {choice.concurrency}\n")
    monkeypatch.setattr(choices, "family",
                        lambda goal, prefill, decode: f"two {prefill.devices} {decode.devices}\n")


def paired(choice=CHOICE, prefill=None):
    return Row(choice, {"tpot": 0.05}, prefill=prefill)


def written(outside=(), **own):
    rows = [paired(), paired(prefill=replace(CHOICE, devices=4))]
    wishes = Made(goal=Made(id="goal", limits=Made(times={})))
    return Made(**{"result": Made(wishes=wishes), "front": [[Made(row=each)] for each in rows],
                   "best": rows[0], "near": lambda of: Made(outside=outside)} | own)


@pytest.mark.usefixtures("texts")
def test_files_are_of_those_told_and_of_the_best_that_was_measured_near(tmp_path):
    folder = tmp_path / "a" / "b"
    assert command._written(written(), paired(), folder) == [folder / "goal-1.yml",
                                                        folder / "goal-2.yml"]
    assert [path.read_text() for path in sorted(folder.iterdir())] == ["one 1024\n", "two 4 16\n"]
    near = paired(replace(CHOICE, concurrency=7))
    told = command._written(written(outside=["x"]), near, folder)
    assert [path.name for path in told] == ["goal-1.yml", "goal-2.yml", "goal-inside.yml"]
    assert told[2].read_text() == "one 7\n"
    assert len(command._written(written(outside=["x"]), None, folder)) == 2
    assert len(command._written(written(outside=["x"], best=None), near, folder)) == 2


@pytest.mark.usefixtures("texts")
def test_no_file_is_written_over_another(tmp_path):
    (tmp_path / "goal-2.yml").write_text("mine")
    with pytest.raises(ParamsError, match=r"goal-2\.yml"):
        command._written(written(), None, tmp_path)
    assert (tmp_path / "goal-2.yml").read_text() == "mine"
    with pytest.raises(ParamsError, match="cannot be written"):
        command._written(written(), None, tmp_path / "goal-2.yml")


@pytest.mark.parametrize(("files", "number", "told"), [
    ([], 2, "goal-2.yml"), ([Path("a.yml"), Path("b.yml")], 2, "b.yml"),
    ([Path("a.yml"), Path("b.yml")], 1, "a.yml")])
def test_a_file_stands_where_it_was_written_or_would_be(files, number, told):
    assert command._file(written(), number, files) == told


@pytest.mark.parametrize("own", [
    {"met": True}, {"sure": Made()}, {"missed": [1]}, {"refused": [1]}])
def test_why_nothing_meets_a_goal_is_told_programs_where_nothing_else_is(monkeypatch, own):
    monkeypatch.setattr(command, "nearest", lambda of: [])
    monkeypatch.setattr(command, "why_none", lambda of: "It is too long.")
    none = {"met": False, "sure": None, "missed": [], "refused": []}
    assert command._missing(Made(**none)) == {"why": "It is too long."}
    assert command._missing(Made(**(none | own))) == {}


# --- what was measured near -----------------------------------------------------------------------


def axis(name, value, covered, *, inside):
    return Made(name=name, value=value, covered=covered, inside=inside)


def near(*axes, nearest="theirs (row 3)"):
    found = Made(nearest=nearest, axes=axes, outside=[each for each in axes if not each.inside])
    return answered.near(Made(near=lambda row: found), None)


def test_what_lies_inside_and_what_beyond_of_what_was_measured():
    users = axis("concurrency", 64.0, (1.0, 32.0), inside=False)
    card = axis("device", "a", ("b", "c"), inside=True)
    told = near(users, card)
    assert "theirs (row 3)" in told
    assert "64" in told
    assert "1 to 32" in told
    assert "b c" not in told
    other = near(axis("device", "a", ("b", "c"), inside=False))
    assert "b c" in other
    assert "to" not in other.split("b c")[1]
    one = near(axis("concurrency", 64.0, (8.0, 8.0), inside=False))
    assert "8" in one
    assert "8 to 8" not in one
    assert near(nearest=None) != near()


def test_caveats_are_of_what_is_told_or_of_all_that_was_tried(monkeypatch):
    told = []
    monkeypatch.setattr(answered, "announced", lambda devices: told.append(list(devices)) or ())
    monkeypatch.setattr(answered, "underived", lambda models: ("not derived", "未推导"))

    def asked(met):
        goal = Made(model="m")
        return answered.caveats(Made(met=met, result=Made(
            bases=[Made(device="a"), Made(device="b")], wishes=Made(goal=goal),
            of_bases=[Made(front=Made(rows=[])), Made(front=Made(rows=[1]))])))

    assert asked(True) == asked(False) == ["not derived"]
    assert told == [["b"], ["a", "b"]]


def test_what_is_taken_of_other_cards_is_told_once():
    rows = [Made(row=number) for number in (1, 2, 3)]
    found = answered.stood_in(Made(front=[[each] for each in rows], stand_ins=lambda row: {
        1: ("x", "甲"), 2: None, 3: ("x", "甲")}[row]))
    assert found == ["x"]


def test_a_quantity_without_a_range_is_told_alone():
    each = Made(amounts={}, row=Row(CHOICE, {"tpot": 0.05}))
    assert answered.interval(each, "tpot") == "TPOT 50 ms"


def test_two_formats_are_told_apart_in_what_they_cost():
    of = Made(quality=lambda row: [Made(words=("lossless", "无损")), Made(words=("less", "较差"))])
    two = paired(prefill=replace(CHOICE, precision="bf16"))
    assert len(answered.qualities(of, two)) == 2
    assert "bf16" in answered.qualities(of, two)[0]
    assert answered.qualities(of, paired(prefill=CHOICE)) == ["lossless", "less"]


# --- what is told first ---------------------------------------------------------------------------


def test_beside_a_deployment_stands_what_is_said_of_it_besides():
    each = drawn(row(ttft=1.5), 0.456)
    alike = [drawn(row(replace(CHOICE, concurrency=count))) for count in (2048, 512)]
    of = answer(simulated=lambda row: None, binds=lambda row: None)
    assert command._beside(of, [each]) == ["keeps its limits in 46% of draws"]
    of.binds, of.keeps = lambda row: "ttft", lambda each: None
    of.simulated = lambda row: Made(seen={"ttft": {"p90": 2.0, "mean": 1.0}})
    assert command._beside(of, [each]) == [
        "TTFT near its limit", "simulated, formulas alone: TTFT p90 2 s, TTFT mean 1 s"]
    of.binds, of.simulated = lambda row: None, lambda row: None
    assert command._beside(of, [each, *alike]) == ["the same with 512 to 2,048 in flight"]
    elsewhere = drawn(row(replace(CHOICE, tensor=4)))
    assert command._beside(of, [each, elsewhere]) == ["1 more that cannot be told apart"]
    pair = drawn(Row(CHOICE, {}, prefill=CHOICE))
    of.loop = lambda row: Made(loop=Made(users=1234.0))
    told, = command._beside(of, [pair])
    assert "1,234" in told


def fronted(**own):
    """What is printed of a front, its first lines left out that stand for each deployment."""
    of = answer(**({"simulated": lambda row: None, "binds": lambda row: None, "candidates": [0],
                    "missed": [], "refused": [], "amounts": lambda row: {},
                    "near": lambda row: Made(nearest=None), "stand_ins": lambda row: None} | own))
    of.result.wishes.limits = {}
    return of


@pytest.mark.parametrize(("groups", "size", "told"), [
    (1, 1, "1 group of 1 deployment on the front."),
    (1, 1234, "1 group of 1,234 deployments on the front."),
    (2, 2, "2 groups of 2 deployments on the front.")])
def test_of_a_front_each_group_is_told_by_its_first(monkeypatch, groups, size, told):
    monkeypatch.setattr(command, "runs", lambda answer, row: "runs")
    monkeypatch.setattr(command, "near", lambda answer, row: "near")
    each = Made(row=row(tpot=0.05, ttft=1.5, energy=2.0), keeps=None, amounts={})
    of = fronted(front=[[each]] * groups, candidates=[0] * size)
    found = printed(command._print_front, of, ["a.yml", "b.yml"][:groups])
    first = [f"1. {LABEL}; lossless", "TTFT 1.5 s, TPOT 50 ms", "runs",
             "start with: python -m calc deploy a.yml --engine vllm@1.0 -o DIR", "near"]
    assert found[:5] == first
    assert found[5:-2] == ([line.replace("1. ", "2. ").replace("a.yml", "b.yml")
                            for line in first] if groups == 2 else [])
    assert found[-2] == told
    assert found[-1].startswith("The first one: --set device=nvidia-h20 ")
    assert f"deploy goal-{groups}.yml" in printed(command._print_front, of, [])[5 * groups - 2]


def test_what_is_left_out_before_a_front_is_told_behind_it(monkeypatch):
    monkeypatch.setattr(command, "runs", lambda answer, row: "runs")
    monkeypatch.setattr(command, "near", lambda answer, row: "near")
    pair = Made(row=Row(CHOICE, {"tpot": 0.05}, prefill=CHOICE), keeps=None, amounts={})
    of = fronted(front=[[pair]], missed=[1, 2], refused=[row(OTHER)], quality=lambda row: [],
                 loop=lambda row: Made(loop=Made(users=4.0)))
    found = printed(command._print_front, of, [])
    assert found[-3:] == [
        f"Left out, no release starts it: {NAMED}: .",
        "2 before one of these are left out: simulated, they do not keep the limits.",
        "1 group of 1 deployment on the front."]


def test_the_nearest_miss_is_told_before_the_next(monkeypatch):
    rows = [row(), row(OTHER)]
    monkeypatch.setattr(command, "nearest", lambda answer: rows)
    monkeypatch.setattr(command, "sentence", lambda answer, each: f"row {rows.index(each)}")
    told = printed(command._print_miss, answer())
    assert [line for line in told if "row" in line] == [
        "Nothing meets the goal. Nearest: row 0.", "Next: row 1."]
