"""What the pinned releases of an engine make of a setting that a document gives."""

from __future__ import annotations

from catalogue.engines.engine import load_engine
from catalogue.ledger.rows import EngineSetting
from catalogue.reading.words import revealed

ORDER = ("accepted", "deprecated", "unlisted", "choice", "type", "unknown")  # the best first
ELSEWHERE = "no-catalogue"


def state_of(setting: EngineSetting) -> str:
    """The best that any pinned release makes of a setting, as ``Engine.judge`` has it;
    ``no-catalogue`` of a program whose settings are not held."""
    if setting.engine is None:
        return ELSEWHERE
    engine = load_engine(setting.engine)
    name, value = revealed(setting.name), setting.value
    given = True if value is None else revealed(value) if isinstance(value, str) else value
    return min((engine.judge(name, given, version) for version in engine.versions),
               key=ORDER.index)
