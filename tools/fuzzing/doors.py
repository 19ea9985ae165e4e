"""Doors through which files and arguments of a reader come in: a case of each, as a command."""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import yaml

from calc.commands.main import COMMANDS
from calc.launching.deployment import deployment
from calc.launching.directory import MANIFEST
from catalogue import ROOT, names
from catalogue.library import KINDS
from tools.fuzzing import spoiling

PLAN = "h200-r1-vllm-tp8"
CONFIGS = ROOT.parent / "tests/catalogue/models/configs"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
LETTERS = 0.25  # of the cases: letters of a file are spoilt, not what they say
FILE = "spoilt"
FEW_CLAIMS = 8
TEMPLATES = {"scenarios": ("scenario", "example-deployment"), "devices": ("device",),
             "models": ("model",), "goals": ("goal",), "prices": ("prices",), "links": ("link",),
             "nodes": ("node",), "calibrations": ("calibration",), "mechanisms": ("mechanisms",),
             "measurements": ("measurements",)}

Case = Callable[[Random, Path], list[str]]


def _kind(kind: str, *commands: Sequence[str]) -> Case:
    """A door for files of one kind: it is checked, or given to a command that asks for one.

    Args:
        kind: the folder in ``params/``.
        commands: that take it, ``FILE`` in its place.
    """
    def case(random: Random, folder: Path) -> list[str]:
        path = folder / kind / f"{FILE}.yml"
        _write(path, *_seed(kind, random.choice(_seeds(kind))), _schema(kind), random)
        command = random.choice([("check", "FILE"), *commands])
        asked = [word.replace("FILE", str(path)) for word in command]
        return [*asked, "--json"] if random.random() < 0.5 else asked

    return case


@functools.cache
def _seeds(kind: str) -> list[Path]:
    return [*(ROOT / "templates" / f"{name}.yml" for name in TEMPLATES.get(kind, ())),
            *(ROOT / kind / f"{name}.yml" for name in names(kind))]


@functools.lru_cache(64)
def _seed(kind: str, path: Path) -> tuple[bytes, Any]:
    """A good file and what it says; of a ledger a few claims."""
    text = path.read_bytes()
    data = yaml.load(text, Loader=LOADER)
    if kind == "claims":
        data["claims"] = data["claims"][:FEW_CLAIMS]
        text = _yaml(data).encode()
    return text, data


@functools.cache
def _schema(kind: str) -> Any:
    path = ROOT / "schema" / f"{kind}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _yaml(data: Any) -> str:
    return str(yaml.dump(data, Dumper=DUMPER, sort_keys=False))


def _write(path: Path, text: bytes, data: Any, schema: Any, random: Random,
           dumped: Callable[[Any], str] = _yaml) -> None:
    """A file with its letters spoilt, or what it says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(spoiling.scrambled(text, random) if random.random() < LETTERS else
                     spoiling.written(spoiling.spoilt(data, schema, random), dumped))


def _entries(random: Random, folder: Path) -> list[str]:
    """Every other kind of a file of ``params/``."""
    return _kind(random.choice([kind for kind in KINDS if kind not in _OF_THEIR_OWN]))(
        random, folder)


def _ledger(random: Random, folder: Path) -> list[str]:
    return _kind(random.choice(("claims", "quantities")))(random, folder)


@functools.cache
def _launch() -> dict[str, str]:
    return dict(deployment(PLAN).files)


def _results(random: Random, folder: Path) -> list[str]:
    """A plan and what was measured of two of its runs, one of the three spoilt."""
    plan = json.loads(_launch()["bench/plan.json"])
    plan["runs"] = plan["runs"][:3]
    result = {"completed": 16, "total_input_tokens": 16 * 219, "total_output_tokens": 16 * 201,
              "mean_ttft_ms": 130.0, "mean_tpot_ms": 22.5, "output_throughput": 45.0}
    files = {"bench/plan.json": plan, **{
        f"bench/results/{run['name']}.json": result for run in plan["runs"]}}
    wrong = random.choice(list(files))
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(data)
        path.write_text(text, encoding="utf-8")
        if name == wrong:
            _write(path, text.encode(), data, {}, random, json.dumps)
    return ["calibrate", str(folder / random.choice(("bench/results", "bench", wrong))),
            *(option for option in ("--json", "--write") if random.random() < 0.4)]


def _deployed(random: Random, folder: Path) -> list[str]:
    """A directory that was deployed to, one of its files spoilt or somebody else's link."""
    files = _launch()
    for name, text in (files | {MANIFEST: "{}"}).items():
        (folder / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "out" / name).write_text(text, encoding="utf-8")
    sums = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}
    good = json.dumps(sums).encode()
    (folder / "out" / MANIFEST).write_bytes(good)
    if random.random() < 0.6:
        _write(folder / "out" / MANIFEST, good, sums, {}, random, json.dumps)
    else:
        _linked(folder / "out" / random.choice(("bench", "nodes", "monitoring", "README.md")),
                random.choice((folder / "elsewhere", folder, folder / "nothing", Path("out"))))
    options = [f"{option}={_word(random)}" for option in random.sample(
        ("--hosts", "--flag", "--env", "--engine", "--set"), random.randrange(3))]
    return ["deploy", PLAN, "-o", "out", *options]


