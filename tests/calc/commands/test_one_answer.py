"""One deployment has one time to first token, one per token, one rate, cards and cost, whichever
command is asked; of one pool and of two."""

import json
from pathlib import Path

import pytest
import yaml

import catalogue
from calc.commands.main import main
from calc.searching.load_goal import load_goal
from calc.searching.result import Answer
from calc.searching.search import search

NEAR, SIMULATED = 0.02, 0.12
BATCHED = 0.03  # a search holds the fullest batch on every rank of a pool that decodes
SHIPPED = ("h200-r1-vllm-tp8", "qwen3.5-397b-8xh200", "b200-energy-gpqa")
PRICE = 2.0  # USD of a card's hour


def told(capsys, *words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def seen_by(capsys, reference):
    """What every command says that takes a deployment whole."""
    whole = told(capsys, "estimate", reference)
    cost = told(capsys, "cost", reference, "--price", f"{PRICE} USD/h", "--utilisation", "1")
    return whole["seen"], cost


@pytest.mark.parametrize("reference", [*SHIPPED, "a3-v4-vllm", "a3-glm51-pd-tp4"])
def test_cost_is_that_of_the_cards_and_the_rate_of_the_estimate(capsys, reference):
    seen, cost = seen_by(capsys, reference)
    pools = catalogue.load_deployment(reference)
    cards = sum(pool.devices for pool in pools)
    assert cost["devices"] == cards
    rate = seen["throughput"]["value"]
    whole = cost["amounts"]["per_million_output_whole"]["value"]
    assert cost["amounts"]["per_hour"]["value"] == pytest.approx(PRICE * cards, rel=1e-9)
    assert whole == pytest.approx(PRICE * cards / 3600 / rate * 1e6, rel=NEAR)


@pytest.mark.parametrize("reference", ["a3-v4-vllm", "a3-glm51-pd-tp4"])
def test_deploy_predicts_what_is_estimated_of_two_pools(capsys, tmp_path, reference):
    seen = told(capsys, "estimate", reference)["seen"]
    assert main(["deploy", reference, "-o", str(tmp_path / "files")]) == 0
    pools = json.loads((tmp_path / "files" / "deployment.json").read_text("utf-8"))["pools"]
    for name in ("ttft", "tpot", "throughput"):
        for pool in pools.values():
            assert pool["predicted"][name]["value"] == pytest.approx(seen[name]["value"], rel=NEAR)


@pytest.mark.parametrize("reference", [*SHIPPED, "a3-v4-vllm", "a3-glm51-pd-tp4"])
def test_simulation_of_the_stated_load_has_its_pace_and_rate(capsys, reference):
    """First tokens wait for one another by chance; of them the two need not agree so well."""
    seen, simulated = (told(capsys, command, reference) for command in ("estimate", "simulate"))
    found = {"tpot": simulated["tpot"]["mean"], "throughput": simulated["output_throughput"]}
    for name, value in found.items():
        assert seen["seen"][name]["value"] == pytest.approx(value, rel=SIMULATED), name


GOALS = (["space.pools=two", "limits.ttft=5s"],
         ["space.pools=two", "limits.ttft=5s", "demand.think_time=5s"],
         ["space.pools=two", "limits.ttft=5s", "demand.users=null",
          "demand.arrival_rate=3 request/s"],
         ["space.pools=one"], ["space.pools=one", "demand.think_time=5s"])


@pytest.mark.parametrize("settings", GOALS)
def test_file_that_a_search_writes_has_the_numbers_of_its_row(capsys, tmp_path, settings):
    from calc.layouts.choice import family, text

    goal = load_goal("r1-80-users-h20", ["cards.fewest=32", "cards.most=32", *settings])
    row = Answer(search(goal)).front[0][0].row
    path = Path(tmp_path / "found.yml")
    path.write_text(text(goal, row.choice) if row.prefill is None
                    else family(goal, row.prefill, row.choice), "utf-8")
    assert ("pools" in yaml.safe_load(path.read_text("utf-8"))) == (row.prefill is not None)
    seen, cost = seen_by(capsys, str(path))
    for name in ("ttft", "tpot", "throughput"):
        assert seen[name]["value"] == pytest.approx(row.quantities[name], rel=BATCHED), name
    assert cost["devices"] == row.devices
