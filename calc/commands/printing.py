"""What commands share: exit codes, tables for people, plain data for programs, stored entries."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from rich.console import Console

import calc
from catalogue import ParamsError, Scenario, Value, sources
from catalogue.deployments.admission.notation import written
from catalogue.deployments.admission.rules import cut_of
from catalogue.messages import LANGUAGES, messages
from catalogue.reading import yamlfile
from catalogue.reading.files import write_whole

say = messages("calc/commands/printing")

OK, BAD_INPUT, INTERRUPTED = 0, 2, 130  # the last as a shell tells of SIGINT
LAYOUT = 1  # of the answers in JSON; another one where a key goes or changes what it means
PIPED = 200  # signs of a line that no terminal limits
_arguments: ContextVar[tuple[str, ...]] = ContextVar("_arguments", default=())
_language: ContextVar[str] = ContextVar("_language", default=LANGUAGES[0])


def begin(arguments: Sequence[str]) -> None:
    """Remember what the program is asked, for answers to say."""
    _arguments.set(tuple(map(str, arguments)))


def speak(language: str) -> None:
    """Choose the language of what is printed for people: ``en`` or ``zh``."""
    _language.set(language)


def spoken(pair: Sequence[str]) -> str:
    """What is said, in the language of the answer.

    >>> spoken(("value", "取值"))
    'value'
    """
    return pair[LANGUAGES.index(_language.get())]


def translated(texts: Mapping[str, str]) -> str:
    """A text of the catalogue, in the language of the answer.

    >>> translated({"en": "value", "zh": "取值"})
    'value'
    """
    return texts[_language.get()]


def print_json(data: Mapping[str, Any]) -> None:
    """Print an answer as JSON, which knows no number that is not finite.

    Before the data stand ``schema``, the name of its layout and the version of that, ``version``
    of the program, and ``asked``, the arguments as they were given.
    """
    _print_answer(next(iter(_arguments.get()), "none"), data)


def print_entries(data: Mapping[str, Any]) -> None:
    """Print a listing as JSON, an answer whose ``entries`` are those by name."""
    print_json({"entries": data})


def print_error(sentence: str) -> None:
    """Say on stderr why there is no answer; to whoever asked for JSON in JSON, too."""
    print(sentence, file=sys.stderr)
    if "--json" in _arguments.get():
        _print_answer("error", {"error": sentence})


def _print_answer(name: str, data: Mapping[str, Any]) -> None:
    head = {"schema": f"will-it-fit/{name}/{LAYOUT}", "version": calc.__version__,
            "asked": list(_arguments.get())}
    assert not head.keys() & data.keys()
    print(json.dumps(head | dict(data), indent=2, allow_nan=False))


def console() -> Console:
    """Where tables are printed; a text is printed as it stands, whatever brackets it has.

    What reads a pipe gets wide tables, unless it says how wide it is.
    """
    told = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(markup=False, emoji=False, width=None if told else PIPED)


def count_phrase(count: float, name: str) -> str:
    """A number of things in words.

    >>> count_phrase(1, "group"), count_phrase(2, "group")
    ('1 group', '2 groups')
    """
    return f"{count:,} {name}{'s' * (count != 1)}"


def store(path: Path, text: str) -> None:
    """Write an entry of ``params/`` whole, over what stood there.

    Raises ParamsError for a file that cannot be written.
    """
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise ParamsError(f"{yamlfile.display_path(path)}: cannot be written "
                          f"({(error.strerror or 'refused').lower()}).") from None


def plain(value: Any) -> Any:
    """Any entry as JSON data; a value keeps its unit, source and kind."""
    if isinstance(value, Value):
        data: dict[str, Any] = {"value": value.value, "unit": value.unit, "written": value.written,
                "source": value.source, "kind": value.kind}
        if value.low < value.high:
            data |= {"low": value.low, "high": value.high}
        for name in ("date", "section", "note"):
            if getattr(value, name) is not None:
                data[name] = getattr(value, name)
        if value.source in sources():
            data["url"] = sources()[value.source].get("url")
        if value.others:
            data["others"] = [plain(other) for other in value.others]
        return data
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        return {name: plain(item) for name, item in fields.items()
                if item is not None and name != "defaults"}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def deployed_line(scenario: Scenario) -> str:
    """What is computed, whatever the title says of it before anything was set."""
    return spoken(say("deployed", cards=scenario.devices, device=translated(scenario.device.name),
                      model=translated(scenario.model.name), precision=scenario.precision.id,
                      layout=translated(written(cut_of(scenario)))))
