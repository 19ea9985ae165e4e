"""What the project is made with, and under which licences: ``python -m tools.bom``.

Writes ``docs/sbom.cdx.json``, a bill of materials in CycloneDX, which the build puts beside
the wheel. It names every pin of ``requirements.txt`` and the fonts and scripts that the site
carries. A licence is what a package says of itself: all pins are installed without what they need,
on whichever system, into a temporary environment (uv, CycloneDX's own ``cyclonedx-py``).
``make pin`` calls this.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from catalogue.reading.files import write_whole

ROOT = Path(__file__).resolve().parents[1]
CYCLONEDX, UV = (Path(sys.executable).with_name(name) for name in ("cyclonedx-py", "uv"))
PINS = ROOT / "requirements.txt"
BOM = ROOT / "docs" / "sbom.cdx.json"
VARIABLES = {"LC_ALL": "C.UTF-8", "UV_LINK_MODE": "copy", "PYTHONDONTWRITEBYTECODE": "1"}
WHERE = "will-it-fit:where"  # property of what is not taken everywhere: a condition, or a folder


class Carried(NamedTuple):
    """A font or script in this repository, which the site or the wheel contains."""

    name: str
    package: str  # of npm
    version: str
    licence: str  # by SPDX
    folder: str  # with its text


CARRIED = tuple(Carried(**row) for row in yaml.safe_load(
    Path(__file__).with_suffix(".yml").read_text("utf-8")))


def pins() -> list[Requirement]:
    """Every pin, in its order; of a package with a condition there may be two."""
    lines = PINS.read_text(encoding="utf-8").splitlines()
    return [Requirement(line.rstrip(" \\")) for line in lines if "==" in line.partition("#")[0]]


def version(pin: Requirement) -> str:
    """The one version that a pin allows."""
    (only,) = pin.specifier
    return only.version


def installed() -> dict[str, Component]:
    """Components of all pinned packages by name, installed into a temporary environment."""
    packages: dict[str, str] = {}
    for pin in pins():
        if pin.name not in packages or (pin.marker and pin.marker.evaluate()):  # of two, ours
            packages[pin.name] = f"{pin.name}=={version(pin)}"
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "bin", "python")
        commands: tuple[list[str | Path], ...] = (
            [UV, "venv", "--quiet", "--python", sys.executable, folder],
            [UV, "pip", "install", "--quiet", "--python", python, "--no-deps", *packages.values()],
            [CYCLONEDX, "environment", "--output-reproducible", folder])
        for words in commands:
            done = subprocess.run(words, cwd=ROOT, env=os.environ | VARIABLES, text=True,
                                  check=True, stdout=subprocess.PIPE)
    reader: Any = Bom  # its decorator adds the method
    return {canonicalize_name(component.name): component
            for component in reader.from_json(json.loads(done.stdout)).components}


def components(packages: Mapping[str, Component]) -> list[Component]:
    """Each pin once, with the licences of its name in `packages`, then the carried ones."""
    rows: list[tuple[str, PackageURL, str, str, Iterable[Any]]] = []
    for pin in pins():
        name = canonicalize_name(pin.name)
        purl = PackageURL("pypi", None, name, version(pin))
        rows.append((pin.name, purl, f"{purl}", str(pin.marker or ""), packages[name].licenses))
    for item in CARRIED:
        group, _, package = item.package.rpartition("/")
        purl = PackageURL("npm", group or None, package, item.version)
        rows.append((item.name, purl, f"{purl}#{item.folder}", item.folder,
                     [LicenseFactory().make_from_string(item.licence)]))
    return [Component(name=name, version=purl.version, type=ComponentType.LIBRARY, purl=purl,
                      bom_ref=ref, licenses=licences,
                      properties=[Property(name=WHERE, value=where)] if where else [])
            for name, purl, ref, where, licences in rows]


def bill(parts: Iterable[Component]) -> str:
    """The bill of materials of the project, the same for the same parts: no time, no number."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    project = Component(
        name=about["name"], version=about["version"], type=ComponentType.APPLICATION,
        bom_ref=about["name"], description=about["description"],
        licenses=[LicenseFactory().make_from_string(about["license"])])
    bom = Bom(components=parts)
    bom.metadata.component = project
    bom.register_dependency(project, list(bom.components))
    outputter = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6)
    data = json.loads(outputter.output_as_string())
    del data["serialNumber"], data["metadata"]["timestamp"]
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the bill and name components without a known licence."""
    parts = components(installed())
    write_whole(BOM, bill(parts).encode())
    unknown = [part.name for part in parts if not part.licenses]
    print(f"{len(parts)} components, of unknown licence: {', '.join(unknown) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
