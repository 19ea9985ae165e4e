"""Measure a card with nothing but Python and PyTorch, and write a file of microbenchmarks.

Copy this file to a server with an NVIDIA or AMD card (PyTorch) or an Ascend card (PyTorch and
torch_npu), idle otherwise, and run `python measure_card.py --device nvidia-h20 -o measured.yml`.
What cannot be done is left out, and the file says so; under torchrun, all but collectives. --table
writes operators shape by shape, as CSV, and needs measure_operators.py beside this file.

One direction everywhere. A matrix product has 2*m*n*k FLOP; its rate is the median over weights of
DeepSeek-V3, its range from slowest to fastest. Times contain one kernel boundary, not to be added
again. Weights rotate through buffers that no cache holds. int8 is torch._int_mm, rows padded to 32
(Ascend: npu_quant_matmul, scales per token and channel), fp8 torch._scaled_mm, a scale per tensor.
Copy counts bytes read plus bytes written, weight streaming the weights. A kernel boundary is the
time per tiny kernel of a queue filled before. Collectives are issued from Python: at small
payloads the host may be what is seen. Payload is the buffer of one rank. Bus bandwidth as
nccl-tests defines it: size / time, times 2(n-1)/n for all-reduce, (n-1)/n for all-to-all.
"""
from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace as Plan
from typing import Any, NoReturn

Call = Callable[[], Any]
KIB, MIB, INT8_ROWS = 1024, 1024**2, 32  # at least, to which rows are padded: _int_mm takes no 16
FLOPS, OPS, SPEED = [(1e12, "TFLOPS")], [(1e12, "TOPS")], [(1e12, "TB/s"), (1e9, "GB/s")]
TIME, SIZE = [(1e-3, "ms"), (1e-6, "us")], [(float(MIB), "MiB"), (float(KIB), "KiB")]
WIDTHS = {"fp32": 4, "bf16": 2, "fp16": 2, "int8": 1, "fp8": 1}  # bytes per weight
FULL = Plan(  # weights are (N, K), cache and buffer bytes, a queue holds about a thousand kernels
    rows=(1, 16, 64, 128, 256, 512, 1024, 4096, 8192), stream=(32768, 16384), cache=192 * MIB,
    weights=((2112, 7168), (24576, 1536), (7168, 16384), (4096, 7168), (7168, 2048), (8192, 8192)),
    buffer=512 * MIB, payloads=[KIB * 4**i for i in range(10)], kernels=500, repeats=7, sample=5e-3)
QUICK = Plan(
    rows=(1, 32), stream=(512, 512), cache=64 * KIB, weights=((128, 256), (256, 128), (256, 256)),
    buffer=8 * MIB, payloads=[KIB, 32 * KIB, MIB], kernels=50, repeats=3, sample=1e-4)
say = partial(print, "measure_card:", file=sys.stderr, flush=True)


def refuse(why: str) -> NoReturn:
    """Measure nothing, and say why in one sentence."""
    say(f"{why}.")
    raise SystemExit(2)


def written(number: float, units: Sequence[tuple[float, str]]) -> str:
    """Four digits and the largest unit that fits: ``written(2e12, SPEED)`` is ``2 TB/s``."""
    factor, unit = next((scale for scale in units if number >= scale[0]), units[-1])
    return f"{float(f'{number / factor:.4g}'):.12g} {unit}"


def bus_bandwidth(operation: str, size: int, ranks: int, seconds: float) -> float:
    """Bytes per second as nccl-tests defines it; `size` is the whole buffer of one rank."""
    return size / seconds * (ranks - 1) / ranks * (2 if operation == "all-reduce" else 1)


def in_turn(calls: Sequence[Call]) -> float:
    """Call them; the seconds that this takes the host."""
    begun = time.perf_counter()
    for call in calls:
        call()
    return time.perf_counter() - begun


