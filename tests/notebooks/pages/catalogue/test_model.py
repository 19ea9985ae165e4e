"""The page of a model holds what is derived against what the runtime counts."""

import pytest

import calc
import catalogue
from calc.answer import published
from notebooks.derive.formulas.errors import DerivationError
from notebooks.pages.catalogue import model as page
from notebooks.show.numbers import fmt_int

MODELS = ("deepseek-v3", "llama-3.1-8b", "gpt-oss-120b")


@pytest.mark.parametrize("name", MODELS)
def test_a_single_parameter_more_is_seen(name):
    model = catalogue.load_model(name)
    counted = calc.parameters(model)
    page.agree(model, counted)
    with pytest.raises(DerivationError, match="active parameters"):
        page.agree(model, counted | {"active": counted["active"] + 1})


@pytest.mark.parametrize("name", MODELS)
def test_the_rows_of_the_table_add_up_to_the_total(name, monkeypatch):
    tables = []
    monkeypatch.setattr(page, "table", lambda rows, columns, **options: tables.append(list(rows)))
    model = catalogue.load_model(name)
    counted = calc.parameters(model)
    page.parameters(model, counted, calc.parameters_by_class(model))
    *rows, _ = tables[0]
    assert sum(row["count"] for row in rows) == counted["total"]
    assert sum(row["used"] for row in rows) == counted["active"]
    assert all(0 <= row["used"] <= row["count"] for row in rows)


@pytest.mark.parametrize("name", MODELS)
def test_eight_bits_take_half_of_sixteen_and_only_a_latent_has_a_format_of_its_own(name):
    model = catalogue.load_model(name)
    sizes = page.cache_bytes(model)
    assert 2 * sizes["fp8"] == sizes["bf16"]
    assert (page.LATENT_FP8 in sizes) == (model.attention == "mla")


def test_numbers_in_the_files_are_counted_with_scales_as_on_the_page_of_all(monkeypatch):
    rows = []
    monkeypatch.setattr(page, "table", lambda found, *_, **__: rows.extend(found))
    monkeypatch.setattr(page, "show", lambda *_: None)
    model = catalogue.load_model("deepseek-v3")
    page.published(model, calc.parameters(model))
    [stored] = [row["ours"] for row in rows if row["what"] == page.common("in-files")]
    assert stored == fmt_int(published.stored_parameters(model))
