"""What commands share: exit codes, tables for people, plain data for programs, stored entries."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from rich.cells import cell_len
from rich.console import Console, RenderableType

import calc
from calc.uncertainty import Amount
from catalogue import ParamsError, Scenario, Value, sources, symbols
from catalogue.deployments.admission import announced, cut_of, underived, unsourced
from catalogue.deployments.cuts import written
from catalogue.messages import LANGUAGES, Pair, messages
from catalogue.reading import yamlfile
from catalogue.reading.files import sentence, write_whole
from catalogue.reading.units import DAY, HOUR, MINUTE, NONE, human, span
from catalogue.reading.units import plain as plain_number
from catalogue.reading.values import Text

common = messages("common")
say = messages("calc/commands/printing")

OK, BAD_INPUT, INTERRUPTED = 0, 2, 130  # the last as a shell tells of SIGINT
LAYOUTS = {"estimate": 2, "search": 2}  # versions of answers, 1 of others; raised where a key goes
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


def speaks_chinese() -> bool:
    """Whether the answer is in Chinese."""
    return _language.get() == LANGUAGES[1]


def amount(value: float | None, unit: str = "1") -> str:
    """A number with its unit, in the language of the answer; SI.

    >>> amount(1.583e6, "USD")
    '1.58 million USD'
    """
    return human(value, unit, _language.get())


def interval(low: float, high: float, unit: str = "1") -> str:
    """Both ends of an interval, in the language of the answer; SI."""
    return span(low, high, unit, _language.get())


def text_of(quantity: Amount) -> str:
    """A value without its interval, in the language of the answer."""
    return quantity.text_in(_language.get())


def reach_of(quantity: Amount) -> str:
    """The interval of a value, in the language of the answer; empty of what is exact."""
    return quantity.reach_in(_language.get())


def formatted(quantity: Amount) -> str:
    """A value and its interval, in the language of the answer."""
    return quantity.formatted(_language.get())


def named(symbol: str) -> str:
    """A quantity in the language of the answer; what is no symbol as it is.

    >>> named("tpot"), named("nothing")
    ('time per output token', 'nothing')
    """
    defined = symbols().get(symbol)
    return spoken((defined.en, defined.zh)) if defined else symbol


def metric_of(symbol: str) -> str:
    """A quantity: in English by its symbol, in Chinese by its name."""
    return named(symbol) if speaks_chinese() else symbol


def input_name(name: str, plain: str) -> str:
    """An input, a mechanism or the formulas' own error, in the language of the answer.

    Args:
        name: of it; of a mechanism with the dtype behind a stop.
        plain: its name in English.
    """
    if name in symbols():
        return named(name) if speaks_chinese() else plain
    base, _, of = name.partition(" of " if " of " in name else ".")
    return spoken(say("input", name=base, plain=plain, of=of or "none"))


def listing(names: Iterable[str]) -> str:
    """Names one after the other.

    >>> listing(["tpot", "ttft"])
    'tpot, ttft'
    """
    return spoken((", ", "、")).join(names)


def translated(texts: Mapping[str, str]) -> str:
    """A text of the catalogue, in the language of the answer.

    >>> translated({"en": "value", "zh": "取值"})
    'value'
    """
    return texts.get(_language.get()) or texts["en"]


def print_json(data: Mapping[str, Any]) -> None:
    """Print an answer as JSON, which knows no number that is not finite.

    Before the data stand ``schema``, the name of its layout and the version of that, ``version``
    of the program, and ``asked``, the arguments as they were given.
    """
    _print_answer(next((word for word in _arguments.get() if word != "dev"), "none"), data)


def print_entries(data: Mapping[str, Any]) -> None:
    """Print a listing as JSON, an answer whose ``entries`` are those by name."""
    print_json({"entries": data})


def print_error(text: str) -> None:
    """Say on stderr why there is no answer, in one sentence per mistake; to whoever asked for JSON
    in JSON, too."""
    lines = "\n".join(map(sentence, text.split("\n")))
    print(lines, file=sys.stderr)
    if "--json" in _arguments.get():
        _print_answer("error", {"error": lines})


def _print_answer(name: str, data: Mapping[str, Any]) -> None:
    head = {"schema": f"will-it-fit/{name}/{LAYOUTS.get(name, 1)}", "version": calc.__version__,
            "asked": list(_arguments.get())}
    assert not head.keys() & data.keys()
    print(json.dumps(head | dict(data), indent=2, allow_nan=False))


def console() -> Console:
    """Where tables are printed; a text is printed as it stands, whatever brackets it has.

    What reads a pipe gets wide tables, unless it says how wide it is.
    """
    adapts = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(markup=False, emoji=False, width=None if adapts else PIPED)


def tell(screen: Console, part: RenderableType) -> None:
    """Print a text as it stands, in no colours and never broken; or a table, as wide as it may."""
    screen.print(part, highlight=False, soft_wrap=isinstance(part, str))


def print_columns(rows: Sequence[Sequence[str]], texts: int) -> None:
    """A line per row, as wide as it is, however narrow the terminal.

    Args:
        rows: of cells, the heading first.
        texts: how many columns from the left are words, the others numbers.
    """
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            room = " " * (width - cell_len(cell))
            cells.append(cell + room if index < texts else room + cell)
        print("  ".join(cells))


def store(path: Path, text: str) -> None:
    """Write an entry of ``params/`` whole, over what stood there.

    Raises ParamsError for a file that cannot be written.
    """
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise ParamsError(cannot_be_written(yamlfile.display_path(path), error)) from None


def cannot_be_written(name: object, error: OSError) -> str:
    """The sentence for a file or folder that cannot be written."""
    return spoken(common("cannot-be-written", name=str(name),
                         why=(error.strerror or "refused").lower()))


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


def resting_on(*scenarios: Scenario) -> list[str]:
    """The notes of the catalogue on an answer, a line each, in its language."""
    return [spoken(note) for note in _caveats(*scenarios).values()]


def caveats_of(*scenarios: Scenario) -> dict[str, str]:
    """The same notes as plain data, in English, by key: ``announced``, ``missing``,
    ``unsourced``."""
    return {key: note[0] for key, note in _caveats(*scenarios).items()}


def _caveats(*scenarios: Scenario) -> dict[str, Pair]:
    notes = {"announced": announced(scenario.device for scenario in scenarios),
            "missing": underived(scenario.model for scenario in scenarios),
            "unsourced": unsourced(scenarios)}
    return {key: note for key, note in notes.items() if note}


def deployed_line(scenario: Scenario) -> str:
    """What is computed, whatever the title says of it before anything was set."""
    return spoken(say("deployed", cards=scenario.devices, device=translated(scenario.device.name),
                      model=translated(scenario.model.name), precision=scenario.precision.id,
                      layout=translated(written(cut_of(scenario)))))


def lasting(seconds: float | None) -> str:
    """A time as people tell it: seconds, minutes, hours or days.

    >>> lasting(86400.0 * 264), lasting(404.8), lasting(None)
    ('264 days', '6.75 min', '–')
    """
    if seconds is None:
        return NONE
    for unit, length in (("days", DAY), ("h", HOUR), ("min", MINUTE)):
        if seconds >= 2 * length:
            return spoken(say("in-unit", number=plain_number(seconds / length), unit=unit))
    return amount(seconds, "s")


def deployment_id(pools: Sequence[Scenario]) -> str:
    """Identifier of a deployment: its file's, of two pools without their names."""
    return pools[-1].id if len(pools) == 1 else pools[-1].path.stem


def deployment_title(pools: Sequence[Scenario]) -> Text:
    """Title of a deployment in both languages, of two pools that of both."""
    return (pools[-1].family if len(pools) > 1 else None) or pools[-1].heading
