"""The chapter from V3 to V4: what it says of a request and a server is what the runtime says."""

from __future__ import annotations

from itertools import pairwise

import pytest

import catalogue
from calc.costing.rates import card_hour
from calc.costing.tokens import MILLION
from notebooks.pages.deciding.generations import models as page
from notebooks.show import display


@pytest.mark.parametrize("model", page.MODELS)
def test_a_longer_request_keeps_reads_and_multiplies_more(model):
    found = [page.request(model, context) for context in page.served_lengths(model)]
    for short, long in pairwise(found):
        assert short.cache < long.cache
        assert short.read < long.read <= long.cache, "a step reads no more than is kept"
        for phase in (page.DECODE, page.PREFILL):
            assert short.operations[phase] < long.operations[phase]


@pytest.mark.parametrize("model", page.MODELS)
def test_a_short_request_takes_two_operations_a_weight_and_its_attention(model):
    found = page.request(model, page.SHORT)
    made = page.asked(page.plan(model, page.H200, page.published(model), page.WHOLE, page.SHORT))
    weights = 2 * float(made["active_parameters"])
    assert weights < found.operations[page.DECODE] < 2 * weights


@pytest.mark.parametrize("device", page.CARDS)
@pytest.mark.parametrize("model", page.MODELS)
def test_what_is_given_keeps_memory_and_limit(model, device):
    for context in page.served_lengths(model):
        of = page.served(model, device, context)
        if of.tensor is None:
            assert of.rate == of.users == 0
            continue
        assert of.users <= of.held[of.tensor]
        made = page.asked(page.plan(model, device, of.precision, of.tensor, context, of.users))
        assert float(made["tpot"]) <= page.LIMIT
        assert of.rate == pytest.approx(of.users / float(made["tpot"]))


def test_a_token_costs_what_its_share_of_the_servers_hour_does():
    of = page.served(page.FLASH, page.B200, page.LONG)
    assert MILLION * of.output == pytest.approx(
        MILLION * page.SERVER * card_hour(page.B200).value / of.rate)


@pytest.mark.parametrize("model", [page.V3, page.FLASH])
def test_tensor_parallelism_copies_the_cache(model):
    whole, cut = (page.asked(page.plan(model, page.B200, page.published(model), tensor, page.LONG))
                  for tensor in (page.WHOLE, page.CUT))
    for name in ("kv_layer_bytes_per_token_per_device", "state_bytes_per_request"):
        assert float(whole[name]) == float(cut[name]), "a rank's copy is whole"
    assert int(cut["max_concurrency"]) < int(whole["max_concurrency"])


@pytest.mark.parametrize("model", page.MODELS)
def test_weights_run_as_published_on_blackwell(model):
    assert page.precision_on(model, page.B200) == page.published(model)
    assert page.precision_on(model, page.B2) in page.INSTEAD["ascend"]


def test_lines_end_where_positions_do():
    most = catalogue.load_model(page.V3).max_position_embeddings.value
    assert max(page.served_lengths(page.V3, page.DRAWN)) <= most
    assert page.LONGEST in [*page.served_lengths(page.FLASH)]


def test_the_page_glues_an_interval_around_each_cost(monkeypatch):
    from notebooks.pages.deciding.generations import page as shown

    glued = {}
    monkeypatch.setattr(display, "_glued", glued)
    monkeypatch.setattr(display, "glue", lambda key, text, display: None)
    shown.answer()
    for key in ("v3", "pro", "flash", "flash-longest"):
        low, value, high = (float(glued[f"gn-{key}-usd{end}"]) for end in ("-low", "", "-high"))
        assert low <= value <= high


def test_v4_and_glm_were_measured_but_on_no_server_of_the_page():
    """As the page says beside its figures; a server that is measured has to be named there."""
    measured = [made for name in catalogue.names("scenarios")
                for made in [catalogue.load_scenario(name)]
                if made.file.measured and made.model.id in (page.FLASH, page.PRO, page.GLM)]
    assert {made.model.id for made in measured} == {page.FLASH, page.PRO, page.GLM}
    assert not [made.id for made in measured
                if made.device.id in page.CARDS and made.devices == page.SERVER]