class Report:
    """Entries of the file to be, and what its comments say."""
    def __init__(self) -> None:
        self.entries: dict[str, list[str]] = {"rates": [], "times": [], "collectives": []}
        self.remarks, self.collected, self.skipped = list[str](), list[Any](), dict[str, Any]()

    def add(self, part: str, what: str, key: str, values: Sequence[float], units: Any) -> None:
        """Enter the median of what was measured and, of several values, the range."""
        low, middle, high = (written(statistic(values), units)
                             for statistic in (min, statistics.median, max))
        ends = f", range: [{low}, {high}]" if len(values) > 1 else ""
        self.entries[part].append(
            f"{{{what}, {key}: {{value: {middle}{ends}}}, samples: {len(values)}}}")

    @contextmanager
    def attempt(self, what: str, detail: str = "all") -> Iterator[None]:
        """Whatever fails inside is noted and passed over: each version refuses in its own way."""
        try:
            yield
        except Exception as error:
            text, last = str(error).strip() or type(error).__name__, "Traceback" in str(error)
            reason = "out of memory" if "out of memory" in text else text.splitlines()[-last][:160]
            self.skipped.setdefault(f"{what}: {' '.join(reason.split())}", []).append(detail)
            say(f"not measured: {what}: {reason}: {detail}")

    def text(self, name: str, software: str, clocks: str, device: str | None) -> str:
        """The file of kind microbenchmarks."""
        quoted, day = partial(json.dumps, ensure_ascii=False), time.strftime("%Y-%m-%d")
        remarks = (__doc__ or "").strip().split("\n\n")[-1].splitlines() + self.remarks
        remarks += [f"Not measured: {what}: {'; '.join(of)}" for what, of in self.skipped.items()]
        source = f"Measured with tools/measure_card.py on {name}"
        lines = [*(f"# {line}" for line in remarks),
                 f"name: {{en: {quoted('Kernels measured on ' + name)}, "
                 f"zh: {quoted(name + ' 实测算子')}}}",
                 *[f"note: {{en: {quoted(clocks)}, zh: {quoted(clocks)}}}"] * bool(clocks),
                 *[f"device: {device}"] * bool(device), f"software: {quoted(software)}",
                 f"defaults: {{source: {quoted(source)}, kind: measured, date: {day}}}"]
        for part, entries in self.entries.items():
            lines += [f"{part}:{'' if entries else ' []'}", *(f"  - {entry}" for entry in entries)]
        return "\n".join(lines) + "\n"


