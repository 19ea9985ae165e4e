"""What a format costs in quality: published scores beside those of the published weights."""

import pytest

import catalogue
from catalogue.kernels import published_precision, quality

MODELS = [name for name in catalogue.names("models") if name != "s0-deepseek-r1"]


@pytest.mark.parametrize("name", MODELS[::3])
def test_published_weights_lose_nothing(name):
    model = catalogue.load_model(name)
    published = published_precision(model)
    assert published in catalogue.names("precisions")
    assert quality(model, published).within(0.0)


@pytest.mark.parametrize(("model", "precision", "worst", "relative"), [
    ("deepseek-v3", "nvfp4", 95.42 - 95.413, False), ("deepseek-v3.2", "nvfp4", 0, False),
    ("deepseek-v3", "w8a8-int8", 0.1, False),  # against BF16, widened from the published FP8
    ("deepseek-v3.2", "w8a8-int8", 0.1, True),  # of DeepSeek-R1
    ("deepseek-v3", "nvfp4-w4a16", 95.42 - 95.413, False),  # the weights of nvfp4
    ("deepseek-v3", "w4a8-int8", None, False),  # against another quantised model alone
    ("deepseek-v3", "w4afp8", None, False), ("qwen3-8b", "nvfp4", None, False)])
def test_worst_loss_against_the_published_weights(model, precision, worst, relative):
    found = quality(catalogue.load_model(model), precision)
    assert found.worst == (None if worst is None else pytest.approx(worst, abs=1e-6))
    assert found.relative == relative
    assert found.relatives or not relative
    assert found.within(100.0) == (worst is not None)
