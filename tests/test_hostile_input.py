"""Hostile files and arguments: every command answers, or refuses in a sentence for each mistake.

Each door of the command line (a kind of file, or the arguments) gets good input with one to three
things made wrong. The nightly run has `NIGHTLY` times as many cases.
"""

from __future__ import annotations

import copy
import functools
import json
import re
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from _cases import is_usual
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from catalogue import ROOT, names
from catalogue.kinds import KINDS
from catalogue.library import file_of
from catalogue.reading.files import LONGEST_SENTENCE
from tools.answers.asking import CONFIG, HERE, run

ANSWERED, REFUSED, UNMET = 0, 2, 3  # exit codes; UNMET: no deployment meets the goal of a search
PATIENCE = 30  # seconds of processor time
NIGHTLY = 50  # times as many cases in the nightly run
PLAN = "h200-r1-vllm-tp8"
CONFIGS = [HERE / CONFIG, *sorted((ROOT.parent / "tests/catalogue/models/configs").glob("*.json"))]
LOGS = sorted((ROOT.parent / "tests/calc/evidence/startup_logs").glob("*.log"))
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
DEEP, LONE = "<deep>", "<lone>"  # written as very many brackets, and as half a surrogate pair
NEST = "[" * 100_000 + "]" * 100_000
HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 0.5, -0.0, 1e-320, 1e308, float("nan"), float("inf"),
    float("-inf"), 2**31, 2**53 + 1, 2**64, 10**400, -10**400, 1e15, 1e24, "", " ", "0", "-1",
    "nan", "1e400", "1/0", "9" * 5000, "0x10", "1_000", "١٢", "5 kg", "1 GB/s", "-3 ms", "0 s",
    "1e308 TB/s", "1..0", "2 USD", "1e12 request", "x" * 6000, "long words " * 900,
    "it's 'quoted' " * 400, "\x1b[2J", "\0", "a\nb", "\u202e", LONE, "\u2028", "{0}", "%s",
    "${HOME}", "`id`", "<b>", "~", "-", "--help", ".", "..", "/", "../../etc/passwd", "/dev/zero",
    "spoilt.yml", "nothing.yml", "deepseek-v3", "nvidia-h200-sxm", "bf16", "vllm@0.11.0",
    "2026-02-30", "mean", "3 ms", "50%", "40 token", [], {}, [[]], [None], {"": ""}, [1, "a", None],
    {"en": 1}, {"value": 1}, [0] * 3000, {"value": "5 kg", "source": "x", "range": [2, 1]},
    {f"key {number}": number for number in range(600)}, DEEP)
SIGNS = (b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\t", b"\n\n", b"\r", b"&a ", b"*a", b"!!python ",
         b"---\n", b"{", b"[", b"]", b"}", b": ", b"- ", b'"', b"'", b",", b"#", b"|\n", b"<<: ",
         b"9" * 5000, b"\xe2\x80\xae", b"NaN", b"-Infinity", b"1e999", b"e", b".", b"-", b"")
SCALES = (0, -1, 1e-9, 0.1, 3, 1e3, 1e6, 1e12, 1e300)
KEYS = ("", "x" * 300, "\x1b", "'", "a b", "0", "foreign")
WORDS = ("1", "64", "0.5", "1e12", "10 ms", "2 s", "4 USD/h", "1..64", "1,2,4", "tpot", "zh",
         "tpot=50 ms", "azure-coding", "nvidia-h20", "vllm@0.11.0", "kernel_boundary", "nothing",
         "parallelism.tensor_parallel=16", "device=nvidia-h20", "workload.concurrency")
TYPED = [str(word).encode("utf-8", "replace").decode() for word in (*WORDS, *HOSTILE)
         if "\0" not in str(word) and str(word) not in ("/dev/zero", "--help")]
PATHS = ("workload.concurrency", "cluster.nodes", "device", "model", "device.memory_bandwidth",
         "mechanisms.host_sync", "prices.years", "limits.tpot", "demand.users", "nothing", "")
