"""The answers that were recorded, a file per question."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from catalogue.reading.files import write_whole

FOLDER = Path(__file__).parent / "recorded"
DIGITS = 12  # of a number that is recorded: more than are held


def place(question: str) -> Path:
    """Where the answer to a question stands."""
    return FOLDER / f"{re.sub('[^a-z0-9.]+', '-', question.lower()).strip('-')}.json"


def recorded(question: str) -> Any:
    """What was answered. Raises OSError where nothing is recorded."""
    return json.loads(place(question).read_text(encoding="utf-8"))


def record(question: str, told: Any) -> None:
    """Keep an answer in place of the one recorded. Raises OSError."""
    text = json.dumps(_short(told), ensure_ascii=False, indent=1, sort_keys=True)
    place(question).parent.mkdir(exist_ok=True)
    write_whole(place(question), f"{text}\n".encode())


def _short(told: Any) -> Any:
    if isinstance(told, dict):
        return {key: _short(value) for key, value in told.items()}
    if isinstance(told, list):
        return [_short(value) for value in told]
    return float(f"{told:.{DIGITS}g}") if isinstance(told, float) else told
