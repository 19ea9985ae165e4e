"""Error messages: one table of changes to shipped files of every kind, and of settings."""

import re

import pytest
from _door import DEVICE, sentence, spoilt

import catalogue
from calc.searching.goal import load_goal
from catalogue.kinds import described_kind
from catalogue.reading import yamlfile

CASES = [  # file, text of it, text in its place, line and message
    ("devices", "memory_bandwidth:", "memory_bandwith:",
     "6: unknown key 'memory_bandwith', did you mean 'memory_bandwidth'."),
    ("devices", "1.6 TB/s", "400 GB",
     "6: memory_bandwidth: '400 GB' has the wrong unit, expected a bandwidth in GB/s or TB/s."),
    ("devices", "1.6 TB/s", "1.6 B/s", "6: memory_bandwidth: '1.6 B/s' is not plausible, "
     "expected a bandwidth of 10 GB/s to 100 TB/s: is the unit right?"),
    ("devices", "1.6 TB/s", "-1.6 TB/s",
     "6: memory_bandwidth: '-1.6 TB/s' is out of range, expected more than 0."),
    ("devices", "range: [0.7, 0.9]", "range: [0.9, 0.95]",
     "7: hbm_efficiency: the value '0.8' lies outside its range [0.9, 0.95]."),
    ("devices", "range: [0.7, 0.9]", "date: 2026-02-30", "7: hbm_efficiency.date: '2026-02-30' "
     "is not a date, expected YYYY, YYYY-MM or YYYY-MM-DD, from 1990 to 2099."),
    ("devices", 'source: "https://example.org/card", kind: vendor}\nhbm',
     "source: hf-deepsek-v3, kind: vendor}\nhbm", "6: memory_bandwidth.source: the source "
     "'hf-deepsek-v3' is not in params/sources/, expected hf-deepseek-v3, or words that say "
     'where to look, such as "data sheet, page 2".'),
    ("devices", "vendor: Nobody", "vendor: Nobody\nvendor: Twice",
     "4: the key 'vendor' is given twice, first on line 3."),
    ("devices", "vendor: Nobody", "power:\nfull: 500 W\n  idle: 9 W",
     "4: 'full' belongs under 'power': indent it by 2 spaces."),
    ("devices", "vendor: Nobody", "vendor: Nobody\n   note: Text", "4: 'note' is indented by 3 "
     "spaces, 'vendor' above it by 0 spaces: expected one column for the keys of a group."),
    ("devices", "vendor: Nobody", "vendor: Nobody\npower:\n  - full: 500 W\n  - idle: 9 W",
     "4: power: a list, expected keys: remove the dashes on lines 5, 6."),
    ("devices", "vendor: Nobody", "vendor: [", "3: a bracket is not closed."),
    ("devices", "vendor: Nobody", "vendor： Nobody", "3: a full-width colon '：', write ': '."),
    ("devices", "vendor: Nobody", "vendor:Nobody",
     "3: no space after the colon, write 'key: value'."),
    ("devices", "vendor: Nobody", 'vendor: "Nobody', "3: a quotation mark is not closed."),
    ("devices", "vendor: Nobody", "vendor:\n\u00a0\u00a0a: y\n  b: c",
     "4: a no-break space, expected spaces."),
    ("devices", "range: [0.7, 0.9]", "range: [0.9, 0.7]",
     "7: hbm_efficiency: the range begins with '0.9', expected its lower end."),
    ("links/infiniband-200g", "  value: 0.6 us\n  range: [0.6 us, 2 us]", "  value: 2 ms",
     "40: latency: '2 ms' is not plausible, expected a time of 10 ns to 1 ms: is the unit right?"),
    ("scenarios/s0-scenario-1", "  tensor_parallel:", "  tp:",
     "12: unknown key 'parallelism.tp', did you mean 'tensor_parallel'."),
    ("scenarios/s0-scenario-1", "  context_tokens:", "  contex_tokens:",
     "26: unknown key 'workload.contex_tokens', did you mean 'context_tokens'."),
    ("scenarios/s0-scenario-1", "  tensor_parallel:", "  max_model_len: 9\n  tensor_parallel:",
     "12: unknown key 'parallelism.max_model_len', requests take memory for the tokens that they "
     "have, remove it; where all are this long, write workload: {context_tokens: N}."),
    ("scenarios/s0-scenario-1", "parallelism:\n", "version: 0.5.4\nparallelism:\n",
     "11: unknown key 'version', write it as part of the engine, such as engine: sglang@0.5.4."),
    ("scenarios/s0-scenario-1", "parallelism:\n", "enable-dp-lm-head: true\nparallelism:\n",
     "11: unknown key 'enable-dp-lm-head', no prediction depends on this option of sglang, remove "
     "it."),
    ("scenarios/s0-scenario-1", "parallelism:\n", "enable-dp-attention: on\nparallelism:\n",
     "11: unknown key 'enable-dp-attention', dp attention counts dp inside tp: write parallelism: "
     "{tensor_parallel: 1, data_parallel: 8}."),
    ("scenarios/s0-scenario-1", "parallelism:\n", "kv-cache-dtype: fp8_e4m3\nparallelism:\n",
     "11: unknown key 'kv-cache-dtype', write one precision for weights and cache, precision: "
     "fp8-block-fp8-cache."),
    ("devices", "range: [0.7, 0.9]", "range: 0.7-0.9",
     "7: hbm_efficiency.range: expected both ends of a range, such as [0.6, 0.8]."),
    ("devices", "vendor: Nobody", "vendor: 910",
     '3: vendor: 910 is read as a number: write "910".'),
    ("devices", "type: gpu", "note: no\ntype: gpu", '4: note: YAML reads no as false: write "no".'),
    ("devices", "1.6 TB/s", "１.6 TB/s",
     "6: memory_bandwidth: a full-width '１', write memory_bandwidth: 1.6 TB/s."),
    ("devices", "vendor: Nobody", "vendor（x）: Nobody",
     "3: a full-width '（' in 'vendor（x）', write vendor(x)."),
    ("devices", "type: gpu", "type: GPU",
     "4: type: expected 'npu', 'gpu', 'tpu' or 'host', found 'GPU': write gpu."),
    ("devices", "matrix_peak:\n", "vram: 80 GB\nmatrix_peak:\n",
     "9: unknown key 'vram', did you mean 'memory_capacity'."),
    ("devices", "matrix_peak:\n", "fp16_tflops: 450 TFLOPS\nmatrix_peak:\n",
     "9: unknown key 'fp16_tflops', did you mean 'fp16' under 'matrix_peak'."),
    ("devices", "type: gpu\n", "", "1: the key 'type' is missing, expected npu (gaps are filled as "
     "of an Ascend 910B), gpu (as of Hopper), tpu, host."),
    ("devices", "type: gpu", "type: gpu\nprice: {cny: 15 RMB/hour}", "5: price.cny: '15 RMB/hour' "
     "has the wrong unit, expected a purchase price in CNY, rents are given to `will-it-fit cost "
     "--price '15 RMB/hour'`."),
    ("devices", "type: gpu", "type: gpu\nnic: 400G", "5: unknown key 'nic', it belongs to a "
     "server: write node: NAME of `will-it-fit list servers`, or of a file as `will-it-fit new "
     "server` prints one."),
    ("devices", "type: gpu", "architecture: sm90\ntype: gpu",
     "4: architecture: 'sm90' is not known, did you mean sm_90."),
    ("models/deepseek-v3", "num_hidden_layers:", "n_layers:",
     "19: unknown key 'n_layers', did you mean 'num_hidden_layers'."),
    ("scenarios/h200-r1-vllm-tp8", "workload:\n", "显存: 80 GB\nworkload:\n",
     "24: unknown key '显存', this follows from the card and the precision, remove it."),
    ("scenarios/h200-r1-vllm-tp8", "device: nvidia-h200-sxm", "device: 8xH200",
     "13: device: '8xH200' is a card and a number: write H200, and the number of cards as "
     "cluster: {devices: 8}, in a goal as cards: 8."),
    ("scenarios/h200-r1-vllm-tp8", "device: nvidia-h200-sxm", "device: h20, h200",
     "13: device: 'h20, h200' names several devices, expected one; a goal of `search` "
     "takes several."),
    ("devices", "vendor: Nobody", 'like: "h200，h20"',
     "3: like: 'h200，h20': a full-width '，', write h200,h20."),
    ("devices", "vendor: Nobody", "vendor: no", '3: vendor: YAML reads no as false: write "no".'),
    ("devices", "1.6 TB/s", "3 Tb/s", "6: memory_bandwidth: '3 Tb/s' is 375 GB/s, are bits meant? "
     "write 375 GB/s or 3 TB/s."),
    ("devices", "vendor: Nobody", "vendor: &a Nobody\nid: *a",
     "3: anchors and aliases are not accepted, write the value out."),
    ("devices", "vendor: Nobody", 'vendor: "Nobody\\e[2J"',
     "3: a control character (\\x1b), expected plain text."),
    ("devices", "vendor: Nobody", "like: mine.yml\nvendor: x",
     "3: 'mine.yml' is in turn like this device."),
    ("devices", "type: gpu", "type: toaster",
     "4: type: expected 'npu', 'gpu', 'tpu' or 'host', found 'toaster'."),
    ("devices", "matrix_peak:\n",
     "sparse_peak: {bf16: {value: 150 TFLOPS, source: a b, kind: vendor}}\nmatrix_peak:\n",
     "9: the sparse peak of bf16 does not exceed the dense one, are they exchanged?"),
    ("links/hccs-910b", "pair_bandwidth:\n  value: 28", "pair_bandwidth:\n  value: 56",
     "9: 'device_bandwidth' is not links_per_device x pair_bandwidth: is one of them of both "
     "directions?"),
    ("models/deepseek-v3", "num_key_value_heads: 128", "num_key_value_heads: 7",
     "24: 'num_key_value_heads' is 7, which does not divide 'num_attention_heads', 128: expected "
     "one of 1, 2, 4, 8, 16, 32, 64, 128."),
    ("models/deepseek-v3", "num_experts_per_tok: 8", "num_experts_per_tok: 800",
     "34: 'num_experts_per_tok' is 800, expected at most 'n_routed_experts', 256."),
    ("models/deepseek-v3", "kv_lora_rank: 512\n", "",
     "1: 'kv_lora_rank' is missing, a model with mla needs it."),
    ("models/deepseek-v3", "router_scoring: sigmoid", "attention_bias: true",
     "38: 'attention_bias' is given, but only gqa attention has it."),
    ("models/llama-3.1-8b", "router_bias: false\n", "layers_without_mlp: 33\n",
     "20: 'layers_without_mlp' and 'first_k_dense_replace' exceed 'num_hidden_layers'."),
    ("models/kimi-k3", "linear_decay_rank", "linear_mamba: true\nlinear_decay_rank",
     "35: 'linear_mamba' has no 'linear_decay_rank' or 'linear_gate_rank'."),
    ("formats/int4-group64", "inputs: 64", "inputs: 32",
     "8: 'block' of 1 x 32 is no group of 64."),
    ("scenarios/s0-scenario-1", "parallelism:\n  tensor_parallel: {value: 8,",
     "parallelism:\n  tensor_parallel: {value: 4,",
     "12: tensor x pipeline x data parallel = 4 x 1 x 2 = 8 devices, but the cluster has 16: "
     "write data_parallel: 4."),
    ("scenarios/h200-r1-vllm-tp8", "  expert_parallel: 1\n", "  expert_parallel: true\n",
     "22: parallelism: expected the number of cards that share the experts: "
     "tensor_parallel x data_parallel for all of them."),
    ("scenarios/s0-scenario-1", "effective_compute]", "effective_computer]",
     "171: documented: the formula needs 'effective_computer', which has no value."),
    ("scenarios/h200-r1-sglang-mtp", "workload:\n",
     "mechanisms: {host_sink: {value: 2 s, source: arithmetic, kind: assumed}}\nworkload:\n",
     "24: there is no mechanism 'host_sink', did you mean 'host_sync'."),
    ("scenarios/h200-r1-sglang-mtp", "workload:\n", "workload:\n  accepted_length: 3.5\n",
     "25: workload: a step yields '3.5' tokens, but checks 1 drafts, expected 1 to 2."),
    ("scenarios/h200-r1-sglang-mtp", "draft_tokens: 1",
     "draft_tokens: 2\n  acceptance: [0.7, 0.9]", "33: workload: draft 2 counts with '0.9', "
     "more often than the one before it, expected at most 0.7."),
    ("scenarios/kt-4090d-v02", "  hosts:\n    value: 2", "  hosts:\n    value: 3",
     "57: 3 processors, but the cluster has 2."),
    ("scenarios/kt-4090d-v02", "model: deepseek-v3", "model: llama-3.1-8b",
     "48: 'llama-3.1-8b' has no experts to offload."),
    ("scenarios/kt-4090d-v02", "offload:\n", "offload:\n  fetched: true\n",
     "52: offload: experts that are fetched are not computed in groups."),
    ("scenarios/wide-lmsys", "pools: [prefill, decode]", "pools: [prefill, code]",
     "31: pools: expected two of the variants decode, prefill, prefill-perfect, decode-mtp, "
     "decode-whole, the prefill pool first."),
    ("measurements/wide-ant-ep32", "row: 2,", "row: 9,",
     "39: there is no row 9, the table has 2."),
    ("calibrations/s2-910b1-awq-tpot", "- [-0.000519129", "- [0.000519129",
     "27: fitted: it is not symmetric."),
    ("accuracies/formats", "    against: fp8-block\n", "",
     "15: formats.0: 'reference' is given without 'against', expected both or neither."),
    ("microbenchmarks/ascend-910b", "rate: {value: 1.15 TB/s, range: [937 GB/s, 1.36 TB/s]}",
     "rate: 1.15 TFLOPS", "54: rates.8: '1.15 TFLOPS' has the wrong unit, a rate of "
     "weight-streaming is a quantity in B/s."),
    ("formulas/s1", "documented: [divide, amount,", "documented: [divide, amont,",
     "105: 'amont' is neither in params/symbols.yml nor among the file's symbols."),
    ("prices/nvidia-h200-sxm", ", date: 2026}", "}",
     "7: expected 'date' beside a price, or in 'defaults'."),
    ("prices/nvidia-h200-sxm", "value: 1.60 USD/h\n    range: [1.36 USD/h, 1.84 USD/h]",
     "value: 1.60 CNY/h", "6: the prices of 'hour' are in several currencies, expected one."),
    ("prices/deepseek-api", "until: 2025-09-05", "until: 2024-09-05",
     "10: sold.r1: 'until' 2024-09-05 is before 'since' 2025-01-20."),
    ("powers/nvidia-h200", "loaded: {value: 0.164, range: [0.15, 0.18]", "loaded: {value: 0.4",
     "8: 'loaded' is 0.4, expected at most 'awake', 0.2 (0.185–0.25)."),
    ("loads/alibaba-r1", "35.1, 18.9]", "-35]",
     "9: hours: expected 24 numbers, one for each hour of a day, found 23; hour 22 is '-35', "
     "expected a number from 0 to 1e+15."),
]
SETTINGS = [  # deployment, what is set, message
    ("s0-scenario-1", ["mechanisms.concurrency=4"], "--set mechanisms.concurrency=4: "
     "'mechanisms' has no 'concurrency', expected workload.concurrency=4."),
    ("s0-scenario-1", ["workload.concurrency=[1"], "--set workload.concurrency: '[1' is not a "
     "number of requests: write 1."),
    ("s0-scenario-1", ["tp=4"], "--set tp=4: expected PATH=VALUE with PATH rooted at one of "
     "model, device, engine, cluster, precision, parallelism, workload, limits, mechanisms, "
     "such as parallelism.tensor_parallel=4."),
    ("s0-scenario-1", ["device=ascend-910c-package"], "--set device: 'ascend-910c-package' is a "
     "package that software sees as 2 devices, expected 'ascend-910c-die'."),
    ("s0-scenario-1", ["workload.input_tokens=4000"], "--set workload.input_tokens: "
     "'input_tokens' is given without 'output_tokens', expected both or neither."),
    ("h200-r1-sglang-mtp", ["limits.ttft.mean=1 s", "limits.ttft.p90=2 s"],
     "--set limits.ttft.mean, --set limits.ttft.p90: 2 limits, expected one, of the mean or of "
     "one of p50, p75, p90, p95, p99."),
    ("s1-scale#49", [], "params/scenarios/s1-scale.yml:42: there is no variant '49', expected "
     "one of 24, 32, 48, 64."),
]
GOALS = [  # what is set of a goal, message
    (["cards.most=1.5"], "--set cards.most: '1.5' is not a whole number, expected one such as 1."),
    (["engines=vllm 0.13"],
     "--set engines: 'vllm 0.13' is not the name of an engine, did you mean vllm@0.13."),
    (["limits.rent=400"], "--set limits.rent: '400' names no currency, expected a price in USD or "
     "CNY such as 2 USD/h or 1.5..2.5 USD/h."),
    (["demand.isl=9"], "--set demand.isl: unknown key 'isl', did you mean 'input_tokens'."),
    (["cards.fewest=9", "cards.most=8"],
     "--set cards.fewest: 'fewest' (9) exceeds 'most' (8)."),
    (["cards.most=null"], "--set cards.most: nothing bounds the cards, expected "
     "cards.most or limits.power, budget or rent."),
]
NAMES = [  # kind, name that there is not, message
    ("devices", "910C", "'910C' is a package that software sees as several devices: write "
     "ascend-910c-die, and count each of them as a card."),
    ("models", "deepseek-ai/DeepSeek-V9", "there is no model 'deepseek-ai/DeepSeek-V9', the "
     "nearest names are deepseek-v3, deepseek-v3.1, deepseek-v3.2; `will-it-fit new model` "
     "prints a template."),
]

