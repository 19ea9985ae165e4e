"""Input that cannot be used: one sentence, exit code 2, nothing printed, nothing overwritten."""

import json
import os
from pathlib import Path

import pytest
from _door import DEVICE, spoilt

PROJECT = Path(__file__).resolve().parents[3]
R1, AWQ, GOAL = "h200-r1-vllm-tp8", "s2-910b1-awq", "r1-64-users-8xh20"
DAY = f"capacity {R1} --load azure-conversation --daily-requests 200000"
MODEL = PROJECT / "tests/catalogue/models/configs/deepseek-v3.2.json"
PLACES = ("OUT", "LOOP", "EMPTY", "LENGTHS", "PIPE")
SENTENCES = [
    ("frobnicate", "frobnicate"), ("estimate", "expected a name or file, or"),
    (f"estimate {R1} --users 3", "write --set workload.concurrency=3."),
    ("estimate --model r1 --card h2000", "the nearest names are H200"),
    ("estimate mine.yml --tp 8", "did you mean --set parallelism.tensor_parallel=8"),
    ("estimte", "'estimate'"), ("audit", "dev audit"),
    # options of engines, benchmarks and other commands; words that no command takes
    ("estimate --card h200 --max-running-requests=8",
     "did you mean --set workload.max_num_seqs=8?"),
    ("estimate --card h200 -tp 8", "did you mean --layout TP8?"),
    ("estimate mine.yml --mem-fraction-static 0.8",
     "did you mean --set workload.memory_utilization=0.8?"),
    ("estimate mine.yml --max-num-seq 8", "did you mean --set workload.max_num_seqs=8?"),
    ("search --card h20 --tpot 50ms --tp 8", "did you mean --set space.tensor=8?"),
    ("search --sure 0.9", "it is --confidence now"), ("show vllm@9", "the release '9'"),
    ("capacity mine.yml --users 3", "it is --daily-users now"),
    ("simulate mine.yml --request-rate 3", "did you mean --rate 3?"),
    ("cost mine.yml --any-engine", "no option --any-engine, which is one of search"),
    ("estimate --modle r1", "did you mean --model?"), ("estimate -x", "estimate --help"),
    ("estimate mine.yml --set tp = 8", "KEY=VALUE without spaces, such as --set tp=8."),
    ("search --card h20，h200", "--card: a full-width '，', write --card h20,h200."),
    ("estimate —model r1", "write --model"), ("estimate --model", "requires an argument"),
    ("estimate a.yml b.yml", "unexpected 'b.yml', expected one DEPLOYMENT"),
    ("deploy mine.yml", "expected -o DIR, such as `will-it-fit deploy"),
    ("search --card h20 --tpot 50 ms", "--tpot takes one value, write --tpot '50 ms'."),
    ("estimate --json=3", "does not take a value"), ("dev audti", "did you mean 'audit'?"),
    ("simulate mine.yml --policy fast", "'fast' is not one of 'mixed', 'prefill-first'"),
    ("sweep mine.yml --workers 0", "expected a whole number of at least 1"),
    ("estimate --model https://huggingface.co/deepseek-ai/DeepSeek-R1 --card h200",
     "write deepseek-ai/DeepSeek-R1 or deepseek-v3."),
    ("estimate --model r1 --card 8xH200", "write --card H200 --cards 8."),
    ("estimate --model r1 --card h200 --hits 150%", "expected at most 100%."),
    ("estimate --model r1 --card h200 --engine vllm,sglang", "several engines, expected one"),
    (f"estimate {R1} --set workload.concurrency:64", "such as workload.concurrency=64."),
    ("simulate --model r1 --card h200", "--save plan.yml` writes one."),
    ("estimate --card h200 --enable-prefix-caching", "did you mean --hits VALUE?"),
    ("help", "expected one of estimate"), ("-v", "`will-it-fit --help`"),
    ("estimate --model r1 --card h200 --engine vllm0.11", "did you mean vllm@0.11"),
    ("show card h200", "`will-it-fit list card` lists their names"),
    ("show vllm --max-num-seqs", "without its dashes, max-num-seqs"),
    ("list h200", "`will-it-fit show h200`"),
    (f"cost {R1} --load azur", "the nearest names are azure-coding, azure-conversation"),
    ("estimate no-such-scenario", "no-such-scenario"), ("show no-such", "no-such"),
    ("estimate r1", "is a model, expected a deployment"),
    ("estimate H200", "see: show nvidia-h200-sxm"),
    ("list modles", "did you mean models"), ("devices", "'list devices' or 'show NAME'"),
    ("new cart", "expected one of deployment"), ("show deepseek-v3 --release 1", "is no engine"),
    (f"estimate {R1} --set device=groq3", "`will-it-fit new card`"),
    (f"estimate {R1} --engines vllm", "expected two engines or more"),
    (f"estimate {R1} --engines vllm@0.11,vllm@next", "vllm has no release 'next'"),
    ("check PIPE", "PIPE"), ("check LOOP", "LOOP"), (f"check {'x' * 3000}", "xxx"),
    ("calibrate", "CALIBRATION"),
    ("import-model /nowhere.json", "/nowhere.json"), ("show vllm max-modl-len", "max-model-len"),
    ("show vllm --release 0.0.1", "0.0.1"),
    ("sweep wide-lmsys --axis workload.concurrency=1,2", "wide-lmsys#decode"),
    ("estimate a3-v4-vllm --calibration mine", "a3-v4-vllm"),
    ("simulate s0-scenario-1 --rate 1", "how long they are"),
    (f"simulate {AWQ} --rate 1 --users 1", "--users"), (f"simulate {AWQ} --rate 1GB", "--rate 1GB"),
    (f"simulate {AWQ} --rate 1 --lengths LENGTHS", "LENGTHS:2: '5,x'"),
    (f"simulate {AWQ} --users 1 --turns 1000", "of prompt and answer"),
    ("cost s1-plan-c", "not how long they are"), (f"cost {R1} --api common", "sells no tokens"),
    (f"cost {R1} --price 2", "--price: '2' names no currency, expected a price in USD or CNY"),
    (f"capacity {R1}", "nothing is asked for"), (f"{DAY} --availability 1", "at most 1"),
    (f"{DAY} --turns 3", "expected --think-time as well"), (f"{DAY} --ttft 1GB", "wrong unit"),
    (f"{DAY} --ttft 1us", "which more replicas do not mend"),
    (f"decide {AWQ} --breakeven concurrency", "expected --against as well"),
    (f"decide {AWQ} --information", "expected a choice, --against, or a purchase, --demand"),
    ("decide s0-scenario-1 --quantity ttft", "states no length of prompts"),
    ("dev validate --system no-such", "no-such"), ("dev validate --metric latency", "latency"),
    ("calibrate EMPTY", "there is no plan.json"),
    ("dev audit --verdict compatibel", "'compatibel' is not one of"),
    ("dev kernels list --tables EMPTY", "there is no table, expected"),
    (f"deploy {R1} -o OUT --flag=--nnodes=2", "it comes with 0.13.0"),
    ("deploy s1-plan-c -o OUT", "--engine with one of sglang, vllm and a release"),
    ("deploy s1-plan-c -o OUT --engine vllm@0.13", "--set parallelism.expert_parallel=32"),
    # a request longer than the positions of the model
    *((f"{command} --set workload.context_tokens=1000000", "163,840") for command in (
        f"cost {R1}", f"decide {R1}", f"capacity {R1} --scaling",
        f"estimate {R1} --engines=vllm@0.11.0,sglang@0.5.6")),
    (f"deploy {R1} -o /sys/mine", "/sys"),
    (f"sweep {R1} --axis workload.concurrency=1,2 --workers 1 -o /sys/mine", "/sys")]


