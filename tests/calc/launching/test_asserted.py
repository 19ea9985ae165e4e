"""What is written starts: each shipped deployment under each release that it can be written for."""

import re
from collections import Counter
from functools import cache
from types import SimpleNamespace as Made

import pytest
from _door import sentence
from _launch import CASES

from calc.launching import asserted
from calc.launching.deployment import deployment
from calc.launching.layout import layout
from calc.launching.lengths import Longest
from calc.launching.scripts import ENGINES, Pool, pool_of
from calc.launching.settings import Setting, Variable, release_of
from catalogue import ParamsError, library, load_pools, load_scenario
from catalogue.deployments import family
from catalogue.engines.conditions import UNKNOWN
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


def test_a_release_may_ask_for_shapes_the_card_and_how_weights_are_stored():
    """Of DeepSeek-R1 in blocks of 128 on Hopper, and of Qwen3-8B, which has no experts."""
    found = asserted.about(load_scenario("h200-r1-vllm-tp8"))
    assert found["card"] == {"cuda": True, "ascend": False, "a2": False, "a5": False}
    assert found["weights"] == {"dense_block": 128, "expert_block": 128, "expert": "fp8-block128",
                                "expert_bits": 8}
    model = found["model"]
    assert {key: model[key] for key in ("attention", "moe", "dense_layers", "num_hidden_layers",
                                        "num_experts_per_tok")} == {
        "attention": "mla", "moe": True, "dense_layers": 3, "num_hidden_layers": 61,
        "num_experts_per_tok": 8}
    dense = asserted.about(load_scenario("h20-qwen3-8b"))
    assert (dense["model"]["moe"], dense["model"]["dense_layers"]) == (False, 36)
    assert dense["weights"] == {"dense_block": dense["weights"]["dense_block"], "expert_block": 0,
                                "expert": None, "expert_bits": None}


@pytest.mark.parametrize(("kind", "mechanisms", "card"), [
    ("npu", "ascend-910b", {"ascend", "a2"}), ("npu", "ascend-950", {"ascend", "a5"}),
    ("npu", "other", {"ascend"}), ("gpu", "ascend-910b", {"cuda"}),
    ("gpu", "ascend-950", {"cuda"})])
def test_a_card_is_of_one_kind(kind, mechanisms, card):
    own = load_scenario("h200-r1-vllm-tp8")
    about = asserted.about(Made(model=own.model, precision=own.precision,
                                device=Made(type=kind, mechanisms=mechanisms)))
    assert {name for name, true in about["card"].items() if true} == card


def test_each_catalogue_of_a_release_is_asked_and_what_the_operator_sets_is_unknown(monkeypatch):
    asked = []

    def problems(*given):
        asked.append(given[:4])
        return ["one", "two"] if given[0] == "second" else []
    monkeypatch.setattr(asserted, "problems", problems)
    by = tuple((Made(name=name, title=name.upper()), version) for name, version in (
        ("first", "1.0"), ("second", "2.0"), ("third", "3.0")))
    flags = [Setting("--a", 3, ""), Setting("--b", Variable("HOST"), "")]
    assert sentence(asserted.refuse, load_scenario("h20-qwen3-8b"), Made(by=by), flags,
                    [Setting("NAME", 4, "")]) == (
        "'h20-qwen3-8b': SECOND 2.0 does not start so: one; two.")
    known = {"--a": 3, "--b": UNKNOWN}, {"NAME": 4}
    assert asked == [("first", "1.0", *known), ("second", "2.0", *known)]
