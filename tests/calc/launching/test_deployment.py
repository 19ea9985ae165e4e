"""What ``deploy`` writes: programs that read it accept it, and its numbers are the estimate's."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from _door import sentence
from _launch import CASES, WRITTEN, arguments, done, needs
from _promtool import unit_tests

import calc
import catalogue
from calc.answer.service import estimate_service
from calc.launching import directory
from calc.launching.launch import deployment
from calc.launching.starting import select, start
from calc.layouts.layout import Choice, Row, text
from calc.searching.goal import load_goal
from catalogue.engine import catalogue_of

STEADY = ("h200-r1-vllm-tp8", (  # a rate at which the closed form does not hold
    "cluster.nodes=2", "parallelism.tensor_parallel=1", "parallelism.data_parallel=16",
    "parallelism.expert_parallel=16", "workload.input_tokens=8000 token",
    "workload.output_tokens=200 token", "workload.context_tokens=16000 token",
    "workload.concurrency=256", "workload.requests=256", "workload.arrivals=poisson",
    "workload.arrival_rate=0.5 request/s"))
SGLANG = "sglang@0.5.23"
METRIC = r"(?:vllm|sglang):[a-z0-9_]+"


@pytest.fixture(scope="module")
def written(made, tmp_path_factory):
    """The folder with the directories of all of them."""
    folder = tmp_path_factory.mktemp("deployments")
    for name, each in made.items():
        directory.write(folder / name, each.files)
        for promised in (False, True):
            (folder / name / "monitoring" / f"{promised}.test.yml").write_text(
                yaml.safe_dump(unit_tests(each.watched, promised)), encoding="utf-8")
    return folder


@needs("shellcheck")
def test_every_script_passes_shellcheck(written):
    scripts = sorted(written.rglob("*.sh"))
    assert len(scripts) > 3 * len(WRITTEN)
    checked = done("shellcheck", *scripts)
    assert checked.returncode == 0, checked.stdout


@needs("promtool")
@pytest.mark.parametrize(("command", "name"), [
    (("check", "rules"), "alerts.yml"), (("check", "config"), "prometheus.yml"),
    (("test", "rules"), "*.test.yml")])
def test_promtool_accepts_rules_configuration_and_unit_tests(written, command, name):
    """Every alert fires beyond its threshold and is silent short of it."""
    files = sorted(written.glob(f"*/monitoring/{name}"))
    assert len(files) >= len(WRITTEN)
    checked = done("promtool", *command, *files)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("name", WRITTEN)
def test_deploy_titles_both_pools(made, name):
    title, pools = made[name].files["README.md"].partition("\n")[0], made[name].pools
    assert any(pool.scenario.title["en"] in title for pool in pools) == (len(pools) == 1)


def test_limit_of_a_service_replaces_the_prediction(made):
    watched, = made["vllm-limits"].watched
    limits = {alert.threshold for alert in watched.alerts if "Budget" in alert.name}
    assert limits == {4.0, 0.06}
    assert not any("AbovePrediction" in alert.name and "Time" in alert.name
                   for alert in watched.alerts)


def value_of(words, flag):
    """What follows a flag; a number in place of a variable that the operator sets."""
    after = words[words.index(flag) + 1:][:1]
    if not after or after[0].startswith("--"):
        return None
    return json.loads(after[0]) if after[0].startswith("{") else (
        "0" if after[0].startswith("$") else after[0])


@pytest.mark.parametrize("name", WRITTEN)
def test_release_accepts_what_the_files_name(made, written, name):
    """Flags of servers, routers and the bench, and metrics: read back from the written text."""
    folder, pools = written / name, made[name].pools
    for pool in pools:
        for script in (folder / "nodes").glob(f"{pool.name}-*.sh"):
            for words in arguments(script.read_text("utf-8"), r"server_\d+"):
                flags = [word for word in words if word.startswith("--")]
                assert flags
                assert [flag for flag in flags
                        if not pool.release.has(flag, value_of(words, flag))] == []
    release = pools[0].release
    tool = catalogue_of("sglang-bench" if release.name == "sglang" else "vllm-bench")
    versions = [release.version] if release.name != "vllm-ascend" else [
        version for engine, version in release.by if engine.name == "vllm"]
    run = (folder / "bench" / "run.sh").read_text("utf-8")
    flags = set(re.findall(r"^    (--[a-z-]+)", run, re.MULTILINE))
    assert flags
    assert all(tool.exists(flag, version) for flag in flags for version in versions)
    rules = (folder / "monitoring" / "alerts.yml").read_text("utf-8")
    metrics = {re.sub(r"_(sum|count|bucket)$", "", metric) for metric in re.findall(METRIC, rules)}
    assert metrics
    for metric in metrics:
        assert release.exports(metric) or release.exports(f"{metric}_count"), metric


def test_router_names_the_servers_of_both_pools(made):
    pools = made["ascend-pools"].pools
    words, = arguments(made["ascend-pools"].files["router/router.sh"], "router")
    assert all(catalogue_of("vllm-ascend-proxy").exists(word, "0.18.0")
               for word in words if word.startswith("--"))
    for name, pool in zip(("prefiller", "decoder"), pools, strict=True):
        at = words.index(f"--{name}-hosts") + 1
        assert words[at:at + len(pool.hosts)] == list(pool.hosts)
    assert "router/router.sh" in made["vllm-two-per-node"].files
    assert "router/router.sh" not in made["vllm-wide"].files  # one server


# --- numbers --------------------------------------------------------------------------------------


def near(value):
    """Of what is written with nine digits."""
    return pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("name", WRITTEN)
def test_written_numbers_are_those_of_the_estimate(made, written, name):
    """In the plan of the bench and in the summary for programs."""
    data = json.loads((written / name / "deployment.json").read_text("utf-8"))
    seen = estimate_service([pool.scenario for pool in made[name].pools]).seen
    for each in made[name].watched:
        assert each.predicted.tpot == seen.tpot
        found = data["pools"][each.pool.name]
        assert found["predicted"]["ttft"]["value"] == near(seen.ttft.value)
        assert {alert.name: near(alert.threshold) for alert in each.alerts} == {
            alert: told["threshold"] for alert, told in found["alerts"].items()}
    plan = json.loads((written / name / "bench" / "plan.json").read_text("utf-8"))
    assert plan["scenario"] == CASES[name][0]
    assert [run["name"] for run in plan["runs"]] == [run.name for run in made[name].runs]
    for run, own in zip(plan["runs"], made[name].runs, strict=True):
        assert run["asked"] == own.load
        assert run["asked"]["requests"] >= run["asked"]["concurrency"] or run["name"] == "one"
        for metric, interval in run["predicted"].items():
            assert 0 < interval["low"] <= interval["value"] <= interval["high"]
            assert interval["value"] == near(own.predicted[metric].value)


def test_steady_state_is_the_same_everywhere():
    """Estimate, alerts and bench take it from one place, also where it is simulated."""
    answer = calc.estimate(catalogue.load_scenario(STEADY[0], overrides=STEADY[1]))
    assert answer.seen is not None
    launched = deployment(*STEADY)
    watched, = launched.watched
    run, = (each for each in launched.runs if each.rate)
    for name in ("ttft", "tpot"):
        quantity = answer.quantities[f"steady_{name}"]
        assert getattr(watched.predicted, name) == quantity
        assert any(alert.predicted == quantity for alert in watched.alerts)
        assert run.predicted[name].value == pytest.approx(quantity.value)


def test_search_names_a_release_that_starts_its_answer():
    """What a release is known not to start is not told, and counted where it is left out."""
    small = ("space.tensor=8", "space.pipeline=1", "space.decode_context=1", "space.chunks=4096",
             "space.pools=one", "precisions=w4a8-int8", "engines=vllm-ascend@0.18.0",
             "cards.most=32", "space.expert=8")
    both, spared = (select("r1-910b2-least", [*small, f"space.spares={spares}"])
                    for spares in ("none,16", "16"))
    assert both.met
    assert both.best.choice.spares == 0  # redundant experts of W8A8 alone
    assert both.start(both.best).engine == "vllm-ascend@0.18.0"
    assert not spared.met
    assert spared.result.funnel.as_json()["by_bound"]["engine"] > 0


@pytest.mark.parametrize(("users", "starts"), [(64, True), (4000, False)])
def test_search_starts_what_deploy_writes(tmp_path, users, starts):
    """The file states all users, of whom not all are in flight."""
    goal = load_goal("r1-64-users-8xh20", [f"demand.users={users}", "demand.think_time=60 s"])
    choice = Choice("nvidia-h20", "hgx-h20", SGLANG, "w4afp8", 8, 8, 1, 1, 1, 0, 0, 1, 4096,
                    1, 0, 90, 20)
    assert bool(start(goal, Row(choice, {})).engine) == starts
    file = tmp_path / "found.yml"
    file.write_text(text(goal, choice), encoding="utf-8")
    if starts:
        assert deployment(str(file)).files
    else:
        assert "does not run as asked" in sentence(deployment, str(file))


@pytest.mark.parametrize("engine", ["vllm@0.9.0", "vllm@0.32.0", "sglang@0.5.8"])
def test_a_release_without_a_catalogue_has_the_flags_of_the_one_before(engine):
    made = deployment("h200-r1-vllm-tp8", engine=engine)
    known = made.pools[0].release
    assert str(known) == made.pools[0].scenario.engine != engine
    assert f"{engine} is not in the catalogue" in made.files["README.md"]