@pytest.mark.parametrize(("asked", "says"), SENTENCES)
def test_bad_input_is_one_sentence(cli, capsys, tmp_path, asked, says):
    (tmp_path / "LOOP").symlink_to("LOOP")
    (tmp_path / "EMPTY").mkdir()
    (tmp_path / "LENGTHS").write_text("100,50\n5,x\n")
    os.mkfifo(tmp_path / "PIPE")
    words = [str(tmp_path / word if word in PLACES else word) for word in asked.split()]
    try:
        code, out, err = cli(*words)
    except SystemExit as ended:  # words that no command has
        code, (out, err) = ended.code, capsys.readouterr()
    assert (code, err.count("\n")) == (2, 1)
    assert not out or words[0] == "check"
    assert says in err
    assert "Traceback" not in err
    assert not (tmp_path / "OUT").exists()


@pytest.mark.parametrize(("tokens", "fits"), [(163_840, True), (163_841, False)])
def test_estimate_fits_up_to_the_last_position(cli, tokens, fits):
    code, out, _ = cli("estimate", R1, "--json", "--set=workload.concurrency=1",
                       "--set=workload.requests=1", f"--set=workload.context_tokens={tokens}")
    answer = json.loads(out)
    assert (code, answer["fits"], "startup_line" in answer) == (0, fits, fits)
    assert [reason["kind"] for reason in answer.get("reasons", ())] == (
        [] if fits else ["context"])
    assert fits or answer["searched"]["best"] is None
