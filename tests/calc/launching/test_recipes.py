"""Published recipes: what they set is known, and every difference from them has its reason."""

import pytest

import catalogue
from calc.launching.launch import deployment, named_pools, started_pools
from calc.launching.recipes import compare, lines
from catalogue import ParamsError, library
from catalogue.engine import load_engine
from catalogue.kernels import checkpoints
from catalogue.reading.values import sources

FILES = {name: library.load("recipes", name) for name in library.names("recipes")}
RECIPES = {f"{name} {key}": (file, recipe) for name, file in FILES.items()
           for key, recipe in file.recipes.items()}
TABLES = {"vllm": ["vllm"], "sglang": ["sglang"], "vllm-ascend": ["vllm-ascend", "vllm"]}
UNEXPLAINED = {  # without a known reason: shown as such
    "--compilation-config.cudagraph_mode", "--compilation-config.custom_ops",
    "--compilation-config.mode", "HCCL_BUFFSIZE"}


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_sets_flags_of_its_engine_and_says_where_it_is_published(name):
    file, recipe = RECIPES[name]
    engines = [load_engine(table) for table in TABLES[file.engine]]
    for flag in recipe.flags:
        assert any(engine.find(flag) for engine in engines), flag
    source = sources()[recipe.source]
    assert source["url"].startswith("https://")
    assert source.get("date") or source.get("read")
    for model in recipe.models if recipe.checkpoint else ():
        assert any(each.repository == recipe.checkpoint
                   and of.weights == catalogue.load_precision(recipe.precision).weights
                   for of, each in checkpoints(catalogue.load_model(model)))


@pytest.mark.parametrize("name", FILES)
def test_conditions_of_reasons_are_flags_of_the_engine(name):
    file = FILES[name]
    engines = [load_engine(table) for table in TABLES[file.engine]]
    flags = [flag for row in (*file.unset, *file.added) for flag in (*row.given, *row.without)]
    assert flags
    assert [flag for flag in flags if not any(engine.find(flag) for engine in engines)] == []


def _pools():
    for name in catalogue.names("scenarios"):
        try:
            yield from ((name, pool) for pool in started_pools(named_pools(name)[0])[0])
        except ParamsError:
            continue


def test_every_difference_of_a_shipped_deployment_has_a_reason():
    found = [(name, compare(pool)) for name, pool in _pools()]
    compared = [(name, each) for name, each in found if each]
    assert len({each.of.source for _, each in compared}) > 8
    for name, each in compared:
        for difference in each.differences:
            assert difference.here != difference.there
            assert difference.why or difference.name in UNEXPLAINED, (name, difference)


def test_the_nearest_recipe_is_of_the_same_card_and_role():
    pools = deployment("h200-r1-vllm-tp8").pools
    recipe = compare(pools[0])
    assert recipe.of.cards == ["nvidia-h200-sxm"]
    assert recipe.of.role == "both"
    assert {each.name for each in recipe.differences}.isdisjoint({"--host", "--port"})
    assert all(line[0] and line[1] for line in lines({"serve": recipe}))


@pytest.mark.parametrize(("name", "checkpoint"), [
    ("h200-v4-sglang-tp4", "deepseek-ai/DeepSeek-V4-Flash-0731"),
    ("mi355x-v4-pro-sglang", "deepseek-ai/DeepSeek-V4-Pro-0813"),
    ("v4-flash-8xh200", "deepseek-ai/DeepSeek-V4-Flash")])
def test_the_nearest_recipe_is_of_the_checkpoint_that_is_started(name, checkpoint):
    found = deployment(name)
    assert compare(found.pools[0]).of.checkpoint == checkpoint
    assert f":-{checkpoint}}}" in found.files["cluster.env"]
