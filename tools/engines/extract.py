"""Read arguments, environment variables, configuration keys and metrics of engines' releases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import yaml

from tools.engines.command_line import arguments
from tools.engines.exported_metrics import metrics
from tools.engines.hints import Kwargs
from tools.engines.merge import Contents, add, text
from tools.engines.package import Package
from tools.engines.source import ExtractError, Fetch, find, load
from tools.engines.variables import options, platform_values, variables


@dataclass(frozen=True)
class Engine:
    """What is read of an engine.

    Attributes:
        title: name for people.
        source: key of `SOURCES`.
        expected: an argument or variable that every release has; without it, something moved.
        releases: pinned versions, the oldest first.
        package: its name on the index.
        folder: of ``params/engines/`` for its file.
        root: folder of the release that is read (default: its package).
    """

    title: str
    source: str
    expected: str
    releases: tuple[str, ...]
    package: str = ""
    folder: str = ""
    root: str = ""


def vllm(package: Package) -> Contents:
    """Arguments of the server and of its engine, variables and metrics of vLLM."""
    servers = [path for path in sorted(package.files) if path.startswith("vllm/entrypoints/")
               and path.endswith("/cli_args.py")]
    options = arguments(package, "vllm/entrypoints/cli/serve.py", "serve_parser")
    for path in (*reversed(servers), "vllm/engine/arg_utils.py"):
        options |= arguments(package, path)
    return {"arguments": options,
            "variables": variables(package, "vllm/envs.py", ("VLLM_",)),
            "metrics": metrics(package, "vllm:")}


def vllm_ascend(package: Package) -> Contents:
    """A plug-in of vLLM: its arguments are vLLM's, and keys of ``--additional-config``.

    Of ``--quantization`` the platform takes fewer values than vLLM's parser.
    """
    return {"arguments": platform_values(package, "vllm_ascend/platform.py", {
                "--quantization": "supported_quantization"}),
            "variables": variables(package, "vllm_ascend/envs.py", ("VLLM_ASCEND_",)),
            "options": options(package, "vllm_ascend/ascend_config.py", "AscendConfig"),
            "metrics": metrics(package, "vllm:")}


def sglang(package: Package) -> Contents:
    """Arguments, variables and metrics of SGLang."""
    return {"arguments": arguments(package, "sglang/srt/server_args.py"),
            "variables": variables(package, "sglang/srt/environ.py", ("SGLANG_", "SGL_")),
            "metrics": metrics(package, "sglang:")}


def bench(package: Package) -> Contents:
    """The client that measures a server: ``vllm bench serve``, ``python -m sglang.bench_serving``.
    """
    options: dict[str, Kwargs] = {}
    for path in ("vllm/benchmarks/serve.py", "vllm/benchmarks/datasets/datasets.py",
                 "sglang/bench_serving.py", "sglang/benchmark/serving.py"):
        options |= arguments(package, path)
    return {"arguments": options}


def router(package: Package) -> Contents:
    """A router's options as its own command has them, without the prefix that another one adds."""
    bare = {path: text.replace("{prefix}", "") for path, text in package.files.items()}
    return {"arguments": {name: option for path in bare if path.endswith(_ROUTERS)
                          for name, option in arguments(Package(bare), path).items()}}


_ROUTERS = ("/router_args.py", "/launch_router.py", "/load_balance_proxy_server_example.py")
SOURCES: dict[str, Callable[[Package], Contents]] = {
    "vllm": vllm, "vllm_ascend": vllm_ascend, "sglang": sglang, "bench": bench, "router": router}
ENGINES = {name: Engine(**fields | {"releases": tuple(fields["releases"])}) for name, fields in
           yaml.safe_load(Path(__file__).with_name("engines.yml").read_text("utf-8")).items()}
_LEFT_OUT = ("sglang/test/", "sglang/multimodal_gen/", "sglang/lang/", "/tests/", "/test_",
             "vllm/benchmarks/")


def extract(engine: Engine, files: dict[str, str]) -> Contents:
    """Everything of one release. Raises ExtractError for a release without what is read."""
    left_out = ("/tests/",) if engine.folder else _LEFT_OUT
    contents = SOURCES[engine.source](Package({
        path: body for path, body in files.items()
        if not any(part in f"/{path}" for part in left_out)}))
    if not any(engine.expected in entries for entries in contents.values()):
        raise ExtractError(f"{engine.title}: nothing declares {engine.expected} in the places that "
                           "are read.")
    return contents


def engine_text(name: str, path: Path, cache: Path | None, get: Fetch) -> str:
    """The file of one engine, with the pinned releases that it lacks."""
    engine = ENGINES[name]
    catalogue = (yaml.safe_load(path.read_text("utf-8")) if path.exists()
                 else {"title": engine.title, "releases": {}})
    for release in find(engine.package or name, [
            version for version in engine.releases if version not in catalogue["releases"]], get):
        contents = extract(engine, load(release, cache, get, engine.root))
        add(catalogue, release, contents)
        print(f"{name} {release.version} ({release.date}): "
              + ", ".join(f"{len(entries)} {kind}" for kind, entries in contents.items()))
    return text(name, catalogue)
