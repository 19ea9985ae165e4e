"""``log``: public start-up logs of three engines beside their predictions.

A log in ``startup_logs/`` holds lines that an engine printed; paths of persons are shortened, and
of long lists of arguments what says nothing of memory is left out.
"""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from calc.evidence.startup import Term, wrong_term
from calc.uncertainty import Amount
from catalogue.entries.measurements import PRINTED_UNITS
from catalogue.startuplog import GIB, LARGEST, read_log, recognised

LOGS = Path(__file__).parent / "startup_logs"
UNKNOWN = "public log, repository not known: "
A2 = ("device=ascend-910b3", "cluster.node=atlas-800t-a2")


@dataclass(frozen=True)
class Case:
    """A log, what nobody can read in it, and what it says.

    Attributes:
        source: where it was found.
        printed: figures as the engine prints them, sizes in GiB.
        wrong: the term that is off.
        settings: what the log does not name, or names otherwise than the catalogue.
        refused: why the engine did not start.
    """

    source: str
    printed: dict[str, float]
    wrong: str | None = None
    settings: tuple[str, ...] = ()
    refused: str | None = None
    recognised: dict[str, object] = field(default_factory=dict)


CASES = {
    "vllm-glm-5.2-gb200": Case(
        f"{UNKNOWN}full vLLM start-up log",
        {"weights": 106.69, "activations": 6.31, "runtime": 0.95, "graphs": 4.13,
         "available": 50.62, "tokens": 1139456, "requests": 1.39, "free_before_load": 181.84},
        settings=("device=nvidia-gb200",),
        recognised={"model": "glm-5.2", "engine": "vllm@0.26.0", "precision": "nvfp4-fp8-cache"}),
    "vllm-deepseek-v4-flash-rtx-pro-6000": Case(
        f"{UNKNOWN}stock vLLM on two SM120 cards, full start-up log",
        {"weights": 75.64, "graphs": 1.73, "available": 10.29, "tokens": 1993100,
         "requests": 1.90}, settings=("device=nvidia-rtx-pro-6000-server",),
        recognised={"model": "deepseek-v4-flash", "engine": "vllm@0.25.0",
                    "precision": "fp8-mxfp4"}),
    "vllm-deepseek-v4-flash-h200": Case(
        f"{UNKNOWN}health probe of a server with 128K context",
        {"weights": 74.08, "available": 32.08, "tokens": 1247687, "requests": 9.52},
        wrong="tokens", settings=("device=nvidia-h200-sxm",),
        recognised={"engine": "vllm@0.23.0", "graphs": False}),
    "vllm-gpt-oss-120b-h100-over-full": Case(
        "https://github.com/vllm-project/vllm/issues/23278",
        {"weights": 65.9651, "available": -2.14}, settings=("device=nvidia-h100-sxm",),
        refused="no-room", recognised={"model": "gpt-oss-120b", "engine": "vllm@0.10.1",
                                       "precision": "mxfp4-w4a16"}),
    "vllm-gpt-oss-120b-h100-refused": Case(
        "https://github.com/vllm-project/vllm/issues/27508",
        {"available": 1.71, "request_memory": 4.54}, settings=("engine=vllm@0.11.0",),
        refused="longest-request", recognised={"device": "nvidia-h100-sxm"}),
    "sglang-deepseek-v4-flash-h20": Case(
        f"{UNKNOWN}server logs in the tests of llm-serving-capacity-planner",
        {"free_before_load": 93.56, "graphs": 1.93, "available": 45.78, "tokens": 3080960},
        wrong="available", settings=("device=nvidia-h20", "precision=fp8-block-e8m0",
                                     "engine=sglang@0.5.12")),
    "sglang-qwen3-8b-b200": Case(
        f"{UNKNOWN}reference log of sgl-project/sglang's clean-startup-log",
        {"free_before_load": 177.57, "weights": 15.28, "free_after_load": 162.30, "graphs": 0.60,
         "cache": 136.36, "tokens": 992896},
        settings=("device=nvidia-b200", "engine=sglang@0.5.10.post1"),
        recognised={"model": "qwen3-8b", "precision": "bf16"}),
    "sglang-deepseek-v4-flash-910b3": Case(
        f"{UNKNOWN}server log of SGLang on Ascend 910B",
        {"weights": 41.35, "free_after_load": 19.15, "graphs": 0.73, "available": 11.89,
         "tokens": 1641472}, wrong="weights",
        settings=("cluster.node=atlas-800t-a2", "engine=sglang@0.5.12"),
        recognised={"device": "ascend-910b3", "precision": "w4a8-int8-index8"}),
    "sglang-deepseek-v4-pro-h200-over-full": Case(
        "https://github.com/SemiAnalysisAI/InferenceX/issues/2128",
        {"weights": 125.65, "free_after_load": 12.25}, wrong="weights", refused="no-room",
        settings=("device=nvidia-h200-sxm",), recognised={"model": "deepseek-v4-pro"}),
    "vllm-ascend-qwen3-8b-910b3": Case(
        f"{UNKNOWN}installation page of vllm-ascend, with the name of a smaller model",
        {"weights": 15.2859, "graphs": 0.13, "available": 39.06, "tokens": 284416,
         "requests": 6.94}, wrong="graphs", settings=("model=qwen3-8b", *A2),
        recognised={"engine": "vllm-ascend@0.18.0"}),
    "vllm-ascend-deepseek-v4-flash-910b": Case(
        "https://github.com/vllm-project/vllm-ascend/issues/13439",
        {"free_before_load": 60.61, "weights": 47.4, "activations": 0.21, "runtime": 0.22,
         "graphs": 0.78, "available": 7.03}, wrong="activations",
        settings=("model=deepseek-v4-flash", *A2, "precision=w8a8-int8-index8",
                  "parallelism.data_parallel=8", "parallelism.expert_parallel=8",
                  "workload.draft_tokens=1")),
    "vllm-ascend-qwen3-235b-a22b-910b3": Case(
        "https://github.com/vllm-project/vllm-ascend/issues/5876",
        {"available": 25084038656 / GIB, "tokens": 521088, "requests": 15.90},
        settings=("model=qwen3-235b-a22b", *A2, "engine=vllm-ascend@0.13.0rc2",
                  "parallelism.tensor_parallel=16", "parallelism.expert_parallel=16",
                  "workload.max_num_batched_tokens=4096 token"))}


