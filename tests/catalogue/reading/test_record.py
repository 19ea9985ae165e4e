"""Files that a program has read are recorded in the file that PARAMS_RECORD names."""

import os
from collections import Counter

import pytest
from _door import DEVICE

import catalogue
from catalogue.reading import yamlfile


@pytest.fixture
def card(tmp_path):
    path = tmp_path / "card.yml"
    path.write_text(DEVICE, encoding="utf-8")
    return path


@pytest.fixture
def recorded(tmp_path):
    """The lines recorded so far."""
    target, before = tmp_path / "record.txt", os.environ.get("PARAMS_RECORD")
    os.environ["PARAMS_RECORD"] = str(target)
    yield lambda: Counter(target.read_text("utf-8").splitlines() if target.exists() else ())
    del os.environ["PARAMS_RECORD"]
    if before is not None:
        os.environ["PARAMS_RECORD"] = before


def test_a_loaded_file_is_recorded_once(card, recorded):
    catalogue.load_device(card)
    catalogue.load_device(card)
    assert recorded()[str(card)] == 1


def test_a_file_in_memory_is_recorded_like_one_that_is_read(card, request):
    before = catalogue.load_device(card)
    recorded = request.getfixturevalue("recorded")
    assert catalogue.load_device(card) is before
    assert recorded()[str(card)] == 1


def test_reading_one_key_records_that_key_alone(card, recorded):
    assert yamlfile.under(card, "type") == ["gpu"]
    assert yamlfile.under(card, "no-such-key") == []
    assert {line for line in recorded() if line.startswith(str(card))} == {
        f"{card}#type", f"{card}#no-such-key"}
