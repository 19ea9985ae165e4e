"""Records of long runs: dated, and what is kept of one name leaves the others as they are."""

import datetime
import json
from pathlib import Path

from tools import records


def test_a_record_has_the_day_first_and_takes_the_place_of_the_last(tmp_path: Path) -> None:
    for differing in (["zh/专家.html"], []):
        records.keep(tmp_path / "a.json", files=2, different=differing)
    record = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert list(record) == ["date", "files", "different"]
    assert record["different"] == []
    assert datetime.date.fromisoformat(record["date"])


def test_what_is_kept_of_one_name_leaves_the_others(tmp_path: Path) -> None:
    for name, count in (("search", 1), ("cost", 2), ("search", 3)):
        records.keep_of(tmp_path / "a.json", name, kills=count)
    record = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert {name: each["kills"] for name, each in record.items()} == {"cost": 2, "search": 3}
    assert list(record) == ["cost", "search"]
