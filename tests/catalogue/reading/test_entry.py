"""What every entry has in common: what validates it is built from its module and nothing else."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from catalogue.entries.entry import Entry


class Counted(Entry):
    """Built when it is first asked for."""

    count: Number


Number = int


def test_a_class_is_built_from_the_names_of_its_module_and_not_of_whoever_asks_first():
    Number = str  # noqa: F841 what the caller calls so is another thing
    assert Counted(count=3).count == 3
    with pytest.raises(ValidationError, match="valid integer"):
        Counted(count="three")
