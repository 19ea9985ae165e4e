"""``deploy`` and ``calibrate RESULTS``: from a scenario to files, and from results back."""

import contextlib
import io
import json
import shutil

import pytest

import catalogue
from calc.commands.main import main

SMALL = "h200-r1-vllm-tp8"
SLICED = "h200-v32-sglang-dp8"


def refused(cli, *args):
    code, out, err = cli("deploy", *args)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(("args", "says"), [
    (("--flag=--max-chunked-prefill-tokens=8192",), "use --max-num-batched-tokens"),
    (("--flag=--use-v2-block-manager",), "the last pinned release that has it is 0.9.2"),
    (("--flag=--nnodes=2",), "it comes with 0.13.0"),
    (("--engine", "vllm@0.18", "--flag=--swap-space=4"), "the last pinned release that has it is"),
    (("--flag=--kv-cache-dtype=fp9",), "expected one of auto"),
    (("--flag=nnodes",), "expected --name"),
    (("--env", "VLLM_SWAP_SPACE=32"), "nor has any pinned release"),
    (("--env", "1X=2"), "expected NAME=value"),
    (("--engine", "vllm@9.9"), "has no release '9.9'"),
    (("--engine", "vllm@0.12.7"), "has no release '0.12.7' whose flags are known"),
    (("--engine", "tensorrt-llm@1.0.0"), "not in the catalogue"),
    (("--engine", "vllm@0.11.0", "--set", "engine=vllm@0.13"), "name it twice"),
    (("--hosts", "a,b"), "expected 1, one per node"),
    (("--set", "precision=bf16"), "does not run as asked"),
])
def test_what_cannot_be_launched_is_one_sentence(cli, tmp_path, args, says):
    assert says in refused(cli, SMALL, "-o", str(tmp_path / "out"), *args)
    assert not (tmp_path / "out").exists()


def test_a_deployment_without_an_engine_is_told_which_fit(cli, tmp_path):
    err = refused(cli, "s1-plan-c", "-o", str(tmp_path / "out"))
    assert "--engine with one of sglang, vllm and a release" in err


def test_a_deployment_that_does_not_fit_is_told_the_nearest(cli, tmp_path):
    err = refused(cli, "s1-plan-c", "--engine", "vllm@0.13", "-o", str(tmp_path / "out"))
    assert "94.9 GB short" in err
    assert "--set parallelism.expert_parallel=32" in err


def test_requests_without_a_length_are_refused(cli, tmp_path):
    err = refused(cli, "s1-plan-c", "--engine", "vllm@0.13", "--set",
                  "parallelism.expert_parallel=32", "-o", str(tmp_path / "out"))
    assert "--set workload.input_tokens" in err


def test_a_release_that_lacks_what_the_scenario_needs(cli, tmp_path):
    err = refused(cli, "wide-lmsys", "-o", str(tmp_path / "out"))
    assert "0.4.6.post5 has no '--enable-two-batch-overlap': it comes with 0.4.10.post2" in err


@pytest.mark.parametrize(("expert", "slices", "engine", "flags", "without"), [
    (1, 8, "sglang@0.5.6.post2", ("--tp-size 8", "--dp-size 8", "--enable-dp-attention"),
     ("--ep-size", "--moe-a2a-backend")),
    (4, 2, "sglang@0.5.6.post2", ("--ep-size 4", "--dp-size 8"), ("--moe-a2a-backend",)),
    (1, 8, "vllm@0.13.0", ("--tensor-parallel-size 1", "--data-parallel-size 8"),
     ("--enable-expert-parallel", "--all2all-backend")),
])
def test_slices_of_experts_over_replicas_of_attention(cli, tmp_path, expert, slices, engine, flags,
                                                      without):
    code, _, err = cli("deploy", SLICED, "--set", f"engine={engine}", "-o", str(tmp_path / "out"),
                       "--set", f"parallelism.expert_parallel={expert}",
                       "--set", f"parallelism.expert_tensor_parallel={slices}",
                       "--set", "workload.concurrency=32", "--set", "workload.requests=32")
    assert (code, err) == (0, "")
    script = (tmp_path / "out/nodes/serve-0.sh").read_text("utf-8")
    assert all(flag in script for flag in flags)
    assert not any(flag in script for flag in without)


