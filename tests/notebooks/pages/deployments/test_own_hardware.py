"""The page on a reader's own card: every mistake that it shows is refused, in a sentence."""

from notebooks.pages.deployments import own_hardware


def test_every_deliberate_mistake_gets_its_sentence(monkeypatch):
    tables = []
    monkeypatch.setattr(own_hardware, "table", lambda rows, *_, **options: tables.append(rows))
    own_hardware.mistakes()
    (rows,) = tables
    assert len(rows) == len(own_hardware.MISTAKES)
    for row in rows:
        assert row["says"].startswith("`my-card.yml:")