WORKING = (  # commands that the door of arguments spoils
    ("check", PLAN), ("show", "deepseek-v3"), ("list", "devices"), ("list",), ("new", "card"),
    ("estimate", PLAN), ("estimate", "s0-scenario-1"), ("cost", PLAN),
    ("simulate", PLAN, "--rate=1", "--requests=4"), ("calibrate", "nothing"), ("decide", PLAN),
    ("dev", "validate", "--system=nothing"), ("import-model", str(CONFIGS[0])),
    ("search", "nothing"),
    ("capacity", PLAN, "--load=azure-coding", "--daily-requests=1e5"),
    ("sweep", PLAN, "--axis=workload.concurrency=1,2", "--max=output_throughput", "--workers=1"),
    ("deploy", PLAN, "-o", "out"), ("show", "vllm"),
    ("log", str(LOGS[0]), "--set=device=nvidia-h20"),
    ("dev", "kernels", "list", "--tables=nothing"))
UNTRIED = {"--write", "--scheduler", "--workers", "--help", "--book", "--open", "--save"}

Draw = Callable[[st.SearchStrategy[Any]], Any]
Case = Callable[[Draw, Path], list[str]]


def one_of(draw: Draw, items: Sequence[Any]) -> Any:
    """One of some items."""
    return draw(st.sampled_from(items))


def spoilt(draw: Draw, data: Any) -> Any:
    """A copy of plain data with one to three values overwritten, scaled, lost, moved or renamed."""
    data = copy.deepcopy(data)
    for _ in range(draw(st.integers(1, 3))):
        places = list(values_below(data))
        if not places:
            break
        parent, key = places[draw(st.integers(0, len(places) - 1))]
        edit(draw, parent, key)
    return data


def values_below(data: Any) -> Iterator[tuple[Any, Any]]:
    """The container and the key of every value."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(
        data, list) else ()
    for key, value in items:
        yield data, key
        yield from values_below(value)


def edit(draw: Draw, parent: Any, key: Any) -> None:
    """Change one value in a way that is drawn."""
    match one_of(draw, ("overwrite", "overwrite", "scale", "scale", "lose", "double", "swap",
                        "rename")):
        case "overwrite":
            parent[key] = copy.deepcopy(one_of(draw, HOSTILE))
        case "scale":
            number, space, unit = str(parent[key]).partition(" ")
            with suppress(ValueError, OverflowError):
                scaled = float(number) * one_of(draw, SCALES)
                parent[key] = f"{scaled:g}{space}{unit}" if isinstance(parent[key], str) else scaled
        case "lose":
            del parent[key]
        case "double":
            parent[key] = [parent[key], copy.deepcopy(parent[key])]
        case "swap":
            other = one_of(draw, [*parent] if isinstance(parent, dict) else range(len(parent)))
            parent[key], parent[other] = parent[other], parent[key]
        case "rename" if isinstance(parent, dict):
            parent[one_of(draw, (*KEYS, f"{key}s", str(key)[:-1]))] = parent.pop(key)


def scrambled(draw: Draw, text: bytes) -> bytes:
    """A copy of a text with one to three spans lost, doubled, overwritten, or its end lost."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + one_of(draw, (0, 1, 4, 40)))
        middle = one_of(draw, (*SIGNS, text[start:end] * 2))
        text = text[:start] + middle + (text[end:] if draw(st.integers(0, 7)) else b"")
    return text


def write(draw: Draw, path: Path, text: bytes, data: Any,
          dump: Callable[[Any], str] = json.dumps) -> None:
    """Write a file with its letters or its values spoilt."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if draw(st.integers(0, 3)):
        dumped = dump(spoilt(draw, data)).replace(json.dumps(DEEP), NEST).replace(DEEP, NEST)
        path.write_bytes(dumped.replace(LONE, r"\ud800").encode("utf-8", "replace"))
    else:
        path.write_bytes(scrambled(draw, text))


def to_yaml(data: Any) -> str:
    return str(yaml.dump(data, Dumper=DUMPER, sort_keys=False))


@functools.cache
def seed(path: Path) -> tuple[bytes, Any]:
    """A good file and its data; of a ledger eight claims."""
    text = path.read_bytes()
    data = yaml.load(text, Loader=LOADER)
    if "claims" in path.parts:
        data["claims"] = data["claims"][:8]
        text = to_yaml(data).encode()
    return text, data


def entry(kinds: Sequence[str], *commands: Sequence[str]) -> Case:
    """A door for entries of some kinds, which a command checks or takes in place of FILE."""
    def case(draw: Draw, folder: Path) -> list[str]:
        kind = one_of(draw, kinds)
        template = ROOT / "templates" / f"{kind.removesuffix('s')}.yml"
        shipped = [file_of(kind, name) for name in names(kind)]
        path = folder / kind / "spoilt.yml"
        write(draw, path, *seed(one_of(draw, [template, *shipped] if template.is_file()
                                       else shipped)), to_yaml)
        command = one_of(draw, (("check", "FILE"), *commands))
        return [word.replace("FILE", str(path)) for word in command]
    return case


@functools.cache
def deployed() -> dict[str, str]:
    """The files of a deploy directory, by path."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        assert run(["deploy", PLAN, "-o", "out"])[0] == ANSWERED
        return {path.relative_to("out").as_posix(): path.read_text("utf-8")
                for path in Path("out").rglob("*") if path.is_file()}


