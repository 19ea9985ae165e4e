"""Compose files and Kubernetes manifests: valid, and the same servers as the scripts start."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from _launch import CASES, WRITTEN, arguments, done

from calc.capacity.availability import failures_of
from calc.launching.containers import container_files, container_of
from calc.launching.launch import deployment
from calc.launching.recipes import ADDRESSES
from calc.serving.evaluate import evaluate

KUBERNETES = "1.34.0"
SCHEMAS = {path.stem: json.loads(path.read_text("utf-8"))
           for path in (Path(__file__).parent / "schemas").glob("*.json")}


def documents(launch, *kinds):
    """Kubernetes objects of some kinds; without any, all."""
    return [each for path, text in launch.files.items() if path.startswith("kubernetes/")
            for each in yaml.safe_load_all(text) if not kinds or each["kind"] in kinds]


def templates(workload):
    """The pod templates of a workload by the number of pods of each in a group."""
    spec = workload["spec"]
    group = spec.get("leaderWorkerTemplate")
    return [spec["template"]] if group is None else [
        group["leaderTemplate"], *[group["workerTemplate"]] * (group["size"] - 1)]


def workloads(launch, *pools):
    """The workloads of some pools; without any, all."""
    return [each for each in documents(launch, "Deployment", "StatefulSet", "LeaderWorkerSet")
            if not pools or each["metadata"]["labels"]["app.kubernetes.io/component"] in pools]


@pytest.mark.parametrize("name", WRITTEN)
def test_manifests_and_compose_files_are_valid(made, name):
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    for each in documents(made[name]):
        if schema := SCHEMAS.get(each["kind"]):
            jsonschema.validate(each, schema)
        else:
            kubernetes_validate.validate(each, KUBERNETES, strict=True)
    for each in workloads(made[name]):
        for pod in templates(each):
            kubernetes_validate.validate({"apiVersion": "v1", "kind": "Pod", **pod}, KUBERNETES,
                                         strict=True)
    jsonschema.validate(yaml.safe_load(made[name].files["compose.yml"]), SCHEMAS["compose"],
                        jsonschema.Draft7Validator)


def flags(words):
    """Flags with their values, without names, addresses and ports."""
    text = re.sub(r'"(kv_port|engine_id)": [^,]*', "", "\n".join(words))
    return [part for part in re.split(r"\n(?=--)", text) if part.split("\n")[0] not in ADDRESSES]


@pytest.mark.parametrize("name", WRITTEN)
def test_pods_start_servers_with_the_flags_of_the_scripts(made, name):
    own, scripts = {}, made[name].files
    for config in documents(made[name], "ConfigMap"):
        own |= {f"nodes/{key}": text for key, text in config["data"].items()}
    for pool in made[name].pools:
        ours, theirs = ([flags(words) for path, text in sorted(files.items())
                         if path.startswith(f"nodes/{pool.name}-")
                         for words in arguments(text, r"server_\d+")] for files in (scripts, own))
        assert len(ours) == len(pool.layout.parts)
        assert ours == theirs


@pytest.mark.parametrize("name", ["vllm-wide", "vllm-two-per-node", "vllm-pools", "ascend-pools"])
def test_each_pod_runs_the_script_of_its_part(made, name, tmp_path):
    """By its ordinal in a StatefulSet, by group and index in a LeaderWorkerSet."""
    (tmp_path / "nodes").mkdir()
    for pool in made[name].pools:
        workload, = workloads(made[name], pool.name)
        ran = []
        for group in range(workload["spec"]["replicas"]):
            for rank, template in enumerate(templates(workload)):
                pod = f"{workload['metadata']['name']}-{group}"
                *words, command = template["spec"]["containers"][0]["command"]
                ran += done("env", f"HOSTNAME={pod}", f"LWS_LEADER_ADDRESS={pod}.pods.default",
                            f"LWS_WORKER_INDEX={rank}", *words,
                            command.replace("exec bash", "echo")).stdout.split()
        assert ran == [f"/deploy/nodes/{pool.name}-{number}.sh" for number in range(len(ran))]
        assert len(ran) == len(pool.layout.parts)


@pytest.mark.parametrize("name", WRITTEN)
def test_probes_wait_for_loading_and_cards_are_those_of_a_server(made, name):
    for pool in made[name].pools:
        workload, = workloads(made[name], pool.name)
        pod = templates(workload)[0]["spec"]["containers"][0]
        scenario, startup = pool.scenario, pod["startupProbe"]
        everything = evaluate(scenario.inputs(), scenario.model.attention)
        least = float(everything["loading_time"]) + failures_of(scenario.device.id).start.high
        waits = startup["failureThreshold"] * startup["periodSeconds"]
        assert least <= waits <= 2 * least
        limits = pod["resources"]["limits"]
        cards, = (count for name, count in limits.items() if "/" in name)
        assert cards * len(templates(workload)) * workload["spec"]["replicas"] == scenario.devices
        memory = int(limits["memory"].removesuffix("Gi")) * 2**30
        assert memory >= cards * float(everything["weights_per_device"])


@pytest.mark.parametrize("name", WRITTEN)
def test_services_select_pods_and_prometheus_has_the_jobs_of_the_rules(made, name):
    everything = documents(made[name])
    pods = [template["metadata"]["labels"] | {"leaderworkerset.sigs.k8s.io/worker-index": str(rank)}
            for each in workloads(made[name]) for rank, template in enumerate(templates(each))]
    services = [each for each in everything if each["kind"] == "Service"]
    for service in services:
        selector = service["spec"]["selector"]
        assert any(selector.items() <= pod.items() for pod in pods) or (
            selector.keys() == {"statefulset.kubernetes.io/pod-name"})
    monitor, = documents(made[name], "ServiceMonitor")
    label = monitor["spec"]["jobLabel"]
    jobs = {each["metadata"]["labels"][label] for each in services
            if label in each["metadata"]["labels"]}
    rules, = documents(made[name], "PrometheusRule")
    assert jobs == {pool.name for pool in made[name].pools} == set(
        re.findall(r'job="(\w+)"', json.dumps(rules).replace("\\", "")))
    router = made[name].files.get("router/router.sh")
    hosts = {each["metadata"]["name"] for each in services}
    if router and "haproxy" not in router:
        config, = (each for each in documents(made[name], "ConfigMap")
                   if "router.sh" in each["data"])
        assert set(re.findall(r"//([\w.-]+):", config["data"]["router.sh"])) <= hosts


@pytest.mark.parametrize("name", WRITTEN)
def test_containers_have_what_their_scripts_read_and_rdma_between_nodes(made, name):
    files, pools = made[name].files, made[name].pools
    services = yaml.safe_load(files["compose.yml"])["services"]
    between = len(pools) > 1 or pools[0].layout.span > 1
    for path in (path for path in files if path.startswith("nodes/") and path.endswith(".sh")):
        node = path[6:-3]
        read = set(re.findall(r"MASTER_ADDR|NODE_ADDR|\w*MODEL\b", re.sub(
            r"#.*|:=", "", files[path] + files[f"nodes/{node}.env"])))
        assert set(services[node]["environment"]) == read | {"HF_HOME"}
        rdma = "${RDMA:-/dev/infiniband}" in services[node].get("devices", ())
        assert rdma == (between and pools[0].scenario.device.type == "gpu")
        assert services[node].get("profiles", [node]) == [node]
    documented = "--profile" in files["README.md"]
    assert documented == ("profiles" in services[f"{pools[0].name}-0"])


def test_comments_are_in_the_language_asked_for(made):
    launch = made["vllm-pools"]
    chinese = container_files(launch.watched, "zh")
    for path, text in chinese.items():
        assert list(yaml.safe_load_all(text)) == list(yaml.safe_load_all(launch.files[path]))
        assert re.search(r"# .*[一-鿿]", text)
        assert not re.search(r"[一-鿿]", launch.files[path])


def test_images_are_those_of_the_release_or_have_to_be_set(made):
    images = {name: container_of(made[name].pools[0]).image for name in WRITTEN}
    assert images["vllm-wide"] == "vllm/vllm-openai:v0.13.0"
    assert images["ascend-pools"] == "quay.io/ascend/vllm-ascend:v0.18.0"
    scenario, overrides, engine = CASES["sglang-0.5.9"]  # on Ascend
    files = deployment(scenario, overrides, engine=engine).files
    assert "image: IMAGE\n" in files["kubernetes/deployment.yml"]
    assert "${IMAGE:?" in files["compose.yml"]
