"""Pages of the catalogue: counted parameters, dates of values, engine releases."""

from __future__ import annotations

import pytest

import catalogue
from calc.answer import model_sizes
from catalogue.engine import STOPS, launch_blocks, load_engine
from catalogue.reading.values import sources
from catalogue.shipped import values_of
from notebooks.pages.catalogue import dated
from notebooks.pages.catalogue.tables.models import derived, parameters_in_files

VLLM = load_engine("vllm")


@pytest.mark.parametrize("name", catalogue.names("models"))
def test_derived_parameters_equal_the_runtime_count_of_the_files(name):
    model = catalogue.load_model(name)
    uncounted = model.published and model.published.uncounted
    assert parameters_in_files(model, derived(model)) + (uncounted.value if uncounted else 0) == (
        pytest.approx(model_sizes.stored_parameters(model), rel=0, abs=1))


@pytest.mark.parametrize("name", catalogue.names("devices")[::8])
def test_dates_in_use_lie_between_oldest_and_newest(name):
    card = catalogue.load_device(name)
    found = dated.dates(card)
    used = [value for keys, value in values_of(card) if "others" not in keys]
    dates = {str(value.date or sources().get(value.source, {}).get("date", found.oldest))
             for value in used}
    assert (found.oldest, found.newest) == (min(dates), max(dates))
    assert found.undated == sum(value.date is None and "read" in sources()[value.source]
                                for value in used)


def test_an_option_that_no_release_has_stops_the_command_in_every_release():
    name = "--max-chunked-prefill-tokens"
    value = next(block.settings[name] for block in launch_blocks("s1") if name in block.settings)
    assert all(VLLM.judge(name, value, version) in STOPS for version in VLLM.versions)
