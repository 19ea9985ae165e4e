"""The recorded answers: a JSON file per question."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from catalogue.reading.jsonfile import rounded
from tools.answers.asking import QUESTIONS, answer

FOLDER = Path(__file__).parent / "recorded"
WIDTH = 100  # of a line


def path_of(question: str) -> Path:
    """The file of a question."""
    return FOLDER / f"{re.sub('[^a-z0-9.]+', '-', question.lower()).strip('-')[:100]}.json"


def recorded(question: str) -> Any:
    """Return the recorded answer. Raises OSError if there is none."""
    return json.loads(path_of(question).read_text("utf-8"))


def record_all() -> None:
    """Ask every question, record the answers, and delete the files of other questions."""
    FOLDER.mkdir(exist_ok=True)
    for question in QUESTIONS:
        path_of(question).write_text(f"{_text(rounded(answer(question)))}\n", "utf-8")
    for path in set(FOLDER.iterdir()) - {path_of(question) for question in QUESTIONS}:
        path.unlink()


def _text(value: Any, indent: str = "") -> str:
    """JSON with sorted keys; items that need one line each share lines of `WIDTH` characters."""
    if not isinstance(value, dict | list):
        return json.dumps(value)
    deeper = f"{indent} "
    items = ([f"{json.dumps(key)}: {_text(value[key], deeper)}" for key in sorted(value)]
             if isinstance(value, dict) else [_text(item, deeper) for item in value])
    left, right = "{}" if isinstance(value, dict) else "[]"
    if len(flat := ", ".join(items)) + len(indent) <= WIDTH and "\n" not in flat:
        return f"{left}{flat}{right}"
    lines: list[str] = []
    for item in items:
        if (lines and "\n" not in lines[-1] + item
                and len(deeper) + len(lines[-1]) + len(item) + 2 <= WIDTH):
            lines[-1] += f", {item}"
        else:
            lines.append(item)
    return f"{left}\n{deeper}" + f",\n{deeper}".join(lines) + f"\n{indent}{right}"
