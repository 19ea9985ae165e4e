"""What ``deploy`` writes, held against the programs that read it: shells, Prometheus, its tests."""

import json
import re
import shlex
from dataclasses import replace
from types import SimpleNamespace as Made

import pytest
import yaml
from _door import sentence
from _launch import ALONE, CASES, S0_POOLS, done, needs
from _plain import plain

from calc.launching import directory, vllm
from calc.launching.deployment import deployment
from calc.launching.layout import Layout, Part
from calc.launching.lengths import Longest
from calc.launching.scripts import (
    MADE as BY,
)
from calc.launching.scripts import (
    SOURCE,
    Pool,
    node_files,
    pool_of,
    routed,
    router_files,
)
from calc.launching.settings import Setting, release_of
from catalogue import ParamsError, load_scenario
from catalogue.engines.engine import load_tool

MADE = {}


def made(name):
    """A case, made once."""
    if name not in MADE:
        scenario, overrides, engine = CASES[name]
        MADE[name] = deployment(scenario, overrides, engine=engine)
    return MADE[name]


@pytest.fixture(params=CASES)
def written(request, tmp_path):
    """A case and the directory that it was written to."""
    found = made(request.param)
    directory.write(tmp_path / "out", found.files)
    return found, tmp_path / "out"


@pytest.mark.one
@needs("shellcheck")
def test_every_script_passes_shellcheck(written):
    _, folder = written
    scripts = sorted(folder.rglob("*.sh"))
    assert scripts
    checked = done("shellcheck", *scripts)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.one
@needs("promtool")
def test_promtool_takes_the_rules_and_the_configuration(written):
    _, folder = written
    for command in (("rules", "alerts.yml"), ("config", "prometheus.yml")):
        checked = done("promtool", "check", *command, folder=folder / "monitoring")
        assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.one
@needs("promtool")
def test_each_alert_fires_beyond_its_threshold_and_is_silent_short_of_it(written):
    found, folder = written
    tests = []
    for name in ("alerts.test.yml", "promises.test.yml"):
        if (folder / "monitoring" / name).is_file():
            checked = done("promtool", "test", "rules", name, folder=folder / "monitoring")
            assert checked.returncode == 0, checked.stdout + checked.stderr
            tests += plain((folder / "monitoring" / name).read_text("utf-8"))["tests"]
    named = {alert.name for each in found.watched for alert in each.alerts}
    for name in named:
        expected = {bool(case["exp_alerts"]) for test in tests for case in test["alert_rule_test"]
                    if case["alertname"] == name}
        assert expected == {True, False}, name


@needs("promtool")
def test_a_threshold_that_is_off_fails_its_test(tmp_path):
    """The unit tests can fail: a rule with twice the threshold does not fire where it should."""
    folder = tmp_path / "out"
    directory.write(folder, made("vllm-0.11").files)
    path = folder / "monitoring" / "alerts.yml"
    rules = plain(path.read_text("utf-8"))
    for rule in rules["groups"][0]["rules"]:
        if rule["alert"] == "TimePerOutputTokenAbovePrediction":
            head, _, number = rule["expr"].rpartition("> ")
            rule["expr"] = f"{head}> {2 * float(number.rstrip(')'))})"
    path.write_text(yaml.safe_dump(rules), encoding="utf-8")
    checked = done("promtool", "test", "rules", "alerts.test.yml", folder=folder / "monitoring")
    assert checked.returncode != 0
    assert "TimePerOutputTokenAbovePrediction" in checked.stdout + checked.stderr


@pytest.mark.one
def test_every_flag_stands_in_the_release(written):
    """Read back from the script's text, not from what made it."""
    found, folder = written
    for pool in found.pools:
        for script in (folder / "nodes").glob(f"{pool.name}-*.sh"):
            arrays = re.findall(r"server_\d+=\((.*?)\n\)", script.read_text("utf-8"), re.DOTALL)
            for words in (shlex.split(text, comments=True) for text in arrays):
                flags = [word for word in words if word.startswith("--")]
                assert flags
                assert [name for name in flags if not pool.release.has(name, _value(words, name))
                        ] == []


def _value(words, flag):
    """What stands after a flag; a variable for what the operator sets."""
    after = words[words.index(flag) + 1:][:1]
    if not after or after[0].startswith("--"):
        return None
    return json.loads(after[0]) if after[0].startswith("{") else (
        "0" if after[0].startswith("$") else after[0])