NEAR = "(?:did you mean|nearest names are) ([^,;]+)"
NEAREST = [  # kind, name that there is not, the first of the nearest
    ("devices", "NVIDIA-H200-141GB-HBM3e", "nvidia-h200-sxm"),
    ("devices", "NVIDIA H100 PCIe", "nvidia-h100-sxm"),
    ("devices", "NVIDIA-H20-96GB-HBM3", "nvidia-h20"),
    ("devices", "NVIDIA GB200 NVL72", "nvidia-gb200"),
    ("devices", "AMD Instinct MI300X OAM", "amd-mi300x"), ("devices", "ironwod", "Ironwood"),
    ("devices", "Ascend 910B2 64GB", "ascend-910b2"), ("models", "deepsek-r1", "DeepSeek-R1"),
    ("models", "kimi-k2.5-instruct", "kimi-k2.5"),
]


@pytest.mark.parametrize(("entry", "old", "new", "message"), [
    pytest.param(*case, id=f"{case[0]}-{number}") for number, case in enumerate(CASES)])
def test_file(tmp_path, entry, old, new, message):
    kind = entry.partition("/")[0]
    path = spoilt(tmp_path / "mine.yml", DEVICE if entry == "devices" else entry, old, new)
    found = (sentence(catalogue.load_family, path) if kind == "scenarios"
             else sentence(catalogue.load, kind, path))
    assert found == f"{path}:{message}"


