"""What is counted of every model beside what is published, as the page on models has it."""

from __future__ import annotations

import pytest

import catalogue
from calc.answer import published
from notebooks.pages.catalogue.tables import beside
from notebooks.pages.catalogue.tables.models import derived, parameters_in_files

MODELS = [catalogue.load_model(name) for name in catalogue.names("models")]
TABLES = [(beside.counts, published.counts, 50), (beside.files, published.files, 17),
          (beside.caches, published.caches, 40)]


@pytest.fixture
def rows(monkeypatch):
    """Rows of a table that is shown of all models."""
    tables = []
    monkeypatch.setattr(beside, "table", lambda rows, columns, **options: tables.append(rows))

    def of(table, held):
        table(MODELS, {model.id: list(held(model)) for model in MODELS})
        return tables.pop()
    return of


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.id)
def test_the_derivation_counts_the_files_as_the_runtime_does(model):
    besides = model.published and model.published.uncounted
    assert parameters_in_files(model, derived(model)) + (
        besides.value if besides else 0) == pytest.approx(
            published.stored_parameters(model), rel=0, abs=1)


@pytest.mark.parametrize(("table", "held", "least"), TABLES)
def test_each_difference_beyond_its_bar_has_its_reason_in_both_languages(rows, table, held, least):
    found = rows(table, held)
    assert len(found) >= least
    for row in found:
        off = row["difference"]
        percent = off.lstrip("< −").replace(",", "").removesuffix("%")
        if off == beside.NONE or float(percent) > 2:
            assert all(row["why"]), row


@pytest.mark.parametrize(("table", "held", "least"), TABLES)
def test_zero_is_told_of_what_is_equal_alone(rows, table, held, least):
    pairs = [each for model in MODELS for found in held(model)
             for each in (found if isinstance(found, tuple) else (found,))
             if isinstance(each, published.Beside)]
    equal = sum(each.ours == pytest.approx(each.theirs.value, rel=1e-12)
                for each in pairs if each.theirs)
    assert [row["difference"] for row in rows(table, held)].count("0.000%") == equal


def test_every_model_has_its_cache_in_an_engine(rows):
    named = {row["model"] for row in rows(*TABLES[-1][:2])}
    assert len(named) == len([model for model in MODELS if not model.id.startswith("s0-")])
