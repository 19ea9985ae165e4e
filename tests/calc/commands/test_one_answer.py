"""One deployment has one time to first token, one per token, one rate, cards and cost, whichever
command or page is asked; of one pool and of two."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from _cases import usual

import catalogue
from calc.answer.service import estimate_service
from calc.commands.main import main
from calc.searching.goal import load_goal
from calc.searching.search import search
from calc.searching.selection import Selection
from catalogue import ParamsError
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.views import together

NEAR, SIMULATED = 0.02, 0.12
ONE_POOL_R1 = "h200-r1-vllm-tp8"
PRICE = 2.0  # USD of a card's hour
NAMES = {"ttft": "ttft", "tpot": "tpot", "throughput": "output_throughput"}
ONE_POOL = tuple(name for name in catalogue.deployment_names()
                 if not catalogue.load_scenario(name).inputs()["separate_pools"])
TWO_POOLS = tuple(name for name in catalogue.names("scenarios")
                  if catalogue.load_family(name).pools)
DRAWN = range(10)  # seeds of deployments of one pool, and of two
MOST_DRAWN = 512  # users, so that a simulation takes a second or two
# prompts that come at random to ranks that share experts: their pool finishes less than with all
# prompts at hand, which the closed form of two pools does not know
SLOWER = 7


def told(capsys, *words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def set_to(settings):
    return [word for setting in settings for word in ("--set", setting)]


def commands_and_pages(capsys, reference, settings=()):
    """By who tells it, latency and throughput of a deployment; first those of ``whole``.

    The cost of a token is told as the throughput that it follows from.
    """
    deployed = estimate_service(catalogue.load_deployment(reference, settings))
    found = {"whole": {name: amount.value for name, amount in deployed.seen.amounts().items()}}
    cost = told(capsys, "cost", reference, "--price", f"{PRICE} USD/h", "--utilisation", "1",
                *set_to(settings))
    cards = sum(pool.devices for pool in deployed.pools)
    assert cost["devices"] == cards
    assert cost["amounts"]["per_hour"]["value"] == pytest.approx(PRICE * cards, rel=1e-9)
    found["cost"] = {"throughput": PRICE * cards / 3600
                     / cost["amounts"]["per_million_output_whole"]["value"] * 1e6}
    if deployed.pair is not None:
        found["page"] = {"throughput": together(deployed.pools).value}
        return deployed, found
    found["decide"] = {name: told(capsys, "decide", reference, "--tornado", "--quantity", symbol,
                                  *set_to(settings))["tornado"]["value"]
                       for name, symbol in NAMES.items()}
    page = Deployed(deployed.last).answers
    found["page"] = {name: page[symbol].value for name, symbol in NAMES.items() if symbol in page}
    steady = deployed.answers[0].steady
    if deployed.fits and steady is not None and not steady.doubts:
        users = deployed.last.file.workload.concurrency.value
        others = [each for each in settings if not each.startswith("workload.concurrency")]
        thinks = deployed.last.file.workload.think_time is not None
        if not thinks:  # of users who think a sweep tells as many in flight
            row, = told(capsys, "sweep", reference, "--axis", f"workload.concurrency={users}",
                        "--min", "tpot", "--quantity", "ttft", "--quantity", "output_throughput",
                        *set_to(others))["deployments"]
            found["sweep"] = {name: row.get(f"steady_{name}", row.get(symbol))
                              for name, symbol in NAMES.items()}
    return deployed, found


def agree(found, near=NEAR):
    for who, values in found.items():
        for name, value in values.items():
            assert value == pytest.approx(found["whole"][name], rel=near), (who, name)


@pytest.mark.parametrize("reference", [*usual(ONE_POOL, 8), *usual(TWO_POOLS, 4)])
def test_a_shipped_deployment_has_one_answer(capsys, reference):
    deployed = estimate_service(catalogue.load_deployment(reference))
    if deployed.seen is None or (deployed.pair is None and deployed.answers[0].unasked):
        return  # answers of unknown length, and prompts alone
    agree(commands_and_pages(capsys, reference)[1])


def drawn(seed, references):
    """A deployment that fits, with a load of its own: reference and settings."""
    rng = np.random.default_rng(seed)
    while True:
        reference = str(rng.choice(references))
        pools = catalogue.load_deployment(reference)
        workload = pools[-1].file.workload
        if workload.output_tokens is None or workload.output_tokens.value <= 1:
            continue
        most = min(MOST_DRAWN, int(workload.concurrency.value))
        settings = [f"workload.concurrency={math.ceil(most * 2**rng.uniform(-3, 0))}",
                    f"workload.input_tokens={round(2**rng.uniform(7, 12))}",
                    f"workload.output_tokens={round(2**rng.uniform(6, 10))}",
                    "workload.arrivals=closed-loop", "workload.length_distribution=lognormal",
                    f"workload.length_variation={rng.choice([0.3, 0.6, 0.9])}"]
        if rng.random() < 0.3:
            settings.append(f"workload.think_time={rng.choice([2, 20])} s")
        try:
            deployed = estimate_service(catalogue.load_deployment(reference, settings))
        except ParamsError:  # lengths beyond what a measured client sends
            continue
        if deployed.fits and deployed.seen is not None:
            return reference, settings


@pytest.mark.parametrize("references", [ONE_POOL, TWO_POOLS], ids=["one pool", "two pools"])
@pytest.mark.parametrize("seed", usual({*DRAWN} - {SLOWER}, 4))
def test_random_deployments_agree_across_commands_and_simulation(capsys, references, seed):
    """First tokens of a simulation wait for one another by chance, and may differ more."""
    reference, settings = drawn(seed, references)
    deployed, found = commands_and_pages(capsys, reference, settings)
    agree(found)
    simulated = told(capsys, "simulate", reference, *set_to(settings))
    for name, value in {"tpot": simulated["tpot"]["mean"],
                        "throughput": simulated["output_throughput"]}.items():
        assert value == pytest.approx(deployed.seen.amounts()[name].value, rel=SIMULATED), name


@pytest.mark.nightly
@pytest.mark.xfail(strict=True)
def test_two_pools_whose_ranks_share_experts_agree_with_a_simulation(capsys):
    test_random_deployments_agree_across_commands_and_simulation(capsys, TWO_POOLS, SLOWER)


@pytest.mark.parametrize("reference", ["qwen3.5-397b-8xh200", "a3-glm51-pd-tp4"])
def test_estimate_says_the_same(capsys, reference):
    answer, service = (told(capsys, "estimate", reference)["seen"],
                       estimate_service(catalogue.load_deployment(reference)).seen)
    for name in NAMES:
        assert answer[name]["value"] == pytest.approx(service.amounts()[name].value, rel=1e-9)


FEW = ("devices=nvidia-h20", "cards.fewest=32", "cards.most=32", "precisions=w8a8-int8",
       "space.chunks=4096", "space.drafts=0", "space.spares=none", "space.micro_batches=1")
GOALS = (["space.pools=two", "limits.ttft=5s", "demand.think_time=5s"],
         ["space.pools=two", "limits.ttft=5s", "demand.users=null",
          "demand.arrival_rate=3 request/s"], ["space.pools=one"])


@pytest.mark.parametrize("settings", GOALS)
def test_file_that_a_search_writes_has_the_numbers_of_its_row(capsys, tmp_path, settings):
    from calc.layouts.layout import family, text

    goal = load_goal("r1-80-users-h20", [*FEW, *settings])
    sample = Selection(search(goal)).front[0][0]
    row = sample.row
    path = Path(tmp_path / "found.yml")
    path.write_text(text(goal, row.choice) if row.prefill is None
                    else family(goal, row.prefill, row.choice), "utf-8")
    assert ("pools" in yaml.safe_load(path.read_text("utf-8"))) == (row.prefill is not None)
    deployed, found = commands_and_pages(capsys, str(path))
    agree(found)
    agree({"whole": found["whole"], "row": {name: row.quantities[name] for name in NAMES}})
    assert row.devices == deployed.devices
    cost = told(capsys, "cost", str(path))["amounts"]["per_million_output_whole"]
    intervals = {name: amount.points for name, amount in deployed.seen.amounts().items()} | {
        "cost": (cost["value"], cost["low"], cost["high"])}
    for name, points in intervals.items():
        assert sample.amounts[name].points == pytest.approx(points, rel=NEAR), name


def test_limits_of_a_deployment_are_those_of_the_options(capsys):
    """They hold whether a file or an option states them, for every command that knows limits."""
    stated = set_to(["limits.ttft=p90 2 s", "limits.tpot=p90 15 ms"])
    given = ["--ttft", "2 s", "--tpot", "15 ms"]
    for name, *words in (["simulate", ONE_POOL_R1, "--users", "40", "--requests", "200"],
                         ["capacity", ONE_POOL_R1, "--daily-requests", "50k"]):
        at = ["--percentile", "90"] if name == "capacity" else []
        by_file, by_option = told(capsys, name, *words, *stated), told(
            capsys, name, *words, *given, *at)
        assert {**by_file, "asked": None} == {**by_option, "asked": None}
    seen = told(capsys, "estimate", ONE_POOL_R1)["seen"]
    for factor, exceeded in ((0.99, ["ttft", "tpot"]), (1.01, [])):
        limits = [word for name in ("ttft", "tpot") for word in (
            f"--{name}", f"{factor * seen[name]['value']} s")]
        assert told(capsys, "estimate", ONE_POOL_R1, *limits)["seen"]["exceeded"] == exceeded


@pytest.mark.parametrize(("command", "verdict"), [
    ("estimate", "OVERLOADED"), ("simulate", "QUEUE GROWS WITHOUT BOUND")])
def test_no_verdict_is_positive_above_the_saturation_rate(capsys, command, verdict):
    main([command, "s2-910b1-awq", "--set", "workload.arrivals=poisson",
          "--set", "workload.arrival_rate=1000 request/s"])
    assert capsys.readouterr().out.startswith(verdict)
