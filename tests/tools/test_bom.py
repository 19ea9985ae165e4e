"""The bill of materials: valid, complete, and with the licences that the packages state."""

from __future__ import annotations

import json
from collections import Counter

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tools import bom

TEXTS = ("LICENSE", "OFL*.txt")  # of what is vendored, beside it
SHIPPED = ("book", "notebooks")  # folders that come with the site or the wheel
NAMED = {"MIT": "Permission is hereby granted, free of charge", "OFL-1.1": "SIL Open Font License",
         "OFL-1.1 AND CC-BY-4.0": "SIL OFL 1.1"}
COMMITTED = bom.BOM.read_text("utf-8")


def test_bill_is_valid_cyclonedx() -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(COMMITTED) is None


def test_each_pinned_requirement_is_listed_once() -> None:
    listed = Counter(each["purl"] for each in json.loads(COMMITTED)["components"]
                     if each["purl"].startswith("pkg:pypi/"))
    pinned = {f"pkg:pypi/{pin.name}@{bom.version(pin)}" for pin in bom.pins()}
    assert len(pinned) == bom.PINS.read_text("utf-8").count("==") - sum(
        str(pin.marker).count("==") for pin in bom.pins())
    assert listed == Counter(pinned), "run python -m tools.bom"


def test_vendored_fonts_and_scripts_have_their_licence_texts() -> None:
    texts = [path for folder in SHIPPED for pattern in TEXTS
             for path in (bom.ROOT / folder).rglob(pattern)]
    assert {path.parent.relative_to(bom.ROOT).as_posix() for path in texts} == {
        each.folder for each in bom.CARRIED}
    for each in bom.CARRIED:
        stated = [" ".join(path.read_text("utf-8").split()) for path in texts
                  if path.parent == bom.ROOT / each.folder]
        assert all(NAMED[each.licence] in text for text in stated), each
