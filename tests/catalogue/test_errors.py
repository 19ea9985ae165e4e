"""Error messages: one table per kind of file, each case a change to a shipped file."""

import pytest
from _door import DEVICE, sentence, spoilt

import catalogue
from calc.searching.load_goal import load_goal

CASES = {  # file: text of it, text in its place, message
    "devices/card": [
        ("memory_bandwidth:", "memory_bandwith:",
         "mine.yml:6: unknown key 'memory_bandwith', did you mean 'memory_bandwidth'."),
        ("1.6 TB/s", "400 GB",
         "mine.yml:6: memory_bandwidth: '400 GB' has the wrong unit, expected a quantity in B/s."),
        ("1.6 TB/s", "1.6 B/s", "mine.yml:6: memory_bandwidth: '1.6 B/s' is not plausible, "
         "expected 10 GB/s to 100 TB/s: is the unit right?"),
        ("1.6 TB/s", "-1.6 TB/s",
         "mine.yml:6: memory_bandwidth: '-1.6 TB/s' is out of range, expected more than 0."),
        ("value: 0.8", "value: .inf",
         "mine.yml:7: hbm_efficiency: '.inf' is not a quantity, expected a finite number."),
        ("value: 0.8", "value: 1.8",
         "mine.yml:7: hbm_efficiency: '1.8' is out of range, expected at most 1."),
        ("range: [0.7, 0.9]", "range: [0.9, 0.95]",
         "mine.yml:7: hbm_efficiency: the value '0.8' lies outside its range."),
        ("range: [0.7, 0.9]", "range: [0.9, 0.7]", "mine.yml:7: hbm_efficiency: the range [0.9, "
         "0.7] is the wrong way about, expected [0.7, 0.9]."),
        ("range: [0.7, 0.9]", "date: 2026-02-30", "mine.yml:7: hbm_efficiency: '2026-02-30' is "
         "not a date, expected YYYY, YYYY-MM or YYYY-MM-DD, from 1990 to 2099."),
        ("range: [0.7, 0.9]", "note: {en: only}",
         "mine.yml:7: hbm_efficiency: expected a text in both languages, {en: ..., zh: ...}."),
        ("range: [0.7, 0.9]", "others: [{value: 0.5, source: s0}]",
         "mine.yml:7: hbm_efficiency: the kind is missing, expected one of vendor, measured, "
         "derived, documented, assumed."),
        ('card", kind: vendor}\nhbm', 'card", kind: hearsay}\nhbm',
         "mine.yml:6: memory_bandwidth: the kind is 'hearsay', expected one of vendor, "
         "measured, derived, documented, assumed."),
        ('source: "https://example.org/card", kind: vendor}\nhbm',
         "source: no-key, kind: vendor}\nhbm", "mine.yml:6: memory_bandwidth: the source "
         "'no-key' is not in params/sources/, expected words that say where to look, such as "
         '"data sheet, page 2".'),
        ("vendor: Nobody", "vendor: 5", "mine.yml:3: vendor: expected a text, found '5'."),
        ("vendor: Nobody", "vendor: Nobody\nvendor: Twice",
         "mine.yml:4: the key 'vendor' is given twice."),
        ("vendor: Nobody", "vendor: [",
         "mine.yml:5: not valid YAML, did not find expected ',' or ']'."),
        ("vendor: Nobody", "vendor: &a Nobody\nid: *a",
         "mine.yml:3: anchors and aliases are not accepted, write the value out."),
        ("vendor: Nobody", "vendor: Nobody\nid: mine",
         "mine.yml:4: the key 'id' is the file's name, leave it out."),
        ("vendor: Nobody", "vendor: !!python/name:x y",
         "mine.yml:3: the tag 'tag:yaml.org,2002:python/name:x' is not accepted."),
        ("vendor: Nobody", 'vendor: "Nobody\\e[2J"',
         "mine.yml:3: a control character (\\x1b), expected plain text."),
        ("vendor: Nobody", "vendor: x\npower: 300 W",
         "mine.yml:4: power: expected a group of keys, found '300 W'."),
        ("vendor: Nobody", "like: mine.yml\nvendor: x",
         "mine.yml:3: 'mine.yml' is in turn like this device."),
        ("vendor: Nobody", "announced: {source: a roadmap, kind: vendor}\nvendor: x",
         "mine.yml:3: 'date' is missing, when was it announced?"),
        ("type: gpu", "type: toaster",
         "mine.yml:4: type: expected 'npu', 'gpu', 'tpu' or 'host', found 'toaster'."),
        ("matrix_peak:\n",
         "sparse_peak: {bf16: {value: 150 TFLOPS, source: a sheet, kind: vendor}}\nmatrix_peak:\n",
         "mine.yml:9: the sparse peak of bf16 does not exceed the dense one, are they exchanged?"),
    ],
    "links/hccs-910b": [
        ("topology: full-mesh", "topology: star", "mine.yml:8: topology: expected 'full-mesh', "
         "'switch' or 'point-to-point', found 'star'."),
        ("pair_bandwidth:\n  value: 28", "pair_bandwidth:\n  value: 56",
         "mine.yml:9: 'device_bandwidth' is not links_per_device x pair_bandwidth: is one of "
         "them of both directions?"),
    ],
    "nodes/atlas-800i-a2": [
        ("device_link: hccs-910b", "device_link: hccs-910x", "mine.yml:10: device_link: there "
         "is no link 'hccs-910x' in params/links/, the nearest names are hccs-910b, sio-910c, "
         "roce-910c."),
    ],
    "models/deepseek-v3": [
        ("num_key_value_heads: 128", "num_key_value_heads: 7",
         "mine.yml:23: 'num_key_value_heads' does not divide 'num_attention_heads'."),
        ("num_experts_per_tok: 8", "num_experts_per_tok: 800",
         "mine.yml:33: 'num_experts_per_tok' exceeds 'n_routed_experts'."),
        ("first_k_dense_replace: 3", "first_k_dense_replace: 99",
         "mine.yml:19: 'first_k_dense_replace' exceeds 'num_hidden_layers'."),
        ("kv_lora_rank: 512\n", "",
         "mine.yml:1: 'kv_lora_rank' is missing, a model with mla needs it."),
        ("router_scoring: sigmoid", "attention_bias: true",
         "mine.yml:37: 'attention_bias' is true, but it is counted with gqa attention only."),
        ("n_group: 8\n", "", "mine.yml:1: 'n_group' is missing, it goes with 'topk_group'."),
        ("topk_group: 4", "topk_group: 9", "mine.yml:35: 'topk_group' exceeds 'n_group'."),
        ("n_group: 8\ntopk_group: 4", "n_group: 64\ntopk_group: 1",
         "mine.yml:33: 'num_experts_per_tok' exceeds the experts of 'topk_group' groups."),
    ],
    "models/deepseek-v3.2": [
        ("index_topk: 2048\n", "", "mine.yml:1: 'index_topk' is missing, an indexer needs it."),
        ("q_lora_rank: 1536", "q_lora_rank: 0",
         "mine.yml:28: 'q_lora_rank' is missing, an indexer's queries come from that latent."),
    ],
    "models/llama-3.1-8b": [
        ("num_hidden_layers: 32", "num_hidden_layers: 32\nlinear_layers: 8",
         "mine.yml:1: 'linear_num_key_heads' is missing, linear attention needs it."),
        ("router_bias: false", "expert_bias: true",
         "mine.yml:19: 'expert_bias' is given, but the model has no routed experts."),
    ],
    "models/gpt-oss-120b": [
        ("sliding_window: 128\n", "",
         "mine.yml:31: 'full_attention_layers' is given without 'sliding_window'."),
        ("value: 18,", "value: 37,",
         "mine.yml:32: 'full_attention_layers' exceeds 'num_hidden_layers'."),
    ],
    "formats/int4-group64": [
        ("group_size: 64", "group_size: 0",
         "mine.yml:7: 'group_size' is 0, but scales or zero points are stored."),
        ("inputs: 64", "inputs: 32", "mine.yml:8: 'block' of 1 x 32 is no group of 64."),
    ],
    "precisions/bf16": [
        ("  core: bf16\n", "  core: fp7\n", "mine.yml:26: multiply.core: expected 'fp32', "
         "'tf32', 'bf16', 'fp16', 'fp8', 'int8' or 'fp4', found 'fp7'."),
        ("  core: bf16\n", "", "mine.yml:18: the key 'multiply.core' is missing."),
    ],
    "scenarios/s0-scenario-1": [
        ("parallelism:\n  tensor_parallel: {value: 8,",
         "parallelism:\n  tensor_parallel: {value: 4,", "mine.yml:12: tensor x pipeline x data "
         "parallel = 4 x 1 x 2 = 8 devices, but the cluster has 16."),
        ("model: deepseek-v3", "model: deepseek-v5", "mine.yml:6: model: there is no model "
         "'deepseek-v5' in params/models/, the nearest names are deepseek-v3, deepseek-v3.2, "
         "deepseek-v3.1; a file of your own may begin as params/templates/model.yml."),
        ("zh: S0 场景一", "de: S0 场景一",
         "mine.yml:2: title: expected a text in both languages, {en: ..., zh: ...}."),
        ("- quantity: ttft", "- quantity: tftt",
         "mine.yml:168: 'tftt' is not a quantity of params/symbols.yml."),
        ("value: 120 ms", "value: 120 GB",
         "mine.yml:170: '120 GB' has the wrong unit for 'ttft', expected a quantity in s."),
        ("effective_compute]", "effective_computer]",
         "mine.yml:171: the formula needs 'effective_computer', which has no value."),
        ("prompt], effective_compute]", "prompt], [subtract, prompt, prompt]]",
         "mine.yml:171: division by zero."),
    ],
    "scenarios/h200-r1-sglang-mtp": [
        ("workload:\n", "workload:\n  length_distribution: gaussian\n",
         "mine.yml:25: workload.length_distribution: expected 'constant', 'exponential' or "
         "'lognormal', found 'gaussian'."),
        ("workload:\n", "workload:\n  length_variation: 0.5\n", "mine.yml:25: workload: "
         "'length_variation' is given with a lognormal length_distribution, and only with it."),
        ("workload:\n", "mechanisms: {mtp_acceptance: {value: 1.2, source: arithmetic, kind: "
         "assumed}}\nworkload:\n",
         "mine.yml:24: '1.2' is out of range for 'mtp_acceptance', expected at most 1."),
        ("workload:\n", "mechanisms: {context_all_to_all: {value: 2, source: arithmetic, kind: "
         "assumed}}\nworkload:\n",
         "mine.yml:24: '2' is out of range for 'context_all_to_all', expected 0 or 1."),
        ("workload:\n",
         "mechanisms: {host_sink: {value: 2 s, source: arithmetic, kind: assumed}}\nworkload:\n",
         "mine.yml:24: there is no mechanism 'host_sink', did you mean 'host_sync'."),
        ("workload:\n",
         "mechanisms: {host_sync: {value: 2, source: arithmetic, kind: assumed}}\nworkload:\n",
         "mine.yml:24: '2' has the wrong unit for 'host_sync', expected a quantity in s."),
        ("workload:\n", "mechanisms: {prefill_context_parallel: {value: 1, source: arithmetic, "
         "kind: assumed}}\nworkload:\n", "mine.yml:24: 'deepseek-v3' has no indexer or has "
         "linear attention, prompts are dealt over ranks for sparse attention alone, expected 0."),
        ("workload:\n", "workload:\n  accepted_length: 3.5\n", "mine.yml:25: workload: a step "
         "yields '3.5' tokens, but checks 1 drafts, expected 1 to 2."),
        ("workload:\n", "workload:\n  acceptance: [0.9, 0.7]\n",
         "mine.yml:25: workload: 2 acceptances of 1 drafts, expected one for each."),
        ("draft_tokens: 1", "draft_tokens: 2\n  acceptance: [0.7, 0.9]",
         "mine.yml:33: workload: draft 2 counts with '0.9', more often than the one before it, "
         "expected at most 0.7."),
        ("workload:\n", "workload:\n  accepted_length: 2\n  acceptance: [0.9]\n",
         "mine.yml:26: workload: 'acceptance' says what 'accepted_length' does, expected one of "
         "them."),
        ("draft_tokens: 1", "accepted_length: 2", "mine.yml:32: workload: 'accepted_length' is "
         "that of drafts, expected 'draft_tokens' beside it."),
    ],
    "scenarios/kt-4090d-v02": [
        ("  hosts:\n    value: 2", "  hosts:\n    value: 3",
         "mine.yml:57: 3 processors, but the cluster has 2."),
        ("offload:\n", "offload:\n  host: nvidia-h20\n",
         "mine.yml:49: 'nvidia-h20' is an accelerator, expected a host processor."),
        ("device: nvidia-rtx-4090d", "device: intel-xeon-6454s",
         "mine.yml:13: 'intel-xeon-6454s' is a host processor, expected an accelerator."),
        ("model: deepseek-v3", "model: llama-3.1-8b",
         "mine.yml:48: 'llama-3.1-8b' has no experts to offload."),
        ("offload:\n", "offload:\n  fetched: true\n", "mine.yml:52: offload: experts that are "
         "fetched are computed by the cards, no kernel of the host takes tokens in groups."),
    ],
    "scenarios/wide-lmsys": [
        ("\n  decode:\n    title", "\n  Decode:\n    title", "mine.yml:33: variants: 'Decode' "
         "is not a key, expected small letters and digits, joined by '-' or '.'."),
        ("\n  decode:\n    title", "\n  decode:\n    titles",
         "mine.yml:33: variants.decode: the key 'title' is missing."),
        ("\n  decode:\n", "\n  decode:\n    pools: []\n",
         "mine.yml:34: variants.decode: 'pools' stands at the top of the file."),
        ("pools: [prefill, decode]", "pools: [prefill, code]", "mine.yml:31: pools: expected "
         "two of the variants decode, prefill, prefill-perfect, decode-mtp, decode-whole, the "
         "prefill pool first."),
        ("\nvariants:\n", "\nvariants: 3\nothers:\n",
         "mine.yml:32: variants: expected a group of keys, one per deployment."),
        ('256 on each of 72 cards.", zh', '256 on each.", de', "mine.yml:36: "
         "workload.concurrency: expected a text in both languages, {en: ..., zh: ...}."),
    ],
    "profiles/vllm": [
        ("host_gap_per_step:", "host_gap:", "--set engine: mine.yml:164: mechanisms: there is "
         "no mechanism 'host_gap', did you mean 'host_overlap'."),
        ("since: 0.16.0", "since: 0.16.x", "--set engine: mine.yml:154: statements.11.since: "
         "'0.16.x' is not a release, expected one such as 0.11.0."),
    ],
    "mechanisms/nvidia-h20": [
        ("like: nvidia-hopper\n", "like: nvidia-hopper\nkernel_boundary: null\n",
         "mine.yml:7: 'kernel_boundary' is missing, a prediction needs it."),
        ("like: nvidia-hopper\n",
         "like: nvidia-hopper\nhost_sync: {value: 30 us, source: my test, kind: assumed}\n",
         "mine.yml:7: 'host_sync' is given, but it is no property of an accelerator."),
        ("like: nvidia-hopper\n",
         "like: nvidia-hopper\nkv_imbalance: {value: 0.9, source: my test, kind: assumed}\n",
         "mine.yml:7: 'kv_imbalance' is a maximum over a mean, at least 1."),
    ],
    "measurements/s2-910b1-awq": [
        ("concurrency: [16]}", "concurrency: [17]}",
         "mine.yml:29: no row that it names has input_tokens 1024."),
        ("concurrency: [16]}", "users: [16]}", "mine.yml:29: there is no column 'users', "
         "expected one of input_tokens, output_tokens, concurrency, ttft, tpot, "
         "output_throughput, e2e."),
    ],
    "measurements/h200-v32-sglang-mtp": [
        ("unequal: [1]", "unequal: [9]", "mine.yml:33: there is no row 9, the table has 1."),
        ("unequal: [1]", "unequal: [1]\neven: [2]",
         "mine.yml:34: there is no row 2, the table has 1."),
    ],
    "measurements/wide-ant-ep32": [
        ("row: 2,", "row: 9,", "mine.yml:38: there is no row 9, the table has 2."),
        ("row: 2,", "row: 1,", "mine.yml:38: row 1 is predicted twice."),
        ("low: 7676", "low: 12000", "mine.yml:37: blind.predictions.0: expected 0 < low <= "
         "value <= high, found 12000, 10902, 12564."),
    ],
    "measurements/h20-qwen3-8b": [
        ("16328 token/s", "16328 ms",
         "mine.yml:41: '16328 ms' has the wrong unit, 'prefill_rate' is in token/s."),
    ],
    "calibrations/s2-910b1-awq-tpot": [
        ("noise: 0.0200502", "noise: 1e300",
         "mine.yml:30: fitted.noise: expected less than or equal to 5, found '1e300'."),
        ("- [0.00175248", "- [-0.00175248",
         "mine.yml:26: fitted: the variance '-0.00175248' is negative."),
        ("- [-0.000519129", "- [0.000519129", "mine.yml:27: fitted: it is not symmetric."),
        ("0.201447", "0.002",
         "mine.yml:28: fitted: '-0.400059' exceeds what its two variances allow."),
        ("[1, 32]", "[32, 1]", "mine.yml:32: fitted: expected [smallest, largest]."),
    ],
    "discrepancies/uncalibrated": [
        ("{of: servers/NVIDIA,", "{of: <b>servers</b>,",
         "mine.yml:214: '<b>servers</b>' is none of 'classes'."),
    ],
    "accuracies/formats": [
        ("    against: fp8-block\n", "",
         "mine.yml:10: formats.0: 'against' and 'reference' are given together or not at all."),
        ("value: 95.42", "value: 195.42",
         "mine.yml:14: formats.0.solved: '195.42' is out of range, expected at most 100."),
    ],
    "kernels/vllm": [
        ("weights: [bf16]", "weights: [bf61]", "mine.yml:8: products.0.weights.0: there is no "
         "format 'bf61' in params/formats/, the nearest names are bf16, fp16."),
        ("runs: native", "runs: natively", "mine.yml:11: products.0.runs: expected 'native', "
         "'weight-only' or 'no', found 'natively'."),
    ],
    "microbenchmarks/ascend-910b": [
        ("rate: {value: 1.15 TB/s, range: [937 GB/s, 1.36 TB/s]}", "rate: 1.15 TFLOPS",
         "mine.yml:54: rates.8: '1.15 TFLOPS' has the wrong unit, a rate of weight-streaming is "
         "a quantity in B/s."),
        ("samples: 46", "samples: -4",
         "mine.yml:54: rates.8.samples: expected greater than or equal to 1, found '-4'."),
        ("    ranks: 8\n    nodes: 1", "    ranks: 8\n    nodes: 9",
         "mine.yml:266: expert_exchange.0: 'nodes' exceeds 'ranks'."),
        ("    ranks: 8\n    nodes: 1", "    ranks: 1\n    nodes: 1",
         "mine.yml:265: expert_exchange.0: 'ranks' is at least 2."),
    ],
    "formulas/s1": [
        ("- id: s1-f02", "- id: s1-f03", "mine.yml:126: expected 's1-f02', the ids count from 1."),
        ("documented: [divide, amount,", "documented: [divide, amont,",
         "mine.yml:105: 'amont' is neither in params/symbols.yml nor among the file's symbols."),
        ("inputs: {amount: 96 GB}", "inputs: {each: 96 GB}",
         "mine.yml:116: the formula needs 'amount', which has no value."),
        ("printed: 89.4\n", "printed: 89.4 gigs\n",
         "mine.yml:117: formulas.0.examples.0.printed: unknown unit 'gigs'."),
        ("  amount: {latex", "  idle: {latex: 'i', unit: B, en: i, zh: i}\n  amount: {latex",
         "mine.yml:8: no formula has the symbol 'idle'."),
    ],
    "prices/nvidia-h200-sxm": [
        (", date: 2026}", "}",
         "mine.yml:7: a price without a date, expected 'date' beside it or in 'defaults'."),
        ("1.58 USD/h", "1.58", "mine.yml:7: hour.own: '1.58' has the wrong unit, expected a "
         "quantity in USD/s or CNY/s."),
        ("value: 1.60 USD/h\n    range: [1.36 USD/h, 1.84 USD/h]", "value: 1.60 CNY/h",
         "mine.yml:6: the prices of 'hour' are in several currencies, expected one."),
        ("\n  fans:", "\n  host_extra:", "mine.yml:27: unknown key 'around.host_extra', "
         "expected one of cards, host, host_computing, network, fans, cooling_load, capacity, "
         "whole."),
    ],
    "prices/deepseek-api": [
        ("until: 2025-09-05", "until: 2024-09-05",
         "mine.yml:10: sold.r1: 'until' 2024-09-05 is before 'since' 2025-01-20."),
        ("{value: 2.19 USD", "{value: 2.19 CNY",
         "mine.yml:7: sold.r1: the prices of a list are in several currencies, expected one."),
        ("hours: off-peak", "hours: lunch", "mine.yml:18: sold.r1-off-peak.hours: expected "
         "'all', 'off-peak' or 'peak', found 'lunch'."),
    ],
    "powers/nvidia-h200": [
        ("loaded: {value: 0.164, range: [0.15, 0.18]", "loaded: {value: 0.4",
         "mine.yml:8: 'loaded' exceeds 'awake', are they exchanged?"),
        ("links: {value: 0.27, range: [0.2, 0.45]", "links: {value: 0.1",
         "mine.yml:14: 'links' draws less than 'awake'."),
    ],
    "loads/alibaba-r1": [
        ("35.1, 18.9]", "35.1]",
         "mine.yml:9: hours: expected 24 numbers, one for each hour of a day."),
        ("35.1, 18.9]", "35.1, -18.9]",
         "mine.yml:9: hours: expected numbers of 0 or more, at most 1e+15."),
    ],
    "advice/s1": [
        ("lines: [660, 665]", "lines: [665, 660]",
         "mine.yml:7: expected the first line before the last."),
        ("[S1-249, S1-433]", "[S2-C001]", "mine.yml:8: expected a claim of S1."),
    ],
}
SETTINGS = [  # deployment, what is set, message
    ("s0-scenario-1", ["parallelism=3"],
     "--set parallelism=3: 'parallelism' is a section, expected a key in it."),
    ("s0-scenario-1", ["mechanisms.concurrency=4"], "--set mechanisms.concurrency=4: "
     "'mechanisms' has no 'concurrency', expected workload.concurrency=4."),
    ("s0-scenario-1", ["device.memory_bandwidth=400 GB"],
     "--set device.memory_bandwidth: '400 GB' has the wrong unit, expected a quantity in B/s."),
    ("s0-scenario-1", ["device.memory_bandwith=1 TB/s"], "--set device.memory_bandwith: unknown "
     "key 'memory_bandwith', the nearest names are memory_bandwidth, host_bandwidth, "
     "memory_capacity."),
    ("s0-scenario-1", ["workload.concurrency=[1"], "--set workload.concurrency: '[1' is not a "
     "quantity, expected a finite number with a unit like request, such as 1."),
    ("s0-scenario-1", ["tp=4"], "--set tp=4: expected PATH=VALUE with PATH rooted at one of "
     "model, device, engine, cluster, precision, parallelism, workload, limits, mechanisms, "
     "such as parallelism.tensor_parallel=4."),
    ("s0-scenario-1", ["device=kunpeng-920"],
     "--set device: 'kunpeng-920' is a host processor, expected an accelerator."),
    ("s0-scenario-1", ["device=ascend-910c-package"], "--set device: 'ascend-910c-package' is a "
     "package that software sees as 2 devices, expected 'ascend-910c-die'."),
    ("s0-scenario-1", ["parallelism.tensor_parallel=8.5"],
     "--set parallelism.tensor_parallel: '8.5' is not a whole number."),
    ("s0-scenario-1", ["parallelism.tensor_parallel=0"],
     "--set parallelism.tensor_parallel: '0' is out of range, expected more than 0."),
    ("s0-scenario-1", ["workload.input_tokens=4000"], "--set workload.input_tokens: "
     "'input_tokens' and 'output_tokens' are given together or not at all."),
    ("s0-scenario-1", ["workload.input_tokens=4000", "workload.output_tokens=512"],
     "params/scenarios/s0-scenario-1.yml:26: workload: 'context_tokens' is less than "
     "input_tokens + output_tokens."),
    ("s0-scenario-1", ["model=llama-3.1-70b", "model.first_k_dense_replace=0"],
     "--set model.first_k_dense_replace: 'first_k_dense_replace' is given, but the model has no "
     "routed experts."),
    ("h200-r1-sglang-mtp", ["workload.output_tokens=0"],
     "--set workload.output_tokens: '0' is out of range, expected more than 0."),
    ("h200-r1-sglang-mtp", ["workload.draft_tokens=-1"],
     "--set workload.draft_tokens: '-1' is out of range, expected at least 0."),
    ("h200-r1-sglang-mtp", ["limits.ttft.mean=1 s", "limits.ttft.p90=2 s"],
     "--set limits.ttft.mean, --set limits.ttft.p90: 2 limits, expected one, of the mean or of "
     "one of p50, p75, p90, p95, p99."),
    ("s1-plan-c#48", [], "params/scenarios/s1-plan-c.yml:1: there is no variant '48', the file "
     "describes one deployment."),
    ("s1-scale#49", [], "params/scenarios/s1-scale.yml:42: there is no variant '49', expected "
     "one of 24, 32, 48, 64."),
]
GOALS = [  # what is set of a goal, message
    (["cards.most=0"], "--set cards.most: '0' is out of range, expected at least 1."),
    (["cards.most=1.5"], "--set cards.most: '1.5' is not a whole number."),
    (["limits.tpot=5 GB"],
     "--set limits.tpot: '5 GB' has the wrong unit, expected a quantity in s."),
    (["limits.sure=1.01"], "--set limits.sure: '1.01' is out of range, expected at most 1."),
    (["limits.quality=-1 point"], "--set limits.quality: '-1 point' is no bound on quality, "
     "expected points that a benchmark may lose, such as '1 point', or 'published'."),
    (["space.memory_utilization=0.905"], "--set space.memory_utilization: '0.905' is out of "
     "range, expected 0.01 to 1 in whole percents."),
    (["engines=vllm 0.13"],
     "--set engines: not the name of an engine, expected one such as vllm or vllm@0.13.0."),
    (["limits.ttft.p100=1 s"], "--set limits.ttft.p100: 'p100' is no percentile, expected "
     "'mean', or p1 to p99.99 such as p90."),
    (["cards.fewest=9", "cards.most=8"],
     "--set cards.fewest: the fewest cards (9) are more than the most (8)."),
    (["demand.arrival_rate=2 request/s"], "--set demand.arrival_rate: 'users' and an "
     "'arrival_rate' are two ways to say how much is asked, expected one."),
    (["demand.context_tokens=1"], "--set demand.context_tokens: less than input_tokens + "
     "output_tokens, expected at least 3072."),
    (["demand.arrivals=poisson"],
     "--set demand.arrivals: independent arrivals need an 'arrival_rate'."),
    (["cards.most=null"], "--set cards.most: nothing says how many cards there may be, expected "
     "cards.most, or limits.power, limits.budget or limits.rent."),
    (["limits.tpot=null", "limits.ttft=null", "limits.sure=0.9"],
     "--set limits.sure: no limit is stated of which to be sure."),
    (["limits.ttft.p90=2 s", "limits.ttft.p99=1 s"], "--set limits.ttft.p99: 1 s is less than "
     "the 2 s of p90, expected at least as much: fewer requests take longer."),
]
NAMES = [  # kind, name that there is not, message
    ("devices", "GB3000", "there is no device 'GB3000' in params/devices/, the nearest names "
     "are nvidia-gb300, nvidia-b300, nvidia-gb200; a file of your own may begin as "
     "params/templates/device.yml or be like nvidia-gb300."),
    ("devices", "910C", "'910C' may be any of several in params/devices/, expected one of them: "
     "ascend-910c-die (Ascend 910C, one die), ascend-910c-package (Ascend 910C, package of two "
     "dies)."),
    ("models", "deepseek-ai/DeepSeek-V9", "there is no model 'deepseek-ai/DeepSeek-V9' in "
     "params/models/, the nearest names are deepseek-v3, deepseek-v3.2, deepseek-v3.1; a file "
     "of your own may begin as params/templates/model.yml."),
    ("profiles", "vlm",
     "there is no profile 'vlm' in params/profiles/, the nearest names are vllm."),
]


