"""What the calculators offer of today's models: weights, blocks, and every formula they take."""

from __future__ import annotations

from pathlib import Path

import pytest

import calc
import catalogue
from notebooks.pages.calculators import offers, page, views
from notebooks.pages.calculators.samples import state
from tools.site.browser import INSTALL, Browser, find_chromium

CHROMIUM = find_chromium()
PAGE = "chapters/calculators.html"
TODAY = ("deepseek-v4-flash", "deepseek-v4-pro", "glm-5.2", "glm-5.1", "kimi-k2.6",
         "qwen3.5-397b-a17b", "minimax-m2.5")
CARDS = ("nvidia-b300", "nvidia-h200-sxm", "nvidia-h20", "ascend-910b2", "ascend-910c-die")


@pytest.mark.parametrize("model", TODAY)
def test_todays_models_are_offered_on_cards_that_a_release_has_a_kernel_for(model):
    assert model in offers.MODELS
    assert catalogue.load_model(model).attention in views.ATTENTIONS
    for card in CARDS:
        assert offers.precisions(card, model)
    weights = catalogue.load_model(model).weights
    assert weights.precision in offers.precisions("nvidia-b300", model)


def test_what_is_missing_from_a_model_would_not_be_told():
    assert not any(catalogue.load_model(name).missing for name in offers.MODELS)
    assert [model.id for model in page.left_out()] == [
        "deepseek-v4.1-flash", "glm-5.3-flash", "kimi-k3", "minimax-m3"]


@pytest.mark.parametrize(("card", "engine", "block"), [
    ("nvidia-b300", "vllm", 256), ("nvidia-h20", "sglang", 256), ("ascend-910b2", "sglang", 128),
    ("ascend-910b2", "vllm-ascend", 128), ("nvidia-b300", offers.NO_ENGINE, 64)])
def test_of_compressed_entries_kernels_take_blocks_of_their_own(card, engine, block):
    assert offers.block(card, "deepseek-v4-flash", engine) == block
    assert offers.block(card, "deepseek-v3", engine) == (128 if "ascend" in card else 64)


@pytest.mark.parametrize("seed", range(12))
def test_a_state_at_random_is_a_deployment_that_the_runtime_computes(seed):
    asked = state(seed)
    scenario = offers.deployed(asked)
    answer = calc.evaluate(scenario.inputs(), scenario.model.attention)
    assert float(answer["tpot"]) > 0
    kept = scenario.model.attention == "csa" or bool(scenario.model.linear_layers)
    assert (float(answer["state_bytes_per_request"]) > 0) is kept


@pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium: {INSTALL}")
def test_a_model_that_is_chosen_brings_its_weights_and_its_block(site: Path) -> None:
    assert CHROMIUM is not None
    with Browser(CHROMIUM, timeout=120) as page:
        page.open(f"{site.as_uri()}/{PAGE}")
        page.wait_for("document.querySelector('.memory .answer')?.textContent.length > 0")
        page.evaluate("""(() => { const choice = document.querySelector('select[name=engine]');
            choice.value = 'vllm'; choice.dispatchEvent(new Event('change')); })()""")
        for model, *wanted in (("deepseek-v4-flash", "fp8-mxfp4", "256"),
                               ("qwen3.5-397b-a17b", "bf16", "64")):
            page.evaluate(f"""(() => {{ const choice = document.querySelector('select[name=model]');
                choice.value = '{model}'; choice.dispatchEvent(new Event('change')); }})()""")
            assert wanted == [page.evaluate(f"document.querySelector('select[name={key}]').value")
                              for key in ("precision", "block")]
            assert page.evaluate("document.querySelector('p.refusal').textContent") == ""
