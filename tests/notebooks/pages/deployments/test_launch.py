"""What the notes of the launch scripts say in words follows from their numbers."""

import pytest

import calc
import catalogue
from catalogue.engines.engine import load_engine
from notebooks.pages.catalogue import engines
from notebooks.pages.deployments.answers import Deployed


@pytest.fixture(scope="module")
def launch():
    return {name: Deployed(catalogue.load_scenario(f"s1-launch-{name}"))
            for name in ("single", "remedies", "awq", "production")}


def other(deployed, **inputs):
    return calc.evaluate(deployed.questions["tpot"] | inputs, deployed.attention)


def test_a_step_without_graphs_takes_longer_and_so_do_unequal_caches(launch):
    one, four = (launch[name].answers["tpot"].value for name in ("single", "production"))
    captured = float(other(launch["production"], captured=1)["tpot"])
    alike = float(other(launch["production"], captured=1, kv_imbalance=1)["tpot"])
    assert alike < captured < four
    assert one < four


def test_without_weights_on_the_host_the_remedies_are_not_enough(launch):
    bare = other(launch["remedies"], offloaded_share=0, fetched_share=0)
    assert bare["headroom_per_device"] < 0 < launch["remedies"].headroom
    at_once = {name: launch[name].inputs["concurrency"] for name in ("remedies", "single")}
    assert 2 * at_once["remedies"] == at_once["single"]


def test_four_bits_are_multiplied_at_half_the_rate_and_decode_loses_too(launch):
    peaks = [launch[name].inputs["routed_expert_peak"] for name in ("single", "awq")]
    assert peaks[0] == 2 * peaks[1]
    ttft, tpot = (launch["awq"].answers[name].value / launch["single"].answers[name].value
                  for name in ("ttft", "tpot"))
    assert ttft > 1.5
    assert tpot > 1.05


def test_no_pinned_release_takes_the_arguments_of_the_scripts():
    vllm = load_engine("vllm")
    scripts = [block for block in engines.commands("s1") if block.section.startswith("3.5")]
    assert len(scripts) == 2
    assert all(engines.refused(script, vllm, version)
               for script in scripts for version in vllm.versions)
