"""Reading an engine's source: arguments, variables, metrics, releases laid over each other."""

import pytest
import yaml

from catalogue.engines.engine import engine_of
from catalogue.reading import yamlfile
from tools.engines.arguments import arguments
from tools.engines.merge import merge, text
from tools.engines.metrics import metrics
from tools.engines.package import Package
from tools.engines.source import Release
from tools.engines.variables import asked, options, platform_values, variables

ARGS = "vllm/engine/arg_utils.py"


def of(source: str, path: str = ARGS, **others: str) -> dict:
    """The arguments that a piece of source declares."""
    return arguments(Package({path: source, **others}), path)


class TestArguments:
    """Every way in which the engines have written their command line."""

    def test_argparse_with_defaults_from_a_dataclass(self):
        found = of('''
import argparse
from dataclasses import dataclass

METHODS = ["awq", "gptq"]

@dataclass
class EngineArgs:
    model: str
    block_size: int = 16
    swap_space: float = 4 * 1

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model", type=str, default="some/model")
        parser.add_argument("--tensor-parallel-size", "-tp", type=int, default=1)
        parser.add_argument("--block-size", type=int, default=EngineArgs.block_size,
                            choices=[32, 8, 16])
        parser.add_argument("--swap-space", type=float, default=EngineArgs.swap_space)
        parser.add_argument("--enforce-eager", action="store_true")
        parser.add_argument("--quantization", type=nullable_str, choices=[*METHODS, None])
        parser.add_argument("--method", type=str, choices=[*METHODS, None])
        parser.add_argument("model_tag")
''')
        assert found == {
            "--model": {"type": "str", "default": "some/model"},
            "--tensor-parallel-size": {"type": "int", "default": 1, "aliases": ["-tp"]},
            "--block-size": {"type": "int", "default": 16, "choices": [8, 16, 32]},
            "--swap-space": {"type": "float", "default": 4},
            "--enforce-eager": {"type": "bool", "default": False},
            "--quantization": {"type": "str", "default": None,
                               "choices": ["None", "awq", "gptq"]},
            "--method": {"type": "str", "default": None, "choices": ["awq", "gptq"]},
        }

    def test_what_the_text_does_not_say_is_never_guessed(self):
        found = of('''
import os
def add(parser):
    parser.add_argument("--port", type=int, default=os.getenv("PORT", 8000))
    parser.add_argument("--threads", type=int, default=count())
    parser.add_argument("--parser", choices=registry.names())
''')
        assert found["--port"] == {"type": "int", "default": None, "dynamic": True}
        assert found["--threads"] == {"type": "int", "default": None, "dynamic": True}
        assert found["--parser"] == {"type": "str", "default": None, "open_choices": True}

    def test_fields_of_a_configuration_class_in_another_module(self):
        found = of('''
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
from dataclasses import field
from typing import Any, ClassVar, Literal
from pydantic import Field

CacheDType = Literal["fp8", "auto"]

@config
class CacheConfig:
    DEFAULT: ClassVar[int] = 128
    cache_dtype: CacheDType = "auto"
    space: float | None = Field(default=4, gt=0)
    prefix: bool | None = None
    sizes: list[int] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=lambda: made())
    backend: Literal["a", "b"] | str | None = None
    len: int = Field(default=DEFAULT, ge=1)
'''})
        assert found == {
            "--cache-dtype": {"type": "str", "default": "auto", "choices": ["auto", "fp8"]},
            "--space": {"type": "float", "default": 4, "aliases": ["-s"]},
            "--prefix": {"type": "bool", "negatable": True, "default": None},
            "--sizes": {"type": "list of int", "default": []},
            "--extra": {"type": "json", "default": None, "dynamic": True},
            "--backend": {"type": "str", "default": None, "known": ["a", "b"]},
            "--len": {"type": "int", "default": None},
        }

    def test_a_server_whose_fields_are_its_arguments(self):
        found = of('''
@config
class BaseArgs:
    host: str | None = None

    @classmethod
    def add_cli_args(cls, parser):
        kwargs = get_kwargs(cls)
        kwargs = cls._customize(kwargs)
        for key, value in kwargs.items():
            parser.add_argument(f"--{key.replace('_', '-')}", **value)

@config
class ServerArgs(BaseArgs):
    allowed_origins: list[str] = field(default_factory=lambda: ["*"])

    @classmethod
    def _customize(cls, kwargs):
        kwargs["allowed_origins"]["type"] = json.loads
        return kwargs
''')
        assert found == {"--host": {"type": "str", "default": None},
                         "--allowed-origins": {"type": "json", "default": ["*"]}}

    def test_annotated_fields(self):
        path = "sglang/srt/server_args.py"
        found = of('''
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
        assert found == {
            "--model-path": {"type": "str", "default": None, "required": True,
                             "aliases": ["--model"]},
            "--tp-size": {"type": "int", "default": 1, "aliases": ["--tensor-parallel-size"]},
            "--backend": {"type": "str", "default": None, "choices": ["ascend", "triton"]},
            "--trust": {"type": "bool", "default": False},
            "--inner": {"type": "int", "default": 7},
            "--old": {"type": "bool", "default": False, "deprecated": True, "use": "--trust"},
        }

    @pytest.mark.parametrize(("help_text", "deprecated", "use"), [
        ("Deprecated, use --distributed-executor-backend=ray.", True,
         "--distributed-executor-backend"),
        ("[DEPRECATED] has no effect", True, None),
        ("Length (DEPRECATED. Use --max-seq-len-to-capture instead).", True,
         "--max-seq-len-to-capture"),
        ("Also takes the deprecated spelling.", False, None),
        ("Use --other together with this.", False, None),
    ])
    def test_deprecation_is_what_the_help_says_of_the_option_itself(self, help_text, deprecated,
                                                                    use):
        found = of(f"def add(p):\n    p.add_argument('--old', help={help_text!r})\n")["--old"]
        assert found.get("deprecated", False) is deprecated
        assert found.get("use") == use


class TestVariablesOptionsMetrics:
    """What is not on the command line."""

    def test_variables_of_a_registry(self):
        found = variables(Package({"vllm/envs.py": '''
import os
from typing import TYPE_CHECKING, Literal
if TYPE_CHECKING:
    VLLM_PORT: int | None = None
    VLLM_METHOD: Literal["fork", "spawn"] = "fork"

def maybe(value):
    if value is None:
        return None
    return int(value)

environment_variables = {
    "VLLM_PORT": lambda: maybe(os.getenv("VLLM_PORT", None)),
    "VLLM_METHOD": env_with_choices("VLLM_METHOD", "fork", ["spawn", "fork"]),
    "VLLM_TRACE": lambda: bool(int(os.getenv("VLLM_TRACE", "0"))),
    "VLLM_ROOT": lambda: os.path.expanduser(os.getenv("VLLM_ROOT", "~/.cache/vllm")),
    "VLLM_TMP": lambda: os.getenv("VLLM_TMP", tempfile.gettempdir()),
}
''', "vllm/worker.py": 'import os\nflag = int(os.environ.get("VLLM_ELSEWHERE", "3"))\n'
                       'other = os.environ["HOME"]\n'}), "vllm/envs.py", ("VLLM_",))
        assert found == {
            "VLLM_PORT": {"type": "int", "default": None},
            "VLLM_METHOD": {"type": "str", "default": "fork", "choices": ["fork", "spawn"]},
            "VLLM_TRACE": {"type": "bool", "default": False},
            "VLLM_ROOT": {"type": "str", "default": "~/.cache/vllm"},
            "VLLM_TMP": {"type": "str", "default": None, "dynamic": True},
            "VLLM_ELSEWHERE": {"type": "int", "default": 3},
        }

    def test_variables_as_fields(self):
        found = variables(Package({"sglang/srt/environ.py": '''
class Envs:
    SGLANG_A = EnvBool(False)
    SGLANG_B = EnvIntWithAlias(3, deprecated_name="SGLANG_OLD")
    SGLANG_C = EnvStr(lambda: somewhere())
'''}), "sglang/srt/environ.py", ("SGLANG_",))
        assert found == {"SGLANG_A": {"type": "bool", "default": False},
                         "SGLANG_B": {"type": "int", "default": 3, "aliases": ["SGLANG_OLD"]},
                         "SGLANG_C": {"type": "str", "default": None, "dynamic": True}}

    @pytest.mark.parametrize("source", ['''
class AscendConfig:
    def __init__(self, vllm_config):
        additional_config = vllm_config.additional_config
        graph_config = additional_config.get("graph_config", {})
        self.refresh = additional_config.get("refresh", False)
        self.size = graph_config.get("size", 4)
''', '''
@config
class GraphConfig:
    size: int = 4

@config
class AscendConfig:
    graph_config: GraphConfig = field(default_factory=dict)
    refresh: bool = False
'''])
    def test_keys_of_the_additional_configuration(self, source):
        found = options(Package({"a.py": source}), "a.py", "AscendConfig")
        assert found == {"graph_config": {"type": "json", "default": {}},
                         "graph_config.size": {"type": "int", "default": 4},
                         "refresh": {"type": "bool", "default": False}}

    def test_keys_that_another_module_looks_for(self):
        found = asked(Package({"u.py": '''
def dealt(vllm_config):
    additional_config = vllm_config.additional_config
    if additional_config is not None and "dealt" in additional_config:
        return bool(additional_config["dealt"])
    return "other" in additional_config
'''}), "u.py")
        assert found == {"dealt": {"type": "bool", "default": False},
                         "other": {"type": None, "default": None}}

    def test_values_that_a_platform_takes(self):
        found = platform_values(Package({"p.py": "ONE = 'ascend'\nclass Platform:\n"
                                         "    supported: list[str] = [ONE, 'other']\n"}),
                                "p.py", {"--quantization": "supported"})
        assert found["--quantization"]["choices"] == ["ascend", "other"]

    def test_metrics_by_the_name_under_which_they_are_scraped(self):
        found = metrics(Package({"vllm/v1/metrics/loggers.py": '''
class Logger:
    def __init__(self):
        self.a = self._gauge_cls(name="vllm:running", documentation="Running.")
        self.b = self._counter_cls(name="vllm:tokens", documentation="Tokens.")
        self.c = Histogram(name="vllm:seconds", documentation="Time.")
        if self.show_hidden_metrics:
            self.d = self._gauge_cls(name="vllm:old",
                                     documentation="DEPRECATED: use vllm:running instead.")
        specs = [("vllm:drafts", "Drafts."), ("vllm:accepted", "Accepted.")]
        self.e = [self._counter_cls(name=name, documentation=doc) for name, doc in specs]
        self.f = make("vllm:elsewhere")
        call("vllm::an_operator")
''', "vllm/engine/metrics.py": '''
a = prometheus_client.Gauge(name="vllm:running", documentation="Running.")
b = prometheus_client.Gauge(name="vllm:swapped", documentation="Swapped.")
'''}), "vllm:", "vllm/engine/metrics.py")
        assert found == {
            "vllm:running": {"type": "gauge"},
            "vllm:tokens_total": {"type": "counter"},
            "vllm:seconds": {"type": "histogram"},
            "vllm:old": {"type": "gauge", "deprecated": True, "use": "vllm:running",
                         "hidden": True},
            "vllm:drafts_total": {"type": "counter"},
            "vllm:accepted_total": {"type": "counter"},
            "vllm:elsewhere": {"type": None, "dynamic": True},
            "vllm:swapped": {"type": "gauge", "v0": True},
        }


def released(*found: dict) -> list:
    """Releases 1.0, 2.0, ... with these arguments."""
    return [(Release("engine", f"{i}.0", f"2024-0{i}-01", f"https://example.org/{i}", "0" * 64),
             {"arguments": entries}) for i, entries in enumerate(found, 1)]


class TestMerging:
    """Since when, until when, what changed."""

    def test_since_until_gaps_and_changes(self):
        one = {"type": "int", "default": 1}
        merged = merge(released({"--a": one, "--gone": one, "--back": one},
                                {"--a": one, "--b": one},
                                {"--a": one | {"default": None}, "--b": one, "--back": one}))
        assert merged["arguments"] == {
            "--a": one | {"since": "1.0", "changes": [{"release": "3.0", "default": None}]},
            "--b": one | {"since": "2.0"},
            "--back": one | {"since": "1.0", "gaps": ["2.0"]},
            "--gone": one | {"since": "1.0", "until": "1.0"},
        }

    def test_a_change_of_type_alone_is_a_change(self):
        merged = merge(released({"--a": {"type": "bool", "default": False}},
                                {"--a": {"type": "int", "default": 0}}))
        assert merged["arguments"]["--a"]["changes"] == [
            {"release": "2.0", "type": "int", "default": 0}]

    def test_an_entry_keeps_its_name_when_another_is_put_first(self):
        merged = merge(released({"--long": {"type": "int", "default": 1}},
                                {"--short": {"type": "int", "default": 1, "aliases": ["--long"]}}))
        assert merged["arguments"] == {"--long": {
            "type": "int", "default": 1, "since": "1.0",
            "changes": [{"release": "2.0", "aliases": ["--short"]}]}}

    def test_the_file_reads_back_as_it_was_one_line_each(self, tmp_path):
        quoted = {"type": "str", "default": "0.9", "choices": ["None", "a:b"]}
        merged = merge(released({"--a": quoted},
                                {"--a": {"type": "float", "default": 0.9},
                                 "--json": {"type": "json", "default": {"a": [1, "x, y"]}}}))
        written = text("engine", "Engine", merged)
        assert text("engine", "Engine", merged) == written
        assert yaml.safe_load(written) == {"title": "Engine"} | merged
        assert len(written.splitlines()) == 2 + 1 + 2 + 1 + 2
        path = tmp_path / "engine.yml"
        path.write_text(written, encoding="utf-8")
        engine = engine_of(yamlfile.read(path))
        assert engine.state("--a", "1.0").default == "0.9"
        assert engine.state("--a", "2.0").default == 0.9
        assert engine.state("--a", "2.0").choices is None
        assert engine.state("--json", "1.0") is None
