"""What the tests of imported configurations share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.catalogue.models.test_import_model import stated


@pytest.fixture
def written(tmp_path):
    """Write a configuration: fields of a published one, changed."""
    def write(name="deepseek-v3", /, without=(), **changes) -> Path:
        data = {key: value for key, value in stated(name).items() if key not in without} | changes
        path = tmp_path / "config.json"
        path.write_text(json.dumps(data, indent=1), encoding="utf-8")
        return path
    return write
