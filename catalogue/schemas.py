"""JSON Schemas of the parameter files, for editors: ``python -m catalogue.schemas`` writes them.

They are generated, not committed. A file names its schema in its first line
(``# yaml-language-server: $schema=...``), so that an editor with a YAML language server completes
keys and marks what is wrong while it is typed. The schemas are made from the classes that check the
files; what a schema cannot say (missing keys, units, rules over several keys) ``calc check`` says.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from catalogue.kinds import KINDS, class_of
from catalogue.library import NESTED
from catalogue.reading.files import ROOT, write_whole

FOLDER = ROOT / "schema"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


class OptionalKeys(GenerateJsonSchema):
    """Asks for no key: what a file leaves out may follow from ``like``, an agent or an engine."""

    def field_is_required(self, *_: Any, **__: Any) -> bool:
        """Never."""
        return False


def exported(kind: str) -> dict[str, Any]:
    """The schema of a kind's files; ``id`` is the file's name and not in it."""
    schema = class_of(kind).model_json_schema(mode="validation", schema_generator=OptionalKeys)
    schema["properties"].pop("id", None)
    return {"$schema": DIALECT, "title": f"params/{NESTED.get(kind, kind)}/NAME.yml"} | schema


if __name__ == "__main__":
    for name in KINDS:
        schema = json.dumps(exported(name), indent=1, ensure_ascii=False) + "\n"
        write_whole(FOLDER / f"{name}.json", schema.encode())
    print(f"{len(KINDS)} schemas in params/schema/")