def load(kind, path):
    """An entry of a kind, an engine's profile through a deployment that it drives."""
    if kind == "scenarios":
        return catalogue.load_family(path)
    if kind == "profiles":
        return catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[f"engine={path}@0.33.0"])
    return catalogue.load(kind, path)


@pytest.mark.parametrize(("entry", "old", "new", "message"), [
    pytest.param(entry, *case, id=f"{entry}-{number}")
    for entry, cases in CASES.items() for number, case in enumerate(cases)])
def test_file(tmp_path, entry, old, new, message):
    text = DEVICE if entry == "devices/card" else entry
    path = spoilt(tmp_path / "mine.yml", text, old, new)
    found = sentence(load, entry.partition("/")[0], path)
    assert found.replace(f"{tmp_path}/", "") == message


@pytest.mark.parametrize(("name", "overrides", "message"), SETTINGS)
def test_setting(name, overrides, message):
    assert sentence(catalogue.load_scenario, name, overrides=overrides) == message


@pytest.mark.parametrize(("overrides", "message"), GOALS)
def test_goal(overrides, message):
    assert sentence(load_goal, "r1-80-users-h20", overrides) == message


@pytest.mark.parametrize(("kind", "name", "message"), NAMES)
def test_name(kind, name, message):
    assert sentence(catalogue.load, kind, name) == message