@pytest.mark.parametrize(("engine", "says"), [
    ("vllm@0.13.0", "no flag cuts experts on 4 of 8 ranks into 2 slices, expected whole experts, "
                    "expert_parallel of 8, or all in slices, of 1"),
    ("sglang@0.4.6.post5", "no flag cuts experts on 4 of 8 ranks into 2 slices"),
])
def test_slices_of_some_experts_are_not_every_engine_s(cli, tmp_path, engine, says):
    assert says in refused(cli, SLICED, "--set", f"engine={engine}", "-o", str(tmp_path / "out"),
                           "--set", "parallelism.expert_parallel=4",
                           "--set", "parallelism.expert_tensor_parallel=2")


def test_two_engines_hold_other_requests(cli, tmp_path):
    """The share of memory that an engine is given covers activations in one, not in the other."""
    assert "buffers" in refused(cli, "wide-lmsys", "-o", str(tmp_path / "out"), "--engine",
                                "vllm@0.13.0")


def test_it_says_what_it_wrote(cli, tmp_path):
    code, out, err = cli("deploy", SMALL, "-o", str(tmp_path / "out"), "--json", "--hosts",
                         "gpu-7.example.org", "--flag=--trust-remote-code")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert {path.relative_to(tmp_path / "out").as_posix()
            for path in (tmp_path / "out").rglob("*") if path.is_file()} == set(data["files"])
    assert data["pools"]["serve"]["servers"] == ["gpu-7.example.org:8000"]
    assert "--trust-remote-code" in (tmp_path / "out/nodes/serve-0.sh").read_text("utf-8")
    predicted = data["pools"]["serve"]["predicted"]
    assert data["pools"]["serve"]["alerts"]["TimePerOutputTokenAbovePrediction"] == predicted[
        "tpot"]["high"]
    estimate = json.loads(cli("estimate", SMALL, "--json")[1])["quantities"]["steady_tpot"]
    assert predicted["tpot"]["high"] == estimate["high"]


def test_answers_of_one_token_have_no_time_per_output_token(cli, tmp_path):
    code, _, err = cli("deploy", SMALL, "-o", str(tmp_path / "out"), "--set",
                       "workload.output_tokens=1", "--set", "workload.concurrency=8")
    assert (code, err) == (0, "")
    runs = {run["name"]: run["predicted"]
            for run in json.loads((tmp_path / "out/bench/plan.json").read_text("utf-8"))["runs"]}
    assert set(runs["planned"]) == {"ttft", "output_throughput"}
    assert set(runs["shorter"]) == {"ttft", "tpot", "output_throughput"}


def bench(folder, factor=1.0, runs=None, spelt="json"):
    """Results as the engines' clients write them, off by a factor."""
    plan = json.loads((folder / "bench/plan.json").read_text("utf-8"))
    (folder / "bench/results").mkdir(exist_ok=True)
    for run in plan["runs"]:
        if runs and run["name"] not in runs:
            continue
        asked, told = run["asked"], run["predicted"]
        data = {"completed": asked["requests"],
                "total_input_tokens": asked["requests"] * asked["input_tokens"],
                "total_output_tokens": asked["requests"] * asked["output_tokens"],
                "mean_ttft_ms": 1e3 * told["ttft"]["value"],
                "mean_tpot_ms": 1e3 * factor * told["tpot"]["value"],
                "output_throughput": told["output_throughput"]["value"] / factor}
        text = json.dumps(data) + "\n"
        (folder / f"bench/results/{run['name']}.{spelt}").write_text(
            "{}\n" * (spelt == "jsonl") + text, encoding="utf-8")
    return folder / "bench/results"


@pytest.fixture(scope="module")
def as_written(tmp_path_factory):
    """A deployment's directory, which nobody changes."""
    folder = tmp_path_factory.mktemp("written") / "out"
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(("deploy", SMALL, "-o", str(folder))) == 0
    return folder


@pytest.fixture
def written(as_written, tmp_path):
    """A copy of it."""
    return shutil.copytree(as_written, tmp_path / "out")


@pytest.mark.parametrize("spelt", ["json", "jsonl"])
def test_what_is_as_predicted_is_inside(cli, written, spelt):
    code, out, _ = cli("calibrate", str(bench(written, spelt=spelt)), "--json")
    data = json.loads(out)
    assert code == 0
    assert data["inside"] == data["of"] == 18
    assert all(row["measured"] == pytest.approx(row["predicted"]) for row in data["rows"])