@pytest.mark.one
def test_every_metric_stands_in_the_release(written):
    found, folder = written
    rules = (folder / "monitoring" / "alerts.yml").read_text("utf-8")
    names = set(re.findall(r"(?:vllm|sglang):[a-z0-9_]+", rules))
    assert names
    for pool in found.pools:
        of_pool = {name for each in found.watched if each.pool is pool for alert in each.alerts
                   for name in re.findall(r"(?:vllm|sglang):[a-z0-9_]+", alert.expression("5m"))}
        assert of_pool <= names
        for name in of_pool:
            stem = re.sub(r"_(sum|count|bucket)$", "", name)
            assert pool.release.exports(name) or pool.release.exports(stem), name


@pytest.mark.one
def test_the_bench_takes_its_flags(written):
    found, folder = written
    release = found.pools[0].release
    tool = load_tool("sglang-bench" if release.name == "sglang" else "vllm-bench")
    text = (folder / "bench" / "run.sh").read_text("utf-8")
    names = set(re.findall(r"^    (--[a-z-]+)", text, re.MULTILINE))
    versions = [release.version] if release.name != "vllm-ascend" else [
        version for engine, version in release.by if engine.name == "vllm"]
    assert names
    assert [name for name in names for version in versions if not tool.exists(name, version)] == []


@pytest.mark.one
def test_a_plan_predicts_each_of_its_runs(written):
    found, folder = written
    plan = json.loads((folder / "bench" / "plan.json").read_text("utf-8"))
    assert [run["name"] for run in plan["runs"]] == [run.name for run in found.runs]
    for run in plan["runs"]:
        for interval in run["predicted"].values():
            assert 0 < interval["low"] <= interval["value"] <= interval["high"]
        assert run["asked"]["requests"] >= run["asked"]["concurrency"] or run["name"] == "one"


def test_servers_that_share_no_experts_stand_apart():
    """An engine cuts experts over all data-parallel replicas of a server."""
    pool = made("vllm-two-per-node").pools[0]
    assert pool.layout.servers == 2
    assert all("--data-parallel-size" not in {setting.name for setting in flags}
               for flags in pool.flags)
    assert "router/router.sh" in made("vllm-two-per-node").files


def test_replicas_that_share_experts_are_one_server():
    pool = made("vllm-wide").pools[0]
    assert pool.layout.servers == 1
    heads = [{setting.name: setting.value for setting in flags} for flags in pool.flags]
    assert [flags["--data-parallel-size"] for flags in heads] == [4] * 4
    assert [flags.get("--data-parallel-start-rank") for flags in heads] == [None, 1, 2, 3]
    assert ["--headless" in flags for flags in heads] == [False, True, True, True]


def test_two_pools_on_ascend_name_each_other_and_stand_behind_their_proxy():
    pools, servers = made("ascend-pools").pools, set()
    sizes = {pool.name: {"dp_size": pool.layout.joined, "tp_size": pool.layout.tp}
             for pool in pools}
    for pool in pools:
        for flags in pool.flags:
            config = next(setting.value for setting in flags
                          if setting.name == "--kv-transfer-config")
            assert config["kv_connector_extra_config"] == sizes
            assert config["kv_role"] == {"prefill": "kv_producer",
                                         "decode": "kv_consumer"}[pool.name]
            servers.add(config["engine_id"])
    assert len(servers) == sum(pool.layout.servers for pool in pools) == 8
    script = made("ascend-pools").files["router/router.sh"]
    words = shlex.split(re.search(r"router=\((.*?)\n\)", script, re.DOTALL)[1], comments=True)
    proxy = load_tool("vllm-ascend-proxy")
    assert all(proxy.exists(word, "0.18.0") for word in words if word.startswith("--"))
    for name, pool in zip(("prefiller", "decoder"), pools, strict=True):
        at = words.index(f"--{name}-hosts") + 1
        assert words[at:at + len(pool.hosts)] == list(pool.hosts)


def test_a_connector_sends_no_caches_from_fewer_ranks_to_more():
    own = made("ascend-pools").pools[0].layout
    pools = {"prefill": replace(own, tp=4), "decode": replace(own, tp=8)}
    with pytest.raises(ParamsError, match="caches go from TP4 to TP8"):
        vllm.mooncake(release_of("vllm-ascend", "0.18.0"), own.parts[0], "prefill", pools)


def test_cards_are_named_where_the_release_asks_for_them():
    for case, named in (("ascend-pools", []), ("ascend-pools-0.11", ["0,1,2,3,4,5,6,7"] * 8)):
        assert [setting.value for pool in made(case).pools for variables in pool.variables
                for setting in variables if setting.name == "PHYSICAL_DEVICES"] == named


