"""The questions: each shipped deployment estimated, and those of ``questions.txt``."""

from __future__ import annotations

from pathlib import Path

from catalogue.naming import names

LISTED = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
QUESTIONS = (
    *(f"estimate --json {name}" for name in names("scenarios")),
    *(line for line in LISTED if line and not line.startswith("#")),
)