@pytest.mark.parametrize(("name", "overrides", "message"), SETTINGS)
def test_setting(name, overrides, message):
    assert sentence(catalogue.load_scenario, name, overrides=overrides) == message


@pytest.mark.parametrize(("overrides", "message"), GOALS)
def test_goal(overrides, message):
    assert sentence(load_goal, "r1-80-users-h20", overrides) == message


def test_every_line_of_a_goal_in_other_words(tmp_path):
    """Keys and values are reported together, and as a goal, although no key of one is there."""
    lines = {  # line -> messages
        "goal: cheapest": ["unknown key 'goal', did you mean 'objectives'", "write cost"],
        "gpus: [H20, 910C]": ["did you mean 'devices'", "devices.1.device: '910C' is a package"],
        "p95_ttft: 3000": ["did you mean 'p95' under 'limits.ttft'", "'3000' has no unit"],
        "engines: vLLM, MindSpore": ["engines.1: there is no engine 'mindspore'"],
        "disaggregated: both": ["did you mean 'pools' under 'space'"],
        "min_throughput: 10 tok/s": ["did you mean 'throughput' under 'limits'"],
        "budget: 100 $/h": ["did you mean 'budget' under 'limits'",
                            "100 USD/h; by the hour it is"],
        "price: 2 USD/h": ["write devices: [{device: h20, price: 2 USD/h}]"],
        "turns: 20": ["write demand: {users: 100, agent: {turns: 30, first_prompt: 12000 token"],
        "ownership: hourly": ["write rent-by-hour"],
        "space: {ep: auto}": ["did you mean 'expert'", "remove the key"],
        "max_cost: 2 USD": ["did you mean 'cost' under 'limits'", "write 2, and currency: USD"],
        "cards: 8..64": ["write {fewest: 8, most: 64}"],
        "models: [r1, kimi-k2]": ["did you mean 'model'", "write r1, ask for others apart"]}
    path = tmp_path / "mine.yml"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(catalogue.ParamsError) as error:
        load_goal(path)
    of_lines = [(f"{path}:{number}: ", text)
                for number, texts in enumerate(lines.values(), 1) for text in texts]
    told = [problem for problem in error.value.problems if "is missing" not in problem]
    assert len(told) == len(of_lines)
    for (where, text), problem in zip(of_lines, told, strict=True):
        assert problem.startswith(where)
        assert text in problem
    assert described_kind(yamlfile.read(path).data) == "goals"


