"""Input that cannot be used: one sentence, exit code 2, nothing printed, nothing overwritten."""

import json
from pathlib import Path

import pytest
from _options import ABSURD, ended_well, finite

import catalogue

PROJECT = Path(__file__).resolve().parents[3]
R1, AWQ, GOAL = "h200-r1-vllm-tp8", "s2-910b1-awq", "r1-64-users-8xh20"
SCENARIO = "params/scenarios/s0-scenario-1.yml"
KERNELS = "params/templates/kernels.csv"
DAY = f"capacity {R1} --load azure-conversation --requests 200000 --no-check"
MODEL = PROJECT / "tests/catalogue/models/configs/deepseek-v3.2.json"
SENTENCES = [
    ("", "command"), ("frobnicate", "frobnicate"), ("estimate", "scenario"),
    ("estimate no-such-scenario", "no-such-scenario"), ("estimate /nowhere.yml", "/nowhere.yml"),
    ("estimate r1", "is a model, expected a scenario"),
    (f"estimate {GOAL}", "is a goal, expected a scenario"),
    (f"estimate params/goals/{GOAL}.yml", "this is a goal, expected a scenario"),
    ("estimate H200", "--set device=nvidia-h200-sxm"),
    ("estimate params/templates/device.yml", "those of one in params/scenarios/"),
    (f"search {R1}", f"is evaluated by: estimate {R1}"), ("devices no-such", "no-such"),
    ("models H200", "is a device, expected a model; it is shown by: devices nvidia-h200-sxm"),
    ("devices r1", "is a model, expected a device"),
    ("devices 910C", "ascend-910c-die (Ascend 910C, one die)"),
    (f"estimate {R1} --set tp=8", "such as parallelism.tensor_parallel=8"),
    (f"estimate {R1} --set parallelism.tensor_parallel：＝８",
     "such as parallelism.tensor_parallel=8"),
    (f"estimate {R1} --set parallelism.tensor_parallel=８", "such as 8"),
    (f"estimate {R1} --set workload.memory_utilization=90%", "such as 0.9"),
    (f"estimate {R1} --set device=groq3", "params/templates/device.yml"),
    (f"estimate {SCENARIO} --set device.memory_bandwidth=400GB", "memory_bandwidth"),
    (f"estimate {SCENARIO} --set device.like=nvidia-h20", "like"),
    ("estimate params/templates/scenario.yml --documented", "is in none of the doc"),
    (f"estimate {AWQ} --calibration no-such", "no-such"),
    (f"estimate {R1} --engines vllm", "expected two engines or more"),
    (f"estimate {R1} --engines vllm,", "expected two engines or more"),
    (f"estimate {R1} --engines vllm@0.11,vllm@9", "vllm has no release '9'"),
    (f"estimate {R1} --engines vllm,sglang --documented", "neither --documented"),
    (f"search {GOAL} --set space.tensor=[8,x]", "'x' is not a quantity"),
    (f"search {GOAL} --workers 0", "--workers 0"),
    (f"search {GOAL} --relax --set space.pools=two", "--relax"),
    ("check /nowhere.yml", "/nowhere.yml"), ("check LOOP", "LOOP"), (f"check {'x' * 3000}", "xxx"),
    ("import-model /nowhere.json", "/nowhere.json"), ("engines no-such", "no-such"),
    ("engines vllm max-modl-len", "max-model-len"), ("engines vllm --release 0.0.1", "0.0.1"),
    ("simulate s2-910b1-awq", "--rate"), (f"simulate {SCENARIO} --rate 1", "how long they are"),
    (f"simulate {AWQ} --rate 1 --users 1", "--users"), (f"simulate {AWQ} --rate 1GB", "--rate 1GB"),
    (f"simulate {AWQ} --rate 1 --begin together", "expected --users"),
    (f"simulate {AWQ} --users 2 --begin spread --ramp 5s", "expected one of them"),
    (f"simulate {AWQ} --rate 1 --lengths lognormal", "only with it"),
    (f"simulate {AWQ} --rate 1 --lengths lognormal --variation -1", "more than 0"),
    (f"simulate {AWQ} --rate 1 --lengths no-such", "there is no such file"),
    (f"simulate {AWQ} --rate 1 --prefix-groups 4", "expected --prefix-tokens as well"),
    (f"simulate {AWQ} --rate 1 --prefix-tokens 4097", "a prompt has"),
    (f"simulate {AWQ} --rate 1 --turns 2", "expected --users"),
    (f"simulate {AWQ} --users 1 --turns 1000", "of prompt and answer"),
    ("cost s1-plan-c", "not how long they are"), (f"cost {R1} --api common", "sells no tokens"),
    (f"cost {R1} --api deepseek-api:v9", "there is no such price list, expected one of r1"),
    (f"cost {R1} --prices amd-mi300x", "its prices are those of 'amd-mi300x'"),
    (f"cost {R1} --set prices.pue", "expected PATH=VALUE"),
    (f"cost {R1} --set prices.years=3", "--set prices.years: '3' has the wrong unit"),
    (f"cost {R1} --price 2", "expected a price such as 2 USD/h"),
    (f"cost {R1} --utilisation 1.5", "from 0.001 to 1"),
    (f"sweep {R1} --axis workload.concurrency", "workload.concurrency"),
    (f"sweep {R1} --axis workload.concurrency=1,2 --all", "--all"),
    (f"sweep {R1} --axis workload.concurrency=1,2 --min tpot --max tpot", "tpot"),
    (f"capacity {R1}", "nothing is asked for"),
    (f"capacity {R1} --load azure-coding", "expected --load and how many requests"),
    (f"capacity {R1} --users 3 --load azure-coding", "--users and --questions together"),
    (f"capacity {R1} --load nowhere --requests 3", "there is no load 'nowhere'"),
    (f"{DAY} --percentile 120", "expected 'mean', or a number"),
    (f"{DAY} --growth 3,2,1", "three rising numbers"),
    (f"{DAY} --turns 3", "expected --think-time as well"), (f"{DAY} --promise 1", "at most 1"),
    (f"{DAY} --ttft 1GB", "wrong unit"), (f"{DAY} --spares -1", "of at least 0"),
    (f"{DAY} --ttft 1us", "which more replicas do not mend"),
    (f"{DAY} --price 2USD/h", "expected --regret as well"),
    (f"{DAY} --storage much", "not a quantity"),
    (f"decide {AWQ} --breakeven concurrency", "expected --against beside it"),
    (f"decide {AWQ} --against pools", "expected --breakeven PATH or --information"),
    (f"decide {AWQ} --information", "expected a choice, --against, or a purchase, --demand"),
    (f"decide {AWQ} --information --demand 1token/s", "expected --late FACTOR"),
    (f"decide {AWQ} --information --demand 9request --late 2", "expected --limit tpot=VALUE"),
    (f"decide {AWQ} --quantity speed", "there is no such quantity"),
    ("decide s0-scenario-1 --quantity ttft", "states no length of prompts"),
    ("decide s0-scenario-1 --elasticities --quantity kv_blocks", "it is 0"),
    (f"decide {AWQ} --breakeven utilisation --against deepseek-api", "no price of an hour"),
    ("validate --system no-such", "no-such"), ("validate --metric latency", "latency"),
    ("validate --system s1-plan-d", "expected 'measured: my-rows.yml'"),
    (f"validate --energy --system {AWQ}", "--system"), ("calibrate no-such", "no-such"),
    ("calibrate", "calibrate"), ("calibrate EMPTY", "there is no plan.json"),
    ("audit --claim S9", "--claim S9"), ("audit --verdict compatibel", "nearest are compatible"),
    ("stale --older -1", "-1"), ("stale --as-of 2026-02-30", "2026-02-30"),
    ("kernels list --tables EMPTY", "holds no table, expected"),
    (f"kernels check --tables {KERNELS} --engine nccl@2.27", "expected nccl@2.27.3"),
    (f"kernels fit --tables {KERNELS}", "expected --card and --engine"),
    (f"kernels fit --tables {KERNELS} --card my-card --engine pytorch", "'my-card' has no file"),
    (f"deploy {R1} -o OUT --flag=--max-chunked-prefill-tokens=8192", "use --max-num-batched-to"),
    (f"deploy {R1} -o OUT --flag=--nnodes=2", "it comes with 0.13.0"),
    (f"deploy {R1} -o OUT --flag=--kv-cache-dtype=fp9", "expected one of auto"),
    (f"deploy {R1} -o OUT --flag=nnodes", "expected --name"),
    (f"deploy {R1} -o OUT --env 1X=2", "expected NAME=value"),
    (f"deploy {R1} -o OUT --engine vllm@9.9", "has no release '9.9'"),
    (f"deploy {R1} -o OUT --engine tensorrt-llm@1.0.0", "not in the catalogue"),
    (f"deploy {R1} -o OUT --hosts a,b", "expected 1, one per node"),
    (f"deploy {R1} -o OUT --set precision=bf16", "does not run as asked"),
    ("deploy s1-plan-c -o OUT", "--engine with one of sglang, vllm and a release"),
    ("deploy s1-plan-c -o OUT --engine vllm@0.13", "--set parallelism.expert_parallel=32"),
    ("deploy wide-lmsys -o OUT", "it comes with 0.4.10.post2"),
    (f"deploy {R1} -o /sys/mine", "/sys"), (f"import-model {MODEL} -o /sys/mine.yml", "/sys"),
    (f"sweep {R1} --axis workload.concurrency=1,2 --workers 1 -o /sys/mine", "/sys")]