def results(draw: Draw, folder: Path) -> list[str]:
    """A benchmark plan and its results, one file of them spoilt."""
    plan = json.loads(deployed()["bench/plan.json"])
    plan["runs"] = plan["runs"][:2]
    result = {"completed": 16, "total_input_tokens": 16 * 219, "total_output_tokens": 16 * 201,
              "mean_ttft_ms": 130.0, "mean_tpot_ms": 22.5, "output_throughput": 45.0}
    files = {"bench/plan.json": plan, **{
        f"bench/results/{each['name']}.json": result for each in plan["runs"]}}
    wrong = one_of(draw, list(files))
    for name, data in files.items():
        path, text = folder / name, json.dumps(data)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if name == wrong:
            write(draw, path, text.encode(), data)
    path = folder / one_of(draw, ("bench/results", "bench", *files))  # also a sound neighbour
    return ["calibrate", str(path), *one_of(draw, ((), (), ("--write",)))]


def launch(draw: Draw, folder: Path) -> list[str]:
    """A deploy directory whose manifest is spoilt, or a part of which is a link."""
    for name, text in deployed().items():
        (folder / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "out" / name).write_text(text, "utf-8")
    manifest = deployed()["manifest.json"]
    if draw(st.booleans()):
        write(draw, folder / "out/manifest.json", manifest.encode(), json.loads(manifest))
    else:
        part = folder / "out" / one_of(draw, ("bench", "nodes", "monitoring", "README.md"))
        part.rename(folder / "elsewhere")
        part.symlink_to(one_of(draw, (folder / "elsewhere", folder, folder / "nothing", "out")))
    option = one_of(draw, ("--hosts", "--flag", "--env", "--engine", "--set"))
    return ["deploy", PLAN, "-o", "out", *one_of(draw, ((), (f"{option}={one_of(draw, TYPED)}",)))]


def tables(draw: Draw, folder: Path) -> list[str]:
    """A table of measured operators, or of lengths of requests."""
    name = one_of(draw, ("kernels", "lengths"))
    text = "input_tokens,output_tokens\n128,64\n1024,8\n" if name == "lengths" else "\n".join(
        (ROOT / "templates/kernels.csv").read_text("utf-8").splitlines()[-30:])
    path = folder / "spoilt.csv"
    write(draw, path, text.encode(), [line.split(",") for line in text.splitlines()],
          lambda rows: "\n".join(",".join(map(str, row)) if isinstance(row, list) else str(row)
                                 for row in rows))
    return (["estimate", PLAN, "--lengths", str(path)] if name == "lengths" else
            ["dev", "kernels", "list", "--tables", str(path)])


def startup(draw: Draw, folder: Path) -> list[str]:
    """The start-up log of an engine."""
    text = one_of(draw, LOGS).read_bytes()
    path = folder / "spoilt.log"
    write(draw, path, text, text.decode().splitlines(), lambda lines: "\n".join(map(str, lines)))
    return ["log", str(path), "--set=device=nvidia-h200-sxm", *one_of(draw, (
        (), ("--set=model=gpt-oss-120b",), ("-o", "out")))]


def config(draw: Draw, folder: Path) -> list[str]:
    """The configuration of a model as its vendor publishes it."""
    text = one_of(draw, CONFIGS).read_bytes()
    write(draw, folder / "config.json", text, json.loads(text))
    return ["import-model", str(folder / "config.json")]


@functools.cache
def options_of(*command: str) -> list[str]:
    """The options in the help of a command."""
    printed = run([*command, "--help"])[1]
    return sorted({*re.findall(r"(?<![\w-])--[a-z][a-z-]*", printed)} - UNTRIED)


