"""What a plan computes: layouts that are none, rows by number, keys of parts; messages."""

import pytest

from calc.sweeping.plan import OTHER_DEVICES, Sweep, planned

SCENARIO = "h200-r1-vllm-tp8"
NO_RANGE = ("is not a range, expected LOW..HIGH (whole numbers), LOW..HIGH:+STEP, LOW..HIGH:xFACTOR"
            " or LOW..HIGH:/COUNT (so many, evenly).\n")
FLAG_ERRORS = [
    ([], "a sweep needs an axis, expected --axis KEY=VALUES.\n"),
    (["--axis=concurrency"], "--axis concurrency: expected KEY=VALUES, such as "
     "workload.concurrency=16,32.\n"),
    (["--axis=workload.concurency=1,2"], "--set workload.concurency: unknown key 'concurency', did "
     "you mean 'concurrency'.\n"),
    (["--axis=concurrency=1..9:x1"], f"--axis concurrency: '1..9:x1' {NO_RANGE}"),
    (["--axis=hbm_efficiency=1.5"],
     "--axis hbm_efficiency: hbm_efficiency: '1.5' is out of range, expected at most 1.\n"),
    (["--axis=concurrency=1", "--min=tpto"],
     "there is no quantity 'tpto', the nearest names are tpot, ttft, output_tokens.\n"),
    (["--axis=concurrency=1", "--best=3"],
     "the best are those by one objective, expected one --min or --max.\n"),
    (["--axis=concurrency=1", "--all"],
     "--all keeps every deployment in files, expected -o DIR beside it.\n"),
    (["--axis=concurrency=1", "--scheduler=nonsense://x"], "--scheduler nonsense://x: no Dask "
     "scheduler answers there (ValueError), expected an address like tcp://10.0.0.1:8786.\n")]


def plan_of(*axes, settings=(), **more):
    return planned(Sweep(scenario=SCENARIO, axes=dict(axes), settings=settings,
                         **{"quantities": ["tpot"]} | more))


def test_a_layout_keeps_the_cards_of_the_cluster():
    """Eight cards are one replica of eight ranks, or two of four."""
    plan = plan_of(("tensor_parallel", "4, 8, 3"), ("parallelism.data_parallel", "1, 2"),
                   settings=["parallelism.expert_parallel=1"])
    assert [choice.problem for choice in plan.choices] == [
        OTHER_DEVICES, None, None, OTHER_DEVICES, OTHER_DEVICES, OTHER_DEVICES]
    shared = plan_of(("parallelism.decode_context_parallel", "1, 3")).choices
    assert [choice.problem for choice in shared] == [
        None, "layouts that divide a cache among ranks that hold no copy of it"]


def test_the_key_is_of_all_that_determines_the_numbers():
    base = {"axes": [("precision", "fp8-block, w4a16-awq"), ("concurrency", "1..4")]}
    keys = [plan_of(*(each := base | changed).pop("axes"), **each).key for changed in (
        {}, {"chunk": 99}, {"quantities": ["e2e"]}, {"axes": base["axes"][1:]}, {"every": True},
        {"objectives": {"tpot": -1}}, {"settings": ["device.memory_bandwidth=4 TB/s"]})]
    assert len(set(keys)) == len(keys)
    assert plan_of(base["axes"][0], ("workload.concurrency", "1, 2..4")).key == keys[0]


@pytest.mark.parametrize(("flags", "message"), FLAG_ERRORS)
def test_errors_of_flags(cli, flags, message):
    assert cli("sweep", SCENARIO, *flags) == (2, "", message)
