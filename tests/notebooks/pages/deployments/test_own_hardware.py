"""The page on a reader's own card: every mistake that it shows is refused, in a sentence."""

import tempfile

import pytest

from catalogue.reading import yamlfile
from notebooks.pages.deployments import own_hardware


@pytest.mark.parametrize("inside", [False, True])
def test_every_deliberate_mistake_gets_its_sentence(monkeypatch, tmp_path, inside):
    """It names the reader's file, also where temporary files lie in the project, as in a build."""
    tables = []
    if inside:
        monkeypatch.setattr(yamlfile, "ROOT", tmp_path / "params")
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(own_hardware, "table", lambda rows, *_, **options: tables.append(rows))
    own_hardware.mistakes()
    (rows,) = tables
    assert len(rows) == len(own_hardware.MISTAKES)
    for row in rows:
        assert row["says"].startswith("`my-card.yml:")