def test_one_run_that_is_unlike_the_others_is_told_though_it_is_inside(cli, written):
    """What all runs share is no reason that one of them may differ."""
    results = bench(written, 1.02)
    path = results / "half.json"
    data = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(data | {"mean_tpot_ms": 1.15 * data["mean_tpot_ms"]}), "utf-8")
    told = json.loads(cli("calibrate", str(results), "--json")[1])
    unlike = [(row["run"], row["metric"]) for row in told["rows"] if row["agrees"] is False]
    assert unlike == [("half", "tpot")]
    assert next(row["inside"] for row in told["rows"] if (row["run"], row["metric"]) == unlike[0])
    assert "17 of 18 are as far from" in cli("calibrate", str(results))[1]


def test_what_is_not_as_predicted_is_outside(cli, written):
    data = json.loads(cli("calibrate", str(bench(written, 4.0)), "--json")[1])
    outside = {row["metric"] for row in data["rows"] if not row["inside"]}
    assert outside == {"tpot", "output_throughput"}


def test_files_of_the_readers_own_are_written_and_used(cli, written):
    code, out, err = cli("calibrate", str(bench(written, 1.3)), "--write")
    assert (code, err) == (0, "")
    files = [str(written / "calibration" / name) for name in (
        "measured.yml", "scenario.yml", "calibration.yml")]
    assert cli("check", *files)[0] == 0
    assert files[1] in out
    code, out, _ = cli("estimate", files[1], "--calibration", files[2], "--json")
    assert code == 0
    fitted = json.loads(out)["quantities"]["tpot"]["central"]
    plain = json.loads(cli("estimate", files[1], "--json")[1])["quantities"]["tpot"]["central"]
    assert fitted > plain
    measured = catalogue.load_scenario(files[1]).measured
    assert measured is not None
    assert len(measured.rows) == 5  # the run with a prefix is no row


def test_what_the_reader_wrote_since_is_kept(cli, written):
    results = str(bench(written, 1.3))
    assert cli("calibrate", results, "--write")[0] == 0
    mine = written / "calibration" / "measured.yml"
    mine.write_text(mine.read_text("utf-8") + "# mine\n", encoding="utf-8")
    code, _, err = cli("calibrate", results, "--write")
    assert code == 2
    assert "has been changed since it was written" in err
    assert mine.read_text("utf-8").endswith("# mine\n")


@pytest.mark.parametrize(("file", "text", "says"), [
    ("bench/results/one.json", "{", "is not JSON"),
    ("bench/results/one.json", "[]", "expected a JSON object"),
    ("bench/results/one.json", "{}", "'completed' is missing"),
    ("bench/results/one.json", '{"completed": 0}', "no request was answered"),
    ("bench/results/one.json", '{"completed": 3, "total_input_tokens": NaN}', "'total_input_tok"),
    ("bench/results/one.json", '{"completed":9, "total_input_tokens": 3, "total_output_tokens": 9}',
     "fewer tokens than requests"),
    ("bench/results/one.json", f'{{"completed": {"9" * 400}}}', "'completed' is missing or no num"),
    ("bench/results/one.json", "[" * 100_000, "is not JSON"),
    ("bench/plan.json", "{}", "is no plan"), ("bench/plan.json", "[1]", "is no plan"),
])
def test_results_that_are_none_are_one_sentence(cli, written, file, text, says):
    results = bench(written)
    (written / file).write_text(text, encoding="utf-8")
    code, _, err = cli("calibrate", str(results))
    assert code == 2
    assert says in err
    assert err.count("\n") == 1


def test_results_without_a_plan_are_refused(cli, tmp_path):
    code, _, err = cli("calibrate", str(tmp_path))
    assert code == 2
    assert "there is no plan.json" in err


def test_a_client_that_did_otherwise_is_told(cli, written):
    results = bench(written, runs=("one",))
    data = json.loads((results / "one.json").read_text("utf-8"))
    (results / "one.json").write_text(json.dumps(data | {
        "completed": 8, "total_output_tokens": 8 * 100}), encoding="utf-8")
    told = json.loads(cli("calibrate", str(results), "--json")[1])
    assert any("8 of 16 requests" in line for line in told["remarks"])
    assert any("answers of 100 tokens" in line for line in told["remarks"])
    assert set(told["missing"]) == {"half", "planned", "shorter", "spread", "prefix"}