@pytest.mark.parametrize(("asked", "says"), SENTENCES)
def test_bad_input_is_one_sentence(cli, capsys, tmp_path, asked, says):
    (tmp_path / "LOOP").symlink_to("LOOP")
    (tmp_path / "EMPTY").mkdir()
    places = {"OUT": tmp_path / "OUT", "LOOP": tmp_path / "LOOP", "EMPTY": tmp_path / "EMPTY"}
    words = [str(places.get(word, PROJECT / word if word.startswith("params/") else word))
             for word in asked.split()]
    try:
        code, out, err = cli(*words)
    except SystemExit as ended:  # words that no command has
        code, (out, err) = ended.code, capsys.readouterr()
    assert (code, err.count("\n")) == (2, 1)
    assert not out or words[0] == "check"
    assert says in err
    assert "Traceback" not in err
    assert not (tmp_path / "OUT").exists()


CARD = """\
name: {en: A card, zh: 一张卡}
vendor: Nobody
type: gpu
defaults: {source: data sheet of the maker, kind: vendor}
memory_capacity: 128 GB
memory_bandwidth: 3.67 TB/s
"""
OF_A_CARD = [
    ("3.67 TB/s", "3,67 TB/s", 6, "such as 3.67 TB/s"),
    ("3.67 TB/s", "3，67 TB/s", 6, "such as 3.67 TB/s"),
    ("3.67 TB/s", "{value: 3.67 TB/s, range: [4 TB/s, 3 TB/s]}", 6,
     "is the wrong way about, expected [3 TB/s, 4 TB/s]"),
    ("defaults: {source: data sheet of the maker, kind: vendor}\n", "", 4,
     "a source is missing, expected source: a key of params/sources/, or words"),
    ("data sheet of the maker", "datasheet", 4, "words that say where to look, such as"),
    ("memory_capacity", "memory_capacty", 5, "did you mean 'memory_capacity'"),
    ("vendor:", "\tvendor:", 2, "a tab, expected spaces")]