def asked(name):
    return ["log", str(LOGS / f"{name}.log"),
            *(f"--set={setting}" for setting in CASES[name].settings)]


@pytest.mark.parametrize("name", CASES)
def test_terms_are_found_and_the_wrong_one_is_named(cli, name):
    code, out, err = cli(*asked(name), "--json")
    assert (code, err) == (0, "")
    answer, case = json.loads(out), CASES[name]
    shown = {figure: value / GIB if PRINTED_UNITS[figure] == "B" else value
             for figure, value in answer["printed"].items()}
    assert shown == pytest.approx(case.printed)
    assert (answer["wrong"], answer["refused"]) == (case.wrong, case.refused)
    assert case.recognised.items() <= answer["deployment"].items()
    assert answer["terms"].keys() == case.printed.keys() - {
        "free_before_load", "free_after_load", "longest"}


@pytest.mark.parametrize("name", [
    "vllm-deepseek-v4-flash-h200", "vllm-gpt-oss-120b-h100-over-full", "sglang-qwen3-8b-b200",
    "vllm-ascend-deepseek-v4-flash-910b"])
def test_a_stored_log_is_a_sound_measurement(cli, tmp_path, name):
    target = tmp_path / "stored.yml"
    assert cli(*asked(name), "-o", str(target))[::2] == (0, "")
    stored = target.read_bytes()
    assert cli("check", str(target))[::2] == (0, "")
    code, _, err = cli(*asked(name), "-o", str(target))
    assert (code, err.count("\n")) == (2, 1)
    assert target.read_bytes() == stored


def test_a_deployment_of_the_catalogue_may_be_named(cli):
    path = str(LOGS / "vllm-deepseek-v4-flash-h200.log")
    code, out, _ = cli("log", path, "--deployment", "h200-r1-vllm-tp8", "--json")
    answer = json.loads(out)
    assert (code, answer["wrong"]) == (0, "weights")
    assert answer["deployment"]["model"] != "deepseek-v4-flash"


def term(figure, printed, predicted):
    return Term(figure, printed, Amount(predicted, 0.9 * predicted, 1.1 * predicted, "B"))


@pytest.mark.parametrize(("terms", "wrong"), [
    ([term("weights", 100, 101), term("available", 50, 49), term("tokens", 9, 9)], None),
    ([term("weights", 100, 80), term("graphs", 1, 2), term("available", 50, 69)], "weights"),
    ([term("weights", 100, 101), term("graphs", 1, 2), term("available", 50, 69)], "available"),
    ([term("available", 50, 60), term("tokens", 50, 60)], "available"),
    ([term("available", 50, 60), term("tokens", 50, 150)], "tokens")])
def test_the_wrong_term_is_the_cause_of_the_others(terms, wrong):
    found = wrong_term(terms)
    assert (found.figure if found else None) == wrong


LINE = "vLLM Available KV cache memory: 1 GiB\n"


