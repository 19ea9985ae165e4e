"""The bill of materials: valid, whole, the same for the same pins, and no licence is invented."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from cyclonedx.model.component import Component
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tools.packages import bom

TEXTS = ("LICENSE", "OFL*.txt")  # of what is carried, beside it
SHIPPED = ("book", "notebooks")  # folders that come with the site or the wheel
NAMED = {"MIT": "Permission is hereby granted, free of charge", "OFL-1.1": "SIL Open Font License",
         "OFL-1.1 AND CC-BY-4.0": "SIL OFL 1.1"}


@pytest.fixture(scope="module")
def kept() -> str:
    """The committed bill."""
    return bom.BOM.read_text(encoding="utf-8")


def test_it_is_valid_by_the_schema_of_its_format(kept: str) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(kept) is None


def test_it_has_each_pinned_requirement_once_and_nothing_else_from_there(kept: str) -> None:
    found = Counter(each["purl"] for each in json.loads(kept)["components"]
                    if each["purl"].startswith("pkg:pypi/"))
    pinned = {f"pkg:pypi/{pin.name}@{bom.version(pin)}" for pin in bom.pins()}
    assert len(pinned) == bom.PINS.read_text(encoding="utf-8").count("==") - sum(
        str(pin.marker).count("==") for pin in bom.pins())
    assert found == Counter(pinned), "run python -m tools.packages.bom"


def test_each_component_has_a_licence_or_is_listed_as_unknown(kept: str) -> None:
    with bom.LIST.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    stated = {(each["name"], each["version"]): each.get("licenses")
              for each in json.loads(kept)["components"]}
    assert {(line["name"], line["version"]) for line in lines} == stated.keys()
    for line in lines:
        known = stated[line["name"], line["version"]]
        assert (line["licence"] == bom.UNKNOWN) is (not known), line
        assert line["licence"]


def test_the_list_is_the_bill(kept: str) -> None:
    assert bom.LIST.read_text(encoding="utf-8") == bom.listed(kept)


def test_of_a_package_that_states_nothing_nothing_is_said() -> None:
    text = bom.bill([Component(name="silent", version="1")])
    assert bom.listed(text).splitlines()[1:] == ["silent,1,unknown,"]


def test_the_same_parts_in_any_order_are_the_same_bill() -> None:
    known = {name: Component(name=name) for pin in bom.pins() for name in [pin.name]}
    parts = bom.components(known)
    assert len(parts) == len(bom.pins()) + len(bom.CARRIED)
    assert bom.bill(parts) == bom.bill(reversed(parts))


def test_every_font_and_script_that_is_carried_is_named_with_its_licence() -> None:
    texts = [path for folder in SHIPPED for pattern in TEXTS
             for path in (bom.ROOT / folder).rglob(pattern)]
    folders = {path.parent.relative_to(bom.ROOT).as_posix() for path in texts}
    assert folders == {each.folder for each in bom.CARRIED}
    for each in bom.CARRIED:
        said = [" ".join(path.read_text(encoding="utf-8").split()) for path in texts
                if path.parent == bom.ROOT / each.folder]
        assert all(NAMED[each.licence] in text for text in said), each


@pytest.mark.parametrize(("package", "file"), [
    ("datatables.net", "book/assets/vendor/datatables/dataTables.min.js"),
    ("katex", "book/assets/vendor/katex/katex.min.css"),
    ("katex", "book/_ext/setting/vendor/katex/katex.min.js"),
    ("@fontsource-variable/ibm-plex-sans", "notebooks/show/fonts/subset.py"),
    ("@fontsource/noto-sans-sc", "notebooks/show/fonts/subset.py"),
])
def test_what_is_carried_says_its_version_itself(package: str, file: str) -> None:
    (number,) = {each.version for each in bom.CARRIED if each.package == package}
    assert number in Path(bom.ROOT, file).read_text(encoding="utf-8")
