"""Files of several deployments: variants, what they share, and pairs of pools."""

import pytest

import calc
import catalogue

VARIANTS = """
variants:
  "24":
    title: {en: 24 cards, zh: 24 卡}
    cluster: {nodes: 3}
    parallelism:
      data_parallel: {value: 3, source: s1, kind: documented}
    documented:
      claims:
        - quantity: output_throughput
          label: {en: throughput, zh: 吞吐}
          value: {value: 38400 token/s, source: s1, kind: documented}
  replica-4.1:
    title: {en: 32 cards, zh: 32 卡}
    workload: {concurrency: {value: 64 request, source: s1, kind: documented}}
    documented:
      claims:
        - quantity: max_concurrency
          of: replica
          label: {en: requests, zh: 请求}
          value: {value: 4054 request, source: s1, kind: documented}
"""


@pytest.fixture
def path(tmp_path):
    text = (catalogue.ROOT / "scenarios" / "s1-plan-c.yml").read_text(encoding="utf-8")
    (tmp_path / "mine.yml").write_text(text + VARIANTS, encoding="utf-8")
    return tmp_path / "mine.yml"


def test_variants_override_what_the_file_states(path):
    loaded = catalogue.load_family(path)
    first, second = loaded.deployments
    assert (first.id, second.id) == ("mine-24", "mine-replica-4.1")
    assert (first.devices, second.devices) == (24, 32)
    assert (first.inputs()["concurrency"], second.inputs()["concurrency"]) == (80, 64)
    assert first.inputs()["tensor_parallel"] == second.inputs()["tensor_parallel"] == 8
    assert second.heading["en"] == f"{loaded.title['en']}: 32 cards"
    assert catalogue.variants(path) == [f"{path}#24", f"{path}#replica-4.1"]


def test_a_claim_of_a_replica_is_compared_with_one_replica(path):
    estimate = calc.estimate(catalogue.load_scenario(f"{path}#replica-4.1"))
    assert estimate.documented[0].derived == estimate.everything["max_concurrency"] / 4


def test_pools_share_settings_and_lengths():
    prefill, decode = catalogue.load_pools("wide-lmsys", overrides=["workload.block_size=32 token"])
    assert (prefill.id, decode.id) == ("wide-lmsys-prefill", "wide-lmsys-decode")
    assert prefill.inputs()["block_size"] == decode.inputs()["block_size"] == 32
    assert prefill.inputs()["input_tokens"] == decode.inputs()["input_tokens"]
    assert prefill.inputs()["output_tokens"] == 1
    assert catalogue.load_pools("wide-lmsys-decode") is None
    assert catalogue.load_pools("h20-qwen3-8b") is None