def _linked(path: Path, elsewhere: Path) -> None:
    """What stood there is moved elsewhere, and a link is left."""
    (path.rename(elsewhere) if not os.path.lexists(elsewhere) else shutil.rmtree(
        path, ignore_errors=True))
    path.unlink(missing_ok=True)
    path.symlink_to(elsewhere)


def _tables(random: Random, folder: Path) -> list[str]:
    """Measured operators, or lengths of requests."""
    seed = random.choice(("kernels", "example-processor-table", "lengths"))
    text = b"input_tokens,output_tokens\n128,64\n1024,8\n" if seed == "lengths" else b"".join(
        (ROOT / f"templates/{seed}.csv").read_bytes().splitlines(keepends=True)[-30:])
    if seed == "example-processor-table":
        text = (ROOT / f"templates/{seed}.csv").read_bytes()[:3000].rpartition(b"\n")[0] + b"\n"
    path = folder / f"{FILE}.csv"
    if random.random() < LETTERS:
        path.write_bytes(spoiling.scrambled(text, random))
    else:
        rows = [line.split(",") for line in text.decode().splitlines()]
        cells = spoiling.spoilt(rows, {}, random)
        lines = (",".join(map(str, row)) if isinstance(row, list) else str(row)
                 for row in (cells if isinstance(cells, list) else [cells]))
        path.write_bytes("\n".join(lines).encode())
    if seed == "lengths":
        return ["estimate", PLAN, "--lengths", str(path), "--json"]
    return ["kernels", random.choice(("check", "list")), "--tables", str(path)]


def _config(random: Random, folder: Path) -> list[str]:
    """A model's configuration as its makers publish it."""
    path = folder / "config.json"
    text = random.choice(sorted(CONFIGS.glob("*.json"))).read_bytes()
    _write(path, text, json.loads(text), {}, random, json.dumps)
    return ["import-model", str(path), *(["--json"] if random.random() < 0.5 else [])]


def _options(random: Random, folder: Path) -> list[str]:
    """A command that works, with one to three words of it another, or more."""
    words = list(random.choice(WORKING))
    known = _actions(words[0])
    for _ in range(random.choice((1, 1, 2, 3))):
        action = random.choice(known)
        if action.option_strings:
            option = random.choice(action.option_strings)
            words.append(option if action.nargs == 0 else f"{option}={_word(random, action)}")
        elif len(words) > 1:
            words[random.randrange(1, len(words))] = _word(random)
    return [*words, "--json"] if random.random() < 0.5 else words


@functools.cache
def _actions(command: str) -> list[argparse.Action]:
    """What a command takes, but what writes into ``params/`` or asks another machine."""
    parser = argparse.ArgumentParser(add_help=False)
    import_module(f"calc.commands.{COMMANDS[command]}").add_arguments(parser)
    return [action for action in vars(parser)["_actions"]
            if not {"--write", "--scheduler", "--workers"} & {*action.option_strings}]


