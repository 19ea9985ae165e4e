"""What a long run found, kept beside its program: with its date, generated and never typed."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalogue.reading.files import write_whole


def today() -> str:
    """The day, in ISO form."""
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def keep(path: Path, **found: Any) -> None:
    """Write what one run found over what was kept of the last. Raises OSError."""
    _write(path, {"date": today(), **found})


def keep_of(path: Path, name: str, **found: Any) -> None:
    """Write what was found of one name, and leave what was kept of others. Raises OSError."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    _write(path, dict(sorted({**kept, name: {"date": today(), **found}}.items())))


def _write(path: Path, record: Mapping[str, Any]) -> None:
    write_whole(path, (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode())
