"""Runs inside the engine's environment: what a driver says of a card, and packages for cards alone.

The engine asks PyTorch for the card's kind, name, capability and memory; here the catalogue
answers. Packages of kernels are modules without contents: what is configured reads none of them.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import json
import os
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

# kernels, a driver's library, and what reads images or files of other formats
KERNELS = ("sgl_kernel", "pynvml", "torchvision", "gguf", "IPython")
ASCEND = ("torch_npu", "torchair", "sgl_kernel_npu", "mooncake")
CUDA = "13.0"  # for which the release is built
CANN = "8.5.0"


class Nothing:
    """Stands for whatever a module without contents holds."""

    def __call__(self, *args: Any, **_: Any) -> Any:
        """What it is called with, where that can be called: a decorator that changes nothing."""
        return args[0] if args and callable(args[0]) else self

    def __getattr__(self, name: str) -> Nothing:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __or__(self, other: Any) -> Any:
        return other  # as a kind in an annotation

    __ror__ = __or__

    def __mro_entries__(self, _: Any) -> tuple[type, ...]:
        return (object,)


class Empty(types.ModuleType):
    """A module in which every name is nothing."""

    __version__ = "99.0"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> Nothing:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds packages of some names, and all that is below them, without contents."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = frozenset(names)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None
                  ) -> importlib.machinery.ModuleSpec | None:
        """The module, where it is one of them."""
        if fullname.partition(".")[0] not in self.names:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Without contents."""
        return Empty(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run."""


def install(card: dict[str, Any]) -> None:
    """Let PyTorch answer for a card.

    Args:
        card: kind (gpu or npu), name, capability, memory [B] and how many a node has.
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
        module = Empty("torch.npu")
        vars(module).update(answers)
        torch.npu = module
        torch.utils.rename_privateuse1_backend("npu")  # a device, as for the package itself
        torch.version.cann = CANN
        return
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)
    torch.cuda.get_device_capability = lambda *_: (about.major, about.minor)
    torch.version.cuda = CUDA


def verdicts(lines: Iterable[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each line, its variables set, with its verdict to fill in, which is printed then."""
    plain = dict(os.environ)
    for line in lines:
        os.environ.clear()
        os.environ.update(plain | line["environment"])
        verdict = {"name": line["name"], "parsed": False, "configured": False, "refused": [],
                   "left_out": []}
        with contextlib.redirect_stdout(sys.stderr):
            yield line, verdict
        print(json.dumps(verdict), flush=True)


def error_summary(error: BaseException) -> str:
    """The first words of what was raised, on one line."""
    text = " ".join(str(error).split()).partition(" [type=")[0]
    return f"{type(error).__name__}: {text}"[:400]
