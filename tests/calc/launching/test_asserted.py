"""What is written starts: each shipped deployment under each release that it can be written for."""

import re
from collections import Counter
from functools import cache

import pytest
from _door import sentence
from _launch import CASES

from calc.launching import asserted
from calc.launching.deployment import deployment
from calc.launching.layout import layout
from calc.launching.lengths import Longest
from calc.launching.scripts import ENGINES, Pool, pool_of
from calc.launching.settings import release_of
from catalogue import ParamsError, library, load_pools, load_scenario
from catalogue.deployments import family
from catalogue.engines.engine import load_engine
from catalogue.engines.released import fitting
from catalogue.reading import yamlfile

ANY = Longest(4096, "of the test", 0.0)
HALVES = r"--enable-((dbo|two-batch-overlap) needs|prefix-caching needs --block-size)"
"""Half-batches that exchange nothing: a document's plan, under no engine as it is drawn."""


def shipped():
    """Every deployment of the catalogue, variants by themselves."""
    for name in library.names("scenarios"):
        path, _ = family.find(name)
        keys = family.keys(yamlfile.read(path))
        yield from (f"{name}-{key}" for key in keys) if keys else (name,)


def pools(name, engine):
    """A deployment's pools as they are written for a release. Raises ParamsError where none is."""
    settings = [f"engine={engine}"]
    both = load_pools(name, overrides=settings)
    named = (dict(zip(("prefill", "decode"), both, strict=True)) if both
             else {"serve": load_scenario(name, overrides=settings)})
    lie = {role: layout(scenario) for role, scenario in named.items()}
    release = release_of(*engine.split("@"))
    return [pool_of(role, scenario, release, [f"h{node}" for node in range(lie[role].nodes)], ANY,
                    pools=lie if len(lie) > 1 else None) for role, scenario in named.items()]


@cache
def written():
    """What is written of every deployment under every release: pools, or the refusal."""
    found = {}
    for name in shipped():
        device = (load_pools(name) or (load_scenario(name),))[0].device
        for engine in set(fitting(device)) & set(ENGINES):
            for version in load_engine(engine).versions:
                try:
                    found[name, f"{engine}@{version}"] = pools(name, f"{engine}@{version}")
                except ParamsError as error:
                    found[name, f"{engine}@{version}"] = str(error)
    return found


@pytest.mark.slow
def test_every_command_that_can_be_written_keeps_what_its_release_asserts():
    """Of two thousand pairs, and what is refused for its settings together says which."""
    count = Counter()
    for (name, engine), made in written().items():
        if isinstance(made, str):
            if "does not start so" in made:
                assert re.search(HALVES, made), (name, engine, made)
                count["refused together"] += 1
            continue
        count["made"] += 1
        assert all(isinstance(pool, Pool) for pool in made)
    assert count["made"] > 1000


@pytest.mark.parametrize("case", CASES)
def test_each_case_passes_what_its_release_asserts(case):
    scenario, overrides, engine = CASES[case]
    for pool in deployment(scenario, overrides, engine=engine).pools:
        for flags, variables in zip(pool.flags, pool.variables, strict=True):
            asserted.refuse(pool.scenario, pool.release, flags, variables)


@pytest.mark.parametrize(("case", "without", "says"), [
    ("sglang-pools-router", "--moe-dense-tp-size", "--moe-dense-tp-size 1"),
    ("sglang-pools-router", "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK", "has room for"),
    ("sglang-pools-router", "--prefill-round-robin-balance", "--prefill-round-robin-balance"),
    ("vllm-wide", "--enable-expert-parallel", "whole blocks of scales")])
def test_without_what_is_added_for_it_a_release_would_refuse(case, without, says):
    """The check can fail: a setting that is left out is told."""
    scenario, overrides, engine = CASES[case]
    told = []
    for pool in deployment(scenario, overrides, engine=engine).pools:
        for flags, variables in zip(pool.flags, pool.variables, strict=True):
            left = [[each for each in of if each.name != without] for of in (flags, variables)]
            try:
                asserted.refuse(pool.scenario, pool.release, *left)
            except ParamsError as error:
                told.append(str(error))
    assert told
    assert all(says in each for each in told)


def test_balancing_on_ascend_is_unlocked_in_the_environment():
    made = pools_of_ascend("w8a8-int8")
    assert {setting.name: setting.value for setting in made.variables[0]}["DYNAMIC_EPLB"] == "true"


def test_balancing_of_four_bits_is_refused_in_one_sentence():
    told = sentence(pools_of_ascend, "w4a8-int8")
    assert "vLLM Ascend 0.18.0 does not start so: dynamic_eplb supports W8A8 alone" in told


def pools_of_ascend(precision):
    """A server of sixteen cards whose experts have copies."""
    scenario = load_scenario("s0-scenario-1", overrides=[
        f"precision={precision}", "parallelism.tensor_parallel=8",
        "parallelism.pipeline_parallel=1", "parallelism.data_parallel=2",
        "parallelism.expert_parallel=16", "parallelism.redundant_experts=16",
        "parallelism.balancing=periodic", "engine=vllm-ascend@0.18.0"])
    return pool_of("serve", scenario, release_of("vllm-ascend", "0.18.0"), ["a", "b"], ANY)


def test_what_the_operator_adds_is_held_to_it_too():
    told = sentence(deployment, "h200-r1-vllm-tp8", flags=["--enable-eplb"])
    assert "--enable-eplb balances whole experts, which needs --enable-expert-parallel" in told


@pytest.mark.parametrize(("precision", "told"), [("mxfp4-w4a8", True), ("mxfp4-w4a16", False)])
def test_hopper_is_told_to_round_activations_of_mxfp4_experts(precision, told):
    made = deployment("h200-r1-vllm-tp8", [f"precision={precision}"], engine="sglang@0.5.23")
    script, = (text for name, text in made.files.items() if name.endswith(".sh")
               and "launch_server" in text)
    assert ("--flashinfer-mxfp4-moe-precision fp8" in script) == told
