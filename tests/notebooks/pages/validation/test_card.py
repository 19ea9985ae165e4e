"""What is shown of a card measured afterwards is what its table and its values give."""

from __future__ import annotations

import numpy as np
import pytest

import catalogue
from calc.kernels.before import values_alone
from calc.kernels.engines import fitted
from calc.kernels.matmuls import DENSE, dense_time
from calc.kernels.rows.of_every_operator import FORMATS, of_card
from notebooks.pages.validation.quality import card
from notebooks.show.columns import cells


@pytest.fixture
def told(monkeypatch):
    """Rows of the table and numbers of the sentences."""
    found = {}
    monkeypatch.setattr(card, "table", lambda *shown: found.update(rows=cells(*shown)))
    monkeypatch.setattr(card, "number", lambda key, value, fmt: found.update({key: fmt(value)}))
    card.shown(fitted(card.operators(), card.CARD, card.PYTORCH))
    return found


def test_the_day_and_the_boundary_are_those_that_were_measured(told):
    assert told["qa-card-date"] == "2026-11-27"
    assert told["qa-card-boundary"] == "1.19 µs"
    assert told["qa-card-priors"] == "2 µs"


def test_errors_are_those_of_the_card_s_own_values_and_of_no_fit(told):
    lines, _ = told["rows"]
    assert [(line["0"], line["1"]) for line in lines] == [
        ("bf16", "torch.mm"), ("fp8-block", "torch._scaled_mm")]
    device = catalogue.load_device(card.CARD)
    priors = catalogue.load("mechanisms", device.mechanisms)
    table = card.operators().table("gemm")
    multiplied, stored, _ = FORMATS["bf16"]
    rows = table.select((table["dtype"] == "bf16") & (table["columns"] % 64 == 0))
    columns = {name: np.asarray(rows[name], float) for name in ("rows", "columns", "depth")}
    ratio = dense_time({**columns, **of_card(device, priors, multiplied, stored)}, values_alone(
        DENSE, device, priors, multiplied, stored)) / rows["time"] - 1
    of_half = float(lines[0]["3"].removesuffix("%")) / 100
    assert np.median(np.abs(ratio)) == pytest.approx(of_half, abs=0.015)  # of all shapes