@pytest.mark.parametrize(("old", "new", "line", "says"), OF_A_CARD)
def test_bad_card_is_told_its_line(cli, tmp_path, old, new, line, says):
    path = tmp_path / "card.yml"
    path.write_text(CARD.replace(old, new), "utf-8")
    code, _, err = cli("check", str(path))
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(f"{path}:{line}: ")
    assert says in err


OF_MECHANISMS = [
    ("kernel_boundry: 2 us", "did you mean 'kernel_boundary'"),
    ("kernel_boundary: 2 GB", "wrong unit for 'kernel_boundary', expected a quantity in s"),
    ("micro_batches: 3", "expected 1 or 2"), ("micro_batches: 2 us", "expected a plain number"),
    ("routing_skew: -1", "out of range"), ("mla_efficiency: 1.5", "expected at most 1"),
    ("mla_efficiency: 0", "expected more than 0"), ("separate_pools: 0.5", "expected 0 or 1"),
    ("gemm_efficiency.bf17: 0.5", "did you mean 'gemm_efficiency.bf16'")]


@pytest.mark.parametrize(("line", "says"), OF_MECHANISMS)
def test_bad_mechanism_is_told_its_line(cli, tmp_path, line, says):
    text = (catalogue.ROOT / "templates" / "scenario.yml").read_text(encoding="utf-8")
    path = tmp_path / "mine.yml"
    path.write_text(f"{text}\nmechanisms:\n  {line}\n", encoding="utf-8")
    code, _, err = cli("estimate", str(path))
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(f"{path}:{len(text.splitlines()) + 3}: ")
    assert says in err


