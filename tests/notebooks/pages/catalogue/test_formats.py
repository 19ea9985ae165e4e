"""Which cards multiply a precision: as stored, after widening in registers, or through L2."""

import pytest

import catalogue
from notebooks.pages.catalogue.tables import formats


@pytest.fixture
def rows(monkeypatch):
    tables = []
    monkeypatch.setattr(formats, "table", lambda rows, *_, **options: tables.append(rows))
    monkeypatch.setattr(formats, "show", lambda *_: None)
    names = ("bf16", "fp8-block", "w8a8-int8", "w4a16-awq")
    formats.supported([catalogue.load_precision(name) for name in names])
    return dict(zip(names, tables[0], strict=True))


def test_awq_goes_through_l2_on_ascend_and_not_on_nvidia(rows):
    assert rows["w4a16-awq"]["ascend-910b2"][0] == "✓, through L2"
    assert rows["w4a16-awq"]["nvidia-h20"][0] == "✓"


def test_what_is_multiplied_as_it_is_stored_does_not(rows):
    assert rows["bf16"]["ascend-910b2"][0] == rows["w8a8-int8"]["ascend-910b2"][0] == "✓"
    assert "FP8" in rows["fp8-block"]["ascend-910b2"][0]
