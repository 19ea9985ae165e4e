"""What the tests of imported configurations share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.catalogue.models.test_import_model import stated


@pytest.fixture
def written(tmp_path):
    """Write a configuration: fields of a published one's language model, changed."""
    def write(name="deepseek-v3", /, without=(), **changes) -> Path:
        whole = stated(name)
        part = whole.get("text_config", whole)
        data = {key: value for key, value in part.items() if key not in without} | changes
        data = data if part is whole else whole | {"text_config": data}
        path = tmp_path / "config.json"
        path.write_text(json.dumps(data, indent=1), encoding="utf-8")
        return path
    return write
