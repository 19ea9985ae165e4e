"""The command lines that scripts of a deployment come to: run with a stand-in for the engine."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import catalogue
from catalogue import ParamsError
from catalogue.engines.released import fitting
from tools.engine import model
from tools.engine.environment import Environment
from tools.engine.started import started

ENGINE = "vllm"
PROGRAMS = ("vllm", "ray", "python", "vllm-router", "haproxy")
ASKED_OF_EACH = ("r1-matrix",)  # a goal that is asked of each card by itself
# a stand-in ends at once, which is where a script ends the servers beside it: they say theirs first
UNENDED = "trap '' TERM; exec bash \"$0\""
SECONDS = 120  # a script that only says what it would start takes none
SHIM = """#!{python}
import json, os, sys
with open(os.environ["SAID"], "a") as said:
    said.write(json.dumps([sys.argv, dict(os.environ)]) + "\\n")
"""


@dataclass(frozen=True)
class Line:
    """One start of an engine.

    Attributes:
        name: deployment and script.
        argv: what follows ``vllm serve``, the model first; or what follows a module of Python.
        environment: variables that the script sets.
        program: that is started, or the module of Python.
    """

    name: str
    argv: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    program: str = ENGINE


def candidates(engine: str = ENGINE) -> Iterator[str]:
    """Shipped deployments on cards that an engine reaches, and pairs of pools among them."""
    for name in catalogue.deployment_names():
        if engine in fitting(catalogue.load_scenario(name).device):
            yield name
    for name in catalogue.names("scenarios"):
        pools = catalogue.load_pools(name)
        if pools and engine in fitting(pools[0].device):
            yield name


def answers(python: Path, folder: Path, engine: str = ENGINE) -> Iterator[str]:
    """Files of the first answers to the shipped goals, on cards that an engine reaches; those that
    stand in the folder are used."""
    for goal in catalogue.names("goals"):
        if goal in ASKED_OF_EACH or (folder / f"{goal}-1.yml").exists():
            continue
        subprocess.run([python, "-m", "calc", "search", goal, "-o", folder, "--workers", "1"],
                       cwd=catalogue.ROOT.parent, capture_output=True, check=False)
    for path in sorted(folder.glob("*-1.yml")):
        if engine in fitting(catalogue.load_deployment(str(path))[0].device):
            yield str(path)


def lines(folder: Path, checkpoint: Path) -> list[Line]:
    """What the scripts of a directory of ``deploy`` start.

    Args:
        folder: the directory.
        checkpoint: what ``MODEL`` is set to.

    Raises RuntimeError for a script that fails.
    """
    with tempfile.TemporaryDirectory() as place:
        bin_ = Path(place)
        for program in PROGRAMS:
            path = bin_ / program
            path.write_text(SHIM.format(python=sys.executable), encoding="utf-8")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return [line for part in ("nodes", "router")
                for script in sorted((folder / part).glob("*.sh"))
                for line in _of(script, bin_, checkpoint)]


def _of(script: Path, bin_: Path, checkpoint: Path) -> list[Line]:
    said = bin_ / f"{script.stem}.said"
    around = {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}", "MODEL": str(checkpoint),
              "SAID": str(said), "VLLM_ASCEND_SOURCE": str(checkpoint)}
    done = subprocess.run(["bash", "-c", UNENDED, script], env=around, capture_output=True,
                          text=True, timeout=SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{script}: {done.stderr.strip()[-300:]}")
    found = []
    for row in said.read_text(encoding="utf-8").splitlines():
        argv, set_ = json.loads(row)
        name, given = f"{script.parent.parent.name}/{script.stem}", added(set_, around)
        if Path(argv[0]).name == ENGINE:
            found.append(Line(name, argv[2:], given))
        elif Path(argv[0]).name == "python":  # python -m MODULE ...
            found.append(Line(name, argv[3:], given, argv[2]))
    return found


def added(environment: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    """Variables that a script set.

    >>> added({"A": "1", "PWD": "/", "B": "2"}, {"B": "2"})
    {'A': '1'}
    """
    own = ("PWD", "SHLVL", "_", "OLDPWD", "LC_CTYPE")
    return {name: value for name, value in environment.items()
            if name not in before and name not in own}


def run_lines(environment: Environment, module: str, path: Iterable[Path], card: dict[str, Any],
              of: Iterable[Line]) -> list[dict[str, Any]]:
    """What a module says, run inside the engine's environment, of lines for a card.

    Raises RuntimeError where it cannot be run.
    """
    data = {"card": card, "lines": [vars(each) for each in of]}
    done = subprocess.run([environment.python, "-m", module], input=json.dumps(data), text=True,
                          env=environment.variables | {"PYTHONPATH": os.pathsep.join(
                              map(str, path))}, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{module}: the engine cannot be asked: {done.stderr[-500:]}")
    return [json.loads(row) for row in done.stdout.splitlines()]


def checked(environment: Environment, of: Iterable[Line]) -> list[dict[str, Any]]:
    """What the engine's own parser and configuration make of each line."""
    here = Path(__file__).parent
    return run_lines(environment, "inside", (here, here / "cards"), {}, of)


def written(release: str, folder: Path, names: Iterable[str]
            ) -> tuple[dict[str, list[Line]], dict[str, str]]:
    """Command lines of deployments by name; and why others are not written.

    Args:
        release: engine and release for which they are written.
        folder: where.
        names: of deployments, or paths of their files.
    """
    found, refused = {}, {}
    for name in names:
        place = folder / Path(name).name.removesuffix(".yml")  # of an identifier, dots and all
        why = started(name, release, place)
        if why is not None:
            refused[name] = why
            continue
        scenario = catalogue.load_deployment(name)[0]
        try:
            config = model.published(scenario.model.id, scenario.precision.id)
        except (ValueError, ParamsError) as error:
            refused[name] = str(error)
            continue
        checkpoint = model.write(folder / "models" / f"{scenario.model.id}-{scenario.precision.id}",
                                 config, besides=model.sidecar_files(scenario.precision.id))
        found[name] = lines(place, checkpoint)
    return found, refused