@pytest.mark.parametrize("text", ["100,50\n-5,3", "100,50\n5", "100,50\n5,x", "100,50\n0,3"])
def test_line_of_lengths_that_is_no_request_is_refused(cli, tmp_path, text):
    (tmp_path / "lengths.csv").write_text(f"{text}\n", encoding="utf-8")
    code, _, err = cli("simulate", AWQ, "--rate=1", f"--lengths={tmp_path / 'lengths.csv'}")
    assert code == 2
    assert f"lengths.csv:2: '{text.splitlines()[1]}'" in err


def test_pipes_are_not_waited_for(cli, tmp_path):
    import os

    os.mkfifo(tmp_path / "pipe.yml")
    code, _, err = cli("check", str(tmp_path / "pipe.yml"), "nowhere.yml")
    assert (code, err.count("\n")) == (2, 2)


NARROW = "parallelism.tensor_parallel=16,parallelism.data_parallel=1"
EVEN = ("decide s0-scenario-1 --set precision=w8a8-int8 --breakeven network_alpha --against "
        f"{NARROW}")
ANY = [
    *(f"simulate {AWQ} --rate=1 --requests=4 {option}={{}}" for option in (
        "--think-time", "--ttft", "--max-num-seqs", "--seed", "--prefix-tokens")),
    *(f"simulate {AWQ} {option}" for option in (
        "--rate={}", "--users={} --requests=4", "--users=1 --requests=4 --ramp={}",
        "--rate=1 --requests={}", "--rate=1 --duration={}", "--users=1 --turns={}")),
    *(f"estimate s0-scenario-1 --set {key}={{}}" for key in (
        "workload.concurrency", "workload.context_tokens", "workload.block_size",
        "workload.memory_utilization", "workload.draft_tokens", "cluster.nodes",
        "parallelism.tensor_parallel", "parallelism.expert_parallel", "device.memory_bandwidth")),
    f"estimate {R1} --set engine={{}}", f"estimate {R1} --engines=vllm,{{}}",
    *(f"cost {R1} {option}={{}}" for option in (
        "--price", "--utilisation", "--day-requests", "--api", "--set prices.pue",
        "--set prices.hour.own")),
    *(f"{EVEN} {option}={{}}" for option in ("--between", "--margin", "--limit", "--quantity")),
    *(f"decide {AWQ} --information --demand=2000token/s --late=2 {option}={{}}" for option in (
        "--price", "--samples", "--late"))]


@pytest.mark.parametrize("asked", ANY)
def test_absurd_values_end_in_an_answer_or_a_sentence(cli, asked):
    words = asked.split()
    for value in (*ABSURD, "0", "@", "../x"):
        assert ended_well(cli(*(word.format(value) for word in words), "--json")), value


def test_advice_leaves_something_to_do(cli):
    """No context of no tokens: what is proposed runs."""
    code, out, _ = cli("estimate", "s0-scenario-1", "--set", "workload.context_tokens=1", "--json")
    answer = finite(out)
    settings = [setting for change in [answer["nearest"], *answer["alternatives"]]
                for setting in change["settings"].values()]
    assert code == 0
    assert settings
    assert not {0, "0"} & set(settings)


@pytest.mark.parametrize(("asked", "made"), [
    (f"deploy {R1} -o OUT", "cluster.env"), (f"import-model {MODEL} -o OUT/model.yml", "model.yml"),
    (f"search {GOAL} --workers 1 --set precisions=fp8-block --set space.chunks=4096 --set "
     "space.drafts=0 --set space.tensor=8 -o OUT", f"{GOAL}-1.yml")])
def test_existing_output_is_not_overwritten(cli, tmp_path, asked, made):
    """A reader's file stays as it is: the command refuses, or leaves it alone."""
    out = tmp_path / "OUT"
    out.mkdir()
    mine = out / made
    mine.write_text("mine", "utf-8")
    code, _, err = cli(*(word.replace("OUT", str(out)) for word in asked.split()))
    assert mine.read_text("utf-8") == "mine"
    assert (code, err.count("\n")) == (2, 1)
    assert json.dumps(str(out))[1:-1] in err
