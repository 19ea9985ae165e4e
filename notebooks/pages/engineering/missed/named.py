"""Switches that the source of an engine or a library names, and where it does."""

from __future__ import annotations

from dataclasses import dataclass

from catalogue.entries.profiles import Measured, Switch
from catalogue.messages import Pair, messages
from catalogue.reading.words import revealed

say = messages("pages/engineering/missed/named")



@dataclass(frozen=True)
class SourceSwitch:
    """A switch that source names.

    Attributes:
        name: what is switched to, and when.
        where: file and function of the source.
        operator, dtype: of the tables; None for any.
        kernels: parts of the kernel's name, one of which it has; none for any.
        column: along which a switch is that one.
        ends: between which of its ends lies, each a least first or a last value: the other kernel
            begins above the one, and at the other at the latest.
    """

    name: Pair
    where: str
    operator: str
    dtype: str | None
    kernels: tuple[str, ...]
    column: str
    ends: tuple[tuple[float, float], ...]

    def is_of(self, measured: Measured, switch: Switch) -> bool:
        """Whether a switch of a table is this one."""
        kernel = revealed(measured.kernel)
        begins = switch.first is not None and any(
            last < switch.first <= first for last, first in self.ends)
        stops = switch.last is not None and any(
            last <= switch.last < first for last, first in self.ends)
        return (measured.operator == self.operator and self.dtype in (None, measured.dtype)
                and (not self.kernels or any(part in kernel for part in self.kernels))
                and switch.column == self.column and (begins or stops))


TRITON = ("vllm_fused_moe", "sglang_fused_moe")
MARLIN = ("marlin", "compressedtensorswna16")
FUSED_MOE = "vllm/model_executor/layers/fused_moe/"
KNOWN = (
    SourceSwitch(say("triton-tiles-by-tokens"),
                 f"vLLM, {FUSED_MOE}fused_moe.py, get_default_config", "experts", "fp8-block",
                 TRITON[:1], "tokens", ((64, 80),)),
    SourceSwitch(say("triton-tiles-by-experts"),
                 f"vLLM, {FUSED_MOE}fused_moe.py, get_default_config; SGLang has the same",
                 "experts", "bf16", TRITON, "rows_of_expert", ((8, 12),)),
    SourceSwitch(say("marlin-blocks"),
                 f"vLLM, {FUSED_MOE}fused_marlin_moe.py, fused_marlin_moe", "experts", "w4a16",
                 MARLIN,
                 "rows_of_expert", ((6.6, 9.7), (14.4, 18), (28.8, 36), (43, 51), (57.6, 97))),
    SourceSwitch(say("deepgemm-tiles"),
                 "DeepGEMM, deep_gemm/jit_kernels/gemm.py, get_best_configs", "gemm", "fp8-block",
                 ("sglang",), "rows", ((64, 80), (128, 160))),
    SourceSwitch(say("custom-all-reduce-rounds"),
                 "vLLM, csrc/custom_all_reduce.cuh", "all_reduce", None, ("Custom", "custom"),
                 "bytes_of_all", ((2**20, 2**21),)),
    SourceSwitch(say("custom-all-reduce-or-nccl"),
                 "vLLM, vllm/distributed/device_communicators/custom_all_reduce.py", "all_reduce",
                 None, ("Custom", "custom"), "bytes", ((2**22, 2**23), (2**23, 2**24))),
    SourceSwitch(say("trtllm-gen-heads"),
                 "TensorRT-LLM, cpp/tensorrt_llm/kernels/trtllmGenKernels/fmha/fmhaKernels.h",
                 "mla_decode", None, ("default", "trtllm_mla"), "heads", ((16, 32),)))
"""By kernel; of other switches only the place is known."""