@pytest.mark.parametrize("text", [
    "", f"vllm serve Qwen/Qwen3-8B\n{LINE}", LINE * (LARGEST // len(LINE) + 1)],
    ids=["empty", "no card", "large"])
def test_other_texts_are_refused_in_one_sentence(cli, tmp_path, text):
    """Of spoilt logs: ``tests/test_hostile_input.py``."""
    path = tmp_path / "some.log"
    path.write_text(text, "utf-8")
    code, out, err = cli("log", str(path), "-o", str(tmp_path / "out.yml"))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.rstrip().endswith((".", "。"))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("text", ["Load weight end ", LINE])
def test_no_text_takes_long(cli, tmp_path, text):
    """Six megabytes of the same words, on one line or on many."""
    path = tmp_path / "some.log"
    path.write_text(text * (6 * 10**6 // len(text)), "utf-8")
    begun = time.process_time()
    code, _, err = cli("log", str(path))
    assert (code, err.count("\n")) == (2, 1)
    assert time.process_time() - begun < 2


def read_in(folder, text):
    path = folder / "some.log"
    path.write_text(text, "utf-8")
    return read_log(path)


@pytest.mark.parametrize(("line", "device"), [
    ("device_name=NVIDIA_H200,dtype=fp8_w8a8.json", "nvidia-h200-sxm"),
    ("device_name=AMD_Instinct_MI300X.json", "amd-mi300x"),
    ("GPU 0: NVIDIA A100-SXM4-80GB", "nvidia-a100-sxm-80gb"),
    ("|   0  NVIDIA H100 80GB HBM3          On  | 00000000:C3:00.0 Off |", "nvidia-h100-sxm"),
    ("| 0     910B2               | OK            | 92.9 |", "ascend-910b2"),
    ("GPU 0: NVIDIA A100-SXM4-40GB", None), ("GPU 0: NVIDIA H100 PCIe", None)])
def test_cards_are_recognised_by_the_names_that_tools_print(tmp_path, line, device):
    assert recognised(read_in(tmp_path, f"{line}\n{LINE}"), {})["device"] == device


@pytest.mark.parametrize(("launch", "expected"), [
    ("--tensor-parallel-size 8 --data-parallel-size 2 --enable-expert-parallel",
     {"tensor_parallel": 8, "data_parallel": 2, "expert_parallel": 16}),
    ("(Worker_DP1_TP3_EP7 pid=1) INFO", {"tensor_parallel": 4, "data_parallel": 2}),
    ("-tp 4 -pp 2", {"tensor_parallel": 4, "pipeline_parallel": 2}),
    ("ServerArgs(tp_size=8, dp_size=4, enable_dp_attention=True)",
     {"tensor_parallel": 2, "data_parallel": 4})])
def test_the_layout_is_recognised(tmp_path, launch, expected):
    log = read_in(tmp_path, f"vllm serve openai/gpt-oss-120b {launch}\n{LINE}")
    assert expected.items() <= recognised(log, {})["parallelism"].items()


@pytest.mark.parametrize(("launch", "loaded"), [
    ("--language-model-only", {"text_only": 1}), ("", None),
    ("non-default args: {'language_model_only': True}", {"text_only": 1}),
    ("--mm-encoder-tp-mode data", {"vision_whole": 1})])
def test_what_is_loaded_of_a_vision_tower_is_recognised(tmp_path, launch, loaded):
    log = read_in(tmp_path, f"vllm serve moonshotai/Kimi-K2.5 -tp 8 {launch}\n{LINE}")
    assert recognised(log, {}).get("mechanisms") == loaded


@pytest.mark.parametrize(("checkpoint", "launch", "precision"), [
    ("deepseek-ai/DeepSeek-V4-Flash", "", "fp8-mxfp4"), ("zai-org/GLM-5.2", "", "bf16"),
    ("/models/GLM-5.2-FP8", "", "fp8-block"), ("openai/gpt-oss-120b", "", "mxfp4-w4a16"),
    ("/models/GLM-5.2-FP8", "--kv-cache-dtype fp8", "fp8-block-fp8-cache"),
    ("/models/GLM-5.2-FP8", "--kv-cache-dtype fp8_ds_mla", "fp8-block-fp8-latent"),
    ("/models/GLM-5.2", "--quantization modelopt_fp4", "nvfp4"),
    ("Qwen/Qwen3-235B-A22B-w8a8", "--quantization ascend", "w8a8-int8"),
    ("/hub/models--Qwen--Qwen3-8B/snapshots/60d8", "", "bf16")])
def test_the_precision_is_that_of_the_checkpoint(tmp_path, checkpoint, launch, precision):
    log = read_in(tmp_path, f"vllm serve {checkpoint} {launch}\n{LINE}")
    assert recognised(log, {})["precision"] == precision


@pytest.mark.parametrize(("text", "figures"), [
    ("KV Cache is allocated. K 5.22 GB, V 5.22 GB. max_total_num_tokens=10", {"cache": 10.44}),
    ("(TP0) Available KV cache memory: 3 GiB\n(TP1) Available KV cache memory: 2 GiB",
     {"available": 2}),
    ("(TP0) Model loading took 3 GiB\n(TP1) Model loading took 4.5 GiB", {"weights": 4.5}),
    ("model weights take 21.21GiB; non_torch_memory takes 0.20GiB; PyTorch activation peak memory "
     "takes 0.37GiB; the rest of the memory reserved for KV Cache is 1.57GiB.",
     {"weights": 21.21, "runtime": 0.20, "activations": 0.37, "available": 1.57})])
def test_the_fullest_rank_counts(tmp_path, text, figures):
    printed = read_in(tmp_path, text).printed
    assert {name: printed[name] / GIB for name in figures} == pytest.approx(figures)
