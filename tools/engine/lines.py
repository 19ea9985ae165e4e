"""The command lines that ``deploy`` writes, checked by the parsers of the engines themselves.

Scripts are run with a stand-in for each program, which records the command line. vLLM checks the
lines for this processor; SGLang and vLLM Ascend check theirs as with the card of the deployment.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

import catalogue
from calc.launching.directory import write
from calc.launching.launch import named_pools, started_pools
from calc.launching.scripts import scripts
from catalogue import ParamsError
from catalogue.engine import fitting
from catalogue.entries.hardware import Device
from tools.engine import model
from tools.engine.environment import PACKAGE, WRITTEN, Environment, renamed
from tools.engine.rows import Row
from tools.engines.source import find, load

PROGRAMS = ("vllm", "ray", "python", "vllm-router", "haproxy")
# a stand-in ends at once, and the script then stops its other servers: they are not stopped here
UNENDED = "trap '' TERM; exec bash \"$0\""
SECONDS = 120  # of a script
SHIM = """#!{python}
import json, os, sys
with open(os.environ["RECORD"], "a") as record:
    record.write(json.dumps([sys.argv, dict(os.environ)]) + "\\n")
"""
OF_A_SHELL = ("PWD", "SHLVL", "_", "OLDPWD", "LC_CTYPE")
INSIDE = Path(__file__).with_name("inside.py")
GENERATIONS = {  # mechanisms -> name in the plug-in
    "ascend-910b": "A2", "ascend-910c": "A3", "ascend-950": "A5"}
LONGEST = 160  # characters of a refusal
DATA = yaml.safe_load(Path(__file__).with_name("lines.yml").read_text("utf-8"))
ROUTER: str = DATA["sglang"]["router"]
PLUG_IN: str = DATA["vllm-ascend"]["release"]
BASE: str = DATA["vllm-ascend"]["base"]


@dataclass(frozen=True)
class Line:
    """One start of an engine.

    Attributes:
        name: deployment and script.
        argv: the words after ``vllm serve``, or after a module of Python.
        environment: variables that the script sets.
        program: that is started, or the module of Python.
    """

    name: str
    argv: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    program: str = "vllm"


def candidates(engine: str) -> Iterator[str]:
    """Shipped deployments on cards that an engine supports, and pairs of pools among them."""
    for name in catalogue.deployment_names():
        if engine in fitting(catalogue.load_scenario(name).device):
            yield name
    for name in catalogue.names("scenarios"):
        pools = catalogue.load_pools(name)
        if pools and engine in fitting(pools[0].device):
            yield name


def recorded_lines(folder: Path, checkpoint: Path) -> list[Line]:
    """Run the scripts of a directory of ``deploy`` and record what they start.

    Args:
        folder: the directory.
        checkpoint: value of ``MODEL``.

    Raises RuntimeError for a script that fails.
    """
    lines = []
    scripts = [script for part in ("nodes", "router") for script in (folder / part).glob("*.sh")]
    with tempfile.TemporaryDirectory() as programs:
        for program in PROGRAMS:
            path = Path(programs, program)
            path.write_text(SHIM.format(python=sys.executable), encoding="utf-8")
            path.chmod(0o755)
        for script in sorted(scripts, key=lambda path: (path.parent.name, path)):
            record = Path(programs, f"{script.stem}.record")
            variables = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
                         "MODEL": str(checkpoint), "VLLM_ASCEND_SOURCE": str(checkpoint),
                         "RECORD": str(record)}
            done = subprocess.run(["bash", "-c", UNENDED, script], env=variables, text=True,
                                  capture_output=True, timeout=SECONDS, check=False)
            if done.returncode:
                raise RuntimeError(f"{script}: {done.stderr.strip()[-300:]}")
            for row in record.read_text(encoding="utf-8").splitlines():
                argv, environment = json.loads(row)
                added = {name: value for name, value in environment.items()
                         if name not in variables and name not in OF_A_SHELL}
                name = f"{folder.name}/{script.stem}"
                if Path(argv[0]).name == "vllm":
                    lines.append(Line(name, argv[2:], added))
                elif Path(argv[0]).name == "python":  # python -m MODULE ...
                    lines.append(Line(name, argv[3:], added, argv[2]))
    return lines


def written(release: str, folder: Path, names: Iterable[str]
            ) -> tuple[dict[str, list[Line]], dict[str, str]]:
    """Write scripts; return command lines by deployment, and the errors of refused deployments.

    Args:
        release: engine and release for which they are written, ``vllm@0.33.0``.
        folder: to write; scripts that are there are used.
        names: of deployments.
    """
    lines, refused = {}, {}
    for name in names:
        target = folder / name
        try:
            if not target.exists():
                pools, _ = started_pools(named_pools(name, engine=release)[0])
                write(target, scripts(pools))
            scenario = catalogue.load_deployment(name)[0]
            precision = scenario.precision.id
            config = model.published(scenario.model.id, precision)
        except ParamsError as error:
            refused[name] = str(error)
        except Exception as error:  # a defect of this project, reported as a row
            refused[name] = f"{type(error).__name__}: {error}"
        else:
            checkpoint = model.write(folder / "models" / f"{scenario.model.id}-{precision}", config,
                                     sidecars=model.sidecar_files(precision))
            lines[name] = recorded_lines(target, checkpoint)
    return lines, refused


def card_of(device: Device, count: int) -> dict[str, Any]:
    """What the driver of a card reports.

    >>> card_of(catalogue.load_device("nvidia-gb300"), 4)["capability"]
    (10, 3)

    Args:
        device: the card.
        count: cards of a node.
    """
    assert device.memory_capacity is not None
    digits = str(device.architecture).removeprefix("sm_")  # 90 is 9.0, 103 is 10.3
    return {"kind": device.type, "name": device.name["en"], "count": count,
            "memory": int(device.memory_capacity.value),
            "generation": GENERATIONS.get(str(device.mechanisms)),
            "capability": divmod(int(digits), 10) if digits.isdigit() else (0, 0)}


@dataclass(frozen=True)
class Release:
    """A release whose parser and checks are run on command lines.

    Attributes:
        engine, version: of the release.
        broken: arguments that it must refuse, by what is wrong with them.
        first: arguments before these, followed by the checkpoint.
        device, precision: of the broken lines, on eight cards; without a device, lines are
            configured for this processor.
        packages: that pip installs beside the environment, without their requirements.
        program: whose lines are checked; all programs, if empty.
        complete: writes what the packages lack into their folder.
    """

    engine: str
    version: str
    broken: Mapping[str, list[str]]
    first: tuple[str, ...] = ()
    device: str = ""
    precision: str = ""
    packages: tuple[str, ...] = ()
    program: str = ""
    complete: Callable[[Path], None] | None = None

    def rows(self, environment: Environment, _: Path, folder: Path) -> Iterator[Row]:
        """Check lines that must be refused, then all lines of shipped deployments."""
        config = (model.published("deepseek-v3", self.precision) if self.precision
                  else model.CONFIG)
        checkpoint = model.write(folder / f"{self.engine}-checkpoint", config)
        broken = [Line(name, [*self.first, str(checkpoint), *argv])
                  for name, argv in self.broken.items()]
        card = card_of(catalogue.load_device(self.device), 8) if self.device else {}
        yield refusals(self.verdicts(environment, card, broken), len(broken))
        lines, refused = written(f"{self.engine}@{self.version}", folder / self.engine,
                                 candidates(self.engine))
        by_card: dict[str, list[Line]] = {}
        for name, started in lines.items():
            scenario = catalogue.load_deployment(name)[0]
            if self.device:
                assert scenario.node is not None
                card = card_of(scenario.device, int(scenario.node.devices_per_node.value))
            by_card.setdefault(json.dumps(card), []).extend(
                line for line in started if self.program in ("", line.program))
        verdicts = [verdict for card_text, several in by_card.items()
                    for verdict in self.verdicts(environment, json.loads(card_text), several)]
        yield from judged(verdicts, refused, f"deployments under {self.engine}")

    def verdicts(self, environment: Environment, card: dict[str, Any], lines: Iterable[Line]
                 ) -> list[dict[str, Any]]:
        """Verdicts of the release on lines for a card; its packages are installed once.

        Raises RuntimeError if the engine cannot be loaded.
        """
        packages = environment.folder / f"{self.engine}-{self.version}"
        if self.packages and not (stamp := packages / ".complete").exists():
            shutil.rmtree(packages, ignore_errors=True)
            environment.pip("install", "--no-deps", "--target", packages, *self.packages)
            if self.complete:
                self.complete(packages)
            stamp.touch()
        data = {"engine": self.engine, "card": card, "lines": [vars(line) for line in lines]}
        done = subprocess.run([environment.python, "-P", INSIDE], input=json.dumps(data), text=True,
                              env=environment.variables | {"PYTHONPATH": str(packages)},
                              capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{self.engine}: the engine cannot be loaded: {done.stderr[-500:]}")
        return [json.loads(row) for row in done.stdout.splitlines()]


def refusals(verdicts: list[dict[str, Any]], expected: int) -> Row:
    """Whether the engine refuses all lines that are broken on purpose."""
    accepted = [row["name"] for row in verdicts if row["configured"] and not row["left_out"]]
    return Row("broken", "command lines that are broken on purpose",
               f"{len(verdicts) - len(accepted)} refused", f"{expected} refused",
               not accepted and len(verdicts) == expected, None,
               [*(f"'{name}' is not refused" for name in accepted),
                *(f"{row['name']}: {row['refused'][0]}" for row in verdicts if row["refused"])])


def judged(verdicts: list[dict[str, Any]], refused: Mapping[str, str], kind: str) -> Iterator[Row]:
    """Count the lines that the engine parses and configures, and the deployments not written.

    Args:
        verdicts: as ``inside`` writes them.
        refused: errors of deployments that are not written.
        kind: of the deployments.
    """
    parsed = [row for row in verdicts if row["parsed"]]
    complete = [row for row in parsed if row["configured"] and not row["left_out"]]
    partly = [row for row in parsed if row["configured"] and row["left_out"]]
    failed = [row for row in verdicts if not row["configured"]]
    deployments = {row["name"].partition("/")[0] for row in verdicts}
    yield Row("parsed", f"{len(verdicts)} command lines of {len(deployments)} {kind}, parsed",
              f"{len(parsed)}", f"{len(verdicts)}",
              bool(verdicts) and len(parsed) == len(verdicts),
              {"lines": len(verdicts), "deployments": len(deployments), "parsed": len(parsed)},
              [f"{row['name']}: {row['refused'][0]}" for row in verdicts if not row["parsed"]])
    left_out = Counter(name for row in partly for name in row["left_out"])
    reasons = Counter(row["refused"][0] for row in (*partly, *failed))
    yield Row("configured", f"{kind}, configured by the engine",
              f"{len(complete)} as written, {len(partly)} without options that need a card",
              f"{len(verdicts)}", len(complete) + len(partly) == len(verdicts),
              {"whole": len(complete), "partly": len(partly)},
              [*(f"{name} is left out of {count}" for name, count in left_out.most_common()),
               *(f"{reason}: {count} lines" for reason, count in reasons.items())])
    defects = [name for name, error in refused.items() if "Error" in error.split(":")[0]]
    yield Row("refused", f"{kind} that deploy refuses, with an error message",
              f"{len(refused) - len(defects)} of {len(refused)}", f"{len(refused)}", not defects,
              {"refused": len(refused)},
              [f"{name}: {error[:LONGEST]}" for name, error in refused.items()])


def add_plug_in(packages: Path) -> None:
    """Write the source of vLLM Ascend beside the vLLM that it extends.

    Raises ExtractError if it cannot be downloaded.
    """
    renamed(packages, BASE)
    metadata = f"vllm_ascend-{PLUG_IN}.dist-info"
    files = load(find("vllm-ascend", [PLUG_IN])[0]) | {
        f"{metadata}/METADATA": f"Metadata-Version: 2.1\nName: vllm-ascend\nVersion: {PLUG_IN}\n",
        f"{metadata}/entry_points.txt": DATA["vllm-ascend"]["entry_points"]}
    for name, text in files.items():
        path = packages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


VLLM = Release("vllm", WRITTEN, DATA["vllm"]["broken"], program="vllm")
SGLANG = Release("sglang", DATA["sglang"]["release"], DATA["sglang"]["broken"], ("--model-path",),
                 "nvidia-h200-sxm", "fp8-block",
                 (f"sglang=={DATA['sglang']['release']}", f"sglang-router=={ROUTER}",
                  *DATA["sglang"]["packages"]))
VLLM_ASCEND = Release("vllm-ascend", PLUG_IN, DATA["vllm-ascend"]["broken"], (), "ascend-910b2",
                      "bf16", (f"{PACKAGE}=={BASE}",), "vllm", add_plug_in)
