"""Command lines, variables and metrics read from the source of engine releases."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from catalogue.assertions import assertions
from catalogue.engine import engine_of
from catalogue.reading import yamlfile
from tools.engines.__main__ import main
from tools.engines.checks import CONFIGURATION, checks, location, plainly
from tools.engines.command_line import arguments
from tools.engines.exported_metrics import metrics
from tools.engines.extract import ENGINES
from tools.engines.merge import add, text
from tools.engines.package import Package
from tools.engines.source import ExtractError, Release, find, load
from tools.engines.variables import options, variables

ARGS, DECLARED = "vllm/engine/arg_utils.py", "def add(p):\n    p.add_argument('--port', type=int)\n"
CHECKED = '''
class Config:
    def verify(self):
        if not self.enable:
            return
        if self.tp % self.dp != 0:
            raise ValueError("no")
        elif self.mode == "a":
            assert self.dp > 1, "no"
'''


def of(source: str, path: str = ARGS, **others: str) -> dict:
    """The arguments that a piece of source declares."""
    return arguments(Package({path: source, **others}), path)


def test_argparse_calls_with_defaults_of_a_dataclass() -> None:
    result = of('''
import argparse
from dataclasses import dataclass

METHODS = ["awq", "gptq"]

@dataclass
class EngineArgs:
    model: str
    block_size: int = 16

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model", type=str, default="some/model")
        parser.add_argument("--tensor-parallel-size", "-tp", type=int, default=1)
        parser.add_argument("--block-size", type=int, default=EngineArgs.block_size,
                            choices=[32, 8, 16])
        parser.add_argument("--enforce-eager", action="store_true")
        parser.add_argument("--quantization", type=nullable_str, choices=METHODS)
''')
    assert result == {
        "--model": {"type": "str", "default": "some/model"},
        "--tensor-parallel-size": {"type": "int", "default": 1, "aliases": ["-tp"]},
        "--block-size": {"type": "int", "default": 16, "choices": [8, 16, 32]},
        "--enforce-eager": {"type": "bool", "default": False},
        "--quantization": {"type": "str", "default": None, "choices": ["awq", "gptq"]}}


def test_fields_of_a_configuration_class_in_another_module() -> None:
    result = of('''
from vllm.config import CacheConfig

def get_kwargs(cls): ...

class EngineArgs:
    @staticmethod
    def add_cli_args(parser):
        cache_kwargs = get_kwargs(CacheConfig)
        group = parser.add_argument_group("cache")
        group.add_argument("--cache-dtype", **cache_kwargs["cache_dtype"])
        group.add_argument("--space", "-s", **cache_kwargs["space"])
        group.add_argument("--prefix", **cache_kwargs["prefix"])
        group.add_argument("--sizes", **cache_kwargs["sizes"])
        group.add_argument("--extra", **cache_kwargs["extra"])
        group.add_argument("--backend", **cache_kwargs["backend"])
        group.add_argument("--len", **{**cache_kwargs["len"], "default": None})
''', **{"vllm/config/__init__.py": "from vllm.config.cache import CacheConfig\n",
    "vllm/config/cache.py": '''
from typing import Any, Literal
from pydantic import Field

CacheDType = Literal["fp8", "auto"]

@config
class CacheConfig:
    cache_dtype: CacheDType = "auto"
    space: float | None = Field(default=4, gt=0)
    prefix: bool | None = None
    sizes: list[int] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=lambda: made())
    backend: Literal["a", "b"] | str | None = None
    len: int = Field(default=128, ge=1)
'''})
    assert result == {
        "--cache-dtype": {"type": "str", "default": "auto", "choices": ["auto", "fp8"]},
        "--space": {"type": "float", "default": 4, "aliases": ["-s"]},
        "--prefix": {"type": "bool", "negatable": True, "default": None},
        "--sizes": {"type": "list of int", "default": []},
        "--extra": {"type": "json", "default": None, "dynamic": True},
        "--backend": {"type": "str", "default": None, "known": ["a", "b"]},
        "--len": {"type": "int", "default": None}}


def test_annotated_fields() -> None:
    path = "sglang/srt/server_args.py"
    result = of('''
from typing import Annotated as A
CHOICES = ["triton", "ascend"]

class ServerArgs:
    model_path: A[str, Arg(help="Weights.", aliases=["--model"])]
    tp_size: A[int, Arg(help="Ranks.", aliases=["--tensor-parallel-size"])] = 1
    backend: A[Optional[str], Arg(help="Kernels.", choices=CHOICES)] = None
    trust: A[bool, "Whether to trust."] = False
    inner: A[int, Arg(no_cli=True)] = 7

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--inner", type=int, default=_declared_default("inner"))
        parser.add_argument("--old", action=DeprecatedStoreTrueAction, new_flag="--trust")
''', path)
    assert result == {
        "--model-path": {"type": "str", "default": None, "required": True, "aliases": ["--model"]},
        "--tp-size": {"type": "int", "default": 1, "aliases": ["--tensor-parallel-size"]},
        "--backend": {"type": "str", "default": None, "choices": ["ascend", "triton"]},
        "--trust": {"type": "bool", "default": False},
        "--inner": {"type": "int", "default": 7},
        "--old": {"type": "bool", "default": False, "deprecated": True, "use": "--trust"}}


def test_variables_of_a_registry() -> None:
    result = variables(Package({"vllm/envs.py": '''
import os
from typing import TYPE_CHECKING, Literal
if TYPE_CHECKING:
    VLLM_PORT: int | None = None

def maybe(value):
    if value is None:
        return None
    return int(value)

environment_variables = {
    "VLLM_PORT": lambda: maybe(os.getenv("VLLM_PORT", None)),
    "VLLM_METHOD": env_with_choices("VLLM_METHOD", "fork", ["spawn", "fork"]),
    "VLLM_TRACE": lambda: bool(int(os.getenv("VLLM_TRACE", "0"))),
    "VLLM_TMP": lambda: os.getenv("VLLM_TMP", tempfile.gettempdir()),
}
''', "vllm/worker.py": 'import os\nflag = int(os.environ.get("VLLM_ELSEWHERE", "3"))\n'
                   'other = os.environ["HOME"]\n'}), "vllm/envs.py", ("VLLM_",))
    assert result == {
        "VLLM_PORT": {"type": "int", "default": None},
        "VLLM_METHOD": {"type": "str", "default": "fork", "choices": ["fork", "spawn"]},
        "VLLM_TRACE": {"type": "bool", "default": False},
        "VLLM_TMP": {"type": "str", "default": None, "dynamic": True},
        "VLLM_ELSEWHERE": {"type": None, "default": None, "dynamic": True}}


def test_keys_of_the_additional_configuration() -> None:
    result = options(Package({"a.py": '''
@config
class GraphConfig:
    size: int = 4

@config
class AscendConfig:
    graph_config: GraphConfig = field(default_factory=dict)
    refresh: bool = False
'''}), "a.py", "AscendConfig")
    assert result == {"graph_config": {"type": "json", "default": {}},
                      "graph_config.size": {"type": "int", "default": 4},
                      "refresh": {"type": "bool", "default": False}}


def test_metrics_by_scraped_name() -> None:
    result = metrics(Package({"vllm/v1/metrics/loggers.py": '''
class Logger:
    def __init__(self):
        self.a = self._gauge_cls(name="vllm:running", documentation="Running.")
        self.b = self._counter_cls(name="vllm:tokens", documentation="Tokens.")
        self.c = Histogram(name="vllm:seconds", documentation="Time.")
        self.d = self._gauge_cls(name="vllm:old",
                                 documentation="DEPRECATED: use vllm:running instead.")
        specs = [("vllm:drafts", "Drafts."), ("vllm:accepted", "Accepted.")]
        self.e = [self._counter_cls(name=name, documentation=doc) for name, doc in specs]
        self.f = make("vllm:elsewhere")
'''}), "vllm:")
    assert result == {
        "vllm:running": {"type": "gauge"},
        "vllm:tokens_total": {"type": "counter"},
        "vllm:seconds": {"type": "histogram"},
        "vllm:old": {"type": "gauge", "deprecated": True, "use": "vllm:running"},
        "vllm:drafts_total": {"type": "counter"},
        "vllm:accepted_total": {"type": "counter"},
        "vllm:elsewhere": {"type": None, "dynamic": True}}


def merged(*releases: dict) -> dict:
    """A catalogue of releases 1.0, 2.0, ... with these arguments."""
    catalogue: dict = {"title": "Engine", "releases": {}}
    for i, entries in enumerate(releases, 1):
        add(catalogue, Release("engine", f"{i}.0", f"2024-0{i}-01", f"https://example.org/{i}",
                               "0" * 64), {"arguments": entries})
    return catalogue


def test_catalogue_has_since_until_gaps_and_changes() -> None:
    one = {"type": "int", "default": 1}
    assert merged({"--a": one, "--gone": one, "--back": one, "--long": one},
                  {"--a": one, "--b": one, "--short": one | {"aliases": ["--long"]}},
                  {"--a": one | {"default": None}, "--b": one, "--back": one})["arguments"] == {
        "--a": one | {"since": "1.0", "changes": [{"release": "3.0", "default": None}]},
        "--b": one | {"since": "2.0"},
        "--back": one | {"since": "1.0", "gaps": ["2.0"]},
        "--gone": one | {"since": "1.0", "until": "1.0"},
        "--long": one | {"since": "1.0", "until": "2.0",
                         "changes": [{"release": "2.0", "aliases": ["--short"]}]}}


def test_catalogue_reads_back(tmp_path: Path) -> None:
    quoted = {"type": "str", "default": "0.9", "choices": ["None", "a:b"]}
    catalogue = merged({"--a": quoted}, {
        "--a": {"type": "float", "default": 0.9},
        "--json": {"type": "json", "default": {"a": [1, "x, y"]}}})
    written = text("engine", catalogue)
    assert text("engine", yaml.safe_load(written)) == written
    (tmp_path / "engine.yml").write_text(written, "utf-8")
    engine = engine_of(yamlfile.read(tmp_path / "engine.yml"))
    assert engine.state("--a", "1.0").default == "0.9"
    assert engine.state("--a", "2.0").default == 0.9
    assert engine.state("--json", "1.0") is None


def test_checks_have_the_conditions_that_lead_to_them() -> None:
    assert [(check.guards, check.fails) for check in checks("a/config.py", CHECKED)] == [
        (("not (not self.enable)",), "self.tp % self.dp != 0"),
        (("not (not self.enable)", "not (self.tp % self.dp != 0)", "self.mode == 'a'"),
         "not (self.dp > 1)")]
    assert plainly("self.tp % self.dp != 0") == plainly("cfg.tp % view(args).dp != 0")


def test_assertion_is_found_by_its_condition() -> None:
    balancing = {rule.name: rule for rule in assertions("vllm")}["balancing-of-whole-experts"]
    source = ("class C:\n  def f(self):\n    if self.enable_{}:\n"
              "      if not self.enable_expert_parallel:\n        raise ValueError\n")
    path, places = "vllm/config/parallel.py", CONFIGURATION["vllm"]
    assert location(balancing, checks(path, source.format("eplb")), places) == f"{path}:5"
    assert location(balancing, checks(path, source.format("other")), places) is None
    assert location(balancing, checks("vllm/worker.py", source.format("eplb")), places) is None


def archive(files: dict[str, str], wheel: bool = False) -> bytes:
    """A source distribution or a wheel with these files."""
    buffer = io.BytesIO()
    if wheel:
        with zipfile.ZipFile(buffer, "w") as packed:
            for name, body in files.items():
                packed.writestr(name, body)
    else:
        with tarfile.open(fileobj=buffer, mode="w:gz") as packed:
            for name, body in files.items():
                entry = tarfile.TarInfo(f"vllm-1.0/{name}")
                entry.size = len(body.encode())
                packed.addfile(entry, io.BytesIO(body.encode()))
    return buffer.getvalue()


def index(files: dict[str, bytes]) -> dict[str, bytes]:
    """A package index: bodies by address, of its page of vLLM and of the files it lists."""
    bodies = {f"https://pypi.org/files/{name}": body for name, body in files.items()}
    return bodies | {"https://pypi.org/simple/vllm/": json.dumps({"files": [
        {"filename": name, "url": f"/files/{name}", "upload-time": "2024-05-06T07:08:09Z",
         "hashes": {"sha256": hashlib.sha256(body).hexdigest()}}
        for name, body in files.items()]}).encode()}


@pytest.mark.parametrize(("name", "wheel"), [("vllm-1.0.tar.gz", False),
                                             ("vllm-1.0-py3-none-any.whl", True)])
def test_release_is_found_checked_and_unpacked(name: str, wheel: bool, tmp_path: Path) -> None:
    body = archive({"vllm/envs.py": "A = 1\n", "vllm/data.bin": "x", "other/b.py": "2"}, wheel)
    bodies = index({name: body, "vllm-2.0.tar.gz": b"x"})
    release, = find("vllm", ["1.0"], bodies.__getitem__)
    assert (release.version, release.date) == ("1.0", "2024-05-06")
    assert load(release, tmp_path, bodies.__getitem__) == {"vllm/envs.py": "A = 1\n"}
    bodies.clear()  # the second time from the folder
    assert load(release, tmp_path, bodies.__getitem__) == {"vllm/envs.py": "A = 1\n"}


@pytest.mark.parametrize("served", [b"another", b"body"], ids=["another sum", "no archive"])
def test_wrong_file_is_refused(served: bytes) -> None:
    bodies = index({"vllm-1.0.tar.gz": b"body"})
    release, = find("vllm", ["1.0"], bodies.__getitem__)
    with pytest.raises(ExtractError, match=r"SHA-256|archive"):
        load(release, None, (bodies | {release.url: served}).__getitem__)


def test_catalogue_is_written_and_read(tmp_path: Path) -> None:
    body = archive({ARGS: DECLARED, "vllm/envs.py": "print 'Python 2'\n"})
    bodies = index({f"vllm-{version}.tar.gz": body for version in ENGINES["vllm"].releases})
    assert main(["arguments", "--only", "vllm"], tmp_path, bodies.__getitem__) == 0
    assert list(engine_of(yamlfile.read(tmp_path / "vllm.yml")).entries["arguments"]) == ["--port"]
    bodies.clear()  # releases that the file has are not read again
    assert main(["arguments", "--only", "vllm"], tmp_path, bodies.__getitem__) == 0