@pytest.mark.parametrize(("scenario", "overrides", "engine", "says"), [
    ("s0-scenario-3", S0_POOLS, "vllm-ascend@0.9.1", "expected vllm-ascend@0.10.2rc1 or later"),
    ("s0-scenario-3", (*S0_POOLS, "parallelism.tensor_parallel=4",
                       "parallelism.pipeline_parallel=2"), "vllm-ascend@0.18.0", "TP4×PP2"),
])
def test_pools_that_the_connector_does_not_join_are_refused(scenario, overrides, engine, says):
    with pytest.raises(ParamsError) as told:
        deployment(scenario, overrides, engine=engine)
    assert says in str(told.value)


def test_a_node_without_an_address_is_not_scraped():
    targets = {name: plain(made(name).files["monitoring/prometheus.yml"])[
        "scrape_configs"] for name in ("vllm-wide", "sglang-pools-lb")}
    assert targets["vllm-wide"][0]["static_configs"] == [{"targets": ["serve-0:8000"]}]
    assert [len(job["static_configs"][0]["targets"]) for job in targets["sglang-pools-lb"]] == [
        4, 9]


def test_a_plug_in_between_two_releases_takes_what_both_take():
    by = release_of("vllm-ascend", "0.30.0rc2").by
    assert [f"{engine.name} {version}" for engine, version in by[1:]] == [
        "vllm 0.29.0", "vllm 0.31.0"]


def small(name="serve", engine="vllm@0.33.0", of=None, hosts=("a", "b"), variables=None):
    """A pool whose servers are each started with their number."""
    at = of or ALONE
    flags = tuple((Setting("--one", part.server, "same"), Setting("--two", None, "same"),
                   Setting("--three", "x y", "other\nline"), Setting("--four", 4, "same"))
                  for part in at.parts)
    scenario = Made(id="mine", heading={"en": "Mine\n$(x)"}, model=Made(name={"en": "M"}),
                    precision=Made(name={"en": "P"}))
    return Pool(name, scenario, release_of(*engine.split("@")), at, Longest(4096, "", 0.0), hosts,
                flags, variables or tuple(() for _ in at.parts))


def server(number):
    return [f"server_{number}=(", "  # same", f"  --one {number}", "  --two", "  # other line",
            "  --three 'x y'", "  # same", "  --four 4", ")"]


def written_of(pool, node):
    """Head and body of a node's script, and what its environment sets."""
    found = node_files(pool)
    name = f"nodes/{pool.name}-{node}"
    head, _, body = found[f"{name}.sh"].partition("in cluster.env: a path or a name of it}\"\n\n")
    assert set(found) == {f"nodes/{pool.name}-{each}.{end}" for each in range(pool.layout.nodes)
                          for end in ("sh", "env")}
    return head.splitlines(), body.splitlines(), found[f"{name}.env"].splitlines()[2:]


SHARED, CARDS = Setting("SHARED", "a b", "of both"), (
    Setting("CARDS", "0,1", "its own"), Setting("CARDS", "2,3", "its own"))


def test_servers_of_one_node_end_together_and_each_has_what_is_its_own():
    two = Layout(2, 1, 1, 1, 1, 3, 1, 2, (
        Part(0, 0, 0, 0, 2, 8000), Part(1, 0, 0, 2, 2, 8001), Part(2, 0, 1, 0, 2, 8000)))
    pool = small(of=two, variables=((SHARED, CARDS[0]), (CARDS[1], SHARED), (SHARED, CARDS[0])))
    head, body, around = written_of(pool, 0)
    assert head[:4] == ["#!/usr/bin/env bash", "# Mine $(x)", f"# vllm@0.33.0, serve-0. {BY}",
                        "set -euo pipefail"]
    assert head[-3:-1] == ['. "$here/serve-0.env"', "set +a"]
    assert body == [
        *server(0), "# its own",
        """env CARDS='0,1' vllm serve "$MODEL" "${server_0[@]}" "$@" &""", "",
        *server(1), "# its own",
        """env CARDS='2,3' vllm serve "$MODEL" "${server_1[@]}" "$@" &""", "",
        "# the node is as good as its servers: one that ends, ends the others",
        "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT", "wait -n"]
    assert around == [': "${MASTER_ADDR:=a}"', ': "${NODE_ADDR:=a}"', "# of both", "SHARED='a b'"]
    head, body, around = written_of(pool, 1)
    assert body == [*server(2), 'exec vllm serve "$MODEL" "${server_2[@]}" "$@"']
    assert around == [': "${MASTER_ADDR:=b}"', ': "${NODE_ADDR:=b}"', "# of both", "SHARED='a b'",
                      "# its own", "CARDS='0,1'"]


def over_nodes(servers):
    return Layout(8, 2, 1, 1, 1, servers, 2, 2 * servers, tuple(
        Part(each, rank, 2 * each + rank, 0, 8, 8000)
        for each in range(servers) for rank in (0, 1)))


