"""Published checkpoints: every model can be had, and what is had is what is started."""

import pytest

import catalogue
from calc.launching.deployment import deployment
from calc.layouts.space import Space
from calc.searching.load_goal import load_goal
from catalogue.entries.models import OWN_LAYER
from catalogue.kernels import published_precision
from catalogue.kernels.releases import (
    checkpoint_for,
    checkpoint_words,
    checkpoints,
    published,
)

MODELS = [name for name in catalogue.names("models") if not name.startswith("s0-")]


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_checkpoint_that_somebody_is_shown_to_start(name):
    model = catalogue.load_model(name)
    found = list(checkpoints(model))
    assert any(each.served for _, each in found)
    assert all("/" in each.repository for _, each in found)
    assert published(model, catalogue.load_precision(published_precision(model)))
    for precision, each in found:
        assert published(model, precision)
        for served in each.served:
            cards = [card for card in map(catalogue.load_device, catalogue.names("devices"))
                     if card.architecture in served.cards]
            chosen = checkpoint_for(model, precision, served.engine, cards[0])
            shown = any(one.engine == served.engine and cards[0].architecture in one.cards
                        for one in chosen.served)
            # the very model and its official release come before what is shown to start
            assert shown or (each.of, each.preview) != (chosen.of, chosen.preview)


@pytest.mark.parametrize(("model", "precision", "card", "drafts", "words"), [
    ("deepseek-v3.2", "fp8-block", "nvidia-b200", None, "deepseek-ai/DeepSeek-V3.2"),
    ("minimax-m2.5", "fp8-block", "nvidia-h20", None, "MiniMaxAI/MiniMax-M2.5"),
    ("deepseek-v3", "fp8-block", "nvidia-h20", OWN_LAYER,
     "deepseek-ai/DeepSeek-V3 or deepseek-ai/DeepSeek-R1"),
    ("deepseek-v4-flash", "fp8-mxfp4", "nvidia-h20", None, "deepseek-ai/DeepSeek-V4-Flash-0731"),
    ("deepseek-v4-pro", "fp8-mxfp4", "nvidia-b300", None, "deepseek-ai/DeepSeek-V4-Pro-0813")])
def test_the_checkpoint_is_the_official_one_of_the_very_model(model, precision, card, drafts,
                                                              words):
    asked = (catalogue.load_model(model), catalogue.load_precision(precision), "vllm",
             catalogue.load_device(card), drafts)
    assert checkpoint_words(*asked)[0] == words


def test_a_layer_drafts_from_the_preview_and_both_releases_are_named():
    asked = (catalogue.load_model("deepseek-v4-flash"), catalogue.load_precision("fp8-mxfp4"),
             "sglang", catalogue.load_device("nvidia-h20"), OWN_LAYER)
    assert checkpoint_for(*asked).drafts
    assert not checkpoint_for(*asked).drafters
    assert all("DeepSeek-V4-Flash-0731" in text for text in checkpoint_words(*asked))


def test_weights_that_nobody_published_have_no_checkpoint():
    model, card = catalogue.load_model("minimax-m2.5"), catalogue.load_device("nvidia-h20")
    stored = catalogue.load_precision("q4-k-m")
    assert not published(model, stored)
    assert checkpoint_for(model, stored, "vllm", card) is None


def test_a_search_tries_what_is_published_unless_it_is_asked_for_more():
    def tried(*settings):
        return {base.precision for base in Space(load_goal("r1-64-users-8xh20", settings)).bases()}

    model = catalogue.load_model("deepseek-v3")
    assert all(published(model, catalogue.load_precision(name)) for name in tried())
    assert tried() < tried("space.any_format=true")


def test_deploy_starts_the_published_checkpoint():
    files = deployment("h200-r1-vllm-tp8", engine="vllm@0.33.0").files
    chosen = checkpoint_for(catalogue.load_model("deepseek-v3"),
                            catalogue.load_precision("fp8-block"), "vllm",
                            catalogue.load_device("nvidia-h200-sxm"))
    assert f'MODEL="${{MODEL:-{chosen.repository}}}"' in files["cluster.env"]
