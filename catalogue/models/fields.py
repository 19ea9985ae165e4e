"""Reading one configuration field by field: what it holds is a count, a switch or refused."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from catalogue.models.families import LARGEST, Family
from catalogue.reading.errors import ParamsError
from catalogue.reading.jsonfile import JsonFile, json_excerpt

# what the settings of a router decide; other settings are only checked
_DECIDES = {"scoring_func": "router_scoring", "topk_method": "router_bias"}

_LONGEST = 80  # signs of a field's name, that of its group before it


@dataclass
class Fields:
    """The fields of a configuration, and what was made of each.

    Attributes:
        file: the configuration.
        found: our field -> its value, as the model file has it.
        used: field of the configuration -> our field, or what it was checked for.
        comments: our field -> why it has its value, where the configuration does not say.
    """

    file: JsonFile
    found: dict[str, Any] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Say in one sentence what a field holds and what was expected."""
        raise ParamsError(f"{self.file.where(key)}: {key[:_LONGEST]!a} is "
                          f"{json_excerpt(self.file.data[key])}, expected {expected}.")

    def missing(self, key: str, expected: str) -> NoReturn:
        """Say in one sentence that a field is not there."""
        raise ParamsError(f"{self.file.name}: '{key}' is missing, expected {expected}.")

    def get(self, key: str) -> Any:
        """A field's value; None where it is absent."""
        return self.file.data.get(key)

    def inside(self, key: str) -> Fields:
        """The fields of the object that a field holds, named ``KEY.FIELD``.

        Raises ParamsError where it holds none.
        """
        value = self.get(key)
        if key not in self.file.data:
            self.missing(key, "an object")
        if not isinstance(value, dict) or not value:
            self.refuse(key, "an object")
        self.used[key] = "checked"
        known = self.file.within.get(key, {})
        lines = {f"{key}.{name}": line for name in value
                 if (line := known.get(name, self.file.lines.get(key))) is not None}
        data = {f"{key}.{name}": each for name, each in value.items()}
        return Fields(replace(self.file, data=data, lines=lines))

    def nothing_else(self, ignored: tuple[str, ...] = ()) -> None:
        """Refuse fields that were not asked for, unless they change nothing."""
        for key in self.file.data:
            if key not in self.used and key not in ignored:
                self.refuse(key, "nothing, as it is not modelled")

    @staticmethod
    def derived(value: int, source: str) -> dict[str, Any]:
        """A count that the configuration does not state as such."""
        return {"value": value, "source": source, "kind": "derived"}

    def exactly(self, key: str, accepted: tuple[Any, ...]) -> None:
        """Hold a field to the values that the program models."""
        value = self.get(key)
        if any(type(value) is type(item) and value == item for item in accepted):
            if key in self.file.data:
                self.used[key] = _DECIDES.get(key, "checked")
            return
        expected = " or ".join(json.dumps(item) for item in accepted if item is not None)
        if key not in self.file.data:
            self.missing(key, expected)
        self.refuse(key, f"{expected}, the only one that is modelled here"
                    if len(accepted) == 1 else expected)

    def count(self, key: str, ours: str, smallest: int = 1) -> int:
        """A whole number within what is plausible for our field."""
        value, largest = self.get(key), LARGEST[ours]
        if key not in self.file.data:
            self.missing(key, "a whole number")
        if type(value) is not int or not smallest <= value <= largest:
            self.refuse(key, f"a whole number from {smallest} to {largest:,}")
        self.used[key] = ours
        return value

    def stated(self, ours: str, names: tuple[str, ...], family: Family) -> int:
        """A count under any of its names, which must agree."""
        present = [name for name in names if name in self.file.data] or [names[0]]
        if family.zero.get(ours) and self.get(present[0]) is None and present[0] in self.file.data:
            self.used[present[0]] = ours
            self.comments[ours] = "null in the configuration"
            return 0
        smallest = 0 if ours in family.zero or ours == "num_nextn_predict_layers" else 1
        value = self.count(present[0], ours, smallest)
        for name in present[1:]:
            if self.count(name, ours, smallest) != value:
                self.refuse(name, f"{value} as in '{present[0]}'")
        return value

    def switch(self, key: str, default: bool, ours: str | None = None) -> bool:
        """A truth value; absent or null is the default."""
        value = self.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.refuse(key, "true or false")
        self.used[key] = ours or key
        return value
