"""Run inside the engine's environment: its parser and configuration checks, line by line.

Reads ``{"engine", "card", "lines": [{"name", "program", "argv", "environment"}]}`` and writes one
JSON verdict per line: parsed, configured, refused, left_out. For a card, PyTorch answers as with
that card, from the catalogue's values, and packages of kernels are mock modules: a configuration
reads nothing from them. For vLLM on a processor, a refused line is configured again without the
options that need a card, and ``left_out`` lists them.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import itertools
import json
import os
import sys
import types
from collections.abc import Sequence
from typing import Any

IMAGES = ("torchvision",)  # absent here; models that also read images import it
# kernels, the library of a driver, and readers of images and of files of other formats
KERNELS = ("sgl_kernel", "pynvml", "torchvision", "gguf", "IPython")
ASCEND = ("torch_npu", "torchair", "sgl_kernel_npu", "mooncake")
CUDA, CANN = "13.0", "8.5.0"  # for which the releases are built
ROUTER = "sglang_router.launch_router"
# what a processor has no kernels or devices for; each group is left out alone, then all of them
CARD = (("--enable-eplb", "--eplb-config"), ("--quantization",), ("--kv-cache-dtype",),
        ("--all2all-backend",), ("--speculative-config",), ("--enable-dbo",))
Verdict = dict[str, Any]


class Mock(types.ModuleType):
    """A module, object, base class or decorator in which every name is another mock."""

    __version__ = "99.0"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []

    def __call__(self, *args: Any, **_: Any) -> Any:
        """Return a callable argument unchanged, as a decorator does."""
        return args[0] if args and callable(args[0]) else self

    def __getattr__(self, name: str) -> Mock:
        if name.startswith("__"):
            raise AttributeError(name)
        return Mock(name)

    def __or__(self, other: Any) -> Any:
        return other  # as a type in an annotation

    __ror__ = __or__

    def __mro_entries__(self, _: Any) -> tuple[type, ...]:
        return (object,)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the packages of some names, and all modules below them, as mock modules."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = frozenset(names)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None
                  ) -> importlib.machinery.ModuleSpec | None:
        """The specification of a mock module; None for other packages."""
        if fullname.partition(".")[0] not in self.names:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Return a mock module."""
        return Mock(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing."""


def mock_card(card: dict[str, Any]) -> None:
    """Let PyTorch answer as with a card.

    Args:
        card: kind (gpu or npu), name, capability, memory [B] and number in a node.
    """
    import torch

    npu = card["kind"] == "npu"
    sys.meta_path.insert(0, Finder(KERNELS + (ASCEND if npu else ())))
    about = types.SimpleNamespace(
        name=card["name"], total_memory=card["memory"], multi_processor_count=132, warp_size=32,
        major=card["capability"][0], minor=card["capability"][1], uuid="0")
    answers: dict[str, Any] = {
        "is_available": lambda: True, "device_count": lambda: card["count"],
        "current_device": lambda: 0, "get_device_name": lambda *_: about.name,
        "get_device_properties": lambda *_: about,
        "mem_get_info": lambda *_: (about.total_memory, about.total_memory)}
    if npu:
        torch.npu = Mock("torch.npu")
        vars(torch.npu).update(answers)
        torch.utils.rename_privateuse1_backend("npu")  # as the package itself does
        torch.version.cann = CANN
        return
    vars(torch.cuda).update(answers)
    torch.cuda.get_device_capability = lambda *_: (about.major, about.minor)
    torch.version.cuda = CUDA


def load_vllm(card: dict[str, Any]) -> None:
    """Load vLLM for this processor, or with its plug-in for an Ascend card."""
    if card:
        mock_card(card)
        built: Any = types.ModuleType("vllm_ascend._build_info")  # written when kernels are built
        built.__device_type__ = card["generation"]
        sys.modules[built.__name__] = built
        import torch.distributed
        import vllm_ascend

        torch.distributed.is_hccl_available = lambda: True
        vllm_ascend._build_info = built
    else:
        sys.meta_path.append(Finder(IMAGES))
    from vllm.engine import arg_utils  # noqa: F401  # before the variables of a line are set
    from vllm.model_executor.models import registry

    registry._run_in_subprocess = lambda call: call()  # another process would have no mock modules


def parse_vllm(argv: list[str]) -> Any:
    """Parse a line as ``vllm serve`` does."""
    from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    args = make_arg_parser(FlexibleArgumentParser()).parse_args(argv)
    args.model = args.model_tag
    validate_parsed_serve_args(args)
    return args


def check_vllm(line: dict[str, Any], verdict: Verdict, groups: Sequence[tuple[str, ...]]) -> None:
    """Parse and configure a line; where it is refused, again without each group of options."""
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.usage.usage_lib import UsageContext

    parse_vllm(line["argv"])
    verdict["parsed"] = True
    for group in ((), *groups, tuple(itertools.chain(*groups))):
        left_out = [name for name in group if name in line["argv"]]
        if group and not left_out:
            continue
        try:
            args = parse_vllm(without(line["argv"], group))
            AsyncEngineArgs.from_cli_args(args).create_engine_config(
                usage_context=UsageContext.OPENAI_API_SERVER, headless=args.headless)
        except (Exception, SystemExit) as error:
            verdict["refused"].append(error_summary(error))
            continue
        verdict.update(configured=True, left_out=left_out)
        return


def check_sglang(line: dict[str, Any], verdict: Verdict) -> None:
    """Parse and check the line of a server as its launcher does, or of a router as its program."""
    if line["program"] == ROUTER:
        from sglang_router.launch_router import Router, parse_router_args

        args = parse_router_args(line["argv"])
        verdict["parsed"] = True
        args._validate_router_args()
        Router.from_args(args)
    else:
        from sglang.srt.arg_groups.overrides import model_config_of, resolving_view
        from sglang.srt.model_executor.model_runner_components.moe_ep_setup import (
            check_quantized_moe_compatibility,
        )
        from sglang.srt.server_args import prepare_server_args

        args = prepare_server_args(line["argv"])
        verdict["parsed"] = True
        args.resolve_once()
        args.check_server_args()
        view = resolving_view(args)
        check_quantized_moe_compatibility(
            model_config=model_config_of(args), tp_size=view.tp_size, moe_ep_size=view.ep_size,
            moe_dp_size=view.moe_dp_size)
    verdict["configured"] = True


def without(argv: list[str], names: Sequence[str]) -> list[str]:
    """Arguments without some options and their values."""
    result: list[str] = []
    skipping = False
    for word in argv:
        if word.startswith("--"):
            skipping = word.partition("=")[0] in names
        if not skipping:
            result.append(word)
    return result


def error_summary(error: BaseException) -> str:
    """First words of an error, on one line."""
    text = " ".join(str(error).split()).partition(" [type=")[0]
    return f"{type(error).__name__}: {text}"[:400]


def main() -> int:
    """Check the lines on the standard input."""
    data = json.load(sys.stdin)
    sglang, card = data["engine"] == "sglang", data["card"]
    with contextlib.redirect_stdout(sys.stderr):  # where the engine writes its log
        (mock_card if sglang else load_vllm)(card)
    unset = dict(os.environ)
    for line in data["lines"]:
        os.environ.clear()
        os.environ.update(unset | line["environment"])
        verdict: Verdict = {"name": line["name"], "parsed": False, "configured": False,
                            "refused": [], "left_out": []}
        with contextlib.redirect_stdout(sys.stderr):
            try:
                if sglang:
                    check_sglang(line, verdict)
                else:
                    check_vllm(line, verdict, () if card else CARD)
            except (Exception, SystemExit) as error:
                verdict["refused"].append(error_summary(error))
        print(json.dumps(verdict), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
