"""What commands share: exit codes, tables for people, plain data for programs, stored entries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from rich.console import Console

from catalogue import ParamsError, Value, sources
from catalogue.reading import yamlfile
from catalogue.reading.files import write_whole

OK, BAD_INPUT, INTERRUPTED = 0, 2, 130  # the last as a shell tells of SIGINT


def print_json(data: Any) -> None:
    """Print data as JSON, which knows no number that is not finite."""
    print(json.dumps(data, indent=2, allow_nan=False))


def console() -> Console:
    """Where tables are printed; a text is printed as it stands, whatever brackets it has."""
    return Console(markup=False, emoji=False)


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
