"""The language model's own part of a configuration whose model also sees or hears."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from catalogue.models import known
from catalogue.reading.errors import ParamsError
from catalogue.reading.jsonfile import JsonFile, json_excerpt

PART = "text_config"
OTHER_PARTS = ("vision_config", "audio_config")
# may stand outside alone
_HANDED_DOWN = ("model_type", "tie_word_embeddings", "_name_or_path", "quantization_config")


@dataclass(frozen=True)
class Unwrapped:
    """The configuration of a language model, and what stood around it.

    Attributes:
        file: its fields, with the lines that they have in the whole file.
        beside: known fields around it, which say nothing of it; other parts among them.
        unknown: fields around it of which nothing is known.
    """

    file: JsonFile
    beside: list[str]
    unknown: list[str]


def unwrap(file: JsonFile) -> Unwrapped:
    """The language model's part where there is one, else the configuration itself.

    Raises ParamsError, one sentence with file and line, for a part that is no object and for
    shapes beside it that it does not have: two models, or one that is not understood.
    """
    part = file.data.get(PART)
    if not part:
        return Unwrapped(file, [], [])
    if not isinstance(part, dict):
        raise ParamsError(f"{file.where(PART)}: '{PART}' is {json_excerpt(part)}, expected the "
                          "configuration of a language model as an object.")
    rest = [key for key in file.data if key != PART]
    down = {key: file.data[key] for key in _HANDED_DOWN
            if file.data.get(key) is not None and not part.get(key)}
    for key in rest:
        _refuse_shapes(file, part, key)
    rest = [key for key in rest if key not in down]
    lines = file.within[PART] | {key: file.lines[key] for key in down}
    of_others = known.fields("around").union(known.fields("irrelevant"),
                                             known.fields("architectural"), _HANDED_DOWN)
    return Unwrapped(replace(file, data=part | down, lines=lines),
                     beside=[key for key in rest if key in of_others],
                     unknown=[key for key in rest if key not in of_others])


def _refuse_shapes(file: JsonFile, part: dict[str, Any], key: str) -> None:
    """Outside, a shape may only repeat what the part says."""
    value = file.data[key]
    if key == "tie_word_embeddings" and key in part and value not in (None, part[key]):
        raise ParamsError(f"{file.where(key)}: '{key}' is {json_excerpt(value)}, expected "
                          f"{json_excerpt(part[key])} as in '{PART}'.")
    if (key in known.fields("architectural") and key not in OTHER_PARTS and value
            and part.get(key) != value):
        raise ParamsError(f"{file.where(PART)}: '{PART}' is an object, expected it to be all that "
                          f"has shapes, but {json_excerpt(key)} stands beside it.")