@pytest.mark.parametrize(("kind", "name", "message"), NAMES)
def test_name(kind, name, message):
    assert sentence(catalogue.load, kind, name) == message


@pytest.mark.parametrize(("kind", "name", "first"), NEAREST)
def test_nearest_name(kind, name, first):
    assert re.search(NEAR, sentence(catalogue.load, kind, name))[1] == first


@pytest.mark.parametrize("size", [" 80GB", " OAM 64GB HBM3e"])
def test_every_card_is_nearest_to_its_title_with_a_memory_size(size):
    titles = {card: catalogue.load_device(card).name["en"] for card in catalogue.names("devices")}
    for card, title in titles.items():
        if "," not in title:
            told = sentence(catalogue.load, "devices", f"{title}{size}")
            first = re.search(NEAR, told)[1]
            assert catalogue.load_device(first).id == card


@pytest.mark.parametrize(("name", "or_else"), [
    ("h200", "nvidia-h200-sxm"), ("nvidia-h200-sxm", "rename that file")])
def test_name_of_the_catalogue_and_of_a_file_is_refused(tmp_path, name, or_else):
    """The file is meant by its name with the ending, an entry by its identifier."""
    spoilt(tmp_path / f"{name}.yml", DEVICE, "", "")
    plan = spoilt(tmp_path / "plan.yml", "scenarios/h200-r1-vllm-tp8", "device: nvidia-h200-sxm",
                  f"device: {name}")
    line = plan.read_text("utf-8").split("device:")[0].count("\n") + 1
    assert sentence(catalogue.load_scenario, plan) == (
        f"{plan}:{line}: device: '{name}' is {name}.yml here and a card of the catalogue: write "
        f"{name}.yml, or {or_else}.")
