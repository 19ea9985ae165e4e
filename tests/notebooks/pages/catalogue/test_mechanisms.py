"""Every mechanism that a page of a device may show has a name in either language."""

import re
from collections.abc import Iterator
from typing import get_args

import pytest
from pydantic import BaseModel

import catalogue
from catalogue.entries.mechanisms import Mechanisms
from catalogue.reading.values import Value
from notebooks.pages.catalogue.tables import mechanisms

ABOUT = {"id", "name", "note", "defaults", "like"}  # of the file, no mechanism
HAN = re.compile("[\u4e00-\u9fff]")


def paths(entry: type[BaseModel]) -> Iterator[str]:
    """Dotted names of all values that an entry may hold."""
    for name, field in entry.model_fields.items():
        if name in ABOUT:
            continue
        kinds = get_args(field.annotation) or (field.annotation,)
        kinds = [inner for kind in kinds for inner in (get_args(kind) or (kind,))]
        groups = [kind for kind in kinds if isinstance(kind, type)
                  and issubclass(kind, BaseModel) and not issubclass(kind, Value)]
        yield from (f"{name}.{path}" for group in groups for path in paths(group))
        if not groups:
            yield name


EVERY = list(paths(Mechanisms))


@pytest.mark.parametrize("path", EVERY)
def test_it_is_called_by_words_and_not_by_its_field(path: str) -> None:
    ((pair, _),) = mechanisms.labelled({path: None})
    english, chinese = (re.sub(r"\$.*?\$", "", text) for text in pair)
    assert HAN.search(chinese)
    assert not HAN.search(english)
    for text in (english, chinese):
        assert "_" not in text
        assert path.split(".")[0].replace("_", " ") != text


def test_they_are_all_that_the_files_hold() -> None:
    held = {label for name in catalogue.names("mechanisms")
            for label, _ in mechanisms.rows(catalogue.load("mechanisms", name))}
    assert held <= {label for label, _ in mechanisms.labelled(dict.fromkeys(EVERY))}