class Card:
    """PyTorch on one card (`cuda`, which AMD's is too, or `npu`) or on the processor (`cpu`)."""
    def __init__(self, kind: str, index: int) -> None:
        try:
            import torch
        except ImportError as error:
            refuse(f"PyTorch is needed and cannot be imported ({error})")
        with suppress(ImportError):
            import torch_npu  # noqa: F401  it registers torch.npu
        kind = kind or next((name for name in ("cuda", "npu") if hasattr(torch, name)
                             and getattr(torch, name).is_available()), "")
        if not kind:
            refuse("no card is visible to PyTorch (--cpu-ranks 1 measures the processor)")
        self.torch, self.kind, self.index, self.looped = torch, kind, index, False
        self.api: Any = None if kind == "cpu" else getattr(torch, kind)
        self.npu: Any = sys.modules["torch_npu"] if kind == "npu" else None
        self.hip = getattr(torch.version, "hip", None) if kind == "cuda" else None
        self.place = f"{kind}:{index}" if self.api else kind
        if self.api and not 0 <= index < self.api.device_count():
            refuse(f"there is no card {index}, PyTorch sees {self.api.device_count()}")
        if self.api:
            self.api.set_device(index)

    def describe(self) -> tuple[str, str, str]:
        """Name of the card, versions of the software, and driver and clocks if they can be read."""
        software = f"PyTorch {self.torch.__version__}"
        if not self.api:
            return os.uname().machine, software, ""
        software += (f", torch_npu {self.npu.__version__}" if self.npu else
                     f", ROCm {self.hip}" if self.hip else f", CUDA {self.torch.version.cuda}")
        clocks, query = "", "driver_version,clocks.max.sm,clocks.max.memory,power.limit"
        with suppress(OSError, IndexError, subprocess.SubprocessError):
            clocks = f"nvidia-smi {query}: " + subprocess.run(
                ["nvidia-smi", f"--id={self.index}", f"--query-gpu={query}", "--format=csv"],
                capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()[-1]
        return self.api.get_device_name(self.index), software, clocks

    def seconds(self, call: Call, count: int = 1, behind: Sequence[Call] = ()) -> float:
        """Seconds of `count` calls queued after `behind`. Raises if the card was faster."""
        if not self.api:
            return in_turn([call] * count)
        start, end = (self.api.Event(enable_timing=True) for _ in range(2))
        in_turn([*behind, start.record, *[call] * count, end.record])
        if behind and start.query():
            raise RuntimeError("the card came to the kernels before the host had queued them")
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3

    def graph(self, calls: Sequence[Call]) -> Call:
        """Replays all the calls at once. Raises where they cannot be captured."""
        graph = self.api.NPUGraph() if self.npu else self.api.CUDAGraph()
        with self.api.graph(graph):
            in_turn(calls)
        return graph.replay

    def buffer(self, size: int, pinned: bool = False) -> Any:
        """So many bytes, on the card or pinned on the host."""
        return self.torch.ones(size, dtype=self.torch.uint8, pin_memory=pinned,
                               device="cpu" if pinned else self.place)

    def matrix(self, dtype: str, *shape: int) -> Any:
        """Random numbers: power, and with it clocks, depend on what is multiplied."""
        if dtype == "int8":
            return self.torch.randint(-128, 128, shape, dtype=self.torch.int8, device=self.place)
        plain = {"fp32": "float32", "fp16": "float16"}.get(dtype, "bfloat16")
        numbers = self.torch.randn(shape, dtype=getattr(self.torch, plain), device=self.place)
        if dtype != "fp8":
            return numbers
        fnuz = self.hip and "gfx94" in self.api.get_device_properties(self.index).gcnArchName
        return numbers.to(self.torch.float8_e4m3fnuz if fnuz else self.torch.float8_e4m3fn)

    def weights(self, dtype: str, n: int, k: int, copies: int = 1) -> list[Any]:
        """Copies of one weight as inference engines keep it: N by K, seen transposed."""
        first = self.matrix(dtype, n, k)
        if self.npu and dtype == "int8":  # transposed, and in the layout FRACTAL_NZ
            return [self.npu.npu_format_cast(first.t().contiguous(), 29) for _ in range(copies)]
        return [first.t(), *(first.clone().t() for _ in range(copies - 1))]

    def product(self, dtype: str, m: int, n: int, k: int) -> Callable[[Any], Any]:
        """What multiplies m rows by a weight. Raises where there is no such operator."""
        torch, ones = self.torch, partial(self.torch.ones, device=self.place)
        torch.backends.cuda.matmul.allow_tf32 = False
        least = INT8_ROWS if dtype == "int8" and self.kind == "cuda" else 1
        rows = self.matrix(dtype, max(m, least), k)
        if dtype == "fp8":
            return partial(torch._scaled_mm, rows, scale_a=ones(1), scale_b=ones(1),
                           out_dtype=torch.bfloat16)
        if dtype == "int8" and self.npu:
            return partial(self.npu.npu_quant_matmul, rows, scale=ones(n), pertoken_scale=ones(m),
                           output_dtype=torch.bfloat16)
        return partial(torch._int_mm if dtype == "int8" else torch.mm, rows)


def measure(card: Any, calls: Sequence[Call], plan: Plan) -> list[float]:
    """Seconds per call, a number per repeat; each repeat goes through all the calls in turn."""
    calls[0]()  # the first call may compile or search for an algorithm
    calls = calls[:1] if card.seconds(calls[0]) > 0.1 else calls  # too much for a cache anyway
    try:
        together = card.graph(calls)
    except Exception:  # whatever a version of PyTorch objects to
        together, card.looped = partial(in_turn, calls), True
    together()
    inner = min(1000, math.ceil(plan.sample / max(card.seconds(together), 1e-9)))
    return [card.seconds(together, inner) / (inner * len(calls)) for _ in range(plan.repeats)]


def by_rows(card: Any, plan: Plan, report: Report, what: str, dtype: str, rows: Sequence[int],
            weights: Sequence[tuple[int, int]]) -> dict[int, list[float]]:
    """Elements of each of the weights that are gone through per second, by number of rows."""
    rates: dict[int, list[float]] = {m: [] for m in rows}
    say(f"{what} {dtype}: rows {', '.join(map(str, rows))}; weights {len(weights)}")
    for n, k in weights:
        copies = math.ceil(2 * plan.cache / (n * k * WIDTHS[dtype])) + 1  # no cache holds them
        rotated: list[Any] = []
        for m, of_shapes in rates.items():
            with report.attempt(f"{what} {dtype}", f"{m} rows by {n}x{k}"):
                rotated = rotated or card.weights(dtype, n, k, copies)
                product = card.product(dtype, m, n, k)
                times = measure(card, [partial(product, weight) for weight in rotated], plan)
                of_shapes.append(n * k / statistics.median(times))
    return {m: of_shapes for m, of_shapes in rates.items() if of_shapes}


def measure_products(card: Any, plan: Plan, report: Report) -> None:
    """Matrix products by data type and rows, and weight streaming."""
    for dtype, width in WIDTHS.items():
        with report.attempt(f"gemm {dtype}"):  # something small: is there such an operator at all?
            card.product(dtype, 64, 256, 256)(card.weights(dtype, 256, 256)[0])
            rated = partial(by_rows, card, plan, report)
            for m, rates in rated("gemm", dtype, plan.rows, plan.weights).items():
                report.add("rates", f"kernel: gemm, dtype: {dtype}, rows: [{m}, {m}]", "rate",
                           [2 * m * rate for rate in rates], OPS if dtype == "int8" else FLOPS)
            if by_count := rated("weight-streaming", dtype, (1, 4, 16), [plan.stream]):
                what = f"dtype: {dtype}, rows: [{min(by_count)}, {max(by_count)}]"
                report.add("rates", f"kernel: weight-streaming, {what}", "rate",
                           [rates[0] * width for rates in by_count.values()], SPEED)


def measure_copies(card: Any, plan: Plan, report: Report) -> None:
    """Copy on the card, and transfers to and from pinned memory of the host."""
    for kernel, factor, *pinned in (("copy", 2, False, False), ("host-to-device", 1, False, True),
                                    ("device-to-host", 1, True, False)):
        with report.attempt(kernel):
            target, source = (card.buffer(plan.buffer, of_host) for of_host in pinned)
            call = partial(target.copy_, source, non_blocking=True)
            rates = [factor * plan.buffer * 4 / card.seconds(call, 4)
                     for _ in range(plan.repeats + 1)]
            report.add("rates", f"kernel: {kernel}", "rate", rates[1:], SPEED)


def measure_launch(card: Any, plan: Plan, report: Report) -> None:
    """Host time per operator, and time per tiny kernel of a graph and of a filled queue."""
    calls, host = [partial(card.torch.zeros(1, device=card.place).add_, 1)] * plan.kernels, []
    for _ in range(plan.repeats + 1):
        card.seconds(calls[0])  # waits for the card
        host.append(in_turn(calls) / plan.kernels)
    report.add("times", "kernel: host-time-per-operator", "time", host[1:], TIME)
    if not card.api:
        return  # a processor has nothing between two kernels
    with report.attempt("graph-kernel-boundary"):
        together = card.graph(calls)
        times = [card.seconds(together) / plan.kernels for _ in range(plan.repeats + 1)]
        report.add("times", "kernel: graph-kernel-boundary", "time", times[1:], TIME)
    with report.attempt("kernel-boundary"):
        block = partial(card.buffer(plan.buffer).copy_, card.buffer(plan.buffer))
        blocks = [block] * math.ceil(12 * plan.kernels * max(host[1:]) / card.seconds(block, 4))
        times = [card.seconds(calls[0], plan.kernels, blocks) / plan.kernels
                 for _ in range(plan.repeats)]
        report.add("times", "kernel: kernel-boundary", "time", times, TIME)


def collective_worker(rank: int, ranks: int, kind: str, backend: str, method: str, plan: Plan,
                      put: Callable[[Any], Any]) -> None:
    """One rank: time each operation at each payload; rank 0 puts what the slowest needed."""
    card = Card(kind, int(os.environ.get("LOCAL_RANK", rank)))
    torch, dist = card.torch, card.torch.distributed
    dtype, width = (torch.bfloat16, 2) if card.api else (torch.float32, 4)
    dist.init_process_group(backend, init_method=method, rank=rank, world_size=ranks)
    zeros = partial(torch.zeros, dtype=dtype, device=card.place)
    for operation in ("all-reduce", "all-to-all"):
        for payload in plan.payloads:
            sent, received = (zeros(payload // width // ranks * ranks) for _ in range(2))
            call = (partial(dist.all_reduce, sent) if operation == "all-reduce"
                    else partial(dist.all_to_all_single, received, sent))
            inner, times = max(4, min(50, 64 * MIB // payload)), []
            for _ in range(plan.repeats + 1):
                dist.barrier()
                times.append(card.seconds(call, inner) / inner)
            slowest = torch.tensor(times[1:], dtype=torch.float32, device=card.place)
            dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
            if rank == 0:
                put((operation, payload, slowest.tolist()))
    dist.destroy_process_group()


def measure_collectives(card: Card, backend: str, ranks: int, plan: Plan, report: Report) -> None:
    """All-reduce and all-to-all over so many ranks, in processes started here or by torchrun."""
    queue = card.torch.multiprocessing.get_context("spawn").SimpleQueue()
    rendezvous = f"tcp://127.0.0.1:{20000 + os.getpid() % 10000 + ranks}"
    method = "env://" if "RANK" in os.environ else rendezvous
    arguments = (ranks, card.kind, backend, method, plan, queue.put)
    local = int(os.environ.get("LOCAL_WORLD_SIZE", ranks))
    nodes = f"nodes: {ranks // local}, " if local < ranks else ""
    with report.attempt("all-reduce, all-to-all", f"{ranks} ranks"):
        if "RANK" in os.environ:
            collective_worker(int(os.environ["RANK"]), *arguments)
        else:
            if card.api:
                card.api.empty_cache()  # the processes want memory too
            card.torch.multiprocessing.spawn(collective_worker, arguments, ranks)
    while not queue.empty():  # also what was measured before a failure
        operation, payload, times = queue.get()
        report.collected.append((backend, ranks, operation, payload, times))
        rates = [bus_bandwidth(operation, payload, ranks, seconds) for seconds in times]
        size = written(payload, SIZE)
        what = f"operation: {operation}, ranks: {ranks}, {nodes}payload: {{value: {size}}}"
        if payload == plan.payloads[0]:
            report.add("collectives", what, "time", times, TIME)
        if payload == plan.payloads[-1]:
            report.add("collectives", what, "bus_bandwidth", rates, SPEED)


def main() -> None:
    """The command: measure, and write the file as a whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.error, add = refuse, parser.add_argument  # type: ignore[method-assign, assignment]
    add("-o", "--output", type=Path, metavar="FILE", help="write the file there")
    add("--table", nargs="?", type=float, const=240.0, metavar="S", help="in S seconds (240)")
    add("--device", metavar="NAME", help="identifier of the card in the project, e.g. nvidia-h20")
    add("--device-index", type=int, default=0, metavar="N", help="which card, from 0")
    add("--ranks", type=int, nargs="+", metavar="N", help="of collectives (default 2 4 8 ...)")
    add("--cpu-ranks", type=int, default=0, metavar="N", help="the processor, with N processes")
    add("--quick", action="store_true", help="tiny shapes, to try it out: not a measurement")
    args, env, report = parser.parse_args(), os.environ, Report()
    target = args.output and args.output.absolute()
    if target and not target.parent.is_dir():
        refuse(f"the folder of {args.output} does not exist")
    if target and target.exists():
        refuse(f"{args.output} exists already")
    if re.search(r"^[.-]|[^a-z0-9.-]|[.]ya?ml$", args.device or ""):
        refuse(f"'{args.device}' is not an identifier such as nvidia-h20")
    beside, table = Path(__file__).with_name("measure_operators.py"), None
    if args.table is not None:
        if not (args.device and args.table > 0 and beside.exists()):
            refuse(f"--table needs --device, more than 0 seconds, and {beside.name} beside it")
        table = __import__(beside.stem).Table(measure, args, say)
    stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints does not get into the file
    card = Card("cpu" * bool(args.cpu_ranks), int(env.get("LOCAL_RANK", args.device_index)))
    plan, cards = QUICK if args.quick else FULL, args.cpu_ranks or card.api.device_count()
    worlds = args.ranks or [2**power for power in range(1, cards.bit_length())]
    if "RANK" not in env and (cards < 1 or any(not 1 < ranks <= cards for ranks in worlds)):
        refuse(f"--ranks are at least 2 and at most the {cards} that there are")
    parts = [table.measure] if table else [measure_products, measure_copies, measure_launch]
    for part in parts * ("RANK" not in env):
        with report.attempt(part.__name__):
            part(card, plan, report)
    backend = {"cuda": "nccl", "npu": "hccl", "cpu": "gloo"}[card.kind]
    for ranks in [int(env["WORLD_SIZE"])] if "RANK" in env else worlds:
        measure_collectives(card, backend, ranks, plan, report)
    report.remarks += ["Some were timed without a graph: if short, they contain time of the host."
                       ] * card.looped + ["Tiny shapes (--quick): not a measurement."] * args.quick
    if int(env.get("RANK", "0")):
        return  # of several ranks the first writes
    text = table.text(report) if table else report.text(*card.describe(), args.device)
    with report.attempt("the file", "it goes to stdout"):  # what was measured is not lost
        if target and not target.exists():
            (part := target.with_name(f".{os.getpid()}.tmp")).write_text(text, encoding="utf-8")
            part.replace(target)
            return
    stdout.write(text)


if __name__ == "__main__":
    main()