def _word(random: Random, action: argparse.Action | None = None) -> str:
    """What may be typed for an option: its own words, hostile ones, settings; no place outside."""
    if action is not None and action.dest in ("output", "out"):
        return random.choice(("out", "out/../out", "", ".", "\x1b", "x" * 6000, "/dev/null/out"))
    hostile = random.choice([str(each) for each in spoiling.HOSTILE
                             if not isinstance(each, str) or "\0" not in each])
    meant = [*(action.choices or () if action else ()), hostile, hostile, *WORDS,
             f"{random.choice(PATHS)}={hostile}", f"{hostile}={hostile}"]
    return str(random.choice(meant)).encode("utf-8", "replace").decode()


def _goals(random: Random, folder: Path) -> list[str]:
    """A goal is nearly always checked alone: a search of one takes seconds."""
    searched = [("search", "FILE", "--devices=nvidia-h200-sxm", "--set", "cards.most=8")]
    return _kind("goals", *(searched if random.random() < 0.02 else ()))(random, folder)


_OF_THEIR_OWN = ("scenarios", "devices", "models", "goals", "prices", "loads", "claims",
                 "quantities")
PATHS = ("workload.concurrency", "workload.input_tokens", "cluster.nodes", "device", "model",
         "parallelism.tensor_parallel", "device.memory_bandwidth", "mechanisms.host_sync",
         "prices.years", "limits.tpot", "demand.users", "cards.most", "nothing", "engine", "")
WORDS = ("1", "64", "0.5", "5e6", "1e12", "10 ms", "2 s", "4 USD/h", "1..64", "1,2,4", "tpot",
         "tpot=50 ms", "azure-coding", "nvidia-h20", "vllm@0.11.0", "sglang", "kernel_boundary",
         "parallelism.tensor_parallel=16", "device=nvidia-h20", "workload.concurrency", "zh")
WORKING = (
    ("check", PLAN), ("models", "deepseek-v3"), ("devices",), ("links",), ("nodes",),
    ("scenarios",), ("estimate", PLAN), ("estimate", "s0-scenario-1"), ("cost", PLAN),
    ("cost", PLAN, "--day-requests=1e6"), ("simulate", PLAN, "--rate=1", "--requests=4"),
    ("simulate", PLAN, "--users=2", "--requests=4"), ("calibrate", "nothing"),
    ("validate", "--system=nothing"), ("decide", PLAN), ("decide", "s0-scenario-1"),
    ("capacity", PLAN, "--load=azure-coding", "--requests=1e5", "--no-check"),
    ("import-model", str(CONFIGS / "deepseek-v3.json")), ("search", "nothing"),
    ("sweep", PLAN, "--axis=workload.concurrency=1,2", "--max=output_throughput", "--workers=1"),
    ("deploy", PLAN, "-o", "out"), ("engines", "vllm"), ("stale", "--kind=prices"),
    ("audit", "--document=s1"), ("report", "nothing"), ("kernels", "list", "--tables=nothing"))

DOORS: dict[str, Case] = {
    "scenario": _kind(
        "scenarios", ("estimate", "FILE"), ("estimate", "FILE"), ("cost", "FILE"),
        ("decide", "FILE"), ("simulate", "FILE", "--rate=1", "--requests=4"),
        ("deploy", "FILE", "-o", "out")),
    "device": _kind("devices", ("estimate", PLAN, "--set", "device=FILE"),
                    ("decide", PLAN, "--set", "device=FILE"), ("devices", "FILE")),
    "model": _kind("models", ("estimate", PLAN, "--set", "model=FILE"), ("models", "FILE")),
    "goal": _goals,
    "prices": _kind("prices", ("cost", PLAN, "--prices", "FILE"), ("cost", PLAN, "--api", "FILE")),
    "load": _kind("loads", ("cost", PLAN, "--load", "FILE", "--day-requests=1e6"),
                  ("capacity", PLAN, "--load", "FILE", "--requests=1e5", "--no-check")),
    "results": _results, "launch": _deployed, "ledger": _ledger, "tables": _tables,
    "config": _config, "entries": _entries, "options": _options}