OF_A_CARD = [
    ("1.6 TB/s", '"1,6 TB/s"', 6, "write 1.6 TB/s"),
    ("vendor:", "\tvendor:", 3, "a tab, expected spaces")]


@pytest.mark.parametrize(("old", "new", "line", "says"), OF_A_CARD)
def test_bad_card_is_told_its_line(cli, tmp_path, old, new, line, says):
    path = spoilt(tmp_path / "card.yml", DEVICE, old, new)
    code, _, err = cli("check", str(path))
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(f"{path}:{line}: ")
    assert says in err


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


PLAN = """model: deepseek-v3
devices: [CARD]
demand: {input_tokens: 2048 token, output_tokens: 512 token, users: 8, think_time: 100 s}
limits: {LIMIT}
cards: 8
"""


@pytest.mark.parametrize(("card", "limit"), [
    ("h200", "budget: hello"), ("h200", "rent: 400 USD"), ("h200", "throughput: 9000 token/s"),
    ("kunpeng-920", "tpot: 50 ms"), ("{device: h200, price: cheap}", "tpot: 50 ms"),
    ("intel-gaudi-3", "cost: 1"), ("h200", "tpot: 50 ms}\nspace: {drafters: [eagle3]"),
    ("h200", "tpot: 50 ms}\nengines: [sglagn]\nspace: {tensor: [8]")])
def test_check_and_search_refuse_a_goal_alike(cli, tmp_path, card, limit):
    path = tmp_path / "goal.yml"
    path.write_text(PLAN.replace("CARD", card).replace("LIMIT", limit))
    refused, searched = cli("check", str(path)), cli("search", str(path))
    assert (refused[0], searched[:2]) == (2, (2, ""))
    assert refused[2].startswith(f"{path}:")
    assert refused[2].endswith(searched[2])


def test_check_notes_formats_without_a_checkpoint(cli, tmp_path):
    path = tmp_path / "goal.yml"
    stated = "tpot: 50 ms}\nprecisions: [nvfp4, fp8-mxfp4]\nspace: {pools: [one]"
    path.write_text(PLAN.replace("CARD", "h20").replace("LIMIT", stated))
    code, out, _ = cli("check", str(path))
    assert code == 0
    assert f"{path}:5: precisions: no checkpoint of 'deepseek-v3' in fp8-mxfp4 is known" in out