def options(draw: Draw, folder: Path) -> list[str]:
    """A command that works, with one to three arguments changed or added."""
    words = list(one_of(draw, WORKING))
    command = words[:1] if words[0] != "dev" else [
        word for word in words if not word.startswith("-")]
    for _ in range(draw(st.integers(1, 3))):
        word = one_of(draw, TYPED)
        edit = draw(st.integers(0, 3))
        if edit == 0 and len(words) > 1:
            words[1] = word
        elif edit == 1:
            words.append(f"--set={one_of(draw, PATHS)}={word}")
        else:
            option = one_of(draw, options_of(*command))
            words.append(option if draw(st.integers(0, 4)) == 0 else f"{option}={word}")
    return words


MAIN_KINDS = ("scenarios", "devices", "models", "goals", "prices", "loads", "claims", "quantities")
DOORS: dict[str, tuple[Case, int]] = {  # the door, and its cases of a usual run
    "scenario": (entry(["scenarios"], ("estimate", "FILE"), ("cost", "FILE"), ("decide", "FILE"),
                       ("simulate", "FILE", "--rate=1", "--requests=4"),
                       ("deploy", "FILE", "-o", "out")), 12),
    "device": (entry(["devices"], ("estimate", PLAN, "--set=device=FILE"),
                     ("decide", PLAN, "--set=device=FILE"), ("show", "FILE")), 40),
    "model": (entry(["models"], ("estimate", PLAN, "--set=model=FILE"), ("show", "FILE")), 40),
    "goal": (entry(["goals"]), 50),
    "prices": (entry(["prices"], ("cost", PLAN, "--prices", "FILE"),
                     ("cost", PLAN, "--api", "FILE")), 40),
    "load": (entry(["loads"], ("cost", PLAN, "--load", "FILE", "--daily-requests=1e6"),
                   ("capacity", PLAN, "--load", "FILE", "--daily-requests=1e5")), 12),
    "results": (results, 15), "launch": (launch, 6), "tables": (tables, 20),
    "config": (config, 50), "startup": (startup, 15), "options": (options, 80),
    "ledger": (entry(["claims", "quantities"]), 15),
    "entries": (entry([*{*KINDS} - {*MAIN_KINDS}]), 40)}


@contextmanager
def patience() -> Iterator[None]:
    """Fail what takes longer than `PATIENCE`."""
    def stop(*_: object) -> None:
        pytest.fail("no end after 30 s")  # derives from BaseException: no command catches it

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def check_ending(command: Sequence[str], code: int, out: str, err: str) -> None:
    """Check that a command answered, or refused in printable sentences."""
    assert code in (ANSWERED, REFUSED) or (code == UNMET and command[0] == "search")
    if code == REFUSED:
        lines = err.splitlines()
        assert lines or "--json" in command
        for line in lines:
            assert line.isprintable()
            assert len(line) <= LONGEST_SENTENCE
            assert line.endswith((".", "?", "。", "？"))
    if "--json" in command:
        json.loads(out, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Sizes and times of all files of a folder."""
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns)
            for path in folder.rglob("*") if not path.is_dir()}


@pytest.mark.hypothesis
@pytest.mark.parametrize("door", DOORS)
def test_hostile_input_is_answered_or_refused(door: str) -> None:
    case, count = DOORS[door]
    catalogue_before, codes = files_of(ROOT), set()

    @settings(max_examples=count if is_usual() else NIGHTLY * count, database=None,
              suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink])
    @given(st.data())
    def check(data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root, "work")
            folder.mkdir()
            command = case(data.draw, folder)
            command += ["--json"] * data.draw(st.booleans())
            before = files_of(Path(root))
            with chdir(folder), patience(), warnings.catch_warnings():
                warnings.simplefilter("error")
                code, out, err = run(command)
            codes.add(code)
            check_ending(command, code, out, err)
            written = {path for path, state in files_of(Path(root)).items()
                       if before.get(path) != state}
            output = root if command[0] == "calibrate" else str(folder / "out")
            assert all(path.startswith(output) for path in written), written

    check()
    assert codes >= ({REFUSED} if is_usual() else {ANSWERED, REFUSED})  # of few all may be refused
    assert files_of(ROOT) == catalogue_before
