"""Inputs that should improve an answer and make it worse are reported with the reason."""

import pytest

import catalogue
from calc.answer.service import worsened
from calc.serving.evaluate import evaluate

BUSY = ("workload.concurrency=64 request", "workload.requests=640 request",
        "workload.input_tokens=4096 token")


@pytest.mark.parametrize(("share", "told"), [(0, False), (0.05, True), (0.9, False)])
def test_short_cached_prefixes_that_lengthen_the_first_token(share, told):
    scenario = catalogue.load_scenario("h200-r1-sglang-tp8", overrides=[
        *BUSY, f"mechanisms.prefix_hit_share={share}"])
    found = evaluate(scenario.inputs(), "mla")["ttft"]
    none = evaluate(scenario.inputs() | {"prefix_hit_share": 0.0}, "mla")["ttft"]
    assert bool(found > none) is told
    assert ["absorbed_prefix_tokens" in en and "absorbed_prefix_tokens" in zh
            for en, zh in worsened(scenario)] == [True] * told


def test_drafts_of_which_few_are_accepted():
    scenario = catalogue.load_scenario("h200-r1-sglang-mtp", overrides=[
        "mechanisms.mtp_acceptance=0.01"])
    assert any("Drafts" in en and "起草" in zh for en, zh in worsened(scenario))