@pytest.mark.parametrize(("engine", "called"), [
    ("vllm@0.33.0", "vllm serve"), ("vllm-ascend@0.18.0", "vllm serve"),
    ("sglang@0.5.23", "python -m sglang.launch_server --model-path")])
def test_a_node_of_a_server_knows_which_node_is_its_first(engine, called):
    head, body, around = written_of(small(engine=engine, of=over_nodes(2), hosts=tuple("abcd")), 3)
    assert head[2] == f"# {engine}, serve-3, node 1 of 2. {BY}"
    assert body == [*server(1), f'exec {called} "$MODEL" "${{server_1[@]}}" "$@"']
    assert around == [': "${MASTER_ADDR:=c}"', ': "${NODE_ADDR:=d}"']


def test_in_a_ray_cluster_the_first_node_alone_starts_a_server():
    pool = small(engine="vllm@0.11.0", of=over_nodes(1))
    own = '--node-ip-address="${NODE_ADDR}"'
    assert written_of(pool, 0)[1] == [
        f"ray start --head --port=6379 {own}", "", *server(0),
        'exec vllm serve "$MODEL" "${server_0[@]}" "$@"']
    assert written_of(pool, 1)[1] == [
        f'exec ray start --address="${{MASTER_ADDR}}:6379" {own} --block']


def router(*pools):
    """What comes before the servers, and what it is told."""
    text, = router_files(pools).values()
    told, _, called = text.partition("router=(\n")[2].partition("\n)\nexec ")
    return [line.strip() for line in told.splitlines() if not line.startswith("  #")], called


OUTSIDE = ["--host 0.0.0.0", "--port 8080"]


@pytest.mark.parametrize(("engine", "called"), [
    ("vllm@0.33.0", "vllm-router"), ("vllm-ascend@0.18.0", "vllm-router"),
    ("sglang@0.4.10.post2", "python -m sglang_router.launch_router")])
def test_servers_that_are_alike_stand_behind_a_router_of_their_kind(engine, called):
    assert router(small(engine=engine)) == (
        ["--worker-urls http://a:8000 http://b:8003", "--policy cache_aware", *OUTSIDE],
        f'{called} "${{router[@]}}" "$@"\n')


@pytest.mark.parametrize(("engine", "called", "told"), [
    ("sglang@0.4.10.post2", "python -m sglang.srt.disaggregation.mini_lb", [
        "--prefill http://a:8000 http://b:8003", "--prefill-bootstrap-ports 8998 9001",
        "--decode http://c:8000 http://d:8003"]),
    ("sglang@0.5.23", "python -m sglang_router.launch_router", [
        "--pd-disaggregation", "--prefill http://a:8000 8998", "--prefill http://b:8003 9001",
        "--decode http://c:8000", "--decode http://d:8003"]),
    ("vllm@0.33.0", "vllm-router", [
        "--vllm-pd-disaggregation", "--prefill http://a:8000", "--prefill http://b:8003",
        "--decode http://c:8000", "--decode http://d:8003"]),
    ("vllm-ascend@0.18.0", f"python {SOURCE}/examples/disaggregated_prefill_v1/"
     "load_balance_proxy_server_example.py", [
         "--prefiller-hosts a b", "--prefiller-ports 8000 8003", "--decoder-hosts c d",
         "--decoder-ports 8000 8003"])])
def test_two_pools_stand_behind_what_joins_them(engine, called, told):
    pools = small("prefill", engine), small("decode", engine, hosts=("c", "d"))
    assert router(*pools) == ([*told, *OUTSIDE], f'{called} "${{router[@]}}" "$@"\n')


def test_one_server_needs_no_router_and_two_do():
    assert not routed([small(of=over_nodes(1))])
    assert router_files([small(of=over_nodes(1))]) == {}
    assert routed([small()])
    assert routed([small("prefill", of=over_nodes(1)), small("decode", of=over_nodes(1))])


def test_what_no_engine_starts_is_refused_before_anything_is_written():
    own = load_scenario("h200-r1-vllm-tp8")
    of = release_of("vllm", "0.11.0"), Longest(4096, "", 0.0)
    assert sentence(pool_of, "serve", own, of[0], [], of[1]) == (
        "--hosts: 0 for the 1 nodes of 'serve', expected a name for each.")
    found = pool_of("serve", own, of[0], ["a", "b"], of[1])
    assert (found.hosts, found.addresses, found.role) == (("a",), ["a:8000"], "both")
    aside = Made(id="mine", file=Made(offload=1))
    assert "expected no offload" in sentence(pool_of, "serve", aside, of[0], ["a"], of[1])
