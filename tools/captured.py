"""What a captured step adds up to on a real card: small kernels, a chain of matmuls, two streams.

``python -m tools.captured OUT.csv`` needs PyTorch with CUDA and takes less than five minutes. Every
time is of a captured graph, replayed: the median over replays, over the repetitions within. Three
questions, whose answers the laws of ``params/fits/`` and the schedules of ``params/profiles/`` rest
on:

- *small*: what one more small kernel takes in a graph, beside its own time on the card. The
  difference is the boundary between kernels.
- *chain*: matmuls of a layer of DeepSeek-V3 on eight ranks one after another, beside the sum of
  each repeated alone. What laws of single matmuls say of a layer.
- *streams*: shared and routed experts on one stream, and on two.
"""

from __future__ import annotations

import csv
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

ROWS = (1, 4, 16, 64)  # of a step [token]
REPEATED, REPLAYS, LAYERS = 64, 50, 16  # within a graph; of a graph; copies of the weights
MICRO = 1e6  # microseconds in a second
HIDDEN, EXPERTS, CHOSEN, SLICE = 7168, 256, 8, 256  # of DeepSeek-V3; inside an expert of a rank
LAYER = {  # matmul -> depth and columns on one of eight ranks
    "q_a, kv_a": (HIDDEN, 2112), "q_b": (1536, 3072), "o": (2048, HIDDEN),
    "router": (HIDDEN, EXPERTS), "shared up": (HIDDEN, 2 * SLICE), "shared down": (SLICE, HIDDEN)}

Row = tuple[str, str, int, float]  # question, what, tokens, microseconds


def captured(torch: Any, work: Callable[[int], object], count: int = REPEATED) -> float:
    """Time of one repetition of work in a captured graph [s].

    Args:
        torch: the package.
        work: what is captured, with the number of the repetition.
        count: repetitions within the graph.
    """
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for number in range(3):
            work(number)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for number in range(count):
            work(number)
    times = []
    for _ in range(REPLAYS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(times[REPLAYS // 5:]) / count


def small(torch: Any) -> Iterator[Row]:
    """A scaling of a hidden state, alone and many in a row, beside its own time on the card."""
    for rows in ROWS:
        state = torch.ones(rows, HIDDEN, device="cuda", dtype=torch.bfloat16)

        def work(_: int, state: Any = state) -> None:
            state.mul_(1.0)

        few, many = (count * captured(torch, work, count) for count in (REPEATED, 2 * REPEATED))
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for number in range(REPEATED):
                work(number)
            torch.cuda.synchronize()
        own = sum(event.device_time_total for event in profile.key_averages()) / REPEATED
        yield "small", "one more in a graph", rows, MICRO * (many - few) / REPEATED
        yield "small", "its own time", rows, own


def chain(torch: Any) -> Iterator[Row]:
    """Matmuls of a layer, each with other weights in every repetition."""
    weights = {name: [torch.randn(depth, columns, device="cuda", dtype=torch.bfloat16)
                      for _ in range(LAYERS)] for name, (depth, columns) in LAYER.items()}
    for rows in ROWS:
        states = {name: torch.randn(rows, depth, device="cuda", dtype=torch.bfloat16)
                  for name, (depth, _) in LAYER.items()}

        def some(names: Iterable[str], number: int, states: Any = states) -> None:
            for name in names:
                torch.mm(states[name], weights[name][number % LAYERS])

        alone = {name: captured(torch, partial(some, [name])) for name in LAYER}
        whole = captured(torch, partial(some, LAYER))
        for name, time in alone.items():
            yield "chain", name, rows, MICRO * time
        yield "chain", "sum", rows, MICRO * sum(alone.values())
        yield "chain", "in a row", rows, MICRO * whole


def streams(torch: Any) -> Iterator[Row]:
    """Slices of the experts that tokens choose, in one batch, and of the shared one."""
    up, down = (torch.randn(EXPERTS, *shape, device="cuda", dtype=torch.bfloat16)
                for shape in ((HIDDEN, 2 * SLICE), (SLICE, HIDDEN)))
    shared = [torch.randn(*LAYER[name], device="cuda", dtype=torch.bfloat16)
              for name in ("shared up", "shared down")]
    aside = torch.cuda.Stream()
    for rows in ROWS:
        hit = min(rows * CHOSEN, EXPERTS)
        state = torch.randn(rows, HIDDEN, device="cuda", dtype=torch.bfloat16)
        sent = torch.randn(hit, max(1, rows * CHOSEN // hit), HIDDEN, device="cuda",
                           dtype=torch.bfloat16)

        def of_routed(sent: Any = sent, hit: int = hit) -> None:
            torch.bmm(torch.bmm(sent, up[:hit])[..., :SLICE], down[:hit])

        def of_shared(state: Any = state) -> None:
            torch.mm(torch.mm(state, shared[0])[:, :SLICE], shared[1])

        def one_stream(_: int) -> None:
            of_shared()
            of_routed()

        def two_streams(_: int) -> None:
            main = torch.cuda.current_stream()
            aside.wait_stream(main)
            with torch.cuda.stream(aside):
                of_shared()
            of_routed()
            main.wait_stream(aside)

        for name, work in (("routed alone", lambda _: of_routed()),
                           ("shared alone", lambda _: of_shared()),
                           ("one stream", one_stream), ("two streams", two_streams)):
            yield "streams", name, rows, MICRO * captured(torch, work)


def main(path: str) -> None:
    """Measure, print and write a table.

    Args:
        path: of the table.
    """
    import torch

    if not torch.cuda.is_available():
        raise SystemExit("no card: this measures captured graphs, expected CUDA.")
    rows = [row for question in (small, chain, streams) for row in question(torch)]
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["card", "question", "what", "tokens", "us"])
        for question, what, tokens, time in rows:
            writer.writerow([torch.cuda.get_device_name(), question, what, tokens, f"{time:.3f}"])
            print(f"{question:8} {what:20} {tokens:4} {time:9.2f} us")


if __name__ == "__main__":
    main(*sys.argv[1:2])
